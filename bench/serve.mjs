// What bench/serve.sh and the tests of the server need of a client that wrk is not.
//
//   node serve.mjs start RUNS HEDDLE          ms from the start of `heddle serve` to its first answer: least, middle
//   node serve.mjs streams PORT TOKEN N       opens N event streams, says `open`, and keeps them until its input ends
import { spawn } from "node:child_process";
import { connect } from "node:net";
import { once } from "node:events";

const [what, ...words] = process.argv.slice(2);

// One try: does the server answer /healthz on this port?
function answers(port) {
    return new Promise((resolve) => {
        const s = connect(port, "127.0.0.1");
        s.on("error", () => resolve(false));
        s.on("connect", () => s.write("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\nConnection: close\r\n\r\n"));
        s.on("data", (bytes) => (resolve(bytes.toString().startsWith("HTTP/1.1 200")), s.destroy()));
    });
}

async function start(runs, heddle) {
    const times = [];
    for (let i = 0; i < runs; i++) {
        const port = 20000 + ((process.pid + i * 7) % 10000);
        const from = performance.now();
        const server = spawn(heddle, ["serve", "--listen", `127.0.0.1:${port}`], { stdio: "ignore" });
        while (!(await answers(port))) await new Promise((go) => setTimeout(go, 0));
        times.push(performance.now() - from);
        server.kill();
        await once(server, "exit");
    }
    times.sort((a, b) => a - b);
    console.log(times[0].toFixed(1), times[times.length >> 1].toFixed(1));
}

async function streams(port, token, n) {
    let open = 0;
    const one = () =>
        new Promise((resolve, reject) => {
            const s = connect(port, "127.0.0.1");
            s.on("error", reject);
            s.on("close", () => reject(new Error("a stream was closed")));
            s.write(`GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n\r\n`);
            let text = "";
            s.on("data", (bytes) => {
                text = (text + bytes).slice(-4096);
                if (text.includes("event: hello")) resolve();
            });
        });
    while (open < n) {
        await Promise.all(Array.from({ length: Math.min(100, n - open) }, one));
        open = Math.min(n, open + 100);
    }
    console.log("open");
    process.stdin.resume();
    process.stdin.on("end", () => process.exit(0));
}

if (what === "start") await start(Number(words[0]), words[1]);
else await streams(Number(words[0]), words[1], Number(words[2]));

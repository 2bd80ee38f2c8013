// Clients that behave badly, or whose server does.
//
//   node serve_faults.mjs write PORT TOKEN CLIENTS FILE     each appends to its own thread until its connection fails; FILE gets a line
//                                                           `thread seq op_id` for each append that was acknowledged
//   node serve_faults.mjs inject PORT TOKEN CLIENTS FILE    the same with thread.inject, all into the thread `shared`: FILE gets `acknowledged op_id
//                                                           answer` or, for the request that broke off, `cut op_id`
//   node serve_faults.mjs hold PORT TOKEN N KIND            opens N connections of a KIND, says `open`, keeps them until its input ends, and
//                                                           then says how many the server had closed. Kinds: idle (nothing is sent), unread (asks
//                                                           for all of the thread `big`, and reads nothing), half (sends half a request and
//                                                           closes that side), slow (sends a byte a second)
import { appendFileSync } from "node:fs";
import http from "node:http";
import { connect } from "node:net";

const [what, port, token, n, last] = process.argv.slice(2);
const head = `Host: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n`;

function post(agent, name, params) {
    return new Promise((resolve, reject) => {
        const ask = http.request(
            { port, host: "127.0.0.1", method: "POST", path: `/api/${name}`, agent, headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" } },
            (answer) => {
                let text = "";
                answer.on("data", (piece) => (text += piece));
                answer.on("end", () => (answer.complete ? resolve([answer.statusCode, text]) : reject(new Error("cut"))));
                answer.on("error", reject);
            },
        );
        ask.on("error", reject);
        ask.end(JSON.stringify(params));
    });
}

/** What a client sends, and the lines of FILE about it. */
const kinds = {
    write: {
        ask: (agent, client, op) => post(agent, "log.append", { thread: `w${client}`, op_id: op, entries: [{ kind: "ai_message", payload: { role: "user", content: op } }] }),
        acknowledged: (client, op, text) => `w${client} ${JSON.parse(text).first_seq} ${op}\n`,
        cut: () => "",
    },
    inject: {
        ask: (agent, client, op) => post(agent, "thread.inject", { thread: "shared", content: op, op_id: op }),
        acknowledged: (client, op, text) => `acknowledged ${op} ${text.trim()}\n`,
        cut: (op) => `cut ${op}\n`,
    },
};

async function write(kind) {
    let told = 0, acknowledged = 0, refused = 0;
    const one = async (client) => {
        const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
        for (let i = 0; ; i++) {
            const op = `c${client}-${process.pid}-${i}`;
            try {
                const [status, text] = await kind.ask(agent, client, op);
                if (status !== 200) {
                    refused++;
                    break;
                }
                appendFileSync(last, kind.acknowledged(client, op, text));
                acknowledged++;
            } catch {
                appendFileSync(last, kind.cut(op));
                told++;
                break;
            }
        }
        agent.destroy();
    };
    await Promise.all(Array.from({ length: Number(n) }, (_, i) => one(i)));
    console.log(JSON.stringify({ acknowledged, told, refused }));
}

function open(kind, closed) {
    return new Promise((resolve, reject) => {
        const s = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
        s.on("error", (e) => (s.opened ? closed() : reject(e)));
        s.on("connect", () => {
            s.opened = true;
            if (kind === "unread") s.pause();
            else s.resume();
            if (kind === "unread") s.write(`GET /api/log.export?thread=big HTTP/1.1\r\n${head}\r\n`);
            if (kind === "half") s.end(`POST /api/log.append HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"thread":`);
            if (kind === "slow") {
                s.write("GET /healthz HTTP/1.1\r\nX: ");
                s.timer = setInterval(() => s.write("x"), 1000);
            }
            resolve(s);
        });
        s.on("end", () => (clearInterval(s.timer), closed(), s.destroy()));
    });
}

async function hold() {
    let closed = 0;
    for (let i = 0; i < Number(n); i += 200) {
        await Promise.all(Array.from({ length: Math.min(200, Number(n) - i) }, () => open(last, () => closed++)));
    }
    console.log("open");
    process.stdin.resume();
    process.stdin.on("end", () => (console.log(closed), process.exit(0)));
}

await (kinds[what] ? write(kinds[what]) : hold());

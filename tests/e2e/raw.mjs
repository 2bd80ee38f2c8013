// Sends bytes as they are and prints what comes back.
//
//     node raw.mjs PORT <request            until the server closes the connection, or has said nothing for a minute
//     node raw.mjs PORT --half <request     closes its sending side first
//
// In the request, \r\n stand for themselves and \0 for a NUL; other lines are joined without a break.
import net from "node:net";
import { readFileSync } from "node:fs";

const [port, ...flags] = process.argv.slice(2);
const text = readFileSync(0, "latin1").replaceAll("\n", "").replaceAll("\\r", "\r").replaceAll("\\n", "\n").replaceAll("\\0", "\0");
const socket = net.connect({ port: Number(port), host: "127.0.0.1", allowHalfOpen: true });
const quiet = setTimeout(() => socket.destroy(), 60000);

socket.on("connect", () => {
    socket.write(Buffer.from(text, "latin1"));
    if (flags.includes("--half")) socket.end();
});
socket.on("data", (bytes) => {
    quiet.refresh();
    process.stdout.write(bytes);
});
socket.on("end", () => {
    clearTimeout(quiet);
    console.log("\n(closed)");
    socket.destroy();
});
socket.on("error", (error) => {
    clearTimeout(quiet);
    console.log(`\n(${error.code})`);
});

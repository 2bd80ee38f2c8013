// node mcp_bridge.mjs PORT_FILE COMMAND...: streamable HTTP in front of a server on standard input and
// output, for a suite that speaks HTTP alone. Bodies pass as they are. Every session of HTTP, and
// every request without one, has a process of its own. This is no server for anybody but tests.
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [, , portFile, ...command] = process.argv;
const sessions = new Map();

function open() {
    const child = spawn(command[0], command.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] });
    const waiting = new Map();
    const session = { child, waiting, late: [] };
    createInterface({ input: child.stdout }).on('line', (line) => {
        const message = JSON.parse(line);
        const end = message.method === undefined && waiting.get(JSON.stringify(message.id));
        if (end) {
            waiting.delete(JSON.stringify(message.id));
            end(message);
        } else {
            for (const take of session.late) take(message);
        }
    });
    return session;
}

function answer(response, status, body, headers = {}) {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(body === undefined ? undefined : JSON.stringify(body));
}

// Notifications that come before the answer make it a stream of events.
function relay(session, message, response, headers, done) {
    let streaming = false;
    const put = (m) => {
        if (!streaming) response.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
        streaming = true;
        response.write(`data: ${JSON.stringify(m)}\n\n`);
    };
    const late = (m) => put(m);
    session.late.push(late);
    const finish = () => {
        session.late = session.late.filter((f) => f !== late);
        done();
    };
    session.waiting.set(JSON.stringify(message.id), (m) => {
        finish();
        if (!streaming) return answer(response, m.error?.code === -32601 && done.modern ? 404 : m.error && done.modern && [-32022, -32602].includes(m.error.code) ? 400 : 200, m, headers);
        put(m);
        response.end();
    });
    response.on('close', finish);
    session.child.stdin.write(JSON.stringify(message) + '\n');
}

createServer((request, response) => {
    let text = '';
    request.on('data', (d) => (text += d));
    request.on('end', () => {
        const id = request.headers['mcp-session-id'];
        if (request.method === 'DELETE') {
            sessions.get(id)?.child.stdin.end();
            return answer(response, sessions.delete(id) ? 200 : 404);
        }
        if (request.method !== 'POST') return answer(response, 405);
        let message;
        try {
            message = JSON.parse(text);
        } catch {
            return answer(response, 400, { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'not JSON' } });
        }
        if (id && !sessions.has(id)) return answer(response, 404, { jsonrpc: '2.0', id: null, error: { code: -32001, message: 'no such session' } });
        const modern = Object.keys(message.params?._meta ?? {}).some((k) => k.startsWith('io.modelcontextprotocol/'));
        let session = sessions.get(id), headers = {}, done = () => {};
        if (!session) {
            session = open();
            if (message.method === 'initialize' && !modern) {
                headers = { 'mcp-session-id': `s${sessions.size}-${session.child.pid}` };
                sessions.set(headers['mcp-session-id'], session);
            } else {
                done = () => session.child.stdin.end();
            }
        }
        done.modern = modern;
        if (message.id === undefined || message.method === undefined) {
            session.child.stdin.write(JSON.stringify(message) + '\n');
            done();
            return answer(response, 202);
        }
        relay(session, message, response, headers, done);
    });
}).listen(0, '127.0.0.1', function () {
    writeFileSync(portFile, String(this.address().port));
});

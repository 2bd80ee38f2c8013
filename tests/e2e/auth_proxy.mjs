// node auth_proxy.mjs PORT-FILE TARGET-FILE: passes requests on to a server, with a token that the client
// cannot send. All headers stay as they are. TARGET-FILE holds the URL and the token, and is read with each
// request: the server must know the proxy's port before it starts.
import http from 'node:http';
import { readFileSync, writeFileSync } from 'node:fs';

const [, , file, target] = process.argv;
const proxy = http.createServer((request, answer) => {
    const [url, token] = readFileSync(target, 'utf8').trim().split(' ');
    const { hostname, port } = new URL(url);
    const on = http.request({ hostname, port, path: request.url, method: request.method,
        headers: { ...request.headers, authorization: `Bearer ${token}` } }, (from) => {
        answer.writeHead(from.statusCode, from.headers);
        from.pipe(answer);
        from.on('error', () => answer.destroy());
    });
    on.on('error', () => answer.destroy());
    answer.on('close', () => on.destroy());
    request.pipe(on);
});
proxy.listen(0, '127.0.0.1', () => writeFileSync(file, String(proxy.address().port)));

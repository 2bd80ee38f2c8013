// The server and the reader of bench/talk.sh in one process, so that both look at one clock. Every word is a chunk of its own, and is
// sent 4 ms after the one before. Arguments: the program, how many words.
const http = require('http'), { spawn } = require('child_process');
const [, , program, count] = process.argv;
const words = Number(count), reach = 5000; // µs, of the median
const sent = new Map(), delays = [];
const sse = (doc) => `event: ${doc.type}\ndata: ${JSON.stringify(doc)}\n\n`;
const now = () => Number(process.hrtime.bigint() / 1000n);

const server = http.createServer((q, r) => {
  q.resume();
  q.on('end', () => {
    r.writeHead(200, { 'Content-Type': 'text/event-stream' });
    r.socket.setNoDelay(true);
    r.write(sse({ type: 'message_start', message: { id: 'm', usage: { input_tokens: 20, output_tokens: 1 } } }) +
      sse({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }));
    let i = 0;
    const next = () => {
      if (i === words) {
        return r.end(sse({ type: 'content_block_stop', index: 0 }) +
          sse({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: words } }) + sse({ type: 'message_stop' }));
      }
      sent.set(i, now());
      r.write(sse({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: `w${i++}; ` } }));
      setTimeout(next, 4);
    };
    next();
  });
}).listen(0, '127.0.0.1', () => {
  const env = { ...process.env, ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.address().port}`, ANTHROPIC_API_KEY: 'key-0123456789' };
  const talk = spawn(program, ['talk', 't', '--agent', 'Opus', '--message', 'Count.'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let rest = '';
  talk.stdout.on('data', (piece) => {
    const at = now();
    rest += piece;
    for (let m; (m = /^[^]*?w(\d+);/.exec(rest)); rest = rest.slice(m[0].length)) delays.push(at - sent.get(Number(m[1])));
  });
  talk.on('close', (code) => {
    server.close();
    delays.sort((a, b) => a - b);
    const part = (p) => delays[Math.min(delays.length - 1, Math.floor(delays.length * p))];
    if (code !== 0 || delays.length !== words) {
      console.error(`${delays.length} of ${words} words came, status ${code}`);
      process.exit(1);
    }
    const good = part(0.5) < reach;
    console.log('| words | median | 90 of 100 | 99 of 100 | slowest | reach | |\n|---:|---:|---:|---:|---:|---|---|');
    console.log(`| ${words} | ${part(0.5)} µs | ${part(0.9)} µs | ${part(0.99)} µs | ${delays[words - 1]} µs | median < ${reach} µs | ${good ? 'yes' : 'no'} |`);
    process.exit(good ? 0 : 1);
  });
});

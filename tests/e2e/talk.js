// A model for `heddle talk`: answers come from a file of JSON lines, one a request, in the dialect that is asked. Node alone, on
// loopback. Arguments: file with answers, file for what was asked, file for the port.
//     {"text":"…"}  {"thinking":"…","signature":"…"}  {"slow":MS between words}
//     {"hold":"PATH", which must be there before the third word comes}  {"status":400,"body":{…}}  {"hang":true}
const fs = require('fs'), http = require('http');
const [, , answers, asked, port] = process.argv;
const sse = (doc) => `event: ${doc.type || 'message'}\ndata: ${JSON.stringify(doc)}\n\n`;
let used = 0;

function anthropic(a) {
  const out = [sse({ type: 'message_start', message: { id: 'm', usage: { input_tokens: 20, output_tokens: 1 } } })];
  let i = 0;
  if (a.thinking !== undefined) {
    out.push(sse({ type: 'content_block_start', index: i, content_block: { type: 'thinking', thinking: '' } }));
    out.push(sse({ type: 'content_block_delta', index: i, delta: { type: 'thinking_delta', thinking: a.thinking } }));
    out.push(sse({ type: 'content_block_delta', index: i, delta: { type: 'signature_delta', signature: a.signature } }));
    out.push(sse({ type: 'content_block_stop', index: i++ }));
  }
  out.push(sse({ type: 'content_block_start', index: i, content_block: { type: 'text', text: '' } }));
  for (const w of a.text.split(/(?<= )/)) out.push(sse({ type: 'content_block_delta', index: i, delta: { type: 'text_delta', text: w } }));
  out.push(sse({ type: 'content_block_stop', index: i }));
  out.push(sse({ type: 'message_delta', delta: { stop_reason: a.stop || 'end_turn' }, usage: { output_tokens: 7 } }), sse({ type: 'message_stop' }));
  return out;
}

http.createServer((q, r) => {
  const pieces = [];
  q.on('data', (p) => pieces.push(p));
  q.on('end', () => {
    if (JSON.parse(Buffer.concat(pieces)).model.includes('haiku')) { // summaries: they are no part of a turn
      r.writeHead(200, { 'Content-Type': 'text/event-stream' });
      return r.end(anthropic({ text: 'In short.' }).join(''));
    }
    const lines = fs.readFileSync(answers, 'utf8').trim().split('\n').map((l) => JSON.parse(l));
    const a = lines[Math.min(used++, lines.length - 1)];
    fs.appendFileSync(asked, Buffer.concat(pieces).toString() + '\n');
    if (a.hang) return;
    if (a.status) {
      r.writeHead(a.status, { 'Content-Type': 'application/json' });
      return r.end(JSON.stringify(a.body));
    }
    r.writeHead(200, { 'Content-Type': 'text/event-stream', 'request-id': 'req-' + used });
    const out = anthropic(a);
    const third = out.filter((p) => p.includes('text_delta'))[2];
    const held = () => a.hold && out[0] === third && !fs.existsSync(a.hold);
    const next = () => {
      if (r.destroyed) return;
      if (held()) return setTimeout(next, 20);
      if (!out.length) return r.end();
      r.write(out.shift());
      if (a.slow) setTimeout(next, a.slow); else setImmediate(next);
    };
    next();
  });
}).listen(0, '127.0.0.1', function () { fs.writeFileSync(port, String(this.address().port)); });

// A model for turns that are killed: it answers by what it was sent, and writes down every call.
//
//     node turn.js serve CALLS PORT      one line a call in CALLS; the port goes into PORT
//     node turn.js compare A B           two exports of a thread: the same turn, but for what must differ
//     node turn.js calls CALLS LOG       every call beyond the first of its kind was announced
//
// Node alone, on loopback.
const fs = require('fs'), http = require('http');
const [, , what, one, two] = process.argv;

const answers = [
  'I will look.\n→ view here\n→ annotate here "noted"\n→ stash "idea" "the mother"\n→ think\nquietly\n←\nAnd I would have gone on.',
  '→ respond "Of mine."\n→ write doc:"notes" append "A line."\n→ continue n:2 using agent:"Sub"\n→ pin here\n',
  'So it is done: [noted].',
];
const sse = (doc) => `data: ${JSON.stringify(doc)}\n\n`;

function serve() {
  const server = http.createServer((q, r) => {
    const pieces = [];
    q.on('data', (p) => pieces.push(p));
    q.on('end', () => {
      const body = JSON.parse(Buffer.concat(pieces).toString());
      const results = body.messages.filter((m) => m.role === 'user' && m.content.includes('\n→ ') || m.content.startsWith('→ ')).length;
      const text = body.model === 'sub' ? 'A continuation.' : answers[Math.min(results, answers.length - 1)];
      fs.appendFileSync(one, JSON.stringify({ model: body.model, round: results + 1, messages: body.messages }) + '\n');
      r.writeHead(200, { 'Content-Type': 'text/event-stream', 'x-request-id': 'r' });
      const words = text.split(/(?<= )/);
      let i = 0;
      const next = () => {
        if (r.destroyed) return;
        if (i < words.length) {
          r.write(sse({ choices: [{ index: 0, delta: { content: words[i++] } }] }));
          return setTimeout(next, 1);
        }
        r.write(sse({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }));
        r.end(sse({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 5 } }) + 'data: [DONE]\n\n');
      };
      next();
    });
  });
  server.listen(0, '127.0.0.1', () => fs.writeFileSync(two, String(server.address().port)));
}

const lines = (file) => fs.readFileSync(file, 'utf8').trim().split('\n').filter(Boolean).map((l) => JSON.parse(l));

// What must differ: ids, times, salts, chain values, leases (they depend on the time), and requests to models, which are repeated when
// their outcome is not known. Local ids become their order of appearance.
function plain(file) {
  const ids = new Map();
  const entries = lines(file).filter((n) => n.kind !== 'model_request' && !(n.kind === 'loom_mark' && /lease|release/.test(n.payload.mark)));
  for (const n of entries) if (n.payload.node && n.payload.node.local_id) ids.set(n.payload.node.local_id, `N${ids.size}`);
  const drop = new Set(['id', 'op_id', 'answered_at', 'asked_at', 'hash', 'response', 'body', 'headers', 'salt', 'chain', 'until', 'at', 'undoes', 'usage',
    'prompt_tokens', 'completion_tokens', 'tokens_estimated', 'usage_total', 'entry', 'before', 'after']);
  const clean = (v) => {
    if (typeof v === 'string') return v.replace(/[0-9a-z]{4,}'*/g, (w) => ids.get(w) || w).replace(/just now|\d+[smh] ago/g, 'ago');
    if (Array.isArray(v)) return v.map(clean);
    if (v && typeof v === 'object') return Object.fromEntries(Object.entries(v).filter(([k]) => !drop.has(k)).map(([k, x]) => [k, clean(x)]));
    return typeof v === 'number' ? 0 : v;
  };
  return entries.map((n) => JSON.stringify({ kind: n.kind, lane: clean(n.lane || ''), actor: n.actor, payload: clean(n.payload) }));
}

function compare() {
  const a = plain(one), b = plain(two);
  for (let i = 0; i < Math.max(a.length, b.length); i++)
    if (a[i] !== b[i]) {
      console.log(`entry ${i} differs:\n  ${a[i]}\n  ${b[i]}`);
      process.exit(1);
    }
}

// Of each round one call, and one more for each request of which the log says that the outcome before was not known; of the
// subject two, and more only where a process died while it waited.
function calls() {
  const made = lines(one).filter((c) => c.model !== 'sub'), log = lines(two);
  const again = log.filter((n) => n.kind === 'model_request' && n.payload.again).length;
  const asked = log.filter((n) => n.kind === 'model_request').length;
  if (made.length > asked || made.length < asked - again) {
    console.log(`${made.length} calls for ${asked} requests, ${again} of them again`);
    process.exit(1);
  }
}

({ serve, compare, calls })[what]();

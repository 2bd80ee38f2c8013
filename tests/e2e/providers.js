// A provider that does whatever the model's name says: whole answers of each dialect, and every way
// to fail. Node alone, on loopback. Arguments: file for what was asked, file for the port.
const fs = require('fs'), http = require('http');
const [, , asked, port] = process.argv;
const TEXT = 'Grüße 👋 → weiter';
const sse = (doc, name) => (name ? `event: ${name}\r\n` : '') + `data: ${JSON.stringify(doc)}\r\n\r\n`;
const named = (doc) => sse(doc, doc.type);
const counts = {};
const waiting = [];

const whole = {
  anthropic: (text = TEXT, stop = 'end_turn') => [
    named({ type: 'message_start', message: { id: 'm1', model: 'x', usage: { input_tokens: 7, cache_read_input_tokens: 4, output_tokens: 1 } } }),
    named({ type: 'ping' }),
    named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ...text.split(' ').map((w, i) => named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: (i ? ' ' : '') + w } })),
    named({ type: 'content_block_stop', index: 0 }),
    named({ type: 'message_delta', delta: { stop_reason: stop }, usage: { output_tokens: 9 } }),
    named({ type: 'message_stop' }),
  ],
  chat: (text = TEXT, stop = 'stop') => [
    ': OPENROUTER PROCESSING\n\n',
    ...text.split(' ').map((w, i) => sse({ id: 'c1', choices: [{ index: 0, delta: { content: (i ? ' ' : '') + w }, finish_reason: null }] })),
    sse({ id: 'c1', choices: [{ index: 0, delta: {}, finish_reason: stop }] }),
    sse({ id: 'c1', choices: [], usage: { prompt_tokens: 11, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 4 } } }),
    'data: [DONE]\n\n',
  ],
  completions: (text = TEXT, stop = 'stop') => [
    ...text.split(' ').map((w, i) => sse({ id: 'c1', choices: [{ index: 0, text: (i ? ' ' : '') + w, finish_reason: null }] })),
    sse({ id: 'c1', choices: [{ index: 0, text: '', finish_reason: stop }], usage: { prompt_tokens: 11, completion_tokens: 9 } }),
    'data: [DONE]\n\n',
  ],
  responses: (text = TEXT, stop) => [
    named({ type: 'response.created', response: { status: 'in_progress', error: null } }),
    ...text.split(' ').map((w, i) => named({ type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: (i ? ' ' : '') + w, obfuscation: 'xx' })),
    named({ type: 'response.completed', response: { status: 'completed', usage: { input_tokens: 11, output_tokens: 9, input_tokens_details: { cached_tokens: 4 } } } }),
  ],
  gemini: (text = TEXT, stop = 'STOP') => [
    ...text.split(' ').map((w, i) => sse({ candidates: [{ content: { role: 'model', parts: [{ text: (i ? ' ' : '') + w }] } }] })),
    sse({ candidates: [{ content: { parts: [] }, finishReason: stop }], usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 9, cachedContentTokenCount: 4 } }),
  ],
};

function dialectOf(url) {
  if (url.endsWith('/v1/messages')) return 'anthropic';
  if (url.endsWith('/chat/completions')) return 'chat';
  if (url.endsWith('/completions')) return 'completions';
  if (url.endsWith('/responses')) return 'responses';
  if (url.includes(':streamGenerateContent?alt=sse')) return 'gemini';
  return null;
}

const begin = (r, more = {}) => r.writeHead(200, { 'Content-Type': 'text/event-stream', 'request-id': 'req-7', 'Set-Cookie': 'c=secret', ...more });
const fail = (r, status, doc, more = {}) => {
  r.writeHead(status, { 'Content-Type': 'application/json', 'retry-after-ms': '5', ...more });
  r.end(typeof doc === 'string' ? doc : JSON.stringify(doc));
};
const error = (type, message, more = {}) => ({ type: 'error', error: { type, message, ...more } });

const modes = {
  whole: (r, d) => { begin(r); r.end(whole[d]().join('')); },
  refusal: (r, d) => { begin(r); r.end(whole[d]('I cannot.', d === 'anthropic' ? 'refusal' : d === 'gemini' ? 'SAFETY' : 'content_filter').join('')); },
  bytes: (r, d) => { // one byte a packet
    const all = Buffer.from(whole[d]().join(''));
    let i = 0;
    begin(r);
    r.socket.setNoDelay(true);
    const next = () => { if (i === all.length) return r.end(); r.write(all.subarray(i, ++i)); setImmediate(next); };
    next();
  },
  cut: (r, d) => { begin(r); r.end(whole[d]().slice(0, -3).join('')); },               // a clean end, too early
  broken: (r, d) => { begin(r); r.write(whole[d]().slice(0, -3).join('')); setTimeout(() => r.socket.destroy(), 50); },
  empty: (r) => { begin(r); r.end(); },
  stall: (r, d) => { begin(r); r.write(whole[d]().slice(0, -3).join('')); },
  silent: () => {},
  // as many at once as `n` says, or nobody is answered; "crowd-3", and one of them fails in "part-3"
  crowd: (r, d, q, key, body, n) => {
    waiting.push(() => modes.whole(r, d));
    if (waiting.length >= n) waiting.splice(0).forEach((answer) => answer());
  },
  part: (r, d, q, key, body, n) => {
    const i = waiting.length;
    waiting.push(() => (i === 1 ? fail(r, 400, error('invalid_request_error', 'not this one')) : modes.whole(r, d)));
    if (waiting.length >= n) waiting.splice(0).forEach((answer) => answer());
  },
  // the last answers first
  late: (r, d, q, key, body, n) => {
    const seed = body.seed;
    waiting.push(() => setTimeout(() => { begin(r); r.end(whole[d]('seed ' + seed).join('')); }, (20 - seed) * 30));
    if (waiting.length >= n) waiting.splice(0).forEach((answer) => answer());
  },
  slow: (r, d) => { // a word every now and then, without an end
    let i = 0;
    begin(r);
    const next = () => { if (r.destroyed) return; if (i === 20) fs.writeFileSync(asked + '.slow', 'sent'); r.write(whole[d]('w' + i++ + ' ').slice(...(d === 'anthropic' ? [0, -3] : [0, 2])).join('')); setTimeout(next, 50); };
    next();
  },
  dribble: (r, d) => { // a few bytes at a time, with pauses
    const all = Buffer.from(whole[d]().join(''));
    let i = 0;
    begin(r);
    const next = () => { if (i >= all.length) return r.end(); r.write(all.subarray(i, i += 40)); setTimeout(next, 10); };
    next();
  },
  binary: (r, d) => { begin(r); r.end(Buffer.concat([Buffer.from(': \xff\n\n', 'latin1'), Buffer.from(whole[d]().join(''))])); },
  probs: (r, d) => {
    begin(r);
    r.write(sse({ choices: [{ index: 0, text: 'Once', logprobs: { tokens: ['Once'], token_logprobs: [-0.25], top_logprobs: [{ Once: -0.25, The: -1.5 }] } }] }));
    r.end(sse({ choices: [{ index: 0, text: ' upon', finish_reason: 'stop', logprobs: { tokens: [' upon'], token_logprobs: [-0.5], top_logprobs: [{ ' upon': -0.5 }] } }] }));
  },
  cost: (r, d) => { begin(r); r.end(whole[d]().slice(0, -2).join('') + sse({ choices: [], usage: { prompt_tokens: 11, completion_tokens: 9, cost: 0.0125 } })); },
  effort: (r, d, q, key, body) => (d === 'gemini' ? body.generationConfig.thinkingConfig : body.reasoning)
    ? fail(r, 400, d === 'gemini' ? { error: { code: 400, status: 'INVALID_ARGUMENT', message: 'Thinking level is not supported for this model.' } }
      : { error: { code: 'unsupported_parameter', param: 'reasoning.effort', message: 'Unsupported' } }) : modes.whole(r, d),
  mid: (r, d) => { begin(r); r.end(whole[d]().slice(0, -3).join('') + sse(error('overloaded_error', 'Overloaded'), 'error')); },
  endless: (r, d) => {
    begin(r);
    const more = whole[d]().slice(d === 'anthropic' ? 3 : 1, 4).join('').repeat(500);
    const pump = () => { while (!r.destroyed && r.write(more)); if (!r.destroyed) r.once('drain', pump); };
    r.on('error', () => {});
    pump();
  },
  headers: (r) => { r.socket.write('HTTP/1.1 200 OK\r\n'); for (let i = 0; i < 400; i++) r.socket.write(`X-${i}: ${'y'.repeat(1000)}\r\n`); r.socket.end('\r\n'); },
  html: (r) => { r.writeHead(200, { 'Content-Type': 'text/html' }); r.end('<html>hello</html>'); },
  json: (r) => { r.writeHead(200, { 'Content-Type': 'application/json' }); r.end(JSON.stringify({ error: { code: 402, message: 'no credits' } })); },
  proxy: (r) => fail(r, 502, '<html>bad gateway</html>'),
  moved: (r) => { r.writeHead(307, { Location: '/stolen' }); r.end(); },
  flaky: (r, d, q, key) => { counts[key] = (counts[key] || 0) + 1; if (counts[key] < 3) fail(r, 529, error('overloaded_error', 'Overloaded')); else modes.whole(r, d); },
  wait: (r) => fail(r, 429, error('rate_limit_error', 'later'), { 'retry-after-ms': '', 'Retry-After': '3600' }),
  noretry: (r) => fail(r, 500, error('api_error', 'no'), { 'x-should-retry': 'false' }),
  s400: (r) => fail(r, 400, error('invalid_request_error', 'bad')),
  s401: (r, d, q) => fail(r, 401, error('authentication_error', 'bad key: ' + JSON.stringify(q.headers))),
  s404: (r) => fail(r, 404, error('not_found_error', 'model: x')),
  s408: (r) => fail(r, 408, error('timeout_error', 'slow')),
  s413: (r) => fail(r, 413, error('request_too_large', 'big')),
  s429: (r) => fail(r, 429, error('rate_limit_error', 'many')),
  s500: (r) => fail(r, 500, error('api_error', 'oops')),
  s529: (r) => fail(r, 529, error('overloaded_error', 'busy')),
  quota: (r) => fail(r, 429, { error: { code: 'insufficient_quota', message: 'pay' } }),
  long: (r, d) => fail(r, 400, d === 'anthropic' ? error('invalid_request_error', 'prompt is too long: 9 tokens > 5 maximum')
    : d === 'gemini' ? { error: { code: 400, status: 'INVALID_ARGUMENT', message: 'The input token count (9) exceeds the maximum number of tokens allowed (5).' } }
    : { error: { code: 'context_length_exceeded', message: 'too long' } }),
  badkey: (r) => fail(r, 400, [{ error: { code: 400, message: 'API key not valid', status: 'INVALID_ARGUMENT', details: [{ reason: 'API_KEY_INVALID' }] } }]),
  usage: (r, d, q, key, body) => body.stream_options ? fail(r, 400, { error: { code: 'unsupported_parameter', param: 'stream_options', message: 'Unsupported' } }) : modes.whole(r, d),
  echo: (r, d, q) => { begin(r, { 'X-Echo': JSON.stringify(q.headers) }); r.end(whole[d]('You are ' + (q.headers.authorization || q.headers['x-api-key'] || q.headers['x-goog-api-key'])).join('')); },
};

const server = http.createServer((q, r) => {
  const pieces = [];
  q.on('data', (p) => pieces.push(p));
  q.on('end', () => {
    const text = Buffer.concat(pieces).toString(), d = dialectOf(q.url);
    const body = text ? JSON.parse(text) : {};
    const mode = d === 'gemini' ? decodeURIComponent(q.url.match(/models\/([^:]*):/)[1]) : body.model;
    fs.appendFileSync(asked, JSON.stringify({ url: q.url, headers: q.headers, body }) + '\n');
    const [word, n] = (mode || '').split('-');
    if (d && modes[word]) modes[word](r, d, q, d + mode, body, +n);
    else fail(r, 404, error('not_found_error', 'no such model or path'));
  });
});
server.listen(0, '127.0.0.1', () => fs.writeFileSync(port, String(server.address().port)));

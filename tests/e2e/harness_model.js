// A model for real coding agents: it answers in the dialect it is asked in (Anthropic Messages, OpenAI
// Responses and Chat Completions, Gemini), and does what the last message of the user says:
//   CALL name {"json":…}   on lines of its own: calls these tools, at once when there are several
//   USAGE n                says that the request had n tokens
// Arguments: file for what was asked (JSON Lines), file for the port. Node alone, on loopback.
const fs = require('fs'), http = require('http');
const [, , asked, portFile] = process.argv;
let n = 0;

const textOf = (c) => typeof c === 'string' ? c : (c || []).map((b) => b.text || b.input_text || '').join('\n');
const sse = (doc, name) => (name ? `event: ${name}\n` : '') + `data: ${JSON.stringify(doc)}\n\n`;

// The input of a call; opencode puts its prompt into quotes, with a backslash before each quote in it.
function inputOf(text) {
  for (const t of [text, text.replace(/\\"/g, '"')]) try { return JSON.parse(t); } catch { /* the other form */ }
  return null;
}

// What to answer to a text, or to results of tools.
function decide(text, results, all) {
  const used = [...all.matchAll(/USAGE (\d+)/g)].pop();
  const usage = used ? +used[1] : 100 + n;
  if (results.length) return { text: `after the tool: ${results.join(' | ').slice(0, 80)}`, calls: [], usage };
  const calls = [...text.matchAll(/CALL (\S+) (\{.*\})/g)].map((m, i) => ({ id: `call_${n}_${i}`, name: m[1], input: inputOf(m[2]) })).filter((c) => c.input);
  if (calls.length) return { text: 'calling', calls, usage };
  if (/summary of the conversation|summarize|handoff summary|context checkpoint|state_snapshot/i.test(text)) return { text: '<summary>SUMMARY of what was said</summary>', calls: [], usage };
  return { text: `reply ${n} to ${text.trim().split('\n').pop().slice(0, 40)}`, calls: [], usage };
}

const dialects = {
  '/v1/messages': (body, out) => {
    const users = (body.messages || []).filter((m) => m.role === 'user'), last = users[users.length - 1] || {};
    const results = Array.isArray(last.content) ? last.content.filter((b) => b.type === 'tool_result').map((b) => textOf(b.content)) : [];
    const a = decide(textOf(last.content), results, JSON.stringify(body.messages || []));
    if (!(body.tools || []).length) a.calls = [];
    const usage = { input_tokens: a.usage, output_tokens: 5, cache_creation_input_tokens: 2, cache_read_input_tokens: 3 };
    const blocks = [{ type: 'thinking', thinking: `thought ${n}`, signature: `c2ln${n}` }, { type: 'text', text: a.text }, ...a.calls.map((c) => ({ type: 'tool_use', id: c.id, name: c.name, input: c.input }))];
    if (!body.thinking) blocks.shift();
    const stop = a.calls.length ? 'tool_use' : 'end_turn';
    const message = { id: `msg_${n}`, type: 'message', role: 'assistant', model: body.model, content: [], stop_reason: null, stop_sequence: null, usage };
    if (!body.stream) return out.json({ ...message, content: blocks, stop_reason: stop });
    const ev = (type, more) => out.sse(sse({ type, ...more }, type));
    ev('message_start', { message });
    blocks.forEach((b, index) => {
      const [empty, deltas] = {
        text: [{ type: 'text', text: '' }, [{ type: 'text_delta', text: b.text }]],
        thinking: [{ type: 'thinking', thinking: '', signature: '' }, [{ type: 'thinking_delta', thinking: b.thinking }, { type: 'signature_delta', signature: b.signature }]],
        tool_use: [{ ...b, input: {} }, [{ type: 'input_json_delta', partial_json: JSON.stringify(b.input) }]],
      }[b.type];
      ev('content_block_start', { index, content_block: empty });
      deltas.forEach((delta) => ev('content_block_delta', { index, delta }));
      ev('content_block_stop', { index });
    });
    ev('message_delta', { delta: { stop_reason: stop, stop_sequence: null }, usage });
    ev('message_stop', {});
    out.end();
  },
  '/v1/responses': (body, out) => {
    const items = Array.isArray(body.input) ? body.input : [{ role: 'user', content: body.input }];
    const at = items.map((i) => i.role).lastIndexOf('user'), after = items.slice(at + 1);
    const results = after.filter((i) => /_output$/.test(i.type || '')).map((i) => typeof i.output === 'string' ? i.output : JSON.stringify(i.output));
    const a = decide(textOf((items[at] || {}).content), results, JSON.stringify(items));
    const list = a.calls.length ? a.calls.map((c, i) => ({ type: 'function_call', id: `fc_${n}_${i}`, call_id: c.id, name: c.name, arguments: JSON.stringify(c.input), status: 'completed' }))
      : [{ type: 'message', id: `m_${n}`, role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: a.text, annotations: [] }] }];
    const usage = { input_tokens: a.usage, input_tokens_details: { cached_tokens: 3 }, output_tokens: 5, output_tokens_details: { reasoning_tokens: 1 }, total_tokens: a.usage + 5 };
    const ev = (type, more) => out.sse(sse({ type, ...more }, type));
    ev('response.created', { response: { id: `resp_${n}` } });
    list.forEach((item, output_index) => {
      ev('response.output_item.added', { output_index, item });
      if (item.type === 'message') ev('response.output_text.delta', { item_id: item.id, output_index, content_index: 0, delta: a.text });
      ev('response.output_item.done', { output_index, item });
    });
    ev('response.completed', { response: { id: `resp_${n}`, status: 'completed', output: list, usage } });
    out.end();
  },
  '/v1/chat/completions': (body, out) => {
    const ms = body.messages || [], last = ms[ms.length - 1] || {};
    const at = ms.map((m) => m.role).lastIndexOf('user');
    const results = last.role === 'tool' ? ms.slice(at + 1).filter((m) => m.role === 'tool').map((m) => textOf(m.content)) : [];
    const a = decide(textOf((ms[at] || {}).content), results, JSON.stringify(ms));
    if (!(body.tools || []).length) a.calls = [];
    const usage = { prompt_tokens: a.usage, completion_tokens: 5, total_tokens: a.usage + 5, prompt_tokens_details: { cached_tokens: 3 } };
    const tool_calls = a.calls.map((c, index) => ({ index, id: c.id, type: 'function', function: { name: c.name, arguments: JSON.stringify(c.input) } }));
    const delta = { role: 'assistant', content: a.text, ...(tool_calls.length ? { tool_calls } : {}) }, finish_reason = tool_calls.length ? 'tool_calls' : 'stop';
    if (!body.stream) return out.json({ id: `c${n}`, object: 'chat.completion', model: body.model, choices: [{ index: 0, message: delta, finish_reason }], usage });
    const chunk = (more) => out.sse(sse({ id: `c${n}`, object: 'chat.completion.chunk', created: 1, model: body.model, ...more }));
    chunk({ choices: [{ index: 0, delta, finish_reason: null }] });
    chunk({ choices: [{ index: 0, delta: {}, finish_reason }] });
    chunk({ choices: [], usage });
    out.sse('data: [DONE]\n\n');
    out.end();
  },
  gemini: (body, out, url) => {
    const last = (body.contents || []).slice(-1)[0] || { parts: [] };
    const results = last.parts.filter((p) => p.functionResponse).map((p) => JSON.stringify(p.functionResponse.response));
    const a = decide(last.parts.map((p) => p.text || '').join('\n'), results, JSON.stringify(body.contents || []));
    const json = (body.generationConfig || {}).responseMimeType === 'application/json';
    const parts = json ? [{ text: '{"reasoning":"r","next_speaker":"user","model_choice":"flash","complexity_score":1,"complexity_reasoning":"x"}' }]
      : a.calls.length && body.tools ? a.calls.map((c) => ({ functionCall: { name: c.name, args: c.input } })) : [{ text: `thought ${n}`, thought: true }, { text: a.text }];
    const doc = { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }], modelVersion: 'gemini-mock', responseId: `r${n}`,
      usageMetadata: { promptTokenCount: a.usage, candidatesTokenCount: 5, cachedContentTokenCount: 3, thoughtsTokenCount: 1, totalTokenCount: a.usage + 6 } };
    if (url.includes(':countTokens')) return out.json({ totalTokens: a.usage });
    if (!url.includes('stream')) return out.json(doc);
    out.sse(sse(doc).replace(/\n/g, '\r\n'));
    out.end();
  },
};

http.createServer((q, r) => {
  let text = '';
  q.on('data', (d) => { text += d; });
  q.on('end', () => {
    let body = {}, started = false;
    try { body = JSON.parse(text); } catch { /* a request without a body */ }
    n++;
    fs.appendFileSync(asked, JSON.stringify({ n, url: q.url, body }) + '\n');
    const out = {
      json: (doc) => { r.writeHead(200, { 'content-type': 'application/json' }); r.end(JSON.stringify(doc)); },
      sse: (line) => { if (!started) r.writeHead(200, { 'content-type': 'text/event-stream', 'request-id': `req_${n}` }); started = true; r.write(line); },
      end: () => r.end(),
    };
    const path = q.url.split('?')[0];
    const dialect = path.endsWith('count_tokens') ? (b, o) => o.json({ input_tokens: 1000 })
      : dialects[Object.keys(dialects).find((d) => path.endsWith(d))] || (/models\/.*:(stream)?[gG]enerateContent|countTokens/.test(path) ? dialects.gemini : null);
    if (!dialect) { r.writeHead(404, { 'content-type': 'application/json' }); return r.end('{"error":{"message":"not here"}}'); }
    dialect(body, out, q.url);
  });
}).listen(0, '127.0.0.1', function () { fs.writeFileSync(portFile, String(this.address().port)); });

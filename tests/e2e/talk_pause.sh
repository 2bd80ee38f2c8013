#!/bin/sh
# Answers that the provider pauses and goes on with when it is asked: pause_turn of Anthropic, CONTINUATION of Gemini.
# postgres: no, only what a model is sent
# shellcheck disable=SC1010,SC2016
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

command -v node >/dev/null || { skip "answers that are paused" "node is not installed"; done_testing; }
cat >"$scratch/server.js" <<'END'
const fs = require('fs'), http = require('http');
const [, , asked, hang, port] = process.argv;
const sse = (doc) => `data: ${JSON.stringify(doc)}\n\n`;
const block = (i, start, ...deltas) => [{ type: 'content_block_start', index: i, content_block: start },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index: i, delta })), { type: 'content_block_stop', index: i }].map(sse).join('');
const message = (why, ...blocks) => sse({ type: 'message_start', message: { usage: { input_tokens: 10, output_tokens: 1 } } }) + blocks.join('') +
  sse({ type: 'message_delta', delta: { stop_reason: why }, usage: { output_tokens: 5 } }) + sse({ type: 'message_stop' });
const text = (i, t) => block(i, { type: 'text', text: '' }, ...t.split(/(?<= )/).map((w) => ({ type: 'text_delta', text: w })));
const paused = () => message('pause_turn',
  block(0, { type: 'thinking', thinking: '', signature: '' }, { type: 'thinking_delta', thinking: 'Hm, ' }, { type: 'thinking_delta', thinking: 'so.' }, { type: 'signature_delta', signature: 'sig' }),
  text(1, 'I search the web.'),
  block(2, { type: 'server_tool_use', id: 'srv1', name: 'web_search', input: {} }, { type: 'input_json_delta', partial_json: '{"query":' }, { type: 'input_json_delta', partial_json: '"lamps"}' }),
  block(3, { type: 'web_search_tool_result', tool_use_id: 'srv1', content: [{ type: 'web_search_result', url: 'https://example.com', encrypted_content: 'x' }] }),
  block(4, { type: 'text', text: '' }));
const gemini = (t, why, token) => sse({ candidates: [{ content: { role: 'model', parts: [{ text: t }] }, finishReason: why, ...(token ? { continuationToken: token } : {}) }],
  usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 4 } });
function answer(url, b) {
  if (/google|gemini/.test(url)) {
    if (/same/.test(url)) return gemini('Again. ', 'CONTINUATION', 'T1');
    if (/bare/.test(url)) return gemini('Cut.', 'CONTINUATION');
    return b.continuationToken === 'T1' ? gemini('And the second half.', 'STOP') : gemini('The first half.', 'CONTINUATION', 'T1');
  }
  const goes_on = b.messages.at(-1).role === 'assistant';
  if (/loop/.test(b.model)) return message('pause_turn', text(0, 'Once more.'));
  if (/command/.test(b.model)) return /tree/.test(JSON.stringify(b.messages.at(-1).content)) ? message('end_turn', text(0, 'Done.')) : message('pause_turn', text(0, 'I look.\n→ tree\n'));
  return goes_on ? message('end_turn', text(0, 'Lamps are found.')) : paused();
}
http.createServer((q, r) => {
  const pieces = [];
  q.on('data', (p) => pieces.push(p));
  q.on('end', () => {
    const body = Buffer.concat(pieces).toString(), b = JSON.parse(body);
    fs.appendFileSync(asked, body + '\n');
    if (fs.existsSync(hang) && b.messages.at(-1).role === 'assistant') return;
    r.writeHead(200, { 'Content-Type': 'text/event-stream' });
    r.end(answer(q.url, b));
  });
}).listen(0, '127.0.0.1', function () { fs.writeFileSync(port, String(this.address().port)); });
END
serve "$scratch/asked" "$scratch/hang" "$scratch/port"
export ANTHROPIC_BASE_URL="$base" GOOGLE_GEMINI_BASE_URL="$base" ANTHROPIC_API_KEY=key-0123456789 GEMINI_API_KEY=key-0123456789
mkdir ws && cd ws || exit 1
heddle init >/dev/null
heddle config set --user loom.summary_model none >/dev/null
log() { heddle log show "$1" --json | jq -sc "$2"; }
# asked FILTER: of the requests, without the marks for the provider's cache, which move.
asked() { jq -sc "map(del(.. | .cache_control?)) | $1" "$scratch/asked"; }

# ---- Anthropic: the answer goes back as it came ----
heddle agent add Opus --kind model --model anthropic:claude-opus-5-5 --permissions all >/dev/null
run heddle talk t --agent Opus --message 'Find lamps.'
exits "an answer that was paused goes on" 0
has "what came before the pause is shown" "$out" 'I search the web.'
has "and what came after it" "$out" 'Lamps are found.'
has "the pause is told" "$out" 'the provider paused the answer: it is asked to go on'
same "the model is asked twice" "$(asked 'length')" 2
same "the second request ends with the answer as it came" "$(asked '.[1].messages[-1]')" \
    '{"content":[{"signature":"sig","thinking":"Hm, so.","type":"thinking"},{"text":"I search the web.","type":"text"},{"id":"srv1","input":{"query":"lamps"},"name":"web_search","type":"server_tool_use"},{"content":[{"encrypted_content":"x","type":"web_search_result","url":"https://example.com"}],"tool_use_id":"srv1","type":"web_search_tool_result"}],"role":"assistant"}'
same "before it nothing has changed" "$(asked '(.[1].messages[:-1] | tostring) == (.[0].messages | tostring) and .[0].system == .[1].system')" true
same "each step is in the log" "$(log t '[.[] | select(.kind == "model_request" or .kind == "model_response") | .payload.finish // "asked"]')" '["asked","pause","asked","stop"]'
same "each part is a node" "$(log t '[.[] | select(.kind == "ai_message") | .payload.content]')" '["Find lamps.","I search the web.","Lamps are found."]'
ok "the raw answers are evidence" heddle tree attest t
ok "the log is whole" heddle verify

# ---- a process that is killed while the provider goes on ----
: >"$scratch/asked"
touch "$scratch/hang"
"$HEDDLE" talk k --agent Opus --message 'Find lamps.' >"$scratch/first" 2>&1 &
talk=$!
asked_twice() { [ "$(grep -c . "$scratch/asked")" -ge 2 ]; }
await asked_twice
kill -9 $talk
wait $talk 2>/dev/null
rm "$scratch/hang"
run heddle talk k --agent Opus --resume
exits "the turn is resumed" 0
has "a request without an outcome is told" "$out$err" 'what it answered is not known: it is asked again'
same "the first part is not asked for again" "$(asked '[.[] | .messages[-1].role]')" '["user","assistant","assistant"]'
same "and the same is sent once more" "$(asked '.[1] == .[2]')" true
same "with the same end" "$(log k '[.[] | select(.kind == "ai_message") | .payload.content]')" '["Find lamps.","I search the web.","Lamps are found."]'

# ---- commands run, and their results come before the rest ----
heddle agent add Look --kind model --model anthropic:claude-command --permissions all >/dev/null
run heddle talk c --agent Look --message 'Look.'
exits "commands in an answer that was paused run" 0
has "and the turn goes on with their results" "$out" 'Done.'

# ---- a provider that never ends ----
: >"$scratch/asked"
heddle agent add Loop --kind model --model anthropic:claude-loop --permissions all >/dev/null
run heddle talk l --agent Loop --message 'Go.' --json
same "pauses have a limit" "$(asked 'length')" 11
same "which ends the turn" "$(jq -sc 'last | [.outcome, .reason]' "$scratch/out")" '["completed","pause"]'
has "and is told" "$out" 'is not asked to go on any more'
: >"$scratch/asked"
run heddle talk m --agent Loop --message 'Go.' --max-rounds 3 --json
same "the limit of rounds holds, too" "$(jq -sc 'last | [.outcome, .reason, .rounds]' "$scratch/out") $(asked 'length')" '["completed","max_iterations",4] 3'

# ---- Gemini: the same request, with a token ----
: >"$scratch/asked"
heddle agent add Argon --kind model --model google:gemini-4-argon --permissions all --max-tokens 100 >/dev/null
run heddle talk g --agent Argon --message 'Write.'
exits "Gemini goes on" 0
has "with the second half" "$out" 'And the second half.'
same "the same request with the token" "$(asked '[.[1].continuationToken, (.[1] | del(.continuationToken)) == .[0], (.[0] | has("continuationToken"))]')" '["T1",true,false]'
same "both halves are in the conversation" "$(log g '[.[] | select(.kind == "ai_message") | .payload.content]')" '["Write.","The first half.","And the second half."]'
heddle talk g --agent Argon --message 'Thanks.' >/dev/null 2>&1
same "the next turn sends both, and no token" "$(asked '.[2] | [has("continuationToken"), (.contents | tostring | test("first half") and test("second half"))]')" '[false,true]'
: >"$scratch/asked"
heddle agent add Same --kind model --model google:gemini-same --permissions all >/dev/null
run heddle talk s --agent Same --message 'Write.' --json
same "a token that comes back unchanged ends it" "$(asked 'length') $(jq -sc 'last | .reason' "$scratch/out")" '2 "pause"'
heddle agent add Bare --kind model --model google:gemini-bare --permissions all >/dev/null
run heddle talk b --agent Bare --message 'Write.' --json
same "without a token it is an answer that was cut off" "$(jq -sc 'last | [.reason, .text]' "$scratch/out")" '["length","Cut."]'
done_testing

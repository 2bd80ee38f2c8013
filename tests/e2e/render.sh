#!/bin/sh
# `heddle project --format`: request bodies and text, and repairs told on stderr.
# postgres: no, it has no log that it writes
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

heddle init >/dev/null
heddle log append t >/dev/null <<'JSON'
{"kind":"ai_message","payload":{"role":"user","content":"Q"}}
{"kind":"ai_message","payload":{"role":"assistant","content":"","tool_calls":[{"id":"t1","name":"f","arguments":{"a":1}},{"id":"t2","name":"g","arguments":"{\"b\":2}"}]}}
{"kind":"ai_message","payload":{"role":"tool","tool_call_id":"t1","name":"f","content":"{\"ok\":true}"}}
{"kind":"ai_message","payload":{"role":"tool","tool_call_id":"t2","name":"g","content":"two"}}
{"kind":"ai_message","payload":{"role":"assistant","content":"x","thinking":"h"}}
JSON

run heddle project --system CP t --format anthropic
exits "anthropic" 0
json "the prompt is on top" "$out" .system '"CP"'
json "roles alternate" "$out" '[.messages[].role]' '["user","assistant","user","assistant"]'
json "calls have their input as an object" "$out" '[.messages[1].content[].input]' '[{"a":1},{"b":2}]'
json "both results are in one message" "$out" '[.messages[2].content[].tool_use_id]' '["t1","t2"]'
has "what has no place is told" "$err" "entry 4: dropped thinking without a signature"
same "and twice is the same bytes" "$(heddle project --system CP t --format anthropic 2>/dev/null)" "$out"

run heddle project --system CP t --format openai
json "openai has no system key" "$out" keys '["messages"]'
json "its prompt comes first" "$out" '[.messages[].role]' '["system","user","assistant","tool","tool","assistant"]'
json "arguments are text" "$out" '[.messages[2].tool_calls[].function.arguments]' '["{\"a\":1}","{\"b\":2}"]'

run heddle project --system CP t --format text
has "text has headings" "$out" "assistant #1"
has "and calls" "$out" '  calls f [t1] {"a":1}'
run heddle project --system CP t --format json
json "json keeps the thinking" "$out" '.messages[4].content' '[{"thinking":"h","type":"thinking"},{"text":"x","type":"text"}]'
same "json is the default" "$(heddle project --system CP t)" "$out"
run heddle project --system CP t --format yaml
exits "an unknown format is misuse" 2

run heddle project --system CP t --format openai --at 1
json "open calls get a result" "$out" '[.messages[].role]' '["system","user","assistant","tool","tool"]'
json "that says what happened" "$out" '.messages[3].content | fromjson | [.ok,.error.type]' '[false,"interrupted"]'
has "and it is told" "$err" "entry 1, call t1: added an interrupted result"
run heddle project --system CP t --format openai --at 2
same "one line for each repair" "$(printf '%s\n' "$err" | grep -c interrupted)" 1

run heddle project --system CP t --format openai --limit 2
json "a limit keeps no result without its call" "$out" '[.messages[].role]' '["system","assistant"]'
run heddle project --system CP t --limit 4
json "in json as well" "$out" '[.messages[].role]' '["assistant","tool","tool","assistant"]'
run heddle project --system CP t --limit 0
json "none is none" "$out" .messages '[]'
run heddle project --system CP t --limit -1
exits "less than none is misuse" 2

# The API takes no conversation that the assistant opens.
echo '{"kind":"ai_message","payload":{"role":"assistant","content":"Welcome."}}' | heddle log append w >/dev/null
run heddle project w --format anthropic
json "an assistant who speaks first gets a user in front" "$out" '[.messages[].role]' '["user","assistant"]'
has "which is told" "$err" "entry 0: added a user message in front"

# A run that failed before its tools ran leaves the call in the log, open.
heddle run start g --text go --request-id r1 >/dev/null
heddle run event g >/dev/null <<'JSON'
{"kind":"llm_completed","id":"e1","seq":1,"data":{"content":"","tool_calls":[{"id":"t1","name":"rm","arguments":{}}]}}
{"kind":"request_failed","id":"e2","seq":2,"data":{"error":"no","error_type":"tool_guardrail"}}
JSON
json "the log ends with the call" "$(heddle project --system CP g)" '.messages[-1].tool_calls[0].id' '"t1"'
run heddle project --system CP g --format anthropic
json "a request has its result" "$out" '.messages[-1].content[0] | [.tool_use_id,.is_error]' '["t1",true]'

# A prompt that a snapshot took away stays away.
echo '{"system_prompt":null,"messages":[{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","url":"https://x/y.png"}]}]}' |
    heddle op replace t --context - >/dev/null
run heddle project --system CP t --format anthropic
json "no prompt, no key" "$out" keys '["messages"]'
json "pictures are source blocks" "$out" '.messages[0].content[1].source' '{"type":"url","url":"https://x/y.png"}'
run heddle project --system CP t --format openai
json "and image_url parts" "$out" '.messages[0].content[1].image_url.url' '"https://x/y.png"'

heddle log append values >/dev/null <<'JSON'
{"kind":"ai_message","payload":{"role":"user","content":{"temp":22}}}
{"kind":"ai_message","payload":{"role":"assistant","content":7}}
JSON
json "a content that is neither text nor parts is shown as its JSON" \
    "$(heddle project values --format openai)" '[.messages[].content]' '["{\"temp\":22}","7"]'
json "for every provider" "$(heddle project values --format anthropic)" '.messages[0].content' '"{\"temp\":22}"'

# ---- what is excluded is not sent, from the entry on that excludes it
heddle agent add Ana --kind model --model offline:echo --permissions all >/dev/null
heddle say x one >/dev/null
id=$(heddle say x two | tr -d '[]')
heddle say x three >/dev/null
shut=$(heddle log show x --json | jq -s 'flatten | length')
echo "→ exclude $id" | heddle do x --agent Ana >/dev/null
for format in anthropic openai; do
    run heddle project x --format $format
    lacks "$format does not send it" "$out" two
    has "but what follows" "$out" three
    has "and says so" "$err" "entry 1: dropped a message that is excluded"
    run heddle project x --format $format --limit 2
    has "a limit counts what is sent ($format)" "$out" one
    run heddle project x --format $format --at $((shut - 1))
    has "the past stays as it was ($format)" "$out" two
done
lacks "nor in json" "$(heddle project x 2>/dev/null)" two
has "the log has it" "$(heddle log show x --json)" two
heddle log export x >x.jsonl
heddle log import copy x.jsonl >/dev/null
run heddle project copy --format openai
lacks "nor from a copy of the log" "$out" two
now=$(heddle log show x --json | jq -s 'flatten | length')
echo "→ include $id" | heddle do x --agent Ana >/dev/null
has "included again" "$(heddle project x --format openai)" two
lacks "but not in between" "$(heddle project x --format openai --at $((now - 1)) 2>/dev/null)" two
heddle log append r >/dev/null <<'JSON'
{"kind":"ai_message","payload":{"role":"user","content":"go"}}
{"kind":"ai_message","payload":{"role":"assistant","content":"","tool_calls":[{"id":"c1","name":"pay","arguments":{}}]}}
{"kind":"ai_message","payload":{"role":"tool","tool_call_id":"c1","content":"paid"}}
JSON
id=$(heddle tree r --json | jq -r '[.. | objects | select(.seq == 2) | .local // .local_id // .id][0] // empty')
[ -n "$id" ] || id=$(heddle tree r | grep -o '\[[0-9a-z]*\]' | tail -n 1 | tr -d '[]')
echo "→ exclude $id" | heddle do r --agent Ana >/dev/null
run heddle project r --format anthropic
lacks "an excluded result is not sent" "$out" paid
lacks "and is not called interrupted" "$out" interrupted
ok "the views agree" heddle verify

done_testing

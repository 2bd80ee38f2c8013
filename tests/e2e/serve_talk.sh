#!/bin/sh
# `talk` over HTTP: its events come as they happen, others are answered meanwhile, a client that goes away ends the turn, and
# what is left goes on with `resume`.
# tsan: yes
# shellcheck source=tests/e2e/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

cp "$HEDDLE_SOURCE/tests/e2e/talk.js" "$scratch/server.js"
: >"$scratch/asked"
printf '%s\n' "{\"hold\":\"$scratch/go\",\"text\":\"one two three four five six seven eight nine ten\"}" '{"text":"All of it."}' >"$scratch/answers"
serve "$scratch/answers" "$scratch/asked" "$scratch/port"
export ANTHROPIC_BASE_URL="$base" ANTHROPIC_API_KEY=sk-SECRET-0123456789
heddle init >/dev/null
heddle agent add Opus --kind model --model anthropic:claude-opus-5-5 --permissions loom_aware,loom_write >/dev/null
start_server
model=$server
at_end 'kill $serve_pid "$model" 2>/dev/null; wait 2>/dev/null; rm -rf "$scratch"'
wait_for() { # wait_for TEXT FILE
    await grep -q "$1" "$2"
}
# talk FILE JSON: in the background; $client is its process
talk() {
    curl -sN -H "Authorization: Bearer $token" -H 'Content-Type: application/json' -H 'Accept: text/event-stream' -d "$2" "$url/api/talk" >"$1" &
    client=$!
}
talk first '{"thread":"t","agent":"Opus","message":"Count.","request_id":"r1"}'
wait_for one first
lacks "words come before the turn ends" "$(cat first)" "event: done"
post thread.list '{}'
same "others are answered meanwhile" "$code" 200
post talk '{"thread":"t","agent":"Opus","message":"Me too."}'
has "one turn at a time" "$out" 'is still running'
: >"$scratch/go"
wait $client
has "the words are events" "$(cat first)" 'event: event'
has "the document ends them" "$(cat first)" 'event: done'
lacks "no key is in what is sent" "$(cat first)" SECRET
same "the log has the turn, as from the shell" "$(heddle log show t --json | jq -sc '[.[] | select(.kind == "ai_message") | .payload.role]')" '["user","assistant"]'
talk again '{"thread":"t","agent":"Opus","message":"Count.","request_id":"r1"}'
wait $client
same "the same request again asks nobody" "$(wc -l <"$scratch/asked")" 1

# ---- a client that goes away -------------------------------------------------------------------
printf '%s\n' '{"slow":1000,"text":"one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"}' >"$scratch/answers"
talk second '{"thread":"u","agent":"Opus","message":"Count.","request_id":"r2"}'
wait_for two second
kill $client
wait $client 2>/dev/null
ended() { heddle run status u --agent Opus --json | jq -r .active; }
has_ended() { [ "$(ended)" = false ]; }
ok "a client that goes away ends its turn" await has_ended
stop_server
exits "and the server" 0
done_testing

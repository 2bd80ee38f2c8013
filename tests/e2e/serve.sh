#!/bin/sh
# The server: operations over HTTP, streams both ways, events, the page, and its end.
# tsan: yes
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

heddle init >/dev/null
start_server
has "it says where it is" "$(cat "$scratch/serve.out")" "http://127.0.0.1:"
same "the file that the shell reads is private" "$(stat -c %a "$XDG_RUNTIME_DIR"/heddle/*.json)" 600
run heddle serve
exits "there is one server for a workspace" 1
has "and a second one is told" "$err" "a server runs for this workspace already"

# ---- operations ---------------------------------------------------------------------------
post log.append '{"thread":"t","entries":[{"kind":"ai_message","payload":{"role":"user","content":"one"}}]}'
same "an operation answers" "$code" 200
json "with its document" "$out" . '{"first_seq":0,"last_seq":0,"rev":1}'
has "and its type" "$head" "Content-Type: application/json"
same "the entry is the one the shell would have made" \
    "$(heddle log show t --json | jq -c '[.actor,.kind,.payload.content]')" '["user","ai_message","one"]'
same "the same operation, asked by the shell" "$(printf '{}' | heddle api call thread.list)" "$(
    ask "$url/api/thread.list"
    printf '%s' "$out"
)"
ask "$url/api/project?thread=t&limit=1"
json "what only reads is asked with GET" "$out" '.messages[0].content' '"one"'
ask "$url/api/thread.spawn?intent=x"
same "what writes is not" "$code" 405
post thread.status '{"thread":"nowhere"}'
same "an error has the status of the table" "$code" 404
json "and says what to do" "$out" '.error | [.code, (.hint | length > 0)]' '["NOT_FOUND",true]'
post thread.statuss '{}'
same "an operation that is not there" "$code" 404
json "has a neighbour" "$out" '.error.hint' '"did you mean thread.status?"'
post log.append '{"thread":1}'
same "a parameter of the wrong type" "$code" 400
post log.append '{"thread":'
same "a body that is not JSON" "$code" 400
post log.append '{"thread":"t","entries":[],"expect":7}'
same "a conflict" "$code" 409
ask "$url/api/thread.list?nothing=1"
same "a parameter of the query that is not there" "$code" 400
ask "$url/api/thread.list?status=%zz"
same "a query that cannot be decoded" "$code" 400
ask "$url/api/thread.list?status=%00"
same "a NUL in a query" "$code" 400
# Whoever asks for the document alone gets no bytes: an operation that has only those says so.
heddle say tree 'first' >/dev/null
heddle api schema | jq -r '.items[] | select(.streams | index("out")).name' >"$scratch/writers"
while read -r name; do
    for params in '{"thread":"tree"}' '{"thread":"nowhere"}' '{"thread":"tree","to":"pi"}' '{"thread":"tree","agent":"Ana","name":"plan.md"}' '{}'; do
        post "$name" "$params" -H 'Accept: application/json'
        ok "$name is answered: $params" test "${code:-0}" -ge 200
    done
done <"$scratch/writers"
post tree.export '{"thread":"tree"}' -H 'Accept: application/json'
same "a tree is bytes" "$code" 400
post harness.export '{"thread":"tree","to":"pi"}' -H 'Accept: application/json'
same "so is a session" "$code" 400

# ---- conditions ------------------------------------------------------------------------------
ask "$url/api/project?thread=t"
tag=$(printf '%s\n' "$head" | sed -n 's/^ETag: //p')
has "what follows from the log has a tag with the revision" "$tag" '"1-'
ask "$url/api/project?thread=t" -H "If-None-Match: $tag"
same "an answer that is at hand is not sent again" "$code$out" 304
ask "$url/api/project?thread=t&format=anthropic" -H "If-None-Match: $tag"
same "the tag is of the revision, whatever is asked of it" "$code" 304
ask -H 'Content-Type: application/json' -H "If-Match: $tag" -d '{"thread":"t","entries":[{"kind":"ai_message","payload":{"role":"user","content":"matched"}}]}' "$url/api/log.append"
json "the tag of what was read is a condition of what is written" "$out" .rev 2
ask -H 'Content-Type: application/json' -H "If-Match: $tag" -d '{"thread":"t","entries":[{"kind":"ai_message","payload":{"role":"user","content":"late"}}]}' "$url/api/log.append"
same "which fails when somebody was first" "$code" 412
json "with the error of the table" "$out" '.error | [.code,.reason]' '["CONFLICT","rev"]'
ask -H 'Content-Type: application/json' -H 'If-Match: "2"' -d '{"thread":"t","expect":3,"entries":[]}' "$url/api/log.append"
same "a condition that says two things is refused" "$code" 400
ask -H 'Content-Type: application/json' -H 'If-Match: soon' -d '{"thread":"t","entries":[]}' "$url/api/log.append"
same "and one that says nothing" "$code" 400
ask "$url/api/project?thread=t" -H "If-None-Match: $tag"
same "after a commit the answer is another" "$code" 200
lacks "what follows from all threads has no tag of one log" "$(curl -s -D - -o /dev/null -H "Authorization: Bearer $token" "$url/api/log.export?all=true")" ETag
keyed() { ask -H 'Content-Type: application/json' -H 'Idempotency-Key: once' -d "{\"thread\":\"k\",\"entries\":[{\"kind\":\"ai_message\",\"payload\":{\"role\":\"user\",\"content\":\"$1\"}}]}" "$url/api/log.append"; }
keyed first
json "a key makes repeating harmless" "$out" '[.rev,.duplicate]' '[1,null]'
keyed first
json "the second time" "$out" '[.rev,.duplicate]' '[1,true]'
keyed other
same "the same key with other content is refused" "$code" 409
made() { ask -H 'Content-Type: application/json' -H 'Idempotency-Key: made' -d "{\"title\":\"$1\"}" "$url/api/objective.create"; }
made Ship
first=$out
same "an operation without a thread takes one" "$code" 200
made Ship
same "and answers as the first time" "$code $out" "200 $first"
has "which is said beside the answer" "$(curl -s -D - -o /dev/null -H "Authorization: Bearer $token" -H 'Content-Type: application/json' -H 'Idempotency-Key: made' -d '{"title":"Ship"}' "$url/api/objective.create")" "done before"
ask -H 'Content-Type: application/json' -H 'Idempotency-Key: "made"' -d '{"title":"Ship"}' "$url/api/objective.create"
same "quoted, it is the same key" "$code $out" "200 $first"
made Sail
json "other parameters under it are a conflict" "$out" '.error | [.code,.reason]' '["CONFLICT","op_id"]'
ask -H 'Content-Type: application/json' -H 'Idempotency-Key: cut' -H 'If-Match: "7"' -d '{"thread":"k","title":"Late"}' "$url/api/tree.set"
same "what names a thread takes the revision that was seen" "$code" 412
ask -H 'Content-Type: application/json' -H 'Idempotency-Key: cut' -H 'If-Match: "1"' -d '{"thread":"k","title":"In time"}' "$url/api/tree.set"
same "and the same key again, since nothing was done" "$code" 200
ask -H 'Content-Type: application/json' -H 'Idempotency-Key: once' -d '{"thread":"k","line":"x"}' "$url/api/loom.line"
same "a key that would change nothing is refused" "$code" 400

# ---- .json behind an address of the page --------------------------------------------------------
heddle say tree 'first' >/dev/null
node=$(heddle say tree 'second' | tr -d '[]\n')
behind() {
    ask "$url$1"
    behind_out=$out behind_code=$code
    ask "$url/api/$2"
    same "the document behind $1" "$behind_code $behind_out" "$code $out"
}
behind /.json thread.graph
behind /t/tree.json 'tree.show?thread=tree'
behind "/t/tree/n/$node.json?last=1" "tree.nodes?thread=tree&to=$node&content=text&last=1"
behind '/t/tree/log.json?at=0&kind=ai_message' 'log.list?thread=tree&backwards=true&from=0&kinds=ai_message'
behind '/t/tree/files.json' 'asset.list?thread=tree'
behind '/search.json?q=second' 'loom.search?query=second'
behind '/import.json' 'harness.list?agents=true'
ask "$url/t/tree/context.json?vs=0"
json "of a request to a model it is what explains it" "$out" '(.sections | length) > 0' true
behind '/api/at/t/tree/log?at=0' 'log.list?thread=tree&backwards=true&from=0'
ask "$url/t/no%2Fsuch.json"
same "a name stays what it is" "$code" 400
run curl -sS -o /dev/null -w '%{http_code}' "$url/t/tree.json"
same "nobody gets it without permission" "$out" 401
run curl -sS -H 'Accept: text/html,*/*' -w '%{content_type}' -o /dev/null "$url/search.json"
same "a browser gets the page, which asks with its secrets" "$out" "text/html; charset=utf-8"
run curl -sS -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $token" -H 'Sec-Fetch-Site: cross-site' "$url/t/tree.json"
same "a page of another site gets nothing" "$out" 403

# ---- streams --------------------------------------------------------------------------------
printf '{"kind":"ai_message","payload":{"role":"user","content":"two"}}\n{"kind":"ai_message","payload":{"role":"user","content":"three"}}\n' >lines
ask -H 'Content-Type: application/x-ndjson' --data-binary @lines "$url/api/log.append?thread=t"
json "lines come in a body" "$out" '[.first_seq,.rev]' '[2,4]'
ask "$url/api/log.show?thread=t"
has "events are JSON Lines" "$head" "Content-Type: application/x-ndjson"
same "each with its line, and the document behind them" "$(printf '%s\n' "$out" | jq -c '.seq // .entries' | tr '\n' ' ')" "0 1 2 3 4 "
ask "$url/api/log.show?thread=t" -H 'Accept: text/event-stream'
same "or server-sent events" "$(printf '%s\n' "$out" | grep -c '^event: event')" 4
has "that end with the document" "$out" 'event: done
data: {"entries":4,"thread":"t"}'
ask "$url/api/log.export?thread=t"
same "bytes come as they are" "$out" "$(heddle log export t)"
ask "$url/api/log.export?thread=nowhere"
same "an error before the first byte has its status" "$code" 404
i=0
while [ $i -lt 4000 ]; do
    printf '{"kind":"ai_message","payload":{"role":"user","content":"%s %0200d"}}\n' $i 7
    i=$((i + 1))
done >many
ask -H 'Content-Type: application/x-ndjson' -H 'Transfer-Encoding: chunked' --data-binary @many "$url/api/log.import?thread=big"
json "a large body streams in" "$out" '.rev // .entries // .imported' 4000
heddle log export big >big.jsonl
ask "$url/api/log.export?thread=big"
same "and a large answer out" "$out" "$(cat big.jsonl)"

# ---- events ---------------------------------------------------------------------------------
: >"$scratch/events"
curl -sN -H "Authorization: Bearer $token" "$url/api/events?since=t:1" >"$scratch/events" &
listener=$!
wait_for() { # wait_for TEXT: stands in the events
    await grep -q "$1" "$scratch/events"
}
wait_for '"rev":4'
has "what came since a revision is told first" "$(cat "$scratch/events")" '{"kinds":["ai_message"],"rev":4,"thread":"t"}'
heddle say t 'from another process' >/dev/null
wait_for '"rev":5'
has "so is what another process commits" "$(cat "$scratch/events")" '"rev":5,"thread":"t"'
post log.append '{"thread":"u","entries":[{"kind":"ai_message","payload":{"role":"user","content":"own"}}]}'
wait_for '"thread":"u"'
has "and what the server commits" "$(cat "$scratch/events")" '"rev":1,"thread":"u"'
last=$(sed -n 's/^id: //p' "$scratch/events" | tail -n 1)
kill $listener
wait $listener 2>/dev/null
post log.append '{"thread":"u","entries":[{"kind":"ai_message","payload":{"role":"user","content":"missed"}}]}'
: >"$scratch/events"
curl -sN -H "Authorization: Bearer $token" -H "Last-Event-ID: $last" "$url/api/events" >"$scratch/events" &
listener=$!
wait_for '"rev":2'
has "a reader who comes back gets what was missed" "$(cat "$scratch/events")" '"rev":2,"thread":"u"'
lacks "and nothing twice" "$(cat "$scratch/events")" '"rev":5'

# A log that was put back and written to again may have the revisions that were told, and other entries.
heddle backup "$scratch/before.tar" >/dev/null
post log.append '{"thread":"u","entries":[{"kind":"ai_message","payload":{"role":"user","content":"taken back"}}]}'
wait_for '"rev":3,"thread":"u"'
kill -STOP "$serve_pid" # it must not look in between
heddle restore-backup "$scratch/before.tar" --force >/dev/null 2>&1
echo '{"kind":"ai_message","payload":{"role":"user","content":"instead"}}' | heddle log append u >/dev/null
kill -CONT "$serve_pid"
wait_for '"rev":0,"thread":"u"'
both_told() { [ "$(grep -c '"rev":3,"thread":"u"' "$scratch/events")" -eq 2 ]; }
await both_told
same "the same revision of another log is told as a new thread" \
    "$(sed -n 's/^data: .*"rev":\([0-9]*\),"thread":"u".*/\1/p' "$scratch/events" | tr '\n' ' ')" "2 3 0 3 "

# ---- the page -------------------------------------------------------------------------------
run curl -sS -D "$scratch/head" "$url/"
has "the page is there" "$out" "<!doctype html>"
head=$(tr -d '\r' <"$scratch/head")
has "with a policy" "$head" "require-trusted-types-for 'script'; trusted-types 'none'"
has "and a tag" "$head" "ETag: "
etag=$(printf '%s\n' "$head" | sed -n 's/^ETag: //p')
same "which saves sending it again" "$(curl -s -o /dev/null -w '%{http_code}' -H "If-None-Match: $etag" "$url/")" 304
same "every state of the page is the page" "$(curl -s "$url/t/design/log?at=4")" "$out"
same "a script has its type" "$(curl -s -o /dev/null -w '%{content_type}' "$url/main.js")" "text/javascript; charset=utf-8"
same "a file that is not there is not the page" "$(curl -s -o /dev/null -w '%{http_code}' "$url/nothing.js")" 404

# ---- its end --------------------------------------------------------------------------------
stop_server
exits "it ends when it is asked to" 0
wait $listener
has "streams are told" "$(cat "$scratch/events")" "event: bye"
same "nothing is left to be found" "$(ls "$XDG_RUNTIME_DIR"/heddle | grep -vc lock)" 0

# More than a connection buffers: it is still being sent when the server is asked to end.
wide=$(head -c 2000000 /dev/zero | tr '\0' x)
for i in 1 2 3 4 5 6 7 8; do printf '{"kind":"ai_message","payload":{"role":"user","content":"%s"}}\n' "$wide"; done |
    heddle log append wide >/dev/null
start_server --grace 300
curl -s --limit-rate 4M -o "$scratch/wide" -H "Authorization: Bearer $token" \
    "$url/api/tree.nodes?thread=wide&last=8&content=text&max_bytes=2000000" &
reader=$!
await test -s "$scratch/wide"
stop_server
exits "a server that still sends an answer ends as usual" 0
status=0
wait $reader || status=$?
exits "when the answer was sent" 0
same "to its end" "$(jq '.items | length' "$scratch/wide")" 8
done_testing

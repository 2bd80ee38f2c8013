#!/bin/sh
# Every operation that writes is harmless when it is repeated: this goes over the table. One with a key is called
# twice with the same value of it, makes its entries once and answers the same; with other parameters it is CONFLICT. One
# that says `same` adds nothing the second time. One that can do neither stands in the list below, with the reason.
# postgres: yes
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

heddle api schema >"$scratch/schemas.json"
: >"$scratch/seen"
once_again=

# call NAME PARAMS: the status in $status, the answer in $scratch/answer.
call() {
    status=0
    heddle api call "$1" --params "$2" >"$scratch/answer" 2>"$scratch/err" </dev/null || status=$?
}
entries() { heddle stats --json | jq '[.threads[].rev] | add // 0'; }
key_of() { jq -r --arg n "$1" '.items[] | select(.name == $n) | .repeat_key' "$scratch/schemas.json"; }

# once NAME PARAMS OTHER: twice with one key, then OTHER with the same key.
once() {
    name=$1
    echo "$name" >>"$scratch/seen"
    key=$(key_of "$name")
    mine=$(printf '%s' "$2" | jq -c --arg k "$key" --arg v "key-$name$once_again" '. + {($k): $v}')
    other=$(printf '%s' "$3" | jq -c --arg k "$key" --arg v "key-$name$once_again" '. + {($k): $v}')
    before=$(entries)
    call "$name" "$mine"
    first=$(cat "$scratch/answer")
    between=$(entries)
    same "$name: the first time it is done" "$status" 0
    ok "$name: with at least an entry" [ "$between" -gt "$before" ]
    call "$name" "$mine"
    same "$name: the second time it is answered" "$status" 0
    same "$name: without a further entry" "$(entries)" "$between"
    # Some say in a member of their own that it was done before, and leave out what was done then.
    plain='del(.duplicate, .duplicates, .repeated, .applied, .rev)'
    case $name in
    erase) plain="$plain | del(.items)" ;;
    talk) plain='{thread, agent, run_id, outcome, reason}' ;;
    esac
    same "$name: and as the first time" "$(tail -n 1 "$scratch/answer" | jq -c "$plain")" "$(printf '%s\n' "$first" | tail -n 1 | jq -c "$plain")"
    call "$name" "$other"
    same "$name: other parameters under the same key are a conflict" "$(jq -r .error.code "$scratch/answer")" CONFLICT
    same "$name: which changes nothing" "$(entries)" "$between"
}

# twice NAME PARAMS: the second time there is nothing left to do.
twice() {
    echo "$1" >>"$scratch/seen"
    call "$1" "$2"
    same "$1: it is done" "$status" 0
    before=$(entries)
    call "$1" "$2"
    same "$1: repeated, it adds no entry" "$(entries)" "$before"
}

# never NAME REASON
never() { echo "$1" >>"$scratch/seen"; }

heddle init >/dev/null
mkdir -p "$HOME/.config/heddle"
echo '{"executors":{"sleeps":["sleep","300"]}}' >"$HOME/.config/heddle/config.json"

# ---- the log ---------------------------------------------------------------------------------------------
once log.append '{"thread":"log","entries":[{"kind":"ai_message","payload":{"role":"user","content":"a"}}]}' '{"thread":"log","entries":[{"kind":"ai_message","payload":{"role":"user","content":"b"}}]}'
once op.fork '{"thread":"log","lane":"side"}' '{"thread":"log","lane":"another"}'
once op.switch '{"thread":"log","lane":"side"}' '{"thread":"log","lane":"default"}'
once op.replace '{"thread":"log","context":"{\"messages\":[]}"}' '{"thread":"log","context":"{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}"}'
once erase '{"thread":"log","seqs":[0],"reason":"a test","leave_derived":true}' '{"thread":"log","seqs":[0],"reason":"another","leave_derived":true}'
never log.import "an export goes into a thread that has no entries: the second time is refused"
twice log.rechain '{"thread":"log"}'
twice log.retain '{"keep_days":1}'
twice head '{"thread":"log"}'

# ---- runs --------------------------------------------------------------------------------------------------
once run.start '{"thread":"run","text":"Begin."}' '{"thread":"run","text":"Begin otherwise."}'
once run.steer '{"thread":"run","text":"Left."}' '{"thread":"run","text":"Right."}'
once run.inject '{"thread":"run","text":"News."}' '{"thread":"run","text":"Old news."}'
once run.drain '{"thread":"run"}' '{"thread":"run","agent":"somebody"}'
never run.event "each event has an id of its own, under which it is logged once"
once run.cancel '{"thread":"run"}' '{"thread":"run","reason":"other"}'
heddle run start run --text again >/dev/null
once run.recover '{"thread":"run"}' '{"thread":"run","agent":"somebody"}'
token=$(heddle checkpoint run --json | jq -r .token)
twice checkpoint.restore "{\"token\":\"$token\"}"

# ---- threads that share work ----------------------------------------------------------------------------------
once objective.create '{"title":"Ship it","id_from":"random"}' '{"title":"Ship another","id_from":"random"}'
goal=$(printf '%s' "$first" | jq -r .id)
heddle objective create Nothing --id nothing >/dev/null
once objective.delete '{"id":"nothing"}' "{\"id\":\"$goal\"}"
once thread.spawn "{\"intent\":\"Design\",\"objective\":\"$goal\",\"no_run\":true}" "{\"intent\":\"Build\",\"objective\":\"$goal\",\"no_run\":true}"
same "one thread was made" "$(heddle list --json | jq '.items | length')" "$(heddle list --json | jq '[.items[].id] | unique | length')"
heddle spawn --id build --intent Build --objective "$goal" --no-run >/dev/null
echo 'Use SQLite.' >.leslie/threads/design/plan.md
once reference.add '{"from":"build","target":"design","binding":"frozen"}' '{"from":"build","target":"design","binding":"live"}'
echo 'Use PostgreSQL.' >.leslie/threads/design/plan.md
once reference.refresh '{"from":"build"}' '{"from":"build","target":"design"}'
once reference.rebind '{"from":"build","target":"design","binding":"live"}' '{"from":"build","target":"design","binding":"frozen"}'
once thread.merge '{"sources":["design"],"target":"build"}' '{"sources":["design"],"target":"build","strategy":"strict"}'
once reference.drop '{"from":"build","target":"design"}' '{"from":"build","ref":"other"}'
once thread.transfer '{"thread":"build","direction":"handoff","target":"human"}' '{"thread":"build","direction":"handoff","target":"agent"}'
once thread.inject '{"thread":"build","content":"Mind the tests."}' '{"thread":"build","content":"Mind the dog."}'
waiting=$(heddle api call context.make --params '{"thread":"build"}' | jq -c .waiting)
once context.acknowledge "{\"thread\":\"build\",\"waiting\":$waiting}" '{"thread":"build","waiting":[]}'
once transcript.keep '{"thread":"build","chat":"c1","query":"Q","assistant":"A"}' '{"thread":"build","chat":"c1","query":"Q","assistant":"B"}'
once thread.rename '{"thread":"build","title":"Build it"}' '{"thread":"build","title":"Build them"}'
once thread.lifecycle '{"thread":"build","action":"suspend"}' '{"thread":"build","action":"resume"}'
once thread.archive '{"thread":"build"}' '{"thread":"design"}'
never worker.run "it starts a process"
heddle spawn --id sleeper --intent Sleep --objective "$goal" --with sleeps >/dev/null 2>&1
twice worker.stop '{"thread":"sleeper"}'

# ---- trees and agents -------------------------------------------------------------------------------------------
once agent.add '{"name":"Muse","kind":"model","model":"offline:script muse.jsonl","permissions":["all"]}' '{"name":"Ana","kind":"human"}'
once agent.set '{"name":"Muse","max_tokens":100}' '{"name":"Muse","max_tokens":200}'
once loom.say '{"thread":"tree","text":"Once."}' '{"thread":"tree","text":"Twice."}'
once loom.do '{"thread":"tree","lines":"→ annotate here \"first\"\n","agent":"Muse"}' '{"thread":"tree","lines":"→ annotate here \"second\"\n","agent":"Muse"}'
never loom.line "loom.say and loom.do do the same, with a key"
once tree.set '{"thread":"tree","title":"A tale"}' '{"thread":"tree","title":"A song"}'
text=$(jq -c -n --rawfile text "$HEDDLE_SOURCE/tests/fuzz/corpus/fuzz_loom_import/openloom" '$text')
once tree.import "{\"thread\":\"again\",\"text\":$text}" "{\"thread\":\"other\",\"text\":$text}"
long=$(printf '%s' "$text" | jq -c 'fromjson | .trees[0].nodes.a.content[0].text = "x" * 20000 | tojson')
once_again=-long
once tree.import "{\"thread\":\"long\",\"text\":$long}" "{\"thread\":\"longer\",\"text\":$long}"
once_again=
has "a long request is remembered by its hash" "$(heddle log show .global --json | jq -r 'select(.op_id == "key-tree.import-long") | .payload.request')" "blake2b:"
twice tree.summarize '{"thread":"again"}'
twice tree.close '{"thread":"again"}'
echo '{"text":"It wove.","usage":{"input":10,"output":3}}' >muse.jsonl
once talk '{"thread":"tree","agent":"Muse","message":"Go on."}' '{"thread":"tree","agent":"Muse","message":"Stop."}'
for i in 1 2 3 4 5 6 7 8; do heddle say long-talk "The loom wove row $i, and the weaver sang of the warp and the weft until the lamp went out. And then the night was long, and nobody counted the rows that were left, nor the threads that broke, nor the songs that nobody knew any more by morning, when the light came back." >/dev/null; done
once compact '{"thread":"long-talk","keep":2,"model":"none"}' '{"thread":"long-talk","keep":3,"model":"none"}'
once agent.remove '{"name":"Muse"}' '{"name":"Ana"}'

# ---- others --------------------------------------------------------------------------------------------------------
id=1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed
jq -nc --arg id "$id" '{type: "user", uuid: "u1", parentUuid: null, sessionId: $id, cwd: "/home/you", timestamp: "2026-11-15T21:36:00.000Z",
    message: {role: "user", content: "Which store?"}}' >"$id.jsonl"
twice harness.import "{\"harness\":\"claude-code\",\"path\":\"$id.jsonl\",\"thread\":\"session\"}"
twice hook.record "{\"harness\":\"claude-code\",\"session\":\"$id\",\"thread\":\"session\",\"transcript\":\"$id.jsonl\"}"
twice harness.install '{"harness":"claude-code","scope":"project"}'
twice thread.delete '{"thread":"log","yes":true}'
twice workspace.init '{}'
twice workspace.doctor '{}'
twice workspace.trust '{}'
twice workspace.backup "{\"file\":\"$scratch/backup\"}"
twice workspace.restore "{\"file\":\"$scratch/backup\",\"into\":\"$scratch/restored\"}"
twice guide.write '{}'
twice config.set '{"key":"tokens.encoding","value":"cl100k_base"}'
twice config.unset '{"key":"tokens.encoding"}'
twice memo.add '{"text":"Remember."}'
never memo.remove "a number means another memo the second time; it is no part of the log"
twice payload.parse "$(heddle payload --output - | jq -Rsc '{text: ., list: true}')"
never session.new "it makes a directory, which has a new name each time; it is no part of the log"
never turn.new "likewise"
never token.create "the token is shown once, and kept nowhere"
never token.revoke "the second time there is no such token, which is said"
twice store.compact '{}'
case ${HEDDLE_STORE:-} in
*://*) never store.copy "" && never store.switch "" ;; # the log is elsewhere
*)
    twice store.copy '{"from":"here","to":"copy.db"}'
    twice store.switch '{"to":"copy.db"}'
    ;;
esac

jq -r '.items[] | select(.repeat != "reads") | .name' "$scratch/schemas.json" | sort >"$scratch/there"
sort -u "$scratch/seen" >"$scratch/seen.sorted"
same "operations that write and are not tried here" "$(comm -13 "$scratch/seen.sorted" "$scratch/there")" ""
jq -r '.items[] | select(.repeat == "never") | .name' "$scratch/schemas.json" | sort >"$scratch/never"
sed -n 's/^never \([a-z.]*\) ".\{5,\}"$/\1/p' "$0" | sort >"$scratch/reasons"
same "those that cannot be repeated, and no others, have a reason here" "$(comm -3 "$scratch/never" "$scratch/reasons")" ""
same "the log is whole" "$(heddle verify >/dev/null 2>&1 && echo whole)" whole

# ---- at the same time ------------------------------------------------------------------------------------------------
before=$(entries)
for i in 1 2 3 4 5 6 7 8; do
    heddle api call thread.inject --params '{"thread":"design","content":"At once.","op_id":"at-once"}' >"$scratch/at.$i" 2>/dev/null &
done
wait
same "eight callers at once are answered alike" "$(cat "$scratch"/at.? | sort -u | wc -l)" 1
lacks "none of them with an error" "$(cat "$scratch"/at.?)" '"error"'
same "and it was done once" "$(entries)" $((before + 2))

# ---- a revision that was seen ------------------------------------------------------------------------------------------
rev=$(heddle head design --json | jq -r '.rev // .items[0].rev // 0')
run heddle thread rename design 'Too late' --expect $((rev + 1)) --op-id late
has "a thread that has another revision is left alone" "$err" CONFLICT
run heddle thread rename design 'In time' --expect "$rev" --op-id late
exits "with the right one it is done, under the same op_id: a failure is not remembered" 0
run heddle thread rename design 'In time' --expect 99 --op-id late
exits "and repeated whatever the revision is" 0

# ---- erased ------------------------------------------------------------------------------------------------------------
heddle inject design 'my secret word' --op-id secret >/dev/null 2>&1
seq=$(heddle log show .global --json | jq -r 'select(.payload.content == "my secret word") | .seq')
heddle erase .global "$seq" --reason "she asked" --with-derived >/dev/null
lacks "erasing takes the text out of what was remembered, too" "$(heddle log export .global)" "my secret word"
run heddle inject design 'my secret word' --op-id secret
has "its op_id stays used" "$err" "what was asked is erased"
done_testing

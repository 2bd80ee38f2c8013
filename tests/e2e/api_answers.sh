#!/bin/sh
# Every operation of the table is called once with success, and its answer and events are read by a validator
# that is not ours (python3-jsonschema). An operation that nothing here calls fails the test, so that a new
# row comes with a line: there are no exceptions.
# postgres: no, it moves its own log to another file, and what answers hold does not depend on the store
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

if ! /usr/bin/python3 -c 'import jsonschema; jsonschema.Draft202012Validator' 2>/dev/null; then
    skip "every answer is valid" "python3-jsonschema is not installed"
    done_testing
fi

heddle api schema >"$scratch/schemas.json"
: >"$scratch/answers"

# keep NAME FILE: FILE holds events and, at the end, the document of an operation that succeeded.
keep() {
    jq -c --slurp --arg name "$1" '{name: $name, events: .[:-1], answer: .[-1]}' "$2" >>"$scratch/answers"
}

# call NAME [PARAMS]: standard input is the operation's, when it takes lines; the answer is in $answer.
call() {
    set -- "$1" "${2:-{\}}"
    set -- "$@" "$(jq -r --arg n "$1" '.items[] | select(.name == $n) | if .streams | index("out") then "out" else "" end' "$scratch/schemas.json")"
    status=0
    heddle api call "$1" --params "$2" ${3:+--out "$scratch/bytes"} >"$scratch/answer" 2>"$scratch/err" || status=$?
    answer=$(tail -n 1 "$scratch/answer")
    if [ "$status" -eq 0 ] && [ "$(jq -c . "$scratch/answer" | wc -l)" -eq "$(wc -l <"$scratch/answer")" ]; then
        pass "$1 answers, one line for each document"
        keep "$1" "$scratch/answer"
    else
        flunk "$1 answers, one line for each document" "exit status $status" "asked: $2" "$(tail -n 3 "$scratch/answer")" "$(cat "$scratch/err")"
    fi
}
# of PATH: a member of the last answer.
of() { printf '%s' "$answer" | jq -r "$1"; }

# ---- start ----------------------------------------------------------------------------------------------

exec </dev/null
call workspace.init '{"for":"agents"}'
call program.version
call config.schema
call config.set '{"key":"tokens.encoding","value":"cl100k_base"}'
call config.get '{"key":"tokens.encoding"}'
call config.list
call config.unset '{"key":"tokens.encoding"}'
call guide.write
echo '{"executors":{}}' >.heddle/config.json
call workspace.trust
mkdir -p "$HOME/.config/heddle"
echo '{"executors":{"agent":["cat"],"sleeps":["sleep","300"]}}' >"$HOME/.config/heddle/config.json"

# ---- log, lanes, runs -----------------------------------------------------------------------------------

echo '{"kind":"note","payload":{"text":"Lines."}}' >"$scratch/lines"
call log.append '{"thread":"log","each":true}' <"$scratch/lines"
call log.append '{"thread":"log","entries":[{"kind":"ai_message","payload":{"role":"user","content":"Hello."}},{"kind":"ai_message","payload":{"role":"assistant","content":"Good day."}}]}'
call log.show '{"thread":"log"}'
call log.list '{"thread":"log"}'
call log.marks '{"thread":"log"}'
call log.export '{"thread":"log"}'
call log.import '{"thread":"copy"}' <"$scratch/bytes"
call log.rechain '{"thread":"copy"}'
call log.retain '{"keep_days":1,"dry_run":true}'
call erase '{"thread":"copy","seqs":[1],"reason":"a test","leave_derived":true}'
call head '{"thread":"log"}'
call op.fork '{"thread":"log","lane":"side","switch":true}'
call op.switch '{"thread":"log","lane":"default"}'
call op.replace '{"thread":"log","context":"{\"messages\":[{\"role\":\"user\",\"content\":\"Again.\"}]}"}'
call lane.list '{"thread":"log"}'
call project '{"thread":"log","format":"anthropic"}'
call project.compare '{"thread":"log","vs":2}'
call name.list '{"kind":"thread"}'
call run.start '{"thread":"run","text":"Begin.","request_id":"r1"}'
call run.status '{"thread":"run"}'
call run.steer '{"thread":"run","text":"Left."}'
call run.inject '{"thread":"run","text":"News."}'
echo '{"kind":"llm_completed","data":{"text":"A"}}' >"$scratch/lines"
call run.event '{"thread":"run"}' <"$scratch/lines"
call run.drain '{"thread":"run"}'
call run.recover '{"thread":"run"}'
call run.start '{"thread":"run","text":"Begin.","request_id":"r2"}'
call run.cancel '{"thread":"run"}'
call checkpoint.make '{"thread":"log"}'
call checkpoint.restore "$(printf '%s' "$answer" | jq -c '{token}')"

# An event has come when it is stopped; then it ends with its document.
mkfifo "$scratch/follow"
"$HEDDLE" api call log.follow --params '{"thread":"log","from":["0"]}' >"$scratch/follow" 2>"$scratch/err" &
follower=$!
{
    read -r line
    kill "$follower"
    printf '%s\n' "$line"
    cat
} <"$scratch/follow" >"$scratch/followed"
wait "$follower"
if jq -e --slurp 'length > 1 and (.[-1] | has("error") | not)' "$scratch/followed" >/dev/null; then
    pass "log.follow answers"
    keep log.follow "$scratch/followed"
else
    flunk "log.follow answers" "$(cat "$scratch/followed" "$scratch/err")"
fi

# ---- threads that share work ----------------------------------------------------------------------------

call objective.create '{"title":"Ship it","id":"goal"}'
call thread.spawn '{"intent":"Design","objective":"goal","id":"design","no_run":true}'
call thread.spawn '{"intent":"Build","objective":"goal","id":"build","parent":"design","no_run":true}'
echo 'Use SQLite.' >.leslie/threads/design/plan.md
call asset.list '{"thread":"design"}'
call reference.add '{"from":"build","target":"design","binding":"frozen"}'
echo 'Use PostgreSQL.' >.leslie/threads/design/plan.md
call asset.read '{"thread":"build","name":"design/plan.md"}'
call asset.read '{"thread":"build","name":"design/plan.md","markdown":true}'
call asset.compare '{"thread":"build","name":"design/plan.md"}'
call asset.history '{"thread":"design"}'
call reference.refresh '{"from":"build","target":"design"}'
call reference.rebind '{"from":"build","target":"design","binding":"live"}'
call thread.merge '{"sources":["design"],"target":"build"}'
call reference.drop '{"from":"build","target":"design"}'
call thread.transfer '{"thread":"build","direction":"handoff","target":"human"}'
call thread.inject '{"thread":"build","content":"Mind the tests."}'
call context.make '{"thread":"build","notes":true}'
call context.acknowledge "$(printf '%s' "$answer" | jq -c '{thread: "build", waiting}')"
call context.parse '{"text":"<thread_context thread=\"a\" objective=\"goal\"></thread_context>"}'
call transcript.keep '{"thread":"build","chat":"c1","query":"Q","assistant":"A"}'
call worker.run '{"thread":"build"}'
call worker.wait '{"thread":"build","timeout":60}'
call thread.spawn '{"intent":"Sleep","objective":"goal","id":"sleeper","with":"sleeps"}'
call worker.list
call worker.stop '{"thread":"sleeper"}'
call thread.lifecycle '{"thread":"sleeper","action":"cancel"}'
call thread.list
call thread.status '{"thread":"build"}'
call thread.stats '{"thread":"log"}'
call thread.graph
call thread.rename '{"thread":"build","title":"Build it"}'
call objective.list
call objective.status '{"id":"goal"}'
call objective.create '{"title":"Nothing","id":"nothing"}'
call objective.delete '{"id":"nothing"}'

# ---- trees, agents, models ------------------------------------------------------------------------------

call agent.add '{"name":"Muse","kind":"model","model":"offline:script muse.jsonl","permissions":["all"]}'
call agent.set '{"name":"Muse","max_tokens":100}'
call agent.list
call loom.say '{"thread":"tree","text":"Once upon a time."}'
call loom.say '{"thread":"tree","text":"There was a loom."}'
call loom.line '{"thread":"tree","line":"→ tree"}'
call loom.do '{"thread":"tree","lines":"→ annotate here \"first\"\n","agent":"Muse"}'
call loom.position '{"thread":"tree"}'
call loom.ids '{"thread":"tree"}'
call loom.block '{"thread":"tree","block":"context"}'
call loom.search '{"query":"loom"}'
call loom.tools
call tree.show '{"thread":"tree"}'
call tree.nodes '{"thread":"tree"}'
call tree.skeleton '{"thread":"tree"}'
call tree.attest '{"thread":"tree"}'
call tree.set '{"thread":"tree","title":"A tale"}'
call tree.export '{"thread":"tree","format":"json"}'
call tree.import "$(jq -c -n --rawfile text "$HEDDLE_SOURCE/tests/fuzz/corpus/fuzz_loom_import/openloom" '{thread: "again", text: $text}')"
call tree.summarize '{"thread":"again"}'
call tree.close '{"thread":"again"}'
echo '{"text":"It wove.","usage":{"input":10,"output":3}}' >muse.jsonl
call talk '{"thread":"tree","agent":"Muse","message":"Go on."}'
call assemble '{"thread":"tree","agent":"Muse"}'
call compact '{"thread":"tree","preview":true}'
call agent.remove '{"name":"Muse"}'

# ---- sessions of other programs -------------------------------------------------------------------------

id=1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed
jq -nc --arg id "$id" '{type: "user", uuid: "u1", parentUuid: null, sessionId: $id, cwd: "/home/you", timestamp: "2026-11-15T21:36:00.000Z",
    message: {role: "user", content: "Which store?"}}' >"$id.jsonl"
call harness.import "{\"harness\":\"claude-code\",\"path\":\"$id.jsonl\",\"thread\":\"session\"}"
call harness.list
call harness.found
call harness.export '{"thread":"session","to":"pi"}'
call harness.install '{"harness":"claude-code","scope":"project"}'
call hook.event "{\"harness\":\"claude-code\",\"session\":\"$id\",\"event\":\"start\",\"thread\":\"build\"}"
call hook.record "{\"harness\":\"claude-code\",\"session\":\"$id\",\"thread\":\"session\",\"transcript\":\"$id.jsonl\"}"

# ---- payloads -------------------------------------------------------------------------------------------

echo 'int main(void) { return 0; }' >main.c
touch input.json # part of the project before it is packed
call memo.add '{"text":"Remember."}'
call memo.list
call memo.remove '{"memo":"1"}'
call session.new '{"name":"one","message":"Look."}'
call session.list
call turn.new
call payload.make '{"paths":["main.c"],"manifest":true}'
printf '%s\n' "$answer" >input.json
cp "$scratch/bytes" input.md
call payload.check '{"file":"input.md","paths":["main.c"]}'
call payload.parse "$(jq -c -n --rawfile text input.md '{text: $text, list: true}')"
call payload.explain '{"paths":["main.c"]}'
call payload.weigh '{"paths":["main.c"]}'
call payload.compare '{"file":"input.md","paths":["main.c"]}'
call payload.verify '{"file":"input.md","manifest":"input.json"}'
call tokens.count '{"text":"Hello."}'

# ---- care -----------------------------------------------------------------------------------------------

call token.create '{"name":"phone"}'
call token.list
call token.revoke "{\"id\":\"$(of '.items[0].id')\"}"
call store.info
call store.compact
call store.copy '{"from":"here","to":"copy.db"}'
call store.switch '{"to":"copy.db"}'
call thread.archive '{"thread":"build"}'
call thread.delete '{"thread":"copy","yes":true}'
call workspace.attention
call workspace.stats
call workspace.verify
call workspace.doctor
call workspace.backup "{\"file\":\"$scratch/backup\"}"
call workspace.restore "{\"file\":\"$scratch/backup\",\"into\":\"$scratch/restored\"}"

# ---- what was seen --------------------------------------------------------------------------------------

cat >"$scratch/valid.py" <<'PY'
# valid.py SCHEMAS ANSWERS: every answer and event of ANSWERS by the schema of its operation
import json, sys
from jsonschema import Draft202012Validator as V

rows = {row["name"]: row for row in json.load(open(sys.argv[1]))["items"]}
bad = 0
for line in open(sys.argv[2]):
    x = json.loads(line)
    row = rows[x["name"]]
    for part, docs in (("answer", [x["answer"]]), ("event", x["events"])):
        for doc in docs:
            for error in V(row.get(part, False)).iter_errors(doc):
                print(x["name"], part, error.json_path, error.message[:300])
                bad = 1
sys.exit(bad)
PY
run /usr/bin/python3 "$scratch/valid.py" "$scratch/schemas.json" "$scratch/answers"
same "every answer is valid by its schema" "$status $out$err" "0 "
jq -r .name "$scratch/answers" | sort -u >"$scratch/called"
jq -r '.items[].name' "$scratch/schemas.json" | sort >"$scratch/there"
same "operations that were never answered" "$(comm -13 "$scratch/called" "$scratch/there")" ""

done_testing

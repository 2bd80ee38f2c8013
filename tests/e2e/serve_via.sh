#!/usr/bin/env bash
# Commands of the shell through a server (--via-server): the same bytes, errors and exit status as without one. Two workspaces get the
# same commands, one of them through its server; only what is drawn or is a time may differ.
# asan: no
# postgres: no, it compares all output of two runs, and a server says how large it is by now
# shellcheck source=tests/e2e/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

mkdir here there
(cd here && heddle init >/dev/null)
cd there && heddle init >/dev/null && start_server && cd .. || exit 1

# What is drawn, and times, by a word each.
plain() {
    sed -E 's/[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9:.]+Z?)?/TIME/g; s/\b(obj|ref|op|inp|run|req)([-_])[0-9a-z]{6,}/\1\2ID/g; s/\[[0-9a-z]{4,6}\]/[ID]/g; s/"([0-9a-z]{4}|[0-9a-z]{0,5}[0-9][0-9a-z]{0,5})"/"ID"/g; s/(views|bytes)(":| )[0-9,]+/\1\2N/g; s/"local_id":"[0-9a-z]+"/"local_id":"ID"/g
        s/(rt2\.|heddle_)[A-Za-z0-9_.-]+/TOKEN/g; s/\btk_[0-9a-z]+/tk_ID/g; s/~[0-9]+ tokens in · [0-9]+ out/N/; s/\b[0-9]{13}\b/MS/g; s/\b[0-9a-f]{16,}\b/HEX/g; s/\b[0-9a-z]{20,}\b/ID/g; s/[0-9]+(\.[0-9]+)? (ms|s|µs)\b/N/g; s,/(here|there)\b,/X,g' "$1"
}

for place in here there; do cp "$HEDDLE_SOURCE/tests/fuzz/corpus/fuzz_loom_import/openloom" $place/tale.json; done
compared=0
while read -r line; do
    for place in here there; do
        cd $place || exit 1
        objective=$(heddle objective list --json | jq -r '.items[0].id // "none"')
        via=
        [ $place = here ] || via=--via-server
        # shellcheck disable=SC2086
        printf '→ view\n' | heddle $via ${line//OBJ/$objective} >../$place.out 2>../$place.err
        echo "exit $?" >>../$place.err
        cd ..
    done
    for part in out err; do
        same "heddle $line: $part" "$(plain there.$part)" "$(plain here.$part)"
    done
    compared=$((compared + 1))
done <<'END'
objective create Login
objective list
spawn --intent Design --objective OBJ --id backend --no-run
spawn --intent Page --objective OBJ --id front --parent backend --no-run
list
list --json
status backend
status backend --json
artifacts backend
reference --from front --target backend
refresh --from front
context front --task hello
context front --json
read front plan.md
say story Once.
say story --agent default Twice
tree story
tree story --depth 1
search Once
search Once --json
log show story
log show story --tail 1
log show story --json
log export story
project story
project story --format text
project story --format openai
project story --at 0
op fork story --lane alt --at 0
op switch story --lane alt
op switch story --lane nowhere
project story --lane alt
run status story
run start story --text hi --request-id r1
run status story
run steer story go
run cancel story
run status story --json
checkpoint story
agent add Bea --kind model --model anthropic:x
agent list
agent list --json
assemble story --agent Bea --task x
assemble story --agent Bea --explain
assemble story --agent Bea --format anthropic
do story --agent Bea
memo add x --text y
memo list
stats
stats --json
verify
verify --json
doctor
head story
store info
lifecycle front pause
lifecycle front resume --reason x
transfer front delegate
inject front hello
graph
graph --json
transcript backend
compact story
erase story 0 --reason test --yes
erase story 0 --reason test
log rechain story
head
tokens nothing
config list
config get model
payload --output -
sessions
worker list
nothing
log append story --expect 99
log import new
project
say
tree nowhere
api schema thread.list
api call thread.list
merge front --into backend
delete front --yes
list
objective status OBJ
objective create Passing --id passing --op-id made
objective create Passing --id passing --op-id made
objective create Other --op-id made
objective delete passing
spawn --intent Read --objective OBJ --id reader --ref backend --no-run --op-id spawned
spawn --intent Read --objective OBJ --id reader --ref backend --no-run --op-id spawned
rebind --from reader --target backend --binding frozen
diff reader backend/plan.md
history backend
merge --sources backend --target reader
unreference --from reader --target backend
thread rename reader Reads
thread rename reader Late --expect 99
thread archive reader
thread delete reader --yes
transcript backend --chat c1 --query Q --assistant A
agent add Muse --kind model --model offline:echo --permissions all
agent set Muse --max-tokens 100
talk other --agent Muse --message Hello --request-id q1
agent remove Muse
run start turns --text Begin --request-id r1
run event turns
run inject turns News
run drain turns
run recover turns
checkpoint story
restore nonsense
op replace story --context -
lanes story
compare story --vs 1
log list story
log marks story
stats story
tree set story --title Tale
tree nodes story
tree attest story
tree close story
summarize story
export story
import brought nothing.json
import brought tale.json
import claude-code nothing
transcripts
export other --to pi
attention
ps
wait backend
stop backend
verify
retain --keep-days 1 --dry-run
retain --keep-days 1 --yes
token create phone --permissions read
token list
token revoke phone
compact-store
END
# Every operation that a command can ask a server for was compared; the others are reached in another way.
heddle api openapi | jq -r '.paths | to_entries[] | select(.value.post["x-permission"] // "shell" | . != "shell") | .key | ltrimstr("/api/")' >offered
grep -vE '^(events|status)$|^(payload|memo|session|turn|tokens)\.' offered | sort >offered.sorted # of files here: never sent
sort >elsewhere <<'END'
config.schema
context.acknowledge
context.parse
guide.write
hook.event
hook.record
log.follow
loom.block
loom.ids
loom.line
loom.position
loom.tools
name.list
program.version
tree.skeleton
worker.run
workspace.init
END
curl -s -H "Authorization: Bearer $token" "$url/metrics" | sed -n 's/.*operation="\([^"]*\)".*/\1/p' | sort -u >asked
same "operations that no command here asked the server for" "$(comm -23 offered.sorted asked | comm -23 - elsewhere)" ""
ok "many commands were compared" [ "$compared" -gt 130 ]
stop_server
done_testing

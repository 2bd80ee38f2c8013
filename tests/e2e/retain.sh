#!/bin/sh
# `retain`: what is old and not in use is gone from every file; what is in use stays to the byte.
# postgres: no, it looks for the words in the database file
# shellcheck source=tests/e2e/lib.sh disable=SC2016
. "$(dirname "$0")/lib.sh"

old=2026-01-01T12:00:00Z
now=2026-06-01T12:00:00Z

# holds WORD: the files below here that have it, as it is or as part of something in base64.
cat >"$scratch/holds.mjs" <<'JS'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
const word = process.argv[2], found = [];
const encoded = [0, 1, 2].map((n) => {
  const all = Buffer.concat([Buffer.alloc(n), Buffer.from(word)]).toString('base64url');
  return all.slice(n ? 4 : 0, -4);
});
function look(dir) {
  for (const name of readdirSync(dir)) {
    const path = join(dir, name);
    if (statSync(path).isDirectory()) { look(path); continue; }
    const bytes = readFileSync(path).toString('latin1');
    if (bytes.toLowerCase().includes(word.toLowerCase()) || encoded.some((e) => bytes.includes(e)))
      found.push(path);
  }
}
for (const dir of ['.heddle', '.leslie', '.teddy']) if (existsSync(dir)) look(dir);
console.log(found.sort().join(' '));
JS
holds() { node "$scratch/holds.mjs" "$1"; }

entry() { # entry THREAD LANE KIND PAYLOAD
    printf '{"kind":"%s","payload":%s}\n' "$3" "$4" | heddle log append "$1" --lane "$2" >/dev/null
}
message() { entry "$1" "$2" ai_message "{\"role\":\"user\",\"content\":\"$3\"}"; }
snapshot() { # snapshot THREAD LANE TEXT
    printf '{"messages":[{"role":"user","content":"%s"}]}' "$3" | heddle op replace "$1" --lane "$2" --context - >/dev/null
}
lanes() { # the context of each lane of a thread at a seq
    for lane in default side; do heddle project t --lane "$lane" --at "$1"; done
}

export HEDDLE_NOW=$old
heddle init >/dev/null
message t default "Q01firstwordish was said"
message t default "Q02sharedish was said"
heddle op fork t --lane side --at 1 >/dev/null
message t default "Q03afterish was said"
entry t default note '{"text":"Q04noteish"}'
entry t default model_response '{"body":"Q05answerish","model":"m"}'
token=$(heddle checkpoint t --json 2>/dev/null | jq -r .token)
entry t default run_checkpoint '{"run_id":"r0","token":"'"$token"'"}'
snapshot t default "Q06snapshotish was the gist"
snapshot t default "Q07inforceish is the gist"
message t default "Q08shownish is said"
entry t default ai_message "{\"role\":\"user\",\"content\":\"Q09largeish $(head -c 9000 /dev/zero | tr '\0' x)\"}"
snapshot t side "Q10sideish is the gist"
entry t default document_write '{"path":"a.md","removed":"Q11docish"}'
entry t default document_write '{"path":"a.md","removed":"Q12docish"}'
heddle search Q01firstwordish >/dev/null
mkdir -p .leslie/threads/t/.meta/transcripts
printf 'User: Q01firstwordish\n' >.leslie/threads/t/.meta/transcripts/20260101-0000-x.txt
touch -d "$old" .leslie/threads/t/.meta/transcripts/20260101-0000-x.txt
printf 'User: Q13youngish\n' >.leslie/threads/t/.meta/transcripts/20260601-0000-y.txt
printf 'Q14mineish\n' >.leslie/threads/t/plan.md
# A thread with one context of everything, and one that is young.
message whole default "Q15wholeish is said"
HEDDLE_NOW=2026-05-30T12:00:00Z message young default "Q16youngish"
export HEDDLE_NOW=2026-05-30T12:00:00Z
snapshot young default "gist"
message t default "Q17latelyish is said"
entry t default note '{"text":"Q18newnoteish"}'
# One whose time is in the future.
HEDDLE_NOW=2027-01-01T00:00:00Z entry t default note '{"text":"Q19futureish"}'
export HEDDLE_NOW=$now

head=$(heddle head t --json | jq .rev)
lanes $((head - 1)) >"$scratch/before"

run heddle retain
exits "how long to keep is needed" 2
run heddle retain --keep-days -1
exits "and is not negative" 2
run heddle retain --keep-days 30 --thread nosuch --json
json "a thread must be there" "$out" '.error.code' '"NOT_FOUND"'
run heddle retain --keep-days 30
exits "without a yes nothing is erased" 1
has "and it says so" "$err" "nobody has agreed"
run heddle retain --keep-days 30 --dry-run --json
exits "a dry run" 0
printf '%s' "$out" >"$scratch/dry"
json "lists threads" "$out" '[.dry_run, .clean, .keep_days, .before, (.items | map(.thread))]' \
    '[true,false,30,"2026-05-02T12:00:00.000Z",["t","whole"]]'
json "by their seqs" "$out" '.items[0].ranges' '[{"from":0,"to":1},{"from":3,"to":7},{"from":12,"to":12}]'
json "with their times" "$out" '[.items[0] | .oldest, .newest, .files]' \
    '["2026-01-01T12:00:00.000Z","2026-01-01T12:00:00.000Z",[".leslie/threads/t/.meta/transcripts/20260101-0000-x.txt"]]'
json "what is in use is counted" "$out" '[.items[] | .kept]' '[6,1]'
run heddle verify --json
json "and erases nothing" "$out" '[.ok, .erased]' '[true,0]'
run heddle retain --keep-days 30 --dry-run
has "in words too" "$out" "would erase 8 entries"
has "for each thread" "$out" "t: 8 entries"
has "and why some stay" "$out" "6 as old kept: in use"
run heddle retain --keep-days 9999 --yes
exits "nothing may be old enough" 0
has "and that is said" "$out" "nothing to erase"
run heddle retain --keep-days 30 --thread young --yes --json
json "one thread alone" "$out" '[.entries, .clean]' '[0,true]'

run heddle retain --keep-days 30 --yes --json
exits "it is done" 0
json "as the dry run said" "$out" \
    '[.dry_run, .clean, .entries, .bytes, [.items[] | del(.seq)]]' \
    "$(jq -c '[false, true, .entries, .bytes, .items]' "$scratch/dry")"
for word in Q01firstwordish Q02sharedish Q03afterish Q04noteish Q05answerish Q06snapshotish Q11docish; do
    same "$word is gone" "$(holds $word)" ""
done
for word in Q07inforceish Q08shownish Q10sideish Q12docish Q15wholeish Q16youngish Q17latelyish Q18newnoteish Q19futureish; do
    has "$word is there" "$(holds $word)" .heddle/
done
has "a young transcript stays" "$(holds Q13youngish)" y.txt
has "and a file of mine" "$(holds Q14mineish)" plan.md
lanes $((head - 1)) >"$scratch/after"
same "every lane is what it was" "$(cat "$scratch/after")" "$(cat "$scratch/before")"
run heddle verify --json
json "the log is whole" "$out" '[.ok, .erased]' '[true,8]'
run heddle verify
has "verify counts" "$out" "8 erased"
run heddle doctor
exits "doctor finds nothing" 0
run heddle log show t --json
has "an entry says why" "$out" '"reason":"retention: older than 30 days"'
same "once" "$(printf '%s\n' "$out" | grep -c '"kind":"erasure"')" 1
run heddle retain --keep-days 30 --yes --json
json "a second time nothing goes" "$out" '[.entries, [.items[] | .entries]]' '[0,[0,0]]'
same "and nothing is written" "$(heddle log show t --json | grep -c '"kind":"erasure"')" 1
run heddle search Q01firstwordish
lacks "no search finds it" "$out" "Q01firstwordish"
heddle log export t >"$scratch/t.jsonl"
run heddle log import copy "$scratch/t.jsonl"
exits "an export of it can be imported" 0

# ---- runs -------------------------------------------------------------------------------------
export HEDDLE_NOW=$old
heddle run start r --text 'Q20runish do it' --request-id q1 >/dev/null
printf '%s\n' '{"kind":"llm_completed","data":{"text":"Q21resultish"}}' '{"kind":"request_completed"}' |
    heddle run event r >/dev/null
snapshot r default gist
heddle run start r --text 'Q22openish go on' --request-id q2 >/dev/null
heddle run steer r 'Q23steerish' >/dev/null
snapshot r default "Q24parkedish"
export HEDDLE_NOW=$now
run heddle run status r --json
printf '%s' "$out" >"$scratch/status"
run heddle retain --keep-days 30 --thread r --yes --json
exits "a thread with an open run" 0
same "of the run before it nothing is left" "$(holds Q20runish)$(holds Q21resultish)" ""
has "the open one stays" "$(holds Q22openish)" heddle.db
has "steering that waits" "$(holds Q23steerish)" heddle.db
has "a parked operation" "$(holds Q24parkedish)" heddle.db
run heddle run status r --json
same "its state is what it was" "$(printf '%s' "$out" | jq -c 'del(.projection_cursor_seq)')" \
    "$(jq -c 'del(.projection_cursor_seq)' "$scratch/status")"

# ---- the tree ---------------------------------------------------------------------------------
export HEDDLE_NOW=$old
leaf() { # leaf LOCAL TEXT
    entry l "lane$1" ai_message '{"role":"user","content":"'"$2"'","node":{"id":"n'"$1"'","local_id":"'"$1"'"}}'
}
leaf a1aa Q25pinnedish
leaf b2bb Q26looseish
entry l laneb2bb summary '{"target":{"node":"b2bb","type":"node"},"text":"Q27summaryish"}'
entry l lanea1aa summary '{"target":{"node":"a1aa","type":"node"},"text":"Q28summaryish"}'
entry l lanea1aa loom_annotation '{"agent":"ann","node":"b2bb","text":"Q29remarkish"}'
entry l lanea1aa loom_annotation '{"agent":"ann","node":"a1aa","text":"Q30remarkish"}'
entry l lanea1aa memory_operation '{"agent":"ann","op":"pin","target":{"node":"a1aa","type":"node"}}'
entry l lanea1aa memory_operation '{"agent":"ann","op":"stash","label":"x","text":"Q31stashish"}'
entry l lanea1aa memory_operation '{"agent":"ann","op":"stash","label":"x","text":"Q32stashish"}'
for i in 01 02 03 04 05 06 07 08 09 10 11; do
    entry l lanea1aa tool_action '{"agent":"ann","line":"Q'"$i"'lineish","verb":"view"}'
done
heddle tree l >/dev/null
for lane in lanea1aa laneb2bb; do snapshot l $lane gist; done
heddle op switch l --lane other >/dev/null
export HEDDLE_NOW=$now
run heddle retain --keep-days 30 --thread l --yes --json
exits "a thread with a tree" 0
for word in Q25pinnedish Q28summaryish Q30remarkish Q32stashish Q02lineish Q11lineish; do
    has "$word is in use" "$(holds $word)" heddle.db
done
for word in Q26looseish Q27summaryish Q29remarkish Q31stashish Q01lineish; do
    same "$word is not" "$(holds $word)" ""
done
run heddle verify
exits "and all is whole" 0
run heddle tree l
exits "the tree is there" 0

# ---- what is left alone -----------------------------------------------------------------------
export HEDDLE_NOW=$old
heddle objective create Q33objectiveish >/dev/null
export HEDDLE_NOW=$now
run heddle retain --keep-days 30 --yes
exits "the log of the workspace" 0
has "is left" "$out" ".global: left: the log of the workspace"
has "with what it says" "$(holds Q33objectiveish)" heddle.db

# ---- a thread of chain version 1 --------------------------------------------------------------
mkdir -p v1/.heddle
cd v1 || exit 1
base64 -d "$(dirname "$0")/old_database.b64" | gunzip >.heddle/heddle.db
run heddle retain --keep-days 0 --yes --json
exits "of chain version 1" 0
json "is named and left" "$out" '[.entries, ([.items[] | .left] | unique - ["global"])]' '[0,["version"]]'
run heddle retain --keep-days 0 --dry-run
has "with a hint" "$out" "heddle log rechain"
run heddle verify --json
json "and nothing of it is erased" "$out" '.erased' 0
cd .. || exit 1

# ---- interrupted: some call of the store fails, before the commit and after it ----------------
finished=0

# interrupted K: with the K-th call failing. Not every failure is one of the command: some calls only save time.
interrupted() {
    rm -rf .heddle .leslie
    export HEDDLE_NOW=$old
    heddle init >/dev/null
    message t default "Q34planted was said"
    message u default "Q34planted was said too"
    snapshot t default gist
    snapshot u default gist
    export HEDDLE_NOW=$now
    if HEDDLE_STORE="fault:$1:.heddle/heddle.db" "$HEDDLE" retain --keep-days 30 --yes >"$scratch/out" 2>&1; then
        same "all is done in spite of call $1" "$(holds Q34planted)" ""
        return
    fi
    run heddle verify
    exits "the log is whole after call $1" 0
    heddle log show u --json | grep -q '"kind":"erasure"' || return
    finished=$((finished + 1))
    if [ $((finished % 2)) = 0 ]; then
        run heddle doctor --fix
    else
        run heddle retain --keep-days 30 --yes
    fi
    same "the rest is done later" "$(holds Q34planted)" ""
    run heddle doctor
    exits "as a whole" 0
}
k=2
while [ $k -lt 200 ]; do
    interrupted $k
    k=$((k + (k < 110 ? 27 : 3)))
done
ok "some of them came after the commit" test $finished -gt 0

done_testing

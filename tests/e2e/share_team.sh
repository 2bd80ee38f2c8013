#!/bin/sh
# Leslie's own folders in a team: names, foreign rows, upstream's operations, two clones, pulls with
# and without conflicts.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

T=.leslie/threads
R=.leslie/thread_relations.json
top=$PWD
spawn() { heddle spawn --objective o --no-run --intent "work of $1" --id "$@"; }
leslie() { "$top/leslie" "$@"; }
ln -s "$HEDDLE" leslie

# ---- upstream's first steps ----
mkdir first
cd first || exit 1
leslie init --yes >/dev/null
run leslie list
exits "list in a new folder succeeds" 0
json "and shows nothing" "$out" '[.success, .data]' '[true,[]]'
cd .. || exit 1

# ---- names ----
mkdir one
cd one || exit 1
heddle init >/dev/null
heddle objective create O --id o >/dev/null
for bad in 'a,b' 'a:b' '-rf' 'a b' "$(printf 'a\302\240b')" "$(printf 'a\342\200\213b')" "$(printf 'a\342\200\256b')" "$(printf 'a\343\200\200b')"; do
    run heddle spawn --objective o --no-run --intent x "--id=$bad"
    exits "the id '$bad' is refused" 1
    run heddle objective create X "--id=$bad"
    exits "for an objective too" 1
done
spawn 'fine-1_x.y' >/dev/null
spawn 'größe' >/dev/null
jq '.threads["a, b"] = (.threads["fine-1_x.y"] | .id = "a, b" | .storage_path = ".leslie/threads/a, b") | .relations["a, b"] = .relations["fine-1_x.y"]' $R >r && cp r $R
has "one that is there already can be read" "$(heddle status 'a, b' 2>&1)" "a, b  active"
heddle list >/dev/null 2>&1

# ---- upstream's inject ----
spawn told >/dev/null
jq '.operations += [{"id":"op-up1","timestamp":"2026-11-16T10:00:00.000Z","command":"inject","operator":"user","params":{"thread_id":"told","type":"constraint","content":"Use TLS"}}]' $R >r && cp r $R
has "an inject of another program reaches the next context" "$(heddle context told 2>/dev/null)" ">Use TLS</injection>"
lacks "once" "$(heddle context told)" "Use TLS"
json "and stays in operations[]" "$(cat $R)" '[.operations[] | select(.id == "op-up1")] | length' 1
ok "verify agrees" heddle verify

# ---- transcripts ----
for i in 1 2 3; do
    HEDDLE_NOW=2026-11-16T10:00:00Z heddle transcript told --chat c --query same --assistant "answer $i" >/dev/null
done
same "three in one minute are three files" "$(cat $T/told/.meta/transcripts/*.txt | grep -c '^answer')" 3
cd .. || exit 1
done_testing

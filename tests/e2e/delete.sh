#!/bin/sh
# `thread delete | archive | rename`: words of a deleted thread are in no file of the workspace, its
# id is not given again, references to it are broken, and nothing brings it back.
# postgres: no, it looks for the words in the database file
# shellcheck source=tests/e2e/lib.sh disable=SC2016
. "$(dirname "$0")/lib.sh"

word=Zqxjkvbp7731
holds() { # files that hold the word, as it is
    grep -rlai -- "$word" .heddle .leslie 2>/dev/null | sort | tr '\n' ' '
}
plant() {
    rm -rf .heddle .leslie
    heddle init >/dev/null
    heddle objective create 'Work' --id work >/dev/null
    heddle spawn --intent "find $word" --objective work --id gone --no-run --op-id made >/dev/null 2>&1
    heddle say gone "Anna $word lives here" >/dev/null 2>&1
    heddle say gone "at length $word $(head -c 9000 /dev/zero | tr '\0' x)" >/dev/null 2>&1
    heddle inject gone "look for $word" --op-id told >/dev/null 2>&1
    heddle thread rename gone "lost: $word" --op-id renamed >/dev/null 2>&1
    heddle thread rename gone "find $word" >/dev/null 2>&1
    heddle search "$word" >/dev/null
    heddle transcript gone --chat c1 --query "where is it" --assistant "with $word" >/dev/null 2>&1
    echo "a plan without the name" >.leslie/threads/gone/plan.md
    heddle spawn --intent 'keep a copy' --objective work --id frozen --ref gone:plan.md --binding frozen --no-run >/dev/null 2>&1
    heddle spawn --intent 'look on' --objective work --id live --ref gone:plan.md --no-run >/dev/null 2>&1
    echo "$word in a file" >.leslie/threads/gone/notes.md
    mkdir -p .leslie/logs/workers
    echo "printed $word" >.leslie/logs/workers/gone.log
    heddle head --anchor >/dev/null
    printf '%s' "$word" >.heddle/heddle.db.v4.bak
}

plant
has "the words are in the database" "$(holds)" heddle.db
run heddle backup ../with.tar
heddle log export gone >"$scratch/gone.jsonl"
heddle head gone --json >"$scratch/pin"
run setsid -w "$HEDDLE" thread delete gone --json </dev/null
exits "without a terminal and without --yes nothing is deleted" 1
json "which is said" "$out" '[.error.code, .error.reason]' '["PERMISSION_DENIED","needs_yes"]'
run heddle thread delete nosuch --yes
exits "a thread that is not there" 1
run heddle thread delete .global --yes
exits "the log of the workspace cannot be deleted" 1
run heddle thread delete gone --reason 'a test' --yes --json
exits "a thread is deleted" 0
json "and says what it was" "$out" '[.before, .broken, .clean, .entries > 1, .thread]' '[false,2,true,true,"gone"]'
json "and which copies of the database it removed" "$out" '[.removed[] | split("/")[-1]]' '["heddle.db.v4.bak"]'
same "nothing holds the word" "$(holds)" ""
ok "its directory is gone" test ! -e .leslie/threads/gone
run heddle verify
exits "the log is whole, whatever was anchored" 0
run heddle doctor
exits "and healthy" 0
lacks "it is not listed" "$(heddle list; heddle stats | grep -v global)" gone
has "the log of the workspace says so" "$(heddle log show .global)" "thread_deletion"
run heddle verify --pin "$scratch/pin"
has "a pinned head says what became of it" "$out" "deleted"

# ---- references
run heddle context live --task go
lacks "a live reference to it is left out" "$out" '<ref thread="gone"'
has "and warned of" "$err" "gone"
same "a frozen copy stays readable" "$(heddle read frozen plan.md)" "a plan without the name"

# ---- the id
for words in "log append gone" "log import gone"; do
    # shellcheck disable=SC2086
    run heddle $words --json <"$scratch/gone.jsonl"
    exits "$words is refused" 1
    has "since it was deleted" "$out" "deleted"
done
run heddle say gone again --json
has "nobody says anything in it" "$out" '"deleted"'
run heddle spawn --intent again --objective work --id gone --no-run --json
has "it is not spawned again" "$out" "deleted"
run heddle thread delete gone --yes --json
json "deleting it again is harmless" "$out" '.before' true
same "after all that nothing holds the word" "$(holds)" ""
ok "nor is its directory back" test ! -e .leslie/threads/gone

# ---- what could bring it back
run heddle restore-backup ../with.tar --force
exits "a backup that has it is restored" 0
rm -f .heddle/heddle.db.before-restore-*
same "without it" "$(holds)" ""
lacks "it is not listed then either" "$(heddle list)" gone
run heddle say gone again
exits "and its id is taken" 1
run heddle doctor
exits "nothing is left to do" 0
run heddle verify
exits "the log is whole" 0
heddle log export .global >"$scratch/global.jsonl"
lacks "an export has nothing of it" "$(cat "$scratch/global.jsonl")" "$word"
rm -f .heddle/share.stamp
heddle doctor --fix >/dev/null
run heddle list
lacks "files that are made anew do not have it" "$(holds)$out" gone

# ---- --keep-files, and a thread that only has a log
plant
run heddle thread delete gone --keep-files --yes
exits "files can be kept" 0
ok "they are" test -e .leslie/threads/gone/notes.md
heddle say plain hello >/dev/null 2>&1
run heddle thread delete plain --yes
has "a thread without a registry entry goes too" "$out" "✓ deleted plain, 1 entry"
run heddle verify
exits "all is whole" 0

# ---- deletions in what is imported
del() { printf '{"kind":"thread_deletion","payload":{"thread":"%s","reason":"r","files":[".leslie/threads/%s"]}}\n' "$1" "$1"; }
for kind in erasure erasure_done thread_deletion rechain anchor; do
    run sh -c "echo '{\"kind\":\"$kind\",\"payload\":{}}' | \"\$HEDDLE\" log append t --json"
    json "nobody appends an entry of kind $kind" "$out" .error.code '"PERMISSION_DENIED"'
done
rm -rf .heddle .leslie
heddle init >/dev/null
heddle say mine hello >/dev/null 2>&1
del mine >"$scratch/del"
run heddle log import .global "$scratch/del" --json
json "a thread that is here is not deleted by an import" "$out" '[.error.code,.error.reason]' '["CONFLICT","deleted"]'
has "it is all there" "$(heddle log show mine)" hello
mkdir -p .leslie/threads/other
echo mine >.leslie/threads/other/notes.md
del other >"$scratch/del"
run heddle log import .global "$scratch/del"
exits "the deletion of another one comes in" 0
heddle doctor --fix >/dev/null
same "and takes no files" "$(cat .leslie/threads/other/notes.md)" mine
heddle say short "Anna $word" >/dev/null 2>&1
"$HEDDLE" log follow --from 0 --json >"$scratch/stream" 2>/dev/null &
pid=$!
heddle thread delete short --yes >/dev/null
both_told() { [ "$(grep -c thread_deletion "$scratch/stream")" = 2 ]; }
await both_told
kill $pid
wait $pid 2>/dev/null
heddle init --root ../streamed >/dev/null 2>&1 || { mkdir ../streamed && heddle init --root ../streamed >/dev/null; }
(echo "{\"kind\":\"note\",\"thread\":\"short\",\"payload\":{\"text\":\"$word\"}}"; grep '"thread":".global"' "$scratch/stream") >"$scratch/mixed"
run heddle --root ../streamed log import --all "$scratch/mixed"
exits "a stream that has a thread and its deletion comes in" 0
has "without the thread" "$err" "is deleted by a later line"
same "no word of it stays" "$(grep -rlai "$word" ../streamed/.heddle)" ""
run heddle --root ../streamed verify
exits "the log is whole" 0

# ---- interrupted
finished=0

# interrupted K: delete with the K-th call failing; false when there are fewer calls.
interrupted() {
    plant
    HEDDLE_STORE="fault:$1:.heddle/heddle.db" "$HEDDLE" thread delete gone --yes >"$scratch/out" 2>"$scratch/said"
    [ -s "$scratch/said" ] || return 1
    if heddle log show .global | grep -q thread_deletion; then
        finished=$((finished + 1))
        if [ $((finished % 3)) = 0 ]; then
            run heddle doctor --fix
            exits "after call $1 doctor does the rest" 0
        else
            run heddle thread delete gone --yes --json
            exits "after call $1 the same command does the rest" 0
            json "and says what it did" "$out" '[.before, .clean]' '[true,true]'
        fi
        same "nothing holds the word after call $1" "$(holds)" ""
        ok "and the directory is gone" test ! -e .leslie/threads/gone
    else
        has "after call $1 the thread is all there" "$(heddle log show gone)" "$word"
    fi
    run heddle verify
    exits "the log is whole after call $1" 0
}
interrupt_calls 11 4
ok "some calls failed after the commit" test $finished -gt 2
run heddle thread delete gone --yes --json
json "once it is done there is nothing left to do" "$out" '[.before, .clean, .finished]' '[true,true,0]'

# ---- archive and rename
plant
run heddle thread archive gone --json
json "an active thread is archived" "$out" '[.thread.id, .thread.status]' '["gone","archived"]'
run heddle thread archive gone
exits "twice is harmless" 0
has "it is all there" "$(heddle log show gone)" "$word"
run heddle thread archive nosuch
exits "one that is not there is an error" 1
run heddle thread rename live 'Look again' --json
json "a thread gets another title" "$out" '[.thread.id, .thread.title]' '["live","Look again"]'
has "which is shown" "$(heddle list)" "Look again"
has "in files of others too" "$(cat .leslie/thread_relations.json)" "Look again"
run heddle thread rename live ' '
exits "a title is not blank" 2
run heddle thread rename nosuch x
exits "of a thread that is there" 1
run heddle verify
exits "the log is whole" 0

done_testing

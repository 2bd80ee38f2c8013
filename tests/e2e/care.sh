#!/bin/sh
# `init`, `doctor`, `verify`, `stats`: what they say when all is well, and when it is not.
# postgres: no, it is about the database file: its size, its write-ahead log, its copies
# shellcheck source=tests/e2e/lib.sh disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"

note() { # note TEXT THREAD WORDS...
    note_text=$1
    shift
    printf '{"kind":"note","payload":{"text":"%s"}}\n' "$note_text" | heddle log append "$@"
}

# ---- no workspace yet
for words in "stats" "verify" "log show t" "log export t" "project t" "run status t"; do
    # shellcheck disable=SC2086
    run heddle $words --json
    json "$words without a workspace" "$out" '[keys_unsorted, .error.code]' '[["error"],"NOT_FOUND"]'
    has "says what to do" "$out" '"hint"'
done
ok "and leaves nothing behind" test ! -e .heddle

# ---- init
run heddle init --json
json "init makes a workspace" "$out" '[.created]' '[true]'
run heddle init --json
json "and finds it" "$out" '[.created]' '[false]'
git init -q .
touch .heddle/loom_history .heddle/checkpoint.key .heddle/.heddle-tmp-key
same "nothing of it goes into version control" \
    "$(git status --short --untracked-files=all .heddle)" ""
rm -r .git .heddle/loom_history .heddle/checkpoint.key .heddle/.heddle-tmp-key
run heddle init extra
exits "it takes no arguments" 2
run heddle stats --json
json "an empty log" "$out" '[.entries, (.threads|length)]' '[0,0]'
run heddle verify
has "is whole" "$out" "✓ 0 threads, 0 entries"

note one t >/dev/null
note two t >/dev/null
run heddle verify --json
json "verify says so" "$out" '[.ok, .threads, .entries, (.findings|length)]' '[true,1,2,0]'
run heddle verify t
same "for one thread too" "$out" "✓ 1 thread, 2 entries: chain and views agree"
run heddle verify nosuch --json
json "an unknown one is an error, and valid JSON" "$out" '.error.code' '"NOT_FOUND"'
run heddle doctor --json
json "doctor is content" "$out" '[.ok, (.findings|length)]' '[true,0]'
run heddle doctor --rebuild --compact
exits "it can rebuild and compact" 0
has "and says so" "$out" "views were folded anew"
run heddle stats
has "stats counts" "$out" "entries          2"

# ---- a config that is broken
echo '{"stor":1}' >.heddle/config.json
run heddle stats
exits "an unknown key is refused" 1
has "by name and file" "$err" ".heddle/config.json: unknown key 'stor'"
printf '{"system_prompt":' >.heddle/config.json
run heddle log append t --json </dev/null
json "a broken file too" "$out" '.error.code' '"INVALID_SYNTAX"'
has "by name" "$out" ".heddle/config.json"
printf '\357\273\277{"system_prompt":"P"}\r\n' >.heddle/config.json
run heddle config get system_prompt
same "a byte order mark does not break it" "$out" "P"
echo '{"store":"../elsewhere.db"}' >.heddle/config.json
run heddle stats
exits "the store cannot lie outside" 1
echo '{}' >.heddle/config.json

# ---- a folder that cannot be written, by someone who is not root
mkdir ro
(cd ro && heddle init && note a t && heddle verify) >/dev/null
(
    cd ro || exit 1
    for text in one two three; do
        printf '{"kind":"ai_message","payload":{"role":"user","content":"%s"}}\n' $text | heddle log append lanes
    done
    heddle op fork lanes --lane side --at 1
    heddle project lanes --lane side
    sqlite3 .heddle/heddle.db "UPDATE thread SET views = views + 256; DELETE FROM row; PRAGMA wal_checkpoint(TRUNCATE)"
) >"$scratch/fork"
chmod -R a+rX ro
chmod a-w ro/.heddle ro/.heddle/*
if [ "$(id -u)" -eq 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$HEDDLE" -a -r ro/.heddle/heddle.db 2>/dev/null; then
    nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/nonexistent "$HEDDLE" "$@" --root "$PWD/ro"; }
    run nobody project t
    exits "a read-only folder can be read" 0
    run nobody project lanes --lane side
    exits "also after the version of a view was raised" 0
    same "the lanes are folded beside the log" "$out" "$(grep '"lane":"side"' "$scratch/fork")"
    run nobody run status lanes
    exits "and every other reading command" 0
    run sh -c 'printf "%s\n" "{\"kind\":\"note\",\"payload\":{}}" | setpriv --reuid=65534 --regid=65534 --clear-groups "$HEDDLE" log append t --root "$PWD/ro"'
    exits "but not written" 1
    has "and that is said" "$err" "✗ "
    lacks "in words of ours" "$err" "SQL logic"
    mkdir ro/fresh
    chmod a-w ro/fresh
    run setpriv --reuid=65534 --regid=65534 --clear-groups "$HEDDLE" init --root "$PWD/ro/fresh"
    exits "nor made a workspace of" 1
else
    skip "a read-only folder can be read" "needs root, and a folder others may enter"
fi
chmod -R u+w ro

# ---- a disk that fails while a commit is synced
if strace -qq -e inject=close:error=EIO:when=999 true 2>/dev/null; then
    failing() { # failing CALL: append to thread s while its first CALL fails
        printf '{"kind":"note","payload":{"text":"once"}}\n' |
            ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" strace -f -qq -o /dev/null -e "trace=$1" -e "inject=$1:error=EIO:when=1" "$HEDDLE" log append s --op-id once
    }
    note first s >/dev/null
    run failing fdatasync
    exits "a failed sync is an error" 1
    has "which does not claim that nothing was written" "$err" "it may have been written"
    has "and says what to do" "$err" "repeat the command with the same op_id"
    run note once s --op-id once
    exits "which is harmless" 0
    same "whether it was there or not" "$(heddle log export s | grep -c once)" 1
    ok "and the log is whole" heddle verify s
else
    skip "a failed sync is an error" "strace cannot trace here"
fi

# ---- a database that is damaged
mkdir broken
cd broken || exit 1
heddle init >/dev/null
i=0
while [ $i -lt 400 ]; do
    printf '{"kind":"ai_message","payload":{"role":"user","content":"%d %0300d"}}\n' $i 0
    i=$((i + 1))
done | heddle log append t >/dev/null
note safe other >/dev/null
heddle doctor --compact >/dev/null # everything into the file itself
heddle log export t >before.jsonl
size=$(wc -c <.heddle/heddle.db)
cp .heddle/heddle.db whole.db
head -c 8192 /dev/urandom | dd of=.heddle/heddle.db bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
rm -f .heddle/heddle.db-wal .heddle/heddle.db-shm
run heddle doctor
exits "doctor finds it" 1
has "and says what to do" "$err" "log export"
run heddle doctor --json
json "as JSON" "$out" '[.ok, (.findings|length > 0)]' '[false,true]'
run heddle verify --json
exits "verify finds it" 1
ok "and prints JSON" sh -c 'printf "%s" "$1" | jq -e .' sh "$out"
status=0
heddle log export t >saved.jsonl 2>"$scratch/err" || status=$?
exits "export fails" 1
saved=$(wc -l <saved.jsonl)
ok "but saves what can be read ($saved of 400)" test "$saved" -ge 100
ok "in whole lines" jq -e . saved.jsonl
sort before.jsonl >before.sorted
# What is damaged may still have the form of a row: then its bytes are kept, in base64.
same "that were there before" "$(grep -v '"kind":"damaged_entry"' saved.jsonl | sort | comm -23 - before.sorted | wc -l)" 0
mkdir new
run heddle init --root new
run sh -c '"$HEDDLE" log import t --salvage --root new --json <saved.jsonl'
exits "they go into a new workspace" 0
run heddle verify --root new
exits "which is whole" 0

in_its_place() { # what stands where the log was, alone
    rm -f .heddle/heddle.db*
    cat >.heddle/heddle.db
}
head -c $((size / 2)) whole.db | in_its_place
run heddle doctor
exits "half a file" 1
in_its_place </dev/null
run heddle log show t --json
exits "an empty file" 1
echo 'this is no database, and it is long enough to be looked at' | in_its_place
run heddle log show t --json
json "another file" "$out" .error.code '"CORRUPT"'
run heddle doctor
exits "doctor finds that too" 1
in_its_place <whole.db
run heddle verify
exits "and a copy put back is whole again" 0
cd ..

# ---- every command has help and refuses what it does not know
heddle help --words 2>/dev/null | while read -r word; do
    heddle "$word" --help >/dev/null 2>&1 || heddle help "$word" >/dev/null 2>&1 || echo "$word"
done >"$scratch/helpless"
same "every command has help" "$(cat "$scratch/helpless")" ""
for word in log op run; do
    run heddle $word
    has "$word alone has its forms" "$err" "heddle help $word"
done
run heddle log apend t
has "a mistyped command is recognised" "$err" "heddle log append"
for words in "stats" "verify" "doctor" "init" "log show t" "project t" "run status t" "op switch t"; do
    # shellcheck disable=SC2086
    run heddle $words --no-such-option --json
    exits "$words: an unknown option is misuse" 2
    ok "told as JSON" sh -c 'printf "%s" "$1" | jq -e .error.message' sh "$out"
done

# ---- what threads take, and giving it back
rm -rf sizes
mkdir sizes
(
    cd sizes || exit
    heddle init >/dev/null
    heddle say small hello >/dev/null 2>&1
    for i in 1 2 3 4 5; do
        printf '{"kind":"note","payload":{"n":%s,"text":"%s"}}\n' $i "$(head -c 90000 /dev/zero | tr '\0' y)"
    done | heddle log append large >/dev/null
)
run heddle --root sizes stats --json
json "stats says what threads and views take" "$out" \
    '[.threads[] | [.id, (.bytes > 450000), (.view_bytes > 0)]]' '[["large",true,false],["small",false,true]]'
json "view by view" "$out" '[.threads[] | select(.id == "small") | .view_bytes == ([.views[].bytes] | add)]' '[true]'
has "for a person too" "$(heddle --root sizes stats)" "1 entry, "
heddle --root sizes thread delete large --yes >/dev/null
heddle --root sizes log append more <<JSON >/dev/null
{"kind":"note","payload":{"text":"$(head -c 300000 /dev/zero | tr '\0' z)"}}
JSON
run heddle --root sizes compact-store --json
exits "space is given back" 0
json "and told" "$out" '.before > .after' true
run heddle --root sizes verify
exits "nothing is lost" 0
run heddle --root sizes compact-store
has "a person is told" "$out" " bytes before, "

# ---- what is named from outside
mkdir words && cd words || exit 1
heddle init >/dev/null
note one t >/dev/null
for name in ../x '' "$(printf '\377')"; do
    run heddle verify "$name" --json
    exits "a name that no thread can have is no damage" 1
    json "it is refused" "$out" '.error.code' '"INVALID_SYNTAX"'
done
run heddle verify .global
exits "the log of the workspace has one" 1
has "when it has one" "$err" "NOT_FOUND"
bytes=$(printf 'b\377')
run heddle backup "$bytes"
exits "a file may have any name" 0
ok "and has it" test -s "$bytes"
run heddle backup "$bytes-2" --json
json "JSON is UTF-8 all the same" "$out" '.file | test("b\uFFFD-2$")' true
run heddle status "$bytes" --json
json "that of an error too" "$out" '.error.details.threadId' "\"$(printf 'b\357\277\275')\""
sqlite3 .heddle/heddle.db "UPDATE entry SET at = at + 1"
run heddle verify --json
same "bad news have a document" "$(printf '%s' "$out" | jq -c '[.ok, has("error")]')" '[false,false]'
same "and an error beside it" "$(printf '%s' "$err" | jq -r .error.code)" CORRUPT

done_testing

#!/bin/sh
# `doctor` looks at everything `verify` looks at, and at files; --fix does the harmless part.
# postgres: no, it damages the database file and its modes
# shellcheck source=tests/e2e/lib.sh disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"

say_one() { # say_one THREAD TEXT
    printf '{"kind":"ai_message","payload":{"role":"user","content":"%s"}}\n' "$2" | heddle log append "$1"
}
db() { sqlite3 .heddle/heddle.db "$@"; }

# ---- nothing here
run heddle doctor --json
json "doctor in an empty folder is not damage" "$out" '[keys_unsorted, .error.code]' '[["error"],"NOT_FOUND"]'
has "and says what to do" "$out" "heddle init"
ok "and leaves nothing behind" test ! -e .heddle

# ---- modes
umask 022
heddle init >/dev/null
say_one t hello >/dev/null
same ".heddle is for its owner" "$(stat -c %a .heddle)" 700
same "nothing below it is open to others" "$(find .heddle -type f -perm /077)" ""
run heddle doctor
exits "all is well" 0
has "the chain was recomputed" "$out" "1 entry: chain and views agree"
run heddle doctor --json
json "every check has a name" "$out" '[.checks[].name] | index("log","modes","leftovers","database","threads","shared") | . != null' 'true
true
true
true
true
true'
chmod 755 .heddle
chmod 644 .heddle/heddle.db
run heddle doctor --json
exits "an open directory is a problem" 1
json "and it is named" "$out" '.findings | map(select(test("others may read"))) | length' 2
run heddle doctor
has "with what to do" "$out" "heddle doctor --fix"
has "and it is not called damage" "$err" "PERMISSION_DENIED"
run heddle doctor --fix --json
json "--fix makes it private" "$out" '[.ok, (.fixed|length)]' '[true,2]'
same "it is" "$(stat -c %a .heddle .heddle/heddle.db | tr '\n' ' ')" "700 600 "

# ---- what killed commands left behind
mkdir -p .leslie/threads/x
echo half >.leslie/threads/x/.heddle-tmp-abc
echo half >.leslie/threads/x/.heddle-tmp-now
touch -d '2 hours ago' .leslie/threads/x/.heddle-tmp-abc
run heddle doctor --json
json "an old temporary file is named" "$out" '.findings' '[".leslie/threads/x/.heddle-tmp-abc was left behind by a command that was killed"]'
run heddle doctor --fix
exits "and removed" 0
ok "that one" test ! -e .leslie/threads/x/.heddle-tmp-abc
ok "but not one that may be in use" test -e .leslie/threads/x/.heddle-tmp-now
rm -r .leslie

# ---- doctor and verify agree
say_one t two >/dev/null
say_one t three >/dev/null
run heddle doctor
exits "three entries are fine" 0
db "UPDATE row SET value = x'78' WHERE view = 'thread'"
run heddle verify
exits "verify finds a changed view" 1
run heddle doctor
exits "so does doctor" 1
has "by its row" "$out" "differs from what the entries give"
run heddle doctor --fix
exits "--fix folds it anew" 0
run heddle verify
exits "and verify agrees" 0
db "UPDATE entry SET payload = replace(payload, 'two', 'TWO')"
run heddle verify
exits "verify finds a changed entry" 1
run heddle doctor
exits "so does doctor" 1
has "by its number" "$out" "entry 1 is not what was written"
run heddle doctor --fix
exits "which --fix cannot make good" 1
has "and it is still named" "$out" "entry 1 is not what was written"

# ---- pinned heads
mkdir pins
cd pins || exit 1
heddle init >/dev/null
say_one t one >/dev/null
say_one t two >/dev/null
say_one u one >/dev/null
run heddle head t --json
json "head has revision and chain" "$out" '[.thread, .rev, (.chain|length), (.at|type)]' '["t",2,64,"number"]'
same "the chain is that of the last entry" "$(printf '%s' "$out" | jq -r .chain)" "$(heddle log export t | tail -n 1 | jq -r .chain)"
heddle head --json >pins.json
heddle head t --json >lines.json
heddle head u --json >>lines.json
run heddle head
has "as text, one line each" "$out" "t 2 "
run heddle head nope
exits "an unknown thread is an error" 1
cp -r .heddle old
say_one t three >/dev/null
run heddle verify --pin pins.json
same "appending keeps what was pinned" "$out" "✓ 2 pinned heads are still there"
run heddle verify --pin lines.json --json
json "pins may be lines" "$out" '[.ok, .pins]' '[true,2]'
heddle head --json >pins.json
rm -r .heddle
mv old .heddle
run heddle verify
exits "an older copy of the whole is whole" 0
run heddle verify --pin pins.json
exits "but not what was pinned" 1
has "and that is said" "$out" "thread t: entry 2 was pinned and is not there"
say_one t other >/dev/null
run heddle verify --pin - --json <pins.json
json "nor is another entry in its place" "$out" '.findings' '["thread t: entry 2 is not the one that was pinned"]'
echo '{"thread":"t"}' >bad.json
run heddle verify --pin bad.json
exits "a file that holds no heads is refused" 1
has "by its name" "$err" "bad.json"
cd ..

# ---- a log whose end was cut off, and a thread that was taken out of the table
say_one cut one >/dev/null
say_one cut two >/dev/null
say_one gone one >/dev/null
tid=$(db "SELECT tid FROM thread WHERE id = 'cut'")
db "DELETE FROM entry WHERE key = ($tid << 36) + 1"
run heddle verify cut
exits "verify notices the cut" 1
has "and counts it" "$out" "1 entries are there and 2 were written: the last 1 were cut off"
run heddle doctor --json
json "doctor too" "$out" '.findings | map(select(test("cut off"))) | length' 1
run say_one cut three
exits "nothing is appended to it" 1
has "and why is said" "$err" "CORRUPT"
run heddle log show cut
has "what is there can be read" "$out" "#0 user  one"
has "and what is missing is said" "$err" "1 entry read, 0 of them changed; 1 missing"
for words in "tree cut" "run status cut" "project cut" "op switch cut --lane x" "head cut" "export cut"; do
    # shellcheck disable=SC2086 # words of a command
    run heddle $words
    exits "heddle $words does not open it" 1
    has "heddle $words says that the end is missing" "$err" "the last 1 were cut off"
done
for words in list "status cut"; do
    # shellcheck disable=SC2086
    run heddle $words
    exits "heddle $words shows what there is" 0
    has "heddle $words warns of the missing end" "$err" "warning: thread cut: 1 entries are there and 2 were written"
done
run heddle stats
has "stats calls it damaged" "$out" "damaged: \`heddle doctor\` says more"
db "DELETE FROM thread WHERE id = 'gone'"
run heddle verify --json
json "verify notices a thread that is gone" "$out" '.findings | map(select(test("lost-"))) | length' 1
run say_one fresh hello
exits "a new thread works all the same" 0
run heddle doctor --fix --json
json "--fix brings it back" "$out" '.fixed | map(select(test("lost-"))) | length' 1
run heddle log show "lost-$(db "SELECT max(tid) FROM thread WHERE id LIKE 'lost-%'")"
has "with its entries" "$out" "#0 user  one"

run sh -c '"$HEDDLE" head | "$HEDDLE" verify --pin -'
has "heads that are no JSON: what to give is said" "$err" "heddle head --json"

# ---- the end of the report fits what was found
mkdir last && cd last || exit 1
heddle init >/dev/null
heddle objective create O --id o >/dev/null
for t in s f; do heddle spawn --objective o --no-run --intent $t --id $t >/dev/null; done
echo plan >.leslie/threads/s/plan.md
heddle reference --from f --target s >/dev/null
chmod u+w .leslie/threads/f/context/inherited/plan.md
echo forged >.leslie/threads/f/context/inherited/plan.md
run heddle doctor
has "a changed copy comes with what to do" "$out" "moved away, the next read puts it back"
lacks "and not with how to salvage a log" "$err" "salvage"
run heddle doctor --fix
exits "--fix does not touch what somebody wrote" 1
has "and does not send one to --fix" "$err" "left after what --fix could do"
rm -f .leslie/threads/f/context/inherited/plan.md
same "what the line says works" "$(heddle read f plan.md)" plan
echo '{"executors":{"agent":["true"]}}' >.heddle/config.json
run heddle doctor
has "settings that wait for trust are named" "$out" "ignored until you run"
lacks "and not denied" "$out" "no setting of the workspace needs trust"
rm .heddle/heddle.db* && ln -s elsewhere.db .heddle/heddle.db
run heddle stats
has "a link in the database's place comes with what to do" "$err" "hint: remove it"
done_testing

#!/bin/sh
# An import, of lines or of a tree, that is longer than one write transaction: others write while it reads, nobody sees it
# before its end, and what a killed one leaves goes away.
# postgres: no, there a transaction locks single threads, and an import is one transaction
# shellcheck source=tests/e2e/lib.sh disable=SC2016
. "$(dirname "$0")/lib.sh"

NOTE='{"kind":"note","payload":{"n":1}}'
LONG=9000
heddle init >/dev/null
printf '%s\n' "$NOTE" | heddle log append other >/dev/null
yes "$NOTE" | head -n "$LONG" >lines

# begin NAME THREAD: an import that has read all of `lines`, and waits for more on descriptor 3
begin() {
    rm -f feed
    mkfifo feed
    "$HEDDLE" log import "$2" <feed >"$1.out" 2>"$1.err" &
    import=$!
    exec 3>feed
    cat lines >&3
    await two_slices
}

# two_slices: they are committed, and what follows waits for the stream.
two_slices() {
    [ "$(sqlite3 .heddle/heddle.db "SELECT count(*) FROM entry JOIN thread ON tid = key >> 36 WHERE thread.id LIKE '.staged-%'")" -ge 8000 ]
}

# ---- others write meanwhile, and see nothing of it
begin one new
run sh -c "printf '%s\n' '$NOTE' | timeout 10 \"\$HEDDLE\" log append other --json"
same "another process writes while an import waits for its stream" "$out" '{"first_seq":1,"last_seq":1,"rev":2}'
run heddle list --all --json
same "the list has nothing of it" "$(printf '%s' "$out$err" | grep -c staged)" 0
run heddle log show new
exits "nor is there a thread" 1
run heddle log export --all
same "nor has an export" "$(printf '%s\n' "$out" | wc -l)" 2
run heddle stats --json
same "nor the numbers" "$(printf '%s' "$out$err" | grep -c staged)" 0
run heddle verify
exits "verify is content" 0
run heddle log show .staged-abcdefabcdef-0
exits "nobody can name one" 1
run heddle doctor
lacks "a running import is not told of" "$out" "restore was interrupted"

# ---- two at once
run sh -c '"$HEDDLE" log import new lines --json'
json "another import of the same thread wins" "$out" .rev "$LONG"
exec 3>&-
wait $import
same "the first one is told" "$?" 1
has "why" "$(cat one.err)" "was written to during the import"
run heddle log show new --from $((LONG - 1)) --json
same "and wrote nothing" "$(printf '%s\n' "$out" | wc -l)" 1

# ---- killed
begin two killed
kill -9 $import
wait $import 2>/dev/null
exec 3>&-
run heddle log show killed
exits "a killed import leaves no thread" 1
run heddle doctor
has "doctor names what it left" "$out" "an import or a restore was interrupted"
cp -r .heddle kept
run heddle doctor --fix
run heddle doctor
lacks "and removes it" "$out" "restore was interrupted"
same "all of it" "$(sqlite3 .heddle/heddle.db 'SELECT count(*) FROM entry WHERE key >> 36 NOT IN (SELECT tid FROM thread)')" 0
rm -rf .heddle
mv kept .heddle
run heddle log import killed lines --json
json "the same import comes in" "$out" .rev "$LONG"
run heddle doctor
lacks "and what was left is gone" "$out" "restore was interrupted"
ok "the log is whole" heddle verify

# ---- one that is taken for left behind
begin three taken
rm .heddle/.heddle-tmp-log-*
run sh -c "printf '%s\n' '$NOTE' | \"\$HEDDLE\" log import other"
exits "another process drops what it cannot know to be in use" 0
cat lines >&3
exec 3>&-
wait $import
same "the import fails" "$?" 1
has "and says why" "$(cat three.err)" "another process dropped what this import had read"
run heddle log show taken
exits "it shows nothing of the lines behind those" 1

# hidden: entries of threads that nobody can name
hidden() {
    sqlite3 .heddle/heddle.db "SELECT count(*) FROM entry WHERE key >> 36 IN (SELECT tid FROM thread WHERE id LIKE '.staged-%' OR id < char(2))"
}

# decided: as if it had been killed after all lines were checked
decided() {
    sqlite3 .heddle/heddle.db "INSERT INTO row SELECT tid, 'stage', CAST('into' AS BLOB), CAST(json_object('at', first, 'end', rev, 'exact', json('false'), 'first', first, 'into', '$1', 'lines', 'x', 'moved', -1) AS BLOB) FROM (SELECT tid, rev, (SELECT rev FROM thread WHERE id = '$1') AS first FROM thread WHERE id LIKE '.staged-%')"
}

# half THREAD: an import behind entries of the thread that was killed
half() {
    begin half "$1"
    kill -9 $import
    wait $import 2>/dev/null
    exec 3>&-
}

# ---- what was read and the thread that it was for
printf '%s\n' "$NOTE" | heddle log append doomed >/dev/null
half doomed
run heddle thread delete doomed --reason test --yes
exits "a thread is deleted that an import was for" 0
same "what the import had read goes with it" "$(hidden)" 0
lacks "and is not told of afterwards" "$(heddle doctor 2>&1)" "✗"

# ---- what is old
printf '%s\n' "$NOTE" | heddle log append aged >/dev/null
half aged
run heddle retain --keep-days 0 --dry-run
has "a dry run says that there is more than it lists" "$err" "what it had read is removed first"
same "and leaves it" "$(hidden)" 8000
decided aged
run heddle retain --keep-days 0 --dry-run
has "also of one that will be appended" "$err" "its rest is appended first"
run heddle retain --keep-days 0 --thread aged --yes
exits "what is old is erased" 0
has "with the rest of an import" "$err" "the rest of its"
same "none of it stays" "$(hidden) $(heddle log show aged --json | grep -c '"n":1')" "0 0"
printf '%s\n' "$NOTE" | heddle log append aged >/dev/null
begin ahead aged
decided aged
run heddle retain --keep-days 0 --thread aged --yes
exits "nor is anything erased while more of it comes" 1
has "and why" "$err" "an import into thread 'aged' is not at its end"
kill -9 $import
wait $import 2>/dev/null
exec 3>&-
heddle retain --keep-days 0 --thread aged --yes >/dev/null 2>&1

# ---- backups
printf '%s\n' "$NOTE" | heddle log append kept >/dev/null
half kept
run heddle stats --json
numbers=$out
run heddle backup before.tar
lacks "a backup warns of nothing that nobody sees" "$err" "not at its end"
mkdir -p unpacked && tar -xf before.tar -C unpacked
same "it has nothing of it" "$(sqlite3 unpacked/heddle.db "SELECT count(*) FROM thread WHERE id LIKE '.staged-%' OR id < char(2)")" 0
decided kept
cp .heddle/heddle.db whole.db
run heddle backup middle.tar
lacks "one in the middle of an import is made at its end" "$err" "not at its end"
rm -rf unpacked && mkdir unpacked && tar -xf middle.tar -C unpacked
same "with all of its lines" "$(sqlite3 unpacked/heddle.db "SELECT rev FROM thread WHERE id = 'kept'")" 8001
rm -f .heddle/heddle.db-wal .heddle/heddle.db-shm
mv whole.db .heddle/heddle.db

# ---- one whose lines were lost
heddle log export kept >kept.before
cp .heddle/heddle.db whole.db
sqlite3 .heddle/heddle.db "DELETE FROM entry WHERE key >> 36 IN (SELECT tid FROM thread WHERE id LIKE '.staged-%')"
run heddle thread delete doomed --reason test --yes
exits "what cannot be ended keeps nobody from working" 0
has "is told" "$err" "last 8000 entries cannot follow"
same "and dropped" "$(sqlite3 .heddle/heddle.db "SELECT count(*) FROM thread WHERE id LIKE '.staged-%'")" 0
heddle log export kept >kept.after
ok "the thread is as it was" cmp kept.before kept.after
rm -f .heddle/heddle.db-wal .heddle/heddle.db-shm
mv whole.db .heddle/heddle.db

# ---- a switch
run heddle store copy here "$PWD/elsewhere.db"
exits "the log is copied" 0
run heddle store switch "$PWD/elsewhere.db"
exits "it is not moved without the rest of an import" 1
has "which is appended first" "$err" "the rest of its"
run heddle store copy here "$PWD/elsewhere.db"
run heddle store switch "$PWD/elsewhere.db"
exits "then it can be moved" 0
run heddle log show kept --from 8000 --json
same "with all of the lines" "$(printf '%s\n' "$out" | grep -c .)" 1
run heddle store copy here "$PWD/.heddle/heddle.db"
run heddle store switch "$PWD/.heddle/heddle.db"
exits "and back" 0

# ---- an erasure beside one that goes on
begin beside kept
decided kept
run heddle erase kept 0 --reason test --leave-derived
exits "nothing is erased whose text comes again with the rest of an import" 1
has "and why" "$err" "an import into thread 'kept' is not at its end"
kill -9 $import
wait $import 2>/dev/null
exec 3>&-
run heddle erase kept 0 --reason test --leave-derived
exits "then it is" 0

begin left kept
heddle store copy here "$PWD/second.db" >/dev/null
run heddle store switch "$PWD/second.db"
exits "a log is moved away while an import reads" 0
cat lines >&3
exec 3>&-
wait $import
same "which fails" "$?" 1
has "with the new place" "$(cat left.err)" "second.db"
run heddle thread delete kept --reason test --yes
same "what it had read does not stay in the old store" "$(hidden)" 0
heddle store copy here "$PWD/.heddle/heddle.db" >/dev/null
heddle store switch "$PWD/.heddle/heddle.db" >/dev/null

# ---- what a process that was killed had still to remove
printf '%s\n' "$NOTE" | heddle log append dropped >/dev/null
sqlite3 .heddle/heddle.db "UPDATE thread SET id = char(1) || tid WHERE id = 'dropped'"
run heddle doctor
has "doctor names what is left of a thread that was replaced" "$out" "in threads that were deleted or replaced"
run heddle doctor --fix
same "and removes it" "$(hidden)" 0

# ---- behind other entries
run heddle log import killed lines --json
json "lines come behind others" "$out" '[.first_seq,.rev]' "[$LONG,$((2 * LONG))]"

# ---- trees of other looms
# tree N: a loomsidian file of N nodes, in which each tenth begins a branch
tree() {
    jq -cn --argjson n "$1" '{current: "1", nodes: ([range($n) | {key: "\(.)", value: {text: "node \(.)", parentId: (if . == 0 then null elif . % 10 == 0 then "\(. - 7)" else "\(. - 1)" end)}}] | from_entries)}'
}
tree 3000 >long.loom
run heddle import long long.loom --json
json "a long tree comes in" "$out" '.items[0].nodes' 3000
printf '%s\n' "$NOTE" | heddle log append used >/dev/null
run heddle import used long.loom --json
json "also into a thread that has entries, though no nodes" "$out" '.items[0].nodes' 3000
same "which come first" "$(heddle log export used | jq -r .kind | head -n 2 | tr '\n' ' ')" "note loom_mark "
same "nothing of either is left beside them" "$(hidden)" 0
ok "the log is whole" heddle verify
# shape THREAD: its nodes, each with the one before it
shape() {
    heddle export "$1" | jq -c '.trees[0] as $t | [$t.edges[] | [$t.nodes[.sources[0].nodeId].content[0].text, $t.nodes[.targetNodeId].content[0].text]] | sort'
}
shape long >long.shape
shape used >used.shape
ok "both are the same tree" cmp long.shape used.shape
same "of all nodes" "$(jq length long.shape)" 2999
run heddle import used long.loom
has "a thread that has nodes is refused" "$err" "has nodes already"
jq -cn --rawfile text long.loom '{thread: "once", op_id: "once", $text}' >once.json
for _ in 1 2; do
    run sh -c '"$HEDDLE" api call tree.import <once.json'
    exits "an import that is repeated with its op_id is answered" 0
done
same "its record says how" "$(heddle log show .global --json | jq -r 'select(.op_id == "once") | .payload.answer.items[0].nodes')" 3000
same "and it was done once" "$(heddle log export once | jq -s '[.[] | select(.kind == "ai_message")] | length')" 3000
printf '%s\n' '{"kind":"ai_message","payload":{"content":"a node","role":"user"}}' | heddle log append two-2 >/dev/null
echo '{"format":"open-loom","version":"2.0","trees":[{"nodes":{"a":{"content":"A"}}},{"nodes":{"a":{"content":"B"}}}]}' >two.loom
run heddle import two two.loom
has "so is one that nobody has looked at as a tree" "$err" "thread 'two-2' has nodes already"
run heddle log show two
exits "nothing is written" 1

# ---- again in another log
heddle log export --all >all.jsonl

mkdir -p copy && (cd copy && heddle init >/dev/null)
run sh -c 'cd copy && "$HEDDLE" log import --all ../all.jsonl --json'
exits "all threads go into another log" 0
(cd copy && heddle log export --all >../again.jsonl)
ok "and come out the same" cmp all.jsonl again.jsonl
ok "which is whole" sh -c 'cd copy && "$HEDDLE" verify'

# ---- no room
left() {
    heddle doctor 2>&1 | grep -e 'restore was interrupted' -e 'deleted or replaced'
    hidden
}
mkdir narrow
cd narrow || exit 1
heddle init >/dev/null
yes '{"kind":"note","payload":{"n":1,"text":"a few more words than one of the usual size has"}}' | head -n 60000 >../more
# The write-ahead log grows no further than this.
run sh -c 'trap "" XFSZ; ulimit -f 7000; exec "$HEDDLE" log import big ../more'
exits "an import that cannot be written fails" 1
same "and leaves nothing in the database" "$(left)" 0
head -n 40000 ../more | heddle log import big >/dev/null
heddle backup ../full.tar >/dev/null
cd ..
if mkdir full && mount -t tmpfs -o size=9m tmpfs full 2>/dev/null; then
    trap 'umount "$PWD/full" 2>/dev/null; rm -rf "$scratch"' EXIT
    cd full || exit 1
    heddle init >/dev/null
    head -n 20000 ../more | heddle log import first >/dev/null
    run heddle log import big ../more
    exits "an import that fills the disk fails" 1
    has "and says so" "$err" "the disk is full"
    same "what was read of it went again" "$(left)" 0
    same "and takes no room" "$(($(df -k . | awk 'NR == 2 { print $4 }') > 3000))" 1
    mount -o remount,size=12m "$PWD" # room for the copy, and not for a second one in the log
    run heddle restore-backup ../full.tar --force
    exits "so does a restore" 1
    has "that says so, too" "$err" "the disk is full"
    same "nor does it leave anything" "$(left)" 0
    ok "the log is whole after that" heddle verify
    cd .. && umount full
else
    skip "a full disk" "tmpfs cannot be mounted here"
fi
done_testing

#!/bin/sh
# `backup` and `restore-backup`: one state of the log while others write, checked, and put back
# without what was erased since.
# postgres: no, backups are files: what it looks at are the names, modes and copies of database files
# shellcheck source=tests/e2e/lib.sh disable=SC2016
. "$(dirname "$0")/lib.sh"

word=Zqxjkvbp7731
holds() { # files below .heddle and .leslie that hold the word
    grep -rlai -- "$word" .heddle .leslie 2>/dev/null | sort | tr '\n' ' '
}
say() { heddle say "$1" "$2" >/dev/null 2>&1; }

run heddle backup b.tar
exits "without a log there is nothing to back up" 1
heddle init >/dev/null
say t "hello"
say t "Anna $word lives here"
heddle objective create 'Work' --id work >/dev/null
heddle spawn --intent make --objective work --id maker --no-run >/dev/null 2>&1
echo 'the plan' >.leslie/threads/maker/plan.md
heddle spawn --intent use --objective work --id user --ref maker:plan.md --binding frozen --no-run >/dev/null 2>&1

# ---- making and checking
umask 000
run heddle backup ../one.tar --json
exits "a backup is made" 0
json "and says what it holds" "$out" '[.ok, .threads, .objects, (.entries > 4), .checked]' '[true,2,1,true,false]'
umask 022
same "only its owner can read it" "$(stat -c %a ../one.tar)" 600
has "any tar can read it" "$(tar tf ../one.tar)" "heddle.db"
same "nothing is left of making it" "$(find .heddle -name '.heddle-tmp*')" ""
run heddle backup ../one.tar
exits "it never replaces a file" 1
has "which is said" "$err" "is there already"
run heddle backup ../one.tar --force
exits "unless told to" 0
run heddle backup ../one.tar.zst
exits "compressed when the name says so" 0
same "which it is" "$(head -c 4 ../one.tar.zst | od -An -tx1 | tr -d ' ')" 28b52ffd
for file in ../one.tar ../one.tar.zst; do
    run heddle backup --check $file --json
    json "$file is whole" "$out" '[.ok, .checked, .threads, .findings]' '[true,true,2,[]]'
done
run heddle backup ../nosuch/one.tar
exits "a directory that is not there" 1
has "is an error" "$err" "nosuch"

# Every way to damage it is found.
size=$(stat -c %s ../one.tar)
for cut in 0 100 512 1500 $((size / 2)) $((size - 1024)); do
    head -c "$cut" ../one.tar >../cut.tar
    run heddle backup --check ../cut.tar
    exits "cut after $cut bytes it is refused" 1
done
head -c 1000 ../one.tar.zst >../cut.tar.zst
run heddle backup --check ../cut.tar.zst
has "a compressed one too" "$err" "cut short"
for at in 600 $((size / 2)) $((size - 2000)); do
    cp ../one.tar ../bad.tar
    chmod 600 ../bad.tar
    printf 'X!X' | dd of=../bad.tar bs=1 seek="$at" conv=notrunc 2>/dev/null
    cmp -s ../one.tar ../bad.tar && continue
    run heddle backup --check ../bad.tar
    exits "changed at $at it is refused" 1
    run heddle restore-backup ../bad.tar --into ../never
    exits "and not restored" 1
done
ok "nothing was made of them" test ! -e ../never
echo "not an archive, by any means" >../text
run heddle backup --check ../text
exits "something else is refused" 1
printf '{}' >heddle-backup.json
tar cf ../odd.tar heddle-backup.json
run heddle backup --check ../odd.tar
has "so is another tar" "$err" "not a backup"

# ---- into another directory
run heddle restore-backup ../one.tar.zst --into ../copy --json
exits "it is restored elsewhere" 0
json "with everything" "$out" '[.threads, .objects, .erased, .kept, .lost]' '[2,1,0,null,[]]'
for t in t .global; do
    same "the head of $t is the same" "$(heddle --root ../copy head $t --json | jq -c '[.rev,.chain]')" \
        "$(heddle head $t --json | jq -c '[.rev,.chain]')"
done
run heddle --root ../copy verify
exits "it is whole" 0
run heddle --root ../copy doctor
exits "and healthy" 0
same "frozen copies are there again" "$(heddle --root ../copy read user plan.md)" "the plan"
same "private" "$(stat -c %a ../copy/.heddle ../copy/.heddle/heddle.db | tr '\n' ' ')" "700 600 "

# ---- over a log
run heddle restore-backup ../one.tar
exits "over the same log nothing is lost" 0
say t "something new"
run heddle restore-backup ../one.tar --json
exits "over a newer one it is refused" 1
json "as a conflict" "$out" '[.error.code, .error.reason]' '["CONFLICT","newer"]'
has "and nothing was changed" "$(heddle log show t)" "something new"
run heddle restore-backup ../one.tar --force --json
exits "unless told to" 0
json "which names what is lost, and where it is kept" "$out" '[.lost, (.kept | startswith(".heddle/heddle.db.before-restore-"))]' '[["t"],true]'
kept=$(printf '%s' "$out" | jq -r .kept)
lacks "the log is that of the backup" "$(heddle log show t)" "something new"
has "the other is a log too" "$(HEDDLE_STORE=$kept heddle log show t)" "something new"
same "for its owner alone" "$(stat -c %a "$kept")" 600
run heddle doctor
has "doctor names it" "$out" "is a copy made before a restore"

# ---- erasures
seq=$(heddle log show t --json | jq -r 'select(.payload.content // "" | contains("'$word'")) | .seq')
run heddle erase t "$seq" --reason asked --find "$word" --with-derived
exits "what was said is erased" 0
has "the kept log went with it" "$out" "before-restore"
same "nothing holds it" "$(holds)" ""
run heddle restore-backup ../one.tar --force --json
exits "an older backup is restored" 0
json "without what was erased" "$out" '[.erased > 0, (.lost | length > 0)]' '[true,true]'
rm -f .heddle/heddle.db.before-restore-*
same "nothing of it came back" "$(holds)" ""
run heddle verify --json
json "the log is whole" "$out" '[.ok, .erased > 0]' '[true,true]'
run heddle doctor
exits "and nothing is pending" 0
run heddle restore-backup ../one.tar --force
rm -f .heddle/heddle.db.before-restore-*
same "nor the second time" "$(holds)" ""

# ---- what was erased in entries that a backup lacks stays known
rm -rf .heddle .leslie
heddle init >/dev/null
say a hello
heddle backup ../none.tar --force >/dev/null
say t first
say t "Anna $word lives here"
heddle backup ../all.tar --force >/dev/null
heddle log export t >"$scratch/t.jsonl"
heddle erase t 1 --reason asked >/dev/null
run heddle restore-backup ../none.tar --force
exits "a backup from before the thread is restored" 0
run heddle log import t "$scratch/t.jsonl"
has "an export does not bring back what was erased" "$err" "come in without their content"
run heddle restore-backup ../none.tar --force
run heddle restore-backup ../all.tar --force --json
json "nor does a backup that has it" "$out" '.erased' 1
rm -f .heddle/heddle.db.before-restore-*
same "nothing holds the word" "$(holds)" ""
run heddle thread delete t --yes
run heddle log import copy "$scratch/t.jsonl"
has "nor an export once the thread is deleted" "$err" "come in without their content"
run heddle restore-backup ../none.tar --force
run heddle restore-backup ../all.tar --force
rm -f .heddle/heddle.db.before-restore-*
same "nor any of this together" "$(holds)" ""
run heddle verify
exits "the log is whole" 0
run heddle doctor
exits "and nothing is pending" 0

# ---- a log that cannot be read
printf 'garbage garbage garbage' | dd of=.heddle/heddle.db bs=1 conv=notrunc 2>/dev/null
rm -f .heddle/heddle.db-wal .heddle/heddle.db-shm
run heddle restore-backup ../one.tar
exits "a damaged log is not replaced unasked" 1
has "which is said" "$err" "--force moves it away"
run heddle restore-backup ../one.tar --force
exits "but when told to" 0
has "and where it is" "$out" "before-restore"
has "what cannot be known is said" "$err" "is not known, and comes back"
run heddle verify
exits "the log is whole again" 0

# ---- while others write
rm -rf .heddle .leslie
heddle init >/dev/null
(i=0; while [ $i -lt 300 ]; do i=$((i + 1)); echo '{"kind":"note","payload":{"n":'$i',"text":"'"$(head -c 2000 /dev/zero | tr '\0' a)"'"}}'; done) >"$scratch/lines"
for t in a b; do
    (for k in 1 2 3 4; do heddle log append $t <"$scratch/lines" >/dev/null || echo failed >"$scratch/failed"; done) &
done
n=0
while [ "$n" -lt 5 ]; do
    n=$((n + 1))
    run heddle backup ../during$n.tar.zst
    [ "$status" = 0 ] || break
done
wait
exits "backups are made while two processes write" 0
ok "who lost nothing" test ! -e "$scratch/failed"
run heddle backup --check ../during3.tar.zst
exits "each is one whole state" 0
run heddle verify
exits "so is the log" 0

# ---- things that are not files
mkdir ../directory
mkfifo ../pipe
for target in ../directory ../pipe; do
    run heddle backup $target --force
    exits "$target is not replaced by a backup" 1
    has "which is said" "$err" "not a regular file"
    run timeout 120 "$HEDDLE" backup --check $target
    has "nor is it one" "$err" "not a regular file"
    run timeout 120 "$HEDDLE" restore-backup $target --force
    has "or restored" "$err" "not a regular file"
done

# ---- copies of the log that a killed process left
left=.heddle/.heddle-tmp-log-0123456789ab
plant() { for end in "" -wal -journal; do (umask 077; echo "$word" >$left$end); done; }
plant
run heddle doctor
has "a copy that nobody holds is named" "$out" "$left was left behind"
run heddle doctor --fix
exits "and removed" 0
same "with what was beside it" "$(holds)" ""
plant
say kept "something else"
run heddle erase kept 0 --reason asked
exits "an erasure removes it too" 0
same "at once" "$(holds)" ""
plant
exec 9<$left
flock 9
run heddle doctor --fix
same "one that somebody holds stays" "$(holds)" "$left $left-journal $left-wal "
exec 9<&-
heddle doctor --fix >/dev/null
same "until it is let go" "$(holds)" ""

# ---- killed in the middle
heddle backup ../before.tar >/dev/null
for after in 0.01 0.03 0.06; do
    "$HEDDLE" backup ../killed.tar --force >/dev/null 2>&1 &
    pid=$!
    sleep $after
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    if [ -e ../killed.tar ]; then
        run heddle backup --check ../killed.tar
        exits "a backup that was killed after $after s is whole, or not there" 0
        rm ../killed.tar
    fi
    "$HEDDLE" restore-backup ../before.tar --force >/dev/null 2>&1 &
    pid=$!
    sleep $after
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    run heddle verify
    exits "a restore that was killed after $after s leaves a whole log" 0
done
heddle doctor --fix >/dev/null
same "what they left is cleaned up" "$(find .heddle -name '.heddle-tmp*')" ""

# ---- failing calls of the store
rm -rf .heddle .leslie
heddle init >/dev/null
say t one
heddle backup ../small.tar >/dev/null
say t two
head=$(heddle head t --json)
k=1
while [ $k -lt 40 ]; do
    rm -f .heddle/heddle.db.before-restore-*
    if HEDDLE_STORE="fault:$k:.heddle/heddle.db" "$HEDDLE" restore-backup ../small.tar --force >/dev/null 2>&1; then
        break
    fi
    k=$((k + 1))
    case $(heddle log show t) in
    *two*)
        same "call $k failed and the log is as it was" "$(heddle head t --json)" "$head"
        same "and no copy of it is left" "$(find .heddle -name '*before-restore*')" ""
        ;;
    *) break ;;
    esac
done
ok "some calls failed" test $k -gt 3
run heddle verify
exits "the log is whole" 0

# ---- an erasure that was interrupted is finished before the log that says so is replaced
rm -rf .heddle .leslie
heddle init >/dev/null
say t one
heddle backup ../before.tar --force >/dev/null
say t "Anna $word lives here"
cp -a .heddle planted
pending=0
# interrupted K: erase with the K-th call failing; false when there are fewer calls.
interrupted() {
    rm -rf .heddle
    cp -a planted .heddle
    printf '%s' "$word" >.heddle/heddle.db.v4.bak
    HEDDLE_STORE="fault:$1:.heddle/heddle.db" "$HEDDLE" erase t --find "$word" --reason r --with-derived \
        >/dev/null 2>&1 && return 1
    heddle log show t --json | grep -q '"kind":"erasure"' && [ -n "$(holds)" ] || return 0
    pending=$((pending + 1))
    run heddle restore-backup ../before.tar --force
    exits "after call $1 failed the backup is restored" 0
    same "and no file holds what was erased" "$(holds)" ""
}
interrupt_calls 15 4
ok "some erasures were interrupted" test $pending -gt 0
rm -rf planted .heddle
heddle init >/dev/null

# ---- where a backup does not belong
mkdir -p place/sub
cd place || exit 1
heddle init >/dev/null
heddle say t hello >/dev/null 2>&1
mkdir .heddle/sub
for file in .heddle/b.tar .heddle/sub/b.tar sub/../.heddle/b.tar .heddle/heddle.db; do
    run heddle backup --force "$file"
    exits "$file is refused" 1
    has "$file lies in .heddle" "$err" "lies in .heddle"
done
run heddle verify
exits "the log is what it was" 0
run heddle backup -
exits "a backup is not written to a pipe" 2
ok "nor to a file of that name" test ! -e -
run heddle backup sub/b.tar
exits "below the workspace it may be" 0
cd ..

done_testing

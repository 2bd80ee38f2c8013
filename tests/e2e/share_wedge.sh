#!/bin/sh
# One path that cannot be written stops no other: what the log has and the disk could not take is
# said, shown by status and doctor, and done when the way is free. `verify` says what is true.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

T=.leslie/threads
R=.leslie/thread_relations.json
heddle init >/dev/null
heddle objective create O --id o >/dev/null
spawn() { heddle spawn --objective o --no-run --intent "work of $1" --id "$@"; }
for t in a b c; do spawn $t >/dev/null; done
echo plan >$T/a/plan.md

# ---- a thread's folder is a link to another place ----
mkdir outside
mv $T/b outside/b
ln -s "$PWD/../elsewhere" $T/b
run heddle inject b --type note --content hello
exits "what the log takes and the disk does not is no success" 1
has "and what the disk did not take is said" "$err" "not done on disk"
run spawn d
exits "other threads go on" 0
ok "with their folders" test -d $T/d/context/inherited
json "and their rows" "$(cat $R)" '.threads | has("d")' true
has "status says what is not done" "$(heddle status b 2>/dev/null)" "not done on disk: inject"
json "also as JSON" "$(heddle status b --json 2>/dev/null)" '.not_done[0].operation' '"inject"'
json "and nothing of it for others" "$(heddle status d --json)" .not_done '[]'
run heddle doctor
exits "doctor finds it" 1
has "and names it" "$out$err" "inject of 'b' is recorded and not done on disk"
rm $T/b
mv outside/b $T/b
heddle lifecycle d suspend >/dev/null
has "it is done when the way is free" "$(cat $T/b/.meta/injections.log)" "content=hello"
run heddle doctor
exits "and doctor is content" 0
json "status too" "$(heddle status b --json)" .not_done '[]'

# ---- a folder where one of the views must go ----
rm $T/.global/registry.json
mkdir $T/.global/registry.json
run spawn e
exits "a view that cannot be written is no success, and stops nothing" 1
has "and is said" "$err" "registry.json"
json "the other views are written" "$(cat $R)" '.threads | has("e")' true
ok "the folders are made" test -d $T/e/artifacts
rmdir $T/.global/registry.json
heddle list >/dev/null 2>&1
json "it is written when the way is free" "$(cat $T/.global/registry.json)" '[.threads[].id] | contains(["e"])' true

# ---- an older effect that is repeated late does not undo a newer one ----
mkdir -p $T/c/context/inherited/plan.md
heddle reference --from c --target a --binding frozen >/dev/null 2>&1
echo second >$T/a/plan.md
rmdir $T/c/context/inherited/plan.md 2>/dev/null
heddle refresh --from c >/dev/null 2>&1 || heddle reference --from c --target a --binding frozen >/dev/null 2>&1
heddle lifecycle e suspend >/dev/null
copy=$(heddle status c --json | jq -r '.references[0].files[] | select(.name == "plan.md") | .local_path')
same "the newest copy stands, beside what was in the way" "$(cat "$copy")" second
ok "verify agrees" heddle verify

# ---- verify and doctor say what is true ----
cp -a . "$scratch/copy"
(cd "$scratch/copy" && heddle verify) >"$scratch/said" 2>&1
same "a workspace that was copied is whole" "$?" 0
lacks "and nothing is said against it" "$(cat "$scratch/said")" "another program"
cp .heddle/share.stamp "$scratch/stamp"
cp $R "$scratch/relations"
spawn f >/dev/null
cp -p "$scratch/relations" $R # as a kill between the log and the files leaves it
cp "$scratch/stamp" .heddle/share.stamp
run heddle verify
exits "what a killed command left is not called corrupt" 0
run heddle doctor
exits "nor by doctor" 0
heddle list >/dev/null 2>&1
jq '.threads.q = {"id":"q","title":"t"}' $R >"$scratch/r" && cp "$scratch/r" $R
run heddle verify
exits "a change of another program that waits for its import is not corrupt" 0
has "but said" "$err" "changed by another program"
heddle list >/dev/null 2>&1
spawn g --ref a >/dev/null
heddle objective create P --id p >/dev/null
run heddle verify
exits "a foreign row that fits no rule does not make all later files wrong" 0
json "and is still there" "$(cat $R)" .threads.q.title '"t"'
jq '.threads.a.status = "weird"' $R >"$scratch/r" && cp "$scratch/r" $R
run heddle list
has "a row of ours that was broken is not taken" "$err" "'a' that is not taken: its status is unknown"
same "and no key stands twice" "$(grep -c '^    "a": {' $R)" 2
json "ours stands" "$(cat $R)" .threads.a.status '"active"'
ok "verify agrees again" heddle verify
chmod u+w "$copy" && printf 'x' >>"$copy"
run heddle verify
exits "a frozen copy that was changed is wrong" 1
# ---- references that lead nowhere are told by doctor and verify
mkdir last && cd last || exit 1
heddle init >/dev/null
heddle objective create O --id o >/dev/null
for t in s f l n; do heddle spawn --objective o --no-run --intent $t --id $t >/dev/null; done
echo plan >.leslie/threads/s/plan.md
heddle reference --from f --target s >/dev/null
heddle reference --from l --target s --binding live >/dev/null
heddle reference --from n --target later >/dev/null 2>&1
mv .leslie/threads/s s.away
run heddle doctor --json
exits "a reference without its source is not damage" 0
json "and is told, with what to do" "$out" '[.notes[] | select(test("heddle unreference --from [fln] --ref ref-")) | split(",")[0]] | sort' \
    "[\"'f' refers to 's'\",\"'l' refers to 's'\",\"'n' refers to 'later'\"]"
run heddle verify
has "verify tells it too" "$err" "'n' refers to 'later', which is not there"
run heddle context l
has "the block's warning does not say that something is to come" "$err" "Referenced Thread s has no folder here"
ln -s "$PWD/s.away" .leslie/threads/s
run heddle reference --from n --target s
has "a thread's folder that is a link is named" "$err" "is a link, and links to folders are not followed"
done_testing

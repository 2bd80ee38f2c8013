#!/bin/sh
# Frozen copies: each has a place of its own, none is lost, none is passed off as another.
# postgres: no, it removes .leslie, with the id by which a server finds the log
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

T=.leslie/threads
heddle init >/dev/null
heddle objective create "O" --id o >/dev/null
spawn() { heddle spawn --objective o --no-run --intent "work of $1" --id "$@"; }
put() { mkdir -p "$(dirname "$1")" && printf '%s\n' "$2" >"$1"; }
freeze() { heddle reference --from "$1" --target "$2" --binding frozen >/dev/null; }
state() { heddle status "$1" --json | jq -c '[.references[].state]'; }

# ---- places ----
spawn both >/dev/null
put $T/both/plan.md "own plan"
put $T/both/artifacts/plan.md "plan in artifacts"
spawn r1 >/dev/null
freeze r1 both
same "a plan and one in artifacts/ both have a copy" \
    "$(heddle read r1 plan.md; heddle read r1 artifacts/plan.md)" "own plan
plan in artifacts"
ok "and both are what the log says" heddle verify
same "status agrees" "$(state r1)" '["fresh"]'

spawn P >/dev/null
spawn Q >/dev/null
put $T/P/Q/plan.md "P: Q/plan.md"
put $T/P/plan.md "P: plan.md"
put $T/Q/plan.md "Q: plan.md"
put $T/Q/design/a.md "Q: design"
spawn r2 >/dev/null
freeze r2 P
freeze r2 Q
same "a folder called like another thread keeps its place" "$(heddle read r2 .leslie/threads/r2/context/inherited/Q/plan.md)" "P: Q/plan.md"
same "and the thread gets one beside it" "$(cat "$T/r2/context/inherited/Q~2/plan.md")" "Q: plan.md"
has "the block shows it" "$(heddle context r2)" 'path=".leslie/threads/r2/context/inherited/Q~2/plan.md"'
same "read takes what the block shows" "$(heddle read r2 "$T/r2/context/inherited/Q~2/plan.md")" "Q: plan.md"
spawn r3 >/dev/null
freeze r3 Q
freeze r3 P
same "the other way round nothing is overwritten either" "$(cat $T/r3/context/inherited/plan.md $T/r3/context/inherited/P/plan.md $T/r3/context/inherited/Q/plan.md)" "Q: plan.md
P: plan.md
P: Q/plan.md"
ok "all copies are what was frozen" heddle verify

spawn grow >/dev/null
put $T/grow/artifacts/plan.md "first"
spawn r4 >/dev/null
freeze r4 grow
put $T/grow/plan.md "second"
heddle refresh --from r4 >/dev/null
same "a file keeps its place when another wants it" "$(cat $T/r4/context/inherited/plan.md)" "first"
same "the new one gets its own" "$(cat $T/r4/context/inherited/grow/plan.md)" "second"

spawn turn >/dev/null
put $T/turn/plan "a file"
spawn r5 >/dev/null
freeze r5 turn
rm $T/turn/plan
put $T/turn/plan/a.md "in a folder"
run heddle refresh --from r5
lacks "a file that became a folder is no loss" "$err" "gone"
same "its new file is copied" "$(heddle read r5 plan/a.md)" "in a folder"
same "and the state is" "$(state r5)" '["fresh"]'

put $T/r6/context/inherited/plan.md/in-the-way "x"
spawn r6 >/dev/null
freeze r6 grow
same "what is in the way stays" "$(cat $T/r6/context/inherited/plan.md/in-the-way)" x
same "the copy goes elsewhere" "$(heddle read r6 grow/artifacts/plan.md)" first

spawn kid --parent Q --inherit full >/dev/null
put $T/Q/plan.md "Q: newer"
freeze kid Q
same "two references to one file have one copy" "$(cat $T/kid/context/inherited/plan.md)" "Q: newer"
ok "and agree on it" heddle verify

# ---- copies are files of their own ----
spawn r7 >/dev/null
spawn r8 >/dev/null
freeze r7 P
freeze r8 P
same "no copy is a link of another" "$(find .heddle/objects $T/r7/context/inherited $T/r8/context/inherited -type f -links +1)" ""
chmod u+w $T/r7/context/inherited/plan.md && printf 'x\n' >>$T/r7/context/inherited/plan.md
same "a forced write reaches one copy" "$(heddle read r8 plan.md)" "P: plan.md"
same "status tells an edited copy" "$(state r7)" '["edited"]'
run heddle read r7 plan.md
exits "it is not passed off" 1
mv $T/r7/context/inherited/plan.md edited
same "moved away, it is made again" "$(heddle read r7 plan.md)" "P: plan.md"
rm $T/r7/context/inherited/plan.md
same "status tells a deleted copy" "$(state r7)" '["deleted"]'
has "and which" "$(heddle status r7)" "plan.md  deleted"

put $T/P/key.md "private"
chmod 600 $T/P/key.md
put $T/P/tool.sh "tool" && chmod 755 $T/P/tool.sh
heddle refresh --from r8 >/dev/null
same "a private file has a private copy" "$(stat -c %a $T/r8/context/inherited/key.md)" 400
same "a program stays one" "$(stat -c %a $T/r8/context/inherited/tool.sh)" 555
same "objects are for their owner" "$(find .heddle/objects -type f -perm /077)" ""

# ---- the exact path decides ----
spawn A >/dev/null
spawn C >/dev/null
put $T/A/plan.md "plan of A"
put $T/C/plan.md "plan of C"
spawn F >/dev/null
freeze F A
freeze F C
rm $T/F/context/inherited/plan.md
same "a deleted copy is made again, not another's given" "$(heddle read F plan.md)" "plan of A"
ok "it is on the disk again" test -f $T/F/context/inherited/plan.md
rm $T/F/context/inherited/plan.md
find .heddle/objects -type f | while read -r f; do grep -q "plan of A" "$f" && rm -f "$f"; done
run heddle read F plan.md
exits "without its content it is an error" 1
has "that says so" "$err" "its stored content is gone too"
lacks "and gives nothing" "$out" "plan of"
heddle refresh --from F --target A >/dev/null
same "refresh copies it from the source" "$(heddle read F plan.md)" "plan of A"

# ---- paths as the block shows them ----
spawn L --ref A:plan.md >/dev/null
put $T/L/progress.md "mine"
same "a live path" "$(heddle read L $T/A/plan.md)" "plan of A"
same "with the workspace in front" "$(heddle read L "$PWD/$T/A/plan.md")" "plan of A"
same "an own path" "$(heddle read L $T/L/progress.md)" "mine"
put $T/A/design.md "secret"
run heddle read L $T/A/design.md
exits "a path outside the scope is refused" 1
run heddle read L $T/C/plan.md
exits "a path of a thread that is not referenced too" 1
run heddle read F $T/A/plan.md
exits "the origin of a frozen reference is not what was frozen" 1
has "and the copy is named" "$err" "$T/F/context/inherited/plan.md"

# ---- the source goes ----
spawn s >/dev/null
put $T/s/plan.md "last words"
spawn k >/dev/null
freeze k s
spawn live --ref s >/dev/null
rm -r $T/s
same "a live reference to no folder is missing" "$(state live)" '["missing"]'
same "so is a frozen one" "$(state k)" '["missing"]'
run heddle refresh --from k
has "refresh keeps the last copy" "$out" "s: the source is gone; 1 copy kept"
has "and warns" "$err" "$T/s is gone; the frozen copies of it are kept"
same "it can be read" "$(heddle read k plan.md)" "last words"
rm -rf .leslie
run heddle list
has "without .leslie the log is enough" "$out" "k "
same "every copy is there again" "$(heddle read k plan.md; heddle read F plan.md)" "last words
plan of A"
run heddle refresh --from F
has "and refresh does not take it away" "$out" "A: the source is gone; 1 copy kept"
ok "the copies are what was frozen" test -f $T/F/context/inherited/plan.md

# ---- what killed processes left ----
put $T/A/plan.md "plan of A"
put $T/A/.heddle-tmp-abcdefghjkmn "half a file"
put $T/A/design/.heddle-tmp-abcdefghjkmn "half a file"
touch -d '2 days ago' $T/A/design/.heddle-tmp-abcdefghjkmn
spawn m >/dev/null
freeze m A
same "half a file is not copied" "$(find $T/m -name '.heddle-tmp-*')" ""
heddle merge --sources A --target m >/dev/null
same "nor merged" "$(find $T/m -name '.heddle-tmp-*')" ""
not_ok "an old one is removed" test -e $T/A/design/.heddle-tmp-abcdefghjkmn
ok "a fresh one may be somebody's" test -e $T/A/.heddle-tmp-abcdefghjkmn
put .heddle/objects/aa/bbccddeeff00112233445566778899aabbccddeeff00112233445566778899 "of nobody"
put .heddle/objects/new-abcdefghjkmn "half an object"
put .heddle/objects/aa/notes.txt "not ours"
touch -d '2 days ago' .heddle/objects/aa/* .heddle/objects/new-abcdefghjkmn
before=$(find .heddle/objects -type f | wc -l)
heddle refresh --from m >/dev/null
same "objects of nobody are collected" "$(find .heddle/objects -type f | wc -l)" $((before - 2))
ok "what is no object stays" test -f .heddle/objects/aa/notes.txt
same "and those of copies stay" "$(rm -f $T/m/context/inherited/plan.md; heddle read m plan.md)" "plan of A"
# ---- a source file that became a folder, and what is no file at all
spawn turned >/dev/null
put $T/turned/plan "one file"
put $T/turned/progress.md "done"
spawn taker >/dev/null
heddle reference --from taker --target turned >/dev/null
rm $T/turned/plan $T/turned/progress.md
put $T/turned/plan/a.md "now a folder"
mkfifo $T/turned/progress.md
run heddle status taker --json
exits "status tells when a file became a folder" 0
json "as a file that is missing" "$out" '[.references[0].state, (.references[0].files | map(.state))]' '["stale",["missing","missing"]]'
heddle refresh --from taker >/dev/null
json "and refresh takes the folder" "$(heddle status taker --json)" '.references[0] | [.state, (.files | map(.name))]' '["fresh",["plan/a.md"]]'
mkdir -p elsewhere && ln -s ../../../elsewhere $T/turned/code
run heddle refresh --from taker
has "a link to a folder is named, not followed" "$err" "$T/turned/code' is a link"
done_testing

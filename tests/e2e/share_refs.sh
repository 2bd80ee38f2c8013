#!/bin/sh
# References: live and frozen, what is read, what is shown, what is refused.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

T=.leslie/threads
heddle init >/dev/null
heddle objective create "Auth" --id auth >/dev/null
spawn() { heddle spawn --objective auth --no-run --intent "work of $1" --id "$@"; }
put() { mkdir -p "$(dirname "$1")" && printf '%s\n' "$2" >"$1"; }

# ---- the block ----
spawn db >/dev/null
spawn back >/dev/null
put $T/back/design/api.md "the api"
put $T/back/artifacts/plan.md "the plan of back"
put $T/db/design/schema.sql "create table"
run spawn front --ref back:design/api.md,db
exits "spawn with references" 0
same "the id is printed" "$out" front
same "the block at spawn" "$(heddle context front)" '<thread_context thread="front" objective="auth" relations_file=".leslie/thread_relations.json">
  <ref thread="back">
    <asset type="design" path=".leslie/threads/back/design/api.md" />
  </ref>
  <ref thread="db">
    <asset type="design" path=".leslie/threads/db/design/" />
  </ref>
</thread_context>'
put $T/front/plan.md "own plan"
put $T/front/progress.md "## In Progress"
put $T/front/artifacts/design/x.md "x"
same "on load: own assets in their order, then the references, then the task" \
    "$(heddle context front --task 'Build the form.')" '<thread_context thread="front" objective="auth" relations_file=".leslie/thread_relations.json">
  <asset type="plan" path=".leslie/threads/front/plan.md" />
  <asset type="progress" path=".leslie/threads/front/progress.md" />
  <asset type="design" path=".leslie/threads/front/artifacts/design/" />
  <ref thread="back">
    <asset type="design" path=".leslie/threads/back/design/api.md" />
  </ref>
  <ref thread="db">
    <asset type="design" path=".leslie/threads/db/design/" />
  </ref>
</thread_context>

Build the form.'
same "--parse reads it back" "$(heddle context front --task 'a < b' | heddle context --parse | jq -c '[.thread, (.assets | length), [.refs[].thread]]')" '["front",3,["back","db"]]'
spawn far >/dev/null
heddle reference --from db --target far --binding live >/dev/null
put $T/far/plan.md "far"
lacks "one level only" "$(heddle context front)" far

# ---- live and frozen ----
spawn reader >/dev/null
heddle reference --from reader --target back --binding frozen >/dev/null
same "a frozen copy is read" "$(heddle read reader plan.md)" "the plan of back"
put $T/back/artifacts/plan.md "changed"
same "the source may change, the copy does not" "$(heddle read reader plan.md)" "the plan of back"
json "status says so" "$(heddle status reader --json)" '[.references[0].state, (.references[0].files[] | select(.name == "plan.md") | .state)]' '["stale","stale"]'
has "the block shows the copy" "$(heddle context reader)" '"plan" path=".leslie/threads/reader/context/inherited/plan.md"'
rm $T/back/design/api.md
put $T/back/design/new.md "new"
run heddle refresh --from reader
same "refresh says what it did" "$out" "back: 1 added, 1 changed, 1 removed"
same "then the copy is new" "$(heddle read reader plan.md)" "changed"
not_ok "deleted files are gone" test -e $T/reader/context/inherited/design/api.md
json "and all is fresh" "$(heddle status reader --json)" '.references[0].state' '"fresh"'
ok "verify agrees with the files and copies" heddle verify
chmod u+w $T/reader/context/inherited/plan.md && echo forged >$T/reader/context/inherited/plan.md
run heddle read reader plan.md
exits "a copy changed by force is not passed off" 1
run "$HEDDLE" verify
has "and verify names it" "$out" "$T/reader/context/inherited/plan.md is not what was frozen"
rm $T/reader/context/inherited/plan.md
heddle refresh --from reader >/dev/null
same "refresh makes it again" "$(heddle read reader plan.md)" "changed"
same "live reads follow the source" "$(heddle read front design/schema.sql)" "create table"
put $T/db/design/schema.sql "drop table"
same "at once" "$(heddle read front design/schema.sql)" "drop table"
json ".refs.json leads to the origin" "$(cat $T/front/context/live/.refs.json)" '.refs["design/"].remote_path' '".leslie/threads/db/design/"'
run heddle read front learnings/x.md
exits "what is not referenced is refused" 1
has "in the words of the rule" "$err" "File not referenced"
run heddle read front design/new.md
exits "outside the scope is not referenced" 1
same "own assets come first" "$(heddle read front plan.md)" "own plan"

# ---- names held by two ----
spawn two --ref back,db >/dev/null
put $T/db/plan.md "the plan of db"
run heddle read two plan.md
exits "a name of two files is refused" 1
has "with the choices" "$err" "back/plan.md, db/plan.md"
same "the choice is taken" "$(heddle read two db/plan.md)" "the plan of db"
spawn frozen2 --ref back,db --binding frozen >/dev/null
same "the first source keeps the name" "$(cat $T/frozen2/context/inherited/plan.md)" "changed"
same "the second has its own folder" "$(cat $T/frozen2/context/inherited/db/plan.md)" "the plan of db"
same "and is read by it" "$(heddle read frozen2 db/plan.md)" "the plan of db"

# ---- inheriting ----
spawn child --parent back --inherit full >/dev/null
same "a child inherits copies" "$(heddle read child plan.md)" "changed"
spawn part --parent back --inherit partial --scope design >/dev/null
same "or a part" "$(find $T/part/context/inherited -type f)" "$T/part/context/inherited/design/new.md"
run spawn lost --inherit full
exits "inheriting needs a parent" 1
previous=back
for i in 1 2 3 4 5 6 7; do
    spawn "g$i" --parent "$previous" --inherit full >/dev/null
    cp $T/$previous/context/inherited/plan.md "$T/g$i/plan.md" 2>/dev/null || put "$T/g$i/plan.md" p
    heddle reference --from "g$i" --target "$previous" >/dev/null
    previous=g$i
done
same "seven generations do not grow" "$(find $T/g7/context/inherited -type f | wc -l | tr -d ' ')" 1
same "no copy holds another's context" "$(find $T/*/context/inherited -name context -o -path '*/context/inherited/*' -name .meta)" ""

# ---- broken references ----
run heddle reference --from front --target ghost --binding live
exits "a missing target is a warning" 0
has "shown to the user" "$err" "Referenced Thread ghost not found"
has "and logged" "$(cat .leslie/logs/auth/objective.log)" 'msg="Referenced Thread ghost not found"'
run heddle status front
has "it is said again until it is fixed" "$err" "Referenced Thread ghost not found"
lacks "and left out of the block" "$out" 'ref thread="ghost"'
has "the graph marks it" "$(heddle graph)" "→ ghost  ! broken"
put $T/ghost/plan.md "boo"
spawn ghost >/dev/null
lacks "a target that comes mends it" "$(heddle status front 2>&1)" "ghost not found"
has "and is shown" "$(heddle context front)" '<ref thread="ghost">'
run spawn ghost2 --ref ghost2
exits "self reference at spawn" 1
heddle reference --from ghost --target later --binding live 2>/dev/null >/dev/null
before=$(heddle list --json)
run spawn later --ref ghost
exits "a chosen id may close a circle" 1
has "it is rejected in two lines" "$err" "Error: Cannot create Thread with --ref ghost
Reason: Circular reference detected (later → ghost → later)"
same "and no thread is left" "$(heddle list --json)" "$before"

# ---- a row deleted by another program ----
jq 'del(.threads.db, .relations.db)' .leslie/thread_relations.json >x && mv x .leslie/thread_relations.json
run heddle context front
exits "a deleted thread does not stop its readers" 0
has "it is a warning" "$err" "Referenced Thread db not found"
lacks "and is left out" "$out" 'thread="db"'

# ---- nothing outside ----
echo secret >outside.txt
mkdir -p ../outer && echo secret >../outer/secret.md
for bad in ../x /etc ..; do
    not_ok "id $bad" heddle spawn --intent x --objective auth --no-run --id "$bad"
    not_ok "ref $bad" heddle reference --from front --target "$bad"
done
not_ok "scope ../.." heddle reference --from front --target back --scope ../../..
not_ok "ref with a path up" spawn esc --ref back:../../../outside.txt
not_ok "read ../" heddle read front ../../../outside.txt
not_ok "transcript of ../../x" heddle transcript ../../x --chat c --query q --assistant a
not_ok "merge scope up" heddle merge --sources back --target front --scope ../..
not_ok "context/ is not shared" heddle reference --from front --target back --scope context/inherited
ln -s "$(cd .. && pwd)/outer/secret.md" $T/back/learnings.md
mkdir -p $T/back/learnings && ln -s "$(cd .. && pwd)/outer/secret.md" $T/back/learnings/secret.md
heddle refresh --from reader >/dev/null 2>&1
same "a link out of the workspace is not copied" "$(find $T/reader -name '*secret*')" ""
run heddle read two learnings/secret.md
lacks "nor read" "$out" secret
rm -rf $T/reader/context/inherited && ln -s "$(cd .. && pwd)/outer" $T/reader/context/inherited
put $T/back/plan.md "another"
heddle refresh --from reader >/dev/null 2>&1
same "a link in place of a folder is not written through" "$(ls ../outer)" secret.md
rm -rf ../outer
done_testing

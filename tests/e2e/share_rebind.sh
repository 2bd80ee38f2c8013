#!/bin/sh
# References that are dropped, bound otherwise and taken up again; what says which binding was made.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

T=.leslie/threads
heddle init >/dev/null
heddle objective create "O" --id o >/dev/null
spawn() { heddle spawn --objective o --no-run --intent "work of $1" --id "$@"; }
put() { mkdir -p "$(dirname "$1")" && printf '%s\n' "$2" >"$1"; }
refs() { heddle status "$1" --json 2>/dev/null | jq -c '[.references[] | [.target, .binding, .state]]'; }
edges() { jq -c ".relations.$1.references_to" .leslie/thread_relations.json; }

# ---- which binding ----
spawn A >/dev/null
spawn C >/dev/null
put $T/A/plan.md "plan of A"
put $T/C/plan.md "plan of C"
run spawn R --ref A
same "spawn prints the id alone" "$out" R
has "and says that it reads live" "$err" "R → A  live"
run spawn R2 --ref A --binding frozen
has "or frozen" "$err" "R2 ▣ A  frozen, 1 file copied"
json "in JSON too" "$(spawn R3 --ref A --json)" '[.references[] | .target, .binding]' '["A","live"]'
has "reference says frozen" "$(heddle reference --from R --target C)" "R ▣ C  frozen, 1 file copied"
run heddle reference --from R --target C --binding sometimes
exits "another word is misuse" 2

# ---- unreference ----
spawn F >/dev/null
heddle reference --from F --target A >/dev/null
heddle reference --from F --target C >/dev/null
id=$(heddle status F --json | jq -r '.references[0].ref_id')
put $T/A/plan.md "newer plan of A"
run heddle unreference --from F --target A
exits "a reference is dropped" 0
has "and how it comes back is said" "$out" "\`heddle rebind --from F --ref $id\` takes it up again"
same "it is gone" "$(refs F)" '[["C","frozen","fresh"]]'
same "so is the edge" "$(edges F)" '["C"]'
not_ok "and the copy" test -e $T/F/context/inherited/plan.md
json "it stands in operations[]" "$(cat .leslie/thread_relations.json)" '.operations[-1] | [.command, .params.from_id, .params.to_id, .params.ref_id]' "[\"unreference\",\"F\",\"A\",\"$id\"]"
run heddle read F plan.md
exits "its path leads to nobody else's file" 1
has "but says whose it was" "$err" "it was the copy of a file of A"
ok "all verifies" heddle verify
run heddle refresh --from F --target A
exits "there is nothing to refresh" 1
run heddle unreference --from F --target A
exits "nor to drop again" 1
run heddle unreference --from F
exits "which one must be said" 2
run heddle rebind --from F --ref "$id"
exits "rebind takes it up again" 0
same "as it was" "$(heddle read F plan.md)" "plan of A"
same "with its state" "$(refs F)" '[["C","frozen","fresh"],["A","frozen","stale"]]'
same "and its edge" "$(edges F)" '["C","A"]'
ok "all verifies again" heddle verify

# ---- rebind ----
run heddle rebind --from F --target A --binding live
has "a frozen reference becomes live" "$out" "F → A  live"
same "it reads what the source has" "$(heddle read F plan.md)" "newer plan of A"
json ".refs.json has it" "$(cat $T/F/context/live/.refs.json)" '[.refs[].thread] | unique' '["A"]'
run heddle rebind --from F --target A --binding live
has "again is no change" "$out" "nothing to change"
run heddle rebind --from F --target A --as-before
same "as before: the old copies" "$(heddle read F plan.md)" "plan of A"
heddle rebind --from F --target A --binding live >/dev/null
heddle rebind --from F --target A --binding frozen >/dev/null
same "frozen anew: copies of now, at the same place" "$(cat $T/F/context/inherited/plan.md)" "newer plan of A"
run heddle rebind --from F --target nobody --binding live
exits "what is not there cannot be bound" 1
run heddle rebind --from F --target A
exits "how must be said" 2
spawn S --ref A:plan.md >/dev/null 2>&1
heddle rebind --from S --target A --binding frozen >/dev/null
json "the scope stays" "$(heddle status S --json)" '.references[0] | [.binding, .scope]' '["frozen",["plan.md"]]'
ok "and all verifies" heddle verify

# ---- circles ----
spawn X --ref A >/dev/null 2>&1
heddle unreference --from X --target A >/dev/null
heddle reference --from A --target X --binding live >/dev/null 2>&1
run heddle rebind --from X --target A
exits "a dropped reference may not close a circle" 1
has "that is said" "$err" "Circular reference detected (X → A → X)"

# ---- a changed copy is somebody's work ----
chmod u+w $T/F/context/inherited/plan.md && echo mine >$T/F/context/inherited/plan.md
run heddle unreference --from F --target A
has "it stays" "$err" "was changed after it was copied; it stays"
same "as it is" "$(cat $T/F/context/inherited/plan.md)" mine

# ---- a clone knows it ----
mkdir ../clone && cp -r .leslie ../clone/
same "what was dropped stays dropped in a clone" "$(cd ../clone && refs F)" "$(refs F)"
same "what was bound otherwise stays so" "$(cd ../clone && refs S)" "$(refs S)"
rm -rf ../clone

# ---- names with a comma ----
put "$T/C/design/a,b.md" "comma"
put $T/C/design/a "no"
spawn K >/dev/null
heddle reference --from K --target C --scope 'design/a\,b.md' >/dev/null
same "a comma in a name can be given" "$(heddle read K 'design/a,b.md')" comma
json "it is one name" "$(heddle status K --json)" '.references[0].scope' '["design/a,b.md"]'
same "and in --ref" "$(spawn K2 --ref 'C:design/a\,b.md' 2>/dev/null; heddle read K2 'design/a,b.md')" "K2
comma"

# ---- objectives ----
run heddle objective delete o
exits "an objective with threads stays" 1
has "and says why" "$err" "Objective 'o' has"
heddle objective create "By mistake" --id oops >/dev/null
cp .leslie/objectives.json old.json
run heddle objective delete oops
exits "one without can be deleted" 0
lacks "the list" "$(heddle objective list)" oops
json "and the count" "$(cat .leslie/objectives.json)" '[(.objectives | keys), .metadata.objective_count]' '[["o"],1]'
cp old.json .leslie/objectives.json
lacks "an older file does not bring it back" "$(heddle objective list 2>/dev/null)" oops
heddle objective create "Again" --id oops >/dev/null
has "it can be made again" "$(heddle objective list)" Again
ok "all verifies at the end" heddle verify
done_testing

#!/bin/sh
# A workspace without its log: a clone, a deleted .heddle, a folder that Leslie wrote. References keep
# their id, binding, scope and copies.
# postgres: no, a log on a server belongs to the id in .leslie, so that a copy of the folder is no workspace without its log
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

T=.leslie/threads
spawn() { heddle spawn --objective o --no-run --intent "work of $1" --id "$@"; }
put() { mkdir -p "$(dirname "$1")" && printf '%s\n' "$2" >"$1"; }
refs() { heddle status "$1" --json 2>/dev/null | jq -cS '[.references[] | {ref_id, target, binding, scope, state, copied_at, created_at, files: [.files[]? | {name, local_path, hash, state}]}]'; }
top=$PWD
mkdir origin && cd origin || exit 1
heddle init >/dev/null
heddle objective create "O" --id o >/dev/null
spawn A >/dev/null
spawn C >/dev/null
put $T/A/plan.md "plan of A"
put $T/A/design/api.md "api of A"
put $T/A/secret.md "not for F"
put $T/C/plan.md "plan of C"
put $T/C/artifacts/plan.md "second plan of C"
spawn F >/dev/null
heddle reference --from F --target A --scope design,plan.md --binding frozen >/dev/null
heddle reference --from F --target C --binding frozen >/dev/null
spawn L --ref A:design >/dev/null
spawn K --parent C --inherit full >/dev/null
put $T/A/plan.md "changed plan of A"
put $T/A/design/api.md "changed api of A"
for t in F L K; do refs $t >"../$t.before"; heddle context $t >"../$t.block"; done
heddle list >../list.before
cd "$top" || exit 1

# ---- a clone ----
mkdir clone && cp -r origin/.leslie clone/ && cd clone || exit 1
heddle init >/dev/null
for t in F L K; do
    same "$t has its references" "$(refs $t)" "$(cat ../$t.before)"
    same "$t has its block" "$(heddle context $t)" "$(cat ../$t.block)"
done
same "a frozen copy is read, not the origin's new text" "$(heddle read F plan.md)" "plan of A"
run heddle read L secret.md
exits "a scope stays a scope" 1
same "what says so is as it was" "$(diff -r --exclude=registry.json "$top/origin/$T" $T)" ""
rm $T/F/context/inherited/plan.md
same "the clone has the content too" "$(heddle read F plan.md)" "plan of A"
ok "all verifies" heddle verify
heddle refresh --from F --target A >/dev/null
same "one refresh concerns one reference" "$(heddle read F plan.md; heddle read F C/plan.md; heddle read F C/artifacts/plan.md)" "changed plan of A
plan of C
second plan of C"
cd "$top" || exit 1

# ---- a copy that was changed on the way ----
mkdir changed && cp -r origin/.leslie changed/ && cd changed || exit 1
chmod u+w $T/F/context/inherited/plan.md && echo forged >$T/F/context/inherited/plan.md
run heddle read F plan.md
exits "a copy that was changed in a clone is not passed off" 1
json "status tells" "$(heddle status F --json)" '.references[0].state' '"edited"'
cd "$top" || exit 1

# ---- an early heddle did not say whose a copy is ----
mkdir early && cp -r origin/.leslie early/ && cd early || exit 1
rm $T/*/context/.frozen.json
run heddle status K --json
json "one source: the copies are its" "$out" '[.references[0].binding, (.references[0].files | length)]' '["frozen",2]'
has "and that it was guessed is said" "$out$err" "no file says whose they are"
cd "$top" || exit 1

# ---- what is wrong in the file that tells ----
mkdir hostile && cp -r origin/.leslie hostile/ && cd hostile || exit 1
mkdir -p .heddle src && echo key >.heddle/checkpoint.key && echo code >src/main.c
jq '.copies["../../../../../src/main.c"] = .copies["plan.md"]
    | .copies["x.md"] = (.copies["plan.md"] | .hash = "../checkpoint.key")
    | .copies["y.md"] = (.copies["plan.md"] | .source = "../../../src")' $T/F/context/.frozen.json >x
mv x $T/F/context/.frozen.json
run heddle refresh --from F
exits "lines that lead out are ignored" 0
has "and named" "$err" "is ignored"
same "nothing outside changed" "$(cat src/main.c .heddle/checkpoint.key)" "code
key"
cd "$top" || exit 1

# ---- a folder that Leslie wrote ----
mkdir leslie && cd leslie || exit 1
heddle init >/dev/null
heddle objective create "O" --id o >/dev/null
spawn S >/dev/null
spawn R >/dev/null
spawn Q >/dev/null
put $T/S/plan.md "new"
put $T/R/context/inherited/S/plan.md "as Leslie copied it"
add() { # FROM TO REF BINDING SCOPE: as Leslie adds a reference
    jq --arg f "$1" --arg t "$2" --arg r "$3" --arg b "$4" --argjson s "$5" \
        '.operations += [{"id": ("op-" + $r), "timestamp": "2026-03-01T10:00:05.120Z", "command": "reference", "operator": "user",
          "params": {"ref_id": $r, "from_id": $f, "to_id": $t, "scope": $s, "binding": $b}}]
         | .relations[$f].references_to += [$t] | .relations[$f].references_to |= unique
         | .relations[$t].referenced_by += [$f] | .relations[$t].referenced_by |= unique' \
        .leslie/thread_relations.json >x && mv x .leslie/thread_relations.json
}
add R S ref-11111111 frozen '["all"]'
add Q S ref-22222222 live '["design"]'
json "Leslie's frozen reference is one" "$(heddle status R --json)" '.references[0] | [.ref_id, .binding, .copied_at, .files[0].local_path]' \
    "[\"ref-11111111\",\"frozen\",\"2026-03-01T10:00:05.120Z\",\"$T/R/context/inherited/S/plan.md\"]"
same "its copy is read" "$(heddle read R S/plan.md)" "as Leslie copied it"
json "its scope counts" "$(heddle status Q --json 2>/dev/null)" '.references[0] | [.ref_id, .binding, .scope]' '["ref-22222222","live",["design"]]'
run heddle read Q plan.md
exits "and limits" 1
add Q S ref-33333333 live '["plan.md"]'
same "a second reference along a known edge counts too" "$(heddle read Q plan.md)" "new"
add R Q ref-44444444 live '["../../x"]'
run heddle status R
has "a scope that leads out does not become everything" "$err" "is left out"
done_testing

#!/bin/sh
# Records, files and links that want heddle to touch what is not its own.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

T=.leslie/threads
heddle init >/dev/null
heddle objective create "O" --id o >/dev/null
spawn() { heddle spawn --objective o --no-run --intent "work of $1" --id "$@"; }
put() { mkdir -p "$(dirname "$1")" && printf '%s\n' "$2" >"$1"; }
spawn a >/dev/null
spawn b >/dev/null
put $T/a/plan.md "plan of a"
put src/main.c "int main"
put .heddle/checkpoint.key "a key"

# ---- records ----
op() { printf '{"kind":"thread_operation","payload":%s}\n' "$1"; }
seed() { # a workspace whose log is what came in, and nothing else
    mkdir "$1" && cd "$1" || exit 1
    heddle init >/dev/null
    mkdir .heddle/objects
    put src/main.c "int main"
    put .heddle/checkpoint.key "a key"
}
top=$PWD
seed crafted
{
    op '{"operation":"objective","operator":"user","id":"o","title":"O"}'
    op '{"operation":"spawn","operator":"user","thread_id":"a","objective":"o","intent":"a"}'
    op '{"operation":"reference","operator":"user","from":"a","target":"b","ref_id":"r","binding":"live","scope":[],"files":[],"gone_hashes":["../../src"]}'
    op '{"operation":"transcript","operator":"user","thread_id":"a","name":"t.txt","hash":"../checkpoint.key"}'
    op '{"operation":"refresh","operator":"user","from":"a","target":"b","ref_id":"r","binding":"frozen","scope":[],"files":[{"name":"x","source":"x","place":"x","hash":"../../src/main.c"}]}'
    op '{"operation":"merge","operator":"user","target":"a","files":[{"path":"../../../src/main.c","before":null,"after":"../checkpoint.key"}]}'
} >in.jsonl
op '{"operation":"merge","operator":"user","target":"a","files":[{"path":"context/inherited/x","before":null,"after":"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}]}' >>in.jsonl
"$HEDDLE" log import .global in.jsonl >/dev/null
run heddle list
exits "a log with crafted records is listed" 0
has "what is well-formed in it counts" "$out" "a "
ok "no folder is removed by a record" test -f src/main.c
ok "nor the key" test -f .heddle/checkpoint.key
same "nor copied out" "$(find .leslie -name 't.txt')" ""
run heddle verify
for i in 2 3 4 5 6; do
    has "verify names entry $i, which it does not act on" "$out$err" "entry $i is kept and not acted on"
done
op '{"operation":"objective","operator":"user","id":"z","title":"Z"}' >one.jsonl
run heddle log append .global <one.jsonl
exits "log append writes no operations" 1
has "and names those that do" "$err" "heddle reference"
run heddle log import .global one.jsonl
exits "nor does an import into a log that has entries" 1
cd "$top" || exit 1

# ---- links to what is not shared ----
ln -s ../../../.heddle/checkpoint.key $T/a/progress.md
mkdir -p $T/a/design && ln -s ../../../../.heddle $T/a/design/all
ln .heddle/checkpoint.key $T/a/learnings.md
spawn c --ref a >/dev/null 2>&1
run heddle read c progress.md
exits "a link to the key is not read" 1
lacks "through a live reference" "$out" "a key"
run heddle read a learnings.md
lacks "nor another name of it" "$out" "a key"
run heddle read c design/all/checkpoint.key
lacks "nor below a link to the folder" "$out" "a key"
run heddle reference --from b --target a
has "nor frozen" "$err" "leads into .heddle, which is not shared"
same "no copy holds it" "$(grep -rl 'a key' .leslie .heddle/objects)" "$T/a/learnings.md"
lacks "the block does not show it" "$(heddle context a 2>/dev/null)" "progress.md"
heddle merge --sources a --target b >/dev/null 2>&1
not_ok "nor merged" grep -q 'a key' $T/b/learnings.md

done_testing

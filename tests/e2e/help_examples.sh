#!/bin/sh
# Every example that help shows does what it says when it is pasted into a workspace that has what
# it speaks of.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

# ---- a workspace with a bit of everything ----

mkdir scene bin
ln -s "$HEDDLE" bin/heddle
PATH=$PWD/bin:$PATH
(
    cd scene || exit
    git init -q .
    mkdir src
    echo 'int main(void) { return 0; }' >src/main.c
    echo 'Which store should we use?' >idea.md
    cp idea.md README.md
    heddle init
    heddle config set --user executors.agent '["true"]'
    heddle config set loom.budget 40000
    heddle config set loom.summary_model offline:echo
    printf '{"kind":"ai_message","payload":{"role":"%s","content":"%s"}}\n' user 'My mother had a childhood.' \
        assistant 'Tell me more.' | heddle log append design
    heddle objective create 'Ship the parser' --id parser
    heddle spawn --id research --intent 'Compare parsers' --objective parser --no-run
    echo '# Notes' >.leslie/threads/research/notes.md
    heddle spawn --id build --intent 'Write the parser' --objective parser --ref research --no-run
    heddle spawn --id lexer --intent 'Write the lexer' --objective parser --foreground
    heddle run start live --text hello
    heddle memo add 'A memo.'
    heddle session new first
    heddle agent add Collab --kind model --model offline:echo --permissions loom_aware,loom_write
    heddle tree design --json | jq -r '.. | .local_id? // empty' | head -n 1 >../node
    heddle export design >marie.openloom
) >"$scratch/scene" 2>&1
node=$(cat node)
ok "there is a node to speak of" test -n "$node"

# The examples of a command, one a line: what is displayed in front of its options and starts with
# the name of a program. A line that ends with | goes on.
examples_of() {
    # shellcheck disable=SC2086
    heddle help $1 | sed -n '/^options$/q; /^  /p' | sed -e :a -e '/|$/{N;s/\n */ /;ba' -e '}' |
        grep -E '^  (heddle|echo|printf|git) ' | sed "s/a7x2/$node/g"
}

shown=0
heddle help | sed -n 's/^  \([a-z][a-z-]*\( [a-z][a-z-]*\)\{0,1\}\)   *[A-Z].*/\1/p' >commands
while read -r command; do
    examples_of "$command" >examples
    test -s examples || continue
    rm -rf try
    cp -R scene try
    case $command in agent\ add) heddle agent remove Collab --root try ;; esac
    while read -r line; do
        shown=$((shown + 1))
        ok "$command: $line" sh -c "cd try && $line" </dev/null
    done <examples
done <commands
ok "there are examples" test "$shown" -gt 50

# Who takes an argument shows how.
while read -r command; do
    # shellcheck disable=SC2086
    heddle help $command | head -n 1 | grep -q " $command [A-Z-]" || continue
    # shellcheck disable=SC2086
    ok "$command has an example" sh -c "heddle help $command | grep -qE '^  .*heddle '"
done <commands

done_testing

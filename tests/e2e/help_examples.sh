#!/bin/sh
# Every example that help shows does what it says when it is pasted into a workspace that has what
# it speaks of.
# postgres: no, each example gets a copy of a workspace, and a log on a server is not copied with it
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

# ---- two small sessions of other programs ----

chats=$HOME/.claude/projects/-work
mkdir -p "$chats" "$HOME/.pi/agent/sessions/--work--"
cat >"$chats/1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed.jsonl" <<'END'
{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"Which store?"},"uuid":"a1b2c3d4-0000-4000-8000-000000000001","timestamp":"2026-11-16T10:00:00.000Z","cwd":"/work","sessionId":"1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed","version":"2.1.325"}
{"parentUuid":"a1b2c3d4-0000-4000-8000-000000000001","isSidechain":false,"type":"assistant","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"SQLite."}],"stop_reason":"end_turn","usage":{"input_tokens":12,"output_tokens":3}},"uuid":"a1b2c3d4-0000-4000-8000-000000000002","timestamp":"2026-11-16T10:00:01.000Z","cwd":"/work","sessionId":"1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed","version":"2.1.325"}
END
cat >"$HOME/.pi/agent/sessions/--work--/2026-11-16T10-00-00-000Z_0199a8f0-0000-7000-8000-000000000001.jsonl" <<'END'
{"type":"session","version":3,"id":"0199a8f0-0000-7000-8000-000000000001","timestamp":"2026-11-16T10:00:00.000Z","cwd":"/work"}
{"type":"message","id":"00000001","parentId":null,"timestamp":"2026-11-16T10:00:00.000Z","message":{"role":"user","content":"Which store?","timestamp":1794823200000}}
END

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
    heddle op fork design --lane try-2
    heddle objective create 'Ship the parser' --id parser
    heddle spawn --id research --intent 'Compare parsers' --objective parser --no-run
    echo '# Notes' >.leslie/threads/research/notes.md
    echo '# Plan' >.leslie/threads/research/plan.md
    heddle spawn --id form --intent 'The form' --objective parser --no-run
    heddle reference --from form --target research --binding frozen
    heddle op fork design --lane try-2 --at 0
    heddle spawn --id build --intent 'Write the parser' --objective parser --ref research --no-run
    heddle spawn --id review --intent 'Review the parser' --objective parser --ref research:notes.md --binding frozen --no-run
    heddle spawn --id lexer --intent 'Write the lexer' --objective parser --foreground
    heddle run start live --text hello
    heddle memo add 'A memo.'
    heddle session new first
    heddle agent add Collab --kind model --model offline:echo --permissions loom_aware,loom_write
    heddle tree design --json | jq -r '.. | .local_id? // empty' | head -n 2 >../nodes
    heddle export design >marie.openloom
    heddle import claude-code --all
) >"$scratch/scene" 2>&1
node=$(head -n 1 nodes)
other=$(tail -n 1 nodes)
token=none
BROWSER=true
export BROWSER
ok "there is a node to speak of" test -n "$node"

# The examples of a command, one per line: what is displayed in front of its options and starts with
# the name of a program. A line that ends with | goes on.
examples_of() {
    # shellcheck disable=SC2086
    heddle help $1 | sed -n '/^options$/q; /^  /p' | sed -e :a -e '/|$/{N;s/\n */ /;ba' -e '}' |
        grep -E '^  (heddle|echo|printf|git) ' | sed "s/a7x2/$node/g; s/b3k9/$other/g; s/tk_7d2k9x4m/$token/; s/127.0.0.1:8000/127.0.0.1:0/"
}

# until_stopped LINE: it runs in $try, prints something, and ends when it is told to: by itself, or by
# the signal (143).
# shellcheck disable=SC2317 # ok calls it
until_stopped() {
    rm -f followed
    sh -c "cd $try && exec $1" >followed 2>&1 &
    follower=$!
    await test -s followed
    kill "$follower"
    wait "$follower" || test $? -eq 143 || return 1
    test -s followed
}

shown=0 tried=0
heddle help | sed -n 's/^  \([a-z][a-z-]*\( [a-z][a-z-]*\)\{0,1\}\)   *[A-Z].*/\1/p' >commands
while read -r command; do
    tried=$((tried + 1))
    try=try.$tried # of its own: a process in the background may still write to the one before
    cp -R scene $try
    case $command in
    agent\ add) heddle agent remove Collab --root $try ;;
    token\ revoke) token=$(heddle token create build-server --root $try --json | jq -r .id) ;;
    top) heddle open --root $try >/dev/null ;;
    esac
    examples_of "$command" >examples
    test -s examples || continue
    while read -r line; do
        shown=$((shown + 1))
        case $line in
        *--follow* | "heddle serve"*) ok "$command: $line" until_stopped "$line" </dev/null ;;
        *) ok "$command: $line" sh -c "cd $try && $line" </dev/null ;;
        esac
    done <examples
    case $command in open | top) ok "the server for $command ends" heddle serve --stop --root $try ;; esac
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

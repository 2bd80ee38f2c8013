# shellcheck shell=sh
# Turns that are killed: helpers of talk_killed.sh and of tests/torture/turn.sh.

# turn_workspace DIR: a workspace with an agent whose model is at $base, a subject and a document.
turn_workspace() {
    mkdir -p "$1" && cd "$1" || exit 1
    "$HEDDLE" init >/dev/null
    "$HEDDLE" config set --user loom.summary_model none >/dev/null # the calls of the turn are counted
    "$HEDDLE" objective create O --id o >/dev/null
    "$HEDDLE" spawn --id t --intent i --objective o --no-run >/dev/null
    printf '# Notes\n' >.leslie/threads/t/notes.md
    "$HEDDLE" agent add Muse --kind model --model vllm:muse --permissions all >/dev/null
    "$HEDDLE" agent add Sub --kind model --model vllm:sub >/dev/null
    "$HEDDLE" say t 'Once.' >/dev/null
}

turn_talk() { "$@" "$HEDDLE" talk t --agent Muse --request-id r1 --message 'What now?'; }

# turn_finish: go on until the turn is over; nothing is killed any more.
turn_finish() {
    tries=0
    while [ $tries -lt 5 ]; do
        "$HEDDLE" talk t --agent Muse --request-id r1 --message 'What now?' >>resumed 2>&1 && return 0
        tries=$((tries + 1))
    done
    return 1
}

# turn_check REFERENCE: why the turn here is not the one there; nothing when it is.
turn_check() {
    "$HEDDLE" log export t >t.jsonl
    node "$turn_js" compare "$1/t.jsonl" t.jsonl || return 1
    node "$turn_js" calls calls t.jsonl || return 1
    cmp "$1/.leslie/threads/t/notes.md" .leslie/threads/t/notes.md || return 1
    [ -z "$(ls .heddle/turns 2>/dev/null)" ] || { echo "files are left: $(ls -R .heddle/turns)"; return 1; }
    "$HEDDLE" verify >/dev/null || { "$HEDDLE" verify; return 1; }
}

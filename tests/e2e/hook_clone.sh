#!/bin/sh
# postgres: no, clones that use one server have one log, and nothing to read in
# The first events of a coding agent in a fresh clone, in a worktree and in a directory of the project: the block has
# the thread's own work and its references, under paths that are there, and the guard is on.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

if ! command -v git >/dev/null; then
    skip "hooks in clones" "no git"
    done_testing
fi
git config --global user.name t
git config --global user.email t@example.org
git config --global init.defaultBranch main
top=$(realpath "$PWD")
session=0
HEDDLE_HOOK_WAIT=1
export HEDDLE_HOOK_WAIT

# event DIR THREAD JQ: the answer to an event of a session of its own, as it is printed.
event() {
    jq -nc --arg cwd "$top/$1" --arg s "s$session" "{session_id: \$s, cwd: \$cwd} + $3" |
        (cd "$top/$1" && HEDDLE_THREAD=$2 heddle hook claude-code)
}
start() {
    session=$((session + 1))
    out=$(event "$1" "$2" '{hook_event_name: "SessionStart", source: "startup"}' |
        jq -r '.hookSpecificOutput.additionalContext // ""')
}
# writes DIR THREAD PATH: what is said of a tool that would write the path; nothing: it may.
writes() {
    event "$1" "$2" "{hook_event_name: \"PreToolUse\", tool_name: \"Write\", tool_input: {file_path: \"$3\"}}" |
        jq -r '.hookSpecificOutput.permissionDecisionReason // ""'
}
# shell DIR THREAD LINE: the same of a line for a shell.
shell() {
    event "$1" "$2" "{hook_event_name: \"PreToolUse\", tool_name: \"Bash\", tool_input: {command: \"$3\"}}" |
        jq -r '.hookSpecificOutput.permissionDecisionReason // ""'
}
# paths_exist NAME DIR: every path of the block in $out is there, seen from DIR.
paths_exist() {
    missing=$(printf '%s\n' "$out" | sed -n 's/.*path="\([^"]*\)".*/\1/p' | while read -r p; do
        (cd "$top/$2" && test -e "$p") || echo "$p"
    done)
    same "$1" "$missing" ""
}

git init -q origin
cd origin || exit 1
heddle init >/dev/null
heddle objective create O --id o >/dev/null
for t in a other; do
    heddle spawn --objective o --no-run --intent "work of $t" --id "$t" >/dev/null
    echo "# plan of $t" >".leslie/threads/$t/plan.md"
done
heddle spawn --objective o --no-run --intent 'work of c' --id c --ref a >/dev/null
echo mine >.leslie/threads/c/progress.md
mkdir -p src/deep
echo x >src/deep/f
git add -A && git commit -qm all
cd .. || exit 1

# ---- a fresh clone ----
git clone -q origin one
start one c
has "the first event of a clone tells the objective" "$out" 'objective="o"'
has "the own work" "$out" "<asset type=\"progress\" path=\".leslie/threads/c/progress.md\""
has "and the references" "$out" '<asset type="plan" path=".leslie/threads/a/plan.md"'
git clone -q origin two
session=$((session + 1))
has "a tool is judged in a clone before anything else happened" \
    "$(writes two c "$top/two/.leslie/threads/a/plan.md")" "may read and not write"
same "but the own work may be written" "$(writes two c "$top/two/.leslie/threads/c/plan.md")" ""
if is_file; then
    git clone -q origin three
    session=$((session + 1))
    has "the same of a shell" "$(shell three c 'echo x > .leslie/threads/a/plan.md')" "may read and not write"
fi

# ---- a thread that comes with a pull ----
(cd origin && heddle spawn --objective o --no-run --intent later --id later --ref a && git add -A && git commit -qm later) >/dev/null
git -C one checkout -q -- . && git -C one pull -q --no-rebase >/dev/null 2>&1
start one later
has "a thread that a pull brought has its references" "$out" '<ref thread="a">'

# ---- when the import cannot be waited for: another program holds Leslie's lock ----
git clone -q origin slow
mkdir slow/.leslie/thread_relations.json.lock
unset HEDDLE_HOOK_WAIT
start slow c
has "the answer comes from the files" "$out" '<asset type="plan" path=".leslie/threads/a/plan.md"'
has "with the own work" "$out" "threads/c/progress.md"
has "the guard is on" "$(writes slow c "$top/slow/.leslie/threads/a/plan.md")" "may read and not write"
has "it is strict: threads that are not referenced, too" \
    "$(shell slow c 'rm -rf .leslie/threads/other')" "may read and not write"
HEDDLE_HOOK_WAIT=1
export HEDDLE_HOOK_WAIT
rmdir slow/.leslie/thread_relations.json.lock 2>/dev/null
start slow c
has "later the log answers" "$out" '<asset type="plan" path=".leslie/threads/a/plan.md"'

# ---- a worktree, a directory ----
git -C one worktree add -q ../tree
start tree c
has "a session in a worktree has the same references" "$out" '<ref thread="a">'
paths_exist "under paths that are there" tree
has "they are those of the shared workspace" "$out" "path=\"$top/one/.leslie/threads/a/plan.md\""
has "the guard holds in it" "$(writes tree c "$top/one/.leslie/threads/a/plan.md")" "may read and not write"
has "a copy of .leslie in the worktree is not the place to write" \
    "$(writes tree c "$top/tree/.leslie/threads/c/plan.md")" "The directories of threads are in $top/one/.leslie/threads/"
has "nor from a shell" "$(shell tree c 'echo x > .leslie/threads/c/plan.md')" "a copy that no other thread sees"
same "the directory of the thread is" "$(writes tree c "$top/one/.leslie/threads/c/plan.md")" ""
same "and so are source files of the worktree" "$(writes tree c "$top/tree/src/deep/f")" ""
start one/src/deep c
paths_exist "a session in a directory of the project finds its paths, too" one/src/deep
has "and what heddle context prints there" "$(cd one/src/deep && heddle context c)" "$top/one/.leslie/threads/a/plan.md"
has "heddle read takes such a path" "$(cd one/src/deep && heddle read c "$top/one/.leslie/threads/a/plan.md")" "plan of a"
done_testing

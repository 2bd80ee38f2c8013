#!/bin/sh
# What a tool may not do to the files that its thread may only read, when it does not name them: an operation
# on a directory above them that removes, moves or replaces what is below. And what it may: everything else.
# postgres: no, the same calls as hook.sh
# shellcheck disable=SC2016 # the lines are for another shell
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

T=.leslie/threads
HEDDLE_HOOK_WAIT=1
HEDDLE_THREAD=build
export HEDDLE_HOOK_WAIT HEDDLE_THREAD
top=$PWD
base=$(basename "$PWD")

heddle init >/dev/null
heddle objective create Release --id release >/dev/null
for id in research frozen build other; do
    heddle spawn --id $id --intent $id --objective release --no-run >/dev/null 2>&1
done
echo '# What we know' >$T/research/design.md
echo '# What we knew' >$T/frozen/plan.md
heddle reference --from build --target research --binding live >/dev/null 2>&1
heddle reference --from build --target frozen --binding frozen >/dev/null 2>&1
heddle reference --from other --target frozen --binding frozen >/dev/null 2>&1
mkdir -p src build vendor/x "$T/build/design" copy/src copy/.leslie/threads/research plain/.hidden
echo x >copy/.leslie/threads/research/design.md
ln -s "$PWD" src/top

# decision DIRECTORY TOOL INPUT: "deny", or nothing
decision() {
    jq -nc --arg cwd "$1" --arg tool "$2" --argjson input "$3" \
        '{hook_event_name: "PreToolUse", session_id: "0b9d6bcd-7c1e-4a59-9f2a-000000000001", cwd: $cwd, tool_name: $tool, tool_input: $input}' >"$scratch/event"
    run heddle hook claude-code <"$scratch/event"
    [ "$status|$err" = '0|' ] || printf 'exit %s: %s' "$status" "$err"
    printf '%s' "$out" | jq -r '.hookSpecificOutput.permissionDecision // empty'
}
line() { jq -nc --arg c "$1" '{command: $c}'; }
# denied LINE [DIRECTORY]; allowed LINE [DIRECTORY]
denied() { same "denied: $1${2:+  (in $2)}" "$(decision "$top${2:+/$2}" Bash "$(line "$1")")" deny; }
allowed() { same "allowed: $1${2:+  (in $2)}" "$(decision "$top${2:+/$2}" Bash "$(line "$1")")" ''; }

# ---- a line that names it ---------------------------------------------------------------------------

D=$T/research/design.md
for l in "curl -sSLo $D http://x" "wget -qO $D http://x" "2>/dev/null rm $D" "gzip $D" "npx prettier --write $D" "gawk -i inplace 1 $D" "yq -i .a=1 $D" "pandoc x -so $D" "git clone x $T/research/w" \
    "ls $T/research/*.md | xargs rm" "find $T/research -name '*.md' | xargs rm -f" "grep -rl a $T/research | xargs -n 1 sed -i s/a/b/" "echo $D | xargs -I{} cp x {}" "find . -name design.md | grep x | xargs rm" \
    "trap 'rm $D' EXIT" "coproc rm $D" "function f { rm $D; }" "su -c 'rm $D'" "X=research; rm $T/\${X:-y}/design.md"; do
    denied "$l"
done
for l in "cat $D" "prettier --check $D" "yq .a $D" "gawk 1 $D" "pandoc $D -o out" "scp $D host:" "zip -r a.zip $T/research" "cat $D | xargs rm" "find .leslie -name '*.md' | xargs cat" \
    "find .leslie -name '*.md' | xargs -I{} cp {} /tmp/x" "grep -rl foo . | xargs sed -i s/a/b/" "ls || xargs rm $T/build/x"; do
    allowed "$l"
done

# ---- the workspace and what is above it -------------------------------------------------------------

for l in 'rm -rf .' 'rm -rf ./' 'rm -rf ..' 'rm -rf ../.' 'rm -fr "$PWD"' 'rm -rf ${PWD:?}' 'rm -rf "$(pwd)"' 'rm -rf `pwd`' 'rm --recursive .' 'rm -R .' \
    "cd .. && rm -rf $base" "rm -rf $top" 'rm -rf ../*' 'rm -rf / --no-preserve-root' 'rm -rf .[a-z]*' 'rm -r .leslie' 'rm -rf .heddle' 'cd src && rm -rf ..' 'cd src; rm -rf $OLDPWD' \
    'mv . ../x' "mv ../$base ../x" 'mv .leslie /tmp/x' 'mv -t /tmp .' 'chmod -R a-w .' 'chown -R root ..' 'cd src && cd - && rm -rf .' 'sudo rm -rf .' 'busybox rm -rf .' \
    'find . -delete' 'find -delete' 'find . -type f -delete' 'find .. -name "*.md" -delete' 'find . -name "*.db" -delete' 'find . ! -name keep -delete' 'find . -exec rm -rf {} +' \
    'find . -type d -name .leslie -exec rm -r {} \;' 'find . -path "./.leslie/*" -delete' 'find -L . -iname "DESIGN.MD" -exec truncate -s 0 {} \;' \
    'git clean -fdx' 'git clean -ffd .' 'git clean --force' 'git stash -u' 'rsync -a --delete src/ .' 'rsync -a --delete-after src/ ../'"$base" \
    'cp -r copy/. .' 'cp -r copy/.leslie .' 'cp -rT copy .' 'rsync -a copy/ .' 'rsync -a copy/.leslie .' 'mv copy/.leslie .' 'cp -r copy/.l* .' 'cp -r -t . copy/{src,.leslie}' \
    'ln -sfn /tmp/x/.leslie .' 'rm -rf src/top/' 'rm -rf src/top/*/../.leslie' 'cd src/top && rm -rf .'; do
    denied "$l"
done
denied 'rm -rf ../..' src/top
denied 'git clean -fdx ..' src
HOME=$top denied 'rm -rf ~'
HOME=$top denied 'rm -rf ~/.leslie'
HOME=$top denied 'cd && rm -rf .' src
HOME=$(dirname "$top") denied 'rm -rf $HOME'

# ---- a thread's own directory holds copies, and so does another's -----------------------------------

for l in "rm -rf $T/build" "rm -rf $T/bu*" "mv $T/build /tmp/x" "rm -rf $T/other" "cd $T && rm -rf build" "find $T/build -delete" "cd $T/build && git clean -fdx"; do
    denied "$l"
done
allowed "rm -rf $T/build/design"
allowed "rm -rf $T/build/*.md"
rm -rf "$T/other/context/inherited/"*
allowed "rm -rf $T/other"

# ---- what git tracks --------------------------------------------------------------------------------

git init -q . && git config user.email a@b && git config user.name a
for l in 'git checkout .' 'git checkout -- .' 'git restore .' 'git reset --hard' 'git stash' 'git checkout -f main'; do
    allowed "$l"
done
git add -f src $T/research/design.md 2>/dev/null && git commit -qm x
for l in 'git checkout .' 'git checkout -- .' 'git restore .' 'git restore --source=HEAD -SW .' 'git reset --hard' 'git stash' 'git stash push' 'git rm -r .' 'git mv . ../x' "git -C $T restore ." 'git checkout -f main' \
    'cd src && git restore ..' 'cd src && git reset --hard HEAD~1'; do
    denied "$l"
done
for l in 'git checkout main' 'git checkout -b topic' 'git checkout -- src' 'git restore src' 'git restore --staged .' 'git rm -r --cached .' 'git reset' 'git stash list' 'git stash pop' 'git stash push -- src' \
    'git status' 'git add .' 'git add -A && git commit -am x' 'git diff .' 'git clean -n' 'git clean -fd -e .leslie -e .heddle' 'git clean -fdx build' 'git log -- .leslie' 'git pull'; do
    allowed "$l"
done
(cd vendor/x && git init -q .)
allowed 'git reset --hard' vendor/x
allowed 'git clean -fdx' vendor/x
allowed 'git clean -fdx' src

# ---- plain work -------------------------------------------------------------------------------------

for l in 'rm -rf build' 'rm -rf ./build/' 'rm -rf build/* *.o' 'rm -rf *' 'rm -rf src/top' 'rm -r node_modules .cache' 'ls ..' 'grep -r x .' 'ls -R . > out' 'chmod +x run.sh' 'chmod 755 .' 'touch .' 'mkdir -p .' \
    'cp -r src build' 'cp -r src/. build' 'cp -r copy/src .' 'cp -r plain/. .' 'cp -r plain/.h* .' 'cp README.md .' 'mv build/out .' 'mv src lib' 'cp -r . /tmp/copy' 'rsync -a . /tmp/copy' 'rsync -a --delete src/ build/' \
    'rsync -a --delete --exclude .leslie --exclude .heddle src/ .' 'tar czf /tmp/x.tgz .' 'tar xzf x.tgz' 'find . -name "*.pyc" -delete' 'find . -name __pycache__ -type d -exec rm -rf {} +' 'find build -delete' \
    'find . -type f -name "*.c" -exec sed -i s/a/b/ {} +' 'find . \( -name "*.o" -o -name "*.a" \) -delete' 'find . -path "./build/*" -delete' 'find . -not -path "*/.*" -type f -delete' \
    'find . -path ./.leslie -prune -o -path ./.heddle -prune -o -type f -delete' 'find . -maxdepth 1 -type f -delete' 'find . -type d -empty -delete' 'find . -name "*.md" -print' 'find . -name "*.md" -exec cat {} +' \
    'du -sh .' 'make -C . clean' 'sed -i s/a/b/ src/x.c' 'echo x > out' 'echo x | tee out' 'dd if=/dev/zero of=out count=1' 'truncate -s 0 out' 'install -m 755 build/x .' 'ln -s ../x .' 'echo "rm -rf ."' \
    'cat <<E
rm -rf .
E' 'rm -rf "$TMPDIR/x"' 'rm -rf /tmp/x' 'cd /tmp && rm -rf build' 'cd .. && ls' 'heddle context build'; do
    allowed "$l"
done
HOME=/nonexistent allowed 'rm -rf ~/.cache/x'

# ---- other tools ------------------------------------------------------------------------------------

same "denied: an MCP tool that removes a directory" "$(decision "$top" mcp__fs__delete_directory '{"path":"."}')" deny
same "denied: one that moves it" "$(decision "$top" mcp__fs__move_file "{\"source\":\"$top\",\"destination\":\"/tmp/x\"}")" deny
same "allowed: one that removes another" "$(decision "$top" mcp__fs__delete_directory '{"path":"build"}')" ''
same "allowed: one that makes a directory" "$(decision "$top" mcp__fs__create_directory '{"path":"."}')" ''

same "denied: one that is given a list of files" "$(decision "$top" mcp__fs__edit_files "{\"paths\":[\"x\",\"$D\"]}")" deny
same "denied: one that is given an address" "$(decision "$top" mcp__fs__save "{\"uri\":\"file://$top/$D\"}")" deny
same "denied: a tool of an extension" "$(decision "$top" str_replace_based_edit_tool "{\"command\":\"create\",\"path\":\"$D\"}")" deny
same "allowed: one that reads" "$(decision "$top" view_file "{\"path\":\"$D\"}")" ''

# Shells of Codex, Gemini CLI and opencode take a directory.
for key in workdir dir_path directory; do
    same "denied: a line in a protected directory ($key)" "$(decision "$top" exec_command "{\"cmd\":\"rm design.md\",\"$key\":\"$T/research\"}")" deny
    same "allowed: in another ($key)" "$(decision "$top" exec_command "{\"cmd\":\"rm design.md\",\"$key\":\"$top/src\"}")" ''
done

# ---- patches ----------------------------------------------------------------------------------------

patch="*** Begin Patch
*** Update File: $D
@@
-a
+b
*** End Patch"
diff="--- a/$D
+++ b/$D
@@ -1 +1 @@
-a
+b"
same "denied: apply_patch" "$(decision "$top" apply_patch "$(jq -nc --arg p "$patch" '{input: $p}')")" deny
same "denied: with a diff" "$(decision "$top" apply_patch "$(jq -nc --arg p "$diff" '{patch: $p}')")" deny
same "denied: as a list of words" "$(decision "$top" shell "$(jq -nc --arg p "$patch" '{command: ["apply_patch", $p]}')")" deny
denied "apply_patch <<'E'
$patch
E"
denied "git apply <<'E'
$diff
E"
denied "patch -p1 <<'E'
$diff
E"
allowed "cat >x.diff <<'E'
$diff
E"
allowed "git diff --stat | grep '+++ b/$D'"

# ---- the reason -------------------------------------------------------------------------------------

decision "$top" Bash '{"command":"rm -rf ."}' >"$scratch/said"
has "the reason names what is protected" "$out" "belongs to thread 'research'"
has "and what to do" "$out" "This acts on all that is in $top/.: name the files and directories that are yours instead."
same "nothing went wrong" "$(cat .heddle/hook.log 2>/dev/null)" ''
done_testing

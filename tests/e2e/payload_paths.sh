#!/bin/sh
# What `heddle payload` is told on the command line: paths, patterns, lists on stdin; and what
# `--parse --output` writes and refuses to write.
# postgres: no, it has no log
# shellcheck disable=SC2016
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

mkdir -p ws/.teddy ws/src/lib ws/docs && cd ws || exit 1
printf 'int main(void);\n' >src/main.c
printf 'int main;\n' >src/main.h
printf 'lib\n' >src/lib/a.c
printf 'print(1)\n' >src/tool.py
printf '# read me\n' >README.md
printf 'comma\n' >'a,b.txt'
printf 'a\n' >a
printf 'guide\n' >docs/guide.md

# shown: the paths that the last payload lists.
shown() { printf '%s\n' "$out" | sed -n '/^## 4/,/^## 5/s/^- \[\(.*\)\](.*/\1/p' | tr -d '\\\\' | tr '\n' ' '; }

# ---- nothing listed, and paths ----
run heddle payload
exits "a payload of nothing" 0
has "says what to do" "$err" "nothing is listed, so this has no contents: name paths (heddle payload README.md src/)"
run heddle payload README.md src/
exits "paths are accepted" 0
same "a file, and a directory" "$(shown)" "README.md src/lib/a.c src/main.c src/main.h src/tool.py "
lacks "nothing more to say" "$err" "nothing is listed"
run heddle payload README.md docs --output "$scratch/out.md"
has "bytes, resources and tokens are said" "$out" " bytes, 2 resources, "
has "in tokens" "$out" " tokens"
run heddle payload 'src/*.{c,h}'
same "a glob with braces" "$(shown)" "src/main.c src/main.h "
run heddle payload nothing.md
exits "what is not there is refused" 1
has "by name" "$err" "'nothing.md' is not there"
run heddle payload ../elsewhere
exits "what is outside is refused" 1
has "and said to be" "$err" "'../elsewhere' is not below the workspace"
cd src || exit 1
run heddle payload main.c ../README.md lib
same "paths are those of the current directory" "$(shown)" "src/main.c README.md src/lib/a.c "
run heddle payload "$PWD/main.h"
same "an absolute path" "$(shown)" "src/main.h "

# ---- patterns ----
run heddle payload --include ./main.c,../README.md
same "patterns from the current directory" "$(shown)" "src/main.c README.md "
run heddle payload --include ../../x
has "not out of the project" "$err" "--include ../../x leads out of the project"
run heddle payload --include lib/a.c
has "a pattern is looked for from the root, and that is said" "$err" "with ./ in front from the current directory"
cd .. || exit 1
run heddle payload --include ./src/main.c
same "./ at the root" "$(shown)" "src/main.c "
run heddle payload --include 'src/*.{c,h}'
same "braces" "$(shown)" "src/main.c src/main.h "
run heddle payload --include 'src/{main.{c,h},tool.py},docs/'
same "nested braces and a list" "$(shown)" "docs/guide.md src/main.c src/main.h src/tool.py "
run heddle payload --include src/ --exclude 'src/*.{c,h}'
same "an exclude with braces" "$(shown)" "src/lib/a.c src/tool.py "
run heddle payload --include src/ --exclude '*.nothing'
has "an exclude that matches nothing is said" "$err" "--exclude *.nothing matches no resource"
run heddle payload --include 'a,b.txt'
same "a file with a comma in its name" "$(shown)" "a,b.txt "
run heddle payload --include 'a\,b.txt' --include README.md
same "an escaped comma, and the option twice" "$(shown)" "a,b.txt README.md "
run heddle payload --include 'a,README.md'
same "a comma between" "$(shown)" "a README.md "
run heddle payload --include '{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}'
exits "too many braces" 0
has "are said" "$err" "stands for more than 1024 patterns"

# ---- names on stdin ----
run sh -c 'printf "src/main.c\nREADME.md\n" | "$HEDDLE" payload --stdin'
same "names on stdin" "$(shown)" "src/main.c README.md "
run sh -c 'printf "a,b.txt\0docs\0" | "$HEDDLE" payload --stdin'
same "with NUL between" "$(shown)" "a,b.txt docs/guide.md "
printf 'star\n' >'*'
run sh -c 'cd src && printf "main.h\n../*\n" | "$HEDDLE" payload --stdin'
same "from the current directory, and never a glob" "$(shown)" "src/main.h * "
rm '*'
run sh -c 'printf "src/main.c\r\nREADME.md\r\n" | "$HEDDLE" payload --stdin'
same "lines that end with CR LF" "$(shown)" "src/main.c README.md "
mkdir named && echo one >"named/$(printf 'Gr\303\266\303\237e')" && echo two >"named/$(printf 'a\fb\342\200\235')" && echo three >'named/"q"'
run sh -c 'cd named && printf "\"%s\"\n" "Gr\\303\\266\\303\\237e" "a\\fb\\342\\200\\235" | "$HEDDLE" payload --stdin'
has "a name as git quotes it" "$out" "
one
"
has "with any escape of git's" "$out" "
two
"
same "without a warning" "$err" ""
run sh -c 'cd named && printf "\"q\"\n" | "$HEDDLE" payload --stdin'
has "a file that has quotes in its name is itself" "$out" "
three
"
rm -r named
run sh -c 'echo README.md | "$HEDDLE" payload --stdin src'
exits "not both" 2

# ---- backslashes, links ----
mkdir deep && printf 'deep\n' >deep/file && printf 'one name\n' >'deep\file'
printf '%s\n' 'deep\file' >.teddy/global.context
run heddle payload
has "a backslash is part of a name" "$out" "one name"
lacks "and not a slash" "$out" "
deep
"
rm 'deep\file'
run heddle payload
has "unless no file has that name" "$out" "
deep
"
printf 'one name\n' >'deep\file'
heddle payload --output "$scratch/slash.md" >/dev/null 2>&1
run heddle payload --parse "$scratch/slash.md" --output "$scratch/slash"
ok "it comes back as it was" test -f "$scratch/slash/deep\\file"
rm -r deep 'deep\file'
ln -s src link && ln -s /etc out
printf 'link\nout\n' >.teddy/global.context
run heddle payload
same "a listed link to a directory stands for it" "$(shown)" "src/lib/a.c src/main.c src/main.h src/tool.py out "
has "one that leads out is refused" "$out" "--- OUTSIDE THE PROJECT: not read ---"
rm link out .teddy/global.context

# ---- the tree ----
run heddle payload --no-tree README.md
lacks "--no-tree" "$out" "## 2."
has "keeps the rest" "$out" "## 4. Context Summary"
heddle payload --no-tree README.md >"$scratch/flat.md"
run heddle payload --no-tree README.md --check "$scratch/flat.md"
exits "and can be checked" 0

# ---- a budget, and what is compared with it ----
seq 1000 >big.txt
heddle payload big.txt README.md --budget 600 --output "$scratch/cut.md" >/dev/null 2>"$scratch/said"
has "cuts are said on stderr" "$(cat "$scratch/said")" "1 resource was left out to fit the budget of 600 tokens"
has "by name" "$(cat "$scratch/said")" "big.txt"
run heddle payload big.txt README.md --budget 600 --check "$scratch/cut.md"
exits "nothing changed: --check with a budget" 0
run heddle payload big.txt README.md --budget 600 --since "$scratch/cut.md"
same "nothing changed: --since with a budget" "$out" ""
heddle payload big.txt README.md --budget 600 --json >"$scratch/cut.json" 2>/dev/null
run heddle payload big.txt README.md --budget 600 --check "$scratch/cut.json"
exits "nothing changed since the manifest" 0
echo more >>big.txt
run heddle payload big.txt README.md --budget 600 --since "$scratch/cut.md"
same "a cut file that changed" "$out" "changed  big.txt"
rm big.txt
mkdir fit && seq 100 >fit/one.txt && seq 200 300 >fit/two.txt && seq 400 500 >fit/three.txt
printf 'fit/two.txt\nfit/three.txt\n' >.teddy/global.context
for form in md json; do
    case $form in
    md) heddle payload fit/one.txt --no-tree --budget 1000 --output "$scratch/fit.md" >/dev/null 2>&1 ;;
    json) heddle payload fit/one.txt --no-tree --budget 1000 --json >"$scratch/fit.json" 2>/dev/null ;;
    esac
    seq 600 900 >>fit/one.txt
    run heddle payload fit/one.txt --no-tree --budget 1000 --json
    json "one file grows, and others are cut for it" "$out" '[.resources[] | select(.cut) | .path]' '["fit/two.txt","fit/three.txt"]'
    run heddle payload fit/one.txt --no-tree --budget 1000 --since "$scratch/fit.$form"
    same "only the one that grew has changed ($form)" "$out" "changed  fit/one.txt"
    sed 1d fit/two.txt >fit/new && mv fit/new fit/two.txt
    run heddle payload fit/one.txt --no-tree --budget 1000 --since "$scratch/fit.$form"
    same "one that is cut now and has changed is told ($form)" "$out" "changed  fit/one.txt
changed  fit/two.txt"
    seq 100 >fit/one.txt && seq 200 300 >fit/two.txt
    heddle payload fit/one.txt --no-tree --budget 500 --output "$scratch/tight.md" >/dev/null 2>&1
    run heddle payload fit/one.txt --no-tree --budget 90000 --since "$scratch/tight.md"
    same "nothing has changed where nothing is cut any more ($form)" "$out" ""
done
rm -r fit .teddy/global.context

# ---- writing files back ----
cat >"$scratch/evil.md" <<'END'
# Agent Invocation Payload

## 5. Resource Contents

---
**Resource:** `[.git/config](/.git/config)`
````text
[core] fsmonitor = "touch pwned"
````
---
**Resource:** `[sub/.GIT/hooks/pre-commit](/sub/.GIT/hooks/pre-commit)`
````text
run
````
---
**Resource:** `[.heddle/config.json](/.heddle/config.json)`
````json
{}
````
---
**Resource:** `[.vscode/tasks.json](/.vscode/tasks.json)`
````json
{}
````
---
**Resource:** `[.envrc](/.envrc)`
````text
run
````
---
**Resource:** `[.editorconfig](/.editorconfig)`
````text
root = true
````
---
**Resource:** `[good.txt](/good.txt)`
````text
good
````
---
END
run heddle payload --parse "$scratch/evil.md" --output "$scratch/into"
exits "a payload that would run something" 0
same "only harmless files are written" "$(cd "$scratch/into" && find . -type f | sort | tr '\n' ' ')" "./.editorconfig ./good.txt "
for name in .git/config sub/.GIT/hooks/pre-commit .heddle/config.json .vscode/tasks.json .envrc; do
    has "$name is named" "$err" "$name: not written: programs may run what is there"
done
printf 'mine\n' >"$scratch/into/good.txt"
rm "$scratch/into/.editorconfig"
run heddle payload --parse "$scratch/evil.md" --output "$scratch/into"
exits "nothing is written over" 1
has "it is said what is in the way" "$err" "'good.txt' is there and holds something else"
same "and nothing else is written either" "$(ls -A "$scratch/into")" "good.txt"
run heddle payload --parse "$scratch/evil.md" --output "$scratch/into" --force
exits "--force" 0
same "writes" "$(cat "$scratch/into/good.txt")" "good"
run heddle payload --parse "$scratch/evil.md" --output "$scratch/into"
exits "the same content is not in the way" 0
run heddle payload --force
exits "--force goes with --parse" 2

# ---- lock files, marks in names, JSON that is read back ----
mkdir app && printf '{}\n' >app/package-lock.json && printf 'x\n' >app/__init__.py
run heddle payload app
same "a lock file is not taken from a directory" "$(shown)" "app/__init__.py "
has "and that is said" "$err" "lock files are not taken from folders (--lock-files does): app/package-lock.json"
run heddle payload app --lock-files
same "unless asked for" "$(shown)" "app/__init__.py app/package-lock.json "
run heddle payload app app/package-lock.json
same "or named" "$(shown)" "app/__init__.py app/package-lock.json "
lacks "then there is nothing to say" "$err" "lock files"
run heddle payload --include package-lock.json
same "also by a pattern" "$(shown)" "app/package-lock.json "
(cd app && touch _x.py snake_case.py __pycache && "$HEDDLE" payload __init__.py _x.py snake_case.py __main__.py 2>/dev/null) >/dev/null
mv app/__init__.py __init__.py
run heddle payload __init__.py app/snake_case.py
has "Markdown would make this name bold" "$out" '- [\_\_init\_\_.py](/__init__.py)'
has "and leaves underscores inside of words" "$out" '- [app/snake_case.py](/app/snake_case.py)'
heddle payload __init__.py README.md --output "$scratch/bold.md" >/dev/null
run heddle payload __init__.py README.md --check "$scratch/bold.md"
exits "it is read back" 0
seq 1000 >big.txt
for budget in 700 100000; do
    heddle payload __init__.py README.md big.txt --budget $budget --format json --output "$scratch/p.json" >/dev/null 2>&1
    run heddle payload __init__.py README.md big.txt --budget $budget --format json --since "$scratch/p.json"
    same "JSON is compared (budget $budget)" "$out$status" "0"
done
run heddle payload --parse "$scratch/p.json" --output "$scratch/from-json"
ok "and written back" cmp README.md "$scratch/from-json/README.md"

# ---- --diff runs git, and nothing that the settings of a repository name ----
mkdir "$scratch/repo" && cd "$scratch/repo" || exit 1
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
ran=$scratch/ran
printf '#!/bin/sh\necho "$1" >>%s\ncat\n' "$ran" >"$scratch/evil"
chmod +x "$scratch/evil"
git init -q sub && echo one >sub/file && git -C sub add -A && git -C sub commit -qm sub
git init -q . && echo one >f.c && echo one >g.c
git add -A 2>/dev/null && git commit -qm base
echo two >>f.c && echo two >>g.c && echo two >>sub/file
printf 'f.c filter=one diff=one\ng.c filter=two.x\n' >.gitattributes
git config filter.one.clean "$scratch/evil clean"
git config filter.two.x.process "$scratch/evil process"
git config filter.two.x.required true
git config core.fsmonitor "$scratch/evil fsmonitor"
git config diff.external "$scratch/evil external"
git config diff.one.textconv "$scratch/evil textconv"
git -C sub config core.fsmonitor "$scratch/evil submodule"
run heddle payload --no-tree --diff
exits "--diff in a repository with settings of a stranger" 0
has "shows what changed" "$out" "+two"
not_ok "and runs none of its programs" test -e "$ran"
mkdir -p deep/down && echo new >deep/down/x.c
git -c core.fsmonitor=false add -N deep
same "below the top it shows what is below" "$(heddle payload --root deep/down --no-tree --diff | grep -c '^+new')" 1
blob=$(git rev-parse HEAD:f.c)
rm -f ".git/objects/$(printf %s "$blob" | cut -c1-2)/$(printf %s "$blob" | cut -c3-)"
git config extensions.partialClone origin
git config remote.origin.promisor true
git config remote.origin.url "ext::$scratch/evil fetch"
git config protocol.ext.allow always
run heddle payload --no-tree --diff
not_ok "a missing object is not fetched" test -e "$ran"
mkdir "$scratch/outside" && echo private >"$scratch/outside/f.c"
git config core.worktree "$scratch/outside"
run heddle payload --no-tree --diff
lacks "a work tree elsewhere is not read" "$out" private
has "and that is said" "$err" "no git work tree"
git config --unset core.worktree
git config 'filter.a=b.clean' "$scratch/evil clean"
run heddle payload --no-tree --diff
has "a filter that cannot be turned off is refused" "$err" "a filter with a = in it"
not_ok "nothing ran" test -e "$ran"

done_testing

#!/bin/sh
# The acceptance cases of input.md, each against the exact bytes of the whole payload.
# postgres: no, it has no log
# shellcheck disable=SC2016,SC2094,SC2317
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

teddy() { "$(dirname "$HEDDLE")/teddy" "$@"; }
export SHELL=/bin/test-shell
top=$PWD

# fresh: an empty workspace to work in.
cases=0
fresh() {
    cases=$((cases + 1))
    mkdir -p "$top/$cases/.teddy"
    cd "$top/$cases" || exit 1
}

# list LINES...: the global list.
list() { printf '%s\n' "$@" >.teddy/global.context; }

# fenced TAG: stdin in a fence of four.
fenced() {
    printf '````%s\n' "$1"
    cat
    printf '````\n'
}

# resource PATH TAG: stdin as the block of a resource.
resource() {
    printf -- '---\n**Resource:** `[%s](/%s)`\n' "$1" "$1"
    fenced "$2"
}

# placeholder PATH TEXT
placeholder() { printf -- '--- %s ---\n' "$2" | resource "$1" ''; }

# begin TREE: everything up to the summary.
begin() {
    printf '# Agent Invocation Payload\n\n## 1. System Information\n- **CWD:** %s\n- **OS:** %s %s\n- **Shell:** /bin/test-shell\n\n' \
        "${root:-$PWD}" "$(uname -s)" "$(uname -r)"
    printf '## 2. Project Structure\n'
    printf '%s' "$1" | fenced ''
    echo
}

# summary SCOPE PATHS...: one scope of section 4.
summary() {
    printf '### %s\n' "$1"
    shift
    for entry in "$@"; do printf -- '- [%s](/%s)\n' "$entry" "$entry"; done
    echo
}
four() { printf '## 4. Context Summary\n\n'; }
five() { printf '## 5. Resource Contents\n\n'; }
last() { printf -- '---\n'; }

# is NAME: what `heddle payload` printed, in $scratch/got, is what is in $scratch/want.
is() {
    if cmp -s "$scratch/want" "$scratch/got"; then
        pass "$1"
    else
        flunk "$1" "$(diff "$scratch/want" "$scratch/got" | head -n 40)"
    fi
}
packed() {
    status=0
    "$HEDDLE" payload "$@" >"$scratch/got" 2>"$scratch/err" || status=$?
    err=$(cat "$scratch/err")
}

# ---- a folder without anything ----
mkdir "$top/bare" && cd "$top/bare" || exit 1
teddy context --no-copy >"$scratch/got" 2>"$scratch/err"
{ begin '' && four && printf '## 5. Resource Contents\n'; } >"$scratch/want"
is "no .teddy: an empty payload"
same "the default list" "$(cat .teddy/global.context)" '# One file, directory, glob or URL per line.'
printf '*\n' >"$scratch/star"
ok "and .teddy/.gitignore is a star" cmp .teddy/.gitignore "$scratch/star"

# ---- a missing file; sections and their order ----
fresh
printf '# read me\n' >README.md
list README.md non_existent_file.md
packed
exits "a missing file is no failure" 0
{
    begin 'README.md
'
    four
    summary Global README.md non_existent_file.md
    five
    echo '# read me' | resource README.md markdown
    placeholder non_existent_file.md 'FILE NOT FOUND'
    last
} >"$scratch/want"
is "it stays in the summary and is marked; sections in order, three keys"

# ---- inside turn 01 ----
fresh
printf 'a = 1\n' >file_a.py
printf 'b = 2\n' >file_b.py
mkdir -p .teddy/sessions/s/01
echo file_a.py >.teddy/sessions/s/session.context
echo file_b.py >.teddy/sessions/s/01/turn.context
root=$PWD
cd .teddy/sessions/s/01 || exit 1
packed --output -
{
    begin 'file_a.py
file_b.py
'
    four
    summary Turn file_b.py
    summary Session file_a.py
    five
    echo 'b = 2' | resource file_b.py python
    echo 'a = 1' | resource file_a.py python
    last
} >"$scratch/want"
is "turn, then session, from inside the turn"
"$HEDDLE" payload >/dev/null
ok "and input.md holds the same" cmp input.md "$scratch/got"
cd "$root" && mkdir -p .teddy/flat/01 && cp .teddy/sessions/s/session.context .teddy/flat/ && cp .teddy/sessions/s/01/turn.context .teddy/flat/01/
packed --turn .teddy/flat/01 --output -
ok "the older place of sessions gives the same" cmp .teddy/sessions/s/01/input.md "$scratch/got"
root=

# ---- one path in two scopes ----
fresh
echo x >both.txt
echo y >mine.txt
mkdir -p .teddy/sessions/s/01
printf 'mine.txt\nboth.txt\n' >.teddy/sessions/s/session.context
printf 'both.txt\n' >.teddy/sessions/s/01/turn.context
list both.txt
packed --turn .teddy/sessions/s/01 --output -
{
    begin 'both.txt
mine.txt
'
    four
    summary Turn both.txt
    summary Session mine.txt both.txt
    summary Global both.txt
    five
    echo x | resource both.txt text
    echo y | resource mine.txt text
    last
} >"$scratch/want"
is "in each list, its content once, at the turn's place"

# ---- comments, padding, duplicates; what is no list ----
fresh
mkdir path
for f in a b c; do echo $f >path/$f; done
printf 'path/a\n# c\n  path/b  \n' >.teddy/global.context
mkdir -p .teddy/sessions/s/01
printf 'path/b\n\t\npath/c\n' >.teddy/sessions/s/session.context
echo 'path/never' >.teddy/other.txt
packed --turn .teddy/sessions/s/01 --output -
{
    begin 'path/
  a
  b
  c
'
    four
    summary Session path/b path/c
    summary Global path/a path/b
    five
    for f in b c a; do echo $f | resource path/$f text; done
    last
} >"$scratch/want"
is "two lists with comments, padding and duplicates; other.txt is none"
printf '# only\n\n   # comments\n' >.teddy/global.context
packed
{
    begin 'path/
  a
  b
  c
'
    four
    printf '## 5. Resource Contents\n'
} >"$scratch/want"
is "a list of comments has no entries"

# ---- folders under the ignore rules ----
fresh
mkdir -p src/core/node_modules/m src/core/sub
echo 1 >src/core/one.py
echo 2 >src/core/sub/two.py
echo l >src/core/x.log
echo m >src/core/node_modules/m/i.js
echo s >src/core/hidden.md
echo r >README.md
printf '*.log\nnode_modules/\n' >.gitignore
printf 'hidden.md\n' >.teddyignore
list src/core/ README.md .teddy/global.context
packed
{
    begin 'src/
  core/
    sub/
      two.py
    one.py
README.md
'
    four
    summary Global src/core/sub/two.py src/core/one.py README.md
    five
    echo 2 | resource src/core/sub/two.py python
    echo 1 | resource src/core/one.py python
    echo r | resource README.md markdown
    last
} >"$scratch/want"
is "a folder is its files, without what is ignored, and no list is shown"
list src/core/x.log src/core/node_modules
packed
{
    begin 'src/
  core/
    sub/
      two.py
    one.py
README.md
'
    four
    summary Global src/core/x.log
    five
    echo l | resource src/core/x.log log
    last
} >"$scratch/want"
is "an ignored file that is named is shown, an ignored folder is not"
has "which is said" "$err" "folder 'src/core/node_modules' is ignored"

# ---- tags ----
fresh
want=$scratch/tags
: >"$want"
for pair in Makefile:text a.h:c a.cfg:ini a.csv:csv a.ps1:powershell UP.PY:python .env:text dir.d:text \
    a.tar.gz:gz a.yml:yaml a.ts:typescript a.rs:rust a.tf:terraform a.zsh:shell 'a.x y:text' 'a.:text'; do
    : >"${pair%:*}"
    printf '%s\n' "${pair%:*}" >>.teddy/global.context
    : | resource "${pair%:*}" "${pair##*:}" >>"$want"
done
mv dir.d plain && mkdir dir.d && mv plain dir.d/file
sed -i 's|^dir.d$|dir.d/file|' .teddy/global.context
sed -i 's|dir.d\](/dir.d)|dir.d/file](/dir.d/file)|' "$want"
last >>"$want"
packed --allow-secrets
sed -n '/^## 5/,$p' "$scratch/got" | sed 1,2d >"$scratch/part"
ok "tags" cmp "$scratch/part" "$want"

# ---- Markdown is never a list ----
fresh
awk 'BEGIN { for (i = 0; i < 3; i++) { for (k = 0; k < 20000; k++) printf "missing.txt "; print "" } }' >long.md
list long.md
packed
{
    begin 'long.md
'
    four
    summary Global long.md
    five
    resource long.md markdown <long.md
    last
} >"$scratch/want"
is "a Markdown file of very long lines"

# ---- the tree ----
fresh
mkdir -p build src dist a/b/c A b
touch build/x src/debug.log src/main.c top.log secret.md dist/index.html dist/bundle.js a/b/c/file.txt A/x b/x .env Makefile
printf 'build/\n*.log\ndist/\n' >.gitignore
printf 'secret.md\n!dist/index.html\n' >.teddyignore
packed
{
    begin 'A/
  x
a/
  b/
    c/
      file.txt
b/
  x
dist/
  index.html
src/
  main.c
.env
Makefile
'
    four
    printf '## 5. Resource Contents\n'
} >"$scratch/want"
is "ignored names, an override inside an ignored folder, order"
same "nothing is written" "$(ls -A)" '.env
.gitignore
.teddy
.teddyignore
A
Makefile
a
b
build
dist
secret.md
src
top.log'

# ---- the next turn ----
fresh
heddle session new s >/dev/null
turn=.teddy/sessions/s/01
printf '# P\n' >$turn/plan.md
printf '# R\n## Action Log\n### `READ`: [.gitignore](/.gitignore)\n- **Status:** SUCCESS\n### `READ`: no.c\n- **Status:** FAILURE\n### `EDIT`: bad.c\n- **Status:** FAILURE\n### `CREATE`: new.c\n- **Status:** SUCCESS\n### `READ`: part.c\n- **Status:** SUCCESS\n- **Lines:** 1-3\n### `CREATE`: skip.c\n- **Status:** SKIPPED\n' >$turn/report.md
heddle turn new --session s >/dev/null
printf '.gitignore\n%s/plan.md\n%s/report.md\nbad.c\nnew.c\n' $turn $turn >"$scratch/want"
ok "without a turn.context: plan, report, what was read, made or edited" cmp "$scratch/want" .teddy/sessions/s/02/turn.context
printf '# R\n#### PRUNE\n- **Status:** Completed\n- **Resource:** [bad.c](/bad.c)\n' >.teddy/sessions/s/02/report.md
heddle turn new --session s >/dev/null
printf '.gitignore\n%s/plan.md\n%s/report.md\n.teddy/sessions/s/02/report.md\nnew.c\n' $turn $turn >"$scratch/want"
ok "and without what was pruned" cmp "$scratch/want" .teddy/sessions/s/03/turn.context

# A process that is killed in the middle leaves no turn, so none with an empty list.
(ulimit -f 0 && exec "$HEDDLE" turn new --session s) >/dev/null 2>&1
not_ok "a turn is there as a whole or not at all" test -e .teddy/sessions/s/04
heddle turn new --session s >/dev/null
ok "and the next one goes on from the last" cmp "$scratch/want" .teddy/sessions/s/04/turn.context
same "with nothing left behind" "$(ls -A .teddy/sessions/s)" "01
02
03
04
session.context
session.json"

# ---- a session's own entries; after turn 99 ----
printf 'a.txt\n# seed\nb.txt\n' >.teddy/init.context
heddle session new seeded --context b.txt,c.txt,c.txt >/dev/null
printf 'a.txt\nb.txt\nc.txt\n' >"$scratch/want"
ok "each entry once, in order, without comments" cmp "$scratch/want" .teddy/sessions/seeded/session.context
mkdir .teddy/sessions/seeded/99
same "after turn 99" "$(heddle turn new --session seeded)" ".teddy/sessions/seeded-2/01"
ok "with the same list" cmp "$scratch/want" .teddy/sessions/seeded-2/session.context

# ---- memos ----
fresh
printf -- '- one\n````\n' >.teddy/memos.yaml
packed
{
    begin ''
    printf '## 3. Memos\n`````\n- one\n````\n`````\n\n'
    four
    printf '## 5. Resource Contents\n'
} >"$scratch/want"
is "memos with a fence in them"
printf -- '- no line end' >.teddy/memos.yaml
packed
{
    begin ''
    printf '## 3. Memos\n````\n- no line end\n````\n\n'
    four
    printf '## 5. Resource Contents\n'
} >"$scratch/want"
is "memos without a line end"

# ---- one bad thing costs only itself ----
fresh
printf 'fine\n' >fine.txt
printf '\377\376' >bad.txt
printf 'a\000b' >nul.txt
long=$(awk 'BEGIN { for (i = 0; i < 300; i++) printf "n" }')
list bad.txt nul.txt fine.txt/child "$long" ../outside /etc/passwd fine.txt
packed
exits "is no failure" 0
{
    begin 'bad.txt
fine.txt
nul.txt
'
    four
    summary Global bad.txt nul.txt fine.txt/child "$long" ../outside etc/passwd fine.txt
    five
    placeholder bad.txt "NOT UTF-8 TEXT: 2 bytes, sha256 $(sha256sum <bad.txt | cut -d' ' -f1)"
    placeholder nul.txt "BINARY FILE: 3 bytes, sha256 $(sha256sum <nul.txt | cut -d' ' -f1)"
    placeholder fine.txt/child 'FILE NOT READABLE: Not a directory'
    placeholder "$long" 'FILE NOT READABLE: File name too long'
    placeholder ../outside 'OUTSIDE THE PROJECT: not read'
    placeholder etc/passwd 'FILE NOT FOUND'
    echo fine | resource fine.txt text
    last
} >"$scratch/want"
is "bad bytes, names and places, and the rest intact"
# as_another COMMAND...: as someone who may not read everything.
as_another() {
    if [ "$(id -u)" -ne 0 ]; then "$@"; else setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; fi
}
if as_another test -r "$HEDDLE" -a -r "$PWD" 2>/dev/null; then
    list nul.txt fine.txt
    echo secret >nul.txt
    chmod 000 nul.txt
    as_another "$HEDDLE" payload --root . >"$scratch/got" 2>"$scratch/err"
    {
        begin 'bad.txt
fine.txt
nul.txt
'
        four
        summary Global nul.txt fine.txt
        five
        placeholder nul.txt 'FILE NOT READABLE: Permission denied'
        echo fine | resource fine.txt text
        last
    } >"$scratch/want"
    is "an unreadable file"
    chmod 600 nul.txt
else
    skip "an unreadable file" "no other user to be"
fi

# ---- what is no file must not be waited for ----
fresh
mkfifo pipe pipe.context
ln -s pipe link
ln -s round round
ln -s /dev/zero zero
echo fine >fine.txt
list pipe link round zero pipe.context /proc/self/status fine.txt
status=0
timeout 120 "$HEDDLE" payload >"$scratch/got" 2>"$scratch/err" || status=$?
exits "pipes, loops and devices end" 0
{
    begin 'fine.txt
link
round
zero
'
    four
    summary Global pipe link round zero pipe.context proc/self/status fine.txt
    five
    placeholder pipe 'FILE NOT READABLE: is not a regular file'
    placeholder link 'FILE NOT READABLE: is not a regular file'
    placeholder round 'FILE NOT READABLE: Too many levels of symbolic links'
    placeholder zero 'OUTSIDE THE PROJECT: not read'
    placeholder pipe.context 'FILE NOT READABLE: is not a regular file'
    placeholder proc/self/status 'FILE NOT FOUND'
    echo fine | resource fine.txt text
    last
} >"$scratch/want"
is "and are named"
rm pipe pipe.context
for special in .teddy/global.context .teddy/memos.yaml .gitignore .teddyignore; do
    rm -f "$special"
    mkfifo "$special"
    status=0
    timeout 120 "$HEDDLE" payload >"$scratch/got" 2>"$scratch/err" || status=$?
    exits "a pipe in the place of $special ends" 0
    rm "$special"
done

# ---- several at once ----
fresh
awk 'BEGIN { for (i = 0; i < 20000; i++) print "line", i }' >long.txt
list long.txt
packed --output "$scratch/one.md"
for _ in 1 2 3 4 5 6; do
    "$HEDDLE" payload --output two.md >/dev/null 2>&1 &
done
wait
ok "six at once leave one whole payload" cmp "$scratch/one.md" two.md
same "and nothing else" "$(ls -A)" '.teddy
long.txt
two.md'

# ---- names that mean something in Markdown ----
fresh
printf 'x\n' >'a b(1).md'
printf 'x\n' >'tick`s'
printf 'x\n' >'---'
list 'a b(1).md' 'tick`s' ---
packed
{
    begin '---
a b(1).md
tick`s
'
    four
    printf '### Global\n- [a b(1).md](</a b(1).md>)\n- [tick`s](/tick`s)\n- [---](/---)\n\n'
    five
    echo x | resource 'a b(1).md' markdown
    printf -- '---\n**Resource:** ``[tick`s](/tick`s)``\n'
    echo x | fenced text
    echo x | resource --- text
    last
} >"$scratch/want"
is "names: blanks, brackets, backticks, rules"

# ---- other formats: every byte comes back ----
fresh
printf 'a\001\033[31mb\r\nc\177\302\205\357\277\276]]>&<"\\\t\n\rno end' >odd.txt
name=$(printf 'n\357\277\277<&>".txt')
printf 'x\n' >"$name"
printf -- '- \001\r\n' >.teddy/memos.yaml
list odd.txt "$name" 'gone<&>"'
packed --format json
jq -j '.resources[0].content' "$scratch/got" >"$scratch/back.json"
ok "JSON: control characters, quotes, line ends" cmp odd.txt "$scratch/back.json"
jq -j '.memos' "$scratch/got" >"$scratch/back.json"
ok "JSON: the memos" cmp .teddy/memos.yaml "$scratch/back.json"
jq -r '.resources | map([.name, .state, .kind, .scope, .language, .placeholder] | map(. // "-") | join(" ")) | .[]' "$scratch/got" >"$scratch/got.rows"
cat >"$scratch/want" <<'END'
odd.txt ok file global text -
"n\357\277\277<&>\".txt" ok file global text -
gone<&>" missing file global - --- FILE NOT FOUND ---
END
ok "JSON: names and states" cmp "$scratch/want" "$scratch/got.rows"
packed --format json --line-numbers
jq -j '.resources[0].content' "$scratch/got" >"$scratch/back.json"
awk '{ printf "%4d: %s%s", NR, $0, NR < 3 ? "\n" : "" }' odd.txt >"$scratch/want"
ok "JSON: line numbers with CRLF and without a last line end" cmp "$scratch/want" "$scratch/back.json"
packed --line-numbers
{ printf -- '---\n**Resource:** `[odd.txt](/odd.txt)`\n````text numbered no-newline\n' && cat "$scratch/want" && printf '\n````\n'; } >"$scratch/block"
sed -n '/^## 5/,/^````$/p' "$scratch/got" | sed 1,2d >"$scratch/got.block"
ok "Markdown: the same numbers" cmp "$scratch/block" "$scratch/got.block"
if command -v xmllint >/dev/null; then
    packed --format xml
    ok "XML: well-formed, whatever it holds" xmllint --noout "$scratch/got"
    # <char code="N"/> stands for what XML cannot hold: here 1, 27 and U+FFFE.
    xmllint --xpath '//resource[1]/char/@code' "$scratch/got" | tr -d ' \n' >"$scratch/codes"
    same "XML: what it cannot hold is named" "$(cat "$scratch/codes")" 'code="1"code="27"code="65534"'
    xmllint --xpath 'string(//resource[1])' "$scratch/got" >"$scratch/text"
    printf 'a[31mb\r\nc\177\302\205]]>&<"\\\t\n\rno end\n' >"$scratch/want"
    ok "XML: and the rest is as it was" cmp "$scratch/want" "$scratch/text"
else
    skip "XML" "xmllint is not installed"
fi

# ---- long, CRLF, without a line end; two runs; back again ----
fresh
awk 'BEGIN { for (i = 0; i < 5000; i++) print "line", i }' >long.txt
printf 'a\r\nb\r\n' >crlf.txt
printf 'no end' >open.txt
: >empty.txt
printf '\357\273\277mark\n' >mark.txt
printf '```\n````\n' >fences.md
awk 'BEGIN { for (i = 0; i < 1500; i++) printf "gone%d\n", i }' >.teddy/global.context
printf '%s\n' long.txt crlf.txt open.txt empty.txt mark.txt fences.md >>.teddy/global.context
packed
{
    begin 'crlf.txt
empty.txt
fences.md
long.txt
mark.txt
open.txt
'
    four
    # shellcheck disable=SC2046
    summary Global $(cat .teddy/global.context)
    five
    awk 'BEGIN { for (i = 0; i < 1500; i++) printf "---\n**Resource:** `[gone%d](/gone%d)`\n````\n--- FILE NOT FOUND ---\n````\n", i, i }'
    resource long.txt text <long.txt
    resource crlf.txt text <crlf.txt
    printf 'no end\n' | resource open.txt 'text no-newline'
    : | resource empty.txt text
    resource mark.txt text <mark.txt
    printf -- '---\n**Resource:** `[fences.md](/fences.md)`\n`````markdown\n```\n````\n`````\n'
    last
} >"$scratch/want"
is "a long file, a long list, CRLF, a byte order mark, fences, no last line end"
cp "$scratch/got" "$scratch/once"
packed
ok "two runs are the same" cmp "$scratch/once" "$scratch/got"
heddle payload --parse "$scratch/got" --output "$scratch/back" >/dev/null
for f in long.txt crlf.txt open.txt empty.txt mark.txt fences.md; do
    ok "$f comes back" cmp "$f" "$scratch/back/$f"
done

done_testing

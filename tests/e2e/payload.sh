#!/bin/sh
# input.md from the outside: the command as a person or a planner uses it.
# postgres: no, it has no log
# shellcheck disable=SC2016,SC2317
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

teddy() { "$(dirname "$HEDDLE")/teddy" "$@"; }
# after HEADING: the lines of $out between this heading and the next of its level or above.
after() { printf '%s\n' "$out" | awk -v h="$1" '$0 == h { on = 1; next } on && /^##/ { exit } on' ; }

mkdir ws && cd ws || exit 1

# ---- a workspace without anything ----

run heddle payload
exits "a payload of an empty folder" 0
has "section 1" "$out" "## 1. System Information
- **CWD:** $PWD
- **OS:** $(uname -s) $(uname -r)
- **Shell:** "
lacks "no other keys" "$out" "Python"
has "no memos, and the numbers stay" "$out" "## 4. Context Summary

## 5. Resource Contents"
lacks "no section 3" "$out" "## 3."
not_ok "a question does not write" test -e .teddy
run teddy context --no-copy
exits "teddy context in a fresh folder" 0
ok "it makes the list" test -f .teddy/global.context
same "and .teddy ignores itself" "$(cat .teddy/.gitignore)" '*'

# ---- lists and placeholders ----

printf '# read me\n' >README.md
printf 'README.md\nnon_existent_file.md\n' >.teddy/global.context
run heddle payload
exits "a missing file is no failure" 0
has "its neighbour is shown" "$out" '````markdown
# read me
````'
has "it stays in the summary" "$out" '- [non_existent_file.md](/non_existent_file.md)'
has "and is marked" "$out" '--- FILE NOT FOUND ---'
has "and said on stderr" "$err" 'non_existent_file.md'
same "headings in order" "$(printf '%s\n' "$out" | grep '^#* [1-9]\.\|^# Agent')" '# Agent Invocation Payload
## 1. System Information
## 2. Project Structure
## 4. Context Summary
## 5. Resource Contents'

mkdir -p src/core/deep node_modules/m
printf 'a\n' >src/core/a.py
printf 'b\n' >src/core/deep/b.py
printf 'l\n' >src/core/x.log
printf 'n\n' >node_modules/m/i.js
printf 's\n' >src/core/secret.md
printf '*.log\nnode_modules/\n' >.gitignore
printf 'secret.md\n' >.teddyignore
printf '  src/core/  \n# comment\n\nREADME.md\nREADME.md\n' >.teddy/global.context
printf 'not a list\n' >.teddy/other.txt
run heddle payload
same "a folder is its files, under the rules" "$(after '### Global')" "- [src/core/deep/b.py](/src/core/deep/b.py)
- [src/core/a.py](/src/core/a.py)
- [README.md](/README.md)"
same "the tree obeys the same rules" "$(after '## 2. Project Structure')" '````
src/
  core/
    deep/
      b.py
    a.py
README.md
````'
lacks "the list itself is not shown" "$out" "global.context"
printf '# nothing\n\n' >.teddy/global.context
run heddle payload
exits "a list of comments is an empty list" 0
not_ok "no file is left behind" test -e repotree.txt

# ---- many warnings ----

mkdir pictures
for i in $(seq -w 1 40); do printf '\0' >"pictures/$i.png"; done
printf 'pictures/\n' >.teddy/global.context
run heddle payload
same "ten warnings, and how many more there are" "$(printf '%s\n' "$err" | sed -n '1p;10,$p')" "warning: pictures/01.png: binary
warning: pictures/10.png: binary
warning: … and 30 more (heddle payload --explain lists them)"
run heddle payload --explain
same "--explain has them all" "$(printf '%s\n' "$err" | grep -c ': binary')" 40
rm -r pictures

# ---- turns ----

run heddle session new demo --context README.md,src/core/a.py
exits "a session" 0
same "prints its turn" "$out" ".teddy/sessions/demo/01"
same "its list" "$(cat .teddy/sessions/demo/session.context)" 'README.md
src/core/a.py'
run heddle session new demo
exits "a name is taken once" 1
has "and says so" "$err" "CONFLICT"
run heddle session new ../out
exits "a name does not leave the folder" 1
printf 'src/core/a.py\n' >.teddy/sessions/demo/01/turn.context
cd .teddy/sessions/demo/01 || exit 1
run heddle payload
exits "inside a turn" 0
has "input.md is written" "$out" "wrote .teddy/sessions/demo/01/input.md"
out=$(cat input.md)
same "turn" "$(after '### Turn')" '- [src/core/a.py](/src/core/a.py)'
same "session lists it too" "$(after '### Session')" '- [README.md](/README.md)
- [src/core/a.py](/src/core/a.py)'
same "its content is there once" "$(grep -c 'Resource:.*src/core/a.py' input.md)" 1
same "at the turn's place" "$(grep 'Resource:' input.md | head -n 1)" '**Resource:** `[src/core/a.py](/src/core/a.py)`'
has "CWD is the project" "$out" "- **CWD:** $(cd ../../../.. && pwd)"
run teddy context --no-copy
same "teddy prints it as well" "$out" "$(cat input.md)"
cd ../../../..
run heddle payload --turn .teddy/sessions/demo/01 --output -
has "--turn and stdout" "$out" '### Turn'
run heddle payload --turn /tmp
exits "a turn outside the workspace is refused" 1
has "with its reason" "$err" "not below the workspace"

printf '# R\n## Action Log\n### `READ`: README.md\n- **Status:** SUCCESS\n### `READ`: .gitignore\n- **Status:** SUCCESS\n' >.teddy/sessions/demo/01/report.md
printf '# P\n' >.teddy/sessions/demo/01/plan.md
run heddle turn new --session demo
same "the next turn" "$out" ".teddy/sessions/demo/02"
same "its list" "$(cat .teddy/sessions/demo/02/turn.context)" '.gitignore
.teddy/sessions/demo/01/plan.md
.teddy/sessions/demo/01/report.md
README.md
src/core/a.py'
run heddle turn new --json
json "as JSON, without a report" "$out" '[.session, .number, (.entries | length)]' '["demo",3,5]'
run heddle session list --json
json "the list of sessions" "$out" '.items | map([.name, .turns, .state])' '[["demo",3,"empty"]]'
json "with the time in UTC" "$out" '.items[0].created_at | test("^20..-..-..T..:..:..\\....Z$")' 'true'
run heddle session new 'x' --thread 'a/b'
exits "a session is not bound to what is no name" 1
not_ok "and is not made" test -e .teddy/sessions/x
run heddle turn new --session nope
exits "an unknown session" 1
has "with a hint" "$err" "heddle session list"

run heddle session new bound --thread work
run heddle turn new --session bound
run heddle turn new --session bound
run heddle log show work --json
json "a bound session's turns are entries of the thread" "$(printf '%s\n' "$out" | jq -s 'map(select(.kind == "turn"))')" 'map(.payload.turn)' '[1,2,3]'
run heddle verify
exits "and the log verifies" 0
rm -rf .heddle

run heddle payload --turn .teddy/sessions/demo
exits "a session is no turn" 1
has "with a hint" "$err" "demo/01"
echo '{' >.teddy/sessions/demo/session.json
run heddle turn new --session demo
exits "a session whose thread is not known gets no turn" 1
has "it is damaged" "$err" "CORRUPT"
run heddle session list --json
json "and listed so" "$out" '.items | map(select(.name == "demo") | .state)' '["damaged"]'
rm .teddy/sessions/demo/session.json
rm .teddy/sessions/demo/03/turn.context
mkdir .teddy/sessions/demo/03/turn.context
run heddle turn new --session demo
exits "a list that cannot be read is not taken for an empty one" 1
not_ok "and no turn is made" test -e .teddy/sessions/demo/04
rmdir .teddy/sessions/demo/03/turn.context

# ---- memos ----

printf '# team\r\n- one\r\n' >.teddy/memos.yaml
run heddle memo add 'use pnpm: always'
exits "a memo is added" 0
same "the rest is kept" "$(cat .teddy/memos.yaml)" "$(printf '# team\r\n- one\r\n- "use pnpm: always"\r\n')"
run heddle memo list
has "memos are listed" "$out" "  2  use pnpm: always"
run heddle memo list --json
json "as JSON" "$out" '.items' '["one","use pnpm: always"]'
run heddle memo add ' one ' --json
json "a memo is added once" "$out" '.' '{"result":"already there","memo":"one"}'
run heddle memo add '  '
exits "an empty memo is refused" 1
run heddle memo remove 'one'
same "one is removed" "$(cat .teddy/memos.yaml)" "$(printf '# team\r\n- "use pnpm: always"\r\n')"
run heddle memo remove 'no such'
exits "an unknown one" 1
printf -- '- a\n````\n' >.teddy/memos.yaml
run heddle payload
has "a fence in the memos lengthens theirs" "$out" '## 3. Memos
`````
- a
````
`````'
: >.teddy/memos.yaml
run heddle payload
has "an empty memo file keeps its section" "$out" '## 3. Memos
````
````'
rm .teddy/memos.yaml

# ---- output ----

printf 'README.md\n' >.teddy/global.context
run heddle payload --output out.md
exits "to a file" 0
run heddle payload --exclude out.md
rm -f out.md
run heddle payload
printf '%s\n' "$out" >"$scratch/first"
run heddle payload --output "$scratch/second"
ok "the same bytes in a file and on stdout" cmp "$scratch/first" "$scratch/second"
printf 'keep' >"$scratch/kept"
ln -s kept "$scratch/link"
run heddle payload --output "$scratch/link"
ok "a link stays a link" test -h "$scratch/link"
ok "its target is written" cmp "$scratch/first" "$scratch/kept"
chmod 600 "$scratch/kept"
run heddle payload --output "$scratch/link"
same "a private file stays private" "$(stat -c %a "$scratch/kept")" 600
ln -s later "$scratch/ahead"
run heddle payload --output "$scratch/ahead"
ok "a link to what is not there yet stays too" test -h "$scratch/ahead"
ok "and what it leads to is made" cmp "$scratch/first" "$scratch/later"
ln -s round "$scratch/round"
run heddle payload --output "$scratch/round"
exits "a link to itself is refused" 1
run heddle payload --output /dev/null
ok "a device stays a device" test -c /dev/null
mkdir "$scratch/folder"
run heddle payload --output "$scratch/folder/"
exits "a folder is no file" 1
has "and says so" "$err" "is a folder"
for option in turn output check since parse manifest; do
    run heddle payload --$option ''
    exits "--$option with an empty name is a misuse" 2
done
for pair in '--copy --no-copy' '--offline --refresh' '--explain --token-tree' '--check a --since a' '--parse a --check a'; do
    # shellcheck disable=SC2086
    run heddle payload $pair
    exits "$pair is a misuse" 2
    has "and says so" "$err" "do not go together"
done
run heddle payload --output no/such/folder/x
exits "a folder that is not there" 1
printf 'README.md\nself.md\n' >.teddy/global.context
heddle payload --include '*.md' --output self.md >/dev/null 2>&1
cp self.md "$scratch/first"
heddle payload --include '*.md' --output self.md >/dev/null 2>&1
ok "a second run does not swallow the first" cmp self.md "$scratch/first"
has "a list that names the output shows why it is not there" "$(cat self.md)" '**Resource:** `[self.md](/self.md)`
````
--- LEFT OUT: it is the file this is written to ---
````'
run heddle payload --include '*.md' --check self.md
exits "it can be checked in its place" 0
heddle payload --include '*.md' >self.md 2>/dev/null
ok "a file behind stdout is the same" cmp self.md "$scratch/first"
(cd .teddy && "$HEDDLE" payload --include '*.md' --output ../self.md >/dev/null 2>&1)
ok "from another folder too" cmp self.md "$scratch/first"
rm self.md
printf 'README.md\n' >.teddy/global.context
if [ -w /dev/full ]; then
    status=0
    "$HEDDLE" payload >/dev/full 2>"$scratch/err" || status=$?
    err=$(cat "$scratch/err")
    exits "a full disk is an error" 1
fi

# ---- the clipboard ----

mkdir "$scratch/bin"
cat >"$scratch/bin/wl-copy" <<'END'
#!/bin/sh
cat >>"$CLIP"
echo once >>"$CLIP.times"
END
chmod +x "$scratch/bin/wl-copy"
export CLIP="$scratch/clip"
PATH="$scratch/bin:$PATH" run teddy context
ok "teddy copies what it prints" cmp "$scratch/out" "$CLIP"
same "once" "$(cat "$CLIP.times")" once
has "and says so on stderr" "$err" "Output copied to clipboard."
lacks "not on stdout" "$out" "copied to clipboard"
rm -f "$CLIP"
PATH="$scratch/bin:$PATH" run teddy context --no-copy
lacks "--no-copy says nothing" "$err" "copied"
not_ok "and copies nothing" test -e "$CLIP"
PATH="$scratch/bin:$PATH" run heddle payload
not_ok "heddle copies only when asked" test -e "$CLIP"
PATH="$scratch/bin:$PATH" run heddle payload --copy --output "$scratch/file.md"
ok "a file can be copied too" cmp "$scratch/file.md" "$CLIP"
rm -f "$CLIP"
mkfifo "$scratch/pipe"
cat "$scratch/pipe" >"$scratch/through" &
reader=$!
PATH="$scratch/bin:$PATH" run heddle payload --copy --output "$scratch/pipe"
wait $reader
ok "a pipe gets it as well" cmp "$scratch/through" "$CLIP"
ok "all of it" test -s "$CLIP"
run teddy context --no-copy --output "$scratch/teddy.md"
same "teddy prints what goes to a turn, not what goes to a file" "${out%, *}" "wrote $scratch/teddy.md, $(wc -c <"$scratch/teddy.md" | tr -d ' ') bytes, 1 resource"
printf '#!/bin/sh\nexit 1\n' >"$scratch/bin/wl-copy"
PATH="$scratch/bin:$PATH" run heddle payload --copy
lacks "a copy that failed is not claimed" "$err" "Output copied"
has "it is said" "$err" "not copied"
exits "and is no failure of the payload" 0

# ---- budget and reports ----

awk 'BEGIN { for (i = 0; i < 400; i++) print "some words of the large file, line", i }' >large.txt
printf 'README.md\nlarge.txt\n' >.teddy/global.context
run heddle payload --budget 400
exits "a budget" 0
has "names the cut with its size" "$out" "- [large.txt](/large.txt) (left out to fit the budget: $(wc -c <large.txt | tr -d ' ') bytes, "
lacks "and does not show it" "$out" "some words of the large file"
has "what fits stays" "$out" "# read me"
run heddle payload --budget 10
exits "a budget that cannot be met" 1
has "says the sizes" "$err" "LIMIT_EXCEEDED"
run heddle payload --budget 0
exits "no budget of nothing" 2
run heddle payload --explain
has "the table" "$out" "resource  global"
has "with a total" "$out" "counted by o200k_base"
printf -- '- a memo\n' >.teddy/memos.yaml
head -c 5000 /dev/zero >zeros
printf 'README.md\nzeros\n' >.teddy/global.context
run heddle payload --explain
rows=$(printf '%s\n' "$out" | awk '/^(resource|tree|memos|frame) / { gsub(",", ""); n += $4 } END { print n }')
total=$(heddle payload --json | jq .payload.tokens)
same "the rows of --explain add up" "$rows" "$total"
has "the tree has its row" "$out" "kept         project structure"
has "the memos too" "$out" "kept         .teddy/memos.yaml"
lacks "a binary file's size does not hide the frame's" "$(printf '%s\n' "$out" | sed -n 's/^frame *- *\([0-9]*\) .*/=\1=/p')" "=0="
rm .teddy/memos.yaml zeros
printf 'README.md\nlarge.txt\n' >.teddy/global.context
run heddle payload --token-tree
has "the token tree" "$out" "large.txt"
run heddle payload --json
json "the manifest" "$out" '.resources | map([.path, .scope, .size, .state])' "[[\"README.md\",\"global\",10,\"ok\"],[\"large.txt\",\"global\",$(wc -c <large.txt | tr -d ' '),\"ok\"]]"
json "its hashes" "$out" '.resources[1].sha256' "\"$(sha256sum <large.txt | cut -d' ' -f1)\""
tokens=$(heddle tokens --json large.txt 2>/dev/null | jq -r '.total // empty')
[ -z "$tokens" ] || json "its tokens are those of the file" "$out" '.resources[1].tokens' "$tokens"
printf '%s\n' "$out" >"$scratch/manifest.json"
heddle payload --output "$scratch/input.md" >/dev/null
json "and the hash of the whole" "$out" '.payload.sha256' "\"$(sha256sum <"$scratch/input.md" | cut -d' ' -f1)\""
run heddle payload --check "$scratch/input.md"
exits "it is what the workspace holds" 0
run heddle payload --check "$scratch/input.md" --manifest "$scratch/manifest.json"
exits "and what the manifest says" 0
printf 'more\n' >>README.md
run heddle payload --check "$scratch/input.md"
exits "until something changes" 1
run heddle payload --since "$scratch/input.md"
same "what changed" "$out" "changed  README.md"
run heddle payload --since "$scratch/manifest.json" --json
json "the same from a manifest" "$out" '.differences' '[{"change":"changed","path":"README.md"}]'
heddle payload --output "$scratch/before.md" >/dev/null
heddle payload --json >"$scratch/before.json"
heddle payload --line-numbers --output "$scratch/numbered.md" >/dev/null
for before in before.md before.json; do
    printf -- '- a memo\n' >.teddy/memos.yaml
    : >new.txt
    run heddle payload --since "$scratch/$before"
    same "memos and the tree count as well ($before)" "$out" "changed  (project structure)
added    (memos)"
    rm .teddy/memos.yaml new.txt
done
run heddle payload --check "$scratch/numbered.md" --line-numbers
exits "a payload with line numbers can be checked" 0
heddle payload --line-numbers --json >"$scratch/numbered.json"
run heddle payload --check "$scratch/numbered.md" --manifest "$scratch/numbered.json" --line-numbers
exits "with its manifest too" 0
sed 's/   1: # read me/   1: # red me/' "$scratch/numbered.md" >"$scratch/forged.md"
run heddle payload --check "$scratch/forged.md" --line-numbers
exits "and does not hide a change" 1
sed 's/read me/red me/' "$scratch/input.md" >"$scratch/forged.md"
run heddle payload --check "$scratch/forged.md" --manifest "$scratch/manifest.json"
exits "a forged payload is found" 1
run heddle payload --parse "$scratch/input.md" --output "$scratch/back" --json
json "read back" "$out" '.resources | map(.path)' '["README.md","large.txt"]'
ok "into files" cmp large.txt "$scratch/back/large.txt"
printf '# Agent Invocation Payload\n\n## 5. Resource Contents\n\n---\n**Resource:** `[../left](/../left)`\n````text\nx\n````\n---\n' >"$scratch/evil.md"
run heddle payload --parse "$scratch/evil.md" --output "$scratch/evil"
has "what would leave the folder is not written, and that is said" "$err" "../left: not written: it would leave the directory"
not_ok "nor is it there" test -e "$scratch/left"
printf '\357\273\277# Agent Invocation Payload\n' >"$scratch/mark.md"
run heddle payload --parse "$scratch/mark.md"
exits "a byte order mark does not matter" 0
heddle payload --format xml --output "$scratch/other.xml" >/dev/null
run heddle payload --check "$scratch/other.xml"
has "--check says what it reads, not xml" "$err" "neither a payload in Markdown or JSON nor a manifest"
heddle payload --format json --output "$scratch/other.json" >/dev/null
run heddle payload --check "$scratch/other.json"
exits "it reads JSON" 0
printf 'not one' >"$scratch/no.md"
run heddle payload --parse "$scratch/no.md"
exits "what is no payload is refused" 1

# ---- more formats and options ----

run heddle payload --format json
json "JSON" "$out" '.resources[0].content' '"# read me\nmore\n"'
run heddle payload --format xml
has "XML" "$out" '<resource name="README.md" scope="global" state="ok" language="markdown"># read me'
for format in xml json; do
    run heddle payload --format $format --budget 500 --output "$scratch/cut.$format"
    exits "a budget for $format" 0
    lacks "the large file is left out of $format" "$(cat "$scratch/cut.$format")" "some words of the large file"
    run heddle payload --format $format --budget 500 --json
    tokens=$(heddle tokens --json "$scratch/cut.$format" | jq .total)
    json "the manifest counts the tokens of the $format" "$out" '.payload.tokens' "$tokens"
    ok "and they fit" test "$tokens" -le 500
done
json "the cut is named in JSON" "$(cat "$scratch/cut.json")" '.summary.cut | map([.name, .bytes])' "[[\"large.txt\",$(wc -c <large.txt | tr -d ' ')]]"
has "and in XML" "$(cat "$scratch/cut.xml")" "<entry scope=\"global\" name=\"large.txt\" cut=\"true\" bytes=\"$(wc -c <large.txt | tr -d ' ')\""
run heddle payload --format pdf
exits "an unknown format" 2
run heddle payload --line-numbers --exclude large.txt
has "line numbers" "$out" '   1: # read me
   2: more'
run heddle payload --diff
has "no work tree, no changes" "$err" "--diff: this is no git work tree"
exits "and no failure" 0
if command -v git >/dev/null; then
    for hash in sha1 sha256; do
        git init -q --object-format=$hash . && git add README.md
        run heddle payload --diff --exclude '*'
        has "changes before the first commit ($hash)" "$out" '--- /dev/null
+++ b/README.md
@@ -0,0 +1,2 @@
+# read me'
        rm -rf .git
    done
    git init -q . && git -c user.name=n -c user.email=e@e.example add README.md &&
        git -c user.name=n -c user.email=e@e.example commit -qm first
    printf 'again\n' >>README.md
    run heddle payload --diff --exclude large.txt
    has "the working tree's changes" "$out" '**Resource:** `[git:diff](git:diff)`
````diff
diff --git a/README.md b/README.md'
    has "are a resource of the turn" "$out" '### Turn
- [git:diff](git:diff)'
    printf 'local.only\n' >.git/info/exclude
    : >local.only
    run heddle payload
    lacks ".git/info/exclude counts" "$(after '## 2. Project Structure')" "local.only"
    printf 'global.only\n' >"$HOME/ignored"
    git config core.excludesFile "$HOME/ignored"
    : >global.only
    run heddle payload
    lacks "core.excludesFile counts" "$(after '## 2. Project Structure')" "global.only"
    rm -rf .git
fi

# ---- what may go wrong ----

printf 'PASS=hunter2\n' >.env
printf '.env\nREADME.md\n' >.teddy/global.context
run heddle payload
lacks "secrets are left out" "$out" "hunter2"
has "visibly" "$out" "--- LEFT OUT: may hold a secret"
has "with a warning" "$err" ".env: secret"
run heddle payload --allow-secrets
has "unless allowed" "$out" "hunter2"
if [ "$(id -u)" -ne 0 ]; then
    chmod 000 .env
    run heddle payload
    has "an unreadable file is a placeholder" "$out" "--- FILE NOT READABLE: Permission denied ---"
    exits "and no failure" 0
    chmod 600 .env
    mkdir locked && chmod 000 locked
    run heddle payload
    has "an unreadable folder is said" "$err" "locked: not listed"
    chmod 700 locked
else
    skip "an unreadable file" "the tests run as root"
fi

# ---- by the names of operations ----

call() { # NAME PARAMS [OPTION...]
    name=$1 params=$2
    shift 2
    heddle api call "$name" --params "$params" "$@"
}
mkdir called && cd called && mkdir .teddy sub || exit 1
printf '# hi\n' >README.md && printf 'int x;\n' >sub/a.c
heddle payload README.md sub >"$scratch/by-words.md" 2>/dev/null
out=$(call payload.make '{"paths":["README.md","sub"]}' --out "$scratch/by-name.md")
ok "the same bytes through every door" cmp "$scratch/by-words.md" "$scratch/by-name.md"
json "the document says how much" "$out" '[.payload.bytes, .shown, .counted_by]' "[$(wc -c <"$scratch/by-name.md"),2,null]"
out=$(call payload.make '{"paths":["README.md"],"manifest":true}' --out /dev/null)
json "or is the manifest" "$out" '[.format, .resources[0].path]' '["heddle-manifest-1","README.md"]'
json "what is outside is refused" "$(call payload.make '{"paths":["../README.md"]}' --out /dev/null)" .error.code '"PERMISSION_DENIED"'
json "paths and names do not go together" "$(call payload.make '{"paths":["a"],"names":["b"]}' --out /dev/null)" .error.code '"INVALID_SYNTAX"'
json "patterns keep their commas" "$(call payload.make '{"include":["*.{c,h}"]}' --out /dev/null)" .shown 1
out=$(call payload.explain '{"paths":["README.md"]}' --out /dev/null)
json "explain has the parts" "$out" '[.items[] | [.section, .fate]]' '[["resource","kept"],["tree","kept"],["frame","kept"]]'
json "that add up" "$out" '([.items[].bytes] | add) == .bytes' true
json "weigh has the tree" "$(call payload.weigh '{"paths":["sub"]}' --out /dev/null)" '[.items[] | [.name, .depth]]' '[["sub/",0],["a.c",1]]'
heddle payload README.md --output held.md >/dev/null
json "check knows the file that it checks" "$(call payload.check '{"paths":["README.md"],"file":"held.md"}')" . '{"differences":[]}'
printf 'more\n' >>README.md
json "compare lists what changed" "$(call payload.compare '{"paths":["README.md"],"file":"held.md"}')" . '{"differences":[{"change":"changed","path":"README.md"}]}'
run heddle payload README.md --check held.md --json
exits "under --json a difference is a bad verdict" 1
json "beside the document" "$out" '.differences | length' 1
has "told on stderr" "$err" "1 thing has changed since"
json "no file of others is read" "$(call payload.compare '{"file":"/etc/passwd"}')" .error.code '"PERMISSION_DENIED"'
json "a text or a file" "$(call payload.parse '{}')" .error.code '"INVALID_SYNTAX"'
params=$(jq -cn --rawfile text held.md '{text:$text,into:"back"}')
json "a text is read back" "$(call payload.parse "$params")" '[.resources[] | .path, .content]' '["README.md","# hi\n"]'
same "and written below the workspace" "$(cat back/README.md)" "# hi"
params=$(jq -cn --rawfile text held.md '{text:$text,into:"../out"}')
json "not elsewhere" "$(call payload.parse "$params")" .error.code '"PERMISSION_DENIED"'
not_ok "nothing is there" test -e ../out
cd .. || exit 1

done_testing

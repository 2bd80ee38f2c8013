#!/bin/sh
# Leslie's own folders in a team: names, foreign rows, upstream's operations, two clones, pulls with
# and without conflicts.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

T=.leslie/threads
R=.leslie/thread_relations.json
top=$PWD
spawn() { heddle spawn --objective o --no-run --intent "work of $1" --id "$@"; }
leslie() { "$top/leslie" "$@"; }
ln -s "$HEDDLE" leslie

# ---- upstream's first steps ----
mkdir first
cd first || exit 1
leslie init --yes >/dev/null
run leslie list
exits "list in a new folder succeeds" 0
json "and shows nothing" "$out" '[.success, .data]' '[true,[]]'
cd .. || exit 1

# ---- names ----
mkdir one
cd one || exit 1
heddle init >/dev/null
heddle objective create O --id o >/dev/null
for bad in 'a,b' 'a:b' '-rf' 'a b' "$(printf 'a\302\240b')" "$(printf 'a\342\200\213b')" "$(printf 'a\342\200\256b')" "$(printf 'a\343\200\200b')"; do
    run heddle spawn --objective o --no-run --intent x "--id=$bad"
    exits "the id '$bad' is refused" 1
    run heddle objective create X "--id=$bad"
    exits "for an objective too" 1
done
spawn 'fine-1_x.y' >/dev/null
spawn 'größe' >/dev/null
jq '.threads["a, b"] = (.threads["fine-1_x.y"] | .id = "a, b" | .storage_path = ".leslie/threads/a, b") | .relations["a, b"] = .relations["fine-1_x.y"]' $R >r && cp r $R
has "one that is there already can be read" "$(heddle status 'a, b' 2>&1)" "a, b  active"
heddle list >/dev/null 2>&1

# ---- upstream's inject ----
spawn told >/dev/null
jq '.operations += [{"id":"op-up1","timestamp":"2026-11-16T10:00:00.000Z","command":"inject","operator":"user","params":{"thread_id":"told","type":"constraint","content":"Use TLS"}}]' $R >r && cp r $R
has "an inject of another program reaches the next context" "$(heddle context told 2>/dev/null)" ">Use TLS</injection>"
lacks "once" "$(heddle context told)" "Use TLS"
json "and stays in operations[]" "$(cat $R)" '[.operations[] | select(.id == "op-up1")] | length' 1
ok "verify agrees" heddle verify

# ---- transcripts ----
for i in 1 2 3; do
    HEDDLE_NOW=2026-11-16T10:00:00Z heddle transcript told --chat c --query same --assistant "answer $i" >/dev/null
done
same "three in one minute are three files" "$(cat $T/told/.meta/transcripts/*.txt | grep -c '^answer')" 3
cd .. || exit 1

# ---- two clones ----
git() { command git -c user.name=t -c user.email=t@example.org -c init.defaultBranch=main -c merge.conflictStyle=merge "$@"; }
if ! command -v git >/dev/null; then
    skip "two clones" "no git"
    done_testing
fi
mkdir origin
cd origin || exit 1
git init -q .
heddle init >/dev/null
heddle objective create O --id o >/dev/null
for t in a b; do spawn $t >/dev/null; done
echo plan >$T/a/plan.md
heddle reference --from b --target a --binding frozen >/dev/null 2>&1
heddle lifecycle a suspend >/dev/null
ok "what is made anew is ignored" git check-ignore -q .leslie/threads/.global/registry.json
not_ok "work is not" git check-ignore -q $T/a/artifacts/yarn.lock
git add -A
git commit -qm base
same "the log of the machine is not in it" "$(git ls-files | grep -c -e '\.bak$' -e 'heddle\.db' -e registry -e '/logs/')" 0
cd .. || exit 1
git clone -q origin clean
cd clean || exit 1
json "a clone has the threads" "$(heddle list --json)" '[.items[].id]' '["a","b"]'
same "and reading leaves it clean" "$(git status --short)" ""
heddle status b >/dev/null
heddle context b >/dev/null
same "whatever is read" "$(git status --short)" ""
rm -rf .heddle
git rm -rq --cached .heddle && git commit -qm "without the settings"
heddle list >/dev/null 2>&1
same "also without our folder in it" "$(git status --short)" ""
ok "verify agrees" heddle verify
cd .. || exit 1

for c in left right; do git clone -q origin $c; done
cd left || exit 1
spawn left1 --ref a >/dev/null 2>&1
heddle lifecycle b suspend >/dev/null
heddle inject a --type note --content "from the left" >/dev/null
git add -A && git commit -qm left && git push -q origin HEAD:refs/heads/left
cd ../right || exit 1
spawn right1 --ref b >/dev/null 2>&1
heddle objective create Q --id q >/dev/null
heddle spawn --objective q --no-run --intent r2 --id right2 >/dev/null
git add -A && git commit -qm right
git pull -q --no-rebase origin left >/dev/null 2>&1
has "both spawned: the pull conflicts" "$(git status --short)" "UU .leslie/thread_relations.json"
run heddle list --json
exits "the next command works" 0
json "the threads of both are there" "$out" '[.items[].id] | sort' '["a","b","left1","right1","right2"]'
has "and it is said" "$err" "both sides are taken"
json "the operations are united, each once" "$(cat $R)" '[(.operations | length), (.operations | map(.id) | unique | length)] | .[0] == .[1]' true
json "those of the left" "$(cat $R)" '[.operations[] | select(.params.thread_id == "left1" or .params.content == "from the left") | .command] | sort' '["inject","spawn"]'
json "and those of the right" "$(cat $R)" '[.operations[] | select(.params.thread_id == "right1" or .params.thread_id == "right2") | .command]' '["spawn","spawn"]'
json "the state that changed on the left" "$(cat $R)" .threads.b.status '"suspended"'
json "the objectives of both" "$(cat .leslie/objectives.json)" '.objectives | keys' '["o","q"]'
json "with their threads" "$(cat .leslie/objectives.json)" '.objectives.o.thread_ids | sort' '["a","b","left1","right1"]'
json "and the references of both" "$(cat $R)" '[.relations.left1.references_to, .relations.right1.references_to]' '[["a"],["b"]]'
has "an injection of the other side waits for its thread" "$(heddle status a)" "injections waiting: 1"
same "no marker is left" "$(grep -l '^<<<<<<<' .leslie/*.json)" ""
ok "verify agrees" heddle verify
git add -A && git commit -qm merged
git push -q origin HEAD:refs/heads/both
cd ../left || exit 1
git pull -q --no-rebase origin both >/dev/null 2>&1
json "the other clone has them after its pull" "$(heddle list --json)" '[.items[].id] | sort' '["a","b","left1","right1","right2"]'
same "and is clean" "$(git status --short)" ""
ok "verify agrees there" heddle verify
cd ../right || exit 1
printf '{\n<<<<<<< ours\n{broken\n=======\nnothing\n>>>>>>> theirs\n' >$R
run heddle list --json
exits "a conflict that cannot be read stops nobody" 0
json "the log has the threads" "$out" '.items | length' 5
ok "and the text is kept" sh -c 'grep -q broken .leslie/thread_relations.json.unreadable-*'
# ---- what was made in another order than a clone imports it in
cd .. && mkdir order && cd order || exit 1
git init -q .
heddle init >/dev/null
heddle objective create O --id o >/dev/null
for t in s z m; do spawn $t >/dev/null; done
for t in z m; do heddle reference --from $t --target s >/dev/null; done
for t in y c; do spawn $t --parent s >/dev/null; done
chmod 755 .heddle
git add -A && git commit -qm base
cd .. && git clone -q order again && cd again || exit 1
chmod 755 .heddle
heddle list >/dev/null
same "a clone writes edges and children in the same order" "$(git diff)" ""
same "the directory of a new log is private, whatever the checkout made of it" "$(stat -c %a .heddle)" 700
ok "doctor finds nothing" heddle doctor
done_testing

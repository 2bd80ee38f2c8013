#!/bin/sh
# States, injections, merging, parallel writers, locks, crashes, other programs.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

T=.leslie/threads
heddle init >/dev/null
heddle objective create "Goal" --id goal >/dev/null
spawn() { heddle spawn --objective goal --no-run --intent "work of $1" --id "$@"; }
put() { mkdir -p "$(dirname "$1")" && printf '%b' "$2" >"$1"; }

# ---- states ----
spawn a >/dev/null
same "suspend" "$(heddle lifecycle a suspend --reason lunch)" "a is suspended"
run heddle lifecycle a archive
exits "not every step is allowed" 1
has "the hint lists those that are" "$err" "resume, done, cancel"
heddle lifecycle a resume >/dev/null
same "ask a person" "$(heddle transfer a request_approval --scope deploy)" "a is waiting_human, executor agent"
run heddle lifecycle a 'done'
exits "a waiting thread is not done" 1
same "hand it over" "$(heddle transfer a handoff --target human)" "a is active, executor human"
run heddle transfer a sideways
exits "an unknown direction is misuse" 2
HEDDLE_ACTOR=agent:claude heddle lifecycle a 'done' >/dev/null
json "who did it is written down" "$(cat .leslie/thread_relations.json)" '.operations[-1] | [.command, .operator, .params.actor]' '["lifecycle","agent","agent:claude"]'
heddle lifecycle a archive --as human:ada >/dev/null
json "people are users" "$(cat .leslie/thread_relations.json)" '.operations[-1].operator' '"user"'

# ---- injections ----
spawn b >/dev/null
heddle inject b "Use <TLS> & be quick" --type constraint >/dev/null
has "it waits" "$(heddle status b)" "injections waiting: 1"
run heddle context b --task "Go on."
has "it reaches the next context, escaped" "$out" '<injection type="constraint" by="user"'
has "with its text" "$out" '>Use &lt;TLS&gt; &amp; be quick</injection>'
same "between the block and the task" "$(printf '%s\n' "$out" | tail -n 1)" "Go on."
lacks "and is acknowledged" "$(heddle context b)" "injection"
has "Leslie's log has it on one line" "$(cat $T/b/.meta/injections.log)" "type=constraint content=Use <TLS> & be quick"
run heddle inject a "too late"
exits "what has ended cannot be told" 1

# ---- merging ----
put $T/b/plan.md 'one\ntwo\nthree\nfour\nfive\n'
spawn c --parent b --inherit full >/dev/null
cp $T/c/context/inherited/plan.md $T/c/plan.md && chmod u+w $T/c/plan.md
sed 's/one/ONE/' $T/b/plan.md >x && mv x $T/b/plan.md
sed 's/five/FIVE/' $T/c/plan.md >x && mv x $T/c/plan.md
put $T/c/design/new.md 'new\n'
run heddle merge --sources c --target b --dry-run
has "a dry run says what would be" "$out" "would change  plan.md"
not_ok "and does nothing" test -e $T/b/design/new.md
heddle merge --sources c --target b >/dev/null
same "changes of both are there" "$(cat $T/b/plan.md)" "ONE
two
three
four
FIVE"
same "new files come" "$(cat $T/b/design/new.md)" new
spawn d --parent b --inherit full >/dev/null
clash() {
    cp $T/d/context/inherited/plan.md $T/d/plan.md && chmod u+w $T/d/plan.md
    sed 's/two/TWO by d/' $T/d/plan.md >x && mv x $T/d/plan.md
    sed 's/^two.*/two by b/' $T/d/context/inherited/plan.md >x && mv -f x $T/b/plan.md
}
clash
put $T/d/learnings/l.md 'l\n'
run heddle merge --sources d --target b --strategy strict
exits "strict refuses" 1
has "by name" "$err" "Merge conflict detected: plan.md"
not_ok "and merges nothing at all" test -e $T/b/learnings/l.md
has "the target is as it was" "$(cat $T/b/plan.md)" "two by b"
run heddle merge --sources d --target b --strategy human
has "human lists the conflict" "$out" "conflict  plan.md"
has "the target stays" "$(cat $T/b/plan.md)" "two by b"
has "the other is beside it" "$(cat $T/b/plan.md.from-d)" "TWO by d"
rm $T/b/plan.md.from-d
run heddle merge --sources d --target b --strategy interactive
has "interactive writes both" "$(cat $T/b/plan.md)" "<<<<<<< b
two by b
=======
TWO by d
>>>>>>> d"
clash
heddle merge --sources d --target b --strategy agent-first >/dev/null
has "agent-first takes the source's" "$(cat $T/b/plan.md)" "TWO by d"
run heddle merge --sources d --target b --strategy wild
exits "an unknown strategy is misuse" 2

# ---- many at once ----
spawn root >/dev/null
i=0
while [ $i -lt 60 ]; do
    heddle spawn --intent "child $i" --objective goal --parent root --no-run >"$scratch/p$i" 2>&1 &
    i=$((i + 1))
done
wait
same "sixty at once all succeed" "$(cat "$scratch"/p* | grep -c '^child-')" 60
json "all are children of the root" "$(cat .leslie/thread_relations.json)" '[(.relations.root.children | length), ([.threads[] | select(.parent_id == "root")] | length), (.metadata.thread_count == (.threads | length))]' '[60,60,true]'
same "each has its folder" "$(jq -r '.relations.root.children[]' .leslie/thread_relations.json | while read -r t; do test -d "$T/$t/context/live" && echo y; done | grep -c y)" 60
same "no lock is left" "$(find .leslie -name '*.lock' -o -name '.heddle-*')" ""
ok "verify agrees" heddle verify

# ---- Leslie's lock ----
before=$(cksum .leslie/thread_relations.json)
mkdir .leslie/thread_relations.json.lock
touch -d "1 hour" .leslie/thread_relations.json.lock # however long the command takes to start, the lock is not old
run heddle lifecycle root suspend --json
exits "a lock that is held is respected" 1
json "with a reason" "$out" '[.error.code, .error.reason, .error.details.cause]' '["CONFLICT","lock","Lock file is already being held"]'
same "nothing changed" "$(cksum .leslie/thread_relations.json)" "$before"
ok "the lock is still theirs" test -d .leslie/thread_relations.json.lock
touch -d '11 seconds ago' .leslie/thread_relations.json.lock
ok "one that is old is taken over" heddle lifecycle root suspend
not_ok "and given back" test -e .leslie/thread_relations.json.lock

# ---- two programs on one workspace ----
node=$(command -v node || true)
cat >leslie-like.js <<'JS'
const fs = require('fs'), f = '.leslie/thread_relations.json';
const iso = v => /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z$/.test(v);
const text = s => typeof s === 'string' && s.length > 0;
const list = a => Array.isArray(a) && a.every(x => typeof x === 'string');
const d = JSON.parse(fs.readFileSync(f, 'utf8')), bad = [];
if (d.version !== '1.0' || !iso(d.metadata.last_updated) || !Number.isInteger(d.metadata.thread_count)) bad.push('root');
for (const [k, t] of Object.entries(d.threads))
  if (t.id !== k || !text(t.title) || !text(t.objective) || !iso(t.created_at) || !iso(t.updated_at) || !text(t.storage_path) ||
      !['active','suspended','completed','cancelled','archived','frozen','waiting_human'].includes(t.status) ||
      !['human','agent','system'].includes(t.executor) || !(t.parent_id === null || text(t.parent_id)) || (t.tags && !list(t.tags))) bad.push(k);
for (const o of d.operations)
  if (!text(o.id) || !iso(o.timestamp) || !text(o.command) || !['user','system','agent'].includes(o.operator) || typeof o.params !== 'object') bad.push(o.id);
for (const [k, r] of Object.entries(d.relations))
  for (const n of ['children', 'references_to', 'referenced_by', 'depends_on']) if (!list(r[n])) bad.push(k + '.' + n);
if (JSON.stringify(d, null, 2) + '\n' !== fs.readFileSync(f, 'utf8')) bad.push('layout');
if (bad.length) { console.log(bad.join()); process.exit(1); }
if (process.argv[2]) {
  const now = new Date().toISOString(), id = process.argv[2];
  d.threads[id] = { id, title: 'from node', objective: 'goal', created_at: now, status: 'active', tags: [], parent_id: null,
                    storage_path: '.leslie/threads/' + id, executor: 'agent', updated_at: now };
  d.relations[id] = { children: [], references_to: [], referenced_by: [], depends_on: [] };
  d.operations.push({ id: 'op-' + id, timestamp: now, command: 'spawn', operator: 'user', params: { thread_id: id } });
  d.metadata.last_updated = now; d.metadata.thread_count = Object.keys(d.threads).length;
  fs.writeFileSync(f + '.tmp', JSON.stringify(d, null, 2) + '\n'); fs.renameSync(f + '.tmp', f);
}
JS
if [ -n "$node" ]; then
    for i in 1 2 3; do
        ok "node finds the file valid and writes it ($i)" node leslie-like.js "node-$i"
        ok "heddle writes it after node ($i)" heddle lifecycle "node-$i" suspend
    done
    ok "both programs' threads are there" node leslie-like.js
    json "with their states" "$(heddle list --json)" '[.items[] | select(.title == "from node") | .status]' '["suspended","suspended","suspended"]'
    json "and their operations" "$(cat .leslie/thread_relations.json)" '[.operations[] | select(.id == "op-node-2") | .command]' '["spawn"]'
else
    skip "two programs on one workspace" "no node"
fi
ok "verify still agrees" heddle verify

# ---- killed at any moment ----
n=0
while [ $n -lt 25 ]; do
    "$HEDDLE" spawn --intent k --objective goal --no-run --id "k$n" --ref b --binding frozen >/dev/null 2>&1 &
    pid=$!
    sleep "0.0$((n % 5))$((n * 7 % 10))"
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    n=$((n + 1))
done
run heddle list --json
exits "the next command works" 0
ids=$(printf '%s' "$out" | jq -r '.items[] | select(.title == "k") | .id')
whole=0 all=0
for id in $ids; do
    all=$((all + 1))
    [ -d "$T/$id/context/live" ] && [ -f "$T/$id/context/inherited/plan.md" ] && jq -e ".threads[\"$id\"] and .relations[\"$id\"]" .leslie/thread_relations.json >/dev/null && whole=$((whole + 1))
done
same "every thread that was made is whole" "$whole" "$all"
same "the registry agrees with the log" "$(jq -c '[.threads[].id]' $T/.global/registry.json)" "$(printf '%s' "$out" | jq -c '[.items[].id]')"
ok "and verify agrees" heddle verify

# ---- read-only ----
if [ "$(id -u)" -ne 0 ]; then
    chmod -R a-w .heddle .leslie
    run heddle list
    exits "a read-only workspace can be read" 0
    run heddle lifecycle b suspend
    exits "and not written" 1
    chmod -R u+w .heddle .leslie
else
    skip "a read-only workspace" "root may write anywhere"
fi
run heddle graph --format dot
has "dot" "$out" "digraph threads"
run heddle graph --format mermaid
has "mermaid" "$out" "flowchart LR"
json "json" "$(heddle graph --json)" keys '["edges","format","objectives","threads"]'
# ---- a workspace that was copied is nobody's change ----

# A lock folder that a killed command left would be copied as one that somebody holds.
heddle objective create "Before the copy" >/dev/null
cp -R . "$scratch/copy"
run heddle --root "$scratch/copy" spawn --intent 'In the copy' --objective "$(heddle objective list --json | jq -r '.items[0].id')" --no-run
exits "a copied workspace goes on" 0
same "without a word about its files" "$err" ""
same "and nothing is set aside" "$(find "$scratch/copy" -name '*.unreadable-*')" "$(find . -name '*.unreadable-*' | sed "s|^[.]|$scratch/copy|")"

done_testing

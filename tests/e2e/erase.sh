#!/bin/sh
# `erase` and `log rechain`: words planted wherever content can reach are gone from every file.
# postgres: no, it looks for the words in the database file; tests/conform has erasing on both
# shellcheck source=tests/e2e/lib.sh disable=SC2016
. "$(dirname "$0")/lib.sh"

word=Zqxjkvbp7731
text="Anna $word lives at 12 Mill Lane"

# holds WORD: is it in any file below here, as it is, with escapes of JSON, compressed, or as part of
# something in base64?
cat >"$scratch/holds.mjs" <<'JS'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
const word = process.argv[2], found = [];
const encoded = [0, 1, 2].map((n) => {                  // its inner part, in each of three alignments
  const all = Buffer.concat([Buffer.alloc(n), Buffer.from(word)]).toString('base64url');
  return all.slice(n ? 4 : 0, -4);
});
function look(dir) {
  for (const name of readdirSync(dir)) {
    const path = join(dir, name);
    if (statSync(path).isDirectory()) { look(path); continue; }
    const raw = readFileSync(path);
    const packed = raw.length > 4 && raw.readUInt32LE(0) === 0xfd2fb528;
    const bytes = (packed ? execFileSync('zstd', ['-dc', path], { maxBuffer: 1 << 28 }) : raw).toString('latin1')
      .replace(/\\+u([0-9a-f]{4})/gi, (all, hex) => String.fromCharCode(parseInt(hex, 16)));
    if (bytes.toLowerCase().includes(word.toLowerCase()) || encoded.some((e) => bytes.includes(e)))
      found.push(path);
  }
}
for (const dir of ['.heddle', '.leslie', '.teddy']) if (existsSync(dir)) look(dir);
console.log(found.sort().join(' '));
JS
holds() { node "$scratch/holds.mjs" "$1"; }

# index_words: every word that the index of words has, whichever way its pages hold it.
indexed='' indexed_word=$(printf %s "$word" | tr '[:upper:]' '[:lower:]')
index_words() {
    sqlite3 -readonly .heddle/heddle.db "CREATE VIRTUAL TABLE temp.words USING fts5vocab(main, 'text', 'row'); SELECT term FROM temp.words"
}
if command -v sqlite3 >/dev/null && [ "$(sqlite3 :memory: "SELECT sqlite_compileoption_used('ENABLE_FTS5')")" = 1 ]; then
    indexed=yes
else
    skip "words of the index" "there is no sqlite3 with FTS5"
fi

entry() { # entry KIND PAYLOAD
    printf '{"kind":"%s","payload":%s}\n' "$1" "$2" | heddle log append t --json >/dev/null
}

plant() {
    rm -rf .heddle .leslie
    heddle init >/dev/null
    heddle objective create work --json >"$scratch/objective"
    heddle spawn --intent build --objective "$(jq -r '.objective.id // .id' "$scratch/objective")" --id t \
        --no-run >/dev/null 2>&1
    heddle say t hello >/dev/null 2>&1
    first=$(heddle log show t --json | jq -r 'select(.kind == "ai_message") | .seq' | head -1)
    entry ai_message "{\"role\":\"user\",\"content\":\"$text\",\"node\":{\"id\":\"n1\",\"local_id\":\"a7x2\"}}"
    seq=$((first + 1))
    entry ai_message "{\"role\":\"assistant\",\"content\":\"Noted.\",\"tool_calls\":[{\"id\":\"c1\",\"name\":\"save\",\"arguments\":{\"q\":\"$text\"}}]}"
    entry ai_message '{"role":"assistant","content":"Again.","tool_calls":[{"id":"c2","name":"save","arguments":"{\"q\":\"Anna \\u005aqxjkvbp7731 lives at 12 Mill Lane\"}"}]}'
    entry summary '{"target":{"node":"a7x2","type":"node"},"text":"where '$word' lives"}'
    entry memory_operation '{"agent":"a","op":"stash","label":"home","text":"'$word'"}'
    entry tool_action '{"agent":"a","line":"→ view a7x2","result":"'"$text"'","shows":[{"node":"a7x2","type":"node"}],"verb":"view"}'
    entry model_response '{"body":"data: {\"text\":\"'"$text"'\"}\n\n","model":"m"}'
    token=$(heddle checkpoint t --json 2>/dev/null | jq -r .token)
    entry run_checkpoint '{"run_id":"r1","token":"'"$token"'"}'
    printf '{"messages":[{"role":"user","content":"so far: %s"}]}' "$text" |
        heddle op replace t --context - >/dev/null
    # A large one, stored apart; and words in the index.
    entry ai_message "{\"role\":\"user\",\"content\":\"$text $(head -c 9000 /dev/zero | tr '\0' x)\"}"
    heddle search "$word" >/dev/null
    case $indexed in yes) has "the index knows the word" "$(index_words)" "$indexed_word" ;; esac
    mkdir -p .leslie/threads/t/.meta/transcripts
    printf 'User: %s\n' "$text" >.leslie/threads/t/.meta/transcripts/20260101-0000-x.txt
    printf 'my own notes on %s\n' "$word" >.leslie/threads/t/plan.md
    # Raw bytes of an answer; what a worker printed, what a killed process left, titles and tags.
    entry model_response '{"body_base64url":"'"$(printf '\377\376data: {"t":"%s"}\n\n' "$text" | base64 -w0 | tr +/ -_ | tr -d =)"'","model":"m"}'
    entry ai_message '{"role":"tool","tool_call_id":"c1","content":[{"type":"image","url":"data:text/plain;base64,'"$(printf %s "$text" | base64 -w0)"'"}]}'
    mkdir -p .leslie/logs/workers
    echo "I saw $word" >.leslie/logs/workers/t.log
    echo "$word" >.heddle/.heddle-tmp-a1b2c3d4e5f6
    heddle spawn --intent "for $word" --objective work --id titled --tags "a,$word" --no-run >/dev/null 2>&1
    : >.heddle/heddle.db.v3.bak
    printf '%s' "$word" >.heddle/heddle.db.v4.bak
}

plant
has "the words are in the database" "$(holds $word)" heddle.db
run heddle erase t "$seq" --reason "she asked" --dry-run
exits "a dry run" 0
has "names what was asked for, and how it begins" "$out" "t #$seq ai_message  “$(printf %s "$text" | cut -c1-20)"
has "the summary" "$out" "is a summary of it"
has "the command that showed it" "$out" "is a command that showed it"
has "the snapshot" "$out" "is a snapshot of a context that showed it"
has "entries with the same text" "$out" "model_response: holds the same text"
has "copies" "$out" "transcripts/20260101-0000-x.txt: a copy"
run heddle verify --json
json "and erases nothing" "$out" '[.ok, .erased]' '[true,0]'

run heddle erase t "$seq" --reason "she asked"
lacks "a refusal lists entries without their words" "$out$err" "“"

run heddle erase t "$seq"
exits "a reason is needed" 2
run heddle erase t
exits "and something to erase" 2
run heddle erase t x --reason r
exits "by a number" 2
run heddle erase t 9999 --reason r --json
json "that is there" "$out" '.error.code' '"NOT_FOUND"'
run heddle erase nosuch 0 --reason r --json
json "in a thread that is there" "$out" '.error.code' '"NOT_FOUND"'
run heddle erase t "$seq" --reason r --with-derived --leave-derived
exits "one of two ways" 2
run heddle erase t "$seq" --reason "she asked" --json
exits "without a word about what was derived it is refused" 1
json "as a conflict" "$out" '[.error.code, .error.reason // .error.details.reason // "derived"]' '["CONFLICT","derived"]'
run heddle erase t "$seq" --reason "she asked" --find "$word" --with-derived
exits "with it, it is done" 0
has "and says how much" "$out" "✓ erased"
has "my own files are named and stay" "$out" "plan.md: yours"
has "copies of older databases went" "$out" "heddle.db.v4.bak"
has "what was written beside the log goes too" "$out" "logs/workers/t.log: a copy"
lacks "files that are written anew are nobody's" "$out" ".bak: yours"
same "nothing else holds the word" "$(holds $word)" ".leslie/threads/t/plan.md"
case $indexed in yes) lacks "nor does the index of words" "$(index_words)" "$indexed_word" ;; esac
same "nor the street" "$(holds 'Mill Lane')" ""
run heddle verify --json
json "the log is whole" "$out" '[.ok, .erased > 8]' '[true,true]'
run heddle verify
has "verify counts" "$out" " erased"
run heddle doctor
exits "doctor finds nothing" 0
run heddle project t
has "a context shows that something was there" "$out" '{"content":"[erased]","erased":true,'
run heddle project t --format anthropic
lacks "a provider gets no field it does not know" "$out" '"erased":true'
run heddle project t --format openai --at "$((seq + 1))"
exits "calls without arguments can be sent" 0
lacks "as an object" "$out" '"arguments":"null"'
run heddle tree t
exits "the tree is there" 0
run heddle search "$word"
lacks "no search finds it" "$out" "$word"
run heddle search hello
has "others are found" "$out" "hello"
heddle log export t >"$scratch/t.jsonl"
lacks "an export has nothing of it" "$(cat "$scratch/t.jsonl")" "$word"
run heddle log import u <"$scratch/t.jsonl"
same "and imports to the same chain" "$(heddle head u --json | jq -r .chain)" "$(heddle head t --json | jq -r .chain)"
run heddle verify u
exits "which is whole" 0

# ---- what was exported before does not come back
plant
heddle log export t >"$scratch/before.jsonl"
heddle erase t "$seq" --reason r --find "$word" --with-derived >/dev/null
run heddle log import v <"$scratch/before.jsonl"
exits "an older export is imported" 0
has "and what was erased is said" "$err" "were erased, and come in without their content"
same "nothing of it comes back" "$(holds $word)" ".leslie/threads/t/plan.md"
run heddle verify v
exits "the import is whole" 0
run heddle log import w --salvage <"$scratch/before.jsonl"
same "nor with --salvage" "$(holds $word)" ".leslie/threads/t/plan.md"
rm -rf .heddle .leslie
heddle init >/dev/null
(cat "$scratch/before.jsonl" && printf '{"kind":"erasure","payload":{"reason":"r","seqs":[%s]}}\n' "$seq") >"$scratch/mixed.jsonl"
heddle log import v <"$scratch/mixed.jsonl" >/dev/null 2>&1
run heddle log show v --from "$seq" --to "$seq" --json
lacks "an erasure among the lines is replayed" "$out" "$word"
heddle log import v2 --salvage <"$scratch/mixed.jsonl" >/dev/null 2>&1
run heddle log show v2 --from "$seq" --to "$seq" --json
lacks "with --salvage too" "$out" "$word"
run heddle verify v
exits "and the log is whole" 0

# ---- files of the registry that heddle does not know as its own do not bring it back
plant
cp -r .leslie "$scratch/leslie"
mv .leslie moved
cp -r moved .leslie # as in a workspace that was copied: other inodes
rm -rf moved
run heddle erase t "$seq" --reason r --find "$word" --with-derived
exits "erasing in a workspace that was copied" 0
same "leaves nothing of it" "$(holds $word)" ".leslie/threads/t/plan.md"
cp "$scratch"/leslie/*.json .leslie/
run heddle spawn --intent other --objective work --id other --no-run
exits "a file of somebody who still has it is read" 0
has "what was erased is not taken, which is said" "$err" "'titled' has a text in .leslie/ that was erased here"
lacks "the files do not have it" "$(cat .leslie/*.json .leslie/threads/.global/registry.json)" "$word"
lacks "nor has the log" "$(heddle log export --all)" "$word"
json "tags show that there were some" "$(heddle list --json)" '[.items[] | select(.id == "titled") | .title, .tags[]]' '["[erased]","[erased]"]'
run heddle verify
exits "all is whole" 0
rm -rf "$scratch/leslie"

# ---- a raw answer whose stream has the words in pieces; hashes of requests; what stays is named
plant
hash=$(printf 'ab%062d' 7)
heddle say u 'and who is it?' >/dev/null 2>&1
printf '%s\n' '{"kind":"model_request","payload":{"agent":"a","at":0,"hash":"'"$(printf 'cd%062d' 1)"'","iteration":1,"run_id":"r9"}}' \
    '{"kind":"model_response","payload":{"model":"m","hash":"'"$hash"'","body":"data: {\"d\":\"Anna Zqxj\"}\n\ndata: {\"d\":\"kvbp7731\"}\n\n"}}' \
    '{"kind":"ai_message","payload":{"role":"assistant","content":"It is '"$word"' again","node":{"local_id":"q9q9","parent":null,"response":"'"$hash"'"}}}' \
    '{"kind":"model_request","payload":{"agent":"a","at":2,"hash":"'"$(printf 'ef%062d' 2)"'","iteration":2,"run_id":"r9"}}' \
    '{"kind":"note","payload":{"'"$word"'":1}}' \
    '{"kind":"ai_message","payload":{"role":"assistant","content":"Yes.","reasoning_details":{"model":"p:m","parts":[],"prefix":"'"$hash"'00"}}}' | heddle log append u --json >/dev/null
run heddle erase t "$seq" --reason r --find "$word" --dry-run
has "the answer that a derived message came from" "$out" "u #2 model_response: is the answer of the model it came from"
has "a request that showed it has a hash of it" "$out" "u #4 model_request: has the hash of a request"
lacks "one before it has not" "$out" "u #1 model_request"
has "an entry whose skeleton holds it is named" "$out" "! u #5 note: has it in an id, a path or a name, which stays"
has "so is a hash over the messages before an answer" "$out" "! u #6 ai_message: has a hash over all that stood before it, which stays"
json "in JSON too" "$(heddle erase t "$seq" --reason r --find "$word" --dry-run --json)" '[.kept[] | .thread, .seq]' '["u",5,"u",6]'
heddle erase t "$seq" --reason r --find "$word" --with-derived >/dev/null
lacks "the pieces are gone" "$(heddle log export u)" "kvbp7731\\\""
lacks "and the hash of the answer" "$(heddle log export u)" "\"$hash\""
lacks "and that of the request" "$(heddle log export u)" "$(printf 'ef%062d' 2)"
run heddle verify
exits "the log is whole" 0

# ---- records of operations that were asked for with an op_id: a long request is kept as its hash
plant
printf 'about %s %s' "$word" "$(head -c 20000 /dev/zero | tr '\0' x)" >"$scratch/long"
heddle inject t - --op-id told <"$scratch/long" >/dev/null 2>&1
has "a long request is kept as its hash" "$(heddle log export .global)" '"request":"blake2b:'
run heddle erase t "$seq" --reason r --find "$word" --dry-run
has "the record is listed" "$out" "operation_done: has a hash of the request it belongs to"
heddle erase t "$seq" --reason r --find "$word" --with-derived >/dev/null
lacks "and no hash of the request stays" "$(heddle log export .global)" "blake2b:"
run heddle inject t - --op-id told --json <"$scratch/long"
json "a repeated op_id is known" "$out" '[.error.code, .error.reason]' '["CONFLICT","op_id"]'
same "and appends nothing" "$(holds $word)" ".leslie/threads/t/plan.md"
heddle inject t "of something else" --op-id short >/dev/null 2>&1
heddle say t "one more thing that was said" >/dev/null 2>&1
heddle erase t "$(($(heddle head t --json | jq .rev) - 1))" --reason r --with-derived >/dev/null
has "a request that is kept as it is stays" "$(heddle log export .global)" '"content":"of something else"'

# ---- hashes of copies that were refreshed since
plant
heddle spawn --intent copies --objective work --id copies --ref t:plan.md --binding frozen --no-run >/dev/null 2>&1
older=$(heddle log export .global | jq -r 'select(.payload.operation == "reference") | .payload.files[0].hash')
printf 'more on %s\n' "$word" >.leslie/threads/t/plan.md
heddle refresh --from copies >/dev/null 2>&1
has "the log names what the copy was by its hash" "$(heddle log export .global)" "$older"
heddle erase t "$seq" --reason r --find "$word" --with-derived >/dev/null
lacks "until a later copy in its place is erased" "$(heddle log export .global)" "$older"
run heddle verify
exits "references stay whole" 0

# ---- interrupted: some call of the store fails, before the commit and after it
finished=0

# interrupted K: erase with the K-th call failing; false when there are fewer calls.
interrupted() {
    plant
    HEDDLE_STORE="fault:$1:.heddle/heddle.db" "$HEDDLE" erase t "$seq" --reason r --find "$word" --with-derived \
        >"$scratch/out" 2>&1 && return 1
    if heddle log show t --json | grep -q '"kind":"erasure"'; then
        run heddle verify
        exits "files that are not written anew yet are no damage after call $1" 0
        run heddle doctor
        has "doctor says what is not done after call $1" "$out" "may still hold what entry"
        run heddle erase t "$seq" --find "$word" --dry-run
        has "and so does a dry run" "$err" "interrupted: the log or files may still hold what was erased"
        finished=$((finished + 1))
        if [ $((finished % 2)) = 0 ]; then
            run heddle doctor --fix
        else
            run heddle erase t "$seq" --reason r --find "$word" --leave-derived
            has "the same command finishes it" "$err" "interrupted before is finished now"
        fi
        same "and does it" "$(holds $word)" ".leslie/threads/t/plan.md"
        run heddle doctor
        exits "once" 0
    fi
    run heddle verify t
    exits "the log is whole after call $1" 0
}
interrupt_calls 17 2
ok "some of them came after the commit" test $finished -gt 1

# ---- what cannot be looked into is named
plant
heddle backup mine.zst >/dev/null 2>&1
heddle backup mine.tar >/dev/null 2>&1
mv mine.zst mine.tar .heddle
run heddle erase t "$seq" --reason r --find "$word" --with-derived --json
json "archives among the files are named" "$out" '[.files[] | select(.is == "packed") | .path]' '[".heddle/mine.tar",".heddle/mine.zst"]'
same "and stay, with what is in them" "$(holds $word)" ".heddle/mine.tar .heddle/mine.zst .leslie/threads/t/plan.md"

# ---- repeated
rm -rf .heddle .leslie
heddle init >/dev/null
heddle say t "one thing that was said" >/dev/null 2>&1
heddle erase t 0 --reason r --op-id e1 >/dev/null
run heddle erase t 0 --reason r --op-id e1 --json
json "an erasure that is repeated with its op_id is a duplicate" "$out" '[.duplicate, .clean, .seq]' '[true,true,1]'
run heddle erase t 0 --reason other --op-id e1 --json
json "unless it is another one" "$out" '[.error.code, .error.reason]' '["CONFLICT","op_id"]'

# ---- by node, actor, time
rm -rf .heddle .leslie
heddle init >/dev/null
id=$(heddle say t "one thing that was said" 2>/dev/null | tr -d '[]')
heddle --as eve say t "another thing that was said" >/dev/null 2>&1
run heddle erase t --node "$id" --reason r --json
json "by node" "$out" '[.items[].asked]' '[true]'
run heddle erase t --actor eve --reason r --json
json "by actor" "$out" '[.clean, (.items|length) > 0]' '[true,true]'
heddle say t "a third thing that was said" >/dev/null 2>&1
run heddle erase t --before 2999-01-01T00:00:00Z --reason r
exits "by time" 0
run heddle erase t --before yesterday --reason r
exits "that is a time" 2
run heddle verify
exits "all is whole" 0

# ---- in what threads say to each other, and in frozen copies
rm -rf .heddle .leslie
heddle init >/dev/null
heddle objective create 'Work' --id work >/dev/null
heddle spawn --intent make --objective work --id maker --no-run >/dev/null 2>&1
echo "a plan with Zqxjkvbp7731" >.leslie/threads/maker/plan.md
heddle spawn --intent use --objective work --id user --ref maker:plan.md --binding frozen --no-run >/dev/null 2>&1
heddle inject user "look for Zqxjkvbp7731" >/dev/null 2>&1
rm .leslie/threads/maker/plan.md
has "files hold it" "$(grep -rl Zqxjkvbp7731 .leslie)" thread_relations.json
run heddle erase .global --find Zqxjkvbp7731 --with-derived --reason asked
exits "it is erased" 0
same "no file holds it" "$(grep -rlai Zqxjkvbp7731 .heddle .leslie)" ""
run heddle verify
exits "the log and the files agree" 0
has "what was erased of a thread's copies is said" "$err" "context/inherited/plan.md was erased"
run heddle doctor
exits "and nothing is wrong" 0

# ---- only files hold it, and entries name them by their hashes
rm -rf .heddle .leslie
heddle init >/dev/null
heddle objective create 'Work' --id work >/dev/null
heddle spawn --intent make --objective work --id maker --no-run >/dev/null 2>&1
echo "a plan with $word" >.leslie/threads/maker/plan.md
echo "a design" >.leslie/threads/maker/design.md
hash=$(b2sum -l 256 .leslie/threads/maker/plan.md | cut -d' ' -f1)
heddle spawn --intent use --objective work --id user --ref maker:plan.md --binding frozen --no-run >/dev/null 2>&1
heddle backup "$scratch/with.zst" >/dev/null 2>&1
rm .leslie/threads/maker/plan.md
has "the log names the copy by its hash" "$(heddle log show .global --json)" "$hash"
run heddle erase .global --find "$word" --reason r
exits "copies are not removed without a word" 1
has "the entry that names them is listed" "$err$out" "names a file that holds it by its hash"
run heddle erase .global --find "$word" --reason r --with-derived
exits "with it they are" 0
same "no file holds the word" "$(holds "$word")" ""
same "nor its hash" "$(holds "$hash")" ""
same "nor has an object that name" "$(find .heddle -name "$(printf %s "$hash" | cut -c3-)")" ""
run heddle status user --json
json "the reference is there, with its scope" "$out" '[.references[0] | .target, .binding, .scope]' '["maker","frozen",["plan.md"]]'
run heddle read user plan.md
has "and says why it shows nothing" "$err" "was erased"
run heddle read user design.md
exits "it shows no more than before" 1
run heddle restore-backup "$scratch/with.zst" --force
exits "an older backup is restored" 0
rm -f .heddle/heddle.db.before-restore-*
same "it brings nothing back" "$(holds "$word")$(holds "$hash")" ""
run heddle verify
exits "and is whole" 0
echo "a new plan" >.leslie/threads/maker/plan.md
heddle refresh --from user >/dev/null 2>&1
same "refresh copies what the source has now" "$(heddle read user plan.md)" "a new plan"

# ---- threads that came from the files of another program stay, without their words
rm -rf .heddle .leslie
heddle init >/dev/null
heddle objective create "Work of $word" --id work >/dev/null
heddle spawn --intent make --objective work --id maker --no-run >/dev/null 2>&1
heddle spawn --intent "use of $word" --objective work --id user --ref maker:plan.md --no-run >/dev/null 2>&1
rm -rf .heddle
heddle inject maker hello >/dev/null 2>&1
has "they are imported" "$(heddle log show .global --json)" '"operation":"import"'
jq -nc --arg cwd "$PWD" '{hook_event_name:"SessionStart",session_id:"s1",source:"startup",cwd:$cwd}' |
    HEDDLE_THREAD=user HEDDLE_HOOK_WAIT=1 heddle hook claude-code >/dev/null
same "a session was given a context" "$(find .heddle/hook -name '*.told' | wc -l)" 1
run heddle erase .global --find "$word" --reason r --with-derived
exits "their titles are erased" 0
same "its hash is gone, which could confirm a guess" "$(find .heddle/hook -name '*.told' | wc -l)" 0
has "the log of the objective is removed with them" "$out" "logs/work/objective.log: a copy"
same "no file holds them" "$(holds "$word")" ""
run heddle list --json
json "the threads are still there" "$out" '[.items[] | [.id, .title]]' '[["maker","make"],["user","[erased]"]]'
run heddle objective list --json
json "the objective too" "$out" '[.items[] | [.id, .title]]' '[["work","[erased]"]]'
run heddle status user --json
json "and the reference" "$out" '[.references[0] | .target, .scope]' '["maker",["plan.md"]]'
run heddle verify
exits "all agrees" 0

done_testing

#!/bin/sh
# What programs that draw a workspace ask: the shape of a tree, nodes by id, rows and marks of a log, what differs between
# contexts and between a copy and its source, what waits for a person.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

heddle init >/dev/null
say() { heddle say "$@" | tr -d '[]'; }
a=$(say t 'Which store?')
b=$(say t --agent "" 'SQLite. **Really**.' 2>/dev/null || say t 'SQLite. **Really**.')
c=$(say t --at "$a" 'PostgreSQL?')

# ---- the shape of a tree
heddle tree skeleton t >"$scratch/columns"
numbers=$(od -An -v -t u4 -w4 -N 32 "$scratch/columns" | tr -d ' ' | tr '\n' ' ')
same "three nodes, entries and parents are numbers of 32 bits" "$numbers" "3 $(heddle head t --json | jq .rev) 0 1 3 4294967295 0 0 "
same "a node takes 13 bytes" "$(($(wc -c <"$scratch/columns")))" 47
has "local ids are among them" "$(tail -c 15 "$scratch/columns" | head -c 12)" "$a"
run heddle tree skeleton t --json
same "as lists" "$(printf '%s' "$out" | jq -c '[.nodes, .parents, .locals]')" "[3,[-1,0,0],[\"$a\",\"$b\",\"$c\"]]"
printf '→ bookmark %s\n→ prune %s\n' "$a" "$c" | heddle do t --agent user >/dev/null 2>&1 ||
    for line in "bookmark $a" "prune $c"; do heddle api call loom.line --params "{\"thread\":\"t\",\"line\":\"→ $line\"}" >/dev/null; done
rev=$(heddle head t --json | jq .rev)
run heddle tree skeleton t --since 3 --json
same "what was marked since comes again, with its flags" "$(printf '%s' "$out" | jq -c '[.seqs, (.flags | map(. - . % 4))]')" '[[0,3],[4,8]]'
run heddle tree skeleton t --since "$rev" --json
same "nothing is new" "$(printf '%s' "$out" | jq .nodes)" 0
run heddle tree skeleton nope
exits "a thread that is not there is refused" 1
has "and the shell is told" "$err" "NOT_FOUND"

# ---- nodes
run heddle tree nodes t --to "$b" --content markdown --json
same "the path to a node" "$(printf '%s' "$out" | jq -c '[.items[].id]')" "[\"$a\",\"$b\"]"
same "its Markdown is nodes" "$(printf '%s' "$out" | jq -c '.items[1].markdown[0].children[1]')" '{"type":"strong","children":["Really"]}'
same "tokens are counted" "$(printf '%s' "$out" | jq '.items[1].tokens > 3')" true
run heddle tree nodes t --seqs 0,1,2 --json
same "by entry: what is no node is told" "$(printf '%s' "$out" | jq -c '[(.items | map(.seq)), .missing]')" '[[0,1],[2]]'
same "marks" "$(printf '%s' "$out" | jq -c '.items[0] | [.bookmarked, .children, .hidden]')" '[true,1,1]'
run heddle tree nodes t --ids "$a,zzzz"
exits "an id that is not there is refused" 1
run heddle tree nodes t --ids "$a" --to "$b"
exits "two ways to choose are refused" 2
run heddle tree nodes t --seqs "$(seq -s, 0 200)"
exits "so are more than 200" 1
has "with the limit" "$err" "LIMIT_EXCEEDED"
heddle say t - >/dev/null <<'END'
<img src=x onerror=alert(1)> [bad](javascript:alert(1)) [good](https://example.org)

<script>alert(1)</script>
END
run heddle tree nodes t --last 1 --content markdown --json
same "what looks like HTML is text" "$(printf '%s' "$out" | jq -c '.items[0].markdown[1].children')" '["<script>alert(1)</script>\n"]'
same "a link that could run something has no address" "$(printf '%s' "$out" | jq -c '[.. | objects | select(.type == "link") | .url]')" '[null,"https://example.org"]'
awk 'BEGIN { for (i = 0; i < 70000; i++) printf "é" }' | heddle say t - >/dev/null
run heddle tree nodes t --last 1 --content text --max-bytes 65535 --json
same "a long text is cut between characters, and says so" "$(printf '%s' "$out" | jq -c '.items[0] | [.cut, .bytes, (.text | length)]')" '[true,140000,32767]'
{ awk 'BEGIN { for (i = 0; i < 20000; i++) printf "|a" }' && echo && awk 'BEGIN { for (i = 0; i < 20000; i++) printf "|-" }' && awk 'BEGIN { for (i = 0; i < 2000; i++) print "x" }'; } | heddle say t - >/dev/null
run timeout 120 "$HEDDLE" tree nodes t --last 1 --content markdown --max-bytes 200000 --json
exits "a table of 20,000 columns takes no time" 0
same "and is text" "$(printf '%s' "$out" | jq -c '.items[0].markdown[0].type')" '"paragraph"'

# ---- rows and marks of a log
run heddle log list t --limit 2 --json
same "rows of a log" "$(printf '%s' "$out" | jq -c '[(.items | map([.seq, .kind, .line])), .next]')" '[[[0,"ai_message","Which store?"],[1,"ai_message","SQLite. **Really**."]],2]'
run heddle log list t --backwards --limit 1 --json
same "backwards" "$(printf '%s' "$out" | jq -c '[.items[0].seq == .rev - 1, .next == .rev - 2]')" '[true,true]'
run heddle log list t --limit 2
has "a person is told how to go on" "$out" "
there is more: --from 2"
run heddle log list t --kinds loom_mark --json
same "by kind" "$(printf '%s' "$out" | jq -c '[([.items[].kind] | unique), .next]')" '[["loom_mark"],null]'
heddle op fork t --lane try --at 1 >/dev/null
heddle run start t --text 'Go on' >/dev/null
printf '{"kind":"request_failed","data":{"error":"out of money"}}\n' | heddle run event t >/dev/null
run heddle log marks t --json
same "marks" "$(printf '%s' "$out" | jq -c '[.items[].mark]')" '["fork","switch","run_started","run_failed"]'
fork=$(printf '%s' "$out" | jq '.items[0].seqs | last')
run heddle log marks t --marks fork --parts 1 --last --json
same "the last one of a range" "$(printf '%s' "$out" | jq -c '.items[0].seqs')" "[$fork]"
run heddle log marks t --marks fork --parts 1 --to $((fork - 1)) --last --json
same "the one before it" "$(printf '%s' "$out" | jq -c '.items[0].seqs[0] < '"$fork")" true
run heddle log marks t --marks forks
exits "a mark that there is not is refused" 2
run heddle verify
exits "the view with the marks is what the log gives" 0

# ---- contexts
heddle say u one >/dev/null
heddle say u two >/dev/null
echo '{"system_prompt":"Be brief.","messages":[{"role":"user","content":"sum"},{"role":"user","content":"two"}]}' | heddle op replace u --context - >/dev/null
run heddle compare u --json
same "what an entry changed" "$(printf '%s' "$out" | jq -c '[.items[] | [.change, .role, .line // .count]]')" '[["added","system","Be brief."],["removed","user","one"],["added","user","sum"],["same",null,1]]'
run heddle compare u --at 1 --json
same "a message more" "$(printf '%s' "$out" | jq -c '[.items[] | [.change, .line]]')" '[["added","two"]]'
run heddle compare u --at 0 --vs 1 --json
same "a message less" "$(printf '%s' "$out" | jq -c '[.items[] | [.change, .line]], .removed_tokens')" '[["removed","two"]]
1'
run heddle compare u --vs -1 --json
same "against nothing: the context itself" "$(printf '%s' "$out" | jq -c '[.added, .removed]')" '[3,0]'
run heddle compare t --lane try --vs 2 --vs-lane default --json
same "lane against lane" "$(printf '%s' "$out" | jq -c '[.before.lane, .after.lane, .removed]')" '["default","try",0]'
run heddle compare u --at 1 --vs -1 --limit 1 --json
same "what is left out is told" "$(printf '%s' "$out" | jq -c '[.after.whole, .added]')" '[false,1]'
run heddle compare u --lane nope
exits "a lane that is not there is refused" 1

# ---- documents
heddle objective create Work >/dev/null
objective=$(heddle objective list --json | jq -r '.items[0].id')
heddle spawn --intent Plan --objective "$objective" --id plan --no-run >/dev/null
heddle spawn --intent Build --objective "$objective" --id build --no-run >/dev/null
mkdir -p .leslie/threads/plan
printf 'one\ntwo\nthree\n' >.leslie/threads/plan/plan.md
heddle reference --from build --target plan --binding frozen >/dev/null
run heddle diff build plan.md --json
same "a copy that is fresh" "$(printf '%s' "$out" | jq -c '[.state, .lines]')" '["same",[]]'
run heddle attention --json
same "nothing is stale" "$(printf '%s' "$out" | jq -c '[.items[] | select(.kind == "stale")]')" '[]'
printf 'one\n2\nthree\n' >.leslie/threads/plan/plan.md
run heddle diff build plan.md
exits "a copy against its source" 0
same "line by line" "$out" " one
-two
+2
 three
changed: 1 line gone, 1 new"
run heddle diff plan plan.md
exits "what is no copy has nothing to be compared with" 2
run heddle diff build ../../../../etc/passwd
exits "no way out" 1
rm .leslie/threads/plan/plan.md
run heddle diff build plan.md --json
same "a source that is gone" "$(printf '%s' "$out" | jq -c .state)" '"missing"'
printf 'three\n' >.leslie/threads/plan/plan.md
printf '→ write doc:"notes" "hello"\n' | heddle do plan --agent user >/dev/null 2>&1
run heddle history plan --json
exits "what was written" 0
run heddle diff build plan.md --hash 0000000000000000000000000000000000000000000000000000000000000000
exits "content that the thread did not write is not shown" 1

# What a document was follows from the log, write by write.
heddle spawn --no-run --id words --intent 'Write' --objective "$(heddle objective list --json | jq -r '.items[0].id')" >/dev/null
written() { printf '%s\n' "$1" | heddle do words >/dev/null; }
written '→ write doc:"draft" create "one"'
written '→ write doc:"draft" append "two"'
written '→ write doc:"draft" append "gone"'
written '→ undo'
written '→ write doc:"draft" append "three"'
heddle history words draft.md --json >history
same "each state of a document says whether it is kept" "$(jq -c '[.items[] | [.kept_before, .kept]]' history)" '[[true,true],[false,true],[true,false],[true,true],[false,true]]'
run heddle history words draft.md --limit 4
has "a history that was cut says how it goes on" "$out" "
there is more: --before $(jq '.items[3].seq' history)"
same "a history that is complete says so" "$(heddle history words draft.md --limit 5 --json | jq -c '[(.items | length), .next]')" '[5,null]'
state() { jq -r ".items[$1].after" history; }
same "any two are compared" "$(heddle diff words draft.md --hash "$(state 4)" --to "$(state 0)")" " one
+two
+three
changed: 0 lines gone, 2 new"
same "either way" "$(heddle diff words draft.md --hash "$(state 0)" --to "$(state 4)" --json | jq -c '[.removed, .added]')" '[2,0]'
same "one and what it is now" "$(heddle diff words draft.md --hash "$(state 3)" --json | jq -c '[.removed, .added]')" '[0,1]'
run heddle diff words draft.md --hash "$(state 2)"
exits "what was taken back" 1
has "is not kept" "$err" "is not kept"
run heddle diff words draft.md --to "$(state 0)"
exits "a state alone is compared with nothing" 2
printf 'another program\n' >>"$(jq -r '.items[0].path' history)"
same "what another program changed ends the way back" "$(heddle history words draft.md --json | jq -c '[.items[].kept] | unique')" '[false]'

# ---- what waits
heddle transfer build --to human >/dev/null 2>&1 || heddle lifecycle build wait >/dev/null 2>&1 || :
run heddle attention --json
has "a stale reference" "$(printf '%s' "$out" | jq -c '.items[] | select(.kind == "stale") | [.thread, .target, .state, .files]')" '["build","plan","stale",["plan.md"]]'
has "a failed run" "$(printf '%s' "$out" | jq -c '.items[] | select(.kind == "failed") | [.thread, .agent]')" '["t","default"]'
heddle run start words --text 'Go on' >/dev/null
printf '{"kind":"request_failed","data":{"error":"out of money\\nsecond line"}}\n' | heddle run event words >/dev/null
same "and why, in a line" "$(heddle attention --json | jq -c '.items[] | select(.kind == "failed" and .thread == "words") | .reason')" '"out of money"'
run heddle attention --json
run heddle attention
has "as a table" "$out" "stale"
lacks "which is complete" "$out" "there is more"
run heddle attention --limit 1
has "or says that it is not" "$out" "
there is more: --limit N"

# ---- contexts that are compared in part
heddle say many one >/dev/null && heddle say many two >/dev/null && heddle say many three >/dev/null
run heddle compare many --vs -1 --limit 2
has "messages that were not compared are mentioned" "$out" "older messages are left out: --limit N"
run heddle compare many --vs -1 --limit 3
lacks "when there are any" "$out" "left out"
done_testing

#!/usr/bin/env bash
# Records that no operation of ours would write: a workspace with one record of every sort is exported, every
# member of every record is replaced by hostile values (hostile.mjs), all of that is imported into a
# fresh workspace, and thirty commands are run on it. None may crash, write outside the workspace, or
# change or delete what is the user's. What a record says wrongly is kept and named by verify.
#
#     HOSTILE_VALUES (two mixtures)   what is put in, see hostile.mjs
#     HOSTILE_PARTS (1)               the records of each in so many workspaces; more find more
# tests/torture/hostile.sh takes every value, in many parts.
# postgres: no, it is about requests, not about the log
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
values=${HOSTILE_VALUES:-mix0 mix5}
parts=${HOSTILE_PARTS:-1}
export HEDDLE_ACTOR=ada
top=$PWD

# ---- one record of every sort -----------------------------------------------------------

mkdir good && cd good || exit 1
heddle init >/dev/null
echo '{"text":"Said by the script."}' >answers.jsonl
heddle agent add Ana --kind model --model offline:echo --permissions all >/dev/null
heddle agent add Sub --kind model --model 'offline:script answers.jsonl' >/dev/null
heddle agent add Gone --kind model --model offline:echo >/dev/null
heddle agent set Sub --max-tokens 50 >/dev/null 2>&1
heddle agent remove Gone >/dev/null
heddle objective create Goal --id goal >/dev/null
heddle spawn --id src --intent Source --objective goal --no-run >/dev/null
mkdir -p .leslie/threads/src/artifacts
echo '# Plan' >.leslie/threads/src/plan.md
echo '# Deep' >.leslie/threads/src/artifacts/deep.md
heddle spawn --id t --intent Work --objective goal --no-run --ref src --binding live --parent src --tags a,b >/dev/null 2>&1
heddle spawn --id u --intent Other --objective goal --no-run --ref src --binding frozen >/dev/null 2>&1
heddle reference --from t --target u --binding live >/dev/null 2>&1
heddle reference --from u --target t --binding frozen --scope plan.md >/dev/null 2>&1
heddle refresh --from u >/dev/null 2>&1
heddle inject t 'Keep it short.' --type constraint >/dev/null
heddle transcript t --chat c1 --query q --assistant a >/dev/null
heddle transfer t request_approval --scope deploy >/dev/null
heddle lifecycle t resume >/dev/null
echo '# Notes' >.leslie/threads/t/notes.md
heddle merge --sources src --target t --strategy human >/dev/null 2>&1
heddle say t 'Root.' >say.out
root=$(sed 's/[][]//g' say.out)
heddle say t 'Next.' >say.out
next=$(sed 's/[][]//g' say.out)
heddle do t --agent Ana >do.out 2>&1 <<EOF
Prose of a model.
→ annotate $next "a note"
→ link $next to $root note:"why"
→ link $next to doc:"notes"
→ link $next to tree:"u"
→ bookmark $next "key"
→ exclude $next
→ include $next
→ respond $root "A branch."
→ edit $next "Edited."
→ switch to $next
→ pin $next
→ pin doc:"notes"
→ stash "s" "stashed text"
→ recall "s"
→ drop pin:$next
→ view $next full
→ read doc:"notes"
→ write doc:"notes" append "More."
→ continue from $root using agent:"Sub"
→ unannotate ann-1
→ undo
→ unlink $next from $root
→ prune $next
→ restore $next
→ undo
→ think about it
EOF
heddle tree set t --title Title >/dev/null
heddle summarize t >/dev/null 2>&1
heddle run start t --text 'Go.' --request-id r1 >/dev/null
heddle run steer t 'Left.' >/dev/null 2>&1
echo '{"messages":[{"role":"user","content":"parked"}]}' | heddle op replace t --context - >/dev/null 2>&1
heddle run event t >/dev/null 2>&1 <<'EOF'
{"kind":"llm_completed","id":"e1","data":{"text":"calls","tool_calls":[{"id":"c1","name":"f","arguments":{"x":1}},{"id":"c2","name":"g","arguments":{}}]}}
{"kind":"tool_completed","id":"e2","data":{"tool_call_id":"c2","name":"g","content":"two"}}
{"kind":"checkpoint","id":"e3","data":{"token":"x"}}
{"kind":"tool_completed","id":"e4","data":{"tool_call_id":"c1","name":"f","content":"one"}}
{"kind":"llm_completed","id":"e5","data":{"text":"done","finish_reason":"stop","usage":{"input_tokens":3}}}
{"kind":"request_completed","id":"e6"}
EOF
echo '{"system_prompt":"S","messages":[{"role":"user","content":"snap"}]}' | heddle op replace t --context - --reason compaction --base-seq 3 --rebase >/dev/null 2>&1
heddle op fork t --lane side --at 3 >/dev/null 2>&1
heddle op switch t --lane side >/dev/null 2>&1
heddle log append t >/dev/null 2>&1 <<'EOF'
{"kind":"ai_message","lane":"default","payload":{"role":"tool","tool_call_id":"c9","name":"f","content":[{"type":"text","text":"x"}],"context_ref":"default"}}
{"kind":"unheard_of","payload":{"path":"../x","hash":"../y","pid":7}}
EOF
for t in t u src .global; do heddle log export $t >"$top/$t.jsonl" 2>/dev/null; done
sorts=$(cat "$top"/*.jsonl | jq -r .kind | sort -u | wc -l)
ok "there are records of most kinds (found $sorts)" test "$sorts" -ge 15
cd "$top" || exit 1

# ---- what must not change ---------------------------------------------------------------

mkdir -p canary/dir
echo precious >canary/victim
echo precious >canary/dir/inner
VICTIM=$top/canary/victim
export VICTIM
sums() { (cd "$1" && find . -path ./.heddle -prune -o -path ./.leslie -prune -o -type f -print0 | sort -z | xargs -0 sha256sum); }
canary=$(sums canary; find canary | sort)

# Thirty commands; each may refuse, none may crash. A sanitizer's report exits with 99, a signal with more.
thirty() {
    while IFS= read -r words; do
        [ -n "$words" ] || continue
        code=0
        # shellcheck disable=SC2086
        eval "\"\$HEDDLE\" $words" >"$scratch/out" 2>"$scratch/err" </dev/null || code=$?
        if [ $code -ge 99 ]; then
            crashes="$crashes
$value $part: heddle $words: exit $code: $(tail -n 25 "$scratch/err" | cut -c 1-160)"
        fi
    done <<'EOF'
list
status t
status u --json
artifacts t
read t plan.md
context t --task x
log show t --json
log export t
project t --format anthropic
project t --format openai
project t --lane side --at 5
run status t --json
run recover t
checkpoint t
tree t --depth 20
tree t --json
tree attest t
search the
loom t --agent Ana --show memory
loom t --agent Ana --show context
do t --agent Ana <<<$'→ tree\n→ memory\n→ memory results\n→ memory trace\n→ path\n→ changes since:0\n→ list bookmarks\n→ list pruned\n→ list docs\n→ undo\n→ undo\n→ find "note"\n→ view branch:'$root' as:nodes'
say t 'Still here.'
summarize t
export t --format openloom
agent list
objective status goal
graph
refresh --from u
op fork t --lane other
lifecycle u suspend
ps
stop t
doctor
verify
EOF
}

# bring_in THREAD: import the records. A line that cannot be an entry at all is refused with its
# number; the others come in without it.
bring_in() {
    tries=0
    while [ $tries -lt 200 ]; do
        code=0
        heddle log import "$1" "$scratch/records" >"$scratch/said" 2>&1 || code=$?
        line=$(sed -n 's/^✗ [A-Z_]*: line \([0-9]*\):.*/\1/p' "$scratch/said" | head -n 1)
        if [ $code -ge 99 ]; then
            crashes="$crashes
$value $part: import $1: $(tail -n 25 "$scratch/said" | cut -c 1-160)"
            return
        elif [ $code -eq 0 ]; then
            imported=$((imported + $(wc -l <"$scratch/records")))
            return
        elif [ -z "$line" ]; then
            echo "# $value $part: $1 is refused: $(head -n 1 "$scratch/said" | cut -c 1-200)"
            return
        fi
        sed -i "${line}d" "$scratch/records"
        refused=$((refused + 1))
        tries=$((tries + 1))
    done
}

crashes='' damage='' imported=0 refused=0 made=0
for value in $values; do
    for part in $(seq 0 $((parts - 1))); do
        rm -rf "$top/bad"
        mkdir "$top/bad" && cd "$top/bad" || exit 1
        mkdir src
        echo mine >src/main.c
        heddle init >/dev/null
        for t in .global t u src; do
            node "$here/hostile.mjs" $value "$part" "$parts" <"$top/$t.jsonl" >"$scratch/records"
            made=$((made + $(wc -l <"$scratch/records")))
            bring_in $t
        done
        mkdir -p .leslie/threads/t
        echo '# Notes' >.leslie/threads/t/notes.md
        mine=$(sums .)
        thirty
        [ "$(sums .)" = "$mine" ] || damage="$damage $value/$part: files of the user"
        [ "$(cat .leslie/threads/t/notes.md 2>/dev/null)" = '# Notes' ] || damage="$damage $value/$part: notes.md"
        cd "$top" || exit 1
        [ "$(sums canary; find canary | sort)" = "$canary" ] || damage="$damage $value/$part: outside"
    done
done
same "no command crashes" "$crashes" ''
same "nothing outside is touched, nothing of the user's is lost" "$damage" ''
ok "the records come in ($imported of $made, $refused refused)" test $imported -ge $((made * 8 / 10))
done_testing

#!/bin/sh
# Words reach the place announced: at the prompt of `heddle talk` a line goes where the prompt says, whatever was done before it, and
# what was typed while a model works outlives the turn, however that ends.
# shellcheck disable=SC2016
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/terminal-lib.sh
. "$(dirname "$0")/../terminal-lib.sh"

command -v script >/dev/null || { echo '1..0 # SKIP no script(1)'; exit 0; }
command -v node >/dev/null || { echo '1..0 # SKIP node is not installed'; exit 0; }
unset HEDDLE_NOW HEDDLE_SEED NO_COLOR
mkdir ws && cd ws || exit 1
heddle init >/dev/null
# A held answer stops after two words until its file is there.
held() { printf '{"hold":"%s","text":"alpha beta gamma %s"}\n' "$scratch/$1" "$1"; }
{
    printf '%s\n' '{"text":"First answer."}' '{"text":"Second answer."}' '{"text":"Third answer."}' '{"text":"Fourth answer."}'
    held never1
    printf '%s\n' '{"text":"Kept is answered."}'
    held never2
    held go3
    held go4
} >"$scratch/answers"
: >"$scratch/asked"
cp "$HEDDLE_SOURCE/tests/e2e/talk.js" "$scratch/server.js"
serve "$scratch/answers" "$scratch/asked" "$scratch/port"
export ANTHROPIC_BASE_URL="$base" ANTHROPIC_API_KEY=sk-none
heddle config set loom.summaries false >/dev/null 2>&1
heddle agent add Opus --kind model --model anthropic:claude-opus-5-5 --permissions loom_aware,loom_write >/dev/null

# nodes FILTER: of the nodes, as {id, parent, text}.
nodes() { heddle log show t --json | jq -sr '[.[] | select(.kind == "ai_message") | {id: .payload.node.local_id, parent: .payload.node.parent, text: (.payload.content | gsub("\\s+"; " "))}] | '"$1"; }
id() { nodes "map(select(.text | startswith(\"$1\"))) | last | .id // empty"; }
parent() { nodes "map(select(.text | startswith(\"$1\"))) | last | .parent // empty"; }
has_begun() { [ "$(grep -o 'alpha beta ' screen | wc -l)" -ge "$1" ]; }
is_said() { [ -n "$(id "$1")" ]; }
is_steered() { heddle log show t --json | jq -e --arg s "$1" 'select(.kind == "run_input" and .payload.content == $s)' >/dev/null; }
is_over() { [ "$(heddle run status t --agent Opus --json | jq .active)" = false ]; }

start xterm 'exec env --default-signal=INT "$HEDDLE" talk t --agent Opus'
press '' 'Opus ›'
press 'Question one.\n' 'First answer.'
one=$(id 'Question one.') answer=$(id 'First answer.')
ok "the prompt names the node after which the next line goes" press '' "Opus [$answer] ›"
press 'Question two.\n' 'Second answer.'
same "and there it goes" "$(parent 'Question two.')" "$answer"
two=$(id 'Question two.') second=$(id 'Second answer.')
press '' "Opus [$second] ›"
ok "after /switch to the node that one said last, the prompt names it" press "/switch to $two\\n" "Opus [$two] ›"
press 'Question three.\n' 'Third answer.'
same "and the next line is said there" "$(parent 'Question three.')" "$two"
press '' "Opus [$(id 'Third answer.')] ›"
: >screen
ok "the same for the last question" press "/switch to $two\\n" "Opus [$two] ›"
press '/go\n' 'Fourth answer.'
same "/go answers it once more, beside the first answer" "$(parent 'Fourth answer.')" "$two"
press '' "Opus [$(id 'Fourth answer.')] ›"

# A turn that does not begin: another one of the agent goes on.
: >screen
press "/switch to $one\\n" "Opus [$one] ›"
heddle run start t --agent Opus --text 'Elsewhere.' --request-id r1 >/dev/null
: >screen
press 'Not yet.\n' 'CONFLICT'
heddle run cancel t --agent Opus >/dev/null
ok "a turn that did not begin leaves the place as it was" press '' "Opus [$one] ›"
: >screen
press 'Question four.\n' 'alpha beta '
same "for the next line, too" "$(parent 'Question four.')" "$one"

# A cancelled turn.
press 'Keep this.\n'
await is_steered 'Keep this.'
press '\003'
ok "what was typed while the model worked outlives Ctrl-C" press '' 'what was said meanwhile is kept and was not given to Opus'
same "as a node behind what the model had said" "$(parent 'Keep this.')" "$(id 'alpha beta')"
ok "the prompt is there" press '' "Opus [$(id 'Keep this.')] ›"
ok "and /go has it answered" press '/go\n' 'Kept is answered.'
has "by a model that was given it" "$(tail -n 1 "$scratch/asked")" 'Keep this.'
same "nothing waits, and nothing was dropped" "$(heddle run status t --agent Opus --json | jq -c '[.pending_input, .dropped_input]')" '[[],null]'

# Ended from elsewhere.
: >screen
press 'Question five.\n' 'alpha beta '
press 'Keep that.\n'
await is_steered 'Keep that.'
heddle run cancel t --agent Opus >/dev/null
ok "it outlives a cancel from elsewhere" await is_said 'Keep that.'
ok "the prompt is there, too" press '' "Opus [$(id 'Keep that.')] ›"

# Many lines that are not for the model.
: >screen
press 'Question six.\n' 'alpha beta '
i=0
while [ $i -lt 24 ]; do
    press "/annotate here \"note $i\"\\n"
    i=$((i + 1))
done
: >"$scratch/go3"
is_noted() { [ "$(heddle log show t --json | jq -s '[.[] | select(.kind == "loom_annotation")] | length')" -ge 24 ]; }
ok "every command that was typed meanwhile is done" await is_noted
press '' 'Opus ['
press '/quit\n'
stop

start xterm 'exec env --default-signal=INT "$HEDDLE" talk t --agent Opus --message "One turn."'
press '' 'alpha beta '
press '/bookmark here\n' '/bookmark here' # typed before the answer goes on
: >"$scratch/go4"
ok "a line that nobody takes is told" press '' 'not said: /bookmark here'
stop
heddle verify >/dev/null
ok "the log is whole" heddle verify

# A run whose program is gone: what it was told is in the answer of whoever ends it.
heddle run start u --text 'Q' --request-id r2 >/dev/null
heddle run steer u 'Only the C files.' >/dev/null
has "who ends a run is told what it never read" "$(heddle run cancel u)" 'said to it, and not given to the model: Only the C files.'
same "programs, too" "$(heddle run status u --json | jq -c '[.dropped_input[].content]')" '["Only the C files."]'
heddle run start u --text 'Q' --request-id r3 >/dev/null
same "until the next run" "$(heddle run status u --json | jq -c '.dropped_input')" null
done_testing

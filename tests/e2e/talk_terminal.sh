#!/bin/sh
# `heddle talk` at a terminal: text as it comes, dim commands, the meter, history, commands of the prompt, what is typed while the
# model works, Ctrl-C.
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
printf '%s\n' '{"text":"I look.\n→ tree\nNot kept.","usage":{"input":100,"output":30}}' '{"text":"Two nodes.","usage":{"input":150,"output":10}}' >muse.jsonl
heddle agent add Muse --kind model --model 'offline:script muse.jsonl' --permissions all >/dev/null
heddle config set --user models.prices.offline: '[1000, 0]' >/dev/null
other=$(heddle say other 'Elsewhere.' | tr -d '[]')
words='one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty'
# Each of the long answers stops after two words until its file is there.
printf '%s\n' "{\"hold\":\"$scratch/go.1\",\"text\":\"$words\"}" '{"text":"As you wish."}' "{\"hold\":\"$scratch/never\",\"text\":\"$words twenty-one\"}" \
    '{"text":"Still here."}' "{\"hold\":\"$scratch/go.2\",\"text\":\"$words\"}" >"$scratch/answers"
: >"$scratch/asked"
cp "$HEDDLE_SOURCE/tests/e2e/talk.js" "$scratch/server.js"
serve "$scratch/answers" "$scratch/asked" "$scratch/port"
export ANTHROPIC_BASE_URL="$base" ANTHROPIC_API_KEY=sk-SECRET-0123456789
heddle agent add Opus --kind model --model anthropic:claude-opus-5-5 --permissions loom_aware,loom_write >/dev/null

at_prompt() { start xterm 'exec env --default-signal=INT "$HEDDLE" talk t --agent Muse'; }
# wait_for N: until an answer has begun to count for the N-th time.
has_begun() { [ "$(grep -o 'one two ' screen | wc -l)" -ge "$1" ]; }
wait_for() { await has_begun "$1"; }
dim() { printf '\033[2m%s\033[0m' "$1"; }

at_prompt
ok "the prompt names the agent" press '' 'Muse ›'
ok "an answer is shown" press 'What is there?\n' 'Two nodes.'
ok "commands are dim" press '' "$(dim '→ tree')"
ok "so is what came of them" press '' "$(dim '  Tree: "What is there?" (2 nodes, 0 branches)')"
lacks "and what was not kept is not shown" "$(cat screen)" 'Not kept'
ok "the meter tells tokens and cost" press '' ' out · $0.150)'
ok "a command that fails is told, and the conversation goes on" press '/view nothing99\n' 'node [nothing99] does not exist'
ok "a command of the tree" press '/tree summary\n' 'leaf'
ok "what it would be sent" press '/explain\n' 'nothing was cut'
ok "compaction" press '/compact\n' 'nothing to do'
ok "and the way back" press '/uncompact\n' 'no compaction that could be undone'
ok "help names both kinds of commands" press '/help\n' '/agent NAME'
ok "of the tree, too" press '' '→ help [tool]'
ok "whoever goes to another tree" press "/switch to $other in tree:other\\n" 'in tree:"other"'
ok "speaks there" press 'Hello there.\n' '(in 2 turns: '
ok "an agent that is not there is told at once" press '/agent Opsu\n' "there is no model 'Opsu'"
ok "with those that are" press '' 'one of: Muse, Opus'
ok "another agent" press '/agent Opus\n' 'Opus ['
press 'Count.\n'
wait_for 1
press 'Shorter, please.\n'
is_steered() { heddle log show other --json | grep -qF 'Shorter, please.'; }
await is_steered
: >"$scratch/go.1"
ok "what is typed meanwhile is given to the model" press '' '» Shorter, please.'
ok "and answered" press '' 'As you wish.'
press 'Again.\n' '[2m' # its answer begins behind the echo
wait_for 2
ok "Ctrl-C ends the answer" press '\003' 'the answer was cut off (cancelled)'
lacks "at once" "$(cat screen)" 'twenty-one'
ok "and nothing else" press 'And?\n' 'Still here.'
press 'Once more.\n'
wait_for 3
press '/tree summary\n'
press '/quit\n'
: >"$scratch/go.2"
stop
same "commands that were typed while it worked are not for the model" "$(grep -c '/tree summary\|/quit' "$scratch/asked")" 0
same "they are done after the turn" "$(grep -c 'branches · .*leaf\|branches · .*leaves' screen)" 2
has "the history is kept" "$(cat .heddle/talk_history)" 'What\040is\040there?'
same "the conversation is where it was held" "$(heddle log show other --json | jq -sc '[.[] | select(.kind == "ai_message") | .payload.node.author]')" \
    '["user","user","Muse","Muse","user","Opus","user","Opus","user","Opus","user","Opus","user","Opus"]'
same "the tree that was closed has a summary by the company of its agent; one where no company took part is sent to none" \
    "$(for t in t other; do heddle log show $t --json | jq -sc '[.[] | select(.payload.target.type == "tree") | .payload.model] | last'; done | tr '\n' ' ')" \
    'null "anthropic:claude-3-5-haiku-latest" '
lacks "no key is anywhere" "$(grep -rl SECRET .)" .

at_prompt
press '' 'Muse ['
ok "and is there the next time" press '\033[A' "$(tail -n 1 .heddle/talk_history | sed 's/.040/ /g')"
press '\025'
leave
done_testing

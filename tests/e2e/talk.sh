#!/bin/sh
# `heddle talk`: whole turns with commands and results, limits, steering, interruptions, several agents.
# shellcheck disable=SC1010,SC2016
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

mkdir ws && cd ws || exit 1
heddle init >/dev/null
# model LINES...: what the model of Muse answers, one line each.
model() {
    printf '%s\n' "$@" >muse.jsonl
}
events() { jq -sc "$1" "$scratch/out"; }
log() { heddle log show "$1" --json | jq -sc "$2"; }
heddle agent add Muse --kind model --model 'offline:script muse.jsonl' --permissions all >/dev/null

# ---- three commands, then prose: one batch, one more request, the prose does not count ----
model '{"text":"I look.\n→ tree\n→ view here\n→ annotate here \"first\"\nThis is not kept.","piece":4,"usage":{"input":100,"output":30}}' \
    '{"text":"Two nodes, and a note.","usage":{"input":150,"output":10}}'
run heddle talk t --agent Muse --message 'What is there?'
exits "a turn is taken" 0
has "prose is shown" "$out" 'I look.'
has "commands are" "$out" '→ annotate here "first"'
has "and what came of them" "$out" '✓ annotation [ann-1] added to'
has "each apart from the next" "$out" '  * = current position

  ['
lacks "what follows a batch is not" "$out" 'This is not kept'
has "but that is told" "$out" '! the model went on behind its commands; that was not kept'
has "the answer comes last" "$out" 'Two nodes, and a note.'
same "three results, in order, and one more request" "$(log t '[.[] | select(.kind == "tool_action" or .kind == "model_request") | .payload.verb // "asked"]')" \
    '["asked","tree","view","annotate","asked"]'
same "the conversation holds no tool lines" "$(log t '[.[] | select(.kind == "ai_message") | .payload.content]')" '["What is there?","I look.","Two nodes, and a note."]'
same "every step is in the run" "$(log t '[.[] | select(.refs.run_id) | .kind] | unique')" \
    '["ai_message","model_request","model_response","run_finished","run_started","tool_action"]'
same "an answer that was ended here says so" "$(log t '[.[] | select(.kind == "model_response") | .payload.finish]')" '["client_stop","stop"]'
run heddle tree attest t
exits "the raw answers are evidence" 0
ok "the log is whole" heddle verify
same "no file is left" "$(find .heddle/turns -mindepth 1 | wc -l)" 0
run heddle run status t --agent Muse --json
same "the run is over" "$(printf '%s' "$out" | jq -c '[.active, .status, .termination_reason, (.usage.input > 150)]')" '[false,"completed","final_answer",true]'

# ---- events ----
model '{"text":"Hm.\n→ view nothing99\n","usage":{"input":10,"output":3}}' '{"text":"No such node.","usage":{"input":20,"output":4}}'
run heddle talk t --agent Muse --message 'And now?' --json
same "every event has its type" "$(events '[.[] | .type // "answer"]')" \
    '["started","text","command","node","usage","result","text","node","usage","answer"]'
same "a result is what → says" "$(events '[.[] | select(.type == "result") | .result.error.code]')" '["NOT_FOUND"]'
same "the answer sums up" "$(events 'last | [.outcome, .reason, .rounds, .commands, .usage.input, .usage.output, .text, (.nodes | length)]')" \
    '["completed","final_answer",2,1,30,7,"No such node.",2]'

same "what the turns took; the cost is not known, and not told" "$(heddle stats t | sed -n '$s/[0-9,]* tokens/N tokens/p')" '2 turns, N tokens'

# ---- what was injected is told once, and then recorded as delivered ----
heddle objective create Goal --id goal >/dev/null
heddle spawn --id injected --intent Injected --objective goal --no-run >/dev/null
heddle inject injected 'Keep it short.' --type constraint >/dev/null
model '{"text":"Short.","usage":{"input":10,"output":3}}' '{"text":"Shorter.","usage":{"input":10,"output":3}}'
run heddle talk injected --agent Muse --message 'Well?'
exits "a turn of a thread with an injection is taken" 0
has "it stays part of what the model is sent" "$(heddle assemble injected --agent Muse)" 'Keep it short.'
same "that it was told is recorded" "$(log .global '[.[] | select(.payload.operation == "deliver").payload.injections | length]')" '[1]'
lacks "nothing waits" "$(heddle context injected)" 'Keep it short'
ok "the next turn is taken too" heddle talk injected --agent Muse --message 'Still?'
same "and has nothing to deliver" "$(log .global '[.[] | select(.payload.operation == "deliver")] | length')" 1

# ---- commands in another tree: they are recorded here, and the turn stays here ----
other=$(heddle say other 'Something else.' | tr -d '[]')
model "{\"text\":\"→ switch to $other in tree:other\\n→ annotate here \\\"from afar\\\"\\n\"}" '{"text":"I was there."}'
run heddle talk t --agent Muse --message 'Look over there.'
exits "a batch may act in another tree" 0
has "and comes back" "$out" 'I was there.'
same "what it did is there" "$(log other '[.[] | select(.payload.text == "from afar")] | length')" 1
same "the record of it is in the tree of the turn" "$(log t '[.[] | select(.kind == "tool_action")][-2:] | [.[].payload.verb]')" '["switch","annotate"]'
same "and none in the other" "$(log other '[.[] | select(.kind == "tool_action")] | length')" 0
same "the answer is in the tree of the turn" "$(log t '[.[] | select(.kind == "ai_message")] | last | .payload.content')" '"I was there."'

# ---- when nobody can be asked, the turn does not begin ----
heddle agent add Nowhere --kind model --model anthropic:m --permissions loom_aware >/dev/null
ANTHROPIC_BASE_URL=nowhere run heddle talk nowhere --agent Nowhere --message 'Hello?'
exits "an address that is none" 1
has "is told" "$err" 'ANTHROPIC_BASE_URL is not an address'
same "no tokens are told of, since none were used" "$out" ''
run heddle log show nowhere
exits "and nothing was written" 1

# ---- limits ----
model '{"text":"→ tree\n","usage":{"input":100,"output":10}}'
run heddle talk limits --agent Muse --message 'Go on forever.' --max-rounds 3 --json
same "rounds are limited" "$(events 'last | [.outcome, .reason, .rounds, .commands]')" '["completed","max_iterations",4,3]'
run heddle talk limits --agent Muse --message 'Again.' --max-tokens 150 --json
same "so are tokens" "$(events 'last | [.reason, .usage.input]')" '["max_tokens",200]'
model '{"text":"→ tree\n"}'
run heddle talk limits --agent Muse --message 'And on.' --max-tokens 500 --json
same "also of a model that does not tell: they are estimated" "$(events 'last | [.reason, .usage.estimated, (.usage.input >= 500)]')" '["max_tokens",true,true]'
model '{"text":"→ tree\n","usage":{"input":100,"output":10}}'
heddle config set --user models.prices.offline: '[1000, 0]' >/dev/null
run heddle talk limits --agent Muse --message 'Once more.' --max-cost 0.25 --json
same "and money" "$(events 'last | [.reason, .usage.cost]')" '["max_cost",0.3]'
has "which is told" "$(events '[.[] | select(.type == "notice") | .text]')" 'it has cost as much as it may'
run heddle talk limits --agent Muse --message 'For nothing.' --max-cost 0 --json
same "nothing at all is a limit, too" "$(events 'last | [.reason, .rounds, .usage.cost]')" '["max_cost",2,0.1]'
heddle agent add Asked --kind model --model 'offline:script asked.jsonl' >/dev/null
printf '%s\n' '{"text":"So.","usage":{"input":100,"output":0}}' >asked.jsonl
model '{"text":"→ continue n:3 using agent:\"Asked\"\n","usage":{"input":100,"output":0}}' '{"text":"Never said.","usage":{"input":100,"output":0}}'
run heddle talk spent --agent Muse --message 'Let others work.' --max-cost 0.35 --json
same "what commands ask of models counts, too" "$(events 'last | [.reason, .usage.cost, .usage.input]')" '["max_cost",0.4,400]'
heddle config unset --user models.prices.offline: >/dev/null
heddle config set --user talk.max_rounds 1 >/dev/null
run heddle talk limits --agent Muse --message 'And now.' --json
same "the settings have limits, too" "$(events 'last | .commands')" 1
heddle config unset --user talk.max_rounds >/dev/null

# ---- answers that are not whole ----
model '{"text":"Half of an ans\n→ prune here\n","interrupted":"timeout"}'
run heddle talk cut --agent Muse --message 'Tell.'
exits "an answer that was cut off is a failure" 1
same "what came is kept, and marked" "$(log cut '[.[] | select(.kind == "ai_message")] | last | .payload.content')" '"Half of an ans\n\n[stream interrupted: timeout]"'
same "no command of it is run" "$(log cut '[.[] | select(.kind == "tool_action")] | length')" 0
model '{"text":"→ annotate here \"whole\"\n→ prune a7","finish":"length"}' '{"text":"Done."}'
run heddle talk cut --agent Muse --message 'Go.'
has "a command that was cut off is not run" "$out" '✗ LIMIT_EXCEEDED: not run: your output ended inside of this line'
has "the others are" "$out" '✓ annotation'
model '{"text":"I cannot say.","finish":"content_filter"}'
run heddle talk cut --agent Muse --message 'Say it.' --json
same "a refusal has its reason" "$(events 'last | [.outcome, .reason]')" '["completed","content_filter"]'
model '{"text":""}'
run heddle talk cut --agent Muse --message 'Hello?'
exits "nothing is no answer" 1
has "and that is said" "$err" 'MODEL_ERROR: the model said nothing'
model '{"error":{"status":401,"message":"bad key"}}'
run heddle talk cut --agent Muse --message 'Hello?' --json
exits "a model that fails ends the turn" 1
same "as failed" "$(jq -sc 'last | [.outcome, .reason]' "$scratch/out")" '["failed","authenticationFailed"]'
model '{"text":"Here I am."}'
run heddle talk cut --agent Muse
exits "what was said is still there to be answered" 0
has "and it is" "$out" 'Here I am.'
run heddle talk cut --agent Muse
exits "but only once" 1
has "it says why" "$err" "is Muse's own: there is nothing to answer"

# ---- who sees what ----
heddle agent add Plain --kind model --model offline:request >/dev/null
run heddle talk t --agent Plain --message 'Only this?'
lacks "an agent without permissions gets the conversation alone" "$out" 'Loom Context'
printf '{"text":"→ prune here\\n"}\n' >plain.jsonl
heddle agent set Plain --model 'offline:script plain.jsonl' >/dev/null
run heddle talk t --agent Plain --message 'And?'
same "what it says is shown once" "$(printf '%s\n' "$out" | grep -c prune)" 1
same "and its arrows are text" "$(log t '[.[] | select(.kind == "ai_message")] | last | .payload.content')" '"→ prune here"'
run heddle talk t --agent Muse --message 'x' --as Muse
has "nobody talks to itself" "$err" 'an agent cannot talk to itself'
heddle agent add Ana --kind human >/dev/null
run heddle talk t --agent Ana --message 'x'
has "nor to a person" "$err" '"Ana" is a person, not a model'
run heddle talk t --message x
exits "somebody has to be named" 2

# ---- what the format of a model cannot hold ----
heddle agent add Base --kind model --model compatible-completions:b >/dev/null
printf '%s\n' '{"kind":"ai_message","payload":{"role":"user","content":[{"type":"text","text":"Look."},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]}}' |
    heddle log append seen >/dev/null
run heddle assemble seen --agent Base --explain
has "is told without the name of a thing that there is not" "$(printf '%s' "$out" | tail -n 1)" 'dropped image, which a text cannot hold'
lacks "since no snapshot is involved" "$out" 'snapshot'

# ---- several agents in one thread ----
printf '{"text":"As Bea says."}\n' >bea.jsonl
heddle agent add Bea --kind model --model 'offline:script bea.jsonl' --permissions loom_aware >/dev/null
model '{"text":"I begin."}'
heddle talk duo --agent Muse --message 'Talk to each other.' >/dev/null
run heddle talk duo --agent Bea
exits "another agent answers what the first one said" 0
same "on the same branch" "$(heddle tree duo --json | jq -c '[.nodes, .branches]')" '[3,0]'
run heddle talk duo --agent Muse --at "$(heddle tree duo --json | jq -r '.root // empty')" 2>/dev/null
model '{"text":"Elsewhere."}'
root=$(log duo '[.[] | select(.kind == "ai_message")][0].payload.node.local_id' | tr -d '"')
run heddle talk duo --agent Muse --at "$root"
exits "and one can go on from any node" 0
same "which is a branch" "$(heddle tree duo --json | jq -c .branches)" 2

# ---- a conversation that has become long is shortened for good, which can be taken back ----
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do heddle say long "Ship$i came in. $(seq -s ' ' 1 60)" >/dev/null; done
model '{"text":"So it goes."}'
run heddle talk long --agent Muse --message 'Well?' --budget 1700 --at "$(heddle say long 'Enough.' | tr -d '[]')"
has "it is told" "$out" '! the conversation was compacted from '
undo=$(printf '%s\n' "$out" | sed -n 's/.*; `heddle \(.*\)` takes that back/\1/p')
has "older messages are a summary" "$(heddle project long --format text | head -2)" '[Summary of '
has "what was hidden is found" "$(printf '→ find "ship2"\n' | heddle do long --agent Muse)" '"Ship2 came in.'
# shellcheck disable=SC2086
run heddle $undo
exits "the command that it names takes it back" 0
has "as it was" "$(heddle project long --format text | head -2)" 'Ship1 came in. 1 2 3'
heddle config set compact.auto false >/dev/null
run heddle talk long --agent Muse --message 'And now?' --budget 2400
lacks "it can be switched off" "$out" 'compacted'
heddle config unset compact.auto >/dev/null

# ---- names of requests ----
model '{"text":"Once."}' '{"text":"Twice."}'
run heddle talk again --agent Muse --message 'Hi.' --request-id r7 --json
run heddle talk again --agent Muse --message 'Hi.' --request-id r7 --json
same "a request that is repeated is not made again" "$(events 'last | [.outcome, .reason]')" '["completed","final_answer"]'
same "nothing is written" "$(log again '[.[] | select(.kind == "ai_message")] | length')" 2

# ---- without a terminal ----
model '{"text":"One."}' '{"text":"Two."}'
printf 'first\n/tree summary\nsecond\n' >lines
run heddle talk piped --agent Muse <lines
has "each line is a message" "$out" 'One.'
has "a command of the tree is done" "$out" '2 nodes · 0 branches'
same "messages and answers follow each other" "$(log piped '[.[] | select(.kind == "ai_message") | .payload.content]')" '["first","One.","second","One."]'
has "what it took is counted" "$out" '(in 2 turns: '

# ---- over the network ----
command -v node >/dev/null || { skip "models over the network" "node is not installed"; done_testing; }
cp "$HEDDLE_SOURCE/tests/e2e/talk.js" "$scratch/server.js"
: >"$scratch/asked"
: >"$scratch/answers"
serve "$scratch/answers" "$scratch/asked" "$scratch/port"
export ANTHROPIC_BASE_URL="$base" ANTHROPIC_API_KEY=sk-SECRET-0123456789
heddle agent add Opus --kind model --model anthropic:claude-opus-5-5 --permissions loom_aware,loom_write >/dev/null
# says LINES...: what the server answers from now on.
says() {
    kill $server 2>/dev/null
    rm -f "$scratch/port"
    : >"$scratch/asked"
    printf '%s\n' "$@" >"$scratch/answers"
    serve "$scratch/answers" "$scratch/asked" "$scratch/port"
    export ANTHROPIC_BASE_URL="$base"
}
says '{"thinking":"Let me see.","signature":"sig-1","text":"I look.\n→ tree\nAnd then"}' '{"text":"Seen."}'
run heddle talk net --agent Opus --message 'Look.'
exits "a provider is asked" 0
has "its thinking is shown, and marked where nothing is dim" "$out" '· Let me see.'
same "and goes back to it in the next round, in front" "$(jq -sc '.[1].messages[1].content[0]' "$scratch/asked")" '{"signature":"sig-1","thinking":"Let me see.","type":"thinking"}'
same "the second request begins with the first" "$(jq -sc '[.[0].system == .[1].system, .[0].messages[0].role]' "$scratch/asked")" '[true,"user"]'
same "it is kept" "$(log net '[.[] | select(.kind == "ai_message") | .payload.thinking] | map(select(.))')" '["Let me see."]'
same "tokens that a stream did not tell are estimated" "$(log net '[.[] | select(.kind == "model_response") | [.payload.finish, .payload.tokens_estimated, .payload.prompt_tokens]]')" \
    '[["client_stop",true,20],["stop",null,20]]'
lacks "no key is anywhere" "$(grep -rl SECRET . "$scratch/out" "$scratch/err")" .
says '{"status":400,"body":{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 900 tokens > 500 maximum"}}}' '{"text":"It fits."}'
for i in 1 2 3 4 5 6 7 8; do heddle say net "Long $i: $(seq -s ' ' 1 60)" >/dev/null; done
run heddle talk net --agent Opus --message 'Again.' --at "$(heddle loom net --show context | sed -n 's/^Position.*\[\(.*\)\]\*$/\1/p')"
has "a window that is too small is met with less" "$out" 'older parts of the conversation are left out'
has "and then it fits" "$out" 'It fits.'

# thinking of earlier turns goes back while nothing before it has changed
heddle agent add Subject --kind model --model anthropic:claude-opus-5-5 >/dev/null
says '{"thinking":"One.","signature":"sig-1","text":"First."}' '{"thinking":"Two.","signature":"sig-2","text":"Second."}' '{"thinking":"Three.","signature":"sig-3","text":"Third."}' '{"text":"Fourth."}'
for i in 1 2 3; do run heddle talk think --agent Subject --message "Turn $i."; done
lacks "nothing is told of what is sent back as it was" "$out" 'sent differently'
same "an agent that sees no nodes gets the thinking of all its turns back" \
    "$(jq -sc '.[2].messages | map(.content | if type == "string" then [.] else map(.signature // .text) end)' "$scratch/asked")" \
    '[["Turn 1."],["sig-1","First."],["Turn 2."],["sig-2","Second."],["Turn 3."]]'
first=$(log think '[.[] | select(.kind == "ai_message")][0].payload.node.local_id' | tr -d '"')
printf '→ exclude %s\n' "$first" | heddle do think --agent Muse >/dev/null
run heddle talk think --agent Subject --message 'Turn 4.'
has "after a change in the tree it is dropped, which is told" "$out" '! sent differently: dropped the thinking of 3 messages: what stands before it has changed'
same "all of it" "$(jq -sc '[.[3].messages[].content | arrays | .[] | select(.type == "thinking")] | length' "$scratch/asked")" 0

# what is sent differently is told once in a turn
heddle agent add Firm --kind model --model anthropic:claude-opus-5-5 --temperature 0.5 --permissions loom_aware >/dev/null
says '{"text":"→ tree\n"}' '{"text":"Seen."}'
run heddle talk firm --agent Firm --message 'Look.'
same "not with every request" "$(printf '%s\n' "$out" | grep -c 'left out the setting temperature')" 1

# a model that refuses a last message of the assistant
heddle agent add Older --kind model --model anthropic:claude-sonnet-4-5-20250929 >/dev/null
says '{"text":"Mine."}'
run heddle talk turns --agent Subject --message 'Take turns.'
run heddle talk turns --agent Older
lacks "an older model continues what another one said" "$out" 'sent differently'
run heddle talk turns --agent Subject
has "a newer one gets a message behind it, which is told" "$out" '! sent differently: added a user message at the end, since this model does not continue'
same "as the last one" "$(jq -sc '.[1:] | map(.messages | last | [.role, (.content | if type == "string" then . else .[0].text end)])' "$scratch/asked")" \
    '[["assistant","Mine."],["user","(continue)"]]'

# steering while the model writes
says "{\"hold\":\"$scratch/go\",\"text\":\"one two three four five six seven eight nine ten\"}" '{"text":"As you wish."}'
"$HEDDLE" talk steer --agent Opus --message 'Count.' >"$scratch/steered" 2>&1 &
talk=$!
await grep -q one "$scratch/steered"
run heddle talk steer --agent Opus --message 'Me too.'
has "one turn at a time" "$err" 'is still running'
run heddle run steer steer --agent Opus 'Shorter, please.' --as ada
: >"$scratch/go"
wait $talk
has "what is said meanwhile is given to the model when it has answered" "$(cat "$scratch/steered")" '» Shorter, please.'
has "and it answers" "$(cat "$scratch/steered")" 'As you wish.'
same "as a message of who said it" "$(log steer '[.[] | select(.kind == "ai_message") | [.payload.node.author, .payload.role]]')" '[["user","user"],["Opus","assistant"],["ada","user"],["Opus","assistant"]]'

# ended from outside
slowly="{\"slow\":1000,\"text\":\"one two $(seq -s ' ' 3 300) end\"}" # a word every second
says "$slowly"
"$HEDDLE" talk ended --agent Opus --message 'Count.' >"$scratch/ended" 2>&1 &
talk=$!
await grep -q one "$scratch/ended"
heddle run cancel ended --agent Opus >/dev/null
wait $talk
lacks "a run that is cancelled elsewhere ends soon" "$(cat "$scratch/ended")" ' end'
says "$slowly"
"$HEDDLE" talk term --agent Opus --message 'Count.' >"$scratch/term" 2>&1 &
talk=$!
await grep -q two "$scratch/term"
kill -TERM $talk
wait $talk
has "so does one that is interrupted by a signal" "$(cat "$scratch/term")" 'the answer was cut off (cancelled)'
has "and what came is kept" "$(log term '[.[] | select(.kind == "ai_message")] | last | .payload.content')" '[stream interrupted: cancelled]'
same "as cancelled" "$(log term '[.[] | select(.kind == "run_finished")] | last | .payload | [.outcome, .cancel_reason]')" '["cancelled","user_cancelled"]'

# killed, and resumed
says '{"text":"Before.\n→ annotate here \"once\"\n"}' '{"hang":true}' '{"text":"After."}'
"$HEDDLE" talk killed --agent Opus --message 'Go.' >/dev/null 2>&1 &
talk=$!
asked_twice() { [ "$(wc -l <"$scratch/asked")" -ge 2 ]; }
await asked_twice
run heddle talk killed --agent Opus --resume
has "a turn that goes on is not resumed" "$err" 'another process runs this turn'
kill -9 $talk
wait $talk 2>/dev/null
run heddle talk killed --agent Opus --message 'More.'
has "a turn that was killed is still the agent's" "$err" '`heddle talk killed --agent Opus --resume` goes on with it, `heddle run cancel killed --agent Opus` ends it'
run heddle talk killed --agent Opus --resume
exits "it goes on" 0
has "after saying what is not known" "$out" 'what it answered is not known: it is asked again'
has "to its end" "$out" 'After.'
same "and the command was run once" "$(log killed '[.[] | select(.kind == "loom_annotation")] | length')" 1
run heddle talk killed --agent Opus --resume
exits "then there is nothing to resume" 1

# a resumed turn knows what its commands have used
heddle agent add Chief --kind model --model anthropic:claude-opus-5-5 --permissions all >/dev/null
says '{"text":"→ continue using agent:\"Subject\"\n"}' '{"text":"Continued."}' '{"hang":true}' '{"text":"After."}'
"$HEDDLE" talk used --agent Chief --message 'Go.' >/dev/null 2>&1 &
talk=$!
asked_thrice() { [ "$(wc -l <"$scratch/asked")" -ge 3 ]; }
await asked_thrice
kill -9 $talk
wait $talk 2>/dev/null
run heddle talk used --agent Chief --resume --json
same "beside what it has used itself" "$(events 'last | [.outcome, .usage.requests, .usage.input]')" '["completed",3,60]'

# killed when the answer was in the file, and not yet in the log
for who in Opus Subject; do
    says "{\"hold\":\"$scratch/never\",\"thinking\":\"Hm.\",\"signature\":\"s\",\"text\":\"Eins zwei drei vier\"}"
    "$HEDDLE" talk "kept$who" --agent "$who" --message 'Count.' >"$scratch/kept" 2>&1 &
    talk=$!
    await grep -q Eins "$scratch/kept"
    kill -9 $talk
    wait $talk 2>/dev/null
    for part in '{"type":"message_delta","delta":{"stop_reason":"end_turn"}}' '{"type":"message_stop"}'; do
        printf 'data: %s\n\n' "$part"
    done >>"$(echo .heddle/turns/*/answer-1)"
    run heddle talk "kept$who" --agent "$who" --resume
    exits "the answer of $who is taken from the file" 0
    same "its text is shown once" "$(printf '%s\n' "$out" | grep -c Eins)" 1
    same "and its thinking" "$(printf '%s\n' "$out" | grep -o 'Hm\.' | wc -l)" 1
    same "the model was not asked again" "$(wc -l <"$scratch/asked")" 1
done
done_testing

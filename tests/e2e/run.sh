#!/bin/sh
# `heddle run`: the life of a request from the shell.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

event() { # event LINES WORDS...
    event_lines=$1
    shift
    printf '%s\n' "$event_lines" | heddle run event "$@"
}
ANSWER='{"kind":"llm_completed","data":{"text":"A"}}'
DONE='{"kind":"request_completed"}'

ok "a workspace" heddle init
for word in status steer inject drain cancel recover event; do
    if [ $word = steer ] || [ $word = inject ]; then set -- nosuch text; else set -- nosuch; fi
    run heddle run $word "$@" --json </dev/null
    json "run $word of an unknown thread" "$out" .error.code '"NOT_FOUND"'
done

run heddle run start t
exits "a run needs a text" 2
run heddle run start t --text Q --request-id r1 --json
json "it starts" "$out" '[.status, .active, .request_id, .iteration]' '["awaiting_llm",true,"r1",1]'
run heddle run start t --text Q2 --json
json "a second one is busy" "$out" .error.reason '"busy"'
run heddle run start t --text Q2 --request-id ../x
exits "a request id is a name" 1
run heddle run status t --json
json "the state can be asked" "$out" '[.status, .request_id]' '["awaiting_llm","r1"]'

run event 'not json' t
has "a bad line is named" "$err" "line 1: JSON:"
has "with what an event is" "$err" 'hint: an event is one line: {"kind"'
run event '[]' t
has "so is one that is no object" "$err" "line 1: an event is an object"
run event "$ANSWER
{\"data\":{}}" t
has "and an event without a kind" "$err" "event 2: a runtime event needs"
run heddle run status t --json
json "nothing of those was applied" "$out" '[.status, .result]' '["awaiting_llm",null]'
run heddle run event t --json </dev/null
json "no events are no change" "$out" '[.events, .logged, .state.status]' '[0,0,"awaiting_llm"]'
run event '{"kind":"llm_delta","data":{"text":"..."}}' t --json
json "some leave no trace" "$out" '[.events, .logged]' '[1,0]'

run heddle run steer t '  more  ' --json
json "steering waits" "$out" '.input_id|startswith("inp_")' true
run heddle run steer t '   ' --json
json "blank steering" "$out" .error.reason '"empty_content"'
run heddle run steer t x --request-id r9 --json
json "steering for another request" "$out" .error.reason '"request_mismatch"'
run heddle run steer t "$(printf 'a\377')"
exits "steering that is not UTF-8" 1
run heddle run steer t x --refs '[]'
exits "refs must be an object" 1
printf 'from\nstdin\n' | heddle run inject t - --source /cron --refs '{"k":"v"}' >/dev/null
run heddle run drain t
json "it is drained in order" "$out" '[.[].content]' '["more","from\nstdin"]'
run heddle log export t
json "with where it came from" "$(printf '%s\n' "$out" | tail -n 1)" '[.payload.role, .refs.source, .refs.k]' '["user","/cron","v"]'

run event "$ANSWER" t --json
json "an answer seals the run" "$out" '[.state.sealed, .state.result]' '[true,"A"]'
run heddle run steer t late --json
json "it is too late to steer" "$out" .error.reason '"closed"'
run event "$DONE" t
has "and it ends" "$out" "completed"
run event "$DONE" t --json
json "once" "$out" .error.reason '"idle"'
run heddle run start t --text other --request-id r1 --json
json "its id is used up" "$out" .error.reason '"request_id"'

run heddle run start t --text - --request-id r2 </dev/null
exits "a text from an empty stdin" 0
run heddle run cancel t --request-id r1 --json
json "cancelling another request" "$out" .error.reason '"request_mismatch"'
run heddle run cancel t --reason "no more" --json
json "cancelling this one" "$out" '[.status, .termination_reason, .cancel_reason]' '["error","cancelled","no more"]'
run heddle run cancel t --json
json "once" "$out" .error.reason '"idle"'

run heddle run start t --content '[{"type":"text","text":"hi"},{"type":"image_url","url":"x"}]' --request-id r3
exits "content can be parts" 0
run heddle project t
json "and is kept as such" "$out" '.messages[-1].content | length' 2
run heddle run recover t
has "a run can be ended from outside" "$out" "stream_interrupted"
run heddle run start t --content '{"a":1}'
exits "but not any JSON" 1
run heddle run start t --content '[' --request-id r4
has "nor half of it" "$err" "--content: JSON"
run heddle run start t --text "$(printf 'a\377')"
exits "nor what is not UTF-8" 1
run heddle run start t --text Q --tools a,b --allowed-tools a,z --json
json "unknown tools" "$out" .error.reason '"unknown_allowed_tools"'

# ---- agents
run heddle run start t --text Q --agent ann --request-id a1
exits "one agent" 0
run heddle run start t --text Q --agent bob --request-id b1 --json
json "another waits for its lane" "$out" .error.reason '"lane_busy"'
heddle op fork t --lane bobs --switch --agent bob >/dev/null
run heddle run start t --text Q --agent bob --request-id b1
exits "and on its own goes at the same time" 0
run event "$ANSWER" t --agent bob --json
json "each has its own state" "$out" .state.result '"A"'
run heddle run status t --agent ann --json
json "and nobody else's" "$out" '[.status, .result]' '["awaiting_llm",null]'
run heddle run status t --json
json "whose runs there are is told with each" "$out" '[.active, (.runs|map([.agent, .active]))]' '[false,[["ann",true],["bob",true],["default",false]]]'
run heddle run status t
has "also at a terminal: another agent's run goes on" "$out" "  ann: awaiting_llm (--agent ann)"
run heddle run status t --agent a/b
exits "an agent is a name" 1

# ---- a runtime that dies between two reports, and reports again
heddle run start crash --text Q --request-id c1 >/dev/null
BATCH='{"kind":"llm_completed","id":"e1","seq":1,"data":{"tool_calls":[{"id":"t1","name":"f"}]}}
{"kind":"tool_completed","id":"e2","seq":2,"tool_call_id":"t1","data":{"content":"r"}}
{"kind":"llm_completed","id":"e3","seq":3,"data":{"text":"A"}}
{"kind":"request_completed","id":"e4","seq":4}'
event "$BATCH" crash >/dev/null
rev=$(heddle log export crash | wc -l)
run event "$BATCH" crash --json
json "a report sent twice is known" "$out" '[.duplicates, .logged]' '[4,0]'
same "and leaves no second entry" "$(heddle log export crash | wc -l)" "$rev"
ok "after all that the log is whole" heddle verify

# ---- what a runtime asks
heddle run start state --text Q --request-id s1 >/dev/null
event '{"kind":"llm_completed","data":{"tool_calls":[{"id":"c1","name":"ls","arguments":{"path":"."}}]}}' state >/dev/null
run heddle run steer state 'Only C files.' --op-id in-1 --json
same "steering has the id it is given" "$out" '{"input_id":"in-1"}'
run heddle run steer state 'Only C files.' --op-id in-1 --json
exits "and can be repeated" 0
run heddle run steer state 'Others.' --op-id in-1 --json
json "not with other words" "$out" .error.reason '"op_id"'
echo '{"messages":[]}' | heddle op replace state --context - --op-id later >/dev/null
run heddle run status state --json
json "the state has the seed's fields" "$out" \
    '[.active_context_ref, .projection_cursor_seq, .applied_context_ops, .pending_context_op.op_id, .pending_context_op.type]' \
    '["default",4,[],"later","replace"]'
json "the text of waiting input" "$out" '[.pending_input[] | .content]' '["Only C files."]'
json "the arguments of open calls" "$out" '[.pending_tool_calls[].arguments]' '[{"path":"."}]'
run heddle run drain state --json
json "nothing is drained between a call and its result" "$out" .error.reason '"awaiting_tool"'
run heddle run cancel state
exits "the run ends" 0
json "and its operation was applied" "$(heddle run status state --json)" .applied_context_ops '["later"]'
event '{"kind":"tool_completed","tool_call_id":"c1","data":{"content":"late"}}' state >/dev/null
has "a late result is in the log" "$(heddle log show state)" "late"
run heddle run start state --text Q --max-iterations -3
exits "a run has at least one iteration" 1
run sh -c '"$HEDDLE" run start two --text Q --request-id t1; "$HEDDLE" run start two --text Q --request-id t1 --json'
exits "the same request again is harmless" 0

# ---- events that would be lost without a word
heddle run start slip --text q --request-id s1 >/dev/null
run event '{"kind":"llm_complete","data":{"text":"hi"}}' slip
exits "a kind that is not known is taken" 0
has "and warned of" "$err" "kind 'llm_complete' is not known and has no effect; did you mean llm_completed?"
run event '{"kind":"llm_delta","data":{"text":"hi"}}' slip
same "kinds without an effect are not" "$err" ""
run event '{"kind":"llm_completed","data":{"content":[{"type":"text","text":"a"},{"type":"tool_use","id":"c1","name":"f","input":{"x":1}}]}}' slip --json
json "calls among the parts are open calls" "$out" '[.state.status,.state.pending_tool_calls[0].id]' '["awaiting_tool","c1"]'
run event '{"kind":"tool_completed","tool_call_id":"c1","data":{"result":5}}' slip
exits "and their results are recorded" 0
run heddle project slip --format anthropic
json "each call is sent once" "$out" '[.messages[].content | arrays | .[].type]' '["text","tool_use","tool_result"]'
same "without a repair" "$err" ""
run event '{"kind":"tool_completed","tool_call_id":"c9","data":{"result":5}}' slip
has "a result without a call names the way" "$err" "run_id"

done_testing

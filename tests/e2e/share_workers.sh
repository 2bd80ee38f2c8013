#!/bin/sh
# Executors: started, waited for, stopped, missed when they die.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

heddle init >/dev/null
heddle objective create "Goal" --id goal >/dev/null
state() { heddle list --json | jq -r ".data[] | select(.id == \"$1\") | .status"; }

run heddle spawn --intent x --objective goal --id alone
exits "without an executor the thread is recorded" 0
has "and that is said" "$err" "recorded only"
mkdir -p "$HOME/.config/heddle"
cat >"$HOME/.config/heddle/config.json" <<'JSON'
{"executors": {
  "agent": ["sh", "-c", "cat >got-$HEDDLE_THREAD; echo \"$HEDDLE_ACTOR was here\"; test ! -e hold || while test -e hold; do sleep 0.02; done; echo more"],
  "fails": ["sh", "-c", "exit 3"],
  "missing": ["/no/such/program"],
  "sleeps": ["sh", "-c", "sleep 300 & sleep 300"],
  "asks": ["sh", "-c", "echo '{\"type\":\"init\",\"session_id\":\"s-42\"}'; \"$HEDDLE\" lifecycle $HEDDLE_THREAD suspend >/dev/null"]}}
JSON
export HEDDLE
run heddle spawn --intent "Write the plan" --objective goal --id w1 --json
json "spawn says how it runs" "$out" '.data.run_mode' '"background"'
ok "wait succeeds when it did" heddle wait w1 --timeout 20
same "the prompt came on stdin" "$(cat got-w1)" '<thread_context thread="w1" objective="goal" relations_file=".leslie/thread_relations.json">
</thread_context>

Write the plan'
same "the thread is done" "$(state w1)" completed
has "the output is its transcript" "$(cat .leslie/threads/w1/.meta/transcripts/*.txt)" "agent:agent was here"
json "ps knows it" "$(heddle ps --json)" '[.data[] | select(.thread == "w1") | .state, .exit_code]' '["exited",0]'

heddle spawn --intent x --objective goal --id w2 --with fails >/dev/null
not_ok "wait fails when it did" heddle wait w2 --timeout 20
same "a failure leaves the state alone" "$(state w2)" active
heddle spawn --intent x --objective goal --id w3 --with missing >/dev/null
not_ok "a program that is not there is a failure" heddle wait w3 --timeout 20

heddle spawn --intent x --objective goal --id w4 --with asks >/dev/null
heddle wait w4 --timeout 20 >/dev/null
same "a state changed during the run is kept" "$(state w4)" suspended
json "and the session it named is stored" "$(cat .leslie/thread_relations.json)" '.threads.w4.session_id' '"s-42"'

# ---- children and their parent ----
touch hold
heddle spawn --intent parent --objective goal --id mother >/dev/null
heddle spawn --intent child --objective goal --id kid --parent mother --no-run >/dev/null
rm hold
heddle wait mother --timeout 20 >/dev/null
same "a parent with an open child waits" "$(state mother)" suspended
json "as the system" "$(cat .leslie/thread_relations.json)" '[.operations[] | select(.params.thread_id == "mother" and .command == "lifecycle") | .operator, .params.reason]' '["system","Waiting for child threads"]'
heddle lifecycle kid 'done' >/dev/null
heddle wait mother --timeout 20 >/dev/null
same "and goes on when the last child has ended" "$(state mother)" completed

# ---- stopping ----
heddle spawn --intent x --objective goal --id w5 --with sleeps >/dev/null
pid=$(heddle ps --json | jq '.data[] | select(.thread == "w5") | .pid')
json "it runs" "$(heddle ps --json)" '[.data[] | select(.thread == "w5") | .state]' '["running"]'
not_ok "wait can give up" heddle wait w5 --timeout 0
run heddle wait w5 --timeout 9223372036854775807
exits "a time that no clock reaches is a misuse" 2
ok "stop" heddle stop w5
same "its whole group is gone" "$(ps -e -o pgid=,stat= | grep -v Z | grep -c "^ *$pid ")" 0

# ---- a worker that dies without a word ----
heddle spawn --intent x --objective goal --id w6 --with sleeps >/dev/null
pid=$(heddle ps --json | jq '.data[] | select(.thread == "w6") | .pid')
sleep 0.3
kill -9 "-$pid"
sleep 0.1
json "is noticed" "$(heddle ps --json)" '[.data[] | select(.thread == "w6") | .state]' '["lost"]'
not_ok "and is not a success" heddle wait w6 --timeout 5

# ---- run, under the other name ----
run "$(dirname "$HEDDLE")/leslie" run --title "All of it" --no-tui
exits "leslie run goes to the end" 0
json "and says so" "$out" '.data.status' '"completed"'
done_testing

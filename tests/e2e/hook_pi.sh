#!/bin/sh
# pi itself with heddle's extension, offline: what reaches the model, what is denied, what is recorded.
# suite: clients
# asan: no
# postgres: no, the same calls as hook.sh, from another program
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/npm-lib.sh
. "$(dirname "$0")/../npm-lib.sh"
# shellcheck source=tests/agents-lib.sh
. "$(dirname "$0")/../agents-lib.sh"

agent_have pi || skip_all "pi with an extension" "$npm_why"
agent_model

run_pi() { pi --print "$@" </dev/null >"$scratch/pi" 2>&1; }
last_file() { find "$HOME/.pi/agent/sessions" -name '*.jsonl' -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2; }

agent_workspace research review
mkdir -p "$HOME/.pi/agent"
cat >"$HOME/.pi/agent/models.json" <<END
{"providers":{"mock":{"baseUrl":"$model/v1","api":"openai-completions","apiKey":"x","models":[{"id":"m1","contextWindow":100000,"maxTokens":4096}]}}}
END
echo '{"compaction":{"keepRecentTokens":1}}' >"$HOME/.pi/agent/settings.json" # a short session is compacted, too
heddle install pi --scope user --program "$HEDDLE" >/dev/null

HEDDLE_THREAD=build run_pi "PROMPT one"
same "a new session has the block once, beside its prompt" "$(seen "$(block build)" 'PROMPT one')" '1 of 1 before'
check_first

echo '# Plan' >$T/build/plan.md
run_pi --continue "PROMPT two"
same "a resumed one has the newest block once, where it goes on" "$(seen "$(block build)" 'PROMPT two')" '1 of 2 before'

echo 'done' >$T/build/progress.md
run_pi --fork "$(last_file)" "PROMPT three"
same "a fork has the block of its origin's thread" "$(seen "$(block build)" 'PROMPT three')" '1 of 3 before'
json "it is a lane of the same thread" "$(heddle api call name.list --params '{"kind":"lane","thread":"build"}')" '.items | length > 1' true

answered() { [ "$(grep -c '"type":"agent_settled"\|"command":"compact"' "$scratch/events")" -ge "$1" ]; }
# rpc UNTIL COMMAND...: commands in one process, each when UNTIL was seen once more
rpc() {
    mkfifo "$scratch/rpc" && : >"$scratch/events"
    pi --mode rpc --continue <"$scratch/rpc" >"$scratch/events" 2>/dev/null &
    agent=$!
    exec 3>"$scratch/rpc"
    turn=0
    for command; do
        printf '%s\n' "$command" >&3
        turn=$((turn + 1))
        await answered $turn
    done
    exec 3>&-
    wait $agent
}
mkdir $T/build/design
echo x >$T/build/design/a.md
rpc '{"type":"prompt","message":"PROMPT four"}' '{"type":"compact"}' '{"type":"prompt","message":"PROMPT five"}'
has "the conversation is compacted" "$(grep '"command":"compact"' "$scratch/events" | cut -c1-100)" '"success":true'
same "after a compaction the newest block stands once where it goes on" "$(seen "$(block build)" 'PROMPT five')" '1 of 1 before'

echo "echo changed >$T/review/design.md" >s.sh
HEDDLE_THREAD=build run_pi "CALL write {\"path\":\"$T/research/design.md\",\"content\":\"x\"}
CALL bash {\"command\":\"sh ./s.sh\"}"
same "a write below a referenced thread is denied" "$(cat $T/research/design.md)" '# What we know'
same "the model is told why" "$(told "belongs to thread 'research'")" yes
same "a script slips past" "$(cat $T/review/design.md)" changed
same "and is reported to the model" "$(told 'files changed that thread')" yes

HEDDLE_THREAD=research run_pi "PROMPT other"
same "another thread's session has its own block" "$(seen "$(block research)" 'PROMPT other')" '1 of 1 before'
lacks "nothing of it is in the first thread" "$(heddle log show build --json)" 'PROMPT other'

json "an import afterwards finds everything recorded" "$(heddle import pi "$HOME/.pi/agent/sessions" --json)" '[.items[].entries] | add // 0' 0
check_import pi "$HOME/.pi/agent/sessions"
# shellcheck disable=SC2046 # paths have no blanks
check_export pi $(find "$HOME/.pi/agent/sessions" -name '*.jsonl')
heddle export build --lane default --to pi --place --id exported-1 >"$scratch/placed"
run_pi --session "$(head -n 1 "$scratch/placed")" "PROMPT exported"
same "pi goes on with a lane that was exported" "$(told 'PROMPT two')$(told 'PROMPT exported')" yesyes
ok "the log verifies" heddle verify
same "nothing went wrong" "$(cat .heddle/hook.log 2>/dev/null)" ''
check_worktree block '1 of 1 before' run_pi
done_testing

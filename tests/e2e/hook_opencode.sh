#!/bin/sh
# opencode itself with heddle's plugin, offline: what reaches the model, what is denied, what is
# recorded.
# suite: clients
# asan: no
# postgres: no, the same calls as hook.sh, from another program
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/npm-lib.sh
. "$(dirname "$0")/../npm-lib.sh"
# shellcheck source=tests/agents-lib.sh
. "$(dirname "$0")/../agents-lib.sh"

agent_have opencode || skip_all "opencode with a plugin" "$npm_why"
agent_model

run_opencode() { opencode run "$@" </dev/null >"$scratch/opencode" 2>&1; }

agent_workspace research review
cat >opencode.json <<END
{"autoupdate":false,"share":"disabled","model":"mock/m1","small_model":"mock/m1",
 "provider":{"mock":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"$model/v1","apiKey":"x"},"models":{"m1":{"limit":{"context":100000,"output":4096},"tool_call":true}}}}}
END
agent_opencode_ready
heddle install opencode --program "$HEDDLE" >/dev/null

HEDDLE_THREAD=build run_opencode "PROMPT one"
if ! grep -q 'PROMPT one' "$asked"; then
    skip_all "opencode with a plugin" "opencode does not start here: $(tail -n 1 "$scratch/opencode")"
fi
same "a new session has the block once, before its prompt" "$(seen "$(block build)" 'PROMPT one')" '1 of 1 before'
check_first

echo '# Plan' >$T/build/plan.md
run_opencode --continue "PROMPT two"
same "a resumed one has the newest block once, where it goes on" "$(seen "$(block build)" 'PROMPT two')" '1 of 2 before'

echo 'done' >$T/build/progress.md
run_opencode --continue --fork "PROMPT three"
same "a fork has the block of its origin's thread" "$(seen "$(block build)" 'PROMPT three')" '1 of 3 before'

json "it is a lane of the same thread" "$(heddle api call name.list --params '{"kind":"lane","thread":"build"}')" '.items | length > 1' true

run_opencode --continue "PROMPT four USAGE 99000"
same "after a compaction it goes on with the newest block" "$(seen "$(block build)" 'Continue if you have next steps')" '1 of 1 before'

echo "echo changed >$T/review/design.md" >s.sh
HEDDLE_THREAD=build run_opencode "CALL write {\"filePath\":\"$PWD/$T/research/design.md\",\"content\":\"x\"}
CALL bash {\"command\":\"sh ./s.sh\",\"description\":\"runs it\"}"
same "a write below a referenced thread is denied" "$(cat $T/research/design.md)" '# What we know'
same "the model is told why" "$(told "belongs to thread 'research'")" yes
same "a script slips past" "$(cat $T/review/design.md)" changed
same "and is reported to the model" "$(told 'files changed that thread')" yes
HEDDLE_THREAD=research run_opencode "PROMPT other"
same "another thread's session has its own block" "$(seen "$(block research)" 'PROMPT other')" '1 of 1 before'
lacks "nothing of it is in the first thread" "$(heddle log show build --json)" 'PROMPT other'

json "an import afterwards finds everything recorded" "$(heddle import opencode --all --json)" '[.items[].entries] | add // 0' 0
check_import opencode --all
ok "the log verifies" heddle verify
same "nothing went wrong" "$(cat .heddle/hook.log 2>/dev/null)" ''
check_worktree block '1 of 1 before' run_opencode
done_testing

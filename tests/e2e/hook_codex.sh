#!/bin/sh
# Codex itself with heddle's hooks, offline: what reaches the model, what is denied, what is recorded.
# suite: clients
# asan: no
# postgres: no, the same calls as hook.sh, from another program
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/npm-lib.sh
. "$(dirname "$0")/../npm-lib.sh"
# shellcheck source=tests/agents-lib.sh
. "$(dirname "$0")/../agents-lib.sh"

agent_have codex || skip_all "Codex with hooks" "$npm_why"
agent_model

# run_codex WORDS...: hooks of a new home are trusted by nobody, so the test says that they are
run_codex() { codex exec "$@" --dangerously-bypass-hook-trust --skip-git-repo-check </dev/null >"$scratch/codex" 2>&1; }
last_session() { find "$HOME/.codex/sessions" -name '*.jsonl' -printf '%T@ %p\n' | sort -n | tail -n 1 | sed 's/.*-\(........-....-....-....-............\)\.jsonl$/\1/'; }

agent_workspace research
mkdir "$HOME/.codex"
cat >"$HOME/.codex/config.toml" <<END
model = "mock-model"
model_provider = "mock"

[model_providers.mock]
name = "mock"
base_url = "$model/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
END
heddle install codex --scope user --program "$HEDDLE" >/dev/null

# ---- a new session, resumed, forked, compacted ------------------------------------------------------

HEDDLE_THREAD=build run_codex "PROMPT one"
same "a new session has the block once, beside its prompt" "$(seen "$(block build)" 'PROMPT one')" '1 of 1 before'
id=$(last_session)
check_first

echo '# Plan' >$T/build/plan.md
run_codex resume "$id" "PROMPT two"
same "a resumed one has the newest block once, where it goes on" "$(seen "$(block build)" 'PROMPT two')" '1 of 2 before'

echo 'done' >$T/build/progress.md
run_codex fork "$id" "PROMPT three"
same "a fork has the block of its origin's thread" "$(seen "$(block build)" 'PROMPT three')" '1 of 3 before'
json "it is a lane of the same thread" "$(heddle api call name.list --params '{"kind":"lane","thread":"build"}')" '.items | length > 1' true

mkdir $T/build/design
echo x >$T/build/design/a.md
run_codex resume "$id" -c model_auto_compact_token_limit=50000 "PROMPT four USAGE 90000"
run_codex resume "$id" -c model_auto_compact_token_limit=50000 "PROMPT five"
same "after a compaction there is one block, the newest" "$(seen "$(block build)" 'PROMPT five')" '1 of 1 before'

# ---- two sessions in two threads ----------------------------------------------------------------------

HEDDLE_THREAD=research run_codex "PROMPT other"
same "another thread's session has its own block" "$(seen "$(block research)" 'PROMPT other')" '1 of 1 before'
lacks "nothing of it is in the first thread" "$(heddle log show build --json)" 'PROMPT other'
run_codex "PROMPT free"
free=codex-$(last_session | tail -c 9)
same "a session without a thread gets one" "$(seen "$(block "$free")" 'PROMPT free')" '1 of 1 before'

# ---- what may only be read --------------------------------------------------------------------------------

HEDDLE_THREAD=build run_codex --sandbox danger-full-access "CALL exec_command {\"cmd\":\"echo x > $T/research/design.md\"}"
same "a write below a referenced thread is denied" "$(cat $T/research/design.md)" '# What we know'
same "the model is told why" "$(told "belongs to thread 'research'")" yes
HEDDLE_THREAD=build run_codex --sandbox danger-full-access "CALL exec_command {\"cmd\":\"echo '# Mine' > $T/build/plan.md\"}"
same "its own assets are written" "$(cat $T/build/plan.md)" '# Mine'
echo "echo changed >$T/research/design.md" >s.sh
HEDDLE_THREAD=build run_codex --sandbox danger-full-access 'CALL exec_command {"cmd":"sh ./s.sh"}'
same "a script slips past" "$(cat $T/research/design.md)" changed
same "and is reported to the model" "$(told 'files changed that thread')" yes

# ---- the record, the server, the guide ------------------------------------------------------------------------

json "an import afterwards finds everything recorded" "$(heddle import codex "$HOME/.codex/sessions" --json)" '[.items[].entries] | add // 0' 0
check_import codex "$HOME/.codex/sessions"
ok "the log verifies" heddle verify
same "nothing went wrong" "$(cat .heddle/hook.log 2>/dev/null)" ''
same "tools of the MCP server are offered" "$(told '"mcp__heddle"')" yes
check_worktree block '1 of 1 before' run_codex
done_testing

#!/bin/sh
# Claude Code itself with heddle's hooks, offline: what reaches the model, what is denied, what is
# recorded.
# suite: test clients
# asan: no
# postgres: no, the same calls as hook.sh, from another program
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/npm-lib.sh
. "$(dirname "$0")/../npm-lib.sh"
# shellcheck source=tests/agents-lib.sh
. "$(dirname "$0")/../agents-lib.sh"

agent_have claude || skip_all "Claude Code with hooks" "$npm_why"
agent_model

# last_session: the id of the newest session
last_session() { basename "$(find "$HOME/.claude/projects" -name '*.jsonl' -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2)" .jsonl; }

agent_workspace research
heddle install claude-code --program "$HEDDLE" >/dev/null

# ---- a new session, resumed, forked, compacted ------------------------------------------------------

HEDDLE_THREAD=build claude -p "PROMPT one" </dev/null >/dev/null 2>&1
same "a new session has the block once, beside its prompt" "$(seen "$(block build)" 'PROMPT one')" '1 of 1 behind'
id=$(last_session)
json "what was said is in the thread" "$(heddle project build)" '[.messages[] | select(.role != "tool") | [.role, (.content | if type == "array" then map(.text // "") | join("") else . end | .[0:10])]] | [.[0][0], .[1][0]]' '["user","assistant"]'
json "it is called after what was asked" "$(heddle sessions --json)" '[.items[].prompt]' '["PROMPT one"]'
json "and so is its turn" "$(heddle stats build --json)" '[.items[].prompt]' '["PROMPT one"]'

echo '# Plan' >$T/build/plan.md
claude -p --resume "$id" "PROMPT two" </dev/null >/dev/null 2>&1
same "a resumed one has the newest block once, where it goes on" "$(seen "$(block build)" 'PROMPT two')" '1 of 2 behind'

echo 'done' >$T/build/progress.md
claude -p --resume "$id" --fork-session "PROMPT three" </dev/null >/dev/null 2>&1
same "a fork has the block of its origin's thread" "$(seen "$(block build)" 'PROMPT three')" '1 of 3 behind'
fork=$(last_session)
lacks "it is another session" "$fork" "$id"
json "it is a lane of the same thread" "$(heddle api call name.list --params '{"kind":"lane","thread":"build"}')" '.items | length > 1' true

mkdir $T/build/design
echo x >$T/build/design/a.md
say() { printf '{"type":"user","message":{"role":"user","content":"%s"}}\n' "$1"; }
answered() { [ "$(grep -c '"type":"result"' "$scratch/stream")" -ge "$1" ]; }
# turns TEXT...: in one process, each when the one before is done
turns() {
    mkfifo "$scratch/turns" && : >"$scratch/stream"
    claude -p --resume "$id" --input-format stream-json --output-format stream-json --verbose <"$scratch/turns" >"$scratch/stream" 2>&1 &
    agent=$!
    exec 3>"$scratch/turns"
    turn=0
    for text; do
        say "$text" >&3
        turn=$((turn + 1))
        await answered $turn
    done
    exec 3>&-
    wait $agent
}
turns 'PROMPT four' /compact 'PROMPT five'
has "the conversation is compacted" "$(cat "$scratch/stream")" compact_boundary
same "before it there were blocks of each start" "$(seen "$(block build)" 'PROMPT four')" '1 of 3 behind'
same "after it there is one, the newest" "$(seen "$(block build)" 'PROMPT five')" '1 of 1 behind'

# ---- two sessions in two threads ----------------------------------------------------------------------

HEDDLE_THREAD=research claude -p "PROMPT other" </dev/null >/dev/null 2>&1
same "another thread's session has its own block" "$(seen "$(block research)" 'PROMPT other')" '1 of 1 behind'
lacks "nothing of it is in the first thread" "$(heddle log show build --json)" 'PROMPT other'
claude -p "PROMPT free" </dev/null >/dev/null 2>&1
free=claude-code-$(last_session | cut -c1-8)
same "a session without a thread gets one" "$(seen "$(block "$free")" 'PROMPT free')" '1 of 1 behind'
has "it is recorded there" "$(heddle log show "$free" --json)" 'PROMPT free'

# ---- what may only be read --------------------------------------------------------------------------------

before=$(cat $T/research/design.md)
HEDDLE_THREAD=build claude -p --permission-mode acceptEdits "CALL Write {\"file_path\":\"$PWD/$T/research/design.md\",\"content\":\"x\"}" </dev/null >/dev/null 2>&1
same "a write below a referenced thread is denied" "$(cat $T/research/design.md)" "$before"
same "the model is told why" "$(told "belongs to thread 'research'")" yes
HEDDLE_THREAD=build claude -p --permission-mode acceptEdits --allowedTools=Bash "CALL Bash {\"command\":\"cd $T/research && echo x > design.md\"}" </dev/null >/dev/null 2>&1
same "so is one by a shell" "$(cat $T/research/design.md)" "$before"
HEDDLE_THREAD=build claude -p --permission-mode acceptEdits "CALL Write {\"file_path\":\"$PWD/$T/build/plan.md\",\"content\":\"# Mine\"}" </dev/null >/dev/null 2>&1
same "its own assets are written" "$(cat $T/build/plan.md)" '# Mine'
echo "echo changed >$T/research/design.md" >s.sh
HEDDLE_THREAD=build claude -p --permission-mode acceptEdits --allowedTools=Bash 'CALL Bash {"command":"sh ./s.sh"}' </dev/null >/dev/null 2>&1
same "a script slips past" "$(cat $T/research/design.md)" changed
same "and is reported to the model" "$(told 'files changed that thread')" yes
echo "echo again >$T/research/design.md; exit 3" >s.sh
HEDDLE_THREAD=build claude -p --permission-mode acceptEdits --allowedTools=Bash 'CALL Bash {"command":"sh ./s.sh"}' </dev/null >/dev/null 2>&1
same "so is one that fails" "$(cat $T/research/design.md) $(told 'files changed that thread')" 'again yes'

# ---- sub-agents ---------------------------------------------------------------------------------------------

input=$(printf '{"file_path":"%s","content":"x"}' "$PWD/$T/research/design.md" | jq -R .)
HEDDLE_THREAD=build claude -p --permission-mode acceptEdits "CALL Agent {\"description\":\"look\",\"prompt\":\"CALL Write ${input#?},\"subagent_type\":\"general-purpose\"}" </dev/null >/dev/null 2>&1
same "a sub-agent may not write there either" "$(cat $T/research/design.md)" again
has "and is told why" "$(grep -c "belongs to thread 'research'" "$asked")" 3
json "it is a lane of the thread" "$(heddle lanes build --json)" '[.items[].lane | select(startswith("agent-"))] | length' 1

# ---- the record, and what import makes of it -----------------------------------------------------------------

json "an import afterwards finds everything recorded" "$(heddle import claude-code "$HOME/.claude/projects" --json)" '[.items[].entries] | add // 0' 0
json "the compaction is one in the log" "$(heddle log show build --json | jq -s '[.[] | select(.kind == "ai_context_operation" and .payload.operation.type == "replace")] | length')" . 1
has "sentences are found where they were said" "$(heddle search 'PROMPT three')" build
ok "the log verifies" heddle verify
same "nothing went wrong" "$(cat .heddle/hook.log 2>/dev/null)" ''

check_import claude-code "$HOME/.claude/projects"
# shellcheck disable=SC2046 # ids have no blanks
check_export claude-code $(find "$HOME/.claude/projects" -maxdepth 2 -name '*.jsonl')
heddle export build --lane default --to claude-code --place --id "00000000-0000-4000-8000-000000000001" >/dev/null
claude -p --resume 00000000-0000-4000-8000-000000000001 "PROMPT exported" </dev/null >/dev/null 2>&1
same "Claude Code goes on with a lane that was exported" "$(told 'reply')$(told 'PROMPT five')$(told 'PROMPT exported')" yesyesyes
heddle import claude-code "$HOME/.claude/projects" >/dev/null
json "which is a fork of the thread" "$(heddle sessions --json)" '[.items[] | select(.session | startswith("00000000")) | .thread]' '["build"]'

# ---- as a plugin, with rules and server of Claude Code's own -----------------------------------------------------

heddle uninstall claude-code >/dev/null
heddle install claude-code --plugin plug --program "$HEDDLE" >/dev/null
HEDDLE_THREAD=build claude --plugin-dir plug -p "PROMPT plugin" </dev/null >/dev/null 2>&1
same "the plugin gives the block" "$(seen "$(block build)" 'PROMPT plugin')" '1 of 1 behind'
same "its skill is listed" "$(told 'heddle:heddle')" yes
HEDDLE_THREAD=build claude --plugin-dir plug -p --allowedTools=mcp__plugin_heddle_heddle__read 'CALL mcp__plugin_heddle_heddle__read {"thread":"build","name":"plan.md"}' </dev/null >/dev/null 2>&1
same "its server answers" "$(told '# Mine')" yes
heddle install claude-code --thread build --program /nowhere/heddle >/dev/null
claude -p --permission-mode acceptEdits "CALL Write {\"file_path\":\"$PWD/$T/research/design.md\",\"content\":\"y\"}" </dev/null >/dev/null 2>&1
same "without hooks Claude Code's own rules deny" "$(cat $T/research/design.md)" again

# ---- in a worktree ------------------------------------------------------------------------------------------------

heddle uninstall claude-code >/dev/null
heddle install claude-code --scope user --program "$HEDDLE" >/dev/null
run_claude() { claude -p "$@" </dev/null >/dev/null 2>&1; }
check_worktree block '1 of 1 behind' run_claude
done_testing

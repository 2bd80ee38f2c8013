#!/bin/sh
# Gemini CLI itself with heddle's hooks, offline: what reaches the model, what is denied, what is
# recorded. It has no forks.
# suite: clients
# asan: no
# postgres: no, the same calls as hook.sh, from another program
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/npm-lib.sh
. "$(dirname "$0")/../npm-lib.sh"
# shellcheck source=tests/agents-lib.sh
. "$(dirname "$0")/../agents-lib.sh"

agent_have gemini || skip_all "Gemini CLI with hooks" "$npm_why"
agent_model

# It puts what hooks say into the text of the prompt, with < and > escaped.
escaped() { block "$1" | sed 's/</\&lt;/g; s/>/\&gt;/g'; }
run_gemini() { gemini "$@" </dev/null >"$scratch/gemini" 2>&1; }

agent_workspace research review
mkdir "$HOME/.gemini"
cat >"$HOME/.gemini/settings.json" <<'END'
{
  "security": { "auth": { "selectedType": "gemini-api-key" }, "folderTrust": { "enabled": false } },
  "general": { "sessionRetention": { "enabled": false } }, // else it deletes transcripts that it cannot list, when it gets round to it
  "privacy": { "usageStatisticsEnabled": false } // nothing leaves the machine
}
END
mkdir "$scratch/bin"
ln -s "$HEDDLE" "$scratch/bin/heddle"
heddle install gemini --scope user --program "$scratch/bin/heddle" >/dev/null

HEDDLE_THREAD=build run_gemini -p "PROMPT one"
same "a new session has the block once, before its prompt" "$(seen "$(escaped build)" 'PROMPT one')" '1 of 1 before'
check_first

echo '# Plan' >$T/build/plan.md
run_gemini --resume latest -p "PROMPT two"
same "a resumed one has the newest block once, where it goes on" "$(seen "$(escaped build)" 'PROMPT two')" '1 of 1 before'

# The answer reports many tokens, so that the conversation is compacted behind the tool. There is no
# event for that, and no second prompt in such a process. So the end of this session is kept from
# heddle, and the events that would follow at a terminal are given here.
cat >"$scratch/endless" <<'END'
#!/bin/sh
[ "$1" = hook ] || exec "$HEDDLE" "$@"
event=$(cat)
case $event in *'"SessionEnd"'*) exit 0 ;; esac
printf '%s' "$event" | "$HEDDLE" "$@"
END
chmod +x "$scratch/endless"
ln -sf "$scratch/endless" "$scratch/bin/heddle"
echo 'done' >$T/build/progress.md
run_gemini --resume latest --approval-mode yolo -p 'PROMPT three USAGE 900000
CALL run_shell_command {"command":"echo hi > b.txt"}'
json "the compaction is one in the log" "$(heddle log show build --json | jq -s '[.[] | select(.kind == "ai_context_operation" and .payload.operation.type == "replace")] | length > 0')" . true
file=$(find "$HOME/.gemini/tmp" -name 'session-*.jsonl' -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2)
event=$(jq -nc --arg cwd "$PWD" --arg id "$(head -n 1 "$file" | jq -r .sessionId)" '{hook_event_name: "BeforeAgent", session_id: $id, cwd: $cwd}')
json "the next prompt has the newest block" "$(echo "$event" | heddle hook gemini)" .hookSpecificOutput.additionalContext "$(block build | jq -Rsc 'rtrimstr("\n")')"
same "the one after it has none" "$(echo "$event" | heddle hook gemini)" ''
ln -sf "$HEDDLE" "$scratch/bin/heddle"

echo "echo changed >$T/review/design.md" >s.sh
HEDDLE_THREAD=build run_gemini --approval-mode yolo -p "CALL write_file {\"file_path\":\"$PWD/$T/research/design.md\",\"content\":\"x\"}
CALL run_shell_command {\"command\":\"sh ./s.sh\"}"
same "a write below a referenced thread is denied" "$(cat $T/research/design.md)" '# What we know'
same "the model is told why" "$(told "belongs to thread 'research'")" yes
same "a script slips past" "$(cat $T/review/design.md)" changed
same "and is reported to the model" "$(told 'files changed that thread')" yes

HEDDLE_THREAD=research run_gemini -p "PROMPT other"
same "another thread's session has its own block" "$(seen "$(escaped research)" 'PROMPT other')" '1 of 1 before'
lacks "nothing of it is in the first thread" "$(heddle log show build --json)" 'PROMPT other'

json "an import afterwards finds everything recorded" "$(heddle import gemini "$HOME/.gemini/tmp" --json)" '[.items[].entries] | add // 0' 0
check_import gemini "$HOME/.gemini/tmp"
ok "the log verifies" heddle verify
same "nothing went wrong" "$(cat .heddle/hook.log 2>/dev/null)" ''
check_worktree escaped '1 of 1 before' run_gemini -p
done_testing

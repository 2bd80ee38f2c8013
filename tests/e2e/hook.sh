#!/bin/sh
# `heddle hook` with events as the programs write them: what it answers, and that nothing that goes wrong
# disturbs the program that calls. hook_claude.sh and the others run the programs themselves.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

T=.leslie/threads
HEDDLE_HOOK_WAIT=1
export HEDDLE_HOOK_WAIT
block() { heddle context "$1" --notes --peek; }
# event NAME MEMBERS: as JSON, of the session $id here
event() { jq -nc --arg name "$1" --arg id "$id" --arg cwd "$PWD" "{hook_event_name: \$name, session_id: \$id, cwd: \$cwd} + {${2:-}}"; }
# tell HARNESS NAME [MEMBERS]
tell() {
    event "$2" "${3:-}" >"$scratch/event"
    run heddle hook "$1" <"$scratch/event"
}
quiet() { same "$1" "$status|$out|$err" '0||'; }
id=0b9d6bcd-7c1e-4a59-9f2a-000000000001

# ---- not a workspace ------------------------------------------------------------------------------

mkdir none && cd none || exit 1
tell claude-code SessionStart 'source: "startup"'
quiet "where there is no workspace nothing happens"
same "and none is made" "$(ls -A)" ''
cd ..

heddle init >/dev/null
heddle objective create Release --id release >/dev/null
heddle spawn --id research --intent 'Look around' --objective release --no-run >/dev/null 2>&1
heddle spawn --id frozen --intent 'Stand still' --objective release --no-run >/dev/null 2>&1
heddle spawn --id build --intent 'Build it' --objective release --ref research --no-run >/dev/null 2>&1
mkdir -p $T/frozen
echo '# What we know' >$T/research/design.md
echo '# What we knew' >$T/frozen/plan.md
heddle reference --from build --target frozen >/dev/null 2>&1

# ---- which thread ------------------------------------------------------------------------------------

export HEDDLE_THREAD=build
tell claude-code SessionStart 'source: "startup"'
json "the thread of HEDDLE_THREAD" "$out" .hookSpecificOutput.additionalContext "$(block build | jq -Rsc 'rtrimstr("\n")')"
json "the event is named" "$out" .hookSpecificOutput.hookEventName '"SessionStart"'
unset HEDDLE_THREAD
tell claude-code UserPromptSubmit 'prompt: "Hello"'
quiet "a prompt gets nothing, since the block was told"
echo '# Plan' >$T/build/plan.md
tell claude-code SessionStart 'source: "resume"'
json "a session that was bound stays in its thread" "$out" .hookSpecificOutput.additionalContext "$(block build | jq -Rsc 'rtrimstr("\n")')"
tell claude-code SessionStart 'source: "compact"'
quiet "a second start before the prompt adds nothing"
tell claude-code SessionStart 'source: "resume"'
has "but a process that was killed before its prompt takes nothing from the next" "$out" 'thread=\"build\"'
tell claude-code PreCompact 'trigger: "auto"'
tell claude-code SessionStart 'source: "compact"'
has "after a compaction it does" "$out" 'thread=\"build\"'
id=0b9d6bcd-7c1e-4a59-9f2a-000000000002
event SessionStart 'source: "startup"' >"$scratch/event"
run heddle hook claude-code --thread research <"$scratch/event"
has "--thread is for sessions that have none" "$out" 'thread=\"research\"'
id=77777777-7c1e-4a59-9f2a-000000000003
tell codex SessionStart 'source: "startup"'
has "else there is a new one" "$out" 'thread=\"codex-77777777\" objective=\"sessions\"'
has "it is in the list" "$(heddle list)" 'codex-77777777'
HEDDLE_THREAD=fresh
export HEDDLE_THREAD
id=77777777-7c1e-4a59-9f2a-000000000004
tell codex SessionStart 'source: "startup"'
unset HEDDLE_THREAD
json "a thread that was named and is not there is made" "$(heddle status fresh --json)" '[.id, .objective]' '["fresh","sessions"]'

# ---- injections ---------------------------------------------------------------------------------------

id=0b9d6bcd-7c1e-4a59-9f2a-000000000001
heddle inject build 'Use the new API.' --type constraint >/dev/null
tell claude-code UserPromptSubmit 'prompt: "Go on"'
has "what was injected comes with the next prompt" "$out" 'Use the new API.'
lacks "without the block" "$out" 'thread_context'
tell claude-code UserPromptSubmit 'prompt: "Go on"'
quiet "and only once"

# ---- what may only be read ------------------------------------------------------------------------------

denied() { has "$1" "$out" '"permissionDecision":"deny"'; }
tell claude-code PreToolUse 'tool_name: "Write", tool_input: {file_path: ".leslie/threads/research/x.md"}'
denied "a new file in a referenced thread"
has "the reason names both threads" "$out" "belongs to thread 'research', which thread 'build' may read"
tell claude-code PreToolUse "tool_name: \"Edit\", tool_input: {file_path: \"$PWD/none/../$T/build/context/inherited/plan.md\"}"
denied "a frozen copy, whichever way it is named"
tell claude-code PreToolUse 'tool_name: "NotebookEdit", tool_input: {notebook_path: ".leslie/thread_relations.json"}'
denied "a file that heddle writes"
ln -s "$PWD/$T/research" $T/build/design
tell claude-code PreToolUse 'tool_name: "Write", tool_input: {file_path: ".leslie/threads/build/design/x.md"}'
denied "through a link"
rm $T/build/design
tell claude-code PreToolUse 'tool_name: "Bash", tool_input: {command: "cd .leslie && rm -rf threads/research"}'
denied "a whole directory, by a shell"
tell claude-code PreToolUse 'tool_name: "mcp__fs__write_file", tool_input: {path: ".leslie/threads/research/x.md"}'
denied "by a tool of an MCP server that says that it writes"
ln -s "$T/research/to-come.md" to-come
for line in 'echo x > to-come' 'rm -rf .leslie/threads/*' 'rm .leslie/thr*/{none,resea*}/design.md' 'D=.leslie/threads/research; echo x > $D/x.md' \
    'for f in .leslie/threads/research/*.md; do sed -i s/a/b/ $f; done' 'rm .leslie/threads/build/[c]ontext/inherited/plan.md'; do
    tell claude-code PreToolUse "tool_name: \"Bash\", tool_input: {command: \"$line\"}"
    denied "by a shell that is to expand it: $line"
done
rm to-come
for allowed in 'tool_name: "Write", tool_input: {file_path: ".leslie/threads/build/plan.md"}' \
    'tool_name: "Bash", tool_input: {command: "(cd .leslie/threads/research && cat design.md); rm -f notes* *"}' \
    'tool_name: "Bash", tool_input: {command: "cat > notes <<E\nrm .leslie/threads/research/design.md\nE"}' \
    'tool_name: "Write", tool_input: {file_path: "src/main.c"}' 'tool_name: "Write", tool_input: {file_path: "/tmp/x"}' \
    'tool_name: "Read", tool_input: {file_path: ".leslie/threads/research/design.md"}' \
    'tool_name: "Bash", tool_input: {command: "cat .leslie/threads/research/design.md > out"}' \
    'tool_name: "mcp__fs__read_file", tool_input: {path: ".leslie/threads/research/design.md"}' 'tool_name: "Write"'; do
    tell claude-code PreToolUse "$allowed"
    quiet "allowed: $allowed"
done
tell codex PreToolUse 'tool_name: "apply_patch", tool_input: {input: "*** Begin Patch\n*** Update File: .leslie/thread_relations.json\n+x\n*** End Patch"}'
denied "by a patch"
tell gemini BeforeTool 'tool_name: "write_file", tool_input: {file_path: ".leslie/objectives.json"}'
json "Gemini CLI takes a decision" "$out" .decision '"deny"'
tell opencode PreToolUse 'tool_name: "write", tool_input: {filePath: ".leslie/objectives.json"}'
has "the plugins take the text" "$(printf '%s' "$out" | jq -r .deny)" 'is written by heddle itself'

# ---- what slipped past -------------------------------------------------------------------------------------

slip() { # slip COMMAND: between the two events of a tool
    tell claude-code PreToolUse 'tool_name: "Bash", tool_use_id: "t1", tool_input: {command: "./s.sh"}'
    eval "$1"
    tell claude-code PostToolUse 'tool_name: "Bash", tool_use_id: "t1", tool_input: {command: "./s.sh"}, tool_response: "ok"'
}
slip :
quiet "a tool that changed nothing"
slip "touch $T/research/design.md"
quiet "a file that has another time and the same bytes did not change"
slip "echo other >$T/research/design.md"
has "a changed original is reported" "$out" "$T/research/design.md (of thread 'research')"
json "to the agent and to the person" "$out" '.systemMessage == .hookSpecificOutput.additionalContext' true
slip "chmod u+w $T/build/context/inherited/plan.md; echo other >$T/build/context/inherited/plan.md"
has "a changed copy is reported" "$out" "$T/build/context/inherited/plan.md (of thread 'frozen')"
slip "echo new >$T/research/new.md"
has "a file that was put in" "$out" "$T/research/new.md"
slip "rm $T/research/new.md"
has "a file that went" "$out" "$T/research/new.md"
tell claude-code PostToolUse 'tool_name: "Bash", tool_use_id: "t9"'
quiet "an end without a beginning"
if is_file; then
    slip 'mv .heddle kept'
    has "a log that went" "$out" 'is not there any more'
    json "which is said to both, too" "$out" '.systemMessage == .hookSpecificOutput.additionalContext' true
    same "and no other takes its place" "$(ls -A .heddle 2>/dev/null)" ''
    rm -rf .heddle && mv kept .heddle
fi
tell claude-code PreToolUse 'tool_name: "Bash", tool_use_id: "t1", tool_input: {command: "true"}'
tell claude-code SessionEnd 'reason: "other"'
same "nothing of a session is kept when it ends" "$(find .heddle/hook -name '*-*')" ''

# ---- a block that is too long --------------------------------------------------------------------------------

for n in $(seq 1 60); do
    heddle spawn --id "a-thread-with-a-long-name-that-fills-the-block-quickly-$n" --intent 'So that there is much to say in a note about it, in many words' --objective release --no-run >/dev/null 2>&1
    mkdir -p "$T/a-thread-with-a-long-name-that-fills-the-block-quickly-$n"
    echo x >"$T/a-thread-with-a-long-name-that-fills-the-block-quickly-$n/plan.md"
    heddle reference --from build --target "a-thread-with-a-long-name-that-fills-the-block-quickly-$n" --binding live >/dev/null 2>&1
done
tell claude-code SessionStart 'source: "resume"'
has "a block that does not fit is named with its size" "$out" 'heddle context build'
ok "and the text fits" test "$(printf '%s' "$out" | jq -r .hookSpecificOutput.additionalContext | wc -m)" -le 9500

# ---- bad input -------------------------------------------------------------------------------------------------

state=$HOME/.local/state/heddle
for bad in '' '{' '{"hook_event_name":"SessionStart"' '[]' 'null' '{"hook_event_name":7,"session_id":"x"}' '{"session_id":"x"}' \
    '{"hook_event_name":"SessionStart","session_id":"x","session_id":"y"}'; do
    printf '%s' "$bad" >"$scratch/event"
    run heddle hook claude-code <"$scratch/event"
    quiet "not an event: $bad"
done
has "they are noted in the log" "$(cat "$state/hook.log")" 'hook: INVALID_SYNTAX: the event'
same "which is the user's alone" "$(stat -c %a "$state/hook.log")" 600
id=x
for fine in 'NewEvent|' 'SessionStart|source: 7, cwd: [1]' 'SessionStart|source: "later", new: {a: 1}' 'PreToolUse|tool_name: "Write", tool_input: "text"' \
    'PreToolUse|tool_name: "Write", tool_input: {file_path: ["a"]}' 'PostToolUse|tool_name: {}' 'Stop|transcript_path: "/nowhere/x.jsonl"' 'Stop|transcript_path: "/"'; do
    event "${fine%%|*}" "${fine#*|}" >"$scratch/event"
    run heddle hook claude-code <"$scratch/event"
    same "a member of another type or version: $fine" "$status|$err" '0|'
done
id='../../../etc/passwd'
tell claude-code SessionStart 'source: "startup"'
same "an id that is none" "$status|$err" '0|'
has "what goes wrong in a workspace stands in its own log" "$(cat .heddle/hook.log)" 'is not the id of a session'
has "which doctor reads" "$(heddle doctor 2>/dev/null)" 'in .heddle/hook.log, the newest: '
mkdir .codex && echo '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"heddle hook codex"}]}]}}' >.codex/hooks.json
has "and it knows when Codex skips hooks" "$(heddle doctor 2>/dev/null)" 'until you trust it: run /hooks there'
rm -r .codex
id=0b9d6bcd-7c1e-4a59-9f2a-000000000001
run heddle hook emacs <"$scratch/event"
quiet "a program that is not known"
has "is noted" "$(tail -n 1 "$state/hook.log")" "'emacs' is not a program that heddle knows"
run heddle hook claude-code --nonsense <"$scratch/event"
same "a word that is not known" "$status|$err" '0|'
HEDDLE_THREAD='../x' heddle hook claude-code <"$scratch/event" >"$scratch/out" 2>&1
same "a thread that cannot be one" "$?$(cat "$scratch/out")" 0
printf '{"hook_event_name":"SessionStart","session_id":"x","cwd":"/nowhere"}' >"$scratch/event"
run heddle hook claude-code <"$scratch/event"
same "a directory that is not there" "$status|$err" '0|'
heddle hook claude-code <"$scratch/event" >&- 2>"$scratch/err"
same "an answer that nobody reads" "$?$(cat "$scratch/err")" 0
mkfifo never
sleep 30 >never &
waiting=$!
run env -u HEDDLE_HOOK_WAIT "$HEDDLE" hook claude-code <never
kill $waiting
same "an event that never ends is given up" "$status|$out|$err" '0||'
has "which is noted, too" "$(tail -n 1 "$state/hook.log")" 'it took too long'
id=0b9d6bcd-7c1e-4a59-9f2a-000000000008
event SessionStart 'source: "startup"' >"$scratch/event"
run sh -c '{ sleep 3; cat "$1"; } | HEDDLE_THREAD=build "$HEDDLE" hook claude-code' sh "$scratch/event"
has "whoever waits for it gets its answer also later" "$out" additionalContext

head -c 3000 /dev/urandom >noise.jsonl
n=0
for odd in /dev/zero / "$PWD/never" "$PWD/noise.jsonl"; do
    n=$((n + 1))
    id=5e9d6bcd-7c1e-4a59-9f2a-00000000000$n
    tell claude-code PreToolUse "transcript_path: \"$odd\", tool_name: \"Bash\", tool_input: {command: \"rm -r .heddle\"}"
    json "a transcript that is none ($odd) does not open what is protected" "$out" .hookSpecificOutput.permissionDecision '"deny"'
    tell claude-code SessionStart "source: \"startup\", transcript_path: \"$odd\""
    has "and takes no context away" "$out" '<thread_context '
    json "the session is bound to the thread that it was told" "$(heddle sessions --json)" ".items[] | select(.session == \"$id\").thread" \
        "$(printf '%s' "$out" | jq '.hookSpecificOutput.additionalContext | capture("thread=\"(?<t>[^\"]*)").t')"
done
has "it is noted" "$(cat .heddle/hook.log)" 'the transcript /dev/zero is not a regular file'
rm noise.jsonl

# ---- transcripts -------------------------------------------------------------------------------------------------

mkdir -p t
line() { jq -nc --arg id "$id" --arg uuid "$1" --arg parent "$2" --arg role "$3" --arg text "$4" '{type: $role, uuid: $uuid, parentUuid: (if $parent == "" then null else $parent end), sessionId: $id, timestamp: "2026-11-15T21:36:00.000Z", message: {role: $role, content: (if $role == "user" then $text else [{type: "text", text: $text}] end)}}'; }
id=0b9d6bcd-7c1e-4a59-9f2a-000000000009
HEDDLE_THREAD=research
export HEDDLE_THREAD
t=$PWD/t/$id.jsonl
line aaaaaaaa-0000-4000-8000-000000000001 '' user 'First words' >"$t"
tell claude-code Stop "transcript_path: \"$t\""
has "what is in the transcript is recorded" "$(heddle log show research --json)" 'First words'
line aaaaaaaa-0000-4000-8000-000000000002 aaaaaaaa-0000-4000-8000-000000000001 assistant 'Second words' >>"$t"
printf '{"type":"user","uuid":"aaaaaaaa-0000-4000-8000-0000000' >>"$t"
tell claude-code Stop "transcript_path: \"$t\""
has "and what is added" "$(heddle log show research --json)" 'Second words'
entries=$(heddle log show research --json | grep -c 'ai_message')
event Stop "transcript_path: \"$t\"" >"$scratch/event"
for n in 1 2 3 4 5 6; do heddle hook claude-code <"$scratch/event" >/dev/null 2>&1 & done
wait
same "six hooks at once record nothing twice" "$(heddle log show research --json | grep -c 'ai_message')" "$entries"
: >"$t"
tell claude-code Stop "transcript_path: \"$t\""
same "a transcript that was cut off" "$status|$err" '0|'
same "takes nothing away" "$(heddle log show research --json | grep -c 'ai_message')" "$entries"
rm "$t"
tell claude-code Stop "transcript_path: \"$t\""
same "one that was deleted" "$status|$err" '0|'
unset HEDDLE_THREAD
heddle refresh --from build --target frozen >/dev/null
ok "the log verifies" heddle verify

# ---- sessions that start at once --------------------------------------------------------------------------------

# Two sessions whose names would be the same thread, each with two hooks at once.
for n in 0 1 2 3 4 5 6 7; do
    for k in 1 2; do
        id=1c9d6bc$n-7c1e-4a59-9f2a-00000000000$k
        event SessionStart 'source: "startup"' >"$scratch/start.$k"
    done
    for k in 1 2 1 2; do heddle hook claude-code <"$scratch/start.$k" >/dev/null 2>&1 & done
    wait
done
same "each session has one thread, and no two the same" \
    "$(heddle sessions --json | jq -c '[.items[] | select(.session | startswith("1c9d6bc")) | .thread] | [length, (unique | length)]')" '[16,16]'
same "no further thread was made" "$(heddle list --json | jq '[.items[].id | select(startswith("claude-code-1c9d6bc"))] | length')" 16

# ---- nobody waits --------------------------------------------------------------------------------------------------

unset HEDDLE_HOOK_WAIT
id=0b9d6bcd-7c1e-4a59-9f2a-00000000000a
line bbbbbbbb-0000-4000-8000-000000000001 '' user 'Left behind' >"$PWD/t/$id.jsonl"
tell claude-code Stop "transcript_path: \"$PWD/t/$id.jsonl\""
quiet "the answer comes before the record"
is_found() { heddle search 'Left behind' 2>/dev/null | grep -q Left; }
await is_found
has "which is made all the same" "$(heddle search 'Left behind')" 'Left behind'

# ---- a workspace that cannot be written --------------------------------------------------------------------------------

as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/nonexistent "$@"; }
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    event SessionStart 'source: "startup"' >"$scratch/event" && chmod a+rx "$scratch" && chmod a+r "$scratch/event"
    chmod -R a+rX . && chmod a+rx "$PWD"
    program=$HEDDLE
    if ! as_nobody test -x "$HEDDLE"; then # the clone is below a directory that only root can enter
        program=$scratch/heddle
        cp "$HEDDLE" "$program" && chmod a+rx "$program"
    fi
    as_nobody "$program" hook claude-code <"$scratch/event" >"$scratch/out" 2>"$scratch/err"
    same "another user's workspace is left alone" "$?$(cat "$scratch/out" "$scratch/err")" 0
    HEDDLE_THREAD=research
    export HEDDLE_THREAD
    chown -R 65534:65534 . && chmod -R a-w .heddle .leslie && chmod a-w .
    as_nobody "$program" hook claude-code <"$scratch/event" >"$scratch/out" 2>"$scratch/err"
    same "one that cannot be written does not stop anybody" "$?$(cat "$scratch/err")" 0
    has "and the block is given" "$(cat "$scratch/out")" 'thread=\"research\"'
    event PreToolUse 'tool_name: "Bash", tool_use_id: "t1", tool_input: {command: "echo x > .leslie/objectives.json"}' >"$scratch/event"
    as_nobody "$program" hook claude-code <"$scratch/event" >"$scratch/out" 2>&1
    has "tools are judged" "$(cat "$scratch/out")" '"permissionDecision":"deny"'
    chmod -R u+w . && chown -R 0:0 .
fi
run heddle hook --help
has "help says what a failure means" "$out" 'A hook that fails lets the tool run'
run heddle hook
exits "without a name it is misuse" 2
done_testing

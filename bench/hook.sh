#!/usr/bin/env bash
# What `heddle hook claude-code` costs from exec to exit, in a workspace of 1,000 threads, beside an empty
# node in the same run, both in turns. At most a tenth, the 99th percentile included.
#
#     ./dev bench hook
#
# RUNS is how often each is run (default 200). What is recorded afterwards is done by a process that
# nobody waits for, and is not part of it; the last row has it.
set -euo pipefail
# shellcheck source=bench/lib.sh
. "$(dirname "$0")/lib.sh"
here=$PWD
heddle=${HEDDLE:-$here/build/release/heddle}
runs=${RUNS:-200}
missed=0
place=$(mktemp -d "${TMPDIR:-/tmp}/heddle-bench.XXXXXX")
trap 'rm -rf "$place"' EXIT
export HOME=$place/home
mkdir "$HOME"
command -v node >/dev/null || { echo "there is no node to compare with"; exit 0; }
unset HEDDLE_THREAD HEDDLE_HOOK_WAIT

make_workspace 1000
thread=thread-10000011 # it has a reference
mkdir -p .leslie/threads/thread-10000001 ".leslie/threads/$thread"
for name in plan.md progress.md design.md; do
    head -c 4000 "$here/docs/ARCHITECTURE.md" >".leslie/threads/thread-10000001/$name"
    echo "# Mine" >".leslie/threads/$thread/$name"
done
session=1b9d6bcd-7c1e-4a59-9f2a-000000000001
transcript=$place/$session.jsonl
jq -nc --arg id $session 'range(40) | {type: "user", uuid: "aaaaaaaa-0000-4000-8000-0000000000\(10 + .)", parentUuid: (if . == 0 then null else "aaaaaaaa-0000-4000-8000-0000000000\(9 + .)" end),
    sessionId: $id, timestamp: "2026-11-15T21:36:00.000Z", message: {role: "user", content: "Some words that were said."}}' >"$transcript"

# event NAME MEMBERS
event() {
    jq -nc --arg name "$1" --arg id $session --arg cwd "$PWD" --arg t "$transcript" \
        "{session_id: \$id, transcript_path: \$t, cwd: \$cwd, hook_event_name: \$name} + {${2:-}}" >"$place/event"
}

# row NAME [PROGRAM]: one event beside node
row() {
    local ours node
    { read -r -a ours && read -r -a node; } < <("$here/build/release/bench/bench_beside" "$runs" "$place/event" "$heddle" hook claude-code -- node -e 0)
    awk -v name="$1" -v m="${ours[0]}" -v p="${ours[1]}" -v l="${ours[2]}" -v nm="${node[0]}" -v np="${node[1]}" 'BEGIN {
        yes = m * 10 <= nm && p * 10 <= np
        printf "| %s | %.2f | %.2f | %.2f | %.1f | %.1f | %.3f | %.3f | %s |\n", name, l, m, p, nm, np, m / nm, p / np, yes ? "yes" : "NO"
        exit !yes }' || missed=1
}

event SessionStart 'source: "startup"'
HEDDLE_THREAD=$thread HEDDLE_HOOK_WAIT=1 "$heddle" hook claude-code <"$place/event" >/dev/null
echo "node $(node --version), $(nproc) processors, $runs runs each"
echo "| event | least ms | median | p99 | node median | node p99 | median / node | p99 / node | ≤ 0.1 |"
echo "|---|---:|---:|---:|---:|---:|---:|---:|---|"
event UserPromptSubmit 'prompt: "Go on."'
row "prompt"
event PreToolUse 'tool_name: "Edit", tool_use_id: "t1", tool_input: {file_path: "src/main.c", old_string: "a", new_string: "b"}'
row "before a tool that writes a file"
event PreToolUse 'tool_name: "Bash", tool_use_id: "t1", tool_input: {command: "make test"}'
row "before a shell"
event PostToolUse 'tool_name: "Bash", tool_use_id: "t1", tool_input: {command: "make test"}, tool_response: "ok"'
row "after a shell"
event SessionStart 'source: "resume"'
row "start, with the block"
event Stop ''
row "stop"
export HEDDLE_HOOK_WAIT=1
row "stop, and the record waited for"
exit "$missed"

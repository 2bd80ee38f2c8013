#!/usr/bin/env bash
# Importing transcripts beside `jq -c .` over the same lines.
#
#     ./dev bench import [quick] [long]
#
#     quick   20 MB instead of 100
#     long    also one transcript of 500 MB
#
# Transcripts are made here, like those of a long session with Claude Code and with pi: prompts,
# answers, calls and results with lines of code in them, compactions. Import and jq take turns; the
# best of three counts, because a shared machine only ever adds time. Sessions go into an empty
# workspace each time, durable, in transactions of 32 MB.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
heddle=$root/build/release/heddle
programs=$root/build/release/bench
megabytes=100 long=''
for word in "$@"; do
    case $word in
    quick) megabytes=20 ;;
    long) long=1 ;;
    *) echo "bench/import.sh: no '$word'; there are quick and long" >&2; exit 2 ;;
    esac
done
work=$(mktemp -d "${BENCH_DIR:-${TMPDIR:-/tmp}}/heddle-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
unset HEDDLE_NOW HEDDLE_SEED
note() { [ ! -t 2 ] || printf '== %s\n' "$*" >&2; }

# transcript PROGRAM MEGABYTES: lines of one session.
transcript() {
    awk -v program="$1" -v megabytes="$2" '
    function r(n) { seed = (seed * 1103515245 + 12345) % 2147483648; return int(seed / 65536) % n }
    function hex(n,   s) { s = ""; while (n-- > 0) s = s substr("0123456789abcdef", r(16) + 1, 1); return s }
    function id() { return hex(8) "-" hex(4) "-4" hex(3) "-8" hex(3) "-" hex(12) }
    function words(n) { return substr(text, 1 + r(4000), n) }
    function code(lines,   s, i) {
        s = ""
        for (i = 1; i <= lines; i++) s = s sprintf("%6d\\t%s(\\\"%s\\\"); // %s\\n", i, words(9), words(12), words(20))
        return s }
    function put(line) { print line; size += length(line) + 1 }
    function time() { clock++; return sprintf("2026-11-%02dT%02d:%02d:%02d.%03dZ", 1 + int(clock / 86400) % 28, int(clock / 3600) % 24, int(clock / 60) % 60, clock % 60, r(1000)) }
    function chained(rest,   u, line) { # a record of Claude Code
        u = id()
        line = "{\"parentUuid\":" (parent == "" ? "null" : "\"" parent "\"") ",\"isSidechain\":false,\"userType\":\"external\",\"entrypoint\":\"cli\",\"cwd\":\"/home/ada/work/loom\",\"sessionId\":\"99999999-2222-4333-8444-555555555555\",\"version\":\"2.1.326\",\"gitBranch\":\"main\"," rest ",\"uuid\":\"" u "\",\"timestamp\":\"" time() "\"}"
        parent = u
        put(line) }
    function entry(rest,   u) { # an entry of pi
        u = hex(8)
        put("{\"type\":\"message\",\"id\":\"" u "\",\"parentId\":" (parent == "" ? "null" : "\"" parent "\"") ",\"timestamp\":\"" time() "\",\"message\":{" rest ",\"timestamp\":1794926902575}}")
        parent = u }
    function claude_turn(   k, m, c, t, usage) {
        chained("\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"" words(40 + r(400)) "\"},\"promptId\":\"" turn "\"")
        for (k = r(7); k >= 0; k--) {
            m = "msg_" turn "_" k; c = "toolu_" turn "_" k
            usage = "\"usage\":{\"input_tokens\":" r(4000) ",\"cache_read_input_tokens\":" r(90000) ",\"output_tokens\":" r(900) "}"
            chained("\"type\":\"assistant\",\"message\":{\"id\":\"" m "\",\"role\":\"assistant\",\"model\":\"claude-opus-5-5\",\"content\":[{\"type\":\"text\",\"text\":\"" words(60 + r(700)) "\"}]," usage "}")
            chained("\"type\":\"assistant\",\"message\":{\"id\":\"" m "\",\"role\":\"assistant\",\"model\":\"claude-opus-5-5\",\"content\":[{\"type\":\"tool_use\",\"id\":\"" c "\",\"name\":\"Read\",\"input\":{\"file_path\":\"/home/ada/work/loom/src/file" r(500) ".c\",\"offset\":" r(999) "}}]," usage "}")
            t = code(3 + r(50))
            chained("\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{\"tool_use_id\":\"" c "\",\"type\":\"tool_result\",\"content\":\"" t "\"}]},\"toolUseResult\":{\"type\":\"text\",\"file\":{\"filePath\":\"x\",\"content\":\"" t "\",\"numLines\":30}}") }
        chained("\"type\":\"assistant\",\"message\":{\"id\":\"msg_" turn "\",\"role\":\"assistant\",\"model\":\"claude-opus-5-5\",\"content\":[{\"type\":\"text\",\"text\":\"" words(60 + r(1500)) "\"}],\"stop_reason\":\"end_turn\"}")
        put("{\"type\":\"last-prompt\",\"lastPrompt\":\"" words(30) "\",\"leafUuid\":\"" parent "\",\"sessionId\":\"99999999-2222-4333-8444-555555555555\"}")
        if (turn % 40 == 0) {
            c = parent; parent = ""
            chained("\"type\":\"system\",\"subtype\":\"compact_boundary\",\"logicalParentUuid\":\"" c "\"")
            chained("\"type\":\"user\",\"isCompactSummary\":true,\"message\":{\"role\":\"user\",\"content\":\"" words(2000) "\"}") } }
    function pi_turn(   k) {
        entry("\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"" words(40 + r(400)) "\"}]")
        for (k = r(7); k >= 0; k--) {
            entry("\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"" words(60 + r(700)) "\"},{\"type\":\"toolCall\",\"id\":\"c" turn "." k "\",\"name\":\"read\",\"arguments\":{\"path\":\"src/file" r(500) ".c\"}}],\"model\":\"m\",\"usage\":{\"input\":" r(4000) ",\"output\":" r(900) ",\"cost\":{\"total\":0.00" r(999) "}},\"stopReason\":\"toolUse\"")
            entry("\"role\":\"toolResult\",\"toolCallId\":\"c" turn "." k "\",\"toolName\":\"read\",\"content\":[{\"type\":\"text\",\"text\":\"" code(3 + r(50)) "\"}],\"isError\":false") }
        entry("\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"" words(60 + r(1500)) "\"}],\"model\":\"m\",\"stopReason\":\"stop\"") }
    BEGIN {
        seed = 7
        while (length(text) < 8000) text = text "the warp holds still while the weft goes over and under it, and the heddle keeps every thread in its place so that cloth – Größe, 線 – can be woven; "
        if (program == "pi") put("{\"type\":\"session\",\"version\":3,\"id\":\"99999999-2222-4333-8444-555555555555\",\"timestamp\":\"" time() "\",\"cwd\":\"/home/ada/work/loom\"}")
        while (size < megabytes * 1000000) { turn++; if (program == "pi") pi_turn(); else claude_turn() }
    }'
}

# measure PROGRAM FILE: least ms of jq, least ms of the import, most KB of the import.
measure() {
    local theirs ours resident best_jq=999999999 best=999999999 most=0
    for _ in 1 2 3; do
        read -r _ theirs _ <<<"$("$programs/bench_run" 1 jq -c . "$2")"
        rm -rf "$work/ws" && mkdir "$work/ws"
        read -r _ ours resident <<<"$(cd "$work/ws" && "$programs/bench_run" 1 "$heddle" import "$1" "$2" 2>/dev/null)"
        best_jq=$(awk "BEGIN { print ($theirs < $best_jq ? $theirs : $best_jq) }")
        best=$(awk "BEGIN { print ($ours < $best ? $ours : $best) }")
        most=$(awk "BEGIN { print ($resident > $most ? $resident : $most) }")
    done
    echo "$best_jq" "$best" "$most"
}

missed=0
line() { # line WHAT MB JQ_MS OUR_MS KB
    awk -v what="$1" -v mb="$2" -v jq="$3" -v ours="$4" -v kb="$5" 'BEGIN {
        ok = jq / ours >= 1 && kb / 1024 < 64
        printf "| %s | %d | %.1f | %.1f | %.2f | %.0f | %s |\n", what, mb, mb / ours * 1000, mb / jq * 1000, jq / ours, kb / 1024, ok ? "yes" : "NO"
        exit !ok }' || missed=1
}

echo "| transcript | MB | heddle import, MB/s | jq -c ., MB/s | import / jq | MB of memory | ≥ 1 and < 64 MB |"
echo "|---|---:|---:|---:|---:|---:|---|"
for program in claude-code pi; do
    note "$program, $megabytes MB"
    transcript "$program" "$megabytes" >"$work/t.jsonl"
    read -r theirs ours resident <<<"$(measure "$program" "$work/t.jsonl")"
    line "$program" "$megabytes" "$theirs" "$ours" "$resident"
done
# What is new at the end of a long transcript costs what is new.
note "one turn behind $megabytes MB"
"$programs/bench_run" 1 true >/dev/null
read -r _ again _ <<<"$(cd "$work/ws" && "$programs/bench_run" 20 "$heddle" import pi "$work/t.jsonl" 2>/dev/null)"
if [ -n "$long" ]; then
    transcript claude-code 500 >"$work/t.jsonl"
    rm -rf "$work/ws" && mkdir "$work/ws"
    read -r _ theirs _ <<<"$("$programs/bench_run" 1 jq -c . "$work/t.jsonl")"
    read -r _ ours resident <<<"$(cd "$work/ws" && "$programs/bench_run" 1 "$heddle" import claude-code "$work/t.jsonl" 2>/dev/null)"
    line "claude-code, once" 500 "$theirs" "$ours" "$resident"
fi
echo
echo "Importing again when nothing is new, exec to exit: $again ms."
exit "$missed"

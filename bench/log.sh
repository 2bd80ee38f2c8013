#!/usr/bin/env bash
# The log against bare SQLite, and against what people use today.
#
#     ./dev bench log [quick] [peers] [long] [save]
#
#     quick   100,000 entries instead of 1,000,000
#     peers   also LangGraph JS with its SQLite checkpointer, from npm (HEDDLE_BENCH_PEERS=1)
#     long    peers with 5,000 messages as well: about a quarter of an hour
#     save    put the table into docs/BENCHMARKS.md
#
# HEDDLE_BENCH_ENTRIES sets the length of the long thread, HEDDLE_BENCH_LINES that of the import.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=bench/lib.sh
. bench/lib.sh
# shellcheck source=tools/at-end.sh
. tools/at-end.sh
root=$PWD
heddle=$root/build/release/heddle
programs=$root/build/release/bench
peers=${HEDDLE_BENCH_PEERS:-} save='' long=''
entries=${HEDDLE_BENCH_ENTRIES:-1000000}
asked="${HEDDLE_BENCH_ENTRIES:+HEDDLE_BENCH_ENTRIES=$entries }${HEDDLE_BENCH_LINES:+HEDDLE_BENCH_LINES=$HEDDLE_BENCH_LINES }./dev bench log${*:+ $*}"
for word in "$@"; do
    case $word in
    quick) entries=100000 ;;
    peers) peers=1 ;;
    long) peers=1 long=1 ;;
    save) save=1 ;;
    *) echo "bench/log.sh: no '$word'; there are quick, peers, long and save" >&2; exit 2 ;;
    esac
done
lines=${HEDDLE_BENCH_LINES:-$entries}
work=$(mktemp -d "${BENCH_DIR:-${TMPDIR:-/tmp}}/heddle-bench.XXXXXX")
at_end 'rm -rf "$work"'
export HEDDLE_BENCH_ENTRIES=$entries
unset HEDDLE_NOW HEDDLE_SEED

messages() { # messages N: N lines for `heddle log append` or import, 500 bytes of payload each
    awk -v n="$1" 'BEGIN {
        while (length(words) < 600) words = words "the warp holds still while the weft goes over and under it, "
        for (i = 0; i < n; i++)
            printf "{\"kind\":\"ai_message\",\"payload\":{\"content\":\"%016d %s\",\"role\":\"user\"}}\n", i, substr(words, 1, 454)
    }'
}

# ---- from the shell -------------------------------------------------------------------

commands() {
    local bare ours resident early seconds
    mkdir "$work/small"
    cd "$work/small"
    messages 20 | "$heddle" log append t >/dev/null
    read -r _ bare _ <<<"$("$programs/bench_run" 50 true)"
    read -r _ ours resident <<<"$("$programs/bench_run" 200 "$heddle" project t)"
    row "heddle project, exec to exit, best of 200; /bin/true" ms "$ours" "$bare" "<5"
    row "its resident memory" MB "$(awk "BEGIN { print $resident / 1024 }")" 0 "<10"
    messages "$lines" >"$work/lines"
    mkdir "$work/import"
    cd "$work/import"
    head -n $((lines / 20)) "$work/lines" >"$work/part"
    read -r _ _ early <<<"$("$programs/bench_run" 1 "$heddle" log import part "$work/part")"
    read -r seconds _ resident <<<"$("$programs/bench_run" 1 "$heddle" log import t "$work/lines")"
    row "heddle log import of $lines lines; bare, batches of 1,000" entries/s \
        "$(awk "BEGIN { print $lines / $seconds * 1000 }")" "$bare_import" ">=0.6"
    row "its resident memory; with 1/20 of the lines" MB "$(awk "BEGIN { print $resident / 1024 }")" \
        "$(awk "BEGIN { print $early / 1024 }")" "<=1.2"
    cd "$root"
    rm -rf "$work/import" "$work/lines" "$work/part"
}

ten_writers() {
    local i kept failed=0 pids=()
    mkdir "$work/ten"
    cd "$work/ten"
    messages 1 | "$heddle" log append t >/dev/null
    for i in 0 1 2 3 4 5 6 7 8 9; do
        printf '{"kind":"ai_message","payload":{"role":"user","content":"writer %d"}}\n' "$i" |
            "$heddle" log append t >/dev/null &
        pids+=($!)
    done
    for i in "${pids[@]}"; do wait "$i" || failed=$((failed + 1)); done
    kept=$("$heddle" project t | grep -o 'writer [0-9]' | sort -u | wc -l)
    row "ten parallel writers on one thread: kept, and told to try again" messages "$kept" "$failed" ">9"
    cd "$root"
}

# ---- peers ----------------------------------------------------------------------------

our_messages() { # our_messages N: ms to append one at a time, ms to load, bytes of the file
    local folder=$work/ours-$1
    mkdir "$folder"
    "$programs/bench_log" "$folder" "peer=$1"
}

peer_rows() {
    local folder n append load bytes
    folder=$(peer_folder langgraph @langchain/core@1.2 @langchain/langgraph@1.4.9 @langchain/langgraph-checkpoint-sqlite@1.0)
    for n in 1000 ${long:+5000}; do
        note "LangGraph, $n messages"
        rm -f "$work"/peer.db*
        (cd "$folder" && node "$root/bench/peers/langgraph.mjs" append "$work/peer.db" "$n") >"$work/peer"
        [ "$(peer_value messages)" -eq "$n" ] || { echo "LangGraph lost messages" >&2; return 1; }
        read -r append load bytes <<<"$(our_messages "$n")"
        row "$n messages one at a time; LangGraph" ms "$append" "$(peer_value append_ms)" "<=$([ "$n" -eq 5000 ] && echo 0.0033 || echo 1)"
        row "$n messages read back; LangGraph" ms "$load" "$(peer_value load_ms)" "<=1"
        row "$n messages, file; LangGraph" MB "$(awk "BEGIN { print $bytes / 1e6 }")" \
            "$(awk "BEGIN { print $(peer_value file_bytes) / 1e6 }")" "<=1"
    done
    rm -f "$work"/peer.db*
    (cd "$folder" && node "$root/bench/peers/langgraph.mjs" race "$work/peer.db") >"$work/peer"
    row "LangGraph: ten parallel writers: kept, and told" messages "$(peer_value kept)" "$(peer_value errors)" "-"
}

note "in the process"
"$programs/bench_log" "$work" >"$work/rows"
bare_import=$(awk -F '\t' '/^long append/ { print $4 }' "$work/rows")
note "from the shell"
commands >>"$work/rows"
ten_writers >>"$work/rows"
[ -z "$peers" ] || peer_rows >>"$work/rows"
missed=0
table <"$work/rows" >"$work/table" || missed=1
cat "$work/table"
if [ -n "$save" ]; then
    {
        # shellcheck disable=SC2016 # the backquotes are Markdown's
        printf '## The log\n\n`%s`, %s, %s processors, SQLite %s.\n\n' "$asked" "$(date -u +%Y-%m-%d)" \
            "$(nproc)" "$("$programs/bench_log" "$work" version)"
        cat bench/log.md "$work/table"
        echo
    } >"$work/section"
    put_into_docs "The log" "$work/section"
fi
exit "$missed"

#!/usr/bin/env bash
# How long a process that appends to another thread waits while long operations run on a long one; what the first
# look at a tree costs; and the first index of words against bare FTS5 on the same texts.
#
#     ./dev bench locks [quick]
#
#     quick   20,000 messages instead of 100,000
#
# HEDDLE_BENCH_NODES sets the number of messages. The longest wait is that of one `heddle log append`, from exec to exit:
# on a machine that does other work it is longer.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=bench/lib.sh
. bench/lib.sh
# shellcheck source=tools/at-end.sh
. tools/at-end.sh
root=$PWD
heddle=$root/build/release/heddle
nodes=${HEDDLE_BENCH_NODES:-100000}
for word in "$@"; do
    case $word in
    quick) nodes=20000 ;;
    *) echo "bench/locks.sh: no '$word'; there is quick" >&2; exit 2 ;;
    esac
done
work=$(mktemp -d "${BENCH_DIR:-${TMPDIR:-/tmp}}/heddle-bench.XXXXXX")
at_end 'rm -rf "$work"'
export HOME=$work/home
mkdir "$HOME" "$work/w"
unset HEDDLE_NOW HEDDLE_SEED
cd "$work/w"

# 70 words a message, of 60,000, some far more often than others.
awk -v n="$nodes" 'BEGIN {
    srand(7)
    for (i = 0; i < n; i++) {
        s = ""
        for (k = 0; k < 70; k++) { r = rand(); s = s sprintf("w%x ", int(60000 * r * r * r)) }
        printf "{\"kind\":\"ai_message\",\"payload\":{\"content\":\"%s\",\"role\":\"user\"}}\n", s
    }
}' >"$work/lines"

# cpu COMMAND...: seconds of processor time.
cpu() {
    local TIMEFORMAT='%U %S'
    { time "$@" >/dev/null 2>"$work/stderr"; } 2>&1 | awk '{ print $1 + $2 }'
}

# beside NAME COMMAND...: run it while another process appends to another thread, one line after the other; a row with the
# longest time that one of them took.
beside() {
    local name=$1 pid
    shift
    : >"$work/waits"
    rm -f "$work/stop"
    (
        while [ ! -e "$work/stop" ]; do
            from=$EPOCHREALTIME
            printf '{"kind":"note","payload":{}}\n' | "$heddle" log append beside >/dev/null || echo failed >>"$work/waits"
            awk -v a="$from" -v b="$EPOCHREALTIME" 'BEGIN { print (b - a) * 1000 }' >>"$work/waits"
        done
    ) &
    pid=$!
    while [ ! -s "$work/waits" ]; do sleep 0.01; done
    "$@" >/dev/null 2>"$work/stderr" || echo "$name: $(head -n 1 "$work/stderr")" >&2
    touch "$work/stop"
    wait "$pid"
    if grep -q failed "$work/waits"; then echo "a writer failed beside: $name" >&2; fi
    row "$name: longest wait of a writer" ms "$(sort -n "$work/waits" | tail -n 1)" 0 -
}

bare_index() {
    sqlite3 "$work/texts.db" "ATTACH '$work/w/.heddle/heddle.db' AS h; CREATE TABLE t(k INTEGER PRIMARY KEY, c TEXT);
        INSERT INTO t SELECT key, json_extract(payload, '\$.content') FROM h.entry WHERE payload LIKE '{\"content\"%'"
    cpu sqlite3 "$work/bare.db" "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE VIRTUAL TABLE text USING
        fts5(body, content='', tokenize='unicode61 remove_diacritics 2'); ATTACH '$work/texts.db' AS h;
        INSERT INTO text(rowid, body) SELECT k, c FROM h.t"
}

{
    note "alone"
    "$heddle" log import long "$work/lines" >/dev/null 2>&1
    cp -r .heddle "$work/imported"
    row "first look at a tree of $nodes nodes" "us/node" \
        "$(cpu "$heddle" tree long --summary | awk -v n="$nodes" '{ print $1 * 1e6 / n }')" 0 "<10"
    ours=$(cpu "$heddle" search 'w1 nothing')
    row "first index of their words; bare FTS5" s "$ours" "$(bare_index)" "<=1.5"
    rm -rf .heddle
    cp -r "$work/imported" .heddle
    note "beside others"
    beside "nothing" true
    beside "tree, the first time" "$heddle" tree long --summary
    beside "search, the first time" "$heddle" search 'w1 nothing'
    beside "verify" "$heddle" verify
    beside "backup" "$heddle" backup "$work/a.backup"
    beside "erase, dry run" "$heddle" erase long --find 'w1 w2 w3 w4' --dry-run
    beside "erase of 10 entries" "$heddle" erase long 10 11 12 13 14 15 16 17 18 19 --reason asked --with-derived
    # shellcheck disable=SC2046
    beside "erase of $((nodes / 4)) entries" "$heddle" erase long $(seq 20 4 $((nodes - 1))) --reason asked --with-derived
    beside "import of $nodes lines" "$heddle" log import another "$work/lines"
    beside "import of $nodes lines behind them" "$heddle" log import another "$work/lines"
    beside "thread delete" "$heddle" thread delete long --yes --reason asked
    beside "compact-store" "$heddle" compact-store
} | table

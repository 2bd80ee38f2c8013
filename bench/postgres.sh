#!/usr/bin/env bash
# A log on PostgreSQL against a bare loop over libpq with the same statements, many writers against one, a log
# that grows, and LangGraph's PostgreSQL saver.
#
#     ./dev bench postgres [quick] [long] [peers] [save]
#
#     quick   grow to 100,000 entries instead of 1,000,000
#     long    grow to 10,000,000: about a quarter of an hour, and 8 GB
#     peers   also LangGraph JS with its PostgreSQL checkpointer, from npm (HEDDLE_BENCH_PEERS=1)
#     save    put the table into docs/BENCHMARKS.md
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=bench/lib.sh
. bench/lib.sh
root=$PWD
programs=$root/build/release/bench
peers=${HEDDLE_BENCH_PEERS:-} save='' sizes=(1000000)
asked="./dev bench postgres${*:+ $*}"
for word in "$@"; do
    case $word in
    quick) sizes=(100000) ;;
    long) sizes=(1000000 10000000) ;;
    peers) peers=1 ;;
    save) save=1 ;;
    *) echo "bench/postgres.sh: no '$word'; there are quick, long, peers and save" >&2; exit 2 ;;
    esac
done
work=$(mktemp -d "${BENCH_DIR:-${TMPDIR:-/tmp}}/heddle-bench.XXXXXX")
chmod 711 "$work"
clean_up() {
    local x
    for x in "$work"/pg-*; do [ ! -f "$x/socket" ] || tests/postgres.sh stop "$x"; done
    rm -rf "$work"
}
trap clean_up EXIT
unset HEDDLE_NOW HEDDLE_SEED

# start NAME: a server as one would run it; $url is its URL.
start() {
    url=$(tests/postgres.sh start "$work/pg-$1" fsync=on shared_buffers=512MB max_wal_size=4GB)
}
stop() { tests/postgres.sh stop "$work/pg-$1"; }

slow_disk() {
    cc -shared -fPIC -O1 -o "$work/slow_sync.so" bench/shim/slow_sync.c
    chmod 755 "$work/slow_sync.so"
    HEDDLE_PG_PRELOAD=$work/slow_sync.so start slow
    "$programs/bench_postgres" "$url" group '>=10' ', 4 ms added to each sync'
    stop slow
}

peer_rows() {
    local folder n=1000 append load ours
    folder=$(peer_folder langgraph-postgres @langchain/core@1.2 @langchain/langgraph@1.4.9 @langchain/langgraph-checkpoint-postgres@1.0)
    note "LangGraph, $n messages"
    start peer
    (cd "$folder" && node "$root/bench/peers/langgraph.mjs" append "$url" "$n") >"$work/peer"
    [ "$(peer_value messages)" -eq "$n" ] || { echo "LangGraph lost messages" >&2; return 1; }
    read -r append load <<<"$("$programs/bench_postgres" "$url" peer "$n")"
    row "$n messages one at a time; LangGraph" ms "$append" "$(peer_value append_ms)" "<=1"
    row "$n messages read back; LangGraph" ms "$load" "$(peer_value load_ms)" "<=1"
    ours=$(psql -X -q -A -t -h "$(cat "$work/pg-peer/socket")" -U postgres -c \
        "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'heddle' AND c.relkind = 'r'" heddle)
    row "$n messages, tables; LangGraph" MB "$(awk "BEGIN { print $ours / 1e6 }")" \
        "$(awk "BEGIN { print $(peer_value file_bytes) / 1e6 }")" "<=1"
    stop peer
}

note "beside bare libpq"
start one
"$programs/bench_postgres" "$url" >"$work/rows"
note "groups"
"$programs/bench_postgres" "$url" group - >>"$work/rows"
stop one
slow_disk >>"$work/rows"
note "growth to ${sizes[-1]} entries"
start growth
"$programs/bench_postgres" "$url" growth "${sizes[@]}" >>"$work/rows"
stop growth
[ -z "$peers" ] || peer_rows >>"$work/rows"
missed=0
table <"$work/rows" >"$work/table" || missed=1
cat "$work/table"
if [ -n "$save" ]; then
    {
        # shellcheck disable=SC2016 # the backquotes are Markdown's
        printf '## PostgreSQL\n\n`%s`, %s, %s processors, load %s, PostgreSQL %s.\n\n' "$asked" "$(date -u +%Y-%m-%d)" \
            "$(nproc)" "$(cut -d ' ' -f 1 /proc/loadavg)" "$(psql --version | grep -o '[0-9.]*' | head -n 1)"
        cat bench/postgres.md "$work/table"
        echo
    } >"$work/section"
    put_into_docs PostgreSQL "$work/section"
fi
exit "$missed"

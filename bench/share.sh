#!/usr/bin/env bash
# Commands on 1,000 and 10,000 threads, from exec to exit, beside the start of an empty node.
# Each line: the least and the middle of RUNS runs in milliseconds, the processor time of the
# middle one, and the resident memory.
set -euo pipefail
# shellcheck source=bench/lib.sh
. "$(dirname "$0")/lib.sh"
heddle=${HEDDLE:-$PWD/build/release/heddle}
runs=${RUNS:-9}
here=$PWD
place=$(mktemp -d "${TMPDIR:-/tmp}/heddle-bench.XXXXXX")
trap 'rm -rf "$place"' EXIT

# measure NAME LIMIT_MS COMMAND...
measure() {
    local name=$1 limit=$2
    shift 2
    "$here/build/release/bench/bench_exec" "$runs" "$name" "$limit" "$@"
}

printf '%-44s %9s %9s %9s %9s  %s\n' "" "least ms" "middle" "cpu" "resident" "wanted"
command -v node >/dev/null && measure "node -e 0" 0 node -e 0
for n in 1000 10000; do
    limit=$((n == 1000 ? 20 : 60))
    make_workspace $n
    echo "$n threads, thread_relations.json of $(($(stat -c %s .leslie/thread_relations.json) / 1000)) kB"
    measure "list" $limit "$heddle" list
    measure "list --json" $limit "$heddle" list --json
    measure "status" $limit "$heddle" status thread-10000011
    measure "context --task" $limit "$heddle" context thread-10000011 --task x
    measure "read" $limit "$heddle" read thread-10000011 plan.md
    measure "artifacts" $limit "$heddle" artifacts thread-10000011
    measure "objective list" $limit "$heddle" objective list
    measure "objective status" $limit "$heddle" objective status obj-11
    measure "spawn (rewrites the views)" $limit "$heddle" spawn --intent x --objective obj-11 --parent thread-10000001 --ref thread-10000005 --no-run
    measure "reference --binding frozen" $limit "$heddle" reference --from thread-10000015 --target thread-10000001
    measure "refresh" $limit "$heddle" refresh --from thread-10000015
    measure "inject" $limit "$heddle" inject thread-10000016 hello
    measure "transfer" $limit "$heddle" transfer thread-10000017 delegate
    measure "objective create" $limit "$heddle" objective create x
    measure "graph" $limit "$heddle" graph
    cd "$here"
done

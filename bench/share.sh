#!/usr/bin/env bash
# Commands on 1,000 and 10,000 threads, from exec to exit, beside the start of an empty node.
# Each line: the least and the middle of RUNS runs in milliseconds, the processor time of the
# middle one, and the resident memory.
set -euo pipefail
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

# A workspace of N threads in 20 objectives, one in two with a reference, as Leslie would have
# written it; the first command imports it.
make_workspace() {
    mkdir -p "$place/$1/.leslie" && cd "$place/$1"
    jq -n --argjson n "$1" '
        def id: "thread-\(10000000 + .)";
        "2026-03-01T10:00:05.101Z" as $at |
        [range($n) | . as $i | {key: id, value: {id: id, title: "Work on part \($i) of the system, with care and tests",
            objective: "obj-\(10 + $i % 20)", created_at: $at, status: "active", tags: [],
            parent_id: (if $i == 0 then null else ((($i - 1) / 10 | floor) | id) end),
            storage_path: ".leslie/threads/\(id)", executor: "agent", updated_at: $at}}] as $threads |
        {version: "1.0", metadata: {last_updated: $at, thread_count: $n}, threads: ($threads | from_entries),
         operations: [$threads[] | .value | {id: "op-\(.id)", timestamp: $at, command: "spawn", operator: "user",
            params: {thread_id: .id, parent_id, intent: .title, objective, inherit: "none", inherit_scope: []}}],
         relations: ([$threads[] | .value | {key: .id, value: {children: [],
            references_to: (if .parent_id and (.id | ltrimstr("thread-") | tonumber) % 2 == 1 then [.parent_id] else [] end),
            referenced_by: [], depends_on: [.parent_id // empty]}}] | from_entries)}' >.leslie/thread_relations.json
    jq -n '"2026-03-01T10:00:05.101Z" as $at | {version: "1.0", objectives: ([range(20) | "obj-\(10 + .)" |
        {key: ., value: {id: ., title: "Objective", created_at: $at, updated_at: $at, status: "active", thread_ids: []}}] | from_entries),
        metadata: {last_updated: $at, objective_count: 20}}' >.leslie/objectives.json
    "$heddle" list >/dev/null
    mkdir -p .leslie/threads/thread-10000001
    echo plan >.leslie/threads/thread-10000001/plan.md
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

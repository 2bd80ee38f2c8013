# shellcheck shell=bash disable=SC2154 # place, work and heddle are the caller's
# What measurements share.

# make_workspace N: goes to a new directory of $place with a workspace of N threads in 20 objectives, one in two with a reference, as Leslie would have
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

note() { [ ! -t 2 ] || printf '== %s\n' "$*" >&2; }

# ---- tables --------------------------------------------------------------------------

# row NAME UNIT OURS FLOOR REACH: a line for table(). Reach is <N or >N of ours, <=N or >=N of ours / floor, or -.
row() { printf '%s\t%s\t%s\t%s\t%s\n' "$@"; }

# Rows to a table in Markdown; fails when one is not within its reach.
table() {
    awk -F '\t' '
    function n(x) { return x >= 1000 ? sprintf("%d", x + 0.5) : sprintf("%.4g", x) }
    BEGIN {
        print "| what | unit | ours | floor | ours / floor | reach | |"
        print "|---|---|---:|---:|---:|---|---|"
    }
    {
        ratio = $4 > 0 ? $3 / $4 : 0
        bound = $5; gsub(/[<>=]/, "", bound); bound += 0
        if ($5 ~ /^>=/) ok = ratio >= bound
        else if ($5 ~ /^<=/) ok = ratio <= bound
        else if ($5 ~ /^</) ok = $3 < bound
        else if ($5 ~ /^>/) ok = $3 > bound
        else ok = -1
        if ($5 ~ /^[<>]=/) word = ($5 ~ /^>/ ? "≥ " : "≤ ") bound " × floor"
        else if ($5 == "-") word = ""
        else word = substr($5, 1, 1) " " bound
        printf "| %s | %s | %s | %s | %s | %s | %s |\n", $1, $2, n($3), ($4 > 0 ? n($4) : ""),
            (ratio ? n(ratio) : ""), word, (ok < 0 ? "" : ok ? "yes" : "NO")
        if (!ok) missed++
    }
    END { exit missed > 0 }'
}

put_into_docs() { # put_into_docs TITLE FILE: that section of docs/BENCHMARKS.md becomes FILE
    local doc=docs/BENCHMARKS.md
    [ -f "$doc" ] || printf '# Benchmarks\n' >"$doc"
    awk -v title="## $1" -v new="$2" '
        function insert() { while ((getline line < new) > 0) print line; done = 1 }
        /^## / { inside = $0 == title; if (inside) insert() }
        !inside { print }
        END { if (!done) { print ""; insert() } }' "$doc" >"$2.doc"
    cat "$2.doc" >"$doc"
}

# ---- peers ---------------------------------------------------------------------------

peer_value() { awk -F '\t' -v k="$1" '$1 == k { print $2 }' "$work/peer"; } # of the lines NAME <tab> VALUE in $work/peer

# peer_folder NAME PACKAGE...: a directory with these packages from npm, outside the source tree. Dependencies that
# packages only expect their user to have are not resolved: npm never ended over those of LangGraph.
peer_folder() {
    local folder=${XDG_CACHE_HOME:-$HOME/.cache}/heddle/$1
    shift
    command -v npm >/dev/null || { echo "the peers need node and npm" >&2; return 1; }
    if [ ! -f "$folder/complete" ]; then
        note "installing $* into $folder"
        mkdir -p "$folder"
        (cd "$folder" && echo '{"private":true}' >package.json && timeout 300 npm install --no-audit --no-fund --legacy-peer-deps "$@") >"$work/npm.log" 2>&1 ||
            { cat "$work/npm.log" >&2; return 1; }
        touch "$folder/complete"
    fi
    echo "$folder"
}

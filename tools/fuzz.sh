#!/usr/bin/env bash
# fuzz.sh TARGET SECONDS: run a fuzz target (empty: each of them) with libFuzzer and the
# sanitizers. It starts from the committed corpus; what it finds new is kept in build/fuzz/found, and
# an input that crashes in build/fuzz/crash. To keep a finding as a regression test, copy it to
# tests/fuzz/corpus/TARGET.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tools/dev-lib.sh
. tools/dev-lib.sh

target=$1 seconds=$2 failed=''
[ -n "$target" ] || target=$(names_in tests/fuzz .c | tr ' ' '\n' | grep '^fuzz_')
# shellcheck disable=SC2086
build fuzz $target
for name in $target; do
    mkdir -p "build/fuzz/found/$name" "build/fuzz/crash" "tests/fuzz/corpus/$name"
    extra=()
    [ ! -f "tests/fuzz/$name.dict" ] || extra+=("-dict=tests/fuzz/$name.dict")
    say "$name for $seconds s"
    if ! "build/fuzz/fuzz/$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
        -print_final_stats=1 -artifact_prefix="build/fuzz/crash/$name-" "${extra[@]}" \
        "build/fuzz/found/$name" "tests/fuzz/corpus/$name" 2>"build/fuzz/$name.log"; then
        tail -n 60 "build/fuzz/$name.log" >&2
        failed="$failed $name"
    fi
    grep -E '^stat::(number_of_executed_units|peak_rss_mb)' "build/fuzz/$name.log" || true
done
[ -z "$failed" ] || fail "found something:$failed; the inputs are in build/fuzz/crash"

#!/bin/sh
# asan: no (it is about numbers)
# Ids and counts against the reference implementation, where node and npm can be had. A fixed set of
# texts with its answers is compared everywhere, by tests/unit/tokens_golden.c.
# postgres: no, it has no log
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
source=$(cd "$(dirname "$0")/../.." && pwd)

# Tests have a home of their own; the packages are kept in the person's.
home=$(getent passwd "$(id -u)" | cut -d : -f 6)
if cache=$(HOME=$home HEDDLE_NPM_SECONDS=45 bash "$source/tools/tokens/peers.sh" 2>"$scratch/why"); then
    cd "$cache" || exit 1
    ok "half a megabyte of everything has the ids of npm tiktoken" \
        node "$source/tools/tokens/compare.mjs" "$HEDDLE" 0.5 "$(date +%j)"
else
    skip "ids are those of npm tiktoken" "$(tail -n 1 "$scratch/why")"
fi
done_testing

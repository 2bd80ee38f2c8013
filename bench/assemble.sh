#!/bin/sh
# What assembling a turn of 50,000 tokens costs out of threads of 1,000, 10,000 and 100,000 messages.
#
#     ./dev bench assemble                 or HEDDLE_BENCH_MESSAGES="1000 10000" ./dev bench assemble
set -eu
folder=$(mktemp -d "${TMPDIR:-/tmp}/heddle-bench.XXXXXX")
trap 'rm -rf "$folder"' EXIT
# shellcheck disable=SC2086
build/release/bench/bench_assemble "$folder" ${HEDDLE_BENCH_MESSAGES:-1000 10000 100000}

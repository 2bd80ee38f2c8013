#!/bin/sh
# What walking a tree costs at 1,000, 100,000 and 1,000,000 nodes, and how it grows.
#
#     ./dev bench loom                     or HEDDLE_BENCH_NODES="1000 10000" ./dev bench loom
set -eu
folder=$(mktemp -d "${TMPDIR:-/tmp}/heddle-bench.XXXXXX")
trap 'rm -rf "$folder"' EXIT
# shellcheck disable=SC2086
build/release/bench/bench_loom "$folder" ${HEDDLE_BENCH_NODES:-1000 100000 1000000}

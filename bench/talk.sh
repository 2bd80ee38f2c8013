#!/bin/sh
# How long a token takes from the wire to the screen: a server on this machine streams words, `heddle talk` prints them.
#
#     ./dev bench talk                     or HEDDLE_BENCH_WORDS=2000 ./dev bench talk
set -eu
command -v node >/dev/null || { echo "bench talk: node is not installed" >&2; exit 1; }
program=$PWD/build/release/heddle
script=$PWD/bench/talk.js
folder=$(mktemp -d "${TMPDIR:-/tmp}/heddle-bench.XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"
HOME=$folder
export HOME
"$program" init >/dev/null
"$program" agent add Opus --kind model --model anthropic:claude-opus-5-5 --permissions loom_aware,loom_write >/dev/null
"$program" config set --user loom.summary_model none >/dev/null
node "$script" "$program" "${HEDDLE_BENCH_WORDS:-500}"

#!/bin/sh
# The page with a tree of 100,000 nodes in Chromium: when the first rows stand there with their words,
# how long frames take while scrolling, how many elements and how much memory it takes. Numbers are
# printed and not judged: they depend on the machine, and on what else it does.
#
#     ./dev bench page                     or HEDDLE_BENCH_NODES="1000 100000" ./dev bench page
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tests/npm-lib.sh
. "$here/tests/npm-lib.sh"
command -v chromium >/dev/null || { echo "chromium is not installed: nothing is measured"; exit 0; }
npm_have page playwright-core@1.65 axe-core@4.14 || { echo "$npm_why: nothing is measured"; exit 0; }
folder=$(mktemp -d "${TMPDIR:-/tmp}/heddle-bench.XXXXXX")
trap 'rm -rf "$folder"' EXIT
mkdir -m 700 "$folder/run" "$folder/home"
export XDG_RUNTIME_DIR="$folder/run" HOME="$folder/home" NPM_DIR="$npm_dir"
for n in ${HEDDLE_BENCH_NODES:-100000}; do
    node "$here/tests/e2e/page_tree.mjs" "$n" >"$folder/$n.jsonl"
    mkdir "$folder/$n"
    (cd "$folder/$n" && "$HEDDLE" init && "$HEDDLE" log import big "$folder/$n.jsonl" && "$HEDDLE" tree big --summary) >/dev/null
    node "$here/bench/page.mjs" "$folder/$n" "$n"
done

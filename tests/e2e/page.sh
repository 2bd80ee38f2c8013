#!/bin/sh
# The page in Chromium: what it writes, what strangers can do to it, news, keys, size. page_look.sh looks at it.
# asan: no
# postgres: no, the page calls operations, which know no store; page_ops.sh has those it was given
#
#     HEDDLE_PAGE_ONLY=look,keys     only these parts
#     HEDDLE_PAGE_SHOTS=DIR          keep a picture of each screen
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/npm-lib.sh
. "$(dirname "$0")/../npm-lib.sh"
here=$(cd "$(dirname "$0")" && pwd)

command -v chromium >/dev/null || skip_all "the page in a browser" "chromium is not installed"
npm_have page playwright-core@1.65 axe-core@4.14 || skip_all "the page in a browser" "$npm_why"
XDG_RUNTIME_DIR=$scratch/run
mkdir -m 700 "$XDG_RUNTIME_DIR"
export XDG_RUNTIME_DIR NPM_DIR="$npm_dir" HEDDLE_PAGE_BIG="$scratch/big.jsonl"
export HEDDLE_PAGE_ONLY="${HEDDLE_PAGE_ONLY:-start,keys,operations,live,hostile,restart,scale}"
node "$here/page_tree.mjs" 100000 >"$HEDDLE_PAGE_BIG"
node "$here/page.mjs" "$scratch" >"$scratch/lines" 2>"$scratch/failed" || flunk "the checks ran" "$(cat "$scratch/failed")"
while IFS= read -r line; do
    case $line in
    'ok - '*) pass "${line#ok - }" ;;
    'not ok - '*) flunk "${line#not ok - }" ;;
    *) printf '%s\n' "$line" ;;
    esac
done <"$scratch/lines"
done_testing

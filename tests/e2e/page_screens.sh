#!/bin/sh
# Timeline, context, files, payload, search and sessions in Chromium: what they show and write, how they look, what
# strangers' text does there, and a long log.
# asan: no
# postgres: no, the page calls operations, which know no store; page_ops.sh has those it was given
#
#     HEDDLE_PAGE_ONLY=timeline,files     only these parts
#     HEDDLE_PAGE_SHOTS=DIR               keep a picture of each state
#     HEDDLE_PAGE_ENTRIES=1000000         of the long log (20,000 otherwise)
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/npm-lib.sh
. "$(dirname "$0")/../npm-lib.sh"
here=$(cd "$(dirname "$0")" && pwd)

command -v chromium >/dev/null || skip_all "the page in a browser" "chromium is not installed"
npm_have page playwright-core@1.65 axe-core@4.14 || skip_all "the page in a browser" "$npm_why"
XDG_RUNTIME_DIR=$scratch/run
mkdir -m 700 "$XDG_RUNTIME_DIR"
export XDG_RUNTIME_DIR NPM_DIR="$npm_dir"
node "$here/page_screens.mjs" "$scratch" >"$scratch/lines" 2>"$scratch/failed" || flunk "the checks ran" "$(cat "$scratch/failed")"
while IFS= read -r line; do
    case $line in
    'ok - '*) pass "${line#ok - }" ;;
    'not ok - '*) flunk "${line#not ok - }" ;;
    *) printf '%s\n' "$line" ;;
    esac
done <"$scratch/lines"
done_testing

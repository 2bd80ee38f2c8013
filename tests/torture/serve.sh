#!/usr/bin/env bash
# The server for long: killed under load again and again, ten thousand connections, clients that send a byte a
# second. `./dev bench serve long` has a million requests.
#     TORTURE_ROUNDS (20)
set -euo pipefail
: "${HEDDLE:?the path of the program}"
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/heddle-torture.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/home" "$work/tmp" "$work/cwd"
cd "$work/cwd"
ulimit -n "$(ulimit -Hn)"
export HOME=$work/home TMPDIR=$work/tmp HEDDLE_SOURCE=$root
export FAULT_ROUNDS=${TORTURE_ROUNDS:-20} FAULT_CONNECTIONS=10000 FAULT_SLOW=100
unset XDG_RUNTIME_DIR
bash "$root/tests/e2e/serve_faults.sh"

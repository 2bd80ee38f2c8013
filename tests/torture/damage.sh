#!/usr/bin/env bash
# Cut, zero and tear a database file at every byte of every page; whatever reads it must end, and say so.
#     TORTURE_STEP (1): only each N-th byte
set -euo pipefail
: "${HEDDLE:?the path of the program}"
place=${TMPDIR:-/tmp}
[ -w /dev/shm ] && place=/dev/shm
work=$(mktemp -d "$place/heddle-damage.XXXXXX")
trap 'rm -rf "$work"' EXIT
"$(dirname "$HEDDLE")/tests/torture_damage" "$work" "${TORTURE_STEP:-1}"

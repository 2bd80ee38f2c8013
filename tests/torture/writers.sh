#!/usr/bin/env bash
# Kill writers at random moments; nothing that was acknowledged may be lost.
#     TORTURE_ROUNDS (1000), TORTURE_SEED (random)
set -euo pipefail
: "${HEDDLE:?the path of the program}"
work=$(mktemp -d "${TMPDIR:-/tmp}/heddle-torture.XXXXXX")
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2086
"$(dirname "$HEDDLE")/tests/torture_writers" "$work" "${TORTURE_ROUNDS:-1000}" ${TORTURE_SEED:-}

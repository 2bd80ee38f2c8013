#!/usr/bin/env bash
# Cut the power at every write of the engine; nothing that was acknowledged may be lost.
#     TORTURE_ROUNDS (1000), TORTURE_SEED (the time)
set -euo pipefail
: "${HEDDLE:?the path of the program}"
place=${TMPDIR:-/tmp}
[ -w /dev/shm ] && place=/dev/shm # the model is the disk: the real one need not be slow
work=$(mktemp -d "$place/heddle-power.XXXXXX")
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC2086
"$(dirname "$HEDDLE")/tests/torture_power" "$work" "${TORTURE_ROUNDS:-1000}" ${TORTURE_SEED:-}

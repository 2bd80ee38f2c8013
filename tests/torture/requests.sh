#!/usr/bin/env bash
# A hundred thousand requests in one process, writing and reading: its memory stays that of a few.
#     TORTURE_REQUESTS (100000)
set -euo pipefail
: "${HEDDLE:?the path of the program}"
export HEDDLE_REQUESTS=${TORTURE_REQUESTS:-100000}
exec "$(dirname "$HEDDLE")/tests/api_flat"

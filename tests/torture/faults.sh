#!/usr/bin/env bash
# Every operation with the store's first call failing, then the second, until none fails.
set -euo pipefail
: "${HEDDLE:?the path of the program}"
exec "$(dirname "$HEDDLE")/tests/log_faults"

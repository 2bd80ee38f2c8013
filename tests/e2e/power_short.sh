#!/bin/sh
# A short run of what `./dev torture power` does at every write of 1,000 rounds.
# postgres: no, it cuts the power under a file
: "${HEDDLE:?the path of the program}"
exec "$(dirname "$HEDDLE")/tests/torture_power" . 4 "$(date +%s)" 8

#!/usr/bin/env bash
# A short run of tests/torture/damage.sh: some bytes of each page.
# postgres: no, it damages the database file
: "${HEDDLE:?the path of the program}"
export TORTURE_STEP=61
exec "$(dirname "$0")/../torture/damage.sh"

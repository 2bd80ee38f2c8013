#!/bin/sh
# A short run of what `./dev torture` does for 1,000 rounds.
# postgres: no, it makes calls of the file system fail
: "${HEDDLE:?the path of the program}"
exec "$(dirname "$HEDDLE")/tests/torture_writers" . 20

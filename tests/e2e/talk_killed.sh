#!/bin/sh
# A short run of what `./dev torture turn` does at every step of a turn.
# postgres: no, it is about processes that are killed, not about the log
: "${HEDDLE:?the path of the program}"
TURN_ROUNDS=${TURN_ROUNDS:-12} TURN_SEED=7 exec bash "$HEDDLE_SOURCE/tests/torture/turn.sh"

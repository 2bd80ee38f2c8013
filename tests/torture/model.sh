#!/usr/bin/env bash
# Thousands of random sequences of runs, operations, steering and forks against a plain model of the rules.
#     TORTURE_SEQUENCES (3000), TORTURE_SEED (random)
set -euo pipefail
: "${HEDDLE:?the path of the program}"
export HEDDLE_MODEL_SEQUENCES=${TORTURE_SEQUENCES:-3000}
export HEDDLE_MODEL_SEED=${TORTURE_SEED:-$RANDOM$RANDOM}
echo "# from sequence $HEDDLE_MODEL_SEED"
exec "$(dirname "$HEDDLE")/tests/thread_model"

#!/usr/bin/env bash
# A short run of tests/torture/delays.sh: turns over HTTP, with threads, locks and answers that come late; the server joins every thread.
# asan: no, the torture does that
# postgres: no, the threads are the same
: "${HEDDLE:?the path of the program}"
export DELAYS_PROGRAM=$HEDDLE DELAYS_SCRIPTS=serve_talk TORTURE_ROUNDS=1
exec "$(dirname "$0")/../torture/delays.sh"

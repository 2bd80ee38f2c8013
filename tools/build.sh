#!/usr/bin/env bash
# build.sh PRESET [TARGET...]: configure and build, quiet unless it fails.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tools/dev-lib.sh
. tools/dev-lib.sh
DEV_QUIET=1 build "$@"

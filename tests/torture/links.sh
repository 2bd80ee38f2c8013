#!/usr/bin/env bash
# Folders swapped for links that lead outside, while commands write: nothing is made out there.
#     TORTURE_ROUNDS (400)
set -euo pipefail
: "${HEDDLE:?the path of the program}"
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/heddle-torture.XXXXXX")
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"
ROUNDS=${TORTURE_ROUNDS:-400} bash "$here/../e2e/links.sh"

#!/usr/bin/env bash
# Every member of every record replaced by every hostile value, in many small workspaces.
#     HOSTILE_PARTS (12)
set -euo pipefail
: "${HEDDLE:?the path of the program}"
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/heddle-torture.XXXXXX")
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"
HOSTILE_VALUES='updir absolute empty huge nul negative over32 over63 wrong null' HOSTILE_PARTS=${HOSTILE_PARTS:-12} \
    bash "$here/../e2e/hostile.sh"

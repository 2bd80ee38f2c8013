#!/bin/sh
# Every spec file of the loom: what is written in them is what the program prints.
: "${HEDDLE:?the path of the program}"
here=$(cd "$(dirname "$0")/../spec" && pwd)
exec "$here/run-loom" "$here"/loom/*.md

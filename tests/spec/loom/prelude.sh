# What every shell block of a spec file starts with.
heddle() { "$HEDDLE" "$@"; }

#!/bin/sh
# The manual pages are the command table, byte for byte, and the settings' page knows every key.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
source=$(cd "$(dirname "$0")/../.." && pwd)

"$source/tools/man-pages" "$HEDDLE" fresh
for page in fresh/*.[17]; do
    name=$(basename "$page")
    ok "man/$name is what the table prints (./dev man writes it)" cmp "$page" "$source/man/$name"
done
for page in "$source"/man/*.1; do
    grep -q 'Printed from the command table' "$page" || continue
    ok "$(basename "$page") belongs to a command" test -f "fresh/$(basename "$page")"
done

# Every key of the schema, dotted, has its item in heddle-config(5), and no other has.
heddle config schema | jq -r '
    def keys_of($at): .properties // {} | to_entries[]
        | ($at + .key) as $name | $name, (.value | keys_of($name + "."));
    keys_of("")' | sort >keys
heddle config schema | jq -r '
    def open_of($at): .properties // {} | to_entries[] | ($at + .key) as $name
        | (if .value.additionalProperties == true then $name + ".*" else empty end), (.value | open_of($name + "."));
    open_of("")' | sort >open
sed -n 's/^\.It Ic \([a-z_.*]*\).*/\1/p' "$source/man/heddle-config.5" | sort >told
ok "the schema has keys" test -s keys
while read -r key; do
    ok "heddle-config(5) tells of $key" grep -qxF "$key" told
done <keys
while read -r key; do
    ok "heddle-config(5) tells of a key that is there: $key" grep -qxF "${key%%.\**}" keys
done <told
while read -r key; do
    ok "heddle-config(5) tells of $key" grep -qF "${key%\*}" told
done <open

done_testing

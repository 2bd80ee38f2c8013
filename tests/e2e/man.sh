#!/bin/sh
# The manual pages are the command table, byte for byte, and the settings' page knows every key.
# postgres: no, it has no log
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
heddle config schema --user | jq -r '
    def keys_of($at): .properties // {} | to_entries[]
        | ($at + .key) as $name | $name, (.value | keys_of($name + "."));
    keys_of("")' | sort >keys
heddle config schema --user | jq -r '
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

# Every variable that the program reads is told of in heddle(1).
grep -rhoE '(getenv\(|workspace_variable\([^"]*)"[A-Z_]+"\)|setenv\("HEDDLE_[A-Z_]+"|"(HEDDLE|XDG)_[A-Z_]+"|"[A-Z]+_API_KEY"' "$source/src" |
    grep -oE '[A-Z][A-Z_]+' | sort -u >variables
ok "variables are read" test -s variables
while read -r variable; do
    ok "heddle(1) tells of $variable" grep -qE "^\.It Ev (.* )?$variable( |\$)" "$source/man/heddle.1"
done <variables

# The other names of the program have pages, and leslie's tells of every command it takes.
ln -s "$HEDDLE" leslie
./leslie help | sed -n 's/^  leslie \([a-z ]*[a-z]\).*/\1/p' >leslies
ok "leslie has commands" test -s leslies
while read -r command; do
    ok "leslie(1) tells of $command" grep -qE "^\.It Cm (.*, )?$command( |\$)" "$source/man/leslie.1"
done <leslies
ok "teddy(1) is there" test -s "$source/man/teddy.1"

done_testing

#!/bin/sh
# `heddle api`: every operation by its name, with JSON in and out.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

heddle init >/dev/null
heddle objective create Goal --id goal >/dev/null
heddle spawn --id a --intent 'work of a' --objective goal --no-run >/dev/null 2>&1

run heddle api schema
exits "the schema of all operations" 0
json "is a list with their names" "$out" '[.items[].name] | index("thread.list") != null' true
json "each with schemas of parameters and answer" "$out" '[.items[] | .params.type == "object" and .answer.type == "object"] | all' true
run heddle api schema thread.list
json "one operation alone" "$out" .name '"thread.list"'
json "its values are listed" "$out" '.params.properties.status.enum | index("active") != null' true
run heddle api schema thread.lost
exits "an operation that does not exist" 1
has "is refused with the nearest name" "$err" "did you mean thread.list?"

run sh -c "echo '{\"status\":\"active\"}' | \"\$HEDDLE\" api call thread.list"
exits "a call with parameters" 0
json "prints the document" "$out" '[.items[].id]' '["a"]'
same "which is what --json prints" "$(heddle list --status active --json)" "$out"
run sh -c '"$HEDDLE" api call thread.list </dev/null'
json "nothing on stdin is no parameters" "$out" '.items | length' 1
for bad in '{"status":"asleep"}' '{"state":"active"}' '{"status":3}' '[]' '{' '{"status":"active","status":"active"}'; do
    run sh -c "printf '%s' '$bad' | \"\$HEDDLE\" api call thread.list"
    ok "$bad is refused" test "$status" -ne 0
    json "with an error that is JSON" "$out" '.error.code' '"INVALID_SYNTAX"'
done

done_testing

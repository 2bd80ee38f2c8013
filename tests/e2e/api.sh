#!/bin/sh
# `heddle api`: every operation by its name, with JSON in and out.
# shellcheck source=tests/e2e/lib.sh disable=SC2016
. "$(dirname "$0")/lib.sh"

heddle init >/dev/null
heddle objective create Goal --id goal >/dev/null
heddle spawn --id a --intent 'work of a' --objective goal --no-run >/dev/null 2>&1

run heddle api schema
exits "the schema of all operations" 0
json "is a list with their names" "$out" '[.items[].name] | index("thread.list") != null' true
json "each with schemas of parameters and answer" "$out" '[.items[] | .params.type == "object" and .answer.type == "object"] | all' true
json "and that of an error" "$out" '.error.properties.error.required' '["code","message"]'
printf '%s' "$out" | jq -r '.error.properties.error.properties.code.oneOf[] | "| `\(.const)` | 1 | \(.description) |"' >codes
ok "errors have codes" test -s codes
while IFS= read -r line; do
    ok "docs/FORMATS.md has the line $line" grep -qxF "$line" "$HEDDLE_SOURCE/docs/FORMATS.md"
done <codes
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

# ---- parameters from an option, workspaces ----

run heddle api call thread.list --params '{"status":"active"}'
json "parameters from --params" "$out" '[.items[].id]' '["a"]'
run heddle api call thread.list --params '{'
exits "which must be JSON" 1
has "and are named" "$(printf '%s' "$out" | jq -r .error.message)" "--params"
run heddle api call thread.list --out x
exits "an operation without bytes takes no --out" 2
run heddle api call log.show --params '{"thread":"nobody"}' </dev/null
json "a thread that nobody made is an error" "$out" .error.code '"NOT_FOUND"'
run heddle api call program.version --root /nonexistent </dev/null
exits "what needs no workspace looks for none" 0

# ---- streams ----

run sh -c 'printf "%s\n" "{\"kind\":\"note\",\"payload\":{\"n\":1}}" "{\"kind\":\"note\",\"payload\":{\"n\":2}}" |
    "$HEDDLE" api call log.append --params "{\"thread\":\"t\"}"'
exits "lines come from standard input" 0
json "the document is the last line" "$(printf '%s\n' "$out" | tail -n 1)" .rev 2
run heddle api call log.show --params '{"thread":"t"}' </dev/null
exits "events" 0
same "are lines of JSON before the document" "$(printf '%s\n' "$out" | wc -l)" 3
json "each by itself" "$(printf '%s\n' "$out" | head -n 1)" .seq 0
run heddle api call log.export --params '{"thread":"t"}' </dev/null
exits "bytes need a place to go" 2
has "which is said" "$(printf '%s' "$out" | jq -r .error.hint)" "--out FILE"
run heddle api call log.export --params '{"thread":"t"}' --out t.jsonl </dev/null
exits "a file" 0
same "it has the bytes" "$(cat t.jsonl)" "$(heddle log export t)"
json "the document stands on standard output" "$out" 'type' '"object"'
run heddle api call log.export --params '{"thread":"t"}' --out - </dev/null
same "or standard output" "$out" "$(cat t.jsonl)"
json "then the document is on standard error" "$err" 'type' '"object"'
run heddle api call log.export --params '{"thread":"t"}' --out nowhere/t.jsonl </dev/null
exits "a file that cannot be made" 1
json "is an error as JSON" "$out" .error.code '"NOT_FOUND"'
if [ -w /dev/full ]; then
    run heddle api call log.export --params '{"thread":"t"}' --out /dev/full </dev/null
    exits "a full disk" 1
    json "too, and there is no document" "$out" '[has("error"), .error.code]' '[true,"IO"]'
fi
run timeout 60 sh -c '"$HEDDLE" api call log.follow --params "{\"from\":[\"0\"]}" | head -n 1'
exits "an operation that goes on ends when its reader has gone" 0

json "a parameter that is not there: what there is" "$(echo '{"x":1}' | heddle api call thread.list)" .error.hint '"`heddle api schema thread.list` describes its parameters"'
json "a path outside of the workspace: how to name one" "$(echo '{"harness":"claude-code","path":"/x"}' | heddle api call harness.import)" .error.hint \
    '"give its path from the root of the workspace, without .."'

# ---- the largest and the smallest number of every parameter ----

heddle say edges 'one' >/dev/null
heddle say edges 'two' >/dev/null
heddle agent add Edge --kind model --model offline:echo >/dev/null
cat >"$scratch/edges.jq" <<'EOF'
.items[] | .name as $name | (.streams | index("out")) as $out | .params as $p
| $p.properties | to_entries[] | select(.value.type == "integer") | .key as $key
| ($p.required | map(select(. != $key)) | map(. as $k | $p.properties[$k] as $v | {key: $k, value: (
    if $v.enum then $v.enum[0] elif $k == "thread" then "edges" elif $k == "agent" then "Edge"
    elif $v.type == "integer" then 1 elif $v.type == "boolean" then true elif $v.type == "array" then [] else "x" end)})
   | from_entries) as $others
| "\($name)\t\($key)\t\(if $out then "out" else "" end)\t\($others | tojson)"
EOF
heddle api schema | jq -r -f "$scratch/edges.jq" | grep -v '^log\.follow' >"$scratch/edges"
wrong=''
while IFS="$(printf '\t')" read -r name key rest; do
    others=${rest##*"$(printf '\t')"}
    writes=''
    case $rest in out*) writes=1 ;; esac
    for number in 9223372036854775807 -9223372036854775808; do
        params=$(printf '%s' "$others" | jq -c --arg k "$key" '.[$k] = 77' | sed "s/:77\([,}]\)/:$number\1/")
        run heddle api call "$name" --params "$params" ${writes:+--out /dev/null} </dev/null
        printf '%s' "$out" | jq -se 'length > 0' >/dev/null 2>&1 || wrong="$wrong $name:$key:$number"
        case "$status$err$out" in [3-9]* | 1[0-9]* | *"runtime error"* | *CORRUPT*) wrong="$wrong $name:$key:$number:$status" ;; esac
    done
done <"$scratch/edges"
ok "there are many of them" test "$(wc -l <"$scratch/edges")" -gt 30
same "none of them is too much for an operation" "$wrong" ''
json "nothing is new behind the end" "$(heddle api call tree.skeleton --params '{"thread":"edges","since":9223372036854775807}' --out /dev/null </dev/null)" .nodes 0
run heddle assemble edges --agent Edge --at 9223372036854775807
exits "a thread is shown as it is at its end" 0

# ---- warnings and verdicts ----

run env fresh="$scratch/fresh" sh -c 'mkdir "$fresh" && cd "$fresh" && echo "{\"kind\":\"note\",\"payload\":{}}" |
    "$HEDDLE" api call log.append --params "{\"thread\":\"t\"}"'
has "that a workspace was made is a warning" "$(printf '%s' "$err" | jq -r .warning.message)" "made a workspace in"
is_file || done_testing # what follows changes the file
sqlite3 .heddle/heddle.db "update entry set payload = '{\"n\":7}' where payload = '{\"n\":1}'"
run heddle api call workspace.verify </dev/null
exits "what an operation found is the exit status" 1
json "its document is there all the same" "$out" 'has("error")' false
json "and the verdict on standard error" "$(printf '%s\n' "$err" | tail -n 1)" '.error.code' '"CORRUPT"'

done_testing

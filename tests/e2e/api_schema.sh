#!/bin/sh
# The JSON Schema of every operation, read by a validator that is not ours (python3-jsonschema):
# each is a schema of draft 2020-12, and what the operations print is valid by it.
# postgres: no, it has no log
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

if ! /usr/bin/python3 -c 'import jsonschema; jsonschema.Draft202012Validator' 2>/dev/null; then
    skip "the schemas are valid" "python3-jsonschema is not installed"
    done_testing
fi

cat >check.py <<'PY'
# check.py schemas SCHEMAS.json           is each part a schema?
# check.py answer SCHEMAS.json NAME PART  is the JSON on stdin valid by it?
import json, sys
from jsonschema import Draft202012Validator as V

rows = json.load(open(sys.argv[2]))
by_name = {row["name"]: row for row in rows["items"]}
if sys.argv[1] == "schemas":
    V.check_schema(rows["error"])
    for row in rows["items"]:
        for part in ("params", "answer", "event"):
            if part in row:
                assert row[part]["$schema"] == V.META_SCHEMA["$id"], (row["name"], part)
                V.check_schema(row[part])
    print(len(rows["items"]))
else:
    name, part = sys.argv[3:5]
    schema = rows["error"] if name == "error" else by_name[name][part]
    V(schema).validate(json.load(sys.stdin))
PY
heddle api schema >schemas.json
run /usr/bin/python3 check.py schemas schemas.json
exits "every schema is one of draft 2020-12" 0
same "all operations were looked at" "$out" "$(jq '.items | length' schemas.json)"

heddle init >/dev/null
heddle objective create Goal --id goal >/dev/null
heddle spawn --id a --intent 'work of a' --objective goal --no-run >/dev/null 2>&1
heddle say a 'Hello.' >/dev/null

# valid NAME PART FILE, invalid NAME PART FILE
valid() { ok "$1: $(basename "$3") is valid" sh -c "/usr/bin/python3 check.py answer schemas.json $1 $2 <$3"; }
invalid() { not_ok "$1: $(basename "$3") is not" sh -c "/usr/bin/python3 check.py answer schemas.json $1 $2 <$3"; }

heddle api call thread.list >list.json </dev/null
valid thread.list answer list.json
jq '.items[0].status = "asleep"' list.json >asleep.json
invalid thread.list answer asleep.json
jq '.more = 1' list.json >more.json
invalid thread.list answer more.json
jq 'del(.items)' list.json >without.json
invalid thread.list answer without.json
echo '{"status":"active"}' >active.json
valid thread.list params active.json
echo '{"state":"active"}' >state.json
invalid thread.list params state.json
echo '{"status":"lost"}' | heddle api call thread.list >error.json
valid error answer error.json
jq '.error.code = "LOST"' error.json >lost.json
invalid error answer lost.json

# Everything that only reads, and can be asked without words or with the name of a thread.
jq -r '.items[] | select(.repeat == "reads" and (.streams | index("events") | not)) | select(.params.required - ["thread"] == [])
    | "\(.name) \(.params.required | length)"' schemas.json >readers
ok "there are operations that read" test -s readers
while read -r name words; do
    asked='{}'
    [ "$words" -eq 0 ] || asked='{"thread":"a"}'
    file=/dev/null
    jq -e --arg n "$name" '.items[] | select(.name == $n) | .streams | index("out")' schemas.json >/dev/null || file=
    status=0
    heddle api call "$name" --params "$asked" ${file:+--out "$file"} >"$name.json" 2>err.txt </dev/null || status=$?
    if jq -e 'has("error")' "$name.json" >/dev/null 2>&1; then
        valid error answer "$name.json"
    else
        valid "$name" answer "$name.json"
    fi
done <readers

json "a list of numbers says what each may be" "$(heddle api schema erase)" .params.properties.seqs.items '{"type":"integer","minimum":0}'

done_testing

#!/bin/sh
# What Leslie's own tests ask for, asked of the program under the name leslie.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

LESLIE=$(dirname "$HEDDLE")/leslie
leslie() { "$LESLIE" "$@"; }
data() { jq -r ".data.$1"; }
relations() { jq -c "$1" .leslie/thread_relations.json; }
fresh() { mkdir "$1" && cd "$1" || exit 1; }
top=$PWD

# ---- the whole way through ----
fresh all
run leslie init
exits "init" 0
has "AGENTS.md has the block" "$(cat AGENTS.md)" "</leslie_system_guide>"
objective=$(leslie objective create --title "Ship it" | data objectiveId)
run leslie spawn --intent "Do it" --objective "$objective" --no-run
exits "spawn" 0
json "spawn answers with warnings" "$out" '[.success, (.data | keys_unsorted), .warnings]' \
    '[true,["thread_id","parent_id","status","objective"],[]]'
thread=$(printf '%s' "$out" | data thread_id)
run leslie status --thread "$thread"
has "status has the context" "$out" "<thread_context thread="
json "own assets are empty at spawn" "$out" '.data.thread_context | test("<asset")' false
run leslie lifecycle --thread "$thread" --action 'done'
json "lifecycle answers" "$out" '.data' "{\"threadId\":\"$thread\",\"status\":\"completed\"}"
run leslie transcript --thread "$thread" --chat c1 --query "Do it" --assistant "Done."
exits "transcript" 0
ok "the transcript is there" test -f "$(printf '%s' "$out" | data transcript_path)"
run leslie objective status --id "$objective"
json "the objective is completed" "$out" '.data.status' '"completed"'

# ---- circles ----
cd "$top" && fresh circles
objective=$(leslie objective create --title o | data objectiveId)
a=$(leslie spawn --intent a --objective "$objective" --no-run | data thread_id)
b=$(leslie spawn --intent b --objective "$objective" --no-run | data thread_id)
run leslie reference --from "$a" --target "$b"
exits "a reads b" 0
before=$(cat .leslie/thread_relations.json)
run leslie reference --from "$b" --target "$a"
exits "b may not read a" 1
json "with upstream's code" "$out" '[.success, .error.code, .error.details.from]' "[false,\"T201\",\"$b\"]"
has "and the path" "$out" "Circular reference detected ($b → $a → $b)"
same "nothing was written" "$(cat .leslie/thread_relations.json)" "$before"
run leslie reference --from "$a" --target "$a"
json "nor may a read itself" "$out" '.error.code' '"T201"'

# ---- a root and four children ----
cd "$top" && fresh tree
objective=$(leslie objective create --title o | data objectiveId)
root=$(leslie spawn --intent root --objective "$objective" --no-run | data thread_id)
kids=
for i in 1 2 3 4; do
    kid=$(leslie spawn --intent "kid $i" --objective "$objective" --parent "$root" --no-run | data thread_id)
    leslie reference --from "$kid" --target "$root" >/dev/null
    kids="$kids\"$kid\","
done
json "list shows five" "$(leslie list)" '.data | length' 5
same "thread_count is five" "$(relations .metadata.thread_count)" 5
same "the root has its children in order" "$(relations ".relations[\"$root\"].children")" "[${kids%,}]"
same "each child knows parent, objective and reference" \
    "$(relations "[.threads[] | select(.parent_id == \"$root\" and .objective == \"$objective\") | .id] as \$k
        | [\$k[] as \$i | .relations[\$i].references_to == [\"$root\"]]")" '[true,true,true,true]'

# ---- parent and child done ----
cd "$top" && fresh 'done'
objective=$(leslie objective create --title o | data objectiveId)
p=$(leslie spawn --intent p --objective "$objective" --no-run | data thread_id)
c=$(leslie spawn --intent c --objective "$objective" --parent "$p" --no-run | data thread_id)
leslie lifecycle --thread "$p" --action 'done' >/dev/null
json "one done is not all done" "$(leslie objective status --id "$objective")" .data.status '"active"'
leslie lifecycle --thread "$c" --action 'done' >/dev/null
json "both done completes it" "$(leslie objective status --id "$objective")" .data.status '"completed"'
leslie spawn --intent more --objective "$objective" --no-run >/dev/null
json "a new thread opens it again" "$(leslie objective status --id "$objective")" .data.status '"active"'

# ---- a missing target ----
run leslie reference --from "$p" --target nobody
exits "a missing target does not fail" 0
json "it is exactly one warning" "$out" '[.warnings[].code]' '["W202"]'

# ---- a row added by hand ----
cd "$top" && fresh hand
objective=$(leslie objective create --title o | data objectiveId)
p=$(leslie spawn --intent p --objective "$objective" --no-run | data thread_id)
jq ".threads[\"kid\"] = {id: \"kid\", title: \"by hand\", objective: \"$objective\",
    created_at: \"2026-03-01T10:00:00.000Z\", status: \"active\", parent_id: \"$p\",
    storage_path: \".leslie/threads/kid\", executor: \"agent\", updated_at: \"2026-03-01T10:00:00.000Z\"}
    | .relations[\"kid\"] = {children: [], references_to: [], referenced_by: [], depends_on: []}" \
    .leslie/thread_relations.json >new.json && mv new.json .leslie/thread_relations.json
leslie lifecycle --thread "$p" --action 'done' >/dev/null
json "the hand-made child keeps it active" "$(leslie objective status --id "$objective")" .data.status '"active"'
leslie lifecycle --thread kid --action 'done' >/dev/null
json "until it is done" "$(leslie objective status --id "$objective")" .data.status '"completed"'

# ---- the files ----
cd "$top" && fresh files
objective=$(leslie objective create --title o | data objectiveId)
same "a new file has its version" "$(relations .version)" '"1.0"'
t=$(leslie spawn --intent t --objective "$objective" --no-run | data thread_id)
same "and counts its threads" "$(relations .metadata.thread_count)" 1
echo garbage >.leslie/thread_relations.json
run leslie list
exits "garbage does not stop a reader" 0
json "and costs nothing" "$out" '.data[0].id' "\"$t\""
ok "the file is whole again" jq -e . .leslie/thread_relations.json
sed "s/\"status\": \"active\"/\"status\": \"pending\"/" .leslie/thread_relations.json >x && mv x .leslie/thread_relations.json
json "pending reads as active" "$(leslie list --status active)" '.data | length' 1

# ---- adopting a workspace whose main file is broken ----
cd "$top" && fresh adopt
mkdir .leslie && cp ../files/.leslie/thread_relations.json .leslie/thread_relations.json.bak
cp ../files/.leslie/objectives.json .leslie/ && echo garbage >.leslie/thread_relations.json
run leslie list
json "the backup is read when there is no log" "$out" '.data[0].id' "\"$t\""

# ---- states ----
cd "$top/files" || exit 1
leslie lifecycle --thread "$t" --action suspend >/dev/null
run leslie lifecycle --thread "$t" --action resume
json "suspend and resume" "$out" .data.status '"active"'
leslie lifecycle --thread "$t" --action 'done' >/dev/null
run leslie lifecycle --thread "$t" --action resume
json "done is done" "$out" '[.error.code, .error.details]' '["T102",{"from":"completed","action":"resume"}]'
run leslie transfer --thread "$t" --direction request_approval --scope deploy
json "a transfer revives nothing" "$out" .error.code '"T102"'
run leslie lifecycle --thread "$t" --action archive
json "archive" "$out" .data.status '"archived"'

# ---- the guide ----
cd "$top" && fresh guide
leslie init >/dev/null
first=$(cksum AGENTS.md)
leslie init >/dev/null
same "a second init changes no byte" "$(cksum AGENTS.md)" "$first"
printf '# Top\n\n<leslie_system_guide version="2.1.0">\nx\n</leslie_system_guide>\nBottom\n' >AGENTS.md
run leslie init
json "a minor difference is updated unasked" "$out" '[.data.status, .data.previous_version]' '["updated","2.1.0"]'
has "what is above stays" "$(cat AGENTS.md)" "# Top"
has "what is below stays" "$(tail -n 1 AGENTS.md)" "Bottom"
printf '<leslie_system_guide version="1.0.0">\nx\n</leslie_system_guide>\n' >AGENTS.md
first=$(cat AGENTS.md)
echo n >answer
status=0
out=$(leslie init <answer 2>/dev/null) || status=$?
json "a major difference can be refused" "$out" .data.status '"skipped"'
same "and then nothing changes" "$(cat AGENTS.md)" "$first"
run leslie init --yes
json "or agreed to" "$out" .data.status '"updated"'

# ---- transcripts ----
cd "$top/all" || exit 1
objective=$(leslie objective create --title o | data objectiveId)
t=$(leslie spawn --intent t --objective "$objective" --no-run | data thread_id)
i=10
while [ $i -lt 65 ]; do
    leslie transcript --thread "$t" --chat c --query "q $i" --assistant a --start "2026-03-01T10:$((i - 5 > 59 ? 59 : i - 5)):00Z" >/dev/null
    i=$((i + 1))
done
same "of 55 transcripts 50 remain" "$(find ".leslie/threads/$t/.meta/transcripts" -name '*.txt' | wc -l | tr -d ' ')" 50

# ---- flags ----
run leslie objective create --title 123
json "a numeric title is a title" "$out" .data.title '"123"'
run leslie objective create --title -x
json "so is one with a dash" "$out" .data.title '"-x"'
run leslie objective create --title="two
lines 😀"
json "and one of two lines" "$out" .data.title '"two\nlines 😀"'
run leslie objective create
json "a missing flag is named" "$out" .error '{"code":"T902","message":"Missing required flag --title"}'
exits "and fails" 1
run leslie nonsense
json "an unknown command" "$out" .error.message '"Unknown command: nonsense"'
run leslie spawn --intent t --objective "$objective" --tags a --tags b,c --no-run
json "a repeated flag is a list" "$(leslie status --thread "$(printf '%s' "$out" | data thread_id)")" .data.tags '["a","b","c"]'
run leslie objective list --format yaml
has "yaml" "$out" "success: true"
run leslie objective list --format table
has "table" "$out" "success  : true"
run leslie
exits "no words print the usage" 0
has "the usage" "$out" "usage: leslie"
done_testing

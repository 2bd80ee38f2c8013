#!/bin/sh
# `heddle op` and `heddle project`, as someone meets them who does not read manuals.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

say() { # say ROLE TEXT WORDS...: a message to thread t
    said="{\"kind\":\"ai_message\",\"payload\":{\"role\":\"$1\",\"content\":\"$2\"}}"
    shift 2
    printf '%s\n' "$said" | heddle log append t "$@" >/dev/null
}
texts() { # what a lane says: role initials and contents
    heddle project t "$@" | jq -r '[.messages[] | .role[0:1] + ":" + (.content|tostring)] | join(" ")'
}

run heddle op switch t --lane x
exits "there is no thread yet" 1
ok "a workspace" heddle init
say user Q1
say assistant A1
echo '{"system_prompt":"P","messages":[{"role":"user","content":"S"}]}' >ctx.json

run heddle op replace t --context ctx.json --json
json "an op_id is made when none is given" "$out" '[.applied, .duplicate, .deferred, .seq, (.op_id|startswith("op_"))]' '[true,false,false,2,true]'
id=$(printf '%s' "$out" | jq -r .op_id)
run heddle op replace t --context ctx.json --json
json "each time another one" "$out" ".op_id != \"$id\"" 'true'
run heddle op replace t --context ctx.json --op-id "$id" --json
json "it can be repeated" "$out" '[.applied, .duplicate, .seq]' '[false,true,2]'
same "the lane shows the snapshot" "$(texts)" "u:S"
same "and before it what was before" "$(texts --at 1)" "u:Q1 a:A1"
run heddle project t
same "canonical: sorted and without spaces" "$out" "$(printf '%s' "$out" | jq -cS .)"
run heddle project t --system other
json "the snapshot's prompt wins over the caller's" "$out" .system_prompt '"P"'
run heddle project t --at 1 --system other
json "which is for a lane without one" "$out" .system_prompt '"other"'

printf '\357\273\277{"messages":[]}' >bom.json
run heddle op replace t --context bom.json --op-id bom
exits "a context with a byte order mark" 0
printf '{"messages":[],\r\n"system_prompt":null}\r\n' | heddle op replace t --context - --op-id crlf >/dev/null
same "CRLF is white space" "$?" 0
: >empty.json
run heddle op replace t --context empty.json --op-id e
exits "an empty context is refused" 1
run heddle op replace t --context nosuch.json --op-id e
has "a missing one is named" "$err" "nosuch.json"
run heddle op replace t --op-id e
exits "none at all is misuse" 2
run heddle op replace t --context . --op-id e
exits "a folder is no context" 1
head -c 17000000 /dev/zero >huge.json
run heddle op replace t --context huge.json --op-id e
has "a huge one is refused by its limit" "$err" "LIMIT_EXCEEDED"
rm huge.json
printf '{"messages":[{"role":"user","content":"\377"}]}' >bad.json
run heddle op replace t --context bad.json --op-id e
has "bytes that are not UTF-8 are refused" "$err" "invalid UTF-8"

for lane in ../x a/b .x 'a"b' '' "$(printf '%0129d' 0)"; do
    run heddle op switch t --lane "$lane" --op-id e --json
    exits "lane '$lane' is refused by switch" 1
    run heddle op fork t --lane "$lane" --op-id e
    exits "and by fork" 1
    run heddle project t --lane "$lane"
    exits "and by project" 1
done
for id in '' 'a"b' 'a\b' "$(printf 'a\tb')" "$(printf 'a\377')" "$(printf '%0129d' 0)"; do
    run heddle op switch t --lane ok --op-id "$id"
    exits "op-id '$(printf %s "$id" | tr -cd '[:print:]')' is refused" 1
done
run heddle op switch t --lane ok --op-id 'späß-🎉' --json
json "other text is an op-id" "$out" '[.applied, .op_id]' '[true,"späß-🎉"]'
run heddle op switch t --lane ok --op-id 'späß-🎉' --json
json "and is found again" "$out" '.duplicate' 'true'
run heddle op switch t --lane ok --op-id m --meta '[1]'
exits "meta must be an object" 1
run heddle op switch t --lane ok --op-id m --agent a/b
exits "an agent must be a name" 1
run heddle op switch t --lane ok --op-id m --reason why
has "a reason must be one of four" "$err" "manual, restore, compaction or system"

run heddle op fork t --lane side --from default --at 0 --op-id f --json
json "a fork" "$out" '[.applied, .lane]' '[true,"side"]'
same "has the shared past" "$(texts --lane side)" "u:Q1"
say assistant other --lane side
same "and its own" "$(texts --lane side)" "u:Q1 a:other"
run heddle op fork t --lane side --op-id g --json
json "its name is taken" "$out" '.error.reason' '"lane_exists"'
run heddle op fork t --lane more --at 999 --op-id g
has "what it leaves must be there" "$err" "seq 999 is not in the log"
run heddle op fork t --lane more --from nosuch --op-id g
exits "so must the lane" 1
run heddle op fork t --lane more --from side --at 0 --switch --op-id g
exits "a fork of the fork at its shared part" 0
same "is where the agent is now" "$(heddle project t | jq -r .lane)" more
same "and shows it" "$(texts)" "u:Q1"
run heddle project t --agent bob
json "another agent is where it was" "$out" .lane '"default"'

run heddle project t --at -2
exits "--at before everything is misuse" 2
run heddle project t --at 99999 --json
exits "--at beyond the end is the end" 0
has "which is said" "$err" "there is no entry 99999: the thread ends with "
run heddle project nosuch --json
json "an unknown thread" "$out" .error.code '"NOT_FOUND"'
run heddle project t --lane nosuch --json
json "an unknown lane" "$out" .error.code '"NOT_FOUND"'
run heddle project
exits "no thread at all is misuse" 2
run heddle op dance t
exits "an unknown operation is misuse" 2

echo '{"system_prompt":"from the config"}' >.heddle/config.json
run heddle project t --lane default --at 0
json "a prompt of the config does not change the past" "$out" .system_prompt null
run heddle project t --lane default --at 0 --system given
json "one can be given" "$out" .system_prompt '"given"'
heddle run start prompted --text Q >/dev/null
json "with a run it is in the log" "$(heddle project prompted)" .system_prompt '"from the config"'
echo '{"system_prompt":"another"}' >.heddle/config.json
json "and a run in flight keeps it" "$(heddle project prompted)" .system_prompt '"from the config"'
heddle run cancel prompted >/dev/null
heddle run start prompted --text Q >/dev/null
json "the next one has the new one" "$(heddle project prompted)" '[.system_prompt, (.messages | length)]' '["another",2]'
json "and the past its own" "$(heddle project prompted --at 2)" .system_prompt '"from the config"'
run heddle op switch t --lane default --expect 0 --json
json "an operation can demand a revision" "$out" '[.error.code, .error.reason]' '["CONFLICT","rev"]'
ok "after all that the log is whole" heddle verify

done_testing

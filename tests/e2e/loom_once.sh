#!/bin/sh
# `heddle say` and `heddle do` once for an op_id, and only on the expected head: in the shell and over HTTP.
# tsan: yes
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

heddle init >/dev/null
rev() { heddle head "$1" --json | jq .rev; }

# ---- say, in the shell --------------------------------------------------------------------
first=$(heddle say t 'one' --op-id s1 --json)
same "a message under an op_id is said" "$(rev t)" 1
same "repeating it answers as the first time" "$(heddle say t 'one' --op-id s1 --json)" "$first"
same "and says nothing" "$(rev t)" 1
same "the entry has the op_id" "$(heddle log show t --json | jq -r .op_id)" s1
run heddle say t 'two' --op-id s1
exits "other words under the same op_id" 1
has "are a conflict" "$err" "CONFLICT: op_id 's1' was used before, with other content"
heddle agent add Ana --kind model --model offline:echo >/dev/null
run heddle say t 'one' --op-id s1 --agent Ana
has "and so is another speaker" "$err" "CONFLICT: op_id 's1'"
same "nothing was written" "$(rev t)" 1
root=$(printf '%s' "$first" | jq -r .local_id)
branch=$(heddle say t 'a way on' --at "$root" --op-id s2 --json)
other=$(heddle say t 'elsewhere' --json | jq -r .local_id)
same "the node that it follows is part of it" "$(heddle say t 'a way on' --at "$root" --op-id s2 --json)" "$branch"
run heddle say t 'a way on' --at "$other" --op-id s2
has "another one is a conflict" "$err" "CONFLICT: op_id 's2'"
run heddle say t 'late' --expect 1
exits "a head that has moved" 1
has "is a conflict" "$err" "CONFLICT: thread 't' is at revision 3, not at 1"
same "and nothing is said" "$(rev t)" 3
ok "on the expected head it is" heddle say t 'in time' --expect 3 --op-id s3
ok "a repeated one is answered whatever the head is" heddle say t 'in time' --expect 3 --op-id s3
same "once" "$(rev t)" 4
ok "a thread that is not there yet has no entries" heddle say new 'first' --expect 0

# ---- do, in the shell ----------------------------------------------------------------------
printf 'I look.\n→ view %s\n→ bookmark zzzz "x"\n→ bookmark %s "here"\n' "$root" "$root" >lines
heddle do t --op-id d1 --json <lines >first
n=$(rev t)
heddle do t --op-id d1 --json <lines >again 2>warned
same "lines are run once" "$(rev t)" "$n"
same "and answered with what they answered then" "$(jq -c 'del(.repeated)' again)" "$(jq -c . first)"
same "the answer says so" "$(jq -c '[.repeated, (.results | length)]' again)" '[true,3]'
heddle do t --op-id d1 <lines >text 2>warned
has "and so does the shell" "$(cat warned)" "it was done before under this op_id: nothing was run again"
has "an error is answered as it was" "$(cat text)" "✗ NOT_FOUND: node [zzzz] does not exist in this tree"
run sh -c 'printf "→ tree\n" | "$HEDDLE" do t --op-id d1'
exits "other lines under the same op_id" 1
has "are a conflict" "$err" "CONFLICT: op_id 'd1' was used before, with other content"
run sh -c '"$HEDDLE" do t --op-id s1 <lines'
has "an op_id is of one request, whichever that was" "$err" "CONFLICT: op_id 's1'"
run heddle say t 'one' --op-id d1
has "either way" "$err" "CONFLICT: op_id 'd1'"
run sh -c '"$HEDDLE" do t --op-id d1 --at "$1" <lines' sh "$root"
has "the node that they answer is part of them" "$err" "CONFLICT: op_id 'd1'"
run sh -c 'printf "→ prune %s\n" "$1" | "$HEDDLE" do t --expect 1' sh "$root"
has "a head that has moved is a conflict" "$err" "CONFLICT: thread 't' is at revision $n, not at 1"
same "and nothing is done" "$(rev t)" "$n"
printf '→ unbookmark %s\n' "$root" | heddle do t --expect "$n" --op-id d2 >/dev/null
same "on the expected head the lines are run" "$(heddle log show t --json | jq -r 'select(.kind == "loom_mark") | .payload.mark' | tail -1)" unbookmark
printf '→ unbookmark %s\n' "$root" | heddle do t --expect "$n" --op-id d2 >again 2>/dev/null
has "and answered again whatever the head is" "$(cat again)" "✓"
printf '' | heddle do t --op-id d3 >/dev/null
printf '→ tree\n' | heddle do t --op-id d3 >/dev/null
pass "an output of nothing takes no op_id"
printf '→ think\n→ think words\n←\n→ tree\n' | heddle do t --op-id d4 --json >first
printf '→ think\n→ think words\n←\n→ tree\n' | heddle do t --op-id d4 --json >again 2>/dev/null
same "thoughts are answered, too" "$(jq -c '[.results[] | [.tool, .ok]]' again)" "$(jq -c '[.results[] | [.tool, .ok]]' first)"

heddle say far 'over there' >/dev/null
far=$(heddle api call tree.nodes <<END | jq -r '.items[0].id'
{"thread":"far"}
END
)
printf '→ view %s\n→ switch to %s tree:"far"\n→ view %s\n' "$root" "$far" "$far" | heddle do t --op-id d5 --json >first
printf '→ view %s\n→ switch to %s tree:"far"\n→ view %s\n' "$root" "$far" "$far" | heddle do t --op-id d5 --json >again 2>warned
same "what went to another tree is not done again" "$(jq -c '[.repeated, (.results | length)]' again)" '[true,1]'
has "and what is in its log is named" "$(cat warned)" "2 results are left out: they are in the logs of other trees"

# A process that was killed has left its claim and some of its entries.
claim=$(heddle log show t --json | jq -r 'select(.op_id == "d1") | .seq')
heddle log export t | head -n $((claim + 2)) >half
heddle log import killed half >/dev/null
run sh -c '"$HEDDLE" do killed --op-id d1 <lines'
exits "lines that have not come to their end" 1
has "are not run again" "$err" "has begun and has not come to its end"
has "and it is said what to do" "$err" "heddle log show killed --from $claim"
ok "the log is whole" heddle verify

# ---- over HTTP -----------------------------------------------------------------------------
start_server
key() { ask -H 'Content-Type: application/json' -H "Idempotency-Key: $1" -d "$3" "$url/api/$2"; }
key h1 loom.say '{"thread":"w","text":"one"}'
same "a key of HTTP is the op_id" "$code" 200
first=$out
key h1 loom.say '{"thread":"w","text":"one"}'
same "repeated it answers the same" "$out" "$first"
key h1 loom.say '{"thread":"w","text":"other"}'
same "with other words it is refused" "$code" 409
json "and says why" "$out" '.error | [.code,.reason]' '["CONFLICT","op_id"]'
post loom.say '{"thread":"w","text":"one","op_id":"h1"}'
same "the parameter is the same thing" "$out" "$first"
ask -H 'Content-Type: application/json' -H 'If-Match: "0"' -d '{"thread":"w","text":"late"}' "$url/api/loom.say"
same "If-Match is the expected head" "$code" 412
json "with the error of the table" "$out" '.error | [.code,.reason]' '["CONFLICT","rev"]'
post loom.say '{"thread":"w","text":"late","expect":0}'
same "and so is the parameter" "$code" 409
same "nothing was said" "$(rev w)" 1
at=$(printf '%s' "$first" | jq -r .local_id)
key h2 loom.do "{\"thread\":\"w\",\"lines\":\"→ bookmark $at\"}"
json "lines over HTTP" "$out" '[.results[0].ok,.repeated]' '[true,null]'
n=$(rev w)
key h2 loom.do "{\"thread\":\"w\",\"lines\":\"→ bookmark $at\"}"
json "are run once" "$out" '[.results[0].ok,.repeated]' '[true,true]'
key h2 loom.do "{\"thread\":\"w\",\"lines\":\"→ prune $at\"}"
same "others under the same key are refused" "$code" 409
ask -H 'Content-Type: application/json' -H 'If-Match: "1"' -d "{\"thread\":\"w\",\"lines\":\"→ prune $at\"}" "$url/api/loom.do"
same "and so are those for another head" "$code" 412
same "nothing was done" "$(rev w)" "$n"
i=0 pids=
while [ "$i" -lt 8 ]; do
    curl -sS -o "$scratch/p$i" -H "Authorization: Bearer $token" -H 'Content-Type: application/json' -d '{"thread":"p","text":"together","op_id":"h9"}' "$url/api/loom.say" &
    pids="$pids $!" i=$((i + 1))
done
# shellcheck disable=SC2086
wait $pids
same "eight that come at once are one message" "$(rev p)" 1
stop_server

# ---- what was asked for is erased with the answer --------------------------------------------
heddle say e 'start' >/dev/null
printf 'The word is sesame.\n→ tree\n' >asked
heddle do e --op-id e1 <asked >/dev/null
seq=$(heddle log show e --json | jq 'select(.payload.content == "The word is sesame.") | .seq')
same "a turn has a hash of what was asked for" "$(heddle log show e --json | grep -c '"asked"')" 1
run heddle erase e "$seq" --reason R --dry-run
has "an erasure of its node finds it" "$out" "has a hash of the request it belongs to"
heddle erase e "$seq" --reason R --with-derived >/dev/null
same "and takes it along" "$(heddle log show e --json | grep -c '"asked":"')" 0
n=$(rev e)
run heddle do e --op-id e1 --json <asked
exits "the turn counts as done" 0
json "and is not done again" "$out" .repeated true
same "so nothing is written" "$(rev e)" "$n"
ok "and the log is whole" heddle verify
done_testing

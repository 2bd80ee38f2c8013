#!/bin/sh
# `heddle log`: what goes in comes out, and what is bad is named and leaves nothing behind.
# shellcheck source=tests/e2e/lib.sh disable=SC2016,SC2059
. "$(dirname "$0")/lib.sh"

append() { # append LINES WORDS...: lines given as one argument, \n between them
    append_lines=$1
    shift
    printf "$append_lines" | heddle log append "$@"
}
NOTE='{"kind":"note","payload":{}}'

ok "a workspace" heddle init

# ---- append
run append "$NOTE\n$NOTE\n" t --json
same "the answer names first, last and revision" "$out" '{"first_seq":0,"last_seq":1,"rev":2}'
run append "$NOTE" t
same "a last line needs no newline" "$out" "appended entries 2 to 2; revision 3"

run append "$NOTE\n\n{bad}\n" t
exits "bad JSON is refused" 1
has "with the number of its line" "$err" "line 3: JSON:"
has "and what a line is" "$err" 'hint: a line is {"kind":…,"payload":{…}}'
run append "$NOTE\n$NOTE\n[]\n" t --json
json "as JSON too" "$out" '[keys_unsorted, .error.code]' '[["error"],"INVALID_SYNTAX"]'
has "with the number of its line" "$out" "line 3:"
run append "$NOTE\n{\"kind\":\"ai_context_operation\",\"payload\":{}}\n" t
has "what breaks the rules of its kind is named by its line" "$err" "line 2: not a context operation"
run append "$NOTE\n{\"kind\":\"note\",\"lane\":\"a/b\",\"payload\":{}}\n" t
has "so is a bad name" "$err" "line 2: lane 'a/b'"
run heddle log append t --json </dev/null
same "nothing of all that was written" "$out" '{"first_seq":3,"last_seq":2,"rev":3}'
run heddle log append t </dev/null
same "an empty input is said to be one" "$out" "nothing appended; revision 3"
run heddle log append nothing --json </dev/null
same "and makes no thread" "$out" '{"first_seq":0,"last_seq":-1,"rev":0}'
run heddle log show nothing
exits "there is none" 1

run append "\357\273\277$NOTE\r\n\r\n$NOTE\r\n" crlf --json
same "a byte order mark and CRLF are fine" "$out" '{"first_seq":0,"last_seq":1,"rev":2}'
run append '{"kind":"note","payload":{"a":"\000"}}\n' t
has "a NUL byte is refused" "$err" "line 1: JSON: a control character"
run append '{"kind":"note","payload":{"a":"\377"}}\n' t
has "so is what is not UTF-8" "$err" "line 1: JSON: invalid UTF-8"
run append '{"kind":"note","payload":{"a":1,"a":2}}\n' t
exits "so is a key given twice" 1
run append '{"kind":"no\\\\nte","payload":{}}\n' t
exits "so is a control character in a kind" 1

run sh -c '(printf "{\"kind\":\"note\",\"payload\":{\"a\":\""; head -c 17000000 /dev/zero | tr "\0" x; printf "\"}}\n") | "$HEDDLE" log append t'
exits "a line that is too long is refused" 1
has "with the limit" "$err" "LIMIT_EXCEEDED"
run sh -c '(printf "{\"kind\":\"note\",\"payload\":{\"a\":\""; head -c 16777208 /dev/zero | tr "\0" x; printf "\"}}\n") | "$HEDDLE" log append big --json'
same "a payload of exactly 16 MiB is not" "$out" '{"first_seq":0,"last_seq":0,"rev":1}'
run sh -c 'yes "{\"kind\":\"note\",\"payload\":{}}" | head -n 10001 | "$HEDDLE" log append t'
has "over 10,000 lines belong in an import" "$err" "heddle log import"
run sh -c 'yes "{\"kind\":\"note\",\"payload\":{}}" | head -n 10001 | "$HEDDLE" log import many --json'
same "which takes them" "$out" '{"first_seq":0,"last_seq":10000,"rev":10001}'

for id in ../x a/b . .. /etc/passwd .hidden '' "$(printf 'a\tb')"; do
    run append "$NOTE" "$id"
    exits "thread id '$id' is refused" 1
done
run append "$NOTE" "$(printf '%0129d' 0)"
has "a thread id may be 128 bytes long" "$err" "LIMIT_EXCEEDED"

# ---- expect and op-id
run append "$NOTE" t --expect 2
exits "an expectation that is too low" 1
has "says where the thread is" "$err" "is at revision 3, not at 2"
run append "$NOTE" t --expect 4 --json
json "or too high is a conflict" "$out" '[.error.code, .error.reason]' '["CONFLICT","rev"]'
run append "$NOTE" t --expect 3 --json
same "and the right one is not" "$out" '{"first_seq":3,"last_seq":3,"rev":4}'
run append "$NOTE" t --expect -1
exits "a negative one is misuse" 2
run append "$NOTE" t --expect three
exits "so is one that is no number" 2

TWO='{"kind":"note","payload":{"n":1}}\n{"kind":"note","payload":{"n":2}}\n'
run append "$TWO" t --op-id b --json
same "a batch with an op-id" "$out" '{"first_seq":4,"last_seq":5,"rev":6}'
append "$NOTE" t >/dev/null
run append "$TWO" t --op-id b --json
same "repeated, is recognised" "$out" '{"duplicate":true,"first_seq":4,"last_seq":5,"rev":7}'
run append '{"kind":"note","payload":{"n":1}}\n' t --op-id b
exits "shorter, it is another batch" 1
run append "$TWO$NOTE\n" t --op-id b
exits "longer, too" 1
run append '{"kind":"note","payload":{"n":1}}\n{"kind":"note","payload":{"n":3}}\n' t --op-id b --json
json "and with other lines" "$out" '.error.reason' '"op_id"'
run append '{"kind":"ai_message","payload":{"role":"user","content":"x"}}' t --op-id lane-a --lane a
run append '{"kind":"ai_message","payload":{"role":"user","content":"x"}}' t --op-id lane-a --lane b
exits "the same message in another lane is another message" 1

run append "$TWO" t --op-id b --expect 6 --json
json "a repeated batch is harmless whatever revision it expects" "$out" '.duplicate' 'true'
OWN='{"kind":"note","op_id":"own-1","payload":{"n":1}}\n{"kind":"note","op_id":"own-2","payload":{}}\n'
run append "$OWN" own
run append "$OWN" own --json
same "so are lines with op_ids of their own" "$out" '{"duplicate":true,"first_seq":0,"last_seq":1,"rev":2}'
run append '{"kind":"note","op_id":"own-1","payload":{"n":2}}\n' own --json
json "and other content is a conflict" "$out" '[.error.code, .error.reason]' '["CONFLICT","op_id"]'
run append '{"kind":"ai_mesage","payload":{"role":"user","content":"x"}}\n' slip
exits "an unknown kind is kept" 0
has "and warned of" "$err" "kind 'ai_mesage' is not known"
has "with the nearest" "$err" "did you mean ai_message?"
for role in '"system"' '"developer"' '"asistant"' null 7; do
    run append "{\"kind\":\"ai_message\",\"payload\":{\"role\":$role,\"content\":\"x\"}}\n" slip
    exits "a message of role $role is refused" 1
done
has "and says where a prompt belongs" "$err" "context operation"

# ---- show, export, import
run heddle log show t --from 4 --to 4 --json
json "one entry" "$out" '[.seq, .op_id, .payload.n]' '[4,"b",1]'
run heddle log show t --from 4 --to 4 --raw
exits "--raw shows it as stored" 0
has "the payload too" "$out" '{'
run heddle log show t --from 9 --to 2
same "an empty range is empty" "$out$err$status" "0"
run heddle log show nosuch --json
json "an unknown thread is not found" "$out" '.error.code' '"NOT_FOUND"'
run append '{"kind":"model_response","payload":{"body":"data: {}","completion_tokens":7,"finish":"stop","headers":"Date: today","model":"m","prompt_tokens":20,"provider":"p"}}' read
run append '{"kind":"note","payload":{"a":"b"}}' read
run heddle log show read
same "a line says what a reader wants to know" "$out" '#0 model_response  m · stop · prompt_tokens 20 · completion_tokens 7
#1 note  {"a":"b"}'
run append '{"kind":"note","payload":{"t":"\\\\u001b]0;owned\\\\u0007"}}' term
heddle log show term >"$scratch/shown"
ok "nothing in the log can talk to the terminal" sh -c '! LC_ALL=C grep -q "$(printf "\033")" "$1"' sh "$scratch/shown"

heddle log export t >one.jsonl
run heddle log import copy one.jsonl --json
json "an export goes in" "$out" '.rev' "$(wc -l <one.jsonl)"
heddle log export copy >two.jsonl
ok "and comes out the same" cmp one.jsonl two.jsonl
ok "every line is JSON" jq -e . one.jsonl
run heddle log import copy one.jsonl
exits "twice it does not go in" 1
has "its numbers are taken" "$err" "entry 0 would become entry"
run sh -c 'sed "s/\"n\":2/\"n\":5/" one.jsonl | "$HEDDLE" log import forged'
exits "a changed line is found" 1
has "and named" "$err" "CORRUPT: line 6:"
run heddle log show forged
exits "nothing of it was written" 1
run sh -c 'sed "3d;5d" one.jsonl | "$HEDDLE" log import gaps'
exits "a missing line is found" 1
run sh -c 'sed "3d;5d" one.jsonl | "$HEDDLE" log import gaps --salvage --json'
json "and filled when asked" "$out" '.rev' "$(wc -l <one.jsonl)"
has "and counted" "$err" "2 missing entries"
run heddle log export gaps
same "each entry keeps its number" "$(printf '%s\n' "$out" | jq -c 'select(.kind=="lost_entry") | .seq' | tr '\n' ' ')" "2 4 "
ok "and the copy is whole" heddle verify gaps
run heddle log import t nosuch.jsonl
exits "a file that is not there" 1
has "is named" "$err" "nosuch.jsonl"

# ---- a reader that has had enough; a writer that is killed
run sh -c '"$HEDDLE" log export many 2>"$1" | head -c 10' sh "$scratch/pipe"
same "a closed pipe is no news" "$(cat "$scratch/pipe")" ""
run sh -c '"$HEDDLE" project many 2>"$1" | head -c 10' sh "$scratch/pipe"
same "neither for project" "$(cat "$scratch/pipe")" ""

mkfifo feed
"$HEDDLE" log import killed <feed >/dev/null 2>&1 &
import=$!
exec 3>feed
yes "$NOTE" | head -n 5000 >&3
sleep 0.3
kill -9 $import
wait $import 2>/dev/null
exec 3>&-
run heddle log show killed
exits "a killed import leaves nothing" 1
run append "$NOTE" killed --json
same "and nothing in the way" "$out" '{"first_seq":0,"last_seq":0,"rev":1}'

# ---- the clock goes back
append "$NOTE" clock >/dev/null
printf '%s\n' "$NOTE" | HEDDLE_NOW=5000 heddle log append clock >/dev/null
printf '%s\n' "$NOTE" | HEDDLE_NOW=1000 heddle log append clock >/dev/null
run heddle log export clock
same "entries are in the order in which they came" "$(printf '%s\n' "$out" | jq -r '"\(.seq):\(.at)"' | tail -n 2 | tr '\n' ' ')" "1:5000 2:1000 "
ok "and the log is whole" heddle verify clock

# ---- who and where
printf '%s\n' "$NOTE" | heddle log append who --as ann >/dev/null
printf '%s\n' "$NOTE" | HEDDLE_ACTOR=bob heddle log append who >/dev/null
run heddle log export who
same "the actor is recorded" "$(printf '%s\n' "$out" | jq -r .actor | tr '\n' ' ')" "ann bob "
run append "$NOTE" who --as a/b
exits "a bad one refused" 1
mkdir -p inner/deep
(cd inner && heddle init >/dev/null)
(cd inner/deep && append "$NOTE" only-inner >/dev/null)
run heddle log show only-inner
exits "a workspace in a workspace is one of its own" 1
run heddle log show only-inner --root inner/deep
exits "--root leads there" 0
mkdir made
run heddle init --root made --json
json "init too" "$out" '[.created, (.root|endswith("/made"))]' '[true,true]'
run heddle log show t --root /nonexistent
exits "a root that is not there is an error" 1

done_testing

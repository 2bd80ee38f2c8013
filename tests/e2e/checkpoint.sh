#!/bin/sh
# Checkpoint tokens from the shell: taken, checked, restored, refused.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

# refused NAME REASON: the last run failed with it, in the JSON envelope.
refused() {
    exits "$1" 1
    json "$1: the reason" "$out" .error.reason "\"$2\""
}

# say ROLE TEXT
say() { printf '{"kind":"ai_message","payload":{"role":"%s","content":"%s"}}\n' "$1" "$2"; }

# at FOLDER WORDS: the program in another workspace.
at() {
    tap_at=$1
    shift
    heddle "$@" --root "$tap_at"
}

# restore_from FILE [OPTIONS]: the token in FILE on stdin.
restore_from() {
    tap_file=$1
    shift
    heddle restore - "$@" <"$tap_file"
}

unset HEDDLE_CHECKPOINT_KEYS
heddle init >/dev/null
{ say user Q1; say assistant A1; } | heddle log append t >/dev/null

# ---- taking and checking ----

run heddle checkpoint t
exits "a checkpoint is taken" 0
token=$out
case $token in rt2.*.*) pass "it is a token" ;; *) flunk "it is a token" "$token" ;; esac
same "the key is the workspace's own and nobody else's" "$(stat -c '%a %s' .heddle/checkpoint.key)" "600 32"
same "taking one writes nothing to the log" "$(heddle log show t --json | grep -c '"seq"')" 2
run heddle checkpoint t --json
json "as JSON it says what it is" "$out" '[.thread,.lane,.rev,.status,.exp_ms]' '["t","default",2,"completed",null]'
run heddle restore "$token" --check
exits "it verifies" 0
has "and tells its thread" "$out" "thread     t"
has "and that it never expires" "$out" "expires    never"
run heddle restore "$token" --check --json
json "the payload as it was signed" "$out" '[.payload.v,.payload.iss,.payload.state.version,.messages,.next]' '[2,"jido_ai/react",3,2,"stop"]'
json "entries are kept newest first" "$out" '[.payload.state.context.entries[].content]' '["A1","Q1"]'
before=$(heddle project t)
printf '%s\n' "$token" >token

# ---- restoring ----

say user Q2 | heddle log append t >/dev/null
run heddle restore - --json <token
exits "it is restored from stdin" 0
json "as one entry" "$out" '[.applied,.duplicate,.deferred,.seq]' '[true,false,false,3]'
op=$(printf '%s' "$out" | jq -r .op_id)
json "the context is what it was" "$(heddle project t)" .messages "$(printf '%s' "$before" | jq -c .messages)"
run heddle restore "$token" --json
json "twice changes nothing" "$out" '[.applied,.duplicate,.seq,.op_id]' "[false,true,3,\"$op\"]"
json "the reason is in the log" "$(heddle log show t --from 3 --json)" '[.. | .operation? // empty | .reason] | unique' '["restore"]'
run heddle verify
exits "the log verifies" 0

# ---- refusals ----

run heddle restore "${token}x" --json
refused "a longer token" invalid_token_signature
run heddle restore "${token#rt2.}" --json
refused "no prefix" invalid_token_prefix
run heddle restore rt2.e30 --json
refused "one part" invalid_token_format
run heddle restore 'rt2.e3!.AAAA' --json
refused "not base64" invalid_base64
run heddle restore - --json </dev/null
refused "an empty token" invalid_token_prefix
run heddle restore "$token" --json --check extra
exits "too many words is misuse" 2

HEDDLE_NOW=1000000 heddle checkpoint t --ttl 1 >short
run env HEDDLE_NOW=1000001 "$HEDDLE" restore - --check <short
exits "good until its last millisecond" 0
run env HEDDLE_NOW=1000010 "$HEDDLE" restore - --json <short
refused "then it is over" token_expired
echo '{"checkpoint":{"ttl_ms":5}}' >.heddle/config.json
run env HEDDLE_NOW=1000000 "$HEDDLE" checkpoint t --json
json "the config sets how long" "$out" .exp_ms 1000005
run heddle checkpoint t --ttl 0 --json
json "--ttl 0 is forever" "$out" .exp_ms null
echo '{"run":{"model":"p:other"}}' >.heddle/config.json
run heddle restore "$token" --json
refused "another model" token_config_mismatch
echo '{"run":{"max_iterations":10,"tools":[]}}' >.heddle/config.json
run heddle restore "$token" --check
exits "what is said and what is the default are the same" 0
echo '{}' >.heddle/config.json

mkdir other other/.heddle
cp .heddle/checkpoint.key other/.heddle/
run at other restore "$token" --json
refused "no log" missing_thread
ok "and none is made" test ! -e other/.heddle/heddle.db
say user else | at other log append u >/dev/null
run at other restore "$token" --json
refused "no such thread" missing_thread
{ say user x; say user y; } | at other log append t >/dev/null
run at other restore "$token" --json
refused "another past" thread_mismatch
mkdir shorter shorter/.heddle
cp .heddle/checkpoint.key shorter/.heddle/
say user x | at shorter log append t >/dev/null
run at shorter restore "$token" --json
refused "a log that is behind" thread_mismatch

# ---- keys ----

abc=abcdefghijklmnop new=new-and-long-enough
run env HEDDLE_CHECKPOINT_KEYS=k1:$abc "$HEDDLE" checkpoint t
named=$out
run env HEDDLE_CHECKPOINT_KEYS=k1:$abc "$HEDDLE" restore "$named" --check
has "a key from the environment signs" "$out" "key        k1"
run env HEDDLE_CHECKPOINT_KEYS=k2:$new,k1:$abc "$HEDDLE" restore "$named" --check
exits "an older key verifies" 0
run env HEDDLE_CHECKPOINT_KEYS=k2:$new,k1:$abc "$HEDDLE" checkpoint t --json
json "the first one signs" "$out" .kid '"k2"'
run env HEDDLE_CHECKPOINT_KEYS=k2:$new "$HEDDLE" restore "$named" --json
refused "an unknown key" invalid_token_signature
run heddle restore "$named" --json
refused "nor is the workspace's key it" invalid_token_signature
run env HEDDLE_CHECKPOINT_KEYS=kX:$abc "$HEDDLE" restore "$named" --json
refused "the right secret under another name" invalid_token_signature
run env HEDDLE_CHECKPOINT_KEYS=' ' "$HEDDLE" restore "$token" --check
exits "blank is not set" 0
run env HEDDLE_CHECKPOINT_KEYS=k:jido_ai_react_default_secret_change_me "$HEDDLE" checkpoint t
exits "the old default secret is refused" 1
lacks "and not repeated" "$err" change_me
run env HEDDLE_CHECKPOINT_KEYS=topsecret "$HEDDLE" checkpoint t
exits "a key without an id is refused" 1
lacks "without being shown" "$out$err" topsecret
for bad in k: ":$abc" "k:$abc,k:$new" "k:$abc," "../x:$abc" k:short; do
    run env HEDDLE_CHECKPOINT_KEYS="$bad" "$HEDDLE" checkpoint t
    exits "keys '$bad' are refused" 1
done
head -c 5 /dev/zero >shorter/.heddle/checkpoint.key
run at shorter checkpoint t
exits "a damaged key file is an error" 1
has "that says so" "$err" "CORRUPT"
rm shorter/.heddle/checkpoint.key
for i in 1 2 3 4; do at shorter checkpoint t >"made$i" & done
wait
for i in 1 2 3 4; do
    run at shorter restore - --check <"made$i"
    exits "of keys made at once one wins ($i)" 0
done
same "and nothing is left over" "$(find shorter/.heddle -name "checkpoint*" | wc -l)" 1

# ---- sealed ----

heddle checkpoint t --seal >sealed
body=$(cut -d. -f2 sealed | tr '_-' '/+')
lacks "a sealed token does not show what was said" "$(printf '%s===' "$body" | base64 -d 2>/dev/null | tr -d "\\0")" entries
run restore_from sealed --check
has "its key opens it" "$out" "sealed     yes"
run restore_from sealed --json
json "and it is restored" "$out" .applied true

# ---- a run that is under way ----

heddle run start r --text go --request-id r1 >/dev/null
printf '%s\n' '{"kind":"llm_completed","id":"e1","seq":1,"data":{"content":"","tool_calls":[{"id":"t1","name":"f","arguments":{"a":1}}]}}' |
    heddle run event r >/dev/null
heddle checkpoint r >mid
run restore_from mid --check --json
json "a turn of calls awaits its tools" "$out" '[.payload.state.status,.next]' '["awaiting_tools","tools"]'
json "which are pending with their arguments" "$out" .payload.state.pending_tool_calls '[{"arguments":{"a":1},"id":"t1","name":"f","result":null}]'
run restore_from mid --json
json "restoring during the run waits" "$out" '[.applied,.deferred]' '[false,true]'
run restore_from mid --json
json "and waiting twice is once" "$out" '[.duplicate,.deferred]' '[true,true]'
heddle run recover r >/dev/null
run heddle run status r --json
json "the run whose process is gone is over" "$out" '[.active,.termination_reason]' '[false,"stream_interrupted"]'
json "and the context is the token's" "$(heddle project r)" '[.messages[].role]' '["user","assistant"]'
run restore_from mid --json
json "it was applied once" "$out" '[.duplicate,.deferred]' '[true,false]'

# ---- larger than an argument may be ----

head -c 300000 /dev/zero | tr '\0' x >long
{ printf '{"kind":"ai_message","payload":{"role":"user","content":"'; cat long; printf '"}}\n'; } | heddle log append big >/dev/null
heddle checkpoint big >bigtoken
run restore_from bigtoken --json
json "a token of 400 kB goes through stdin" "$out" .applied true

done_testing

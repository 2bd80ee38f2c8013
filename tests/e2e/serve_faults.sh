#!/usr/bin/env bash
# The server when things go wrong: killed under load, a full disk, clients that never read, that close
# half of a connection, or that are too many. tests/torture/serve.sh does the same for longer.
#     FAULT_ROUNDS (2), FAULT_CONNECTIONS (600), FAULT_SLOW (0: clients that send a byte a second; 25 s)
# tsan: yes
# postgres: no, it fills the disk under a file
# shellcheck source=tests/e2e/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")
rounds=${FAULT_ROUNDS:-2} many=${FAULT_CONNECTIONS:-600} slow=${FAULT_SLOW:-0}

metric() { curl -s -H "Authorization: Bearer $token" "$url/metrics" | sed -n "s/^heddle_$1 //p"; }
# hold N KIND: in the background; let_go ends it, and $closed is how many the server had closed
hold() {
    coproc HOLD { node "$here/serve_faults.mjs" hold "${url##*:}" "$token" "$@"; }
    hold_pid=$HOLD_PID
    read -r -t 60 held <&"${HOLD[0]}"
}
let_go() {
    eval "exec ${HOLD[1]}>&-"
    read -r -t 60 closed <&"${HOLD[0]}"
    wait "$hold_pid" 2>/dev/null
}

# ---- killed under load ---------------------------------------------------------------------
heddle init >/dev/null
: >acknowledged
lost=0 acked=0 told=0
for ((round = 0; round < rounds; round++)); do
    start_server
    node "$here/serve_faults.mjs" write "${url##*:}" "$token" 16 acknowledged >written &
    writers=$!
    enough() { [ "$(wc -l <acknowledged)" -gt $((acked + 100)) ]; }
    await enough
    kill -9 "$serve_pid"
    wait "$serve_pid" 2>/dev/null
    wait $writers
    told=$((told + $(jq .told written)))
    acked=$(wc -l <acknowledged)
done
same "every client of a server that was killed is told" "$told" $((rounds * 16))
start_server
heddle log export --all | jq -r 'select(.op_id or .payload) | [(.thread // ""), (.seq | tostring), (.payload.content // "")] | join(" ")' | sort >stored
while read -r thread seq op; do
    [ "$(heddle log show "$thread" --from "$seq" --to "$seq" --json | jq -r '.payload.content')" = "$op" ] || lost=$((lost + 1))
done < <(sort -R --random-source=/dev/zero acknowledged | head -n 40)
same "what was acknowledged is where it was said to be" "$lost" 0
ops=$(for i in $(seq 0 15); do heddle log show "w$i" --json | jq -r '.payload.content'; done | sort)
same "all of it is there" "$(cut -d ' ' -f 3 acknowledged | sort | comm -23 - <(printf '%s\n' "$ops") | wc -l)" 0
same "and once" "$(printf '%s\n' "$ops" | uniq -d | wc -l)" 0
last=$(tail -n 1 acknowledged)
read -r thread seq op <<<"$last"
post log.append "{\"thread\":\"$thread\",\"op_id\":\"$op\",\"entries\":[{\"kind\":\"ai_message\",\"payload\":{\"role\":\"user\",\"content\":\"$op\"}}]}"
json "a client that repeats itself is told that it is done" "$out" '[.duplicate,.first_seq]' "[true,$seq]"
ok "the log verifies" heddle verify

# ---- killed while others write what is not an append --------------------------------------------
heddle objective create Goal --id goal >/dev/null
heddle spawn --id shared --intent 'Be told' --objective goal --no-run >/dev/null
: >injected
for ((round = 0; round < rounds; round++)); do
    [ "$round" -eq 0 ] || start_server
    had=$(wc -l <injected)
    node "$here/serve_faults.mjs" inject "${url##*:}" "$token" 4 injected >written &
    writers=$!
    some() { [ "$(wc -l <injected)" -gt $((had + 10)) ]; }
    await some
    kill -9 "$serve_pid"
    wait "$serve_pid" 2>/dev/null
    wait $writers
done
start_server
# again OP: what a client does whose answer did not come.
again() { post thread.inject "{\"thread\":\"shared\",\"content\":\"$1\",\"op_id\":\"$1\"}"; }
wrong=0
while read -r op answer; do
    again "$op"
    [ "$code $out" = "200 $answer" ] || wrong=$((wrong + 1))
done < <(sed -n 's/^acknowledged //p' injected | tail -n 5)
same "what was acknowledged is answered as it was before the server was killed" "$wrong" 0
refused=0 cut=$(sed -n 's/^cut //p' injected)
for op in $cut; do
    again "$op"
    [ "$code" = 200 ] || refused=$((refused + 1))
done
same "what broke off is asked for again" "$refused" 0
heddle log show .global --json | jq -r 'select(.payload.operation == "inject") | .payload.content' | sort >told
same "each was done" "$({ printf '%s\n' "$cut" && sed -n 's/^acknowledged \([^ ]*\).*/\1/p' injected; } | sort | comm -3 - told | wc -l)" 0
same "and once, whether it had happened or not" "$(uniq -d told | wc -l)" 0
ok "the log verifies, with .leslie" heddle verify

# ---- clients that never read -----------------------------------------------------------------
for ((i = 0; i < 3000; i++)); do printf '{"kind":"ai_message","payload":{"role":"user","content":"%s %01000d"}}\n' $i 7; done >many
heddle log import big many >/dev/null
before=$(metric resident_bytes)
hold 80 unread
same "clients ask for more than they read" "$held" open
busy() { [ "$(metric streams_busy)" -ge 32 ]; }
await busy
post thread.list '{}'
same "which holds up nobody who asks for something short" "$code" 200
post log.append '{"thread":"t","entries":[{"kind":"ai_message","payload":{"role":"user","content":"x"}}]}'
same "or writes" "$code" 200
if grep -q '__[at]san_init' "$HEDDLE"; then
    skip "and their answers are not gathered in memory" "this build needs memory of its own"
else
    grown=$((($(metric resident_bytes) - before) / 1024 / 1024))
    same "and their answers are not gathered in memory ($grown MB for 80 x 3 MB)" "$((grown < 120))" 1
fi
let_go
idle() { [ "$(metric streams_busy)" -eq 0 ]; }
ok "when they are gone, so is what they asked for" await idle

# ---- halves of connections ---------------------------------------------------------------------
hold 50 half
# alone: one connection is left, that of the question.
alone() { [ "$(metric connections)" -le 1 ]; }
ok "half a request whose client will send no more is given up" await alone
let_go
same "and its client is told" "$closed" 50

# ---- too many ----------------------------------------------------------------------------------
stop_server
start_server --max-connections $((many + 10))
hold "$many" idle
same "$many connections are held" "$held" open
same "and others are still answered" "$(curl -s "$url/healthz")" ok
let_go
ok "they are given back" await alone
stop_server
exits "a server that had them ends as usual" 0
start_server --max-connections 20
hold 30 idle
same "who comes over the limit is told" "$(curl -s -o /dev/null -w '%{http_code}' "$url/healthz")" 503
let_go
await alone
same "and let in again later" "$(curl -s "$url/healthz")" ok
if [ "$slow" -gt 0 ]; then
    hold "$slow" slow
    sleep 25
    let_go
    same "clients that send a byte a second are shut out" "$closed" "$slow"
fi
stop_server

# ---- a full disk -------------------------------------------------------------------------------
if mkdir full && mount -t tmpfs -o size=3m tmpfs full 2>/dev/null; then
    at_end 'kill $serve_pid 2>/dev/null; wait 2>/dev/null; umount "$PWD/full" 2>/dev/null; rm -rf "$scratch"'
    cd full || exit 1
    heddle init >/dev/null
    head -c 300000 /dev/zero >filler
    start_server
    acked=0 refused=0 text=$(printf '%020000d' 7)
    for ((i = 0; i < 200 && refused < 3; i++)); do
        post log.append "{\"thread\":\"t\",\"op_id\":\"o$i\",\"entries\":[{\"kind\":\"ai_message\",\"payload\":{\"role\":\"user\",\"content\":\"$i $text\"}}]}"
        if [ "$code" = 200 ]; then
            acked=$((acked + 1))
        else
            refused=$((refused + 1))
            why=$out
        fi
    done
    same "a full disk is said" "$refused" 3
    json "as what it is" "$why" '.error.code' '"IO"'
    ask "$url/api/log.show?thread=t"
    same "what was acknowledged can be read" "$(printf '%s\n' "$out" | jq -c 'select(.seq != null)' | wc -l)" "$acked"
    same "the server is still there" "$(curl -s "$url/healthz")" ok
    rm filler
    post log.append '{"thread":"t","op_id":"later","entries":[{"kind":"ai_message","payload":{"role":"user","content":"later"}}]}'
    same "and writes again when there is room" "$code" 200
    json "behind what was acknowledged" "$out" .first_seq "$acked"
    stop_server
    ok "the log verifies" heddle verify
    cd .. && umount full
else
    skip "a full disk" "tmpfs cannot be mounted here"
fi
done_testing

#!/bin/sh
# The clock of the machine jumps while the server runs: sessions, limits and streams go by the steady
# clock; tokens, which are for days, by that of the wall; the log takes every time there is.
# asan: no
# tsan: yes
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

cc -shared -fPIC -o "$scratch/jump.so" "$HEDDLE_SOURCE/tests/e2e/clock_jump.c" -ldl || exit 1
echo 0 >"$scratch/offset"
heddle init >/dev/null
short=$(heddle token create short --expires 1h)
CLOCK_JUMP=$scratch/offset LD_PRELOAD=$scratch/jump.so
export CLOCK_JUMP LD_PRELOAD
start_server
unset LD_PRELOAD
jump() { echo "$1" >"$scratch/offset"; }
write() { post log.append '{"thread":"t","entries":[{"kind":"ai_message","payload":{"role":"user","content":"x"}}]}'; }
year() { heddle log show t --json --tail 1 | jq -r '.at / 1000 | gmtime | .[0]'; }
listening() { curl -sN -H "Authorization: Bearer $token" "$url/api/events" >"$scratch/events" & }
heard() { # heard REV
    await grep -q "\"rev\":$1," "$scratch/events"
    grep -c "\"rev\":$1," "$scratch/events"
}
curl -s -o "$scratch/body" -c "$scratch/jar" -D "$scratch/head" -H 'Content-Type: application/json' -d "{\"k\":\"$key\"}" "$url/api/session"
cookie=$(sed -n 's/^Set-Cookie: \([^;]*\).*/\1/p' "$scratch/head") secret=$(jq -r .secret "$scratch/body")
page() { curl -s -o /dev/null -w '%{http_code}' -b "$cookie" -H "X-Heddle: $secret" "$url/api/thread.list"; }
with_short() { curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $short" "$url/api/thread.list"; }
listening
listener=$!
await grep -q '^event: hello' "$scratch/events"
write
now=$(date +%Y)
same "an entry has the time of the wall" "$(year)" "$now"
same "a token within its time" "$(with_short)" 200
jump 315576000
write
same "ten years later an entry is written" "$code" 200
same "with the time there is" "$(year)" $((now + 10))
same "a page's session goes on" "$(page)" 200
same "a token's time is over" "$(with_short)" 401
same "a stream goes on" "$(heard 2)" 1
run heddle open --print
exits "links are made" 0
link=$out
jump -315576000
write
json "ten years before, too" "$out" .rev 3
same "with the time there is, earlier than the entry in front of it" "$(year)" "$(date -d '-10 years' +%Y 2>/dev/null || echo $((now - 10)))"
same "a page's session still goes on" "$(page)" 200
same "and the stream" "$(heard 3)" 1
same "the link that was made then works" "$(curl -s -o /dev/null -w '%{http_code}' -H 'Content-Type: application/json' -d "{\"k\":\"${link##*=}\"}" "$url/api/session")" 200
jump 0
write
json "and back" "$out" .rev 4
ok "the log verifies" heddle verify
kill $listener
wait $listener 2>/dev/null
stop_server
exits "the server ends as usual" 0
done_testing

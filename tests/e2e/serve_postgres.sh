#!/bin/sh
# Servers on one PostgreSQL: events of other processes and of another server, writers of both at once, and a database that goes away.
# asan: no
# shellcheck source=tests/e2e/lib.sh disable=SC2154
. "$(dirname "$0")/lib.sh"

[ -n "${HEDDLE_TEST_POSTGRES:-}" ] || {
    skip "servers on PostgreSQL" "HEDDLE_TEST_POSTGRES is not set"
    done_testing
}
mkdir one two
cd one || exit 1
heddle init >/dev/null
HEDDLE_STORE="$HEDDLE_TEST_POSTGRES&partitions=2&schema_prefix=serve$$"
export HEDDLE_STORE
ok "a log on PostgreSQL is made" heddle say t first
mkdir -p ../two/.leslie && cp .leslie/workspace.json ../two/.leslie/ 2>/dev/null
cd ../two && heddle init >/dev/null
same "a clone of the workspace has the same log" "$(heddle head t --json | jq .rev)" "$(cd ../one && heddle head t --json | jq .rev)"
cd ../one && start_server
one_url=$url one_token=$token one_pid=$serve_pid
cd ../two && XDG_RUNTIME_DIR=$scratch/run2
mkdir -m 700 "$XDG_RUNTIME_DIR"
start_server
at_end 'kill $one_pid $serve_pid 2>/dev/null; wait 2>/dev/null; rm -rf "$scratch"'
# heard TEXT: is told to a reader of the first server
curl -sN -H "Authorization: Bearer $one_token" "$one_url/api/events" >"$scratch/events" &
listener=$!
heard() {
    await grep -q "$1" "$scratch/events"
    grep -c "$1" "$scratch/events"
}
heard 'event: hello' >/dev/null
message() { printf '{"thread":"%s","entries":[{"kind":"ai_message","payload":{"role":"user","content":"%s"}}]}' "$1" "$2"; }
heddle say t 'of another process' >/dev/null
same "what another process commits is told" "$(heard '"rev":2,"thread":"t"')" 1
post log.append "$(message t 'of the second server')"
json "the second server writes" "$out" .rev 3
same "and the first one tells it" "$(heard '"rev":3,"thread":"t"')" 1
same "with what it is" "$(grep -c '"kinds":\["ai_message"\],"rev":3' "$scratch/events")" 1
# newest: the last message of t, as the first server answers it.
newest() { curl -s -H "Authorization: Bearer $one_token" "$one_url/api/project?thread=t" | jq -r '.messages[-1].content'; }
newest >/dev/null
wrong=0 i=0
while [ $i -lt 10 ]; do
    post log.append "$(message t "message $i")"
    [ "$(newest)" = "message $i" ] || wrong=$((wrong + 1))
    i=$((i + 1))
done
same "what the second server has acknowledged is in the next answer of the first" $wrong 0
i=0 writers=
while [ $i -lt 20 ]; do
    curl -s -H "Authorization: Bearer $token" -H 'Content-Type: application/json' -d "$(message w "two $i")" "$url/api/log.append" >>"$scratch/answers" &
    writers="$writers $!"
    curl -s -H "Authorization: Bearer $one_token" -H 'Content-Type: application/json' -d "$(message w "one $i")" "$one_url/api/log.append" >>"$scratch/answers" &
    wait $!
    i=$((i + 1))
done
# shellcheck disable=SC2086
wait $writers
same "writers of both servers are all written" "$(heddle log show w --json | jq -r .payload.content | sort -u | wc -l)" 40
same "and each was told where" "$(jq -r .first_seq "$scratch/answers" | sort -n | uniq | wc -l)" 40
ask "$url/api/project?thread=t"
tag=$(printf '%s\n' "$head" | sed -n 's/^ETag: //p')
url=$one_url token=$one_token
ask "$url/api/project?thread=t" -H "If-None-Match: $tag"
same "a tag of one server is known to the other" "$code" 304
post log.append '{"thread":"t","expect":1,"entries":[]}'
same "a conflict is a conflict" "$code" 409
same "the first is ready" "$(curl -s "$url/readyz")" ready
ok "the log verifies" heddle verify
kill $listener
wait $listener 2>/dev/null
kill "$one_pid"
wait "$one_pid"
same "the first ends as usual" $? 0
stop_server
exits "and so does the second" 0
done_testing

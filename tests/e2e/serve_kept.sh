#!/bin/sh
# Answers that the server keeps: given again while nothing is committed, and never after a write that was acknowledged, to somebody who may not see them, or of a log that is gone.
# tsan: yes
# postgres: no, answers are kept for a log in a file; serve_postgres.sh has two servers on one database
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

heddle init >/dev/null
heddle say t one >/dev/null
start_server

# kept: how many answers were given again so far.
kept() {
    ask "$url/metrics"
    printf '%s\n' "$out" | sed -n 's/^heddle_answers_kept_total //p'
}
# last QUERY: the last message of a projection.
last() {
    ask "$url/api/project?$1"
    printf '%s' "$out" | jq -r '.messages[-1].content'
}
# repeat COMMAND...: until an answer was given again, but at most ten times.
repeat() {
    before=$(kept)
    tries=0
    while [ "$(kept)" -eq "$before" ] && [ $tries -lt 10 ]; do
        "$@" >/dev/null
        tries=$((tries + 1))
    done
    [ "$(kept)" -gt "$before" ]
}

# ---- the same answer -------------------------------------------------------------------------
ask "$url/api/project?thread=t"
first=$out first_head=$(printf '%s\n' "$head" | grep -v '^Date:')
ok "an answer is given again" repeat last thread=t
ask "$url/api/project?thread=t"
same "to the byte" "$out" "$first"
same "with the same headers" "$(printf '%s\n' "$head" | grep -v '^Date:')" "$first_head"
tag=$(printf '%s\n' "$head" | sed -n 's/^ETag: //p')
ask "$url/api/project?thread=t" -H "If-None-Match: $tag"
same "to whom has it, it is not sent again" "$code$out" 304
has "but named" "$head" "ETag: $tag"
ask "$url/api/project?thread=t" -I
same "HEAD has its length" "$(printf '%s\n' "$head" | sed -n 's/^Content-Length: //p')" "$((${#first} + 1))"
ask "$url/api/project?thread=t" -H 'Accept: application/x-ndjson'
json "another form is another answer" "$(printf '%s\n' "$out" | tail -n 1)" .thread '"t"'
post project '{"thread":"t"}'
lacks "a POST has no tag" "$head" "ETag:"
ok "and its answer is given again as well" repeat post project '{"thread":"t"}'
ask "$url/main.js"
page=$(printf '%s' "$out" | cksum) tag=$(printf '%s\n' "$head" | sed -n 's/^ETag: //p')
ask "$url/main.js"
same "a file of the page is the same again" "$(printf '%s' "$out" | cksum)" "$page"
ask "$url/main.js" -H "If-None-Match: $tag"
same "and is not sent to whom has it" "$code$out" 304
has "who asks again before using it" "$head" "Cache-Control: no-cache"

# ---- after a write ---------------------------------------------------------------------------
same "what was said" "$(last thread=t)" one
post log.append '{"thread":"t","entries":[{"kind":"ai_message","payload":{"role":"user","content":"two"}}]}'
same "a write of this server is in the next answer" "$(last thread=t)" two
heddle say t three >/dev/null
same "a write of another process, too" "$(last thread=t)" three
wrong=0 i=0
while [ $i -lt 10 ]; do
    i=$((i + 1))
    if [ $((i % 2)) -eq 0 ]; then heddle say t "message $i" >/dev/null; else
        post log.append "{\"thread\":\"t\",\"entries\":[{\"kind\":\"ai_message\",\"payload\":{\"role\":\"user\",\"content\":\"message $i\"}}]}"
    fi
    [ "$(last thread=t)" = "message $i" ] && [ "$(last thread=t)" = "message $i" ] || wrong=$((wrong + 1))
done
same "so it is each time" $wrong 0
seq=$(heddle log show t --json | jq -r 'select(.payload.content == "message 7") | .seq')
ok "the answer that will be erased is given again" repeat ask "$url/api/log.show?thread=t"
has "and has the text" "$out" "message 7"
heddle erase t "$seq" --reason "she asked" >/dev/null
ask "$url/api/log.show?thread=t"
lacks "what was erased is not in the next one" "$out" '"message 7"'

# ---- to whom ----------------------------------------------------------------------------------
heddle say secret hidden >/dev/null
ok "an answer about another thread is kept" repeat last thread=secret
shell=$token
token=$(heddle token create builder --thread t)
ask "$url/api/project?thread=secret"
same "a token for one thread is not given it" "$code" 403
post project '{"thread":"secret"}'
same "nor with a POST" "$code" 403
ok "it is given its own" repeat last thread=t
heddle token revoke "$(heddle token list --json | jq -r '.items[0].id')" >/dev/null
ask "$url/api/project?thread=t"
same "and not even that once it is revoked" "$code" 401
token=$shell

# ---- another log ---------------------------------------------------------------------------------
ok "an answer is kept" repeat last thread=t
rm -r .heddle
ask "$url/api/project?thread=t"
same "a log that was removed is not answered for" "$code" 404
heddle init >/dev/null
heddle say t anew >/dev/null
same "one that was made in its place is" "$(last thread=t)" anew
post log.append '{"thread":"t","entries":[{"kind":"ai_message","payload":{"role":"user","content":"written anew"}}]}'
same "what the server writes is in it" "$(heddle project t --json | jq -r '.messages[-1].content')" "written anew"
same "and it is answered for" "$(last thread=t)" "written anew"

# ---- the same log elsewhere -----------------------------------------------------------------------
# say TEXT: through the server; the status is in $code.
say() { post log.append "{\"thread\":\"t\",\"entries\":[{\"kind\":\"ai_message\",\"payload\":{\"role\":\"user\",\"content\":\"$1\"}}]}"; }
ok "an answer is kept once more" repeat last thread=t
mv .heddle aside
ask "$url/api/project?thread=t"
same "a log whose directory was renamed is not answered for" "$code" 404
say "into a renamed directory"
same "nor is anything written to it" "$code" 404
same "the server says that it is not ready" "$(curl -s -o /dev/null -w '%{http_code}' "$url/readyz")" 503
mv aside .heddle
same "back at its place it is answered for" "$(last thread=t)" "written anew"
say "back again"
same "and written to" "$code" 200
cp -r .heddle other
mv .heddle aside
mv other .heddle
say "into the copy"
same "a copy of it in its place is written to" "$code" 200
same "not the one that was moved away" "$(heddle project t --json | jq -r '.messages[-1].content')" "into the copy"
rm -r aside

here=$PWD
mv "$here" "$here-moved"
ask "$url/api/project?thread=t"
same "a workspace that was renamed is not answered for" "$code" 500
has "which is said" "$out" "was moved or replaced while it was in use"
say "into a renamed workspace"
same "nor is anything written to it" "$code" 500
mv "$here-moved" "$here"
same "until it is back" "$(last thread=t)" "into the copy"

# ---- how much -----------------------------------------------------------------------------------
i=0
while [ $i -lt 300 ]; do
    i=$((i + 1))
    printf 'url = "%s/api/project?thread=t&agent=a%s"\noutput = /dev/null\n' "$url" "$i"
done >"$scratch/many"
run curl -sS -H "Authorization: Bearer $token" -K "$scratch/many"
exits "many different requests are answered" 0
same "and the next one, too" "$(last thread=t)" "into the copy"
stop_server
same "the server ends as usual" "$status" 0
done_testing

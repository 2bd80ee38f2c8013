#!/bin/sh
# What the server refuses, and to whom: pages of other origins, rebound names, stolen halves of a
# session, tokens beyond their permissions, requests that two programs could read in two ways.
# tsan: yes
# postgres: no, it is about requests, not about the log
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")

heddle init >/dev/null
heddle say t 'one' >/dev/null
heddle say other 'two' >/dev/null
before=$(heddle log export --all)
start_server
port=${url##*:}
json_type='Content-Type: application/json'

# code_of WORDS...: the status of a request without a secret of its own; its head is in $head.
code_of() {
    curl -s -o "$scratch/body" -D "$scratch/head" -w '%{http_code}' "$@"
}
all_heads() { tr -d '\r' <"$scratch/head" >>"$scratch/heads"; }

# ---- the hand-over ---------------------------------------------------------------------------
: >"$scratch/heads"
same "a link opens a session" "$(code_of -c "$scratch/jar" -H "$json_type" -d "{\"k\":\"$key\"}" "$url/api/session")" 200
all_heads
secret=$(jq -r .secret "$scratch/body")
cookie=$(sed -n 's/^Set-Cookie: \([^;]*\).*/\1/p' "$scratch/heads")
has "scripts cannot read the cookie" "$(cat "$scratch/heads")" "; HttpOnly; SameSite=Strict; Path=/api"
has "its name has the port, which cookies do not know" "$cookie" "heddle_$port="
same "a link works once" "$(code_of -H "$json_type" -d "{\"k\":\"$key\"}" "$url/api/session")" 401
# A page that was loaded again while the answer was on its way asks again, with the secret that it drew.
own=$(head -c 32 /dev/urandom | base64 | tr '+/' '-_' | tr -d '=\n')
link=$(curl -s -X POST -H "Authorization: Bearer $token" -H "$json_type" -d '{}' "$url/api/link" | jq -r .url)
enters() { code_of -H "$json_type" -d "{\"k\":\"${link##*=}\"$1}" "$url/api/session"; }
same "a secret of another form is refused" "$(enters ',"secret":"AAAA"')" 400
same "a page may bring its secret" "$(enters ",\"secret\":\"$own\"")" 200
first=$(sed -n 's/^Set-Cookie: \([^;]*\).*/\1/p' "$scratch/head")
same "with the same secret the answer comes again" "$(enters ",\"secret\":\"$own\"")" 200
same "with the same cookie" "$(sed -n 's/^Set-Cookie: \([^;]*\).*/\1/p' "$scratch/head")" "$first"
same "which works" "$(code_of -b "$first" -H "X-Heddle: $own" "$url/api/thread.list")" 200
same "with another secret the link is used" "$(enters ",\"secret\":\"$(printf '%043d' 0 | tr 0 A)\"")" 401
same "and without one" "$(enters '')" 401
same "a link that was never made" "$(code_of -H "$json_type" -d '{"k":"AAAA"}' "$url/api/session")" 401
same "both secrets together are let in" "$(code_of -b "$cookie" -H "X-Heddle: $secret" "$url/api/thread.list")" 200
same "the cookie alone is not" "$(code_of -b "$cookie" "$url/api/thread.list")" 401
all_heads
same "nor is the page's secret" "$(code_of -H "X-Heddle: $secret" "$url/api/thread.list")" 401
same "nor are they with a wrong cookie" "$(code_of -b "heddle_$port=AAAA" -H "X-Heddle: $secret" "$url/api/thread.list")" 401
same "reading needs them too" "$(code_of "$url/api/events")" 401
sleep 1.1
# One process asks: a loaded machine does not start twelve within a second.
has "after ten wrong secrets in a second the answer is another" \
    "$(curl -s -o /dev/null -w '%{http_code} ' -H 'Authorization: Bearer wrong' "$url/api/thread.list?[1-40]")" 429
same "whoever has the right one is not held up" "$(code_of -H "Authorization: Bearer $token" "$url/api/thread.list")" 200
sleep 1.1

# ---- other pages in the same browser --------------------------------------------------------------
# as_page WORDS...: with both secrets, as a browser would have them
as_page() { code_of -b "$cookie" -H "X-Heddle: $secret" "$@"; }
write='{"thread":"t","entries":[{"kind":"ai_message","payload":{"role":"user","content":"evil"}}]}'
same "a rebound name is told by its Host alone" "$(as_page -H "Host: evil.example:$port" "$url/api/thread.list")" 421
all_heads
same "so is another port" "$(as_page -H 'Host: 127.0.0.1:1' "$url/api/thread.list")" 421
same "localhost is us" "$(as_page -H "Host: localhost:$port" "$url/api/thread.list")" 200
same "another origin may not write" "$(as_page -H 'Origin: https://evil.example' -H "$json_type" -d "$write" "$url/api/log.append")" 403
all_heads
same "nor may another port of this machine" "$(as_page -H 'Origin: http://127.0.0.1:1' -H "$json_type" -d "$write" "$url/api/log.append")" 403
same "nor a page without an origin of its own" "$(as_page -H 'Origin: null' -H "$json_type" -d "$write" "$url/api/log.append")" 403
same "nor another site" "$(as_page -H 'Sec-Fetch-Site: cross-site' "$url/api/thread.list")" 403
same "nor another port, which is the same site" "$(as_page -H 'Sec-Fetch-Site: same-site' "$url/api/thread.list")" 403
same "our own page may" "$(as_page -H "Origin: $url" -H 'Sec-Fetch-Site: same-origin' "$url/api/thread.list")" 200
same "a form is not a request" "$(as_page -H 'Content-Type: application/x-www-form-urlencoded' -d 'thread=t' "$url/api/log.append")" 415
same "nor is plain text" "$(as_page -H 'Content-Type: text/plain' -d "$write" "$url/api/log.append")" 415
same "nor a form with a file" "$(as_page -F 'thread=t' "$url/api/log.append")" 415
same "a preflight is refused" "$(as_page -X OPTIONS -H 'Access-Control-Request-Method: POST' "$url/api/log.append")" 405
all_heads
same "other methods are refused" "$(as_page -X DELETE "$url/api/log.append")" 405
lacks "nothing ever allows another origin" "$(tr 'A-Z' 'a-z' <"$scratch/heads")" "access-control"
for name in Content-Security-Policy X-Content-Type-Options Referrer-Policy X-Frame-Options Cross-Origin-Opener-Policy Cross-Origin-Resource-Policy; do
    same "every answer has $name" "$(grep -c "^$name: " "$scratch/heads")" "$(grep -c '^HTTP/' "$scratch/heads")"
done
same "what was refused wrote nothing" "$(heddle log export --all)" "$before"

# ---- files ------------------------------------------------------------------------------------------
for path in /.heddle/heddle.db /../.heddle/heddle.db /%2e%2e/.heddle/heddle.db '/t/../../.heddle/heddle.db' //etc/passwd /index.html/../../.heddle/config.json; do
    run curl -s --path-as-is "$url$path"
    lacks "no path leads to the workspace's files: $path" "$out" "SQLite"
    lacks "nor out: $path" "$out" "root:"
done
status_of() { curl -s --path-as-is -o /dev/null -w '%{http_code}' "$url$1"; }
for path in /.heddle/heddle.db /%2e%2e/.heddle/heddle.db /.git/config /x /api /t /search/x /nothing.js; do
    same "what is not an address of the page is not found: $path" "$(status_of "$path")" 404
done
for path in / /index.html /main.js /t/t /t/t/log /t/a%20b/files/x.js /search /payload /import /search.json; do
    same "an address of the page is answered: $path" "$(curl -s -H 'Accept: text/html' -o /dev/null -w '%{http_code}' "$url$path")" 200
done
run curl -s "$url/.heddle/heddle.db"
has "with the page, which says so" "$out" '<script type="module" src="/main.js">'
mkdir -p .heddle && echo '{}' >.heddle/config.json
for name in ../../.heddle/config.json .heddle/config.json /etc/passwd; do
    post asset.read "{\"thread\":\"t\",\"name\":\"$name\"}"
    same "no asset is outside of its thread: $name" "$((code >= 400))" 1
done
printf 'KEYWORD' >.heddle/checkpoint.key
ln -s .heddle/checkpoint.key linked
ln -s .heddle folder
for path in .heddle/checkpoint.key ./.heddle/checkpoint.key linked folder/checkpoint.key x/../.heddle/checkpoint.key '.heddle/*' /etc/hostname ../outside; do
    ask -H 'Content-Type: application/json' -d "{\"paths\":[\"$path\"]}" "$url/api/payload.make"
    lacks "no payload holds what belongs to heddle: $path" "$out" "KEYWORD"
    post tokens.count "{\"files\":[\"$path\"],\"split\":true}"
    same "nor is it counted: $path" "$((code >= 400))" 1
done
post payload.parse '{"file":".heddle/checkpoint.key"}'
same "nor taken apart" "$code" 403
post payload.parse "{\"into\":\".heddle\",\"text\":\"# Agent Invocation Payload\"}"
same "nor written over" "$((code >= 400))" 1
lacks "a link of a checkout does not bring it into a payload of the shell" "$(heddle payload linked --output - 2>&1)" KEYWORD
rm linked folder
printf '{"url":"http://evil.example","socket":"/tmp/x","token":"planted"}' >.heddle/serve.json
has "a file that a checkout brings is not where a server is looked for" "$(ls "$XDG_RUNTIME_DIR"/heddle)" ".json"

# ---- tokens -----------------------------------------------------------------------------------------
# with TOKEN WORDS...
with() {
    with_token=$1
    shift
    code_of -H "Authorization: Bearer $with_token" "$@"
}
reader=$(heddle token create reader)
writer=$(heddle token create writer --permissions read,write --thread t --expires 12h)
every=$(heddle token create every --permissions read,write,run,manage --expires never)
same "a token that reads, reads" "$(with "$reader" "$url/api/thread.list")" 200
same "and does not write" "$(with "$reader" -H "$json_type" -d "$write" "$url/api/log.append")" 403
json "which is said" "$(cat "$scratch/body")" '.error | [.code,.reason]' '["PERMISSION_DENIED","permission"]'
same "a token for a thread writes there" "$(with "$writer" -H "$json_type" -d '{"thread":"t","entries":[{"kind":"ai_message","payload":{"role":"user","content":"good"}}]}' "$url/api/log.append")" 200
same "under its own name" "$(heddle log show t --json --tail 1 | jq -r .actor)" writer
same "and nowhere else" "$(with "$writer" -H "$json_type" -d '{"thread":"other","entries":[]}' "$url/api/log.append")" 403
same "neither by a query" "$(with "$writer" "$url/api/log.show?thread=other")" 403
same "nor does it see the list of threads" "$(with "$writer" "$url/api/thread.list")" 403
same "nor hear of others" "$(with "$writer" "$url/api/events?thread=other")" 403
same "nor act under another name" "$(with "$writer" -H 'X-Heddle-Actor: ana' "$url/api/log.show?thread=t")" 403
same "asking a model is a permission of its own" "$(with "$writer" -H "$json_type" -d '{"thread":"t","agent":"Ana","message":"x"}' "$url/api/talk")" 403
same "starting programs is a permission of its own" "$(with "$writer" -H "$json_type" -d '{"thread":"t"}' "$url/api/worker.stop")" 403
same "what decides what may run is for the shell, whatever the token" "$(with "$every" -H "$json_type" -d '{"key":"system_prompt","value":"x"}' "$url/api/config.set")" 403
same "so is what names files anywhere" "$(with "$every" -H "$json_type" -d '{"file":"/tmp/x"}' "$url/api/workspace.backup")" 403
same "for the page too" "$(as_page -H "$json_type" -d '{"file":"/tmp/x"}' "$url/api/workspace.backup")" 403
# What only reads or writes does not reach further by a parameter.
forged='{"thread":"t","entries":[{"kind":"ai_message","actor":"ana","payload":{"role":"user","content":"forged"}}]}'
same "nor write in another name" "$(with "$writer" -H "$json_type" -d "$forged" "$url/api/log.append")" 403
json "which is said" "$(cat "$scratch/body")" '.error | [.code,.reason]' '["PERMISSION_DENIED","actor"]'
same "nor in none" "$(with "$writer" -H "$json_type" -d "$(printf '%s' "$forged" | sed 's/"ana"/null/')" "$url/api/log.append")" 403
wide=$(heddle token create wide --permissions read,write)
printf '%s' "$forged" | jq -c '.entries[]' >lines
same "nor by an import" "$(with "$wide" -H 'Content-Type: application/x-ndjson' --data-binary @lines "$url/api/log.import?thread=brought")" 403
same "whoever may change who may do what, may" "$(with "$every" -H "$json_type" -d "$forged" "$url/api/log.append")" 200
heddle objective create Goal --id goal >/dev/null
heddle spawn --id hidden --intent Hidden --objective goal --no-run >/dev/null
heddle spawn --id copies --intent Copies --objective goal --no-run >/dev/null
heddle spawn --id open --intent Open --objective goal --no-run >/dev/null
echo UNSEEN >.leslie/threads/hidden/plan.md
echo '# Notes' >.leslie/threads/open/notes.md
heddle reference --from copies --target hidden --binding frozen >/dev/null
hash=$(heddle log show .global --json | grep -o '"hash":"[0-9a-f]*"' | tail -n 1 | cut -d '"' -f 4)
limited=$(heddle token create limited --permissions read,write --thread open)
same "a record that a file was written is not for a token" \
    "$(with "$limited" -H "$json_type" -d "{\"thread\":\"open\",\"entries\":[{\"kind\":\"document_write\",\"payload\":{\"path\":\"notes.md\",\"after\":\"$hash\"}}]}" "$url/api/log.append")" 403
with "$limited" -H "$json_type" -d "{\"thread\":\"open\",\"name\":\"notes.md\",\"hash\":\"$hash\"}" "$url/api/asset.compare" >/dev/null
lacks "so that no hash shows what another thread has written" "$(cat "$scratch/body")" UNSEEN
page='{"paths":["http://127.0.0.1:1/"],"no_tree":true}'
for name in payload.make payload.explain; do
    with "$wide" -H "$json_type" -H 'Accept: text/event-stream' -d "$page" "$url/api/$name" >/dev/null
    has "asking the network is a permission of its own: $name" "$(cat "$scratch/body")" "offline, and no copy is kept"
    with "$every" -H "$json_type" -H 'Accept: text/event-stream' -d "$page" "$url/api/$name" >/dev/null
    has "with it the address is looked at: $name" "$(cat "$scratch/body")" "the address is private"
done
mkdir -p .git there
echo '[core]' >.git/config
ln -s .git linked
printf 'evil\n' >there/config
(cd there && heddle payload config --output - 2>/dev/null) | sed 's|there/config|config|g' >"$scratch/parts"
extract() { jq -c -n --rawfile text "$scratch/parts" --arg into "$1" '{text:$text,into:$into,force:true}'; }
same "writing files is a permission of its own" "$(with "$wide" -H "$json_type" -d "$(extract out)" "$url/api/payload.parse")" 403
same "with it they are written" "$(with "$every" -H "$json_type" -d "$(extract out)" "$url/api/payload.parse") $(cat out/config)" "200 evil"
for into in .git ./.git .git/hooks out/../.git linked linked/hooks .vscode; do
    same "where programs run what they find, nothing is: $into" "$(with "$every" -H "$json_type" -d "$(extract "$into")" "$url/api/payload.parse")" 403
done
same "nothing was written there" "$(cat .git/config) $(find .git -type f | wc -l)" "[core] 1"
rm -r .git linked there out

# A stream that is open ends with its token.
listens() { # listens TOKEN: as long as it may; its process is $listener
    : >"$scratch/stream"
    curl -sN -H "Authorization: Bearer $1" "$url/api/events" >"$scratch/stream" &
    listener=$!
    await grep -q hello "$scratch/stream"
}
has_ended() { ! kill -0 "$listener" 2>/dev/null; }
listens "$wide"
heddle token revoke "$(heddle token list --json | jq -r '.items[] | select(.actor == "wide").id')" >/dev/null
ok "events end when the token is taken back" await has_ended
listens "$limited"
cp "$HOME/.local/state/heddle/tokens.json" "$scratch/tokens"
jq '(.workspaces[][] | select(.actor == "limited").expires_at) = "2020-01-01T00:00:00.000Z"' "$scratch/tokens" >"$HOME/.local/state/heddle/tokens.json"
ok "and when it expires" await has_ended
cp "$scratch/tokens" "$HOME/.local/state/heddle/tokens.json"
heddle token revoke "$(heddle token list --json | jq -r '.items[] | select(.actor == "limited").id')" >/dev/null
same "a token cannot make links to the page" "$(with "$every" -H "$json_type" -d '{}' "$url/api/link")" 403
same "nor end the server" "$(with "$every" -H "$json_type" -d '{}' "$url/api/stop")" 403
file=$HOME/.local/state/heddle/tokens.json
same "tokens are kept where only the user reads" "$(stat -c %a "$file")" 600
lacks "and as hashes" "$(cat "$file")" "$reader"
run heddle token list --json
json "they are listed" "$out" '[.items[] | [.actor,.permissions,.threads]]' '[["reader",["read"],[]],["writer",["read","write"],["t"]],["every",["read","write","run","manage"],[]]]'
lacks "without their secrets" "$out" "heddle_"
id=$(printf '%s' "$out" | jq -r '.items[0].id')
ok "one is taken back" heddle token revoke "$id"
same "and refused from then on" "$(with "$reader" "$url/api/thread.list")" 401
json "a token needs no name" "$(heddle token create --permissions read --thread t --expires 1h --json)" '[.actor, .permissions, .threads]' '["program",["read"],["t"]]'
not_ok "it is not there twice" heddle token revoke "$id"
sed -i 's/"expires_at": "[^"]*"/"expires_at": "2020-01-01T00:00:00.000Z"/' "$file"
same "a token that has expired is refused" "$(with "$writer" "$url/api/log.show?thread=t")" 401
run heddle token create x --permissions everything
exits "a permission that is not there" 2
run heddle token create x --expires 2020-01-01T00:00Z
exits "a time that is over" 2
chmod 666 "$file"
same "a list that everybody can write makes nobody known" "$(with "$every" "$url/api/thread.list")" 401
chmod 600 "$file"
sleep 1.1

# ---- framing ----------------------------------------------------------------------------------------
# raw REQUEST [FLAG]: bytes as they are; $out is all that came back
raw() {
    out=$(printf '%s' "$1" | node "$here/raw.mjs" "$port" ${2:-})
}
own="Host: 127.0.0.1:$port\\r\\nAuthorization: Bearer $token\\r\\nContent-Type: application/json\\r\\n"
begin="POST /api/program.version HTTP/1.1\\r\\n$own"
refused() { # refused NAME REQUEST
    raw "$2"
    has "$1" "$out" "HTTP/1.1 400"
    has "$1, and the connection ends" "$out" "(closed)"
}
raw "${begin}Connection: close\\r\\nContent-Length: 2\\r\\n\\r\\n{}"
has "a request that is whole is answered" "$out" "HTTP/1.1 200"
refused "a length and a coding" "${begin}Content-Length: 2\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\nGET /healthz HTTP/1.1\\r\\nHost: 127.0.0.1:$port\\r\\n\\r\\n"
same "and what follows is not a request" "$(printf '%s' "$out" | grep -c '^HTTP')" 1
refused "two lengths" "${begin}Content-Length: 2\\r\\nContent-Length: 4\\r\\n\\r\\n{}"
refused "a blank in front of the colon" "${begin}Content-Length : 2\\r\\n\\r\\n{}"
refused "a length with a sign" "${begin}Content-Length: +2\\r\\n\\r\\n{}"
refused "a list of lengths" "${begin}Content-Length: 2, 2\\r\\n\\r\\n{}"
refused "a coding that is not known" "${begin}Transfer-Encoding: gzip\\r\\n\\r\\n{}"
refused "a list of codings" "${begin}Transfer-Encoding: gzip, chunked\\r\\n\\r\\n2\\r\\n{}\\r\\n0\\r\\n\\r\\n"
refused "a folded line" "${begin}Transfer-Encoding:\\r\\n chunked\\r\\n\\r\\n2\\r\\n{}\\r\\n0\\r\\n\\r\\n"
refused "a NUL in a value" "GET /healthz HTTP/1.1\\r\\nHost: 127.0.0.1:$port\\r\\nX: a\\0b\\r\\nY: c\\r\\n\\r\\n"
refused "a NUL in the last value" "GET /healthz HTTP/1.1\\r\\nHost: 127.0.0.1:$port\\r\\nX: a\\0b\\r\\n\\r\\n"
refused "a NUL in a name" "GET /healthz HTTP/1.1\\r\\nHost: 127.0.0.1:$port\\r\\nX\\0b: a\\r\\n\\r\\n"
refused "a NUL in the target" "GET /heal\\0thz HTTP/1.1\\r\\nHost: 127.0.0.1:$port\\r\\n\\r\\n"
refused "a NUL in the method" "GET\\0X /healthz HTTP/1.1\\r\\nHost: 127.0.0.1:$port\\r\\n\\r\\n"
refused "lines that end with LF alone" "GET /healthz HTTP/1.1\\nHost: 127.0.0.1:$port\\n\\n"
refused "a line without a colon" "GET /healthz HTTP/1.1\\r\\nHost: 127.0.0.1:$port\\r\\nnothing\\r\\n\\r\\n"
refused "two hosts" "GET /healthz HTTP/1.1\\r\\nHost: 127.0.0.1:$port\\r\\nHost: evil.example\\r\\n\\r\\n"
refused "no host" "GET /healthz HTTP/1.1\\r\\n\\r\\n"
has "also by an answer with all headers" "$out" "Content-Security-Policy: "
same "which is one answer" "$(printf '%s\n' "$out" | grep -c '^HTTP/1.1 400')" 1
refused "a whole address as the target" "GET http://127.0.0.1:$port/healthz HTTP/1.1\\r\\nHost: 127.0.0.1:$port\\r\\n\\r\\n"
refused "a GET with a body" "GET /healthz HTTP/1.1\\r\\nHost: 127.0.0.1:$port\\r\\nContent-Length: 2\\r\\n\\r\\n{}"
refused "a chunk that is none" "${begin}Transfer-Encoding: chunked\\r\\n\\r\\nzz\\r\\n{}\\r\\n0\\r\\n\\r\\n"
raw "GET /healthz HTTP/2.0\\r\\nHost: 127.0.0.1:$port\\r\\n\\r\\n"
has "another version" "$out" "HTTP/1.1 505"
raw "GET /healthz HTTP/1.2\\r\\nHost: 127.0.0.1:$port\\r\\n\\r\\n"
has "a minor version that nobody knows" "$out" "HTTP/1.1 400"
raw "GET /healthz HTTP/1.1\\r\\nHost: 127.0.0.1:$port\\r\\n\\r\\nGET /healthz HTTP/1.1\\r\\nHost: 127.0.0.1:$port\\r\\nConnection: close\\r\\n\\r\\n"
same "requests that follow each other are each answered" "$(printf '%s\n' "$out" | grep -c '^HTTP/1.1 200')" 2
raw "${begin}Transfer-Encoding: chunked\\r\\n\\r\\n2\\n{}\\n0\\n\\nGET /healthz HTTP/1.1\\r\\nHost: 127.0.0.1:$port\\r\\n\\r\\n"
same "behind a body in chunks nothing is a request: its end could be seen elsewhere" "$(printf '%s\n' "$out" | grep -c '^HTTP/1.1')" 1
raw "${begin}Content-Length: 2\\r\\n\\r\\n{}" --half
has "a client that has closed its half still gets the answer" "$out" '"version"'

# ---- sizes ------------------------------------------------------------------------------------------
long=$(printf '%020000d' 0)
same "a head that is too long" "$(code_of -H "X-Long: $long" "$url/healthz")" 431
stop_server
start_server --max-body 1000
printf '{"thread":"%02000d"}' 0 >big
same "a body that is too long" "$(code_of -H "Authorization: Bearer $token" -H "$json_type" -d @big "$url/api/log.append")" 413
same "also when its length is not said" "$(code_of -H "Authorization: Bearer $token" -H "$json_type" -H 'Transfer-Encoding: chunked' -d @big "$url/api/log.append")" 413
stop_server
start_server --rate 2 --max-connections 3
# quickly WORDS of curl... URL: the status of 100 requests on one connection: a process for each may take longer than the limit allows.
quickly() {
    i=0
    for word in "$@"; do last=$word; done
    while [ $i -lt 100 ]; do
        i=$((i + 1))
        printf 'url = "%s"\noutput = /dev/null\n' "$last"
    done >"$scratch/quickly"
    curl -s -w '%{http_code} ' -K "$scratch/quickly" "$@" -o /dev/null
}
has "too many requests in a second are told so" "$(quickly "$url/healthz")" 429
one=$(heddle token create one) two=$(heddle token create two)
has "a token that asks too often is held up" "$(quickly -H "Authorization: Bearer $one" "$url/api/thread.list")" 429
same "and no other" "$(with "$two" "$url/api/thread.list")" 200
stop_server

# ---- addresses --------------------------------------------------------------------------------------
run heddle serve --listen 0.0.0.0:0
exits "an address that others reach is refused" 1
has "unless it is encrypted, or asked for" "$err" "--tls-cert"
start_server --listen 0.0.0.0:0 --insecure
has "asked for, it is served" "$url" "http://0.0.0.0:"
stop_server
start_server --listen 127.0.0.2:0
same "the address that was asked for is a name of the server" "$(code_of "$url/healthz")" 200
stop_server
start_server --allow-host proxy.test,other.test:8443
port=${url##*:}
for name in "proxy.test 200" "proxy.test:443 200" "proxy.test:$port 200" "proxy.test:1 421" "other.test:8443 200" "other.test 421" "proxy.test.evil 421" "[proxy.test 421" ":80 421"; do
    same "a name that was allowed, and its ports: $name" "$(code_of -H "Host: ${name% *}" "$url/healthz")" "${name#* }"
done
same "a page of the proxy may ask" "$(code_of -H 'Host: proxy.test' -H 'Origin: https://proxy.test' -H "Authorization: Bearer $token" "$url/api/thread.list")" 200
same "a page on another port of that machine may not" "$(code_of -H 'Host: proxy.test' -H 'Origin: https://proxy.test:9999' -H "Authorization: Bearer $token" "$url/api/thread.list")" 403
stop_server
run heddle serve --listen 127.0.0.1:99999
exits "a port that is none" 2
if command -v openssl >/dev/null; then
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
        -keyout "$scratch/key.pem" -out "$scratch/cert.pem" >/dev/null 2>&1
    start_server --listen 127.0.0.1:0 --tls-cert "$scratch/cert.pem" --tls-key "$scratch/key.pem"
    has "with a certificate it is HTTPS" "$url" "https://127.0.0.1:"
    same "which answers" "$(code_of -k "$url/healthz")" 200
    code_of -k -H "$json_type" -d "{\"k\":\"$key\"}" "$url/api/session" >/dev/null
    has "and whose cookie never goes out in the clear" "$(cat "$scratch/head")" "; Secure"
    stop_server
    not_ok "a key that is not there" heddle serve --tls-cert "$scratch/cert.pem" --tls-key "$scratch/nothing"
    not_ok "a certificate without a key" heddle serve --tls-cert "$scratch/cert.pem"
else
    skip "HTTPS" "openssl is not installed"
fi
chmod 755 "$XDG_RUNTIME_DIR/heddle"
run heddle serve
exits "a directory that others can enter is not used for secrets" 1
has "and it is said what to do" "$err" "chmod 700"
chmod 700 "$XDG_RUNTIME_DIR/heddle"
done_testing

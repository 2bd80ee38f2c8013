#!/bin/sh
# Pages in lists, against a real server: bodies, tags, limits, the cache, private addresses.
# postgres: no, it has no log
# shellcheck disable=SC2016
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

if ! command -v node >/dev/null; then
    skip "pages" "node is not installed"
    done_testing
fi

cat >"$scratch/server.js" <<'END'
const fs = require('fs'), http = require('http');
const hits = process.argv[2];
let waiting = [], most = 0;
const server = http.createServer((q, r) => {
  fs.appendFileSync(hits, q.url + '\n');
  const say = (code, type, body) => { r.writeHead(code, type ? { 'Content-Type': type } : {}); r.end(body); };
  if (q.url === '/page') say(200, 'text/html; charset=utf-8', '<!doctype html>\n<p>```` hi</p>\n');
  else if (q.url === '/code.py?x=1') say(200, 'text/plain', 'print(1)\n');
  else if (q.url === '/moved') { r.writeHead(302, { Location: '/page' }); r.end(); }
  else if (q.url === '/choices') say(300, 'text/plain', 'choose');
  else if (q.url === '/zipped') { r.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Encoding': 'gzip' }); r.end(require('zlib').gzipSync('unzipped\n')); }
  else if (q.url === '/bomb') { r.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Encoding': 'gzip' }); r.end(require('zlib').gzipSync(Buffer.alloc(1 << 20, 'a'))); }
  else if (q.url === '/latin1') say(200, 'text/html; charset=iso-8859-1', Buffer.from('caf\xe9\n', 'latin1'));
  else if (q.url === '/loop') { r.writeHead(302, { Location: '/loop' }); r.end(); }
  else if (q.url === '/file') { r.writeHead(302, { Location: 'file:///etc/passwd' }); r.end(); }
  else if (q.url === '/big') say(200, 'text/plain', 'x'.repeat(5000));
  else if (q.url === '/binary') say(200, 'image/png', Buffer.from([0x89, 0, 1]));
  else if (q.url === '/utf16') say(200, 'text/plain', Buffer.from('\ufeffnaïve\n', 'utf16le'));
  else if (q.url === '/flaky') { const n = fs.readFileSync(hits, 'utf8').split('/flaky').length; say(n > 2 ? 503 : 200, 'text/plain', 'once\n'); }
  else if (q.url.startsWith('/busy')) { // nobody is answered before eight ask at once
    most = Math.max(most, waiting.push(() => say(200, 'text/plain', 'busy\n')));
    if (waiting.length === 8) waiting.splice(0).forEach((answer) => answer());
  }
  else if (q.url === '/most') say(200, 'text/plain', 'most ' + most + '\n');
  else if (q.url.startsWith('http://')) say(200, 'text/plain', 'through a proxy: ' + q.url + '\n');
  else if (q.url === '/slow') setTimeout(() => say(200, 'text/plain', 'late'), 20000);
  else if (q.url === '/count') say(200, 'text/plain', 'n' + fs.readFileSync(hits, 'utf8').split('/count').length + '\n');
  else say(404, 'text/html', 'gone');
});
server.listen(0, '127.0.0.1', () => fs.writeFileSync(process.argv[3], String(server.address().port)));
END
: >"$scratch/hits"
serve "$scratch/hits" "$scratch/port"

mkdir -p ws/.teddy ws/.heddle && cd ws || exit 1
settings=$HOME/.config/heddle/config.json # of the user: a checkout may not open the network
mkdir -p "$HOME/.config/heddle"
printf 'local\n' >local.txt
printf '%s/page\nlocal.txt\n' "$base" >.teddy/global.context
run heddle payload
exits "a private address is no failure" 0
has "it is refused" "$out" "--- URL NOT FETCHED: $base/page: the address is private ---"
same "nobody was asked" "$(cat "$scratch/hits")" ""
has "the rest is there" "$out" '````text
local'

printf '{"payload":{"allow_private_urls":true,"url_max_bytes":4000,"url_timeout_ms":60000}}\n' >"$settings"
{
    for page in page 'code.py?x=1' moved loop file big binary none choices zipped bomb latin1; do
        printf '%s/%s\n' "$base" "$page"
    done
    echo local.txt
} >.teddy/global.context
run heddle payload
exits "allowed in the config" 0
has "the body as it is, tag from its type, fence from its text" "$out" "**Resource:** \`[$base/page]($base/page)\`
\`\`\`\`\`html
<!doctype html>
<p>\`\`\`\` hi</p>
\`\`\`\`\`"
has "tag from the path, without the query" "$out" '````python
print(1)'
has "a redirect is followed" "$out" "\`[$base/moved]($base/moved)\`
\`\`\`\`\`html"
has "not forever" "$out" "$base/loop: "
lacks "and not to a file" "$out" "root:"
has "a page over the limit" "$out" "$base/big: more than 4000 bytes"
has "a binary page is a placeholder" "$out" "--- BINARY FILE: 3 bytes"
has "an answer that is no page" "$out" "$base/choices: HTTP 300"
has "a compressed page is shown as it was before" "$out" '````text
unzipped
````'
has "the limit is for what comes out" "$out" "$base/bomb: more than 4000 bytes"
has "another encoding that is declared is converted" "$out" '````html converted
café
````'
has "and that is said" "$err" "/latin1: converted from iso-8859-1 to UTF-8"
has "an error of the server" "$out" "$base/none: HTTP 404"
first=$out

: >"$scratch/hits"
run heddle payload
same "the second run is the same" "$out" "$first"
lacks "pages are kept" "$(cat "$scratch/hits")" "/page"
has "failures are not" "$(cat "$scratch/hits")" "/none"
: >"$scratch/hits"
run heddle payload --refresh
has "--refresh asks again" "$(cat "$scratch/hits")" "/page"
for f in "$HOME"/.cache/heddle/web/*; do printf '[]\n' >"$f"; done
run heddle payload
same "a cache of something else is an empty one" "$out" "$first"
for f in "$HOME"/.cache/heddle/web/*; do printf 'broken' >"$f"; done
: >"$scratch/hits"
run heddle payload
same "a broken cache is an empty one" "$out" "$first"
has "and is filled again" "$(cat "$scratch/hits")" "/page"
: >"$scratch/hits"
run heddle payload --offline
same "--offline asks nobody" "$(cat "$scratch/hits")" ""
has "and shows what is kept" "$out" "<!doctype html>"
has "or says that it is not" "$out" "$base/none: offline, and no copy is kept"

rm -r "$HOME/.cache"
mkdir -p .teddy/sessions/s/01
printf '%s/page\nlocal.txt\n' "$base" >.teddy/sessions/s/01/turn.context
printf 'local.txt\n%s/page\n%s/page\n' "$base" "$base" >.teddy/sessions/s/session.context
rm .teddy/global.context
: >"$scratch/hits"
heddle payload --turn .teddy/sessions/s/01 --output - 2>/dev/null | sed -n '/^## 4/,$p' >"$scratch/got"
cat >"$scratch/want" <<END
## 4. Context Summary

### Turn
- [$base/page]($base/page)
- [local.txt](/local.txt)

### Session
- [local.txt](/local.txt)
- [$base/page]($base/page)

## 5. Resource Contents

---
**Resource:** \`[$base/page]($base/page)\`
\`\`\`\`\`html
<!doctype html>
<p>\`\`\`\` hi</p>
\`\`\`\`\`
---
**Resource:** \`[local.txt](/local.txt)\`
\`\`\`\`text
local
\`\`\`\`
---
END
ok "pages and files in two lists, to the byte" cmp "$scratch/want" "$scratch/got"
same "and a page is fetched once" "$(cat "$scratch/hits")" /page
rm -r .teddy/sessions
printf '%s/count\n' "$base" >.teddy/global.context
HEDDLE_NOW=2026-11-15T00:00:00Z run heddle payload
has "a page" "$out" "
n2"
HEDDLE_NOW=2026-11-15T00:59:00Z run heddle payload
has "is good for an hour" "$out" "
n2"
HEDDLE_NOW=2026-11-15T01:01:00Z run heddle payload
has "and no longer" "$out" "
n3"
HEDDLE_NOW=2026-11-14T00:00:00Z run heddle payload
has "a clock that went back makes it old" "$out" "
n4"
rm "$settings"
run heddle payload --offline
has "what came from a private address stays refused" "$out" "URL NOT FETCHED"
printf '{"payload":{"allow_private_urls":true,"url_timeout_ms":300}}\n' >"$settings"
printf '%s/slow\nlocal.txt\n' "$base" >.teddy/global.context
run heddle payload
has "a slow page is given up" "$out" "$base/slow: Timeout was reached"
printf '{"payload":{"allow_private_urls":true,"url_timeout_ms":15000}}\n' >"$settings"
printf 'before' >half.md
: >"$scratch/hits"
"$HEDDLE" payload --output half.md >/dev/null 2>&1 &
writer=$!
await grep -q slow "$scratch/hits"
kill -TERM $writer
wait $writer 2>/dev/null
same "a payload that is interrupted leaves the old file" "$(cat half.md)" before
same "and nothing beside it" "$(ls -A)" ".heddle
.teddy
half.md
local.txt"
printf 'http://127.0.0.1:1/\nhttp://no-such-host.invalid/\n' >.teddy/global.context
run heddle payload
exits "nobody there is no failure" 0
printf 'ftp://h.example/x\nfile:///etc/passwd\nHTTP://127.0.0.1:1/\nlocal.txt\n' >.teddy/global.context
run heddle payload
has "other schemes are named as what they are" "$out" '**Resource:** `[ftp://h.example/x](ftp://h.example/x)`
````
--- URL NOT FETCHED: ftp://h.example/x: Unsupported protocol ---'
has "files are no pages" "$out" '--- URL NOT FETCHED: file:///etc/passwd: Unsupported protocol ---'
has "a scheme in capitals is one" "$out" "--- URL NOT FETCHED: HTTP://127.0.0.1:1/: Couldn't connect to server ---"


# ---- several at once, a limit for all, old copies, proxies ----
printf '{"payload":{"allow_private_urls":true,"url_timeout_ms":15000}}\n' >"$settings"
for n in 1 2 3 4 5 6 7 8; do printf '%s/busy%s\n' "$base" $n; done >.teddy/global.context
run heddle payload
printf '%s/most\n%s/utf16\n' "$base" "$base" >.teddy/global.context
run heddle payload
has "pages are fetched at the same time" "$out" "most 8"
has "UTF-16 is converted" "$out" "naïve"
printf '{"payload":{"allow_private_urls":true,"url_timeout_ms":15000,"url_total_ms":300}}\n' >"$settings"
for n in 1 2 3; do printf '%s/slow?%s\n' "$base" $n; done >.teddy/global.context
printf '%s/slow\nlocal.txt\n' "$base" >>.teddy/global.context
run heddle payload
has "there is a limit for all of them" "$out" "$base/slow: Timeout was reached"
has "the rest is there" "$out" '````text
local'
printf '{"payload":{"allow_private_urls":true}}\n' >"$settings"
printf '%s/flaky\n' "$base" >.teddy/global.context
HEDDLE_NOW=2026-11-15T00:00:00Z run heddle payload
has "a page" "$out" "
once"
HEDDLE_NOW=2026-11-16T00:00:00Z run heddle payload
has "an old copy is better than none when the server fails" "$out" "
once"
has "and that is said" "$err" "/flaky: the copy of 2026-11-15 00:00 is shown: HTTP 503"
printf 'http://169.254.169.254/latest\nhttp://[fd00:ec2::254]/\n' >.teddy/global.context
run heddle payload
has "a metadata service is never asked" "$out" "http://169.254.169.254/latest: the address is that of a metadata service"
rm "$settings"
printf 'http://h.example/x\nhttp://127.0.0.1:1/\n' >.teddy/global.context
http_proxy=$base run heddle payload
has "a proxy of the environment is used" "$out" "through a proxy: http://h.example/x"
has "and not for what is private by its own words" "$out" "http://127.0.0.1:1/: the address is private"
http_proxy=$base no_proxy=.example run heddle payload
lacks "except where no_proxy says so" "$out" "through a proxy"

done_testing

#!/bin/sh
# What is not sent: secrets in files, memos, URLs and by the names of files. And what is sent as
# something else: memos that are no text, text in other encodings.
# postgres: no, it has no log
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

mkdir -p ws/.teddy ws/.aws && cd ws || exit 1
# In two halves, so that no scanner takes this file for a leak.
token=ghp_A1b2C3d4E5f6G7h8I9j0
token=${token}K1l2M3n4O5p6Q7r8
printf 'DATABASE=postgres://app:%s@db.internal/prod\n' hV8kQ2mZ >settings.txt
printf 'machine h login ana password whatever\n' >.netrc
printf '[default]\naws_access_key_id = x\n' >.aws/credentials
printf 'something\n' >id_rsa
printf 'ssh-ed25519 AAAA ana\n' >id_rsa.pub
printf 'plain text\n' >fine.txt
run heddle payload settings.txt .netrc .aws/credentials id_rsa id_rsa.pub fine.txt
exits "secrets are no failure" 0
has "a password in a URL" "$out" "--- LEFT OUT: may hold a secret (password in a URL, line 1) ---"
lacks "is not shown" "$out" "hV8kQ2mZ"
for name in .netrc .aws/credentials id_rsa; do
    has "$name by its name" "$err" "$name: secret: file of credentials, line 1"
done
has "its public half is shown" "$out" "ssh-ed25519 AAAA ana"
has "and so are others" "$out" "plain text"
run heddle payload --allow-secrets settings.txt .netrc
has "unless they are allowed" "$out" "hV8kQ2mZ"

# ---- memos ----
printf -- '- Use pnpm.\n- The token is %s\n' "$token" >.teddy/memos.yaml
run heddle payload fine.txt
has "memos with a secret" "$out" "## 3. Memos
\`\`\`\`
--- LEFT OUT: may hold a secret (GitHub token, line 2) ---
\`\`\`\`"
has "and that is said" "$err" ".teddy/memos.yaml: secret: GitHub token, line 2: the memos are left out"
lacks "it is not shown" "$out" "$token"
run heddle payload --allow-secrets fine.txt
has "unless it is allowed" "$out" "$token"
printf -- '- caf\351\n' >.teddy/memos.yaml
run heddle payload fine.txt
has "memos that are no UTF-8" "$out" "--- NOT UTF-8 TEXT: 7 bytes, sha256 "
has "are said" "$err" ".teddy/memos.yaml: not_utf8: the memos are left out"
ok "the payload is text" iconv -f UTF-8 -t UTF-8 "$scratch/out"
printf -- '- a\0b\n' >.teddy/memos.yaml
run heddle payload fine.txt
has "memos with a NUL" "$out" "--- BINARY FILE: 6 bytes, sha256 "
rm .teddy/memos.yaml

# ---- URLs ----
printf 'https://ana:pw@h.example/x\nhttps://h.example/?t=%s&x=1\n' "$token" >.teddy/global.context
run heddle payload
has "a URL with a password is named without" "$out" "- [https://ana:REDACTED@h.example/x](https://ana:REDACTED@h.example/x)"
lacks "its password is not shown" "$out" "ana:pw"
has "one with a token too" "$out" "https://h.example/?t=REDACTED&x=1"
has "and why" "$out" "--- LEFT OUT: may hold a secret (GitHub token) ---"
lacks "the token is not shown" "$out$err" "$token"
rm .teddy/global.context

# ---- other encodings ----
printf '\377\376n\0a\0\357\0v\0e\0\n\0' >utf16.txt
printf '# -*- coding: latin-1 -*-\nx = "caf\351"\n' >latin.py
printf 'caf\351\n' >unknown.txt
run heddle payload utf16.txt latin.py unknown.txt --output "$scratch/out.md"
has "UTF-16 with a mark" "$(cat "$scratch/out.md")" "naïve"
has "Latin-1 that says so" "$(cat "$scratch/out.md")" "café"
has "they are said to be converted" "$err" "utf16.txt: converted from UTF-16 to UTF-8"
has "what says nothing stays a note" "$(cat "$scratch/out.md")" "--- NOT UTF-8 TEXT: 5 bytes"
run heddle payload utf16.txt latin.py unknown.txt --check "$scratch/out.md"
exits "and it can be checked" 0
run heddle payload utf16.txt --budget 100000 --output "$scratch/out.md"
has "with a budget too" "$(cat "$scratch/out.md")" "naïve"

# ---- settings ----
heddle init >/dev/null 2>&1
for pair in 'tokens.encoding foo' 'payload.url_timeout_ms 0' 'payload.url_max_bytes 0' 'payload.proxy nonsense' 'tokens.factor.x 99'; do
    # shellcheck disable=SC2086
    run heddle config set $pair
    exits "config set $pair is refused" 1
done
run heddle config set tokens.encoding cl100k_base
exits "a value that is one is taken" 0

done_testing

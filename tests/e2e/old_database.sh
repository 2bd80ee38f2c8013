#!/bin/sh
# A database of schema 4, made by a version that knew chain version 1 only: it is opened, read,
# appended to and verified, no entry of it is rewritten, and it is erasable after `log rechain`.
# postgres: no, it is about database files of older versions
# shellcheck source=tests/e2e/lib.sh disable=SC2016
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
head=b0624ccc05c580f092477d977c61cccaa05b623f436a65c5ed04724140098f4d

heddle init >/dev/null
rm -f .heddle/heddle.db*
base64 -d "$here/old_database.b64" | gunzip >.heddle/heddle.db
cp .heddle/heddle.db "$scratch/old.db"
entries() { # entries FILE: every byte of the six entries, as the old columns hold them
    sqlite3 "$1" 'SELECT key, at, mark, kind, lane, actor, id, op, refs, hex(chain), payload, hex(blob)
        FROM entry WHERE key & 68719476735 < 6 ORDER BY key; SELECT hex(hash), bytes FROM blob ORDER BY hash'
}

# ---- where nothing may be written
mkdir -p "$scratch/ro/.heddle"
cp .heddle/heddle.db "$scratch/ro/.heddle/"
chmod 500 "$scratch/ro/.heddle"
chmod 400 "$scratch/ro/.heddle/heddle.db"
run heddle --root "$scratch/ro" head t --json
json "it is read as it is" "$out" .chain "\"$head\""
chmod 700 "$scratch/ro/.heddle"

# ---- read, appended to, verified
run heddle head t --json
json "the head is the one it had" "$out" '[.rev, .chain]' "[6,\"$head\"]"
run heddle tree t
has "nodes have the ids they had" "$out" "[w7ev] → [9x7j] → [x0jg]"
run heddle project t
has "the context is the one it was" "$out" '{"content":"a digest of old words","role":"user"}'
for i in 1 2 3; do printf '{"kind":"ai_message","payload":{"role":"user","content":"old words number %s, said long ago"}}\n' $i; done |
    heddle log append t --op-id first --json >"$scratch/again"
json "what was said is known" "$(cat "$scratch/again")" '[.duplicate, .rev]' '[true,6]'
printf '{"kind":"note","payload":{"x":"new"}}\n' | heddle log append t >/dev/null
run heddle verify
exits "the log is whole" 0
run heddle log export t
lacks "the thread keeps its chain" "$out" '"salt"'
if command -v sqlite3 >/dev/null; then
    same "no entry was rewritten" "$(entries .heddle/heddle.db)" "$(entries "$scratch/old.db")"
else
    skip "no entry was rewritten" "there is no sqlite3"
fi
ok "a copy lies beside it" test -f .heddle/heddle.db.v4.bak

# ---- erasable after a rechain
run heddle erase t 1 --reason r --with-derived --json
json "nothing can be erased" "$out" '.error.code' '"INVALID_SYNTAX"'
has "and why is said" "$out" "heddle log rechain t"
heddle head t --json >"$scratch/pin"
run heddle log rechain t --json
json "a new chain" "$out" '[.version, .rev]' '[2,8]'
run heddle log rechain t --json
json "once" "$out" '[.done, .version, .rev]' '[false,2,8]'
run heddle log rechain nosuch
exits "of a thread that is there" 1
run heddle verify
exits "it is whole" 0
run heddle verify --pin "$scratch/pin"
exits "the head before it is still known" 0
run heddle tree t
has "nodes have the ids they had" "$out" "[w7ev] → [9x7j] → [x0jg]"
run heddle log show t --to 1 --raw
has "so have entries" "$out" "e_ec02bcbc59f10fd407a2"
run heddle log show t --json
has "the old head is kept" "$out" '"kind":"rechain"'
run heddle erase t 1 --reason r --with-derived
exits "now it can be erased" 0
run heddle verify
exits "and is whole" 0
ok "the copy is gone" test ! -e .heddle/heddle.db.v4.bak
lacks "and so is what was said" "$(strings -a .heddle/heddle.db* 2>/dev/null || cat .heddle/heddle.db)" "number 2, said"
# ---- a backup with such a log in it
base64 -d "$here/old_database.b64" | gunzip >heddle.db
sum=$(sha256sum heddle.db | cut -d' ' -f1)
printf '{"at":1,"format":1,"objects":0,"store":{"bytes":%s,"sha256":"%s"},"threads":[]}' "$(stat -c %s heddle.db)" "$sum" >heddle-backup.json
tar --format=ustar -cf ../old.tar heddle-backup.json heddle.db
run heddle backup --check ../old.tar
exits "a backup of an older version is checked" 0
run heddle restore-backup ../old.tar --force
exits "and restored" 0
same "no copy of it is left" "$(find .heddle -name '.heddle-tmp*')" ""
run heddle verify
exits "the log is whole" 0

done_testing

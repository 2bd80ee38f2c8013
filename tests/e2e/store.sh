#!/bin/sh
# Where the log is: `heddle store`, HEDDLE_STORE, the user's settings, moving a log to PostgreSQL and back.
# postgres: no, it names the server itself
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
unset HEDDLE_STORE

# ---- a file
mkdir ws
cd ws || exit 1
heddle init >/dev/null
run heddle store info --json
json "a log is a file of the workspace" "$out" '[.kind, (.place | endswith("/.heddle/heddle.db")), .notes]' '["sqlite",true,[]]'
run heddle store info
has "it says where" "$out" ".heddle/heddle.db"
has "and that there is one copy" "$out" "replication     none"
run test -e .leslie/workspace.json
exits "a file needs no id" 1

# ---- what a checkout may not do
echo '{"store":"postgres://elsewhere.example/x"}' >.heddle/config.json
run heddle say t hello
exits "a workspace's file cannot name a server" 1
has "which is said" "$err" 'PERMISSION_DENIED: the setting "store" in .heddle/config.json names a server'
has "with what to do" "$err" "heddle config set --user store"
echo '{"stores":{"x":"postgres://elsewhere.example/x"}}' >.heddle/config.json
run heddle say t hello
exits "nor for another workspace" 1
echo '{}' >.heddle/config.json

# ---- URLs
HEDDLE_STORE=postgres://ada:hunter2@nohost.invalid/db run heddle list
exits "a server that is not there" 1
has "is named" "$err" "postgres://ada:***@nohost.invalid/db"
lacks "without its password" "$err$out" hunter2
HEDDLE_STORE='postgres:///x?host=/nonexistent&password=hunter2' run heddle list
lacks "wherever that stands" "$err$out" hunter2
HEDDLE_STORE='postgres:///x?nosuch=1' run heddle list
has "libpq knows its parameters" "$err" 'INVALID_SYNTAX'
HEDDLE_STORE='postgres:///x?pool=0' run heddle list
has "and heddle its own" "$err" "pool of the store is a number from 1 to"
HEDDLE_STORE="postgres:///x?schema=a'b" run heddle list
has "a schema is a plain name" "$err" "schema of the store consists of letters"
HEDDLE_STORE=ftp://x run heddle list
has "another kind of store" "$err" "no such kind of store"
ln -s "$PWD/../led-to.db" ../link.db
(umask 022 && heddle store copy here ../link.db >/dev/null)
same "a file that a link leads to is for its owner alone, too" "$(stat -c %a ../led-to.db)" 600
rm ../link.db ../led-to.db*
run heddle store copy here here
exits "a store is not copied to itself" 2

if [ -z "${HEDDLE_TEST_POSTGRES:-}" ]; then
    skip "a log on PostgreSQL" "HEDDLE_TEST_POSTGRES is not set"
    done_testing
fi
url="$HEDDLE_TEST_POSTGRES&partitions=2&schema_prefix=store$$"

# ---- a new log there
mkdir ../there
cd ../there || exit 1
export HEDDLE_STORE="$url"
run heddle list
has "reading makes nothing" "$err" "NOT_FOUND: there is no log at postgres://"
run test -e .leslie
exits "not even an id" 1
run heddle init
has "init makes the log" "$out" "made a workspace"
run heddle init
has "once" "$out" "there is a workspace"
id=$(jq -r .id .leslie/workspace.json)
same "the workspace has an id" "$(printf %s "$id" | tr -d 'a-z0-9' | wc -c),${#id}" "0,26"
heddle say t 'hello there' >/dev/null
run heddle store info --json
json "the schema has its name" "$out" '[.kind, .workspace == "'"$id"'", (.facts[] | select(.name == "schema") | .value)]' \
    '["postgres",true,"store'"$$_$id"'"]'
json "its version" "$out" '[.facts[] | select(.name == "schema version") | .value]' '["1"]'
json "and what could be better" "$out" '.notes | any(startswith("there is one copy of the log"))' true
ok "doctor reads it" heddle doctor
ok "verify too" heddle verify
run test -e .heddle/heddle.db
exits "there is no file" 1

# ---- clones share a log, projects do not
mkdir -p ../clone/.leslie ../project
cp .leslie/workspace.json ../clone/.leslie/
has "a clone has the same log" "$(cd ../clone && heddle log show t)" "hello there"
(cd ../clone && heddle say t 'from the clone' >/dev/null)
has "and writes to it" "$(heddle log show t)" "from the clone"
(cd ../project && heddle say t 'something else' >/dev/null 2>&1)
lacks "another project has its own" "$(heddle log show t)" "something else"
echo '{"id":"../../x"}' >../clone/.leslie/workspace.json
(cd ../clone && heddle list) >"$scratch/out" 2>"$scratch/err"
has "an id is an id" "$(cat "$scratch/err")" "holds no id"
HEDDLE_STORE="$url&schema=store$$_$id" run heddle --root ../project log show t
has "nor is it found by naming its schema" "$err" "holds the log of another workspace"

# ---- moving
unset HEDDLE_STORE
cd ../ws || exit 1
heddle say t one >/dev/null
heddle say t two >/dev/null
heddle agent add Bo --kind human >/dev/null
heddle log append u <<'LINE' >/dev/null
{"kind":"note","payload":{"text":"kept"}}
LINE
before=$(heddle log export --all)
run heddle store switch "$url"
exits "an empty store is not this log" 1
has "so it is not used" "$err" "NOT_FOUND: there is no log"
run heddle store copy here "$url" --verify --json
json "all of it is copied and checked" "$out" '[.threads, .entries, .verified, .findings]' '[3,4,true,[]]'
run heddle store copy here "$url"
same "again there is nothing to do" "$out" "3 threads equal, 0 entries copied"
heddle say t three >/dev/null
run heddle store switch "$url"
exits "a log that has grown since" 1
has "is copied first" "$err" "CONFLICT: thread 't' is not the same in both stores"
run heddle store copy here "$url"
same "which copies what is new" "$out" "3 threads equal, 1 entry copied"
before=$(heddle log export --all)
run heddle store switch "$url"
has "then it is used" "$out" "the log is now at postgres://"
json "because the user's settings say so" "$(cat "$HOME/.config/heddle/config.json")" '.stores | length' 1
same "not the workspace's" "$(cat .heddle/config.json)" "{}"
same "the log is the same to the byte" "$(heddle log export --all)" "$before"
ok "whole" heddle verify
heddle say t four >/dev/null
run heddle store copy here .heddle/heddle.db --verify --json
json "and back" "$out" '[.threads, .entries, .findings]' '[3,1,[]]'
run heddle store switch .heddle/heddle.db
has "to the file" "$out" "the log is now at $PWD/.heddle/heddle.db"
has "with what was said there" "$(heddle log show t)" "four"
ok "whole again" heddle verify
json "nothing is left in the settings" "$(cat "$HOME/.config/heddle/config.json")" '.stores' '{}'
heddle say t 'only here' >/dev/null
(cd ../there && HEDDLE_STORE="$url" heddle say t 'only there' >/dev/null)
run heddle store copy "$PWD/.heddle/heddle.db" "$url&schema=store$$_$id"
exits "two logs that differ are not mixed" 1
has "which is said" "$err" "workspace"

# ---- frozen copies
cd .. || exit 1
mkdir frozen && cd frozen || exit 1
heddle init >/dev/null
heddle objective create O --id o >/dev/null
heddle spawn --id src --intent I --objective o --no-run >/dev/null
printf 'as it was\n' >.leslie/threads/src/plan.md
heddle spawn --id dst --intent I --objective o --no-run --ref src --binding frozen >/dev/null 2>&1
printf 'later\n' >.leslie/threads/src/plan.md
run heddle store copy here "$url&schema=frozen$$"
has "contents of frozen copies are copied" "$out" ", with the contents of 1 frozen file"
mkdir ../other
cp -R .leslie ../other
cd ../other || exit 1
rm -rf .leslie/threads/dst/context
HEDDLE_STORE="$url&schema=frozen$$" run heddle read dst plan.md
same "a machine that only reaches the server has them" "$out" "as it was"
rm -rf .heddle
mkdir .heddle
run heddle store copy "$url&schema=frozen$$" .heddle/heddle.db
has "and gets them from there" "$out$err" ", with the contents of 1 frozen file"
rm -rf .leslie/threads/dst/context
run heddle read dst plan.md
same "so that they are there without the server" "$out" "as it was"
rm -rf .heddle/objects ../frozen/.heddle/objects
cd ../frozen || exit 1
run heddle store copy here "$url&schema=empty$$"
exits "what nobody has stops no copy" 0
has "and is said" "$err" "1 contents of frozen copies are neither on this machine nor in FROM"
cd ../ws || exit 1

# ---- one setting for all workspaces
heddle config set --user store "$(printf %s "$url" | sed 's/user=postgres/user=postgres\&password=hunter2/')" >/dev/null
mkdir ../fresh
cd ../fresh || exit 1
heddle say t hello >/dev/null 2>&1
json "the user's settings name a store" "$(heddle store info --json)" '.kind' '"postgres"'
run heddle config list
lacks "and no password is shown" "$out" "hunter2"
done_testing

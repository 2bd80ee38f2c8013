#!/bin/sh
# A log on PostgreSQL: how many round trips commands take, what each role may do, and a pooler in between.
# postgres: no, it names the server itself
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
unset HEDDLE_STORE

if [ -z "${HEDDLE_TEST_POSTGRES:-}" ]; then
    skip "a log on PostgreSQL" "HEDDLE_TEST_POSTGRES is not set"
    done_testing
fi
server=$(printf %s "$HEDDLE_TEST_POSTGRES" | sed 's/.*[?&]host=\([^&]*\).*/\1/')
url="$HEDDLE_TEST_POSTGRES&partitions=2&schema_prefix=pg$$"
sql() { psql -q -X -A -t -v ON_ERROR_STOP=1 -h "$server" -U "${as:-postgres}" -d heddle -c "$1"; }

mkdir ws
cd ws || exit 1
export HEDDLE_STORE="$url"
heddle init >/dev/null
schema=$(heddle store info --json | jq -r '.facts[] | select(.name == "schema") | .value')

# ---- round trips, each command in a process of its own, which has seen nothing
mkdir "$scratch/proxy"
node "$here/postgres_flights.mjs" "$scratch/proxy/.s.PGSQL.5432" "$server/.s.PGSQL.5432" "$scratch/flights" &
proxy=$!
pooler=
at_end 'kill $proxy $pooler 2>/dev/null; wait 2>/dev/null; rm -rf "$scratch"'
await test -e "$scratch/flights"
through=$(printf %s "$url" | sed "s|host=[^&]*|host=$scratch/proxy|")

# landed: some connection was made, and all that were made have ended.
# shellcheck disable=SC2317 # await calls it
landed() { awk '/^open/ { n++ } /^trips/ { n--; some = 1 } END { exit !(some && n == 0) }' "$scratch/flights"; }

# flights NAME MOST COMMAND...: the command asks the server at most so often.
flights() {
    name=$1 most=$2
    shift 2
    : >"$scratch/flights"
    HEDDLE_STORE=$through run "$@"
    await landed
    n=$(awk '/^trips/ { n += $2 } END { print n + 0 }' "$scratch/flights")
    if [ "$status" -eq 0 ] && [ "$n" -ge 1 ] && [ "$n" -le "$most" ]; then
        pass "$name ($n)"
    else
        flunk "$name" "$n round trips, exit $status: $*" "$err" "$(cat "$scratch/flights")"
    fi
}

# append REVISION
append() { echo '{"kind":"ai_message","payload":{"role":"user","content":"hi"}}' | "$HEDDLE" log append plain --expect "$1"; }
view() { printf '→ view %s\n' "$node" | "$HEDDLE" "do" "$1" --agent Collab; }
append 0 >/dev/null
append 1 >/dev/null
heddle agent add Collab --kind human >/dev/null
heddle say t one >/dev/null
node=$(heddle say t two | sed 's/.*\[\(.*\)\].*/\1/')
objective=$(heddle objective create goal)
view t >/dev/null
view t >/dev/null
heddle spawn --id first --intent x --objective "$objective" --no-run >/dev/null 2>&1
flights "append takes two round trips" 2 append 2
flights "project takes one or two" 2 heddle project plain
flights "project of a conversation too" 2 heddle project t
flights "say takes at most four" 4 heddle say t three
flights "view too" 4 view t
flights "and spawn" 4 heddle spawn --id second --intent y --objective "$objective" --no-run

# The same in a thread with more rows than are fetched as a whole.
i=0
while [ $i -lt 120 ]; do
    printf '{"kind":"ai_message","payload":{"role":"user","content":"message %d"}}\n' $i
    i=$((i + 1))
done | heddle log append long >/dev/null
heddle say long one >/dev/null
node=$(heddle say long two | sed 's/.*\[\(.*\)\].*/\1/')
view long >/dev/null
flights "say in a long thread takes four" 4 heddle say long three
flights "after somebody else has looked around there, too" 4 view long
flights "and again" 4 view long
rows=$(sql "SELECT count(*) FROM \"$schema\".row r JOIN \"$schema\".thread t USING (tid) WHERE t.id = 'long'")
ok "it has more than that" test "$rows" -gt 257

# What is erased is read in pages. The tables are written anew afterwards, one round trip each.
i=0
while [ $i -lt 200 ]; do
    printf '{"kind":"note","actor":"eve","payload":{"text":"what was said, part %d"}}\n' $i
    i=$((i + 1))
done | heddle log append erased >/dev/null
flights "erasing 200 entries asks less often than once for each" 100 heddle erase erased --actor eve --reason r
same "all of them" "$(heddle log export erased | grep -c '"erased":')" 200
kill $proxy

# ---- frozen content comes from the store where a machine does not have it
put() { mkdir -p "$(dirname "$1")" && printf '%s\n' "$2" >"$1"; }
put .leslie/threads/first/plan.md "plan of the first machine"
heddle spawn --id frozen --intent z --objective "$objective" --no-run >/dev/null 2>&1
heddle reference --from frozen --target first --binding frozen >/dev/null 2>&1
mkdir ../other
cp -r .leslie ../other/
cd ../other || exit 1
rm -f .leslie/threads/frozen/context/inherited/plan.md
same "the other machine has no such object" "$(find . -path '*/objects/*' -type f)" ""
same "and reads the copy" "$(heddle read frozen plan.md)" "plan of the first machine"
ok "which is there now" test -f .leslie/threads/frozen/context/inherited/plan.md
ok "and verifies" heddle verify
sql "UPDATE \"$schema\".object SET bytes = 'forged'" >/dev/null
rm -rf .heddle/objects .leslie/threads/frozen/context/inherited/plan.md
run heddle read frozen plan.md
exits "content that is not what its hash says" 1
lacks "is not passed off" "$out" "forged"
cd ../ws || exit 1
same "the first machine still has it" "$(heddle read frozen plan.md)" "plan of the first machine"

# ---- least privilege, by trying
sql "CREATE ROLE writer_$$ LOGIN IN ROLE heddle_app" >/dev/null
sql "CREATE ROLE reader_$$ LOGIN IN ROLE heddle_read" >/dev/null
sql "CREATE ROLE stranger_$$ LOGIN" >/dev/null
as_user() { printf %s "$url" | sed "s/user=postgres/user=$1/"; }
HEDDLE_STORE=$(as_user "writer_$$")
run heddle say t 'from the writer'
exits "heddle_app appends" 0
ok "and searches" heddle search writer
has "it knows what it may do" "$(heddle store info)" "append, erase by function"
ok "verify reads" heddle verify
refused() { # refused NAME SQL
    run sql "$2"
    has "$1" "$err" "permission denied"
}
as=writer_$$
refused "heddle_app cannot change an entry" "UPDATE \"$schema\".entry SET payload = '{}'"
refused "nor its chain value" "UPDATE \"$schema\".entry SET chain = ''"
refused "nor delete one" "DELETE FROM \"$schema\".entry"
refused "nor a part of the table" "DELETE FROM \"$schema\".entry_p0"
refused "nor empty it" "TRUNCATE \"$schema\".entry"
refused "nor delete a thread" "DELETE FROM \"$schema\".thread"
refused "nor give a thread another name" "UPDATE \"$schema\".thread SET id = 'x'"
refused "nor change a large payload" "UPDATE \"$schema\".blob SET bytes = ''"
refused "nor delete one" "DELETE FROM \"$schema\".blob"
refused "nor change the version" "UPDATE \"$schema\".meta SET version = 9"
run sql "DROP TABLE \"$schema\".entry"
has "nor drop it" "$err" "must be owner"
run sql "CREATE TABLE \"$schema\".mine(x int)"
has "nor put a table of its own there" "$err" "permission denied"
seq=$(heddle log show t --json | jq -s '.[0].seq // 0')
run heddle erase t "$seq" --reason test
exits "it erases, by the function" 0
has "and says what only the owner can clean" "$out" "the files of the tables, until their owner runs"
has "and what nobody can" "$out" "the server's write-ahead log and its archives, standbys"
has "which waits" "$(heddle doctor 2>&1)" "waits for VACUUM FULL by its owner"
HEDDLE_STORE=$(as_user "reader_$$")
as=reader_$$
run heddle log show t
exits "heddle_read reads" 0
ok "and projects" heddle project t
run heddle say t no
exits "and writes nothing" 1
has "which is said" "$err" "permission denied"
has "with who one is there" "$err" "heddle store info"
refused "not even a row of a view" "INSERT INTO \"$schema\".row(tid, view, key, value) VALUES(1, 'v', '', '')"
refused "nor erases" "SELECT \"$schema\".erase(1, '{}', '{}', '{}', '{}')"
HEDDLE_STORE=$(as_user "stranger_$$")
as=stranger_$$
refused "a stranger does not read" "SELECT * FROM \"$schema\".entry"
run heddle log show t
exits "nor does heddle for one" 1
lacks "and nothing is shown" "$out$err" "one"
as=postgres
HEDDLE_STORE=$url
heddle doctor --fix >/dev/null 2>&1 || :
lacks "the owner has cleaned it" "$(heddle doctor 2>&1; heddle store info)" "waits for VACUUM FULL"
heddle say t 'Erase me soon, please' >/dev/null
printf 'SQLite format 3' >.heddle/heddle.db.v4.bak
run heddle erase t "$(($(heddle head t --json | jq .rev) - 1))" --reason test --json
json "erased by the owner it is clean" "$out" '[.clean, (.unreached | test("write-ahead log"))]' '[true,true]'
json "a database that was left in the workspace is named" "$out" '[.files[] | .is, .path]' '["packed",".heddle/heddle.db.v4.bak"]'
rm .heddle/heddle.db.v4.bak

# ---- pgbouncer, transaction by transaction
if ! command -v pgbouncer >/dev/null 2>&1 && [ ! -x /usr/sbin/pgbouncer ]; then
    skip "a pooler" "pgbouncer is not installed"
    done_testing
fi
mkdir "$scratch/pool"
chmod 711 "$scratch"
cat >"$scratch/pool/ini" <<END
[databases]
heddle = host=$server user=postgres
[pgbouncer]
listen_addr =
unix_socket_dir = $scratch/pool
listen_port = 5432
auth_type = any
pool_mode = transaction
default_pool_size = 3
max_client_conn = 200
END
bouncer=$(command -v pgbouncer || echo /usr/sbin/pgbouncer)
if [ "$(id -u)" -eq 0 ]; then # it refuses to run as root
    chmod 777 "$scratch/pool"
    "$(dirname "$here")/postgres.sh" as "$bouncer" -q "$scratch/pool/ini" >"$scratch/pool.log" 2>&1 &
else
    "$bouncer" -q "$scratch/pool/ini" >"$scratch/pool.log" 2>&1 &
fi
pooler=$!
await test -S "$scratch/pool/.s.PGSQL.5432"
HEDDLE_STORE=$(printf %s "$url" | sed "s|host=[^&]*|host=$scratch/pool|")
run heddle say t 'through the pooler'
exits "say" 0
has "the pooler is noticed" "$(heddle store info)" "pooler          transaction"
ok "append" append 3
has "and read" "$(heddle log show t)" "through the pooler"
ok "project" heddle project t
ok "search" heddle search pooler
ok "verify" heddle verify
heddle log export --all >"$scratch/export"
i=0
pids=
while [ $i -lt 8 ]; do
    (
        k=0
        while [ $k -lt 5 ]; do
            heddle say "shared" "$i $k" >/dev/null 2>>"$scratch/pool.err" || echo failed >>"$scratch/pool.err"
            k=$((k + 1))
        done
    ) &
    pids="$pids $!"
    i=$((i + 1))
done
# shellcheck disable=SC2086
wait $pids
same "eight writers on three connections lose nothing" "$(heddle log show shared --json | grep -c '"[0-7] [0-4]"')" 40
same "and none fails" "$(cat "$scratch/pool.err")" ""
ok "the log is whole" heddle verify
HEDDLE_STORE=$url
same "and the same without the pooler" "$(heddle log export --all | grep -v '"shared"' | head -c 200)" "$(head -c 200 "$scratch/export")"
done_testing

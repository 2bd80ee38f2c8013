#!/bin/bash
# docs/HOWTO-postgres.md, run as it stands there: two servers (db1, db2) as their operator would set them up, and ada who
# works with heddle. The first line of a block says whose it is. What differs from two real machines: names are those of
# addresses of this one (PGHOSTADDR), sockets lie in a directory of the test, and a file is taken from one machine to
# another by cp.
# postgres: no, it has servers of its own
# shellcheck source=tests/e2e/lib.sh disable=SC2016 # commands of the guide
. "$(dirname "$0")/lib.sh"
doc=$HEDDLE_SOURCE/docs/HOWTO-postgres.md
as() { "$HEDDLE_SOURCE/tests/postgres.sh" as "$@"; }
for program in pgbouncer openssl; do
    command -v $program >/dev/null || [ -x /usr/sbin/$program ] || {
        skip "the guide for PostgreSQL" "there is no $program"
        done_testing
        exit
    }
done
unset HEDDLE_STORE HEDDLE_TEST_POSTGRES
machines=$(mktemp -d /tmp/heddle-howto.XXXXXX) # a path of a socket has at most 107 bytes
chmod 755 "$machines"
PATH=$(dirname "$HEDDLE"):$PATH
export PGPORT=$((20000 + RANDOM % 10000)) BOUNCER_PORT=$((30000 + RANDOM % 2000))
export PGHOSTADDR=127.0.0.1
for m in db1 db2; do
    mkdir -p "$machines/$m/run"
    as id -u >"$machines/uid"
    chown -R "$(cat "$machines/uid")" "$machines/$m"
done
mkdir ada && cd ada || exit 1

clean_up() {
    for m in db1 db2; do
        as pg_ctl -s -D "$machines/$m/data" -m immediate stop >/dev/null 2>&1
    done
    [ ! -f "$machines/db1/pgbouncer.pid" ] || kill "$(cat "$machines/db1/pgbouncer.pid")" 2>/dev/null
    rm -rf "$machines" "$scratch"
}
at_end clean_up

# What makes this machine two: which address a server has, and whom its programs reach by a name.
local_names='
listens() { printf "unix_socket_directories = \x27%s\x27\nlisten_addresses = \x27%s\x27\n" "$PGHOST" "$ADDRESS" >>"$PGDATA/postgresql.conf"; }
pg_ctl() { [ "${*: -1}" != start ] || listens; PGHOSTADDR=$OTHER command pg_ctl "$@"; }
pg_basebackup() { PGHOSTADDR=$OTHER command pg_basebackup "$@"; }
'
on_machine() { # on_machine NAME ADDRESS OTHER COMMANDS
    as env HOME="$machines/$1" PGDATA="$machines/$1/data" PGHOST="$machines/$1/run" PGPORT="$PGPORT" ADDRESS="$2" OTHER="$3" \
        BOUNCER_PORT="$BOUNCER_PORT" DB2_SUPERUSER="host=$machines/db2/run" \
        bash -euo pipefail -c "cd; PATH=\$PATH:/usr/sbin; $local_names$4"
}

# all_of COMMANDS: in this shell, because what it exports stays. $failed is the first that failed. Not to be called where
# its status is asked for: the shell would not look at that of single commands then.
failed=''
all_of() {
    failed=''
    set -E
    trap 'failed=${failed:-$BASH_COMMAND}' ERR
    eval "$1"
    trap - ERR
    set +E
}

in_a_file() { # in_a_file COMMANDS: in a workspace of its own
    unset HEDDLE_STORE
    mkdir "$scratch/other" && cd "$scratch/other" || exit 1
    heddle init && heddle say t hello || exit 1
    all_of "$1"
    [ -z "$failed" ] || { echo "failed: $failed" && exit 1; }
}

reach() { # the addresses of the hosts that a URL names
    case $1 in
    *db1:*,db2*) PGHOSTADDR=127.0.0.1,127.0.0.2 ;;
    *) PGHOSTADDR=127.0.0.1 ;;
    esac
}

run_block() { # run_block COMMANDS: by whom its first line says
    local who=${1%%$'\n'*} rc=0
    case $who in
    '# on db1, as postgres') on_machine db1 127.0.0.1 127.0.0.2 "$1" >"$scratch/said" 2>&1 || rc=$? ;;
    '# on db2, as postgres') on_machine db2 127.0.0.2 127.0.0.1 "$1" >"$scratch/said" 2>&1 || rc=$? ;;
    '# as ada, in a workspace whose log is a file')
        (in_a_file "$1") >"$scratch/said" 2>&1
        rc=$?
        ;;
    '# as ada')
        reach "${HEDDLE_STORE:-}$1"
        all_of "$1" >"$scratch/said" 2>&1
        [ -z "$failed" ] || rc=1
        ;;
    *) rc=99 ;;
    esac
    [ "$rc" -eq 0 ] || sed 's/^/# /' "$scratch/said"
    [ -z "$failed" ] || echo "# failed: $failed"
    failed=''
    title=$(printf '%s\n' "$1" | sed -n 2p)
    same "$who: ${title%% <<*}" "$rc" 0
}

# A log whose owner may not make roles, where there are none.
without_roles() {
    on_machine db1 - - "psql -q -d postgres -c \"CREATE ROLE poor LOGIN PASSWORD 'poor'\" -c 'CREATE DATABASE poor OWNER poor TEMPLATE template0'"
    mkdir "$scratch/poor"
    run env -C "$scratch/poor" HEDDLE_STORE=postgres://poor:poor@db1/poor "$HEDDLE" init
    run env -C "$scratch/poor" HEDDLE_STORE=postgres://poor:poor@db1/poor "$HEDDLE" doctor
    has "roles that could not be made are told" "$out" "heddle_app and heddle_read have no rights here"
    has "and a password in a URL" "$out" "the URL of the store holds a password"
}

# Things that happen between the blocks, by the line that comes next.
between() {
    case $1 in
    *'CREATE ROLE heddle_app;'*) without_roles ;;
    *'[work]'*'service=work'*) mv "$HOME/.pgpass" "$HOME/.pgpass.away" ;;
    *'heddle store copy here postgres'*) mv "$HOME/.pgpass.away" "$HOME/.pgpass" ;;
    *'pg_ctl -D "$PGDATA" -w -s promote'*) # "When the primary is gone"
        as pg_ctl -s -D "$machines/db1/data" -m immediate stop
        ;;
    *'mkdir -p ~/.postgresql'*)
        cp "$machines/db1/root.crt" .
        ;;
    *'heddle log append first'*'on both'* | *'"content":"on both"'*)
        await is_sync db1
        ;;
    esac
}
is_sync() { on_machine "$1" - - 'psql -X -A -t -d postgres -c "SELECT sync_state FROM pg_stat_replication"' 2>/dev/null | grep -qx sync; }

mapfile -d '' blocks < <(awk '/^```sh$/ { inside = 1; next } /^```$/ { if (inside) printf "%c", 0; inside = 0; next } inside { print }' "$doc")
ok "the guide has commands" test "${#blocks[@]}" -gt 15
for block in "${blocks[@]}"; do
    block=${block//db1,db2/db1:$PGPORT,db2:$PGPORT} # PGPORT does not count for a URL with several hosts
    between "$block"
    run_block "$block"
    case $block in
    *'~/.postgresql'*)
        run heddle store info
        has "the connection is encrypted" "$out" "TLS"
        same "as ada, who appends only" "$(printf '%s\n' "$out" | sed -n 's/^rights  *//p')" "append, erase by function"
        HEDDLE_STORE=${HEDDLE_STORE/db1/db3} run heddle store info
        exits "a server with another name is refused" 1
        has "and says why" "$err" 'does not match host name "db3"'
        ;;
    *'heddle doctor'*) has "after a promotion there is one copy" "$(cat "$scratch/said")" "one copy" ;;
    *"'FIRST 1 (standby2)'"*) ok "the old primary is the standby now" await is_sync db2 ;;
    esac
done
same "nothing was lost on the way" "$(heddle log show first | wc -l)" 3
done_testing

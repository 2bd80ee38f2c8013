#!/usr/bin/env bash
# A private PostgreSQL server for tests: its own cluster in a directory, reached by a unix socket.
#
#     tests/postgres.sh start DIR [NAME=VALUE...]   make and start one; prints its URL. NAME=VALUE are settings
#     tests/postgres.sh stop DIR                    stop it and remove what start made
#     tests/postgres.sh kill DIR                    end all of its processes at once, as a power cut would
#     tests/postgres.sh again DIR                   start it once more after that
#     tests/postgres.sh as COMMAND...               run a command as the user the server runs as
#
# PostgreSQL refuses to run as root, so there it runs as `postgres`, else `nobody`. The server ends, and
# its files go, also when the process that called `start` ends without `stop`: a watcher looks for it.
# HEDDLE_PG_OWNER names another process to look for. HEDDLE_PG_PRELOAD is a library that the server loads
# before all others.
set -euo pipefail

fail() {
    echo "postgres.sh: $1" >&2
    exit 1
}

# The newest version that is installed.
bin=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
[ -x "$bin/postgres" ] || fail "no PostgreSQL server is installed (Debian: postgresql)"

as=()
if [ "$(id -u)" -eq 0 ]; then
    user=postgres
    id "$user" >/dev/null 2>&1 || user=nobody
    as=(setpriv "--reuid=$(id -u "$user")" "--regid=$(id -g "$user")" --clear-groups)
fi

# become COMMAND...: this process, with an environment of its own, in a directory that the user may enter.
become() { cd / && exec "${as[@]}" env -i PATH="$bin:$PATH" LC_ALL=C.UTF-8 TZ=UTC "$@"; }
as_server() { (become "$@"); }

launch() { # launch DIR
    as_server env ${HEDDLE_PG_PRELOAD:+"LD_PRELOAD=$HEDDLE_PG_PRELOAD"} \
        "$bin/pg_ctl" -s -D "$1/data" -l "$1/log" -w -t 60 start >&2 || {
        tail -n 20 "$1/log" >&2
        fail "the server did not start"
    }
}

end() { # end DIR: without waiting for anything
    [ ! -f "$1/data/postmaster.pid" ] || as_server "$bin/pg_ctl" -s -D "$1/data" -m immediate -t 20 stop >/dev/null 2>&1 || true
    [ ! -f "$1/socket" ] || rm -rf "$(cat "$1/socket")"
    rm -rf "$1/data" "$1/socket" "$1/log"
}

start() { # start DIR [SETTING...]
    local dir=$1 socket owner=${HEDDLE_PG_OWNER:-$PPID} setting port=5432
    shift
    mkdir -p "$dir"
    [ ! -e "$dir/data" ] || fail "$dir holds a server already"
    socket=$(mktemp -d /tmp/heddle-pg.XXXXXX) # a path of a socket has at most 107 bytes
    echo "$socket" >"$dir/socket"
    mkdir "$dir/data"
    : >"$dir/log"
    if [ ${#as[@]} -gt 0 ]; then
        chown "$user:" "$dir/data" "$dir/log" "$socket"
        chmod a+x "$dir"
    fi
    chmod 700 "$dir/data"
    chmod 755 "$socket"
    as_server "$bin/initdb" -D "$dir/data" -U postgres -A trust -E UTF8 --no-locale --no-sync >"$dir/initdb.log" 2>&1 || {
        cat "$dir/initdb.log" >&2
        fail "initdb failed"
    }
    rm "$dir/initdb.log"
    {
        echo "listen_addresses = ''"
        echo "unix_socket_directories = '$socket'"
        echo "fsync = off"
        echo "shared_buffers = 64MB"
        echo "max_connections = 200"
        echo "logging_collector = off"
        echo "log_min_messages = warning"
        for setting in "$@"; do
            echo "${setting%%=*} = '${setting#*=}'"
            [ "${setting%%=*}" != port ] || port=${setting#*=}
        done
    } >"$dir/extra.conf"
    as_server tee -a "$dir/data/postgresql.conf" <"$dir/extra.conf" >/dev/null
    rm "$dir/extra.conf"
    launch "$dir"
    # The watcher keeps no descriptor of the caller open, so that nobody waits for it.
    # shellcheck disable=SC2016
    setsid bash -c '
        while kill -0 "$1" 2>/dev/null && [ -f "$2/socket" ]; do sleep 1; done
        [ ! -f "$2/socket" ] || "$0" stop "$2"' "$(readlink -f "$0")" "$owner" "$dir" >/dev/null 2>&1 </dev/null &
    "$bin/psql" -q -h "$socket" -p "$port" -U postgres -c 'CREATE DATABASE heddle' postgres >&2
    [ "$port" -eq 5432 ] && port='' || port="&port=$port"
    echo "postgres:///heddle?host=$socket&user=postgres$port"
}

# All processes of the server get SIGKILL: those whose parent is the postmaster, and then it.
cut() { # cut DIR
    local pid
    pid=$(head -n 1 "$1/data/postmaster.pid")
    kill -STOP "$pid" # so that it starts nothing more
    # shellcheck disable=SC2046
    kill -KILL $(ps -o pid= --ppid "$pid") "$pid"
    while kill -0 "$pid" 2>/dev/null; do sleep 0.01; done
}

command=${1:-}
shift || true
case $command in
start) start "$@" ;;
stop) end "${1:?DIR}" ;;
kill) cut "${1:?DIR}" ;;
again) launch "${1:?DIR}" ;;
as) become "$@" ;; # who ends this script ends the command
*) fail "usage: postgres.sh start|stop|kill|again DIR, or as COMMAND" ;;
esac

#!/usr/bin/env bash
# A log on PostgreSQL while everything goes wrong: nothing that was acknowledged may be lost, nothing
# may be there twice, and `heddle verify` must be content afterwards.
#
#     ./dev torture postgres [ROUNDS] [PART...]
#
#     backends   backends are ended at random under eight writers, ROUNDS (1000) times
#     writers    the writing processes are killed instead, ROUNDS / 5 times
#     server     all processes of the server are killed and it is started again, ROUNDS / 50 times
#     cut        the connection is cut at every byte (with ROUNDS: at so many places), in both directions
#     serial     serialization failures, deadlocks and lock timeouts are made by triggers
#     disk       the disk of the tables is full, and then that of the write-ahead log
#     failover   the primary is killed and its synchronous standby promoted; the same without
#                synchronous replication must lose something, else the test is worth nothing
#     standby    a COMMIT that waits for a dead standby ends at the deadline, as «unknown»
#     machines   two machines (network namespaces) whose clocks are two hours apart, and a cable that is pulled
#     copy       `heddle store copy` of ENTRIES (TORTURE_ENTRIES, 1000000) to PostgreSQL and back
#     hostile    a server that answers with anything, for ROUNDS / 10 seconds
#
# `short` builds nothing and does without what takes long. Parts that need root (disk, machines) are left out
# without it. Speaks TAP.
set -euo pipefail
: "${HEDDLE:?the path of the program}"
root=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tools/at-end.sh
. "$root/tools/at-end.sh"
programs=$(dirname "$HEDDLE")/tests
all=(backends writers server cut serial disk failover standby machines copy hostile)
rounds=1000 scaled='' short='' parts=()
for word in "$@"; do
    case $word in
    short) short=1 ;;
    *[!0-9]*)
        [[ " ${all[*]} " == *" $word "* ]] || { echo "postgres.sh: no '$word'; there are ${all[*]}" >&2; exit 2; }
        parts+=("$word")
        ;;
    *) rounds=$word scaled=1 ;;
    esac
done
[ ${#parts[@]} -gt 0 ] || parts=("${all[@]}")
at_least() { echo $(($1 > $2 ? $1 : $2)); }

work=$(mktemp -d "${TMPDIR:-/tmp}/heddle-torture.XXXXXX")
chmod 711 "$work"
export HOME=$work
unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME XDG_DATA_HOME XDG_RUNTIME_DIR
mounts=() spaces=() pids=()
clean_up() {
    local x
    for x in "${pids[@]}"; do kill "$x" 2>/dev/null || true; done
    for x in "$work"/pg-*; do [ ! -f "$x/socket" ] || "$root/tests/postgres.sh" stop "$x" || true; done
    for x in "${spaces[@]}"; do ip netns delete "$x" 2>/dev/null || true; done
    ip link delete "hdl$$" 2>/dev/null || true
    for x in "${mounts[@]}"; do umount -l "$x" 2>/dev/null || true; done
    rm -rf "$work" || true
}
at_end clean_up

n=0 bad=0
result() { # result STATUS NAME
    n=$((n + 1))
    if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else
        echo "not ok $n - $2"
        bad=1
    fi
}
note() { printf '# %s\n' "$*"; }

# start NAME [SETTING=VALUE...]: a private server; $url is its URL, $dir its directory.
start() {
    dir=$work/pg-$1
    if [ -n "$short" ]; then # one for all
        dir=$work/pg-short
        [ ! -f "$dir/socket" ] || return 0
    fi
    shift
    url=$("$root/tests/postgres.sh" start "$dir" "$@")
    socket=$(cat "$dir/socket")
}
stop() { [ -n "$short" ] || "$root/tests/postgres.sh" stop "$dir"; }
as() { "$root/tests/postgres.sh" as "$@"; }
sql() { as psql -X -q -A -t -h "$socket" -U postgres -c "$1" "${2:-heddle}"; }

# told COMMAND...: a program that speaks TAP; its lines become comments, its status one of our results.
told() {
    local rc=0
    "$@" >"$work/told" || rc=$?
    sed 's/^\(ok\|not ok\|1\.\.\)/# \1/' "$work/told"
    return "$rc"
}

# verified URL: what a person would do.
verified() {
    local rc=0
    mkdir -p "$work/here"
    (cd "$work/here" && HEDDLE_STORE="$1${1:+&schema=heddle}" "$HEDDLE" verify) >"$work/verify" 2>&1 || rc=$?
    [ "$rc" -eq 0 ] || sed 's/^/# /' "$work/verify"
    return "$rc"
}

both() { # both NAME COMMAND...: the command, then `heddle verify`
    local name=$1 rc=0
    shift
    told "$@" || rc=$?
    verified "$url" || rc=1
    result "$rc" "$name"
}

# ---- backends, writers, the server --------------------------------------------------

part_backends() {
    start backends
    both "backends ended at random, $rounds rounds" "$programs/torture_postgres" backends "$url" "$rounds"
    stop
}

part_writers() {
    start writers
    both "writing processes killed" "$programs/torture_writers" "$url" "$(at_least $((rounds / 5)) 5)"
    stop
}

part_server() {
    local kills i rc=0
    kills=$(at_least $((rounds / 50)) 2)
    start server fsync=on
    "$programs/torture_postgres" clock "$url" - >/dev/null # makes the tables
    "$programs/torture_postgres" write "$url" "$work/claims" 3600 >"$work/writers" &
    pids+=($!)
    for ((i = 0; i < kills; i++)); do
        sleep "0.$((RANDOM % 9 + 1))"
        "$root/tests/postgres.sh" kill "$dir" 2>/dev/null
        "$root/tests/postgres.sh" again "$dir"
    done
    sleep 0.5
    touch "$work/claims.stop"
    wait "${pids[-1]}" || rc=1
    grep '^#' "$work/writers" || true
    told "$programs/torture_postgres" check "$url" "$work/claims" || rc=1
    verified "$url" || rc=1
    result "$rc" "the server killed and started again $kills times"
    rm -f "$work"/claims*
    stop
}

part_cut() {
    start cut
    mkdir "$work/proxy"
    both "the connection cut at every byte" "$programs/torture_cut" "$url" "$work/proxy" ${scaled:+"$rounds"}
    stop
}

part_serial() {
    start serial
    both "serialization failures" "$programs/torture_postgres" serial "$url" "$(at_least $((rounds / 50)) 2)"
    stop
}

# ---- full disks ---------------------------------------------------------------------

small() { # small NAME MEGABYTES: a file system of that size that the server may write to; its place is in $place
    place=$work/$1
    mkdir "$place"
    mount -t tmpfs -o "size=${2}m,mode=777" tmpfs "$place"
    mounts+=("$place")
    chown --reference="$dir/data" "$place"
}

# fill: write until the log says that it cannot; then what was acknowledged must be there.
fill() {
    local rc=0 i
    for ((i = 0; i < 400; i++)); do
        head -c 40000 /dev/urandom | base64 -w 0 |
            jq -Rc '{kind: "ai_message", payload: {role: "user", content: .}}' >"$work/large"
        if ! (cd "$work/here" && HEDDLE_STORE="$1&schema=heddle" "$HEDDLE" log append full <"$work/large") >>"$work/filled" 2>"$work/said"; then
            return 0
        fi
        written=$((written + 1))
    done
    note "the disk was never full"
    return 1
}

entries_of() { sql "SELECT rev FROM heddle.thread WHERE id = 'full'" "$1"; }

part_disk() {
    local rc=0 written=0 there
    [ "$(id -u)" -eq 0 ] || { note "disk: needs root"; return 0; }
    mkdir -p "$work/here"
    start disk
    small tables 24
    sql "CREATE TABLESPACE small LOCATION '$place'"
    sql "CREATE DATABASE full_disk TABLESPACE small"
    local full=${url/\/heddle?/\/full_disk?}
    fill "$full" || rc=1
    note "after $written appends: $(head -n 1 "$work/said")"
    grep -q 'IO' "$work/said" || rc=1
    grep -q 'disk of the server is full' "$work/said" || rc=1
    there=$(entries_of full_disk)
    [ "$there" -eq "$written" ] || { note "$written acknowledged, $there there"; rc=1; }
    verified "$full" || rc=1
    mount -o remount,size=64m "$place"
    (cd "$work/here" && HEDDLE_STORE="$full&schema=heddle" "$HEDDLE" log append full <"$work/large") >/dev/null || rc=1
    verified "$full" || rc=1
    result "$rc" "the disk of the tables is full: nothing acknowledged is lost, and it goes on with more room"
    stop

    # A server that cannot write its log ends; it recovers when there is room.
    rc=0 written=0

    start wal fsync=on max_wal_size=64MB min_wal_size=32MB
    small wal 160
    "$root/tests/postgres.sh" kill "$dir"
    cp -a "$dir/data/pg_wal" "$place/pg_wal"
    rm -rf "$dir/data/pg_wal"
    ln -s "$place/pg_wal" "$dir/data/pg_wal"
    chown -h --reference="$dir/data" "$dir/data/pg_wal"
    "$root/tests/postgres.sh" again "$dir"
    (cd "$work/here" && HEDDLE_STORE="$url&schema=heddle" "$HEDDLE" log append full <"$work/large") >/dev/null
    written=1
    fallocate -l "$(($(df --output=avail -B1 "$place" | tail -n 1) - 3000000))" "$place/ballast"
    fill "$url" || rc=1
    note "after $written appends: $(head -n 1 "$work/said")"
    rm "$place/ballast"
    [ -S "$socket/.s.PGSQL.5432" ] && sql 'SELECT 1' postgres >/dev/null 2>&1 || {
        "$root/tests/postgres.sh" kill "$dir" 2>/dev/null || true
        "$root/tests/postgres.sh" again "$dir"
    }
    there=$(entries_of heddle)
    # The append that failed may have happened when it said that it does not know.
    if [ "$there" -ne "$written" ]; then
        grep -q 'not known whether' "$work/said" && [ "$there" -eq $((written + 1)) ] || { note "$written acknowledged, $there there"; rc=1; }
    fi
    verified "$url" || rc=1
    result "$rc" "the disk of the write-ahead log is full: nothing acknowledged is lost"
    stop
}

# ---- a standby ----------------------------------------------------------------------

# pair NAME: a primary in $dir and a standby of it in $other, both on TCP; $many reaches either. 
pair() {
    port=$((20000 + RANDOM % 20000))
    start "$1" "listen_addresses=127.0.0.1" "port=$port" fsync=on wal_level=replica wal_log_hints=on
    other=$work/pg-$1-standby
    mkdir "$other"
    echo "$socket" >"$other/socket"
    : >"$other/log"
    chown --reference="$dir/data" "$other" "$other/log"
    as psql -X -q -h "$socket" -p "$port" -U postgres -c 'CREATE ROLE repl REPLICATION LOGIN' postgres
    echo 'host replication repl 127.0.0.1/32 trust' | as tee -a "$dir/data/pg_hba.conf" >/dev/null
    as pg_ctl -s -D "$dir/data" reload
    as pg_basebackup -h 127.0.0.1 -p "$port" -U repl -D "$other/data" -R -C -S standby1 -X stream -c fast
    {
        echo "port = $((port + 1))"
        echo "primary_conninfo = 'host=127.0.0.1 port=$port user=repl application_name=standby1'"
    } | as tee -a "$other/data/postgresql.conf" >/dev/null
    as sed -i '/^primary_conninfo/d' "$other/data/postgresql.auto.conf"
    "$root/tests/postgres.sh" again "$other"
    many="postgres://postgres@127.0.0.1:$port,127.0.0.1:$((port + 1))/heddle?target_session_attrs=read-write&connect_timeout=2&tcp_user_timeout=3000"
}

primary_sql() { as psql -X -q -A -t -h "$socket" -p "$port" -U postgres -c "$1" postgres; }

synchronous() {
    local i
    echo "synchronous_standby_names = 'FIRST 1 (standby1)'" | as tee -a "$dir/data/postgresql.conf" >/dev/null
    as pg_ctl -s -D "$dir/data" reload
    for ((i = 0; i < 100; i++)); do
        [ "$(primary_sql "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")" -eq 0 ] || return 0
        sleep 0.1
    done
    note "the standby does not become synchronous"
    return 1
}

unpair() { # both servers
    rm -f "$other/socket"
    as pg_ctl -s -D "$other/data" -m immediate stop 2>/dev/null || true
    stop
    rm -rf "$other"
}

entries_there() { as psql -X -q -A -t -h "$socket" -p "$port" -U postgres -c 'SELECT coalesce(sum(rev), 0) FROM heddle.thread' heddle; }

# fall_behind: the standby gets nothing any more, and the primary goes on. Its receiver is not merely stopped: what is
# in the buffers of the sockets would still reach it when the primary is dead.
fall_behind() {
    local from i
    echo "primary_conninfo = ''" | as tee -a "$other/data/postgresql.conf" >/dev/null
    as pg_ctl -s -D "$other/data" reload
    for ((i = 0; i < 600; i++)); do
        [ "$(primary_sql 'SELECT count(*) FROM pg_stat_replication')" -ne 0 ] || break
        sleep 0.1
    done
    from=$(entries_there)
    for ((i = 0; i < 600; i++)); do
        [ "$(entries_there)" -lt $((from + 500)) ] || return 0
        sleep 0.1
    done
    note "the writers do not write"
    return 1
}

# fail_over NAME lossless|lossy: writers, the death of the primary, promotion; then compare.
fail_over() {
    local rc=0
    pair "$1"
    [ "$2" = lossy ] || synchronous || rc=1
    (cd "$work/here" && HEDDLE_STORE="$many&schema=heddle" "$HEDDLE" log threads) >/dev/null 2>&1 || true
    "$programs/torture_postgres" write "$many" "$work/claims" 3600 >"$work/writers" &
    pids+=($!)
    sleep "$(at_least $((rounds / 200)) 1)"
    [ "$2" != lossy ] || fall_behind || rc=1
    "$root/tests/postgres.sh" kill "$dir" 2>/dev/null
    as pg_ctl -s -D "$other/data" -w promote
    sleep "$(at_least $((rounds / 200)) 1)"
    touch "$work/claims.stop"
    wait "${pids[-1]}" || rc=1
    grep '^#' "$work/writers" || true
    many="postgres://postgres@127.0.0.1:$((port + 1))/heddle?connect_timeout=2"
    if [ "$2" = lossy ]; then
        told "$programs/torture_postgres" check "$many" "$work/claims" lossy || rc=1
    else
        told "$programs/torture_postgres" check "$many" "$work/claims" || rc=1
        verified "$many" || rc=1
    fi
    rm -f "$work"/claims*
    unpair
    return "$rc"
}

part_failover() {
    local rc=0
    mkdir -p "$work/here"
    fail_over sync lossless || rc=1
    result "$rc" "the primary killed, its synchronous standby promoted: no acknowledged entry is lost"
    rc=0
    fail_over async lossy || rc=1
    result "$rc" "control: without synchronous replication something is lost, and the test sees it"
}

part_standby() {
    local rc=0 from took line='{"kind":"ai_message","op_id":"late","payload":{"role":"user","content":"late"}}'
    mkdir -p "$work/here"
    pair dead
    synchronous || rc=1
    local here="postgres://postgres@127.0.0.1:$port/heddle?commit_timeout=2000&schema=heddle"
    (cd "$work/here" && echo '{"kind":"ai_message","payload":{"role":"user","content":"before"}}' |
        HEDDLE_STORE=$here "$HEDDLE" log append t) >/dev/null || rc=1
    as pg_ctl -s -D "$other/data" -m immediate stop
    from=$SECONDS
    (cd "$work/here" && echo "$line" | HEDDLE_STORE=$here "$HEDDLE" log append t) >"$work/said" 2>&1 && rc=1
    took=$((SECONDS - from))
    note "after $took s: $(head -n 1 "$work/said")"
    grep -q 'not known whether the commit happened' "$work/said" || rc=1
    [ "$took" -lt 20 ] || rc=1
    result "$rc" "a COMMIT that waits for a dead standby ends at the deadline, as unknown"

    # The waiting is cancelled: the server says «committed», with a warning that it is on one machine only.
    rc=0
    line=${line//late/later}
    primary_sql "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'" >/dev/null
    (cd "$work/here" && echo "$line" | HEDDLE_STORE=${here/commit_timeout=2000/commit_timeout=20000} "$HEDDLE" log append t) >"$work/said" 2>&1 &
    pids+=($!)
    sleep 2
    primary_sql "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'" >/dev/null
    wait "${pids[-1]}" && rc=1
    note "cancelled: $(head -n 1 "$work/said")"
    grep -q 'not known whether the commit happened' "$work/said" || rc=1
    result "$rc" "a COMMIT whose waiting was cancelled is unknown, too"

    # The backend is ended while it waits: the entry is there, but on one machine only.
    rc=0
    (cd "$work/here" && echo "${line//later/ended}" | HEDDLE_STORE=$here "$HEDDLE" log append t) >"$work/said" 2>&1 &
    pids+=($!)
    sleep 1
    primary_sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'" >/dev/null
    wait "${pids[-1]}" && rc=1
    note "ended: $(head -n 1 "$work/said")"
    grep -q 'not known whether the commit happened' "$work/said" || rc=1
    result "$rc" "a COMMIT whose backend was ended while it waited is unknown, too"

    # Repeated while the standby is away: it is there, but not yet for good.
    rc=0
    primary_sql "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'" >/dev/null
    (cd "$work/here" && echo "${line//later/ended}" | HEDDLE_STORE=$here "$HEDDLE" log append t) >"$work/said" 2>&1 && rc=1
    note "repeated: $(head -n 1 "$work/said")"
    grep -q 'not known whether the commit happened' "$work/said" || rc=1
    result "$rc" "an op_id that is repeated is not acknowledged before the standby has it"
    primary_sql "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'" >/dev/null

    # With the standby back, the same op_id is acknowledged, and is there once.
    rc=0
    "$root/tests/postgres.sh" again "$other"
    (cd "$work/here" && echo "$line" | HEDDLE_STORE=${here/commit_timeout=2000/commit_timeout=20000} "$HEDDLE" log append t) >"$work/said" 2>&1 || rc=1
    [ "$(primary_sql "SELECT 1" >/dev/null; as psql -X -q -A -t -h "$socket" -p "$port" -U postgres -c \
        "SELECT count(*) FROM heddle.entry WHERE op = 'later'" heddle)" -eq 1 ] || rc=1
    [ "$(as psql -X -q -A -t -h "$socket" -p "$((port + 1))" -U postgres -c \
        "SELECT count(*) FROM heddle.entry WHERE op = 'later'" heddle)" -eq 1 ] || rc=1
    result "$rc" "repeated with the same op_id when the standby is back: there once, and on the standby"
    unpair
}

# ---- two machines -------------------------------------------------------------------

in_space() { # in_space NAME HOURS COMMAND...: on that machine, whose clock is so many hours ahead
    local space=$1 hours=$2
    shift 2
    ip netns exec "$space" env FAKETIME_DONT_FAKE_MONOTONIC=1 faketime -f "$hours" "$@"
}

part_machines() {
    local rc=0 a=hdl$$a b=hdl$$b cable=hdl$$ i ours net one two
    [ "$(id -u)" -eq 0 ] || { note "machines: needs root"; return 0; }
    command -v faketime >/dev/null || { note "machines: needs faketime"; return 0; }
    net=10.$((RANDOM % 200 + 20)).$((RANDOM % 250))
    ip link add "$cable" type bridge
    spaces+=("$a" "$b")
    ip addr add "$net.1/24" dev "$cable"
    ip link set "$cable" up
    i=2
    for ours in "$a" "$b"; do
        ip netns add "$ours"
        ip link add "${ours}0" type veth peer name eth0 netns "$ours"
        ip link set "${ours}0" master "$cable" up
        ip -n "$ours" addr add "$net.$i/24" dev eth0
        ip -n "$ours" link set eth0 up
        ip -n "$ours" link set lo up
        i=$((i + 1))
    done
    start machines "listen_addresses=$net.1" port=5432
    echo "host all all $net.0/24 trust" | as tee -a "$dir/data/pg_hba.conf" >/dev/null
    as pg_ctl -s -D "$dir/data" reload
    local there="postgres://postgres@$net.1/heddle?connect_timeout=2&tcp_user_timeout=1500"

    one=$(in_space "$a" +2h "$programs/torture_postgres" clock "$there" - | sed -n 's/^# now //p')
    two=$(in_space "$b" -2h "$programs/torture_postgres" clock "$there" - | sed -n 's/^# now //p')
    note "clocks four hours apart agree on the log's time to $((two - one)) ms"
    [ -n "$one" ] && [ $((two - one)) -lt 60000 ] && [ $((two - one)) -ge 0 ] || rc=1
    result "$rc" "two machines with clocks four hours apart take the time of the database"

    rc=0
    in_space "$a" +2h "$programs/torture_postgres" write "$there" "$work/one" 3600 >"$work/writers-1" &
    pids+=($!)
    in_space "$b" -2h "$programs/torture_postgres" write "$there" "$work/two" 3600 machine >"$work/writers-2" &
    pids+=($!)
    for ((i = 0; i < $(at_least $((rounds / 200)) 1); i++)); do
        sleep 1
        ip link set "${a}0" down # the cable of one machine is pulled
        sleep 2
        ip link set "${a}0" up
    done
    sleep 1
    touch "$work/one.stop" "$work/two.stop"
    wait "${pids[-1]}" || rc=1
    wait "${pids[-2]}" || rc=1
    grep -h '^# [0-9]' "$work/writers-1" "$work/writers-2" || true
    for i in one two; do
        told "$programs/torture_postgres" check "$url" "$work/$i" || rc=1
    done
    verified "$url" || rc=1
    result "$rc" "two machines write, and the cable of one is pulled"
    ip link delete "$cable"
    stop
}

# ---- a million entries --------------------------------------------------------------

some_entries() { # some_entries THREADS EACH: into the log of the current directory
    local i
    for ((i = 0; i < $1; i++)); do
        awk -v n="$2" -v t="$i" 'BEGIN {
            while (length(large) < 5000) large = large "the warp holds still while the weft goes over and under it, "
            for (i = 0; i < n; i++)
                printf "{\"kind\":\"ai_message\",\"op_id\":\"%d-%d\",\"payload\":{\"content\":\"%d %s\",\"role\":\"user\"}}\n", t, i, i,
                    i % 1000 == 7 ? large i : "warp and weft"
        }' | "$HEDDLE" log import "thread-$i" - >/dev/null
    done
}

# exported: what a log holds, to the byte.
exported() { "$HEDDLE" log export --all | sha256sum | cut -d ' ' -f 1; }

part_copy() {
    local rc=0 entries=${TORTURE_ENTRIES:-1000000} before there back
    [ -z "$scaled" ] || [ -n "${TORTURE_ENTRIES:-}" ] || entries=$((rounds * 1000))
    start copy
    mkdir "$work/copy"
    cd "$work/copy"
    "$HEDDLE" init >/dev/null 2>&1
    some_entries 10 $((entries / 10))
    before=$(exported)
    local from=$SECONDS
    # It is killed once on the way, and goes on where it stopped.
    "$HEDDLE" store copy here "$url&schema=copied" >/dev/null 2>&1 &
    pids+=($!)
    sleep 2
    kill -KILL "${pids[-1]}" 2>/dev/null || true
    wait "${pids[-1]}" 2>/dev/null || true
    "$HEDDLE" store copy here "$url&schema=copied" --verify >"$work/said" 2>&1 || rc=1
    note "$entries entries to PostgreSQL in $((SECONDS - from)) s: $(tail -n 1 "$work/said")"
    there=$(HEDDLE_STORE="$url&schema=copied" exported)
    [ "$before" = "$there" ] || { note "the copy differs"; rc=1; }
    from=$SECONDS
    HEDDLE_STORE="$url&schema=copied" "$HEDDLE" store copy here back.db --verify >"$work/said" 2>&1 || rc=1
    note "and back in $((SECONDS - from)) s: $(tail -n 1 "$work/said")"
    back=$(HEDDLE_STORE=sqlite:back.db exported) || back=
    [ -n "$back" ] || back=$(cp back.db .heddle/heddle.db && rm -f .heddle/heddle.db-* && exported)
    [ "$before" = "$back" ] || { note "the copy of the copy differs"; rc=1; }
    [ "$(sql 'SELECT sum(rev) FROM copied.thread')" -ge "$entries" ] || rc=1
    cd "$work"
    result "$rc" "a log of $entries entries copied to PostgreSQL and back is the same to the byte"
    stop
}

# ---- a server that lies -------------------------------------------------------------

part_hostile() {
    local seconds program=$programs/torture_hostile
    seconds=$(at_least $((rounds / 10)) 2)
    if [ -z "$short" ]; then
        (cd "$root" && tools/build.sh asan torture_hostile) >"$work/build" 2>&1 || { cat "$work/build"; return 1; }
        program=$root/build/asan/tests/torture_hostile
    fi
    start hostile
    mkdir "$work/lies"
    both "a server that answers with anything, for $seconds s" \
        "$program" "$url" "$work/lies" "$seconds" ${TORTURE_SEED:+"$TORTURE_SEED"}
    stop
}

for part in "${parts[@]}"; do
    note "$part"
    "part_$part"
done
echo "1..$n"
exit "$bad"

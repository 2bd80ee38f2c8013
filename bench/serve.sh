#!/usr/bin/env bash
# The server beside nginx, and what many clients at once cost.
#
#     ./dev bench serve [quick] [long] [save]
#
#     quick   a second for each measurement in the place of five
#     long    1,000,000 requests to see whether memory stays flat, in the place of 200,000
#     save    put the table into docs/BENCHMARKS.md
#
# nginx serves a file of the same size as the answer, and both take turns. wrk asks; all of it on the loopback, and on the same processors.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
# shellcheck source=bench/lib.sh
. bench/lib.sh
# shellcheck source=tools/dev-lib.sh
. tools/dev-lib.sh
need bench_serve
heddle=${HEDDLE:-$root/build/release/heddle}
seconds=5 rounds=3 requests=200000 save=''
asked="./dev bench serve${*:+ $*}"
asked=${asked% save}
for word in "$@"; do
    case $word in
    quick) seconds=1 ;;
    long) requests=1000000 ;;
    save) save=1 ;;
    *) fail "bench/serve.sh: no '$word'; there are quick, long and save" 2 ;;
    esac
done
work=$(mktemp -d "${BENCH_DIR:-${TMPDIR:-/tmp}}/heddle-bench.XXXXXX")
chmod 755 "$work"
server='' files=''
end() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    [ -z "$files" ] || kill "$files" 2>/dev/null || true
    wait
    rm -rf "$work"
}
at_end end
unset HEDDLE_NOW HEDDLE_SEED HEDDLE_STORE
export XDG_RUNTIME_DIR=$work/run HOME=$work
mkdir -m 700 "$XDG_RUNTIME_DIR"

# ---- both servers -----------------------------------------------------------------------

# start_server [NAME=VALUE...]: $server, $url, $port, $token
start_server() {
    : >"$work/out"
    env "$@" "$heddle" serve --listen 127.0.0.1:0 --rate 0 --root "$work/ws" >"$work/out" 2>&1 &
    server=$!
    until grep -q '^ready' "$work/out"; do
        kill -0 "$server" || { cat "$work/out" >&2; exit 1; }
        sleep 0.05
    done
    url=$(sed -n 's/^  at \(http.*\)/\1/p' "$work/out" | head -n 1)
    port=${url##*:}
    token=$(jq -r .token "$XDG_RUNTIME_DIR"/heddle/*.json)
}

stop_server() {
    kill "$server"
    wait "$server"
    server=''
}

resident() { awk '/^VmRSS/ { printf "%.1f", $2 / 1024 }' "/proc/$server/status"; }

# start_nginx: with as many workers as there are processors, without a log, on $files_port
start_nginx() {
    files_port=$((30000 + $$ % 10000))
    mkdir "$work/www"
    cat >"$work/nginx.conf" <<END
daemon off; worker_processes auto; pid $work/nginx.pid; error_log $work/nginx.err;
$([ "$(id -u)" -ne 0 ] || echo "user root;")
events { worker_connections 1024; }
http {
    access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000000;
    client_body_temp_path $work/nginx.tmp; proxy_temp_path $work/nginx.tmp; fastcgi_temp_path $work/nginx.tmp;
    uwsgi_temp_path $work/nginx.tmp; scgi_temp_path $work/nginx.tmp;
    server { listen 127.0.0.1:$files_port; root $work/www; }
}
END
    /usr/sbin/nginx -p "$work" -c "$work/nginx.conf" -e "$work/nginx.err" &
    files=$!
    until curl -s -o /dev/null "http://127.0.0.1:$files_port/"; do
        kill -0 "$files" || { cat "$work/nginx.err" >&2; exit 1; }
        sleep 0.05
    done
}

# ---- asking -------------------------------------------------------------------------------

# load CONNECTIONS SECONDS URL WORDS...: requests a second, and the 99th percentile in ms
load() {
    local connections=$1 time=$2 where=$3 threads=1
    shift 3
    [ "$connections" -eq 1 ] || threads=2
    wrk -t$threads -c"$connections" -d"$time"s --latency -H "Authorization: Bearer $token" "$@" "$where" >"$work/wrk"
    if grep -q 'Non-2xx\|Socket errors' "$work/wrk"; then
        cat "$work/wrk" >&2
        return 1
    fi
    awk '$1 == "99%" { t = $2; k = t ~ /us$/ ? 0.001 : t ~ /ms$/ ? 1 : 1000; sub(/[a-z]+$/, "", t); p = t * k }
         /^Requests\/sec/ { print $2, p }' "$work/wrk"
}

middle() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# beside NAME PATH REACH [WORDS of wrk for ours...]: an answer of ours, and a file of its size from nginx, in turns
beside() {
    local i size file name=$1 path=$2 reach=$3
    shift 3
    size=$(curl -s -H "Authorization: Bearer $token" "$url$path" | wc -c)
    file=file-$size
    head -c "$size" /dev/zero | tr '\0' x >"$work/www/$file"
    : >"$work/ours" && : >"$work/theirs"
    for ((i = 0; i < rounds; i++)); do
        load 32 "$seconds" "$url$path" "$@" >>"$work/ours"
        load 32 "$seconds" "http://127.0.0.1:$files_port/$file" >>"$work/theirs"
    done
    row "$name, $size bytes; nginx, a file" requests/s "$(awk '{ print $1 }' "$work/ours" | middle)" "$(awk '{ print $1 }' "$work/theirs" | middle)" "$reach"
    row "its 99th percentile; nginx" ms "$(awk '{ print $2 }' "$work/ours" | middle)" "$(awk '{ print $2 }' "$work/theirs" | middle)" -
}

# together NAME REACH [NAME=VALUE...]: 64 clients that append, and one
together() {
    local name=$1 reach=$2 one many i
    shift 2
    start_server "$@"
    : >"$work/one" && : >"$work/many"
    for ((i = 0; i < rounds; i++)); do
        load 1 "$seconds" "$url/api/log.append" -s "$work/append.lua" >>"$work/one"
        load 64 "$seconds" "$url/api/log.append" -s "$work/append.lua" >>"$work/many"
    done
    stop_server
    one=$(awk '{ print $1 }' "$work/one" | middle) many=$(awk '{ print $1 }' "$work/many" | middle)
    row "durable appends of 64 clients, $name; of one" requests/s "$many" "$one" "$reach"
    row "their 99th percentile" ms "$(awk '{ print $2 }' "$work/many" | middle)" "$(awk '{ print $2 }' "$work/one" | middle)" -
}

idle_streams() {
    local before after
    start_server
    before=$(resident)
    coproc CLIENT { node "$root/bench/serve.mjs" streams "$port" "$token" 1000; }
    # shellcheck disable=SC2153
    read -r _ <&"${CLIENT[0]}"
    after=$(resident)
    eval "exec ${CLIENT[1]}>&-"
    wait "$CLIENT_PID" 2>/dev/null || true
    stop_server
    row "memory with 1,000 idle event streams; with none" MB "$after" "$before" "<30"
}

flat_memory() {
    local early='' at
    start_server
    for at in 1 2 3 4 5 6 7 8 9 10; do
        # wrk knows no number of requests: as many seconds as they take
        while [ "$(curl -s -H "Authorization: Bearer $token" "$url/api/status" | jq .requests)" -lt $((requests / 10 * at)) ]; do
            load 32 1 "$url/api/project?thread=t" >/dev/null
            load 8 1 "$url/api/log.append" -s "$work/append.lua" >/dev/null
        done
        [ "$at" -ne 5 ] || early=$(resident)
    done
    row "memory after $requests requests; after half of them" MB "$(resident)" "$early" "<=1.2"
    stop_server
}

# ---- all of it ------------------------------------------------------------------------------

mkdir "$work/ws"
"$heddle" --root "$work/ws" init >/dev/null
for i in 1 2 3 4 5; do "$heddle" --root "$work/ws" say t "message $i: the warp holds still while the weft goes over and under it" >/dev/null; done
cat >"$work/append.lua" <<'END'
local n = 0
wrk.headers["Content-Type"] = "application/json"
request = function()
    n = n + 1
    return wrk.format("POST", nil, nil, '{"thread":"w' .. n % 64 .. '","entries":[{"kind":"ai_message","payload":{"role":"user","content":"the warp holds still while the weft goes over and under it"}}]}')
end
END
cat >"$work/anew.lua" <<'END'
local threads = 0
function setup(thread)
    thread:set("id", threads)
    threads = threads + 1
end
function init()
    n, run = 0, os.time() -- no round repeats what an earlier one has asked
end
request = function()
    n = n + 1
    return wrk.format("GET", wrk.path .. "&agent=a" .. id .. "-" .. run .. "-" .. n)
end
END
"${CC:-cc}" -shared -fPIC -O2 -o "$work/slow_sync.so" bench/shim/slow_sync.c -ldl
load_before=$(cut -d ' ' -f 1-3 /proc/loadavg)
note "beside nginx"
start_server
start_nginx
{
    beside "GET /api/project" "/api/project?thread=t" ">=1"
    beside "GET /api/project, read from the log each time" "/api/project?thread=t" - -s "$work/anew.lua"
    beside "GET /api/program.version" "/api/program.version" ">=1"
    beside "the page, main.js" "/main.js" ">=1"
} >"$work/rows"
stop_server
kill "$files" && wait "$files" || true
files=''
note "many writers"
together "the disk's own sync" - >>"$work/rows"
together "4 ms added to each sync" ">=10" LD_PRELOAD="$work/slow_sync.so" >>"$work/rows"
note "event streams"
idle_streams >>"$work/rows"
note "$requests requests"
flat_memory >>"$work/rows"
note "starts"
cd "$work/ws"
read -r least middle_start <<<"$(node "$root/bench/serve.mjs" start 15 "$heddle")"
cd "$root"
row "start to the first answer, middle of 15; least" ms "$middle_start" "$least" "<50" >>"$work/rows"
missed=0
table <"$work/rows" >"$work/table" || missed=1
cat "$work/table"
load_after=$(cut -d ' ' -f 1-3 /proc/loadavg)
printf 'load of the machine: %s before, %s after\n' "$load_before" "$load_after"
if [ -n "$save" ]; then
    {
        # shellcheck disable=SC2016 # the backquotes are Markdown's
        printf '## The server\n\n`%s`, %s, %s processors; load of the machine %s before, %s after (wrk and the servers are part of it). nginx %s, SQLite and libmicrohttpd of Debian.\n\n' \
            "$asked" "$(date -u +%Y-%m-%d)" "$(nproc)" "$load_before" "$load_after" "$(/usr/sbin/nginx -v 2>&1 | sed 's|.*/||')"
        cat bench/serve.md "$work/table"
        echo
    } >"$work/section"
    put_into_docs "The server" "$work/section"
fi
exit "$missed"

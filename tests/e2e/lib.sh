# shellcheck shell=sh
# Helpers for end-to-end tests, in POSIX shell. A test starts in a fresh empty folder with the
# program's path in $HEDDLE, and ends with done_testing:
#
#     . "$(dirname "$0")/lib.sh"
#     run "$HEDDLE" version                      fills $status, $out and $err
#     exits "the version is printed" 0
#     has "it names the program" "$out" "heddle "
#     done_testing
#
# Each check prints its TAP line; one that fails says what it saw.
: "${HEDDLE:?the path of the program}"
# Tests make and remove what they find under fixed names, .git too.
[ ! -e .git ] || {
    echo "$0 would write into this checkout: run \`./dev test\`, or start it in an empty directory" >&2
    exit 2
}

# shellcheck source=tools/at-end.sh
. "${HEDDLE_SOURCE:-$(dirname "$0")/../..}/tools/at-end.sh"

tap_n=0
tap_bad=0
out='' err='' status=0
scratch=$(mktemp -d "${TMPDIR:-/tmp}/heddle-e2e.XXXXXX")
at_end 'rm -rf "$scratch"'
# Settings of the person who runs the test are neither read nor written.
mkdir "$scratch/home"
HOME=$scratch/home
export HOME
unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME XDG_DATA_HOME
# Nor does a hook of git, or the workspace of that person, say where a test works.
unset HEDDLE_ROOT GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE GIT_CEILING_DIRECTORIES

# heddle WORDS: the program under test.
heddle() { "$HEDDLE" "$@"; }

# is_file: the log of the test is a file of the workspace, not on the server that HEDDLE_STORE names.
is_file() { [ -z "${HEDDLE_STORE:-}" ]; }

# run COMMAND...: output in $out, errors in $err, exit status in $status. Standard input is passed on.
run() {
    status=0
    "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
    out=$(cat "$scratch/out")
    err=$(cat "$scratch/err")
}

# await COMMAND...: until it succeeds. What is waited for comes by itself, so that only a defect lasts until the
# end: two minutes, which is more than a loaded machine needs and less than a test file has. Then it fails.
await() {
    await_end=$(($(date +%s) + 120))
    until "$@"; do
        [ "$(date +%s)" -lt "$await_end" ] || return 1
        sleep 0.05
    done
}

# interrupt_calls MORE PART: for some numbers K, calls the test's own `interrupted K`, which does its work with the K-th
# call of the store failing, and is false when the work has fewer calls. K grows by MORE and K / PART each time; the
# last call is found by halving, and some calls before it are tried, too, because the work is committed there.
interrupt_calls() {
    k=1
    while interrupted $k; do
        last=$k
        k=$((k + $1 + k / $2))
    done
    while [ $((last + 1)) -lt $k ]; do
        middle=$(((last + k) / 2))
        if interrupted $middle; then last=$middle; else k=$middle; fi
    done
    for back in 1 2 4 8; do
        interrupted $((last - back)) || : # a call whose failure changes nothing
    done
}

# wait_port: print the port that a server in the background writes to $scratch/port.
wait_port() {
    await test -s "$scratch/port"
    cat "$scratch/port"
}

# serve WORDS...: `node $scratch/server.js WORDS...` in the background until the test ends. It writes
# its port to $scratch/port; then $base is its address.
serve() {
    node "$scratch/server.js" "$@" &
    server=$!
    at_end 'kill $server 2>/dev/null; rm -rf "$scratch"'
    # shellcheck disable=SC2034
    base=http://127.0.0.1:$(wait_port)
}

# start_server WORDS...: `heddle serve WORDS...` in the background until the test ends or stop_server.
# Then $url is its address, $key that of its link, $token the shell's secret, $serve_pid its process.
start_server() {
    [ -n "${XDG_RUNTIME_DIR:-}" ] || {
        XDG_RUNTIME_DIR=$scratch/run
        mkdir -m 700 "$XDG_RUNTIME_DIR"
        export XDG_RUNTIME_DIR
    }
    : >"$scratch/serve.out"
    "$HEDDLE" serve "$@" >"$scratch/serve.out" 2>"$scratch/serve.err" &
    serve_pid=$!
    at_end 'kill $serve_pid 2>/dev/null; wait 2>/dev/null; rm -rf "$scratch"'
    await is_serving
    # shellcheck disable=SC2034
    {
        url=$(sed -n 's/^  at \(http.*\)/\1/p' "$scratch/serve.out" | head -n 1)
        key=$(sed -n 's/.*#k=//p' "$scratch/serve.out")
        token=$(jq -r .token "$XDG_RUNTIME_DIR"/heddle/*.json 2>/dev/null | tail -n 1)
    }
}

# is_serving: it is ready, or it has ended.
is_serving() { grep -q '^ready' "$scratch/serve.out" || ! kill -0 "$serve_pid" 2>/dev/null; }

# stop_server: SIGTERM, and $status is how it ended.
stop_server() {
    kill "$serve_pid"
    status=0
    wait "$serve_pid" || status=$?
    serve_pid='' # another process may get the number
    out=$(cat "$scratch/serve.out") err=$(cat "$scratch/serve.err")
}

# ask WORDS...: curl as the shell asks; $out is the body, $head the head, $code the HTTP status.
ask() {
    run curl -sS -D "$scratch/head" -H "Authorization: Bearer $token" "$@"
    head=$(tr -d '\r' <"$scratch/head")
    code=$(printf '%s\n' "$head" | sed -n 's|^HTTP/1.1 \([0-9]*\).*|\1|p' | tail -n 1)
}

# post NAME JSON WORDS...: an operation.
post() {
    post_name=$1 post_body=$2
    shift 2
    ask -H 'Content-Type: application/json' -d "$post_body" "$@" "$url/api/$post_name"
}

pass() {
    tap_n=$((tap_n + 1))
    printf 'ok %d - %s\n' "$tap_n" "$1"
}

# flunk NAME LINES...
flunk() {
    tap_name=$1
    shift
    for tap_line in "$@"; do
        printf '%s\n' "$tap_line" | sed 's/^/# /'
    done
    tap_n=$((tap_n + 1))
    tap_bad=1
    printf 'not ok %d - %s\n' "$tap_n" "$tap_name"
}

# skip NAME REASON
skip() {
    tap_n=$((tap_n + 1))
    printf 'ok %d - %s # SKIP %s\n' "$tap_n" "$1" "$2"
}

# ok NAME COMMAND...: the command succeeds.
ok() {
    tap_name=$1
    shift
    if "$@" >"$scratch/said" 2>&1; then pass "$tap_name"; else flunk "$tap_name" "failed: $*" "$(cat "$scratch/said")"; fi
}

# not_ok NAME COMMAND...: the command fails.
not_ok() {
    tap_name=$1
    shift
    if "$@" >"$scratch/said" 2>&1; then flunk "$tap_name" "did not fail: $*" "$(cat "$scratch/said")"; else pass "$tap_name"; fi
}

# same NAME GOT WANT
same() {
    if [ "$2" = "$3" ]; then pass "$1"; else flunk "$1" "got:  $2" "want: $3"; fi
}

# has NAME TEXT PART: PART stands somewhere in TEXT.
has() {
    case $2 in
    *"$3"*) pass "$1" ;;
    *) flunk "$1" "no \"$3\" in:" "$2" ;;
    esac
}

# lacks NAME TEXT PART
lacks() {
    case $2 in
    *"$3"*) flunk "$1" "\"$3\" stands in:" "$2" ;;
    *) pass "$1" ;;
    esac
}

# exits NAME STATUS: the last run ended with it.
exits() {
    if [ "$status" -eq "$2" ]; then pass "$1"; else flunk "$1" "exit $status, not $2" "stdout: $out" "stderr: $err"; fi
}

# json NAME TEXT FILTER WANT: jq -c of TEXT.
json() {
    if tap_got=$(printf '%s' "$2" | jq -c "$3" 2>&1); then same "$1" "$tap_got" "$4"; else flunk "$1" "$tap_got" "$2"; fi
}

done_testing() {
    echo "1..$tap_n"
    exit $tap_bad
}

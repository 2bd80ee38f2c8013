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

tap_n=0
tap_bad=0
out='' err='' status=0
scratch=$(mktemp -d "${TMPDIR:-/tmp}/heddle-e2e.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

# heddle WORDS: the program under test.
heddle() { "$HEDDLE" "$@"; }

# run COMMAND...: output in $out, errors in $err, exit status in $status. Standard input is passed on.
run() {
    status=0
    "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
    out=$(cat "$scratch/out")
    err=$(cat "$scratch/err")
}

# serve WORDS...: `node $scratch/server.js WORDS...` in the background until the test ends. It writes
# its port to $scratch/port; then $base is its address.
serve() {
    node "$scratch/server.js" "$@" &
    server=$!
    trap 'kill $server 2>/dev/null; rm -rf "$scratch"' EXIT
    tries=0
    while [ ! -s "$scratch/port" ] && [ $tries -lt 100 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    # shellcheck disable=SC2034
    base=http://127.0.0.1:$(cat "$scratch/port")
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

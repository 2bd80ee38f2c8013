#!/usr/bin/env bash
# Kill -9 at every step of a turn: a model answers, commands run, documents are written, a subject is asked. Each turn is killed at
# one system call, some twice, and goes on; at the end its entries are those of a turn that nobody killed, no command was run twice,
# and no answer that had come was asked for again. The model is a server that counts its calls.
#     TURN_ROUNDS (500), TURN_SEED (random)
# shellcheck disable=SC1091
set -uo pipefail
: "${HEDDLE:?the path of the program}"
here=$(cd "$(dirname "$0")/../e2e" && pwd)
# shellcheck source=tools/at-end.sh
. "$here/../../tools/at-end.sh"
command -v node >/dev/null || { echo "1..0 # SKIP needs node"; exit 0; }
strace -qq -e inject=close:signal=URG:when=999 true 2>/dev/null || { echo "1..0 # SKIP strace cannot trace here"; exit 0; }
turn_js=$here/turn.js
. "$here/../turn-lib.sh"
rounds=${TURN_ROUNDS:-500}
RANDOM=${TURN_SEED:=$$}
work=$(mktemp -d "${TMPDIR:-/tmp}/heddle-turn.XXXXXX")
export HOME=$work
node "$turn_js" serve "$work/current" "$work/port" &
server=$!
at_end 'kill $server 2>/dev/null; rm -rf "$work"'
while [ ! -s "$work/port" ]; do sleep 0.1; done
VLLM_BASE_URL=http://127.0.0.1:$(cat "$work/port")/v1
export VLLM_BASE_URL ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"

# The turn that nobody kills, and the system calls that it makes.
: >"$work/current"
turn_workspace "$work/ref"
calls='openat,openat2,write,pwrite64,fdatasync,fsync,ftruncate,renameat,renameat2,linkat,unlinkat,flock,fcntl,sendto,recvfrom,connect'
turn_talk strace -f -qq -o "$work/trace" -e "trace=$calls" >/dev/null 2>&1 || { echo "not ok 1 - the turn itself"; exit 1; }
cp "$work/current" calls
turn_check "$work/ref" || { echo "not ok 1 - the turn itself"; exit 1; }
awk '{ sub(/\(.*/, "", $2); print $2 }' "$work/trace" | sort | uniq -c | while read -r n name; do
    for ((i = 1; i <= n; i++)); do echo "$name $i"; done
done >"$work/points"
total=$(wc -l <"$work/points")
echo "# $total points, $rounds rounds, seed $TURN_SEED"

# one POINT...: a turn that is killed at each of these; prints what is wrong.
one() {
    : >"$work/current"
    rm -rf "$work/try"
    turn_workspace "$work/try"
    for point; do
        turn_talk strace -f -qq -o /dev/null -e "inject=${point% *}:signal=KILL:when=${point#* }" >>resumed 2>&1
        [ $? -lt 128 ] || echo x >>"$work/killed"
    done
    turn_finish || { echo "it does not end:"; tail -5 resumed; return 1; }
    cp "$work/current" calls
    turn_check "$work/ref"
}

bad=0
: >"$work/killed"
for ((r = 0; r < rounds; r++)); do
    at=$((rounds >= total ? r % total : r * total / rounds))
    point=$(sed -n "$((at + 1))p" "$work/points")
    second=$(sed -n "$((RANDOM % total + 1))p" "$work/points")
    if [ $((r % 5)) = 4 ]; then points=("$point" "$second"); else points=("$point"); fi
    said=$(one "${points[@]}")
    if [ -n "$said" ]; then
        bad=$((bad + 1))
        printf '# killed at %s: %s\n' "${points[*]}" "$said" | head -20
        [ $bad -lt 5 ] || break
    fi
done
echo "# $(wc -l <"$work/killed") processes were killed"
[ -s "$work/killed" ] || { echo "not ok 1 - nothing was killed"; exit 1; }
[ $bad = 0 ] && echo "ok 1 - $rounds turns that were killed ended as one that was not" || echo "not ok 1 - $bad turns differ"
echo 1..1
exit $((bad > 0))

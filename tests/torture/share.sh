#!/usr/bin/env bash
# Kill commands on threads and references at random moments; the next command must find all whole.
#     TORTURE_ROUNDS (300), TORTURE_SEED (random)
set -euo pipefail
: "${HEDDLE:?the path of the program}"
rounds=${TORTURE_ROUNDS:-300}
RANDOM=${TORTURE_SEED:-$RANDOM}
work=$(mktemp -d "${TMPDIR:-/tmp}/heddle-torture.XXXXXX")
# shellcheck source=tools/at-end.sh
. "$(dirname "$0")/../../tools/at-end.sh"
at_end 'rm -rf "$work"'
cd "$work"
files=(.leslie/thread_relations.json .leslie/objectives.json .leslie/threads/.global/registry.json)

fail() {
    echo "round $round: $*" >&2
    exit 1
}

# One command at random, among the threads t0 … t19.
command_of_round() {
    local a=t$((RANDOM % 20)) b=t$((RANDOM % 20)) actions=(suspend resume 'done' cancel archive)
    case $((RANDOM % 7)) in
    0 | 1) echo spawn --intent work --objective goal --no-run --id "$a" --ref "$b" --binding frozen ;;
    2) echo lifecycle "$a" "${actions[RANDOM % 5]}" ;;
    3) echo reference --from "$a" --target "$b" --binding frozen ;;
    4) echo reference --from "$a" --target "$b" --binding live ;;
    5) echo refresh --from "$a" ;;
    6) echo merge --sources "$a" --target "$b" --strategy human ;;
    esac
}

check() {
    local id
    "$HEDDLE" list --json >list.json 2>errors || fail "list: $(cat errors)"
    grep -q "could not be" errors && fail "$(cat errors)"
    "$HEDDLE" verify >/dev/null || fail "verify"
    [ "$(jq -c '[.items[].id]' list.json)" = "$(jq -c '[.threads[].id]' "${files[2]}")" ] || fail "the registry differs from the log"
    for id in $(jq -r '.items[].id' list.json); do
        [ -d ".leslie/threads/$id/context/inherited" ] || fail "$id has no folder"
        "$HEDDLE" status "$id" --json | jq -r '.references[].files[].local_path' | while read -r copy; do
            [ -f "$copy" ] || fail "$copy is missing"
        done
    done
    sha256sum "${files[@]}" >sums
    rm "${files[@]}"
    "$HEDDLE" list >/dev/null || fail "list without files"
    sha256sum --quiet -c sums || fail "the files written anew are not the files that were there"
}

round=0
"$HEDDLE" init >/dev/null
"$HEDDLE" objective create Goal --id goal >/dev/null
for i in 0 1 2 3 4 5 6 7 8 9; do
    "$HEDDLE" spawn --intent work --objective goal --no-run --id t$i >/dev/null
    seq 20 >.leslie/threads/t$i/plan.md
done
done_=0
while [ $round -lt "$rounds" ]; do
    round=$((round + 1))
    read -r -a words <<<"$(command_of_round)"
    echo "$round" >>".leslie/threads/t$((RANDOM % 10))/plan.md"
    "$HEDDLE" "${words[@]}" >/dev/null 2>&1 &
    pid=$!
    sleep "0.$((RANDOM % 2))$((RANDOM % 10))$((RANDOM % 10))"
    kill -9 $pid 2>/dev/null || true
    wait $pid 2>/dev/null && done_=$((done_ + 1))
    [ $((round % 20)) -ne 0 ] || check
done
check
echo "$rounds commands, $done_ of them to their end, $(jq '.items | length' list.json) threads: all whole"

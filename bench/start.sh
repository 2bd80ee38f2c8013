#!/usr/bin/env bash
# What one command costs from exec to exit, beside /bin/true in the same run.
#
#     ./dev bench start [count] [than=HEDDLE] [NAME...]
#
#     count         instructions in user space, counted by valgrind, which a busy machine does not
#                   change, in the place of milliseconds
#     than=HEDDLE   another build of the program does the same in workspaces of its own; the last
#                   column is ours divided by it, and more than 1.05 fails
#     NAME          only the rows whose name begins so
#
# RUNS is how often a command is run to take the middle of the times (default 21).
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD ours=${HEDDLE:-$PWD/build/release/heddle} other='' count='' runs=${RUNS:-21} only=() missed=0
for word in "$@"; do
    case $word in
    count) count=1 ;;
    than=*) other=$(readlink -f "${word#than=}") ;;
    *) only+=("$word") ;;
    esac
done
work=$(mktemp -d "${TMPDIR:-/tmp}/heddle-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
export HEDDLE_SEED=1 HOME=$work/home XDG_CONFIG_HOME=$work/home/.config
mkdir "$work/home"
unset HEDDLE_NOW HEDDLE_STORE HEDDLE_ACTOR

# ---- workspaces ---------------------------------------------------------------------------

messages() { # messages N BYTES: lines for `heddle log append`
    awk -v n="$1" -v bytes="$2" 'BEGIN {
        while (length(words) < bytes) words = words "the warp holds still while the weft goes over and under it, "
        for (i = 0; i < n; i++)
            printf "{\"kind\":\"ai_message\",\"payload\":{\"content\":\"%08d %s\",\"role\":\"user\"}}\n", i, substr(words, 1, bytes - 9)
    }'
}

# make_workspace HEDDLE: 20 threads that share work, a log of 2,000 messages, a tree of 60 nodes.
make_workspace() {
    local heddle=$1 i
    "$heddle" objective create 'Measure the start' --id goal
    for i in {1..20}; do
        "$heddle" spawn --id "part-$i" --intent "Work on part $i" --objective goal --no-run \
            ${before:+--parent "$before" --ref "$before"}
        local before=part-$i
    done
    "$heddle" log append long <"$work/2000"
    "$heddle" agent add Ana --kind human
    "$heddle" agent add Echo --kind model --model offline:echo --permissions all
    awk 'BEGIN { for (i = 0; i < 60; i++) print "A thought about the loom, number " i }' | "$heddle" loom tree
    "$heddle" search thought # the first one brings the views of all threads up to date
}

messages 1 200 >"$work/1"
messages 2000 200 >"$work/2000"
: >"$work/nothing"
awk 'BEGIN { for (i = 0; i < 300; i++) print (i % 3 ? "A line that is said, " i : "→ tree") }' >"$work/300"
printf 'I have looked.\n→ view root\n' >"$work/view"
mkdir "$work/sources"
git ls-files -z -- src docs | xargs -0 cp --parents -t "$work/sources"
git -C "$work/sources" init -q
for heddle in "$ours" ${other:+"$other"}; do
    place=$work/made-$([ "$heddle" = "$ours" ] && echo ours || echo other)
    mkdir "$place"
    (cd "$place" && make_workspace "$heddle") >/dev/null 2>"$work/err" || { cat "$work/err" >&2; exit 1; }
done

# ---- measuring ----------------------------------------------------------------------------

# cost INPUT COMMAND...: millions of instructions, or milliseconds.
cost() {
    local input=$1
    shift
    if [ -n "$count" ]; then
        valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" <"$input" 2>&1 >/dev/null |
            awk '/Collected :/ { n = $4 } { all = all $0 "\n" } END { if (!n) { print all > "/dev/stderr"; exit 1 }; printf "%.3f\n", n / 1e6 }'
    else
        "$root/build/release/bench/bench_run" -i "$input" "$runs" "$@" | cut -d ' ' -f 1
    fi
}

# cost_in NAME INPUT HEDDLE WORDS...: the same in a fresh copy of the workspace of that program.
cost_in() {
    local made=$work/made-$1
    shift
    rm -rf "$work/copy"
    cp -r "$made" "$work/copy"
    (cd "$work/copy" && cost "$@")
}

row() { # row NAME INPUT WORDS...
    local name=$1 input=$work/$2 mine theirs='' wanted=$((${#only[@]} == 0)) prefix
    shift 2
    for prefix in "${only[@]}"; do [[ $name != "$prefix"* ]] || wanted=1; done
    [ "$wanted" = 1 ] || return 0
    mine=$(cost_in ours "$input" "$ours" "$@")
    [ -z "$other" ] || theirs=$(cost_in other "$input" "$other" "$@")
    awk -v name="$name" -v mine="$mine" -v bare="$bare" -v theirs="$theirs" 'BEGIN {
        more = theirs && mine / theirs > 1.05
        printf "| %s | %.3f | %.1f |", name, mine, mine / bare
        if (theirs) printf " %.3f | %.3f | %s |", theirs, mine / theirs, more ? "NO" : "yes"
        print ""
        exit more }' || missed=1
}

bare=$(cost "$work/nothing" /bin/true)
unit=$([ -n "$count" ] && echo "million instructions" || echo ms)
echo "| exec to exit, $unit | ours | ours / true |${other:+ other | ours / other | ≤ 1.05 |}"
echo "|---|---:|---:|${other:+---:|---:|---|}"
echo "| /bin/true | $bare | 1 |${other:+ | | |}"
row "version" nothing version
row "list, 20 threads" nothing list
row "list --json" nothing list --json
row "status" nothing status part-11
row "context" nothing context part-11 --task x
row "spawn" nothing spawn --intent x --objective goal --parent part-3 --ref part-5 --no-run
row "log append, 1 line" 1 log append short
row "log append, 2,000 lines" 2000 log append new
row "log import, 2,000 lines" 2000 log import imported -
row "log show, 2,000 entries" nothing log show long
row "log export, 2,000 entries" nothing log export long
row "project, 2,000 messages" nothing project long
row "say" nothing say tree 'One more thought'
row "do, → view" view 'do' tree --agent Ana
row "agent list" nothing agent list
row "tree" nothing tree tree
row "search" nothing search thought
row "loom, 300 lines" 300 loom tree
row "payload of src and docs" nothing payload --root "$work/sources" --output /dev/null src docs
row "tokens of a file" nothing tokens "$work/sources/docs/FORMATS.md"
exit "$missed"

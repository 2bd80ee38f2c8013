#!/bin/sh
# Runs the specifications beside it: Markdown in which a block of commands is followed by what they
# print. Prints TAP, one check a block.
#
#     ```sh
#     heddle version
#     ```
#     ```output
#     heddle ...
#     ```
#
# Each file has a fresh folder; its blocks run there in order, each in a shell of its own, with
# `heddle` on PATH, the clock and the dice fixed. Standard output and standard error come together.
# A line `...` stands for any number of lines. Commands without an output block only have to succeed.
#
#     run.sh            all files
#     run.sh log        only those whose name holds "log"
set -u
: "${HEDDLE:?the path of the program}"
here=$(cd "$(dirname "$0")" && pwd)
heddle=$(cd "$(dirname "$HEDDLE")" && pwd)/$(basename "$HEDDLE")
work=$(mktemp -d "${TMPDIR:-/tmp}/heddle-spec.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$heddle" "$work/bin/heddle"
PATH=$work/bin:$PATH
export PATH HEDDLE_NOW=2026-01-02T03:04:05Z HEDDLE_SEED=heddle LC_ALL=C.UTF-8
unset HEDDLE_ACTOR

# cut_blocks FILE FOLDER: FOLDER/N.sh, FOLDER/N.output, and FOLDER/names with "N LINE HEADING".
cut_blocks() {
    awk -v folder="$2" '
        /^```/ && inside == "" {
            inside = substr($0, 4)
            if (inside == "sh") { n++; file = folder "/" n ".sh"; print n, NR, heading > (folder "/names") }
            else if (inside == "output") {
                if (!n || seen[n]++) { print "line " NR ": output without commands" > "/dev/stderr"; exit 1 }
                file = folder "/" n ".output"
            } else file = "/dev/null"
            printf "" > file
            next
        }
        /^```$/ { close(file); inside = ""; next }
        inside != "" { print > file; next }
        /^#/ { heading = $0; sub(/^#+ */, "", heading) }
        END { if (inside != "") { print "line " NR ": a block is not closed" > "/dev/stderr"; exit 1 } }
    ' "$1"
}

# fits WANT GOT: line by line, `...` stands for any lines.
fits() {
    awk '
        NR == FNR { want[++w] = $0; next }
        { got[++g] = $0 }
        END {
            i = j = 1; star = 0
            while (j <= g) {
                if (i <= w && want[i] == "...") { star = i++; mark = j }
                else if (i <= w && want[i] == got[j]) { i++; j++ }
                else if (star) { i = star + 1; j = ++mark }
                else exit 1
            }
            while (i <= w && want[i] == "...") i++
            exit i <= w
        }' "$1" "$2"
}

n=0 bad=0
check() { # check NAME STATUS
    n=$((n + 1))
    if [ "$2" -eq 0 ]; then
        printf 'ok %d - %s\n' "$n" "$1"
    else
        printf 'not ok %d - %s\n' "$n" "$1"
        bad=1
    fi
}

one_block() { # one_block FILE FOLDER NUMBER LINE HEADING
    name="$1:$4 $5"
    status=0
    (cd "$2/cwd" && sh "../$3.sh") >"$2/$3.got" 2>&1 </dev/null || status=$?
    if [ ! -f "$2/$3.output" ]; then
        [ "$status" -eq 0 ] || sed 's/^/# /' "$2/$3.got"
        check "$name" "$status"
    elif fits "$2/$3.output" "$2/$3.got"; then
        check "$name" 0
    else
        diff -u "$2/$3.output" "$2/$3.got" | sed '1,2d; s/^/# /'
        check "$name" 1
    fi
}

for file in "$here"/*"${1:-}"*.md; do
    [ -f "$file" ] || continue
    base=$(basename "$file" .md)
    folder=$work/$base
    mkdir -p "$folder/cwd"
    if ! cut_blocks "$file" "$folder" 2>"$folder/trouble" || [ ! -f "$folder/names" ]; then
        sed 's/^/# /' "$folder/trouble"
        check "$base can be read" 1
        continue
    fi
    while read -r number line heading; do
        one_block "$base" "$folder" "$number" "$line" "$heading"
    done <"$folder/names"
done
echo "1..$n"
exit $bad

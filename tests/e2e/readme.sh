#!/bin/bash
# The tour of the README and the guides of docs/, run as they stand there: every command prints what
# is shown below it. A console block holds `$ command`, its further lines after `> `, and the output up to the next one.
# postgres: no, it shows what the README says of a file
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
source=$(cd "$(dirname "$0")/../.." && pwd)

PATH=$(dirname "$HEDDLE"):$PATH
export HEDDLE_SEED=readme HEDDLE_NOW=2026-11-15T21:36:00Z HEDDLE_HOOK_WAIT=1

command='' shown=''
try() { # what is collected so far, if anything
    [ -n "$command" ] || return 0
    local got
    got=$(eval "$command" 2>&1 | sed "s|$PWD|/home/you/project|g")
    same "${command%%$'\n'*}" "$got" "${shown%$'\n'}"
    command='' shown=''
}

# tour FILE: its console blocks, in a workspace of their own.
tour() {
    local before=$tap_n here=$PWD
    mkdir -p "tour-$(basename "$1" .md)/project" && cd "tour-$(basename "$1" .md)/project" || exit 1
    while IFS= read -r line; do
        case $line in
        '$ '*)
            try
            command=${line#'$ '}
            ;;
        '> '*) command+=$'\n'${line#'> '} ;;
        *) shown+=$line$'\n' ;;
        esac
    done < <(sed -n '/^```console$/,/^```$/{/^```$/d;/^```console$/d;p}' "$1")
    try
    cd "$here" || exit 1
    ok "$(basename "$1") has a tour" test $((tap_n - before)) -gt 5
}

for guide in "$source"/README.md "$source"/docs/*.md; do
    if grep -q '^```console$' "$guide"; then tour "$guide"; fi
done
for word in "./dev run" "./dev test" "./dev install"; do
    ok "the README says $word" grep -qxF "$word" <(sed 's/ *#.*//' "$source/README.md")
done
# Links within the tree lead somewhere.
cd "$source" || exit 1
for doc in README.md SECURITY.md CHANGELOG.md docs/*.md; do
    for link in $(grep -o '](\([^)#]*\)' "$doc" | sed 's/^](//' | grep -v '^https*:\|^/'); do
        test -e "$(dirname "$doc")/$link" || flunk "$doc: the link to $link leads somewhere"
    done
done
pass "links within the documentation were followed"

# Files that the map names are there. <name> in a path stands for any; a bare name may be anywhere in src.
grep -o '`[^` ]*`' docs/ARCHITECTURE.md | tr -d '`' | sed 's/<[a-z_]*>/*/g' | sort -u >"$scratch/named"
ok "the map names files" test "$(wc -l <"$scratch/named")" -gt 50
while read -r path; do
    case $path in
    src/* | tests/* | docs/* | tools/* | man/* | vocab/*) compgen -G "$path" >/dev/null || flunk "docs/ARCHITECTURE.md: $path is there" ;;
    *.c | *.h) find src -name "$path" | grep -q . || flunk "docs/ARCHITECTURE.md: $path is somewhere in src" ;;
    esac
done <"$scratch/named"
same "ten questions have an answer each" "$(sed -n '/^## Ten questions/,/^## Where/p' docs/ARCHITECTURE.md | grep -c '^| \(a\|an\|the\) ')" 10

done_testing

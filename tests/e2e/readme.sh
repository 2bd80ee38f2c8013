#!/bin/bash
# The tour of the README, run as it stands there: every command prints what is shown below it.
# A console block holds `$ command`, its further lines after `> `, and the output up to the next one.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
source=$(cd "$(dirname "$0")/../.." && pwd)

PATH=$(dirname "$HEDDLE"):$PATH
export HEDDLE_SEED=readme HEDDLE_NOW=2026-11-15T21:36:00Z

command='' shown=''
try() { # what is collected so far, if anything
    [ -n "$command" ] || return 0
    local got
    got=$(eval "$command" 2>&1 | sed "s|$PWD|/home/you/project|g")
    same "${command%%$'\n'*}" "$got" "${shown%$'\n'}"
    command='' shown=''
}

while IFS= read -r line; do
    case $line in
    '$ '*)
        try
        command=${line#'$ '}
        ;;
    '> '*) command+=$'\n'${line#'> '} ;;
    *) shown+=$line$'\n' ;;
    esac
done < <(sed -n '/^```console$/,/^```$/{/^```/d;p}' "$source/README.md")
try
ok "the README has a tour" test "$tap_n" -gt 5
for word in "./dev run" "./dev test" "./dev install"; do
    ok "the README says $word" grep -qxF "$word" <(sed 's/ *#.*//' "$source/README.md")
done
# Links within the tree lead somewhere.
cd "$source" || exit 1
for doc in README.md CHANGELOG.md docs/*.md; do
    for link in $(grep -o '](\([^)#]*\)' "$doc" | sed 's/^](//' | grep -v '^https*:\|^/'); do
        test -e "$(dirname "$doc")/$link" || flunk "$doc: the link to $link leads somewhere"
    done
done
pass "links within the documentation were followed"

done_testing

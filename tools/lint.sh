#!/usr/bin/env bash
# Everything that reads the code without running it. Each tool runs even when one before it
# complained; the exit status says whether all were content.
#
#     tools/lint.sh                 all of it
#     tools/lint.sh FILE.c...       clang-format, fnlen, cppcheck and clang-tidy, of these files
#     tools/lint.sh changed         the same, of the C files that differ from origin/main
set -uo pipefail
cd "$(dirname "$0")/.." || exit
# shellcheck source=tools/dev-lib.sh
. tools/dev-lib.sh

bad=''
files=("$@")
if [ "${1:-}" = changed ]; then
    mapfile -t files < <(git diff --name-only --diff-filter=d "$(git merge-base HEAD origin/main)" -- '*.c')
    [ ${#files[@]} -gt 0 ] || { say "no C file differs from origin/main"; exit 0; }
fi
for file in "${files[@]}"; do
    [ -f "$file" ] || fail "there is no file $file" 2
done

# named KIND: the files that were named, or all of KIND, each followed by a NUL.
named() {
    if [ ${#files[@]} -gt 0 ]; then
        printf '%s\0' "${files[@]}"
    elif [ "$1" = sources ]; then
        sources
    else
        find src -name '*.c' -print0
    fi
}

lint() { # lint NAME COMMAND...
    local name=$1 from=$SECONDS
    shift
    if said=$("$@" 2>&1); then
        printf '✓ %-22s %4d s%s\n' "$name" $((SECONDS - from)) "${said:+   ${said##*$'\n'}}"
    else
        printf '✗ %s\n%s\n' "$name" "$said"
        bad="$bad $name"
    fi
}

format_check() {
    ! named sources | xargs -0 clang-format --dry-run 2>&1 | sed -n 's/^\([^ :]*\):.*clang-formatted.*/\1: .\/dev format would change it/p' |
        sort -u | grep .
}

# One file a process: given many at once, clang-tidy 14 carries state from one to the next.
tidy() {
    named code |
        xargs -0 -n 1 -P "$(nproc)" clang-tidy --quiet -p build/clang --warnings-as-errors='*' 2>&1 |
        { ! grep -v -E '^$|^[0-9]+ warnings? (generated|treated)|^Suppressed|^Use -header-filter'; }
}

# Findings are silenced where they arise, with the reason beside them.
cpp_check() {
    # internalAstError: cppcheck 2.10 does not parse `x ? (struct s){ 0 } : y`.
    cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,performance,portability \
        --inline-suppr --library=tools/cppcheck.cfg --suppress=missingIncludeSystem --suppress=internalAstError \
        -D_GNU_SOURCE -DHEDDLE_VERSION='""' -DHEDDLE_DATE='""' -Isrc -Itests -j "$(nproc)" "${files[@]:-src}"
}

man_check() {
    local page said
    for page in man/*.[1-9]; do
        mandoc -Tlint -W warning "$page" || return 1
        said=$(LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=100 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null)
        [ -z "$said" ] || { echo "$page: $said"; return 1; }
    done
}

shell_check() {
    shellcheck -x dev tools/*.sh tools/as-tap tools/tap-report tools/check-layers \
        tools/check-headers tools/man-pages tools/fnlen .ci/run
}

complexity() { # pmccabe stumbles over a macro that declares a struct, so it does not get to see VEC
    local file
    find src -name '*.c' | sort | while read -r file; do
        sed 's/VEC([^)]*)/int/' "$file" | pmccabe /dev/stdin | sed "s|/dev/stdin|$file|"
    done | awk '
        $1 > 25 { printf "%s %s: complexity %d, over 25\n", $6, $7, $1; bad = 1 }
        $1 > most { most = $1; where = $7 }
        END { printf "highest %d (%s)\n", most, where; exit bad }'
}

analyzer() { DEV_QUIET=1 build analyze heddle; }

# lint_all NAME COMMAND...: not when files were named: it reads everything, or other things than C.
lint_all() { [ ${#files[@]} -gt 0 ] || lint "$@"; }

lint clang-format format_check
lint_all shellcheck shell_check
lint fnlen tools/fnlen 120
lint_all pmccabe complexity
lint_all "man pages" man_check
lint cppcheck cpp_check
lint_all "gcc -fanalyzer" analyzer
if [ ${#files[@]} -gt 0 ]; then configure clang; else DEV_QUIET=1 build clang heddle; fi # its compile_commands.json
lint clang-tidy tidy
[ -z "$bad" ] || fail "not clean:$bad"

#!/usr/bin/env bash
# Everything that reads the code without running it. Each tool runs even when one before it
# complained; the last line is `N passed, N failed`, and the exit status says whether all were content.
#
#     tools/lint.sh                 all of it
#     tools/lint.sh FILE.c...       clang-format, heads, sizes, cppcheck, gcc -fanalyzer and clang-tidy, of these files
#     tools/lint.sh changed         the same, of the C files that differ from origin/main
#     tools/lint.sh fast            the names of the checks that ./dev test runs: seconds each
#     tools/lint.sh only NAME       one of those, or cppcheck, analyzer, tidy
set -uo pipefail
cd "$(dirname "$0")/.." || exit
# shellcheck source=tools/dev-lib.sh
. tools/dev-lib.sh

bad=''
passes=0
failures=0
wanted=${1:-}
files=("$@")
case $wanted in fast | only) files=() ;; esac
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
        sources | grep -z '\.c$'
    fi
}

work=$(mktemp -d "${TMPDIR:-/tmp}/heddle-lint.XXXXXX")
# shellcheck disable=SC2016 # it is expanded at the end
at_end 'rm -rf "$work"'
log=$work/log
list=$work/list

# lint NAME COMMAND...: a check that takes long prints lines that begin with [n/m]; they are not shown, but
# every half a minute the last of them says how far it is.
lint() {
    local name=$1 from=$SECONDS teller passed=''
    shift
    : >"$log" || fail "$log cannot be written"
    DEV_PROGRESS_SECONDS=${DEV_PROGRESS_SECONDS:-30} tell_progress "$log" "$name" 'is at work' &
    teller=$!
    ! ("$@") >"$log" 2>&1 || passed=1
    { kill "$teller" && wait "$teller"; } 2>/dev/null
    said=$(grep -v -E '^\[[0-9]+/[0-9]+\]|^ninja: ' "$log")
    if [ -n "$passed" ]; then
        printf '✓ %-22s %4d s%s\n' "$name" $((SECONDS - from)) "${said:+   ${said##*$'\n'}}"
        passes=$((passes + 1))
    else
        printf '✗ %s\n%s\n' "$name" "$said"
        bad="$bad${bad:+, }$name"
        failures=$((failures + 1))
    fi
}

format_check() {
    ! named sources | xargs -0 clang-format --dry-run 2>&1 | sed -n 's/^\([^ :]*\):.*clang-formatted.*/\1: .\/dev format would change it/p' |
        sort -u | grep .
}

# ---- tools that read one file at a time -----------------------------------------------

# A file in which a tool found nothing is not read by it again until something changes: the file, a header that it
# includes (of the system too), the command that compiles it, the settings of the tool, its version. The name of an
# empty file below $kept is the hash of all that. Findings are never kept. What was not asked for in 30 days goes.
kept=${HEDDLE_LINT_CACHE:-${XDG_CACHE_HOME:-${HOME:-$PWD/build}/.cache}/heddle-lint}
export kept

# inputs_of COMMAND: the files that a compile command reads, itself and all headers. The preprocessor names them
# as `# 1 "FILE"`.
inputs_of() {
    eval "$1 -E" 2>/dev/null | sed -n 's/^# [0-9]* "\([^<].*\)".*/\1/p' | grep -v '/$' | sort -u
}

# key_of SETTINGS COMMAND: the hash; empty when an input cannot be read. The place of the source tree is no part of it.
key_of() {
    local inputs
    mapfile -t inputs < <(inputs_of "$2")
    [ ${#inputs[@]} -gt 0 ] || return 0
    { printf '%s\n' "$1" "${2//$PWD/}" "${inputs[@]#"$PWD"}" && cat -- "${inputs[@]}"; } 2>/dev/null |
        sha256sum | cut -d ' ' -f 1
}

# judge TOOL SETTINGS FILE COMMAND: what TOOL_one prints of FILE, which the compiler reads with COMMAND, and a line
# "[done]". The output is kept together, since several of these run at once.
judge() {
    local key said
    key=$(key_of "$1 $2" "$4")
    if [ -n "$key" ] && [ -f "$kept/$key" ]; then
        touch "$kept/$key"
        echo '[kept]'
        return
    fi
    said=$("$1_one" "$3" "$4" 2>&1) || said="$said"$'\n'"$3: $1 ended with status $?"
    [ -n "$said" ] || [ -z "$key" ] || : >"$kept/$key"
    printf '%s\n[done]\n' "$said"
}

# judged TOTAL: counts the files that are done, as they are, and prints the findings. awk would read in blocks, and
# show how far it is only at the end.
judged() {
    local line n=0 kept=0 bad=0
    while IFS= read -r line; do
        case $line in
        '[done]') printf '[%d/%d]\n' $((n += 1)) "$1" ;;
        '[kept]') printf '[%d/%d]\n' $((n += 1)) "$1"; kept=$((kept + 1)) ;;
        '') ;;
        *) printf '%s\n' "$line"; bad=1 ;;
        esac
    done
    [ "$n" -eq "$1" ] || { echo "$n of $1 files were read"; bad=1; }
    [ $bad -ne 0 ] || printf '%d files, %d of them as before\n' "$n" "$kept"
    return $bad
}

# each_file TOOL PRESET SETTINGS PATTERN: judges the named files that match PATTERN, with the commands by which PRESET
# compiles them. A file that no build compiles gets the command of another one in its place.
each_file() {
    local total commands=build/$2/compile_commands.json
    configure "$2" # nothing needs to be built
    mkdir -p "$kept"
    find "$kept" -type f -mtime +30 -delete
    : >"$list" || return 1
    named code | grep -z -E "$4" >"$list"
    total=$(tr -dc '\0' <"$list" | wc -c)
    # shellcheck disable=SC2016 # $commands is jq's, $1 and those after it are of the shell that is started
    xargs -0 -a "$list" jq -j -n --arg root "$PWD/" --slurpfile commands "$commands" '
        ($commands[0] | map({ key: (.file | ltrimstr($root)), value: .command }) | from_entries) as $of
        | ($of | to_entries[0]) as $some
        | $ARGS.positional[] as $file
        | ($of[$file] // ($some.value | gsub("(?<=/)\($some.key)"; $file)))
        | sub(" -o \\S+"; "") | sub(" -c "; " ")
        | $file + "\u0000" + . + "\u0000"' --args |
        xargs -0 -n 2 -P "$(nproc)" bash -c 'judge "$0" "$1" "$2" "$3"' "$1" "$3" | judged "$total"
}

# tidy_one FILE COMMAND. One file a process: given many at once, clang-tidy 14 carries state from one to the next.
# Whatever it says is a finding, whether or not its exit status says so too. The checks that follow paths are nearly
# all of its cost, and are for what users run: in a test a path goes on where a CHECK has failed, which is reported.
tidy_one() {
    local paths=()
    case $1 in tests/* | bench/*) paths=(--checks='-clang-analyzer-*') ;; esac
    clang-tidy --quiet -p build/clang --warnings-as-errors='*' "${paths[@]}" "$1" 2>&1 |
        grep -v -E '^$|^Suppressed|^Use -header-filter|[0-9] warnings? (generated|treated as error)'
    return "${PIPESTATUS[0]}"
}

# analyzer_one FILE COMMAND
analyzer_one() { eval "$2 -S -o /dev/null"; }
export -f inputs_of key_of judge tidy_one analyzer_one

tidy() { each_file tidy clang "$(clang-tidy --version) $(cat .clang-tidy) $(declare -f tidy_one)" .; }

analyzer() { each_file analyzer analyze "$(gcc --version) $(declare -f analyzer_one)" '^src/'; }

# Findings are silenced where they arise, with the reason beside them.
cpp_check() {
    # internalAstError: cppcheck 2.10 does not parse `x ? (struct s){ 0 } : y`.
    cppcheck --error-exitcode=1 --std=c11 --enable=warning,performance,portability \
        --inline-suppr --library=tools/cppcheck.cfg --suppress=missingIncludeSystem --suppress=internalAstError \
        -D_GNU_SOURCE -DHEDDLE_VERSION='""' -DHEDDLE_DATE='""' -Isrc -Itests -j "$(nproc)" "${files[@]:-src}" |
        sed -n -u 's|^\([0-9]*/[0-9]*\) files checked .*|[\1]|p'
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
    shellcheck -x dev tools/*.sh tools/as-tap tools/tap-report tools/check-layers tools/check-heads tools/check-words \
        tools/check-manners tools/check-names tools/symbols \
        tools/check-headers tools/man-pages tools/page-pictures tools/fnlen .ci/run tests/postgres.sh
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

# The page has types in its comments, which are checked and not compiled.
page_check() { tsc -p tools/page-tsconfig.json; }

# The name of a check and the function or tool that does it; ./dev test runs them as tests.
fast_checks=(
    "format format_check"
    "shellcheck shell_check"
    "sizes tools/fnlen 120"
    "complexity complexity"
    "heads tools/check-heads"
    "words tools/check-words"
    "manual man_check"
    "page page_check"
)

# The others, in the order of what they cost.
slow_checks=(
    "cppcheck cpp_check"
    "analyzer analyzer"
    "tidy tidy"
)

only() { # only NAME
    local row
    for row in "${fast_checks[@]}" "${slow_checks[@]}"; do
        # shellcheck disable=SC2086 # a command and its words
        [ "${row%% *}" != "$1" ] || { ${row#* }; return; }
    done
    fail "there is no check '$1'" 2
}

# lint_all NAME COMMAND...: not when files were named: it reads everything, or other things than C.
lint_all() { [ ${#files[@]} -gt 0 ] || lint "$@"; }

if [ "$wanted" = fast ]; then
    printf '%s\n' "${fast_checks[@]%% *}"
    exit
fi
if [ "$wanted" = only ]; then
    only "${2:-}"
    exit
fi
lint format format_check
lint heads tools/check-heads "${files[@]}"
lint_all shellcheck shell_check
lint sizes tools/fnlen 120
lint_all complexity complexity
lint_all words tools/check-words
lint_all manual man_check
lint_all page page_check
lint cppcheck cpp_check
lint "gcc -fanalyzer" analyzer
lint clang-tidy tidy
[ -z "$bad" ] || printf 'not clean: %s\n' "$bad"
printf '%d passed, %d failed\n' "$passes" "$failures"
[ "$failures" -eq 0 ]

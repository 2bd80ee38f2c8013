#!/usr/bin/env bash
# Everything that must pass. Builds, then runs each test file in a fresh folder, several at
# once, and prints one line for each; the last line is `N passed, N failed`.
#
#     tools/test.sh           all of it
#     tools/test.sh json      only the test files whose name holds "json"
#     tools/test.sh --suite clients [NAME]
#                             the scripts of tests/e2e with a line `# suite: clients`, with the release build
#
# Every test speaks TAP on standard output. tools/tap-report reads it.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
# shellcheck source=tools/dev-lib.sh
. tools/dev-lib.sh

suite='test' # which scripts run: see in_suite()
if [ "${1:-}" = --suite ]; then
    suite=$2
    shift 2
fi
only=${1:-}
postgres='' # its URL, once it runs
started=$SECONDS
work=$(mktemp -d "${TMPDIR:-/tmp}/heddle-test.XXXXXX")
chmod 711 "$work" # some tests become another user on the way
# What a test left running may still write there: files that come and go are not a failure of the run.
# shellcheck disable=SC2317 # the trap calls it
clean_up() {
    set +e
    tests/postgres.sh stop "$work/postgres"
    chmod -R u+rwx "$work"
    rm -rf "$work"
} 2>/dev/null
at_end clean_up
: >"$work/counts"
release=$root/build/release
asan=$root/build/asan
tsan=$root/build/tsan
limit=${HEDDLE_TEST_SECONDS:-600} # for one test file; a hanging test must not hang the run

# ---- one test file ------------------------------------------------------------------

# sanitizers FOLDER: whatever a sanitizer has to say lands in FOLDER and fails the test, even
# when the test does not look at the exit status of the program that said it.
sanitizers() {
    local common=exitcode=99:log_path=$1/sanitizer
    export ASAN_OPTIONS=$common:detect_stack_use_after_return=1
    export UBSAN_OPTIONS=$common:print_stacktrace=1
    export TSAN_OPTIONS=$common:halt_on_error=1
    export LSAN_OPTIONS=$common
}

# one NAME CWD COMMAND...: run a test in fresh folders; CWD is a folder, or - for a fresh one.
one() {
    local name=$1 cwd=$2 rc=0 from=$EPOCHREALTIME here
    shift 2
    here=$(mktemp -d "$work/t.XXXXXX")
    chmod 711 "$here"
    mkdir "$here/home" "$here/tmp" "$here/cwd" "$here/logs"
    [ "$cwd" != - ] || cwd=$here/cwd
    (
        cd "$cwd"
        sanitizers "$here/logs"
        unset "${!HEDDLE_@}" "${!XDG_@}" "${!GIT_@}"
        export HOME=$here/home TMPDIR=$here/tmp LC_ALL=C.UTF-8 TZ=UTC GIT_CONFIG_NOSYSTEM=1
        export HEDDLE_SOURCE=$root HEDDLE_TEST_POSTGRES=$postgres
        [ -z "${binary:-}" ] || export HEDDLE=$binary
        [ -z "${store:-}" ] || export HEDDLE_STORE="$store&schema_prefix=t$BASHPID"
        exec timeout --kill-after=10 "$limit" "$@"
    ) >"$here/tap" 2>"$here/stderr" </dev/null || rc=$?
    flock "$work/counts" "$root/tools/tap-report" "$name" "$rc" "$here" "$from" "$EPOCHREALTIME" \
        "$work/counts"
    chmod -R u+rwx "$here"
    rm -rf "$here"
}

# run NAME CWD COMMAND...: in the background, as many at once as there are processors.
run() {
    [[ $1 == *"$only"* ]] || return 0
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do
        wait -n || true
    done
    one "$@" &
}

# made PRESET TARGET...: a build is one check. It runs in the environment of the caller (its
# compiler cache, for one), and is done before anything else starts.
made() {
    local from=$EPOCHREALTIME rc=0 here teller
    here=$(mktemp -d "$work/t.XXXXXX")
    mkdir "$here/logs"
    say "building $1"
    rm -f "build/$1/build.log"
    tell_progress "build/$1/build.log" "building $1" &
    teller=$!
    tools/as-tap "$1 builds without a warning" tools/build.sh "$@" >"$here/tap" 2>"$here/stderr" || rc=$?
    { kill "$teller" && wait "$teller"; } 2>/dev/null || true
    tools/tap-report "build/$1" "$rc" "$here" "$from" "$EPOCHREALTIME" "$work/counts"
    [ "$rc" -eq 0 ] || finish "a build failed; nothing was run"
}

shell_of() { # the shell a script asks for in its first line
    case $(head -n 1 "$1") in
    *bash*) echo bash ;;
    *) echo sh ;;
    esac
}

# ---- the parts ----------------------------------------------------------------------

thread_tests() { # names of the programs that are also run under ThreadSanitizer
    local f
    for f in tests/unit/*_threads*.c; do
        [ ! -f "$f" ] || basename "$f" .c
    done
    [ ! -f tests/tsan.txt ] || grep -v '^ *#' tests/tsan.txt || true
}

builds() { # gcc as users get it and with sanitizers, and clang; warnings are errors
    local threads
    threads=$(thread_tests)
    made release heddle torture_programs
    made asan heddle test_programs
    made clang heddle test_programs
    # shellcheck disable=SC2086
    made tsan heddle $threads
}

checks() {
    run check/layers "$root" tools/as-tap "includes and symbols stay within docs/layers.txt" tools/check-layers
    run check/manners "$root" tools/as-tap "code below the doors is fit for a library" tools/check-manners
    run check/names "$root" tools/as-tap "names say where they belong" tools/check-names
    run check/headers "$root" tools/check-headers
    local name
    for name in $(tools/lint.sh fast); do
        run "check/$name" "$root" tools/as-tap "tools/lint.sh only $name is content" tools/lint.sh only "$name"
    done
}

programs() { # programs FOLDER BUILD
    local source name
    for source in tests/"$1"/*.c; do
        [ -f "$source" ] || continue
        name=$(basename "$source" .c)
        run "$1/$name" "$root" "$2/tests/$name"
    done
}

thread_programs() {
    local name
    for name in $(thread_tests); do
        run "tsan/$name" "$root" "$tsan/tests/$name"
    done
}

corpora() {
    local source name
    for source in tests/fuzz/fuzz_*.c; do
        name=$(basename "$source" .c)
        run "corpus/$name" "$root" tools/as-tap "$name holds on its corpus" \
            find "tests/fuzz/corpus/$name" -type f -exec "$asan/fuzz/$name" {} +
    done
}

# in_suite SCRIPT: a line `# suite: NAME...` says in which suites a script runs; without one it runs in `test`, which
# is what a change must pass. `clients` is every program of others that heddle works with: `test` has one of a kind.
in_suite() {
    local suites
    suites=$(sed -n 's/^# suite: //p' "$1")
    [[ " ${suites:-test} " == *" $suite "* ]]
}

# scripts KIND FOLDER BUILD [STORE]: a script with a line `# asan: no` is too slow for that build; one with a
# line `# tsan: yes` is about a program of many threads. With STORE, the log of each is there, in schemas of
# its own, and its literal outputs are the same; one with a line `# postgres: no, WHY` is not run then.
scripts() {
    local script binary=$3/heddle store=${4:-}
    for script in "$2"/*.sh; do
        [ -f "$script" ] || continue
        [ "$(basename "$script")" != lib.sh ] || continue
        in_suite "$script" || continue
        [ "$3" != "$asan" ] || ! grep -q '^# asan: no' "$script" || continue
        [ "$3" != "$tsan" ] || grep -q '^# tsan: yes' "$script" || continue
        [ -z "$store" ] || ! grep -q '^# postgres: no' "$script" || continue
        run "$1/$(basename "$script" .sh)" - "$(shell_of "$script")" "$root/$script"
    done
}

# ---- all of it ----------------------------------------------------------------------

finish() { # finish [MESSAGE]
    local passed failed skipped
    wait
    read -r passed failed skipped <<<"$(awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }' "$work/counts")"
    [ -z "${1:-}" ] || say "$1"
    if [ "$failed" -gt 0 ]; then
        printf '\nfailed:\n'
        awk '$2 > 0 { print "  " $4 }' "$work/counts"
    fi
    printf '\n%d test files in %d s\n' "$(wc -l <"$work/counts")" $((SECONDS - started))
    printf '%d passed, %d failed' "$passed" "$failed"
    [ "$skipped" -eq 0 ] || printf ', %d skipped' "$skipped"
    printf '\n'
    [ "$failed" -eq 0 ] || exit 1
    exit 0
}

if [ "$suite" != test ]; then
    made release heddle
    scripts e2e tests/e2e "$release"
    finish
fi
builds
say "starting a private PostgreSQL"
postgres=$(HEDDLE_PG_OWNER=$$ tests/postgres.sh start "$work/postgres")
programs conform "$asan" # the longest first, so that it does not run alone at the end
checks
programs unit "$asan"
scripts spec tests/spec "$release"
scripts e2e tests/e2e "$release"
scripts spec-postgres tests/spec "$release" "$postgres&partitions=0"
scripts e2e-postgres tests/e2e "$release" "$postgres&partitions=0"
corpora
thread_programs
scripts e2e-tsan tests/e2e "$tsan"
scripts e2e-asan tests/e2e "$asan"
wait
finish

#!/usr/bin/env bash
# The server and the talk with threads that start and end late, locks that are taken late and answers that come late
# (delays_shim.c), each time by other random times: no test may fail, no program may end with threads that nobody joined, and no
# sanitizer may have something to say.
#     TORTURE_ROUNDS (80)         of each script
#     DELAYS_SCRIPTS              names in tests/e2e, in place of those below
#     TORTURE_SEED (1)            of the first round; the next has one more
# It runs the build with AddressSanitizer, which finds what a thread that was not joined still holds at the end.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
shim=$root/build/release/tests/delays_shim.so
program=${DELAYS_PROGRAM:-$root/build/asan/heddle}
[ -n "${DELAYS_PROGRAM:-}" ] || "$root/tools/build.sh" asan heddle >/dev/null
read -ra scripts <<<"${DELAYS_SCRIPTS:-serve_talk serve serve_via serve_shell serve_mcp talk talk_place talk_pause follow mcp}"
work=$(mktemp -d "${TMPDIR:-/tmp}/heddle-torture.XXXXXX")
trap 'rm -rf "$work"' EXIT

# The library of the sanitizer comes first; only the program is delayed, not the shell or the clients of the test.
asan=$(ldd "$program" | sed -n 's/.*libasan[^ ]* => \([^ ]*\).*/\1/p')
mkdir "$work/bin"
for name in heddle leslie teddy; do
    printf '#!/usr/bin/env bash\nLD_PRELOAD="%s %s" exec -a "$0" "%s" "$@"\n' "$asan" "$shim" "$(dirname "$program")/$name" >"$work/bin/$name"
done
chmod +x "$work/bin"/*

failed=0 n=0
for script in "${scripts[@]}"; do
    bad=0
    for ((round = 0; round < ${TORTURE_ROUNDS:-80}; round++)); do
        seed=$((${TORTURE_SEED:-1} + round))
        here=$work/$script.$round
        mkdir -p "$here/home" "$here/tmp" "$here/cwd" "$here/logs"
        rc=0
        (
            cd "$here/cwd"
            unset "${!HEDDLE_@}" "${!XDG_@}" "${!GIT_@}"
            options=exitcode=99:log_path=$here/logs/sanitizer
            export ASAN_OPTIONS=$options:detect_stack_use_after_return=1 UBSAN_OPTIONS=$options LSAN_OPTIONS=$options
            export HOME=$here/home TMPDIR=$here/tmp LC_ALL=C.UTF-8 TZ=UTC GIT_CONFIG_NOSYSTEM=1
            export HEDDLE=$work/bin/heddle HEDDLE_SOURCE=$root DELAYS_SEED=$seed DELAYS_REPORT=$here/logs/threads
            shell=$(head -n 1 "$root/tests/e2e/$script.sh" | grep -o 'bash' || echo sh)
            exec timeout --kill-after=10 600 "$shell" "$root/tests/e2e/$script.sh"
        ) >"$here/tap" 2>"$here/stderr" </dev/null || rc=$?
        if [ "$rc" -ne 0 ] || grep -q '^not ok' "$here/tap" || [ -n "$(ls -A "$here/logs")" ]; then
            bad=$((bad + 1))
            [ "$bad" -gt 3 ] || {
                echo "# $script, DELAYS_SEED=$seed, exit status $rc"
                grep -B 5 '^not ok' "$here/tap" | sed 's/^/#   /' || true
                tail -n 5 "$here/stderr" | sed 's/^/#   /'
                find "$here/logs" -type f -exec head -n 30 {} + | sed 's/^/#   /'
            }
        fi
        rm -rf "$here"
    done
    n=$((n + 1))
    if [ "$bad" -eq 0 ]; then
        echo "ok $n - $script holds with delays, ${TORTURE_ROUNDS:-80} times"
    else
        echo "not ok $n - $script holds with delays: $bad of ${TORTURE_ROUNDS:-80} times it does not"
        failed=1
    fi
done
echo "1..$n"
exit $failed

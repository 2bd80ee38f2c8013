#!/bin/sh
# What cannot be looked at is an error, never "nothing there": a source folder that may not be
# entered must not make refresh remove copies, or reference, merge and read say that there is nothing.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

T=.leslie/threads
mkdir ws
if [ "$(id -u)" -eq 0 ]; then # root may enter every folder: become somebody who may not
    chown 65534:65534 ws
    if ! setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$HEDDLE" -a -w ws 2>/dev/null; then
        skip "a folder that may not be entered" "needs a folder others may enter"
        done_testing
    fi
    somebody() { (cd ws && setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/nonexistent "$@"); }
else
    somebody() { (cd ws && "$@"); }
fi
h() { somebody "$HEDDLE" "$@"; }
spawn() { h spawn --objective o --no-run --intent "work of $1" --id "$@"; }

h init >/dev/null
h objective create O --id o >/dev/null
for t in s f live other; do spawn $t >/dev/null; done
somebody sh -c "echo plan >$T/s/plan.md; mkdir $T/s/design; echo d >$T/s/design/d.md"
h reference --from f --target s --binding frozen >/dev/null 2>&1
h reference --from live --target s --binding live >/dev/null 2>&1
rev=$(h log show .global --json | wc -l)
somebody chmod 000 $T/s

run h refresh --from f
exits "refresh of a source that cannot be entered fails" 1
has "and says why" "$err" "✗ IO"
same "the copies are there" "$(somebody cat $T/f/context/inherited/plan.md)" plan
run h reference --from other --target s --binding frozen
exits "nothing is frozen of it" 1
run h merge --sources s --target other
exits "nothing is merged from it" 1
run h read live plan.md
exits "a live file that cannot be looked at is an error" 1
has "of its own kind, not a missing reference" "$err" "✗ IO"
run h status f
exits "status does not call it missing" 1
run h context live
exits "nor does the block leave it out" 1
same "nothing of all that was logged" "$(h log show .global --json | wc -l)" "$rev"

somebody chmod 755 $T/s
run h refresh --from f
exits "it goes on when the folder can be entered again" 0
same "with the copies as they were" "$(h read f plan.md)" plan
somebody chmod 000 .teddy 2>/dev/null || somebody mkdir -m 000 .teddy
run h session list
exits "sessions that cannot be listed are not no sessions" 1
somebody chmod 755 .teddy
done_testing

#!/bin/sh
# Signed heads and anchors: what shows that a log was cut or written anew.
# shellcheck source=tests/e2e/lib.sh disable=SC2016
. "$(dirname "$0")/lib.sh"

mkdir keys work
cd work || exit 1
note() { printf '{"kind":"note","payload":{"x":"%s"}}\n' "$1" | heddle log append "$2" >/dev/null; }
heddle init >/dev/null
note one t
note two t
note one u

# ---- keys
run heddle head --new-key ../keys/k --name example.org/log
exits "a key is made" 0
pub=$out
has "its public part is printed" "$pub" "example.org/log+"
same "only its owner may read it" "$(stat -c %a ../keys/k)" 600
run heddle head --new-key ../keys/k --name x
exits "and never overwritten" 1
has "which is said" "$err" "CONFLICT: ../keys/k is there already"
run heddle verify --pin nosuch
same "a file that is missing is named once" "$err" "✗ NOT_FOUND: open nosuch: No such file or directory"
run heddle head --new-key key --name x
exits "a key in the workspace is refused" 1
ok "and leaves no file" test ! -e key
run heddle head --new-key ../keys/bad --name 'a b'
exits "a name holds no blank" 1

# ---- notes
run heddle head --sign ../keys/k
exits "a note is signed" 0
printf '%s\n' "$out" >../note
has "it says what it is" "$out" "heddle heads"
has "and who signed" "$out" "— example.org/log "
run heddle verify --signed ../note --key "$pub"
same "it holds" "$out" "✓ 2 pinned heads are still there"
printf '%s\n' "$pub" >../keys/k.pub
run heddle verify --signed - --key ../keys/k.pub --json <../note
json "also from a file and stdin" "$out" '[.ok, .pins]' '[true,2]'
(cat ../note && printf '\342\200\224 witness.example abcdefgh\n') >../witnessed
run heddle verify --signed ../witnessed --key "$pub"
exits "lines of others are passed over" 0
sed 's/"rev":2/"rev":1/' ../note >../changed
run heddle verify --signed ../changed --key "$pub" --json
json "a change is found" "$out" '.error.code' '"PERMISSION_DENIED"'
run heddle verify --signed ../note --key "$(heddle head --new-key ../keys/other --name example.org/log)"
exits "another key did not sign it" 1
run heddle verify --signed ../note --key nonsense+x
exits "a key that is none is refused" 1
run heddle verify --signed ../note --key no-such-file
has "a key that is neither a key nor a file says what it should be" "$err" 'give the public key that `heddle head --new-key` printed'
run heddle verify --signed ../note
exits "a key is needed" 2
run heddle verify --key "$pub"
exits "and a note for the key" 2
heddle head --json >../pins
run heddle verify --pin ../pins --signed ../note --key "$pub"
exits "a note and pins are not compared at once" 2
run heddle verify t --pin ../pins
same "of one thread only its own pins are compared" "$out" "✓ 1 pinned head is still there"
run heddle verify t --signed ../note --key "$pub" --json
json "also those of a note" "$out" '[.ok, .pins]' '[true,1]'
run heddle verify nosuch --pin ../pins
exits "there must be one" 1
has "which is said" "$err" "NOT_FOUND: ../pins: holds no pinned head of thread 'nosuch'"
run heddle head t --anchor
exits "heads are anchored all together" 2
run heddle head t --new-key ../keys/t
exits "a key is not that of a thread" 2
ok "and none is made" test ! -e ../keys/t
head -c 20 ../note >../cut
run heddle verify --signed ../cut --key "$pub" --json
json "half a note is none" "$out" '.error.code' '"INVALID_SYNTAX"'
chmod 644 ../keys/k
run heddle head --sign ../keys/k
exits "a key that others can read signs nothing" 1
chmod 600 ../keys/k
cp ../keys/k inside
run heddle head --sign inside
exits "nor does one in the workspace" 1
rm inside

# ---- a process that holds a key leaves no core file, and nobody looks into its memory
if strace -o "$scratch/trace" -e trace=prctl true 2>/dev/null; then
    # The leak checker cannot trace what strace traces.
    traced() { ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" strace -o "$scratch/trace" "$@"; }
    traced -e trace=prctl,prlimit64,setrlimit "$HEDDLE" head --sign ../keys/k >/dev/null
    has "signing hides the process" "$(cat "$scratch/trace")" "PR_SET_DUMPABLE, SUID_DUMP_DISABLE"
    has "and ends core files" "$(cat "$scratch/trace")" "RLIMIT_CORE, {rlim_cur=0"
    traced -e trace=prctl env ANY_API_KEY=secret "$HEDDLE" list >/dev/null
    has "so does a key in the environment" "$(cat "$scratch/trace")" "PR_SET_DUMPABLE, SUID_DUMP_DISABLE"
    traced -e trace=prctl "$HEDDLE" checkpoint t >/dev/null 2>&1
    has "and the key of checkpoints" "$(cat "$scratch/trace")" "PR_SET_DUMPABLE, SUID_DUMP_DISABLE"
else
    skip "core files" "strace does not work here"
fi

# ---- anchors
run heddle head --anchor --json
json "heads are anchored" "$out" '[.heads, .thread]' '[2,".global"]'
run heddle verify
exits "and agree" 0
is_file || done_testing # what follows changes the file
cp .heddle/heddle.db ../before.db
note three t
heddle head --anchor >/dev/null
run heddle log show .global --json
has "with a root" "$out" '"root":"'
# Somebody cuts the end off one log, and its recorded head with it.
if command -v sqlite3 >/dev/null; then
    sqlite3 .heddle/heddle.db 'DELETE FROM entry WHERE key = (SELECT tid << 36 | 2 FROM thread WHERE id = "t");
        UPDATE thread SET rev = 2, chain = (SELECT chain FROM entry WHERE key = thread.tid << 36 | 1) WHERE id = "t";'
    run heddle verify t
    exits "the log alone does not show it" 0
    run heddle verify
    exits "the anchor does" 1
    has "and names the entry" "$out" "thread t: entry 2 was pinned and is not there (anchored in .global"
    run heddle doctor
    has "so does doctor" "$out" "anchored in .global"
    run heddle verify --signed ../note --key "$pub"
    exits "a note from before does not reach so far" 0
else
    skip "cutting a log" "there is no sqlite3"
fi
run heddle head --anchor --sign ../keys/k
exits "one thing at a time" 2

done_testing

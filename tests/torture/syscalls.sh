#!/usr/bin/env bash
# Every command that writes, with the Nth system call of each kind failing, for every N.
#
#     tests/torture/syscalls.sh                          everything
#     SYSCALLS_ONLY="append spawn" SYSCALLS_CALLS="pwrite64 fdatasync" SYSCALLS_ERRORS=EIO
#     SYSCALLS_MOST=20                                   at most this many N of each, spread evenly
#
# The error KILL ends the program at that call.
#
# After each failure:
#   - the program ended by itself, not by a signal;
#   - what was acknowledged before is still there (the first entries of thread t, byte for byte);
#   - exit 0: what it said is done, files included;
#   - exit not 0: it is not done, or the message says that it may have been written, or a warning
#     says what is left for the next command;
#   - what erases or restores finishes when it is repeated, and then no file holds what was erased;
#   - every file that others read is whole: JSON parses, input.md ends as it should;
#   - `heddle verify` is content, at the latest after the next command has finished what was begun, or
#     `heddle doctor --fix` where verify says that something is left to do.
# shellcheck disable=SC2317,SC2086,SC2329
set -uo pipefail
: "${HEDDLE:?the path of the program}"
command -v strace >/dev/null || { echo "1..0 # SKIP needs strace"; exit 0; }
strace -qq -e inject=close:error=EIO:when=999 true 2>/dev/null || { echo "1..0 # SKIP strace cannot trace here"; exit 0; }

work=$(mktemp -d "${TMPDIR:-/tmp}/heddle-syscalls.XXXXXX")
trap 'rm -rf "$work"' EXIT
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" # which cannot look while strace does
export HOME=$work/home HEDDLE_NOW=1700000000000 HEDDLE_SEED=7
mkdir "$HOME"
h() { "$HEDDLE" "$@"; }

calls=${SYSCALLS_CALLS:-openat openat2 read write pread64 pwrite64 fsync fdatasync ftruncate rename renameat renameat2 link linkat unlink unlinkat mmap}
errors=${SYSCALLS_ERRORS:-EIO ENOSPC EINTR EMFILE KILL}
most=${SYSCALLS_MOST:-100000}

# ---- the commands: make_X prepares a workspace, run_X LAUNCHER... is the command, is_done_X asks

message='{"kind":"ai_message","payload":{"role":"user","content":"the new one"}}'

make_plain() {
    h init
    for i in 1 2 3; do
        printf '{"kind":"ai_message","payload":{"role":"user","content":"kept %d"}}\n' $i | h log append t
    done
}
make_shared() {
    make_plain
    h objective create O --id o
    h spawn --id src --intent src --objective o --no-run
    printf '# Plan\n' >.leslie/threads/src/plan.md
    h spawn --id reader --intent reader --objective o --no-run
}
registry_has() { grep -q "$1" .leslie/threads/.global/registry.json 2>/dev/null; }
relations_have() { grep -q "$1" .leslie/thread_relations.json 2>/dev/null; }
clean() { ! grep -rqa "$1" .heddle .leslie 2>/dev/null; }
log_has() { h log export "$1" 2>/dev/null | grep "$2" >/dev/null; }

make_append() { make_plain; }
run_append() { printf '%s\n' "$message" | "$@" log append t --op-id new; }
is_done_append() { log_has t 'the new one'; }

make_import() { make_plain; h log export t >t.jsonl; }
run_import() { "$@" log import copy t.jsonl; }
is_done_import() { log_has copy 'kept 3'; }

make_op() { make_plain; echo '{"messages":[{"role":"user","content":"snapshot"}]}' >c.json; }
run_op() { "$@" op replace t --context c.json --op-id new; }
is_done_op() { log_has t snapshot; }

make_run() { make_plain; }
run_run() { "$@" run start t --text 'the new one' --request-id r1; }
is_done_run() { h run status t --json 2>/dev/null | grep r1 >/dev/null; }

make_say() { make_plain; }
run_say() { "$@" say t 'the new one'; }
is_done_say() { log_has t 'the new one'; }

make_do() { make_plain; h agent add Ana --kind model; h say t first; }
run_do() { printf 'the new one\n' | "$@" "do" t --agent Ana; }
is_done_do() { log_has t 'the new one'; }

make_spawn() { make_shared; }
run_spawn() { "$@" spawn --id fresh --intent fresh --objective o --no-run; }
is_done_spawn() { [ -d .leslie/threads/fresh ] && registry_has '"fresh"'; }

make_reference() { make_shared; }
run_reference() { "$@" reference --from reader --target src --binding frozen; }
is_done_reference() { relations_have '"src"' && [ -e .leslie/threads/reader/context/inherited/plan.md ]; }

make_refresh() { make_shared; h reference --from reader --target src --binding frozen; echo more >>.leslie/threads/src/plan.md; }
run_refresh() { "$@" refresh --from reader; }
is_done_refresh() { grep -rq more .leslie/threads/reader/context/inherited 2>/dev/null; }

make_merge() { make_shared; h spawn --id child --intent child --objective o --parent src --no-run; echo own >.leslie/threads/child/notes.md; }
run_merge() { "$@" merge --sources child --target src --strategy agent-first; }
is_done_merge() { grep -q own .leslie/threads/src/notes.md 2>/dev/null; }

make_transcript() { make_shared; }
run_transcript() { "$@" transcript src --chat c1 --query 'what was asked' --assistant 'what was said'; }
is_done_transcript() { grep -rq 'what was said' .leslie/threads/src 2>/dev/null; }

make_objective() { make_shared; }
run_objective() { "$@" objective create Another --id another; }
is_done_objective() { grep -q '"another"' .leslie/objectives.json && [ -s .leslie/logs/another/objective.log ]; }

make_inject() { make_shared; }
run_inject() { "$@" inject src 'the new one'; }
is_done_inject() { grep -qs 'the new one' .leslie/threads/src/.meta/injections.log; }

make_rename() { make_shared; }
run_rename() { "$@" thread rename src 'the new title'; }
is_done_rename() { registry_has 'the new title'; }

make_archive() { make_shared; }
run_archive() { "$@" thread archive reader; }
is_done_archive() { registry_has '"archived"'; }

make_session() { make_plain; }
run_session() { "$@" session new s2; }
is_done_session() { [ -d .teddy/sessions/s2/01 ]; }

make_backup() { make_shared; }
run_backup() { "$@" backup ../b.tar --force; }
is_done_backup() { h backup --check ../b.tar >/dev/null 2>&1; }

# Words to be erased: in entries, in the index of words, in copies and in older databases.
make_words() {
    make_shared
    h spawn --id gone --intent 'find Zqxjkvbp' --objective o --no-run
    h say gone 'Anna Zqxjkvbp lives here'
    h search Zqxjkvbp
    h transcript gone --chat c1 --query 'where' --assistant 'with Zqxjkvbp'
    printf Zqxjkvbp >.heddle/heddle.db.v4.bak
}

make_delete() { make_words; }
run_delete() { "$@" thread delete gone --yes; }
is_done_delete() { clean Zqxjkvbp; }

make_erase() { make_words; }
run_erase() { "$@" erase gone --find Zqxjkvbp --reason r --with-derived --op-id e1; }
is_done_erase() { clean Zqxjkvbp; }

make_retain() { HEDDLE_NOW=1600000000000 make_words; rm -rf .leslie; h op replace gone --context - <<<'{"messages":[]}'; }
run_retain() { "$@" retain --keep-days 30 --thread gone --yes; }
is_done_retain() { clean 'Zqxjkvbp lives here'; }

make_restore() { make_words; h backup ../restore.tar --force; h say gone later; }
run_restore() { "$@" restore-backup ../restore.tar --force; }
is_done_restore() { ! log_has gone later && registry_has '"gone"'; }

make_payload() { make_plain; echo 'some text' >file.txt; h session new s; echo file.txt >.teddy/sessions/s/01/turn.context; }
run_payload() { "$@" payload --turn .teddy/sessions/s/01; }
is_done_payload() { grep -qs 'some text' .teddy/sessions/s/01/input.md; }

make_config() { make_plain; }
run_config() { "$@" config set system_prompt 'be brief'; }
is_done_config() { grep -q 'be brief' .heddle/config.json; }

make_init() { :; }
run_init() { "$@" init; }
is_done_init() { [ -e .heddle/heddle.db ] && h stats >/dev/null 2>&1; }

make_checkpoint() { make_plain; }
run_checkpoint() { "$@" checkpoint t; }
is_done_checkpoint() { true; } # it prints a token and writes at most its key

make_doctor() { make_plain; chmod 755 .heddle; }
run_doctor() { "$@" doctor --fix --compact; }
is_done_doctor() { [ "$(stat -c %a .heddle)" = 700 ]; }

all="append import op run say do spawn reference refresh merge transcript objective inject rename archive session backup"
all="$all delete erase retain restore payload config init checkpoint doctor"
repeated=" delete erase retain restore "
only=${SYSCALLS_ONLY:-$all}

# ---- what must hold after each

complain() { # complain TEXT: one broken promise
    bad=$((bad + 1))
    [ "$bad" -gt 12 ] || echo "# $where: $1" | tr '\n' ' ' | cut -c1-300
    [ "$bad" -gt 12 ] || echo
}

# The words for the error that was injected.
reason() {
    case $where in
    *EIO) echo 'Input/output error' ;;
    *ENOSPC) echo 'No space left' ;;
    *EINTR) echo 'Interrupted' ;;
    *EMFILE) echo 'Too many open files' ;;
    *) echo 'nothing: it was killed' ;;
    esac
}

whole_files() {
    local f
    while IFS= read -r -d '' f; do
        [ ! -s "$f" ] || jq -e . "$f" >/dev/null 2>&1 || complain "$f is not whole"
    done < <(find .leslie .heddle .teddy -name '*.json' -print0 2>/dev/null)
    f=.teddy/sessions/s/01/input.md
    if [ -e $f ] && ! grep -q 'some text' $f && ! grep -q "warning: .*$(reason)" "$work/err"; then
        complain "$f is half a file"
    fi
}

check() { # check NAME STATUS: in the workspace after the failure
    local name=$1 rc=$2
    if [ "$rc" -eq 137 ] && [[ $where == *KILL ]]; then
        rc=killed
    fi
    [ "$rc" = killed ] || [ "$rc" -lt 128 ] || complain "ended by signal $((rc - 128)): $(tail -n 1 "$work/err")"
    ! grep -q 'Assertion\|Sanitizer' "$work/err" || complain "$(grep -m1 'Assertion\|Sanitizer' "$work/err")"
    if [ -e "$work/$name.kept" ]; then
        h log export t 2>/dev/null | sed -n 1,3p | cmp -s - "$work/$name.kept" ||
            complain "an acknowledged entry is gone (exit $rc)"
    fi
    whole_files
    local done_now=0
    ! "is_done_$name" || done_now=1
    [ "$rc" != 0 ] || [ "$done_now" -eq 1 ] || [ "$name" = payload ] ||
        complain "exit 0, and it is not done: $(tail -n 1 "$work/err")"
    if [[ $repeated == *" $name "* ]]; then
        "run_$name" "$HEDDLE" >"$work/out2" 2>"$work/err2" </dev/null || complain "repeated: $(tail -n 2 "$work/err2")"
        "is_done_$name" || complain "repeated, and it is not done: $(tail -n 1 "$work/out2")"
    fi
    h list >/dev/null 2>&1 # the next command finishes what was begun
    if [ "$name" = payload ] && grep -q "warning: .*$(reason)" "$work/err"; then
        : # what cannot be read is left out of a payload, and named
    elif [ "$rc" = killed ]; then
        : # it said nothing
    elif [ "$rc" -eq 0 ]; then
        "is_done_$name" || complain "exit 0, and it is done no more"
    elif [ "$done_now" -eq 1 ] && ! "was_done_$name"; then
        grep -q 'may have been written\|was written\|was done\|next command\|from the log, but files\|is restored, but' "$work/err" ||
            complain "exit $rc, and it is done without a word: $(tail -n 2 "$work/err")"
    fi
    if [ -e .heddle/heddle.db ] && [ -s .heddle/heddle.db ]; then
        h verify >"$work/verify" 2>&1 || h doctor --fix >/dev/null 2>&1 # what it says must be curable
        h verify >"$work/again" 2>&1 ||
            complain "verify: $(grep -m1 '  ✗' "$work/verify"); and after doctor --fix: $(grep -m1 '✗' "$work/again")"
    fi
}
for name in $all; do # what is already so before the command counts for nothing
    eval "was_done_$name() { [ -e '$work/$name.was' ]; }"
done

once() { # once NAME CALL ERROR N
    local rc=0
    where="$1, $2 number $4 fails with $3"
    rm -rf "$work/ws"
    cp -a "$work/$1.tpl" "$work/ws"
    cd "$work/ws" || exit 1
    local fault=error=$3
    [ "$3" != KILL ] || fault=signal=KILL
    "run_$1" timeout 60 strace -f -qq -o /dev/null -e "trace=$2" -e "inject=$2:$fault:when=$4" "$HEDDLE" \
        >"$work/out" 2>"$work/err" </dev/null || rc=$?
    check "$1" "$rc"
    cd "$work" || exit 1
    runs=$((runs + 1))
}

# How often the command makes each call when nothing fails.
count_calls() { # count_calls NAME
    rm -rf "$work/ws"
    cp -a "$work/$1.tpl" "$work/ws"
    cd "$work/ws" || exit 1
    "run_$1" strace -f -qq -o "$work/trace" -e "trace=$(echo "$calls" | tr ' ' ',')" "$HEDDLE" >/dev/null 2>&1 </dev/null
    cd "$work" || exit 1
    sed 's/^[0-9]* *//' "$work/trace" | sed -n 's/^\([a-z0-9_]*\)(.*/\1/p' | sort | uniq -c >"$work/counts"
}

# Calls of the dynamic loader, before the program begins: those are not ours to survive.
strace -E LD_TRACE_LOADED_OBJECTS=1 -f -qq -o "$work/trace" -e "trace=openat,read,pread64,mmap" "$HEDDLE" >/dev/null 2>&1
loader() { sed 's/^[0-9]* *//' "$work/trace.loader" | grep -c "^$1("; }
mv "$work/trace" "$work/trace.loader"

n=0
failed=0
for name in $only; do
    mkdir "$work/$name.tpl"
    cd "$work/$name.tpl" || exit 1
    "make_$name" >/dev/null 2>"$work/made" || { echo "# make_$name: $(tail -n 1 "$work/made")"; }
    [ ! -e .heddle/heddle.db ] || h log export t 2>/dev/null | sed -n 1,3p >"$work/$name.kept"
    [ -s "$work/$name.kept" ] || rm -f "$work/$name.kept"
    ! "is_done_$name" || touch "$work/$name.was"
    case $name in init | doctor) touch "$work/$name.was" ;; esac # in steps, harmless when repeated
    cd "$work" || exit 1
    count_calls "$name"
    bad=0
    runs=0
    for call in $calls; do
        count=$(awk -v c="$call" '$2 == c { print $1 }' "$work/counts")
        [ -n "$count" ] || continue
        step=$(((count + most - 1) / most))
        for error in $errors; do
            for ((k = 1 + $(loader "$call"); k <= count; k += step)); do
                once "$name" "$call" "$error" "$k"
            done
        done
    done
    n=$((n + 1))
    if [ "$bad" -eq 0 ] && [ "$runs" -gt 0 ]; then
        echo "ok $n - $name keeps its word after each of $runs failed calls"
    else
        echo "not ok $n - $name: $bad broken promises in $runs runs"
        failed=1
    fi
done
echo "1..$n"
exit $failed

#!/bin/sh
# `log follow`: entries as they are committed, whoever writes them. `log append --each`: every line
# answered as it is written. `log export --all` and `log import --all`.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

# message TEXT: a line for `log append`.
message() { printf '{"kind":"ai_message","payload":{"role":"user","content":"%s"}}\n' "$1"; }

# lines FILE N: wait until the file, which may not be there yet, has N lines.
has_lines() { [ "$(awk "END { print NR }" "$1" 2>/dev/null || echo 0)" -ge "$2" ]; }
lines() { await has_lines "$@"; }

# ends PID: wait for a process that should end; its status in $status.
is_gone() { ! kill -0 "$1" 2>/dev/null; }
ends() {
    await is_gone "$1"
    kill -KILL "$1" 2>/dev/null
    status=0
    wait "$1" || status=$?
}

# follows PID: wait until it has read what is there, and waits for more: what notifies it is opened then.
has_notifier() { find "/proc/$1/fd" -lname '*inotify*' -o -lname '*eventfd*' 2>/dev/null | grep -q .; }
follows() { await has_notifier "$1"; }

# blocked PID: wait until it waits for its reader. Where the kernel does not say what a process that sleeps waits for,
# it has to sleep for half a second.
is_asleep() { [ "$(sed -n 's/^State:[^A-Z]*\(.\).*/\1/p' "/proc/$1/status")" = S ]; }
is_blocked() {
    is_asleep "$1" || return 1
    case $(cat "/proc/$1/wchan") in
    *pipe*) ;;
    0 | '') sleep 0.5 && is_asleep "$1" ;;
    *) return 1 ;;
    esac
}
blocked() { await is_blocked "$1"; }

heddle init >/dev/null
message zero | heddle log append old >/dev/null

# ---- a thread that is not there yet, and what came before
"$HEDDLE" log follow later >later.txt 2>later.err &
later=$!
"$HEDDLE" log follow old >old.txt &
old=$!
"$HEDDLE" log follow old --from 0 --json >old.jsonl &
resumed=$!
ok "what is there from --from on" lines old.jsonl 1
lines later.err 1
follows $old
message one | heddle log append later >/dev/null
ok "the first entry of a new thread" lines later.txt 1
printf '%s\n' '{"kind":"note","lane":"side","payload":{"a":"\u001b[31m"}}' | heddle log append later 2>/dev/null >/dev/null
ok "and the next" lines later.txt 2
same "as a person reads them" "$(cat later.txt)" '#0 user  one
#1 note (side)  {"a":"\u001b[31m"}'
message two | heddle log append old >/dev/null
ok "entries from now on" lines old.txt 1
same "and only those" "$(cat old.txt)" "#1 user  two"
ok "the other has both" lines old.jsonl 2
heddle log export old >export.jsonl
ok "with --json a line is that of an export" cmp old.jsonl export.jsonl

# ---- nobody is kept busy
switches() { sed -n 's/^voluntary_ctxt_switches:[^0-9]*//p' "/proc/$old/status"; }
before=$(switches) from=$(date +%s%N)
sleep 2
after=$(switches) took=$((($(date +%s%N) - from) / 1000000))
most=20
is_file || most=60 # a server is asked every 50 milliseconds, and each answer is waited for
ok "in a second it wakes a few times (from $before to $after in $took ms)" test $(((after - before) * 1000)) -lt $((most * took))

# ---- ends
kill -TERM $later
ends $later
same "SIGTERM ends it, well; a thread that was not there was said" "$status $(cat later.err)" \
    "0 ! there is no thread later yet; its entries are shown when they come"
kill -KILL $old $resumed
wait $old $resumed 2>/dev/null
env --default-signal=INT "$HEDDLE" log follow old >int.txt 2>&1 & # a shell starts it with SIGINT ignored
interrupted=$!
follows $interrupted
kill -INT $interrupted
ends $interrupted
same "so does SIGINT" "$status$(cat int.txt)" "0"
run timeout 120 sh -c '"$HEDDLE" log follow old --from 0 | head -n 1'
same "it ends when its reader goes, though nothing comes" "$status$err" "0"
same "what the reader got" "$out" "#0 user  zero"

# ---- usage
run heddle log follow --from 3
exits "a seq is of one thread" 2
run heddle log follow old --from x
exits "a place is a number" 2
run heddle log follow old --from -1
exits "and not negative" 2
run heddle log follow old two
exits "one thread or all" 2
run heddle log follow old --root /nonexistent --json
json "errors are JSON too" "$out" '.error.code' '"NOT_FOUND"'

# ---- two writers, all threads
"$HEDDLE" log follow --json --from 0 >all.jsonl &
all=$!
"$HEDDLE" log follow --kind note >notes.txt &
notes=$!
follows $notes
writer() {
    for i in 1 2 3 4 5 6 7 8 9 10; do
        { message "$1 $i"; echo '{"kind":"note","payload":{}}'; } | heddle log append "$1" >/dev/null 2>&1
        message "both $1 $i" | heddle log append both >/dev/null
    done
}
writer alice &
one=$!
writer bob
wait $one
heddle log export --all >everything.jsonl
total=$(wc -l <everything.jsonl)
ok "all of it comes" lines all.jsonl "$total"
sort everything.jsonl >sorted.1
sort all.jsonl >sorted.2
ok "each entry once" cmp sorted.1 sorted.2
same "and in order" "$(jq -r .thread all.jsonl | sort -u | while read -r t; do jq -c "select(.thread==\"$t\").seq" all.jsonl | sort -nc || echo "$t"; done)" ""
ok "one kind alone" lines notes.txt 20
same "and nothing else" "$(grep -cv ' #[0-9]* note  {}$' notes.txt)" 0
has "with the thread in front" "$(cat notes.txt)" "alice #1 note  {}"

# ---- killed in the middle, and resumed
kill -KILL $all
kill -TERM $notes
wait $all $notes 2>/dev/null
"$HEDDLE" log follow long --json --from 0 >part.1 &
first=$!
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do message "$i"; done >twelve
(while read -r line; do printf '%s\n' "$line"; sleep 0.02; done) <twelve | heddle log append long --each >/dev/null &
writer=$!
lines part.1 4
kill -KILL $first
wait $first 2>/dev/null
next=$(($(tail -n 1 part.1 | jq .seq) + 1))
"$HEDDLE" log follow long --json --from $next >part.2 &
second=$!
wait $writer
ok "a follower goes on where the one before was killed" lines part.2 $((12 - next))
cat part.1 part.2 >parts
heddle log export long >whole
ok "nothing is missing, nothing is twice" cmp parts whole
kill -TERM $second
wait $second 2>/dev/null
"$HEDDLE" log follow --json --from both:18,alice:17 >places.jsonl &
places=$!
ok "of all threads, from a place in each" lines places.jsonl 5
same "and from now on in the others" "$(jq -r '"\(.thread) \(.seq)"' places.jsonl | sort | tr '\n' ' ')" "alice 17 alice 18 alice 19 both 18 both 19 "
kill -TERM $places
wait $places 2>/dev/null

# ---- a slow follower
mkfifo slow
"$HEDDLE" log follow big --json --from 0 >slow &
slow=$!
exec 3<slow
long=$(head -c 20000 /dev/zero | tr '\0' x)
for i in 1 2 3 4 5 6 7 8 9 10; do message "$long"; done | heddle log append big >/dev/null
blocked $slow
ok "writers do not wait for it" sh -c 'printf "%s\n" "{\"kind\":\"note\",\"payload\":{}}" | timeout 120 "$HEDDLE" log append big'
! is_file || same "nor does it hold the write-ahead log" "$(sqlite3 .heddle/heddle.db 'PRAGMA wal_checkpoint(TRUNCATE)')" "0|0|0"
head -n 11 <&3 >taken
heddle log export big >big.jsonl
ok "and it gets all of it" cmp taken big.jsonl
for i in 1 2 3 4 5 6 7 8 9 10; do message "$long"; done | heddle log append big >/dev/null
blocked $slow
kill -TERM $slow
ends $slow
same "in the middle of a line it ends as one that was killed" "$status" 143
exec 3<&-

# ---- erasure and replacement while it follows
"$HEDDLE" log follow later --from 2 >still.txt 2>still.err &
still=$!
follows $still
ok "an erasure does not wait for followers" heddle erase later 0 --reason asked --leave-derived
ok "which see that there was one" lines still.txt 1
has "as an entry" "$(cat still.txt)" "#2 erasure  "
if is_file; then
    mv .heddle/heddle.db aside.db
    ends $still
    same "a follower of a database that was taken away says so" "$status" 1
    has "in words" "$(cat still.err)" "heddle.db was removed while it was in use"
    mv aside.db .heddle/heddle.db
else
    kill -TERM $still
fi

# ---- through the door for programs
run heddle api call log.append --params '{"thread":"door","entries":[{"kind":"note","payload":{"n":1}},{"kind":"note","payload":{"n":2}}]}' </dev/null
same "entries as a list" "$out" '{"first_seq":0,"last_seq":1,"rev":2}'
run heddle api call log.show --params '{"thread":"door","tail":1}' </dev/null
json "entries as events, and a document" "$(printf '%s\n' "$out" | jq -s .)" '[.[0].payload.n, .[1]]' '[2,{"entries":1,"thread":"door"}]'
run sh -c 'printf "%s\n" "{\"kind\":\"note\",\"payload\":{}}" | "$HEDDLE" api call log.append --params "{\"thread\":\"door\",\"each\":true}"'
json "lines answered one by one" "$(printf '%s\n' "$out" | jq -s .)" '[.[0].rev, .[1].appended]' '[3,1]'
run sh -c 'echo "{\"thread\":\"door\",\"seqs\":[1],\"dry_run\":true}" | "$HEDDLE" api call erase'
json "numbers as numbers" "$out" '[.dry_run, .items[0].seq]' '[true,1]'
run sh -c 'echo "{\"thread\":\"door\"}" | "$HEDDLE" api call head'
json "a head" "$out" '[.rev, .thread]' '[3,"door"]'
run heddle api call project --params '{"thread":"later"}' --out - </dev/null
json "bytes and a document apart" "$err" '[.format, .lane, .repairs]' '["json","default",[]]'

# ---- append --each
run sh -c '{ printf "%s\n" "{\"kind\":\"note\",\"payload\":{\"n\":1}}" "" "{\"kind\":\"note\"}" "{\"kind\":\"thread_operation\",\"payload\":{}}" "{\"kind\":\"nota\",\"payload\":{}}"; } | "$HEDDLE" log append each --each'
exits "a refused line shows in the status" 1
same "every line has its answer" "$(printf '%s\n' "$out" | cut -d' ' -f1-4)" "#0 revision 1
✗ INVALID_SYNTAX: line 3:
✗ PERMISSION_DENIED: line 4:
#1 revision 2 !"
has "and all of them are counted" "$err" "2 of 4 lines were refused; the first is line 3"
run sh -c 'printf "%s\n" "{\"kind\":\"note\",\"payload\":{\"n\":1}}" x "{\"kind\":\"note\",\"payload\":{}}" | "$HEDDLE" log append each --each --json'
json "as JSON" "$(printf '%s\n' "$out" | jq -s .)" '[.[0].seq, .[0].rev, .[1].line, .[1].error.code, .[2].seq]' '[2,3,2,"INVALID_SYNTAX",3]'
run sh -c 'printf "%s\n" "{\"kind\":\"note\",\"payload\":{}}" "{\"kind\":\"note\",\"payload\":{}}" | "$HEDDLE" log append each --each --expect 4 --json'
json "--expect moves on" "$(printf '%s\n' "$out" | jq -s .)" '[.[].rev]' '[5,6]'
run sh -c 'printf "%s\n" "{\"kind\":\"note\",\"payload\":{}}" "{\"kind\":\"note\",\"payload\":{}}" | "$HEDDLE" log append each --each --expect 4 --json'
json "and stays where somebody else was first" "$(printf '%s\n' "$out" | jq -s .)" '[.[].error.reason]' '["rev","rev"]'
run sh -c '{ head -c 17000000 /dev/zero | tr "\0" x; echo; printf "%s\n" "{\"kind\":\"note\",\"payload\":{}}"; } | "$HEDDLE" log append each --each --json'
json "a line that is too long is passed over" "$(printf '%s\n' "$out" | jq -s .)" '[.[0].error.code, .[1].line, .[1].seq]' '["LIMIT_EXCEEDED",2,6]'
run sh -c ': | "$HEDDLE" log append nothing --each'
same "no lines, no answers" "$status$out$err" "0"

# A writer that is killed, and the same lines again.
mkfifo in
"$HEDDLE" log append again --each --op-id batch --json <in >acks &
writer=$!
exec 4>in
for i in 1 2 3; do message "$i" >&4; done
ok "answers come while the input is open" lines acks 3
kill -KILL $writer
exec 4>&-
wait $writer 2>/dev/null
run sh -c 'for i in 1 2 3 4 5; do printf "{\"kind\":\"ai_message\",\"payload\":{\"role\":\"user\",\"content\":\"%s\"}}\n" $i; done | "$HEDDLE" log append again --each --op-id batch --json'
json "what was written before is known" "$(printf '%s\n' "$out" | jq -s .)" '[[.[].duplicate], [.[].seq]]' '[[true,true,true,null,null],[0,1,2,3,4]]'
json "and stands there once" "$(heddle log export again | jq -s .)" '[.[].payload.content]' '["1","2","3","4","5"]'

# ---- every thread in one stream
heddle objective create Ship --id ship >/dev/null
heddle spawn --id work --intent Work --objective ship --no-run >/dev/null
printf '%s\n' '{"kind":"ai_message","op_id":"secret","payload":{"role":"user","content":"hunter2hunter2"}}' | heddle log append both >/dev/null
heddle log export --all >before.jsonl
heddle erase both 20 --reason asked --with-derived >/dev/null
heddle log export --all >everything.jsonl
heddle head --json | jq -S . >heads.1
mkdir copy
heddle init --root copy >/dev/null
run heddle log import --all everything.jsonl --root copy --json
exits "all of it goes into another workspace" 0
json "which is told of each thread" "$out" '[.items[] | select(.thread=="both")][0] | [.first_seq, .rev]' '[0,23]'
heddle head --json --root copy | jq -S . >heads.2
ok "with the same chains" cmp heads.1 heads.2
ok "and is whole" heddle verify --root copy
lacks "what was erased is not there" "$(heddle log export both --root copy)" hunter2
heddle log export --all --root copy >again.jsonl
ok "and comes out the same" cmp everything.jsonl again.jsonl
run heddle list --root copy
has "the threads are known" "$out" work
run heddle log import --all everything.jsonl --root copy
exits "a second time it does not go in" 1
has "and the thread is named" "$err" "thread .global: "
mkdir erased
heddle init --root erased >/dev/null
grep -v '"thread":".global"' everything.jsonl | grep '"thread":"both"' | heddle log import --all --root erased >/dev/null 2>&1
run sh -c 'grep "\"thread\":\"both\"" before.jsonl | sed "s/\"both\"/\"other\"/" | "$HEDDLE" log import --all - --root erased'
exits "an older export comes in under another name" 0
has "what was erased here does not come back" "$err" "were erased, and come in without their content"
lacks "nowhere" "$(heddle log export --all --root erased)" hunter2
run sh -c 'printf "%s\n" "{\"kind\":\"note\",\"payload\":{}}" | "$HEDDLE" log import --all --root copy'
exits "a line without a thread" 1
has "is told" "$err" "line 1: it does not say of which thread it is"
run sh -c 'printf "%s\n" "{\"kind\":\"note\",\"thread\":\"../x\",\"payload\":{}}" | "$HEDDLE" log import --all --root copy'
exits "a thread whose name is not allowed" 1
run sh -c 'printf "%s\n" "{\"kind\":\"note\",\"thread\":\"b\",\"payload\":{}}" | "$HEDDLE" log append a --root copy'
exits "a line of another thread is not appended" 1
has "and says why" "$err" "the entry is of thread 'b', not 'a'"
run sh -c 'printf "%s\n" "{\"kind\":\"note\",\"thread\":\"m1\",\"payload\":{}}" "{\"kind\":\"note\",\"thread\":\"m2\",\"payload\":{}}" "{\"kind\":\"note\",\"thread\":\"m1\",\"payload\":{}}" | "$HEDDLE" log import --all --root copy'
same "lines may be mixed" "$out" "m1: appended entries 0 to 1; revision 2
m2: appended entries 0 to 0; revision 1"
run sh -c '{ printf "%s\n" "{\"kind\":\"note\",\"thread\":\"s1\",\"payload\":{}}" broken; } | "$HEDDLE" log import --all --root copy'
exits "all or nothing" 1
run heddle log show s1 --root copy
exits "nothing was written" 1
run heddle log export
exits "a thread or all" 2
run heddle log export both --all
exits "not both" 2
run heddle log import both x --all
exits "nor here" 2

# ---- show
run heddle log show again --tail 2
same "the last of them" "$out" "#3 user  4
#4 user  5"
run heddle log show again --tail 2 --to 2
same "of a range" "$out" "#1 user  2
#2 user  3"
run heddle log show again --tail 0
same "none" "$out$status" 0
run heddle log show again --tail 100 --json
same "more than there are" "$(printf '%s\n' "$out" | wc -l)" 5
printf '%s\n' '{"kind":"ai_message","payload":{"role":"assistant","content":"a\nb\tc\u0007","tool_calls":[{"id":"c1","name":"read","arguments":{"path":"x"}}]}}' \
    '{"kind":"ai_message","payload":{"role":"tool","tool_call_id":"c1","name":"read","content":[{"type":"text","text":"found"},{"type":"image"}]}}' |
    heddle log append shown >/dev/null
run heddle log show shown
same "calls, results, parts, no control characters" "$out" '#0 assistant  a b c\x07 · calls read {"path":"x"}
#1 tool  read: found [image]'
run heddle log show both --from 20 --to 20
same "what was erased" "$out" "#20 user  [erased]"

# ---- a log that is put back
heddle say back 1 >/dev/null 2>&1
heddle say back 2 >/dev/null 2>&1
heddle backup ../back.tar >/dev/null
heddle say back 3 >/dev/null 2>&1
"$HEDDLE" log follow back --from 0 --json >"$scratch/back" 2>"$scratch/back.err" &
back=$!
ok "a log is followed" lines "$scratch/back" 3
follows $back
heddle restore-backup ../back.tar --force >/dev/null 2>&1
heddle say back other >/dev/null 2>&1
ends $back
same "following ends with an error when entries go" "$status" 1
has "which is said" "$(cat "$scratch/back" "$scratch/back.err")" '"reason":"replaced"'

# ---- a thread that was deleted never comes
heddle say gone 1 >/dev/null 2>&1
heddle thread delete gone --yes >/dev/null
run heddle log follow gone --json
exits "a deleted thread is not waited for" 1
json "which is said" "$out" '[.error.code, .error.reason]' '["CONFLICT","deleted"]'

done_testing

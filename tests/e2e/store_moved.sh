#!/bin/sh
# One log has one owner: after `heddle store switch` nothing is written to the old store, whoever tries. Every kind of
# write, another user's settings, a server that ran before, a switch that was interrupted, moving back, erasing.
# postgres: no, it names the stores itself
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
unset HEDDLE_STORE
top=$PWD

# dump FILE: all that a database holds.
dump() { sqlite3 "$1" .dump; }

# other COMMAND...: as somebody with other settings: another user, cron, CI.
other() { HOME="$scratch/other" "$@"; }
mkdir "$scratch/other"

# refused NAME COMMAND...: it fails because the log was moved, says where to, and changes nothing in the old store.
refused() {
    refused_name=$1
    shift
    run "$@"
    case $err$out in
    *"the log was moved to $new"*) pass "$refused_name: refused with the new place" ;;
    *) flunk "$refused_name: refused with the new place" "exit $status" "$out" "$err" ;;
    esac
    [ "$status" -ne 0 ] || flunk "$refused_name: fails" "$out"
    [ "$(dump "$old")" = "$before" ] || flunk "$refused_name: changes nothing in the old store" "$(dump "$old" | tail -n 3)"
}

# writer THREAD N: as somebody else, one entry. What was acknowledged is noted, and every error but the one that is due.
writer() {
    if echo "{\"kind\":\"note\",\"payload\":{\"text\":\"$1.$2.\"}}" |
        HOME="$scratch/other" "$HEDDLE" log append "$1" >/dev/null 2>"$scratch/writer.$1"; then
        echo "$1.$2." >>"$scratch/acknowledged"
    else
        grep -q 'CONFLICT: the log was moved' "$scratch/writer.$1" || cat "$scratch/writer.$1" >>"$scratch/unexpected"
    fi
}

# race NAME TO: the log is moved to TO while others write to it. Either they are refused, or what they were told is there.
race() {
    race_n=0
    : >"$scratch/unexpected"
    while [ $race_n -lt 40 ]; do
        race_n=$((race_n + 1)) race_pids='' race_status=0
        heddle store copy here "$2" >/dev/null 2>&1
        for race_thread in shared "shared$((race_n % 2))" "new$race_n-$(wc -l <"$scratch/acknowledged")"; do
            writer "$race_thread" $race_n &
            race_pids="$race_pids $!"
        done
        heddle store switch "$2" >/dev/null 2>"$scratch/race" || race_status=$?
        # shellcheck disable=SC2086
        wait $race_pids
        [ $race_status -ne 0 ] || break
    done
    [ $race_status -eq 0 ] || { # the others were faster each time
        heddle store copy here "$2" >/dev/null 2>&1
        heddle store switch "$2" >/dev/null
    }
    heddle log export --all | jq -r 'select(.kind == "note") | .payload.text' | sort >"$scratch/there"
    sort "$scratch/acknowledged" >"$scratch/wanted"
    same "$1: what was acknowledged while the log moved is in the new store" "$(comm -13 "$scratch/there" "$scratch/wanted")" ""
    same "$1: nothing else went wrong" "$(cat "$scratch/unexpected")" ""
    ok "$1: the others follow" other heddle store switch "$2"
}

mkdir ws && cd ws || exit 1
heddle init >/dev/null
heddle say t one >/dev/null
heddle say t 'the secret xyzzy' >/dev/null
heddle say gone 'plugh is deleted' >/dev/null
heddle log append t <<'LINE' >/dev/null
{"kind":"note","payload":{"text":"old"}}
LINE
heddle objective create O --id o >/dev/null
heddle spawn --id sp --intent I --objective o --no-run >/dev/null
heddle agent add Bo --kind human >/dev/null
heddle backup ../whole.tar >/dev/null
heddle log export t >../t.jsonl
echo '{"kind":"note","payload":{"text":"kept"}}' >../line
printf '→ memo add x\n' >../arrows
printf '{"messages":[]}' >../context
old=$PWD/.heddle/heddle.db new=$top/new.db
heddle store copy here "$new" >/dev/null

# ---- a server that runs, and a note that cannot be written ------------------------------------------
start_server
: >"$HOME/.config" # where the settings would be
run heddle store switch "$new"
exits "a switch whose settings cannot be written fails" 1
has "and says how far it came" "$err" "the log is at $new now, but your settings do not say so yet"
has "and what to do" "$err" "repeat \`heddle store switch $new\`"
before=$(dump "$old")
refused "then the old store" heddle say t lost
has "with the command" "$err" "hint: \`heddle store switch $new\` uses it where it is now"
run heddle say t lost --json
json "and for programs" "$out" '[.error.code, .error.reason]' '["CONFLICT","moved"]'
rm "$HOME/.config"
run heddle store switch "$new"
has "repeated, it is finished" "$out" "the log is now at $new"
heddle say t 'in the new one' >/dev/null
has "and used" "$(heddle log show t)" "in the new one"
run heddle store switch "$new"
exits "a log that is there already stays there" 0
ok "and takes entries" heddle say t again

refused "a server that had the old store open" heddle --via-server log append t <../line
post log.append '{"thread":"t","entries":[{"kind":"note","payload":{"text":"x"}}]}'
same "over HTTP" "$code $(printf %s "$out" | jq -r .error.reason)" "409 moved"
post thread.spawn '{"intent":"I","objective":"o","id":"web"}'
same "what is not written in a group, too" "$code $(printf %s "$out" | jq -r .error.reason)" "409 moved"
post thread.list '{}'
has "it reads, with a warning" "$code $head" "the log was moved to $new"
same "and nothing came into the old store" "$(dump "$old")" "$before"
stop_server

# ---- every way of writing, with the settings of somebody else ----------------------------------------
refused append other heddle log append t <../line
refused say other heddle say t lost
refused run other heddle run start t --text lost --request-id r1
refused spawn other heddle spawn --id late --intent I --objective o --no-run
refused objective other heddle objective create P --id p
refused archive other heddle thread archive sp
refused inject other heddle inject sp lost
refused op other heddle op fork t --lane side
refused replace other heddle op replace t --context ../context
refused agent other heddle agent add Cy --kind human
refused erase other heddle erase t 1 --reason r --with-derived
refused delete other heddle thread delete gone --yes
refused retain other env HEDDLE_NOW=2099-01-01T00:00:00Z "$HEDDLE" retain --keep-days 1 --yes
refused import other heddle log import late ../t.jsonl
refused anchor other heddle head --anchor
refused compact-store other heddle compact-store
refused 'doctor --fix' other heddle doctor --fix
refused 'doctor --rebuild' other heddle doctor --rebuild
refused restore-backup other heddle restore-backup ../whole.tar --force
refused 'do' other heddle 'do' t --agent Bo <../arrows
refused 'copy into it' other heddle store copy "$new" here
run test -e .leslie/threads/late
exits "and no directory is made" 1
has "a session of a coding agent goes on and is told" "$(printf '{"hook_event_name":"SessionStart","session_id":"s1","source":"startup","cwd":"%s","transcript_path":"/nonexistent"}' "$PWD" |
    other heddle hook claude-code)" "systemMessage\":\"heddle: the log of this workspace was moved to $new"
await grep -q 'hook: CONFLICT: the log was moved' .heddle/hook.log
same "nothing of it is recorded" "$(dump "$old")" "$before"

# ---- reading warns, once ----------------------------------------------------------------------------
for words in 'log show t' 'log export --all' 'log export t' list verify 'project t' 'tree t' stats head 'store info' "backup $scratch/b.tar" \
    "store copy here $top/third.db" 'context sp'; do
    # shellcheck disable=SC2086
    run other heddle $words
    same "$words is read, and warns once" "$status $(printf %s "$err" | grep -c "the log was moved to $new")" "0 1"
done
run other heddle search xyzzy --thread t
same "search, too" "$status" 0
run other heddle doctor
exits "doctor calls it a problem" 1
has "and says which" "$out" "✗ the log was moved to $new"
run heddle doctor
exits "beside the new store an old one is none" 0
has "but it is named" "$out" "- $old had the log before it was moved here"

# ---- the others follow ------------------------------------------------------------------------------
run other heddle store switch "$top/third.db"
exits "not to just any copy" 1
has "but to the one that is named" "$err" "the log is not at this place any more: it was moved to $new"
ok "with the same command" other heddle store switch "$new"
ok "then they write" other heddle say t 'from the other'
has "to the same log" "$(heddle log show t)" "from the other"

# ---- erasing reaches the old store -------------------------------------------------------------------
run heddle erase t 1 --reason r --with-derived --dry-run
has "a dry run names the old store" "$err" "$old had the log before it was moved here: what is erased is erased there too"
run grep -q xyzzy "$old" "$old-wal"
exits "and leaves it" 0
run heddle erase t 1 --reason r --with-derived
has "erasing says so" "$err" "$old had the log before it was moved here: what was erased is erased there too"
run grep -rq xyzzy .heddle
exits "no file has it any more" 1
run heddle store copy here "$top/third.db"
has "a copy that is brought up to date loses it, too" "$err" "1 entry of TO still held what was erased in FROM"
not_ok "for good" grep -q xyzzy "$top/third.db" "$top/third.db-wal"
run heddle thread delete gone --yes
has "deleting, too" "$err" "what was erased is erased there too"
run grep -rq plugh .heddle
exits "no file has that any more" 1
HEDDLE_NOW=2099-01-01T00:00:00Z run heddle retain --keep-days 1 --yes
exits "retention" 0
HOME="$scratch/third" run heddle verify
same "the old store is whole" "$status" 0
heddle say t 'a later secret, frotz' >/dev/null
heddle store copy here "$old" >/dev/null
heddle erase t "$(heddle log show t --json | jq -s 'map(select(.payload | tostring | contains("frotz"))) | .[0].seq')" --reason r --with-derived >/dev/null 2>&1
run grep -rq frotz .heddle
exits "nor what was copied there since" 1
ok "doctor finds nothing of it" heddle doctor

# ---- and back ----------------------------------------------------------------------------------------
run heddle store switch "$old"
exits "an old store that lacks something is not used" 1
has "but copied to first" "$err" "heddle store copy here TO"
run heddle store copy here "$old" --verify
exits "the mark does not keep a copy out" 0
HOME="$scratch/third" run heddle say t lost
has "which does not make it an owner" "$err" "the log was moved to $new"
ok "then back" heddle store switch "$old"
ok "the old store is the log again" heddle say t 'at home'
mark=$(sqlite3 "$new" "SELECT value FROM row WHERE tid = 0 AND view = 'moved' AND key = x'746f'")
has "and the other one is marked" "$mark" " - $old"
run other heddle say t lost
has "for the others" "$err" "the log was moved to $old"
# As if the switch had been killed before its last step but one: both stores are marked then.
came=$(sqlite3 "$old" "SELECT value FROM row WHERE tid = 0 AND view = 'moved' AND key = x'63616d65'" | grep .)
first=$(printf '%s\n' "$came" | head -n 1) back=$(printf '%s\n' "$came" | tail -n 1)
sqlite3 "$old" "UPDATE row SET value = CAST('${first%% *} ${back%% *} $new' AS BLOB) WHERE tid = 0 AND view = 'moved' AND key = x'746f'"
run heddle say t nowhere
has "killed in between, the old store refuses" "$err" "the log was moved to $new"
run other heddle say t nowhere
has "and the new one" "$err" "the log was moved to $old"
ok "repeated, it is finished" other heddle store switch "$old"
ok "for all" heddle say t 'here again'
ok "whole" heddle verify

# ---- every call of the old store fails once: never two owners -------------------------------------------
cd "$top" || exit 1
mkdir crash && cd crash || exit 1
interrupted() {
    rm -rf .heddle .leslie "$HOME/.config" "$top"/c.db*
    heddle init >/dev/null
    heddle say t one >/dev/null
    heddle store copy here "$top/c.db" >/dev/null
    interrupted_status=0
    HEDDLE_STORE="fault:$1:$PWD/.heddle/heddle.db" heddle store switch "$top/c.db" >/dev/null 2>&1 || interrupted_status=$?
    [ "$interrupted_status" -ne 0 ] || return 1
    owners=0
    if HEDDLE_STORE=$PWD/.heddle/heddle.db heddle say t left >/dev/null 2>&1; then
        owners=$((owners + 1))
        heddle store copy here "$top/c.db" >/dev/null
    fi
    ! heddle store switch "$top/c.db" >/dev/null 2>&1 || owners=$((owners + 10))
    ! HEDDLE_STORE=$PWD/.heddle/heddle.db heddle say t lost >/dev/null 2>&1 || owners=$((owners + 100))
    heddle say t arrived >/dev/null 2>&1 || owners=$((owners + 1000))
    case $owners in
    10 | 11) ;;
    *) wrong="$wrong $1:$owners" ;;
    esac
}
wrong=''
k=1
while interrupted $k; do k=$((k + 1)); done
same "after each failed call of $k the switch is finished by repeating it" "$wrong" ""

# ---- while others write -------------------------------------------------------------------------------------
cd "$top" || exit 1
mkdir race && cd race || exit 1
heddle init >/dev/null
rm -rf "$scratch/other"
mkdir "$scratch/other"
: >"$scratch/acknowledged"
race 'file to file' "$top/race.db"
race 'and back' .heddle/heddle.db
race 'and there again' "$top/race.db"
ok "the log is whole after that" heddle verify

# ---- the file that was left is removed -----------------------------------------------------------------
cd "$top" || exit 1
mkdir removed disk && cd removed || exit 1
heddle init >/dev/null
heddle say t one >/dev/null
old=$PWD/.heddle/heddle.db new=$top/disk/n.db
heddle backup ../early.tar >/dev/null
heddle store copy here "$new" >/dev/null
heddle store copy here "$top/fourth.db" >/dev/null
heddle store switch "$new" >/dev/null
rm -rf "$scratch/other"
mkdir "$scratch/other"
other heddle backup ../late.tar >/dev/null 2>&1
cp "$old" "$scratch/kept.db"
cp "$old-wal" "$scratch/kept.db-wal"
rm "$old"*
for words in 'say t lost' list init; do
    # shellcheck disable=SC2086
    run other heddle $words
    has "$words of others does not begin a second log" "$err" "the log was moved to $new, and the file that it left is gone"
    [ ! -e "$old" ] || flunk "$words makes no file"
done
has "they are told what to do" "$err" "heddle store switch $new"
has "a session of a coding agent, too" "$(jq -nc --arg d "$PWD" '{hook_event_name:"SessionStart",source:"startup",session_id:"s1",cwd:$d,transcript_path:"/x"}' |
    other heddle hook claude-code)" "systemMessage\":\"heddle: the log was moved to $new"
run other heddle store switch "$top/fourth.db"
exits "not just any copy" 1
has "is it" "$err" "the log was moved to $new"
ok "the same command as ever" other heddle store switch "$new"
ok "and they write" other heddle say t 'from the other'
has "to the same log" "$(heddle log show t)" "from the other"

# ---- the disk with the new store is missing ---------------------------------------------------------------
mv ../disk ../away && mkdir ../disk
for words in 'say t lost' list init doctor 'objective create P --id p' 'log show t'; do
    # shellcheck disable=SC2086
    run heddle $words
    has "$words does not begin a new log" "$err$out" "there is no log at $new, which your settings name for this workspace"
done
same "nothing was made there" "$(ls ../disk)" ""
has "a session of a coding agent is told" "$(jq -nc --arg d "$PWD" '{hook_event_name:"SessionStart",source:"startup",session_id:"s2",cwd:$d,transcript_path:"/x"}' |
    heddle hook claude-code)" "systemMessage\":\"heddle: there is no log at $new"
# judged TOOL INPUT: what is said of a tool in thread $as; nothing: it may run.
judged() {
    jq -nc --arg d "$PWD" "{hook_event_name: \"PreToolUse\", session_id: \"s2\", cwd: \$d, transcript_path: \"/x\", tool_name: \"$1\", tool_input: $2}" |
        HEDDLE_THREAD=$as "$HEDDLE" hook claude-code | jq -r '.hookSpecificOutput.permissionDecisionReason // ""'
}
mkdir -p .leslie/threads/sp .leslie/threads/other
as=sp out=$(judged Write '{file_path: ".leslie/threads/other/plan.md"}')
has "its guard is strict without the log" "$out" "may read and not write"
has "says why" "$out" "The log of this workspace cannot be read (there is no log at $new"
has "and what to do" "$out" "What helps: is a disk or a server missing?"
has "to shells, too" "$(judged Bash '{command: "rm -rf .leslie/threads/other"}')" "cannot be read"
has "and of what heddle writes itself" "$(judged Write '{file_path: ".leslie/objectives.json"}')" "cannot be read"
same "the own work may be written" "$(judged Write '{file_path: ".leslie/threads/sp/plan.md"}')" ""
same "and what is no thread's" "$(judged Write '{file_path: "src/x"}')$(judged Bash '{command: "echo x > y"}')" ""
as='' out=$(judged Write '{file_path: ".leslie/threads/sp/plan.md"}')
has "without a thread no directory may" "$out" "nor which thread this session belongs to"
as=sp
has "the same when a server does not answer" "$(HEDDLE_STORE=postgresql:///none?host=/nonexistent judged Write '{file_path: ".leslie/threads/other/plan.md"}')" "cannot be read"
has "which a session is told of" "$(jq -nc --arg d "$PWD" '{hook_event_name:"SessionStart",source:"startup",session_id:"s3",cwd:$d,transcript_path:"/x"}' |
    HEDDLE_STORE=postgresql:///none?host=/nonexistent heddle hook claude-code)" "nothing of this session is recorded"
ok "a backup brings it back" heddle restore-backup ../early.tar
same "with what it has" "$(heddle log show t --json | jq -sc '[.[].payload.content]')" '["one"]'
rm -r ../disk && mkdir ../disk
ok "or a copy of another store" heddle store copy "$scratch/kept.db" "$new"
ok "which takes entries" heddle say t two
cp "$scratch/kept.db" "$old"
cp "$scratch/kept.db-wal" "$old-wal"
run heddle doctor
exits "an old store that the log did not come from is a problem" 1
has "and is not to be removed unseen" "$out" "$old says that the log was moved away from it, but the log in use does not come from there"
rm -r ../disk && mv ../away ../disk
rm "$old"*
heddle store copy here "$old" >/dev/null
ok "the log goes back to its place" heddle store switch "$old"
rm -r ../disk
ok "where it stays for those who name none" env HOME="$scratch/third" "$HEDDLE" say t 'a third one'

# ---- a backup of the old store, made by somebody who did not know ------------------------------------------
mkdir ../restored && cd ../restored || exit 1
ok "is restored elsewhere" heddle restore-backup ../late.tar
ok "and takes entries" heddle say t again

# ---- a file that an older version left -----------------------------------------------------------------
cd "$top" || exit 1
mkdir older && cd older || exit 1
heddle init >/dev/null
heddle say t one >/dev/null
old=$PWD/.heddle/heddle.db
heddle store copy here "$top/o.db" >/dev/null
cp "$old" "$scratch/unmarked.db"
sqlite3 "$old" ".backup $scratch/unmarked.db"
heddle store switch "$top/o.db" >/dev/null
rm "$old"*
cp "$scratch/unmarked.db" "$old"
heddle say t two >/dev/null
run heddle doctor
exits "an old store without a mark is a problem" 1
has "which is said" "$out" "$old is not the log and is not marked: whoever has other settings writes to it"
run heddle erase t 0 --reason r --with-derived
has "and it may hold what is erased" "$err" "is a database beside the log: it may still hold what is erased"
HEDDLE_STORE="$old" run heddle store switch "$top/o.db"
exits "switching marks it" 0
run heddle doctor
has "then it holds what was erased" "$out" "$old still holds what was erased from 1 entry"
run heddle doctor --fix
exits "which is mended" 0
ok "for good" heddle doctor

# ---- a database that came with a checkout ---------------------------------------------------------------
cd "$top" || exit 1
mkdir mine theirs
(cd mine && heddle init && heddle say t mine) >/dev/null
sqlite3 mine/.heddle/heddle.db 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
rm -f mine/.heddle/heddle.db-*
mine=$(sha256sum mine/.heddle/heddle.db)
cd theirs || exit 1
heddle init >/dev/null
heddle say t 'theirs, frobozz' >/dev/null
sqlite3 .heddle/heddle.db "INSERT INTO row(tid, view, key, value) VALUES(0, 'moved', x'63616d65',
    CAST('a1 $top/mine/.heddle/heddle.db' || char(10) || 'a2 postgres://nobody@127.0.0.1:1/x' || char(10) AS BLOB))"
run heddle doctor
same "names other stores, which are not opened" "$status $(printf %s "$out" | grep -c 'had the log before')" "0 2"
heddle erase t 0 --reason r --with-derived >/dev/null 2>&1
same "nor cleaned" "$(sha256sum "$top/mine/.heddle/heddle.db" | cut -c 1-64) $(find "$top/mine/.heddle" -name 'heddle.db-*' | wc -l)" "$(printf %s "$mine" | cut -c 1-64) 0"
sqlite3 .heddle/heddle.db "INSERT INTO row(tid, view, key, value) VALUES(0, 'moved', x'746f', CAST('a3 - /x' || char(27) || '[2J' AS BLOB))"
run heddle say t lost
has "a place is shown" "$err" "the log was moved to /x"
lacks "and does not reach the terminal raw" "$err" "$(printf '\033')"
run heddle list
lacks "nor does a warning" "$err" "$(printf '\033')"
printf 'garbage' >"$scratch/garbage"
sqlite3 .heddle/heddle.db "UPDATE row SET value = readfile('$scratch/garbage') WHERE tid = 0 AND view = 'moved' AND key = x'746f'"
ok "a text that says nothing is none" heddle say t kept

# ---- PostgreSQL --------------------------------------------------------------------------------------
if [ -z "${HEDDLE_TEST_POSTGRES:-}" ]; then
    skip "the same on PostgreSQL" "HEDDLE_TEST_POSTGRES is not set"
    done_testing
fi
cd "$top" || exit 1
mkdir pg && cd pg || exit 1
heddle init >/dev/null
heddle say t one >/dev/null
new="$HEDDLE_TEST_POSTGRES&partitions=2&schema_prefix=moved$$"
secret="$new&password=hunter2"
old=$PWD/.heddle/heddle.db
heddle store copy here "$secret" >/dev/null
run heddle store switch "$secret"
has "to a server" "$out" "the log is now at postgres://"
before=$(dump "$old")
refused "the file is left" other heddle say t lost
lacks "the mark has no password" "$before$err" hunter2
has "but a place that can be used" "$err" "heddle store switch '$new'"
ok "by others" other heddle store switch "$new"
ok "who write there" other heddle say t 'from the other'
start_server
ok "and by a server" heddle --via-server log append t <../line
heddle store copy here "$old" >/dev/null
run heddle store switch "$old"
exits "back to the file" 0
entries() { HEDDLE_STORE="$new" heddle log export --all 2>/dev/null; }
before=$(entries)
run heddle --via-server log append t <../line
has "the server refuses" "$err" "CONFLICT: the log was moved to $old"
for words in 'say t lost' 'say new lost' 'run start t --text lost --request-id r1' 'objective create P --id p' 'op fork t --lane side' \
    'erase t 0 --reason r --with-derived' 'thread delete t --yes' 'compact-store' 'doctor --rebuild' 'agent add Bo --kind human' \
    'log import late ../t.jsonl' 'restore-backup ../whole.tar --force'; do
    # shellcheck disable=SC2086
    run other heddle $words
    has "$words: refused" "$err" "the log was moved to $old"
done
same "and the server's log is as it was" "$(entries)" "$before"
for words in 'log show t' list verify 'log export t'; do
    # shellcheck disable=SC2086
    run other heddle $words
    same "$words is read, and warns once" "$status $(printf %s "$err" | grep -c "the log was moved to $old")" "0 1"
done
ok "the file takes entries" heddle say t 'at home'
run heddle doctor
has "doctor names the server" "$out" "schema_prefix=moved$$ had the log before it was moved here; remove its schema"
run heddle erase t 0 --reason r --with-derived
has "and so does an erasure" "$err" "schema_prefix=moved$$ had the log before it was moved here: it may still hold what is erased"
run heddle store switch "$new"
exits "not back to the server without what is new" 1
ok "which is copied, past the mark" heddle store copy here "$new"
run other heddle say t lost
has "that keeps all others out" "$err" "the log was moved to $old"
ok "then there once more" heddle store switch "$new"
ok "where the others still are" other heddle say t 'from the other'
ok "and threads are made" heddle say another 'one more'
ok "all whole" heddle verify
HOME=$scratch/third run heddle say t lost
has "and the file is left again" "$err" "the log was moved to postgres://"

# ---- a server that has lost it ---------------------------------------------------------------------------
heddle backup ../server.tar >/dev/null
before=$(heddle log export --all)
psql -qAt "$HEDDLE_TEST_POSTGRES" -c "SELECT 'DROP SCHEMA ' || quote_ident(nspname) || ' CASCADE' FROM pg_namespace WHERE nspname LIKE 'moved$$%'" |
    psql -q "$HEDDLE_TEST_POSTGRES" >/dev/null 2>&1
for words in 'say t lost' list init; do
    # shellcheck disable=SC2086
    run heddle $words
    has "$words: no new log on a server that has lost it" "$err" "there is no log at postgres://"
done
ok "a backup brings it back" heddle restore-backup ../server.tar
same "all of it" "$(heddle log export --all)" "$before"
done_testing

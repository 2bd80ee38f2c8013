#!/bin/sh
# `heddle import PROGRAM`, `sessions`, `stats` and `export --to` at the shell, with transcripts that are
# written here: what is printed, what is refused, what is done about files that are none or that change.
# tests/e2e/hook_*.sh has what the programs themselves write, tests/unit/harness_*.c what becomes of it.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

id=1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed
# line UUID PARENT ROLE TEXT: of Claude Code, in the session $id; an answer has used 100 tokens
line() {
    jq -nc --arg id "$id" --arg uuid "$1-${id%%-*}" --arg parent "${2:+$2-${id%%-*}}" --arg role "$3" --arg text "$4" '{type: $role, uuid: $uuid,
        parentUuid: (if $parent == "" then null else $parent end), sessionId: $id, cwd: "/home/you/my project", timestamp: "2026-11-15T21:36:00.000Z",
        message: ({role: $role, content: (if $role == "user" then $text else [{type: "text", text: $text}] end)}
            + (if $role == "user" then {} else {id: ("msg_" + $uuid), model: "claude-sonnet-4-5", usage: {input_tokens: 90, output_tokens: 10}} end))}'
}

# ---- where the program keeps them ---------------------------------------------------------------------

heddle init >/dev/null
has "without sessions that is said" "$(heddle sessions)" 'no sessions;'
run heddle import claude-code --all
exits "a program that was never used here" 1
has "has no sessions, and the directory is named" "$err" "no sessions of Claude Code: $HOME/.claude/projects is not there"
has "with what to do" "$err" 'set CLAUDE_CONFIG_DIR as it does, or name the directory'
run heddle import pi --all --json
json "as JSON, too" "$out" .error.code '"NOT_FOUND"'
run heddle import claude-code
exits "which sessions must be said" 2
run heddle import claude-code x --all
exits "in one way" 2
run heddle import claude-code nothing.jsonl
exits "a file that is not there" 1

chats=$HOME/.claude/projects/-work-my-project
mkdir -p "$chats"
line u1 '' user 'Which store?' >"$chats/$id.jsonl"
line a1 u1 assistant 'SQLite, I think.' >>"$chats/$id.jsonl"
run heddle import claude-code --all
same "what was read is told" "$out" 'claude-code-1b9d6bcd: 2 records read, 2 entries, 2 messages'
run heddle import claude-code --all
same "once" "$out" 'nothing new in 1 transcript'

# ---- what people ask --------------------------------------------------------------------------------------

{
    line u2 a1 user 'And in the cloud?'
    line a2 u2 assistant 'PostgreSQL.'
    line u3 a1 user 'And on a phone?'
    line a3 u3 assistant 'SQLite again.'
} >>"$chats/$id.jsonl"
json "of a file that has grown only what is new is read" "$(heddle import claude-code --all --json)" '[.items[0].read, .items[0].lanes]' '[4,1]'
same "sessions: when, how much, what, and how to go on" "$(heddle sessions | sed 's/, [$][0-9.]*$//')" "/home/you/my project
  2026-11-15 21:36  claude-code-1b9d6bcd  3 turns, 300 tokens
    Which store?
    last: And on a phone?
    cd '/home/you/my project' && claude --resume $id"
json "sessions of a project" "$(heddle sessions --project '/home/you/my project' --json)" '.items | length' 1
json "and of another" "$(heddle sessions --project /home/you/my --json)" '.items | length' 0
tree=$(heddle tree claude-code-1b9d6bcd)
has "the tree shows where it forked" "$tree" 'And in the cloud?'
has "and both ways" "$tree" 'And on a phone?'
same "lanes: how it forked" "$(heddle lanes claude-code-1b9d6bcd | sed 's/~[^ *]*/~ID/')" 'default  2 turns, 4 messages  Which store?
└─ default~ID*  1 turn, 2 messages, from entry 1  And on a phone?'
run heddle lanes nobody
exits "lanes of a thread that is not there" 1
heddle objective create Later --id later >/dev/null
heddle spawn --id waiting --intent 'For later' --objective later --no-run >/dev/null 2>&1
for asks in lanes stats; do
    run heddle $asks waiting
    exits "$asks of a thread that waits for its first session" 0
    has "$asks: that is said" "$err" "has no entries yet"
done
heddle lifecycle waiting cancel >/dev/null
has "a sentence is found where it was said" "$(heddle search PostgreSQL)" 'claude-code-1b9d6bcd'
json "what each turn cost" "$(heddle stats claude-code-1b9d6bcd --json)" '[.items[] | [.prompt, .tokens.input, .tokens.output]]' \
    '[["Which store?",90,10],["And in the cloud?",90,10],["And on a phone?",90,10]]'

# ---- files that are none ----------------------------------------------------------------------------------

mkdir bad
: >bad/empty.jsonl
head -c 5000 /dev/urandom >bad/random.jsonl
head -c 100 /dev/zero >bad/zero.jsonl
printf '{"a":' >bad/cut.jsonl
printf '[1,2]\n' >bad/list.jsonl
for name in claude-code codex gemini pi opencode; do
    for file in bad/*.jsonl; do
        run heddle import $name "$file"
        exits "$name: $file is refused" 1
        has "$name: and $file is named" "$err" "INVALID_SYNTAX: $file"
    done
done
line u4 a3 user 'Thanks.' >"bad/$id.jsonl"
run heddle import claude-code bad
exits "one that cannot be read does not stop the others" 0
has "and is named" "$err" 'cut.jsonl is not a session of Claude Code'
has "the others are imported" "$(heddle search 'Thanks')" 'Thanks.'
ln -s "$chats/$id.jsonl" bad/link.jsonl
json "links in a directory are not followed" "$(heddle import claude-code bad --json 2>/dev/null)" '[.items[].path, .failed[].path] | map(select(test("link"))) | length' 0

# ---- records that are strange ---------------------------------------------------------------------------------

id=2b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed
{
    line u1 '' user 'One.'
    echo '{"type":"weather","uuid":"w1","parentUuid":"u1-2b9d6bcd","sessionId":"2b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed"}'
    echo '{"type":"weather","uuid":"w2","parentUuid":"w1","sessionId":"2b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed"}'
    echo 'not JSON'
    line a1 nobody assistant 'Two.'
} >"$chats/$id.jsonl"
run heddle import claude-code "$chats/$id.jsonl"
exits "what is not understood is no failure" 0
has "it is counted" "$out" "! records of type 'weather': kept, not understood, 2 times (first: record 2)"
has "so are lines that are none" "$out" 'lines that are not JSON objects, or nested too deep: kept as they are (record 4)'
has "and records without what they follow" "$out" 'records that follow one that is not there: put behind the record before them (record 5)'
heddle export claude-code-2b9d6bcd --to claude-code --session "$id" >"$scratch/written"
same "all of it is written again" "$(sed 's/^not JSON$/"&"/' "$scratch/written" | jq -cS .)" "$(sed 's/^not JSON$/"&"/' "$chats/$id.jsonl" | jq -cS .)"

# ---- files that change ---------------------------------------------------------------------------------------

line a2 a1 assistant 'Three.' | head -c 60 >>"$chats/$id.jsonl"
run heddle import claude-code "$chats/$id.jsonl"
same "a line that is being written waits" "$out" 'nothing new in 1 transcript'
line a2 a1 assistant 'Three.' | tail -c +61 >>"$chats/$id.jsonl"
has "until it is whole" "$(heddle import claude-code "$chats/$id.jsonl")" '1 record read, 1 entry, 1 message'
line u1 '' user 'One.' >"$chats/$id.new" && mv "$chats/$id.new" "$chats/$id.jsonl"
has "a file that was put in its place is read from the start" "$(heddle import claude-code "$chats/$id.jsonl")" '(the file was rewritten)'
has "and takes nothing away" "$(heddle project claude-code-2b9d6bcd)" 'Three.'
rm "$chats/$id.jsonl"
run heddle import claude-code --all
exits "one that was deleted is not missed" 0

# ---- following -----------------------------------------------------------------------------------------------

id=3b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed
heddle import claude-code "$chats" --follow --json >followed &
follower=$!
# lines N: that many were printed
has_lines() { [ "$(wc -l <followed)" -ge "$1" ]; }
lines() { await has_lines "$1"; }
line u1 '' user 'New here.' >"$chats/$id.jsonl"
lines 1
has "a session that comes is imported" "$(cat followed)" claude-code-3b9d6bcd
line a1 u1 assistant 'Welcome.' >>"$chats/$id.jsonl"
lines 2
same "and what is added to it" "$(jq -c 'select(.session[0:1] == "3") | .messages' followed | tr '\n' ' ')" '1 1 '
kill $follower
wait $follower 2>/dev/null

# ---- and back ---------------------------------------------------------------------------------------------------

run heddle export claude-code-1b9d6bcd --to pi --place --cwd "$PWD"
exits "a lane becomes a session of pi" 0
placed=$(printf '%s\n' "$out" | head -n 1)
has "how it is resumed is told" "$out" "cd $PWD && pi --session "
same "the file is the user's alone" "$(stat -c %a "$placed")" 600
json "it begins with a header" "$(head -n 1 "$placed")" '[.type, .version, .cwd]' "[\"session\",3,\"$PWD\"]"
run heddle export claude-code-1b9d6bcd --to pi --place --cwd "$PWD"
exits "a session that is there is not overwritten" 1
has "and that is said" "$err" 'CONFLICT: there is a session already'
run heddle export claude-code-1b9d6bcd --to pi --cwd here
exits "a project has a whole path" 2
run heddle export claude-code-1b9d6bcd --to pi --id ../../x --place
exits "an id is no path" 1
run heddle export claude-code-1b9d6bcd --to codex
exits "others cannot be written" 2
run heddle export claude-code-1b9d6bcd --to pi --session nobody
exits "a session that is not there" 1
run heddle export claude-code-1b9d6bcd --to pi --lane nowhere
exits "a lane that is not there" 1
same "a session that is not imported yet is listed" "$(heddle transcripts --json | jq -c '[.total, .items[0].harness, .items[0].size > 0]')" '[1,"pi",true]'
name=$(heddle transcripts --harness pi --json | jq -r '.items[0].name')
has "in words" "$(heddle transcripts)" "$name"
run heddle import pi --all --only nothing.jsonl
exits "one that is not there" 1
has "is not found" "$err" "pi has no session 'nothing.jsonl'"
run heddle import pi --only "$name"
exits "one is of all" 2
heddle import pi --all --only "$name" >/dev/null
same "once it is imported it is listed no more" "$(heddle transcripts)" "every session that is there was imported"
heddle export claude-code-1b9d6bcd --to pi --id 5b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed --place >/dev/null
start_server
post harness.found '{"harness":"pi"}'
name=$(printf '%s' "$out" | jq -r '.items[0].name')
json "over HTTP" "$out" '[.total, (.items[0].name | endswith(".jsonl"))]' '[1,true]'
post harness.import "{\"harness\":\"pi\",\"all\":true,\"only\":\"$name\"}"
json "what the program keeps can be imported there, too" "$out" '[.items[].path | endswith("'"$name"'")]' '[true]'
post harness.import '{"harness":"claude-code","path":"/etc"}'
same "and no other place" "$code" 403
stop_server
heddle import pi --all >/dev/null
has "what was written is a session for the import" "$(heddle sessions --harness pi)" 'Which store?'

# ---- two files of one session --------------------------------------------------------------------------

# Gemini CLI begins a file when it resumes a session in a later minute, and goes on in the old one.
chats=$HOME/.gemini/tmp/p/chats
mkdir -p "$chats"
short() { printf '{"sessionId":"e519d401-b4f4-4725-86f7-43084b5089e6","projectHash":"p","startTime":"2026-11-18T00:%s:00.000Z","lastUpdated":"2026-11-18T00:%s:00.000Z","kind":"main"}\n{"$set":{"messages":[{"id":"d04923d38bb0f6017037e74183378ef4","timestamp":"2026-11-18T00:%s:00.000Z","type":"user","content":[{"text":"<session_context>"}]}]}}\n' "$1" "$1" "$1"; }
long() { # long MINUTE TEXT: a turn
    printf '{"id":"17f9f46c-fb09-4af5-afda-aa7cff69ee%s","timestamp":"2026-11-18T00:%s:01.000Z","type":"user","content":[{"text":"%s"}]}\n' "$1" "$1" "$2"
    printf '{"id":"fde8ebd4-9bb9-4d46-a99d-b80d8e6d5a%s","timestamp":"2026-11-18T00:%s:02.000Z","type":"gemini","content":"reply to %s","tokens":{"input":100,"output":5,"cached":0,"thoughts":0,"tool":0,"total":105},"model":"gemini-2.5-flash"}\n' "$1" "$1" "$2"
}
{ short 54 && long 54 'first words'; } >"$chats/session-2026-11-18T00-54-e519d401.jsonl"
short 55 >"$chats/session-2026-11-18T00-55-e519d401.jsonl"
heddle import gemini --all >/dev/null
entries=$(heddle log show gemini-e519d401 --json | wc -l)
json "two files of one session: again there is nothing new" "$(heddle import gemini --all --json)" '[.items, .transcripts]' '[[],2]'
same "and nothing is written" "$(heddle log show gemini-e519d401 --json | wc -l)" "$entries"
json "the longer one is the session" "$(heddle sessions --harness gemini --json)" '[.items[] | [.prompt, .turns, .tokens.total]]' '[["first words",1,105]]'
long 56 'second words' >>"$chats/session-2026-11-18T00-54-e519d401.jsonl"
json "it goes on" "$(heddle import gemini --all --json)" '[.items[] | [.read, .messages, .rewritten]]' '[[2,2,false]]'
json "as one session" "$(heddle sessions --harness gemini --json)" '[.items[] | [.prompt, .turns, .tokens.total]]' '[["second words",2,210]]'
ok "the log verifies" heddle verify
done_testing

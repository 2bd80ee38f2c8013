#!/bin/sh
# Executors: started, waited for, stopped, missed when they die.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

heddle init >/dev/null
heddle objective create "Goal" --id goal >/dev/null
state() { heddle list --json | jq -r ".items[] | select(.id == \"$1\") | .status"; }

run heddle spawn --intent x --objective goal --id alone
exits "without an executor the thread is recorded" 0
has "and that is said" "$err" "recorded only: no program is set in executors.agent"
run heddle wait alone
has "and how to have one" "$err" "heddle config set --user executors.agent"
has "with the command that sets one" "$err" "heddle config set --user executors."
mkdir -p "$HOME/.config/heddle"
cat >"$HOME/.config/heddle/config.json" <<'JSON'
{"executors": {
  "agent": ["sh", "-c", "cat >got-$HEDDLE_THREAD; echo \"$HEDDLE_ACTOR was here\"; test ! -e hold || while test -e hold; do sleep 0.02; done; echo more"],
  "fails": ["sh", "-c", "exit 3"],
  "missing": ["/no/such/program"],
  "nowhere": ["no-such-program-anywhere"],
  "bare": ["./bare-script", "one"],
  "sleeps": ["sh", "-c", "sleep 300 & sleep 300"],
  "tampers": ["sh", "-c", "echo changed >>.leslie/threads/source/plan.md; echo new >.leslie/threads/source/new.md; chmod -R u+w .leslie/threads/$HEDDLE_THREAD/context; echo x >>.leslie/threads/$HEDDLE_THREAD/context/inherited/notes.md; rm .leslie/threads/other/plan.md"],
  "reads": ["sh", "-c", "cat .leslie/threads/source/plan.md; echo own >.leslie/threads/$HEDDLE_THREAD/plan.md"],
  "env": ["sh", "-c", "env >env-of-worker"],
  "asks": ["sh", "-c", "echo '{\"type\":\"init\",\"session_id\":\"s-42\"}'; \"$HEDDLE\" lifecycle $HEDDLE_THREAD suspend >/dev/null"]}}
JSON
export HEDDLE
run heddle spawn --intent "Write the plan" --objective goal --id w1 --json
json "spawn says how it runs" "$out" '.run_mode' '"background"'
ok "wait succeeds when it did" heddle wait w1 --timeout 120
same "the prompt came on stdin" "$(cat got-w1)" '<thread_context thread="w1" objective="goal" relations_file=".leslie/thread_relations.json">
</thread_context>

Write the plan'
same "the thread is done" "$(state w1)" completed
has "the output is its transcript" "$(cat .leslie/threads/w1/.meta/transcripts/*.txt)" "agent:agent was here"
json "ps knows it" "$(heddle ps --json)" '[.items[] | select(.thread == "w1") | .state, .exit_code]' '["exited",0]'

heddle spawn --intent x --objective goal --id w2 --with fails >/dev/null
not_ok "wait fails when it did" heddle wait w2 --timeout 120
same "a failure leaves the state alone" "$(state w2)" active
heddle spawn --intent x --objective goal --id w3 --with missing >/dev/null
not_ok "a program that is not there is a failure" heddle wait w3 --timeout 120

heddle spawn --intent x --objective goal --id w4 --with asks >/dev/null
heddle wait w4 --timeout 120 >/dev/null
same "a state changed during the run is kept" "$(state w4)" suspended
json "and the session it named is stored" "$(cat .leslie/thread_relations.json)" '.threads.w4.session_id' '"s-42"'

# ---- children and their parent ----
touch hold
heddle spawn --intent parent --objective goal --id mother >/dev/null
heddle spawn --intent child --objective goal --id kid --parent mother --no-run >/dev/null
rm hold
heddle wait mother --timeout 120 >/dev/null
same "a parent with an open child waits" "$(state mother)" suspended
json "as the system" "$(cat .leslie/thread_relations.json)" '[.operations[] | select(.params.thread_id == "mother" and .command == "lifecycle") | .operator, .params.reason]' '["system","Waiting for child threads"]'
heddle lifecycle kid 'done' >/dev/null
heddle wait mother --timeout 120 >/dev/null
same "and goes on when the last child has ended" "$(state mother)" completed

# ---- stopping ----
heddle spawn --intent x --objective goal --id w5 --with sleeps >/dev/null
pid=$(heddle ps --json | jq '.items[] | select(.thread == "w5") | .pid')
json "it runs" "$(heddle ps --json)" '[.items[] | select(.thread == "w5") | .state]' '["running"]'
not_ok "wait can give up" heddle wait w5 --timeout 0
run heddle wait w5 --timeout 9223372036854775807
exits "a time that no clock reaches is a misuse" 2
ok "stop" heddle stop w5
same "its whole group is gone" "$(ps -e -o pgid=,stat= | grep -v Z | grep -c "^ *$pid ")" 0

# ---- a worker that dies without a word ----
heddle spawn --intent x --objective goal --id w6 --with sleeps >/dev/null
pid=$(heddle ps --json | jq '.items[] | select(.thread == "w6") | .pid')
await kill -9 "-$pid" 2>/dev/null # once it leads its group
is_lost() { heddle ps --json | jq -e '.items[] | select(.thread == "w6" and .state == "lost")' >/dev/null; }
ok "is noticed" await is_lost
not_ok "and is not a success" heddle wait w6 --timeout 5

# ---- in the foreground ----
run heddle spawn --intent x --objective goal --id f1 --with fails --foreground
exits "an executor that fails makes spawn fail" 1
same "the thread is made and named all the same" "$out" f1
has "and why is said" "$err" "the worker of 'f1' ended with code 3"
has "with the place of its output" "$err" ".leslie/logs/workers/f1.log"
run heddle spawn --intent x --objective goal --id f2 --with missing --foreground --json
exits "so does one that is not there" 1
json "the answer is printed all the same" "$out" '[.thread_id, .run_mode]' '["f2","foreground"]'
run heddle spawn --intent x --objective goal --id f3 --foreground
exits "one that ends well succeeds" 0

run heddle spawn --intent x --objective goal --id f0 --with nobody --foreground --json
json "nothing is made for an executor that is not set" "$out" '[.error.code, .error.reason]' '["NOT_FOUND","executor"]'
run heddle status f0
exits "not the thread either" 1
run heddle spawn --intent x --objective goal --id f4 --with nowhere --foreground
exits "a command that is on no PATH fails" 1
has "and its log says what was looked for" "$(cat .leslie/logs/workers/f4.log)" "no-such-program-anywhere: No such file or directory"
has "so does that of a path that leads nowhere" "$(cat .leslie/logs/workers/f2.log)" "/no/such/program: No such file or directory"
echo 'echo "a script with $1 word"' >bare-script
chmod +x bare-script
run heddle spawn --intent x --objective goal --id f5 --with bare --foreground
exits "a script that does not say what runs it is run by sh" 0
has "with its words" "$(cat .leslie/logs/workers/f5.log)" "a script with one word"

# ---- what a worker may only read ----
for t in source other frozen; do heddle spawn --intent $t --objective goal --id $t --no-run >/dev/null; done
for t in source other; do echo plan >.leslie/threads/$t/plan.md; done
echo notes >.leslie/threads/frozen/notes.md
heddle spawn --intent x --objective goal --id r1 --no-run --ref source >/dev/null
run heddle spawn --intent x --objective goal --id g1 --with reads --foreground --ref source,other
exits "a worker that reads and writes its own is fine" 0
heddle spawn --intent x --objective goal --id kids --no-run >/dev/null
cp .leslie/threads/frozen/notes.md .leslie/threads/kids/notes.md
run heddle spawn --intent x --objective goal --id g2 --with tampers --foreground --ref source,other:plan.md --parent kids --inherit full
exits "one that changed what it may only read is not" 1
has "the copy is named" "$err" ".leslie/threads/g2/context/inherited/notes.md"
has "and the live file" "$err" ".leslie/threads/source/plan.md"
json "the log has all of it" "$(heddle ps --json)" '[.items[] | select(.thread == "g2") | .changed[]] | sort' \
    '[".leslie/threads/g2/context/inherited/notes.md",".leslie/threads/other/plan.md",".leslie/threads/source/new.md",".leslie/threads/source/plan.md"]'
has "status says so" "$(heddle status g2 2>/dev/null)" "changed what it may only read"
has "and so does its log" "$(cat .leslie/logs/workers/g2.log)" "other/plan.md of thread 'other' was removed"
not_ok "wait fails too" heddle wait g2
touch hold
heddle spawn --intent x --objective goal --id source2 >/dev/null
echo plan >.leslie/threads/source2/plan.md
cat >"$HOME/.config/heddle/more.sh" <<'SH'
echo changed >>.leslie/threads/source2/plan.md
SH
jq '.executors.touches = ["sh", "'"$HOME"'/.config/heddle/more.sh"]' "$HOME/.config/heddle/config.json" >c && mv c "$HOME/.config/heddle/config.json"
run heddle spawn --intent x --objective goal --id g3 --with touches --foreground --ref source2
exits "where another worker is at work nobody is blamed" 0
has "but it is said" "$(heddle status g3 2>/dev/null)" "by it or by another worker"
rm hold
heddle wait source2 --timeout 120 >/dev/null

# ---- secrets stay here ----
HEDDLE_CHECKPOINT_KEYS=k1:hush42 TAVILY_API_KEY=hush42 BRAVE_API_KEY=hush42 ANTHROPIC_API_KEY=theirs \
    heddle spawn --intent x --objective goal --id e1 --with env --foreground >/dev/null
lacks "an executor gets none of ours" "$(cat env-of-worker)" hush42
has "and what it needs of its own" "$(cat env-of-worker)" "ANTHROPIC_API_KEY=theirs"
has "with its thread" "$(cat env-of-worker)" "HEDDLE_THREAD=e1"
if command -v git >/dev/null; then
    mkdir bin gitty
    cat >bin/git <<'SH'
#!/bin/sh
env >>"$SEEN"
exit 1
SH
    chmod +x bin/git
    (cd gitty && mkdir .git && heddle init && echo x >a.txt) >/dev/null
    (cd gitty && PATH=$PWD/../bin:$PATH SEEN=$scratch/git-env HEDDLE_CHECKPOINT_KEYS=k1:hush42 OPENAI_API_KEY=hush42 HEDDLE_STORE='' heddle payload --diff --no-copy --output out.md) >/dev/null 2>&1
    lacks "git gets no secret at all" "$(cat "$scratch/git-env" 2>/dev/null)" hush42
    ok "and is asked" test -s "$scratch/git-env"
fi

# ---- a record is not a process ----
# The processes that a record could reach lead sessions of their own, so that a mistake hits them alone.
setsid sleep 300 &
leaders=$!
setsid sleep 300 &
leaders="$leaders $!"
leads() { [ "$(ps -o sid=,args= -p "$1" | sed 's/^ *//')" = "$1 sleep 300" ]; }
for leader in $leaders; do await leads "$leader"; done
heddle spawn --intent x --objective goal --id s1 --no-run >/dev/null
crafted() { # PID TICKS: a workspace with a log that somebody gave us
    rm -rf forged
    mkdir forged
    heddle init --root forged >/dev/null
    {
        heddle log export .global
        printf '{"kind":"thread_operation","payload":{"operation":"worker","operator":"system","thread_id":"s1","executor":"agent","log":"x","state":"running","pid":%s,"ticks":%s,"started":1,"ended":0,"code":0}}\n' "$1" "$2"
    } | heddle log import .global --root forged >/dev/null 2>&1
}
for leader in $leaders; do
    for record in "$((4294967296 + leader)) -1" "$leader -1" "$leader 0" "$leader $(awk '{ print $22 }' "/proc/$leader/stat")"; do
        # shellcheck disable=SC2086
        crafted $record
        run heddle stop s1 --root forged
    done
    ok "no record makes stop signal a process that is not a worker" kill -0 "$leader"
    has "and that is said" "$err" "is not a worker of 's1'"
done
# shellcheck disable=SC2086
kill $leaders 2>/dev/null

# ---- run, under the other name ----
run "$(dirname "$HEDDLE")/leslie" run --title "All of it" --no-tui
exits "leslie run goes to the end" 0
json "and says so" "$out" '.data.status' '"completed"'
done_testing

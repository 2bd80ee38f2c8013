#!/bin/sh
# The server from the shell's side: status, stop, open, top, systemd's sockets, and commands that go
# through it.
# tsan: yes
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0")

heddle init >/dev/null
run heddle serve --status
exits "without a server there is no status" 1
has "and the way to one is said" "$err" "heddle open"
run heddle serve --stop
exits "nor anything to stop" 1
run heddle --via-server list
exits "nor anything to ask" 1
run heddle serve --rate -1
exits "a limit that is none" 2

# ---- the same bytes through the server -------------------------------------------------------------
heddle objective create 'Log in' >objective
heddle spawn --intent 'Design the API' --objective "$(heddle objective list --json | jq -r '.items[0].id')" --id backend --no-run >/dev/null
heddle say design 'Which store?' >/dev/null
heddle say design 'SQLite. Grüße 👋' >/dev/null
heddle agent add Ana --kind human >/dev/null
start_server
# both NAME WORDS...: the same output, errors and exit status, here and through the server
both() {
    both_name=$1
    shift
    run heddle "$@"
    here_out=$out here_err=$err here_status=$status
    run heddle --via-server "$@"
    same "$both_name: output" "$out" "$here_out"
    same "$both_name: errors" "$err" "$here_err"
    same "$both_name: status" "$status" "$here_status"
}
both "list" list
both "list in JSON" list --json
both "a thread" status backend
both "the tree" tree design
both "the log" log show design
both "the log in JSON" log show design --json
both "an export" log export design
both "a projection" project design
both "as text" project design --format text
both "for a provider" project design --format anthropic
both "a verdict" verify
both "agents" agent list --json
both "what is not there" status nowhere
both "in JSON" status nowhere --json
both "a wrong parameter" project design --at -7
both "a wrong value" list --status asleep
both "a search" search 'Grüße'
both "a context" context backend
both "what runs in the shell all the same" tokens --json objective
both "heads" head design
same "nothing was written by looking" "$(heddle head design --json | jq .rev)" 2
run heddle --via-server --as ana say design 'through the server'
exits "what writes goes through, too" 0
same "in the name that the shell gave" "$(heddle log show design --json --tail 1 | jq -r '[.actor,.payload.content] | join(" ")')" "ana through the server"
printf '{"kind":"ai_message","payload":{"role":"user","content":"a line"}}\n{"kind":"ai_mesage","payload":{}}\n' >lines
run heddle --via-server log append design --json <lines
exits "lines of standard input are sent on" 0
json "and answered" "$out" '[.first_seq,.rev]' '[3,5]'
has "with the warnings" "$err" "ai_mesage"
run heddle --via-server log append design --expect 1 <lines
exits "a conflict is a conflict" 1
has "and says so" "$err" "CONFLICT"
heddle log export design >exported
run heddle --via-server log import copied <exported
exits "an import streams in" 0
same "whole" "$(heddle log show copied --json | wc -l)" 5
run heddle --via-server config set system_prompt x
exits "what is for the shell runs in the shell" 0
same "and is done" "$(heddle config get system_prompt)" x
run heddle --via-server erase design 0 --with-derived --reason test
exits "erasing goes through" 0
same "and is done" "$(heddle log show design --json | head -n 1 | jq -c '.payload.content // "gone"')" '"gone"'

# ---- status, top ----------------------------------------------------------------------------------
run heddle serve --status
exits "the status is there" 0
has "with the address" "$out" "$url"
run heddle serve --status --json
json "for programs, too" "$out" '[(.requests > 20), .pid]' "[true,$serve_pid]"
run heddle top --once
has "top names the operations" "$out" "thread.list"
has "and how many writes share a commit" "$out" "a commit"
run heddle top --once --json
json "top for programs" "$out" '[.operations[] | select(.name == "log.export") | .count] | length' 1
run curl -sS -H "Authorization: Bearer $token" "$url/metrics"
has "metrics have their types" "$out" "# TYPE heddle_operation_seconds histogram"
has "and operations" "$out" 'heddle_operation_seconds_count{operation="log.export"} 1'
printf '%s\n' "$out" >metrics
run node "$(dirname "$0")/prometheus.mjs" <metrics
exits "a strict reader of the format finds nothing" 0
same "metrics are not for everybody" "$(curl -s -o /dev/null -w '%{http_code}' "$url/metrics")" 401
same "health is" "$(curl -s "$url/healthz")" ok
same "and readiness" "$(curl -s "$url/readyz")" ready

# ---- open --------------------------------------------------------------------------------------------
cat >"$scratch/browser" <<'END'
#!/bin/sh
printf '%s\n' "$@" >"$BROWSER_SAW.argv"
cat "$1" >"$BROWSER_SAW.page"
stat -c %a "$1" >"$BROWSER_SAW.mode"
END
chmod +x "$scratch/browser"
export BROWSER="$scratch/browser" BROWSER_SAW="$scratch/saw"
run heddle open
exits "the page is opened with the server that runs" 0
lacks "the link is in no command line" "$(cat "$scratch/saw.argv")" "#k="
same "but in a file of the user" "$(cat "$scratch/saw.mode")" 600
link=$(sed -n 's/.*href="\([^"]*\)".*/\1/p' "$scratch/saw.page")
has "which leads to the page" "$link" "$url/#k="
same "and works" "$(curl -s -o /dev/null -w '%{http_code}' -H 'Content-Type: application/json' -d "{\"k\":\"${link##*=}\"}" "$url/api/session")" 200
run heddle open --print
has "it can be printed" "$out" "$url/#k="
kill -9 "$serve_pid"
wait "$serve_pid" 2>/dev/null
run heddle serve --status
exits "a server that was killed is not there" 1
run heddle open
exits "opening starts one in the background" 0
run heddle serve --status --json
exits "which runs" 0
json "with an address of its own" "$out" '.url | startswith("http://127.0.0.1:")' true
run heddle serve --stop
exits "and is stopped" 0
run heddle serve --status
exits "then it is gone" 1
heddle serve --json >"$scratch/serve.json" &
serve_pid=$!
await test -s "$scratch/serve.json"
json "a server says where it is as one line of JSON" "$(head -n 1 "$scratch/serve.json")" \
    '[(.root | startswith("/")), (.urls | map(startswith("http://127.0.0.1:")) | any), (.link | test("/#k="))]' '[true,true,true]'
same "which is all it prints" "$(wc -l <"$scratch/serve.json")" 1
run heddle serve --stop --json
same "and that it stopped" "$out" '{"stopped":true}'
wait "$serve_pid"
same "and so are its files" "$(find "$XDG_RUNTIME_DIR/heddle" -name '*.json' -o -name '*.sock' | wc -l)" 0

# ---- the access log ----------------------------------------------------------------------------------
start_server --access-log "$scratch/access"
curl -s -H "Authorization: Bearer $token" "$url/api/log.show?thread=design" >/dev/null
curl -s -H "Authorization: Bearer hidden" "$url/api/thread.list?status=secret" >/dev/null
post log.append '{"thread":"t","entries":[{"kind":"ai_message","payload":{"role":"user","content":"private words"}}]}'
stop_server
log=$(cat "$scratch/access")
json "each request is a line" "$(printf '%s\n' "$log" | jq -sc '[.[] | [.caller,.method,.path,.status]]')" . \
    '[["shell","GET","/api/log.show",200],["nobody","GET","/api/thread.list",401],["shell","POST","/api/log.append",200]]'
lacks "without secrets" "$log" "$token"
lacks "not even wrong ones" "$log" "hidden"
lacks "without what was said" "$log" "private"
lacks "without the query" "$log" "secret"

# ---- sockets ------------------------------------------------------------------------------------------
start_server --listen "unix:$scratch/my.sock"
same "a socket of the file system" "$(curl -s --unix-socket "$scratch/my.sock" http://localhost/healthz)" ok
same "is for its user" "$(stat -c %a "$scratch/my.sock")" 600
same "and wants a secret, too" "$(curl -s -o /dev/null -w '%{http_code}' --unix-socket "$scratch/my.sock" http://localhost/api/thread.list)" 401
stop_server
# handed WORDS...: as systemd starts it, with a socket that listens as descriptor 3. The kernel chooses the port: every
# other one may be taken, also by a connection that has ended within the last minute.
handed() {
    exec perl -MIO::Socket::INET -MPOSIX=dup2 -e '$^F = 9; my $s = IO::Socket::INET->new(Listen => 5, LocalAddr => "127.0.0.1:0") or die;
        dup2(fileno($s), 3); $ENV{LISTEN_PID} = $$; $ENV{LISTEN_FDS} = 1; exec @ARGV' "$@"
}
handed "$HEDDLE" serve >"$scratch/serve.out" 2>&1 &
serve_pid=$!
await grep -q '^ready' "$scratch/serve.out"
port=$(sed -n 's|^  at http://127.0.0.1:\([0-9]*\)$|\1|p' "$scratch/serve.out")
same "a socket that was handed over is served" "$(curl -s "http://127.0.0.1:$port/healthz")" ok
same "and is the only address" "$(grep -c '^  at http' "$scratch/serve.out")" 1
has "the page is there, too" "$(cat "$scratch/serve.out")" "http://127.0.0.1:$port/#k="
run heddle serve --status
has "and the shell finds it" "$out" "http://127.0.0.1:$port"
stop_server
exits "it ends as usual" 0
run env LISTEN_PID=1 LISTEN_FDS=1 "$HEDDLE" serve --listen 127.0.0.1:99999
exits "sockets for another process are not taken" 2
run sh -c 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$HEDDLE" serve 3</dev/null'
exits "what is not a socket is refused" 1
has "and named" "$err" "descriptor 3 of LISTEN_FDS"
if command -v systemd-socket-activate >/dev/null; then
    systemd-socket-activate -E HOME -E XDG_RUNTIME_DIR -l "$scratch/handed.sock" "$HEDDLE" serve >"$scratch/handed" 2>&1 &
    serve_pid=$!
    await curl -s -o "$scratch/health" --unix-socket "$scratch/handed.sock" http://localhost/healthz
    same "a socket that systemd opened is served" "$(cat "$scratch/health")" ok
    kill "$serve_pid"
    wait "$serve_pid" 2>/dev/null
    mkdir units
    sed "s|@bindir@/heddle|$HEDDLE|" "$HEDDLE_SOURCE/tools/systemd/heddle@.service" >units/heddle@.service
    cp "$HEDDLE_SOURCE/tools/systemd/heddle@.socket" units
    run systemd-analyze --user --man=no verify units/heddle@tmp.service units/heddle@tmp.socket
    lacks "the units are well-formed" "$err" "heddle@tmp"
    cp units/heddle@.service units/heddle@tmp.service
    run systemd-analyze --offline=true --threshold=50 --no-pager security "$PWD/units/heddle@tmp.service"
    exits "and the service is in a sandbox" 0
else
    skip "a socket of systemd" "systemd-socket-activate is not installed"
fi
: "$here"
done_testing

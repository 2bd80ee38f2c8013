#!/bin/sh
# `heddle mcp`: messages on standard input and output. tests/unit/mcp_session.c has what is answered;
# here is what the transport does. mcp_clients.sh asks clients that are not ours.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

# answer ID FILTER: jq -c of the answer to a request in $out.
answer() { printf '%s\n' "$out" | jq -c "select(.id == $1) | $2"; }

heddle init >/dev/null
heddle objective create Release --id release >/dev/null
heddle spawn --id research --intent 'Look around' --objective release --no-run >/dev/null 2>&1
heddle spawn --id build --intent 'Build it' --objective release --ref research --no-run >/dev/null 2>&1
echo '# What we know' >.leslie/threads/research/design.md
heddle agent add Collab --kind model --model offline:echo --permissions all >/dev/null
heddle agent add Reader --kind model --model offline:echo --permissions doc_read >/dev/null

# ---- one message a line, and nothing else -------------------------------------------------------

cat >session <<'END'
{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}

{"jsonrpc":"2.0","id":1,"method":"tools/list"}
not JSON
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"loom","arguments":{"thread":"build","agent":"Collab","lines":"First.\n"}}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"loom","arguments":{"thread":"build","agent":"Collab","lines":"Second.\n"}}}
{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"loom","arguments":{"thread":"build","agent":"Collab","lines":"Third.\n"}}}
{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"read","arguments":{"thread":"build","name":"design.md"}}}
{"jsonrpc":"2.0","id":6,"method":"resources/read","params":{"uri":"heddle://thread/build/context"}}
END
run heddle mcp <session
exits "it ends with its input" 0
same "it prints nothing on standard error" "$err" ''
same "every line is a message" "$(printf '%s\n' "$out" | jq -c 'select(.jsonrpc != "2.0")')" ''
same "each request is answered once" "$(printf '%s\n' "$out" | jq -c .id | sort | tr '\n' ' ')" '0 1 2 3 4 5 6 null '
same "what is no JSON does not end it" "$(answer null .error.code)" -32700
same "the tools are few" "$(answer 1 '[.result.tools[].name]')" '["loom","context","read","search","payload"]'
same "their parameters are those of the operations" "$(answer 1 '.result.tools[0].inputSchema.properties | keys')" \
    "$(heddle api schema loom.do | jq -c '.params.properties | keys')"
same "and so are their answers" "$(answer 1 '.result.tools[0].outputSchema')" "$(heddle api schema loom.do | jq -c '.answer | del(."$schema")')"
same "calls that write run in the order in which they came" "$(heddle log show build --json | jq -r 'select(.kind == "ai_message") | .payload.content' | tr '\n' ' ')" 'First. Second. Third. '
same "a referenced asset is read" "$(answer 5 '.result.content[0].text')" '"# What we know\n"'
has "a context is a resource" "$(answer 6 '.result.contents[0].text')" '<ref thread=\"research\">'

# ---- too long, cut off, closed --------------------------------------------------------------------

{
    printf '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"'
    head -c 17000000 /dev/zero | tr '\0' x
    printf '"}}\n{"jsonrpc":"2.0","id":2,"method":"ping"}\n{"jsonrpc":"2.0","id":3,"meth'
} >long
run heddle mcp <long
exits "a message that is too long does not end it" 0
same "it is refused" "$(printf '%s\n' "$out" | jq -c 'select(.id == null) | .error.code' | head -n 1)" -32600
same "the next one is answered" "$(answer 2 .result)" '{}'
rm long
run heddle mcp </dev/null
exits "no input at all is no error" 0
same "and no output" "$out" ''
heddle mcp <session 2>closed | head -n 1 >/dev/null
lacks "a client that goes away is no error" "$(cat closed)" '✗'

# ---- a bound agent, a thread of its own -------------------------------------------------------------

cat >bound <<'END'
{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":"First"}}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read","arguments":{"name":"design.md"}}}
{"jsonrpc":"2.0","id":3,"method":"tools/list"}
END
run heddle mcp --agent Reader --thread build <bound
same "what the agent may not do is refused" "$(answer 1 '[.result.isError, .result.content[0].text]')" \
    '[true,"PERMISSION_DENIED: loom_aware not enabled\n  hint: request elevated permissions or ask the human to do it\n"]'
same "what it may do is done in the thread of the server" "$(answer 2 '.result.content[0].text')" '"# What we know\n"'
same "the thread need not be named" "$(answer 3 '.result.tools[2].inputSchema.required')" '["name"]'
run env HEDDLE_THREAD=build "$HEDDLE" mcp <bound
same "HEDDLE_THREAD names the thread" "$(answer 2 '.result.content[0].text')" '"# What we know\n"'
run heddle mcp --agent Nobody --thread build <bound
has "an agent that is not there is named" "$(answer 2 '.result.content[0].text')" "agent 'Nobody' not found"

# ---- progress, cancellation, subscriptions: a client that waits for answers -------------------------

mkfifo to from
heddle mcp <to >from 2>/dev/null &
server=$!
exec 3>to 4<from
# tell MESSAGE; hear: the next line in $line
tell() { printf '%s\n' "$1" >&3; }
hear() { IFS= read -r line <&4; }
tell '{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["heddle://thread/build/context"],"resourcesListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}'
hear
json "a subscription is acknowledged" "$line" '[.method, .params.notifications.resourceSubscriptions]' '["notifications/subscriptions/acknowledged",["heddle://thread/build/context"]]'
echo '# Plan' >"$scratch/plan" && mv "$scratch/plan" .leslie/threads/build/plan.md # at once: an empty file is a change, too
hear
json "a change of a file is told" "$line" '[.method, .params.uri, .params._meta["io.modelcontextprotocol/subscriptionId"]]' '["notifications/resources/updated","heddle://thread/build/context",1]'
heddle spawn --id more --intent 'One more' --objective release --no-run >/dev/null 2>&1
hear
json "a new thread is told" "$line" .method '"notifications/resources/list_changed"'
tell '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search","arguments":{"query":"First"},"_meta":{"progressToken":"p1"}}}'
hear
while printf '%s' "$line" | grep -q notifications/progress; do
    progress=$line
    hear
done
json "progress is told to who asked for it" "${progress:-null}" '.params | [.progressToken, .progress > 0]' '["p1",true]'
json "then comes the answer" "$line" '[.id, (.result.structuredContent.items | length) > 0]' '[2,true]'
exec 3>&-
hear
json "a subscription that is open ends with an answer" "$line" '[.id, .result.resultType]' '[1,"complete"]'
wait $server
same "the server ends when its input is closed" $? 0
exec 4<&-

run heddle mcp --help
has "help names the tools" "$out" 'loom (lines that start with →), context, read, search, payload'
run heddle mcp extra
exits "words are refused" 2
done_testing

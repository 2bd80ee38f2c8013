#!/bin/sh
# The Model Context Protocol over HTTP: sessions, streams and their end, requests that stand for
# themselves, and what a token may not.
# tsan: yes
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

heddle init >/dev/null
heddle objective create Release --id release >/dev/null
heddle spawn --id build --intent 'Build it' --objective release --no-run >/dev/null 2>&1
heddle agent add Collab --kind model --model offline:echo --permissions all >/dev/null
heddle say build 'A first word.' >/dev/null
start_server
both='Accept: application/json, text/event-stream'
# rpc BODY WORDS...: a message, as a client sends it
rpc() {
    rpc_body=$1
    shift
    ask -H 'Content-Type: application/json' -H "$both" -d "$rpc_body" "$@" "$url/mcp"
}
field() { printf '%s\n' "$head" | sed -n "s/^$1: //p"; }

# ---- with a handshake -------------------------------------------------------------------------------
hello='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'
rpc "$hello"
same "a handshake" "$code" 200
json "answers with the revision" "$out" .result.protocolVersion '"2025-06-18"'
session=$(field Mcp-Session-Id)
ok "and with a session" test -n "$session"
in_session() { rpc "$1" -H "Mcp-Session-Id: $session" -H 'MCP-Protocol-Version: 2025-06-18'; }
in_session '{"jsonrpc":"2.0","method":"notifications/initialized"}'
same "a notification has no answer" "$code$out" 202
in_session '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
json "there are tools" "$out" '[.result.tools[].name] | length' 5
in_session '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"search","arguments":{"query":"first"}}}'
json "a tool is called" "$out" '.result.structuredContent.items | length' 1
in_session '{"jsonrpc":"2.0","id":4,"method":"nothing/here"}'
json "an error is an answer" "$out" .error.code -32601
same "with the status of one" "$code" 200
rpc '{"jsonrpc":"2.0","id":5,"method":"tools/list"}'
same "without a session nothing is known" "$code" 400
rpc '{"jsonrpc":"2.0","id":5,"method":"tools/list"}' -H 'Mcp-Session-Id: nobody'
same "a session that is not there" "$code" 404
rpc '{"jsonrpc":"2.0","id":5,"method":"tools/list"}' -H "Mcp-Session-Id: $session" -H 'MCP-Protocol-Version: 1999-01-01'
same "a revision that is not there" "$code" 400
in_session '{"jsonrpc":'
same "what is not JSON" "$code" 400
: >"$scratch/stream"
curl -sN -H "Authorization: Bearer $token" -H 'Accept: text/event-stream' -H "Mcp-Session-Id: $session" "$url/mcp" >"$scratch/stream" &
listener=$!
in_session '{"jsonrpc":"2.0","id":6,"method":"resources/subscribe","params":{"uri":"heddle://thread/build/asset/progress.md"}}'
echo 'It goes on.' >.leslie/threads/build/progress.md
await grep -q updated "$scratch/stream"
has "what was subscribed to is told on the stream" "$(cat "$scratch/stream")" 'data: {"jsonrpc":"2.0","method":"notifications/resources/updated"'
ask -H 'Accept: application/json' -H "Mcp-Session-Id: $session" "$url/mcp"
same "a stream is asked for as one" "$code" 406
ask -X DELETE -H "Mcp-Session-Id: $session" "$url/mcp"
same "a session is ended" "$code" 200
wait $listener
pass "and with it its stream"
in_session '{"jsonrpc":"2.0","id":7,"method":"ping"}'
same "then it is gone" "$code" 404

# ---- without ------------------------------------------------------------------------------------------
# modern METHOD MEMBERS WORDS...: a request that says its revision
modern() {
    modern_method=$1 modern_params=$2
    shift 2
    rpc "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$modern_method\",\"params\":{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/clientInfo\":{\"name\":\"t\",\"version\":\"1\"},\"io.modelcontextprotocol/clientCapabilities\":{}}$modern_params}}" \
        -H 'MCP-Protocol-Version: 2026-07-28' -H "Mcp-Method: $modern_method" "$@"
}
modern server/discover ''
json "a request stands for itself" "$out" '.result.supportedVersions[0]' '"2026-07-28"'
same "without a session" "$(field Mcp-Session-Id)" ''
modern tools/call ',"name":"search","arguments":{"query":"first"}' -H 'Mcp-Name: search'
json "a tool is called" "$out" '.result.structuredContent.items | length' 1
modern tools/call ',"name":"search","arguments":{"query":"first"}' -H 'Mcp-Name: =?base64?c2VhcmNo?='
json "whose name may be packed" "$out" '.result.structuredContent.items | length' 1
modern tools/call ',"name":"search","arguments":{"query":"first"}' -H 'Mcp-Name: loom'
same "a head that says something else than the body is refused" "$code" 400
json "with the code for it" "$out" .error.code -32020
rpc '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}'
same "and so is one that says nothing" "$code" 400
modern nothing/here ''
same "a method that is not there has its status" "$code" 404
: >"$scratch/stream"
curl -sN -H "Authorization: Bearer $token" -H "$both" -H 'Content-Type: application/json' -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: subscriptions/listen' \
    -d '{"jsonrpc":"2.0","id":9,"method":"subscriptions/listen","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}},"notifications":{"resourceSubscriptions":["heddle://thread/build/asset/progress.md"]}}}' \
    "$url/mcp" >"$scratch/stream" &
listener=$!
await grep -q acknowledged "$scratch/stream"
has "listening is acknowledged" "$(cat "$scratch/stream")" acknowledged
echo 'Still.' >.leslie/threads/build/progress.md
await grep -q updated "$scratch/stream"
has "and what changes is told" "$(cat "$scratch/stream")" notifications/resources/updated

# ---- whose -------------------------------------------------------------------------------------------
same "nobody comes in without a secret" "$(curl -s -o /dev/null -w '%{http_code}' -H 'Content-Type: application/json' -d "$hello" "$url/mcp")" 401
ask -H 'Content-Type: application/json' -H 'Origin: https://evil.example' -d "$hello" "$url/mcp"
same "no page of another origin either" "$code" 403
rpc "$hello"
session=$(field Mcp-Session-Id)
mine=$token
token=$(heddle token create reader)
in_session '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
same "a session belongs to who made it" "$code" 404
modern tools/call ',"name":"search","arguments":{"query":"first"}' -H 'Mcp-Name: search'
json "a token that reads may search" "$out" '.result.structuredContent.items | length' 1
modern tools/call ',"name":"loom","arguments":{"thread":"build","agent":"Collab","lines":"→ tree"}' -H 'Mcp-Name: loom'
json "and not run lines, which may ask a model" "$out" '[.result.isError, (.result.content[0].text | split(":")[0])]' '[true,"PERMISSION_DENIED"]'
token=$(heddle token create builder --thread build)
modern resources/read ',"uri":"heddle://thread/build/context"' -H 'Mcp-Name: heddle://thread/build/context'
has "a token for a thread reads it" "$out" '<thread_context'
modern tools/call ',"name":"search","arguments":{"query":"first"}' -H 'Mcp-Name: search'
json "and searches nowhere else" "$out" '[.result.isError, (.result.content[0].text | split(":")[0])]' '[true,"PERMISSION_DENIED"]'
token=$mine
stop_server
exits "the server ends with streams open" 0
wait $listener
pass "and ends them"
done_testing

#!/bin/sh
# /mcp with clients that are not ours: the official SDKs of both kinds of revisions, and the conformance
# suite (serve_mcp_conformance.yaml says what does not apply).
# suite: clients
# asan: no
# postgres: no, the same calls as serve_mcp.sh, from other programs
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/npm-lib.sh
. "$(dirname "$0")/../npm-lib.sh"
# shellcheck source=tests/mcp-lib.sh
. "$(dirname "$0")/../mcp-lib.sh"
here=$(cd "$(dirname "$0")" && pwd)

mcp_workspace
# The conformance suite sends no token. A proxy adds it, and the server must take the proxy's address for its own.
node "$here/auth_proxy.mjs" "$scratch/port" "$scratch/target" 2>"$scratch/proxy" &
proxy=$!
at_end 'kill $proxy 2>/dev/null; rm -rf "$scratch"'
port=$(wait_port)
start_server --allow-host "127.0.0.1:$port,localhost:$port"
at_end 'kill $proxy $serve_pid 2>/dev/null; wait 2>/dev/null; rm -rf "$scratch"'
printf '%s %s\n' "$url" "$token" >"$scratch/target"
MCP_TOKEN=$token
export MCP_TOKEN

for client in v1 v2 v2-auto; do
    mcp_client "$client" "$url"
done
mcp_conformance "http://127.0.0.1:$port/mcp" "$here/serve_mcp_conformance.yaml"
same "conformance: without a session only missing examples are left" "$stateless" \
    'sep-2575-http-server-no-independent-requests-on-stream sep-2575-missing-capability-http-400 sep-2575-server-no-log-without-loglevel sep-2575-server-rejects-undeclared-capability '
stop_server
exits "the server ends after all of it" 0
done_testing

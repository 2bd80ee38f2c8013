#!/bin/sh
# `heddle mcp` with clients that are not ours: the official SDKs of both kinds of revisions, the command
# line of the Inspector, and the conformance suite (mcp_conformance.yaml says what does not apply).
# suite: test clients
# asan: no
# postgres: no, the same calls as mcp.sh, from other programs
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/npm-lib.sh
. "$(dirname "$0")/../npm-lib.sh"
# shellcheck source=tests/mcp-lib.sh
. "$(dirname "$0")/../mcp-lib.sh"
here=$(cd "$(dirname "$0")" && pwd)

mcp_workspace

# ---- the SDKs ------------------------------------------------------------------------------------

for client in v1 v2 v2-auto; do
    mcp_client "$client" "$HEDDLE"
    same "$client: what users of the server should know" "$(got instructions)" true
    has "$client: a context is listed" "$(got resources)" 'heddle://thread/build/context'
    same "$client: a prompt ends with the task" "$(got prompt)" true
    same "$client: names are completed" "$(got completion)" '["build"]'
done

# ---- the Inspector ---------------------------------------------------------------------------------

for era in legacy modern; do
    inspect() { run timeout 300 mcp-inspector --cli --protocol-era "$era" --format json "$HEDDLE" mcp --agent Collab "$@"; }
    inspect --method tools/list
    json "inspector, $era: tools" "$out" '[(.result // .).tools[].name]' '["loom","context","read","search","payload"]'
    inspect --method tools/call --tool-name read --tool-arg thread=build name=design.md
    has "inspector, $era: a tool" "$out" 'What we know'
    inspect --method resources/read --uri heddle://thread/build/context
    has "inspector, $era: a resource" "$out" '<ref thread=\"research\">'
    inspect --method prompts/get --prompt-name thread-context --prompt-args thread=build 'task=Go on.'
    has "inspector, $era: a prompt" "$out" 'Go on.'
done

# ---- the conformance suite, through a bridge from HTTP ----------------------------------------------

node "$here/mcp_bridge.mjs" "$scratch/port" "$HEDDLE" mcp 2>"$scratch/bridge" &
server=$!
at_end 'kill $server 2>/dev/null; rm -rf "$scratch"'
mcp_conformance "http://127.0.0.1:$(wait_port)/mcp" "$here/mcp_conformance.yaml"
same "conformance: without a session only HTTP and missing examples are left" "$stateless" \
    'sep-2575-http-server-header-mismatch-400 sep-2575-http-server-meta-invalid-400 sep-2575-http-server-no-independent-requests-on-stream sep-2575-missing-capability-http-400 sep-2575-server-no-log-without-loglevel sep-2575-server-rejects-undeclared-capability '
done_testing

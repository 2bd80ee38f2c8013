# shellcheck shell=sh disable=SC2154 # scratch, out and npm_dir come from the files sourced before
# Clients of the Model Context Protocol that are not ours, in POSIX shell: what holds for each transport alike.
# Sourced after tests/e2e/lib.sh and tests/npm-lib.sh.
#
#     mcp_workspace
#     mcp_client v1 "$HEDDLE"          or the address of a server; then `got NAME` is what the client said of it
#     mcp_conformance URL FILE

npm_have mcp @modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/client@2.4.0 @modelcontextprotocol/inspector@2.12.0 \
    @modelcontextprotocol/conformance@0.2.0-alpha.12 || skip_all "MCP clients that are not ours" "$npm_why"
mcp_here=$(cd "$(dirname "$0")" && pwd)

mcp_workspace() {
    heddle init >/dev/null
    heddle objective create Release --id release >/dev/null
    heddle spawn --id research --intent 'Look around' --objective release --no-run >/dev/null 2>&1
    heddle spawn --id build --intent 'Build it' --objective release --ref research --no-run >/dev/null 2>&1
    echo '# What we know' >.leslie/threads/research/design.md
    heddle agent add Collab --kind model --model offline:echo --permissions all >/dev/null
    heddle say build 'A first word.' >/dev/null
}

got() { printf '%s\n' "$out" | sed -n "s/^$1: //p"; }

# mcp_client CLIENT WHERE: an official SDK makes all its calls.
mcp_client() {
    run timeout 300 node "$mcp_here/mcp_sdk.mjs" "$1" "$npm_dir" "$2"
    exits "$1: all calls come back" 0
    same "$1: the server says who it is" "$(got server)" '"heddle"'
    same "$1: there are five tools" "$(got tools)" '["loom","context","read","search","payload"]'
    same "$1: a context is read" "$(got read)" '"<thread_context thread=\"build\" "'
    same "$1: lines are run as the bound agent" "$(got loom)" '[false,true]'
    same "$1: what was said is found" "$(got search)" 1
    same "$1: progress comes before the answer, and grows" "$(got progress)" true
    same "$1: a failure is an answer" "$(got wrong)" '[true,"NOT_FOUND"]'
    has "$1: what is not there is an error" "$(got missing)" -32
    same "$1: a call can be cancelled" "$(got cancelled)" true
    same "$1: a change is told" "$(got updated)" '"heddle://thread/build/asset/progress.md"'
}

# mcp_conformance URL FILE: the conformance suite; FILE says what does not apply. Then $stateless has the checks
# that fail without a session.
mcp_conformance() {
    timeout 200 node "$npm_dir/node_modules/@modelcontextprotocol/conformance/dist/index.js" server --url "$1" --suite all \
        --expected-failures "$2" -o "$scratch/results" >"$scratch/suite" 2>&1
    ended=$?
    same "conformance: all scenarios that apply pass" "$ended $(sed -n '/nexpected failures (not\|now pass/,$p' "$scratch/suite")" '0 '
    results=$(find "$scratch/results" -name checks.json)
    same "conformance: every message is valid by the protocol's schema" \
        "$(printf '%s\n' "$results" | xargs jq -r '.[] | select(.id == "wire-schema-valid" and .status != "SUCCESS") | .errorMessage')" ''
    ok "conformance: and that was checked" test "$(printf '%s\n' "$results" | xargs jq -r '.[] | select(.id == "wire-schema-valid") | .status' | grep -c SUCCESS)" -gt 40
    # shellcheck disable=SC2034
    stateless=$(printf '%s\n' "$results" | grep server-stateless | xargs jq -r '.[] | select(.status == "FAILURE") | .id' | sort | tr '\n' ' ')
}

#!/bin/sh
# Providers against a stand-in that is not ours: @copilotkit/aimock, from npm.
# postgres: no, only what a model is sent
# shellcheck disable=SC1010
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/npm-lib.sh
. "$(dirname "$0")/../npm-lib.sh"

npm_have aimock @copilotkit/aimock@1 || skip_all "a stand-in that is not ours" "$npm_why"
mkdir fixtures
cat >fixtures/all.json <<'END'
{"fixtures":[{"match":{"userMessage":"you are here"},"response":{"content":"Two nodes."}},
{"match":{"userMessage":"Look around."},"response":{"content":"I look.\n→ tree\nAnd then I guess."}},
{"match":{"userMessage":"hello"},"response":{"content":"Grüße 👋 from a stand-in"}},
{"match":{"userMessage":"busy"},"response":{"error":{"message":"too many","type":"rate_limit_error"},"status":429}}]}
END
"$npm_dir/node_modules/.bin/llmock" -p 0 -f fixtures --chunk-size 3 >"$scratch/llmock.log" 2>&1 &
server=$!
at_end 'kill $server 2>/dev/null; rm -rf "$scratch"'
await grep -q 'listening on http' "$scratch/llmock.log"
base=$(sed -n 's|.*listening on \(http://127.0.0.1:[0-9]*\).*|\1|p' "$scratch/llmock.log")
export ANTHROPIC_BASE_URL=$base OPENAI_BASE_URL=$base/v1 GOOGLE_GEMINI_BASE_URL=$base VLLM_BASE_URL=$base/v1 \
    ANTHROPIC_API_KEY=key-0123456789 OPENAI_API_KEY=key-0123456789 GEMINI_API_KEY=key-0123456789
mkdir ws && cd ws || exit 1
heddle init >/dev/null
heddle agent add Ed --kind model --model offline:echo --permissions loom_aware,loom_write,loom_generate >/dev/null
root=$(heddle say t 'hello')
busy=$(heddle say b 'busy')
for model in anthropic:claude-opus-5-5 openai:gpt-6-luna openai-responses:gpt-6-luna google:gemini-4-argon vllm:some; do
    name=${model%%:*}
    heddle agent add "$name" --kind model --model "$model" >/dev/null
    printf '→ continue from %s using agent:"%s"\n' "$root" "$name" | tr -d '[]' >line
    run heddle do t --agent Ed <line
    has "$name answers" "$out" 'Grüße 👋 from a stand-in'
    same "$name: the answer is complete" "$(heddle log show t --json | jq -sc '[.[] | select(.kind == "model_response")] | last | .payload | [.provider, .finish]')" "[\"$name\",\"stop\"]"
    printf '→ continue from %s using agent:"%s"\n' "$busy" "$name" | tr -d '[]' >line
    run heddle do b --agent Ed <line
    has "$name: a limit is a limit" "$out" 'MODEL_ERROR: rateLimited'
    heddle agent set "$name" --permissions loom_aware >/dev/null
    run heddle talk "turn-$name" --agent "$name" --message 'Look around.' --json
    same "$name: a whole turn: a command, its result, the answer" \
        "$(jq -sc '[.[] | select(.type == "command" or .type == "result" or .outcome) | .text // .result.tool]' "$scratch/out")" '["→ tree","tree","Two nodes."]'
    same "$name: the stream ended with the batch" "$(heddle log show "turn-$name" --json | jq -sc '[.[] | select(.kind == "model_response") | .payload.finish]')" '["client_stop","stop"]'
done
done_testing

#!/bin/sh
# Providers of models over real HTTP on loopback: whole answers, and every way to fail. The server
# (providers.js) does what the name of the model says.
# postgres: no, it is about what providers are sent
# shellcheck disable=SC1010,SC2016
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

if ! command -v node >/dev/null; then
    skip "providers" "node is not installed"
    done_testing
fi
cp "$HEDDLE_SOURCE/tests/e2e/providers.js" "$scratch/server.js"
: >"$scratch/asked"
serve "$scratch/asked" "$scratch/port"

key=sk-SECRET-0123456789
export ANTHROPIC_BASE_URL="$base" ANTHROPIC_API_KEY=$key OPENAI_BASE_URL="$base/v1/" OPENAI_API_KEY=$key \
    VLLM_BASE_URL="$base/v1" GOOGLE_GEMINI_BASE_URL="$base" GEMINI_API_KEY=$key
mkdir ws && cd ws || exit 1
heddle init >/dev/null
heddle agent add Ed --kind model --model offline:echo --permissions loom_aware,loom_write,loom_generate >/dev/null
root=$(heddle say t 'Say something.')
root=${root#[} root=${root%]}
agents=' '

# ask MODEL: continue from the root with it; $out, $err, $status.
ask() {
    agent=$(printf '%s' "$1" | tr ':.' '--')
    case $agents in
    *" $agent "*) ;;
    *)
        heddle agent add "$agent" --kind model --model "$1" --system-prompt 'Be brief.' >/dev/null
        agents="$agents$agent "
        ;;
    esac
    printf '→ continue from %s using agent:"%s"\n' "$root" "$agent" >"$scratch/line"
    run heddle do t --agent Ed <"$scratch/line"
}
# last FILTER: of the last raw answer in the log.
last() { heddle log show t --json | jq -sc "[.[] | select(.kind == \"model_response\")] | last | .payload | $1"; }
asked() { jq -sc "last | $1" "$scratch/asked"; }
count() { jq -s length "$scratch/asked"; }

# ---- whole answers ----
for provider in anthropic openai vllm openai-responses google; do
    for mode in whole bytes; do
        ask "$provider:$mode"
        exits "$provider: $mode: it answers" 0
        has "$provider: $mode: the text is whole" "$out" 'Grüße 👋 → weiter'
        same "$provider: $mode: what is recorded" "$(last '[.finish, .prompt_tokens, .completion_tokens, .cached_tokens, .request_id, .provider]')" \
            "[\"stop\",11,9,4,\"req-7\",\"$provider\"]"
    done
    lacks "$provider: cookies are not kept" "$(last .headers)" cookie
    [ $provider = openai-responses ] && continue
    ask "$provider:refusal"
    same "$provider: a refusal has its own finish" "$(last .finish)" '"content_filter"'
done
ask anthropic:whole
same "anthropic is asked as it wants to be" "$(asked '[.url, .headers["x-api-key"], .headers["anthropic-version"], .headers.authorization, .body]')" \
    "[\"/v1/messages\",\"$key\",\"2026-10-21\",null,{\"max_tokens\":8192,\"model\":\"whole\",\"stream\":true,\"messages\":[{\"content\":\"Say something.\",\"role\":\"user\"}],\"system\":\"Be brief.\"}]"
ask openai:whole
same "openai is asked as it wants to be" "$(asked '[.url, .headers.authorization, .body.stream_options, .body.max_completion_tokens]')" \
    "[\"/v1/chat/completions\",\"Bearer $key\",{\"include_usage\":true},null]"
ask openai-responses:whole
same "responses are not kept at the provider" "$(asked '[.url, .headers.authorization, .body.store, .body.stream, .body.instructions]')" \
    "[\"/v1/responses\",\"Bearer $key\",false,true,\"Be brief.\"]"
ask google:whole
same "google is asked as it wants to be" "$(asked '[.url, .headers["x-goog-api-key"], .body]')" \
    "[\"/v1beta/models/whole:streamGenerateContent?alt=sse\",\"$key\",{\"contents\":[{\"parts\":[{\"text\":\"Say something.\"}],\"role\":\"user\"}],\"systemInstruction\":{\"parts\":[{\"text\":\"Be brief.\"}]}}]"
ask vllm:whole
same "a local server needs no key" "$(asked '[.headers.authorization, .body.max_tokens]')" '[null,null]'
ANTHROPIC_API_KEY='' ANTHROPIC_AUTH_TOKEN=tok-123456789 ask anthropic:whole
same "a token is sent as a bearer's" "$(asked '[.headers.authorization, .headers["x-api-key"]]')" '["Bearer tok-123456789",null]'

ask vllm-completions:bytes
has "a base model goes on with a text" "$out" 'Grüße 👋 → weiter'
same "which is the prompt" "$(asked '[.url, .body.prompt, .body.messages]')" '["/v1/completions","Be brief.\n\nSay something.",null]'
same "and its usage is recorded" "$(last '[.finish, .prompt_tokens]')" '["stop",11]'
ask vllm-completions:cut
same "a base model is cut off like any other" "$(last '[.finish, .interruption]')" '["error","network"]'

# ---- cut off: kept and marked, never a success, never asked again ----
for mode in cut broken mid; do
    for provider in anthropic openai openai-responses google; do
        before=$(count)
        ask "$provider:$mode"
        has "$provider: $mode: what came is kept" "$out" 'Grüße 👋'
        same "$provider: $mode: it is an interruption" "$(last '[.finish, .interruption, .tokens_estimated]')" \
            "[\"error\",\"$([ $mode = mid ] && echo provider_error || echo network)\",true]"
        same "$provider: $mode: asked once" "$(count)" $((before + 1))
    done
done
has "the text says so" "$(heddle log show t --json | jq -sr '[.[] | select(.kind == "ai_message")] | last | .payload.content')" '[stream interrupted: provider_error]'
heddle config set --user models.idle_ms 300 >/dev/null
ask anthropic:stall
same "silence within an answer is a time-out" "$(last '[.finish, .interruption]')" '["error","timeout"]'
heddle config set --user models.idle_ms 300000 >/dev/null
heddle config set --user models.first_byte_ms 300 >/dev/null
before=$(count)
ask anthropic:silent
has "silence before it is a failure" "$out" '✗ MODEL_ERROR: timeout: no answer came in time'
all_three() { [ "$(count)" -eq $((before + 3)) ]; } # a busy server reads a request after its client has gone
ok "that is tried again" await all_three
heddle config set --user models.first_byte_ms 600000 >/dev/null
ask openai:endless
same "an answer without end is cut" "$(last '[.finish, .interruption]')" '["error","provider_error"]'

# ---- failures ----
# fails MODEL TRIES CODE
fails() {
    before=$(count)
    ask "$1"
    has "$1 is $3" "$out" "✗ MODEL_ERROR: $3"
    same "$1 is asked $2 times" "$(count)" $((before + $2))
}
fails anthropic:s400 1 invalidRequest
fails anthropic:s401 1 authenticationFailed
fails anthropic:s404 1 modelNotFound
fails anthropic:s408 3 timeout
fails anthropic:s413 1 requestTooLarge
fails anthropic:s429 3 rateLimited
fails anthropic:s500 3 serverError
fails anthropic:s529 3 overloaded
fails anthropic:long 1 contextTooLong
fails openai:long 1 contextTooLong
fails google:long 1 contextTooLong
fails google:badkey 1 authenticationFailed
fails openai:quota 1 billing
fails openai:badkey 1 authenticationFailed
fails openai:json 1 'billing: no credits'
fails openai:html 1 'invalidResponse: the provider did not answer with a stream'
fails openai:headers 1 'invalidResponse: more than 262144 bytes of headers'
fails openai:proxy 3 'serverError: HTTP 502'
fails openai:empty 3 'networkError: the connection was closed before the answer was complete'
fails openai:noretry 1 serverError
fails openai:wait 1 rateLimited
fails openai:moved 1 'unknown: HTTP 307'
lacks "a redirect is not followed" "$(cat "$scratch/asked")" stolen
ask anthropic:flaky
has "what passes is tried again" "$out" 'Grüße 👋 → weiter'
before=$(count)
ask openai:usage
has "a setting that is refused is left out" "$out" 'Grüße 👋 → weiter'
has "and that is said" "$out" '(sent differently: left out the setting stream_options, which the provider refused)'
same "after one more try" "$(count)" $((before + 2))
ask nobody:x
has "there is no such provider" "$out" "no provider for model 'nobody:x'"

for mode in binary dribble; do
    for provider in anthropic openai openai-responses google; do
        ask "$provider:$mode"
        has "$provider: $mode: it is read" "$out" 'Grüße 👋 → weiter'
    done
done
heddle tree attest t >"$scratch/attested"
lacks "bytes that are not text are evidence too" "$(cat "$scratch/attested")" changed

# ---- several at once ----
heddle agent add Crowd --kind model --model openai:crowd-3 >/dev/null
printf '→ continue from %s n:3 using agent:"Crowd"\n' "$root" >"$scratch/line"
run heddle do t --agent Ed <"$scratch/line"
has "three are asked at once" "$out" '✓ generating 3 continuations'
same "and three nodes are made" "$(printf '%s\n' "$out" | grep -c 'Grüße')" 3
heddle agent add Part --kind model --model openai:part-3 >/dev/null
printf '→ continue from %s n:3 using agent:"Part"\n' "$root" >"$scratch/line"
run heddle do t --agent Ed <"$scratch/line"
same "what came is kept when one of them fails" "$(printf '%s\n' "$out" | grep -c 'Grüße')" 2
has "and the failure is told" "$out" '✗ MODEL_ERROR: 1 of 3 failed: invalidRequest: not this one'
heddle agent add Late --kind model --model openai:late-3 >/dev/null
printf '→ continue from %s n:3 seed:7 using agent:"Late"\n' "$root" >"$scratch/line"
run heddle do t --agent Ed <"$scratch/line"
same "seeds differ, and siblings stand in the order in which they were asked for" \
    "$(printf '%s\n' "$out" | sed -n 's/.*"\(seed .*\)"/\1/p' | tr '\n' ' ')" 'seed 7 seed 8 seed 9 '
heddle agent add Ann --kind model --model openai:whole --permissions loom_aware,loom_generate >/dev/null
before=$(count)
printf '→ continue from %s n:3 using agent:"Ann"\n' "$root" >"$scratch/line"
run heddle do t --agent Ann <"$scratch/line"
has "nobody asks itself" "$out" 'an agent cannot continue as itself'
same "not even once" "$(count)" "$before"

# ---- ended by a person ----
heddle agent add Slow --kind model --model anthropic:slow >/dev/null
printf '→ continue from %s using agent:"Slow"\n→ view %s\n' "$root" "$root" >"$scratch/line"
"$HEDDLE" do t --agent Ed <"$scratch/line" >"$scratch/slow" 2>"$scratch/slow.err" &
slow=$!
await test -s "$scratch/asked.slow" # 20 words were sent
kill -TERM $slow # a shell ignores INT for what it starts in the background
wait $slow
has "what came before Ctrl-C is kept" "$(cat "$scratch/slow")" '"w0 w1'
same "it is marked" "$(last '[.finish, .interruption, .tokens_estimated]')" '["error","cancelled",true]'
has "the rest of the batch is not run" "$(cat "$scratch/slow.err")" 'CONFLICT: 1 of 2 commands were not run: cancelled'
same "and nobody holds the node" "$(heddle log show t --json | jq -sc '[.[] | select(.payload.mark == "lease" or .payload.mark == "release")] | last | .payload.mark')" '"release"'

# ---- settings, usage, cost ----
heddle agent add Base --kind model --model vllm-completions:probs --logprobs 2 --temperature 0.5 --stop END >/dev/null
printf '→ continue from %s using agent:"Base"\n' "$root" >"$scratch/line"
run heddle do t --agent Ed <"$scratch/line"
same "a base model tells probabilities" "$(last .logprobs)" \
    '{"token_logprobs":[-0.25,-0.5],"tokens":["Once"," upon"],"top_logprobs":[{"Once":-0.25,"The":-1.5},{" upon":-0.5}]}'
same "when it is asked to" "$(asked '[.body.logprobs, .body.temperature, .body.stop]')" '[2,0.5,["END"]]'
ask vllm:cost
same "what a provider says it cost is recorded" "$(last .cost)" 0.0125
heddle config set --user models.prices.anthropic: '[3, 15]' >/dev/null
heddle config set --user models.prices.anthropic:whole '[2.5, 10, 0.25, 4]' >/dev/null
ask anthropic:whole
same "else the prices of the settings count: 7 tokens at 2.5, 4 cached at 0.25, 9 at 10 a million" "$(last .cost)" 0.0001085
ask anthropic:refusal
same "by the longest name that fits" "$(last .cost)" 0.000168
ask openai:whole
same "without a price there is no cost" "$(last .cost)" null
run heddle config set --user models.prices.openai: '[1]'
exits "prices are two to four numbers" 1
printf '{"models":{"prices":{"openai:":[0,0]}}}\n' >.heddle/config.json
ask openai:whole
same "a checkout does not say what is cheap" "$(last .cost)" null
rm .heddle/config.json
for provider in openai-responses google; do
    heddle agent add "hard-$provider" --kind model --model "$provider:effort" --effort high >/dev/null
    printf '→ continue from %s n:1 using agent:"hard-%s"\n→ continue from %s using agent:"hard-%s"\n' "$root" "$provider" "$root" "$provider" >"$scratch/line"
    before=$(count)
    run heddle do t --agent Ed <"$scratch/line"
    has "$provider: an effort that is refused is left out" "$out" '(sent differently: left out the setting'
    same "$provider: and not tried again" "$(count)" $((before + 3))
done
heddle agent add Deep --kind model --model anthropic:whole --effort low >/dev/null
printf '→ continue from %s using agent:"Deep"\n' "$root" >"$scratch/line"
run heddle do t --agent Ed <"$scratch/line"
same "effort has its own place" "$(asked .body.output_config)" '{"effort":"low"}'

# ---- small models: that of the agent's company, then the one of the settings once it is gone (company.sh has the rest) ----
heddle config set --user models.small.openai openai:whole >/dev/null
words='of which one needs more than thirty before a model is asked, since a text that has no more of them than that is its own summary, and is shown as it is, wherever it is shown.'
heddle say sums --agent openai-whole "A long story. It goes on, $words" >/dev/null
before=$(count)
run heddle summarize sums
has "a model in the place of one that is gone makes the summary" "$out" 'Grüße 👋 → weiter'
same "after the other was asked" "$(jq -sc ".[$before:] | map([.body.model, (.body.max_tokens // .body.max_completion_tokens)])" "$scratch/asked")" '[["gpt-4o-mini",50],["whole",50]]'
heddle config set --user loom.summary_model none >/dev/null
heddle say sums --agent openai-whole "And more. It goes on, $words" >/dev/null
before=$(count)
run heddle summarize sums
has "nobody is asked when that is said" "$out" 'And more. (provisional)'
same "nobody at all" "$(count)" "$before"
heddle config unset --user loom.summary_model >/dev/null
heddle config unset --user models.small.openai >/dev/null

# ---- keys and addresses ----
printf '#!/bin/sh\necho run >>%s/ran\necho "key-by-command-0123"\necho more\n' "$scratch" >"$scratch/keys"
chmod +x "$scratch/keys"
heddle config set --user models.key_command.anthropic "[\"$scratch/keys\"]" >/dev/null
ANTHROPIC_API_KEY='' ask anthropic:whole
same "a command prints the key" "$(asked '.headers["x-api-key"]')" '"key-by-command-0123"'
: >"$scratch/ran"
ask anthropic:whole
same "the environment counts first" "$(asked '.headers["x-api-key"]')" "\"$key\""
same "and no program is run then" "$(wc -c <"$scratch/ran")" 0
heddle config set --user models.key_command.anthropic '["/bin/sh","-c","echo half-a-KEY; echo no >&2; exit 3"]' >/dev/null
ANTHROPIC_API_KEY='' ask anthropic:whole
has "a command that fails gives no key" "$out" '✗ MODEL_ERROR: authenticationFailed: the command that prints the key of anthropic: it failed'
lacks "nor is what it printed shown" "$out$err" half-a-KEY
heddle config unset --user models.key_command.anthropic >/dev/null
printf '{"models":{"key_command":{"openai":["touch","%s/owned"]}}}\n' "$scratch" >.heddle/config.json
run heddle list
exits "a checkout cannot name a program for keys" 1
not_ok "and it is not run" test -e "$scratch/owned"
rm .heddle/config.json
ask anthropic:echo
ask google:echo
ask openai-responses:echo
ask openai:echo
has "what repeats a key does not show it" "$out" 'You are Bearer *****'
ask anthropic:s401
has "nor does an error" "$out" 'authenticationFailed: bad key'
lacks "no key on a terminal" "$out$err" SECRET
lacks "no key in the log" "$(heddle log show t --json)" SECRET
same "no key in a file" "$(grep -rl SECRET . | wc -l)" 0
OPENAI_BASE_URL=https://192.0.2.1:9 OPENAI_API_KEY='' ask openai:whole
has "a provider elsewhere needs a key" "$out" 'there is no key for openai'
OPENAI_BASE_URL=http://192.0.2.1:9 ask openai:whole
has "no key goes out in the clear" "$out" 'openai: the connection would not be encrypted'
for address in nonsense http:// 'http://127.0.0.1:1/a b' 'https://127.0.0.1:1/?x=1'; do
    OPENAI_BASE_URL=$address ask openai:whole
    has "'$address' is no address, which is told" "$out" 'OPENAI_BASE_URL is not an address of a server'
done
OPENAI_BASE_URL=http://user:PASSWORD@127.0.0.1:1/v1 ask openai:whole
has "a server that is not there is named" "$out" "networkError: Couldn't connect to server (127.0.0.1:1)"
lacks "without what stands before its name" "$out" PASSWORD
OPENAI_BASE_URL=HTTP${base#http}/v1 ask openai:whole
exits "a scheme in capitals is one" 0
OPENAI_API_KEY="$(printf 'sk-BROKEN\nKEY')" ask openai:whole
has "a key with a line end is told of" "$out" 'authenticationFailed: the key for openai has a control character in it'
lacks "and not shown" "$out$err" BROKEN
unset OPENAI_BASE_URL
printf '{"models":{"url":{"openai":"%s/v1"}}}\n' "$base" >.heddle/config.json
run heddle list
exits "a checkout cannot say where keys are sent" 1
has "it is told why" "$err" "key 'models.url' counts only in the user's own file"
rm .heddle/config.json
heddle config set --user models.url.openai "$base/v1" >/dev/null
ask openai:whole
has "the user can" "$out" 'Grüße 👋 → weiter'
run heddle config set --user models.url.openai ftp://x
exits "an address is one" 1
ask compatible:whole
has "any other server has to be named" "$out" 'where compatible is has not been set'
COMPATIBLE_BASE_URL=$base/v1 ask compatible:whole
has "then it is asked" "$out" 'Grüße 👋 → weiter'
done_testing

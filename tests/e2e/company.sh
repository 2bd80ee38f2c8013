#!/bin/sh
# Which company is sent what: the one whose agent wrote or asks, and another only where the user has set it, which is said before. The
# servers are stand-ins (providers.js); each company has a path of its own, so that what was sent to whom is seen.
# postgres: no, it is about what providers are sent
# shellcheck disable=SC1010,SC2016
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

if ! command -v node >/dev/null; then
    skip "companies" "node is not installed"
    done_testing
fi
cp "$HEDDLE_SOURCE/tests/e2e/providers.js" "$scratch/server.js"
: >"$scratch/asked"
serve "$scratch/asked" "$scratch/port"
export ANTHROPIC_BASE_URL="$base/anthropic" OPENAI_BASE_URL="$base/openai/v1" COMPATIBLE_BASE_URL="$base/local/v1" VLLM_BASE_URL="$base/vllm/v1" \
    ANTHROPIC_API_KEY=key-anthropic-0123 OPENAI_API_KEY=key-openai-0123
mkdir ws && cd ws || exit 1
heddle init >/dev/null
more='and this text has more than thirty words, because one that has no more than that is its own summary, and then no model would be asked about it at all, whoever it belongs to.'

# asked FILTER: of the requests since the last forget, as a list; each has url, headers, body.
forget() { before=$(jq -s length "$scratch/asked"); }
asked() { jq -sc ".[$before:] | $1" "$scratch/asked"; }
to() { asked '[.[].url | split("/")[1]] | unique'; }
log() { heddle log show "$1" --json | jq -sc "$2"; }
# talk THREAD AGENT TEXT
talk() { run heddle talk "$1" --agent "$2" --message "$3"; }

# ---- a local model: nothing goes to a company for which there is only a key ----
heddle agent add Loc --kind model --model compatible:whole --permissions loom_aware,loom_write,loom_generate >/dev/null
forget
talk t Loc "My secret is 4711, $more"
exits "a turn of a local model" 0
same "goes to its server alone" "$(to)" '["local"]'
same "so do the summaries" "$(asked '[.[] | select(.body.max_tokens == 50) | .body.model] | unique')" '["whole"]'
same "no key of another company is sent" "$(asked '[.[].headers | .["x-api-key"], .authorization] | unique')" '[null]'
lacks "and nothing is said, since nothing leaves" "$err" 'goes to'
heddle say t --agent Loc "An answer of it, $more" >/dev/null
forget
run heddle summarize t
same "what a person asks for goes there, too" "$(to)" '["local"]'

# ---- text that nobody's agent wrote or answered goes nowhere ----
heddle say notes "Mine alone, $more" >/dev/null
forget
run heddle summarize notes
has "an extract stands in" "$out" '(provisional)'
has "and it is said why" "$err" 'loom.summary_model names one for all'
same "nobody was asked" "$(asked length)" 0

# ---- an agent of a company: its small model, then the successor, and no other company ----
heddle agent add Ann --kind model --model anthropic:whole --permissions loom_aware,loom_write,loom_generate >/dev/null
heddle config set --user models.small.anthropic anthropic:whole >/dev/null
heddle say a "A question, $more" >/dev/null
heddle say a --agent Ann "An answer, $more" >/dev/null
forget
run heddle summarize a --all
same "its company alone is asked" "$(to)" '["anthropic"]'
same "for its small model first" "$(asked '.[0].body.model')" '"claude-3-5-haiku-latest"'
same "with 50 tokens for a node and 100 for the tree" "$(asked '[.[] | select(.body.model == "whole") | .body.max_tokens]')" '[50,50,100]'
heddle say a --agent Ann "Yes." >/dev/null
forget
run heddle summarize a
same "a short text needs nobody" "$(asked length)" 0

# ---- agents of two companies in one tree: each has its own texts summarised, the tree is left alone ----
heddle say a --agent Loc "From the machine, $more" >/dev/null
heddle say a "To nobody yet, 0815, $more" >/dev/null
forget
run heddle summarize a --all
same "the local model's text goes to the local model" "$(asked '[.[] | select(.url | startswith("/local")) | .body.messages[0].content | contains("From the machine")]')" '[true]'
same "and to no other" "$(asked '[.[] | select(.url | startswith("/local") | not)] | length')" 0
has "which is said" "$err" 'loom.summary_model names one for all'
heddle say only "A question, $more" >/dev/null
heddle say only --agent Ann "An answer, $more" >/dev/null
heddle say only "To nobody yet, 0815, $more" >/dev/null
forget
run heddle summarize only --all
same "what a person said and no agent answered is not part of the tree's summary" "$(asked '[.[] | select(.body | tostring | contains("0815"))] | length')" 0
same "which is made of the rest" "$(asked '[.[] | select(.body.max_tokens == 100)] | length')" 1

# ---- an agent that looks at another's text has asked for it ----
heddle say b "A question, $more" >/dev/null
forget
printf '→ view here\n' >"$scratch/line"
printf '→ switch to root\n→ view here\n' | heddle do b --agent Loc >/dev/null
same "a person's text goes to the company of the agent that looks at it" "$(to)" '["local"]'

rm "$HOME/.local/state/heddle/companies.json"

# ---- a checkout names no company; the user's settings do, and it is said before, once ----
printf '{"loom":{"summary_model":"anthropic:whole","classifier":"openai:whole"},"compact":{"model":"openai:whole"},"models":{"small":{"compatible":"openai:whole"}}}' >.heddle/config.json
heddle say c --agent Loc "An answer, $more" >/dev/null
forget
run heddle summarize c
same "settings of a checkout change nothing" "$(to)" '["local"]'
rm .heddle/config.json
heddle config set --user loom.summary_model anthropic:whole >/dev/null
heddle say d --agent Loc "An answer, $more" >/dev/null
forget
run heddle summarize d
same "the user's setting is over all" "$(to)" '["anthropic"]'
same "and the user is told" "$err" 'warning: text of this workspace now goes to anthropic too, for summaries; this is said once'
heddle say d --agent Loc "Another, $more" >/dev/null
run heddle summarize d
same "once" "$err" ''
same "that is noted outside of the workspace" "$(jq -c '.workspaces | to_entries | map([.key, (.value | keys)])' "$HOME/.local/state/heddle/companies.json")" "[[\"$(pwd -P)\",[\"anthropic\",\"compatible\"]]]"
mkdir ../ws2 && cd ../ws2 || exit 1
heddle init >/dev/null
heddle agent add Loc --kind model --model compatible:whole --permissions all >/dev/null
heddle say d --agent Loc "An answer, $more" >/dev/null
printf '{"thread":"d"}' >"$scratch/call"
run heddle api call tree.summarize <"$scratch/call"
has "in another workspace it is said again, in the form of the door" "$err" '"message":"text of this workspace now goes to anthropic too, for summaries; this is said once"'
cd ../ws || exit 1

# ---- refused before it was told: a server that fails is told of, too ----
heddle config set --user loom.summary_model openai:gone >/dev/null
heddle say d --agent Loc "A third, $more" >/dev/null
run heddle summarize d
has "also when the request fails" "$err" 'goes to openai too'
heddle config unset --user loom.summary_model >/dev/null
rm "$HOME/.local/state/heddle/companies.json"

# ---- the other ways out: → continue, the classifier, compaction ----
heddle agent add Sub --kind model --model vllm:whole >/dev/null
printf '→ continue using agent:"Sub"\n' >"$scratch/line"
run heddle do d --agent Loc <"$scratch/line"
has "a subject of another company is told of" "$err" 'goes to vllm too, to continue conversations'
run heddle do d --agent Loc <"$scratch/line"
same "once" "$err" ''
rm "$HOME/.local/state/heddle/companies.json"
run heddle do d <"$scratch/line"
lacks "a person who names a subject is not told" "$err" 'goes to'
heddle config set --user loom.classifier openai:whole >/dev/null
printf '→ do the thing with the leaves\n' >"$scratch/line"
forget
run heddle do d --agent Loc <"$scratch/line"
same "the classifier that was set is asked" "$(to)" '["openai"]'
has "and told of" "$err" 'goes to openai too, for lines that are not understood'
heddle config unset --user loom.classifier >/dev/null
forget
run heddle do d --agent Loc <"$scratch/line"
same "without it nobody is asked" "$(asked length)" 0
i=0
while [ $i -lt 12 ]; do
    printf '{"kind":"ai_message","payload":{"role":"%s","content":"Message %s, %s","agent":"Loc"}}\n' "$([ $((i % 2)) = 0 ] && echo user || echo assistant)" $i "$more"
    i=$((i + 1))
done | heddle log append long >/dev/null
forget
run heddle compact long --agent Loc --keep 2
exits "a conversation is compacted" 0
same "by the agent's own model" "$(to)" '["local"]'
heddle compact long --agent Loc --undo >/dev/null
heddle config set --user compact.model anthropic:whole >/dev/null
forget
run heddle compact long --agent Loc --keep 2
same "or by the one that was set" "$(to)" '["anthropic"]'
has "which is told of" "$err" 'goes to anthropic too, for compaction'
heddle config unset --user compact.model >/dev/null

# ---- the agent that is talked to: nothing is said of the first company of a workspace, and of each further one once ----
mkdir ../ws3 && cd ../ws3 || exit 1
heddle init >/dev/null
heddle agent add Ann --kind model --model anthropic:whole >/dev/null
heddle agent add Bob --kind model --model openai:whole >/dev/null
rm -f "$HOME/.local/state/heddle/companies.json"
talk t Ann 'Hello.'
exits "a turn of the first company" 0
lacks "is not told of" "$err" 'goes to'
talk t Bob 'Hello.'
has "one of another company is" "$err" 'text of this workspace now goes to openai too, for turns; this is said once'
talk t Bob 'Hello again.'
lacks "once" "$err" 'goes to'
talk t Ann 'Hello again.'
lacks "and the first stays known" "$err" 'goes to'
jq 'del(.workspaces[].openai)' "$HOME/.local/state/heddle/companies.json" >less.json && mv less.json "$HOME/.local/state/heddle/companies.json"
run heddle talk t --agent Bob --message 'Hello.' --json
same "with --json it is a warning, too" "$err" 'warning: text of this workspace now goes to openai too, for turns; this is said once'
heddle agent add Far --kind model --model openrouter:m >/dev/null
talk t Far 'Without a key.'
lacks "nothing is said of a turn that does not begin" "$err$out" 'goes to'
cd ../ws || exit 1

# ---- in a turn, before what it is about ----
heddle config set --user talk.max_rounds 2 >/dev/null
rm "$HOME/.local/state/heddle/companies.json"
cat >script.jsonl <<'LINES'
{"text":"→ continue using agent:\"Sub\"\n"}
{"text":"Done."}
LINES
heddle agent add Off --kind model --model 'offline:script script.jsonl' --permissions all >/dev/null
run heddle talk e --agent Off --message 'Go on.' --json
has "it is a warning there, too" "$err" 'goes to vllm too, to continue conversations; this is said once'
same "a script makes no summaries" "$(log e '[.[] | select(.kind == "summary")] | length')" 0

# ---- a turn that cannot begin writes nothing ----
heddle agent add Far --kind model --model openrouter:m --permissions loom_aware >/dev/null
heddle say f 'Hello.' >/dev/null
for try in 1 2; do
    talk f Far "Are you there?"
    exits "no key: the turn does not begin, $try" 1
    has "which is told, with what to do" "$err" 'OPENROUTER_API_KEY'
done
same "nothing was written" "$(log f '[.[].kind]')" '["ai_message"]'
COMPATIBLE_BASE_URL='' talk new Loc 'Are you there?'
exits "no address" 1
has "nor then" "$err" 'COMPATIBLE_BASE_URL'
run heddle log show new
exits "not even a thread is made" 1
talk f Loc 'Are you there?'
exits "with both it begins" 0
done_testing

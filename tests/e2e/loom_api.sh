#!/bin/sh
# The loom's operations by name, and their documents under --json.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

call() {
    printf '%s' "$2" | heddle api call "$1"
}

heddle init >/dev/null
heddle log append t >/dev/null <<'LOG'
{"kind":"ai_message","actor":"ada","payload":{"role":"user","content":"Root.","node":{"author":"ada","local_id":"r001","parent":null}}}
{"kind":"ai_message","actor":"ada","payload":{"role":"user","content":"Next.","node":{"author":"ada","local_id":"a7x2","parent":"r001"}}}
LOG

same "where one is" "$(call loom.position '{"thread":"t"}')" \
    '{"thread":"t","mode":"dialogue","position":"a7x2","since":null,"end":"a7x2"}'
same "in an empty tree one is nowhere" "$(call loom.position '{"thread":"new"}')" \
    '{"thread":"new","mode":"dialogue","position":null,"since":null,"end":null}'
same "ids by their start" "$(call loom.ids '{"thread":"t","start":"r"}')" '{"items":["r001"]}'
same "every tool has a form" \
    "$(call loom.tools '' | jq '[.items[] | select((.forms | length) == 0 or .summary == "")] | length')" 0
same "a block" "$(call loom.block '{"thread":"t","block":"context"}' | jq -r .text | head -n 1)" \
    '=== Loom Context ==='
run sh -c 'printf %s "{\"thread\":\"t\",\"block\":\"mine\"}" | "$HEDDLE" api call loom.block'
exits "a block that is not there" 2

same "a line that is a command" \
    "$(call loom.line '{"thread":"t","line":"/path"}' | jq -c '[.thread, .node, .results[0].tool, .results[0].ok]')" \
    '["t",null,"path",true]'
node=$(call loom.line '{"thread":"t","line":"Said."}' | jq -r .node)
same "a line that is said" "$(call loom.position '{"thread":"t"}' | jq -r .position)" "$node"
same "a list of nodes has a result for each" \
    "$(call loom.line '{"thread":"t","line":"→ view r001, a7x2"}' | jq -c '[.results[].ok]')" '[true,true]'
heddle log append u >/dev/null <<'LOG'
{"kind":"ai_message","actor":"ada","payload":{"role":"user","content":"Other.","node":{"author":"ada","local_id":"u001","parent":null}}}
LOG
heddle tree set u --title Other
same "a switch can lead into another thread" \
    "$(call loom.line '{"thread":"t","line":"/switch to u001 tree:\"Other\""}' | jq -r .thread)" u
run sh -c 'printf "/switch to u001 tree:\"Other\"\nhere\n" | "$HEDDLE" loom t'
same "and the prompt follows" "$(heddle export u --format json | jq -r '.nodes[-1].text')" here

same "a turn" \
    "$(call loom.do '{"thread":"t","at":"r001","lines":"Prose.\n→ view a7x2"}' | jq -c '[(.node | length), .results[0].tool]')" \
    '[4,"view"]'
same "text on both sides of commands is told" \
    "$(call loom.do '{"thread":"t","lines":"→ view a7x2\nlost"}' | jq .discarded_bytes)" 4
run sh -c 'printf %s "{\"thread\":\"t\"}" | "$HEDDLE" api call loom.do'
exits "a turn without lines" 2

same "the nodes of a tree have times" \
    "$(heddle tree u --json | jq -r '.tree.at | test("^[0-9]{4}-[0-9-]*T[0-9:]*[.][0-9]{3}Z$")')" true
same "the drawing is in the document when it is asked for" \
    "$(call tree.show '{"thread":"u","form":"text"}' | jq -c '[(.text | split(" (")[0]), has("tree")]')" \
    '["Tree: \"Other\"",false]'
same "found nodes say who wrote them" \
    "$(heddle search other --json | jq -c '.items[] | [.thread, .local_id, .author, .kind]')" \
    '["u","u001","ada","human"]'
for word in one two three; do heddle say found "needle $word" >/dev/null; done
run heddle search needle --max 2
has "a list of found nodes that was cut says how it goes on" "$out" "
there is more: --skip 2"
run heddle search needle --max 2 --skip 2 --json
same "and goes on there, to its end" "$(printf '%s' "$out" | jq -c '[[.items[].excerpt], .next]')" '[["needle one"],null]'
run heddle search needle --max 3
lacks "a complete one says nothing" "$out" "there is more"
same "a path is attested" "$(heddle tree attest t --node r001 --json | jq -c '.items | length')" 1
run heddle export t --format markdown --json
same "an exported text stands in a document" "$(printf '%s' "$out" | jq -r .format)" markdown
run heddle summarize t --json
same "summaries are a document" "$(printf '%s' "$out" | jq -c '.summaries | length > 0')" true
run sh -c 'printf "/path\nand said\n" | "$HEDDLE" loom t --json'
same "under --json the prompt answers with documents" \
    "$(printf '%s\n' "$out" | jq -c '[(.results | length), (.node != null)]' | tr -d '\n')" '[1,false][0,true]'
run heddle agent add Typo --kind model --model antropic:claude
has "a provider that there is not is told of" "$err" "there is no provider 'antropic'; there are offline, anthropic, "
for model in anthropic: :claude anthropic; do
    run heddle agent add Half --kind model --model "$model"
    has "'$model' is no model" "$err" "not a model: '$model'"
done
same "an agent is a document" \
    "$(heddle agent add Bo --kind human --permissions '' --json)" '{"name":"Bo","kind":"human","permissions":[]}'
same "and is changed" "$(heddle agent set Bo --permissions doc_read,loom_aware --json | jq -c .permissions)" \
    '["loom_aware","doc_read"]'
same "and removed" "$(heddle agent remove Bo --json)" '{"removed":"Bo"}'
done_testing

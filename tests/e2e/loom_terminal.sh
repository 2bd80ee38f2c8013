#!/bin/sh
# `heddle loom` at a terminal: completion, Ctrl-C, pasted text, thoughts, history, Ctrl-D.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/terminal-lib.sh
. "$(dirname "$0")/../terminal-lib.sh"

command -v script >/dev/null || { echo '1..0 # SKIP no script(1)'; exit 0; }
unset HEDDLE_NOW HEDDLE_SEED
heddle init >/dev/null
heddle log append t >/dev/null <<'LOG'
{"kind":"ai_message","actor":"ada","payload":{"role":"user","content":"Root.","node":{"author":"ada","local_id":"r001","parent":null}}}
{"kind":"ai_message","actor":"ada","payload":{"role":"user","content":"Next.","node":{"author":"ada","local_id":"a7x2","parent":"r001"}}}
LOG

at_prompt() { start vt100 '"$HEDDLE" loom t'; }

# answered KEYS: press them, and wait for the prompt that comes after.
prompts() { grep -o '›' screen | wc -l; }
has_prompts() { [ "$(prompts)" -ge "$1" ]; }
answered() {
    next=$(($(prompts) + 1))
    press "$1"
    await has_prompts $next
}

# The terminal forgets what was typed behind Ctrl-C: it is pressed alone, and answered by a new line.
give_up() { answered '\003'; }

at_prompt
ok "how to leave is said first" press '' '/quit or Ctrl-D ends'
ok "the prompt tells where one is" press '' '[a7x2] ›'
ok "commands and ids are completed" press '/vi\tr0\t\n' '"Root."'
ok "an id behind a key" press '/view branch:a7\tas:nodes\n' 'Next.'
press '/path and this is given up' 'given up'
give_up
ok "Ctrl-C gives up the line and nothing else" press '/path\n' 'Path to [a7x2] (2 nodes)'
press '/annotate r001 "never\n' '…'
give_up
ok "and a quotation that is open" press '/list r001 annotations\n' 'annotations: none'
ok "→ is completed like /" press '→ memo\t\n' 'Working Memory'
press 'one\n/two\nthree' 'three'
answered '\n'
press '/think\nonly for me\n→ prune a7x2\n←\n'
ok "a thought ends with ←" press '/tree summary\n' 'leaf'
leave
said=$(heddle export t --format json | jq -c '[.nodes[2:][].text]')
same "what is pasted is one text" "$said" '["one\n/two\nthree"]'
same "a thought is kept and not run" \
    "$(heddle log show t --json | jq -c 'select(.payload.op == "think") | .payload.text')" \
    '"only for me\n→ prune a7x2"'
has "the history is written" "$(cat .heddle/loom_history)" '/think'

at_prompt
press '' '] ›'
ok "and is there the next time" press '\033[A\n' 'Tree: "Root."'
leave

# What a line needed is freed when it is done: many of them fit where a few would have.
i=0
while [ $i -lt 600 ]; do
    echo /tree
    i=$((i + 1))
done >lines
# A sanitizer maps more than the limit before the program starts.
if ! ldd "$HEDDLE" | grep -q libasan; then
    # shellcheck disable=SC3045
    run sh -c 'ulimit -d 8000 && exec "$HEDDLE" loom t <lines'
    exits "six hundred lines fit into eight megabytes" 0
    same "and each is answered" "$(printf '%s\n' "$out" | grep -c 'current position')" 600
fi
done_testing

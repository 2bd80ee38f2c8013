#!/bin/sh
# What a stranger wrote cannot act on a terminal: no command that prints text for a person passes
# control characters (C0, C1, DEL), characters that turn the direction of text or characters that
# cannot be seen. Bytes for programs stay as they are, unless a terminal reads them.
# postgres: no, it is about what a terminal is sent
# shellcheck source=tests/e2e/lib.sh disable=SC2016
. "$(dirname "$0")/lib.sh"

esc=$(printf '\033') csi=$(printf '\302\233') rlo=$(printf '\342\200\256') zwsp=$(printf '\342\200\213') bom=$(printf '\357\273\277')
tag=$(printf '\363\240\201\201')
evil="Ev$esc[2J$csi[1m$rlo$zwsp$bom$tag!"
escaped='Ev\u001b[2J\u009b[1m\u202e\u200b\ufeff\udb40\udc41!'

# raw TEXT: is anything of it raw?
raw() { printf '%s' "$1" | LC_ALL=C grep -q "$esc\\|$csi\\|$rlo\\|$zwsp\\|$bom\\|$tag"; }

mkdir ws && cd ws || exit 1
heddle init >/dev/null
printf '{"kind":"ai_message","actor":"a","payload":{"role":"user","content":"%s"}}\n{"kind":"note","payload":{"t":"%s"}}\n' \
    "$escaped" "$escaped" >lines
heddle log append t <lines >/dev/null 2>&1
heddle objective create "$evil" --id o >/dev/null 2>&1
heddle spawn --id one --intent "$evil" --objective o --no-run >/dev/null 2>&1
printf '%s\n' "$evil" >.leslie/threads/one/plan.md
mkdir -p ".leslie/threads/one/artifacts"
: >".leslie/threads/one/artifacts/$evil.md"
heddle spawn --id two --intent two --objective o --ref one --no-run >/dev/null 2>&1
heddle reference --from two --target one >/dev/null 2>&1
heddle lifecycle one suspend --reason "$evil" >/dev/null 2>&1
heddle memo add "$evil" >/dev/null 2>&1
heddle session new s1 -m "$evil" >/dev/null 2>&1
heddle agent add Ana --kind model --model "offline:script $evil" --permissions loom_aware >/dev/null 2>&1
heddle say story "$evil" >/dev/null 2>&1
node=$(heddle tree story --json | jq -r '.. | .local_id? // empty' | head -n 1)
printf '→ annotate %s "%s"\n→ bookmark %s "%s"\n' "$node" "$evil" "$node" "$evil" >arrows
heddle do story --agent Ana <arrows >/dev/null 2>&1
heddle run start live --text "$evil" --request-id "r1" >/dev/null 2>&1
printf '{"executors":{"%s":["%s"]},"system_prompt":"%s"}\n' "$escaped" "$escaped" "$escaped" >.heddle/config.json
: >"$evil.txt"
echo "$evil.txt" >.teddy/global.context

n=0
while read -r words; do
    n=$((n + 1))
    # shellcheck disable=SC2086
    run heddle $words </dev/null
    if raw "$out$err"; then flunk "heddle $words prints nothing raw" "$(printf '%s' "$out$err" | cat -v)"; else pass "heddle $words prints nothing raw"; fi
done <<'COMMANDS'
list
list --status suspended
status one
status two
artifacts one
artifacts two
graph
graph --format dot
objective list
objective status o
log show t
log show .global
log show story
project t --format text
run status live
memo list
session list
agent list
tree story
tree t
search Ev
stats
verify
doctor
ps
config list
config get system_prompt
summarize story
refresh --from two
lifecycle one resume
merge two --from one
transcript one --assistant x
tree attest story
trust --list
COMMANDS
ok "there were commands to try" test "$n" -gt 30
for words in "log show $evil" "status $evil" "spawn --intent x --objective $evil" "$evil" "list --$evil" "read one $evil" "config get $evil" "config set executors.$evil 5"; do
    # shellcheck disable=SC2086
    run heddle $words
    if raw "$out$err"; then flunk "an error prints nothing raw" "$(printf '%s' "$words: $out$err" | cat -v)"; else pass "an error prints nothing raw"; fi
done

# ---- for programs nothing changes, and JSON stays JSON
for words in "list --json" "log show t --json" "memo list --json" "tree story --json" "agent list --json" "project t" "objective status o --json"; do
    # shellcheck disable=SC2086
    run heddle $words
    ok "heddle $words is JSON" sh -c 'printf "%s\n" "$1" | jq -es . ' sh "$out"
    lacks "heddle $words has no escapes of ours" "$out" '\x9b'
done
same "bytes of an asset are its bytes" "$(heddle read one plan.md)" "$evil"

# ---- a terminal gets nothing raw even of those
if command -v script >/dev/null; then
    for words in "read one plan.md" "project t" "log export t" "list --json" "config list --json" "payload"; do
        HEDDLE=$HEDDLE script -qec "\"\$HEDDLE\" $words" "$scratch/screen" >/dev/null 2>&1 </dev/null
        sed '/^Script /d' "$scratch/screen" >"$scratch/shown"
        if raw "$(cat "$scratch/shown")"; then flunk "at a terminal heddle $words prints nothing raw" "$(cat -v "$scratch/shown")"; else pass "at a terminal heddle $words prints nothing raw"; fi
    done
    HEDDLE=$HEDDLE script -qec '"$HEDDLE" list --json' "$scratch/screen" >/dev/null 2>&1 </dev/null
    ok "and JSON is JSON there, too" sh -c 'sed "/^Script /d" "$1" | tr -d "\r" | jq -e .' sh "$scratch/screen"
else
    skip "a terminal gets nothing raw" "no script(1)"
fi

# ---- a command in a hint is one command when it is pasted
run heddle tree 'two words; touch hacked' --from zz
has "a name is quoted where a shell would take it apart" "$err" "heddle say 'two words; touch hacked' TEXT"
run heddle do story --agent "it's me" </dev/null
has "quotes in it too" "$err" "heddle agent add 'it'\\''s me' --kind"
source=$(cd "$(dirname "$0")/../.." && pwd)
same "every name in a command of a hint is quoted" "$(grep -rnE '`heddle [^"`]*" SV_FMT' "$source/src" --include='*.c' | grep -v 'src/front/cli/\(help\|args\).c')" ""

done_testing

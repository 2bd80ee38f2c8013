#!/bin/sh
# Agents at work at the same time: other branches never wait, the same node is one's at a time, and
# a holder that dies holds nothing forever.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

unset HEDDLE_NOW HEDDLE_SEED
heddle init >/dev/null
for agent in One Two; do
    heddle agent add $agent --kind model --model offline:echo --permissions loom_aware,loom_write,loom_generate >/dev/null
done
# Slow answers once a file is there: go.1 for the first time, go.2 for the second; the third answer never comes.
command -v node >/dev/null || { skip "agents at work at the same time" "node is not installed"; done_testing; }
cp "$HEDDLE_SOURCE/tests/e2e/talk.js" "$scratch/server.js"
: >"$scratch/asked"
printf '%s\n' "{\"hold\":\"$scratch/go.1\",\"text\":\"It was said slowly.\"}" "{\"hold\":\"$scratch/go.2\",\"text\":\"It was said slowly.\"}" '{"hang":true}' >"$scratch/answers"
serve "$scratch/answers" "$scratch/asked" "$scratch/port"
export ANTHROPIC_BASE_URL="$base" ANTHROPIC_API_KEY=sk-SECRET-0123456789
heddle config set --user loom.summary_model none >/dev/null
heddle agent add Slow --kind model --model anthropic:claude-opus-5-5 >/dev/null
heddle agent add Fast --kind model --model offline:echo >/dev/null
root=$(heddle say t 'Root.')
root=${root#[} root=${root%]}
left=$(heddle say t --at "$root" 'Left.')
left=${left#[} left=${left%]}
right=$(heddle say t --at "$root" 'Right.')
right=${right#[} right=${right%]}

# leased ID [THREAD]: wait until someone holds the node.
is_leased() { heddle log show "$2" --json | jq -e --arg id "$1" 'select(.payload.mark == "lease" and .payload.node == $id)' >/dev/null; }
leased() { await is_leased "$1" "${2:-t}"; }

# While it waits for its model, One is at the node that the model goes on from, wherever it was
# before, and nobody changes the path that the model was sent.
heddle agent add Ed --kind model --model offline:echo --permissions loom_aware,loom_write,loom_generate >/dev/null
heddle tree set novel --mode buffer
first=$(heddle say novel 'The house.')
second=$(heddle say novel --at "$first" 'The lane.')
third=$(heddle say novel --at "$second" 'The door.')
aside=$(heddle say novel --at "$first" 'The garden.')
first=${first#[} first=${first%]} second=${second#[} second=${second%]}
third=${third#[} third=${third%]} aside=${aside#[} aside=${aside%]}
printf '→ switch to %s\n→ continue from %s using agent:"Slow"\n' "$aside" "$third" | heddle do novel --agent One >novel.out 2>&1 &
novel=$!
leased "$third" novel
run heddle loom novel --agent Ed --show context
has "who waits for a model is where the model goes on" "$out" "One active at [$third], depth:2"
same "and nowhere else" "$(printf '%s\n' "$out" | grep -c '^One active')" 1
run heddle do novel --agent Ed <<EOF
→ edit $first "The hut."
→ edit $third "The gate."
→ prune $second
→ exclude $first
→ edit $aside "The yard."
→ bookmark $second
EOF
same "an ancestor is not edited, pruned or excluded meanwhile" "$(printf '%s\n' "$out" | grep -c "✗ CONFLICT: \"One\" is generating at \[$third\]")" 4
has "another branch is edited" "$out" "✓ created version [$aside'] from [$aside]"
has "a bookmark changes no path" "$out" "✓ bookmarked [$second]"
: >"$scratch/go.1"
wait $novel
run heddle do novel --agent Ed <<EOF
→ edit $first "The hut."
→ undo
EOF
has "afterwards it is free" "$out" "✓ created version [$first'] from [$first]"
run heddle loom novel --agent Ed --show context
has "and One is back where it was, on the version that Ed made of it" "$out" "One active at [$aside'], depth:1"

printf '→ continue from %s using agent:"Slow"\n' "$left" | heddle do t --agent One >one.out 2>&1 &
first=$!
leased "$left"
run heddle do t --agent Two <<EOF
→ continue from $left using agent:"Fast"
→ continue from $right using agent:"Fast"
→ respond $left "me too"
→ annotate $left "I may still note"
EOF
has "the same node is leased" "$out" "✗ CONFLICT: \"One\" is generating at [$left]"
has "with a hint" "$out" "  hint: retry after it yields or work on another branch"
has "another branch is free" "$out" "✓ generating 1 continuation from [$right]"
same "a response to the leased node waits too" "$(printf '%s\n' "$out" | grep -c '✗ CONFLICT')" 2
has "a note needs no lease" "$out" "✓ annotation [ann-1] added to [$left]"
: >"$scratch/go.2"
wait $first
has "the holder goes on undisturbed" "$(cat one.out)" "It was said slowly."
run heddle do t --agent Two <<EOF
→ respond $left "now"
EOF
has "and yields when it is done" "$out" "✓ created"

# Killed while it waits for its model: the lease runs out by itself.
printf '→ continue from %s using agent:"Slow"\n' "$right" | "$HEDDLE" do t --agent One >/dev/null 2>&1 &
holder=$!
leased "$right"
kill -9 $holder
wait $holder 2>/dev/null
run heddle do t --agent Two <<EOF
→ respond $right "too early"
EOF
has "a dead holder still holds for a while" "$out" "✗ CONFLICT"
if ! is_file; then # a machine whose own clock is wrong sees the lease, too: the clock of the database decides
    run env FAKETIME_DONT_FAKE_MONOTONIC=1 faketime '+10 minutes' "$HEDDLE" do t --agent Two <<EOF
→ respond $right "ten minutes later, by a wrong clock"
EOF
    has "also for a machine whose clock is ahead" "$out" "✗ CONFLICT"
fi
now=$(($(date +%s) + 121))
run env HEDDLE_NOW=${now}000 "$HEDDLE" do t --agent Two <<EOF
→ respond $right "two minutes later"
EOF
has "and then no longer" "$out" "✓ created"

# Many writers on their own branches at once: everyone's node is there.
writers=
for i in 1 2 3 4 5 6; do
    heddle say t --at "$root" "Branch $i." >"say.$i" &
    writers="$writers $!"
done
# shellcheck disable=SC2086
wait $writers
same "six branches at once" "$(cat say.? | sort -u | wc -l)" 6
ok "the log is whole" heddle verify

done_testing

#!/bin/bash
# What a newcomer does first: bare `heddle` names goals, `init --for` begins one, and the commands it
# prints work as they stand.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
PATH=$(dirname "$HEDDLE"):$PATH

goals=$(heddle api schema workspace.init | jq -r '.params.properties.for.enum[]')
same "the goals" "$(echo "$goals" | tr '\n' ' ')" "agents app story chat "
overview=$("$HEDDLE")
for goal in $goals; do
    mkdir "$goal" && cd "$goal" || exit 1
    echo 'int main(void) { return 0; }' >main.c
    has "bare heddle names $goal" "$overview" "heddle init --for $goal"
    run heddle init --for "$goal"
    exits "init --for $goal" 0
    has "makes a workspace" "$out" "made a workspace in "
    same "names three commands" "$(printf '%s\n' "$out" | sed -n '/^next:$/,/^$/s/^  //p' | wc -l)" 3
    printf '%s\n' "$out" | sed -n '/^next:$/,/^$/s/^  //p' >steps
    json "which are in the document" "$(heddle init --for "$goal" --json)" '[.created, (.next | join("\n"))]' \
        "$(jq -cRs '[false, rtrimstr("\n")]' <steps)"
    while IFS= read -r step; do
        run bash -c "$step" </dev/null
        exits "$step" 0
        ok "and answers" test -n "$out$err"
    done <steps
    cd ..
done
has "the context of a thread" "$(cd agents && heddle context lexer --task x)" '<thread_context thread="lexer"'
json "the log of an app" "$(cd app && heddle project main)" '.messages | length' 2
has "the tree of a story" "$(cd story && heddle tree story)" "2 nodes"
has "the payload of a chat" "$(cat chat/input.md)" "int main(void)"

run heddle init --for fun
exits "another goal is misuse" 2
has "with those there are" "$err" "agents, app, story or chat"

# In a directory below a workspace it makes another one there.
mkdir -p agents/below && cd agents/below || exit 1
run heddle init --json
json "below a workspace, one of its own" "$out" '[.created, (.root | endswith("/below"))]' '[true,true]'
run heddle init --json
json "once" "$out" '.created' false
json "by its operation too" "$(mkdir deeper && cd deeper && heddle api call workspace.init </dev/null)" \
    '[.created, (.root | endswith("/deeper"))]' '[true,true]'

# A guide of another major version is replaced when somebody says so.
run heddle init --agents-md --json
json "the guide for agents" "$out" .agents_md '"created"'
sed -i 's/\(version[=: "]*\)[0-9][0-9]*\./\10./' AGENTS.md
ok "it is of another version now" grep -q 'version[=: "]*0\.' AGENTS.md
run heddle init --agents-md --json </dev/null
json "nobody answers: it stays" "$out" .agents_md '"skipped"'
has "what was asked" "$err" "replace it with"
run sh -c 'echo y | "$HEDDLE" init --agents-md --json'
json "somebody does" "$out" .agents_md '"updated"'
run sh -c '"$HEDDLE" api call workspace.init --params "{\"agents_md\":true}" </dev/null'
json "then it is up to date" "$out" .agents_md '"unchanged"'

run heddle demo --json
exits "the demo has no JSON" 2
json "and says so in JSON" "$out" '.error.code' '"INVALID_SYNTAX"'
done_testing

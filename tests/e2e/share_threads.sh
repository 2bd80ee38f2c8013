#!/bin/sh
# One kind of thread: it exists as soon as anything names it, and its id can be read.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

heddle init >/dev/null
run heddle list
has "an empty workspace has none" "$out" "no threads; "

# ---- ids from titles ----
same "an id is made from the title" "$(heddle objective create 'Ship the Lexer!')" ship-the-lexer
same "the next one is numbered" "$(heddle objective create 'Ship the lexer')" ship-the-lexer-2
same "letters of any script are letters" "$(heddle objective create 'Über die Brücke — schnell')" Über-die-brücke-schnell
has "what has none is drawn" "$(heddle objective create '?!')" obj-
same "a chosen id stays" "$(heddle objective create 'Ship the lexer' --id lexer)" lexer
same "a thread has one from its intent" "$(heddle spawn --intent "Don't panic:
write the tests first" --objective lexer --no-run)" dont-panic
long=$(heddle spawn --intent 'Write down all that we have learned about incremental parsing so far' --objective lexer --no-run)
same "a long one ends with a word" "$long" write-down-all-that-we-have-learned
i=0
while [ $i -lt 12 ]; do
    heddle spawn --intent same --objective lexer --no-run >>ids
    i=$((i + 1))
done
same "twelve of one title are twelve" "$(sort -u ids | wc -l | tr -d ' ')" 12
same "the first are numbered" "$(sed -n '1p;2p;9p' ids | tr '\n' ' ')" "same same-2 same-9 "
has "the others are told apart by chance" "$(sed -n 10p ids)" same-
json "chance can be asked for" "$(echo '{"title":"Ship it","id_from":"random"}' | heddle api call objective.create)" '.id | test("^obj-[0-9a-f]{8}$")' true
run heddle api call thread.spawn <<'J'
{"intent":"x","objective":"lexer","id_from":"magic"}
J
exits "and nothing else" 2

# ---- a thread that only has a log ----
heddle say diary "Dear diary" >/dev/null
run heddle list
has "it is listed" "$out" "diary"
has "with what is known" "$out" "(1 entry)"
json "in JSON too" "$(heddle list --json)" '[.items[] | select(.id == "diary") | .status, .title, .entries]' '[null,null,1]'
lacks "a filter leaves it out" "$(heddle list --status active)" diary
lacks "so does --shared" "$(heddle list --shared)" diary
lacks "the log of the workspace is none" "$(heddle list)" .global
run heddle status diary
exits "its status is shown" 0
has "what it is" "$out" "diary  only a log, since "
has "and what can be done" "$out" "heddle log show diary"
json "in JSON" "$(heddle status diary --json)" '[.entries, .references, has("thread_context")]' '[1,[],false]'
run heddle status nobody
exits "what nothing names is not there" 1
run heddle status .global
exits "nor is the workspace's own" 1
same "an id that a log has is not taken by chance" "$(heddle spawn --intent Diary --objective lexer --no-run)" diary-2
same "it is when it is asked for" "$(heddle spawn --id diary --intent 'Keep it' --objective lexer --no-run)" diary
has "then it is one thread" "$(heddle status diary)" "log: 1 entry"
json "in the list once" "$(heddle list --json)" '[.items[] | select(.id == "diary") | .status, .entries]' '["active",1]'

# ---- a thread without a log ----
heddle spawn --id blank --intent 'Nothing yet' --objective lexer --no-run >/dev/null
run heddle log show blank
exits "it is there" 0
same "it has no entries to print" "$out" ""
has "which is said" "$err" "thread 'blank' has no entries yet"
run heddle log show blank --tail 3 --json
exits "for programs too" 0
same "without a word" "$out$err" ""
json "the document counts them" "$(echo '{"thread":"blank"}' | heddle api call log.show)" '[.thread, .entries]' '["blank",0]'
run heddle tree blank
exits "its tree is shown" 0
has "and empty" "$out" "(0 nodes, 0 branches)"
json "in JSON" "$(heddle tree blank --json)" '[.title, .nodes, .tree]' '["Nothing yet",0,null]'
for words in "log show nobody" "tree nobody" "log show ../x"; do
    # shellcheck disable=SC2086 # words
    run heddle $words
    exits "what nothing names is not there: $words" 1
done
has "the hint names the list" "$(heddle log show nobody 2>&1)" '`heddle list` shows the threads'

# ---- under the other name ----
LESLIE=$(dirname "$HEDDLE")/leslie
has "leslie draws its ids" "$("$LESLIE" objective create --title 'Ship it' | jq -r .data.objectiveId)" obj-
has "of threads too" "$("$LESLIE" spawn --intent 'Do it' --objective lexer --no-run | jq -r .data.thread_id)" thread-
heddle say alone hello >/dev/null
lacks "and knows only threads that share work" "$("$LESLIE" list)" alone
json "in status as well" "$("$LESLIE" status --thread alone)" .error.code '"T101"'
# ---- a thread that only has a log
heddle say lonely hello >/dev/null 2>&1
for words in "lifecycle lonely suspend" "context lonely" "artifacts lonely"; do
    # shellcheck disable=SC2086 # words of a command
    run heddle $words
    exits "heddle $words is refused" 1
    has "heddle $words says what the thread lacks" "$err" "heddle spawn --id lonely"
done
before=$(cat .leslie/thread_relations.json .leslie/threads/.global/registry.json)
run heddle thread rename lonely 'A log of its own'
exits "it gets a title" 0
same "which is said" "$out" "lonely  A log of its own"
has "lists show it" "$(heddle list)" "A log of its own"
json "it still only has a log" "$(heddle status lonely --json)" '[.title, .status, .storage_path]' '["A log of its own",null,null]'
has "its status shows it" "$(heddle status lonely)" "A log of its own"
run heddle thread archive lonely --reason 'all said' --json
exits "it is archived" 0
json "as it is" "$out" '[.thread.status, .thread.title, .thread.entries]' '["archived","A log of its own",1]'
rev=$(heddle head .global --json | jq .rev)
run heddle thread archive lonely
exits "twice is harmless" 0
run heddle thread rename lonely 'A log of its own'
same "neither writes anything again" "$(heddle head .global --json | jq .rev)" "$rev"
has "a list of archived threads has it" "$(heddle list --status archived)" lonely
lacks "one of active threads has it not" "$(heddle list --status active)" lonely
lacks "nor one of an objective" "$(heddle list --objective lexer)" lonely
has "completion shows the title" "$(echo '{"kind":"thread"}' | heddle api call name.list)" "A log of its own"
has "what is archived can be read" "$(heddle log show lonely)" hello
same "files of other programs say nothing of it" "$(cat .leslie/thread_relations.json .leslie/threads/.global/registry.json)" "$before"
run heddle verify
exits "the log is whole" 0
heddle log export --all >"$scratch/all"
mkdir "$scratch/other"
(cd "$scratch/other" && heddle init >/dev/null && if is_file; then heddle log import --all "$scratch/all" >/dev/null 2>&1; fi)
! is_file || json "an import brings title and state along" "$(cd "$scratch/other" && heddle status lonely --json)" '[.title, .status]' '["A log of its own","archived"]'
heddle spawn --id lonely --intent 'Go on' --objective lexer --no-run >/dev/null
json "spawned, it has a title and a state of its own" "$(heddle status lonely --json)" '[.title, .status]' '["Go on","active"]'
heddle say brief 'a short one' >/dev/null 2>&1
heddle thread rename brief 'Xylophone 99' >/dev/null
run heddle thread delete brief --yes
exits "one with a title is deleted" 0
lacks "and its title with it" "$(heddle list)$(heddle log show .global)" Xylophone
for words in "archive brief" "rename brief x" "archive .global" "rename ../x y"; do
    # shellcheck disable=SC2086 # words of a command
    run heddle thread $words
    exits "thread $words is refused" 1
done
run heddle verify
exits "all is whole in the end" 0

done_testing

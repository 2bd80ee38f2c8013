#!/bin/bash
# Completion in the shells themselves: the scripts parse, source in silence and offer what the tables
# hold and what there is by name.
# postgres: no, it has no log
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
PATH=$(dirname "$HEDDLE"):$PATH
unset HEDDLE_STORE

for shell in bash zsh fish; do
    "$HEDDLE" completion $shell >"$shell.completion"
    ok "the $shell completion is not empty" test -s "$shell.completion"
    if ! command -v $shell >/dev/null; then
        skip "$shell parses it" "$shell is not installed"
        continue
    fi
    ok "$shell parses it" $shell -n "$shell.completion"
done
same "bash sources it in silence" "$(bash --norc -c 'source ./bash.completion' 2>&1)" ""

# ---- what is offered, whichever shell asks ----

offered() { "$HEDDLE" _complete -- "$@" | cut -f 1; }
same "a first word is completed" "$(offered vers)" version
same "an empty one offers every word" "$(offered '' | sort)" "$("$HEDDLE" help --words | sort)"
has "with what it is for" "$("$HEDDLE" _complete -- vers)" "	Print the version"
same "a second word is completed" "$(offered config sch)" schema
has "options are completed" "$(offered help --)" --man
has "those of every command too" "$(offered version --)" --json
has "also before a command" "$(offered --ro)" --root
has "what is said after half a command is its forms" "$(offered log '')" append
same "options are those of the form" "$(offered log import --f)" ""
same "and of no other" "$(offered log show --f)" --from
same "help is completed with commands" "$(offered help chec)" checkpoint
same "a choice of words too" "$(offered completion z)" zsh
same "values of an option" "$(offered list --status com)" completed
same "behind an equals sign" "$(offered list --status=com)" --status=completed
same "of a list, one by one" "$(offered agent add X --permissions loom_aware,doc_)" "loom_aware,doc_read
loom_aware,doc_write"
same "of marks" "$(offered log marks T --marks era)" erasure
same "of what a token may" "$(offered token create X --permissions r | tr '\n' ' ')" "read run "
same "of an option that chooses between operations" "$(offered export T --format '' | tr '\n' ' ')$(offered export T --to c)" "openloom markdown json claude-code"
same "or that is named otherwise there" "$(offered loom T --show m)" memory
same "those of every command" "$(offered list --color '' | tr '\n' ' ')" "auto always never "
same "goals" "$(offered init --for '' | tr '\n' ' ')" "agents app story chat "
same "operations" "$(offered api call thread.lis)" thread.list
same "settings" "$(offered config get loom.bud)" loom.budget
same "a file is left to the shell" "$(offered verify --pin '')" :files
same "a directory too" "$(offered --root '')" :dirs
same "nothing after an unknown word" "$(offered nonsense '')" ""
same "nothing after --" "$(offered list -- --)" ""

# Names: nothing is written where there is no workspace, and nothing is said.
run heddle _complete -- tree st
same "without a workspace there are no names" "$out$err" ""
ok "and none is made" test ! -e .heddle
heddle init >/dev/null
heddle say story hello >/dev/null
# shellcheck disable=SC2016
heddle say 'a$(touch trap)b' hello >/dev/null
heddle objective create Parser --id parser >/dev/null
heddle spawn --id build --intent 'Build it' --objective parser --no-run >/dev/null
heddle say build hello >/dev/null
heddle op fork story --lane other --op-id f1 >/dev/null
heddle agent add Ana --kind model --model offline:echo --permissions loom_aware >/dev/null
node=$(heddle tree story --json | jq -r '[.. | .local_id? // empty][0]')
same "threads are listed once, without those a shell would read" "$(offered log show '' | sort | tr '\n' ' ')" "build story "
has "a thread has its title" "$("$HEDDLE" _complete -- log show bu)" "build	Build it"
same "as the value of an option" "$(offered reference --from st)" story
same "in a list" "$(offered spawn --ref story,bu)" story,build
same "lanes of the thread that was named" "$(offered project story --lane '' | sort | tr '\n' ' ')" "default other "
same "behind an equals sign too" "$(offered project story --lane=oth)" --lane=other
same "agents" "$(offered "do" story --agent A)" Ana
same "objectives" "$(offered spawn --objective p)" parser
same "nodes" "$(offered tree story --from '')" "$node"
same "in another workspace" "$(mkdir -p empty/.heddle && cd empty && offered --root .. tree bu)" build
lacks "not where none is meant" "$(offered config get s)" story
run heddle _complete
same "without words there is nothing" "$status$out$err" "0"
run heddle _complete -- log show "$(printf '\377')"
same "what is not UTF-8 matches nothing" "$status$out$err" "0"

# ---- bash ----

# complete_words WORDS...: what the script offers for the last word, as bash cuts it
complete_words() {
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    _heddle
    printf '%s\n' "${COMPREPLY[@]}"
}
# shellcheck disable=SC1091
source ./bash.completion
same "bash: a command" "$(complete_words heddle vers)" version
same "bash: a second word" "$(complete_words heddle config sch)" schema
same "bash: a thread" "$(complete_words heddle tree st)" story
same "bash: a value behind =, which bash cuts off" "$(complete_words heddle list --status = com)" completed
same "bash: right behind =" "$(complete_words heddle init --for = | tr '\n' ' ')" "agents app story chat "
same "bash: a lane behind =" "$(complete_words heddle project story --lane = oth)" other
touch some-file
same "bash: a file" "$(complete_words heddle verify --pin some)" some-file
same "bash: a directory" "$(complete_words heddle list --root em)" empty
complete_words heddle tree 'a' >/dev/null
ok "no name is run" test ! -e trap

# ---- zsh: a real one, at a terminal of its own, in which a tab is pressed ----

if command -v zsh >/dev/null; then
    cat >press.zsh <<'ZSH'
zmodload zsh/zpty
setopt extendedglob
zpty shell zsh -f -i
zpty -w shell "cd $PWD; PATH=$PATH; PROMPT='ready> '; unsetopt beep zle_bracketed_paste; autoload -Uz compinit; compinit -D -u; source ./zsh.completion 2>sourced; zstyle ':completion:*' list-prompt ''"
zpty -w shell 'dump() { print -r -- "$BUFFER" >buffer.new; mv buffer.new buffer; BUFFER=; }; zle -N dump; bindkey "^X" dump; print begun >begun'
for i in {1..1200}; do [[ -s begun ]] && break; sleep 0.1; done
while IFS= read -r line; do
    rm -f buffer
    zpty -n -w shell "$line"$'\t\x18'
    for i in {1..1200}; do [[ -e buffer ]] && break; sleep 0.05; done
    cat buffer
done
zpty -d shell
ZSH
    same "zsh completes" "$(printf '%s\n' 'heddle vers' 'heddle config sch' 'heddle tree st' 'heddle list --status=com' \
        'heddle project story --lane oth' 'heddle do story --agent A' 'heddle verify --pin some' 'heddle log show --fr' | zsh -f press.zsh 2>&1)" \
        "$(printf '%s\n' 'heddle version ' 'heddle config schema ' 'heddle tree story ' 'heddle list --status=completed ' \
            'heddle project story --lane other ' 'heddle do story --agent Ana ' 'heddle verify --pin some-file ' 'heddle log show --from ')"
    same "zsh sources it in silence" "$(cat sourced)" ""
    same "without its completion system too" "$(zsh -f -c 'source ./zsh.completion' 2>&1)" ""
else
    skip "zsh completes" "zsh is not installed"
fi

# ---- fish ----

if command -v fish >/dev/null; then
    fishes() { fish --no-config -c "source ./fish.completion; complete -C '$1'" 2>&1 | cut -f 1; }
    same "fish: a command" "$(fishes 'heddle vers')" version
    has "fish: every command" "$(fishes 'heddle ')" "$(printf 'log\n')"
    same "fish: a second word" "$(fishes 'heddle log app')" append
    same "fish: a thread" "$(fishes 'heddle tree st')" story
    same "fish: an option" "$(fishes 'heddle log show --fr')" --from
    same "fish: a value" "$(fishes 'heddle list --status com')" completed
    same "fish: behind =" "$(fishes 'heddle list --status=com')" --status=completed
    same "fish: a file" "$(fishes 'heddle verify --pin some')" some-file
    same "fish sources it in silence" "$(fish --no-config -c 'source ./fish.completion' 2>&1)" ""
else
    skip "fish completes" "fish is not installed"
fi

done_testing

#!/bin/bash
# The completion scripts: they parse, and bash's completes what the table holds.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

for shell in bash zsh fish; do
    "$HEDDLE" completion $shell >"$shell.completion"
    ok "the $shell completion is not empty" test -s "$shell.completion"
    for word in $("$HEDDLE" help --words); do
        grep -q -- "$word" "$shell.completion" || flunk "$shell completes $word"
    done
    # Where a shell is not installed, nobody uses its completion.
    ! command -v $shell >/dev/null || ok "$shell parses it" $shell -n "$shell.completion"
done

# shellcheck disable=SC1091
source ./bash.completion

# complete WORDS...: what the script offers for the last word
complete_words() {
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    _heddle
    printf '%s\n' "${COMPREPLY[@]}"
}

same "a first word is completed" "$(complete_words heddle vers)" version
same "an empty one offers every word" "$(complete_words heddle '' | sort)" "$("$HEDDLE" help --words | sort)"
same "a second word is completed" "$(complete_words heddle config sch)" schema
has "options are completed" "$(complete_words heddle help --)" --man
has "those of every command too" "$(complete_words heddle version --)" --json
has "what is said after half a command is its forms" "$(complete_words heddle log '')" append
same "options are those of the form" "$(complete_words heddle log import --f)" ""
same "and of no other" "$(complete_words heddle log show --f)" --from
same "help is completed with commands" "$(complete_words heddle help chec)" checkpoint
same "a choice of words too" "$(complete_words heddle completion z)" zsh

# Names of threads: those with a log and those that were spawned, where a thread is meant.
same "without a workspace there are no threads" "$(heddle completion threads)" ""
heddle init >/dev/null
heddle say story hello >/dev/null
# shellcheck disable=SC2016
heddle say 'a$(touch trap)b' hello >/dev/null
heddle objective create Parser --id parser >/dev/null
heddle spawn --id build --intent x --objective parser --no-run >/dev/null
heddle say build hello >/dev/null
same "threads are listed once, without those a shell would read" "$(heddle completion threads)" "$(printf 'build\nstory')"
same "a thread is completed" "$(complete_words heddle tree st)" story
same "behind two words too" "$(complete_words heddle log show bu)" build
same "and as the value of an option" "$(complete_words heddle reference --from st)" story
lacks "not where none is meant" "$(complete_words heddle config get s)" story
complete_words heddle tree 'a' >/dev/null
ok "no name is run" test ! -e trap
touch some-file
same "else files are offered" "$(complete_words heddle version some)" some-file

done_testing

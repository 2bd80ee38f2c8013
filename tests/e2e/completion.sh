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
touch some-file
same "else files are offered" "$(complete_words heddle version some)" some-file

done_testing

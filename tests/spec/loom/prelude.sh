# What every shell block of a spec file starts with.
heddle() { "$HEDDLE" "$@"; }

# The rest of a text that is too long to be its own summary.
# shellcheck disable=SC2034
more='and more than thirty words are needed before a model is asked, because a text that has no more of them than that is short enough to stand for itself wherever it is shown.'

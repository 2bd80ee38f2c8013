#!/bin/sh
# At a terminal: tables fit its width, colours come and go as they are asked for, and who is to type
# is told so.
# shellcheck source=tests/e2e/lib.sh disable=SC2016
. "$(dirname "$0")/lib.sh"

command -v script >/dev/null || { echo '1..0 # SKIP no script(1)'; exit 0; }
unset NO_COLOR CLICOLOR_FORCE
export TERM=xterm

# at COLUMNS COMMAND: what a terminal of that width shows, without carriage returns
at() {
    script -qefc "stty cols $1 rows 24; $2" /dev/null </dev/null 2>/dev/null | tr -d '\r'
}
plain() { sed "s/$(printf '\033')\\[[0-9]*m//g"; }
widest() { plain | LC_ALL=C.UTF-8 wc -L; } # in columns: wide characters count twice
coloured() { printf '%s' "$1" | grep -q "$(printf '\033')\\["; }

heddle init >/dev/null
heddle objective create Goal --id goal >/dev/null
heddle spawn --id first --intent 'A title that is much longer than any terminal of sixty columns could show' --objective goal --no-run >/dev/null
heddle spawn --id second --intent '漢字の題名は幅が二倍になるので、表はそれを数えなければならない、さもないと崩れる' --objective goal --no-run >/dev/null

wide=$(heddle list)
has "without a terminal nothing is cut" "$wide" "could show"
lacks "and nothing coloured" "$wide" "$(printf '\033')"
out=$(at 60 '"$HEDDLE" list' | plain)
lacks "at 60 columns a title is cut" "$out" "could show"
has "with an ellipsis" "$out" "…"
same "and no line is longer" "$(at 60 '"$HEDDLE" list' | grep first | widest)" 60
has "the columns before it are whole" "$out" "first   active"
wide_at=$(at 60 '"$HEDDLE" list' | grep second | widest)
ok "wide characters count twice" test "$wide_at" -ge 58 -a "$wide_at" -le 60
same "at 200 columns nothing is" "$(at 200 '"$HEDDLE" list' | plain)" "$wide"
ok "at 20 columns it is still a table" sh -c 'test "$1" -ge 3' - "$(at 20 '"$HEDDLE" list' | wc -l)"
same "without a width nothing is cut" "$(at 0 '"$HEDDLE" list' | plain)" "$wide"

# ---- colours ----

ok "a terminal gets colours" coloured "$(at 80 '"$HEDDLE" list')"
for without in 'NO_COLOR=1 "$HEDDLE" list' '"$HEDDLE" list --color never' 'TERM=dumb "$HEDDLE" list' \
    '"$HEDDLE" list | cat' '"$HEDDLE" list --json' 'NO_COLOR=1 CLICOLOR_FORCE=1 "$HEDDLE" list'; do
    if coloured "$(at 80 "$without")"; then flunk "no colours: $without"; else pass "no colours: $without"; fi
done
for with in 'heddle list --color always' 'heddle list --color=always' 'env CLICOLOR_FORCE=1 "$HEDDLE" list' \
    'env NO_COLOR=1 "$HEDDLE" list --color always'; do
    if coloured "$(eval "$with")"; then pass "colours: $with"; else flunk "colours: $with"; fi
done
not_ok "CLICOLOR_FORCE=0 is not set" coloured "$(CLICOLOR_FORCE=0 heddle list)"
not_ok "auto without a terminal has none" coloured "$(NO_COLOR='' heddle list --color auto)"
same "the text is the same" "$(heddle list --color always | plain)" "$wide"
run heddle list --color often
exits "another word is misuse" 2
has "with the words there are" "$err" "auto, always or never"
run heddle status lost --color always
has "an error is coloured" "$err" "$(printf '\033[31m')"
evil=$(printf 'Ev\033[31mil\033[2J')
heddle spawn --id evil --intent "$evil" --objective goal --no-run >/dev/null 2>&1
out=$(heddle list --color always)
lacks "colours of others do not pass" "$out" "$(printf 'Ev\033')"
lacks "nor what else they send" "$out" "$(printf '\033[2J')"
has "they are shown" "$out" 'Ev\x1b[31mil'

# ---- a pager ----

same "what fits goes straight to the terminal" "$(at 80 'HEDDLE_PAGER="cat >paged" "$HEDDLE" list' | plain)" "$(at 80 '"$HEDDLE" list' | plain)"
ok "through no pager" test ! -e paged
out=$(at 80 'HEDDLE_PAGER="cat >paged" "$HEDDLE" help')
same "what is longer goes through it" "$(cat paged)" "$(heddle help)"
same "alone" "$out" ""
rm -f paged
at 80 'HEDDLE_PAGER= PAGER="cat >paged" "$HEDDLE" help; PAGER=cat "$HEDDLE" help; TERM=dumb PAGER="cat >paged" "$HEDDLE" help; PAGER="cat >paged" "$HEDDLE" help | cat' >shown
ok "an empty one, cat, a dumb terminal and a pipe are none" test ! -e paged
same "and all is shown" "$(grep -c 'usage: heddle COMMAND' shown)" 4
has "a pager that is not there is done without" "$(at 80 'PAGER=/nonexistent/pager "$HEDDLE" help 2>/dev/null')" "usage: heddle COMMAND"
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do
    heddle spawn --id "more$i" --intent "More $i" --objective goal --no-run >/dev/null 2>&1
done
at 80 'PAGER="cat >paged" "$HEDDLE" list' >shown
has "a long list too" "$(cat paged)" "more25"
at 80 'PAGER="head -n 1 >paged" "$HEDDLE" list; echo "left with $?"' >shown
has "one that is left early is no error" "$(cat shown)" "left with 0"
at 80 'OPENAI_API_KEY=sk-x PAGER="env >paged; cat >/dev/null" "$HEDDLE" list' >shown
lacks "it gets no keys" "$(cat paged)" "sk-x"

# ---- waiting ----

out=$(printf 'one\n\004' | script -qefc '"$HEDDLE" memo add -' /dev/null 2>/dev/null)
has "who is to type is told" "$out" "reading from the terminal; Ctrl-D ends it"
for command in tokens 'payload --stdin' mcp 'hook claude-code'; do
    has "so is who runs $command" "$(at 80 '"$HEDDLE" '"$command")" "reading from the terminal; Ctrl-D ends it"
done
lacks "a pipe is not" "$(echo two | heddle memo add - 2>&1)" "terminal"

done_testing

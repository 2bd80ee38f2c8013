#!/bin/sh
# postgres: no, it is about the file of the log
# git neither deletes nor commits the log: git clean -fdx, git stash -a, git add -A, git worktree remove; and what
# heddle does for it: .heddle/.git and a line in info/exclude.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

if ! command -v git >/dev/null; then
    skip "what git leaves alone" "no git"
    done_testing
fi
git config --global user.name t
git config --global user.email t@example.org
git config --global init.defaultBranch main
top=$(realpath "$PWD")

# repository DIR: with one commit.
repository() {
    git init -q "$1" && mkdir "$1/src" && echo x >"$1/src/f" && git -C "$1" add -A && git -C "$1" commit -qm first
}
entries() { (cd "$1" && heddle log export t 2>/dev/null | grep -c '"kind"'); }

# survives DIR: what git removes of DIR leaves the log of t as it is.
survives() {
    echo junk >"$1/junk"
    ok "$1: git add -A" git -C "$1" add -A
    lacks "$1: it takes nothing of .heddle" "$(git -C "$1" ls-files)" ".heddle"
    git -C "$1" reset -q
    git -C "$1" clean -fdxq
    not_ok "$1: git clean -fdx removes what it may" test -e "$1/junk"
    same "$1: but no entry" "$(entries "$2")" "$3"
    echo junk >"$1/junk"
    git -C "$1" stash -a -q 2>/dev/null
    not_ok "$1: git stash -a puts away what it may" test -e "$1/junk"
    same "$1: but no entry, either" "$(entries "$2")" "$3"
    git -C "$1" stash drop -q
    ok "$1: doctor is content" env -C "$2" "$HEDDLE" doctor
}

# ---- the usual case ----
repository one
(cd one/src && heddle say t first) >/dev/null 2>&1
survives one one 1
git -C one worktree add -q ../tree
(cd tree && heddle say t second) >/dev/null 2>&1
ok "a worktree is removed without force" git -C one worktree remove ../tree
survives one one 2
same "what stands in .heddle/.git" "$(cd one/.heddle/.git && find . | sort | tr '\n' ' ')$(cat one/.heddle/.git/HEAD)" \
    ". ./HEAD ./objects ./refs ref: refs/heads/none"
same "it is no repository for heddle" "$(entries one/.heddle/.git/refs)" 2
same "the line is there once" "$(grep -c heddle one/.git/info/exclude)" 1
rm -r one/.heddle/.git
(cd one && heddle say t third) >/dev/null 2>&1
survives one one 3

# ---- a workspace that is older than the repository, and one below its top ----
mkdir 'old [x]*'
(cd 'old [x]*' && heddle say t first) >/dev/null 2>&1
not_ok "outside of git nothing is made" test -e 'old [x]*/.heddle/.git'
repository 'old [x]*'
(cd 'old [x]*' && heddle say t second) >/dev/null 2>&1
survives 'old [x]*' 'old [x]*' 2
repository below
mkdir 'below/a [b]*'
echo x >'below/a [b]*/f' && git -C below add -A && git -C below commit -qm more
(cd 'below/a [b]*' && heddle init --here && heddle say t first) >/dev/null 2>&1
has "the line names the directory" "$(cat below/.git/info/exclude)" '/a \[b]\*/.heddle/'
survives below 'below/a [b]*' 1

# ---- info/exclude: every other byte stays; what is not the user's file is left alone ----
repository bytes
printf 'mine\r\n*.o' >bytes/.git/info/exclude
(cd bytes && heddle say t first) >/dev/null 2>&1
printf 'mine\r\n*.o\n/.heddle/\n' >wanted
ok "a line is added after what is there" cmp wanted bytes/.git/info/exclude
repository bare_info
rm -r bare_info/.git/info
(cd bare_info && heddle say t first) >/dev/null 2>&1
survives bare_info bare_info 1

# left NAME WORDS: the log of that repository is used without the protection, which is said.
left() {
    run env -C "$1" "$HEDDLE" say t first
    exits "$1: the log is used" 0
    has "$1: it is said" "$err" "$2"
    has "$1: with the line to add" "$err" "put the line /.heddle/ into it"
    not_ok "$1: nothing pretends to be a repository" test -e "$1/.heddle/.git"
    ok "$1: git add -A works" git -C "$1" add -A
    run env -C "$1" "$HEDDLE" doctor
    exits "$1: doctor finds it" 1
}
repository link
echo x >theirs
ln -sf "$top/theirs" link/.git/info/exclude
left link "is a link"
same "what it points to is as it was" "$(cat theirs)" x
echo /.heddle/ >>theirs
ok "once the line is there, doctor --fix does the rest" env -C link "$HEDDLE" doctor --fix
survives link link 1
repository hard
ln theirs2 hard/.git/info/exclude 2>/dev/null || { echo x >theirs2 && ln -f theirs2 hard/.git/info/exclude; }
left hard "is not a file of your own"
if [ "$(id -u)" = 0 ]; then
    repository another
    chown 12345 another/.git/info/exclude
    left another "is not a file of your own"
else
    repository another
    chmod 444 another/.git/info/exclude
    left another "cannot be written"
fi

# ---- what an earlier version let git track ----
repository tracked
mkdir tracked/.heddle
echo '{}' >tracked/.heddle/config.json
git -C tracked add -f .heddle/config.json && git -C tracked commit -qm settings
run env -C tracked "$HEDDLE" say t first
has "files in .heddle that git tracks are told of" "$err" "it tracks files in $top/tracked/.heddle"
run env -C tracked "$HEDDLE" doctor
has "by doctor, too" "$out$err" "git -C $top/tracked rm -r -q --cached .heddle"
git -C tracked rm -r -q --cached .heddle && git -C tracked commit -qm 'settings are not tracked'
survives tracked tracked 1
done_testing

#!/bin/sh
# postgres: no, it is about where the file of the log is
# One workspace for all checkouts of a git repository: every layout that git makes, the environment, owners, logs
# that an earlier version left in a worktree.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

if ! command -v git >/dev/null; then
    skip "worktrees" "no git"
    done_testing
fi
git config --global user.name t
git config --global user.email t@example.org
git config --global init.defaultBranch main
git config --global protocol.file.allow always
top=$(realpath "$PWD")

# commit DIR: a repository's first commit, with a file in a directory.
commit() {
    mkdir -p "$1/src/deep"
    echo x >"$1/src/deep/f"
    git -C "$1" add -A && git -C "$1" commit -qm first
}

# root_in DIR [NAME=VALUE...]: where the workspace is or would be, as `heddle doctor` says it; else the error.
root_in() {
    (
        cd "$top/$1" || exit 1
        shift
        env "$@" "$HEDDLE" doctor --json 2>"$scratch/why" || cat "$scratch/why"
    ) | jq -rs 'first | .root // (.error.message | ltrimstr("there is no log at "))'
}

# root "NAME" DIR ROOT: the workspace of DIR is ROOT; both are below the test's directory.
root() { same "$1" "$(root_in "$2")" "$top/$3"; }

# says "NAME" DIR WORDS: nothing is opened or made there, and the message has the words.
says() {
    before=$(find "$top/$2" | sort)
    run env -C "$top/$2" "$HEDDLE" say t x
    exits "$1: refused" 1
    has "$1: it says why" "$err" "$3"
    has "$1: and what to do" "$err" "hint: "
    same "$1: nothing was touched" "$(find "$top/$2" | sort)" "$before"
}

# ---- the layouts ----
git init -q main && commit main
root "the top of the main checkout" main main
root "a directory in it" main/src/deep main
root "the git directory" main/.git main
root "a directory in that" main/.git/objects main
git -C main worktree add -q ../beside
git -C main worktree add -q inside
git -C main/inside worktree add -q nested
root "a worktree beside it" beside main
root "a directory of the worktree" beside/src/deep main
root "a worktree inside" main/inside/src main
root "a worktree inside a worktree" main/inside/nested/src main
root "the git directory of a worktree" main/.git/worktrees/beside main

git clone -q --bare main bare.git
git -C bare.git worktree add -q ../of_bare main
git -C bare.git worktree add -q in_bare -b in_bare main
root "a bare repository" bare.git bare.git
root "a worktree beside it" of_bare/src bare.git
root "a worktree inside it" bare.git/in_bare bare.git

mkdir proj
git clone -q --bare main proj/.bare
echo 'gitdir: ./.bare' >proj/.git
git -C proj worktree add -q one main
git -C proj worktree add -q two -b two main
root "a directory with a pointer to a bare repository inside" proj proj/.bare
root "and its worktrees" proj/one/src proj/.bare
mkdir -p proj/.heddle
root "a workspace that is there already, above the worktrees" proj/two proj
root "is found from the directory, too" proj proj
rm -r proj/.heddle

git init -q outer && commit outer
git -C outer submodule --quiet add "$top/main" lib 2>/dev/null
git -C outer commit -qm lib
root "a submodule" outer/lib/src outer/lib
git -C outer worktree add -q ../outer_tree
git -C outer_tree submodule --quiet update --init 2>/dev/null
root "a submodule in a worktree is another repository" outer_tree/lib/src outer_tree/lib
git -C outer/lib worktree add -q "$top/of_lib" -b of_lib
root "a worktree of a submodule" of_lib/src outer/lib
mkdir outer/.heddle
root "a submodule in a workspace" outer/lib/src outer
root "and in a worktree of the outer repository" outer_tree/lib/src outer
mkdir outer_tree/.heddle
root "whose own copy does not count" outer_tree/lib/src outer
rm -r outer/.heddle outer_tree/.heddle

git init -q --separate-git-dir="$top/apart.git" apart && commit apart
git -C apart worktree add -q ../of_apart
root "a git directory elsewhere" apart/src apart.git
root "and a worktree of it" of_apart apart.git

git -C main worktree add -q ../moving
mv moving moved
root "a worktree that was moved" moved/src main
cp -r beside copied
root "a copy of a worktree" copied main
git -C main worktree add -q ../relative
echo 'gitdir: ../main/.git/worktrees/relative' >relative/.git
root "a relative pointer" relative/src main

git init -q gone && commit gone
git -C gone worktree add -q ../of_gone
mv gone elsewhere
says "the main checkout was moved" of_gone "which is no git repository"
has "it names git's command" "$err" "git worktree repair $top/of_gone"
git -C elsewhere worktree repair "$top/of_gone" >/dev/null 2>&1
root "after the repair" of_gone elsewhere

git init -q far && commit far
mkdir work
git -C far config core.worktree "$top/work"
root "core.worktree without a pointer back" far far
mkdir linked direct
ln -s "$top/main/.git" linked/.git
root "a link to the git directory of another" linked main
echo "gitdir: $top/main/.git" >direct/.git
root "a pointer to it" direct main
git init -q main/src/nested && commit main/src/nested
root "a repository inside another" main/src/nested/src main/src/nested
rm -rf main/src/nested
mkdir junk nowhere odd empty
echo junk >junk/.git
says "a .git file that is none" junk "is not a pointer of git"
echo 'gitdir: /nonexistent' >nowhere/.git
says "a pointer to nothing" nowhere "/nonexistent, which is no git repository"
echo 'gitdir: /etc' >odd/.git
says "a pointer to something else" odd "/etc, which is no git repository"
has "a broken pointer does not keep a payload from being made" "$(cd odd && heddle payload 2>&1)" "$top/odd"
mkdir empty/.git empty/sub
root "a .git directory that is no repository is passed over" empty/sub empty/sub

# A worktree on another file system, and a file system inside the checkout: there git's search ends.
git init -q disk && commit disk
mkdir disk/mount
if [ "$(id -u)" = 0 ] && unshare -m mount -t tmpfs none disk/mount 2>/dev/null; then
    cat >"$scratch/mounted.sh" <<'END'
mount -t tmpfs none disk/mount && cd disk && git worktree add -q mount/tree && mkdir mount/plain || exit 1
(cd mount/plain && "$HEDDLE" say near x >&2 && ls -d "$PWD"/.heddle)
cd mount/tree/src || exit 1
"$HEDDLE" payload | grep -F '**CWD:**'
"$HEDDLE" say far 'from another file system' >&2
END
    run unshare -m env HEDDLE="$HEDDLE" sh "$scratch/mounted.sh"
    has "a worktree on another file system" "$out" "$top/disk/mount/tree"
    has "has the shared log" "$(cd disk && heddle log export far)" "from another file system"
    has "a file system inside the checkout is not part of it" "$out" "$top/disk/mount/plain/.heddle"
else
    skip "other file systems" "nothing can be mounted"
fi

# ---- the environment ----
same "GIT_DIR of a hook of git" "$(root_in beside/src GIT_DIR="$top/main/.git/worktrees/beside")" "$top/main"
lacks "is no news" "$(cd beside && GIT_DIR=$top/main/.git/worktrees/beside heddle list 2>&1)" "GIT_DIR"
same "GIT_DIR of another repository does not lead there" "$(root_in beside GIT_DIR="$top/outer/.git")" "$top/main"
has "which is said" "$(cd beside && GIT_DIR=$top/outer/.git heddle list 2>&1)" "GIT_DIR leads to $top/outer/.git, but"
same "GIT_CEILING_DIRECTORIES ends the search" "$(root_in main/src/deep GIT_CEILING_DIRECTORIES="$top/main/src")" "$top/main/src/deep"
same "above the directory itself" "$(root_in main GIT_CEILING_DIRECTORIES="$top/main")" "$top/main"
mkdir named
same "HEDDLE_ROOT names the workspace" "$(root_in beside/src HEDDLE_ROOT="$top/named")" "$top/named"
same "from anywhere" "$(root_in . HEDDLE_ROOT="$top/named")" "$top/named"
same "also where a pointer of git is broken" "$(root_in odd HEDDLE_ROOT="$top/named")" "$top/named"
has "--root counts more" "$(cd named && HEDDLE_ROOT=$top/named heddle payload --root "$top/beside" 2>&1)" "**CWD:** $top/beside"
for bad in named "$top/missing" "$top/main/src/deep/f"; do
    run env HEDDLE_ROOT="$bad" "$HEDDLE" say t x
    exits "HEDDLE_ROOT=$bad is refused" 2
    has "with what it must be" "$err" "absolute path of the directory"
done
HEDDLE_ROOT=$top/named heddle say t 'in the named one' >/dev/null 2>&1
ok "what is said goes there" test -f named/.heddle/heddle.db
has "the project is still the checkout" "$(cd beside/src && HEDDLE_ROOT=$top/named heddle payload 2>&1)" "**CWD:** $top/beside"

# ---- a directory of a repository ----
git init -q fresh && commit fresh
(cd fresh/src/deep && heddle say t 'hello') >/dev/null 2>&1
ok "say in a directory of a repository uses its top" test -f fresh/.heddle/heddle.db
not_ok "and makes nothing there" test -e fresh/src/deep/.heddle
git init -q notes && commit notes
(cd notes/src && heddle memo add 'remember') >/dev/null 2>&1
not_ok "nor does a memo" test -e notes/src/.teddy
ok "which is kept at the top" test -d notes/.teddy
run env -C fresh/src "$HEDDLE" init
exits "init there asks, and nobody answers" 1
has "it names the top" "$err" "heddle init --root $top/fresh"
ok "--here makes one there" env -C fresh/src "$HEDDLE" init --here
root "which is found" fresh/src/deep fresh/src
git -C fresh worktree add -q ../of_fresh
root "also from the same place of a worktree" of_fresh/src/deep fresh/src
root "and the other one above it" of_fresh fresh
run env -C of_fresh "$HEDDLE" init
has "init in a worktree means the shared workspace" "$out" "workspace in $top/fresh"
run env -C of_fresh/src/deep "$HEDDLE" init --here
exits "a worktree has none of its own" 1

# ---- two roots ----
(cd beside/src && heddle say t 'from a worktree') >/dev/null 2>&1
(cd main && heddle say t 'from main') >/dev/null 2>&1
same "both say to one log" "$(cd moved && heddle log export t | grep -c '"kind"')" 2
has "doctor names a worktree that was moved" "$(cd moved && heddle doctor 2>&1)" "git believes this worktree to be in $top/moving"
not_ok "the worktree holds none" test -e beside/.heddle
echo 'only here' >beside/only.txt
has "a payload packs the worktree" "$(cd beside && heddle payload only.txt 2>&1)" "only here"
(cd beside && heddle memo add 'of this checkout') >/dev/null 2>&1
ok "memos are kept in it" test -d beside/.teddy
not_ok "and not in the other" test -e main/.teddy
rm -r beside/.teddy
heddle config set --user executors.agent "[\"sh\",\"-c\",\"pwd >'$scratch/where'; '$HEDDLE' list >'$scratch/listed'\"]" >/dev/null
(cd main && heddle objective create O --id o) >/dev/null
(cd beside/src && heddle spawn --id w1 --objective o --intent x --foreground) >/dev/null 2>&1
same "an executor runs in the worktree" "$(cat "$scratch/where")" "$top/beside"
has "and sees the shared workspace" "$(cat "$scratch/listed")" w1
rm "$scratch/where"
(cd beside && heddle spawn --id w2 --objective o --intent x && heddle wait w2 --timeout 60) >/dev/null 2>&1
same "also in the background" "$(cat "$scratch/where")" "$top/beside"
has "with the same workspace" "$(cat "$scratch/listed")" w2
heddle config set --user executors.agent '["true"]' >/dev/null
ok "git worktree remove" git -C main worktree remove --force "$top/beside"
same "takes nothing of the log" "$(cd main && heddle log export t | grep -c '"kind"')" 2

# ---- a log that an earlier version made in a worktree ----
git -C main worktree add -q ../older
HEDDLE_ROOT=$top/older heddle say old 'left behind' >/dev/null 2>&1
run env -C older "$HEDDLE" list
has "it is named" "$err" "the log in $top/older/.heddle is not used"
run env -C main "$HEDDLE" doctor
exits "doctor finds it from the main checkout" 1
has "with the way to bring it over" "$out$err" "HEDDLE_ROOT=$top/older heddle log export --all | heddle log import --all --root $top/main"
(HEDDLE_ROOT=$top/older heddle log export --all | heddle log import --all --root "$top/main") >/dev/null 2>&1
has "which works" "$(cd main && heddle log export old)" "left behind"

# ---- another user ----
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    git init -q theirs && commit theirs
    git -C theirs worktree add -q ../of_theirs
    (cd theirs && heddle init) >/dev/null
    # as them: whose directories they are
    chown -Rh 12345:12345 theirs of_theirs
    run env -C of_theirs "$HEDDLE" list
    exits "a worktree of another user's repository" 1
    has "is not followed" "$err" "is not yours"
    # a foreign .git file in front of one's own repository
    mkdir bait bait/mine
    echo "gitdir: $top/main/.git/worktrees/moving" >bait/.git
    chown 12345:12345 bait/.git
    run env -C bait/mine "$HEDDLE" list
    exits "a foreign pointer to one's own repository" 1
    has "is not followed either" "$err" "$top/bait/.git belongs to user 12345"
    run env -C bait/mine GIT_DIR="$top/main/.git" "$HEDDLE" list
    exits "not with GIT_DIR" 1
    heddle config set --user safe_workspaces "[\"$top/bait\"]" >/dev/null
    run env -C bait/mine "$HEDDLE" list
    exits "unless it is listed" 0
else
    skip "another user's repository" "not root"
fi
done_testing

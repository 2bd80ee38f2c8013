#!/bin/sh
# asan: no (it copies the release build)
# What `./dev install PREFIX` puts where, and that it works from there.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
source=$(cd "$(dirname "$0")/../.." && pwd)

run "$source/tools/install.sh" "$PWD/pre fix"
exits "it installs below a prefix, even with a blank in its name" 0
cd "pre fix" || exit 1
run bin/heddle version
exits "the program runs from there" 0
same "leslie is the same program" "$(readlink bin/leslie)" heddle
same "teddy too" "$(readlink bin/teddy)" heddle
for page in "$source"/man/*.[1-9]; do
    name=$(basename "$page")
    ok "$name is installed" cmp "$page" "share/man/man${name##*.}/$name"
done
ok "bash completion is installed" test -s share/bash-completion/completions/heddle
ok "zsh completion is installed" test -s share/zsh/site-functions/_heddle
ok "fish completion is installed" test -s share/fish/vendor_completions.d/heddle.fish
if [ -d "$source/build/release/share/heddle" ]; then
    ok "the data is installed" diff -r "$source/build/release/share/heddle" share/heddle
fi
run "$source/tools/install.sh" "$PWD"
exits "installing again over it is fine" 0
run env DESTDIR="$scratch/dest" "$source/tools/install.sh" /usr
exits "DESTDIR is put in front" 0
ok "and the program is there" test -x "$scratch/dest/usr/bin/heddle"
run "$source/tools/install.sh" /proc/nowhere
exits "a prefix that cannot be written is refused" 1
has "with what to do" "$err" "another PREFIX"

done_testing

#!/bin/sh
# asan: no (it copies the release build)
# What `./dev install PREFIX` puts where, and that it works from there.
# postgres: no, it has no log
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
source=$(cd "$(dirname "$0")/../.." && pwd)

run "$source/tools/install.sh" "$PWD/pre fix"
exits "it installs below a prefix, even with a blank in its name" 0
cd "pre fix" || exit 1
run bin/heddle version
exits "the program runs from there" 0
if command -v readelf >/dev/null; then
    has "nothing in it can be pointed elsewhere after it is loaded" "$(readelf -dW bin/heddle)" NOW
    has "nor before" "$(readelf -lW bin/heddle)" GNU_RELRO
fi
same "leslie is the same program" "$(readlink bin/leslie)" heddle
same "teddy too" "$(readlink bin/teddy)" heddle
for page in "$source"/man/*.[1-9]; do
    name=$(basename "$page")
    ok "$name is installed" cmp "$page" "share/man/man${name##*.}/$name"
done
ok "bash completion is installed" test -s share/bash-completion/completions/heddle
ok "zsh completion is installed" test -s share/zsh/site-functions/_heddle
ok "fish completion is installed" test -s share/fish/vendor_completions.d/heddle.fish
ok "the units of systemd are installed" grep -q "^ExecStart=\"$PWD/bin/heddle\" serve" "lib/systemd/user/heddle@.service"
ok "and their socket" test -s "lib/systemd/user/heddle@.socket"
if [ -d "$source/build/release/share/heddle" ]; then
    ok "the data is installed" diff -r -x installed.txt "$source/build/release/share/heddle" share/heddle
fi
run "$source/tools/install.sh" "$PWD"
exits "installing again over it is fine" 0
echo mine >share/man/man1/other.1
echo mine >bin/other
run "$source/tools/uninstall.sh" "$PWD"
exits "it can be removed again" 0
same "all of it, and nothing else" "$(find . -type f -o -type l | sort | tr '\n' ' ')" "./bin/other ./share/man/man1/other.1 "
run "$source/tools/uninstall.sh" "$PWD"
exits "twice is told" 1
has "by what is missing" "$err" "nothing to remove"
mkdir -p evil/share/heddle
echo keep >keep
echo ../keep >evil/share/heddle/installed.txt
run "$source/tools/uninstall.sh" "$PWD/evil"
exits "a list cannot name what is elsewhere" 1
ok "which stays" test -f keep
run "$source/dev" install --help
exits "help of a command is help" 0
has "of dev" "$out" "uninstall [PREFIX]"
run "$source/dev" install --nope
exits "an option is no prefix" 2
run env HEDDLE_NO_INSTALL=1 "$source/dev" install "$PWD/no"
exits "HEDDLE_NO_INSTALL installs nothing" 1
has "and says so" "$err" "nothing is installed"
ok "indeed" test ! -e no
run env DESTDIR="$scratch/dest" "$source/tools/install.sh" /usr
exits "DESTDIR is put in front" 0
ok "and the program is there" test -x "$scratch/dest/usr/bin/heddle"
if command -v dpkg-deb >/dev/null && command -v strip >/dev/null; then
    run "$source/tools/package.sh" "$scratch"
    exits "a Debian package is made" 0
    deb=$(echo "$scratch"/heddle_*.deb)
    dpkg-deb -x "$deb" "$scratch/unpacked"
    run env -C "$scratch/unpacked" usr/bin/heddle version
    exits "what it holds runs" 0
    has "it needs what the program is linked with" "$(dpkg-deb -f "$deb" Depends)" libsodium
    for name in $(grep -rhoE 'dlopen\("lib[a-z]+' "$source/src" | cut -d '"' -f 2); do
        has "it recommends $name, which is loaded when needed" "$(dpkg-deb -f "$deb" Recommends)" "$name"
    done
    same "nobody else may write to what it holds" "$(dpkg-deb -c "$deb" | grep -v '^l' | grep -cv '^[-d]rw[-x]r-[-x]r-[-x] root/root')" 0
    lacks "nor does it hold names of debugging" "$(readelf -SW "$scratch/unpacked/usr/bin/heddle")" .debug_info
else
    skip "a Debian package is made" "there is no dpkg-deb"
fi
run "$source/tools/install.sh" /proc/nowhere
exits "a prefix that cannot be written is refused" 1
has "with what to do" "$err" "another PREFIX"

done_testing

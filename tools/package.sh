#!/usr/bin/env bash
# package.sh [DIRECTORY]: make heddle_VERSION_ARCH.deb from the release build, in build or DIRECTORY.
# What the program needs at run time is read from the libraries it is linked with; the libraries that
# it loads on first use, by dlopen(), are recommended.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tools/dev-lib.sh
. tools/dev-lib.sh

version=$(sed -n 's/^project(heddle VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
arch=$(dpkg --print-architecture)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
package=${1:-build}/heddle_${version}_$arch.deb

chmod 755 "$tree"
DESTDIR=$tree tools/install.sh /usr
rm "$tree/usr/share/heddle/installed.txt" # for uninstall.sh; dpkg keeps its own list
strip --strip-unneeded "$tree/usr/bin/heddle"
find "$tree/usr/share/man" -type f -exec gzip -9n {} +
install -d "$tree/usr/share/doc/heddle" "$tree/DEBIAN"
install -m 644 LICENSE "$tree/usr/share/doc/heddle/copyright"
gzip -9nc CHANGELOG.md >"$tree/usr/share/doc/heddle/changelog.gz"

# as_list: lines of `dpkg -S` on stdin as the names of packages for a field of the control file.
as_list() { sed 's/:.*//' | sort -u | paste -sd, | sed 's/,/, /g'; }

# linked BINARY: the Debian packages of the libraries it is linked with.
linked() {
    ldd "$1" | awk '$3 ~ /^\// { print $3 }' | while read -r file; do
        dpkg -S "$(readlink -f "$file")" 2>/dev/null || dpkg -S "$file" 2>/dev/null ||
            fail "no Debian package has $file"
    done | as_list
}

# loaded: those of the libraries that the sources name in dlopen().
loaded() {
    grep -rhoE 'dlopen\("[^"]+"' src | cut -d '"' -f 2 | while read -r name; do
        dpkg -S "*/$name" || fail "no Debian package has $name"
    done | as_list
}
needs=$(linked build/release/heddle)
recommends=$(loaded)

cat >"$tree/DEBIAN/control" <<TEXT
Package: heddle
Version: $version
Architecture: $arch
Maintainer: heddle maintainers <maintainers@heddle.invalid>
Section: utils
Priority: optional
Depends: $needs
Recommends: $recommends
Installed-Size: $(du -sk "$tree/usr" | cut -f1)
Description: context engine for AI agents
 Keeps one append-only log per thread of what people, models and tools said and
 did, and computes from it what a model should see next: contexts of lanes at
 any past point, threads that share work, a tree to explore, and one file with
 everything a model must know about a project.
TEXT
dpkg-deb --root-owner-group --build "$tree" "$package" >/dev/null
say "$package is ready; install it with: apt-get install $(realpath "$package")"

#!/usr/bin/env bash
# package.sh: make build/heddle_VERSION_ARCH.deb from the release build. What the program needs at
# run time is read from the libraries it is linked with; what it loads on first use is recommended.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tools/dev-lib.sh
. tools/dev-lib.sh

version=$(sed -n 's/^project(heddle VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
arch=$(dpkg --print-architecture)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
package=build/heddle_${version}_$arch.deb

DESTDIR=$tree tools/install.sh /usr
find "$tree/usr/share/man" -type f -exec gzip -9n {} +
install -d "$tree/usr/share/doc/heddle" "$tree/DEBIAN"
install -m 644 LICENSE "$tree/usr/share/doc/heddle/copyright"
gzip -9nc CHANGELOG.md >"$tree/usr/share/doc/heddle/changelog.gz"

# libraries BINARY: the Debian packages of the libraries it is linked with.
libraries() {
    ldd "$1" | awk '$3 ~ /^\// { print $3 }' | while read -r file; do
        dpkg -S "$(readlink -f "$file")" 2>/dev/null || dpkg -S "$file" 2>/dev/null || true
    done | sed 's/:.*//' | sort -u | paste -sd, | sed 's/,/, /g'
}

cat >"$tree/DEBIAN/control" <<TEXT
Package: heddle
Version: $version
Architecture: $arch
Maintainer: heddle maintainers <maintainers@heddle.invalid>
Section: utils
Priority: optional
Depends: $(libraries build/release/heddle)
Recommends: libcurl4, libedit2
Installed-Size: $(du -sk "$tree/usr" | cut -f1)
Description: context engine for AI agents
 Keeps one append-only log per thread of what people, models and tools said and
 did, and computes from it what a model should see next: contexts of lanes at
 any past point, threads that share work, a tree to explore, and one file with
 everything a model must know about a project.
TEXT
dpkg-deb --root-owner-group --build "$tree" "$package" >/dev/null
say "$package is ready; install it with: apt-get install ./$package"

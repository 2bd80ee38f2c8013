#!/usr/bin/env bash
# The mechanical part of a release: version, manual pages, lint and tests, commit, tag. Pushes nothing.
#
#     tools/release.sh 0.2.0
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tools/dev-lib.sh
. tools/dev-lib.sh

version=${1:-}
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "usage: tools/release.sh MAJOR.MINOR.PATCH" 2
[ -z "$(git status --porcelain)" ] || fail "the working tree has changes that are not committed"
! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || fail "the tag v$version exists"
grep -qE "^## $version, [0-9]{4}-[0-9]{2}-[0-9]{2}\$" CHANGELOG.md ||
    fail "CHANGELOG.md has no section '## $version, YYYY-MM-DD'"

sed -i "s/^project(heddle VERSION [0-9.]*/project(heddle VERSION $version/" CMakeLists.txt
sed -i "s/^set(HEDDLE_DATE \"[^\"]*\")/set(HEDDLE_DATE \"$(LC_ALL=C date -u '+%B %-d, %Y')\")/" CMakeLists.txt
./dev man
.ci/run
git commit -qam "release: $version"
git tag -a "v$version" -m "heddle $version"
say "tagged v$version; push it when you are ready"

#!/usr/bin/env bash
# uninstall.sh PREFIX: remove what install.sh put below PREFIX, as share/heddle/installed.txt has
# it, and the directories of heddle's own that are empty then. DESTDIR is put in front.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tools/dev-lib.sh
. tools/dev-lib.sh

to=${DESTDIR:-}$1
list=$to/share/heddle/installed.txt
[ -f "$list" ] || fail "nothing to remove: there is no $list"
mapfile -t installed <"$list"
removed=0
for file in "${installed[@]}"; do
    case /$file/ in
    */../* | //*) fail "$list names $file, which is not below it; nothing more was removed" ;;
    esac
    [ -e "$to/$file" ] || [ -L "$to/$file" ] || continue
    rm -f -- "$to/$file" || fail "$to/$file cannot be removed; try sudo"
    removed=$((removed + 1))
done
find "$to/share/heddle" -depth -type d -empty -delete 2>/dev/null || true
say "removed $removed files below $to"

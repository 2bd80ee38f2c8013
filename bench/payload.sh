#!/usr/bin/env bash
# The payload against its peers, on the same tree in the same run: repomix (npm) packs it with
# token counts; git ls-files and rg --files list it; cat reads it into nothing.
#
#   HEDDLE_BENCH_TREE=DIR    use this checkout (copied first: nothing is written into it)
#   HEDDLE_BENCH_RUNS=N      repetitions, of which the fastest counts (default 5)
set -euo pipefail
cd "$(dirname "$0")/.."
heddle=$PWD/build/release/heddle
cache=${XDG_CACHE_HOME:-$HOME/.cache}/heddle
runs=${HEDDLE_BENCH_RUNS:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ---- the tree ----

# apt_source FOLDER PACKAGE...: the upstream sources of Debian packages below FOLDER, from the
# archive that this machine's packages come from. Nothing of the machine's own lists is changed.
apt_source() {
    local to=$1 state=$work/apt site package archive
    shift
    site=$(apt-cache policy git | awk '$2 ~ /^http/ && $3 ~ /^[a-z]+\/main$/ { sub("/main", "", $3); print $2, $3; exit }')
    [ -n "$site" ] || return 1
    mkdir -p "$state/lists/partial" "$state/parts"
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $site main" >"$state/list"
    local apt=(apt-get -qq -o "Dir::Etc::SourceList=$state/list" -o "Dir::Etc::SourceParts=$state/parts"
        -o "Dir::State::Lists=$state/lists" -o APT::Sandbox::User=root)
    "${apt[@]}" update >/dev/null 2>&1 || return 1
    (cd "$state" && "${apt[@]}" source --download-only "$@" >/dev/null 2>&1) || return 1
    for package; do
        archive=$(ls "$state/$package"_*.orig.tar.?z)
        mkdir -p "$to/$package"
        tar -xf "$archive" --strip-components=1 -C "$to/$package" || return 1
    done
}

# Without the archive: about 5,500 headers, scripts and documents of this machine.
system_files() {
    local to=$1 from n=0
    for from in /usr/include /usr/lib/python3 /usr/lib/python3.11 /usr/share/perl /usr/share/doc; do
        [ -d "$from" ] || continue
        while IFS= read -r -d '' file && [ $n -lt 5500 ]; do
            mkdir -p "$to/$(dirname "${file#/usr/}")"
            cp "$file" "$to/${file#/usr/}"
            n=$((n + 1))
        done < <(find "$from" -type f -size -128k \( -name '*.h' -o -name '*.py' -o -name '*.pm' -o -name '*.txt' -o -name '*.hpp' -o -name '*.md' \) -print0 | LC_ALL=C sort -z | awk 'BEGIN { RS = ORS = "\0" } NR % 2')
    done
}

if [ -n "${HEDDLE_BENCH_TREE:-}" ]; then
    cp -a "$HEDDLE_BENCH_TREE" "$work/tree"
    tree=$work/tree
    what="the tree given"
else
    tree=$cache/bench-sources
    what="the sources of git and curl, as Debian has them"
    if [ ! -d "$tree" ]; then
        mkdir -p "$tree.part"
        if apt_source "$tree.part" git curl; then
            # As after a build, so that the patterns have something to hide.
            find "$tree.part/git" -name '*.c' | sed 's/c$/o/' | tr '\n' '\0' | xargs -0 touch
            mv "$tree.part" "$tree"
        else
            rm -rf "$tree.part"
        fi
    fi
    if [ ! -d "$tree" ]; then
        tree=$cache/bench-system
        what="headers and scripts of this machine (no sources to be had)"
        [ -d "$tree" ] || { rm -rf "$tree.part"; system_files "$tree.part"; mv "$tree.part" "$tree"; }
    fi
fi
[ -d "$tree/.git" ] || git -C "$tree" init -q
rm -rf "$tree/.teddy"
mkdir "$tree/.teddy"
printf '.\n' >"$tree/.teddy/global.context"
cd "$tree"

# ---- measuring ----

# measure COMMAND...: wall time in µs, CPU time in µs, peak memory in kB, of one run.
measure() {
    local from to
    from=$(date +%s%N)
    /usr/bin/time -f '%U %S %M' -o "$work/time" "$@" >/dev/null 2>"$work/err" || { cat "$work/err" >&2; return 1; }
    to=$(date +%s%N)
    awk -v us=$(((to - from) / 1000)) 'END { print us, ($1 + $2) * 1000000, $3 }' "$work/time"
}
# fastest COMMAND...: the run of $runs with the least wall time, on a machine that may be busy.
fastest() {
    local i
    for ((i = 0; i < runs; i++)); do measure "$@"; done | sort -n | head -n 1
}
row() { # row NAME WALL CPU KB NOTE
    awk -v name="$1" -v us="$2" -v cpu="$3" -v kb="$4" -v note="${5:-}" 'BEGIN {
        printf "%-44s %10.1f ms %10.0f ms CPU %7.1f MB   %s\n", name, us / 1000, cpu / 1000, kb / 1024, note }'
}
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }

# ---- the list itself: the same as git's ----

# The paths of the project structure of a payload, a line each: folders end with a slash, what
# they hold stands two blanks further in.
listed() {
    # shellcheck disable=SC2016
    sed -n '/^## 2\. /,/^## 3\. /p' | sed -n '/^````*$/,/^````*$/p' | grep -v '^```' | awk '{
        line = $0; depth = 0
        while (sub(/^  /, "", line)) depth++
        if (line ~ /\/$/) folder[depth + 1] = folder[depth] line
        else { sub(/ -> .*/, "", line); print folder[depth] line } }'
}
hidden='(^|/)\.gitignore$' # by a payload of a project that has one at its top
git ls-files -co --exclude-standard -z | tr '\0' '\n' | grep -Ev "$hidden" >"$work/files" || true
rm -f .teddy/global.context
"$heddle" payload --no-copy 2>/dev/null | listed | { grep -Ev "$hidden" || true; } | LC_ALL=C sort >"$work/ours"
printf '.\n' >.teddy/global.context
LC_ALL=C sort "$work/files" | grep -v '^\.teddy/' >"$work/theirs"
count=$(wc -l <"$work/files")
bytes=$(tr '\n' '\0' <"$work/files" | xargs -0 cat 2>/dev/null | wc -c)
echo "tree: $what: $count files, $((bytes / 1000000)) MB"
if ! diff "$work/theirs" "$work/ours" >"$work/diff"; then
    echo "git lists other files (<) than heddle (>):"
    head -n 20 "$work/diff"
    exit 1
fi
echo "the list is git's, name by name"
echo

read -r git_us git_cpu git_kb < <(fastest git ls-files -co --exclude-standard)
read -r rg_us rg_cpu rg_kb < <(fastest rg --files --hidden)
rm -f .teddy/global.context
read -r tree_us tree_cpu tree_kb < <(fastest "$heddle" payload)
printf '.\n' >.teddy/global.context
row "list: git ls-files -co --exclude-standard" "$git_us" "$git_cpu" "$git_kb"
row "list: rg --files --hidden" "$rg_us" "$rg_cpu" "$rg_kb"
row "list: heddle payload, nothing listed" "$tree_us" "$tree_cpu" "$tree_kb" "$(ratio "$tree_us" "$rg_us") of rg, $(ratio "$tree_us" "$git_us") of git"
echo

tr '\n' '\0' <"$work/files" >"$work/files0"
# shellcheck disable=SC2016
read -r cat_us cat_cpu cat_kb < <(fastest sh -c 'xargs -0 cat <"$1" >/dev/null' sh "$work/files0")
read -r pack_us pack_cpu pack_kb < <(fastest "$heddle" payload --no-copy --output "$work/input.md")
read -r null_us null_cpu null_kb < <(fastest "$heddle" payload --no-copy --output /dev/null)
row "read: cat of the same files to nothing" "$cat_us" "$cat_cpu" "$cat_kb"
row "pack: heddle payload to nothing, no counts" "$null_us" "$null_cpu" "$null_kb" "$(ratio "$null_us" "$cat_us") of reading"
row "pack: heddle payload to a file" "$pack_us" "$pack_cpu" "$pack_kb" "$(ratio "$pack_us" "$cat_us") of reading"
read -r full_us full_cpu full_kb < <(fastest "$heddle" payload --explain --output "$work/input.md")
row "pack: heddle payload, exact token counts" "$full_us" "$full_cpu" "$full_kb"
echo

# ---- repomix ----

version=1.18.1
repomix=$cache/repomix-$version/node_modules/.bin/repomix
if [ ! -x "$repomix" ]; then
    mkdir -p "$cache/repomix-$version"
    (cd "$cache/repomix-$version" && npm install --silent --no-fund --no-audit "repomix@$version" >/dev/null) || true
fi
if [ -x "$repomix" ]; then
    # Its token cache is in TMPDIR: empty for the first run, filled for the second.
    export XDG_CACHE_HOME=$work/cache TMPDIR=$work/tmp HOME=$work/home
    mkdir -p "$XDG_CACHE_HOME" "$TMPDIR" "$HOME"
    pack_once() { measure "$repomix" --quiet --style markdown -o "$work/repomix.md"; }
    read -r cold_us cold_cpu cold_kb < <(pack_once)
    read -r warm_us warm_cpu warm_kb < <(pack_once)
    note() { echo "$(ratio "$1" "$full_us") times heddle's time, $(ratio "$2" "$full_cpu") times its CPU ($3)"; }
    row "pack: repomix $version, empty cache" "$cold_us" "$cold_cpu" "$cold_kb" "$(note "$cold_us" "$cold_cpu" 'reach 50, aim 100')"
    row "pack: repomix $version, warm cache" "$warm_us" "$warm_cpu" "$warm_kb" "$(note "$warm_us" "$warm_cpu" 'reach 15, aim 30')"
else
    echo "repomix: not installed (npm is out of reach); skipped"
fi

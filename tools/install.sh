#!/usr/bin/env bash
# install.sh PREFIX: copy the release build, its other names, man pages, completions and data
# below PREFIX. DESTDIR is put in front of it, for packagers.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tools/dev-lib.sh
. tools/dev-lib.sh

to=${DESTDIR:-}$1
heddle=build/release/heddle
installed=() # paths below $to, for uninstall.sh

put() { # put MODE FOLDER FILE...
    local mode=$1 folder=$2 file
    shift 2
    install -d "$to/$folder"
    install -m "$mode" -- "$@" "$to/$folder"
    for file in "$@"; do
        installed+=("$folder/$(basename "$file")")
    done
}

install -d "$to" 2>/dev/null || true
[ -w "$to" ] || fail "$to cannot be written; try sudo, or another PREFIX"
put 755 bin "$heddle"
for name in leslie teddy; do
    ln -sfn heddle "$to/bin/$name"
    installed+=("bin/$name")
done
for section in 1 5 7; do
    pages=(man/*."$section")
    [ ! -f "${pages[0]}" ] || put 644 "share/man/man$section" "${pages[@]}"
done
completions=$(mktemp -d)
trap 'rm -rf "$completions"' EXIT
"$heddle" completion bash >"$completions/heddle"
"$heddle" completion zsh >"$completions/_heddle"
"$heddle" completion fish >"$completions/heddle.fish"
put 644 share/bash-completion/completions "$completions/heddle"
put 644 share/zsh/site-functions "$completions/_heddle"
put 644 share/fish/vendor_completions.d "$completions/heddle.fish"
# Units of systemd name the program by its path, as it will be without DESTDIR.
for unit in tools/systemd/*; do
    sed "s|@bindir@|$1/bin|" "$unit" >"$completions/$(basename "$unit")"
    put 644 lib/systemd/user "$completions/$(basename "$unit")"
done
# Data that the build made for run time, or that is committed for it.
for folder in build/release/share/heddle share/heddle; do
    [ -d "$folder" ] || continue
    while read -r file; do
        put 644 "share/heddle/$(dirname "$file")" "$folder/$file"
    done < <(cd "$folder" && find . -type f)
done
printf '%s\n' "${installed[@]}" share/heddle/installed.txt >"$to/share/heddle/installed.txt"
say "installed below $to; try: $to/bin/heddle demo"

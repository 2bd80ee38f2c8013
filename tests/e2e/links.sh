#!/bin/bash
# Symbolic links, hard links and swapped folders at every path heddle writes: nothing outside of the
# workspace changes and nothing is made there, also while a folder is swapped for a link.
#
# asan: no
#     ROUNDS=8       of the part with swapped folders; tests/torture/links.sh does many more
# postgres: no, it is about links below the workspace
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

rounds=${ROUNDS:-8}
T=.leslie/threads
top=$PWD

# A workspace with threads that reference each other, and one outside file for every trick.
make_ws() {
    chmod -R u+w "$top/ws" "$top/outside" 2>/dev/null
    rm -rf "$top/ws" "$top/outside"
    mkdir "$top/ws" "$top/outside"
    cd "$top/ws" || exit 1
    heddle init >/dev/null
    heddle objective create O --id o >/dev/null
    for t in s f; do heddle spawn --id $t --intent $t --objective o --no-run >/dev/null; done
    echo plan >$T/s/plan.md
    heddle reference --from f --target s --binding frozen >/dev/null 2>&1
    heddle reference --from s --target f --binding live >/dev/null 2>&1
    heddle session new one >/dev/null 2>&1
}
mkdir -p "$HOME/.config/heddle" # executors are a setting of the user
cat >"$HOME/.config/heddle/config.json" <<'JSON'
{"executors":{"agent":["true"]}}
JSON

# shellcheck disable=SC2317
# Commands that between them write every kind of file; what they answer does not matter here.
use_all() {
    heddle objective create "P$1" >/dev/null
    heddle spawn --id "n$1" --intent n --objective o --no-run
    heddle spawn --id "w$1" --intent w --objective o --foreground
    heddle reference --from "n$1" --target s --binding frozen
    heddle reference --from "n$1" --target f --binding live
    echo "$1" >"$T/s/plan.md"
    heddle refresh --from f
    echo "more $1" >"$T/f/extra.md"
    heddle merge --sources f --target s
    heddle inject s --type note --content "x$1"
    printf 'hello' | heddle transcript s --chat c
    heddle lifecycle "n$1" suspend
    heddle config set system_prompt "p$1"
    heddle checkpoint s
    heddle say s "hello $1"
    heddle session new "s$1"
    heddle turn new
    heddle payload --output out.md --no-copy
    heddle memo add "m$1"
    heddle init --agents-md --yes
}
quiet() { "$@" >/dev/null 2>&1 </dev/null; }

# The outside folder as one text: names, kinds, bytes.
outside() { (cd "$top/outside" && find . -printf '%p %y %m %s\n' | sort && cat -- * 2>/dev/null); }

# ---- one trick at a time ----
# Every file that a run of everything leaves or makes: a link is put in its place, then all is run.
make_ws
quiet use_all 1
find .heddle .leslie .teddy AGENTS.md out.md \( -type f -o -type d \) 2>/dev/null |
    grep -v -e '/w1' -e '\.heddle/heddle\.db' -e '^\.heddle$' -e '^\.leslie$' -e '^\.teddy$' | sort >"$top/paths"
ok "there are many paths to try" test "$(wc -l <"$top/paths")" -gt 40
printf '%s\n' .leslie/.heddle-tmp-thread_relations.json .leslie/.heddle-tmp-objectives.json \
    $T/.global/.heddle-tmp-registry.json .leslie/thread_relations.json.bak.tmp .leslie/objectives.json.bak.tmp \
    .leslie/.heddle-lock-0 .leslie/.heddle-lock-1 .leslie/thread_relations.json.lock .heddle/loom_history >>"$top/paths"
bad=''
make_ws
n=10
while read -r path; do
    n=$((n + 1))
    [ -d "$(dirname "$path")" ] || mkdir -p "$(dirname "$path")" 2>/dev/null || continue
    echo "canary of $path" >"$top/outside/canary"
    tricks="symbolic hard"
    [ ! -d "$path" ] || tricks=folder
    for how in $tricks; do
        rm -rf "$top/aside"
        echo "$n$how" >>$T/s/plan.md
        [ ! -e "$path" ] || mv "$path" "$top/aside"
        case $how in
        symbolic) ln -s "$top/outside/canary" "$path" ;;
        hard) ln "$top/outside/canary" "$path" ;;
        folder) ln -s "$top/outside" "$path" ;;
        esac
        before=$(outside | sed 's/ [0-9]* [0-9]*$//')
        case $path in # what a command reads first decides which are worth running
        .teddy* | out.md) quiet heddle session new "t$n$how"; quiet heddle turn new; quiet heddle payload --output out.md --no-copy; quiet heddle memo add m ;;
        *) quiet heddle spawn --id "k$n$how" --intent k --objective o --no-run
            quiet heddle refresh --from f
            quiet heddle inject s --type note --content "$n$how"
            quiet heddle checkpoint s ;;
        esac
        # out.md is the user's own choice of a path: links there are followed on purpose
        if [ "$path" != out.md ] && { [ "$(outside | sed 's/ [0-9]* [0-9]*$//')" != "$before" ] || [ "$(cat "$top/outside/canary")" != "canary of $path" ]; }; then
            bad="$bad $how:$path"
            make_ws
        fi
        rm -rf "$path" 2>/dev/null
        [ ! -e "$top/aside" ] || { mkdir -p "$(dirname "$path")" && mv "$top/aside" "$path"; }
        rm -rf "$top/outside"
        mkdir "$top/outside"
        echo "canary of $path" >"$top/outside/canary"
    done
done <"$top/paths"
same "no link makes heddle write outside" "$bad" ""

# ---- a folder that is swapped for a link while commands run ----
make_ws
mkdir "$top/outside/inherited" "$top/outside/context" "$top/outside/artifacts"
before=$(outside)
swap() { # FOLDER: now a folder, now a link, until the flag is gone
    while [ -e "$top/swapping" ]; do
        mv "$1" "$1.real" 2>/dev/null && ln -s "$top/outside" "$1" 2>/dev/null
        rm "$1" 2>/dev/null && mv "$1.real" "$1" 2>/dev/null
    done
}
touch "$top/swapping"
for d in $T/f/context $T/s .leslie/logs .heddle/objects; do swap "$d" & done
i=0
while [ $i -lt "$rounds" ]; do
    i=$((i + 1))
    { echo "$i" >"$T/s/plan.md"; } 2>/dev/null
    quiet heddle refresh --from f
    quiet heddle inject f --type note --content "$i"
    quiet heddle spawn --id "r$i" --intent r --objective o --no-run
    quiet heddle reference --from "r$i" --target s --binding frozen
done
rm "$top/swapping"
wait
# the loop of this test writes through the link itself, as any program would
rm -f "$top/outside/plan.md"
same "nothing was made outside while folders were swapped" "$(outside)" "$before"
for d in $T/f/context $T/s .leslie/logs .heddle/objects; do
    [ ! -L "$d" ] || rm "$d"
    [ ! -d "$d.real" ] || [ -e "$d" ] || mv "$d.real" "$d"
done
run heddle list
exits "the workspace works afterwards" 0
done_testing

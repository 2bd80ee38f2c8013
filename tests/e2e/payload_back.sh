#!/bin/sh
# Every form that a payload can have, written back: into an empty directory, and over the files that it was made of. What is
# written has the bytes of the file; what the payload does not hold as it is stays as it was, and that is said.
# postgres: no, it has no log
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

top=$PWD
mkdir -p src/sub src/.teddy && cd src || exit 1
src=$PWD
printf 'int main(void)\n{\n}\n' >whole.c
printf 'no line end' >open.txt
printf 'a\r\nb\r\n' >crlf.txt
printf 'a\r\nb\r' >open_crlf.txt
printf '\357\273\277mark\n' >mark.txt
: >empty.txt
printf '\n' >line.txt
printf '\n\n' >lines.txt
printf '```\n````\n' >fences.md
printf '````' >open_fence.md
printf 'deep' >sub/deep.h
seq 3000 >large.txt
printf '%s\n' '*.*' 'sub/*' >.teddy/global.context
printf '\377\376a\000b\000\n\000' >utf16.txt
printf 'a\000b\n' >nul.bin
files='whole.c open.txt crlf.txt open_crlf.txt mark.txt empty.txt line.txt lines.txt fences.md open_fence.md sub/deep.h large.txt'

sums() { (cd "$1" && find . -type f ! -path './.heddle/*' ! -path './.teddy/*' | sort | xargs -r sha256sum); }
sums . >"$scratch/before"

# over WAY FILE: the payload over the files it was made of, by the shell or by the operation.
over() {
    case $1 in
    shell) run heddle payload --parse "$2" --output "$src" --force ;;
    operation)
        cp "$2" "$src/.in"
        run heddle api call payload.parse --params '{"file":".in","into":".","force":true}'
        rm "$src/.in"
        ;;
    esac
}

# kept NAME FILE STATUS [SAYS]: written over its sources, with force, it changes none of them. SAYS is told.
kept() {
    for way in shell operation; do
        over "$way" "$2"
        exits "$1, $way: exit status" "$3"
        [ -z "${4:-}" ] || has "$1, $way: it says why" "$err$out" "$4"
        same "$1, $way: the sources are as they were" "$(sums . | diff "$scratch/before" - 2>&1)" ""
    done
}

# back NAME FILE FILES: into an empty directory, it gives these files, byte for byte, and no others.
back() {
    rm -rf "$scratch/back"
    run heddle payload --parse "$2" --output "$scratch/back"
    wrong=
    for f in $3; do cmp -s "$f" "$scratch/back/$f" || wrong="$wrong $f"; done
    same "$1: every file comes back byte for byte" "$wrong" ""
    same "$1: and nothing else does" "$(cd "$scratch/back" && find . -type f | wc -l)" "$(echo "$3" | wc -w)"
}

# forms: what `heddle payload` writes, in each format, with every option that changes contents
for format in markdown json; do
    heddle payload --format $format --output "$scratch/plain" >/dev/null 2>&1
    back "$format" "$scratch/plain" "$files"
    exits "$format: what was converted is not written" 1
    has "$format: and named" "$err" "utf16.txt: not written: its text was converted to UTF-8"
    has "$format: so is what has no text" "$err" "nul.bin: not written: the payload has only a note in its place"
    kept "$format" "$scratch/plain" 1 "utf16.txt: not written: its text was converted"

    heddle payload --format $format --exclude utf16.txt --output "$scratch/exact" >/dev/null 2>&1
    back "$format, all as it is" "$scratch/exact" "$files"
    exits "$format, all as it is" 0
    kept "$format, all as it is" "$scratch/exact" 0

    heddle payload --format $format --line-numbers --exclude utf16.txt --output "$scratch/numbered" >/dev/null 2>&1
    back "$format, numbered" "$scratch/numbered" "empty.txt"
    kept "$format, numbered" "$scratch/numbered" 1 "whole.c: not written: its lines are numbered"
    has "$format, numbered: the verdict" "$err$out" "11 files were not written: the payload does not hold them as they are"
    sed 's/^\(````*[a-z]*\) numbered.*/\1/; s/"form":"numbered",//' "$scratch/numbered" >"$scratch/old"
    kept "$format, numbered by an older build" "$scratch/old" 1 "whole.c: not written: its lines seem to be numbered"
    run heddle payload --check "$scratch/numbered" --exclude utf16.txt --format $format
    exits "$format, numbered: it can be checked without being told" 0

    sed 's/^\(````*c\)$/\1 outline/; s/"language":"c"/"form":"outline","language":"c"/' "$scratch/exact" | sed 's/main/m/' >"$scratch/outline"
    kept "$format, an outline" "$scratch/outline" 1 "whole.c: not written: only its outline is shown"
    sed 's/outline/later/' "$scratch/outline" >"$scratch/later"
    kept "$format, a form of a later build" "$scratch/later" 1 "whole.c: not written: it is shown in a form that this version does not know"

    heddle payload --format $format --exclude utf16.txt --budget 1500 --output "$scratch/budget" >/dev/null 2>&1
    kept "$format, cut by a budget" "$scratch/budget" 0 "large.txt: not written: the payload has only its name"
done

heddle payload --format xml --output "$scratch/xml" >/dev/null 2>&1
kept "xml" "$scratch/xml" 1 "this is no payload"

# a payload that is cut; tests/unit/payload_build.c cuts it at every byte
mv .teddy "$scratch/teddy"
heddle payload whole.c open.txt --output "$scratch/short" >/dev/null 2>&1
for lines in 1 3; do # without the last rule, and without the last fence
    head -n -$lines "$scratch/short" >"$scratch/cut"
    kept "without its last $lines lines" "$scratch/cut" 1
    rm -rf "$scratch/back"
    run heddle payload --parse "$scratch/cut" --output "$scratch/back"
    not_ok "without its last $lines lines: nothing is written" test -e "$scratch/back/whole.c"
done
head -n -1 "$scratch/short" >"$scratch/cut"
run heddle payload --parse "$scratch/cut"
has "reading it says so" "$err" "the payload ends too early"

# the layout of other builds: a line end is added to every body, and no rule follows
printf '# Project Context\n\n## Resource Contents\n\n---\n### [whole.c](/whole.c)\n```c\nint main(void)\n{\n}\n\n```\n\n---\n### [open.txt](/open.txt)\n```text\nno line end\n```\n\n---\n### [empty.txt](/empty.txt)\n```text\n\n```\n' >"$scratch/other"
back "the layout of other builds" "$scratch/other" "whole.c open.txt empty.txt"
kept "the layout of other builds" "$scratch/other" 0

# what is no file
printf '# Agent Invocation Payload\n\n## 5. Resource Contents\n\n---\n**Resource:** `[https://h.example/p](https://h.example/p)`\n````html\nx\n````\n---\n**Resource:** `[git:diff](git:diff)`\n````diff\nx\n````\n---\n' >"$scratch/no_file"
kept "a page" "$scratch/no_file" 0 "https://h.example/p: not written: it is no file"
kept "the changes" "$scratch/no_file" 0 "git:diff: not written: it is no file"

# a file that looks numbered and is as the payload has it is not in the way
printf '   1: one\n   2: two\n' >listing.txt
sums . >"$scratch/before"
heddle payload listing.txt --output "$scratch/listing" >/dev/null 2>&1
kept "a file that looks numbered" "$scratch/listing" 0
run heddle payload --parse "$scratch/listing" --output "$scratch/elsewhere"
exits "elsewhere it is not written" 1
has "and that is said" "$err" "listing.txt: not written: its lines seem to be numbered"
cd "$top" || exit 1

done_testing

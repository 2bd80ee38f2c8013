#!/usr/bin/env bash
# Token counts per second on one core, beside npm tiktoken and gpt-tokenizer on the same documents in
# the same run.
#
#     ./dev bench tokens [quick] [cl100k] [save]
#
#     quick    less text and fewer runs, without the peers
#     cl100k   cl100k_base instead of o200k_base
#     save     put the tables into docs/BENCHMARKS.md
#
# The text is whatever this machine has, gathered once into the cache folder. bench/tokens.md says how
# to read the table.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
heddle=$root/build/release/heddle
programs=$root/build/release/bench
encoding=o200k_base runs=7 bytes=2000000 peers=1 save=''
for word in "$@"; do
    case $word in
    quick) runs=3 bytes=500000 peers='' ;;
    cl100k) encoding=cl100k_base ;;
    save) save=1 ;;
    *) echo "bench/tokens.sh: no '$word'; there are quick, cl100k and save" >&2; exit 2 ;;
    esac
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cache=$(tools/tokens/peers.sh)
asked="./dev bench tokens${*:+ $*}"
kinds=(english c python javascript json web chinese japanese korean arabic hindi thai cyrillic european)
missed=0
note() { [ ! -t 2 ] || printf '== %s\n' "$*" >&2; }

# What must be reached, on one core: kind, first pass, again, first pass as a multiple of npm tiktoken.
reach="
english 100 300 60
c 100 300 60
python 100 300 60
javascript 100 300 60
chinese 40 70 0
japanese 40 70 0
korean 40 70 0
"

corpus=$cache/corpus-2-$bytes # a new number when what is gathered changes
if [ ! -f "$corpus/complete" ]; then
    note "gathering text into $corpus"
    (cd "$cache" && node "$root/tools/tokens/gather.mjs" "$corpus" "$bytes" "${kinds[@]}" &&
        node "$root/tools/tokens/gather.mjs" "$corpus/unkind" 1048576 --unkind)
    touch "$corpus/complete"
fi

# best FILE: bytes, tokens, first MB/s, again MB/s, the best of the runs
best() {
    for _ in $(seq "$runs"); do "$programs/bench_tokens" speed "$encoding" "$1"; done | awk '
        { first = $1 / $3 / 1e6; again = $1 / $4 / 1e6
          if (first > f) f = first; if (again > a) a = again; bytes = $1; tokens = $2 }
        END { printf "%d %d %.1f %.1f\n", bytes, tokens, f, a }'
}

speed_table() {
    local kind bytes tokens first again peer_tokens tiktoken gpt need_first need_again need_times ok
    echo "| text | MB | first | again | tiktoken | gpt-tokenizer | first / tiktoken | again / tiktoken | reach | |"
    echo "|---|---:|---:|---:|---:|---:|---:|---:|---|---|"
    for kind in "${kinds[@]}"; do
        note "$kind"
        read -r bytes tokens first again <<<"$(best "$corpus/$kind.docs")"
        peer_tokens=$tokens tiktoken=0 gpt=0
        [ -z "$peers" ] || read -r _ peer_tokens tiktoken gpt <<<"$(cd "$cache" &&
            node "$root/bench/peers/tokenizers.mjs" "$encoding" "$corpus/$kind.docs")"
        need_first=0 need_again=0 need_times=0
        read -r _ need_first need_again need_times <<<"$(grep "^$kind " <<<"$reach" || echo "- 0 0 0")"
        ok=$(awk -v f="$first" -v a="$again" -v t="$tiktoken" -v nf="$need_first" -v na="$need_again" -v nt="$need_times" \
            'BEGIN { print (f >= nf && a >= na && (t == 0 || f >= nt * t) ? "yes" : "NO") }')
        [ "$tokens" = "$peer_tokens" ] || ok="NO: $tokens tokens, not $peer_tokens"
        [ "$ok" = yes ] || echo missed >>"$work/missed"
        [ "$need_first" != 0 ] || [ "$ok" != yes ] || ok=''
        awk -v k="$kind" -v b="$bytes" -v f="$first" -v a="$again" -v t="$tiktoken" -v g="$gpt" \
            -v nf="$need_first" -v na="$need_again" -v nt="$need_times" -v ok="$ok" 'BEGIN {
            printf "| %s | %.1f | %d | %d | %s | %s | %s | %s | %s | %s |\n", k, b / 1e6, f, a,
                (t ? t : ""), (t ? g : ""), (t ? sprintf("%d×", f / t) : ""), (t ? sprintf("%d×", a / t) : ""),
                (nf ? sprintf("%d, %d%s", nf, na, (nt ? ", " nt "×" : "")) : ""), ok }'
    done
}

unkind_table() {
    local file took
    echo "| one megabyte of | ms | |"
    echo "|---|---:|---|"
    for file in "$corpus"/unkind/*.docs; do
        took=$(for _ in 1 2 3; do "$programs/bench_tokens" speed "$encoding" "$file"; done |
            awk '{ if (!n++ || $3 < t) t = $3 } END { printf "%.1f", t * 1000 }')
        awk -v n="$(basename "$file" .docs)" -v t="$took" 'BEGIN {
            gsub("-", " ", n); printf "| %s | %.1f | %s |\n", n, t, (t < 500 ? "yes" : "NO") }'
        awk -v t="$took" 'BEGIN { exit t >= 500 }' || echo missed >>"$work/missed"
    done
}

start_table() {
    local bare ours least open
    head -c 1024 "$corpus/english.docs" | tail -c 1000 >"$work/small.txt"
    cd "$work"
    read -r _ bare _ <<<"$("$programs/bench_run" 300 /bin/true)"
    read -r _ ours _ <<<"$("$programs/bench_run" 300 "$heddle" tokens --encoding "$encoding" small.txt)"
    open=$(for _ in $(seq 20); do "$programs/bench_tokens" open "$encoding"; done | sort -g | head -n 1)
    least=$(awk "BEGIN { printf \"%.2f\", $ours - $bare }")
    echo "| starting | ms | reach | |"
    echo "|---|---:|---|---|"
    awk -v o="$open" 'BEGIN { printf "| vocabulary mapped and checked | %.2f | < 2 | %s |\n", o, (o < 2 ? "yes" : "NO") }'
    awk -v b="$bare" 'BEGIN { printf "| `/bin/true`, exec to exit | %.2f | | |\n", b }'
    awk -v o="$ours" -v l="$least" 'BEGIN {
        printf "| `heddle tokens` of 1 KB, exec to exit | %.2f | | |\n| the difference | %.2f | < 2 | %s |\n", o, l, (l < 2 ? "yes" : "NO") }'
    awk -v l="$least" -v o="$open" 'BEGIN { exit l >= 2 || o >= 2 }' || echo missed >>"$work/missed"
    cd "$root"
}

put_into_docs() { # the section "Token counts" of docs/BENCHMARKS.md becomes the file
    awk -v new="$1" '
        function insert() { while ((getline line < new) > 0) print line; done = 1 }
        /^## / { inside = $0 == "## Token counts"; if (inside) insert() }
        !inside { print }
        END { if (!done) { print ""; insert() } }' docs/BENCHMARKS.md >"$work/doc"
    cat "$work/doc" >docs/BENCHMARKS.md
}

{
    speed_table
    echo
    unkind_table
    echo
    start_table
} | tee "$work/tables"
if [ -n "$save" ]; then
    {
        # shellcheck disable=SC2016 # the backquotes are Markdown
        printf '## Token counts\n\n`%s`, %s, %s, one core, %s.\n\n' "$asked" "$(date -u +%Y-%m-%d)" "$encoding" \
            "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)"
        cat bench/tokens.md
        echo
        cat "$work/tables"
        echo
    } >"$work/section"
    put_into_docs "$work/section"
fi
[ ! -f "$work/missed" ] || missed=1
exit $missed

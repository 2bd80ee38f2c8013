#!/bin/sh
# A damaged log gives back every entry that can be read, says what is missing, and exits with 1.
# postgres: no, it damages the database file
# shellcheck source=tests/e2e/lib.sh disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"

db() { sqlite3 .heddle/heddle.db "$@"; }

fresh() { # fresh DIR N: a workspace with thread t of N messages, all in the file itself
    mkdir "$1"
    cd "$1" || exit 1
    heddle init >/dev/null
    i=0
    while [ $i -lt "$2" ]; do
        printf '{"kind":"ai_message","payload":{"role":"user","content":"%d %0300d"}}\n' $i 0
        i=$((i + 1))
    done | heddle log append t >/dev/null
    heddle doctor --compact >/dev/null
    rm -f .heddle/heddle.db-wal .heddle/heddle.db-shm
    heddle log export t >whole.jsonl
}

salvage() { # salvage FILE: into a new workspace below; its export is in back.jsonl
    rm -rf new
    mkdir new
    heddle init --root new >/dev/null
    run heddle log import t "$1" --salvage --root new
    (cd new && heddle log export t) >back.jsonl
}

# ---- one page of many is gone
fresh page 77
page=$(db "SELECT pageno FROM dbstat WHERE name = 'entry' AND pagetype = 'leaf' ORDER BY path LIMIT 1 OFFSET 3")
cells=$(db "SELECT ncell FROM dbstat WHERE pageno = $page")
dd if=/dev/zero of=.heddle/heddle.db bs=4096 seek=$((page - 1)) count=1 conv=notrunc 2>/dev/null
status=0
heddle log export t >saved.jsonl 2>"$scratch/err" || status=$?
err=$(cat "$scratch/err")
exits "export exits with 1" 1
same "every entry on another page is written" "$(wc -l <saved.jsonl)" $((77 - cells))
has "the missing ones are named" "$err" "cannot be read"
has "and counted" "$err" "$((77 - cells)) entries read, 0 of them changed; $cells missing"
same "each is as it was" "$(grep -cvxFf whole.jsonl saved.jsonl)" 0
salvage saved.jsonl
exits "they come into a new workspace" 0
has "with stand-ins" "$err" "$cells missing entr"
same "every message keeps its number" "$(jq -c 'select(.kind=="ai_message") | [.seq, .payload]' back.jsonl)" "$(jq -c '[.seq, .payload]' saved.jsonl)"
ok "and the new log is whole" heddle verify --root new
cd ..

# ---- a byte that became a newline, a NUL, invalid UTF-8
fresh byte 20
db "UPDATE entry SET payload = replace(payload, '\"content\":\"3 ', '\"content\":' || char(10) || '\"3 ')"
db "UPDATE entry SET payload = replace(payload, '\"5 ', '\"5' || char(10))"
db "UPDATE entry SET payload = CAST(replace(CAST(payload AS BLOB), CAST('7 0' AS BLOB), x'370030') AS TEXT) WHERE payload LIKE '%\"7 %'"
db "UPDATE entry SET payload = CAST(replace(CAST(payload AS BLOB), CAST('9 0' AS BLOB), x'39ff30') AS TEXT) WHERE payload LIKE '%\"9 %'"
db "UPDATE entry SET kind = CAST(x'6b00ff' AS TEXT) WHERE payload LIKE '%\"11 %'"
status=0
heddle log export t >saved.jsonl 2>"$scratch/err" || status=$?
err=$(cat "$scratch/err")
exits "changed entries make export exit with 1" 1
same "every entry is one line" "$(wc -l <saved.jsonl)" 20
ok "of valid JSON" jq -e . saved.jsonl
has "the changed ones are counted" "$err" "20 entries read, 5 of them changed; 0 missing"
same "what is no JSON any more is kept in base64" "$(jq -c 'select(.kind=="damaged_entry") | .seq' saved.jsonl | tr '\n' ' ')" "3 5 7 9 "
for format in json anthropic openai text; do
    run heddle project t --format $format
    exits "project --format $format says so too" 1
    has "as CORRUPT" "$err" "CORRUPT"
done
run heddle log show t --json
exits "and log show" 1
salvage saved.jsonl
exits "salvage takes all of it" 0
same "every line has its place" "$(jq -c .seq back.jsonl | tr '\n' ' ')" "$(seq 0 19 | tr '\n' ' ')"
cd ..

# ---- a file cut short
fresh short 100
size=$(stat -c %s .heddle/heddle.db)
truncate -s $((size * 2 / 3 / 4096 * 4096)) .heddle/heddle.db
status=0
heddle log export t >saved.jsonl 2>"$scratch/err" || status=$?
exits "a file cut short: export exits with 1" 1
saved=$(wc -l <saved.jsonl)
ok "and gives what is there ($saved of 100)" test "$saved" -ge 15
same "unchanged" "$(head -n "$saved" whole.jsonl | cmp - saved.jsonl && echo same)" same
run heddle doctor
exits "doctor says so" 1
cd ..

# ---- an entry that is gone: no context is made from the rest as if it had never been
fresh gone 6
cp .heddle/heddle.db whole.db
for seq in 0 2 5; do
    cp whole.db .heddle/heddle.db
    db "DELETE FROM entry WHERE key & 0xfffffffff = $seq"
    for limit in "" "--limit 6"; do
        # shellcheck disable=SC2086
        run heddle project t $limit
        exits "project $limit without entry $seq" 1
        has "says what is missing" "$err" "CORRUPT"
    done
done
cp whole.db .heddle/heddle.db
db "UPDATE row SET value = x'00' WHERE CAST(key AS TEXT) = 'lane/default'"
run heddle project t
has "a row that cannot be read is damage, not bad input" "$err" "CORRUPT: the row of lane 'default'"
has "and can be made anew" "$err" "doctor --fix"
ok "which it can" heddle doctor --fix
run heddle project t
exits "the context is back" 0
cd ..

# ---- a file that ends inside a page: behind the cut SQLite gives rows that were not asked for
fresh cut 77
cp .heddle/heddle.db whole.db
for page in $(db "SELECT pageno FROM dbstat WHERE name = 'entry' AND pagetype = 'leaf' ORDER BY pageno LIMIT 1 OFFSET 3"); do
    for at in 8 60 100 200; do
        truncate -s $(((page - 1) * 4096 + at)) .heddle/heddle.db
        rm -f .heddle/heddle.db-wal .heddle/heddle.db-shm
        heddle log export t 2>"$scratch/err" | head -n 1000 >saved.jsonl
        ok "cut at byte $at of page $page: the export ends" test "$(wc -l <saved.jsonl)" -lt 78
        has "and says that something is missing" "$(cat "$scratch/err")" "missing"
        same "nothing comes twice" "$(jq .seq saved.jsonl | sort -n | uniq -d)" ""
        run heddle doctor
        exits "doctor ends" 1
        salvage saved.jsonl
        exits "what was saved comes in" 0
        same "as it was" "$(jq -r 'select(.kind=="ai_message") | .payload.content' back.jsonl)" \
            "$(jq -r .payload.content saved.jsonl)"
        cp whole.db .heddle/heddle.db
    done
done
cd ..

# ---- an export that was damaged on its way
fresh lines 12
{
    sed -n '1,3p' whole.jsonl
    sed -n '4p' whole.jsonl | sed 's/"seq":3/"seq":903/' # digits too much
    sed -n '5p' whole.jsonl | cut -c1-50                 # cut
    printf 'no\000thing\n'
    sed -n '6p' whole.jsonl | tr '0' '\n'                # newlines in it
    sed -n '7,12p' whole.jsonl
    printf '{"kind":"bad name/","payload":{}}\n'
    tail -n 1 whole.jsonl | head -c 60                   # cut short
} >damaged.jsonl
run heddle log import plain damaged.jsonl
exits "without --salvage it is refused" 1
has "and the way on is named" "$err" "--salvage takes every good line"
salvage damaged.jsonl
exits "with it every good line comes in" 0
has "what is bad is named" "$err" "line 4:"
lacks "once" "$err" "line 5: line 5:"
has "and counted" "$err" "lines could not be taken as they are"
same "the good ones are where they were" "$(jq -c 'select(.kind=="ai_message") | .seq' back.jsonl | tr '\n' ' ')" "0 1 2 3 6 7 8 9 10 11 "
same "and the gaps are marked" "$(jq -c 'select(.kind=="lost_entry") | .seq' back.jsonl | tr '\n' ' ')" "4 5 "
cd ..

# ---- more entries are missing than one transaction folds or indexes
fresh gap 5000
db "DELETE FROM entry WHERE key & 68719476735 BETWEEN 3 AND 4990"
for command in "search 4999" "tree t --depth 1"; do
    # shellcheck disable=SC2086
    run timeout 120 "$HEDDLE" $command
    ok "'$command' ends" test "$status" -ne 124
done
run heddle search 4999
has "what is behind the gap is found" "$out" "4999"
cd ..

done_testing

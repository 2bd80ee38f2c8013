#!/bin/sh
# `heddle tokens`: counts, ids, borders, estimates, and tables that are not as they should be.
# postgres: no, it has no log
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
share=$(dirname "$HEDDLE")/share/heddle
source=$(cd "$(dirname "$0")/../.." && pwd)

# ---- counting ----

printf 'hello world' >a.txt
printf 'Hello, World!\n' >'b c.txt'
: >empty
run heddle tokens a.txt
exits "a file is counted" 0
same "its count and name" "$out" "2  a.txt"
run heddle tokens a.txt 'b c.txt' empty
same "several files have a total" "$out" "2  a.txt
4  b c.txt
0  empty
6  total"
same "standard input is counted without a name" "$(printf 'hello world' | heddle tokens)" 2
same "- is standard input" "$(printf 'hello world' | heddle tokens a.txt - | tail -n 1)" "4  total"
same "the other encoding" "$(printf '你好，世界' | heddle tokens --encoding cl100k_base)" 6
same "and the usual one" "$(printf '你好，世界' | heddle tokens)" 3
run heddle tokens --json a.txt empty
json "JSON has encoding, files and total" "$out" . \
    '{"encoding":"o200k_base","estimate":false,"files":[{"path":"a.txt","bytes":11,"tokens":2,"invalid_utf8":false},{"path":"empty","bytes":0,"tokens":0,"invalid_utf8":false}],"total":2}'

# ---- bytes that are not text ----

printf 'a\377\376b \344\270' >dirty
run heddle tokens --json dirty
json "invalid UTF-8 is said" "$out" '.files[0].invalid_utf8' true
printf 'a\357\277\275\357\277\275b \357\277\275' >clean
same "and counts as U+FFFD" "$(heddle tokens <dirty)" "$(heddle tokens <clean)"
printf 'a\0b\0' >nul
same "NUL bytes are counted" "$(heddle tokens nul)" "4  nul"
printf 'one\r\ntwo\r\n' >crlf
same "CRLF is counted" "$(heddle tokens crlf)" "4  crlf"
name=$(printf 'bad\033[31mname')
printf x >"$name"
lacks "a name cannot colour the terminal" "$(heddle tokens "$name")" "$(printf '\033')"
printf x >"$(printf 'bad\377name')"
json "a name that is not UTF-8 is still JSON" "$(heddle tokens --json "$(printf 'bad\377name')")" '.total' 1

# ---- ids and borders ----

same "ids" "$(heddle tokens --ids a.txt)" "24912 2375"
json "ids in JSON" "$(heddle tokens --ids --json a.txt)" '.files[0].ids' '[24912,2375]'
same "borders, one token a line" "$(heddle tokens --split a.txt)" "24912	\"hello\"
2375	\" world\""
run heddle tokens --split --color always a.txt
has "borders in colour" "$out" "hello$(printf '\033')[0m"
printf '🎉' >emoji
has "part of a character is shown as bytes" "$(heddle tokens --split emoji)" '\x'
json "and in JSON" "$(heddle tokens --split --json emoji)" '[.files[0].texts[] | type] | unique' '["object"]'
has "several files are told apart" "$(heddle tokens --ids a.txt empty)" "==> empty <=="

# ---- what cannot be done ----

run heddle tokens nothing
exits "a missing file is an error" 1
has "that names it" "$err" "nothing"
mkdir 'a directory'
run heddle tokens 'a directory'
exits "so is a directory" 1
has "whose files another command counts" "$err" "hint: \`heddle payload 'a directory' --token-tree\`"
run heddle tokens a.txt nothing . emoji
exits "a file that cannot be read does not hide the others" 1
has "they are counted" "$out" "2  a.txt"
has "and it is said" "$err" "2 of 4 files could not be read"
run heddle tokens a.txt nothing
same "of two files the one that is left has a total, too" "$out" "2  a.txt
2  total"
has "the other is named" "$err" "nothing: No such file"
run heddle tokens --json a.txt nothing
exits "in JSON there is one answer" 1
json "the error" "$out" '.error.code' '"NOT_FOUND"'
run heddle tokens --encoding p50k_base a.txt
exits "an unknown encoding is misuse" 2
has "and the known ones are named" "$err" "cl100k_base"
run heddle tokens --ids --split a.txt
exits "ids or borders, not both" 2
run heddle tokens --ids --estimate a.txt
exits "an estimate has no ids" 2
run heddle tokens --color sometimes a.txt
exits "a colour is always, never or auto" 2

# ---- by its name ----

same "a text is a parameter" "$(echo '{"text":"hello world"}' | heddle api call tokens.count)" \
    '{"encoding":"o200k_base","estimate":false,"files":[{"path":"-","bytes":11,"tokens":2,"invalid_utf8":false}],"total":2}'
json "a file of the workspace" "$(echo '{"files":["a.txt"],"ids":true}' | heddle api call tokens.count)" '.files[0].ids' '[24912,2375]'
json "no other file" "$(echo '{"files":["/etc/passwd"]}' | heddle api call tokens.count)" '.error.code' '"PERMISSION_DENIED"'
json "text or files" "$(echo '{}' | heddle api call tokens.count)" '.error.code' '"INVALID_SYNTAX"'
json "what could not be read is counted" "$(echo '{"files":["a.txt","nothing"],"keep_going":true}' | heddle api call tokens.count 2>warned)" '[.total, .unread]' '[2,1]'
json "and warned about" "$(head -n 1 warned)" '.warning.code' '"NOT_FOUND"'

# ---- models and estimates ----

same "an estimate says so" "$(printf 'abcdefgh' | heddle tokens --estimate)" "2  (estimate: chars/4)"
json "in JSON, too" "$(printf 'abcdefgh' | heddle tokens --estimate --json)" '[.encoding, .estimate]' '["chars/4",true]'
same "a model of OpenAI is exact" "$(heddle tokens --model gpt-4o a.txt)" "2  a.txt"
json "an older one has its own encoding" "$(heddle tokens --model openai:gpt-4 --json a.txt)" '[.encoding, .estimate, .model]' '["cl100k_base",false,"openai:gpt-4"]'
same "another maker's is an estimate" "$(heddle tokens --model claude-x a.txt)" "2  a.txt  (estimate: o200k_base)"
mkdir .heddle
printf '{"tokens":{"factor":{"claude":1.25,"claude-x.5":1.5,"gpt-4o":2}}}' >.heddle/config.json
same "the config has a factor" "$(heddle tokens --model claude-y 'b c.txt')" "5  b c.txt  (estimate: o200k_base x 1.250)"
json "of the longest name that fits" "$(heddle tokens --json --model anthropic:claude-x.5 'b c.txt')" '[.factor, .total]' '[1.5,6]'
json "scaled is an estimate" "$(heddle tokens --json --model gpt-4o a.txt)" '[.estimate, .total]' '[true,4]'
printf '{"tokens":{"factor":{"claude":"much"}}}' >.heddle/config.json
run heddle tokens a.txt
exits "a factor is a number" 1
printf '{"tokens":{"factor":{"claude":0}}}' >.heddle/config.json
run heddle tokens --model claude a.txt
exits "and not nothing" 1
printf '{"tokens":{"encoding":"cl100k_base"}}' >.heddle/config.json
json "the config chooses the encoding" "$(heddle tokens --json a.txt)" .encoding '"cl100k_base"'
printf '{"tokens":{"encoding":"x"}}' >.heddle/config.json
run heddle tokens a.txt
exits "one that exists" 1
rm -r .heddle

# ---- tables ----

mkdir tables
cp "$share/o200k_base.tok" tables
run env HEDDLE_VOCAB_DIR=tables "$HEDDLE" tokens a.txt
same "the folder of the tables can be named" "$out" "2  a.txt"
run env HEDDLE_VOCAB_DIR=tables "$HEDDLE" tokens --encoding cl100k_base a.txt
exits "a missing table is an error" 1
has "that says what to do" "$err" HEDDLE_VOCAB_DIR
printf 'X' | dd of=tables/o200k_base.tok bs=1 seek=1000000 conv=notrunc 2>/dev/null
run env HEDDLE_VOCAB_DIR=tables "$HEDDLE" tokens a.txt
exits "a damaged one too" 1
has "and it is named" "$err" "CORRUPT: vocabulary table tables/o200k_base.tok"
same "nothing is counted with it" "$out" ""
head -c 100000 "$share/o200k_base.tok" >tables/o200k_base.tok
run env HEDDLE_VOCAB_DIR=tables "$HEDDLE" tokens a.txt
exits "and one that is cut short" 1
mkdir -p alone/bin
cp "$HEDDLE" alone/bin/heddle
run alone/bin/heddle tokens a.txt
if [ -f /usr/local/share/heddle/o200k_base.tok ]; then
    skip "without any table it estimates" "one is installed"
else
    same "without any table it estimates" "$out" "3  a.txt  (estimate: chars/4)"
    has "and says why" "$err" "no vocabulary table"
    run alone/bin/heddle tokens --encoding o200k_base a.txt
    exits "unless an encoding was asked for" 1
fi
mkdir -p alone/share
ln -s "$share" alone/share/heddle
run alone/bin/heddle tokens a.txt
same "an installed one is found beside the program's folder" "$out" "2  a.txt"

# ---- the workshop ----

vocab=$(dirname "$HEDDLE")/tools/vocab
ok "a merge list unpacks to ranks" "$vocab" ranks "$source/vocab/cl100k_base.merges" ranks
ok "ranks pack to the same merge list" "$vocab" pack cl100k_base ranks merges
ok "byte for byte" cmp merges "$source/vocab/cl100k_base.merges"
printf 'X' | dd of=merges bs=1 seek=5000 conv=notrunc 2>/dev/null
not_ok "a damaged merge list is refused" "$vocab" table merges "$source/vocab/classes.txt" table
sed 300d ranks >gap
not_ok "ranks with a gap are refused" "$vocab" pack cl100k_base gap merges
printf 'zz..41 upper\n' >classes
not_ok "classes that are none are refused" "$vocab" table "$source/vocab/cl100k_base.merges" classes table

done_testing

#!/bin/sh
# The command line itself: what holds for every command.
# postgres: no, it has no log
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

# ---- help ----

run heddle
exits "no words is a question, not an error" 0
for goal in "share work between agents" "log an agent" "explore a tree" "pack a project" "look at it" "heddle help"; do
    has "it names a goal: $goal" "$out" "$goal"
done
ok "in a dozen lines" test "$(printf '%s\n' "$out" | wc -l)" -le 12
ok "of 80 columns" test "$(printf '%s\n' "$out" | awk '{ print length }' | sort -n | tail -n 1)" -le 80
run heddle help
has "help prints the overview" "$out" "usage: heddle COMMAND"
overview=$out
run heddle --help
same "so does --help" "$out" "$overview"
run heddle -h
same "so does -h" "$out" "$overview"
run heddle help --all
same "--all lists the same" "$out" "$overview"
run heddle help help
exits "help of a command" 0
has "it has a usage line" "$out" "usage: heddle help"
has "it lists the options" "$out" "--man"
has "and those of every command" "$out" "--root DIR"
help_of_help=$out
run heddle help --help
same "--help of a command is its help" "$out" "$help_of_help"
run heddle help config
has "help of a family lists its forms" "$out" "heddle config schema"
run heddle version
has "version prints a number" "$out" "heddle 0."
version=$out
run heddle --version
same "--version too" "$out" "$version"
run heddle version --json
json "and as JSON" "$out" 'keys' '["version"]'

for word in $(heddle help --words); do
    run heddle help "$word"
    exits "there is help for $word" 0
    case $out in *"heddle $word"*) ;; *) flunk "help of $word names it" "$out" ;; esac
done

# Every form of every family has its own help, and --help asks for it before arguments are counted.
heddle help | sed -n 's/^  \([a-z][a-z-]*\( [a-z][a-z-]*\)\{0,1\}\)   *[A-Z].*/\1/p' >"$scratch/commands"
ok "the overview lists commands" test -s "$scratch/commands"
while read -r command; do
    # shellcheck disable=SC2086
    run heddle $command --help
    exits "heddle $command --help" 0
done <"$scratch/commands"

# Help fits a terminal of 80 columns, but for examples.
long=$(while read -r command; do
    # shellcheck disable=SC2086
    heddle help $command | grep -v '^  [^-]' | LC_ALL=C.UTF-8 grep -E '^.{81,}'
done <"$scratch/commands")
same "help of every command fits 80 columns" "$long" ""
same "and so does the overview" "$(heddle help | LC_ALL=C.UTF-8 grep -E '^.{81,}')" ""
run heddle help spawn
has "help of an option starts in one column, whatever the letters" "$out" "  --ref T[:PATH],…         threads"
run heddle log --help
exits "--help of half a command is help of its family" 0
has "it lists the forms" "$out" "heddle log append T"
has "and says how to go on" "$out" 'heddle help log FORM'
run heddle --help log
exits "in front too" 0
run heddle help tree
has "a command that is also a family names its forms" "$out" 'heddle help tree attest'

# ---- options of every command may stand in front ----

run heddle --json version
json "--json in front of the command" "$out" 'keys' '["version"]'
run heddle --as me --root=. version
same "options with values in front" "$out" "$version"
run heddle --root . config schema
exits "in front of a command of two words" 0
run heddle --json nonsense
json "an unknown command behind them is an error as JSON" "$out" '.error.code' '"INVALID_SYNTAX"'
run heddle --nope version
exits "another option in front is misuse" 2
run heddle --help version
has "--help in front asks for the command's help" "$out" "usage: heddle version"
run heddle --json
exits "options and no command print the overview" 0

# ---- misuse: exit 2, a word on stderr, a hint ----

run heddle nonsense
exits "an unknown command is misuse" 2
has "the error names it" "$err" "✗ INVALID_SYNTAX: unknown command 'nonsense'"
has "with a hint" "$err" "  hint: "
same "nothing goes to stdout" "$out" ""
run heddle hlep
has "a near miss is offered" "$err" 'did you mean `heddle help`?'
run heddle config
exits "half of a two-word command is misuse" 2
has "its family is pointed at" "$err" "heddle help config"
has "and its forms are named" "$err" "is followed by one of: list, get, set, unset, schema"
run heddle config --json
json "an option is no second word" "$out" '.error.message' '"`heddle config` is followed by one of: list, get, set, unset, schema"'
run heddle config shcema
has "a near miss of the second word too" "$err" 'did you mean `heddle config schema`?'
run heddle version --nope
exits "an unknown option is misuse" 2
has "it is named" "$err" "has no option '--nope'"
has "and the help is named" "$err" 'heddle help version'
run heddle project t --lan x
has "an option that is nearly right is offered" "$err" "did you mean --lane?"
run heddle version -x
exits "an unknown letter is misuse" 2
run heddle version extra
exits "too many arguments are misuse" 2
has "the usage is the hint" "$err" "hint: usage: heddle version"
has "the one too many is named" "$err" "does not take 'extra'"
run heddle read
has "a missing thread is named" "$err" '`heddle read` needs a thread'
run heddle read t
has "and so is another argument" "$err" '`heddle read` needs NAME'
run heddle completion
exits "too few arguments are misuse" 2
run heddle version --root
exits "an option without its value is misuse" 2
has "it says so" "$err" "--root needs a value"
run heddle --root
exits "without a command too" 2
has "it says so there" "$err" "--root needs a value"
run heddle --color sometimes
exits "values are checked without a command" 2
run heddle --json --root .
exits "options alone print help" 0
json "as JSON if that is one of them" "$out" '.text | contains("usage: heddle COMMAND")' 'true'
run heddle version --json=yes
exits "a flag takes no value" 2
run heddle version --as ''
exits "an empty actor is taken as none" 0
run heddle version --as ../x
exits "an actor that could not be a name is refused" 1
HEDDLE_NOW=yesterday run heddle version
exits "a time that is none is misuse" 2
has "it is named" "$err" "HEDDLE_NOW"
HEDDLE_ACTOR='a/b' run heddle version
exits "also from the environment" 1
run heddle version --as=me
exits "--option=value works" 0
run heddle completion tcsh
exits "a shell without completion is misuse" 2
has "those with it are named" "$err" "bash, zsh or fish"
run heddle help -- --man
exits "after -- nothing is an option" 2
has "so the word is a command, and unknown" "$err" "unknown command '--man'"

# ---- guesses ----

# guess WORD HINT: what is offered for a word that is no command
guess() {
    run heddle "$1"
    exits "$1 is misuse" 2
    has "of which is said" "$err" "$2"
}
guess -v '`heddle version` prints'
guess -x 'options of a command stand behind its name'
guess logs 'did you mean `heddle log`?'
guess fork 'did you mean `heddle op fork`?'
guess lst 'did you mean `heddle list`?'
guess spwan 'did you mean `heddle spawn`?'
guess xyzzy '`heddle help` lists'
guess p '`heddle help` lists'

# ---- errors as JSON ----

run heddle nonsense --json
exits "a misuse with --json is still misuse" 2
same "nothing goes to stderr" "$err" ""
json "the error is an object on stdout" "$out" '[keys_unsorted, .error.code]' '[["error"],"INVALID_SYNTAX"]'
json "with message and hint" "$out" '.error | has("message") and has("hint")' true
run heddle version --nope --json
json "wherever --json stands" "$out" .error.code '"INVALID_SYNTAX"'
bad=$(printf 'n\377\033[2J')
run heddle "$bad" --json
json "what was not UTF-8 becomes valid JSON" "$out" '.error.code' '"INVALID_SYNTAX"'
run heddle "$bad"
same "and moves no cursor on a terminal" "$(printf '%s' "$err" | tr -d '\12\40-\176' | tr -d '✗')" ""
long=$(head -c 5000 /dev/zero | tr '\0' 'x')
run heddle "$long"
exits "a very long word is misuse, not a crash" 2
run heddle help -- --json
lacks "--json after -- is not an option" "$out" '"error"'

# ---- output that cannot be written ----

if [ -w /dev/full ]; then
    status=0
    heddle help >/dev/full 2>"$scratch/err" || status=$?
    exits "a full disk under stdout is an error" 1
    has "and is said" "$(cat "$scratch/err")" "No space left"
fi
status=0
heddle help | true || status=$?
exits "a reader that goes away is no crash" 0
mkdir piped && (cd piped && mkdir .teddy && seq 100000 >big.txt && echo big.txt >.teddy/global.context)
heddle --root piped payload 2>"$scratch/err" | head -n 1 >/dev/null
same "and is told nothing" "$(cat "$scratch/err")" ""

# ---- the workspace and its settings ----

run heddle config schema
exits "the schema of the settings is printed" 0
json "it is a closed JSON Schema" "$out" '[.type, .additionalProperties]' '["object",false]'

mkdir settings
run heddle --root settings config set loom.subject Sub
exits "a setting is changed" 0
run heddle --root settings config set executors.x.y '["x","-p"]'
same "it is in the file, beside the others" "$(jq -c . settings/.heddle/config.json)" \
    '{"loom":{"subject":"Sub"},"executors":{"x.y":["x","-p"]}}'
run heddle --root settings config get loom.subject
same "its value is printed" "$out" 'Sub'
run heddle --root settings config get executors.x.y
exits "unless it needs trust, and has none" 1
has "which is said" "$err" "executors.x.y' in .heddle/config.json does not count"
run heddle --root settings config list
has "it is listed" "$out" "loom.subject                Sub"
has "by its own name" "$out" 'executors.x.y               ["x","-p"]'
has "and what is not set is explained" "$out" "loom.budget                 (integer) tokens"
run heddle --root settings config unset loom.subject
run heddle --root settings config get loom.subject
exits "a setting that is not set is an error" 1
has "which says so" "$err" "'loom.subject' is not set"
run heddle --root settings config set loom.bugdet 5
exits "an unknown setting is refused" 1
has "and the nearest is named" "$err" "did you mean loom.budget?"
(for i in 1 2 3 4 5 6 7 8; do heddle --root settings config set "tokens.factor.m$i" 2 & done; wait)
run heddle --root settings config list --json
json "settings changed at once are all kept" "$out" '.settings.tokens.factor | length' 8

# A command that looks for the workspace; the first one in the table that needs nothing else.
probe=''
for word in stats doctor verify list; do
    if heddle help --words | grep -qx "$word"; then
        probe=$word
        break
    fi
done
if [ -n "$probe" ]; then
    mkdir -p ws/.heddle ws/deep/er
    bad_config() { # bad_config NAME TEXT PART
        printf '%s' "$2" >ws/.heddle/config.json
        run heddle "$probe" --root ws/deep/er
        exits "$1 is refused" 1
        has "$1: the file is named" "$err" ".heddle/config.json"
        has "$1: and what is wrong" "$err" "$3"
    }
    bad_config "a setting that is not JSON" '{' 'line 1, column 2'
    bad_config "a setting that is no object" '[]' 'must hold an object'
    bad_config "an unknown key" '{"stoer":"x"}' "unknown key 'stoer'"
    bad_config "an unknown nested key" '{"run":{"modle":"x"}}' "unknown key 'run.modle'"
    bad_config "a value of the wrong type" '{"store":7}' "'store' must be of type string"
    bad_config "a number that is no integer" '{"run":{"max_iterations":1.5}}' "must be of type integer"
    bad_config "a key that stands twice" '{"store":"a","store":"b"}' 'twice'
    has "the schema is the hint for a key" "$(printf '{"x":1}' >ws/.heddle/config.json; heddle "$probe" --root ws 2>&1)" 'heddle config schema'
    run heddle "$probe" --root nowhere
    exits "a root that is not there is refused" 1
    has "and named" "$err" "nowhere"
else
    skip "settings are read" "no command looks for a workspace yet"
fi

# ---- a word that is no choice, a name that is not there ----

mkdir names && cd names || exit
heddle init >/dev/null
run heddle memo list
has "no memos is said" "$out" 'heddle memo add'
run heddle agent list
has "so are no agents" "$out" 'heddle agent add'
run heddle token list
has "no tokens" "$out" 'heddle token create'
run heddle help token create
has "help has the value of an option that is not given" "$(printf '%s' "$out" | tr -s ' \n' ' ')" "what it may do: read, write, run, manage (default: read)"
run heddle help op replace
lacks "and says it once" "$out" "(default) (default"
run heddle graph
has "and no objectives" "$out" 'heddle objective create'
run heddle search nothing
same "nothing found is no line, for whoever counts them" "$out" ""
heddle objective create Parser --id parser >/dev/null
heddle spawn --id build --intent x --objective parser --no-run >/dev/null
run heddle list --status asleep
exits "a state that is none is misuse" 2
has "those there are are named" "$err" "suspended"
run heddle list --parent build
has "a list without matches is not taken for an empty one" "$out" "no such threads"
run heddle graph --objective nope
exits "an objective that is not there cannot be drawn" 1
run heddle spawn --intent x
exits "a missing option is misuse" 2
has "it is named" "$err" '`heddle spawn` needs --objective'
has "with the usage" "$err" "hint: usage: heddle spawn --intent"
run heddle transfer build
has "a word that may be an option is named as the usage has it" "$err" '`heddle transfer` needs request_approval|delegate|handoff'
run heddle lifecycle build finish
exits "an unknown action is misuse" 2
run heddle status nope
has "the list of threads is named" "$err" "heddle list"
run heddle verify nope
has "a thread is named once" "$err" "NOT_FOUND: thread 'nope' not found"
run heddle config get nope
lacks "nothing far off is offered" "$err" "did you mean"
heddle agent add Ana --kind human >/dev/null
for words in 'agent remove Ana' 'config set loom.budget 10' 'config unset loom.budget' 'tree set story --title X'; do
    # shellcheck disable=SC2086
    run heddle $words --json
    json "$words --json is an object" "$out" type '"object"'
done
cd ..

# ---- what the program says about itself, for programs
for words in "help" "help list" "list --help" "log --help" "--help" "completion bash"; do
    # shellcheck disable=SC2086 # words
    json "$words --json is a document" "$(heddle $words --json)" '[keys, (.text | length > 100)]' '[["text"],true]'
done
same "with the same text" "$(heddle help list --json | jq -rj .text)" "$(heddle help list)"
json "an error is one too" "$(heddle help nope --json)" .error.code '"INVALID_SYNTAX"'
run heddle demo --json
exits "the demo has none" 2
json "and says so" "$out" .error.code '"INVALID_SYNTAX"'
has "a line that is completed may hold it" "$(heddle _complete -- list --json --st)" "--status"

# ---- an option that a command hands on by hand is named as it was typed
mkdir by-hand && cd by-hand || exit 1
heddle init >/dev/null
run heddle export t --to elsewhere
has "a value that is not known" "$err" "'elsewhere' is not a value of --to"
run heddle stats t --lane ''
has "an empty value" "$err" "--lane is empty"
cd ..

done_testing

#!/bin/sh
# What the settings of a checkout may do by themselves (nothing), what the user's own may, and how a
# workspace comes to be trusted; and whose workspace is used at all.
# postgres: no, it is about where settings come from, and HEDDLE_STORE is one of them
# shellcheck source=tests/e2e/lib.sh disable=SC2016
. "$(dirname "$0")/lib.sh"

trusted=$HOME/.local/state/heddle/trust.json
mkdir ws && cd ws || exit 1
here=$PWD
heddle init >/dev/null
heddle objective create O --id o >/dev/null
spawn() { heddle spawn --id "$1" --intent x --objective o --foreground; }

# hostile: a config that would run a program if it counted.
hostile() { printf '{"executors":{"agent":["touch","%s/%s"]},"loom":{"budget":7}}\n' "$here" "$1" >.heddle/config.json; }

# ---- a checkout runs nothing

hostile ran
run spawn t0
exits "there is nothing to wait for" 1
run heddle spawn --id t1 --intent x --objective o
exits "a thread is made all the same" 0
ok "but the program of the checkout does not run" test ! -e ran
has "that it is ignored is said, with what to do" "$err" "run: heddle trust"
has "by name" "$err" "executors.agent in .heddle/config.json is ignored"
run heddle list
same "who does not ask for it is not bothered" "$err" ""
run heddle config get loom.budget
same "harmless settings count" "$out" 7
run heddle config list
has "the list says what does not count" "$out" '"]  [workspace untrusted]'
has "and what does" "$out" "7  [workspace]"
has "and what is not set" "$out" "(default 1000)  [default]"
run heddle config list --json
json "as JSON too" "$out" '[.items[] | select(.source != "default") | {(.key): .source}] | add' '{"executors.agent":"workspace untrusted","loom.budget":"workspace"}'
json "where it is not among what counts" "$out" '.settings.executors | length' 0
HEDDLE_STORE=postgres://me:secret@host/db run heddle config list
has "the environment is named" "$out" "postgres://…@host/db  [environment]"
lacks "without a password" "$out" secret

# ---- nobody but a person at a terminal can trust it

run setsid -w "$HEDDLE" trust --json </dev/null
exits "without a terminal it is refused" 1
json "with a reason" "$out" '[.error.code, .error.reason]' '["PERMISSION_DENIED","needs_terminal"]'
has "and the command to run" "$out" "heddle trust --root $here"
echo y >"$scratch/yes"
run setsid -w "$HEDDLE" trust <"$scratch/yes"
exits "an answer on stdin is none" 1
printf '{"sha256":"%s"}' "$(sha256sum .heddle/config.json | cut -d' ' -f1)" >"$scratch/call"
run heddle api call workspace.trust <"$scratch/call"
exits "nor is the hash, by another door" 1
has "which says why" "$out$err" "only a person at a terminal"
ok "nothing was written down" test ! -e "$trusted"

if command -v script >/dev/null; then
    # is_answered WORDS: type them until the command has ended: what is typed before it reads is thrown away.
    is_answered() {
        kill -0 "$terminal" 2>/dev/null || return 0
        (printf '%s\n' "$1" >&9) 2>/dev/null
        sleep 0.1
        return 1
    }
    # answer WORDS COMMAND: run the command at a terminal, and type the words once it has asked.
    answer() {
        rm -f "$scratch/keys"
        mkfifo "$scratch/keys"
        : >"$scratch/screen"
        setsid -w script -qefc "$2" "$scratch/screen" <"$scratch/keys" >/dev/null 2>&1 &
        terminal=$!
        exec 9>"$scratch/keys"
        await grep -q '\[y/N\]' "$scratch/screen"
        await is_answered "$1"
        status=0
        wait $terminal || status=$?
        exec 9>&-
        out=$(cat "$scratch/screen")
    }
    answer n "'$HEDDLE' trust"
    exits "a no is a no" 1
    has "what it would allow is shown" "$out" "executors.agent (runs a program)"
    has "with its value" "$out" '["touch",'
    has "and the hash of the file" "$out" "$(sha256sum <.heddle/config.json | cut -d' ' -f1)"
    ok "nothing was written down" test ! -e "$trusted"
    answer y "'$HEDDLE' trust"
    exits "a yes is a yes" 0
    ok "it is written down, outside of the workspace" grep -qF "$here" "$trusted"
    same "for the user alone" "$(stat -c %a "$trusted")" 600
    run heddle trust
    has "once is enough" "$out" "trusted already"
    run spawn t2
    ok "now the program runs" test -e ran
    lacks "without a warning" "$err" "heddle trust"
    run heddle config list
    has "and the list says so" "$out" '"]  [workspace]'

    # ---- what ends trust, and what does not
    heddle config set loom.budget 8
    run heddle config list
    has "another setting, changed by heddle, does not" "$out" '"]  [workspace]'
    echo >>.heddle/config.json
    run spawn t3
    has "a byte more in the file does" "$err" "heddle trust"
    heddle config set executors.agent '["true"]' 2>"$scratch/err"
    has "setting what needs trust says so" "$(cat "$scratch/err")" "once you run: heddle trust"
    run spawn t4
    has "and does not give it" "$err" "is ignored"
    answer y "'$HEDDLE' trust"
    cp -R "$here" ../moved
    run heddle --root ../moved config list
    has "another place is another workspace" "$out" '"]  [workspace untrusted]'
    run heddle trust --list --json
    json "those that are trusted are listed" "$out" '[.items[] | .root]' "[\"$here\"]"
    json "with when that was" "$out" '.items[0].at | test("^[0-9-]{10}T[0-9:]{8}[.][0-9]{3}Z$")' true
    sed 's/"at": *"[^"]*"/"at":"long ago"/' "$trusted" >"$scratch/trust" && cat "$scratch/trust" >"$trusted"
    run heddle trust --list --json
    json "what is not a time is left out" "$out" '.items[0].at' null
    run heddle trust --remove --json
    json "trust can be taken back" "$out" '[.removed, .root]' "[true,\"$here\"]"
    same "that none is left is said" "$(heddle trust --list)" "no workspace is trusted"
    run spawn t5
    has "and then it is gone" "$err" "is ignored"
    run heddle trust --remove
    exits "twice is harmless" 0
    echo '{' >"$trusted"
    run heddle spawn --id t6 --intent x --objective o
    exits "a list that is broken stops nobody" 0
    has "but trusts nothing, and says so" "$err" "trust.json"
    rm "$trusted"

    # A setting cannot hide on the screen.
    printf '{"executors":{"agent":["true","\\u001b[2J\\u202egnihton","\\u009b1A"]}}\n' >.heddle/config.json
    answer n "NO_COLOR=1 '$HEDDLE' trust" # colours are heddle's own
    same "nothing in it reaches the terminal raw" "$(printf '%s' "$out" | LC_ALL=C grep -c "$(printf '\033')\\|$(printf '\342\200\256')\\|$(printf '\302\233')")" 0
    has "it is shown as it is" "$out" '\u202egnihton'
else
    skip "trust is given at a terminal" "no script(1)"
fi

# ---- the user's own settings

hostile ran-again
heddle config set --user executors.agent '["touch","'"$here"'/mine"]'
same "they are in the user's file" "$(jq -c '.executors | keys' "$HOME/.config/heddle/config.json")" '["agent"]'
same "which is the user's alone" "$(stat -c %a "$HOME/.config/heddle/config.json")" 600
run spawn t7
ok "they run without being asked about" test -e mine
ok "and the checkout's do not" test ! -e ran-again
run heddle config list
has "the list says whose they are" "$out" '"]  [user]'
heddle config set --user loom.budget 5
heddle config set loom.budget 6 2>/dev/null
same "the workspace counts over the user" "$(heddle config get loom.budget)" 6
heddle config unset loom.budget 2>/dev/null
same "and the user over the default" "$(heddle config get loom.budget)" 5
chmod 666 "$HOME/.config/heddle/config.json"
run heddle config get loom.budget
exits "a file that everybody can write is as good as none" 1
has "and that is said" "$err" "can be written by everybody"
chmod 600 "$HOME/.config/heddle/config.json"
mkdir "$scratch/xdg"
XDG_CONFIG_HOME=$scratch/xdg heddle config set --user loom.budget 9
same "XDG_CONFIG_HOME says where the file is" "$(XDG_CONFIG_HOME=$scratch/xdg heddle config get loom.budget)" 9
same "a relative one is ignored" "$(XDG_CONFIG_HOME=relative heddle config get loom.budget)" 5
mkdir "$scratch/dotfiles"
mv "$HOME/.config/heddle/config.json" "$scratch/dotfiles/heddle.json"
ln -s "$scratch/dotfiles/heddle.json" "$HOME/.config/heddle/config.json"
heddle config set --user loom.budget 4
same "a link to it stays a link" "$(jq .loom.budget "$scratch/dotfiles/heddle.json")" 4
echo '{"stoer":1}' >"$HOME/.config/heddle/config.json"
run heddle stats
exits "an unknown key is an error there too" 1
has "which names the file" "$err" ".config/heddle/config.json: unknown key 'stoer'"
rm "$HOME/.config/heddle/config.json"
run env -u HOME "$HEDDLE" stats
exits "without a HOME there are no settings of a user" 0
run env -u HOME "$HEDDLE" config set --user loom.budget 1
has "and no place for them" "$err" "HOME is not set"
echo '{"safe_workspaces":["*"]}' >.heddle/config.json
run heddle stats
exits "a workspace cannot vouch for itself" 1
has "since that key is the user's" "$err" "only in the user's own file"
run heddle config schema --user
json "the schema of the user's file has it" "$out" '.properties | has("safe_workspaces")' true
run heddle config schema
json "that of the workspace has not" "$out" '.properties | has("safe_workspaces")' false
echo '{"store":"postgres://host/db"}' >.heddle/config.json
run heddle stats
lacks "a workspace names no server for its log" "$err" "connect"
exits "so there is no such log" 1
echo '{}' >.heddle/config.json
cd ..

# ---- keys

cd ws || exit 1
heddle agent add Ana --kind model --model offline:echo --permissions loom_aware,loom_write >/dev/null
heddle say s 'A node.' >/dev/null
printf '→ search "x"\n' >"$scratch/line"
heddle config set --user search.tavily_url http://192.0.2.1
TAVILY_API_KEY=k3y run heddle do s --agent Ana <"$scratch/line"
has "a key is not sent unencrypted" "$out$err" "would send the key unencrypted"
lacks "nor shown" "$out$err" k3y
heddle config set --user search.tavily_url http://127.0.0.1:9
heddle config set --user search.proxy http://192.0.2.1:9
TAVILY_API_KEY=k3y run heddle do s --agent Ana <"$scratch/line"
has "not to this machine through a proxy elsewhere either" "$out$err" "would send the key unencrypted"
rm "$HOME/.config/heddle/config.json"
cd ..

# ---- whose workspace it is

nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$scratch/nobody" "$HEDDLE" "$@"; }
mkdir -p planted/below "$scratch/nobody"
if [ "$(id -u)" -eq 0 ] && chmod 755 . planted planted/below && chown 65534 "$scratch/nobody" && chmod 711 "$scratch" &&
    (cd planted && heddle init >/dev/null) && chmod -R a+rX planted &&
    (cd planted/below && nobody version >/dev/null 2>&1); then
    cd planted/below || exit 1
    run nobody stats
    exits "a workspace of another user above is refused" 1
    has "by name" "$err" "the workspace $(dirname "$PWD") is not yours: .heddle belongs to root"
    has "with what to do" "$err" "heddle config set --user safe_workspaces '[\"$(dirname "$PWD")\"]'"
    run nobody stats --json
    json "with a reason for programs" "$out" .error.reason '"not_your_workspace"'
    run nobody --root "$(dirname "$PWD")" stats
    exits "one that is named is meant" 0
    hint=$(nobody stats 2>&1 | sed -n 's/.*run: heddle \(config.*\); to begin.*/\1/p')
    eval "nobody $hint" # as it is, so that its quotes are tried
    run nobody stats
    exits "one that is listed is used" 0
    nobody config set --user safe_workspaces '["/elsewhere"]'
    run nobody stats
    exits "one that is not is not" 1
    nobody config set --user safe_workspaces '["'"$(dirname "$(dirname "$PWD")")"'/*"]'
    run nobody stats
    exits "a list may name what is below a directory" 0
    nobody config set --user safe_workspaces '["*"]'
    run nobody stats
    exits "or everything" 0
    nobody config unset --user safe_workspaces
    cd ..
    chown -R 65534 .heddle
    cd below || exit 1
    run heddle stats
    exits "root is careful too" 1
    SUDO_UID=65534 run heddle stats
    exits "but under sudo the caller's workspace is fine" 0
    SUDO_UID=4294967295 run heddle stats
    exits "the caller's alone" 1
    chown -R 0 ../.heddle
    mkdir ../../theirs && chown 65534 ../../theirs
    mkdir ../../theirs/.heddle && cd ../../theirs || exit 1
    run heddle stats
    has "a directory of another user can change under one's feet" "$err" "belongs to nobody"
    run heddle init
    exits "to begin one there by name is refused likewise" 1
    cd ..
else
    skip "a workspace of another user is refused" "needs root, and directories that others may enter"
fi
mkdir open && cd open || exit 1
heddle init >/dev/null
chmod 777 .heddle
run heddle stats
exits "a workspace that everybody can write is refused" 1
has "by what is wrong with it" "$err" ".heddle of the workspace $PWD can be written by everybody"
chmod 700 .heddle
chmod 666 .heddle/heddle.db
run heddle stats
has "so is its log" "$err" ".heddle/heddle.db of the workspace"
run heddle doctor --fix
exits "doctor can mend it" 0
run heddle stats
exits "and then it is used again" 0

# ---- what doctor says of it

run heddle doctor --json
json "doctor looks at owner, trust and the user's files" "$out" '[.checks[].name] | contains(["owner","trust","user"])' true
run heddle doctor
has "nothing needs trust" "$out" "✓ no setting of the workspace needs trust"
has "and it is ours" "$out" "✓ the workspace is yours"
heddle config set executors.agent '["true"]' 2>/dev/null
run heddle doctor
exits "what is not trusted is no damage" 0
has "but is named" "$out" 'ignored until you run `heddle trust`: executors.agent'
heddle config set --user loom.budget 1
chmod 622 "$HOME/.config/heddle/config.json"
run heddle doctor
exits "a user's file that others can write is" 1
has "and is named" "$out" "config.json can be written by everybody"
run heddle doctor --fix
exits "which can be mended" 0
same "for good" "$(stat -c %a "$HOME/.config/heddle/config.json")" 600
rm "$HOME/.config/heddle/config.json"
mkdir ../nothing && cd ../nothing || exit 1
run heddle doctor
exits "a directory without a workspace has nothing to look at" 1
has "which is not damage" "$err" "✗ NOT_FOUND: there is no log"
cd ../open || exit 1
cd ..

# ---- a workspace is not made unseen

mkdir new && cd new || exit 1
echo '{"kind":"note","payload":{}}' >entry
run heddle log append t <entry
exits "a command that writes makes a workspace where there is none" 0
has "and says so" "$err" "! made a workspace in $PWD"
run heddle log append t <entry
same "once" "$err" ""
mkdir -p ../newer && cd ../newer || exit 1
run heddle config set loom.budget 3
has "so does a setting" "$err" "made a workspace in $PWD"
mkdir ../memo && cd ../memo || exit 1
run heddle memo add 'A memo.'
has "and a memo" "$err$out" "$PWD"

done_testing

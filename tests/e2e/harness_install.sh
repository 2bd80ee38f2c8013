#!/bin/sh
# `heddle install` and `uninstall`: what they put into the settings of other programs, and that
# everything else stays as it is. tests/e2e/hook_*.sh runs the programs themselves.
# postgres: no, it has no log
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

# state: every file here and in the home, with its bytes, as one text
state() { (cd "$1" && find . -path ./.heddle -prune -o -path ./.leslie -prune -o -path ./.local -prune -o \( -type f -o -type l \) -print | sort | xargs -r sha256sum); }

mkdir project home && cd project || exit 1
HOME=$(cd ../home && pwd)
export HOME
heddle init >/dev/null
heddle objective create Release --id release >/dev/null
heddle spawn --id research --intent 'Look around' --objective release --no-run >/dev/null 2>&1
heddle spawn --id build --intent 'Build it' --objective release --ref research --no-run >/dev/null 2>&1

# ---- nothing was there -----------------------------------------------------------------------------

for name in claude-code codex opencode gemini pi; do
    for scope in project user; do
        run heddle install $name --scope $scope --dry-run
        exits "$name, $scope: --dry-run" 0
        has "$name, $scope: it says what it would do" "$out" 'created'
        same "$name, $scope: and writes nothing" "$(state .)$(state "$HOME")" ''
        run heddle install $name --scope $scope
        exits "$name, $scope: install" 0
        once=$(state .)$(state "$HOME")
        lacks "$name, $scope: files were written" "x$once" 'xx'
        run heddle install $name --scope $scope
        same "$name, $scope: twice is the same as once" "$(state .)$(state "$HOME")" "$once"
        same "$name, $scope: and it says so" "$(printf '%s\n' "$out" | grep -v '^unchanged\|^note:')" ''
        run heddle uninstall $name --scope $scope
        exits "$name, $scope: uninstall" 0
        same "$name, $scope: nothing is left" "$(state .)$(state "$HOME")" ''
    done
done
same "no directories are left" "$(find . "$HOME" -maxdepth 1 -name '.[c-p]*' -not -name .heddle -not -name .leslie -not -name .local)" ''

# ---- settings of their own --------------------------------------------------------------------------

mkdir -p .claude .codex .gemini .opencode/plugins
cat >.claude/settings.json <<'END'
{
	// what I like
	"model": "opus", /* really */
	"permissions": {
		"deny": ["Read(.env)"], // never
		"allow": []
	},
	"hooks": {
		"Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }],
	},
}
END
printf '{"mcpServers":{"other":{"command":"x"}}}' >.mcp.json
printf 'model = "o5" # mine\n\n[mcp_servers.other]\ncommand = "y"' >.codex/config.toml
printf '{}' >.codex/hooks.json
printf '# Agents\n\nBe kind.\n' >AGENTS.md
printf '{\r\n  "theme": "dark"\r\n}\r\n' >.gemini/settings.json
printf '{ "mcp": { "a": { "type": "local", "command": ["a"] } } }\n' >opencode.json
before=$(state .)
for name in claude-code codex opencode gemini pi; do
    run heddle install $name --thread build
    exits "$name: install beside other settings" 0
done
has "Claude Code: comments stay" "$(cat .claude/settings.json)" '// what I like'
has "Claude Code: the other hook stays" "$(cat .claude/settings.json)" '"command": "say done"'
has "Claude Code: what the thread may only read is denied" "$(cat .claude/settings.json)" '"Edit(.leslie/threads/research/**)"'
has "Codex: hooks are one line for a shell" "$(cat .codex/hooks.json)" '"command": "heddle hook codex --thread build"'
has "Codex: the MCP server is a table" "$(cat .codex/config.toml)" '[mcp_servers.heddle]
command = "heddle"
args = ["mcp","--thread","build"]'
has "Gemini CLI: times are milliseconds" "$(cat .gemini/settings.json)" '"timeout": 10000'
has "AGENTS.md has the guide" "$(cat AGENTS.md)" 'An `<asset>` inside `<ref>` belongs to another thread'
ok "the guide has at most twenty-five lines" test "$(sed -n '/heddle: begin/,/heddle: end/p' AGENTS.md | wc -l)" -le 25
cp .opencode/plugins/heddle.js "$scratch/plugin.mjs" # by that name it is a module for every version of node
ok "the plugin for opencode is JavaScript" node --check "$scratch/plugin.mjs"
twice=$(state .)
for name in claude-code codex opencode gemini pi; do heddle install $name --thread build >/dev/null; done
same "twice is the same as once" "$(state .)" "$twice"
for name in codex claude-code pi gemini opencode; do heddle uninstall $name >/dev/null; done
same "uninstall restores every byte" "$(state .)" "$before"

# ---- changes in between ------------------------------------------------------------------------------

heddle install claude-code --thread build >/dev/null
sed -i 's/"model": "opus"/"model": "haiku"/' .claude/settings.json
heddle install claude-code >/dev/null
lacks "without --thread its references are allowed again" "$(cat .claude/settings.json)" 'threads/research'
has "copies stay denied" "$(cat .claude/settings.json)" 'Edit(.leslie/threads/*/context/inherited/**)'
heddle uninstall claude-code >/dev/null
same "what was changed meanwhile stays" "$(grep -c haiku .claude/settings.json)$(grep -c heddle .claude/settings.json)" 10
mkdir -p .claude
cat >.claude/settings.json <<'END'
{
  "permissions": { "deny": ["Edit(.leslie/notes/**)", "Edit(.leslie/threads/build/plan.md)"] }
}
END
cp .claude/settings.json before
heddle install claude-code --thread build >/dev/null
json "rules about the same directories that heddle does not write stay" "$(cat .claude/settings.json)" '.permissions.deny[0:2]' '["Edit(.leslie/notes/**)","Edit(.leslie/threads/build/plan.md)"]'
# Another handler is put beside heddle's.
jq '.hooks.Stop[0].hooks += [{"type":"command","command":"say done"}]' .claude/settings.json >mixed && mv mixed .claude/settings.json
heddle install claude-code --thread build >/dev/null
json "a handler of somebody else beside heddle's stays, and heddle's is there once" "$(cat .claude/settings.json)" '[.hooks.Stop[].hooks[].command]' '["say done","heddle"]'
heddle uninstall claude-code >/dev/null
json "and stays when heddle goes" "$(cat .claude/settings.json)" '[.hooks, (.permissions.deny | length)]' '[{"Stop":[{"hooks":[{"type":"command","command":"say done"}]}]},2]'
rm -rf .claude .codex .gemini .opencode opencode.json .mcp.json AGENTS.md before

# ---- a plugin directory --------------------------------------------------------------------------------

run heddle install claude-code --plugin plug --program /opt/heddle
exits "a plugin directory is written" 0
same "it has a manifest, hooks, a server, a command and a skill" "$(cd plug && find . -type f | sort | tr '\n' ' ')" './.claude-plugin/plugin.json ./.mcp.json ./commands/context.md ./hooks/hooks.json ./skills/heddle/SKILL.md '
json "the program is the one that was named" "$(cat plug/hooks/hooks.json)" '.hooks.SessionStart[0].hooks[0] | [.command, .args]' '["/opt/heddle",["hook","claude-code"]]'
has "one that cannot be run is warned of" "$err" "'/opt/heddle' is not found"
run heddle install codex --plugin plug
exits "for the others there are none" 2
run heddle install claude-code --plugin plug --remove
same "it goes as a whole" "$(find plug -type f 2>/dev/null)" ''
heddle install claude-code --plugin "$scratch/plug" >/dev/null 2>&1
same "an absolute path is where it says" "$(find "$scratch/plug" -type f | wc -l)" 5

# ---- the user's settings ----------------------------------------------------------------------------------

mkdir -p "$HOME/dotfiles" "$HOME/.claude"
printf '{"a":1}\n' >"$HOME/dotfiles/claude.json"
ln -s ../dotfiles/claude.json "$HOME/.claude/settings.json"
heddle install claude-code --scope user >/dev/null
ok "a link to dotfiles stays a link" test -L "$HOME/.claude/settings.json"
has "its target is changed" "$(cat "$HOME/dotfiles/claude.json")" SessionStart
has "the server is in .claude.json" "$(cat "$HOME/.claude.json")" '"mcpServers"'
heddle uninstall claude-code --scope user >/dev/null
same "and back" "$(cat "$HOME/dotfiles/claude.json")" '{"a":1}'
CLAUDE_CONFIG_DIR=$HOME/elsewhere heddle install claude-code --scope user >/dev/null
same "CLAUDE_CONFIG_DIR moves them" "$(cd "$HOME/elsewhere" && find . -type f | sort | tr '\n' ' ')" './.claude.json ./settings.json ./skills/heddle/SKILL.md '
CODEX_HOME=$HOME/cx heddle install codex --scope user >/dev/null
ok "CODEX_HOME moves those of Codex" test -f "$HOME/cx/hooks.json"
cd "$HOME" || exit 1
run heddle install gemini --scope user
exits "the user's settings need no workspace" 0
run heddle install gemini
exits "those of a project do" 1
has "and it is said" "$err" 'is not a workspace'
cd ../project || exit 1

# ---- what is refused ----------------------------------------------------------------------------------------

mkdir .claude
echo '{"hooks": [1]}' >.claude/settings.json
run heddle install claude-code
exits "settings of another shape are refused" 1
has "and named" "$err" "settings.json: 'hooks' is not an object"
ok "nothing was written" test ! -e .mcp.json
echo 'not JSON' >.claude/settings.json
run heddle install claude-code
exits "what is no JSON is refused" 1
same "and stays" "$(cat .claude/settings.json)" 'not JSON'
rm -r .claude
mkdir .codex
for table in '[mcp_servers.heddle]' '[ mcp_servers . "heddle" ] # mine' '[mcp_servers.heddle.env]' 'mcp_servers.heddle.command = "mine"' 'mcp_servers = {}' '[mcp_servers]
heddle = { command = "mine" }'; do
    printf '%s\n' "$table" >.codex/config.toml
    run heddle install codex
    exits "a table of somebody else is not replaced: $table" 1
    has "and named: $table" "$err" 'config.toml: it has a line'
    same "and stays: $table" "$(cat .codex/config.toml)" "$table"
done
printf '[mcp_servers.heddle2]\n[other]\nmcp_servers = 1\n' >.codex/config.toml
run heddle install codex
exits "one of another name is no obstacle" 0
heddle uninstall codex >/dev/null
same "and stays" "$(cat .codex/config.toml)" '[mcp_servers.heddle2]
[other]
mcp_servers = 1'
rm -r .codex
own='{"mcpServers":{"heddle":{"type":"stdio","command":"/opt/heddle","args":["mcp"],"env":{"A":"b"}}, "x":{}}}'
printf '%s' "$own" >.mcp.json
heddle install claude-code >/dev/null && heddle install claude-code --agent Bob >/dev/null
json "a server of heddle that somebody else wrote is replaced" "$(cat .mcp.json)" .mcpServers.heddle '{"command":"heddle","args":["mcp","--agent","Bob"]}'
heddle uninstall claude-code >/dev/null
same "and put back" "$(cat .mcp.json)" "$own"
heddle install claude-code >/dev/null
sed 's/"x":{}/"x":{}, "y":{}/' .mcp.json >changed && mv changed .mcp.json
heddle uninstall claude-code >/dev/null
json "also when the file was changed since" "$(cat .mcp.json)" '[.mcpServers.heddle.command, (.mcpServers | keys)]' '["/opt/heddle",["heddle","x","y"]]'
rm .mcp.json

# ---- what is called heddle, and is the user's own, is never taken out --------------------------------------

# stays NAME SCOPE FILE TEXT [OPTION...]: uninstall, without and after an install, leaves TEXT in FILE.
stays() {
    program=$1 scope=$2 file=$3 text=$4
    shift 4
    for first in uninstall install; do
        mkdir -p "$(dirname "$file")"
        printf '%s' "$text" >"$file"
        run heddle $first "$program" --scope "$scope" "$@"
        run heddle install "$program" --scope "$scope" --remove "$@"
        exits "$program, $scope, after $first: uninstall succeeds: $text" 0
        same "$program, $scope, after $first: every byte stays: $text" "$(cat "$file" 2>&1)" "$text"
        has "$program, $scope, after $first: and it is said: $text" "$err" "is not what \`heddle install\` writes"
        rm -f "$file"
    done
}
for server in '{"command":"node","args":["mine.js"]}' '{"command":"mine","args":["mcp"]}' '{"command":"heddle","args":["serve"]}' \
    '{"command":"heddle","args":["mcp","--as","me"]}' '{"command":"heddle","args":["mcp"],"env":{"A":"b"}}' \
    '{"type":"http","url":"https://example.org/mcp"}' '{"command":"heddle"}' '"text"' 'null' '{}'; do
    stays claude-code project .mcp.json "{\"mcpServers\":{\"heddle\":$server}}"
done
mine='{"mcpServers": {"heddle": {"command":"node","args":["mine.js"]}}}'
stays claude-code user "$HOME/.claude.json" "$mine"
stays claude-code project "$PWD/plug/.mcp.json" "$mine" --plugin plug
stays gemini project .gemini/settings.json "$mine"
stays gemini user "$HOME/.gemini/settings.json" "$mine"
stays pi project .pi/mcp.json "$mine"
stays pi user "$HOME/.pi/agent/mcp.json" "$mine"
for server in '{"type":"remote","url":"https://example.org/mcp","enabled":true}' '{"type":"local","command":["mine","mcp"],"enabled":true}' \
    '{"type":"local","command":["heddle","mcp"]}' '{"type":"local","command":["heddle","mcp"],"enabled":true,"environment":{}}' \
    '{"type":"local","command":[],"enabled":true}'; do
    stays opencode project opencode.json "{\"mcp\":{\"heddle\":$server}}"
    stays opencode user "$HOME/.config/opencode/opencode.json" "{\"mcp\":{\"heddle\":$server}}"
done
mkdir .codex
printf '[mcp_servers.heddle]\ncommand = "mine"\n' >.codex/config.toml
run heddle uninstall codex
same "codex: the table of the user stays" "$(cat .codex/config.toml)" '[mcp_servers.heddle]
command = "mine"'
rm -r .codex
printf '{"mcpServers":{}}' >.mcp.json
heddle uninstall claude-code >/dev/null
same "an empty object that is there stays" "$(cat .mcp.json)" '{"mcpServers":{}}'
rm .mcp.json
mkdir -p .opencode/plugins .claude/skills/heddle plug/.claude-plugin
echo 'mine()' >.opencode/plugins/heddle.js
echo '# Mine' >.claude/skills/heddle/SKILL.md
echo '{"name":"heddle","description":"mine","version":"1"}' >plug/.claude-plugin/plugin.json
heddle uninstall opencode >/dev/null 2>&1
heddle uninstall claude-code >/dev/null 2>&1
heddle install claude-code --plugin plug --remove >/dev/null 2>&1
same "files of the user stay" "$(cat .opencode/plugins/heddle.js .claude/skills/heddle/SKILL.md plug/.claude-plugin/plugin.json)" 'mine()
# Mine
{"name":"heddle","description":"mine","version":"1"}'
rm -r .opencode .claude plug
heddle install claude-code --program /opt/other/hd >/dev/null 2>&1
run heddle uninstall claude-code
has "a program of another name may be the user's" "$err" "is not what"
heddle install claude-code --remove --program /opt/other/hd >/dev/null 2>&1
not_ok "--program names it" test -e .mcp.json

mkdir .claude && ln -s ../nowhere.json .claude/settings.json
run heddle install claude-code
exits "a link to nothing is not replaced" 1
has "and named" "$err" 'settings.json is a link to a file that is not there'
ok "it stays" test -L .claude/settings.json
rm -r .claude
mkdir -p .opencode/plugins && echo 'mine()' >.opencode/plugins/heddle.js
run heddle install opencode
exits "a file of somebody else is not replaced" 1
same "and stays" "$(cat .opencode/plugins/heddle.js)" 'mine()'
rm -r .opencode
echo secret >"$HOME/bashrc" && ln -s "$HOME/bashrc" AGENTS.md
run heddle install codex
exits "a link that leads out of the workspace is refused" 1
same "what it leads to stays" "$(cat "$HOME/bashrc")" secret
rm AGENTS.md && echo '# One text' >RULES.md && ln -s RULES.md AGENTS.md
heddle install codex >/dev/null
ok "a link inside is followed" test -L AGENTS.md
has "to its file" "$(cat RULES.md)" 'heddle: begin'
heddle uninstall codex >/dev/null
same "and back" "$(cat RULES.md)" '# One text'
run heddle install claude-code --thread nobody
exits "a thread that is not there is named" 1
run heddle install emacs
exits "another program is misuse" 2
has "the programs are named" "$err" 'claude-code'
done_testing

# shellcheck shell=sh disable=SC2154 # npm_dir and scratch come from the files sourced before
# Real coding agents against a model that is not one, in POSIX shell: tests/e2e/harness_model.js answers
# them on this machine, in the dialect in which it is asked. Sourced after tests/e2e/lib.sh and
# tests/npm-lib.sh.
#
#     agent_have claude || skip_all "Claude Code" "$npm_why"
#     agent_model                                  $asked has what the model was asked, a line each
#     agent_workspace research                     a workspace with the threads build and research
#     claude -p "text"                             a function that runs the program
#
# Versions are fixed: what they send is part of what is tested.

asked='' model=''
agent_source=${HEDDLE_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}

agent_have() {
    case $1 in
    claude) npm_have claude @anthropic-ai/claude-code@2.1.325 ;;
    codex) npm_have codex @openai/codex@0.166.0 ;;
    gemini) npm_have gemini @google/gemini-cli@0.61.0 ;;
    opencode) npm_have opencode opencode-ai@1.18.33 ;;
    pi) npm_have pi @earendil-works/pi-coding-agent@0.87.1 ;;
    esac || return 1
    agent_dir=$npm_dir
}

# agent_model: starts the model; it ends with the test.
agent_model() {
    asked=$scratch/asked
    : >"$asked"
    node "$agent_source/tests/e2e/harness_model.js" "$asked" "$scratch/port" &
    server=$!
    at_end 'kill $server 2>/dev/null; rm -rf "$scratch"'
    model=http://127.0.0.1:$(wait_port)
}

# agent_workspace THREADS...: makes a workspace here, with these threads and one that may read them,
# `build`. Threads have an asset each; $T is where they are. Hooks finish their work before they return.
agent_workspace() {
    T=.leslie/threads
    HEDDLE_HOOK_WAIT=1
    export HEDDLE_HOOK_WAIT
    heddle init >/dev/null
    heddle objective create Release --id release >/dev/null
    agent_refs=
    for agent_thread; do
        heddle spawn --id "$agent_thread" --intent 'Look around' --objective release --no-run >/dev/null 2>&1
        echo '# What we know' >"$T/$agent_thread/design.md"
        agent_refs=$agent_refs${agent_refs:+,}$agent_thread
    done
    heddle spawn --id build --intent 'Build it' --objective release --ref "$agent_refs" --no-run >/dev/null 2>&1
}

# block THREAD: as a hook puts it into a prompt
block() { heddle context "$1" --notes --peek; }

agent_arch() {
    case $(uname -m) in
    aarch64) echo arm64 ;;
    *) echo x64 ;;
    esac
}

claude() {
    ANTHROPIC_BASE_URL=$model ANTHROPIC_API_KEY=sk-ant-mock DISABLE_TELEMETRY=1 DISABLE_AUTOUPDATER=1 \
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 \
        timeout 300 "$agent_dir/node_modules/@anthropic-ai/claude-code-linux-$(agent_arch)/claude" "$@"
}

codex() { MOCK_KEY=x timeout 300 "$agent_dir/node_modules/.bin/codex" "$@"; }

gemini() {
    GEMINI_API_KEY=mock GOOGLE_GEMINI_BASE_URL=$model timeout 300 "$agent_dir/node_modules/.bin/gemini" -m gemini-2.5-flash "$@"
}

# agent_opencode_ready: what opencode would install by itself, beside its settings and in .opencode
agent_opencode_ready() {
    npm_have opencode-plugin @opencode-ai/plugin@1.18.33 || return 0
    for ready in "$HOME/.config/opencode" .opencode; do
        mkdir -p "$ready"
        cp -r "$npm_dir/node_modules" "$npm_dir/package-lock.json" "$ready/"
        echo '{"dependencies":{"@opencode-ai/plugin":"1.18.33"}}' >"$ready/package.json"
    done
}

opencode() {
    OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1 OPENCODE_DISABLE_LSP_DOWNLOAD=1 \
        timeout 300 "$agent_dir/node_modules/opencode-linux-$(agent_arch)/bin/opencode" "$@"
}

pi() { timeout 300 "$agent_dir/node_modules/.bin/pi" --provider mock --model m1 "$@"; }

# told TEXT: "yes" when the newest request has it somewhere.
told() { if tail -n 1 "$asked" | grep -qF -- "$1"; then echo yes; else echo no; fi; }

# seen BLOCK PROMPT: where a text stands in the newest request that has the prompt in it. A line of
# "N of M" (how often, among how many blocks at all) and whether nothing of the model stands between
# the text and the prompt ("before", "behind") or not ("apart").
seen() { node "$agent_source/tests/e2e/hook_seen.mjs" "$asked" "$1" "$2"; }

# sessions_of: what `heddle sessions` says of each session, however its thread and lane are called
sessions_of() { heddle sessions --agents --json | jq -cS '[.items[] | {session, project, title, prompt, model, parent, turns, messages, tokens, first, last}] | sort_by(.session)'; }

# check_first: the first session, in the thread build, was asked "PROMPT one" (opencode quotes it) and is
# recorded so.
check_first() {
    has "what was said is in the thread" "$(heddle log show build --json)" 'PROMPT one'
    json "it is called after what was asked" "$(heddle sessions --json)" '[.items[].prompt | gsub("\"";"")]' '["PROMPT one"]'
    json "and so is its turn" "$(heddle stats build --json)" '[.items[].prompt | gsub("\"";"")]' '["PROMPT one"]'
}

# check_import PROGRAM PATH: what hooks recorded while the sessions ran is what an import of their files
# makes in a workspace that has seen none of them, and nothing in them is strange to it.
check_import() {
    recorded=$(sessions_of)
    lacks "there are sessions to import" "$recorded" '[]'
    mkdir again && cd again || exit 1
    heddle init >/dev/null
    run heddle import "$1" "$2" --json
    exits "a fresh import" 0
    json "understands every record" "$out" '[.items[].notes[]] + .failed' '[]'
    same "makes the sessions that hooks recorded" "$(sessions_of)" "$recorded"
    json "once" "$(heddle import "$1" "$2" --json)" '.items' '[]'
    ok "and its log verifies" heddle verify
    cd ..
}

# check_export PROGRAM FILES...: each imported session is written as it was, record by record. In the
# workspace of check_import.
check_export() {
    program=$1 && shift
    cd again || exit 1
    heddle sessions --json >"$scratch/sessions"
    for file; do
        case $program in
        pi) id=$(head -n 1 "$file" | jq -r .id) ;;
        *) id=$(basename "$file" .jsonl) ;;
        esac
        thread=$(jq -r --arg id "$id" '.items[] | select(.session == $id) | .thread' "$scratch/sessions")
        heddle export "$thread" --to "$program" --session "$id" | jq -cS . >"$scratch/written"
        jq -cS . "$file" >"$scratch/was"
        ok "export of session $(basename "$file") is what was imported" cmp "$scratch/written" "$scratch/was"
    done
    cd ..
}

# check_worktree BLOCK WHERE COMMAND...: the directory becomes a git repository. A session in a linked worktree of
# it, which COMMAND starts with a prompt as its last word, works in the same workspace: it has the block (as
# `BLOCK build` prints it, WHERE of seen()), is recorded there, and removing the worktree takes nothing away.
check_worktree() {
    worktree_block=$1 worktree_where=$2 && shift 2
    git init -q -b main . && git add -A && git -c user.name=t -c user.email=t@example.org commit -qm first
    git worktree add -q "$scratch/worktree"
    cd "$scratch/worktree" || exit 1
    HEDDLE_THREAD=build "$@" "PROMPT in a worktree"
    same "a session in a worktree has the block" "$(seen "$($worktree_block build)" 'PROMPT in a worktree')" "$worktree_where"
    has "its paths are found from there" "$($worktree_block build)" "path=\"$OLDPWD/.leslie/"
    ok "the worktree has no log of its own" test ! -e .heddle/heddle.db
    cd "$OLDPWD" || exit 1
    has "it is recorded in the log of the repository" "$(heddle log show build --json)" 'PROMPT in a worktree'
    git worktree remove --force "$scratch/worktree"
    has "and is still there when the worktree is removed" "$(heddle log show build --json)" 'PROMPT in a worktree'
}

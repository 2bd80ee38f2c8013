#!/usr/bin/env bash
# Prints a folder whose node_modules hold the tokenizers that ours is held against, outside the source
# tree; installs them there the first time. Fails, saying why, where that cannot be done.
set -euo pipefail
folder=${XDG_CACHE_HOME:-$HOME/.cache}/heddle/tokens
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    echo "node and npm are needed for this" >&2
    exit 1
fi
if [ ! -d "$folder/node_modules/tiktoken" ] || [ ! -d "$folder/node_modules/gpt-tokenizer" ]; then
    mkdir -p "$folder"
    cd "$folder"
    [ -f package.json ] || echo '{"private":true}' >package.json
    timeout "${HEDDLE_NPM_SECONDS:-300}" npm install --no-audit --no-fund --fetch-retries=1 tiktoken@1.0.22 \
        gpt-tokenizer@4.0.0 typescript@5.9 >install.log 2>&1 || {
        cat install.log >&2
        exit 1
    }
fi
echo "$folder"

#!/bin/sh
# What is assembled, looked at by the providers' own SDKs and by a tokenizer that is not ours, all from npm.
# postgres: no, it compares what is assembled, which needs no store of its own
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/npm-lib.sh
. "$(dirname "$0")/../npm-lib.sh"
here=$(cd "$(dirname "$0")" && pwd)

npm_have sdks @anthropic-ai/sdk@1 openai@7 @google/genai@2 typescript@5 @types/node@24 tiktoken@1 ||
    skip_all "the SDKs take the bodies, and a budget holds" "$npm_why"
mkdir "$scratch/work" && cd "$scratch/work" || exit 1
ln -s "$npm_dir/node_modules" node_modules
cp "$npm_dir/package.json" .
node "$here/assemble_others.mjs" >"$scratch/lines" 2>"$scratch/failed" || flunk "the checks ran" "$(cat "$scratch/failed")"
while read -r line; do
    case $line in
    'ok - '*) pass "${line#ok - }" ;;
    'not ok - '*) flunk "${line#not ok - }" ;;
    *) printf '%s\n' "$line" ;;
    esac
done <"$scratch/lines"
done_testing

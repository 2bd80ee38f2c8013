#!/bin/sh
# The parts of the page that need no browser: layout of trees, virtual rows, elements and signals,
# addresses, Markdown, texts in quotes.
# asan: no
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)

# The page's modules are modules by their type, which a browser knows from the server.
cp -r "$HEDDLE_SOURCE/web" "$scratch/web"
echo '{"type":"module"}' >"$scratch/package.json"
cp "$here/page_unit.mjs" "$here/page_dom.mjs" "$scratch/"
heddle init >/dev/null
heddle api schema --json >"$scratch/schema.json"
node "$scratch/page_unit.mjs" "$scratch/schema.json" >"$scratch/lines" 2>"$scratch/failed" || flunk "the checks ran" "$(cat "$scratch/failed")"
while read -r line; do
    case $line in
    'ok - '*) pass "${line#ok - }" ;;
    'not ok - '*) flunk "${line#not ok - }" ;;
    *) printf '%s\n' "$line" ;;
    esac
done <"$scratch/lines"

# A text in quotes, as the page writes it, is read back by the → language as it was.
node --input-type=module -e "
    import { quoted } from '$scratch/web/words.js';
    import fs from 'node:fs';
    const texts = ['plain', 'a \"b\" c', 'ends with \\\\', 'C:\\\\new\\\\temp', 'one\\\\ntwo', 'two\\nlines', '\\\\\\\\nas\\\\share', '\\\\nas\\\\share', 'x\\\\\\\\\"', '\\\\nabla', '→ prune root', 'Yes.\\\\nNo', '“curly”', \"it's\"];
    fs.writeFileSync('texts.json', JSON.stringify(texts));
    texts.forEach((t, i) => fs.writeFileSync('line' + i, '→ annotate here ' + quoted(t)));
" || flunk "the texts were written"
heddle say q 'a node' >/dev/null
n=$(jq length texts.json) i=0
while [ "$i" -lt "$n" ]; do
    run heddle "do" q <"line$i"
    got=$(heddle log show q --json | jq -c 'select(.payload.annotation != null or .payload.text != null) | .payload.text' | tail -n 1)
    same "a text in quotes is read as it was: $i" "$got" "$(jq -c ".[$i]" texts.json)"
    i=$((i + 1))
done
done_testing

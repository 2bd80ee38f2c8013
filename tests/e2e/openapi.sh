#!/bin/sh
# The OpenAPI document: read by a validator that is not ours, and by a generator of TypeScript, whose
# client is type-checked and then asks the server. Both come from npm.
# postgres: no, it has no log
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/npm-lib.sh
. "$(dirname "$0")/../npm-lib.sh"

run heddle api openapi
exits "the document is printed without a server" 0
printf '%s\n' "$out" >openapi.json
json "it has every operation" "$out" '[.paths | keys[] | select(startswith("/api/")) | ltrimstr("/api/")] - ["events","status"] | sort' \
    "$(heddle api schema | jq -c '[.items[].name] | sort')"
json "what only reads has GET" "$out" '[.paths | to_entries[] | select(.value.get and .value.post) | .key | ltrimstr("/api/")] | sort' \
    "$(heddle api schema | jq -c '[.items[] | select(.repeat == "reads").name] | sort')"
json "each says which permission a token needs" "$out" '[.paths["/api/log.append"].post, .paths["/api/thread.list"].get, .paths["/api/erase"].post, .paths["/api/config.set"].post | .["x-permission"]]' \
    '["write","read","manage","shell"]'
json "names of operations are unique" "$out" '[.paths[][] | .operationId] | length == (unique | length)' true
heddle init >/dev/null
start_server
same "a server gives the same" "$(curl -s "$url/api/openapi.json")" "$out"

if ! npm_have openapi @seriousme/openapi-schema-validator@2 openapi-typescript@7 openapi-fetch@0 typescript@5; then
    skip "a validator that is not ours" "$npm_why"
    stop_server
    done_testing
fi
work=$PWD
mkdir "$scratch/npm" && cd "$scratch/npm" || exit 1
ln -s "$npm_dir/node_modules" node_modules
cp "$work/openapi.json" .
cat >validate.mjs <<'END'
import { Validator } from "@seriousme/openapi-schema-validator";
import { readFileSync } from "node:fs";
const validator = new Validator();
const result = await validator.validate(JSON.parse(readFileSync("openapi.json", "utf8")));
console.log(result.valid, validator.version, JSON.stringify(result.errors ?? ""));
END
same "the validator finds nothing" "$(node validate.mjs)" 'true 3.1 ""'
ok "types are made from it" node_modules/.bin/openapi-typescript openapi.json -o heddle.d.ts
cat >client.ts <<'END'
import createClient from "openapi-fetch";
import type { paths } from "./heddle.js";

const client = createClient<paths, "application/json">({
    baseUrl: process.argv[2],
    headers: { Authorization: `Bearer ${process.argv[3]}` },
});

const appended = await client.POST("/api/log.append", {
    body: { thread: "t", entries: [{ kind: "ai_message", payload: { role: "user", content: "typed" } }] },
});
const rev: number | undefined = appended.data?.rev;
const listed = await client.GET("/api/thread.list", { params: { query: {} } });
const first: string | undefined = listed.data?.items[0]?.id;
const failed = await client.POST("/api/thread.status", { body: { thread: "nowhere" } });
const code: "NOT_FOUND" | string | undefined = failed.error?.error.code;
console.log(rev, first, code);

// @ts-expect-error a parameter that is missing
await client.POST("/api/thread.status", { body: {} });
// @ts-expect-error a parameter of another type
await client.POST("/api/thread.status", { body: { thread: 7 } });
// @ts-expect-error a value that is not one of those there are
await client.GET("/api/thread.list", { params: { query: { status: "asleep" } } });
// @ts-expect-error an operation that is not there
await client.POST("/api/thread.statuses", { body: {} });
// @ts-expect-error what writes is not asked with GET
await client.GET("/api/log.append", {});
END
printf '{"type":"module"}' >package.json
printf 'declare const process: { argv: string[] };\n' >process.d.ts
ok "a client of these types is type-checked" node_modules/.bin/tsc --strict --target es2022 --module nodenext --skipLibCheck --lib es2023,dom --outDir made client.ts process.d.ts
same "and it asks the server" "$(node made/client.js "$url" "$token" 2>&1 | head -n 1)" "1 t NOT_FOUND"
stop_server
done_testing

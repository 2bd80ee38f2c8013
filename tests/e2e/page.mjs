// Run by page.sh: all browser tests in one browser. Prints a line for each check.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { enter, heddle, id, launch, ok, serve, shell, stop } from "./page_lib.mjs";
import { agentRunOps, askOps, conflictOps, longNames, loomOps, runOps, shareOps } from "./page_ops.mjs";
import { hostile, hostileWorkspace } from "./page_hostile.mjs";
import { keys } from "./page_keys.mjs";
import { looks } from "./page_look.mjs";
import { restart, tabs } from "./page_live.mjs";
import { scale } from "./page_scale.mjs";
import { starts } from "./page_start.mjs";

const root = process.argv[2], only = process.env.HEDDLE_PAGE_ONLY ?? "";

function workspace(name) {
    const ws = `${root}/${name}`;
    fs.mkdirSync(ws);
    shell(ws, ["init"]);
    return ws;
}

/** A workspace like those that people have. */
function demo() {
    const ws = workspace("demo"), h = (args, input) => shell(ws, args, input);
    h(["agent", "add", "Ana", "--kind", "model", "--model", "offline:echo", "--permissions", "loom_aware,loom_write,loom_generate", "--system-prompt", "You design a store with us."]);
    h(["agent", "add", "Sub", "--kind", "model", "--model", "offline:script answers.jsonl"]);
    fs.writeFileSync(`${ws}/answers.jsonl`, ["Two tables.", "One file each.", "Two tables.", "One file each."].map((text) => JSON.stringify({ text })).join("\n"));
    for (const title of ["Log in", "Ship the parser"]) h(["objective", "create", title]);
    const spawn = (name, intent, objective, ...more) => h(["spawn", "--no-run", "--id", name, "--intent", intent, "--objective", objective, ...more]);
    spawn("backend", "Design the API", "log-in");
    fs.mkdirSync(`${ws}/.leslie/threads/backend`, { recursive: true });
    fs.writeFileSync(`${ws}/.leslie/threads/backend/plan.md`, "# Plan\n\nOne table.\n");
    spawn("form", "Build the form", "log-in", "--ref", "backend:plan.md", "--binding", "frozen");
    spawn("tests", "Write the tests", "log-in", "--ref", "backend");
    spawn("research", "Compare parsers", "ship-the-parser");
    spawn("build", "Write the parser", "ship-the-parser", "--ref", "research");
    h(["lifecycle", "research", "done"]);
    h(["transfer", "build", "request_approval", "--reason", "two ways"]);
    fs.writeFileSync(`${ws}/.leslie/threads/backend/plan.md`, "# Plan\n\nTwo tables.\n");
    conversation(h);
    longTalk(h);
    let at = null;
    for (const text of ["one", "two", "three"]) at = id(h(["say", "keyed", text, ...(at ? ["--at", at] : [])]));
    h(["say", "keyed", "a fork", "--at", id(JSON.parse(h(["api", "call", "tree.nodes"], '{"thread":"keyed"}')).items[0].id)]);
    return ws;
}

function conversation(h) {
    const say = (text, at, agent) => id(h(["say", "design", text, ...(at ? ["--at", at] : []), ...(agent ? ["--agent", agent] : [])]));
    const a = say("Which store should we use for the log?"), b = say("SQLite, until one machine is too small.", a, "Ana"), c = say("Show me the **schema**.", b);
    const d = say("One table, append-only:\n\n```sql\nCREATE TABLE entry(thread INTEGER, seq INTEGER, body BLOB);\n```\n\nReads are `range scans`. See <https://example.org/docs>.\n\n| lane | from | at |\n|---|---|---|\n| default | | |\n| postgres | default | 0 |", c, "Ana");
    const e = say("And how do forks read?", d);
    const f = say("A lane is a name and a point, so its path is:\n\n1. the prefix of its ancestors\n2. its own messages", e, "Ana");
    const g = say("Two tables: entry and lane.", c, "Ana");
    const t = say("Too many.", g);
    h(["do", "design"], `→ prune ${t}\n→ switch to ${f}\n→ bookmark ${d} "the schema"\n→ annotate ${d} "keep this"`);
    h(["do", "design", "--agent", "Ana"], `→ switch to ${f}\n→ pin ${d}\n→ stash "mood" "quiet"`);
}

/** A talk with a run that failed, a compaction and a lane: what the timeline and the context show. */
function longTalk(h) {
    const asked = ["Which calls does the form need?", "What is in the answer to a login?", "How long does a session live?", "What if the clock is wrong?", "Who may end a session?", "Where are errors told?"];
    const told = ["Two: log in and log out. Both take JSON, and answer with a document or an error that has a code.", "A cookie that scripts cannot read, and a secret for the header of every call. Neither works without the other.",
        "Until the server ends. Nothing of it is on the disk, so a restart ends all of them, and the page asks for a new link.", "Times are compared on a clock that only goes forward; the wall clock is for people.",
        "Whoever has it, and whoever may stop the server. There is no list of sessions to take over.", "In the document, with a code, a sentence and what to do. The page shows them beside the thing."];
    let at = null;
    asked.forEach((text, k) => {
        at = id(h(["say", "backend", text, ...(at ? ["--at", at] : [])]));
        at = id(h(["say", "backend", told[k], "--at", at, "--agent", "Ana"]));
    });
    h(["run", "start", "backend", "--text", "Write the plan"]);
    h(["run", "event", "backend"], "{\"kind\":\"request_failed\",\"data\":{\"error\":\"the model is overloaded\"}}\n");
    h(["op", "replace", "backend", "--context", "-", "--reason", "compaction", "--base-seq", "7", "--rebase"],
        JSON.stringify({ messages: [{ role: "user", content: "[Summary of 8 messages] The form needs two calls, log in and log out. A login gives a cookie and a secret; they live until the server ends." }] }));
    h(["op", "fork", "backend", "--lane", "without-cookies", "--at", "3"]);
    const end = id(h(["say", "backend", "Now write the plan, please."]));
    h(["do", "backend", "--agent", "Ana"], `→ switch to ${end}`);
}

const wanted = (name) => only === "" || only.split(",").includes(name);

/** One part; an error in it is one failure, and the others go on. */
async function part(name, f) {
    if (!wanted(name)) return;
    const from = Date.now();
    try {
        await f();
    } catch (error) {
        ok(`${name}: ran to its end`, false, error.stack);
    }
    console.log(`# ${name} ${((Date.now() - from) / 1000).toFixed(1)} s`);
}

const ws = demo(), server = await serve(ws), browser = await launch();

/** Another link of the server that runs; were there none, `heddle open` would start one that nobody ends. */
function newKey() {
    if (server.child.exitCode !== null) throw new Error(`the server ended with ${server.child.exitCode}`);
    return /#k=(\S+)/.exec(execFileSync(heddle, ["open", "--print"], { cwd: ws, encoding: "utf8" }))?.[1];
}
await part("look", () => looks(browser, server, newKey));
await part("start", () => starts(browser, server, newKey));
await part("keys", () => keys(browser, server, ws, newKey()));
await part("operations", async () => {
    const { context, page } = await enter(browser, { ...server, key: newKey() });
    for (const [name, f] of Object.entries({ loomOps, conflictOps, runOps, agentRunOps, longNames, shareOps, askOps })) await part2(name, () => f(page, ws), page);
    ok("nothing went wrong", page.wrong.length === 0, ...page.wrong);
    await context.close();
});
async function part2(name, f, page) {
    try {
        await f();
    } catch (error) {
        ok(`${name}: ran to its end`, false, error.stack, await page.locator("#app").innerText().catch(() => ""));
    }
}
await part("live", () => tabs(browser, server, ws, newKey()));
await part("hostile", async () => {
    const bad = workspace("hostile");
    hostileWorkspace(bad);
    const other = await serve(bad);
    await hostile(browser, other, bad, other.key);
    await stop(other);
});
await stop(server);
await part("restart", () => restart(browser, ws));
await part("scale", async () => {
    const big = workspace("big");
    shell(big, ["log", "import", "big", process.env.HEDDLE_PAGE_BIG]);
    shell(big, ["tree", "big", "--summary"]);
    const other = await serve(big);
    await scale(browser, other, big, other.key);
    await stop(other);
});
await browser.close();

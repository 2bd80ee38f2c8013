// Run by page_screens.sh: the screens beside the overview and the thread. Prints a line for each check.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { axeSource, enter, heddle, id, launch, nodesOf, ok, quiet, same, serve, shell, stop, until, visit } from "./page_lib.mjs";

const root = process.argv[2], only = process.env.HEDDLE_PAGE_ONLY ?? "", shots = process.env.HEDDLE_PAGE_SHOTS ?? "";
const hostileText = "<img src=x onerror=\"alert(1)\"><script>alert(2)</script>";
const session2 = "88888888-2222-4333-8444-555555555555";
const session = "99999999-2222-4333-8444-555555555555";

// ---- a workspace ----------------------------------------------------------------------------------

function transcript() {
    const list = [{ type: "session", version: 3, id: session, timestamp: "2026-11-15T10:00:00.000Z", cwd: "/home/ada/work/loom" }];
    let parent = null, n = 0;
    const put = (message) => {
        list.push({ type: "message", id: `e${++n}`, parentId: parent, timestamp: `2026-11-15T10:${String(n).padStart(2, "0")}:00.000Z`, message });
        parent = `e${n}`;
    };
    for (let turn = 1; turn <= 3; turn++) {
        put({ role: "user", content: [{ type: "text", text: `Part ${turn} ${hostileText}` }] });
        put({ role: "assistant", content: [{ type: "text", text: "Done." }], model: "m", usage: { input: 1000 * turn, output: 10, cost: { total: 0.25 * turn } }, stopReason: "stop" });
    }
    return list.map((l) => JSON.stringify(l)).join("\n");
}

function workspace() {
    const ws = `${root}/ws`, h = (args, input) => shell(ws, args, input);
    fs.mkdirSync(ws);
    h(["init"]);
    h(["agent", "add", "Ana", "--kind", "model", "--model", "offline:echo", "--permissions", "loom_aware,loom_write,doc_read,doc_write", "--system-prompt", "You design a store with us."]);
    h(["objective", "create", "Log in"]);
    const spawn = (name, ...more) => h(["spawn", "--no-run", "--id", name, "--intent", `Work on ${name}`, "--objective", "log-in", ...more]);
    spawn("unused");
    spawn("backend");
    fs.mkdirSync(`${ws}/.leslie/threads/backend`, { recursive: true });
    fs.writeFileSync(`${ws}/.leslie/threads/backend/plan.md`, "# Plan\n\nOne table.\nAppend only.\n");
    spawn("form", "--ref", "backend:plan.md", "--binding", "frozen");
    fs.writeFileSync(`${ws}/.leslie/threads/backend/plan.md`, "# Plan\n\nTwo tables.\nAppend only.\n");
    fs.mkdirSync(`${ws}/.leslie/threads/form`, { recursive: true });
    fs.writeFileSync(`${ws}/.leslie/threads/form/learnings.md`, `What we learned: ${hostileText}\n`);
    let at = null;
    const say = (text, agent) => { at = id(h(["say", "design", text, ...(at ? ["--at", at] : []), ...(agent ? ["--agent", agent] : [])])); };
    say("Which store should we use for the log?");
    say("SQLite, until one machine is too small.", "Ana");
    say(`Show me the schema ${hostileText}`);
    say("One table, append-only.", "Ana");
    h(["run", "start", "design", "--text", "Explain the index"]);
    h(["run", "event", "design"], "{\"kind\":\"request_failed\",\"data\":{\"error\":\"out of money\"}}\n");
    h(["op", "replace", "design", "--context", "-", "--reason", "compaction"], JSON.stringify({ system_prompt: "Be brief.", messages: [{ role: "user", content: "(summary) SQLite it is." }] }));
    h(["op", "fork", "design", "--lane", "try-2", "--at", "1"]);
    for (let k = 0, from = null; k < 12; k++) from = id(h(["say", "chat", `Message ${k}. ${"It goes on at length, so that a summary is shorter. ".repeat(20)}`, ...(from ? ["--at", from] : []), ...(k % 2 ? ["--agent", "Ana"] : [])]));
    fs.writeFileSync(`${ws}/README.md`, "# Hello\n\nA program.\n");
    fs.mkdirSync(`${ws}/src/deep`, { recursive: true });
    fs.writeFileSync(`${ws}/src/main.c`, "int main(void) { return 0; }\n".repeat(40));
    fs.writeFileSync(`${ws}/src/deep/part.c`, "int part;\n");
    for (const line of ['create "One."', 'append "Two."', 'append "Three."']) h(["do", "backend"], `→ write doc:"draft" ${line}`);
    fs.mkdirSync(`${process.env.HOME}/.pi/agent/sessions/loom`, { recursive: true });
    fs.writeFileSync(`${process.env.HOME}/.pi/agent/sessions/loom/2026-11-16_${session2}.jsonl`, transcript().replaceAll(session, session2));
    fs.writeFileSync(`${root}/pi.jsonl`, transcript());
    h(["import", "pi", `${root}/pi.jsonl`]);
    return ws;
}

const ws = workspace(), server = await serve(ws), browser = await launch();
const newKey = () => /#k=(\S+)/.exec(execFileSync(heddle, ["open", "--print"], { cwd: ws, encoding: "utf8" }))?.[1];
const json = (args, input) => JSON.parse(shell(ws, [...args, "--json"], input));
const entries = (thread) => shell(ws, ["log", "show", thread, "--json"]).trim().split("\n").map((l) => JSON.parse(l));
const last = (thread) => entries(thread).at(-1);

async function part(name, f) {
    if (only !== "" && !only.split(",").includes(name)) return;
    const { context, page } = await enter(browser, { ...server, key: newKey() });
    try {
        await f(page);
    } catch (error) {
        ok(`${name}: ran to its end`, false, error.stack);
    }
    ok(`${name}: nothing went wrong`, page.wrong.length === 0, ...page.wrong);
    await context.close();
}

const text = (page, selector) => page.locator(selector).first().innerText();
const noMarkup = (page) => page.evaluate(() => document.querySelectorAll("#main img, #main script").length === 0);

// ---- timeline -------------------------------------------------------------------------------------

async function timeline(page) {
    const all = entries("design"), compaction = all.findIndex((e) => e.payload.operation?.reason === "compaction");
    await visit(page, "/t/design/log");
    await until("every entry is a row", async () => (await page.locator(".entry:visible").count()) === all.length);
    ok("text of strangers is text", await noMarkup(page));
    await visit(page, `/t/design/log?at=${compaction}`);
    await until("an entry of the address is the chosen one", async () => (await text(page, ".entry.selected .seq")) === String(compaction));
    await until("what it changed is shown", async () => (await page.locator(".differences .removed").count()) === 5 && (await page.locator(".differences .added").count()) === 2);
    const doc = json(["compare", "design", "--at", String(compaction)]);
    has("with the tokens that the shell counts", await text(page, "#pane-differs h2"), `${doc.removed_tokens - doc.added_tokens} tokens fewer`);
    await page.focus(".rows");
    await page.keyboard.press("j");
    await until("a key moves to the older entry, and the address follows", () => new URL(page.url()).searchParams.get("at") === String(compaction - 1));
    await page.keyboard.press(">");
    await until("a key goes to the next compaction", () => new URL(page.url()).searchParams.get("at") === String(compaction));
    await page.keyboard.press("(");
    await until("and one to the run before", () => all[Number(new URL(page.url()).searchParams.get("at"))]?.kind === "run_started");
    await page.selectOption("select[aria-label='Compare with']", "all");
    await until("the whole context", async () => (await text(page, "#pane-differs h2")).includes("the whole context"));
    await page.selectOption("select[aria-label='Compare with']", "lane:try-2");
    await until("against a lane", async () => (await text(page, "#pane-differs h2")).includes("against lane try-2"));
    await page.selectOption("select[aria-label='Kinds of entries']", "ai_message");
    await until("only messages", async () => (await page.locator(".entry:visible").count()) === all.filter((e) => e.kind === "ai_message").length);
    await page.goBack();
    await timelineWrites(page, compaction);
}

async function timelineWrites(page, compaction) {
    await visit(page, `/t/design/log?at=${compaction - 1}`);
    await until("ready", () => page.locator(`[data-ready='${compaction - 1}']`).count());
    await page.click("text=Branch here…");
    await page.fill("#field-lane", "from-page");
    await page.click("dialog button.primary");
    await until("branch here forks a lane", () => last("design").payload.operation?.type === "fork" && last("design").lane === "from-page");
    same("at the entry, as the shell does", last("design").payload.operation.from, { lane: "default", seq: compaction - 1 });
    await until("the page goes there", () => new URL(page.url()).searchParams.get("lane") === "from-page");
    const before = json(["compare", "design", "--lane", "default", "--vs", "-1"]).added;
    await visit(page, `/t/design/log?at=1&lane=default`);
    await until("ready again", () => page.locator("[data-ready='1']").count());
    await page.click("text=Restore as a new entry");
    await until("restore is a new entry", () => last("design").payload.operation?.reason === "restore");
    same("with the context of then", json(["compare", "design", "--lane", "default", "--vs", "-1"]).items.filter((c) => c.change === "added").length, 2);
    await page.click(".foot >> text=Undo");
    await until("and can be taken back, as another", () => entries("design").filter((e) => e.payload.operation?.reason === "restore").length === 2);
    same("which gives the context of before", json(["compare", "design", "--lane", "default", "--vs", "-1"]).added, before);
    await visit(page, "/t/design/log");
    const n = entries("design").length;
    await until("now", async () => (await text(page, ".as-after")).includes(`of ${n}`));
    shell(ws, ["say", "design", "From the shell."]);
    await until("what another writes comes by itself", async () => (await page.locator(".entry .words", { hasText: "From the shell." }).count()) === 1);
    await page.click(".entry-stored summary");
    await until("what is stored can be seen", async () => (await text(page, ".stored")).includes("\"chain\""));
}

/** Runs of commands are one row, which opens; an entry inside one that is asked for is shown. */
async function folded(page) {
    const kinds = [...Array(2).fill("ai_message"), ...Array(14).fill("tool_action"), ...Array(190).fill("ai_message"), ...Array(5).fill("tool_action"), "ai_message"];
    const body = (kind, i) => (kind === "ai_message" ? { role: "user", content: `message ${i}` } : { agent: "Ana", line: `→ view ${i}`, verb: "view", outcome: "ok" });
    fs.writeFileSync(`${root}/noise.jsonl`, kinds.map((kind, i) => `${JSON.stringify({ kind, lane: "default", payload: body(kind, i) })}\n`).join(""));
    shell(ws, ["log", "import", "noise", `${root}/noise.jsonl`]);
    const heads = page.locator(".entry.fold:visible .words"), at = () => new URL(page.url()).searchParams.get("at");
    await visit(page, "/t/noise/log");
    await until("a run is one row", async () => (await heads.allInnerTexts()).join() === "⋯ 5 tool_action folded ⋯");
    await page.focus(".rows");
    await page.keyboard.press("j");
    await until("a key goes to it", async () => (await page.locator(".entry.fold.selected").count()) === 1 && at() === "210");
    await page.keyboard.press("Enter");
    await until("Enter opens it", async () => (await heads.allInnerTexts()).join() === "▾ 5 tool_action" && (await page.locator(".entry:visible .words", { hasText: "→ view" }).count()) === 5);
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await until("keys go through it", async () => at() === "209" && (await text(page, ".entry.selected .seq")) === "209");
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await until("to its first entry", async () => at() === "206" && (await text(page, ".entry.selected .seq")) === "206");
    await page.click(".entry.fold");
    await until("a click folds it again, and it is the chosen row", async () => (await heads.allInnerTexts()).join() === "⋯ 5 tool_action folded ⋯" && at() === "210" && (await page.locator(".entry.fold.selected").count()) === 1);
    await page.keyboard.press("j");
    await until("the next row is the entry before it", async () => at() === "205" && (await text(page, ".entry.selected .seq")) === "205");
    await visit(page, "/t/noise/log?at=7");
    await until("an entry inside a run is shown when it is asked for", async () => (await text(page, ".entry.selected .seq")) === "7" && (await heads.allInnerTexts()).join() === "▾ 14 tool_action");
    await page.click(".entry.fold");
    await until("and the run can be closed", async () => (await heads.allInnerTexts()).join() === "⋯ 14 tool_action folded ⋯" && at() === "15");
    await page.keyboard.press("G");
    await until("the first entry", async () => at() === "0" && (await text(page, ".entry.selected .words")) === "message 0");
    await page.selectOption("select[aria-label='Kinds of entries']", "tool_action,model_request,model_response");
    await until("who asks for commands sees each", async () => (await page.locator(".entry:visible").count()) === 19 && (await heads.count()) === 0);
    await page.selectOption("select[aria-label='Kinds of entries']", "");
    await until("and the runs again", async () => (await page.locator(".entry.fold").count()) > 0);
    await visit(page, "/t/noise/log");
    await page.focus(".rows");
    await page.keyboard.press("Enter");
    await until("Enter on an entry shows it in the tree", async () => new URL(page.url()).pathname.startsWith("/t/noise/n/"));
}

/** What the shell does to a thread, done here: compaction with its way back, another lane, erasing. */
async function more(page) {
    const messages = () => json(["compare", "chat", "--vs", "-1"]).added;
    const before = messages();
    await visit(page, "/t/chat/context");
    await page.waitForSelector(".sections");
    await page.keyboard.press("C");
    await page.fill("#compact-keep", "4");
    await page.keyboard.press("Tab");
    const tokens = (name) => json(["compact", "chat", "--keep", "4", "--preview", "--summary", name]).after;
    await until("a compaction says first what it would do", async () => (await text(page, ".compact-plan")).includes("8 messages from"));
    await until("beside what goes and what comes", async () => (await page.locator(".compact-difference .removed").count()) === 8 && (await page.locator(".compact-difference .added").count()) === 1);
    ok("the summary is there to be edited", (await page.inputValue("#compact-summary")).includes("Message 0."));
    await page.fill("#compact-summary", "Eight messages of no weight.");
    await until("tokens are those of the edited text", async () => (await text(page, ".compact-tokens")).endsWith(`, ${tokens("Eight messages of no weight.").toLocaleString("en")} afterwards`));
    await until("and so is what comes", async () => (await text(page, ".compact-difference .added .words")) === "(summary) Eight messages of no weight.");
    await page.fill("#compact-summary", " ");
    await until("a blank one is told of", async () => (await text(page, ".compact-plan")).includes("blank"));
    await page.fill("#compact-summary", "Eight messages of no weight.");
    await until("no more", async () => (await text(page, ".compact-plan")).includes("8 messages from"));
    const came = id(shell(ws, ["say", "chat", "--at", last("chat").payload.node.local_id, `Another one came in between. ${"It is long. ".repeat(20)}`]));
    await page.click("dialog button.primary");
    await until("what the summary does not speak of is not replaced", () => page.locator("dialog .error", { hasText: "CONFLICT" }).count());
    same("nothing was written", last("chat").payload.node?.local_id, came);
    same("the text stays", await page.inputValue("#compact-summary"), "Eight messages of no weight.");
    await page.fill("#compact-keep", "5");
    await page.keyboard.press("Tab");
    await until("with one more that stays it is the same again", async () => (await text(page, ".compact-plan")).includes("8 messages from"));
    await page.click("dialog button.primary");
    await until("then does it, as an entry", () => last("chat").payload.operation?.reason === "compaction");
    const operation = last("chat").payload.operation;
    same("on the entries that were seen, behind which others stay", [operation.meta.model, operation.meta.rebase, operation.base_seq, operation.meta.covered], ["given", true, operation.meta.entries.to, 8]);
    ok("with the edited text", JSON.stringify(operation.result_context).includes("Eight messages of no weight."));
    ok("with fewer messages", messages() < before, messages());
    await page.waitForSelector(".foot >> text=Undo");
    await page.keyboard.press("u");
    await until("which can be taken back", () => messages() === before + 1);
    await visit(page, "/t/design/log?lane=try-2");
    await page.click("text=Switch to try-2");
    await until("another lane becomes the active one", () => last("design").payload.operation?.type === "switch" && last("design").lane === "try-2");
    await page.waitForSelector(".foot >> text=Undo");
    await page.keyboard.press("u");
    await until("and back", () => last("design").payload.operation?.type === "switch" && last("design").lane !== "try-2");
    await visit(page, "/t/chat/log?at=1");
    await until("ready to erase", () => page.locator("[data-ready='1']").count());
    await page.click("text=Erase…");
    await page.click("dialog >> text=Cancel");
    ok("erasing asks first", entries("chat")[1].erased === undefined);
    await page.click("text=Erase…");
    await page.click("dialog button.danger");
    await until("and takes the content out for good", () => entries("chat")[1].erased !== undefined);
    await until("which the row says", async () => (await page.locator(".entry.selected .words").innerText()).includes("erased"));
}

function has(name, got, part_) {
    ok(name, got.includes(part_), `no ${part_} in: ${got}`);
}

// ---- context --------------------------------------------------------------------------------------

async function contextScreen(page) {
    await visit(page, "/t/design/context?agent=Ana");
    await until("the tokens are those of the shell", async () => (await page.locator(".sections").count()) && (await text(page, ".context-body")).includes(`of ${(50000).toLocaleString("en")} tokens`));
    const doc = json(["assemble", "design", "--agent", "Ana", "--explain"]);
    has("in sum", await text(page, ".context-body"), `${doc.tokens} of`);
    await page.click("button.fold:has-text('conversation')");
    await until("a section opens", async () => (await page.locator(".sections .below").count()) > 0);
    await page.click("text=by size");
    await until("sorted by size", async () => {
        const numbers = (await page.locator(".sections tbody tr:not(.below) td.n").allInnerTexts()).map((t) => Number(t.replace(/,/g, "")));
        return new URL(page.url()).searchParams.get("sort") === "size" && numbers.every((v, k) => k === 0 || numbers[k - 1] >= v);
    });
    for (const format of ["anthropic", "openai", "gemini"]) {
        await visit(page, `/t/design/context?agent=Ana&show=raw&format=${format}`);
        const bytes = shell(ws, ["assemble", "design", "--agent", "Ana", "--format", format]);
        await until(`the bytes for ${format} are those of the shell`, async () => (await page.locator(".raw-bytes").textContent()) === bytes);
    }
    await visit(page, "/t/design/context?agent=Ana&vs=1");
    await until("compared with an entry, each section says what changed", async () => (await page.locator(".sections th").count()) === 4);
    await visit(page, "/t/design/context?agent=Ana&budget=260");
    await until("what a small budget cuts is named, or it says that nothing fits", async () => (await page.locator(".cuts li").count()) > 0 || (await page.locator(".context-body .error").innerText()).length > 0);
    await visit(page, "/t/design/context?agent=Ana&at=1");
    await until("as it was", async () => (await text(page, "#pane-sections .pane-head")).includes("#1"));
    ok("text of strangers is text", await noMarkup(page));
}

// ---- files ----------------------------------------------------------------------------------------

async function files(page) {
    await visit(page, "/t/form/files");
    await until("the first file is shown", async () => (await text(page, ".document")).includes("What we learned"));
    ok("a document in Markdown is shown as such, and becomes no markup", (await page.locator(".document .md p").count()) > 0 && await noMarkup(page));
    await page.click(".file-body button:has-text('raw')");
    await until("or as it is stored", async () => (await page.locator(".file-text").count()) === 1);
    same("as text", (await page.locator(".file-text").textContent()), fs.readFileSync(`${ws}/.leslie/threads/form/learnings.md`, "utf8"));
    ok("a file becomes no markup", await noMarkup(page));
    await page.focus(".rows");
    await page.keyboard.press("j");
    await until("a key goes to the next", async () => (await text(page, "#pane-file h2")) === "plan.md");
    await page.keyboard.press("d");
    await until("the copy against its source", async () => (await page.locator(".line-diff .removed").count()) === 1 && (await page.locator(".line-diff .added").count()) === 1);
    has("line by line", await text(page, ".line-diff"), "Two tables.");
    const url = page.url();
    await page.reload();
    await until("the same after a reload", async () => page.url() === url && (await page.locator(".line-diff .added").count()) === 1);
    await page.click("#pane-file button.primary");
    await page.click("dialog button.primary");
    await until("refresh copies anew, as the shell does", async () => (await text(page, ".file-body")).includes("The copy is as its source is"));
    ok("in the log", JSON.stringify(last(".global").payload).includes("refresh"), last(".global").payload);
    same("on the disk", shell(ws, ["read", "form", "plan.md"]), fs.readFileSync(`${ws}/.leslie/threads/backend/plan.md`, "utf8"));
    await visit(page, "/t/design/files");
    await until("a thread without files says how they come", async () => (await text(page, ".file-body")).includes("no files yet"));
    await nothingThere(page);
}

/** A thread without messages, and a name that no thread has: every screen says so, and none of them as an error. */
async function nothingThere(page) {
    for (const [path, where, words] of [
        ["/t/misspelt", ".reading", "There is no thread misspelt"], ["/t/misspelt", ".inspector", "Nothing is sent yet"], ["/t/misspelt/log", ".compare", "has no entries yet"],
        ["/t/misspelt/context", ".context-body", "has no messages yet"], ["/t/misspelt/files", ".file-body", "There is no thread misspelt"],
        ["/t/unused", ".reading", "unused has no messages yet"], ["/t/unused/context", ".compare", "has no messages yet"],
    ]) {
        await visit(page, path);
        await until(`${path} says ${words}`, async () => (await text(page, where)).includes(words) && (await page.locator("#main .error:not(:empty)").count()) === 0);
    }
}

/** Any two states of a document that was written here. */
async function states_(page) {
    const writes = json(["history", "backend", "draft.md"]).items, path = writes[0].path;
    await visit(page, `/t/backend/files/${path}?show=history`);
    await until("every state can be chosen", async () => (await page.locator("input[name=to]:enabled").count()) === 4);
    await until("the last change is shown first", async () => (await page.locator(".line-diff .added").count()) === 1 && (await text(page, ".line-diff .added")).includes("Three."));
    await page.locator(`input[name=from][value='${writes[2].after}']`).check();
    await until("any other one against it", async () => (await page.locator(".line-diff .added").count()) === 2);
    await page.locator(`input[name=to][value='${writes[1].after}']`).check();
    await until("and two old ones", async () => (await page.locator(".line-diff .added").count()) === 1 && (await text(page, ".line-diff .added")).includes("Two."));
    const url = page.url();
    await page.reload();
    await until("they are in the address", async () => page.url() === url && (await page.locator(".line-diff .added").count()) === 1 && (await text(page, ".line-diff .added")).includes("Two."));
    await page.locator("input[name=from][value=now]").check();
    await until("also the other way round", async () => (await page.locator(".line-diff .removed").count()) === 1 && (await text(page, ".line-diff .removed")).includes("Three."));
}

/** `.json` behind an address. */
async function data(page) {
    for (const [path, name, params] of [
        ["/t/design/log.json?at=3", "log.list", { thread: "design", backwards: true, from: 3 }], ["/t/design.json", "tree.show", { thread: "design" }],
        ["/search.json?q=table", "loom.search", { query: "table" }], ["/.json", "thread.graph", {}],
    ]) {
        await page.goto(server.url + path);
        const want = JSON.parse(shell(ws, ["api", "call", name], JSON.stringify(params)));
        await page.waitForSelector(".raw-bytes");
        same(`${path} is the document of ${name}`, JSON.parse(await page.locator(".raw-bytes").textContent()), want);
    }
    ok("text of strangers is text there, too", await noMarkup(page));
    await page.goto(`${server.url}/t/design/log?at=3`);
    await page.waitForSelector("[data-ready='3']");
    await page.click(".data-link");
    await until("a link leads there from every screen", () => new URL(page.url()).pathname === "/t/design/log.json" && new URL(page.url()).search === "?at=3");
    await page.click(".data h1 a");
    await until("and back", () => new URL(page.url()).pathname === "/t/design/log");
}

// ---- payload, search, sessions ----------------------------------------------------------------------

async function payload(page) {
    await visit(page, "/payload");
    const doc = json(["payload", ".", "--token-tree"]);
    await until("the tokens are those of the shell", async () => (await text(page, "#pane-weigh .pane-head")).includes(`${doc.payload.tokens.toLocaleString("en")} tokens`));
    const shown = async () => (await page.locator(".weigh:visible .name").allInnerTexts()).filter(Boolean);
    ok("the heaviest first", (await shown())[0] === "src/", await shown());
    await page.focus(".rows");
    await page.keyboard.press("Home");
    await page.keyboard.press("h");
    await until("a key folds", async () => !(await shown()).includes("main.c"));
    await page.keyboard.press("l");
    await until("and unfolds", async () => (await shown()).includes("main.c"));
    await page.click("text=Show the text");
    const want = shell(ws, ["payload", "."]);
    await until("the text is that of the shell", async () => (await page.locator("#pane-text .raw-bytes").textContent()) === want);
    await page.fill("input.pattern >> nth=1", "*.c");
    await page.keyboard.press("Enter");
    await until("what is left out is in the address", () => new URL(page.url()).searchParams.get("exclude") === "*.c");
    await until("and left out", async () => !(await shown()).includes("src/"));
}

async function search(page) {
    await page.fill("#find", "table");
    await page.keyboard.press("Enter");
    await until("the bar finds words of all threads", async () => new URL(page.url()).pathname === "/search" && (await page.locator(".found").count()) === 1);
    has("and marks them", await text(page, ".found mark"), "table");
    await page.keyboard.press("Escape");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await until("a key goes to the node", () => /^\/t\/design\/n\/\w+$/.test(new URL(page.url()).pathname));
    await page.waitForSelector(".message.last");
    await visit(page, "/search?q=schema");
    await until("hostile text is found", async () => (await page.locator(".found", { hasText: "onerror" }).count()) === 1);
    ok("and is text", await noMarkup(page));
    await visit(page, "/search?q=zzzz");
    await until("nothing is said in words", async () => (await text(page, ".results")).includes("Nothing was found"));
}

async function sessions(page) {
    await visit(page, "/import");
    await until("sessions are rows below their project", async () => (await page.locator(".session-session:visible").count()) === 1);
    await page.focus(".rows");
    await page.keyboard.press("End");
    const stats = json(["stats", `pi-${session.slice(0, 8)}`]);
    await until("each turn with its tokens", async () => (await page.locator(".detail tbody tr").count()) === stats.items.length);
    has("and its cost", await text(page, ".detail tbody tr >> nth=2"), "$0.75");
    has("in sum", await text(page, ".detail"), stats.tokens.total.toLocaleString("en"));
    ok("what was asked is text", await noMarkup(page));
    await page.keyboard.press("Enter");
    await until("Enter opens the tree", () => new URL(page.url()).pathname.startsWith("/t/pi-"));
    await visit(page, "/import");
    await page.focus(".rows");
    await page.keyboard.press("n");
    await until("what is not brought in yet is a list, with its address", async () => page.url().endsWith("?show=new") && (await page.locator(".new-sessions tbody tr").count()) === 1);
    has("by program and name", await text(page, ".new-sessions tbody tr"), session2);
    await page.getByRole("button", { name: /^Bring in loom/ }).press("Enter");
    await until("a button brings it in", () => new URL(page.url()).searchParams.get("session") === session2);
    same("as the shell does", json(["sessions"]).items.find((s) => s.session === session2)?.turns, 3);
    await visit(page, "/import?show=new");
    await until("and then there is nothing left", async () => (await text(page, ".new-sessions")).includes("Every session"));
}

// ---- how they look ----------------------------------------------------------------------------------

const states = () => [
    ["timeline", "/t/design/log?at=7", ".differences, .compare p"], ["timeline-empty", "/t/form/log", "#main h2"], ["context", "/t/design/context?agent=Ana", ".sections"],
    ["context-raw", "/t/design/context?agent=Ana&show=raw&format=anthropic", ".raw-bytes"], ["files", "/t/form/files", ".document"], ["files-raw", "/t/form/files/.leslie/threads/form/learnings.md?raw=1", ".file-text"],
    ["files-difference", "/t/form/files/.leslie/threads/form/context/inherited/plan.md?show=difference", ".line-diff, .file-body .good"],
    ["files-history", "/t/form/files/.leslie/threads/form/learnings.md?show=history", ".file-body p"], ["payload", "/payload", ".weigh"],
    ["files-states", `/t/backend/files/${json(["history", "backend", "draft.md"]).items[0].path}?show=history`, ".line-diff"], ["data", "/t/design/log.json?at=3", ".raw-bytes"], ["import-new", "/import?show=new", ".new-sessions p"],
    ["search", "/search?q=table", ".found"], ["search-empty", "/search", ".results p"], ["import", `/import?session=${session}`, ".detail tbody tr"],
];

async function look() {
    const axe = axeSource();
    for (const [width, height] of [[1280, 800], [390, 800]]) {
        for (const colorScheme of ["light", "dark"]) {
            const { context, page } = await enter(browser, { ...server, key: newKey() }, { viewport: { width, height }, colorScheme, bypassCSP: true, reducedMotion: "reduce" });
            for (const [name, path, ready] of states()) {
                await page.goto(server.url + path);
                await page.waitForSelector(ready, { state: "attached" }).catch(() => page.wrong.push(`${name} was not filled`));
                await quiet(page);
                await page.evaluate(axe);
                const { violations } = await page.evaluate(() => /** @type {any} */ (window).axe.run(document, { resultTypes: ["violations"] }));
                const wide = await page.evaluate(() => (document.documentElement.scrollWidth > innerWidth ? `${document.documentElement.scrollWidth} > ${innerWidth}` : ""));
                ok(`${name}, ${colorScheme}, ${width}: axe finds nothing, nothing overflows`, violations.length === 0 && !wide,
                    ...violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => `${n.target.join(" ")} ${n.failureSummary}`).join(" | ")}`), wide);
                if (shots) await page.screenshot({ path: `${shots}/${name}-${colorScheme}-${width}.png` });
            }
            ok(`${colorScheme}, ${width}: nothing went wrong`, page.wrong.length === 0, ...page.wrong);
            await context.close();
        }
    }
}

// ---- a long log -------------------------------------------------------------------------------------

async function long(page) {
    const n = Number(process.env.HEDDLE_PAGE_ENTRIES ?? 20_000), file = `${root}/long.jsonl`;
    const out = fs.createWriteStream(file);
    for (let i = 0; i < n; i++) {
        const line = JSON.stringify({ kind: "ai_message", lane: "default", payload: { role: i % 2 ? "assistant" : "user", content: `message number ${i}` } });
        if (!out.write(`${line}\n`)) await new Promise((done) => out.once("drain", done));
    }
    await new Promise((done) => out.end(done));
    shell(ws, ["log", "import", "long", file]);
    await visit(page, "/t/long/log");
    await until("a long log opens at its end", async () => (await page.locator(".entry .words", { hasText: `message number ${n - 1}` }).count()) === 1);
    ok("with few elements", (await nodesOf(page)) < 3000, await nodesOf(page));
    const seq = Math.floor(n * 0.73);
    await visit(page, `/t/long/log?at=${seq}`);
    await until("any entry is a jump away", async () => (await page.locator(".entry.selected .words").innerText()) === `message number ${seq}`);
    await page.focus(".rows");
    await page.keyboard.press("j");
    await until("keys go row by row there, too", async () => (await page.locator(".entry.selected .words").innerText()) === `message number ${seq - 1}`);
    let asked = 0;
    page.on("request", (r) => { if (r.url().includes("/api/log.list")) asked++; });
    await page.evaluate(async () => {
        const list = document.querySelector(".log-body .rows"), set = setTimeout, clear = clearTimeout, late = new Map();
        // Timers stand still while it scrolls: frames may come slower than they would go off.
        window.setTimeout = (f) => { late.set(-late.size - 1, f); return -late.size; };
        window.clearTimeout = (id) => { if (late.has(id)) late.set(id, () => {}); else clear(id); };
        for (let k = 0; k < 60; k++) {
            list.scrollTop += 900;
            await new Promise((done) => requestAnimationFrame(done));
        }
        Object.assign(window, { setTimeout: set, clearTimeout: clear });
        for (const f of late.values()) f();
    });
    await until("and it asks", () => asked > 0);
    await quiet(page);
    ok("scrolling asks when it rests", asked <= 6, asked);
    ok("and makes no elements", (await nodesOf(page)) < 3000, await nodesOf(page));
}

await part("timeline", timeline);
await part("folded", folded);
await part("more", more);
await part("context", contextScreen);
await part("files", files);
await part("states", states_);
await part("data", data);
await part("payload", payload);
await part("search", search);
await part("sessions", sessions);
await part("long", long);
if (only === "" || only.split(",").includes("look")) await look();
await browser.close();
await stop(server);

// Everything that the page writes ends in the same entries as what the shell writes. Each pair of
// threads, one written here and one there, has the same log but for ids and times.
import { id, ok, same, shell, until, wait } from "./page_lib.mjs";

/** Counts of tokens differ between two runs: an id takes more or fewer of them than another one. */
const withoutTokens = (line) => line.replace(/"(tokens|prompt_tokens|completion_tokens|input|output)":\d+/g, "\"$1\":0");

/** Not what remembers the request itself: the page sends an op_id with everything, the shell when it is told to. */
const isWork = (e) => e.kind !== "operation_done";

/** The entries of a thread, with names for ids and without times. */
function entries(ws, thread, names = {}) {
    const list = shell(ws, ["log", "export", thread]).trim().split("\n").map((l) => JSON.parse(l)).filter(isWork);
    const known = new Map(Object.entries(names));
    const learn = (value, prefix) => { if (typeof value === "string" && value && !known.has(value)) known.set(value, `${prefix}${known.size}`); };
    for (const e of list) {
        learn(e.payload?.node?.id, "N");
        learn(e.payload?.node?.local_id, "n");
        for (const v of [e.op_id, e.payload?.op_id, e.payload?.request_id, e.payload?.run_id, e.payload?.ref_id, e.payload?.id, e.payload?.response]) learn(v, "id");
    }
    const keys = [...known.keys()].sort((a, b) => b.length - a.length).map((k) => k.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    // Whole words: the four characters of an id may well stand within a hash or a time.
    const pattern = keys.length ? new RegExp(`(?<![0-9A-Za-z])(?:${keys.join("|")})(?![0-9A-Za-z])`, "g") : /(?!)/g;
    return list.map(({ actor, kind, lane, payload, refs }) => JSON.stringify({ actor, kind, lane, payload, refs })
        .replace(pattern, (k) => known.get(k)).replace(/\b1[5-9]\d{11}\b/g, "0").replace(/"[0-9a-f]{32,64}"/g, '"HASH"')
        .replace(/\d{4}-\d\d-\d\d(T[\d:.]+Z| \d\d:\d\d)/g, "WHEN").replace(/\b(op|req|run|call|ref|inp)_[0-9a-z]{12,}/g, "ID")).map(withoutTokens);
}

function compare(name, ws, mine, theirs, names = () => ({})) {
    const a = entries(ws, mine, { [mine]: "THREAD", ...names(mine) }), b = entries(ws, theirs, { [theirs]: "THREAD", ...names(theirs) });
    const at = a.findIndex((line, i) => line !== b[i]);
    const x = a[at] ?? "", y = b[at] ?? "", off = Math.max(0, [...x].findIndex((c, i) => c !== y[i]) - 80);
    ok(`${name}: ${a.length} entries, as from the shell`, at < 0 && a.length === b.length && a.length > 0, `entry ${at} of ${a.length}, ${b.length}`, `page:  …${x.slice(off, off + 400)}`, `shell: …${y.slice(off, off + 400)}`);
}

/** The page gives each write an op_id; so does whoever wants the same entries. */
let keys = 0;
const once = () => ["--op-id", `op_by_the_shell_${++keys}`];

const button = (page, name) => page.getByRole("button", { name, exact: true });
const tree = (ws, thread) => shell(ws, ["log", "show", thread, "--json"]).trim().split("\n").map((l) => JSON.parse(l).payload?.node?.local_id).filter(Boolean).pop();
const revision = (ws, thread) => { try { return JSON.parse(shell(ws, ["head", thread, "--json"])).rev; } catch { return 0; } };

/** Does f, and waits until the thread has more entries and the page shows no write under way. */
async function grows(ws, thread, f) {
    const before = revision(ws, thread);
    await f();
    if (!await wait(() => revision(ws, thread) > before)) ok(`something was written to ${thread}`, false, f.toString());
}

async function say(page, text) {
    await page.getByLabel("What is said").fill(text);
    await button(page, "Say").click();
    await page.waitForFunction(() => document.querySelector(".say textarea").value === "");
}

async function answer(page, fields, label) {
    await page.waitForSelector("dialog[open]");
    for (const [name, value] of Object.entries(fields)) {
        const field = page.locator(`#field-${name}`);
        if (await field.evaluate((e) => e.tagName === "SELECT")) await field.selectOption(value);
        else await field.fill(value);
    }
    await page.locator("dialog[open]").getByRole("button", { name: label, exact: true }).click();
    await page.waitForSelector("dialog", { state: "detached" });
}

const chosen = (page) => page.evaluate(() => decodeURIComponent(location.pathname.split("/n/")[1] ?? ""));
const isAt = (page, node) => page.waitForFunction((n) => location.pathname.endsWith(`/n/${n}`) && document.querySelector(`.message.last .node-id`)?.textContent === `[${n}]`, node);

/** The tree: say, answer, edit, note, bookmark, pin, prune, restore, exclude, undo, switch, continue, ask. */
export async function loomOps(page, ws) {
    const p = "by-page", s = "by-shell";
    await page.goto(`${new URL(page.url()).origin}/t/${p}`);
    await page.waitForSelector(".say textarea");
    await say(page, "The first, with **marks**");
    const a = tree(ws, p);
    await isAt(page, a);
    await say(page, "The second");
    const b = tree(ws, p);
    await isAt(page, b);
    await page.getByLabel("Who says it").selectOption("Ana");
    await say(page, "Said for Ana");
    await page.getByLabel("Who says it").selectOption("");
    await isAt(page, tree(ws, p));
    // at the first again: a branch
    await page.locator(".node", { hasText: "The first" }).click();
    await isAt(page, a);
    await say(page, "Another second\nin two lines");
    const c = tree(ws, p);
    await isAt(page, c);
    const click = (name) => grows(ws, p, () => button(page, name).click());
    await click("Bookmark");
    await page.waitForSelector("text=★ Unmark");
    await grows(ws, p, async () => { await button(page, "Note…").click(); await answer(page, { text: 'a "note" \\ here' }, "Note it"); });
    await grows(ws, p, async () => { await button(page, "Edit…").click(); await answer(page, { text: "Edited\\n, in one line" }, "Write it"); });
    await click("Pin");
    await click("Prune");
    await page.waitForSelector(".message .tag:text('pruned')");
    await click("Restore");
    await page.waitForSelector(".message .tag:text('pruned')", { state: "detached" });
    await page.locator(".menu summary").click();
    await click("Exclude");
    await page.waitForSelector(".message .tag:text('excluded')");
    await grows(ws, p, () => page.locator("footer").getByRole("button", { name: "Undo" }).click());
    await page.waitForSelector(".message .tag:text('excluded')", { state: "detached" });
    await grows(ws, p, async () => { await page.locator(".node", { hasText: "The second" }).dblclick(); });
    await isAt(page, b);
    await page.getByLabel("Who goes on").selectOption("Sub");
    await page.getByLabel("How many continuations").fill("2");
    await click("Continue ×");
    await page.getByLabel("Who goes on").selectOption("Ana");
    await page.getByLabel("What is said").fill("What do you think?");
    await grows(ws, p, () => button(page, "Ask").click());
    await page.waitForFunction(() => document.querySelector(".say textarea").value === "" && !document.querySelector(".message.waiting"));
    await isAt(page, tree(ws, p)); // the answer, where the command then acts
    await grows(ws, p, async () => {
        await page.getByLabel("What is said").fill("→ stash \"mood\" \"quiet\"");
        await button(page, "Say").click();
    });
    await anyOperation(page, ws, p);

    const h = (args, input) => shell(ws, args, input), line = (text, more = []) => h(["do", s, ...once(), ...more], text), told = (...words) => id(h(["say", s, ...words, ...once()]));
    const A = told("The first, with **marks**"), B = told("The second", "--at", A), E = told("Said for Ana", "--at", B, "--agent", "Ana"), C = told("Another second\nin two lines", "--at", A);
    line(`→ bookmark ${C}`);
    line(`→ annotate ${C} "a \\"note\\" \\ here"`);
    line(`→ edit ${C} "Edited\\\\n, in one line"`);
    line(`→ pin ${C}`, ["--agent", "Ana"]);
    line(`→ prune ${C}`);
    line(`→ restore ${C}`);
    line(`→ exclude ${C}`);
    line("→ undo");
    line(`→ switch to ${B}`);
    line(`→ continue from ${B} n:2 using agent:"Sub"`);
    h(["talk", s, "--agent", "Ana", "--at", B, "--message", "What do you think?"]);
    line('→ stash "mood" "quiet"', ["--at", tree(ws, s)]);
    h(["op", "fork", s, "--lane", "by-form"]);
    ok("a message for an agent was said", E !== "");
    compare("a tree", ws, p, s);
}

/** What has no button: a form for each operation of the table; what writes asks first. */
async function anyOperation(page, ws, p) {
    const dialog = page.locator("dialog[open]").first();
    await page.locator(".rows").first().focus();
    await page.keyboard.press("O");
    await dialog.getByLabel("Operation").selectOption("thread.stats");
    await button(dialog, "Show").click();
    await until("what reads shows its answer", async () => (await dialog.locator("pre[aria-label=Answer]").innerText()).includes('"turns"'));
    await dialog.getByLabel("Operation").selectOption("op.fork");
    await button(dialog, "Do it…").click();
    ok("what must be given is asked for", await dialog.locator("#operation-lane").evaluate((e) => e === document.activeElement && !e.checkValidity()));
    await dialog.locator("#operation-lane").fill("by-form");
    await grows(ws, p, async () => {
        await button(dialog, "Do it…").click();
        await page.locator("dialog[open]").nth(1).getByRole("button", { name: "Do it", exact: true }).click();
    });
    await until("what it answered is shown", async () => (await dialog.locator("pre[aria-label=Answer]").innerText()).includes("by-form"));
    await button(dialog, "Close").click();
}

/** Others write while somebody types: nothing is written over their heads, and the text stays. With keys alone. */
export async function conflictOps(page, ws) {
    const t = "conflict", held = [];
    shell(ws, ["say", t, "a message"]);
    await page.goto(`${new URL(page.url()).origin}/t/${t}`);
    await page.waitForSelector(".message.last");
    // The page does not hear of what comes, as if the news were still on their way.
    await page.route("**/api/tree.skeleton", (route) => { held.push(route); });
    shell(ws, ["say", t, "from Berta <b>bold</b>", "--as", "Berta"]);
    shell(ws, ["say", t, "and again", "--as", "Berta"]);
    const n = revision(ws, t);
    await page.getByLabel("What is said").fill("typed meanwhile");
    await page.getByLabel("What is said").press("Control+Enter");
    await until("what came in between is counted", async () => /CONFLICT \d+ entries came in between/.test(await page.locator(".say .error").innerText()));
    same("the text stays", await page.getByLabel("What is said").inputValue(), "typed meanwhile");
    same("and nothing was written", revision(ws, t), n);
    await page.getByLabel("What is said").focus();
    for (let i = 0; i < 3; i++) await page.keyboard.press("Shift+Tab");
    same("the offer is reached by keys", await page.evaluate(() => document.activeElement.textContent), "Show");
    await page.keyboard.press("Enter");
    await until("Show shows what came", async () => (await page.locator(".came").innerText()).includes("from Berta <b>bold</b>"));
    same("which has the focus", await page.evaluate(() => document.activeElement.className), "came");
    await page.unroute("**/api/tree.skeleton");
    for (const route of held) await route.continue().catch(() => {}); // some went on by themselves
    await page.locator(".node", { hasText: "and again" }).waitFor();
    await button(page, "Send").press("Enter");
    await until("Send writes it on the new head", () => shell(ws, ["log", "export", t]).includes("typed meanwhile"));
    await until("and the box is empty", async () => (await page.getByLabel("What is said").inputValue()) === "");
    await lostAnswer(page, ws, t);
}

/** The answer is lost on its way: the same text sent again is said once. */
async function lostAnswer(page, ws, t) {
    let asked = 0;
    await page.route("**/api/loom.say", async (route) => {
        if (asked++ > 0) return route.continue();
        await route.fetch();
        await route.abort();
    });
    await page.getByLabel("What is said").fill("said once");
    await button(page, "Say").click();
    await until("a write without an answer says so", async () => (await page.locator(".say .error").innerText()).includes("OFFLINE"));
    same("the text stays then, too", await page.getByLabel("What is said").inputValue(), "said once");
    await button(page, "Say").click();
    await until("sent again it is taken", async () => (await page.getByLabel("What is said").inputValue()) === "");
    same("once", shell(ws, ["log", "export", t]).split("said once").length - 1, 1);
    await page.unroute("**/api/loom.say");
    await page.waitForFunction(() => document.querySelector(".message.last")?.textContent.includes("said once"));
    await grows(ws, t, () => button(page, "Bookmark").click());
    await page.waitForSelector("text=★ Unmark");
    await grows(ws, t, () => button(page, "Pin").click());
    await until("the pin is offered to be taken back", async () => (await page.locator("footer").innerText()).includes("Pinned"));
    await grows(ws, t, () => page.locator("footer").getByRole("button", { name: "Undo" }).click());
    const log = () => shell(ws, ["log", "show", t, "--json"]).trim().split("\n").map((l) => JSON.parse(l)).filter((e) => e.kind === "tool_action").at(-1);
    await until("what was done for an agent is taken back as that agent", () => log().actor === "Ana" && log().payload.verb === "undo");
    same("and what you did before stays", await page.locator("text=★ Unmark").count(), 1);
}

/** Runs and lanes: branch, steer, cancel. */
export async function runOps(page, ws) {
    const p = "run-page", s = "run-shell";
    for (const t of [p, s]) shell(ws, ["say", t, "a message"]);
    await page.goto(`${new URL(page.url()).origin}/t/${p}`);
    await page.waitForSelector(".message.last");
    await grows(ws, p, async () => { await button(page, "Branch…").click(); await answer(page, { lane: "try-2" }, "Branch"); });
    shell(ws, ["run", "start", p, "--text", "go"]);
    await button(page, "Steer").waitFor();
    await page.getByLabel("What is said").fill("not so fast");
    await grows(ws, p, () => button(page, "Steer").click());
    await page.waitForSelector(".pending li");
    await grows(ws, p, async () => { await button(page, "End the run…").click(); await page.locator("dialog[open]").getByRole("button", { name: "End the run" }).click(); });
    await button(page, "Say").waitFor();
    shell(ws, ["op", "fork", s, "--lane", "try-2", "--at", "0", "--from", "default", "--switch"]);
    shell(ws, ["run", "start", s, "--text", "go"]);
    shell(ws, ["run", "steer", s, "not so fast"]);
    shell(ws, ["run", "cancel", s]);
    compare("runs and lanes", ws, p, s);
}

/** A run that an agent was given by name: it is shown as that agent's, steered and ended. */
export async function agentRunOps(page, ws) {
    const t = "run-of-ana", run = () => JSON.parse(shell(ws, ["run", "status", t, "--agent", "Ana", "--json"]));
    shell(ws, ["say", t, "a message"]);
    shell(ws, ["run", "start", t, "--text", "go", "--agent", "Ana"]);
    const origin = new URL(page.url()).origin;
    await page.goto(`${origin}/t/${t}`);
    await button(page, "Steer Ana").waitFor();
    ok("the head says whose run it is", (await page.locator("#pane-read .pane-head .tag").innerText()).startsWith("● Ana running"));
    await page.getByLabel("What is said").fill("not so fast");
    await button(page, "Steer Ana").click();
    await until("what is said reaches that run", () => run().pending_input[0]?.content === "not so fast");
    await page.goto(origin);
    await page.locator(".over-thread", { hasText: t }).click();
    await button(page, "End it…").click();
    await page.locator("dialog[open]").getByRole("button", { name: "End the run" }).click();
    await until("and it can be ended on the overview", () => run().active === false);
}

/** Names that are too long for their place leave room for what stands beside them. */
export async function longNames(page, ws) {
    const t = "a-thread-whose-identifier-is-much-too-long-for-the-row-in-which-it-stands", name = "An-agent-whose-name-is-longer-than-the-column";
    shell(ws, ["agent", "add", name, "--kind", "model", "--model", "offline:echo"]);
    shell(ws, ["say", t, "Words that can be read beside all of these names", "--agent", name]);
    await page.goto(`${new URL(page.url()).origin}/t/${t}`);
    await page.waitForSelector(".message.last");
    await page.waitForSelector(".node .marks:not(:empty)");
    ok("a row of the tree shows words beside long names", await page.evaluate(() => document.querySelector(".row.selected .words").getBoundingClientRect().width > 40));
    ok("what belongs to the box stands in one line", (await page.locator(".say .tools").first().evaluate((e) => e.getBoundingClientRect().height)) < 45);
    shell(ws, ["agent", "remove", name]);
}

/** Threads that share work: spawn, references, injections, lifecycle. */
export async function shareOps(page, ws) {
    const origin = new URL(page.url()).origin;
    await page.goto(origin);
    await page.waitForSelector(".over-list .row");
    same("the list has the focus, so that keys and screen readers begin there", await page.evaluate(() => document.activeElement?.getAttribute("aria-label")), "Objectives and threads");
    await button(page, "New thread…").click();
    await answer(page, { intent: "Made on the page", objective: "log-in" }, "Make it");
    await page.waitForFunction(() => location.pathname.startsWith("/t/"));
    const p = decodeURIComponent(new URL(page.url()).pathname.split("/")[2]);
    const s = shell(ws, ["spawn", "--intent", "Made in the shell", "--objective", "log-in", "--no-run"]).trim().split("\n")[0].split(/\s/)[0];
    await page.goto(origin);
    await page.locator(".over-thread", { hasText: "Made on the page" }).click();
    await page.waitForSelector("#do-inject");
    const global = () => revision(ws, ".global"), steps = async (f) => { const n = global() + revision(ws, p); await f(); await wait(() => global() + revision(ws, p) > n); await page.waitForTimeout(350); };
    await steps(async () => { await button(page, "Inject…").click(); await answer(page, { content: "use cents", type: "constraint" }, "Inject"); });
    await until("what cannot be taken back says why", async () => (await page.locator(".foot p[role=status]").getAttribute("title"))?.startsWith("It cannot be taken back: "));
    await page.keyboard.press("u");
    await until("also on the key", async () => (await page.locator(".foot p[role=status]").innerText()).startsWith("It cannot be taken back: "));
    await steps(async () => { await button(page, "Add…").click(); await answer(page, { target: "backend", scope: "plan.md", binding: "frozen" }, "Add"); });
    await page.waitForSelector(".refs li");
    await steps(() => button(page, "Make live").click());
    await button(page, "Make frozen").waitFor();
    await steps(() => button(page, "Make frozen").click());
    await button(page, "Make live").waitFor();
    await steps(async () => { await page.locator(".refs").getByRole("button", { name: "Refresh…" }).click(); await page.locator("dialog[open]").getByRole("button", { name: "Refresh" }).click(); });
    await steps(() => button(page, "Drop").click());
    await steps(async () => { await button(page, "Rename…").click(); await answer(page, { title: "Renamed" }, "Rename"); });
    await steps(() => button(page, "Suspend").click());
    await button(page, "Resume").waitFor();
    await steps(() => page.locator("footer").getByRole("button", { name: "Undo" }).click());
    await button(page, "Suspend").waitFor();
    await steps(async () => {
        await button(page, "Done…").click();
        await page.locator("dialog[open]").getByRole("button", { name: "It is done", exact: true }).click();
    });
    const h = (...args) => shell(ws, args);
    h("inject", s, "use cents", "--type", "constraint");
    const reference = (verb, ...more) => h(verb, "--from", s, "--target", "backend", ...more);
    reference("reference", "--scope", "plan.md", "--binding", "frozen");
    reference("rebind", "--binding", "live");
    reference("rebind", "--binding", "frozen");
    reference("refresh");
    reference("unreference");
    h("thread", "rename", s, "Renamed");
    h("lifecycle", s, "suspend");
    h("lifecycle", s, "resume");
    h("lifecycle", s, "done");
    const of = (t) => entriesOfGlobal(ws, t);
    const a = of(p), b = of(s), at = a.findIndex((l, i) => l !== b[i]);
    ok(`threads that share work: ${a.length} entries, as from the shell`, a.length > 8 && at < 0 && a.length === b.length, `page:  ${a[at < 0 ? b.length : at]}`, `shell: ${b[at < 0 ? a.length : at]}`, a.length, b.length);
}

/** What the log of the workspace says of a thread. */
function entriesOfGlobal(ws, thread) {
    return shell(ws, ["log", "export", ".global"]).trim().split("\n").filter((l) => l.includes(thread)).map((l) => JSON.parse(l)).filter(isWork).map(({ actor, kind, payload }) => JSON.stringify({ actor, kind, payload })
        .replaceAll(thread, "THREAD").replace(/Made (on the page|in the shell)/g, "INTENT").replace(/\b1[5-9]\d{11}\b/g, "0").replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "WHEN").replace(/"[0-9a-f]{32,64}"/g, '"HASH"').replace(/\b(op|ref|inj|snap)[-_][0-9a-z]{6,}/g, "ID")).map(withoutTokens);
}

/** What cannot be taken back is asked for; leaving the question writes nothing. */
export async function askOps(page, ws) {
    const t = "to-erase";
    const a = id(shell(ws, ["say", t, "a secret"]));
    await page.goto(`${new URL(page.url()).origin}/t/${t}/n/${a}`);
    await page.waitForSelector(".message.last");
    const before = revision(ws, t);
    const ask = async () => { await page.locator(".menu summary").click(); await button(page, "Erase…").click(); await page.waitForSelector("dialog[open]"); };
    await ask();
    await page.keyboard.press("Escape");
    await page.waitForSelector("dialog", { state: "detached" });
    same("a question that was left writes nothing", revision(ws, t), before);
    await page.locator(".menu summary").click();
    await ask();
    await page.locator("dialog[open]").getByRole("button", { name: "Erase it" }).click();
    await until("erased text is gone from the log and from the page", async () => !shell(ws, ["log", "export", t]).includes("a secret") && !(await page.locator("#main").innerText()).includes("a secret"));
}
export { chosen };

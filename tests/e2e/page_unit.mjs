// Run by page_unit.sh: prints a line for each check.
import { Element } from "./page_dom.mjs";
import fs from "node:fs";

const schema = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const show = (x) => JSON.stringify(x);
function same(name, got, want) {
    const good = show(got) === show(want);
    if (!good) console.log(`# got ${show(got)} want ${show(want)}`);
    console.log(`${good ? "ok" : "not ok"} - ${name}`);
}

// ---- layout ---------------------------------------------------------------------------------
const { family, layout, minimap, nextFork, pathTo, reveal, smallest } = await import("./web/tree_layout.js");
const words = (shown) => Array.from(shown.node, (i, r) => `${".".repeat(shown.indent[r])}${i}${shown.folded[r] ? "+" : ""}`).join(" ");

const chain = family(Int32Array.from([-1, 0, 1, 2]));
same("a chain is one column", words(layout(chain)), "0 1 2 3");
same("sizes are of the whole branch", Array.from(chain.size), [4, 3, 2, 1]);
same("an empty tree has no rows", layout(family(new Int32Array(0))).rows, 0);
same("the largest child goes on in the column, others stand one step in before it", words(layout(family(Int32Array.from([-1, 0, 0, 2, 3])))), "0 .1 2 3 4");
const fork = family(Int32Array.from([-1, 0, 1, 2, 0]));
same("the path to the reader is the trunk", words(layout(fork, { position: 4 })), "0 .1 .2 .3 4");
same("of equal children the first goes on", words(layout(family(Int32Array.from([-1, 0, 0])))), "0 .2 1");
const wide = [-1];
for (let i = 1; i <= 8; i++) wide.push(i - 1); // a trunk of 8
for (let i = 9; i < 9 + smallest + 1; i++) wide.push(i === 9 ? 0 : i - 1);
const folding = family(Int32Array.from(wide));
same("a side branch of more than six is folded", words(layout(folding)), "0 .9+ 1 2 3 4 5 6 7 8");
same("and unfolded by hand", layout(folding, { folds: new Map([[9, false]]) }).rows, wide.length);
same("a fold on the trunk hides all below", words(layout(chain, { folds: new Map([[1, true]]) })), "0 1+");
same("one branch alone", words(layout(fork, { root: 1 })), "1 2 3");
same("several roots", words(layout(family(Int32Array.from([-1, -1, 1])))), "0 1 2");
same("a parent that stands behind its child is none", family(Int32Array.from([1, -1])).roots, [0, 1]);
same("what is left out takes its branch along", words(layout(fork, { hidden: Uint8Array.from([0, 1, 0, 0, 0]) })), "0 4");
same("a path", pathTo(fork, 3), [0, 1, 2, 3]);
const folds = new Map();
reveal(folding, folds, 12, layout(folding));
same("what hides a node is unfolded", layout(folding, { folds }).row[12] >= 0, true);
same("the next fork below, and none", [nextFork(fork, layout(fork), 0, 1), nextFork(fork, layout(fork), 3, -1)], [-1, 0]);
same("the strip marks folded rows", Array.from(minimap(layout(folding), 10).marks), [0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);

let seed = 7;
const random = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
for (const [name, parent] of [["chat", (i) => (random(10) ? i - 1 : random(i))], ["wild", (i) => random(i)], ["star", () => 0]]) {
    const n = 100_000, list = new Int32Array(n).fill(-1);
    for (let i = 1; i < n; i++) list[i] = parent(i);
    const tree = family(list), all = layout(tree, { folds: new Map(Array.from({ length: n }, (_, i) => [i, false])) });
    same(`${name} of 100,000: every node has one row`, [all.rows, new Set(all.node).size], [n, n]);
    same(`${name}: the indent is small`, all.deepest <= Math.log2(n) + 1, true);
    same(`${name}: parents stand above`, Array.from(all.node).every((i) => tree.parent[i] < 0 || all.row[tree.parent[i]] < all.row[i]), true);
}

// ---- columns --------------------------------------------------------------------------------
const { decode, indexOf, merge } = await import("./web/tree.js");
function columns(rev, rows) {
    const n = rows.length, b = new DataView(new ArrayBuffer(8 + n * 13));
    b.setUint32(0, n, true);
    b.setUint32(4, rev, true);
    rows.forEach(([seq, parent, id, flags], i) => {
        b.setUint32(8 + i * 4, seq, true);
        b.setUint32(8 + n * 4 + i * 4, parent < 0 ? 0xffffffff : parent, true);
        [...id].forEach((c, k) => b.setUint8(8 + n * 8 + i * 4 + k, c.charCodeAt(0)));
        b.setUint8(8 + n * 12 + i, flags);
    });
    return b.buffer;
}
const old = decode(columns(5, [[0, -1, "aaaa", 0], [3, 0, "bbbb", 1]]));
same("columns are read", [old.n, old.rev, Array.from(old.seq), Array.from(old.flags)], [2, 5, [0, 3], [0, 1]]);
const merged = merge(old, decode(columns(8, [[3, 0, "bbbb", 5], [7, 3, "cccc", 0]])));
same("what is new comes behind, what was marked is marked", [merged.n, merged.rev, Array.from(merged.seq), Array.from(merged.flags)], [3, 8, [0, 3, 7], [0, 5, 0]]);
same("a seq is found, or not", [indexOf(merged.seq, 7), indexOf(merged.seq, 4)], [2, -1]);
let refused = "";
try { decode(columns(1, [[0, -1, "aaaa", 0]]).slice(0, 15)); } catch (e) { refused = e.message; }
same("columns that break off are refused", refused, "the shape of the tree has a wrong length");

// ---- rows -----------------------------------------------------------------------------------
const { cap, firstAt, firstToShow, spacerOf, topFor } = await import("./web/rows.js");
same("few rows: a pixel is a pixel", [spacerOf(100, 24), firstAt(240, 100, 24, 600), topFor(10, 100, 24, 600)], [2400, 10, 240]);
same("many rows: the bar has an end", spacerOf(1_000_000, 24), cap);
same("at its end stands the last row", Math.round(firstAt(cap - 600, 1_000_000, 24, 600) + 600 / 24), 1_000_000);
same("there and back", Math.round(firstAt(topFor(730_000, 1_000_000, 24, 600), 1_000_000, 24, 600)), 730_000);
same("a row in view stays where it is", firstToShow(12, 10, 20, 100), 10);
same("one above comes to the top, one below to the bottom", [firstToShow(3, 10, 20, 100), firstToShow(40, 10, 20, 100)], [3, 21]);

// ---- elements and signals -------------------------------------------------------------------
const { h, signal, effect, scope, flush } = await import("./web/h.js");
const n = signal(1), text = h("p", { class: "x", title: () => `t${n()}` }, "a", ["b", [3]], null, false, () => n() > 1 ? h("b", null, n()) : "one");
same("children are texts, lists and functions", text.textContent, "ab3one");
n.set(2);
flush();
same("what depends on a signal changes", [text.textContent, text.attributes.title], ["ab32", "t2"]);
const kept = h("input"), holder = h("p", null, () => (n() > 0 ? kept : null));
let moved = 0;
kept.remove = () => { moved++; };
n.set(2.5);
flush();
same("what is there before and after a change is not taken out, and keeps the focus", [moved, holder.childNodes.includes(kept)], [0, true]);
let runs = 0;
const end = scope(() => effect(() => { n(); runs++; }));
n.set(3);
n.set(4);
flush();
end();
n.set(5);
flush();
same("an effect runs once for several changes, and not after its scope", runs, 2);
for (const bad of ["onclick", "srcdoc", "style", "innerHTML"]) {
    let thrown = false;
    try { h("p", { [bad]: "alert(1)" }); } catch { thrown = true; }
    same(`a text cannot be ${bad}`, thrown, true);
}
const a = signal(0), b = signal(0);
scope(() => { effect(() => b.set(a() + 1)); effect(() => a.set(b() + 1)); });
let endless = false;
try { flush(); } catch { endless = true; }
same("signals that change each other end with an error", endless, true);

// ---- Markdown -------------------------------------------------------------------------------
const { message, safeUrl } = await import("./web/markdown.js");
const all = (e) => e instanceof Element ? [e, ...e.childNodes.flatMap(all)] : [];
const hostile = message([
    { type: "paragraph", children: ["<script>alert(1)</script>", { type: "link", url: "javascript:alert(1)", children: ["x"] }, { type: "link", url: " JAVA\tscript:alert(1)", children: ["y"] }] },
    { type: "script", children: ["alert(1)"] }, { type: "constructor", children: ["z"] }, { type: "__proto__", children: ["p"] },
    { type: "image", url: "https://evil.example/x.png", children: ["pic"] }, { type: "code_block", text: "</code><img onerror=1>" },
    { type: "heading", level: 99, children: ["big"] }, { type: "heading", level: -4, children: ["small"] },
], "");
same("nothing hostile becomes an element", [...new Set(all(hostile).map((e) => e.tagName))].sort(), ["A", "CODE", "DIV", "H3", "H6", "P", "PRE", "SPAN"]);
same("tags are text", hostile.textContent.includes("<script>alert(1)</script>") && hostile.textContent.includes("<img onerror=1>"), true);
same("links that run something lead nowhere", all(hostile).filter((e) => e.tagName === "A").map((e) => e.attributes.href), ["https://evil.example/x.png"]);
let deep = { type: "quote", children: ["end"] };
for (let i = 0; i < 5000; i++) deep = { type: "quote", children: [deep] };
same("what is nested too deep is text", all(message([deep], "")).length < 60 && message([deep], "").textContent === "end", true);
same("addresses", ["https://x", "mailto:a@b", "data:text/html,x", "//x", "vbscript:x", "file:///x"].map((u) => safeUrl(u) !== null), [true, true, false, false, false, false]);

// ---- addresses ------------------------------------------------------------------------------
const { address, parse } = await import("./web/routes.js");
for (const place of [
    { screen: "overview", query: {} }, { screen: "thread", thread: "a b%", query: {} }, { screen: "thread", thread: "t", node: "a7x2'", query: { agent: "Ana" } },
    { screen: "log", thread: "t", query: { at: "12", lane: "x&y" } }, { screen: "context", thread: "t", query: { vs: "lane:try-2" } },
    { screen: "files", thread: "t", name: "a/b c.md", query: {} }, { screen: "files", thread: "t", query: {} }, { screen: "search", query: { q: "a b" } }, { screen: "payload", query: {} }, { screen: "import", query: {} },
]) same(`there and back: ${address(place)}`, parse(new URL(address(place), "http://x")), place);
same("other paths are nowhere", ["/x", "/t", "/t/a/b", "/t/a/n", "/overview", "/constructor"].map((p) => parse(new URL(p, "http://x")).screen), Array(6).fill("nowhere"));

// ---- calls ----------------------------------------------------------------------------------
const { keyed, textLines } = await import("./web/api.js");
const table = schema.items.filter((o) => o.repeat === "key").map((o) => [o.name, o.params.properties.op_id ? "op_id" : "request_id"]).sort();
same("operations that are done once for a key are those of the table", [...keyed].sort(), table);
const { eventReader } = await import("./web/live.js");
const events = [], feed = eventReader((e) => events.push(e));
for (const line of [": beat", "event: change", "id: 7", 'data: {"a":', "data: 1}", "", "event: hello", "", "data: x", ""]) feed(line);
same("events", events, [{ name: "change", id: "7", data: '{"a":\n1}' }, { name: "hello", id: "", data: "" }, { name: "message", id: "", data: "x" }]);
const pieces = ["a\nb", "\r\nc", "€".slice(0)].map((s) => new TextEncoder().encode(s));
const euro = pieces.pop();
const body = new ReadableStream({ start(c) { for (const p of [...pieces, euro.slice(0, 1), euro.slice(1)]) c.enqueue(p); c.close(); } });
const got = [];
for await (const line of textLines(body)) got.push(line);
same("lines, whatever pieces they come in", got, ["a", "b", "c€"]);

// ---- overview and inspector -----------------------------------------------------------------
const { needs, overviewRows } = await import("./web/overview_list.js");
const graph = {
    objectives: [{ id: "o", title: "O", status: "active", threads: 2, open: 2 }, { id: "e", title: "E", status: "active", threads: 0, open: 0 }],
    threads: [{ id: "a", title: "A", objective: "o", parent_id: null, status: "active" }, { id: "b", title: "B", objective: "o", parent_id: "a", status: "waiting_human" },
        { id: "x", title: "", objective: null, parent_id: "y", status: "active" }, { id: "y", title: "", objective: null, parent_id: "x", status: "active" }],
    edges: [{ from: "b", target: "a", binding: "frozen", state: "stale", scope: ["plan.md"] }],
};
const list = ["a", "b", "x", "y", "log-only"].map((id) => ({ id, title: null, entries: 1, updated_at: "", status: null }));
same("rows: objectives, threads below each other, what they read; a circle of parents hides nobody",
    overviewRows(graph, list, []).map((r) => `${r.level}${r.kind[0]}${r.id}`), ["1oo", "2ta", "3tb", "4rb→a", "1oe", "1o", "2tlog-only", "2tx", "3ty"]);
same("a filter", overviewRows(graph, list, [], "LOG only").map((r) => r.id), ["", "log-only"]);
const attention = [{ kind: "stale", thread: "b", target: "a", state: "stale", since: "" }, { kind: "running", thread: "r", since: "" }, { kind: "waiting", thread: "b", since: "" }];
same("what needs a person, the worst first", needs(attention, [{ thread: "a", state: "exited", exit_code: 3, started_at: "" }, { thread: "b", state: "exited", exit_code: 0 }]).map((n) => `${n.kind} ${n.thread} ${n.text}`),
    ["waiting b waits for you", "failed a its worker ended with 3", "stale b stale"]);
const { memoryOf } = await import("./web/thread_inspector.js");
same("memory", memoryOf('=== M ===\nPinned:\n  [k8e7] "One"\n  [a\'] "Two"\n\nStashed (not in context): "mood", "x"\n===\n'), { pins: [{ id: "k8e7", words: '"One"' }, { id: "a'", words: '"Two"' }], stashes: ["mood", "x"] });

// ---- forms of operations ----------------------------------------------------------------------
const { operationsOf, valueOf } = await import("./web/operations.js");
same("what is put into a field becomes what the parameter takes", [
    valueOf({ type: "string" }, "12"), valueOf({ type: "integer" }, "12"), valueOf({ type: ["boolean", "null"] }, "no"), valueOf({ type: "array", items: { type: "string" } }, "a, b\n\n c "),
    valueOf({ type: "array", items: { type: "integer" } }, "1, 2 3"), valueOf({ type: "object" }, "{\"a\":1}"), valueOf({ type: "string" }, "") ?? null,
], ["12", 12, false, ["a, b", "c"], [1, 2, 3], { a: 1 }, null]);
const path = (properties, required, more = {}) => ({ post: { summary: "s", tags: ["g"], "x-permission": "write", requestBody: { content: { "application/json": { schema: { properties, required } } } }, ...more } });
const offered = operationsOf({ paths: {
    "/api/thread.rename": path({ thread: {}, title: {} }, ["thread", "title"]), "/api/thread.merge": path({ sources: {}, target: {} }, ["sources", "target"]), "/api/config.set": path({ name: {} }, ["name"]),
    "/api/log.follow": path({ thread: {} }, []), "/api/harness.install": path({ thread: {} }, [], { "x-permission": "shell" }), "/api/healthz": { get: {} },
} });
same("operations on a thread are offered, by whatever name they call it; endless ones and the shell's own are not", offered.map((o) => `${o.name} ${o.place}`), ["thread.merge target", "thread.rename thread"]);

// ---- runs of a log --------------------------------------------------------------------------
const { Folds, foldWords, runsOf } = await import("./web/log_folds.js");
const logOf = (kinds) => kinds.map((kind, seq) => ({ seq, kind }));
const rowsOf = (folds) => Array.from({ length: folds.count }, (_, i) => { const { seq, head } = folds.at(i); return head ? `(${foldWords(head)})` : seq; });
const T = "tool_action", M = "ai_message", small = new Folds(8), smallLog = logOf([M, T, T, M, T, T, T, T, T, T, M, "model_request", "model_response", T, M, M, T, T]);
small.layout(smallLog.length);
same("before a page was read, each entry is a row", rowsOf(small), Array.from(smallLog, (_, i) => smallLog.length - 1 - i));
for (const page of [1, 0, 2]) small.learn(page, smallLog.slice(page * 8, page * 8 + 8));
small.layout(smallLog.length);
same("runs are one row, also over the end of a page; two are none", rowsOf(small), [17, 16, 15, 14, "(1 model_request, 1 model_response, 1 tool_action)", 10, "(6 tool_action)", 3, 2, 1, 0]);
same("an entry in a run has the row of its head", [9, 7, 4, 3].map((seq) => small.index(seq)), [6, 6, 6, 7]);
small.set(7, true);
same("an open run has its entries below its head", rowsOf(small).slice(5, 14), [10, "(6 tool_action)", 9, 8, 7, 6, 5, 4, 3]);
same("each entry has its row", smallLog.every((e) => small.at(small.index(e.seq)).seq === (e.seq >= 11 && e.seq <= 13 ? 13 : e.seq)), true);
small.set(4, false);
same("it is closed by any of its entries", small.count, 11);
const newest = [...smallLog, { seq: 18, kind: T }, { seq: 19, kind: T }];
small.learn(2, newest.slice(16));
small.layout(newest.length);
same("a run grows with the log", rowsOf(small).slice(0, 3), ["(4 tool_action)", 15, 14]);
const million = new Folds(200), kindOf = (seq) => (seq % 20 < 14 ? T : M), pageOf = (page) => Array.from({ length: 200 }, (_, i) => ({ seq: page * 200 + i, kind: kindOf(page * 200 + i) }));
for (let page = 0; page < 5000; page += 50) million.learn(page, pageOf(page));
million.layout(1_000_000);
same("of a million entries only the pages that were read are folded", million.count, 1_000_000 - 100 * 10 * 13);
let astray = 0;
for (let seq = 0; seq < 1_000_000; seq += 7) if (million.at(million.index(seq)).seq !== (million.of(seq)?.to ?? seq)) astray++;
same("and every entry is found at its row", astray, 0);
const noise_ = new Folds(200);
for (let page = 0; page < 4; page++) noise_.learn(page, Array.from({ length: 200 }, (_, i) => ({ seq: page * 200 + i, kind: T })));
noise_.layout(800);
same("no run is longer than a page, so that a log of nothing else is not read to its end", noise_.count, 4);
same("an empty log has no runs", runsOf([]), []);

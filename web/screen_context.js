// What a model is sent: where the tokens go, what was cut and repaired, the bytes for each provider, and
// what differs from another entry or lane.
import { showError } from "./act.js";
import { call, written } from "./api.js";
import { go, link } from "./app.js";
import { openCompact } from "./compact.js";
import { comparison, difference, versus, versusChoice, versusWords } from "./compare.js";
import { ending, fill, h, signal } from "./h.js";
import { onChange } from "./live.js";
import { panes } from "./panes.js";
import { actor, asAgent } from "./session.js";
import { bySection, countedWords, cutLine, sectionName } from "./thread_inspector.js";
import { tokenBar } from "./token_bar.js";
import { count, number, size } from "./words.js";

const formats = ["anthropic", "openai", "compatible", "responses", "gemini", "completions", "text", "markdown"];
const mostRows = 300, mostBytes = 200_000;

function sourceOf(thread, s) {
    const { from, to, node, last, path, count: n } = s.source;
    if (node) return [h("a", { class: "mono", href: link({ screen: "thread", thread, node }) }, `[${node}]`), last && last !== node ? [" to ", h("span", { class: "mono" }, `[${last}]`)] : null];
    if (path) return h("span", { class: "mono" }, path);
    if (from !== undefined) return h("a", { class: "mono", href: link({ screen: "log", thread, query: { at: String(to ?? from) } }) }, to !== undefined && to !== from ? `#${number(from)}–#${number(to)}` : `#${number(from)}`);
    return n ? count(n, "item") : "";
}

const signed = (n) => (n > 0 ? `+${number(n)}` : n < 0 ? `−${number(-n)}` : "");

/** Tokens of each kind of section, as a map. */
const sumsOf = (doc) => new Map(bySection(doc.sections).map((s) => [s.kind, s.tokens]));

export function open(place) {
    const thread = place.thread, query = signal(place.query);
    const agents = signal(/** @type {any[]} */ ([])), lanes = signal(/** @type {string[]} */ ([])), doc = signal(/** @type {any} */ (null)), other = signal(/** @type {any} */ (null)), all = signal(false), position = signal(""), isEmpty = signal(false), opened = signal(new Set());
    const near = h("p", { class: "error" }), right = h("div", { class: "pane-body pad compare" }), title = h("h2", { class: "long" }, "messages"), rightNear = h("p", { class: "error" });
    let asked = 0, controller = null, timer = 0, closed = false;
    const change = (more, replace = true) => go({ screen: "context", thread, query: { ...query(), ...more } }, { replace });
    const agent = () => query().agent ?? agents().find((a) => a.permissions.includes("loom_aware"))?.name ?? actor();
    const params = (more = {}) => ({
        thread, ...asAgent(agent()), ...(query().at ? { at: Number(query().at) } : {}), ...(Number(query().budget) > 0 ? { budget: Number(query().budget) } : {}),
        ...(query().format ? { format: query().format } : {}), ...more,
    });

    async function load() {
        const mine = ++asked;
        controller?.abort();
        controller = new AbortController();
        const how = { signal: controller.signal };
        try {
            const [{ document: next }, where] = await Promise.all([
                written("assemble", params({ explain: true }), how), query().at ? null : call("loom.position", { thread, ...asAgent(agent()) }, how).catch(() => null)]);
            if (mine !== asked || closed) return;
            near.replaceChildren();
            other.set(null);
            position.set(where?.position ?? "");
            doc.set(next);
            showRight(how, mine);
            const vs = versus(query().vs ?? "");
            if (vs.vs >= 0) {
                const before = await written("assemble", { ...params({ explain: true }), at: vs.vs }, how);
                if (mine === asked && !closed) other.set(before.document);
            }
        } catch (e) {
            if (mine !== asked || e.name === "AbortError" || closed) return;
            doc.set(null);
            isEmpty.set(e.code === "NOT_FOUND");
            if (!isEmpty()) showError(near, e);
        }
    }

    const nothing = () => h("p", { class: "quiet" }, `${thread} has no messages yet: say something in `, h("a", { href: link({ screen: "thread", thread }) }, "the thread"), ".");

    async function showRight(how, mine) {
        try {
            if (query().show === "raw") await showRaw(how, mine);
            else await showMessages(how, mine);
        } catch (e) {
            if (mine !== asked || e.name === "AbortError") return;
            fill(right, rightNear, e.code === "NOT_FOUND" ? nothing() : null);
            if (e.code !== "NOT_FOUND") showError(rightNear, e);
        }
    }

    async function showMessages(how, mine) {
        const vs = query().vs ?? "all";
        const found = await call("project.compare", { thread, ...(query().lane ? { lane: query().lane } : { agent: agent() }), ...(query().at ? { at: Number(query().at) } : {}), ...versus(vs) }, how);
        if (mine !== asked) return;
        title.textContent = `lane ${found.after.lane} at #${number(found.after.at)}, ${versusWords(vs, found)}: ${vs === "all" ? `${count(found.added, "message")}, ${number(found.added_tokens)} tokens` : difference(found)}`;
        title.title = title.textContent;
        fill(right, rightNear, comparison(thread, found, vs === "all"));
    }

    /** Shows the bytes of the request; of a long one only the start, with a button for the rest. */
    async function showRaw(how, mine) {
        const { text, document: made } = await written("assemble", params(), how);
        if (mine !== asked) return;
        const shown = signal(text.length > mostBytes);
        title.textContent = `bytes for ${made.format}, ${size(new TextEncoder().encode(text).length)}`;
        fill(right, rightNear,
            h("div", { class: "tools" }, h("button", { type: "button", class: "small", onclick: () => navigator.clipboard?.writeText(text) }, "Copy"),
                h("a", { class: "button small", download: `${thread}.${made.format}.txt`, href: URL.createObjectURL(new Blob([text], { type: "text/plain" })) }, "Save")),
            h("pre", { class: "raw-bytes", tabindex: "0", "aria-label": "Bytes of the request" }, () => (shown() ? text.slice(0, mostBytes) : text)),
            () => (shown() ? h("p", null, `${size(mostBytes)} of ${size(text.length)} `, h("button", { type: "button", class: "small", onclick: () => shown.set(false) }, "Show all")) : null));
    }

    // ---- sections ------------------------------------------------------------------------------

    function changeOf(kind) {
        return signed((sumsOf(doc()).get(kind) ?? 0) - (sumsOf(other()).get(kind) ?? 0));
    }

    function sorted(sections) {
        const list = sections.map((s, order) => ({ ...s, order, key: s.kind === "node" && s.form !== "full" ? "earlier" : s.kind }));
        if ((query().sort ?? "order") === "size") list.sort((a, b) => b.tokens - a.tokens || a.order - b.order);
        return list;
    }

    function sortButton(name, label) {
        const on = () => (query().sort ?? "order") === name;
        return h("button", { type: "button", class: "plain small", "aria-pressed": () => String(on()), onclick: () => change({ sort: name === "order" ? undefined : name }) }, label);
    }

    /** The table of sections. Sections of one kind are one row, which can be expanded. */
    function sections(d) {
        const groups = bySection(d.sections), colours = new Map(groups.map((g, k) => [g.kind, (k % 8) + 1])), list = sorted(d.sections);
        if (query().sort === "size") groups.sort((a, b) => b.tokens - a.tokens);
        const of = (kind) => list.filter((s) => s.key === kind);
        const one = (s) => h("tr", { class: "below" }, h("td", null, sectionName(s.key), s.form === "full" ? null : h("span", { class: "quiet" }, ` ${s.form}`)), h("td", null, sourceOf(thread, s)), h("td", { class: "n" }, number(s.tokens)), other() ? h("td") : null);
        const rowsOf = (g) => {
            const mine = of(g.kind), isOpen = opened().has(g.kind), dot = h("span", { class: `dot s${colours.get(g.kind)}`, "aria-hidden": "true" });
            const name = mine.length === 1 ? g.label : h("button", { type: "button", class: "plain fold", "aria-expanded": String(isOpen), onclick: () => toggle(g.kind) }, `${isOpen ? "▾" : "▸"} ${g.label}`);
            return [
                h("tr", null, h("td", null, dot, name), h("td", { class: "quiet" }, mine.length === 1 ? sourceOf(thread, mine[0]) : count(mine.length, "part")), h("td", { class: "n" }, number(g.tokens)), other() ? h("td", { class: "n" }, changeOf(g.kind)) : null),
                isOpen && mine.length > 1 ? mine.slice(0, all() ? mine.length : mostRows).map(one) : null,
                isOpen && !all() && mine.length > mostRows ? h("tr", null, h("td", { colspan: "4" }, h("button", { type: "button", class: "small", onclick: () => all.set(true) }, `Show ${number(mine.length - mostRows)} more`))) : null,
            ];
        };
        return h("div", { class: "table-wrap" }, h("table", { class: "sections" },
            h("caption", { class: "aloud" }, "Sections of the request"),
            h("thead", null, h("tr", null, h("th", { scope: "col" }, "section"), h("th", { scope: "col" }, "from"), h("th", { scope: "col", class: "n" }, "tokens"), other() ? h("th", { scope: "col", class: "n" }, "change") : null)),
            h("tbody", null, groups.map(rowsOf))));
    }

    function toggle(kind) {
        const next = new Set(opened());
        if (!next.delete(kind)) next.add(kind);
        opened.set(next);
    }

    function body() {
        const d = doc();
        if (!d) return isEmpty() ? nothing() : h("p", { class: "quiet" }, near.hasChildNodes() ? "" : "…");
        const sums = bySection(d.sections), free = Math.max(0, d.budget - d.tokens);
        return [
            tokenBar(sums, d.budget, `${number(d.tokens)} of ${number(d.budget)} tokens`),
            h("p", null, h("strong", null, number(d.tokens)), ` of ${number(d.budget)} tokens, ${number(free)} free · ${countedWords(d)} · ${count(d.messages, "message")}`,
                other() ? h("span", null, ` · ${signed(d.tokens - other().tokens) || "no change"} since #${query().vs}`) : null),
            position() ? h("p", { class: "quiet" }, `${agent()} is at `, h("a", { class: "mono", href: link({ screen: "thread", thread, node: position() }) }, `[${position()}]`), ": what was said up to there is sent. The lane on the right may go on beyond it.") : null,
            h("p", { class: "quiet" }, `The next turn begins with the same ${size(d.stable.system_bytes)} of prompt and ${count(d.stable.messages, "message")}, unless something in them changes.`),
            d.cuts.length ? [h("h2", null, "Cut"), h("ul", { class: "cuts" }, d.cuts.map(cutLine))] : h("p", { class: "good" }, "✓ Nothing is cut."),
            d.repairs.length ? [h("h2", null, "Repaired"), h("ul", { class: "cuts" }, d.repairs.map((r) => h("li", null, r)))] : null,
            h("div", { class: "tools" }, h("button", { type: "button", class: "small", title: "key C", onclick: compact }, "Compact…"), h("a", { class: "button small", href: "/payload" }, "Payload")),
            h("div", { class: "tools" }, h("h2", null, "Sections"), sortButton("order", "in order"), sortButton("size", "by size")),
            sections(d),
        ];
    }

    const compact = () => openCompact(thread, agent(), query().lane, near);

    // ---- the screen ----------------------------------------------------------------------------

    async function start() {
        try {
            const [a, l] = await Promise.all([call("agent.list"), call("name.list", { kind: "lane", thread, limit: 1000 }).catch(() => ({ items: [] }))]);
            agents.set(a.items);
            lanes.set(l.items.map((x) => x.name));
        } catch (e) {
            showError(near, e);
        }
        load();
    }
    onChange((c) => {
        if (!c.reset && c.thread !== thread) return;
        clearTimeout(timer);
        if (!query().at) timer = window.setTimeout(load, 300);
    });
    ending(() => {
        closed = true;
        clearTimeout(timer);
        controller?.abort();
    });

    const choice = (label, value, options, f) => {
        const select = h("select", { "aria-label": label, onchange: () => f(select.value) }, options.map((o) => h("option", { value: o.value ?? o, selected: (o.value ?? o) === value }, o.label ?? o)));
        return select;
    };
    const head = h("div", { class: "pane-head" }, h("h2", null, "What"),
        () => choice("Agent", agent(), [...agents().map((a) => a.name), ...(agents().some((a) => a.name === actor()) ? [] : [actor()])], (v) => change({ agent: v })),
        h("span", null, () => (query().at ? ["is sent at ", h("a", { href: link({ screen: "log", thread, query: { at: query().at } }) }, `#${query().at}`), " ", h("button", { type: "button", class: "small", onclick: () => change({ at: undefined }) }, "now")] : "is sent next")),
        h("span", { class: "grow" }),
        h("label", { class: "line" }, "budget ", h("input", { type: "number", min: "1", class: "budget", value: () => query().budget ?? "", placeholder: () => (doc() ? String(doc().budget) : ""), onchange: (event) => change({ budget: event.target.value || undefined }) })));
    const left = h("section", { "aria-label": "Where the tokens go" }, head, h("div", { class: "pane-body pad context-body" }, near, body));
    const shows = (name, label) => h("button", { type: "button", class: "small", "aria-pressed": () => String((query().show ?? "messages") === name), onclick: () => change({ show: name === "messages" ? undefined : name }) }, label);
    const rightPart = h("section", { "aria-label": "Messages and bytes" },
        h("div", { class: "pane-head" }, title, h("span", { class: "grow" }), shows("messages", "Messages"), shows("raw", "Raw bytes")),
        right,
        h("div", { class: "pane-foot" }, h("div", { class: "tools" },
            () => (query().show === "raw" ? h("label", null, "as ", choice("Format", query().format ?? "", [{ value: "", label: "what its model takes" }, ...formats], (v) => change({ format: v || undefined })))
                : ["compared with ", versusChoice(lanes(), query().vs ?? "all", (v) => change({ vs: v === "all" ? undefined : v || "" })), lanes().length > 1 ? choice("Lane", query().lane ?? "", [{ value: "", label: "its active lane" }, ...lanes()], (v) => change({ lane: v || undefined })) : null]))));
    const both = panes([{ name: "sections", label: "Tokens", element: left }, { name: "messages", label: "Messages", element: rightPart }], { class: "context" });
    start();
    return {
        title: `${thread}: context`, element: both.element,
        go: (to) => {
            const sort = { ...to.query, sort: "" }, was = { ...query(), sort: "" };
            query.set(to.query);
            if (JSON.stringify(sort) !== JSON.stringify(was)) load();
        },
        keys: [
            { keys: ["s"], does: "sort by size, or in order", run: () => change({ sort: query().sort === "size" ? undefined : "size" }) },
            { keys: ["r"], does: "raw bytes, or messages", run: () => change({ show: query().show === "raw" ? undefined : "raw" }) },
            { keys: ["C"], does: "compact", run: () => compact() },
            { keys: ["g"], does: "now", run: () => change({ at: undefined }) },
        ],
    };
}

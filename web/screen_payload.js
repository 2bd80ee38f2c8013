// What a payload of this workspace would hold: where its tokens go, file by file, and its text.
import { showError } from "./act.js";
import { call, written } from "./api.js";
import { go } from "./app.js";
import { ending, fill, h, signal } from "./h.js";
import { panes } from "./panes.js";
import { rows } from "./rows.js";
import { countedBy, number, size } from "./words.js";

const mostBytes = 200_000;

/** The visible rows of a tree of {name, depth, tokens}, in which each directory comes before its content. */
export function payloadRows(items, closed) {
    const list = [];
    let hidden = Infinity;
    items.forEach((item, index) => {
        if (item.depth > hidden) return;
        const holds = items[index + 1]?.depth > item.depth;
        hidden = closed.has(index) ? item.depth : Infinity;
        list.push({ ...item, index, holds, open: holds && !closed.has(index) });
    });
    return list;
}

/** Directories below the first level are folded at first. */
export const firstFolds = (items) => new Set(items.map((item, k) => (item.depth >= 1 && items[k + 1]?.depth > item.depth ? k : -1)).filter((k) => k >= 0));

function makeRow() {
    const row = /** @type {any} */ (h("div", { class: "weigh" }));
    for (const name of ["guide", "name", "share", "tokens"]) row.append(row[name] = h("span", { class: name, ...(name === "share" ? { "aria-hidden": "true" } : {}) }));
    return row;
}

export function open(place) {
    const query = signal(place.query), data = signal(/** @type {any} */ (null)), busy = signal(false), near = h("p", { class: "error" }), right = h("div", { class: "pane-body pad compare" }), rightNear = h("p", { class: "error" });
    let shown = [], closed = new Set(), asked = 0, controller = null;
    const change = (more) => go({ screen: "payload", query: { ...query(), ...more } }, { replace: true });
    const split = (text) => (text ?? "").split(",").map((t) => t.trim()).filter(Boolean);
    const params = () => ({
        paths: split(query().files ?? "."),
        ...(split(query().exclude).length ? { exclude: split(query().exclude) } : {}),
        ...(Number(query().budget) > 0 ? { budget: Number(query().budget) } : {}),
    });
    const list = rows({
        label: "Tokens of directories and files", role: "tree", make: makeRow,
        fill: (row, index) => {
            const r = shown[index];
            row.guide.textContent = `${"  ".repeat(r.depth)}${r.holds ? (r.open ? "▾" : "▸") : " "}`;
            row.name.textContent = r.name;
            row.tokens.textContent = number(r.tokens);
            row.share.style.setProperty("--w", `${Math.max(1, (r.tokens / Math.max(1, data().total)) * 100)}%`);
        },
        describe: (index) => ({ level: shown[index].depth + 1, expanded: shown[index].holds ? shown[index].open : null }),
        onclick: (index, event) => {
            if (!(event.target instanceof Element) || !event.target.closest(".guide") || !shown[index].holds) return false;
            fold(index);
            return true;
        },
        onopen: fold,
    });

    function draw() {
        shown = payloadRows(data()?.items ?? [], closed);
        list.resize(shown.length);
        if (list.selected() < 0 && shown.length) list.mark(0);
        list.redraw();
    }

    function fold(index, to) {
        const r = shown[index];
        if (!r?.holds || to === r.open) return;
        if (!closed.delete(r.index)) closed.add(r.index);
        draw();
        list.select(index, true);
    }

    async function load() {
        const mine = ++asked;
        controller?.abort();
        controller = new AbortController();
        busy.set(true);
        near.replaceChildren();
        fill(right, rightNear, h("div", { class: "tools" }, h("button", { type: "button", onclick: preview }, "Show the text")), h("p", { class: "quiet" }, "The same text as ", h("code", null, "heddle payload"), " writes."));
        try {
            const answer = await call("payload.weigh", params(), { signal: controller.signal });
            if (mine !== asked) return;
            data.set(answer);
            closed = firstFolds(answer.items);
            draw();
        } catch (e) {
            if (mine === asked && e.name !== "AbortError") showError(near, e);
        } finally {
            if (mine === asked) busy.set(false);
        }
    }
    ending(() => controller?.abort());

    async function preview() {
        fill(right, rightNear, h("p", { class: "quiet" }, "…"));
        try {
            const { text, document: made } = await written("payload.make", params(), { signal: controller.signal });
            const cut = signal(text.length > mostBytes);
            fill(right, rightNear,
                h("div", { class: "tools" }, h("span", { class: "quiet" }, `${size(text.length)}, ${number(made.payload?.tokens ?? data()?.tokens ?? 0)} tokens`),
                    h("button", { type: "button", class: "small", onclick: () => navigator.clipboard?.writeText(text) }, "Copy"),
                    h("a", { class: "button small", download: "input.md", href: URL.createObjectURL(new Blob([text], { type: "text/plain" })) }, "Save")),
                h("pre", { class: "raw-bytes", tabindex: "0", "aria-label": "Text of the payload" }, () => (cut() ? text.slice(0, mostBytes) : text)),
                () => (cut() ? h("p", null, `${size(mostBytes)} of ${size(text.length)} `, h("button", { type: "button", class: "small", onclick: () => cut.set(false) }, "Show all")) : null));
        } catch (e) {
            if (e.name === "AbortError") return;
            fill(right, rightNear);
            showError(rightNear, e);
        }
    }

    const field = (name, label, placeholder, type = "text") => h("label", { class: "line" }, `${label} `, h("input", {
        type, placeholder, class: type === "number" ? "budget" : "pattern", value: place.query[name] ?? "", autocomplete: "off", ...(type === "number" ? { min: "1" } : {}),
        onchange: (event) => change({ [name]: event.target.value.trim() || undefined }),
    }));
    const left = h("section", { "aria-label": "Where the tokens go" },
        h("div", { class: "pane-head" }, h("h2", null, "Payload"), h("span", { class: "quiet", role: "status" }, () => (busy() ? "counting…" : data() ? `${number(data().tokens)} tokens with headings, ${number(data().total)} of content (${countedBy(data())})` : "")),
            h("span", { class: "break" }), field("files", "files", "."), field("exclude", "without", "*.lock"), field("budget", "budget", "none", "number")),
        h("div", { class: "log-body" }, near, () => (data()?.items.length === 0 ? h("p", { class: "quiet pad-line" }, "There are no files here that a payload may hold: name others in the box above, or remove what leaves them out.") : null), list.element));
    const both = panes([{ name: "weigh", label: "Tokens", element: left }, { name: "text", label: "Text", element: h("section", { "aria-label": "Text" }, h("div", { class: "pane-head" }, h("h2", null, "Text")), right) }], { class: "payload" });
    load();
    const move = (by) => list.select(list.selected() + by);
    const outward = () => {
        const at = list.selected(), r = shown[at];
        if (!r) return;
        if (r.open) return fold(at, false);
        for (let k = at - 1; k >= 0; k--) if (shown[k].depth < r.depth) return list.select(k);
    };
    return {
        title: "Payload", element: both.element,
        shown: () => list.element.focus({ preventScroll: true }),
        go: (to) => {
            query.set(to.query);
            load();
        },
        keys: [
            { keys: ["j", "ArrowDown"], does: "next", run: () => move(1) }, { keys: ["k", "ArrowUp"], does: "before", run: () => move(-1) },
            { keys: ["l", "ArrowRight"], does: "unfold", run: () => fold(list.selected(), true) }, { keys: ["h", "ArrowLeft"], does: "fold, or the directory", run: outward },
            { keys: ["p"], does: "show the text", run: preview },
        ],
    };
}

// The documents of a thread and those it may read: preview, what was written, and how a frozen copy differs from its source.
import { showError } from "./act.js";
import { bytes, call, threadIsThere } from "./api.js";
import { go, link } from "./app.js";
import { fill, h, signal } from "./h.js";
import { onChange } from "./live.js";
import { message } from "./markdown.js";
import { panes } from "./panes.js";
import { refreshReference } from "./reference.js";
import { rows } from "./rows.js";
import { count, moment, number, size } from "./words.js";

const mostBytes = 200_000;
const isMarkdown = (name) => /\.(md|markdown)$/i.test(name);

/** The lines of asset.compare, as a table. */
export function lineDifference(doc, same = "The copy is as its source is.") {
    if (doc.state === "same") return h("p", { class: "good" }, `✓ ${same}`);
    if (doc.state === "missing") return h("p", { class: "warn" }, "▲ The source has this file no more; the copy stays.");
    if (!doc.lines) return h("p", { class: "warn" }, `▲ The two differ (${size(doc.before.size)} and ${size(doc.after.size)}), and are not texts of at most 2,000 lines.`);
    const words = { "+": "added", "-": "removed", " ": "same" };
    let last = 0;
    return [
        h("p", null, `${count(doc.removed, "line")} gone, ${number(doc.added)} new`),
        h("div", { class: "table-wrap", tabindex: "0", role: "group", "aria-label": "Lines that differ" }, h("table", { class: "line-diff" },
            h("thead", { class: "aloud" }, h("tr", null, ["before", "after", "change", "line"].map((t) => h("th", { scope: "col" }, t)))),
            h("tbody", null, doc.lines.map((l) => {
                const gap = (l.before ?? 0) > last + 1 && last > 0;
                last = l.before ?? last;
                return [gap ? h("tr", { class: "gap" }, h("td", { colspan: "4" }, "⋯")) : null,
                    h("tr", { class: words[l.mark] }, h("td", { class: "n" }, l.before ?? ""), h("td", { class: "n" }, l.after ?? ""),
                        h("td", null, l.mark === " " ? "" : h("span", null, l.mark === "-" ? "−" : "+", h("span", { class: "aloud" }, words[l.mark]))), h("td", { class: "mono" }, l.text || " "))];
            })))),
    ];
}

/** The difference with its two sides exchanged. */
export function turned(doc) {
    const marks = { "+": "-", "-": "+", " ": " " };
    const lines = doc.lines?.map((l) => ({ mark: marks[l.mark], before: l.after, after: l.before, text: l.text })) ?? null;
    return { ...doc, before: doc.after, after: doc.before, removed: doc.added, added: doc.removed, lines };
}

function makeRow() {
    const row = /** @type {any} */ (h("div", { class: "file" }));
    for (const name of ["sign", "name", "words"]) row.append(row[name] = h("span", { class: name }));
    return row;
}

/** The name of a file without the path of its thread. */
export const shortName = (path) => path.replace(/^\.leslie\/threads\/[^/]+\//, "").replace(/^context\/inherited\//, "");

export function open(place) {
    const thread = place.thread, chosen = signal(place.name ?? ""), items = signal(/** @type {any[]} */ ([])), part = signal(place.query.show ?? "preview"), picked = signal(place.query);
    const near = h("p", { class: "error" }), body = h("div", { class: "pane-body pad file-body" }), info = signal(/** @type {any} */ (null)), error = h("p", { class: "error" });
    let asked = 0, timer = 0, isThere = true;
    const list = rows({
        label: "Files", role: "listbox", height: 28, make: makeRow,
        fill: (row, index) => {
            const f = items()[index];
            row.sign.textContent = f.access === "rw" ? "✎" : f.path.includes("/context/inherited/") ? "▣" : "→";
            row.name.textContent = shortName(f.path);
            row.words.textContent = [f.type === "other" ? "" : f.type, f.thread === thread ? "" : `of ${f.thread}`].filter(Boolean).join(" · ");
        },
        onselect: (index) => choose(items()[index].path),
    });

    const choose = (name, show, more = {}) => go({ screen: "files", thread, name, query: { ...(show && show !== "preview" ? { show } : {}), ...more } }, { replace: true });

    async function load() {
        try {
            const answer = await call("asset.list", { thread });
            items.set(answer.items);
            list.resize(answer.items.length);
            const at = answer.items.findIndex((f) => f.path === chosen());
            if (at >= 0) list.select(at, true);
            else if (!chosen() && answer.items.length) choose(answer.items[0].path);
            list.redraw();
        } catch (e) {
            // asset.list knows only threads that were spawned; others have a log and no files.
            if (e.code === "NOT_FOUND") isThere = await threadIsThere(thread);
            else showError(error, e);
        }
        show();
    }

    async function show() {
        const mine = ++asked, name = chosen();
        if (!name) return fill(body, near, emptyWords());
        if (name.endsWith("/")) {
            info.set(null);
            return fill(body, near, h("p", { class: "quiet" }, "A directory: its files are read with ", h("code", null, `heddle read ${thread} ${name}NAME`)));
        }
        try {
            const made = await parts[part()](name);
            if (mine === asked) fill(body, near, made);
        } catch (e) {
            if (mine !== asked) return;
            fill(body, near);
            showError(near, e);
        }
    }

    const emptyWords = () => !isThere ? h("p", { class: "quiet" }, `There is no thread ${thread}. The `, h("a", { href: "/" }, "overview"), " lists those there are.") : items().length ? h("p", { class: "quiet" }, "Choose a file.") : h("div", null,
        h("p", null, `${thread} has no files yet. An agent writes them below its directory, or a command does:`), h("pre", null, `→ write doc:"plan" "…"`),
        h("p", null, "What another thread made can be read by a reference:"), h("pre", null, `heddle reference --from ${thread} --target OTHER`));

    /** Reads what a file is, for its head. */
    async function describe(name, more = {}) {
        const found = await call("asset.read", { thread, name, ...more });
        info.set(found);
        return found;
    }

    const parts = {
        async preview(name) {
            const found = await describe(name, isMarkdown(name) ? { markdown: true } : {}), isRaw = picked().raw !== undefined;
            if (found.markdown) {
                const button = h("button", { type: "button", class: "small", "aria-pressed": String(isRaw), onclick: () => choose(name, "preview", isRaw ? {} : { raw: "1" }) }, "raw");
                return [h("div", { class: "tools" }, h("span", { class: "grow" }), button), isRaw ? await textOf(name) : h("div", { class: "document" }, message(found.markdown, ""))];
            }
            if (found.size > mostBytes) {
                const box = h("div", null, h("p", null, `${size(found.size)}: `, h("button", { type: "button", class: "small", onclick: async () => fill(box, await textOf(name)) }, "Load all of it")));
                return box;
            }
            return textOf(name);
        },
        async history(name) {
            await describe(name);
            const { items: writes } = await call("asset.history", { thread, name: shortName(name), limit: 1000 });
            if (!writes.length) return h("p", { class: "quiet" }, "Nothing was written to it through heddle. What other programs write is not in the log.");
            return versions(name, writes);
        },
        async difference(name) {
            const found = await describe(name);
            if (found.binding !== "frozen") return h("p", { class: "quiet" }, "This is no frozen copy: there is nothing that it could differ from.");
            const doc = await call("asset.compare", { thread, name });
            return [
                h("p", { class: "quiet" }, "The copy in ", h("strong", null, thread), " against what ", h("a", { href: link({ screen: "files", thread: doc.thread }) }, doc.thread), " has now."),
                lineDifference(doc),
                h("div", { class: "tools" }, h("button", { type: "button", class: "primary", onclick: async () => { if (await refreshReference(thread, doc.thread, near)) load(); } }, "Refresh…")),
            ];
        },
    };

    // ---- history ----------------------------------------------------------------------------------

    /** The states of a document, newest first: the current one, and the one after each write. */
    function statesOf(writes) {
        const list = [{ hash: "now", kept: true, words: "now", write: null }];
        for (const w of writes) list.push({ hash: w.after ?? "", kept: w.kept && w.after !== null, words: `#${number(w.seq)}`, write: w });
        const first = writes[writes.length - 1];
        if (first.before) list.push({ hash: first.before, kept: first.kept_before, words: "before that", write: null });
        return list;
    }

    /** The difference between two states; "now" is the current one. */
    async function between(name, from, to) {
        if (from === to) return h("p", { class: "quiet" }, "Both are the same state.");
        const params = { thread, name, ...(from === "now" ? { hash: to } : { hash: from }), ...(from !== "now" && to !== "now" ? { to } : {}) };
        const doc = await call("asset.compare", params);
        // asset.compare takes the older state first: for the other direction its answer is reversed.
        return lineDifference(from === "now" ? turned(doc) : doc, "Both are the same.");
    }

    async function versions(name, writes) {
        const states = statesOf(writes), kept = states.filter((s) => s.kept);
        const to = picked().to ?? "now", from = picked().from ?? (kept.find((s) => s.hash !== to && s !== states[1]) ?? kept[1] ?? kept[0]).hash; // states[1] equals the current state
        const radio = (side, s, value) => h("input", {
            type: "radio", name: side, value: s.hash, checked: value === s.hash, disabled: !s.kept, "aria-label": `${side === "from" ? "From" : "To"} ${s.words}`,
            onchange: () => choose(name, "history", { from: side === "from" ? s.hash : from, to: side === "to" ? s.hash : to }),
        });
        const line = (s) => h("tr", { class: s.write ? "" : "now" },
            h("td", { class: "pick" }, radio("from", s, from)), h("td", { class: "pick" }, radio("to", s, to)),
            h("td", null, s.write ? h("a", { class: "mono", href: link({ screen: "log", thread, query: { at: String(s.write.seq) } }) }, s.words) : s.words),
            h("td", null, s.write ? moment(s.write.at) : ""), h("td", { class: "who-col" }, s.write?.agent ?? ""),
            h("td", null, s.write === null ? "" : s.write.inserted === null ? "changed" : `${size(s.write.inserted)} at ${number(s.write.offset ?? 0)}`, s.kept ? null : h("span", { class: "quiet" }, s.write ? ", not kept" : "not kept")));
        const head = [["pick", "from"], ["pick", "to"], ["", "entry"], ["", "when"], ["who-col", "who"], ["", "what"]];
        return [
            h("div", { class: "table-wrap" }, h("table", { class: "versions" }, h("thead", null, h("tr", null, head.map(([c, t]) => h("th", { scope: "col", class: c }, t)))), h("tbody", null, states.map(line)))),
            states.some((s) => !s.kept) ? h("p", { class: "quiet" }, "A state is kept as long as no other program changed the file, and its write was not taken back.") : null,
            kept.length < 2 ? h("p", { class: "quiet" }, "There is no earlier state to compare with.") : [h("h3", null, "What differs"), await between(name, from, to)],
        ];
    }

    async function textOf(name) {
        const buffer = await bytes("asset.read", { thread, name });
        try {
            const text = new TextDecoder("utf-8", { fatal: true }).decode(buffer);
            return h("pre", { class: "file-text", tabindex: "0", "aria-label": `Text of ${shortName(name)}` }, text || "(empty)");
        } catch {
            return h("p", null, `${size(buffer.byteLength)} that are not text. `, h("a", { class: "button small", download: shortName(name).split("/").pop(), href: URL.createObjectURL(new Blob([buffer], { type: "application/octet-stream" })) }, "Save"));
        }
    }

    onChange((c) => {
        if (!c.reset && c.thread !== thread && c.thread !== ".global") return;
        clearTimeout(timer);
        timer = window.setTimeout(load, 300);
    });

    const tab = (name, label) => h("button", { type: "button", class: "small", "aria-pressed": () => String(part() === name), onclick: () => choose(chosen(), name) }, label);
    const left = h("section", { "aria-label": "Files of the thread" },
        h("div", { class: "pane-head" }, h("h2", null, thread), h("span", { class: "quiet" }, () => count(items().length, "file"))), h("div", { class: "log-body" }, error, list.element));
    const right = h("section", { "aria-label": "Chosen file" },
        h("div", { class: "pane-head" }, h("h2", { class: "mono" }, () => (chosen() ? shortName(chosen()) : "nothing chosen")),
            () => (info() ? h("span", { class: "quiet" }, `${{ own: "its own", frozen: `frozen copy of ${info().thread}`, live: `live, of ${info().thread}` }[info().binding]}, ${size(info().size)}`) : null),
            h("span", { class: "grow" }), h("span", { class: "tools inline" }, tab("preview", "Preview"), tab("history", "History"), tab("difference", "Difference"))), body);
    const both = panes([{ name: "list", label: "Files", element: left }, { name: "file", label: "File", element: right }], { class: "files", first: place.name ? "file" : "list" });
    load();
    const turn = (by) => list.select(list.selected() + by), order = ["preview", "history", "difference"];
    return {
        title: `${thread}: files`, element: both.element,
        shown: () => list.element.focus({ preventScroll: true }),
        go: (to) => {
            chosen.set(to.name ?? "");
            picked.set(to.query);
            part.set(order.includes(to.query.show) ? to.query.show : "preview");
            const at = items().findIndex((f) => f.path === chosen());
            if (at >= 0 && at !== list.selected()) list.select(at, true);
            show();
        },
        keys: [
            { keys: ["j", "ArrowDown"], does: "next file", run: () => turn(1) },
            { keys: ["k", "ArrowUp"], does: "file before", run: () => turn(-1) },
            { keys: ["d"], does: "difference of a frozen copy", run: () => chosen() && choose(chosen(), "difference") },
            { keys: ["h"], does: "what was written", run: () => chosen() && choose(chosen(), "history") },
            { keys: ["p", "Enter"], does: "preview", run: () => chosen() && choose(chosen(), "preview") },
            { keys: ["R"], does: "refresh its copies", run: () => refreshReference(thread, null, near).then((d) => d && load()) },
        ],
    };
}

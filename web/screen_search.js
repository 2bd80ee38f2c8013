// Search in the messages of all threads.
import { showError } from "./act.js";
import { call } from "./api.js";
import { go, link } from "./app.js";
import { ending, fill, h, signal } from "./h.js";
import { count, moment } from "./words.js";

/** The words of a query; a quoted phrase counts as one word. */
export const wordsOf = (query) => Array.from(query.matchAll(/"([^"]+)"|(\S+)/g), (m) => (m[1] ?? m[2]).replace(/[.,;:!?]+$/, "")).filter(Boolean);

/** A text with the words marked. */
export function marked(text, words) {
    if (words.length === 0) return [text];
    const pattern = new RegExp(`(${words.map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "giu");
    return text.split(pattern).map((part, k) => (k % 2 ? h("mark", null, part) : part));
}

export function open(place) {
    const query = signal(place.query), found = signal(/** @type {any[] | null} */ (null)), near = h("p", { class: "error" });
    const box = h("input", { type: "search", value: place.query.q ?? "", "aria-label": "Words to find", placeholder: "words, or \"a phrase\"", autocomplete: "off", class: "search-box" });
    let asked = 0, controller = null;
    const change = (more) => go({ screen: "search", query: { ...query(), ...more } }, { replace: true });

    async function load() {
        const mine = ++asked, q = (query().q ?? "").trim();
        controller?.abort();
        controller = new AbortController();
        near.replaceChildren();
        if (!q) return found.set(null);
        try {
            const { items } = await call("loom.search", { query: q, max: 200, ...(query().thread ? { thread: query().thread } : {}) }, { signal: controller.signal });
            if (mine === asked) found.set(items);
        } catch (e) {
            if (mine !== asked || e.name === "AbortError") return;
            found.set([]);
            showError(near, e);
        }
    }
    ending(() => controller?.abort());

    function item(r, words) {
        return h("li", { class: "found" },
            h("p", { class: "quiet" }, h("a", { class: "found-link", href: link({ screen: "thread", thread: r.thread, node: r.local_id }) }, r.thread, " ", h("span", { class: "mono" }, `[${r.local_id}]`)),
                " ", h("span", { class: r.kind === "human" ? "you" : r.kind }, r.author), ` ${moment(r.at)} · ${r.lane} `, h("a", { class: "mono quiet", href: link({ screen: "log", thread: r.thread, query: { at: String(r.seq) } }) }, `#${r.seq}`)),
            h("p", { class: "excerpt" }, marked(r.excerpt, words)));
    }

    const results = h("div", { class: "results" });
    fill(results, () => {
        const list = found();
        if (list === null) return h("p", { class: "quiet" }, "Say what to look for: every message that has all of the words is found, in all threads. In the shell: ", h("code", null, "heddle search WORDS"));
        if (list.length === 0) return h("p", null, "Nothing was found.");
        const words = wordsOf(query().q ?? ""), threads = new Set(list.map((r) => r.thread));
        return [
            h("p", { class: "quiet", role: "status" }, `${list.length >= 200 ? "The newest 200 messages" : count(list.length, "message")} in ${count(threads.size, "thread")}`,
                query().thread ? [" ", h("button", { type: "button", class: "small", onclick: () => change({ thread: undefined }) }, `not only in ${query().thread}`)] : null),
            threads.size > 1 ? h("div", { class: "tools" }, [...threads].slice(0, 12).map((t) => h("button", { type: "button", class: "small", onclick: () => change({ thread: t }) }, `only ${t}`))) : null,
            h("ol", { class: "found-list" }, list.map((r) => item(r, words))),
        ];
    });
    const form = h("form", { role: "search", "aria-label": "All threads", class: "tools", onsubmit: (event) => { event.preventDefault(); change({ q: box.value.trim() }); } }, box, h("button", { class: "primary" }, "Find"));
    load();
    const links = () => /** @type {HTMLElement[]} */ ([...results.querySelectorAll(".found-link")]);
    const step = (by) => {
        const all = links(), at = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
        all[Math.max(0, Math.min(all.length - 1, at + by))]?.focus();
    };
    return {
        title: "Search", element: h("div", { class: "pane-body pad search-screen" }, h("h1", null, "Find in all threads"), form, near, results),
        shown: () => { if (!place.query.q) box.focus(); },
        go: (to) => {
            query.set(to.query);
            if (box.value.trim() !== (to.query.q ?? "")) box.value = to.query.q ?? "";
            load();
        },
        keys: [
            { keys: ["j", "ArrowDown"], does: "next", run: () => step(1) },
            { keys: ["k", "ArrowUp"], does: "before", run: () => step(-1) },
        ],
    };
}

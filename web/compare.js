// Differences between two contexts: the answer of project.compare as a list, and the menu of what to compare with.
import { link } from "./app.js";
import { h } from "./h.js";
import { count, number } from "./words.js";

const signs = { removed: "−", added: "+" };

function item(thread, c, whole) {
    if (c.change === "same") return h("li", { class: "same quiet" }, `⋯ ${count(c.count, "message")} the same ⋯`);
    const where = c.seq === null || c.seq === undefined ? null
        : h("a", { class: "mono quiet", href: link({ screen: "log", thread, query: { at: String(c.seq) } }) }, `#${number(c.seq)}`);
    return h("li", { class: whole ? "" : c.change },
        whole ? null : h("span", { class: "sign" }, h("span", { "aria-hidden": "true" }, signs[c.change]), h("span", { class: "aloud" }, c.change)),
        h("span", { class: c.role === "user" ? "you" : c.role === "assistant" ? "model" : "tool" }, c.role), " ",
        h(c.change === "removed" ? "del" : "span", { class: "words" }, c.line || "(nothing)"), " ",
        h("span", { class: "quiet" }, `${number(c.tokens)} `), where);
}

/** "8,892 tokens fewer" */
export function difference(doc) {
    const by = doc.added_tokens - doc.removed_tokens;
    return by === 0 ? "the same number of tokens" : `${count(Math.abs(by), "token")} ${by > 0 ? "more" : "fewer"}`;
}

/** @param {string} thread @param {any} doc @param {boolean} [whole] it is compared with nothing: all of it is shown */
export function comparison(thread, doc, whole = false) {
    const cut = !doc.before.whole || !doc.after.whole;
    return [
        cut ? h("p", { class: "warn" }, "▲ Only the newest messages are shown; older ones are left out.") : null,
        doc.items.length === 0 ? h("p", { class: "quiet" }, "Nothing differs.") : h("ul", { class: "differences" }, doc.items.map((c) => item(thread, c, whole))),
    ];
}

/** "vs" of an address as parameters: "" the entry before, "all" everything, "12", "lane:try-2". */
export function versus(text) {
    if (!text) return {};
    if (text === "all") return { vs: -1 };
    if (text.startsWith("lane:")) return { vs_lane: text.slice(5) };
    return /^-?\d+$/.test(text) ? { vs: Math.max(-1, Number(text)) } : {};
}

/** The other side of a comparison, in words. */
export function versusWords(text, doc) {
    if (text === "all") return "the whole context";
    return text.startsWith("lane:") ? `against lane ${text.slice(5)}` : `against #${number(doc.before.at)}`;
}

/** The menu of what to compare with. */
export function versusChoice(lanes, value, choose, first = "the entry before") {
    const known = ["", "all", ...lanes.map((l) => `lane:${l}`)];
    const words = { "": first, all: "nothing: show all of it" };
    const select = h("select", { "aria-label": "Compare with", onchange: () => {
        if (select.value !== "ask") return choose(select.value);
        number_.hidden = false;
        number_.focus();
    } },
    known.map((v) => h("option", { value: v, selected: v === value }, words[v] ?? `lane ${v.slice(5)}`)),
    known.includes(value) ? null : h("option", { value, selected: true }, `entry #${value}`),
    h("option", { value: "ask" }, "an entry…"));
    const number_ = h("input", { type: "number", min: "0", "aria-label": "Entry to compare with", hidden: true, onchange: () => number_.value && choose(number_.value) });
    return h("span", { class: "tools inline" }, select, number_);
}

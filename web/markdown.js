// Markdown as elements. The server parses it and sends a tree of nodes (src/markdown/markdown.h); this module
// makes an element for each node. HTML in the text is shown as text. Images become links: nothing is loaded.
import { h } from "./h.js";

/**
 * @typedef {string | {type: string, text?: string, level?: number, url?: string, title?: string, info?: string, start?: number,
 *            tight?: boolean, ordered?: boolean, checked?: boolean, children?: MarkdownNode[]}} MarkdownNode
 */

const deepest = 48; // levels of elements; deeper nodes are shown as text

/** The address if it may be a link (http, https, mailto or a fragment), else null. */
export function safeUrl(url) {
    // Browsers ignore spaces and control characters before an address, and tabs and line ends within it.
    const clean = String(url ?? "").replace(/[\u0000-\u0020\u007f-\u009f]+/g, "");
    return /^(https?:\/\/|mailto:|#)/i.test(clean) ? clean : null;
}

function link(node, children) {
    const url = safeUrl(node.url);
    if (!url) return h("span", { class: "dead-link" }, children);
    // A fragment refers to a place in the message, which has no address in the page: it is not a link.
    if (url.startsWith("#")) return h("span", { class: "dead-link", title: url }, children);
    return h("a", { href: url, rel: "noopener noreferrer", target: "_blank", title: node.title || null }, children);
}

function table(node, depth) {
    const [head, ...rest] = node.children ?? [];
    const row = (r, cell) => h("tr", null, (r?.children ?? []).map((c) => h(cell, cell === "th" ? { scope: "col" } : null, below(c, depth))));
    return h("div", { class: "table", tabindex: "0", role: "group", "aria-label": "Table" },
        h("table", null, h("thead", null, row(head, "th")), h("tbody", null, rest.map((r) => row(r, "td")))));
}

const kinds = {
    paragraph: (_, c) => h("p", null, c),
    // Headings of a message are below those of the page: level 1 becomes h3.
    heading: (n, c) => h(`h${Math.min(6, Math.max(1, n.level ?? 1) + 2)}`, null, c),
    quote: (_, c) => h("blockquote", null, c),
    list: (n, c) => (n.ordered ? h("ol", { start: n.start ?? 1 }, c) : h("ul", null, c)),
    item: (n, c) => (n.checked === undefined ? h("li", null, c) : h("li", { class: "task" }, n.checked ? "☑ " : "☐ ", c)),
    code_block: (n) => h("pre", { tabindex: "0" }, h("code", null, n.text ?? "")),
    rule: () => h("hr"),
    emphasis: (_, c) => h("em", null, c),
    strong: (_, c) => h("strong", null, c),
    strike: (_, c) => h("del", null, c),
    code: (n) => h("code", null, n.text ?? ""),
    break: () => h("br"),
    link,
    image: (n, c) => h("span", { class: "image" }, "image: ", link(n, c.length > 0 ? c : [n.url ?? ""])),
};

/** All text of a node, without elements, however deep it is. */
function plain(node) {
    const stack = [node];
    let text = "";
    while (stack.length > 0) {
        const one = stack.pop();
        if (typeof one === "string") text += one;
        else stack.push(...(one.children ?? []).slice().reverse(), one.text ?? "");
    }
    return text;
}

const below = (node, depth) => (node.children ?? []).map((child) => elements(child, depth + 1));

/** @param {MarkdownNode} node @returns {any} nodes and texts for h() */
export function elements(node, depth = 0) {
    if (typeof node === "string") return node;
    if (depth > deepest) return plain(node);
    if (node.type === "table") return table(node, depth);
    const kind = Object.hasOwn(kinds, node.type) ? kinds[node.type] : null;
    return kind ? kind(node, below(node, depth)) : h("span", null, node.text ?? "", below(node, depth));
}

/** A message: its Markdown as elements, or its plain text when there is no Markdown. */
export function message(markdown, text) {
    return markdown ? h("div", { class: "md" }, markdown.map((node) => elements(node))) : raw(text);
}

export function raw(text) {
    return h("div", { class: "raw" }, text);
}

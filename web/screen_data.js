// The document behind a screen, as the server gives it: `.json` behind an address.
import { showError } from "./act.js";
import { behind } from "./api.js";
import { address } from "./routes.js";
import { fill, h, signal } from "./h.js";
import { size } from "./words.js";

const mostBytes = 200_000;

/** Indents the JSON text, unless it is very long. */
const laidOut = (text) => (text.length > 2_000_000 ? text : JSON.stringify(JSON.parse(text), null, 2));

export function open(place) {
    const body = h("div", null, h("p", { class: "quiet" }, "…")), near = h("p", { class: "error" });
    const query = new URLSearchParams(place.query).toString(), path = place.name + (query ? `?${query}` : "");

    async function load() {
        try {
            const text = await behind(path), all = laidOut(text), cut = signal(all.length > mostBytes);
            fill(body,
                h("div", { class: "tools" }, h("button", { type: "button", class: "small", onclick: () => navigator.clipboard?.writeText(text) }, "Copy"),
                    h("a", { class: "button small", download: "heddle.json", href: URL.createObjectURL(new Blob([text], { type: "application/json" })) }, "Save"), h("span", { class: "quiet" }, size(new TextEncoder().encode(text).length))),
                h("pre", { class: "raw-bytes", tabindex: "0", "aria-label": "Document" }, () => (cut() ? all.slice(0, mostBytes) : all)),
                () => (cut() ? h("p", null, `${size(mostBytes)} of ${size(all.length)} `, h("button", { type: "button", class: "small", onclick: () => cut.set(false) }, "Show all")) : null));
        } catch (error) {
            fill(body);
            showError(near, error);
        }
    }
    load();
    return {
        title: `${path}, as data`,
        element: h("div", { class: "screen data" }, h("div", { class: "pane-body pad" },
            h("h1", null, "The document behind ", h("a", { class: "mono", href: path }, path)),
            h("p", { class: "quiet" }, "A program asks for it with a token: ", h("code", null, `curl -H "Authorization: Bearer …" ${location.origin}${address({ screen: "data", name: place.name, query: place.query })}`)), near, body)),
    };
}

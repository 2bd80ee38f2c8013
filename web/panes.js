// Panes beside each other; on a small screen one at a time, with tabs.
import { h, signal } from "./h.js";

/**
 * @param {{name: string, label: string, element: HTMLElement}[]} list
 * @param {{class?: string, first?: string}} [how]
 */
export function panes(list, how = {}) {
    const shown = signal(how.first ?? list[0].name);
    for (const pane of list) {
        pane.element.classList.add("pane");
        pane.element.id ||= `pane-${pane.name}`;
    }
    const tabs = h("div", { class: "pane-tabs", role: "group", "aria-label": "Parts of this screen" }, list.map((pane) =>
        h("button", { type: "button", "aria-pressed": () => String(shown() === pane.name), onclick: () => shown.set(pane.name) }, pane.label)));
    const element = h("div", { class: `panes ${how.class ?? ""}` }, tabs, list.map((pane) => pane.element));
    const show = (name) => {
        shown.set(name);
        for (const pane of list) pane.element.classList.toggle("shown", pane.name === name);
    };
    tabs.addEventListener("click", () => show(shown()));
    show(shown());
    return { element, show, shown };
}

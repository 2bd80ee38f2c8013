// Keys: a map for the page and one for each screen. They are off while something is typed, and can
// be switched off for good.
import { h, signal } from "./h.js";
import { openDialog } from "./dialog.js";

/**
 * @typedef {{keys: string[], does: string, run: (event: KeyboardEvent) => void, group?: string}} Key
 */
const stored = "heddle-keys";

export const keysOn = signal(localStorage.getItem(stored) !== "off");
let globalKeys = /** @type {Key[]} */ ([]), screenKeys = /** @type {Key[]} */ ([]);

export function setGlobalKeys(list) {
    globalKeys = list;
}

/** The keys of the screen that is shown. */
export function setScreenKeys(list) {
    screenKeys = list;
}

export function switchKeys(on) {
    localStorage.setItem(stored, on ? "on" : "off");
    keysOn.set(on);
}

const typing = (target) => target instanceof HTMLElement &&
    (target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName) ||
        (target instanceof HTMLInputElement && !/^(checkbox|radio|button|range)$/.test(target.type)));

function handle(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (typing(event.target)) {
        if (event.key === "Escape") /** @type {HTMLElement} */ (event.target).blur();
        return;
    }
    if (!keysOn() || document.querySelector("dialog[open]")) return;
    // Enter and Space activate the button that has the focus.
    if ((event.key === "Enter" || event.key === " ") && event.target instanceof Element && event.target.closest("button, a, summary")) return;
    const key = [...screenKeys, ...globalKeys].find((k) => k.keys.includes(event.key));
    if (!key) return;
    event.preventDefault();
    key.run(event);
}

/** The list of keys, in a dialog. */
export function showKeys() {
    const table = (title, list) => list.length === 0 ? null : h("section", null,
        h("h3", null, title),
        h("table", { class: "keys" }, h("tbody", null, list.map((k) => h("tr", null,
            h("th", { scope: "row" }, k.keys.map((key) => [h("kbd", null, names[key] ?? key), " "])), h("td", null, k.does))))));
    const off = h("input", { type: "checkbox", checked: keysOn(), onchange: () => switchKeys(off.checked) });
    openDialog({
        title: "Keys", wide: true,
        body: [
            h("label", { class: "line" }, off, " Keys of one letter are on"),
            h("div", { class: "key-lists" }, table("On this screen", screenKeys), table("Everywhere", globalKeys)),
        ],
        actions: [{ label: "Close", value: "" }],
    });
}

const names = { ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc" };

export function startKeys() {
    addEventListener("keydown", handle);
}

// Writes. Each is one operation. Its outcome is shown in the line at the foot of the page, with an Undo
// button if it can be undone. What cannot be undone, or costs tokens, asks for confirmation first.
import { call, keyed, withKey } from "./api.js";
import { link } from "./app.js";
import { confirm } from "./dialog.js";
import { h, signal } from "./h.js";
import { status } from "./live.js";

/** How many writes have been sent and not answered yet. */
export const writing = signal(0);
/** How many writes of this tab were answered. The data on the screen may be older than the last of them. */
export const finished = signal(0);
/** The text in the line at the foot, and the function that undoes the write, while that is offered. */
export const said = signal(/** @type {{text: string, undo: null | (() => Promise<any>), why?: string}} */ ({ text: "", undo: null }));

const undoTime = 10_000;
let lastUndo = null, lastWhy = "", timer = 0;

/**
 * @typedef {object} Write
 * @property {string} name the operation
 * @property {object} params
 * @property {string} done what is said when it was done: "Pruned [c4m2]"
 * @property {() => Promise<any>} [undo] takes it back, as a new entry
 * @property {string} [final] why it cannot be taken back
 * @property {{title: string, body: any, label: string, danger?: boolean}} [ask] is asked first
 * @property {HTMLElement} [near] where an error is shown
 * @property {() => void} [again] sends it again, on the new head: offered when others wrote in between
 */

/** loom.do returns a result for each line; this is the error of the first line that failed, or null. */
export function loomFailure(document) {
    const bad = Array.isArray(document?.results) ? document.results.find((r) => !r.ok) : null; // compact returns a number here
    return bad ? Object.assign(new Error(bad.error.message), { code: bad.error.code, hint: bad.error.hint ?? "" }) : null;
}

function alertAt(near) {
    const place = near ?? document.getElementById("page-error");
    place?.setAttribute("role", "alert");
    place?.classList.add("error");
    return place;
}

/** Shows an error beside the control that caused it: code, message and hint, as in the shell. */
export function showError(near, error) {
    const place = alertAt(near);
    place?.replaceChildren(
        h("strong", null, error.code ?? "ERROR"), ` ${error.message}`,
        error.hint ? h("span", { class: "hint" }, ` ${error.hint}`) : "",
        h("button", { type: "button", class: "plain", "aria-label": "Dismiss", onclick: () => place.replaceChildren() }, "✕"));
}

export function clearError(near) {
    (near ?? document.getElementById("page-error"))?.replaceChildren();
}

// ---- writes whose outcome is unknown -------------------------------------------------------------
// No answer came, so the write may or may not have been done. When the same write is sent again, it gets the
// same key, so that the server does it once. The keys are in sessionStorage: this works after a reload too.

const unsureKey = "heddle-unsure";
const unsure = () => /** @type {Record<string, string>} */ (JSON.parse(sessionStorage.getItem(unsureKey) ?? "{}"));

function keepKey(name, params, key) {
    const { expect, ...what } = params, all = unsure(), id = JSON.stringify([name, what]);
    if (key) all[id] = key;
    else delete all[id];
    sessionStorage.setItem(unsureKey, JSON.stringify(all));
}

function keyOf(name, params) {
    const { expect, ...what } = params, field = keyed.get(name), known = unsure()[JSON.stringify([name, what])];
    return field && known && params[field] === undefined ? { ...params, [field]: known } : withKey(name, params);
}

// ---- conflicts: somebody else wrote first ---------------------------------------------------------

const mostCame = 100;

function cameLine(thread, e) {
    return h("li", null, h("a", { class: "mono", href: link({ screen: "log", thread, query: { at: String(e.seq) } }) }, `#${e.seq}`), ` ${e.actor ?? ""} `,
        h("span", { class: "quiet" }, e.kind.replaceAll("_", " ")), ` ${e.line ?? ""}`);
}

/** Lists the entries that others wrote meanwhile, and offers to send the write on top of them. */
async function showConflict(write, error) {
    const { thread, expect } = write.params;
    const { items, next } = await call("log.list", { thread, from: expect, limit: mostCame }).catch(() => ({ items: [], next: null }));
    if (items.length === 0) return showError(write.near, error);
    const list = h("ul", { class: "came", tabindex: "-1", "aria-label": "What came in between", hidden: true }, items.map((e) => cameLine(thread, e)),
        next === null ? null : h("li", { class: "quiet" }, "and more"));
    const show = h("button", { type: "button", class: "small", "aria-expanded": "false", onclick: () => {
        list.hidden = !list.hidden;
        show.setAttribute("aria-expanded", String(!list.hidden));
        if (!list.hidden) list.focus();
    } }, "Show");
    const place = alertAt(write.near);
    place?.replaceChildren(h("strong", null, "CONFLICT"), ` ${items.length}${next === null ? "" : "+"} ${items.length === 1 ? "entry" : "entries"} came in between; nothing was written. `, show, " ",
        h("button", { type: "button", class: "small", onclick: () => { clearError(write.near); write.again?.(); } }, "Send"),
        h("button", { type: "button", class: "plain", "aria-label": "Dismiss", onclick: () => place.replaceChildren() }, "✕"), list);
}

/**
 * Does a write. Returns its document, or null when it failed or was not confirmed; errors are shown.
 * @param {Write} write @returns {Promise<any>}
 */
export async function act(write) {
    clearError(write.near);
    if (status().state === "offline") {
        showError(write.near, { code: "OFFLINE", message: "the server does not answer: nothing can be written now" });
        return null;
    }
    if (write.ask && !(await confirm(write.ask.title, write.ask.body, write.ask.label, write.ask.danger ?? true))) return null;
    const params = keyOf(write.name, write.params), field = keyed.get(write.name);
    writing.update((n) => n + 1);
    try {
        const document = await call(write.name, params, { write: true });
        if (field) keepKey(write.name, write.params, null);
        const failed = loomFailure(document);
        if (failed) throw failed;
        announce(write.done, write.undo ?? null, write.final);
        return document;
    } catch (error) {
        if (field) keepKey(write.name, write.params, error.status === 0 ? params[field] : null);
        if (error.code === "CONFLICT" && error.reason === "rev" && write.again) await showConflict(write, error);
        else showError(write.near, error);
        return null;
    } finally {
        finished.update((n) => n + 1);
        writing.update((n) => n - 1);
    }
}

/** Shows what was done. The Undo button is shown for ten seconds; the key `u` works until the next write. `why`: the reason when it cannot be undone. */
export function announce(text, undo, why = "") {
    clearTimeout(timer);
    lastUndo = undo;
    lastWhy = why;
    said.set({ text, undo, why });
    timer = window.setTimeout(() => said.set({ text: "", undo: null }), undoTime);
}

/** Whether the last write of this tab can be undone. */
export const canUndo = () => lastUndo !== null;

/** Undoes the last write of this tab. */
export async function undoLast() {
    const undo = lastUndo;
    if (!undo) return announce(lastWhy ? `It cannot be taken back: ${lastWhy}.` : "There is nothing to take back here.", null, lastWhy);
    lastUndo = null;
    said.set({ text: "Taking it back…", undo: null });
    if (await undo()) announce("Taken back.", null);
}

/**
 * Runs a command of the → language as a write. It is undone by the command `undo`, which is a new entry. `more.expect` returns
 * the revision that the user saw when writing; if there are newer entries, they are shown and nothing is written.
 */
export async function loom(thread, line, done, more = {}) {
    const expect = more.expect ? { expect: await more.expect() } : {};
    return act({
        name: "loom.do", params: { thread, lines: `→ ${line}`, ...more.params, ...expect }, done, undo: () => loomUndo(thread, more.near, more.params), near: more.near,
        again: more.expect ? () => loom(thread, line, done, more) : undefined,
    });
}

/** Undoes the last write of an agent. `undo` only affects the writes of its caller, so it is called as that agent. */
export function loomUndo(thread, near, params = {}) {
    return act({ name: "loom.do", params: { thread, lines: "→ undo", ...params }, done: "Taken back.", near });
}

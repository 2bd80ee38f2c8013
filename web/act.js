// Writes. Each is one operation; what came of it is said in the line at the foot of the page, with
// a way back where there is one; what cannot be taken back, or costs, is asked for first.
import { call, keyed, withKey } from "./api.js";
import { link } from "./app.js";
import { confirm } from "./dialog.js";
import { h, signal } from "./h.js";
import { status } from "./live.js";

/** How many writes are under way. */
export const writing = signal(0);
/** How many writes of this tab have come to their end: what is shown may not have them yet. */
export const finished = signal(0);
/** What the line at the foot says: a sentence, and the way back while there is one. */
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

/** An operation on a tree answers for each of its lines: the first that failed is the failure. */
export function loomFailure(document) {
    const bad = Array.isArray(document?.results) ? document.results.find((r) => !r.ok) : null; // of a compaction it is a number
    return bad ? Object.assign(new Error(bad.error.message), { code: bad.error.code, hint: bad.error.hint ?? "" }) : null;
}

function alertAt(near) {
    const place = near ?? document.getElementById("page-error");
    place?.setAttribute("role", "alert");
    place?.classList.add("error");
    return place;
}

/** Says an error beside the thing: code, sentence, hint, as in the shell. */
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

// ---- writes of which nobody knows whether they were done ------------------------------------------
// No answer came. When the same is sent again it gets the same key, so that it is done once; also after
// the page was loaded anew.

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

// ---- others wrote in between ----------------------------------------------------------------------

const mostCame = 100;

function cameLine(thread, e) {
    return h("li", null, h("a", { class: "mono", href: link({ screen: "log", thread, query: { at: String(e.seq) } }) }, `#${e.seq}`), ` ${e.actor ?? ""} `,
        h("span", { class: "quiet" }, e.kind.replaceAll("_", " ")), ` ${e.line ?? ""}`);
}

/** Says what came in between, and offers to send all the same. */
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
 * Does a write. Answers with its document, or null when it was not done; then the error is shown.
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

/** Says what was done; `undo` stays offered for ten seconds, and on the key `u` until the next write, or else `why` there is none. */
export function announce(text, undo, why = "") {
    clearTimeout(timer);
    lastUndo = undo;
    lastWhy = why;
    said.set({ text, undo, why });
    timer = window.setTimeout(() => said.set({ text: "", undo: null }), undoTime);
}

/** Whether the last write of this tab can be taken back. */
export const canUndo = () => lastUndo !== null;

/** Takes the last write of this tab back. */
export async function undoLast() {
    const undo = lastUndo;
    if (!undo) return announce(lastWhy ? `It cannot be taken back: ${lastWhy}.` : "There is nothing to take back here.", null, lastWhy);
    lastUndo = null;
    said.set({ text: "Taking it back…", undo: null });
    if (await undo()) announce("Taken back.", null);
}

/**
 * A command of the → language, as a write. Trees have their own undo, which is a new entry. `more.expect` says how many
 * entries were seen when a text was written; when others came in between, they are shown before it is sent.
 */
export async function loom(thread, line, done, more = {}) {
    const expect = more.expect ? { expect: await more.expect() } : {};
    return act({
        name: "loom.do", params: { thread, lines: `→ ${line}`, ...more.params, ...expect }, done, undo: () => loomUndo(thread, more.near, more.params), near: more.near,
        again: more.expect ? () => loom(thread, line, done, more) : undefined,
    });
}

/** What an agent did is taken back as that agent: undo is of one's own last write. */
export function loomUndo(thread, near, params = {}) {
    return act({ name: "loom.do", params: { thread, lines: "→ undo", ...params }, done: "Taken back.", near });
}

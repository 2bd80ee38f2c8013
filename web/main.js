// Starts the page: the session, the bar, the stream of news, and the screen that the address names.
//
// A screen is a module with `open(place)`, which returns {element, title, keys?, go?}: the element that
// is shown, what the window is called, its keys, and go(place), which is called when only the
// rest of the address changes; without go() the screen is opened again.
import { said, showError, undoLast } from "./act.js";
import { lastSeen, late, serverStatus } from "./api.js";
import { aloud, go, place, startPlace, thread } from "./app.js";
import { openCommand } from "./command.js";
import { add, effect, h, scope, signal } from "./h.js";
import { setGlobalKeys, setScreenKeys, showKeys, startKeys } from "./keys.js";
import { start as startLive, status } from "./live.js";
import { address, dataOf, screens } from "./routes.js";
import { enter, entered, refusal } from "./session.js";
import { nextTheme, theme } from "./theme.js";
import { clock } from "./words.js";

const view = h("main", { id: "main", tabindex: "-1" });
let close = () => {}, shown = null, opening = 0;

function problem(title, ...body) {
    return { title, element: h("section", { class: "empty" }, h("h1", null, title), ...body) };
}

/** A button that reloads the page. */
const again = () => h("div", { class: "tools" }, h("button", { type: "button", class: "primary", onclick: () => location.reload() }, "Load it again"));

function noSession() {
    const why = refusal();
    return problem("There is no session",
        why ? h("p", { role: "alert", class: "error" }, h("strong", null, why.code), ` ${why.message}`) : null,
        h("p", null, "Run ", h("code", null, "heddle open"), " in the workspace. It makes a link that works once; this page goes on by itself."),
        why?.code === "OFFLINE" ? again() : null);
}

const failed = (error) => problem("This screen could not be opened", h("p", { role: "alert", class: "error" }, String(error?.message ?? error)),
    h("p", null, "What was written is in the log. ", h("code", null, "heddle serve --status"), " says whether the server runs."), again());

/** Imports a module. If that fails, it is tried once more with another address, because the browser caches the failure. */
async function moduleOf(path) {
    try {
        return await import(path);
    } catch {
        return import(`${path}?again`);
    }
}

async function screenOf(to) {
    if (!entered()) return noSession;
    const screen = screens[to.screen];
    if (!screen) return () => problem("There is nothing here", h("p", null, h("a", { href: "/" }, "Go to the overview")));
    try {
        return (await moduleOf(screen.module)).open;
    } catch (error) {
        return () => failed(error);
    }
}

async function show(to) {
    const mine = ++opening; // a screen that is still being loaded is dropped
    if (shown && shown.screen === to.screen && shown.thread === to.thread && shown.made?.go && entered()) {
        shown.made.go(to);
        return;
    }
    const open = await screenOf(to);
    if (mine !== opening) return;
    close();
    let made = /** @type {any} */ (null);
    close = scope(() => {
        try {
            made = open(to);
        } catch (error) {
            made = failed(error);
        }
    });
    shown = entered() ? { screen: to.screen, thread: to.thread, made } : null;
    document.title = `${made.title} · heddle`;
    setScreenKeys(made.keys ?? []);
    // Every screen has a heading, which may be visible to screen readers only.
    view.replaceChildren(...(made.element.querySelector("h1") ? [] : [h("h1", { class: "heard" }, made.title)]), made.element);
    view.dataset.screen = to.screen;
    made.shown?.();
}

const isOf = (screen) => screen.of === "all" || thread() !== null;

function tab([name, screen]) {
    const to = () => address({ screen: name, thread: screen.of === "thread" ? thread() : undefined });
    return () => screen.hidden || !isOf(screen) ? null : h("li", null, h("a", {
        href: to(), "aria-current": place().screen === name ? "page" : null,
    }, screen.label));
}

const liveWords = {
    starting: () => ["○", "connecting"],
    live: () => ["●", "live"],
    offline: (s) => ["▲", `offline since ${clock(s.since)}`],
    out: () => ["▲", "no session"],
};

function liveSign() {
    return h("span", { class: "live", "data-state": () => status().state },
        () => { const [sign, text] = liveWords[status().state](status()); return [h("span", { "aria-hidden": "true" }, sign), ` ${text}`]; });
}

function find() {
    const input = h("input", { type: "search", id: "find", placeholder: "Find words, #12, [a7x2]", "aria-label": "Find", autocomplete: "off" });
    const submit = (event) => {
        event.preventDefault();
        const q = input.value.trim();
        const id = /^\[([^\]]+)\]$/.exec(q), seq = /^#(\d+)$/.exec(q);
        if (id && thread()) go({ screen: "thread", thread: thread(), node: id[1] });
        else if (seq && thread()) go({ screen: "log", thread: thread(), query: { at: seq[1] } });
        else if (q) go({ screen: "search", query: { q } });
        input.blur();
    };
    return h("form", { role: "search", class: "find", onsubmit: submit }, input);
}

/** The root of the workspace, to tell tabs of several workspaces apart. */
const workspace = signal("");
async function readWorkspace() {
    const answer = await serverStatus().catch(() => null); // then the name is not shown
    if (answer) workspace.set(answer.root);
}

function bar() {
    return h("header", { class: "bar" },
        h("a", { href: "/", class: "brand" }, "heddle"),
        () => (workspace() ? h("span", { class: "workspace", title: workspace() }, workspace().split("/").pop() || "/") : null),
        h("nav", { "aria-label": "Screens" }, h("ul", null, Object.entries(screens).map(tab))),
        find(),
        h("button", { class: "plain", type: "button", onclick: nextTheme, "aria-label": () => `Colours: ${theme()}`, title: () => `Colours: ${theme()}` },
            () => ({ auto: "◐", light: "☀", dark: "☾" })[theme()]),
        liveSign());
}

function foot() {
    return h("footer", { class: "foot" },
        h("p", { role: "status", title: () => (said().why ? `It cannot be taken back: ${said().why}` : null) }, () => said().text || ""),
        () => said().undo ? h("button", { type: "button", class: "small", onclick: undoLast }, "Undo") : null,
        h("p", { id: "page-error" }),
        h("span", { class: "grow" }),
        () => (place().screen === "data" || place().screen === "nowhere" ? null : h("a", { class: "data-link", href: dataOf(location), title: "The document behind this screen" }, ".json")),
        h("button", { type: "button", class: "plain", onclick: () => openCommand() }, h("kbd", null, ":"), " command"),
        h("button", { type: "button", class: "plain", onclick: showKeys }, h("kbd", null, "?"), " keys"));
}

/** ", last #2417": the last known entry of the current thread. */
const lastWords = () => (thread() !== null && lastSeen(thread()) >= 0 ? `, last #${lastSeen(thread())}` : "");

function lineWords() {
    if (status().state === "offline") return `Offline since ${clock(status().since)}${lastWords()}: what is shown may be old, and nothing can be written. The page tries again by itself.`;
    return late() > 0 ? "The server takes long to answer. The page waits for it; heddle serve --status says whether it runs." : "";
}

function offlineLine() {
    return h("p", { class: "offline-line", role: "status", hidden: () => lineWords() === "" }, lineWords);
}

setGlobalKeys([
    { keys: ["/"], does: "find", run: () => document.getElementById("find")?.focus() },
    { keys: [":"], does: "a command of the → language", run: () => openCommand() },
    { keys: ["?"], does: "this list", run: () => showKeys() },
    { keys: ["u"], does: "take your last write back", run: () => undoLast() },
    { keys: ["y"], does: "copy the link to what is shown", run: () => copyLink() },
    ...Object.entries(screens).filter(([, s]) => s.key).map(([name, s]) => ({
        keys: [s.key], does: `go to ${s.label.toLowerCase()}`, run: () => thread() && go({ screen: name, thread: thread() }),
    })),
]);

async function copyLink() {
    await navigator.clipboard?.writeText(location.href);
    said.set({ text: "The link was copied.", undo: null });
}

/** Shows uncaught errors in the line at the foot. */
function tellErrors() {
    const tell = (error) => {
        if (error?.name !== "AbortError") showError(null, { code: error?.code ?? "ERROR", message: `something in the page failed: ${error?.message ?? error}`, hint: "load it again if it stays" });
    };
    addEventListener("error", (event) => tell(event.error ?? { message: event.message }));
    addEventListener("unhandledrejection", (event) => tell(event.reason));
}

function frame() {
    view.append(h("section", { class: "empty starting" }, h("p", null, "Waiting for the server…")));
    const app = document.getElementById("app");
    app.replaceChildren();
    add(app,
        h("a", { href: "#main", class: "skip", onclick: (event) => { event.preventDefault(); view.focus(); } }, "Skip to the content"),
        bar(), offlineLine(), view, foot(),
        h("div", { class: "aloud", "aria-live": "polite" }, () => aloud()));
}

async function main() {
    startPlace();
    startKeys();
    frame();
    tellErrors();
    await enter();
    startLive();
    effect(() => {
        entered();
        const to = place();
        // Later, so that this effect does not depend on the signals that a screen reads while it is opened.
        queueMicrotask(() => show(to).catch((error) => { view.replaceChildren(failed(error).element); }));
    });
    effect(() => {
        if (entered()) readWorkspace();
    });
    // On a small screen the bar is wider than the window: scroll the current tab into view.
    effect(() => {
        place();
        requestAnimationFrame(() => document.querySelector(".bar nav a[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" }));
    });
}

main().catch((error) => { view.replaceChildren(failed(error).element); });

// The overview: what needs a person first, then objectives, threads and what they read.
import { act, showError } from "./act.js";
import { call } from "./api.js";
import { go, link, remember, remembered } from "./app.js";
import { form } from "./dialog.js";
import { ending, fill, h, signal } from "./h.js";
import { onChange } from "./live.js";
import { needs, overviewRows, stateWords, statusWords } from "./overview_list.js";
import { openOperations } from "./operations.js";
import { panes } from "./panes.js";
import { rows } from "./rows.js";
import { threadDetail } from "./thread_detail.js";
import { refreshReference } from "./reference.js";
import { ago, count } from "./words.js";

const signs = { active: "●", suspended: "‖", waiting_human: "⚑", completed: "✓", cancelled: "✕", frozen: "❄", archived: "▢" };

function makeRow() {
    const row = /** @type {any} */ (h("div", null));
    row.sign = h("span", { class: "sign", "aria-hidden": "true" });
    row.name = h("span", { class: "name" });
    row.words = h("span", { class: "words" });
    row.tag = h("span", { class: "tag" });
    row.more = h("span", { class: "more" });
    row.append(row.sign, row.name, row.words, row.tag, row.more);
    return row;
}

const fillers = {
    objective: (row, r) => {
        set(row, "◎", r.title, r.threads ? `${r.open ?? r.threads} of ${count(r.threads, "thread")} open` : "no threads", "");
    },
    thread: (row, r) => {
        const runs = r.runs ? "running" : "";
        set(row, signs[r.status] ?? "·", r.id, r.title, runs || (r.status === "active" ? "" : statusWords(r.status ?? "")));
        row.tag.className = `tag ${runs ? "good" : r.status === "waiting_human" ? "warn" : ""}`;
        row.more.textContent = r.updated ? `${r.entries ? `${count(r.entries, "entry", "entries")} · ` : ""}${ago(r.updated)}` : "";
    },
    reference: (row, r) => {
        const files = r.scope?.length ? `:${r.scope.join(", ")}` : "";
        set(row, r.binding === "frozen" ? "▣" : "→", `${r.target}${files}`, r.binding, r.state === "fresh" ? "" : stateWords[r.state] ?? r.state);
        row.tag.className = "tag warn";
    },
};

function set(row, sign, name, words, tag) {
    row.sign.textContent = sign;
    row.name.textContent = name;
    row.words.textContent = words;
    row.tag.textContent = tag;
    row.tag.hidden = !tag;
    row.more.textContent = "";
}

const needSigns = { failed: "✕", waiting: "⚑", input: "✉", stale: "▣" };

/** The button that deals with something that waits. */
function needButton(n, near, reload) {
    const button = (label, f) => h("button", { type: "button", class: "small", "aria-label": `${label} ${n.thread}`, onclick: async () => { if (await f()) reload(); } }, label);
    const move = (action, done, undo) => act({ name: "thread.lifecycle", params: { thread: n.thread, action }, done, near, undo });
    if (n.kind === "stale") return button("Refresh…", () => refreshReference(n.thread, n.target, near));
    if (n.kind === "waiting") return button("Resume", () => move("resume", `${n.thread} goes on.`, () => move("suspend", `${n.thread} is suspended.`)));
    return n.kind === "failed" ? h("a", { class: "button small", "aria-label": `Show the runs of ${n.thread}`, href: link({ screen: "log", thread: n.thread, query: { kind: "run_started,run_input,run_finished,run_checkpoint,run_tool_held" } }) }, "Show") : null;
}

function needLine(n, reload) {
    const near = h("p", { class: "error" });
    const files = n.files?.length ? `:${n.files.slice(0, 3).join(", ")}` : "";
    return h("li", { class: `need ${n.kind}` },
        h("span", { class: "warn sign", "aria-hidden": "true" }, needSigns[n.kind] ?? "!"), " ",
        h("a", { href: link({ screen: "thread", thread: n.thread }) }, n.thread), " ",
        n.kind === "stale" ? ["reads ", h("strong", null, n.target + files), ", ", n.text] : n.text,
        h("span", { class: "quiet" }, ` ${ago(n.since)}`), " ",
        needButton(n, near, reload), near);
}

const nothing = () => h("section", { class: "empty" }, h("h2", null, "No threads yet"),
    h("p", null, "A thread is a conversation with its files. Make the first one here, or in the shell:"),
    h("pre", null, "heddle objective create 'Log in'\nheddle spawn 'Design the API' --objective log-in\nheddle say design 'Which store should we use?'"),
    h("div", { class: "tools" }, h("button", { type: "button", class: "primary", onclick: () => spawn() }, "New thread…")));

/** Asks for the properties of a new thread, and makes it. */
export async function spawn(parent, objective_) {
    const { items } = await call("objective.list").catch(() => ({ items: [] }));
    const list = [...items.map((o) => ({ value: o.id, label: o.title ?? o.id })), { value: "", label: "a new objective, below" }];
    const values = await form(parent ? `New thread below ${parent}` : "New thread", [
        { name: "intent", label: "What it is to do", lines: 3, required: true },
        { name: "objective", label: "Objective", options: list, value: objective_ },
        { name: "title", label: "New objective", hint: items.length ? "its title, instead of the one above" : "its title; without one, what the thread is to do" },
        { name: "ref", label: "Reads", hint: "threads, with commas; design:plan.md for one file" },
    ], "Make it");
    if (!values) return;
    let objective = values.title.trim() ? "" : values.objective;
    if (!objective) {
        const made = await act({ name: "objective.create", params: { title: values.title || values.intent }, done: "Made the objective." });
        if (!made) return;
        objective = made.id;
    }
    const ref = values.ref.split(",").map((r) => r.trim()).filter(Boolean);
    const made = await act({ name: "thread.spawn", params: { intent: values.intent, objective, ...(parent ? { parent } : {}), ...(ref.length ? { ref } : {}) }, done: "Made the thread.", final: "Delete… on the overview removes a thread" });
    if (made) go({ screen: "thread", thread: made.thread_id });
}

/** The details of an objective. */
function objectiveDetail(o, rows, reload) {
    const near = h("p", { class: "error" });
    const remove = () => act({
        name: "objective.delete", params: { id: o.id }, done: `Deleted ${o.title}.`, near,
        ask: { title: `Delete ${o.title}?`, body: h("p", null, "It has no threads. This cannot be taken back."), label: "Delete the objective" },
    });
    return h("div", { class: "detail" }, near, h("h3", null, o.title),
        h("p", { class: "quiet" }, o.id ? `${o.id} · ` : "", o.threads ? `${o.open ?? o.threads} of ${count(o.threads, "thread")} open` : "no threads"),
        o.id ? h("div", { class: "tools" }, h("button", { type: "button", class: "small", onclick: () => spawn(undefined, o.id) }, "New thread here…"),
            o.threads ? null : h("button", { type: "button", class: "small", onclick: async () => { if (await remove()) reload(); } }, "Delete…")) : null,
        o.threads ? [h("h4", null, "Threads"), h("ul", null, rows.slice(0, 50).map((t) => h("li", null, h("span", { class: "quiet", "aria-hidden": "true" }, `${signs[t.status] ?? "·"} `),
            h("a", { href: link({ screen: "thread", thread: t.id }) }, t.id), ` ${t.title}`)))] : null);
}

/** The threads that stand below the objective in a row. */
function threadsBelow(shown, index) {
    const end = shown.findIndex((r, i) => i > index && r.kind === "objective");
    return shown.slice(index + 1, end < 0 ? shown.length : end).filter((r) => r.kind === "thread");
}

export function open() {
    const data = signal(/** @type {any} */ (null)), filter = signal(""), chosen = signal(remembered().chosen ?? ""), objective = signal(/** @type {any} */ (null)), isEmpty = signal(false);
    const error = h("p", { class: "error" });
    let shown = [];
    const list = rows({
        label: "Objectives and threads", role: "tree", height: 28, make: makeRow,
        fill: (row, index) => {
            const r = shown[index];
            row.className = `row over-${r.kind} l${Math.min(8, r.level)}${row.classList.contains("selected") ? " selected" : ""}`;
            fillers[r.kind](row, r);
        },
        describe: (index) => ({ level: shown[index].level, size: shown[index].size, place: shown[index].place + 1 }),
        onselect: (index) => {
            const r = shown[index], thread = r.kind === "reference" ? r.thread : r.kind === "thread" ? r.id : "";
            chosen.set(thread);
            objective.set(r.kind === "objective" ? { row: r, threads: threadsBelow(shown, index) } : null);
            remember({ chosen: thread });
        },
        onpick: () => both.show("detail"),
        onopen: (index) => {
            const r = shown[index];
            if (r.kind === "thread") go({ screen: "thread", thread: r.id });
            else if (r.kind === "reference") go({ screen: "thread", thread: r.target });
        },
    });

    function draw() {
        if (!data()) return;
        shown = overviewRows(data().graph, data().list, data().running, filter());
        list.resize(shown.length);
        if (chosen() === "" && objective() === null && list.selected() < 0 && filter() === "") {
            // The first thing that waits, else the first thread: the pane beside the list is never empty.
            chosen.set(data().needs[0]?.thread ?? shown.find((r) => r.kind === "thread")?.id ?? "");
        }
        const at = shown.findIndex((r) => r.kind === "thread" && r.id === chosen());
        if (at >= 0 && list.selected() < 0) list.select(at, true);
        else if (at >= 0) list.mark(at);
        list.redraw();
    }

    async function load() {
        try {
            const [graph, threads, workers, attention] = await Promise.all([call("thread.graph"), call("thread.list"), call("worker.list"), call("workspace.attention")]);
            const running = [...workers.items.filter((w) => w.alive).map((w) => w.thread), ...attention.items.filter((n) => n.kind === "running").map((n) => n.thread)];
            data.set({ graph, list: threads.items, running, needs: needs(attention.items, workers.items) });
            isEmpty.set(threads.items.length === 0 && graph.objectives.length === 0);
            draw();
        } catch (e) {
            showError(error, e);
        }
    }

    let timer = 0;
    onChange(() => {
        clearTimeout(timer);
        timer = window.setTimeout(load, 250);
    });
    ending(() => clearTimeout(timer));
    load();

    const waiting = () => data()?.needs ?? [];
    const needsList = h("section", { class: "needs", "aria-label": "Needs you" },
        () => waiting().length === 0 ? (data() ? h("p", { class: "quiet pad-line" }, "Nothing waits for you.") : null)
            : [h("h2", null, "Needs you"), h("ul", null, waiting().slice(0, 6).map((n) => needLine(n, load))),
                waiting().length > 6 ? h("p", { class: "quiet pad-line" }, `and ${count(waiting().length - 6, "more", "more")}: they are marked below`) : null]);
    const box = h("input", { type: "search", placeholder: "filter", "aria-label": "Filter threads", oninput: () => { filter.set(box.value); draw(); } });
    const left = h("section", { "aria-label": "Threads" },
        h("div", { class: "pane-head" }, h("h2", null, () => data() ? count(data().list.length, "thread") : "Threads"), h("span", { class: "grow" }), box,
            h("button", { type: "button", class: "small", onclick: () => spawn() }, "New thread…")),
        h("div", { class: "over-list" }, error, needsList, list.element));
    const detail = h("div", { class: "pane-body pad" });
    const right = h("section", { "aria-label": "Chosen thread" }, h("div", { class: "pane-head" }, h("h2", null, () => (objective() ? "Objective" : chosen() || "Nothing chosen"))), detail);
    const both = panes([{ name: "list", label: "Threads", element: left }, { name: "detail", label: "Chosen", element: right }], { class: "overview" });
    fill(detail, () => objective() ? objectiveDetail(objective().row, objective().threads, load) : chosen() ? threadDetail(chosen(), { spawn, reload: load }) : h("p", { class: "quiet" }, "Choose a thread: j and k move, Enter opens it."));
    // By a signal of its own: were the list put in again with every answer, it would lose the focus.
    const element = h("div", { class: "screen" }, () => (isEmpty() ? nothing() : both.element));
    return {
        title: "Overview", element,
        shown: () => list.element.focus({ preventScroll: true }),
        keys: [
            { keys: ["j", "ArrowDown"], does: "next", run: () => list.select(list.selected() + 1) },
            { keys: ["k", "ArrowUp"], does: "before", run: () => list.select(list.selected() - 1) },
            { keys: ["g"], does: "first", run: () => list.select(0) },
            { keys: ["G"], does: "last", run: () => list.select(list.count() - 1) },
            { keys: ["Enter"], does: "open the thread", run: () => chosen() && go({ screen: "thread", thread: chosen() }) },
            { keys: ["s"], does: "steer its run", run: () => document.getElementById("do-steer")?.click() },
            { keys: ["i"], does: "inject into its next context", run: () => document.getElementById("do-inject")?.click() },
            { keys: ["R"], does: "refresh its references", run: () => chosen() && refreshReference(chosen(), null, null).then((d) => d && load()) },
            { keys: ["O"], does: "any operation on it", run: () => chosen() && openOperations(chosen()) },
            { keys: ["a"], does: "new thread", run: () => spawn() },
            { keys: ["f"], does: "filter", run: () => box.focus() },
        ],
    };
}

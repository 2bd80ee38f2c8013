// The details of a thread: its state, references, run and worker, and the operations on it.
import { act, showError } from "./act.js";
import { call } from "./api.js";
import { link } from "./app.js";
import { confirm, form } from "./dialog.js";
import { ending, h, signal } from "./h.js";
import { onChange } from "./live.js";
import { openOperations } from "./operations.js";
import { stateWords, statusWords } from "./overview_list.js";
import { refreshReference } from "./reference.js";
import { ofRun, readRun, steerFinal } from "./thread_say.js";
import { ago, count, firstLine, moment, number, size } from "./words.js";

/** The actions that a state allows, and the action that undoes each. */
const lifecycle = {
    suspend: { label: "Suspend", from: ["active", "waiting_human"], back: "resume" },
    resume: { label: "Resume", from: ["suspended", "waiting_human"], back: "suspend" },
    done: { label: "Done", from: ["active", "waiting_human"], back: null, yes: "It is done", ask: "A thread that is done does not go on; it can be archived. Its log and files stay." },
    cancel: { label: "Cancel", from: ["active", "suspended", "waiting_human"], back: null, yes: "Cancel the thread", ask: "A cancelled thread does not go on. Its log and files stay." },
    archive: { label: "Archive", from: ["completed", "cancelled"], back: null, yes: "Archive it", ask: "An archived thread stays archived. Its log and files stay." },
};

/** The confirmation for an action that cannot be undone. */
const askFor = (id, l) => (l.ask ? { title: `${id}: ${l.label.toLowerCase()}?`, body: h("p", null, `${l.ask} This cannot be taken back.`), label: l.yes, danger: l.label === "Cancel" } : undefined);

function lifecycleButtons(d, near, reload) {
    return Object.entries(lifecycle).filter(([, l]) => l.from.includes(d.status)).map(([action, l]) => h("button", {
        type: "button", class: "small",
        onclick: async () => {
            const params = (a) => ({ thread: d.id, action: a });
            const write = (a, back) => act({
                name: "thread.lifecycle", params: params(a), done: `${d.id}: ${lifecycle[a].label.toLowerCase()}.`, near,
                undo: back ? () => write(back, null) : undefined,
                ask: askFor(d.id, lifecycle[a]),
            });
            if (await write(action, l.back)) reload();
        },
    }, l.ask ? `${l.label}…` : l.label));
}

async function steer(d, run, near) {
    const values = await form(`Steer ${run.agent || "the run"} in ${d.id}`, [{ name: "text", label: "What is said; it waits for the next step of the run", lines: 3, required: true }], "Steer");
    if (values) await act({ name: "run.steer", params: { thread: d.id, text: values.text, ...ofRun(run) }, done: `Said to the run of ${d.id}.`, near, final: steerFinal });
}

export async function inject(d, near, reload) {
    const values = await form(`Tell ${d.id} something`, [
        { name: "content", label: "Its next context begins with this", lines: 3, required: true },
        { name: "type", label: "Kind", value: "data", options: ["data", "constraint", "feedback", "priority"] },
    ], "Inject");
    if (values && await act({ name: "thread.inject", params: { thread: d.id, ...values }, done: `Waits for the next context of ${d.id}.`, near, final: "what was told to a thread stays in its queue until its next context; tell it the contrary" })) reload();
}

async function rename(d, near, reload) {
    const values = await form(`Rename ${d.id}`, [{ name: "title", label: "Title", value: d.title ?? "", required: true }], "Rename");
    if (!values) return;
    const before = d.title;
    const back = before ? () => act({ name: "thread.rename", params: { thread: d.id, title: before }, done: "Taken back.", near }) : undefined;
    if (await act({ name: "thread.rename", params: { thread: d.id, title: values.title }, done: `Renamed ${d.id}.`, undo: back, near })) reload();
}

/** For a thread that only has a log: archived is its only state, and final. */
async function archive(d, near, reload) {
    if (await act({ name: "thread.archive", params: { thread: d.id }, done: `${d.id}: archived.`, near, ask: askFor(d.id, lifecycle.archive) })) reload();
}

async function remove(d, near, reload) {
    const sure = await confirm(`Delete ${d.id}?`, [h("p", null, `Its log of ${count(d.entries, "entry", "entries")} and its directory are deleted. This cannot be taken back.`)], "Delete the thread");
    if (sure && await act({ name: "thread.delete", params: { thread: d.id, yes: true }, done: `Deleted ${d.id}.`, near })) reload();
}

async function addReference(d, near, reload) {
    const values = await form(`What ${d.id} may read`, [
        { name: "target", label: "Thread", required: true }, { name: "scope", label: "Only these files", hint: "with commas; empty: all" },
        { name: "binding", label: "How", value: "frozen", options: [{ value: "frozen", label: "a copy of now" }, { value: "live", label: "what it has then" }] },
    ], "Add");
    if (!values) return;
    const scope = values.scope.split(",").map((s) => s.trim()).filter(Boolean);
    const undo = () => act({ name: "reference.drop", params: { from: d.id, target: values.target }, done: "Taken back.", near });
    if (await act({ name: "reference.add", params: { from: d.id, target: values.target, binding: values.binding, ...(scope.length ? { scope } : {}) }, done: `${d.id} reads ${values.target}.`, undo, near })) reload();
}

function referenceLine(d, r, near, reload) {
    const other = r.binding === "live" ? "frozen" : "live";
    const rebind = (binding, undo) => act({ name: "reference.rebind", params: { from: d.id, ref: r.ref_id, binding }, done: `${r.target} is ${binding} now.`, near, undo });
    const drop = () => act({
        name: "reference.drop", params: { from: d.id, ref: r.ref_id }, done: `Dropped ${r.target}.`, near,
        undo: () => act({ name: "reference.rebind", params: { from: d.id, ref: r.ref_id, as_before: true }, done: "Taken back.", near }),
    });
    return h("li", null,
        h("span", { "aria-hidden": "true", class: r.state === "fresh" ? "quiet" : "warn" }, r.binding === "frozen" ? "▣ " : "→ "),
        h("a", { href: link({ screen: "thread", thread: r.target }) }, r.target), r.scope.length ? `:${r.scope.join(", ")}` : "", " ",
        h("span", { class: "quiet" }, `${r.binding}, ${count(r.file_count, "file")}, ${size(r.bytes)}`), " ",
        r.state === "fresh" ? null : h("span", { class: "tag warn" }, stateWords[r.state] ?? r.state, r.stale_since ? ` ${ago(r.stale_since)}` : ""), " ",
        h("span", { class: "tools inline" },
            r.binding === "frozen" ? h("button", { type: "button", class: "small", onclick: async () => { if (await refreshReference(d.id, r.target, near)) reload(); } }, "Refresh…") : null,
            h("button", { type: "button", class: "small", onclick: async () => { if (await rebind(other, () => rebind(r.binding))) reload(); } }, `Make ${other}`),
            h("button", { type: "button", class: "small", onclick: async () => { if (await drop()) reload(); } }, "Drop")));
}

const runStates = { awaiting_llm: "running", awaiting_tool: "running a tool", error: "failed", completed: "completed", cancelled: "cancelled" };

/** The state of a run, in words. */
export const runWords = (run) => (run.active ? runStates[run.status] ?? "running" : run.termination_reason === "cancelled" ? "cancelled" : runStates[run.status] ?? run.status);
export const runTag = (run) => (run.active ? "good" : run.status === "error" && run.termination_reason !== "cancelled" ? "bad" : "");

function runLine(run, d, near, reload) {
    if (!run || run.status === "idle") return h("p", { class: "quiet" }, "No run.");
    const cancel = () => act({
        name: "run.cancel", params: { thread: d.id, ...ofRun(run) }, done: `Ended the run of ${d.id}.`, near,
        ask: { title: "End the run?", body: h("p", null, "What it said stays in the log."), label: "End the run" },
    });
    return [
        h("p", null, run.agent ? `${run.agent} ` : "", h("span", { class: `tag ${runTag(run)}` }, runWords(run)), " ",
            run.active ? `step ${run.iteration} of ${run.max_iterations}` : run.status === "error" ? firstLine(typeof run.result === "string" ? run.result : run.termination_reason) : "", " ",
            run.active ? h("button", { type: "button", class: "small", onclick: async () => { if (await cancel()) reload(); } }, "End it…") : null),
        run.pending_input.length ? h("ul", null, run.pending_input.map((p) => h("li", null, h("span", { class: "quiet" }, "waits: "), firstLine(typeof p.content === "string" ? p.content : JSON.stringify(p.content))))) : null,
    ];
}

function workerLine(w, near, reload) {
    if (!w) return null;
    const stop = () => act({ name: "worker.stop", params: { thread: w.thread }, done: `Stopped the worker of ${w.thread}.`, near, ask: { title: "Stop the worker?", body: h("p", null, "The process and all that it started are ended."), label: "Stop it" } });
    const bad = w.state === "lost" || w.exit_code > 0;
    return h("p", null, "worker ", h("span", { class: `tag ${w.alive ? "good" : bad ? "bad" : ""}` }, w.alive ? "running" : w.state), " ",
        h("span", { class: "quiet" }, w.executor ?? "", w.exit_code === undefined ? "" : ` ended with ${w.exit_code}`, w.changed?.length ? `, changed ${count(w.changed.length, "file")} that it may only read` : ""), " ",
        w.alive ? h("button", { type: "button", class: "small", onclick: async () => { if (await stop()) reload(); } }, "Stop…") : null);
}

/** How many runs there were. For a long log the server returns one mark for each part: then it is a lower bound. */
function runsLine(thread, marks) {
    const of = (mark) => marks?.items.find((m) => m.mark === mark)?.seqs.length ?? 0, started = of("run_started"), failed = of("run_failed");
    if (started === 0) return null;
    const least = marks.rev > 1000 ? "at least " : "";
    return h("p", { class: "quiet" }, h("a", { href: link({ screen: "log", thread, query: { kind: "run_started,run_input,run_finished,run_checkpoint,run_tool_held" } }) }, `${least}${count(started, "run")}`), failed ? h("span", { class: "warn" }, `, ${least}${number(failed)} failed`) : null);
}

const mostNames = 12;

function filesLine(thread, files) {
    const all = h("a", { href: link({ screen: "files", thread }) }, files.length ? "all, and what it may read" : "what it may read");
    const shortOf = (path) => path.replace(/^\.leslie\/threads\/[^/]+\//, "");
    return h("p", { class: "names" }, files.length ? null : "none of its own · ", files.slice(0, mostNames).map((f) => [h("a", { class: "mono", href: link({ screen: "files", thread, name: f.path }) }, shortOf(f.path)), " "]), all);
}

function lanesLine(thread, lanes) {
    return h("p", { class: "names" }, lanes.slice(0, mostNames).map((l) => [
        h("a", { class: "mono", href: link({ screen: "log", thread, query: { lane: l.lane } }), "aria-current": l.active ? "true" : null }, l.active ? `${l.lane}*` : l.lane), " ",
        l.from && l.at !== null && l.at >= 0 ? h("span", { class: "quiet" }, `from #${number(l.at)} `) : null]),
    lanes.length > mostNames ? h("span", { class: "quiet" }, `and ${number(lanes.length - mostNames)} more`) : null);
}

/** @param {string} thread @param {{spawn: (parent?: string) => void, reload: () => void}} how */
export function threadDetail(thread, how) {
    const data = signal(/** @type {any} */ (null)), near = h("p", { class: "error" });
    let timer = 0;
    async function load() {
        try {
            const status = await call("thread.status", { thread });
            const has = status.entries > 0, shared = status.storage_path !== null;
            const [run, lanes, marks, assets] = await Promise.all([
                has ? readRun(thread) : null, has ? call("lane.list", { thread }).catch(() => null) : null,
                has ? call("log.marks", { thread, marks: ["run_started", "run_failed"] }).catch(() => null) : null, shared ? call("asset.list", { thread }).catch(() => null) : null,
            ]);
            data.set({ status, run, lanes: lanes?.items ?? [], marks, files: (assets?.items ?? []).filter((f) => f.thread === thread) });
        } catch (error) {
            showError(near, error);
        }
    }
    const reload = () => { load(); how.reload(); };
    onChange((c) => {
        if (!c.reset && c.thread !== thread && c.thread !== ".global") return;
        clearTimeout(timer);
        timer = window.setTimeout(load, 200);
    });
    ending(() => clearTimeout(timer));
    load();
    const button = (label, onclick, id = null) => h("button", { type: "button", class: "small", id, onclick }, label);
    return h("div", { class: "detail" }, near, () => {
        if (!data()) return h("p", { class: "quiet" }, "…");
        const { status: d, run, lanes, marks, files } = data();
        const shared = d.storage_path !== null;
        return [
            h("h3", null, d.title ?? d.id),
            h("p", null, d.status ? h("span", { class: `tag ${d.status === "active" ? "good" : d.status === "waiting_human" ? "warn" : ""}` }, statusWords(d.status)) : null, " ",
                h("span", { class: "quiet" }, `${d.objective ?? "no objective"} · ${count(d.entries, "entry", "entries")} · changed ${moment(d.updated_at)}`)),
            h("div", { class: "tools" },
                h("a", { class: "button small", href: link({ screen: "thread", thread }) }, "Open"),
                run?.active ? button("Steer…", () => steer(d, run, near), "do-steer") : null,
                shared ? button("Inject…", () => inject(d, near, reload), "do-inject") : null,
                shared ? lifecycleButtons(d, near, reload) : d.status ? null : button("Archive…", () => archive(d, near, reload)),
                shared ? button("New thread below…", () => how.spawn(d.id)) : null,
                button("Rename…", () => rename(d, near, reload)), button("More…", () => openOperations(d.id)), button("Delete…", () => remove(d, near, reload))),
            h("h4", null, "Run"), runLine(run, d, near, reload), runsLine(thread, marks), workerLine(d.worker, near, reload),
            d.pending_injections ? h("p", { class: "quiet" }, `${count(d.pending_injections, "text")} for its next context`) : null,
            shared ? [
                h("h4", null, "Reads"),
                d.references.length ? h("ul", { class: "refs" }, d.references.map((r) => referenceLine(d, r, near, reload))) : h("p", { class: "quiet" }, "nothing of other threads"),
                h("div", { class: "tools" }, button("Add…", () => addReference(d, near, reload))),
                h("h4", null, "Files"), filesLine(thread, files),
            ] : null,
            lanes.length ? [h("h4", null, "Lanes"), lanesLine(thread, lanes)] : null,
            d.not_done.length ? [h("h4", { class: "warn" }, "Not done"), h("ul", null, d.not_done.map((n) => h("li", null, `${n.operation}: ${n.why}`)))] : null,
        ];
    });
}

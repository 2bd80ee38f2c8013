// The log of a thread: its entries, and what each one changed in the context.
import { act, showError } from "./act.js";
import { call, lines, newKey, written } from "./api.js";
import { go, link } from "./app.js";
import { openCompact } from "./compact.js";
import { comparison, difference, versus, versusChoice, versusWords } from "./compare.js";
import { form } from "./dialog.js";
import { ending, fill, h, signal } from "./h.js";
import { onChange } from "./live.js";
import { kindName, logRows } from "./log_rows.js";
import { panes } from "./panes.js";
import { scrubber } from "./scrubber.js";
import { moment, number, size } from "./words.js";

const groups = [
    ["", "every kind"],
    ["ai_message", "messages"],
    ["ai_context_operation,ai_context_operation_deferred", "changes of context"],
    ["run_started,run_input,run_finished,run_checkpoint,run_tool_held", "runs"],
    ["loom_annotation,loom_link,loom_mark,memory_operation,summary", "notes, marks, memory"],
    ["tool_action,model_request,model_response", "commands and models"],
    ["document_write", "documents"],
];

/** An entry as it is stored, as text. */
async function stored(thread, seq) {
    let found = null;
    await lines("log.show", { thread, from: seq, to: seq }, (line) => { found ??= line; });
    return JSON.stringify(found, null, 2);
}

export function open(place) {
    const thread = place.thread, query = signal(place.query), lanes = signal(/** @type {string[]} */ ([]));
    const rev = signal(0), at = signal(-1), error = h("p", { class: "error" }), near = h("p", { class: "error" });
    const right = h("div", { class: "pane-body pad compare" }), title = h("h2", { class: "long" }, "context"), tools = h("div", { class: "tools" });
    let asked = 0, controller = null, timer = 0, closed = false;
    const fail = (e) => { if (!closed && e.name !== "AbortError") showError(error, e); };
    const now = () => query().at === undefined || query().at === "";

    const list = logRows({ thread, onselect: (seq) => move(seq), onopen: () => toNode(), fail });
    const scrub = scrubber({ go: (seq) => move(seq) });

    const nothing = () => h("p", { class: "quiet" }, `${thread} has no entries yet. Say something in `, h("a", { href: link({ screen: "thread", thread }) }, "the thread"), ", or in the shell: ", h("code", null, `heddle say ${thread} 'Hello'`));

    /** Goes to an entry, by changing the address. */
    function move(seq) {
        change({ at: seq >= rev() - 1 ? undefined : String(Math.max(0, seq)) }, true);
    }

    function change(more, replace = false) {
        go({ screen: "log", thread, query: { ...query(), ...more } }, { replace });
    }

    function settle() {
        const seq = now() ? rev() - 1 : Math.min(Number(query().at) || 0, rev() - 1);
        at.set(seq);
        scrub.at(seq);
        if (seq >= 0) list.show(seq);
        compare();
    }

    async function compare() {
        const mine = ++asked, seq = at(), vs = query().vs ?? "";
        controller?.abort();
        controller = new AbortController();
        if (seq < 0) return fill(right, nothing());
        try {
            const doc = await call("project.compare", { thread, at: seq, ...(query().lane ? { lane: query().lane } : {}), ...versus(vs) }, { signal: controller.signal });
            if (mine !== asked || closed) return;
            title.textContent = `context of ${doc.after.lane} at #${number(seq)}, ${versusWords(vs, doc)}: ${vs === "all" ? `${number(doc.added_tokens)} tokens` : difference(doc)}`;
            title.title = title.textContent;
            fill(right, near, entryLine(seq), comparison(thread, doc, vs === "all"));
            right.dataset.ready = String(seq);
        } catch (e) {
            if (mine === asked && e.name !== "AbortError") {
                fill(right, near);
                showError(near, e);
            }
        }
    }

    function entryLine(seq) {
        const entry = list.entry(seq), body = h("pre", { class: "stored", tabindex: "0" }, "…");
        const large = entry?.bytes > 200_000 ? ` (${size(entry.bytes)})` : "";
        const box = h("details", { class: "entry-stored", ontoggle: () => box.open && stored(thread, seq).then((t) => { body.textContent = t; }, (e) => showError(near, e)) },
            h("summary", null, `#${number(seq)} `, entry ? `${kindName(entry.kind)} by ${entry.actor}, ${moment(entry.at)}, ${size(entry.bytes)}` : "as it is stored", large ? h("span", { class: "warn" }, " opens slowly") : null), body);
        return box;
    }

    // ---- what can be done here ---------------------------------------------------------------

    async function branch() {
        const values = await form(`Branch at #${number(at())}`, [{ name: "lane", label: "Name of the lane", required: true, value: `at-${at()}` }], "Branch");
        if (!values) return;
        const done = await act({ name: "op.fork", params: { thread, lane: values.lane, at: at(), ...(query().lane ? { from: query().lane } : {}) }, done: `The lane ${values.lane} begins at #${at()}.`, near, final: "a lane stays in the log; it does nothing until you switch to it" });
        if (done) change({ lane: values.lane, at: undefined });
    }

    const contextAt = async (seq) => {
        const { text } = await written("project", { thread, ...(seq === null ? {} : { at: seq }), ...(query().lane ? { lane: query().lane } : {}), format: "json" });
        const { messages, system_prompt } = JSON.parse(text);
        return JSON.stringify({ messages, system_prompt });
    };

    /** Restores the context as it was at the chosen entry. This is a new entry; nothing is lost. */
    async function restore() {
        try {
            const [before, then] = await Promise.all([contextAt(null), contextAt(at())]);
            const put = (context, words, undo) => act({ name: "op.replace", params: { thread, context, reason: "restore", op_id: newKey(), ...(query().lane ? { lane: query().lane } : {}) }, done: words, near, undo });
            await put(then, `The context is as it was at #${number(at())}.`, () => put(before, "Taken back."));
        } catch (e) {
            showError(near, e);
        }
    }

    /** Makes the lane that is shown the active one. */
    async function switchLane() {
        const lane_ = query().lane, back = (await call("run.status", { thread }).catch(() => null))?.active_context_ref;
        const to = (name, words, undo) => act({ name: "op.switch", params: { thread, lane: name, op_id: newKey() }, done: words, near, undo });
        await to(lane_, `On the lane ${lane_}.`, back && back !== lane_ ? () => to(back, `Back on ${back}.`) : undefined);
    }

    const erase = () => act({
        name: "erase", params: { thread, seqs: [at()], reason: "asked for on the page", with_derived: true }, done: `Erased the content of #${number(at())}.`, near,
        ask: { title: `Erase the content of #${number(at())}?`, body: h("p", null, "What it says is taken out of the log for good, with what was made from it. That it was there, when and by whom stays. This cannot be taken back."), label: "Erase it" },
    });

    async function toNode() {
        const { items } = await call("tree.nodes", { thread, seqs: [at()] }).catch(() => ({ items: [] }));
        if (items[0]) go({ screen: "thread", thread, node: items[0].id });
        else showError(near, { code: "NOT_FOUND", message: `entry #${at()} is not a message of the tree` });
    }

    /** Goes to the nearest mark before or after the chosen entry. */
    async function jump(marks, back) {
        try {
            const range = back ? { to: Math.max(0, at() - 1), last: true } : { from: at() + 1 };
            if (back && at() === 0) return;
            const { items } = await call("log.marks", { thread, marks, parts: 1, ...range });
            const seqs = items.flatMap((m) => m.seqs);
            if (seqs.length) move(back ? Math.max(...seqs) : Math.min(...seqs));
        } catch (e) {
            showError(near, e);
        }
    }

    const compactions = ["compaction", "replace"], runs = ["run_started"], failures = ["run_failed"];
    const button = (label, f, key) => h("button", { type: "button", class: "small", onclick: f, title: key ? `key ${key}` : null }, label);

    // ---- the screen --------------------------------------------------------------------------

    async function load() {
        try {
            const [marks, names] = await Promise.all([call("log.marks", { thread }), call("name.list", { kind: "lane", thread, limit: 1000 })]);
            if (closed) return;
            const was = names.items.map((l) => l.name);
            if (was.join() !== lanes().join()) lanes.set(was);
            rev.set(marks.rev);
            scrub.set(marks.rev, marks.items);
            list.grow(marks.rev);
            settle();
        } catch (e) {
            if (e.code === "NOT_FOUND") fill(right, nothing());
            else fail(e);
        }
    }

    onChange((c) => {
        if (!c.reset && c.thread !== thread) return;
        clearTimeout(timer);
        timer = window.setTimeout(load, 250);
    });
    ending(() => {
        closed = true;
        clearTimeout(timer);
        controller?.abort();
    });

    const kinds = h("select", { "aria-label": "Kinds of entries", onchange: () => change({ kind: kinds.value || undefined }, true) },
        groups.map(([value, label]) => h("option", { value, selected: value === (place.query.kind ?? "") }, label)));
    const lane = h("span", null, () => {
        const select = h("select", { "aria-label": "Lane", onchange: () => change({ lane: select.value || undefined }) },
            h("option", { value: "", selected: !query().lane }, "active lane"), lanes().map((l) => h("option", { value: l, selected: l === query().lane }, l)));
        return select;
    });
    const against = h("span", null, () => versusChoice(lanes(), query().vs ?? "", (vs) => change({ vs: vs || undefined })));
    fill(tools, button("Branch here…", branch, "b"), button("Restore as a new entry", restore, ""), button("Show in the tree", toNode, "Enter"),
        () => (query().lane ? button(`Switch to ${query().lane}`, switchLane, "") : null), button("Erase…", erase, ""),
        h("a", { class: "button small", href: () => link({ screen: "context", thread, query: { at: String(at()), lane: query().lane } }) }, "Whole request"));

    const head = h("div", { class: "timeline-head" },
        h("div", { class: "tools" },
            h("p", { class: "as-after" }, () => rev() === 0 ? "no entries" : ["as it was after ", h("strong", null, `#${number(Math.max(0, at()))}`), ` of ${number(rev())}`]),
            button("◀ compaction", () => jump(compactions, true), "<"), button("compaction ▶", () => jump(compactions, false), ">"),
            button("◀ run", () => jump(runs, true), "("), button("run ▶", () => jump(runs, false), ")"), button("now", () => move(rev() - 1), "g"),
            h("span", { class: "grow" }), lane, kinds),
        scrub.element);
    const left = h("section", { "aria-label": "Entries" },
        h("div", { class: "pane-head" }, h("h2", null, thread), h("span", { class: "quiet" }, () => `${number(rev())} entries, newest first`)), h("div", { class: "log-body" }, error, list.element));
    const diff = h("section", { "aria-label": "What differs" }, h("div", { class: "pane-head" }, title, h("span", { class: "grow" }), against), right, h("div", { class: "pane-foot", hidden: () => rev() === 0 }, tools));
    const both = panes([{ name: "entries", label: "Entries", element: left }, { name: "differs", label: "Context", element: diff }], { class: "timeline" });

    function filterFrom(q) {
        list.setFilter(q.kind ? { kinds: q.kind.split(",") } : null);
    }
    filterFrom(place.query);
    load();

    const step = (by) => list.list.select(list.list.selected() + by);
    return {
        title: `${thread}: timeline`, element: h("div", { class: "screen timeline-screen" }, head, both.element),
        shown: () => list.element.focus({ preventScroll: true }),
        go: (to) => {
            const kind = query().kind;
            query.set(to.query);
            if (to.query.kind !== kind) {
                kinds.value = to.query.kind ?? "";
                filterFrom(to.query);
            }
            if (rev() > 0) settle();
        },
        keys: [
            { keys: ["j", "ArrowDown"], does: "older entry", run: () => step(1) },
            { keys: ["k", "ArrowUp"], does: "newer entry", run: () => step(-1) },
            { keys: ["g"], does: "now", run: () => move(rev() - 1) },
            { keys: ["G"], does: "the first entry", run: () => move(0) },
            { keys: ["<"], does: "compaction before", run: () => jump(compactions, true) },
            { keys: [">"], does: "compaction behind", run: () => jump(compactions, false) },
            { keys: ["("], does: "run before", run: () => jump(runs, true) },
            { keys: [")"], does: "run behind", run: () => jump(runs, false) },
            { keys: ["!"], does: "failed run before", run: () => jump(failures, true) },
            { keys: ["b"], does: "branch here", run: branch },
            { keys: ["C"], does: "compact", run: () => openCompact(thread, null, query().lane, near) },
            { keys: ["Enter"], does: "show in the tree, or open a run that is folded", run: toNode },
        ],
    };
}

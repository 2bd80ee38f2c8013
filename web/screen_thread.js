// A thread: its tree, the path that is read, and what a model sees next.
import { act, canUndo, finished, loom, loomUndo, showError, undoLast } from "./act.js";
import { call, Failure, newKey, threadIsThere } from "./api.js";
import { aloud, go, link, remember, remembered } from "./app.js";
import { openCommand } from "./command.js";
import { openCompact } from "./compact.js";
import { form } from "./dialog.js";
import { effect, ending, h, signal } from "./h.js";
import { onChange } from "./live.js";
import { openOperations } from "./operations.js";
import { panes } from "./panes.js";
import { message } from "./markdown.js";
import { refreshReference } from "./reference.js";
import { actor, asAgent } from "./session.js";
import { inject, runTag, runWords } from "./thread_detail.js";
import { inspector } from "./thread_inspector.js";
import { endOf, readingPane, tailOf } from "./thread_reading.js";
import { readRun, sayBox } from "./thread_say.js";
import { treePane } from "./thread_tree.js";
import { Tree } from "./tree.js";
import { count, moment, quoted } from "./words.js";

const mostAgents = 8; // whose positions are shown in the tree

/** Shown in place of messages. For a name that no thread has it says so, because the name may be misspelt. */
function empty(thread, say) {
    const isThere = signal(true);
    threadIsThere(thread).then(isThere.set);
    return h("section", { class: "empty" }, h("h2", null, () => (isThere() ? `${thread} has no messages yet` : `There is no thread ${thread}`)),
        h("p", null, () => (isThere() ? "Say the first one below, or in the shell:" : ["The ", h("a", { href: "/" }, "overview"), " lists those there are. What is said below makes a new one of this name, as in the shell:"])),
        h("pre", null, `heddle say ${thread} 'Which store should we use?'`),
        h("div", { class: "tools" }, h("button", { type: "button", class: "primary", onclick: () => say() }, "Say something")));
}

/** The whole path as one document, so that the browser's search finds everything. */
function plain(thread, node) {
    const body = h("div", { class: "plain-path" }, h("p", { class: "quiet" }, "…"));
    async function load() {
        const all = [];
        let to = node ?? (await call("loom.position", { thread })).position;
        while (to) {
            const { items } = await call("tree.nodes", { thread, to, last: 200, content: "markdown" });
            all.unshift(...items);
            const first = items[0];
            if (!first || first.parent === null) break;
            to = (await call("tree.nodes", { thread, seqs: [first.parent] })).items[0]?.id;
        }
        body.replaceChildren(...all.map((n) => h("article", { class: "message" }, h("header", null, h("strong", null, n.author === actor() ? "you" : n.author), ` [${n.id}] `, h("span", { class: "quiet" }, moment(n.at))), message(n.markdown, n.text))));
    }
    load().catch((error) => showError(body, error));
    return { title: thread, element: h("div", { class: "pane-body pad" }, h("h1", null, thread), h("p", null, h("a", { href: link({ screen: "thread", thread, node }) }, "Back to the tree")), body) };
}

export function open(place) {
    const thread = place.thread;
    if (place.query.plain !== undefined) return plain(thread, place.node);
    const tree = new Tree(thread);
    const agents = signal(/** @type {any[]} */ ([])), agentsKnown = signal(false), agent = signal(place.query.agent ?? ""), run = signal(/** @type {any} */ (null));
    const chosen = signal(-1), facts = signal({ nodes: 0, leaves: 0, mode: "dialogue" }), marks = signal(/** @type {Map<number, string[]>} */ (new Map())), hoisted = signal(false);
    const inspects = signal(remembered().inspects ?? localStorage.getItem("heddle-inspector") !== "off");
    const error = h("p", { class: "error" });
    let wanted = place.node ?? null, mine = -1, loaded = finished(), layoutTimer = 0, inspectTimer = 0, closed = false;
    const you = () => actor();

    const left = treePane(tree, { onselect: choose, onopen: readHere, onpick: () => parts.show("read"), marks: () => marks(), you });
    const middle = readingPane(tree, { choose: (i) => left.select(i), you, actions });
    const right = inspector(thread, { agents: () => [...agents(), { name: you(), kind: "human" }], agent: () => agent(), choose: chooseAgent, isEmpty: () => tree.n === 0 });
    const say = sayBox(thread, { node: current, agents, isKnown: () => agentsKnown(), run, you, expect: seen, said: arrived, waiting: (w) => middle.setWaiting(w), changed: () => refresh() });

    /** The node that is chosen, as far as it is known. */
    function current() {
        return chosen() >= 0 ? { id: tree.id(chosen()), seq: tree.columns.seq[chosen()], ...tree.texts.get(chosen()) } : null;
    }

    function choose(i) {
        if (i < 0 || i === chosen()) return;
        chosen.set(i);
        middle.show(i);
        address(i);
        say.describe();
        inspectSoon();
    }

    async function address(i) {
        if (!tree.id(i)) await tree.lines([i]);
        if (closed || chosen() !== i) return;
        go({ screen: "thread", thread, node: tree.id(i), query: place.query }, { replace: true, state: history.state });
    }

    function inspectSoon() {
        clearTimeout(inspectTimer);
        if (inspects()) inspectTimer = window.setTimeout(() => right.load(chosen() >= 0 ? tree.id(chosen()) : null), 150);
    }

    function chooseAgent(name) {
        agent.set(name);
        place.query = { ...place.query, agent: name };
        if (chosen() >= 0) address(chosen());
        inspectSoon();
    }

    /** Reads the positions of you and of the agents. */
    async function readPlaces() {
        const names = [you(), ...agents().map((a) => a.name).filter((n) => n !== you())].slice(0, mostAgents);
        const places = await Promise.all(names.map((name) => call("loom.position", { thread, ...asAgent(name) }).catch(() => null)));
        const at = new Map();
        mine = -1;
        for (let k = 0; k < names.length; k++) {
            if (!places[k]?.position) continue;
            const i = await tree.seek(places[k].position).catch(() => -1);
            if (i < 0) continue;
            if (k === 0) mine = i;
            at.set(i, [...(at.get(i) ?? []), k === 0 ? "you" : names[k]]);
        }
        if (places[0]) facts.update((f) => ({ ...f, mode: places[0].mode }));
        marks.set(at);
        left.setPosition(mine);
    }

    /** The revision of the thread that is shown. Writes of this tab are read first. */
    async function seen() {
        if (loaded < finished()) await refresh();
        return tree.columns.rev;
    }

    async function refresh() {
        const before = tree.n, writes = finished();
        try {
            const came = await tree.load();
            loaded = writes;
            if (closed) return;
            await readPlaces();
            settle(before, came);
            await readRest();
        } catch (e) {
            if (closed) return;
            loaded = writes;
            if (!(e instanceof Failure) || e.code !== "NOT_FOUND") return showError(error, e);
            nothingYet();
            inspectSoon();
        }
    }

    /** There are no messages: on a small screen the pane that says so is the one that is shown. */
    function nothingYet() {
        middle.clear(empty(thread, () => say.focus()));
        parts.show("read");
    }

    /** Reads what the rows do not need: the run, and where the context was replaced. */
    async function readRest() {
        const [state, cuts] = await Promise.all([readRun(thread), call("log.marks", { thread, marks: ["compaction", "replace"] }).catch(() => ({ items: [] }))]);
        if (closed) return;
        run.set(state);
        middle.setCompactions(cuts.items.flatMap((m) => m.seqs));
    }

    function settle(before, came) {
        error.replaceChildren();
        let leaves = 0;
        for (let i = 0; i < tree.n; i++) if (tree.family.children[i] === 0) leaves++;
        facts.update((f) => ({ ...f, nodes: tree.n, leaves }));
        if (before > 0 && came > 0) aloud.set(count(came, "new message"));
        const at = chosen();
        left.draw(at);
        if (tree.n === 0) nothingYet();
        else if (at < 0 || wanted !== null) firstChoice();
        else middle.show(at, { stay: true });
        say.describe();
        inspectSoon();
    }

    /** Selects the node in the address, else the last message after your position, else the end of the trunk. */
    async function firstChoice() {
        const id = wanted;
        wanted = null;
        let i = -1;
        if (id !== null) {
            i = await tree.seek(id).catch(() => -1);
            if (i < 0) showError(error, { code: "NOT_FOUND", message: `node [${id}] does not exist in this tree` });
        }
        if (i < 0) i = mine >= 0 ? endOf(tree.family, mine) : tailOf(tree.family, tree.family.roots[0]);
        left.select(i);
    }

    /** A node that was just written becomes the one that is read. */
    async function arrived(id) {
        wanted = id;
        await refresh();
    }

    // ---- what can be done to a node -----------------------------------------------------------

    const near = () => middle.near;
    const does = (line, words) => loom(thread, line, words, { near: near() });
    const writes = (line, words) => loom(thread, line, words, { near: near(), expect: seen });

    function readHere(i) {
        if (i >= 0) does(`switch to ${tree.id(i)}`, `You are at [${tree.id(i)}].`);
    }

    async function edit(node) {
        const values = await form(`Edit [${node.id}]`, [{ name: "text", label: facts().mode === "buffer" ? "A new version in its place" : "A new message beside it", value: node.text, lines: 10, required: true }], "Write it");
        if (values) await writes(`edit ${node.id} ${quoted(values.text)}`, `Edited [${node.id}].`);
    }

    async function note(node) {
        const values = await form(`Note on [${node.id}]`, [{ name: "text", label: "Note", lines: 3, required: true }], "Note it");
        if (values) await writes(`annotate ${node.id} ${quoted(values.text)}`, `Noted on [${node.id}].`);
    }

    async function branch(node) {
        const values = await form(`Branch at [${node.id}]`, [{ name: "lane", label: "Name of the lane", required: true, value: `b-${node.id}` }], "Branch");
        if (!values) return;
        const back = (await call("run.status", { thread }).catch(() => null))?.active_context_ref;
        const undo = back ? () => act({ name: "op.switch", params: { thread, lane: back, op_id: newKey() }, done: `Back on ${back}; the lane stays.`, near: near() }) : undefined;
        await act({ name: "op.fork", params: { thread, lane: values.lane, from: node.lane, at: node.seq, switch: true }, done: `On the lane ${values.lane}.`, undo, near: near() });
    }

    const pinFor = () => agent() || you();
    const pin = (node) => loom(thread, `pin ${node.id}`, `Pinned [${node.id}] for ${pinFor()}.`, { params: asAgent(agent()), near: near() });
    const bookmark = (node) => does(`${node.bookmarked ? "unbookmark" : "bookmark"} ${node.id}`, `${node.bookmarked ? "Took the bookmark off" : "Bookmarked"} [${node.id}].`);
    const prune = (node) => does(`prune ${node.id}`, `Pruned [${node.id}].`);
    const restore = (node) => does(`restore ${node.id}`, `Restored [${node.id}].`);
    const exclude = (node) => does(`${node.excluded ? "include" : "exclude"} ${node.id}`, `${node.excluded ? "Included" : "Excluded"} [${node.id}].`);
    const erase = (node) => act({
        name: "erase", params: { thread, node: [node.id], reason: "asked for on the page", with_derived: true }, done: `Erased [${node.id}].`, near: near(),
        ask: { title: `Erase [${node.id}]?`, body: h("p", null, "Its text is taken out of the log for good, with summaries and copies made from it. This cannot be taken back."), label: "Erase it" },
    });

    const injectHere = () => inject({ id: thread }, near(), () => {});
    const refreshHere = () => refreshReference(thread, null, near());
    const compaction = () => openCompact(thread, agent(), null, near());

    function actions(node) {
        const button = (label, f, key) => h("button", { type: "button", class: "small", onclick: () => f(node), title: key ? `key ${key}` : null }, label);
        return [
            button("Answer", () => say.focus(), "r"), button("Edit…", edit, "e"), button("Branch…", branch, "b"), button("Pin", pin, "p"),
            button(node.bookmarked ? "★ Unmark" : "Bookmark", bookmark, "m"), button("Note…", note, "n"),
            node.pruned ? button("Restore", restore, "D") : button("Prune", prune, "d"),
            h("details", { class: "menu" }, h("summary", null, "More"), h("div", { class: "tools" },
                button(node.excluded ? "Include" : "Exclude", exclude, ""), button("Compact…", compaction, "C"), button("Inject…", injectHere, "i"), button("Refresh references…", refreshHere, "R"), button("Any operation…", () => openOperations(thread), "O"), button("Erase…", erase, ""),
                node.annotations ? button(`${count(node.annotations, "note")}…`, () => openCommand(`list ${node.id} annotations`), "") : null)),
        ];
    }

    async function onNode(f) {
        const i = chosen();
        if (i < 0) return;
        if (!middle.last() || tree.indexOfSeq(middle.last().seq) !== i) await middle.show(i);
        const node = middle.last() ?? current();
        if (node) f(node);
    }

    // ---- the screen ---------------------------------------------------------------------------

    onChange((c) => {
        if (c.reset || (c.thread === thread && c.kinds.includes("erasure"))) {
            // The server may have another log now, or text that is shown was erased: read everything again.
            wanted = chosen() >= 0 ? tree.id(chosen()) : wanted;
            tree.reset();
            refresh();
        } else if (c.thread === thread) {
            // Lay out again at most four times a second.
            if (!layoutTimer) layoutTimer = window.setTimeout(() => { layoutTimer = 0; refresh(); }, tree.n > 20_000 ? 250 : 60);
        }
    });
    ending(() => {
        closed = true;
        clearTimeout(layoutTimer);
        clearTimeout(inspectTimer);
    });

    async function start() {
        const first = tree.load().catch(() => {}); // in parallel with the agents; refresh() repeats it and reports errors
        try {
            const { items } = await call("agent.list");
            agents.set(items);
            agentsKnown.set(true);
            if (!agent()) agent.set((items.find((a) => a.permissions.includes("loom_aware")) ?? items[0])?.name ?? you());
        } catch (e) {
            showError(error, e);
        }
        await first;
        await refresh();
        left.list.element.focus({ preventScroll: true });
    }

    const toggleInspector = () => {
        inspects.update((v) => !v);
        localStorage.setItem("heddle-inspector", inspects() ? "on" : "off");
        inspectSoon();
    };
    const hoist = () => {
        left.moves.hoist();
        hoisted.set(left.isHoisted());
    };
    const treePart = h("section", { "aria-label": "Tree of the thread" },
        h("div", { class: "pane-head one-line" }, h("h2", { title: thread }, thread), h("span", { class: "quiet" }, () => `${count(facts().nodes, "node")} · ${count(facts().leaves, "leaf", "leaves")}`), h("span", { class: "grow" }),
            h("button", { type: "button", class: "small plain", "aria-pressed": () => String(hoisted()), onclick: hoist, title: "Show only the branch of the chosen message; key o" }, "Only this branch")),
        left.element);
    /** The state of the run if it is active, or that the last one failed. */
    const runSign = () => {
        const r = run();
        if (!r || (!r.active && runTag(r) === "")) return null;
        return h("a", { class: `tag ${runTag(r)}`, href: link({ screen: "log", thread }), title: typeof r.result === "string" ? r.result : null }, r.active ? `● ${r.agent ? `${r.agent} ` : ""}${runWords(r)}, step ${r.iteration} of ${r.max_iterations}` : "✕ the last run failed");
    };
    const readPart = h("section", { "aria-label": "Path that is read" },
        h("div", { class: "pane-head" }, h("h2", null, "path to ", h("span", { class: "mono" }, () => chosen() >= 0 ? `[${tree.id(chosen())}]` : "…")), runSign, h("span", { class: "grow" }),
            h("a", { class: "small quiet", href: () => link({ screen: "thread", thread, node: chosen() >= 0 ? tree.id(chosen()) : undefined, query: { plain: "1" } }) }, "as one page"),
            h("button", { type: "button", class: "small plain wide-only", "aria-pressed": () => String(inspects()), onclick: toggleInspector }, "Inspector")),
        h("div", { class: "reading-body" }, error, middle.element), say.element);
    const inspectPart = h("section", { "aria-label": "What the agent sees next" },
        h("div", { class: "pane-head" }, h("h2", null, "What "), right.select, h("h2", null, " sees next")), right.element);
    const parts = panes([
        { name: "tree", label: "Tree", element: treePart }, { name: "read", label: "Read", element: readPart }, { name: "inspect", label: "Inspect", element: inspectPart },
    ], { class: "thread", first: place.node ? "read" : "tree" });
    effect(() => {
        parts.element.classList.toggle("without-inspector", !inspects());
    });
    effect(() => {
        run();
        agents();
        say.describe();
    });
    start();

    const key = (keys, does_, f) => ({ keys, does: does_, run: f });
    return {
        title: thread, element: parts.element,
        go: async (to) => {
            place = to;
            if (!to.node || (chosen() >= 0 && tree.id(chosen()) === to.node)) return;
            const i = await tree.seek(to.node).catch(() => -1);
            if (i >= 0) left.select(i);
            else refresh();
        },
        keys: [
            key(["j", "ArrowDown"], "next row", left.moves.next), key(["k", "ArrowUp"], "row before", left.moves.before),
            key(["l", "ArrowRight"], "unfold, or the child", left.moves.in), key(["h", "ArrowLeft"], "fold, or the parent", left.moves.out),
            key(["z"], "fold or unfold", left.moves.fold),
            key(["["], "fork above", () => left.moves.fork(-1)), key(["]"], "fork below", () => left.moves.fork(1)),
            key(["{"], "sibling before", () => left.moves.sibling(-1)), key(["}"], "next sibling", () => left.moves.sibling(1)),
            key(["g"], "first row", left.moves.first), key(["G"], "last row", left.moves.last), key(["o"], "show only this branch, or all again", hoist),
            key(["Enter"], "read here: you are at this node", () => readHere(chosen())),
            key(["r"], "answer", () => { parts.show("read"); say.focus(); }), key(["e"], "edit", () => onNode(edit)), key(["b"], "branch here", () => onNode(branch)),
            key(["c"], "continue", () => say.goOn()), key(["s"], "steer, or say", () => { parts.show("read"); say.focus(); }), key(["x"], "end the run", () => run()?.active && say.cancel()),
            key(["p"], "pin for the agent on the right", () => onNode(pin)), key(["m"], "bookmark", () => onNode(bookmark)), key(["n"], "note", () => onNode(note)),
            key(["d"], "prune", () => onNode(prune)), key(["D"], "restore", () => onNode(restore)),
            key(["u"], "take your last write in this tree back", () => canUndo() ? undoLast() : loomUndo(thread, near())),
            key(["C"], "compact the conversation, after a look", compaction),
            key(["i"], "inject into its next context", injectHere), key(["R"], "refresh its references", refreshHere), key(["O"], "any operation on the thread", () => openOperations(thread)),
            key(["I"], "show or hide what the agent sees", toggleInspector),
        ],
        remember: () => remember({ inspects: inspects() }),
    };
}

// The rows of the overview, and what needs a person: pure functions over the documents of the server.

/**
 * @typedef {{kind: "objective" | "thread" | "reference", level: number, id: string, title: string, status?: string | null,
 *            thread?: string, target?: string, binding?: string, state?: string, scope?: string[], open?: number,
 *            threads?: number, place: number, size: number, entries?: number, updated?: string, runs?: boolean}} OverviewRow
 */

/** The state of a thread, in words. */
export const statusWords = (status) => (status === "waiting_human" ? "waits for you" : status);

/** What is not fresh about a reference, in words. */
export const stateWords = { stale: "stale", edited: "edited here", deleted: "source deleted", missing: "copy missing", broken: "no such thread" };

const needWords = {
    waiting: (n) => `waits for you${n.title ? `: ${n.title}` : ""}`, failed: (n) => `a run failed${n.reason ? `: ${n.reason}` : ""}`,
    input: (n) => `${n.inputs === 1 ? "a text waits" : `${n.inputs} texts wait`} for its run`, stale: (n) => stateWords[n.state] ?? n.state,
};

/** What waits for somebody, the most urgent first: workspace.attention, and workers that ended badly. */
export function needs(attention, workers) {
    const dead = workers.filter((w) => w.state === "lost" || (w.state === "exited" && w.exit_code > 0)).map((w) => ({
        kind: "failed", thread: w.thread, since: w.ended_at ?? w.started_at, text: w.state === "lost" ? "its worker died" : `its worker ended with ${w.exit_code}`,
    }));
    const waiting = attention.filter((n) => n.kind !== "running").map((n) => ({ ...n, text: needWords[n.kind]?.(n) ?? n.kind }));
    const order = ["waiting", "failed", "input", "stale"];
    return [...waiting, ...dead].sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
}

function byParent(threads) {
    const of = new Map(), ids = new Set(threads.map((t) => t.id));
    for (const t of threads) {
        const key = t.parent_id && ids.has(t.parent_id) ? t.parent_id : "";
        if (!of.has(key)) of.set(key, []);
        of.get(key).push(t);
    }
    return of;
}

/** Threads under each other by parent, each followed by what it reads. */
function addThreads(rows, threads, level, facts) {
    const of = byParent(threads), seen = new Set();
    const walk = (list, depth) => {
        list.forEach((t, i) => {
            if (seen.has(t.id)) return;
            seen.add(t.id);
            const more = facts.threads.get(t.id) ?? {};
            rows.push({ kind: "thread", level: depth, id: t.id, title: t.title ?? "", status: t.status, place: i, size: list.length, entries: more.entries, updated: more.updated_at, runs: facts.runs.has(t.id) });
            const refs = facts.edges.get(t.id) ?? [], below = of.get(t.id) ?? [];
            refs.forEach((e, k) => rows.push({
                kind: "reference", level: depth + 1, id: `${t.id}→${e.target}`, title: "", thread: t.id, target: e.target,
                binding: e.binding, state: e.state, scope: e.scope, place: k, size: refs.length + below.length,
            }));
            walk(below, depth + 1);
        });
    };
    walk(of.get("") ?? [], level);
    walk(threads.filter((t) => !seen.has(t.id)), level); // threads whose parents form a cycle are not below any root
}

/** Every row, for threads whose id or title holds `filter`; `running` are those that work now. @returns {OverviewRow[]} */
export function overviewRows(graph, list, running, filter = "") {
    const facts = { threads: new Map(list.map((t) => [t.id, t])), runs: new Set(running), edges: new Map() };
    for (const e of graph.edges) {
        if (!facts.edges.has(e.from)) facts.edges.set(e.from, []);
        facts.edges.get(e.from).push(e);
    }
    const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (t) => words.every((w) => `${t.id} ${t.title ?? ""} ${t.status ?? ""}`.toLowerCase().includes(w));
    const known = new Set(graph.threads.map((t) => t.id));
    const loose = list.filter((t) => !known.has(t.id)).map((t) => ({ id: t.id, title: t.title, objective: null, parent_id: null, status: t.status }));
    const all = [...graph.threads, ...loose].filter(fits), rows = [];
    const groups = [...graph.objectives.map((o) => ({ ...o, of: all.filter((t) => t.objective === o.id) })),
        { id: "", title: "Without an objective", of: all.filter((t) => !graph.objectives.some((o) => o.id === t.objective)) }];
    const shown = groups.filter((g) => g.of.length > 0 || (words.length === 0 && g.id !== ""));
    shown.forEach((g, i) => {
        rows.push({ kind: "objective", level: 1, id: g.id, title: g.title ?? g.id, open: g.open, threads: g.of.length, status: g.status, place: i, size: shown.length });
        addThreads(rows, g.of, 2, facts);
    });
    return rows;
}

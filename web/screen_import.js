// Sessions of coding agents: a list, the tokens and cost of each turn, and buttons that import more.
import { announce, showError } from "./act.js";
import { call, Failure, lines } from "./api.js";
import { go, link } from "./app.js";
import { confirm } from "./dialog.js";
import { fill, h, signal } from "./h.js";
import { onChange } from "./live.js";
import { panes } from "./panes.js";
import { rows } from "./rows.js";
import { ago, count, firstLine, moment, number, size } from "./words.js";

const programs = { "claude-code": "Claude Code", codex: "Codex", opencode: "opencode", gemini: "Gemini CLI", pi: "pi" };
/** 0.1234 → $0.12 */
export const money = (cost) => (cost === null || cost === undefined ? "" : cost < 0.01 && cost > 0 ? "<$0.01" : `$${cost.toFixed(2)}`);

/** Sessions as rows: projects, their sessions, and below each those it started. */
export function sessionRows(items) {
    const projects = new Map(), below = new Map(), known = new Set(items.map((s) => s.session));
    for (const s of items) {
        if (s.parent && known.has(s.parent)) below.set(s.parent, [...(below.get(s.parent) ?? []), s]);
        else projects.set(s.project ?? "", [...(projects.get(s.project ?? "") ?? []), s]);
    }
    const list = /** @type {any[]} */ ([]), put = (s, level) => {
        list.push({ kind: "session", level, session: s });
        if (level < 8) for (const child of below.get(s.session) ?? []) put(child, level + 1);
    };
    for (const [project, sessions] of projects) {
        list.push({ kind: "project", level: 1, project: project || "no project", n: sessions.length });
        for (const s of sessions) put(s, 2);
    }
    return list;
}

function makeRow() {
    const row = /** @type {any} */ (h("div"));
    for (const name of ["sign", "name", "words", "tokens"]) row.append(row[name] = h("span", { class: name }));
    return row;
}

export function open(place) {
    const items = signal(/** @type {any[] | null} */ (null)), found = signal(/** @type {any} */ (null)), showsNew = signal(place.query.show === "new"), chosen = signal(place.query.session ?? ""), busy = signal(""), error = h("p", { class: "error" }), near = h("p", { class: "error" });
    const detail = h("div", { class: "pane-body pad detail" });
    let shown = [], timer = 0, asked = 0;
    const list = rows({
        label: "Sessions", role: "tree", height: 28, make: makeRow,
        fill: (row, index) => {
            const r = shown[index], s = r.session;
            row.className = `row session-${r.kind} l${Math.min(8, r.level)}${row.classList.contains("selected") ? " selected" : ""}`;
            row.sign.textContent = r.kind === "project" ? "◎" : s.is_agent ? "↳" : "●";
            row.name.textContent = r.kind === "project" ? r.project : programs[s.harness] ?? s.harness;
            row.words.textContent = r.kind === "project" ? count(r.n, "session") : firstLine(s.title ?? s.session, 120);
            row.tokens.textContent = r.kind === "project" ? "" : `${number(s.tokens.total)} ${money(s.cost)}`;
        },
        describe: (index) => ({ level: shown[index].level }),
        onselect: (index) => { if (shown[index].session) go({ screen: "import", query: { session: shown[index].session.session } }, { replace: true }); },
        onopen: (index) => { const s = shown[index].session; if (s) go({ screen: "thread", thread: s.thread }); },
    });

    async function load() {
        try {
            const answer = await call("harness.list", { agents: true });
            items.set(answer.items);
            shown = sessionRows(answer.items);
            list.resize(shown.length);
            const at = shown.findIndex((r) => r.session?.session === chosen());
            if (at >= 0) list.select(at, true);
            list.redraw();
        } catch (e) {
            if (e.code === "NOT_FOUND") items.set([]);
            else showError(error, e);
        }
        show();
    }

    function turns(stats, s) {
        const most = Math.max(1, ...stats.items.map((t) => t.tokens.total));
        return h("div", { class: "table-wrap" }, h("table", null, h("caption", { class: "aloud" }, "Turns"),
            h("thead", null, h("tr", null, h("th", { scope: "col" }, "turn"), h("th", { scope: "col" }, "asked"), h("th", { scope: "col", class: "n" }, "calls"), h("th", { scope: "col", class: "n" }, "tokens"), h("th", { scope: "col", class: "n" }, "cost"))),
            h("tbody", null, stats.items.map((t) => h("tr", null,
                h("td", null, h("a", { class: "mono", href: link({ screen: "log", thread: s.thread, query: { at: String(t.seq) } }) }, `#${number(t.seq)}`)),
                h("td", null, firstLine(t.prompt ?? "(nobody asked)", 120), h("span", { class: "turn-share", "aria-hidden": "true", vars: { "--w": `${Math.max(1, (t.tokens.total / most) * 100)}%` } }), h("span", { class: "quiet" }, `${moment(t.at)} ${t.model ?? ""}`)),
                h("td", { class: "n" }, number(t.calls)), h("td", { class: "n", title: `in ${number(t.tokens.input)}, cached ${number(t.tokens.cache_read)}, out ${number(t.tokens.output)}` }, number(t.tokens.total)), h("td", { class: "n" }, money(t.cost)))))));
    }

    async function show() {
        const mine = ++asked, s = (items() ?? []).find((x) => x.session === chosen());
        if (!s) return fill(detail, near, h("p", { class: "quiet" }, "Choose a session: j and k move, Enter opens its tree."));
        const rest = h("div", null, h("p", { class: "quiet" }, "…"));
        fill(detail, near, h("h3", null, s.title ?? s.session),
            h("p", { class: "quiet" }, `${programs[s.harness] ?? s.harness} · ${s.model ?? "no model"} · ${count(s.turns, "turn")}, ${count(s.messages, "message")}${s.branch ? ` · ${s.branch}` : ""}${s.last ? ` · ${ago(s.last)} ago` : ""}`),
            h("p", null, h("strong", null, number(s.tokens.total)), ` tokens: ${number(s.tokens.input)} in, ${number(s.tokens.cache_read)} from a cache, ${number(s.tokens.cache_write)} into it, ${number(s.tokens.output)} out`, s.cost === null ? "" : `, ${money(s.cost)}`),
            h("div", { class: "tools" }, h("a", { class: "button", href: link({ screen: "thread", thread: s.thread }) }, "Tree"), h("a", { class: "button", href: link({ screen: "log", thread: s.thread, query: { lane: s.lane } }) }, "Timeline"), h("code", null, s.resume)),
            h("h4", null, "Turns"), rest);
        try {
            const stats = await call("thread.stats", { thread: s.thread, lane: s.lane, limit: 1000 });
            if (mine === asked) fill(rest, turns(stats, s));
        } catch (e) {
            if (mine !== asked) return;
            fill(rest);
            showError(near, e);
        }
    }

    // ---- what is not imported yet -------------------------------------------------------------------

    async function look() {
        try {
            found.set(await call("harness.found", {}));
        } catch (e) {
            if (e.code !== "NOT_FOUND" && e.code !== "PERMISSION_DENIED") showError(error, e);
        }
    }

    /** Imports one session of a program. */
    async function bringOne(f) {
        busy.set(`Bringing in ${f.name}…`);
        try {
            const done = await lines("harness.import", { harness: f.harness, all: true, only: f.name }, () => {});
            const one = done?.items?.[0], failed = done?.failed?.[0];
            if (failed) throw new Failure({ code: "INVALID_SYNTAX", message: failed.message }, 200);
            announce(one ? `Brought in as ${one.thread}.` : "There was nothing new in it.", null, one ? "Delete… on the overview removes its thread" : "");
            await Promise.all([load(), look()]);
            if (one) go({ screen: "import", query: { session: one.session } });
        } catch (e) {
            showError(error, e);
        } finally {
            busy.set("");
        }
    }

    function foundRow(f) {
        const label = `Bring in ${f.name}`;
        return h("tr", null, h("td", null, programs[f.harness] ?? f.harness), h("td", { class: "mono found-name", title: f.path }, f.name),
            h("td", { class: "n" }, f.size === null ? "" : size(f.size)), h("td", { class: "n" }, f.changed ? ago(f.changed) : ""),
            h("td", null, h("button", { type: "button", class: "small", "aria-label": label, disabled: () => busy() !== "", onclick: () => bringOne(f) }, "Bring in")));
    }

    function foundPart() {
        if (!found()) return h("p", { class: "quiet pad" }, "…");
        const { items: list, total, failed } = found();
        return h("div", { class: "pad new-sessions", tabindex: "0", role: "region", "aria-label": "Not brought in yet" },
            failed.map((f) => h("p", { class: "warn" }, `▲ ${programs[f.harness] ?? f.harness}: ${f.message}`)),
            total === 0 ? h("p", { class: "good" }, "✓ Every session that is on this machine was brought in.") : [
                h("p", { class: "quiet" }, "Names alone were read so far. Bringing one in makes a thread of it; the program's own files stay as they are."),
                h("table", null, h("caption", { class: "aloud" }, "Sessions that are not brought in yet"),
                    h("thead", null, h("tr", null, h("th", { scope: "col" }, "program"), h("th", { scope: "col" }, "transcript"), h("th", { scope: "col", class: "n" }, "size"), h("th", { scope: "col", class: "n" }, "changed"), h("td", null))),
                    h("tbody", null, list.slice(0, 500).map(foundRow))),
                total > Math.min(500, list.length) ? h("p", { class: "quiet" }, `and ${number(total - Math.min(500, list.length))} older ones: `, h("code", null, "heddle transcripts")) : null]);
    }

    const showPart = (new_) => go({ screen: "import", query: new_ ? { show: "new" } : {} }, { replace: true });

    /** Imports all sessions of a program, after a confirmation, because there may be many. */
    async function bring(harness) {
        const words = `Bring in all sessions of ${programs[harness]}`;
        if (!(await confirm(`${words}?`, h("p", null, "Each becomes a thread. The files of the program are read and not changed; what was brought in before is only added to."), "Bring in", false))) return;
        busy.set(`Bringing in sessions of ${programs[harness]}…`);
        let n = 0;
        try {
            const done = await lines("harness.import", { harness, all: true }, () => busy.set(`Bringing in sessions of ${programs[harness]}: ${number(++n)}`));
            announce(`Brought in ${count(done?.items?.length ?? n, "session")}.`, null, "Delete… on the overview removes a thread");
        } catch (e) {
            showError(error, e);
        } finally {
            busy.set("");
            load();
            look();
        }
    }

    onChange(() => {
        clearTimeout(timer);
        timer = window.setTimeout(load, 600);
    });
    const bringTools = h("details", { class: "bring", open: false }, h("summary", null, "Bring in…"), h("div", { class: "tools" }, Object.entries(programs).map(([name, label]) => h("button", { type: "button", class: "small", disabled: () => busy() !== "", onclick: () => bring(name) }, label))));
    const nothing = h("section", { class: "empty" }, h("h2", null, "No sessions yet"), h("p", null, "Sessions of other programs become trees here, with the tokens and cost of each turn. Nothing of theirs is changed."),
        () => (found()?.total ? h("p", null, h("button", { type: "button", class: "primary", onclick: () => showPart(true) }, `${count(found().total, "session")} on this machine…`)) : null),
        h("p", null, "All sessions of"),
        h("div", { class: "tools" }, Object.entries(programs).map(([name, label]) => h("button", { type: "button", disabled: () => busy() !== "", onclick: () => bring(name) }, label))),
        h("p", null, "In the shell:"), h("pre", null, "heddle import claude-code --all\nheddle sessions"));
    const total = () => (items() ?? []).reduce((sum, s) => sum + (s.is_agent ? 0 : s.tokens.total), 0);
    const left = h("section", { "aria-label": "Sessions" },
        h("div", { class: "pane-head" }, h("h2", null, "Sessions"), h("span", { class: "quiet", role: "status" }, () => busy() || (items() ? `${count(items().length, "session")}, ${number(total())} tokens` : "")), h("span", { class: "grow" }), bringTools),
        h("div", { class: "import-body" },
            h("div", { class: "tools pad-line", role: "group", "aria-label": "Which sessions" },
                h("button", { type: "button", class: "small", "aria-pressed": () => String(!showsNew()), onclick: () => showPart(false) }, () => `Brought in ${items() ? number(items().length) : ""}`),
                h("button", { type: "button", class: "small", "aria-pressed": () => String(showsNew()), onclick: () => showPart(true) }, () => `Not yet ${found() ? number(found().total) : ""}`)),
            error, () => (showsNew() ? foundPart() : items()?.length === 0 ? nothing : list.element)));
    const right = h("section", { "aria-label": "Chosen session" }, h("div", { class: "pane-head" }, h("h2", null, "Turns")), detail);
    const both = panes([{ name: "sessions", label: "Sessions", element: left }, { name: "turns", label: "Turns", element: right }], { class: "import", first: place.query.session ? "turns" : "sessions" });
    load();
    look();
    return {
        title: "Sessions", element: both.element,
        shown: () => list.element.focus({ preventScroll: true }),
        go: (to) => {
            chosen.set(to.query.session ?? "");
            showsNew.set(to.query.show === "new");
            const at = shown.findIndex((r) => r.session?.session === chosen());
            if (at >= 0 && at !== list.selected()) list.select(at, true);
            show();
        },
        keys: [
            { keys: ["j", "ArrowDown"], does: "next", run: () => list.select(list.selected() + 1) },
            { keys: ["k", "ArrowUp"], does: "before", run: () => list.select(list.selected() - 1) },
            { keys: ["n"], does: "brought in, or not yet", run: () => showPart(!showsNew()) },
            { keys: ["Enter"], does: "open the tree", run: () => { const s = (items() ?? []).find((x) => x.session === chosen()); if (s) go({ screen: "thread", thread: s.thread }); } },
        ],
    };
}

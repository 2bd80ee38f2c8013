// The entries of a log as rows, newest first. Their text is read page by page, when they come into view. Runs of minor
// entries are one row (log_folds.js). With a filter, the rows are the entries that were found so far.
import { call } from "./api.js";
import { ending, h } from "./h.js";
import { Folds, foldWords } from "./log_folds.js";
import { rows } from "./rows.js";
import { moment, number } from "./words.js";

const pageSize = 200, mostPages = 40;

/** A cache of pages of entries; the least recently used page is dropped first. */
export class Pages {
    constructor(read) {
        this.read = read;
        this.kept = new Map();
        this.asked = new Map();
    }

    entry(seq) {
        return this.kept.get(Math.floor(seq / pageSize))?.[seq % pageSize] ?? null;
    }

    /** Reads the pages of these entries that are not cached, and calls `then` for each page that was read. */
    async need(seqs, then) {
        for (const page of new Set(seqs.map((seq) => Math.floor(seq / pageSize)))) {
            const known = this.kept.get(page);
            if (known) {
                this.kept.delete(page); // most recently used
                this.kept.set(page, known);
            }
            if ((known && !known.partial) || this.asked.has(page)) continue;
            this.asked.set(page, true);
            try {
                const items = await this.read(page * pageSize, pageSize);
                this.keep(page, items);
                then(page, items);
            } finally {
                this.asked.delete(page);
            }
        }
    }

    keep(page, items) {
        const list = /** @type {any} */ (items);
        list.partial = items.length < pageSize;
        this.kept.delete(page);
        this.kept.set(page, list);
        while (this.kept.size > mostPages) this.kept.delete(this.kept.keys().next().value);
    }

    /** The last page may have grown. */
    grow() {
        for (const [page, items] of this.kept) if (items.partial) this.kept.delete(page);
    }
}

function makeRow() {
    const part = (name) => h("span", { class: name });
    const row = /** @type {any} */ (h("div", { class: "entry" }));
    for (const name of ["seq", "kind", "who", "lane", "words"]) row.append(row[name] = part(name));
    return row;
}

const kindWords = {
    ai_context_operation: "context", ai_context_operation_deferred: "context, later", loom_annotation: "note", loom_link: "link", loom_mark: "mark",
    memory_operation: "memory", tool_action: "command", document_write: "document", thread_operation: "threads", harness_session: "session",
    harness_position: "position", harness_record: "record",
};
/** A kind of entries, in words. */
export const kindName = (kind) => kindWords[kind] ?? kind.replaceAll("_", " ");
const whoKind = { user: "you", assistant: "model" };

function fillRow(row, seq, entry) {
    row.seq.textContent = number(seq);
    row.kind.textContent = entry ? entry.role ?? kindName(entry.kind) : "…";
    row.kind.className = `kind ${whoKind[entry?.role] ?? (entry?.kind?.startsWith("run_") || entry?.kind === "ai_context_operation" ? "warn" : "tool")}`;
    row.who.textContent = entry?.actor ?? "";
    row.lane.textContent = entry?.lane && entry.lane !== "default" ? entry.lane : "";
    row.words.textContent = entry?.line ?? "";
    row.title = entry ? moment(entry.at) : "";
}

/** The head of a run: how many entries it stands for. */
function fillHead(row, fold) {
    for (const part of [row.seq, row.who, row.lane, row.kind]) part.textContent = "";
    row.words.textContent = fold.open ? `▾ ${foldWords(fold)}` : `⋯ ${foldWords(fold)} folded ⋯`;
    row.title = fold.open ? "Enter or a click folds them again" : "Enter or a click shows them";
}

/**
 * @param {{thread: string, onselect: (seq: number) => void, onopen: (seq: number) => void, fail: (error: any) => void}} o
 */
export function logRows(o) {
    let rev = 0, filter = null, found = /** @type {any[]} */ ([]), next = /** @type {number | null} */ (null), reading = false, timer = 0, epoch = 0;
    const pages = new Pages(async (from, limit) => (await call("log.list", { thread: o.thread, from, limit })).items), folds = new Folds(pageSize);
    const rowAt = (index) => (filter ? { seq: found[index]?.seq ?? -1, head: null } : folds.at(index));
    const indexOf = (seq, atHead = false) => (filter ? found.findIndex((e) => e.seq <= seq) : folds.index(seq, atHead));
    const list = rows({
        label: "Entries, newest first", role: "listbox", make: makeRow,
        fill: (row, index) => {
            const { seq, head } = rowAt(index);
            row.classList.toggle("fold", head !== null);
            if (head) fillHead(row, head);
            else fillRow(row, seq, filter ? found[index] : pages.entry(seq));
        },
        onselect: (index) => o.onselect(rowAt(index).seq),
        onopen: (index) => toggle(index) || o.onopen(rowAt(index).seq),
        onclick: (index) => toggle(index),
        onview: (from, to) => {
            clearTimeout(timer);
            timer = window.setTimeout(() => (filter ? more(to) : load(from, to)), 60);
        },
    });
    ending(() => clearTimeout(timer));

    /** Reads the entries of the rows from..to. */
    function load(from, to) {
        const seqs = [];
        for (let i = Math.max(0, from); i < Math.min(to + 1, folds.count); i++) {
            const { seq, head } = folds.at(i);
            if (!head) seqs.push(seq);
        }
        pages.need(seqs, (page, items) => {
            folds.learn(page, items);
            if (filter) list.redraw();
            else reshape();
        }).catch(o.fail);
    }

    /** Computes the rows again. The row at the top stays there, unless it is the newest; the selected entry stays selected. */
    function reshape(change = () => {}) {
        const first = list.first(), top = folds.rev > 0 ? folds.at(Math.floor(first)) : null;
        const chosen = list.selected() >= 0 && folds.rev > 0 ? folds.at(list.selected()) : null;
        change();
        folds.layout(rev);
        // The entry that the address names must stay visible: open the run that contains it.
        if (chosen && !chosen.head && isInside(chosen.seq)) folds.set(chosen.seq, true);
        list.resize(folds.count);
        if (chosen) list.selected.set(indexOf(chosen.seq, chosen.head !== null));
        if (top && first >= 1) list.scrollTo(indexOf(top.seq, top.head !== null) + first % 1);
        list.redraw();
    }

    /** Whether an entry is in a closed run, and not the one that stands for it. */
    function isInside(seq) {
        const f = folds.of(seq);
        return f !== null && !f.open && f.to !== seq;
    }

    /** Opens or closes the run whose head a row is; false: it is an entry. */
    function toggle(index) {
        const { head } = rowAt(index);
        if (!head) return false;
        list.mark(index);
        reshape(() => folds.set(head.to, !head.open));
        o.onselect(head.to);
        return true;
    }

    async function more(to) {
        if (reading || next === null || to < found.length - 20) return;
        reading = true;
        const mine = epoch;
        try {
            do {
                const answer = await call("log.list", { thread: o.thread, backwards: true, limit: pageSize, from: next, ...filter });
                if (mine !== epoch) return;
                found.push(...answer.items);
                next = answer.next;
                list.resize(found.length);
            } while (next !== null && found.length < to + 20);
        } catch (error) {
            o.fail(error);
        } finally {
            reading = false;
        }
    }

    /** The log has `rev` entries now. The rows in view stay where they are, unless the newest entry is among them. */
    function grow(n) {
        if (n === rev && rev > 0) return;
        const at = chosenSeq();
        rev = n;
        pages.grow();
        if (filter) return refilter(at);
        reshape();
        load(Math.floor(list.first()), Math.floor(list.first()) + 60);
    }

    const chosenSeq = () => (list.selected() >= 0 ? rowAt(list.selected()).seq : -1);

    function refilter(at) {
        epoch++;
        found = [];
        next = rev - 1;
        reading = false;
        list.resize(0);
        if (rev > 0) more(0).then(() => { if (at >= 0) show(at); });
    }

    /** @param {object | null} to {kinds?, lane?}; null: every entry */
    function setFilter(to) {
        const at = chosenSeq();
        filter = to;
        if (filter) return refilter(at);
        epoch++;
        folds.layout(rev);
        list.selected.set(-1); // the index was one of the previous rows
        list.resize(folds.count);
        if (at >= 0) show(at);
        load(0, 60);
    }

    /** Selects an entry without calling onselect; opens the run that contains it. */
    function show(seq) {
        if (!filter && isInside(seq)) reshape(() => folds.set(seq, true));
        const index = chosenSeq() === seq ? list.selected() : indexOf(seq);
        if (index < 0) return;
        const first = list.first(), visible = list.view() / list.height;
        if (index < first - 1 || index > first + visible) list.centre(index);
        list.select(index, true);
        if (!filter) load(index - 30, index + 30);
    }

    return { element: list.element, list, grow, setFilter, show, rev: () => rev, filtered: () => filter !== null, complete: () => next === null, entry: (seq) => pages.entry(seq) };
}

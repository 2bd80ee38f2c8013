// Folds: consecutive entries of minor kinds are shown as one row. The log is read page by page, so that folds
// are known for the pages that were read; in other pages every entry has its own row.

/** Kinds that often follow each other and are seldom read. */
const noise = new Set(["tool_action", "model_request", "model_response", "run_checkpoint", "harness_position", "harness_record"]);
const fewest = 3;

/** The runs in consecutive entries, oldest first. */
export function runsOf(entries) {
    const list = /** @type {{from: number, to: number, kinds: Record<string, number>}[]} */ ([]);
    for (const { seq, kind } of entries) {
        if (!noise.has(kind)) continue;
        const last = list.at(-1);
        if (last?.to !== seq - 1) list.push({ from: seq, to: seq, kinds: { [kind]: 1 } });
        else Object.assign(last, { to: seq, kinds: { ...last.kinds, [kind]: (last.kinds[kind] ?? 0) + 1 } });
    }
    return list;
}

function joined(older, newer) {
    const kinds = { ...older.kinds };
    for (const [kind, n] of Object.entries(newer.kinds)) kinds[kind] = (kinds[kind] ?? 0) + n;
    return { from: older.from, to: newer.to, kinds };
}

const lengthOf = (f) => f.to - f.from + 1;

/**
 * Rows of a log, newest first. A run is one row, its head; when it is open, its entries follow. No run is longer than a
 * page: of a log that is one long run, no more is read than fills the view.
 */
export class Folds {
    constructor(pageSize) {
        this.pageSize = pageSize;
        this.pages = new Map();
        this.opened = new Set(); // one entry of each run that is open, because a run may grow
        this.list = []; // the runs that are rows, newest first
        this.rev = 0;
        this.count = 0; // rows
    }

    /** Takes the entries of a page. */
    learn(page, entries) {
        this.pages.set(page, runsOf(entries));
    }

    /** Computes the rows for a log of `rev` entries. */
    layout(rev) {
        const all = [];
        for (const page of [...this.pages.keys()].sort((a, b) => a - b)) {
            for (const run of this.pages.get(page)) {
                const last = all.at(-1);
                if (last?.to === run.from - 1 && lengthOf(last) + lengthOf(run) <= this.pageSize) all[all.length - 1] = joined(last, run);
                else all.push(run);
            }
        }
        this.rev = rev;
        this.list = all.filter((run) => lengthOf(run) >= fewest).reverse().map((run) => ({ ...run, open: false, rows: 1, row: 0 }));
        for (const seq of this.opened) {
            const f = this.of(seq);
            if (f) Object.assign(f, { open: true, rows: 1 + lengthOf(f) });
        }
        let row = 0, next = rev - 1; // the next row, and its entry
        for (const f of this.list) {
            f.row = row + next - f.to;
            row = f.row + f.rows;
            next = f.from - 1;
        }
        this.count = row + next + 1;
    }

    /** The last run of which `isBefore` holds; it holds for a first part of the list. */
    #last(isBefore) {
        let low = 0, high = this.list.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (isBefore(this.list[middle])) low = middle + 1;
            else high = middle;
        }
        return this.list[low - 1] ?? null;
    }

    /** The run that an entry is in, or null. */
    of(seq) {
        const f = this.#last((x) => x.to >= seq);
        return f && f.from <= seq ? f : null;
    }

    /** What a row shows: an entry, or the head of a run with its newest entry. */
    at(index) {
        const f = this.#last((x) => x.row <= index);
        if (!f) return { seq: this.rev - 1 - index, head: null };
        const behind = index - f.row;
        if (behind === 0) return { seq: f.to, head: f };
        return { seq: behind < f.rows ? f.to - behind + 1 : f.from - 1 - (behind - f.rows), head: null };
    }

    /** The row of an entry: its own, or the head of its run. */
    index(seq, atHead = false) {
        const f = this.#last((x) => x.to >= seq);
        if (!f) return this.rev - 1 - seq;
        if (seq < f.from) return f.row + f.rows + f.from - 1 - seq;
        return atHead || !f.open ? f.row : f.row + 1 + f.to - seq;
    }

    /** Opens or closes the run of an entry. */
    set(seq, open) {
        const f = this.of(seq);
        if (!f) return;
        for (const one of [...this.opened]) if (one >= f.from && one <= f.to) this.opened.delete(one);
        if (open) this.opened.add(seq);
        this.layout(this.rev);
    }
}

/** "14 tool_action, 2 model_request" */
export const foldWords = (f) => Object.entries(f.kinds).map(([kind, n]) => `${n} ${kind}`).join(", ");

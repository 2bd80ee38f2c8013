// The tree of a thread. Its shape is read as columns of bytes; texts are read when they are shown.
import { bytes, call, saw } from "./api.js";
import { family } from "./tree_layout.js";

export const flag = { model: 1, tool: 2, bookmarked: 4, pruned: 8, excluded: 16, withdrawn: 32, version: 64 };
const none = 0xffffffff;

/** Reads what tree.skeleton writes. @param {ArrayBuffer} buffer */
export function decode(buffer) {
    const view = new DataView(buffer), n = view.getUint32(0, true), rev = view.getUint32(4, true);
    if (buffer.byteLength !== 8 + n * 13) throw new Error("the shape of the tree has a wrong length");
    const column = (at) => {
        const list = new Uint32Array(n);
        for (let i = 0; i < n; i++) list[i] = view.getUint32(at + i * 4, true);
        return list;
    };
    return { n, rev, seq: column(8), parent: column(8 + n * 4), local: new Uint8Array(buffer, 8 + n * 8, n * 4), flags: new Uint8Array(buffer, 8 + n * 12, n) };
}

/** The index of a seq in a sorted array, or -1. */
export function indexOf(seqs, seq) {
    let low = 0, high = seqs.length - 1;
    while (low <= high) {
        const middle = (low + high) >> 1;
        if (seqs[middle] === seq) return middle;
        if (seqs[middle] < seq) low = middle + 1;
        else high = middle - 1;
    }
    return -1;
}

/** Merges new and changed nodes into the known ones. Both are sorted by seq. */
export function merge(old, more) {
    const fresh = [];
    for (let i = 0; i < more.n; i++) {
        const at = indexOf(old.seq, more.seq[i]);
        if (at >= 0) old.flags[at] = more.flags[i];
        else fresh.push(i);
    }
    if (fresh.length === 0) return { ...old, rev: more.rev };
    const n = old.n + fresh.length, next = { n, rev: more.rev, seq: new Uint32Array(n), parent: new Uint32Array(n), local: new Uint8Array(n * 4), flags: new Uint8Array(n) };
    for (const field of ["seq", "parent", "local", "flags"]) next[field].set(old[field]);
    fresh.forEach((i, k) => {
        const at = old.n + k;
        next.seq[at] = more.seq[i];
        next.parent[at] = more.parent[i];
        next.flags[at] = more.flags[i];
        next.local.set(more.local.subarray(i * 4, i * 4 + 4), at * 4);
    });
    return next;
}

/** The tree of a thread, with what is known of its texts. */
export class Tree {
    constructor(thread) {
        this.thread = thread;
        this.columns = { n: 0, rev: 0, seq: new Uint32Array(0), parent: new Uint32Array(0), local: new Uint8Array(0), flags: new Uint8Array(0) };
        this.family = family(new Int32Array(0));
        this.texts = new Map(); // by index: a row of tree.nodes
        this.asked = new Set();
    }

    get n() {
        return this.columns.n;
    }

    /** Reads new and changed nodes. Returns how many are new. */
    async load() {
        const before = this.n;
        const since = this.columns.rev > 0 ? this.columns.rev - 1 : -1;
        const more = decode(await bytes("tree.skeleton", { thread: this.thread, since }));
        saw(this.thread, more.rev);
        const marked = since >= 0 ? Array.from(more.seq, (s) => indexOf(this.columns.seq, s)).filter((i) => i >= 0) : [];
        this.columns = since < 0 ? more : merge(this.columns, more);
        for (const i of marked) this.texts.delete(i);
        if (this.n !== before) {
            this.family = family(this.parents());
            // The text of a node includes the number of its children: read it again.
            for (let i = before; i < this.n; i++) this.texts.delete(this.family.parent[i]);
        }
        this.asked.clear();
        return this.n - before;
    }

    parents() {
        const { n, seq, parent } = this.columns, list = new Int32Array(n);
        for (let i = 0; i < n; i++) list[i] = parent[i] === none ? -1 : indexOf(seq, parent[i]);
        return list;
    }

    /** Drops everything, because the server has another log now. */
    reset() {
        Object.assign(this, new Tree(this.thread));
    }

    /** The id of a node; "" when it is longer than the columns hold and was not read yet. */
    id(i) {
        let text = "";
        for (let k = i * 4; k < i * 4 + 4 && this.columns.local[k]; k++) text += String.fromCharCode(this.columns.local[k]);
        return text || (this.texts.get(i)?.id ?? "");
    }

    is(i, bit) {
        return (this.columns.flags[i] & bit) !== 0;
    }

    kind(i) {
        return ["human", "model", "tool", "human"][this.columns.flags[i] & 3];
    }

    indexOfSeq(seq) {
        return indexOf(this.columns.seq, seq);
    }

    /** The node with this id, or -1. */
    find(id) {
        const { n, local } = this.columns;
        if (/^[\x21-\x7e]{1,4}$/.test(id)) {
            const want = [0, 1, 2, 3].map((k) => id.charCodeAt(k) || 0);
            for (let i = n - 1; i >= 0; i--) {
                const k = i * 4;
                if (local[k] === want[0] && local[k + 1] === want[1] && local[k + 2] === want[2] && local[k + 3] === want[3]) return i;
            }
        }
        for (const [i, node] of this.texts) if (node.id === id) return i;
        return -1;
    }

    /** The node with this id. Long ids are not in the columns: then the server is asked. */
    async seek(id) {
        const found = this.find(id);
        if (found >= 0 || id === "") return found;
        const { items } = await call("tree.nodes", { thread: this.thread, ids: [id] });
        const at = items.length ? this.indexOfSeq(items[0].seq) : -1;
        if (at >= 0) this.texts.set(at, items[0]);
        return at;
    }

    /** Reads the lines of nodes that are not known yet. Returns whether there were any. */
    async lines(list) {
        const wanted = list.filter((i) => !this.texts.has(i) && !this.asked.has(i));
        let came = false;
        for (let k = 0; k < wanted.length; k += 200) {
            const part = wanted.slice(k, k + 200);
            for (const i of part) this.asked.add(i);
            const { items } = await call("tree.nodes", { thread: this.thread, seqs: part.map((i) => this.columns.seq[i]) }).catch((error) => {
                for (const i of part) this.asked.delete(i); // the request failed: they may be asked for again
                throw error;
            });
            for (const node of items) this.texts.set(this.indexOfSeq(node.seq), node);
            came = came || items.length > 0;
        }
        return came;
    }
}

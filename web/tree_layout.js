// Which row shows which node of a tree, and its indent.
//
// The trunk follows the path to the reader's position, elsewhere the largest child. It stays in one column.
// Side branches are indented by one step and come before the rest of the trunk; they are folded when they
// have more than `smallest` nodes. So the indent is at most log2(n) + 1. All data is in typed arrays: 100,000
// nodes take about 20 ms.

export const smallest = 6;

/**
 * @typedef {object} Family
 * @property {number} n
 * @property {Int32Array} parent -1: none
 * @property {Int32Array} first the first child; -1: none
 * @property {Int32Array} next the next sibling; -1: none
 * @property {Int32Array} size nodes of the branch
 * @property {Int32Array} children how many
 * @property {Int32Array} place among its siblings, from 0
 * @property {number[]} roots
 */

/** Who is whose child. A parent must stand before its children; one that does not is none. @param {Int32Array} parent @returns {Family} */
export function family(parent) {
    const n = parent.length, first = new Int32Array(n).fill(-1), next = new Int32Array(n).fill(-1), last = new Int32Array(n).fill(-1);
    const size = new Int32Array(n).fill(1), children = new Int32Array(n), place = new Int32Array(n), roots = [];
    for (let i = 0; i < n; i++) {
        const p = parent[i] < i ? parent[i] : -1;
        if (p < 0) {
            place[i] = roots.length;
            roots.push(i);
            continue;
        }
        place[i] = children[p]++;
        if (last[p] < 0) first[p] = i;
        else next[last[p]] = i;
        last[p] = i;
    }
    for (let i = n - 1; i > 0; i--) if (parent[i] >= 0 && parent[i] < i) size[parent[i]] += size[i];
    return { n, parent, first, next, size, children, place, roots };
}

/** The nodes from the root to `node`. */
export function pathTo(tree, node) {
    const path = [];
    for (let i = node; i >= 0; i = tree.parent[i] < i ? tree.parent[i] : -1) path.push(i);
    return path.reverse();
}

/** The child that continues in the same column: the one on the path to the reader, else the largest, else the first. */
export function trunkOf(tree, node, onPath, hidden = null) {
    let best = -1;
    for (let c = tree.first[node]; c >= 0; c = tree.next[c]) {
        if (hidden && hidden[c]) continue;
        if (onPath[c]) return c;
        if (best < 0 || tree.size[c] > tree.size[best]) best = c;
    }
    return best;
}

/**
 * @param {Family} tree
 * @param {{position?: number, root?: number, folds?: Map<number, boolean>, hidden?: Uint8Array}} [how]
 *     position: where the reader is; root: show only this branch; folds: what was folded or unfolded by hand;
 *     hidden: nodes that are left out with all below them
 */
export function layout(tree, how = {}) {
    const { n } = tree, folds = how.folds ?? new Map(), hidden = how.hidden ?? null;
    const onPath = new Uint8Array(n);
    for (const i of how.position >= 0 ? pathTo(tree, how.position) : []) onPath[i] = 1;
    const node = new Int32Array(n), indent = new Uint16Array(n), side = new Uint8Array(n), folded = new Uint8Array(n), row = new Int32Array(n).fill(-1);
    const stack = new Int32Array(n * 2 + 2); // node, and its indent with the lowest bit for "heads a side branch"
    const pieces = [];
    let rows = 0, top = 0, deepest = 0;
    const push = (i, depth, isSide) => {
        if (hidden && hidden[i]) return;
        stack[top++] = i;
        stack[top++] = (depth << 1) | isSide;
    };
    const roots = how.root >= 0 ? [how.root] : tree.roots;
    for (let r = roots.length - 1; r >= 0; r--) push(roots[r], 0, 0);
    while (top > 0) {
        const packed = stack[--top], i = stack[--top], depth = packed >> 1, isSide = packed & 1;
        node[rows] = i;
        indent[rows] = depth;
        side[rows] = isSide;
        row[i] = rows;
        if (depth > deepest) deepest = depth;
        const fold = folds.get(i) ?? (isSide === 1 && tree.size[i] > smallest && !onPath[i]);
        folded[rows++] = fold && tree.first[i] >= 0 ? 1 : 0;
        if (fold) continue;
        const trunk = trunkOf(tree, i, onPath, hidden);
        if (trunk >= 0) push(trunk, depth, 0);
        pieces.length = 0;
        for (let c = tree.first[i]; c >= 0; c = tree.next[c]) if (c !== trunk) pieces.push(c);
        for (let k = pieces.length - 1; k >= 0; k--) push(pieces[k], depth + 1, 1);
    }
    return { rows, node: node.subarray(0, rows), indent: indent.subarray(0, rows), side: side.subarray(0, rows), folded: folded.subarray(0, rows), row, onPath, deepest };
}

/** Unfolds the branches that hide a node. Returns whether something changed. */
export function reveal(tree, folds, node, shown) {
    let changed = false;
    for (let i = tree.parent[node]; i >= 0; i = tree.parent[i]) {
        const r = shown.row[i];
        if (r < 0 || shown.folded[r]) {
            folds.set(i, false);
            changed = true;
        }
    }
    return changed;
}

/** The row of the next fork above (-1) or below (1), or -1. */
export function nextFork(tree, shown, from, step) {
    for (let r = from + step; r >= 0 && r < shown.rows; r += step) if (tree.children[shown.node[r]] > 1) return r;
    return -1;
}

/** For a strip of `height` pixels: how far in the rows of each pixel reach, and which are folded. */
export function minimap(shown, height) {
    const reach = new Uint16Array(height), marks = new Uint8Array(height);
    for (let r = 0; r < shown.rows; r++) {
        const y = Math.min(height - 1, Math.floor((r / shown.rows) * height)), end = Math.max(y + 1, Math.floor(((r + 1) / shown.rows) * height));
        for (let k = y; k < end; k++) if (shown.indent[r] + 1 > reach[k]) reach[k] = shown.indent[r] + 1;
        if (shown.folded[r]) marks[y] = 1;
    }
    return { reach, marks };
}

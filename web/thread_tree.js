// The tree of a thread as rows: forks, folded branches, who is where, and a strip that shows all of it.
import { h, ending } from "./h.js";
import { rows } from "./rows.js";
import { theme } from "./theme.js";
import { flag } from "./tree.js";
import { layout, minimap, nextFork, reveal, trunkOf } from "./tree_layout.js";
import { number } from "./words.js";

const stripWidth = 26;
const darkSystem = matchMedia("(prefers-color-scheme: dark)");
/** Which colours are shown. */
const isDark = () => `${theme()} ${darkSystem.matches}`;

function makeRow() {
    const row = /** @type {any} */ (h("div", { class: "node" }));
    for (const name of ["guide", "code", "who", "words", "marks"]) {
        row[name] = h("span", { class: name }, " ");
        row.append(row[name]);
    }
    row.guide.setAttribute("aria-hidden", "true");
    return row;
}

const put = (span, text) => { if (span.firstChild.data !== text) span.firstChild.data = text; };

/**
 * @param {import("./tree.js").Tree} tree
 * @param {{onselect: (node: number) => void, onopen: (node: number) => void, onpick: () => void, marks: () => Map<number, string[]>, you: () => string}} how
 */
export function treePane(tree, how) {
    let shown = layout(tree.family), position = -1, root = -1, timer = 0;
    const folds = new Map();

    const list = rows({
        label: "Tree", role: "tree", make: makeRow,
        fill: (row, r) => fillRow(row, r),
        describe: (r) => {
            const i = shown.node[r], p = tree.family.parent[i];
            return {
                level: shown.indent[r] + 1, size: p >= 0 ? tree.family.children[p] : tree.family.roots.length, place: tree.family.place[i] + 1,
                expanded: shown.folded[r] ? false : tree.family.children[i] > 0 ? true : null,
            };
        },
        onselect: (r) => how.onselect(shown.node[r]),
        onpick: () => how.onpick(),
        onopen: (r) => how.onopen(shown.node[r]),
        onclick: (r, event) => {
            if (!(event.target instanceof Element) || !event.target.classList.contains("guide") || tree.family.children[shown.node[r]] === 0) return false;
            fold(r, !shown.folded[r]);
            return true;
        },
        onview: (from, to) => askTexts(from, to),
    });

    function guide(r) {
        const i = shown.node[r];
        const sign = shown.folded[r] ? "⊞" : tree.family.children[i] > 1 ? "┿" : shown.side[r] ? "├" : "│";
        return "│ ".repeat(Math.min(40, shown.indent[r])) + sign;
    }

    function fillRow(row, r) {
        const i = shown.node[r], text = tree.texts.get(i), who = how.marks().get(i);
        put(row.guide, guide(r));
        put(row.code, tree.id(i) || " ");
        put(row.who, text ? (text.author === how.you() ? "you" : text.author) : tree.kind(i));
        const kind = `who ${tree.kind(i) === "human" ? "you" : tree.kind(i)}`;
        if (row.who.className !== kind) row.who.className = kind;
        const size = shown.folded[r] ? `(${number(tree.family.size[i])}) ` : "";
        put(row.words, size + (text ? text.line : "…"));
        const marks = (tree.is(i, flag.bookmarked) ? "★" : "") + (tree.is(i, flag.excluded) ? " ⊘" : "") + (text?.annotations ? ` ✎${text.annotations}` : "") + (who ? ` ◀ ${who.join(", ")}` : "");
        put(row.marks, marks.trim());
        row.classList.toggle("pruned", tree.is(i, flag.pruned));
        row.classList.toggle("on-path", shown.onPath[i] === 1);
    }

    function askTexts(from, to) {
        clearTimeout(timer);
        timer = window.setTimeout(async () => {
            const wanted = [];
            for (let r = from; r < Math.min(to, shown.rows); r++) wanted.push(shown.node[r]);
            try {
                if (await tree.lines(wanted)) list.redraw();
            } catch {
                // the rows stay without text; the next redraw asks again
            }
        }, tree.texts.size === 0 ? 0 : 60);
        drawStrip();
    }
    ending(() => clearTimeout(timer));

    /** Lays the rows out again. The selected node stays selected, and the row at the top stays there. */
    function draw(selected = current()) {
        const top = list.first(), anchor = shown.rows > 0 ? shown.node[Math.min(shown.rows - 1, Math.floor(top))] : -1;
        const hidden = new Uint8Array(tree.n);
        for (let i = 0; i < tree.n; i++) {
            if (tree.is(i, flag.version)) hidden[i] = 1;
            if (tree.is(i, flag.pruned) && !folds.has(i)) folds.set(i, true);
        }
        const lay = () => layout(tree.family, { position, root, folds, hidden });
        shown = lay();
        if (selected >= 0 && shown.row[selected] < 0 && reveal(tree.family, folds, selected, shown)) shown = lay();
        list.resize(shown.rows);
        if (anchor >= 0 && anchor < tree.n && shown.row[anchor] >= 0) list.scrollTo(shown.row[anchor] + (top % 1));
        if (selected >= 0 && shown.row[selected] >= 0) list.mark(shown.row[selected]);
        list.redraw();
        askTexts(Math.max(0, Math.floor(list.first()) - 4), Math.floor(list.first()) + Math.ceil(list.view() / list.height) + 5);
    }

    const current = () => (list.selected() >= 0 && list.selected() < shown.rows ? shown.node[list.selected()] : -1);

    function fold(r, on) {
        folds.set(shown.node[r], on);
        draw(shown.node[r]);
    }

    const strip = /** @type {HTMLCanvasElement} */ (h("canvas", { class: "strip", "aria-hidden": "true" }));
    let stripAsked = 0, map = { of: /** @type {any} */ (null), canvas: strip, dark: "", box: "" };
    function drawStrip() {
        if (!stripAsked) stripAsked = requestAnimationFrame(paintStrip);
    }
    function paintStrip() {
        stripAsked = 0;
        strip.hidden = shown.rows * list.height <= list.view();
        if (strip.hidden) return;
        const height = Math.max(1, strip.clientHeight), pen = strip.getContext("2d");
        if (strip.height !== height || strip.width !== stripWidth) {
            strip.height = height;
            strip.width = stripWidth;
        }
        if (map.of !== shown || map.canvas.height !== height || map.dark !== isDark()) paintMap(height);
        pen.clearRect(0, 0, stripWidth, height);
        pen.drawImage(map.canvas, 0, 0);
        const first = list.first() / Math.max(1, shown.rows), part = list.view() / list.height / Math.max(1, shown.rows);
        pen.strokeStyle = map.box;
        pen.strokeRect(0.5, first * height + 0.5, stripWidth - 1, Math.max(4, Math.min(1, part) * height - 1));
    }
    /** Paints the tree of the strip, without the box. Done when rows or colours change, not for every frame of scrolling. */
    function paintMap(height) {
        const style = getComputedStyle(strip), all = minimap(shown, height), canvas = /** @type {HTMLCanvasElement} */ (h("canvas"));
        canvas.width = stripWidth;
        canvas.height = height;
        const pen = canvas.getContext("2d");
        pen.fillStyle = style.getPropertyValue("--quiet");
        for (let y = 0; y < height; y++) if (all.reach[y]) pen.fillRect(3, y, Math.min(18, all.reach[y] * 3), 1);
        pen.fillStyle = style.getPropertyValue("--model");
        for (let y = 0; y < height; y++) if (all.marks[y]) pen.fillRect(21, y, 4, 1);
        map = { of: shown, canvas, dark: isDark(), box: style.getPropertyValue("--link") };
    }
    const jump = (event) => list.centre(Math.floor((event.offsetY / Math.max(1, strip.clientHeight)) * shown.rows));
    strip.addEventListener("pointerdown", (event) => {
        strip.setPointerCapture(event.pointerId);
        jump(event);
    });
    strip.addEventListener("pointermove", (event) => event.buttons && jump(event));
    list.element.addEventListener("scroll", drawStrip, { passive: true });

    const row = () => list.selected();
    const moves = {
        next: () => list.select(row() + 1),
        before: () => list.select(row() - 1),
        first: () => list.select(0),
        last: () => list.select(shown.rows - 1),
        in: () => {
            const i = current();
            if (i < 0) return;
            if (shown.folded[row()]) fold(row(), false);
            else if (tree.family.first[i] >= 0) list.select(shown.row[trunkOf(tree.family, i, shown.onPath)]);
        },
        out: () => {
            const i = current();
            if (i < 0) return;
            const p = tree.family.parent[i];
            if (!shown.folded[row()] && shown.side[row()] && tree.family.children[i] > 0) fold(row(), true);
            else if (p >= 0 && shown.row[p] >= 0) list.select(shown.row[p]);
        },
        fold: () => current() >= 0 && fold(row(), !shown.folded[row()]),
        fork: (step) => {
            const r = nextFork(tree.family, shown, row(), step);
            if (r >= 0) list.select(r);
        },
        sibling: (step) => {
            const to = siblingOf(tree.family, current(), step);
            if (to >= 0) select(to);
        },
        hoist: () => {
            root = root >= 0 ? -1 : current();
            draw();
        },
    };

    function select(i) {
        if (i < 0) return;
        if (root >= 0 && shown.row[i] < 0) root = -1;
        if (shown.row[i] < 0) {
            reveal(tree.family, folds, i, shown);
            draw(i);
        }
        if (shown.row[i] >= 0) list.select(shown.row[i], true);
        how.onselect(i);
    }

    return {
        element: h("div", { class: "tree-body" }, list.element, strip), list, draw, moves, select, current,
        setPosition(i) { position = i; }, isHoisted: () => root >= 0, folds,
    };
}

/** The previous (-1) or next (1) sibling, or -1. */
export function siblingOf(family, i, step) {
    if (i < 0) return -1;
    const p = family.parent[i], want = family.place[i] + step;
    for (let c = p >= 0 ? family.first[p] : -1; c >= 0; c = family.next[c]) if (family.place[c] === want) return c;
    return p < 0 ? family.roots[want] ?? -1 : -1;
}

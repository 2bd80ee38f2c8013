// Rows of a list or tree of any length. Only rows in view have elements, which are reused.
//
// Browsers limit the height of an element to about 17 to 33 million pixels. Above `cap` the scroll position
// is therefore scaled to the number of rows; keys still move by one row.
import { effect, ending, h, signal } from "./h.js";

export const cap = 8_000_000;

/** Height of what is scrolled. */
export const spacerOf = (count, height) => Math.min(count * height, cap);

/** The row at the top (it may be a fraction) when `top` pixels were scrolled. */
export function firstAt(top, count, height, view) {
    const whole = spacerOf(count, height);
    if (whole === count * height) return top / height;
    const most = Math.max(1, whole - view);
    return Math.min(1, top / most) * Math.max(0, count - view / height);
}

/** How far to scroll so that `first` is the row at the top. */
export function topFor(first, count, height, view) {
    const whole = spacerOf(count, height);
    if (whole === count * height) return first * height;
    return (first / Math.max(1, count - view / height)) * (whole - view);
}

/** The first row in view after row `index` has been brought into it with as little movement as possible. */
export function firstToShow(index, first, visible, count) {
    const most = Math.max(0, count - visible);
    if (index < first) return Math.max(0, Math.min(index, most));
    if (index + 1 > first + visible) return Math.max(0, Math.min(index + 1 - visible, most));
    return first;
}

/**
 * @typedef {object} RowsOptions
 * @property {string} label what the list is called
 * @property {"tree" | "listbox"} role
 * @property {number} [height] of a row, in pixels, on a large screen
 * @property {() => HTMLElement & {[field: string]: any}} make an empty row
 * @property {(row: any, index: number) => void} fill shows the row with this index
 * @property {(index: number) => {level?: number, size?: number, place?: number, expanded?: boolean | null}} [describe]
 * @property {(index: number) => void} [onselect] the selection was moved here
 * @property {(index: number) => void} [onopen] Enter, or a double click
 * @property {(index: number) => void} [onpick] a pointer selected it
 * @property {(index: number, event: MouseEvent) => boolean} [onclick] true: it was for a part of the row
 * @property {(first: number, last: number) => void} [onview] these rows are in view
 */

/** On a small screen rows are targets for fingers. */
const narrow = () => matchMedia("(max-width: 760px)").matches;

/** @param {RowsOptions} o */
export function rows(o) {
    const height = narrow() ? 36 : o.height ?? 24, name = `rows-${Math.random().toString(36).slice(2, 8)}`;
    const count = signal(0), selected = signal(-1);
    const layer = h("div", { class: "rows-layer", role: "presentation" });
    const spacer = h("div", { class: "rows-spacer", role: "presentation" }, layer);
    const element = h("div", { class: "rows", role: o.role, tabindex: "0", "aria-label": o.label, vars: { "--row": `${height}px` } }, spacer);
    const free = []; // elements that are not in use
    let drawn = new Map(), made = 0, asked = 0, viewed = "";

    const view = () => element.clientHeight || 600;
    const first = () => firstAt(element.scrollTop, count(), height, view());

    function take(index) {
        const row = free.pop() ?? newRow();
        row.index = index;
        row.style.removeProperty("display");
        return row;
    }

    function newRow() {
        const row = /** @type {any} */ (o.make());
        row.classList.add("row");
        row.said = {};
        row.setAttribute("role", o.role === "tree" ? "treeitem" : "option");
        row.id = `${name}-${made++}`;
        layer.append(row);
        return row;
    }

    function describe(row, index) {
        const d = o.describe?.(index) ?? {};
        // Attributes are written only when they change: each write makes the browser match its style rules again.
        const set = (attribute, value) => {
            const text = value === undefined || value === null ? null : String(value);
            if (row.said[attribute] === text) return;
            row.said[attribute] = text;
            if (text === null) row.removeAttribute(attribute);
            else row.setAttribute(attribute, text);
        };
        set("aria-level", d.level);
        set("aria-setsize", d.size ?? count());
        set("aria-posinset", d.place ?? index + 1);
        set("aria-expanded", d.expanded);
        set("aria-selected", index === selected());
    }

    /** The rows that have elements: those in view, some around them, and the selected one. */
    function wanted(from, to) {
        const list = new Set();
        for (let i = from; i < to; i++) list.add(i);
        if (selected() >= 0 && selected() < count()) list.add(selected());
        return list;
    }

    function draw() {
        asked = 0;
        const n = count(), at = first(), shown = Math.ceil(view() / height);
        const from = Math.max(0, Math.floor(at) - 4), to = Math.min(n, Math.floor(at) + shown + 5);
        const list = wanted(from, to), next = new Map();
        for (const [index, row] of drawn) {
            if (list.has(index)) next.set(index, row);
            else free.push(row);
        }
        for (const index of list) if (!next.has(index)) next.set(index, take(index));
        for (const row of free) row.style.setProperty("display", "none");
        drawn = next;
        place(at);
        const now = `${from}-${to}-${n}`;
        if (now !== viewed) o.onview?.(from, to);
        viewed = now;
    }

    function place(at) {
        const base = element.scrollTop;
        for (const [index, row] of drawn) {
            row.style.setProperty("transform", `translateY(${Math.round(base + (index - at) * height)}px)`);
            row.classList.toggle("selected", index === selected());
            describe(row, index);
            o.fill(row, index);
        }
        const active = drawn.get(selected());
        if (active) element.setAttribute("aria-activedescendant", active.id);
        else element.removeAttribute("aria-activedescendant");
    }

    function soon() {
        if (!asked) asked = requestAnimationFrame(draw);
    }

    /** Selects a row and brings it into view. */
    function select(index, quiet = false) {
        const n = count();
        if (n === 0) return;
        const to = Math.max(0, Math.min(index, n - 1));
        selected.set(to);
        show(to);
        if (!quiet) o.onselect?.(to);
    }

    function show(index) {
        const visible = Math.max(1, Math.floor(view() / height));
        const now = first(), next = firstToShow(index, now, visible, count());
        if (next !== now) element.scrollTop = topFor(next, count(), height, view());
        soon();
    }

    /** Marks a row as selected without scrolling. */
    function mark(index) {
        selected.set(index);
        soon();
    }

    /** Makes `first` (it may be a fraction) the row at the top. */
    function scrollTo(first) {
        element.scrollTop = topFor(Math.max(0, first), count(), height, view());
        soon();
    }

    /** Brings a row into the middle. */
    function centre(index) {
        const visible = Math.max(1, Math.floor(view() / height));
        element.scrollTop = topFor(Math.max(0, Math.min(index - visible / 2, count() - visible)), count(), height, view());
        soon();
    }

    function resize(n) {
        count.set(n);
        spacer.style.setProperty("height", `${spacerOf(n, height)}px`);
        if (selected() >= n) selected.set(n - 1);
        soon();
    }

    const page = () => Math.max(1, Math.floor(view() / height) - 1);
    const moves = {
        ArrowDown: () => selected() + 1, ArrowUp: () => selected() - 1, Home: () => 0, End: () => count() - 1,
        PageDown: () => selected() + page(), PageUp: () => selected() - page(),
    };

    element.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const move = moves[event.key];
        if (move) select(move());
        else if (event.key === "Enter" && selected() >= 0) o.onopen?.(selected());
        else return;
        event.preventDefault();
    });
    const rowOf = (event) => /** @type {any} */ (event.target instanceof Element ? event.target.closest(".row") : null);
    element.addEventListener("click", (event) => {
        const row = rowOf(event);
        if (!row || o.onclick?.(row.index, event)) return;
        select(row.index);
        o.onpick?.(row.index);
    });
    element.addEventListener("dblclick", (event) => {
        const row = rowOf(event);
        if (row) o.onopen?.(row.index);
    });
    // When the list gets the focus and nothing is selected, the first row is selected.
    element.addEventListener("focus", () => { if (selected() < 0 && count() > 0) mark(0); });
    element.addEventListener("scroll", soon, { passive: true });
    const watch = new ResizeObserver(soon);
    watch.observe(element);
    ending(() => watch.disconnect());
    effect(() => {
        selected();
        soon();
    });
    return { element, select, mark, scrollTo, centre, resize, redraw: soon, selected, count, first, height, view };
}

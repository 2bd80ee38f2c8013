// Elements and signals: what the page uses instead of a framework.
//
// h() makes elements from values, never from text that is parsed: what a stranger wrote can only
// become a text node or the value of an attribute. A signal holds a value; an effect runs again
// when a signal that it has read changes.

let reader = null; // the effect that runs now
let owner = null; // the scope that ends what is made now
const waiting = new Set();

/** @template T @param {T} value @returns {(() => T) & {set(v: T): void, update(f: (v: T) => T): void}} */
export function signal(value) {
    const readers = new Set();
    const read = () => {
        if (reader) {
            readers.add(reader);
            reader.sources.add(readers);
        }
        return value;
    };
    read.set = (/** @type {T} */ next) => {
        if (Object.is(next, value)) return;
        value = next;
        for (const one of readers) later(one);
    };
    read.update = (/** @type {(v: T) => T} */ f) => read.set(f(value));
    return read;
}

function later(effect) {
    if (waiting.size === 0) queueMicrotask(flush);
    waiting.add(effect);
}

/** Runs the effects that are due. They may make others due, which run next; an effect runs at most 100 times. */
export function flush() {
    for (let round = 0; waiting.size > 0; round++) {
        if (round > 100) {
            waiting.clear();
            throw new Error("signals change each other without end");
        }
        const now = [...waiting];
        waiting.clear();
        for (const one of now) if (!one.ended) runAlone(one);
    }
}

/** Runs an effect. An error in it is reported, and the other effects still run. */
function runAlone(effect) {
    try {
        effect.run();
    } catch (error) {
        reportError(error);
    }
}

/** Runs f now, and again when a signal that it read has changed. Ends with its scope. */
export function effect(f) {
    const self = { sources: new Set(), ended: false, run, end };
    function end() {
        self.ended = true;
        leave();
    }
    function leave() {
        for (const readers of self.sources) readers.delete(self);
        self.sources.clear();
    }
    function run() {
        leave();
        const before = reader;
        reader = self;
        try {
            f();
        } finally {
            reader = before;
        }
    }
    owner?.push(end);
    run();
    return end;
}

/** What is made while f runs (effects, ends given to `ending`) ends when the returned function is called. */
export function scope(f) {
    const mine = [], before = owner, reading = reader;
    owner = mine;
    reader = null;
    try {
        f();
    } finally {
        owner = before;
        reader = reading;
    }
    return () => {
        for (const end of mine.splice(0).reverse()) end();
    };
}

/** Calls f when the scope that is being filled ends. */
export function ending(f) {
    owner?.push(f);
}

/** An event listener that is removed when its scope ends. */
export function listen(target, type, f, options) {
    target.addEventListener(type, f, options);
    ending(() => target.removeEventListener(type, f, options));
}

function setAttribute(element, name, value) {
    if (name === "class") element.className = value ?? "";
    else if (name === "value" || name === "checked" || name === "disabled" || name === "hidden") element[name] = value;
    else if (value === null || value === undefined || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? "" : String(value));
}

const never = /^(on|srcdoc$|style$|innerhtml$|outerhtml$)/i; // as strings, these attributes are parsed as markup or code

function setProperty(element, name, value) {
    if (name.startsWith("on") && typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (name === "vars") for (const [k, v] of Object.entries(value)) element.style.setProperty(k, v);
    else if (never.test(name)) throw new Error(`h: ${name} is not an attribute that may be set`);
    else if (typeof value === "function") effect(() => setAttribute(element, name, value()));
    else setAttribute(element, name, value);
}

/** Adds children: nodes, texts, lists of them; a function is called again when its signals change. */
export function add(element, ...children) {
    for (const child of children.flat(Infinity)) {
        if (child === null || child === undefined || child === false || child === true) continue;
        if (typeof child === "function") addChanging(element, child);
        else element.append(typeof child === "object" ? child : document.createTextNode(String(child)));
    }
    return element;
}

function addChanging(element, f) {
    const end = document.createComment("");
    let shown = [], over = () => {};
    element.append(end);
    ending(() => over());
    effect(() => {
        over();
        let made = /** @type {any[]} */ ([]);
        // This effect depends on the signals that f reads. Effects that f makes end when this one runs again.
        const reading = reader;
        over = scope(() => {
            reader = reading;
            made = [f()].flat(Infinity);
        });
        const next = made.filter((child) => child !== null && child !== undefined && child !== false && child !== true);
        // A field that is taken out and put back loses the focus, and what is being typed.
        if (next.length === shown.length && next.every((child, i) => child === shown[i])) return;
        for (const node of shown) node.remove();
        shown = next.map((child) => (typeof child === "object" ? child : document.createTextNode(String(child))));
        end.before(...shown);
    });
}

/** h("button", {class: "small", onclick: f, disabled: () => busy()}, "Say") */
export function h(name, properties, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(properties ?? {})) setProperty(element, key, value);
    return add(element, ...children);
}

/** Puts other children into an element. */
export function fill(element, ...children) {
    element.replaceChildren();
    return add(element, ...children);
}

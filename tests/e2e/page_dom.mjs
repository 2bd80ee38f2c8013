// As much of a document as h.js needs, for tests without a browser. Setting markup is an error.
class Node {
    constructor() { this.childNodes = []; this.parent = null; this.listeners = {}; }
    append(...list) { for (const x of list) { x.remove?.(); x.parent = this; this.childNodes.push(x); } }
    before(...list) { for (const x of list) { x.parent = this.parent; this.parent.childNodes.splice(this.parent.childNodes.indexOf(this), 0, x); } }
    remove() { if (this.parent) this.parent.childNodes = this.parent.childNodes.filter((c) => c !== this); this.parent = null; }
    replaceChildren(...list) { this.childNodes = []; this.append(...list); }
    get textContent() { return this.childNodes.map((c) => c.textContent).join(""); }
    addEventListener(type, f) { (this.listeners[type] ??= []).push(f); }
    removeEventListener(type, f) { this.listeners[type] = (this.listeners[type] ?? []).filter((g) => g !== f); }
}
class Text extends Node {
    constructor(data) { super(); this.data = data; }
    get textContent() { return this.data; }
}
class Comment extends Node {
    get textContent() { return ""; }
}
class Element extends Node {
    constructor(name) { super(); this.tagName = name.toUpperCase(); this.attributes = {}; this.style = { vars: {}, setProperty: (k, v) => { this.style.vars[k] = v; } }; }
    setAttribute(k, v) { this.attributes[k] = v; }
    removeAttribute(k) { delete this.attributes[k]; }
    set innerHTML(_) { throw new Error("markup"); }
    set outerHTML(_) { throw new Error("markup"); }
}
globalThis.document = {
    createElement: (name) => { if (!/^[a-z][a-z0-9]*$/.test(name)) throw new Error(`bad name ${name}`); return new Element(name); },
    createTextNode: (data) => new Text(data),
    createComment: () => new Comment(),
};
globalThis.localStorage = { getItem: () => null, setItem() {}, removeItem() {} };
globalThis.sessionStorage = globalThis.localStorage;
globalThis.location = new URL("http://127.0.0.1:1/");
globalThis.addEventListener ??= () => {};
export { Element };

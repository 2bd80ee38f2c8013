// The path to a node, as it is read: from the oldest message to the node, opened at its end.
import { showError } from "./act.js";
import { call, Failure } from "./api.js";
import { link } from "./app.js";
import { ending, fill, h } from "./h.js";
import { message, raw } from "./markdown.js";
import { siblingOf } from "./thread_tree.js";
import { trunkOf } from "./tree_layout.js";
import { count, moment, number, size } from "./words.js";

const atOnce = 50;

/** The end of the branch below a node, along the largest children. */
export function tailOf(family, i) {
    const nowhere = new Uint8Array(0);
    let at = i;
    for (let c = trunkOf(family, at, nowhere); c >= 0; c = trunkOf(family, at, nowhere)) at = c;
    return at;
}

/** The last node that follows a node without a fork between them. */
export function endOf(family, i) {
    let at = i;
    while (family.children[at] === 1) at = family.first[at];
    return at;
}

function siblings(tree, i, choose) {
    const p = tree.family.parent[i], all = p >= 0 ? tree.family.children[p] : tree.family.roots.length;
    if (all < 2) return null;
    const step = (by, sign, words) => {
        const to = siblingOf(tree.family, i, by);
        return h("button", { type: "button", class: "plain small", disabled: to < 0, "aria-label": words, onclick: () => choose(tailOf(tree.family, to)) }, sign);
    };
    return h("span", { class: "ways" }, step(-1, "‹", "The way before"), `${tree.family.place[i] + 1}/${number(all)}`, step(1, "›", "The next way"));
}

/**
 * @param {import("./tree.js").Tree} tree
 * @param {{choose: (i: number) => void, you: () => string, actions: (node: any) => any}} how
 */
export function readingPane(tree, how) {
    const body = h("div", { class: "reading", tabindex: "0", role: "region", "aria-label": "Messages" });
    const near = h("p", { class: "error" });
    const asText = new Set();
    let compactions = /** @type {number[]} */ ([]), shown = { node: -1, items: [] }, asked = 0, controller = null, waiting = null;

    function full(node) {
        return async () => {
            try {
                const { items } = await call("tree.nodes", { thread: tree.thread, seqs: [node.seq], content: "markdown", max_bytes: 16 * 1024 * 1024 });
                Object.assign(node, items[0]);
                draw();
            } catch (error) {
                showError(near, error);
            }
        };
    }

    function head(node, i) {
        return h("header", null,
            h("strong", { class: node.kind === "human" ? "you" : node.kind }, node.author === how.you() ? "you" : node.author), " ",
            h("a", { class: "mono node-id", href: link({ screen: "thread", thread: tree.thread, node: node.id }) }, `[${node.id}]`), " ",
            h("span", { class: "quiet" }, moment(node.at)), " ",
            node.children > 1 ? h("span", { class: "quiet" }, `${node.children} ways on`) : null, " ",
            i >= 0 ? siblings(tree, i, how.choose) : null, " ",
            node.bookmarked ? h("span", { class: "quiet" }, `★ ${node.label ?? ""}`) : null, " ",
            node.edited_from ? h("span", { class: "quiet" }, `edit of [${node.edited_from}]`) : null, " ",
            node.pruned ? h("span", { class: "tag warn" }, "pruned") : null, node.excluded ? h("span", { class: "tag" }, "excluded") : null,
            h("span", { class: "grow" }),
            h("span", { class: "quiet tokens" }, `${number(node.tokens)} tokens`),
            h("button", { type: "button", class: "plain small", "aria-pressed": String(asText.has(node.seq)), onclick: () => { if (!asText.delete(node.seq)) asText.add(node.seq); draw(); } }, "raw"));
    }

    function article(node, isLast) {
        const i = tree.indexOfSeq(node.slot ?? node.seq);
        return h("article", { class: isLast ? "message last" : "message", "aria-label": `${node.author} [${node.id}]` },
            head(node, i),
            asText.has(node.seq) ? raw(node.text) : message(node.markdown, node.text),
            node.cut ? h("p", { class: "warn" }, `${size(node.bytes)} in all. `, h("button", { type: "button", class: "small", onclick: full(node) }, "Show all")) : null,
            isLast ? h("div", { class: "tools message-tools" }, how.actions(node)) : null);
    }

    function earlier() {
        const first = shown.items[0];
        if (!first || first.parent === null) return null;
        const load = async () => {
            const i = tree.indexOfSeq(first.parent), height = body.scrollHeight;
            try {
                const { items } = await call("tree.nodes", { thread: tree.thread, to: await idOf(i), last: atOnce, content: "markdown" });
                shown.items = [...items, ...shown.items];
                draw();
                body.scrollTop += body.scrollHeight - height;
            } catch (error) {
                showError(near, error);
            }
        };
        return h("p", { class: "earlier" }, h("button", { type: "button", class: "small", onclick: load }, `Show ${atOnce} earlier`), h("span", { class: "quiet" }, ` ${count(first.depth, "message")} before this one`));
    }

    /** The line where the context was compacted or replaced. Messages above it are shown here, but are not sent to models as they are. */
    function divider(node, next) {
        const here = compactions.filter((seq) => seq > node.seq && (!next || seq < next.seq));
        return here.length === 0 ? null : h("p", { class: "divider" }, "the context was replaced here ", here.map((seq) =>
            [h("a", { class: "mono", href: link({ screen: "log", thread: tree.thread, query: { at: String(seq) } }) }, `#${number(seq)}`), " "]));
    }

    async function idOf(i) {
        if (!tree.id(i)) await tree.lines([i]);
        return tree.id(i);
    }

    function draw() {
        const last = shown.items.length - 1;
        fill(body, near, earlier(), shown.items.map((node, k) => [article(node, k === last), divider(node, shown.items[k + 1])]),
            waiting ? h("article", { class: "message waiting", "aria-label": "being written" }, h("header", null, h("strong", { class: "you" }, waiting.who), h("span", { class: "quiet" }, ` ${waiting.state}`)), raw(waiting.text)) : null);
    }

    /** Shows the path to a node. Answers to earlier calls are ignored. */
    async function show(i, { stay = false } = {}) {
        const mine = ++asked;
        controller?.abort();
        controller = new AbortController();
        try {
            const last = stay && shown.node === i ? Math.min(200, Math.max(atOnce, shown.items.length)) : atOnce;
            const { items } = await call("tree.nodes", { thread: tree.thread, to: await idOf(i), last, content: "markdown" }, { signal: controller.signal });
            if (mine !== asked) return;
            const top = body.scrollTop, same = shown.node === i && stay;
            shown = { node: i, items };
            near.replaceChildren();
            draw();
            if (same) body.scrollTop = top;
            else toEnd();
        } catch (error) {
            if (error instanceof Failure && mine === asked) showError(near, error);
        }
    }

    // On a small screen the pane may have been filled while another one was shown.
    let wasHidden = false;
    const watch = new ResizeObserver(() => {
        if (body.clientHeight > 0 && wasHidden) toEnd();
        wasHidden = body.clientHeight === 0;
    });
    watch.observe(body);
    ending(() => watch.disconnect());

    function toEnd() {
        const last = body.querySelector(".message:last-of-type");
        body.scrollTop = body.scrollHeight;
        // A long last message is shown from its start.
        if (last instanceof HTMLElement && last.offsetHeight > body.clientHeight) body.scrollTop = last.offsetTop;
    }

    function clear(...children) {
        shown = { node: -1, items: [] };
        fill(body, near, ...children);
    }

    /** Shows a text that is being sent, greyed; null: it is not being sent any more. */
    function setWaiting(w) {
        waiting = w;
        draw();
        if (w) body.scrollTop = body.scrollHeight;
    }

    function setCompactions(seqs) {
        if (seqs.join() === compactions.join()) return;
        compactions = seqs;
        if (shown.items.length > 0) draw();
    }

    return { element: body, show, clear, setCompactions, near, setWaiting, last: () => shown.items[shown.items.length - 1] ?? null, draw };
}

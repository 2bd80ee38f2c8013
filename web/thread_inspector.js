// What an agent is sent next: tokens by section, what was cut, and its memory (pins and stashes).
import { loom, showError } from "./act.js";
import { call, written } from "./api.js";
import { link } from "./app.js";
import { fill, h } from "./h.js";
import { asAgent } from "./session.js";
import { tokenBar } from "./token_bar.js";
import { count, countedBy, number } from "./words.js";

const sectionWords = {
    system: "system prompt", addendum: "about the loom", memory: "working memory", snapshot: "snapshot", earlier: "earlier, summarised", node: "conversation",
    result: "results", loom: "the tree", resources: "resources", thread_context: "thread context", input: "what is asked", turn: "this turn",
};

/** A kind of section, in words. */
export const sectionName = (kind) => sectionWords[kind] ?? kind;

/** How tokens were counted: "exact (o200k_base)", "an estimate (chars/4)". */
export const countedWords = (doc) => `${doc.exact ? "exact" : "an estimate"} (${countedBy(doc)})`;

/** Sections of one kind together. */
export function bySection(sections) {
    const sums = new Map();
    for (const s of sections) {
        const key = s.kind === "node" && s.form !== "full" ? "earlier" : s.kind;
        sums.set(key, (sums.get(key) ?? 0) + s.tokens);
    }
    return [...sums].map(([kind, tokens]) => ({ kind, label: sectionName(kind), tokens }));
}

/** The parts of the memory block: what is pinned and what is stashed. */
export function memoryOf(text) {
    const pinned = /Pinned:\n((?: {2}.*\n)*)/.exec(text)?.[1] ?? "", stashed = /Stashed \(not in context\): (.*)/.exec(text)?.[1] ?? "";
    return {
        pins: pinned.split("\n").map((l) => /^ {2}\[([^\]]+)\] ?(.*)$/.exec(l)).filter(Boolean).map((m) => ({ id: m[1], words: m[2] })),
        stashes: Array.from(stashed.matchAll(/"([^"]*)"/g), (m) => m[1]),
    };
}

/** What was cut, in a line. */
export function cutLine(c) {
    const from = c.source.node ? `[${c.source.node}]${c.source.last ? ` to [${c.source.last}]` : ""}` : c.source.path ?? c.kind;
    return h("li", { class: "warn" }, "▲ ", c.source.count > 1 ? `${count(c.source.count, "message")} ` : "", `${from}: ${c.what}, ${c.why}`,
        c.before ? h("span", { class: "quiet" }, ` ${number(c.before)} → ${number(c.after)}`) : null);
}

function sums(doc) {
    const list = bySection(doc.sections);
    return [
        tokenBar(list, doc.budget, `${number(doc.tokens)} of ${number(doc.budget)} tokens`),
        h("p", { class: "quiet" }, `${number(doc.tokens)} of ${number(doc.budget)} tokens, ${countedWords(doc)}`),
        h("table", { class: "sections" },
            h("thead", null, h("tr", null, h("th", { scope: "col" }, "section"), h("th", { scope: "col", class: "n" }, "tokens"))),
            h("tbody", null, list.map((s, k) => h("tr", null, h("td", null, h("span", { class: `dot s${(k % 8) + 1}`, "aria-hidden": "true" }), s.label), h("td", { class: "n" }, number(s.tokens)))))),
        doc.cuts.length ? h("ul", { class: "cuts" }, doc.cuts.slice(0, 8).map(cutLine)) : h("p", { class: "quiet" }, "Nothing is cut."),
        doc.repairs.length ? h("ul", { class: "cuts" }, doc.repairs.map((r) => h("li", { class: "quiet" }, r))) : null,
    ];
}

/** @param {string} thread @param {{agents: () => any[], agent: () => string, choose: (name: string) => void, isEmpty: () => boolean}} how */
export function inspector(thread, how) {
    const body = h("div", { class: "pane-body pad inspector" }), near = h("p", { class: "error" });
    const top = h("div", { class: "inspector-sums" }), below = h("div", { class: "inspector-memory" });
    const select = h("select", { "aria-label": "Agent", onchange: () => how.choose(select.value) });
    let asked = 0, controller = null;
    fill(body, near, top, below);

    function memory(text, agent) {
        const { pins, stashes } = memoryOf(text);
        const done = (line, words) => loom(thread, line, words, { params: asAgent(agent), near });
        return [
            h("h3", null, "Memory"),
            pins.length + stashes.length === 0 ? h("p", { class: "quiet" }, "Nothing is pinned or stashed.") : h("ul", { class: "memory" },
                pins.map((p) => h("li", null, h("a", { class: "mono", href: link({ screen: "thread", thread, node: p.id }) }, `[${p.id}]`), ` ${p.words} `,
                    h("button", { type: "button", class: "small", onclick: () => done(`drop pin:${p.id}`, `Unpinned [${p.id}].`) }, "Unpin"))),
                stashes.map((s) => h("li", null, `stash “${s}” `, h("button", { type: "button", class: "small", onclick: () => done(`recall "${s}"`, `Recalled “${s}”.`) }, "Recall")))),
            h("p", null, h("a", { href: link({ screen: "context", thread, query: { agent } }) }, "The whole request")),
        ];
    }

    async function load(node) {
        const mine = ++asked, agent = how.agent();
        controller?.abort();
        controller = new AbortController();
        fill(select, how.agents().map((a) => h("option", { value: a.name, selected: a.name === agent }, a.name)));
        if (!agent) return fill(top, h("p", { class: "quiet" }, "There is no agent. In the shell: ", h("code", null, "heddle agent add Ana --kind model --model …")));
        try {
            const params = { thread, ...asAgent(agent), explain: true, ...(node ? { node } : {}) };
            const [{ document }, block] = await Promise.all([
                written("assemble", params, { signal: controller.signal }), call("loom.block", { thread, ...asAgent(agent), block: "memory" }, { signal: controller.signal }).catch(() => ({ text: "" })),
            ]);
            if (mine !== asked) return;
            near.replaceChildren();
            fill(top, sums(document));
            fill(below, memory(block.text ?? "", agent));
        } catch (error) {
            if (mine !== asked || error.name === "AbortError") return;
            fill(below);
            fill(top, how.isEmpty() ? h("p", { class: "quiet" }, "Nothing is sent yet: there are no messages.") : null);
            if (!how.isEmpty()) showError(near, error);
        }
    }

    return { element: body, select, load };
}

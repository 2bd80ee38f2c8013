// A box for any command of the → language, as at the prompt of `heddle loom`.
import { announce, loomUndo } from "./act.js";
import { call, withKey } from "./api.js";
import { go, place, thread } from "./app.js";
import { openDialog } from "./dialog.js";
import { h } from "./h.js";

const reads = /^(view|list|tree|path|diff|find|changes|read|memory|help|recall)\b/;
const spends = /^continue\b/, elsewhere = /^switch\b.*\btree:/;

function resultOf(r) {
    return r.ok ? h("pre", { class: "result", tabindex: "0" }, r.text || "✓")
        : h("p", { class: "error" }, h("strong", null, r.error.code), ` ${r.error.message}`, r.error.hint ? h("span", { class: "hint" }, ` ${r.error.hint}`) : null);
}

async function run(line, output, asked) {
    if (spends.test(line) && !asked.has(line)) {
        asked.add(line);
        output.replaceChildren(h("p", null, "This asks a model, which may cost tokens. Press Enter again to do it."));
        return;
    }
    output.replaceChildren(h("p", { class: "quiet" }, "…"));
    try {
        // Only loom.line returns the thread to which `switch tree:` has led. It takes no key, but switching twice does no harm.
        const answer = await (elsewhere.test(line) ? call("loom.line", { thread: thread(), line: `→ ${line}` }, { write: true })
            : call("loom.do", withKey("loom.do", { thread: thread(), lines: `→ ${line}` }), { write: true }));
        output.replaceChildren(...answer.results.map(resultOf));
        if (!reads.test(line) && answer.results.every((r) => r.ok)) announce(`→ ${line}`, () => loomUndo(thread()));
        if (answer.thread && answer.thread !== thread()) go({ screen: "thread", thread: answer.thread });
    } catch (error) {
        output.replaceChildren(resultOf({ ok: false, error }));
    }
}

/** Opens the box, with `start` as its text. */
export function openCommand(start = "") {
    if (!thread()) {
        return openDialog({ title: "Command", body: h("p", null, "Commands are of a thread: open one first."), actions: [{ label: "Close", value: "" }] });
    }
    const input = h("input", { type: "text", value: start, "aria-label": "Command", autocomplete: "off", spellcheck: "false", placeholder: place().node ? `view ${place().node}` : "help" });
    const output = h("div", { class: "command-output", "aria-live": "polite" });
    const asked = new Set();
    input.addEventListener("keydown", (event) => {
        if (event.key !== "Enter") return;
        event.preventDefault();
        const line = input.value.replace(/^\s*(→|\/|:)\s*/, "").trim();
        if (line) run(line, output, asked);
    });
    return openDialog({
        title: `Command in ${thread()}`, wide: true,
        body: [h("div", { class: "command-line" }, h("span", { "aria-hidden": "true" }, "→ "), input), output],
        actions: [{ label: "Close", value: "" }],
    });
}

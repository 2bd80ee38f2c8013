// Compaction: a dialog with the messages that it replaces beside the summary, which can be edited. It is a new entry, and can be undone.
import { act, announce, showError } from "./act.js";
import { call, newKey } from "./api.js";
import { comparison } from "./compare.js";
import { openDialog } from "./dialog.js";
import { fill, h, signal } from "./h.js";
import { asAgent } from "./session.js";
import { count, firstLine, number } from "./words.js";

const settle = 250; // milliseconds without a key before the tokens are counted again

/** The messages that a plan replaces, as project.compare lists them. */
async function covered(thread, plan) {
    const [now, nodes] = await Promise.all([
        call("project.compare", { thread, lane: plan.lane, vs: -1 }),
        plan.last ? call("tree.nodes", { thread, ids: [plan.last] }) : { items: [] },
    ]);
    const last = nodes.items[0]?.seq ?? Infinity;
    return { now, items: now.items.filter((c) => c.role !== "system" && (c.seq ?? -1) <= last).map((c) => ({ ...c, change: "removed" })) };
}

/** What differs: the messages that go, the summary, the messages that stay. */
function differences(thread, plan, gone, text) {
    const added = { change: "added", role: "user", line: `(summary) ${firstLine(text)}`, tokens: Math.max(0, plan.after - (plan.before - gone.items.reduce((n, c) => n + c.tokens, 0))), seq: null };
    const stay = plan.kept > 0 ? [{ change: "same", count: plan.kept }] : [];
    return comparison(thread, { ...gone.now, items: [...gone.items, added, ...stay] });
}

/** Who writes the summary, where it is not the text in the dialog. */
function writer(p, byModel) {
    if (!byModel) return null;
    return p.model === "extract" ? h("p", { class: "warn" }, "▲ No model is set (compact.model): it will be the messages' first sentences.") : h("p", null, `${p.model} writes it.`);
}

function planWords(p, byModel) {
    if (p.why) return h("p", { class: "warn" }, `▲ ${p.why}`);
    return [
        h("p", null, h("strong", null, count(p.covered, "message")), p.first ? [" from ", h("span", { class: "mono" }, `[${p.first}]`), " to ", h("span", { class: "mono" }, `[${p.last}]`)] : null,
            " become a summary; ", count(p.kept, "message"), " and all pins stay word for word."),
        h("p", { class: "compact-tokens" }, h("strong", null, `${number(p.before)} tokens before, ${p.summary === null ? "at most " : ""}${number(p.after)} afterwards`)),
        writer(p, byModel),
    ];
}

const field = (label, input) => h("div", { class: "field" }, h("label", { for: input.id }, label), input);

/** The dialog's parts, and what was chosen in them. */
function editor(thread, common, first) {
    let plan = first, gone = null, asked = 0, timer = 0, extract = first.summary ?? "";
    const near = h("p", { class: "error" }), words = h("div", { class: "compact-plan", "aria-live": "polite" }), right = h("div", { class: "compare compact-difference", tabindex: "0", role: "group", "aria-label": "What differs" });
    const byModel = signal(false);
    const keep = h("input", { type: "number", min: "1", max: "1000000", id: "compact-keep", placeholder: "8", onchange: () => replan() });
    const who = h("select", { id: "compact-model", onchange: () => { byModel.set(who.value === "model"); look(); } },
        h("option", { value: "" }, "the text below, which costs nothing"), h("option", { value: "model" }, "a model writes it, which costs tokens"));
    const text = h("textarea", { id: "compact-summary", rows: 12, value: extract, disabled: () => byModel(), oninput: () => { clearTimeout(timer); timer = window.setTimeout(look, settle); } });
    const wish = h("input", { type: "text", id: "compact-wish", autocomplete: "off" });
    const kept = () => (Number(keep.value) > 0 ? { keep: Number(keep.value) } : {});
    const how = () => ({ ...common, ...kept(), ...(byModel() ? (wish.value.trim() ? { instructions: wish.value.trim() } : {}) : { summary: text.value }) });

    function show() {
        fill(words, planWords(plan, byModel()));
        fill(right, gone && !plan.why ? differences(thread, plan, gone, byModel() ? "what the model will write" : text.value) : null);
    }

    /** Asks for the plan with the current text. Answers to earlier texts are ignored. */
    async function look() {
        const mine = ++asked;
        if (!byModel() && text.value.trim() === "") return fill(words, h("p", { class: "warn" }, "▲ the summary is blank"));
        try {
            const now = await call("compact", { ...how(), preview: true });
            if (mine !== asked) return;
            plan = now;
            show();
        } catch (error) {
            if (mine === asked) showError(words, error);
        }
    }

    /** The range of messages has changed: a new summary is shown, unless the user has edited the text. */
    async function replan() {
        const mine = ++asked;
        try {
            const made = await call("compact", { ...common, ...kept(), preview: true, model: "none" }), left = made.why ? null : await covered(thread, made);
            if (mine !== asked) return;
            if (text.value === extract && made.summary !== null) text.value = made.summary;
            extract = made.summary ?? extract;
            [plan, gone] = [made, left];
            if (made.why || text.value === extract) show();
            else await look();
        } catch (error) {
            if (mine === asked) showError(words, error);
        }
    }

    const again = h("button", { type: "button", class: "small", disabled: () => byModel(), onclick: () => { text.value = extract; look(); } }, "Begin anew with the first sentences");
    const body = [near, words, h("div", { class: "compact-both" },
        h("div", null, field("Messages that stay as they are", keep), field("Summary", who), () => (byModel() ? field("What it should keep", wish) : null), field("Its text", text), again), right)];
    return { body, near, how, replan, ready: () => (plan.why && !byModel() ? plan.why : null), last: () => (plan.last && !byModel() ? { last: plan.last } : {}) };
}

/** Shows the dialog, and compacts if it is confirmed. Returns the document, or null. */
export async function openCompact(thread, agent, lane, near) {
    let first;
    const common = { thread, ...asAgent(agent), ...(lane ? { lane } : {}) };
    try {
        first = await call("compact", { ...common, preview: true, model: "none" });
    } catch (error) {
        showError(near, error);
        return null;
    }
    if (first.action === "nothing") {
        announce(`There is nothing to compact: ${first.why ?? "it is short enough"}.`, null);
        return null;
    }
    const undo = () => act({ name: "compact", params: { ...common, undo: true, op_id: newKey() }, done: "The messages are back.", near });
    const parts = editor(thread, common, first);
    for (;;) { // after an error the dialog is shown again, with the error and the text
        parts.replan();
        const value = await openDialog({ title: `Compact ${thread}`, wide: true, body: parts.body, check: parts.ready, actions: [{ label: "Cancel", value: "" }, { label: "Compact", value: "yes", primary: true }] });
        if (value !== "yes") return null;
        const done = await act({ name: "compact", params: { ...parts.how(), ...parts.last() }, done: "Compacted.", undo, near: parts.near });
        if (done?.action === "nothing") announce(`Nothing was compacted: ${done.why}.`, null);
        if (done) return done;
    }
}

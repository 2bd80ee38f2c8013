// The box below: says something at a node, steers a run, or asks models to go on.
import { act, announce, clearError, loomUndo, showError } from "./act.js";
import { call, lines, newKey } from "./api.js";
import { confirm } from "./dialog.js";
import { h, signal } from "./h.js";
import { asAgent } from "./session.js";
import { firstLine } from "./words.js";

/** Models that run on this machine and cost nothing. */
export const isFree = (agent) => String(agent?.model ?? "").startsWith("offline:");

/** Why a message to a run cannot be undone. */
export const steerFinal = "a run may have read it already; end the run, or tell it the contrary";

const spend = (agent, what) => confirm("Ask a model?", [h("p", null, `${agent.name} (${agent.model ?? "no model"}) ${what}. This may cost tokens.`)], "Ask it", false);

/**
 * @param {string} thread
 * @param {{node: () => any, agents: () => any[], isKnown: () => boolean, run: () => any, you: () => string, expect: () => Promise<number>, said: (id: string) => void, waiting: (w: any) => void, changed: () => void}} how
 */
export function sayBox(thread, how) {
    const draftKey = `heddle-draft-${thread}`;
    const busy = signal(false), asks = signal(false), near = h("p", { class: "error" });
    const text = h("textarea", { rows: 2, value: sessionStorage.getItem(draftKey) ?? "", "aria-label": "What is said", oninput: () => keep() });
    const isSteering = () => how.run()?.active === true;
    const who = h("select", { "aria-label": "Who goes on" });
    const as = h("select", { "aria-label": "Who says it", hidden: () => isSteering() || how.agents().length === 0 }, h("option", { value: "" }, "as you"));
    const times = h("input", { type: "number", min: "1", max: "16", value: "3", "aria-label": "How many continuations", class: "times" });

    const keep = () => text.value ? sessionStorage.setItem(draftKey, text.value) : sessionStorage.removeItem(draftKey);
    const model = () => how.agents().find((a) => a.name === who.value && a.kind === "model") ?? null;

    function done() {
        text.value = "";
        keep();
    }

    /** Runs f, which sends the text. Meanwhile the text is shown greyed in the reading pane; it stays in the box until it was written. */
    async function sending(state, f) {
        busy.set(true);
        how.waiting({ who: "you", state, text: text.value });
        try {
            return await f();
        } finally {
            how.waiting(null);
            busy.set(false);
        }
    }

    async function say() {
        if (text.value.trim() === "" || busy()) return text.focus();
        clearError(near);
        if (isSteering()) return steer();
        const line = /^\s*→\s*(.+)$/s.exec(text.value);
        if (line) return command(line[1]);
        const at = how.node()?.id, speaker = as.value;
        const answer = await sending("is being written", async () => act({
            name: "loom.say", params: { thread, text: text.value, ...asAgent(as.value), ...(at ? { at } : {}), expect: await how.expect() },
            done: as.value ? `Said as ${as.value}.` : "Said.", near, undo: () => loomUndo(thread, near, asAgent(speaker)), again: say,
        }));
        if (!answer) return;
        done();
        how.said(answer.local_id);
    }

    async function steer() {
        const answer = await sending("waits for the next step", () => act({ name: "run.steer", params: { thread, text: text.value, ...ofRun(how.run()) }, done: "Said to the run.", near, final: steerFinal }));
        if (answer) done();
    }

    /** A command acts where the box says: the speaker goes to that node first. */
    async function command(line) {
        const speaker = as.value, at = how.node()?.id;
        const answer = await sending("is being done", async () => act({
            name: "loom.do", params: { thread, lines: `→ ${line}`, ...asAgent(speaker), ...(at ? { at } : {}), expect: await how.expect() }, done: `→ ${firstLine(line, 60)}`, near, undo: () => loomUndo(thread, near, asAgent(speaker)), again: say,
        }));
        if (answer) done();
    }

    /** Has the model answer, in a turn with its commands. The box is free meanwhile: what is typed there steers the run. */
    async function talk() {
        const agent = model(), at = how.node()?.id;
        if (!agent || busy() || asks()) return;
        if (!isFree(agent) && !(await spend(agent, "answers, with as many rounds as the settings allow"))) return;
        const given = text.value, message = given.trim() === "" ? {} : { message: given };
        let isSaid = false;
        asks.set(true);
        how.waiting({ who: "you", state: `${agent.name} answers`, text: given });
        text.value = "";
        try {
            const answer = await lines("talk", { thread, agent: agent.name, request_id: newKey(), ...(at ? { at } : {}), ...message }, (line) => { isSaid ||= line.event?.type === "started"; }, { write: true });
            keep();
            announce(`${agent.name} answered.`, null, "the model was asked; Prune leaves its answer out");
            how.changed();
            const last = answer?.nodes?.at(-1);
            if (last) how.said(last);
        } catch (error) {
            if (!isSaid && given !== "") text.value = text.value === "" ? given : `${given}\n${text.value}`; // nothing was written: it can be sent again
            keep();
            showError(near, error);
            how.changed();
        } finally {
            asks.set(false);
            how.waiting(null);
        }
    }

    async function goOn() {
        const agent = model(), at = how.node()?.id, n = Math.max(1, Math.min(16, Number(times.value) || 1));
        if (!agent || !at || busy() || asks()) return;
        if (!isFree(agent) && !(await spend(agent, `writes ${n} continuations of [${at}]`))) return;
        busy.set(true);
        await act({ name: "loom.do", params: { thread, lines: `→ continue from ${at} n:${n} using agent:"${agent.name}"` }, done: `${n} continuations of [${at}].`, near, undo: () => loomUndo(thread, near) });
        busy.set(false);
    }

    async function cancel() {
        await act({ name: "run.cancel", params: { thread, ...ofRun(how.run()) }, done: "Ended the run.", near, ask: { title: "End the run?", body: h("p", null, "What it said stays in the log."), label: "End the run" } });
    }

    text.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        say();
    });

    function waitingInputs() {
        const waits = (how.run()?.pending_input ?? []).map((p) => ["waits for the next step: ", p]);
        const list = [...waits, ...(how.run()?.dropped_input ?? []).map((p) => ["was not given to the model: ", p])];
        return list.length === 0 ? null : h("ul", { class: "pending" }, list.map(([state, p]) => h("li", null, h("span", { class: "quiet" }, state), firstLine(typeof p.content === "string" ? p.content : JSON.stringify(p.content)))));
    }

    const models = () => how.agents().filter((a) => a.kind === "model");
    const element = h("div", { class: "say" }, near, waitingInputs,
        h("div", { class: "say-line" }, text,
            h("div", { class: "tools" },
                as,
                h("button", { type: "button", class: "primary", onclick: say, disabled: () => busy() }, () => isSteering() ? `Steer ${how.run().agent ?? ""}`.trim() : "Say"),
                () => isSteering() ? h("button", { type: "button", onclick: cancel }, "End the run…") : null,
                () => isSteering() || !how.isKnown() || models().length > 0 ? null : h("span", { class: "quiet" }, "To have a model answer, add an agent: ", h("code", null, "heddle agent add Ana --kind model --model …")),
                h("span", { class: "tools inline model-tools", hidden: () => isSteering() || models().length === 0 }, // the fields stay: news come while somebody types
                    who, h("button", { type: "button", onclick: talk, disabled: () => busy() || asks() }, "Ask"),
                    h("button", { type: "button", onclick: goOn, disabled: () => busy() || asks() }, "Continue ×"), times))));

    /** Sets the placeholder of the box, and the menus. */
    function describe() {
        const at = how.node()?.id;
        text.placeholder = isSteering() ? `Steer ${how.run().agent || "the run"}: it hears this at its next step` : at ? `Say at [${at}] · start with → for a command` : "Say the first thing";
        const list = models(), speakers = how.agents().filter((a) => a.name !== how.you());
        if (as.options.length !== speakers.length + 1) as.replaceChildren(h("option", { value: "" }, "as you"), ...speakers.map((a) => h("option", { value: a.name }, `as ${a.name}`)));
        if (who.options.length !== list.length) {
            const before = who.value;
            who.replaceChildren(...list.map((a) => h("option", { value: a.name, selected: a.name === before }, a.name)));
        }
    }
    return { element, describe, focus: () => text.focus(), say, talk, goOn, cancel, near };
}

/** The agent whose run is shown: one whose run is active, else one whose run failed; null: your own run. */
export function runToShow(own) {
    if (own.active) return null;
    const others = own.runs ?? [];
    return (others.find((r) => r.active) ?? (own.status === "idle" ? others.find((r) => r.status === "error") : null))?.agent ?? null;
}

/** Reads the run of a thread that is shown; its `agent` is "" for your own. Null: it cannot be read. */
export async function readRun(thread) {
    const own = await call("run.status", { thread }).catch(() => null), agent = own ? runToShow(own) : null;
    const other = agent === null ? null : await call("run.status", { thread, agent }).catch(() => null);
    return other ? { ...other, agent } : own && { ...own, agent: "" };
}

/** The parameter `agent` of an operation on a run. */
export const ofRun = (run) => (run?.agent ? { agent: run.agent } : {});

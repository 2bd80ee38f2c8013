// References: refreshing frozen copies, after showing what has changed.
import { act, showError } from "./act.js";
import { call } from "./api.js";
import { openDialog } from "./dialog.js";
import { fill, h } from "./h.js";
import { stateWords } from "./overview_list.js";
import { lineDifference } from "./screen_files.js";
import { count } from "./words.js";

/** The files of a thread's frozen references that differ from their sources. */
async function differing(thread, target) {
    const status = await call("thread.status", { thread });
    const list = [];
    for (const r of status.references) {
        if (target && r.target !== target) continue;
        for (const f of r.files) if (f.state !== "fresh") list.push({ target: r.target, ...f });
    }
    return list;
}

const most = 20; // files whose lines are shown

/** A file that differs: what changed in it, read when it is opened. */
function file(thread, f) {
    const body = h("div", { class: "ref-difference" }, h("p", { class: "quiet" }, "…"));
    const details = h("details", null, h("summary", null, h("span", { class: "mono" }, `${f.target}:${f.name}`), " ", h("span", { class: "tag warn" }, stateWords[f.state] ?? f.state)), body);
    const load = async () => {
        try {
            fill(body, lineDifference(await call("asset.compare", { thread, name: f.local_path })));
        } catch (error) {
            showError(body, error);
        }
    };
    details.addEventListener("toggle", load, { once: true });
    return details;
}

function differences(thread, list) {
    if (list.length === 0) return h("p", null, "Every copy is as its source is.");
    const all = list.slice(0, most).map((f) => file(thread, f));
    if (all.length === 1) all[0].open = true;
    return [all, list.length > most ? h("p", { class: "quiet" }, `and ${count(list.length - most, "more", "more")}`) : null];
}

/** Shows what would change, and refreshes if that is confirmed. Returns the document, or null. */
export async function refreshReference(thread, target, near) {
    let list;
    try {
        list = await differing(thread, target);
    } catch (error) {
        showError(near, error);
        return null;
    }
    const edited = list.some((f) => f.state === "edited");
    const value = await openDialog({
        title: target ? `Refresh ${target} in ${thread}` : `Refresh the references of ${thread}`, wide: true,
        body: [differences(thread, list), h("p", { class: edited ? "warn" : "quiet" }, edited
            ? "Copies that were edited here are replaced by their sources: the edits are lost."
            : "The copies are replaced by what their sources hold now.")],
        actions: [{ label: "Cancel", value: "" }, { label: "Refresh", value: "yes", primary: !edited, danger: edited }],
    });
    if (value !== "yes") return null;
    return act({ name: "reference.refresh", params: { from: thread, ...(target ? { target } : {}) }, done: `Refreshed ${target ?? "the references"} of ${thread}.`, near, final: "copies that a refresh replaces are not kept" });
}

// Modal dialogs. The browser's <dialog> keeps the focus inside, and returns it when the dialog is closed.
import { h, scope } from "./h.js";

/**
 * Opens a dialog. Resolves to the value of the button that closed it, or "" when it was cancelled.
 * @param {{title: string, body: any, actions: {label: string, value: string, primary?: boolean, danger?: boolean}[],
 *          wide?: boolean, check?: (value: string) => string | null}} o
 *     check: returns the reason why the dialog stays open, or null
 * @returns {Promise<string>}
 */
export function openDialog(o) {
    return new Promise((done) => {
        let dialog = /** @type {any} */ (null), alert = /** @type {any} */ (null);
        const over = scope(() => {
            alert = h("p", { role: "alert", class: "error" });
            dialog = /** @type {HTMLDialogElement} */ (h("dialog", { "aria-labelledby": "dialog-title", class: o.wide ? "wide" : "" },
                h("form", { method: "dialog" },
                    h("h2", { id: "dialog-title" }, o.title),
                    h("div", { class: "dialog-body" }, o.body), alert,
                    h("div", { class: "dialog-actions" }, o.actions.map((a) =>
                        h("button", { value: a.value, class: a.danger ? "danger" : a.primary ? "primary" : "", ...(a.value === "" ? { formnovalidate: true } : {}) }, a.label))))));
        });
        dialog.querySelector("form").addEventListener("submit", (event) => {
            const value = /** @type {any} */ (event).submitter?.value ?? "";
            const why = value === "" ? null : o.check?.(value) ?? null;
            if (why === null) return;
            event.preventDefault();
            alert.textContent = why;
        });
        dialog.addEventListener("close", () => {
            over();
            dialog.remove();
            done(dialog.returnValue ?? "");
        });
        document.body.append(dialog);
        dialog.showModal();
        // A body that scrolls gets the focus by default: give it to the first control instead.
        if (document.activeElement?.classList.contains("dialog-body")) /** @type {any} */ (dialog.querySelector(".dialog-body :is(input, select, textarea, button)") ?? dialog.querySelector(".dialog-actions button"))?.focus();
    });
}

/** The label of the button that closes a dialog without doing anything. */
export const leaveWord = (label) => (/cancel/i.test(label) ? "Keep it" : "Cancel");

/** Asks for confirmation, before something that cannot be undone or costs tokens. */
export async function confirm(title, body, label, danger = true) {
    const value = await openDialog({
        title, body,
        actions: [{ label: leaveWord(label), value: "" }, { label, value: "yes", danger, primary: !danger }],
    });
    return value === "yes";
}

/**
 * Asks for values. `fields` are {name, label, value?, lines?, options?, required?, hint?}.
 * @returns {Promise<Record<string, string> | null>} null: it was cancelled
 */
export async function form(title, fields, label, more = null) {
    const inputs = fields.map((f) => {
        const common = { name: f.name, id: `field-${f.name}`, required: f.required ?? false, "aria-describedby": f.hint ? `hint-${f.name}` : null };
        if (f.options) {
            return h("select", common, f.options.map((o) => h("option", { value: o.value ?? o, selected: (o.value ?? o) === f.value }, o.label ?? o)));
        }
        return f.lines ? h("textarea", { ...common, rows: f.lines, value: f.value ?? "" })
            : h("input", { ...common, type: f.type ?? "text", value: f.value ?? "", autocomplete: "off" });
    });
    const value = await openDialog({
        title, wide: fields.some((f) => f.lines > 4),
        body: [
            fields.map((f, i) => h("div", { class: "field" }, h("label", { for: `field-${f.name}` }, f.label), inputs[i],
                f.hint ? h("p", { id: `hint-${f.name}`, class: "hint" }, f.hint) : null)),
            more,
        ],
        actions: [{ label: leaveWord(label), value: "" }, { label, value: "yes", primary: true }],
    });
    return value === "yes" ? Object.fromEntries(fields.map((f, i) => [f.name, /** @type {any} */ (inputs[i]).value])) : null;
}

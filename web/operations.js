// A form for any operation on a thread, made from its parameters. So everything that the shell can do to a thread can be done
// here, even if it has no button. The server describes its operations at /api/openapi.json.
import { act } from "./act.js";
import { call, operationTable, written } from "./api.js";
import { openDialog } from "./dialog.js";
import { fill, h } from "./h.js";
import { number } from "./words.js";

/** Parameters that name the thread of an operation. */
const places = ["thread", "target", "from"];
/** Operations that are left out: they never end, or are for programs only. */
const left = /^(log\.follow|worker\.(run|wait)|hook\.|harness\.install)/;
const long = /^(text|content|context|lines|message|query|assistant|reason|entries|instructions|description)$/;
const mostShown = 200_000;

/**
 * @typedef {{name: string, summary: string, help: string, group: string, reads: boolean, bytes: boolean, properties: Record<string, any>, required: string[], place: string, permission: string}} Operation
 */

/** The operations that act on a thread. @returns {Operation[]} */
export function operationsOf(table) {
    return Object.entries(table.paths).map(([path, methods]) => {
        const post = methods.post, schema = post?.requestBody?.content?.["application/json"]?.schema, properties = schema?.properties ?? {};
        const place = places.find((p) => p in properties && (schema.required ?? []).includes(p)) ?? (properties.thread ? "thread" : "");
        return {
            name: path.slice("/api/".length), summary: post?.summary ?? "", help: post?.description ?? "", group: post?.tags?.[0] ?? "", reads: "get" in methods,
            bytes: "text/plain" in (post?.responses?.["200"]?.content ?? {}), properties, required: schema?.required ?? [], place, permission: post?.["x-permission"] ?? "",
        };
    }).filter((o) => o.place !== "" && o.permission !== "shell" && !left.test(o.name)).sort((a, b) => a.group.localeCompare(b.group) || a.name.localeCompare(b.name));
}

const typeOf = (schema) => [schema.type].flat().find((t) => t !== "null") ?? "object";

/** The text of a field as a value of its parameter; undefined: it is empty. */
export function valueOf(schema, text) {
    if (text === "") return undefined;
    const type = typeOf(schema);
    if (type === "integer" || type === "number") return Number(text);
    if (type === "boolean") return text === "yes";
    if (type === "array" && typeOf(schema.items ?? {}) === "string") return text.split("\n").map((l) => l.trim()).filter(Boolean);
    if (type === "array" && typeOf(schema.items ?? {}) === "integer") return text.split(/[\s,]+/).filter(Boolean).map(Number);
    return type === "string" ? text : JSON.parse(text);
}

function inputOf(operation, name, schema, value) {
    const type = typeOf(schema), required = operation.required.includes(name), common = { id: `operation-${name}`, required, "aria-describedby": `about-${name}` };
    const choices = schema.enum?.filter((v) => v !== null) ?? (type === "boolean" ? ["yes", "no"] : null);
    if (choices) return h("select", common, required ? null : h("option", { value: "" }, schema.default === undefined ? "" : `${schema.default}`), choices.map((c) => h("option", { value: c }, c)));
    if (type === "integer" || type === "number") return h("input", { ...common, type: "number", min: schema.minimum ?? null, max: schema.maximum ?? null, placeholder: schema.default ?? "" });
    if (type === "string" && !long.test(name)) return h("input", { ...common, type: "text", value, autocomplete: "off", placeholder: schema.default ?? "" });
    return h("textarea", { ...common, rows: long.test(name) ? 3 : 2, value, placeholder: type === "array" ? "one on each line" : "" });
}

function fieldOf(operation, name, schema, value) {
    const input = inputOf(operation, name, schema, value);
    return { name, schema, input, element: h("div", { class: "field" }, h("label", { for: input.id }, name), input, h("p", { id: `about-${name}`, class: "hint" }, schema.description ?? "")) };
}

/** Shows the answer of an operation. */
function answerOf(operation, text) {
    return h("div", { class: "operation-answer" },
        h("div", { class: "tools" }, h("button", { type: "button", class: "small", onclick: () => navigator.clipboard?.writeText(text) }, "Copy"),
            h("a", { class: "button small", download: `${operation.name}.txt`, href: URL.createObjectURL(new Blob([text], { type: "text/plain" })) }, "Save")),
        h("pre", { class: "raw-bytes", tabindex: "0", "aria-label": "Answer" }, text.slice(0, mostShown) || "✓"),
        text.length > mostShown ? h("p", { class: "warn" }, `${number(text.length - mostShown)} characters more: Save has all of it.`) : null);
}

async function answerText(operation, params) {
    if (operation.reads && operation.bytes) return (await written(operation.name, params)).text;
    return JSON.stringify(await call(operation.name, params), null, 2);
}

/** The form of one operation, and its answer. */
function operationForm(operation, thread) {
    const near = h("p", { class: "error" }), output = h("div", { "aria-live": "polite" });
    const fields = Object.entries(operation.properties).filter(([name]) => name !== "op_id" && name !== "request_id")
        .map(([name, schema]) => fieldOf(operation, name, schema, name === operation.place ? thread : ""));
    fields.sort((a, b) => Number(operation.required.includes(b.name)) - Number(operation.required.includes(a.name)));
    const isWanted = (f) => operation.required.includes(f.name), more = fields.filter((f) => !isWanted(f));

    async function run() {
        const missing = fields.find((f) => !f.input.checkValidity());
        if (missing) return missing.input.reportValidity();
        near.replaceChildren();
        try {
            const params = Object.fromEntries(fields.map((f) => [f.name, valueOf(f.schema, f.input.value)]).filter(([, v]) => v !== undefined));
            if (operation.reads) return fill(output, answerOf(operation, await answerText(operation, params)));
            const done = await act({
                name: operation.name, params, done: `${operation.name}: done.`, near,
                ask: { title: `${operation.name}?`, body: h("p", null, `${operation.summary}. What it writes is not taken back from here.`), label: "Do it", danger: operation.permission === "manage" },
            });
            if (done) fill(output, answerOf(operation, JSON.stringify(done, null, 2)));
        } catch (error) {
            fill(near, h("strong", null, error.code ?? "INVALID_SYNTAX"), ` ${error.message}`, error.hint ? h("span", { class: "hint" }, ` ${error.hint}`) : null);
        }
    }

    return h("div", { class: "operation" }, h("p", null, operation.summary), operation.help ? h("details", null, h("summary", null, "What it does"), h("pre", { class: "quiet" }, operation.help)) : null,
        fields.filter(isWanted).map((f) => f.element),
        more.length ? h("details", null, h("summary", null, `${more.length} more that may be given`), more.map((f) => f.element)) : null,
        near, h("div", { class: "tools" }, h("button", { type: "button", class: "primary", onclick: run }, operation.reads ? "Show" : "Do it…")), output);
}

/** Opens the list of operations for a thread. */
export async function openOperations(thread) {
    const place = h("div", null, h("p", { class: "quiet" }, "…"));
    const over = openDialog({ title: `Operations on ${thread}`, wide: true, body: place, actions: [{ label: "Close", value: "" }] });
    try {
        const list = operationsOf(await operationTable()), groups = [...new Set(list.map((o) => o.group))], body = h("div", null);
        const select = h("select", { "aria-label": "Operation", onchange: () => show() }, h("option", { value: "" }, "Choose one"),
            groups.map((g) => h("optgroup", { label: g }, list.filter((o) => o.group === g).map((o) => h("option", { value: o.name }, `${o.name}: ${o.summary}`)))));
        const show = () => {
            const chosen = list.find((o) => o.name === select.value);
            fill(body, chosen ? operationForm(chosen, thread) : null);
        };
        fill(place, h("p", { class: "quiet" }, "Everything that the shell can do to a thread. What has a button elsewhere can mostly be taken back there."), select, body);
        select.focus();
    } catch (error) {
        fill(place, h("p", { class: "error", role: "alert" }, error.message));
    }
    await over;
}

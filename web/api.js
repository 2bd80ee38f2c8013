// Calls operations of the server. Every operation of `heddle api schema` is at /api/NAME.
//
// Reads are repeated when no answer came, and fail after `readTime`. Writes are neither repeated, because they may have been
// done, nor limited in time, because they may wait for a model. Requests that take long are counted in `late`, which the
// page shows.
import { signal } from "./h.js";
import { refused, secret } from "./session.js";
import { fetchWithin } from "./within.js";

const readTime = 60_000, lateAfter = 4000;
const pauses = [250, 1000]; // in milliseconds, before a read is repeated

/** How many requests have waited longer than `lateAfter` for their answer. */
export const late = signal(0);

/** The error of an operation: a code, a message and a hint, as in the shell. */
export class Failure extends Error {
    constructor(error, status) {
        super(error.message ?? "the server gave no reason");
        this.code = error.code ?? "ERROR";
        this.hint = error.hint ?? "";
        this.reason = error.reason ?? "";
        this.details = error.details ?? null;
        this.status = status;
    }
}

/** Operations that take an idempotency key, and the parameter that holds it. A test compares this with the table of operations. */
export const keyed = new Map(/** @type {[string, string][]} */ ([
    ...[
        "agent.add", "agent.remove", "agent.set", "compact", "context.acknowledge", "erase", "log.append", "loom.do", "loom.say", "objective.create", "objective.delete", "op.fork", "op.replace", "op.switch",
        "reference.add", "reference.drop", "reference.rebind", "reference.refresh", "run.cancel", "run.drain", "run.inject", "run.recover", "run.steer",
        "thread.archive", "thread.inject", "thread.lifecycle", "thread.merge", "thread.rename", "thread.spawn", "thread.transfer", "transcript.keep", "tree.import", "tree.set",
    ].map((name) => [name, "op_id"]),
    ["run.start", "request_id"], ["talk", "request_id"],
]));

/** A new idempotency key. */
export function newKey() {
    const bytes = crypto.getRandomValues(new Uint8Array(12));
    return "op_" + Array.from(bytes, (b) => "0123456789abcdefghjkmnpqrstvwxyz"[b & 31]).join("");
}

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

/** Counts f in `late` from `lateAfter` until it is done. */
async function watchLate(f) {
    let isLate = false;
    const timer = setTimeout(() => {
        isLate = true;
        late.update((n) => n + 1);
    }, lateAfter);
    try {
        return await f();
    } finally {
        clearTimeout(timer);
        if (isLate) late.update((n) => n - 1);
    }
}

/** @typedef {{signal?: AbortSignal, write?: boolean}} How write: it is sent once, and waited for */

/** @param {How} how */
async function fetchOnce(path, options, how) {
    try {
        return await watchLate(() => fetchWithin(how.write ? 0 : readTime, path, options, how.signal));
    } catch (error) {
        if (how.signal?.aborted) throw error;
        if (error.name === "TimeoutError") throw new Failure({ code: "TIMEOUT", message: `the server has not answered for ${readTime / 1000} seconds`, hint: "it may be busy: load the page again" }, 0);
        throw new Failure({ code: "OFFLINE", message: "the server does not answer", hint: "is `heddle serve` running?" }, 0);
    }
}

/** @param {How} how */
async function fetchPatiently(path, options, how) {
    for (let n = 0; ; n++) {
        try {
            return await fetchOnce(path, options, how);
        } catch (error) {
            if (how.write || error.code !== "OFFLINE" || n === pauses.length) throw error;
            await sleep(pauses[n]);
        }
    }
}

/** The error in an answer. A proxy may have sent it, so it is not always JSON. */
function failureOf(text, status) {
    try {
        return new Failure(JSON.parse(text).error ?? {}, status);
    } catch {
        return new Failure({ code: "ERROR", message: `the server answered ${status}` }, status);
    }
}

/** @param {How} how */
async function request(path, options, how) {
    const mine = secret(), headers = { ...options.headers, "X-Heddle": mine };
    const answer = await fetchPatiently(path, { ...options, headers }, how);
    if (answer.ok) return answer;
    if (answer.status === 401) refused(mine);
    throw failureOf(await answer.text().catch(() => ""), answer.status);
}

/** @param {How} how */
function ask(name, params, accept, how) {
    return request(`/api/${name}`, { method: "POST", headers: { "Accept": accept, "Content-Type": "application/json" }, body: JSON.stringify(params) }, how);
}

/** Adds an idempotency key to the parameters, if the operation takes one and none is given. */
export function withKey(name, params) {
    const field = keyed.get(name);
    return field && params[field] === undefined ? { ...params, [field]: newKey() } : params;
}

/**
 * Calls an operation and returns its document.
 * @param {string} name @param {object} [params] @param {How} [how] @returns {Promise<any>}
 */
export async function call(name, params = {}, how = {}) {
    const answer = await (await ask(name, params, "application/json", how)).json();
    saw(/** @type {any} */ (params).thread, answer.rev);
    return answer;
}

/** Whether there is a thread of this name. True when the server cannot be asked. */
export const threadIsThere = (thread) => call("thread.status", { thread }).then(() => true, (error) => error.code !== "NOT_FOUND");

const revs = new Map();
/** Records that a thread has at least `rev` entries. */
export function saw(thread, rev) {
    if (typeof thread === "string" && Number.isInteger(rev)) revs.set(thread, Math.max(rev, revs.get(thread) ?? 0));
}
/** The number of the last known entry of a thread; -1: none is known. */
export const lastSeen = (thread) => (revs.get(thread) ?? 0) - 1;

/** The document behind an address of the page, as text. The server maps the address to an operation. */
export async function behind(path) {
    return (await request(`/api/at${path}`, { headers: { "Accept": "application/json" } }, {})).text();
}

let table = null;
/** The table of operations, as the server describes it. */
export async function operationTable() {
    table ??= (await request("/api/openapi.json", { headers: { "Accept": "application/json" } }, {})).json();
    return table;
}

/** The answer of /api/status. */
export async function serverStatus() {
    return (await request("/api/status", { headers: { "Accept": "application/json" } }, {})).json();
}

/** Calls an operation that writes bytes and returns them. @param {How} [how] */
export async function bytes(name, params = {}, how = {}) {
    const answer = await ask(name, params, "application/octet-stream", how);
    return answer.arrayBuffer();
}

/**
 * Calls an operation that streams: `each` gets every line but the last, which is the document and is returned.
 * For what writes bytes the lines are {"out":…}.
 * @param {string} name @param {object} params @param {(line: any) => void} each @param {How} [how]
 */
export async function lines(name, params, each, how = {}) {
    const answer = await ask(name, params, "application/x-ndjson", how);
    let last = null;
    for await (const line of textLines(answer.body)) {
        if (line === "") continue;
        if (last !== null) each(last);
        last = JSON.parse(line);
    }
    if (last?.error && Object.keys(last).length === 1) throw new Failure(last.error, 200);
    return last;
}

/** What an operation writes, as text, and its document. @param {How} [how] */
export async function written(name, params, how = {}) {
    const parts = [];
    const document = await lines(name, params, (line) => parts.push(line.out ?? ""), how);
    return { text: parts.join(""), document };
}

/** The lines of a body as they arrive. A line may end with \n or \r\n. */
export async function* textLines(body) {
    const reader = body.getReader();
    const decoder = new TextDecoder();
    let rest = "";
    for (;;) {
        const { done, value } = await reader.read();
        rest += decoder.decode(value, { stream: !done });
        const parts = rest.split("\n");
        rest = parts.pop();
        for (const part of parts) yield part.endsWith("\r") ? part.slice(0, -1) : part;
        if (done) break;
    }
    if (rest !== "") yield rest;
}

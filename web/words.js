// Numbers and times in words, and other small texts.

const thin = "\u2009";

/** 19792 → 19,792 */
export const number = (n) => String(Math.round(n)).replace(/\B(?=(\d{3})+(?!\d))/g, ",");

/** "1 node", "2 nodes" */
export const count = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;

/** What counted the tokens of a document: "o200k_base", "chars/4". */
export const countedBy = (doc) => doc.counted_by.replace(/ \(estimate\)$/, "");

const two = (n) => String(n).padStart(2, "0");

/** 21:41 */
export function clock(when) {
    const d = new Date(when);
    return `${two(d.getHours())}:${two(d.getMinutes())}`;
}

/** 2026-11-15 21:41 */
export function moment(when) {
    const d = new Date(when);
    if (Number.isNaN(d.getTime())) return "";
    return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${clock(when)}`;
}

/** "4m", "3h", "12d": how long ago */
export function ago(when, now = Date.now()) {
    const s = Math.max(0, (now - new Date(when).getTime()) / 1000);
    if (s < 60) return `${Math.floor(s)}s`;
    if (s < 3600) return `${Math.floor(s / 60)}m`;
    if (s < 86400 * 2) return `${Math.floor(s / 3600)}h`;
    return `${Math.floor(s / 86400)}d`;
}

/** 12,345 bytes as 12 KB */
export function size(bytes) {
    if (bytes < 1000) return `${bytes}${thin}B`;
    if (bytes < 1e6) return `${Math.round(bytes / 1000)}${thin}KB`;
    return `${(bytes / 1e6).toFixed(1)}${thin}MB`;
}

/** The first line of a text, at most so long. */
export function firstLine(text, most = 200) {
    const line = String(text ?? "").trimStart().split("\n", 1)[0];
    return line.length > most ? `${line.slice(0, most)}…` : line;
}

/** A text in quotes as the → language reads it: src/command/escape.h has the rule for backslashes. */
export function quoted(text) {
    const out = text.replace(/(\\*)("|n|$)|\\+/g, (whole, run, next, at) => {
        if (run === undefined) return whole;
        if (next === '"') return run + run + '\\"';
        if (next === "") return run + run;
        return run === "" ? next : run + slashBeforeN(run, text, at) + next;
    });
    return `"${out}"`;
}

/** One more backslash, so that \n stays two characters; not where \\n would be the name of a server. */
function slashBeforeN(run, text, at) {
    const rest = /^\S*/.exec(text.slice(at + run.length + 1))[0];
    const server = run.length === 1 && (at === 0 || /\s/.test(text[at - 1])) && /^[A-Za-z]/.test(rest) && /\\[A-Za-z0-9\u0080-\uffff]/.test(rest.replace(/\\n/g, ""));
    return server ? "" : "\\";
}

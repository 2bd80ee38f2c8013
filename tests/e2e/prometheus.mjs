// node prometheus.mjs < TEXT: reads the text format of Prometheus (version 0.0.4) strictly, and says what is wrong.
import { readFileSync } from "node:fs";

const name = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const label = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\["\\\\n])*"';
const comment = new RegExp(`^# (HELP|TYPE) (${name}) (.*)$`);
const sample = new RegExp(`^(${name})(?:\\{(${label}(?:,${label})*)\\})? (\\+Inf|-Inf|NaN|-?[0-9]+(?:\\.[0-9]+)?(?:e[+-]?[0-9]+)?)$`);
const number = (text) => Number(text.replace("Inf", "Infinity"));

const text = new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(0));
const bad = [], types = new Map(), helps = new Set(), begun = new Set(), series = new Map(), histograms = new Map();
let current = "";

function familyOf(full) {
    const base = full.replace(/_(bucket|sum|count)$/, "");
    return types.get(base) === "histogram" ? base : full;
}

function readComment(at, [, what, family, rest]) {
    if (family !== current && begun.has(family)) bad.push(`line ${at}: the lines of ${family} are not together`);
    begun.add((current = family));
    const known = what === "HELP" ? helps.has(family) : types.has(family);
    if (known) bad.push(`line ${at}: a second ${what} of ${family}`);
    if (what === "HELP") helps.add(family);
    else types.set(family, rest);
    if (what === "TYPE" && !["counter", "gauge", "histogram"].includes(rest)) bad.push(`line ${at}: the type ${rest}`);
    if (what === "TYPE" && rest === "counter" && !family.endsWith("_total")) bad.push(`line ${at}: a counter without _total: ${family}`);
}

function readSample(at, [line, full, labels = "", value]) {
    const family = familyOf(full), pairs = (labels.match(new RegExp(label, "g")) ?? []).sort(), key = `${full}{${pairs}}`;
    if (family !== current || !types.has(family) || !helps.has(family)) bad.push(`line ${at}: ${full} stands without its HELP and TYPE`);
    if (series.has(key) || new Set(pairs.map((p) => p.split("=")[0])).size !== pairs.length) bad.push(`line ${at}: twice: ${line}`);
    series.set(key, number(value));
    if (types.get(family) !== "gauge" && !(number(value) >= 0)) bad.push(`line ${at}: below zero: ${line}`);
    if (types.get(family) !== "histogram" || !full.endsWith("_bucket")) return;
    const rest = pairs.filter((p) => !p.startsWith("le=")), of = `${family} ${rest}`;
    if (!histograms.has(of)) histograms.set(of, { family, rest, limits: [], counts: [] });
    histograms.get(of).limits.push(number(pairs.find((p) => p.startsWith("le="))?.slice(4, -1) ?? "NaN"));
    histograms.get(of).counts.push(number(value));
}

if (!text.endsWith("\n")) bad.push("no line feed at the end");
for (const [i, line] of text.split("\n").slice(0, -1).entries()) {
    const c = comment.exec(line), s = sample.exec(line);
    if (c) readComment(i + 1, c);
    else if (s) readSample(i + 1, s);
    else if (line) bad.push(`line ${i + 1}: ${JSON.stringify(line)}`);
}
for (const [of, { family, rest, limits, counts }] of histograms) {
    const rises = (list) => list.every((v, i) => !i || v >= list[i - 1]);
    if (!rises(limits) || limits.at(-1) !== Infinity || !rises(counts)) bad.push(`${of}: buckets are not in order, or without +Inf`);
    if (series.get(`${family}_count{${rest}}`) !== counts.at(-1) || !series.has(`${family}_sum{${rest}}`)) bad.push(`${of}: _count is not the last bucket, or there is no _sum`);
}
console.log(bad.length ? bad.join("\n") : `${series.size} series, ${histograms.size} histograms`);
process.exit(bad.length ? 1 : 0);

// Hostile records: every member of every record of a log, replaced by values that nobody would write.
//
//     node hostile.mjs VALUE [PART OF]  <export  >records
//
// Standard input is what `heddle log export` printed. Out come its records without seq and chain,
// and then one copy for each member of each sort of record (a kind and what it says it does), in which that
// member is VALUE: updir, absolute, empty, huge, nul, negative, over32, over63, wrong, null, or mixK, which
// takes them in turn, beginning with the K-th. With PART and OF only every OF-th copy, from PART on.
// VICTIM names the file that paths lead to.
import { readFileSync } from "node:fs";

const [value, part = "0", of = "1"] = process.argv.slice(2);
const victim = process.env.VICTIM ?? "/tmp/victim";
const BIG = "@9223372036854775807@";
const values = {
  updir: () => "../../../../" + victim.slice(1),
  absolute: () => victim,
  empty: () => "",
  huge: () => "A".repeat(70000),
  nul: () => "a\u0000b",
  negative: () => -1,
  over32: () => 4294967297,
  over63: () => BIG,
  wrong: (old) => (typeof old === "object" && old !== null ? "text" : { "../x": [1, null] }),
  null: () => null,
};
const names = Object.keys(values);
const mix = /^mix(\d+)$/.exec(value);
if (!mix && !values[value]) throw new Error("no such value: " + value);
const pick = (i) => values[mix ? names[(i + Number(mix[1])) % names.length] : value];

const records = readFileSync(0, "utf8").split("\n").filter(Boolean).map((line) => {
  const { seq, chain, ...rest } = JSON.parse(line);
  return rest;
});

// What tells one sort of record from another.
function sort(r) {
  const p = r.payload ?? {};
  const op = typeof p.operation === "string" ? p.operation : p.operation?.type;
  return [r.kind, op, p.mark, p.op, p.verb, p.role, p.target?.type, p.undo?.do, p.binding].join("|");
}

function* paths(v, at = []) {
  if (at.length) yield at;
  if (v && typeof v === "object" && at.length < 6)
    for (const key of Object.keys(v)) yield* paths(v[key], [...at, key]);
}

function put(root, at, make) {
  const copy = structuredClone(root);
  let v = copy;
  for (const key of at.slice(0, -1)) v = v[key];
  v[at.at(-1)] = make(v[at.at(-1)]);
  return copy;
}

let n = 0;
function print(r) {
  console.log(JSON.stringify(r).replaceAll(`"${BIG}"`, BIG.slice(1, -1)));
}

// An operation is applied once: copies get an id of their own.
function fresh(r, at) {
  const id = `hostile-${value}-${n}`;
  if (r.payload?.op_id && at.join(".") !== "op_id") r.payload.op_id = id;
  if (r.op_id) r.op_id = r.payload?.op_id ?? id;
  return r;
}

const seen = new Set();
for (const r of records) print(r);
for (const r of records) {
  for (const at of paths(r.payload ?? {})) {
    const what = sort(r) + " " + at.map((k) => (/^\d+$/.test(k) ? "0" : k)).join(".");
    if (seen.has(what)) continue;
    seen.add(what);
    if (n++ % Number(of) !== Number(part)) continue;
    const copy = { ...r, payload: put(r.payload, at, pick(n)) };
    // The lane stands beside the payload too, and both must agree.
    if (at.join(".") === "context_ref") delete copy.lane;
    // Two operations with one id are another matter.
    if (at.join(".") === "op_id" && typeof copy.payload.op_id === "string" && copy.payload.op_id)
      copy.payload.op_id += n;
    print(fresh(copy, at));
  }
}

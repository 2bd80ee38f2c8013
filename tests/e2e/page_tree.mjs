// node page_tree.mjs N: a tree of N nodes as lines for `heddle log import`: a conversation with
// forks, the same each time. For tests and benchmarks of the page.
const n = Number(process.argv[2] ?? 100_000);
const letters = "abcdefghjkmnpqrstvwxyz";
const words = "branch pin at plan a tool edit the compaction runs store context survives crash result budget section lane".split(" ");
let seed = 7;

/** A number below m: the upper bits, since the lower ones of such a sequence repeat soon. */
function random(m) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 4294967296) * m);
}

/** A local id has a letter and a digit: one that has not is not taken, and its node stands alone. */
function id(i) {
    let text = String(i % 10);
    for (let k = 0, rest = Math.floor(i / 10); k < 4; k++, rest = Math.floor(rest / letters.length)) text = letters[rest % letters.length] + text;
    return text;
}

function line(i) {
    const parent = i === 0 ? null : id(random(12) ? i - 1 : random(i));
    const author = i % 2 ? "Ana" : "user", role = i % 2 ? "assistant" : "user";
    const content = Array.from({ length: 6 + random(8) }, () => words[random(words.length)]).join(" ");
    const node = { id: `n${String(i).padStart(25, "0")}`, local_id: id(i), author, parent, via: "say" };
    return JSON.stringify({ kind: "ai_message", lane: "default", actor: author, payload: { role, content, context_ref: "default", node } });
}

for (let i = 0; i < n; i += 5000) {
    const part = [];
    for (let k = i; k < Math.min(n, i + 5000); k++) part.push(line(k));
    process.stdout.write(`${part.join("\n")}\n`);
}

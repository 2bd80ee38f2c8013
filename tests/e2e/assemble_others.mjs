// What heddle assembles, looked at by programs that are not ours: the types of the providers' SDKs, and
// an independent tokenizer. Run in a folder where npm has installed them, with the path of heddle in
// HEDDLE. Prints TAP lines without numbers ("ok - name", "not ok - name").
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(process.cwd() + '/');
const heddle = process.env.HEDDLE;
process.env.HEDDLE_SEED = 'assemble';
let seed = Number(process.env.SEED ?? 20261115);
const say = (good, name, ...why) => {
    for (const line of good ? [] : why) console.log('# ' + String(line).replaceAll('\n', '\n# '));
    console.log(`${good ? 'ok' : 'not ok'} - ${name}`);
};
const run = (words, input) => spawnSync(heddle, words, { cwd: 'ws', input, encoding: 'utf8', maxBuffer: 1 << 28 });
const must = (words, input) => {
    const r = run(words, input);
    if (r.status !== 0) throw new Error(`heddle ${words.join(' ')}: ${r.stderr}`);
    return r.stdout;
};

// ---- random threads -------------------------------------------------------------------------
const random = (n) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * n);
};
const pick = (list) => list[random(list.length)];
const words = ['the', 'keeper', 'lit', 'a', 'lamp', 'parser_state', '->next', '光の塔', '燈臺', 'маяк', '🗼🔦', '0x7fff', '3.14159',
    'ﬁn', '\n\n', '\t', '===', '→ prune r001', '[a7x2]', '"quoted"', '\\', '<b>', '&amp;', 'https://example.com/a?b=c', '‑', ' '];
const text = (n) => Array.from({ length: 1 + random(n) }, () => pick(words)).join(pick([' ', ' ', '', '\n'])) + '.';
const message = (i, open) => {
    const kind = random(10);
    if (open.length && kind < 5) {
        const id = open.shift();
        return { role: 'tool', tool_call_id: id, name: 'grep', content: text(120) };
    }
    if (i % 2 === 0) return { role: 'user', content: kind === 9 ? [{ type: 'text', text: text(30) }, { type: 'text', text: text(5) }] : text(pick([5, 40, 200])) };
    if (kind < 8) return { role: 'assistant', content: text(pick([5, 40, 200])), ...(kind === 0 ? { thinking: text(20) } : {}) };
    const calls = [`c${i}a`, `c${i}b`].slice(0, 1 + random(2));
    open.push(...calls);
    return { role: 'assistant', content: random(2) ? text(10) : '', tool_calls: calls.map((id) => ({ id, name: 'grep', arguments: { for: text(3) } })) };
};
const thread = (name, n) => {
    const open = [];
    const lines = Array.from({ length: n }, (_, i) => JSON.stringify({ kind: 'ai_message', actor: 'ada', payload: message(i, open) }));
    must(['log', 'append', name], lines.join('\n') + '\n');
    return { name, n };
};

mkdirSync('ws');
must(['init']);
must(['agent', 'add', 'Aware', '--kind', 'model', '--model', 'openai:gpt-4o', '--permissions', 'all', '--system-prompt', text(20)]);
must(['agent', 'add', 'Base', '--kind', 'model', '--model', 'openai:gpt-4o', '--system-prompt', text(20)]);
const threads = [3, 8, 30, 90, 200].map((n) => thread(`t${n}`, n));
for (const t of threads) {
    must(['tree', t.name]); // from here on it is a tree, not only a log
    const whole = JSON.parse(must(['assemble', t.name, '--agent', 'Aware', '--budget', '10000000', '--explain', '--json']));
    t.ids = whole.sections.filter((s) => s.source.node).map((s) => s.source.node);
    if (t.ids.length !== t.n) throw new Error(`${t.name}: ${t.ids.length} nodes of ${t.n}`);
    const pins = Array.from({ length: random(4) }, () => `→ pin ${pick(t.ids)}`);
    must(['do', t.name, '--agent', 'Aware'], [...pins, `→ view ${pick(t.ids)}`, '→ tree', `→ stash "s" "${'x '.repeat(random(80))}"`, '→ recall "s"', ''].join('\n'));
}

// ---- a budget is never exceeded, and nothing goes without a word ------------------------------
const { get_encoding } = require('tiktoken');
const o200k = get_encoding('o200k_base');
const count = (s) => o200k.encode_ordinary(s).length;
const texts = {
    anthropic: (b) => [...[b.system ?? []].flat().map((x) => x.text ?? x), ...b.messages.flatMap((m) => [m.content].flat().map((x) => x.text ?? x))],
    openai: (b) => b.messages.flatMap((m) => [m.content].flat().map((x) => x?.text ?? x ?? '')),
    responses: (b) => [b.instructions ?? '', ...b.input.flatMap((m) => [m.content].flat().map((x) => x.text ?? x))],
    gemini: (b) => [...(b.systemInstruction?.parts ?? []), ...b.contents.flatMap((c) => c.parts)].map((x) => x.text),
    completions: (b) => [b.prompt],
};
texts.compatible = texts.openai;
const formats = [...Object.keys(texts), 'text', 'markdown'];
const strategies = ['auto', 'summarize', 'truncateMiddle', 'rollingWindow'];
let over = [], unnamed = [], refused = 0, done = 0, tightest = 1;
for (let i = 0; i < Number(process.env.CASES ?? 160); i++) {
    const t = pick(threads), agent = pick(['Aware', 'Aware', 'Base']), format = pick(formats);
    const budget = pick([40, 250, 400, 600, 900, 1500, 4000, 12000]) + random(200);
    const common = ['assemble', t.name, '--agent', agent, '--node', pick(t.ids), '--budget', String(budget), '--strategy', pick(strategies),
        ...(random(2) ? ['--task', text(30)] : []), ...(random(4) ? [] : ['--recent', '1']), ...(random(5) ? [] : ['--reserve', '20'])];
    const r = run([...common, '--format', format]);
    if (r.status !== 0) {
        refused++;
        if (!/LIMIT_EXCEEDED: the budget is [\d,]+ tokens, and what is never cut has more: /.test(r.stderr)) over.push(`${common.join(' ')}: ${r.stderr}`);
        continue;
    }
    done++;
    const list = texts[format] ? texts[format](JSON.parse(r.stdout)) : [r.stdout];
    const sum = list.reduce((n, s) => n + count(s), 0);
    tightest = Math.min(tightest, (budget - sum) / budget);
    if (sum > budget) over.push(`${common.join(' ')} --format ${format}: ${sum} tokens of ${budget}`);
    // Every message of the path is sent in full, or counted by a cut; held-back thinking is no message.
    const doc = JSON.parse(must([...common, '--explain', '--json']));
    const path = doc.sections.filter((s) => s.kind === 'node' || (s.kind === 'input' && s.source.node)).length;
    const cut = doc.cuts.filter((c) => c.kind === 'node' && c.what !== 'thinking left out').reduce((n, c) => n + c.source.count, 0);
    const depth = t.ids.indexOf(doc.node) + 1;
    if (path + cut !== depth) unnamed.push(`${common.join(' ')}: ${path} sent + ${cut} named of ${depth}`);
}
say(!over.length, `no budget is exceeded in ${done} requests (${refused} were too small for what is never cut), by another tokenizer`, ...over.slice(0, 5));
say(done > 60 && refused > 3 && tightest < 0.05, 'budgets were used, and some were refused', `${done} ${refused} ${tightest}`);
say(!unnamed.length, 'every message of the path is sent or named as cut', ...unnamed.slice(0, 5));

// ---- the SDKs take the bodies --------------------------------------------------------------------
const picture = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
must(['log', 'append', 'pictures'], [
    { role: 'user', content: [{ type: 'text', text: 'What is this?' }, { type: 'image', source: { type: 'base64', media_type: 'image/png', data: picture } }] },
    { role: 'assistant', content: 'A point.' },
    { role: 'user', content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${picture}` } }, { type: 'text', text: 'And this?' }] },
].map((payload) => JSON.stringify({ kind: 'ai_message', payload })).join('\n') + '\n');
const types = {
    anthropic: 'Anthropic.MessageCreateParamsNonStreaming',
    openai: 'OpenAI.Chat.ChatCompletionCreateParamsNonStreaming',
    compatible: 'OpenAI.Chat.ChatCompletionCreateParamsNonStreaming',
    responses: 'OpenAI.Responses.ResponseCreateParamsNonStreaming',
    completions: 'OpenAI.CompletionCreateParamsNonStreaming',
    gemini: '{ contents: Content[]; systemInstruction?: Content; generationConfig?: GenerationConfig }',
};
must(['agent', 'set', 'Aware', '--model', 'anthropic:claude-opus-5-5', '--max-tokens', '700']);
let source = `import type Anthropic from '@anthropic-ai/sdk';\nimport type OpenAI from 'openai';\nimport type { Content, GenerationConfig } from '@google/genai';\n`;
let bodies = 0;
for (const [format, type] of Object.entries(types))
    for (const [name, budget] of [['pictures', 50000], ['t8', 50000], ['t90', 1500], ['t200', 9000]])
        for (const agent of ['Aware', 'Base']) {
            const body = must(['assemble', name, '--agent', agent, '--task', 'Go on.', '--budget', String(budget), '--format', format]);
            source += `export const body${bodies++} = ${body.trim()} satisfies ${type};\n`;
        }
writeFileSync('bodies.ts', source);
const tsc = spawnSync('node', ['node_modules/typescript/bin/tsc', '--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022', '--module', 'nodenext',
    '--moduleResolution', 'nodenext', '--types', 'node', 'bodies.ts'], { encoding: 'utf8' });
say(tsc.status === 0, `the types of three SDKs take all ${bodies} bodies`, tsc.stdout.slice(0, 3000), tsc.stderr);
writeFileSync('wrong.ts', `${source.split('\n').slice(0, 3).join('\n')}\nexport const wrong = {"model":"m","max_tokens":1,"messages":[{"role":"robot","content":"x"}]} satisfies ${types.anthropic};\n`);
const refuses = spawnSync('node', ['node_modules/typescript/bin/tsc', '--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022', '--module', 'nodenext',
    '--moduleResolution', 'nodenext', '--types', 'node', 'wrong.ts'], { encoding: 'utf8' });
say(refuses.status !== 0, 'and refuse one that is wrong', refuses.stdout);

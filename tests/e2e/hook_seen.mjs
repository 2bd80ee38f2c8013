// node hook_seen.mjs ASKED BLOCK PROMPT: in the newest request whose last message of the user has PROMPT in
// it, how often BLOCK stands, how many blocks there are at all, and where it stands to the prompt.
import { readFileSync } from 'node:fs';

const [, , asked, block, prompt] = process.argv;

// Every message as { role, text }, in whichever dialect.
function messages({ body }) {
    const list = body.messages ?? body.input ?? body.contents ?? [];
    const text = (v) => typeof v === 'string' ? v : Array.isArray(v) ? v.map(text).join('\n')
        : v && typeof v === 'object' ? text(v.text ?? v.content ?? v.parts ?? v.output ?? v.input_text ?? '') : '';
    return [{ role: 'system', text: text(body.system ?? body.instructions ?? body.systemInstruction ?? '') },
        ...list.map((m) => ({ role: m.role ?? m.type ?? '', text: text(m.content ?? m.parts ?? m.output ?? '') }))];
}

const count = (text, part) => text.split(part).length - 1; // the guide's example has no relations_file
const requests = readFileSync(asked, 'utf8').trim().split('\n').map((l) => messages(JSON.parse(l)));
const request = requests.filter((ms) => ms.some((m) => m.role === 'user' && m.text.includes(prompt))).pop();
if (!request) {
    console.log('no such prompt');
} else {
    const all = request.map((m) => m.text).join('\n');
    const at = request.findLastIndex((m) => m.text.includes(block)), to = request.findLastIndex((m) => m.role === 'user' && m.text.includes(prompt));
    const between = request.slice(Math.min(at, to) + 1, Math.max(at, to));
    const place = at < 0 ? 'nowhere' : between.some((m) => /assistant|model/.test(m.role)) ? 'apart'
        : at < to || (at === to && request[at].text.indexOf(block) < request[at].text.lastIndexOf(prompt)) ? 'before' : 'behind';
    console.log(`${count(all, block)} of ${count(all, / relations_file=/)} ${place}`);
}

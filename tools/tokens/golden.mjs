// Writes tests/spec/tokens.golden: texts of our own with what npm tiktoken makes of them. The current
// folder holds node_modules with tiktoken.
//
//   node golden.mjs OUT
//
// Records, little-endian: length (4 bytes), text, then for o200k_base and cl100k_base the number of
// tokens and the hash of their ids (4 bytes each; see digest() in oracle.mjs).
import { writeFileSync } from 'node:fs'
import { adversarial, hardCase, random } from './corpus.mjs'
import { digest, oracle } from './oracle.mjs'

const sentences = [
  'The heddle holds each thread of the loom in its place, so that cloth can be woven.',
  "It's what they've said: we'll see if I'm right, you're wrong, or he'd rather not. DON'T SHOUT, SHE'LL HEAR.",
  "it's'll they'Re x'LL 'twas rock'n'roll o'clock Y'ALL'D'VE l'Été d'accord",
  'camelCase PascalCase snake_case SCREAMING_CASE kebab-case HTTPServer2XMLParser iPhone15Pro',
  'int main(void)\n{\n    for (size_t i = 0; i < n; i++)\n        total += counts[i] ? counts[i] : 1;\n    return 0;\n}\n',
  'def count(self, text: str) -> int:\n\t"""Tokens of text."""\n\treturn sum(1 for _ in self.encode(text))\n\n\n',
  'const {a, b: [c, ...d]} = await import(`./${name}.mjs`);  // eslint-disable-line\r\nexport default () => a?.b ?? c;\r\n',
  'SELECT t.id, count(*) FROM tokens AS t WHERE t.rank >= 100000 GROUP BY 1 HAVING count(*) > 2;\n',
  '<div class="row">&nbsp;<a href="https://example.org/?q=1&amp;r=%20">link</a></div>\n',
  '{"encoding":"o200k_base","files":[{"path":"a/b.c","bytes":1024,"tokens":311}],"total":311}',
  '| a | b |\n|---|--:|\n| 1 | 2.50 |\n\n- [x] done\n- [ ] to do\n\n```sh\n$ ./dev test tokens\n```\n',
  '#!/bin/sh\nset -eu\nfor f in "$@"; do printf \'%s\\n\' "${f##*/}" | sed -e "s/^/  /"; done 2>/dev/null || exit 1\n',
  '3.14159 1,000,000 0x7fffffff 1e-9 192.168.0.1 2026-11-15T21:36:00Z +49 (0)30 123456789012345678901234567890',
  '织工把每根线都固定在自己的位置上，这样才能织出布来。我们用真正的词元来计算大小，而不是猜测。',
  '請問這個檔案有多少個詞元？答案是：三百一十一個。',
  'ヘドルは織機の糸を一本ずつ所定の位置に保ちます。トークン数は推定ではなく、正確に数えます。ﾊﾝｶｸ ｶﾅ も。',
  '베틀의 잉아는 실을 제자리에 잡아 줍니다. 토큰 수를 정확하게 셉니다.',
  'كل خيط في مكانه، وهكذا يُنسج القماش. عدد الرموز دقيق وليس تقديرًا.',
  'כל חוט במקומו, וכך נארג הבד. נִקּוּד מְלֵא.',
  'हर धागा अपनी जगह पर रहता है, तभी कपड़ा बुना जाता है। गिनती सटीक है।',
  'প্রতিটি সুতো নিজের জায়গায় থাকে। தமிழ் எழுத்து. తెలుగు అక్షరాలు. ಕನ್ನಡ. മലയാളം.',
  'ด้ายทุกเส้นอยู่ในที่ของมัน จึงทอผ้าได้ นับโทเค็นได้แม่นยำ',
  'Каждая нить на своём месте, и так ткётся полотно. Счёт ТОЧНЫЙ, а не оценка. ЁжИк.',
  'Κάθε νήμα στη θέση του. Η μέτρηση είναι ακριβής· ΟΧΙ εκτίμηση.',
  'Jeder Faden an seinem Platz: Größe, Übermaß, STRASSE, ẞ. Żółć, gęślą jaźń. Œuvre, naïve, ça. İstanbul ılık.',
  'Mỗi sợi chỉ ở đúng vị trí của nó. Đếm chính xác từng thẻ.',
  'Zalgo: ẗ̸̡e̵͎͝x̷̦̾t̶͚̕ and é as e\u0301, Å as A\u030a, ﬁ ligature, ªº, ǅ ǈ ǋ, ʰʲ, ⅷ Ⅻ ½ ² ①',
  '👩🏽‍🚀 👨‍👩‍👧‍👦 🇩🇪🇯🇵 🏴󠁧󠁢󠁥󠁮󠁧󠁿 1️⃣ ❤️‍🔥 ☕️ 🤷🏿‍♀️ →⇒∀∃∈ℝ∑∏√≈≠≤≥',
  '  leading\n\n\n   \n\t\ttabs \n trailing   \n\r\n\r\n mixed \u00a0nbsp\u2003em\u3000wide\u2028line\u0085next\ufeffbom',
  '/* ---- comment ---- */\n//////////////////////\n/// doc\n{\n/x}\n;\n//y\n=========== ########### ___________',
  '\0\x01\x02 control \x1b[31mred\x1b[0m \x7f\x80 bell\x07',
  '<|endoftext|><|im_start|>user<|im_end|><|fim_prefix|>',
  'a'.repeat(3000), 'ab'.repeat(900), ' '.repeat(1500) + 'x', '=-'.repeat(500), 'ÀÉ'.repeat(300), '的'.repeat(400), 'あいう'.repeat(200),
]

const encodings = ['o200k_base', 'cl100k_base'].map(oracle)
const r = random(2026)
const vocabularies = encodings.map((e) => e.vocabulary())
const docs = sentences.map((s) => Buffer.from(s))
for (const make of Object.values(adversarial)) docs.push(make(700))
for (let i = 0; i < 1400; i++) {
  const doc = hardCase(r, vocabularies[i % 2])
  docs.push(doc.length > 1500 ? doc.subarray(0, 1500) : doc)
}

const out = []
for (const doc of docs) {
  const numbers = encodings.flatMap((e) => digest(e.ids(doc)).split(' ').map(Number))
  const record = Buffer.alloc(4 + doc.length + 16)
  record.writeUInt32LE(doc.length)
  doc.copy(record, 4)
  numbers.forEach((n, i) => record.writeUInt32LE(n, 4 + doc.length + 4 * i))
  out.push(record)
}
writeFileSync(process.argv[2], Buffer.concat(out))
console.log(`${docs.length} texts`)

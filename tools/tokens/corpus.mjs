// Text to measure and compare with, gathered from whatever this machine has: documents of many
// kinds, made-up hard cases, and a fixed random stream. Nothing here is ever committed.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import path from 'node:path'

// ---- files ----

const endings = (...list) => (name) => list.some((e) => name.endsWith(e))
const prose = (name) =>
  (/\.(txt|md|rst|adoc)(\.gz)?$/i.test(name) || /^(README|NEWS|FAQ|TODO)/.test(name)) &&
  !/CMakeLists|requirements|copyright/i.test(name)

const system = ['/usr/share', '/usr/lib', '/usr/local/lib', '/usr/include', '/usr/src', '/opt']
export const kinds = {
  english: { roots: ['/usr/share/doc', '/usr/share', '/usr/lib', '/usr/local/lib'], match: prose },
  c: { roots: ['/usr/include', '/usr/src', '/usr/lib'], match: endings('.c', '.h', '.hpp', '.cc') },
  python: { roots: ['/usr/lib/python3.11', '/usr/lib', '/usr/share'], match: endings('.py') },
  javascript: { roots: ['/usr/lib/node_modules', '/usr/share/nodejs', 'TYPESCRIPT', ...system], match: endings('.js', '.mjs', '.ts') },
  perl: { roots: system, match: endings('.pl', '.pm') },
  shell: { roots: system, match: endings('.sh', '.bash', '.cmake', '.m4', '.mk') },
  web: { roots: system, match: endings('.html', '.css', '.xml', '.svg') },
  json: { roots: [...system, 'TYPESCRIPT'], match: endings('.json', '.yaml', '.yml') },
  other: {
    roots: system,
    match: endings('.rs', '.go', '.java', '.rb', '.lua', '.el', '.sql', '.pas', '.pp', '.ads', '.adb', '.cob', '.f90', '.tcl'),
  },
  chinese: { locales: ['zh_CN', 'zh_TW', 'zh_HK'] },
  japanese: { locales: ['ja'] },
  korean: { locales: ['ko'] },
  arabic: { locales: ['ar', 'fa', 'ur'] },
  hindi: { locales: ['hi', 'mr', 'ne', 'bn', 'ta', 'te', 'ml', 'gu', 'pa', 'kn'] },
  thai: { locales: ['th', 'km', 'my', 'lo'] },
  cyrillic: { locales: ['ru', 'uk', 'bg', 'sr'] },
  european: { locales: ['de', 'fr', 'es', 'pl', 'el', 'tr', 'vi', 'hu', 'cs', 'fi'] },
}

function* walk(dir) {
  let entries
  try {
    entries = readdirSync(dir, { withFileTypes: true })
  } catch {
    return
  }
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const full = path.join(dir, entry.name)
    if (entry.isDirectory()) yield* walk(full)
    else if (entry.isFile()) yield full
  }
}

// The translations inside a compiled message catalogue.
function translations(mo) {
  if (mo.length < 28 || mo.readUInt32LE(0) !== 0x950412de) return ''
  const [n, at] = [mo.readUInt32LE(8), mo.readUInt32LE(16)]
  const lines = []
  for (let i = 1; i < n; i++) {
    const [len, from] = [mo.readUInt32LE(at + 8 * i), mo.readUInt32LE(at + 8 * i + 4)]
    lines.push(mo.toString('utf8', from, from + len).replaceAll('\0', '\n'))
  }
  return lines.join('\n')
}

function* files(kind) {
  const seen = new Set()
  const spec = kinds[kind]
  const roots = spec.locales
    ? spec.locales.map((l) => `/usr/share/locale/${l}`)
    : spec.roots.map((r) => (r === 'TYPESCRIPT' ? path.join(process.cwd(), 'node_modules/typescript') : r))
  for (const root of roots)
    for (const file of walk(root)) {
      const name = path.basename(file)
      if (seen.has(file) || (spec.locales ? !name.endsWith('.mo') : !spec.match(name))) continue
      seen.add(file)
      const { size } = statSync(file)
      if (size < 64 || size > 4 << 20) continue
      let bytes = readFileSync(file)
      if (name.endsWith('.gz')) bytes = gunzipSync(bytes)
      if (spec.locales) bytes = Buffer.from(translations(bytes))
      if (bytes.length && !bytes.subarray(0, 4096).includes(0)) yield bytes
    }
}

// Up to `limit` bytes of documents of a kind, each at most `most` bytes, no document twice.
export function gather(kind, limit, most = 1 << 20) {
  const docs = []
  const seen = new Set()
  let total = 0
  for (const bytes of files(kind)) {
    const doc = bytes.length > most ? bytes.subarray(0, most) : bytes
    const key = doc.length + ':' + doc.toString('latin1', 0, 200) + doc.toString('latin1', doc.length >> 1, (doc.length >> 1) + 100)
    if (seen.has(key)) continue
    seen.add(key)
    docs.push(doc)
    total += doc.length
    if (total >= limit) break
  }
  return docs
}

// ---- a random stream that is the same everywhere ----

export function random(seed) {
  let s = seed >>> 0
  const next = () => {
    s = (s + 0x6d2b79f5) >>> 0
    let t = Math.imul(s ^ (s >>> 15), 1 | s)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return (t ^ (t >>> 14)) >>> 0
  }
  return { below: (n) => next() % n, pick: (list) => list[next() % list.length] }
}

// ---- hard cases ----

const alphabets = [
  [...'aAbB '], [...'aA\'sStT reVE'], [...'\'lLdDmM xX'], [...' \n\r\t'], [...' \n\r\ta/'], [...'{}()/\n\r '],
  [...'0123456789 .a'], [...'ABCdef_ªǅʰ漢字\u0301\u0300'], [...'\'ſSsrReE a'], [...'\u00a0\u0085\u2028\ufeff\u3000 \na'],
  [...'ひらカタ漢字한글ไทย'], [...'हिन्दी عربي עברית'], [...'😀👩🏽‍🚀👨‍👩‍👧🇩🇪\ufe0f1\u20e3'], [...'==--__**##//..'], [...'\0\x01\x1b\x7f a\n'],
  [...'٣४๕Ⅷ½²①a '], [...'的是了我们在有他'], [...'éÉñßøÅçİıŉ aA\''],
]

const randomScalar = (r) => {
  for (;;) {
    const cp = r.below(8) ? r.below(r.pick([0x80, 0x800, 0x3000, 0x10000])) : r.below(0x110000)
    if (cp < 0xd800 || cp > 0xdfff) return String.fromCodePoint(cp)
  }
}

// One document; `tokens` is a list of Buffers, the vocabulary.
export function hardCase(r, tokens) {
  const n = 1 + r.below(r.pick([8, 40, 200, 600]))
  const parts = []
  const kind = r.below(10)
  const alphabet = r.pick(alphabets)
  const mixed = [...r.pick(alphabets), ...r.pick(alphabets)]
  for (let i = 0; i < n; i++) {
    if (kind < 3) parts.push(Buffer.from(r.pick(alphabet)))
    else if (kind < 4) parts.push(Buffer.from(r.pick(mixed)))
    else if (kind < 5) parts.push(Buffer.from(randomScalar(r)))
    else if (kind < 7) parts.push(r.pick(tokens))
    else if (kind < 8) {
      const t = r.pick(tokens)
      parts.push(t.subarray(0, 1 + r.below(t.length)))
    } else if (kind < 9) parts.push(Buffer.from([r.below(r.pick([256, 128]))]))
    else parts.push(Buffer.from(r.pick(alphabet).repeat(1 + r.below(60))))
  }
  return Buffer.concat(parts)
}

// ---- long and unkind ----

const repeat = (text, bytes) => Buffer.from(text.repeat(Math.ceil(bytes / Buffer.byteLength(text)))).subarray(0, bytes)
const drawn = (alphabet, count) => {
  const r = random(7)
  return Buffer.from(Array.from({ length: count }, () => r.pick(alphabet)).join(''))
}
export const adversarial = {
  'letter a': (n) => repeat('a', n),
  'letter A': (n) => repeat('A', n),
  spaces: (n) => repeat(' ', n),
  newlines: (n) => repeat('\n', n),
  'space newline': (n) => repeat(' \n', n),
  'equals signs': (n) => repeat('=', n),
  digits: (n) => drawn([...'0123456789'], n),
  'ab': (n) => repeat('ab', n),
  'aab': (n) => repeat('aab', n),
  contractions: (n) => repeat("'s", n),
  'one ideograph': (n) => repeat('的', n),
  emoji: (n) => repeat('👩🏽‍🚀', n),
  'combining mark': (n) => repeat('\u0301', n),
  'A and a mark': (n) => repeat('A'.repeat(5000) + '\u0301', n),
  'NUL bytes': (n) => Buffer.alloc(n),
  '0xFF bytes': (n) => Buffer.alloc(n, 255),
  'random bytes': (n) => {
    const r = random(3)
    return Buffer.from(Array.from({ length: n }, () => r.below(256)))
  },
  'random a-z': (n) => drawn([...'abcdefghijklmnopqrstuvwxyz'], n),
  'random base64': (n) => drawn([...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'], n),
  'random hex': (n) => drawn([...'0123456789abcdef'], n),
  'random punctuation': (n) => drawn([...'!"#$%&()*+,-./:;<=>?@[]^_`{|}~'], n),
  'random ideographs': (n) => drawn(Array.from({ length: 20000 }, (_, i) => String.fromCodePoint(0x4e00 + i)), Math.ceil(n / 3)),
  'random kana': (n) => drawn(Array.from({ length: 86 }, (_, i) => String.fromCodePoint(0x3041 + i)), Math.ceil(n / 3)),
}

// ---- framing: four bytes of length, little-endian, then the document ----

export function frame(docs) {
  return Buffer.concat(
    docs.flatMap((d) => {
      const head = Buffer.alloc(4)
      head.writeUInt32LE(d.length)
      return [head, d]
    }),
  )
}

// Writes framed documents (see corpus.mjs) for bench_tokens: one file for each kind named, of about
// that many bytes, and one for each unkind text.
//
//   node gather.mjs FOLDER BYTES KIND…
//   node gather.mjs FOLDER BYTES --unkind
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { adversarial, frame, gather } from './corpus.mjs'

const [folder, bytes, ...kinds] = process.argv.slice(2)
mkdirSync(folder, { recursive: true })
const put = (name, docs) => writeFileSync(path.join(folder, `${name}.docs`), frame(docs))
if (kinds[0] === '--unkind')
  for (const [name, make] of Object.entries(adversarial)) put(name.replaceAll(' ', '-'), [make(Number(bytes))])
else for (const kind of kinds) put(kind, gather(kind, Number(bytes), 200_000))

// Compares our ids and counts with npm tiktoken's, document by document.
//
//   node compare.mjs PROGRAM [MEGABYTES] [SEED] [KIND…]
//
// PROGRAM is bench_tokens, or heddle itself, which is slower. MEGABYTES (default 20) is the amount of text of both sorts together:
// documents found on this machine, and hard cases drawn from SEED (default 1). The current folder
// holds node_modules with tiktoken. KINDs narrow it down to those. Exit status 1 on any difference; the document is kept.
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { adversarial, frame, gather, hardCase, kinds, random } from './corpus.mjs'
import { digest, oracle } from './oracle.mjs'

const [program, megabytes = '20', seed = '1', ...only] = process.argv.slice(2)
const BATCH = 4 << 20 // bytes
const MOST = 2000 // documents
// Kinds of which a machine has little come first; the others make up for them.
const plenty = ['european', 'cyrillic', 'perl', 'json', 'web', 'english', 'other', 'python', 'c']
const scarceFirst = [...Object.keys(kinds).filter((k) => !plenty.includes(k)), ...plenty]
let failures = 0

// One run of bench_tokens over a batch of documents.
function fromBench(encoding, docs) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, ['digest', encoding], { stdio: ['pipe', 'pipe', 'inherit'] })
    const out = []
    child.stdout.on('data', (d) => out.push(d))
    child.on('close', (code) =>
      code ? reject(new Error(`${program} ended with ${code}`)) : resolve(Buffer.concat(out).toString().trim().split('\n')),
    )
    child.stdin.end(frame(docs))
  })
}

// The same from `heddle tokens`: ids, and counts without them, which are counted another way.
function fromHeddle(encoding, docs) {
  const folder = mkdtempSync(path.join(tmpdir(), 'heddle-compare-'))
  try {
    docs.forEach((doc, i) => writeFileSync(path.join(folder, `${i}`), doc))
    const names = docs.map((_, i) => `${i}`)
    const run = (...words) =>
      JSON.parse(
        execFileSync(program, ['tokens', '--json', '--encoding', encoding, ...words, ...names], {
          cwd: folder,
          maxBuffer: 1 << 30,
        }),
      ).files
    const counts = run()
    return run('--ids').map((file, i) =>
      counts[i].tokens === file.ids.length ? digest(file.ids) : `${counts[i].tokens} counted, ${file.ids.length} ids`,
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const ours = path.basename(program) === 'heddle' ? fromHeddle : fromBench

async function compare(encoding, reference, docs) {
  const lines = await ours(encoding, docs)
  docs.forEach((doc, i) => {
    const want = digest(reference.ids(doc))
    if (lines[i] === want) return
    const file = `mismatch-${encoding}-${failures++}.bin`
    writeFileSync(file, doc)
    console.log(`${encoding}: got ${lines[i]}, want ${want}: ${doc.length} bytes kept in ${file}`)
  })
}

function* documents(kind, bytes, tokens, r) {
  if (kind !== 'hard cases') {
    // Long words make the reference quadratic: whole documents, but none of them endless.
    yield* gather(kind, bytes, 256 << 10)
    return
  }
  for (const make of Object.values(adversarial)) yield make(2000)
  for (let total = 0; total < bytes; ) {
    const doc = hardCase(r, tokens)
    total += doc.length
    yield doc
  }
}

for (const encoding of ['o200k_base', 'cl100k_base']) {
  const reference = oracle(encoding)
  const tokens = reference.vocabulary()
  const r = random(Number(seed))
  const all = only.length ? only : ['hard cases', ...scarceFirst]
  let [bytes, count] = [0, 0]
  for (const kind of all) {
    let [batch, size, had] = [[], 0, bytes]
    const left = Number(megabytes) * 1e6 - bytes
    const share = left / (all.length - all.indexOf(kind))
    for (const doc of documents(kind, share, tokens, r)) {
      batch.push(doc)
      size += doc.length
      bytes += doc.length
      count++
      if (size > BATCH || batch.length === MOST) {
        await compare(encoding, reference, batch)
        ;[batch, size] = [[], 0]
      }
    }
    if (batch.length) await compare(encoding, reference, batch)
    console.log(`${encoding} ${kind}: ${((bytes - had) / 1e6).toFixed(1)} MB`)
  }
  console.log(`${encoding}: ${count} documents, ${(bytes / 1e6).toFixed(1)} MB, ${failures} differences so far`)
}
process.exit(failures ? 1 : 0)

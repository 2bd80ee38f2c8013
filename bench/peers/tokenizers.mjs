// The tokenizers people use from npm, on framed documents: processor time of a pass over all of them, the
// best of three. The current folder holds node_modules.
//
//   node tokenizers.mjs ENCODING DOCS…      prints a line for each: name, tokens, MB/s of tiktoken,
//                                           MB/s of gpt-tokenizer
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

const require = createRequire(path.join(process.cwd(), 'package.json'))
const [encoding, ...files] = process.argv.slice(2)
const tiktoken = require('tiktoken').get_encoding(encoding)
const gpt = require(`gpt-tokenizer/encoding/${encoding}`)
const ordinary = { allowedSpecial: new Set(), disallowedSpecial: new Set() }
const counters = [(text) => tiktoken.encode_ordinary(text).length, (text) => gpt.countTokens(text, ordinary)]

function read(file) {
  const bytes = readFileSync(file)
  const docs = []
  for (let at = 0; at < bytes.length; ) {
    const n = bytes.readUInt32LE(at)
    docs.push(bytes.toString('utf8', at + 4, at + 4 + n))
    at += 4 + n
  }
  return { docs, bytes: bytes.length - 4 * docs.length }
}

for (const file of files) {
  const { docs, bytes } = read(file)
  const speeds = []
  let tokens
  for (const count of counters) {
    let best = Infinity
    for (let i = 0; i < 3; i++) {
      const from = process.cpuUsage()
      const total = docs.reduce((sum, doc) => sum + count(doc), 0)
      const took = process.cpuUsage(from)
      best = Math.min(best, took.user + took.system)
      tokens ??= total
    }
    speeds.push((bytes / best).toFixed(2))
  }
  console.log([path.basename(file, '.docs'), tokens, ...speeds].join('\t'))
}

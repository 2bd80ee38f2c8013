/* The files of a payload, written below a directory: `heddle payload --parse FILE --output DIR`.
 *
 * A payload is text from anywhere. What it holds must not become something that runs: a hook of
 * git, a setting of an editor, a profile of a shell. So nothing is written into a directory whose
 * name starts with a dot, nor under the names of files that programs run when they meet them.
 * What is left out is warned about.
 *
 * Nor must it replace a file by something else than the payload was made of: a text with numbered
 * lines, an outline, what was converted to UTF-8. */
#ifndef HEDDLE_PAYLOAD_EXTRACT_H
#define HEDDLE_PAYLOAD_EXTRACT_H

#include "api/request.h"
#include "payload/parse.h"

/* Is a file of this normal path never written? */
bool payload_extract_refuses(struct sv path);

/* ST_CONFLICT, with nothing written, when files are there that hold something else, unless
 * `force`. ST_INVALID_SYNTAX, with nothing written, when the payload ends too early.
 * ST_PERMISSION_DENIED when another door than a shell names such a directory. A text that is not
 * that of its file is not written, with or without `force`; the verdict of the request then says
 * so. */
enum status payload_extract(struct request *r, const struct parsed *p, struct sv into, bool force,
                            struct err *e) MUST_USE;

#endif

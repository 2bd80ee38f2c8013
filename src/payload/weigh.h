/* Tokens of the parts of a payload, in the format in which they are written.
 *
 * Blocks begin after a line end and end with one, in every format, and no token extends over such a
 * border: so the sum for the whole payload is the frame plus all blocks. */
#ifndef HEDDLE_WEIGH_H
#define HEDDLE_WEIGH_H

#include "payload/emit.h"

/* One thread's own. */
struct weigher {
    struct emit            emit;
    struct emit_sink       sink;
    struct pipeline_buffer parts;
};

void weigher_init(struct weigher *w, const struct payload *p);
void weigher_release(struct weigher *w);

/* Sets r->block_tokens of a loaded resource, as if it were not the first; `content` is what
 * resource_load() left in memory. A large file is read again. When a file changes meanwhile its
 * count is wrong; payload_write() notices the change. */
void weigh_block(struct weigher *w, const struct resource_load_config *c, struct tokens *t,
                 struct resource *r, struct sv content);

/* All that is not part of a block, with the resources cut that are marked now. */
size_t weigh_frame(struct weigher *w, struct tokens *t);

/* About how many tokens r's line takes in the summary, and how many more when it is listed as cut.
 */
size_t weigh_entry(struct weigher *w, struct tokens *t, const struct resource *r);
size_t weigh_note(struct weigher *w, struct tokens *t, const struct resource *r);

#endif

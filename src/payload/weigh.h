/* Tokens of the payload's pieces, in the format they are written in.
 *
 * Blocks begin behind a line end and end with one, in every format, and there no token
 * reaches across: so the whole is the frame and the sum of the blocks. */
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

/* Sets r->block_tokens of a loaded resource, as of one that is not the first; `content` is what
 * resource_load() left in memory. A large file is looked at again. The count of a file that changes
 * meanwhile is wrong; payload_write() notices the change. */
void weigh_block(struct weigher *w, const struct resource_load_config *c, struct tokens *t,
                 struct resource *r, struct sv content);

/* All that is not blocks, as things are cut now. */
size_t weigh_frame(struct weigher *w, struct tokens *t);

/* About what r's line in the summary takes of the frame, and what naming it as cut adds to it. */
size_t weigh_entry(struct weigher *w, struct tokens *t, const struct resource *r);
size_t weigh_note(struct weigher *w, struct tokens *t, const struct resource *r);

#endif

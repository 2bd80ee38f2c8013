/* The formats of a payload. Each has functions for what comes before the resources, for each
 * resource, and for what comes after. Content is passed in as a whole or in parts, which never end
 * inside a character. */
#ifndef HEDDLE_EMIT_H
#define HEDDLE_EMIT_H

#include "payload/number.h"
#include "payload/payload.h"

/* Where the bytes go: to `out`, and through a counter and a hash as asked for. */
struct emit_sink {
    struct sb           *out; /* NULL: nowhere */
    uint64_t             bytes;
    uint64_t             sent; /* how many of them the kernel was asked to write to the disk */
    struct hash_sha256   hash;
    struct tokens_stream stream;
    bool                 hashes, counts;
};

struct emit {
    const struct payload *p;
    struct emit_sink     *sink;
    struct sb             b;       /* small pieces, on their way to the sink */
    struct arena          keep;    /* the memory of b */
    struct arena          scratch; /* emptied after each resource */
    struct number         number;  /* of the resource being written */
    size_t                done;    /* resources written */
};

/* emit_flush() passes b on to the sink; emit_direct() passes large pieces on without copying. */
void emit_flush(struct emit *e);
void emit_direct(struct emit *e, struct sv v);

/* The part as its lines are shown: with their numbers, in the scratch memory, when they are asked
 * for. */
struct sv emit_numbered(struct emit *e, struct sv part);

/* How the text of r differs from its file, in words; "" when it does not. For formats that keep the
 * end of a text as it is. In the scratch memory. */
struct sv emit_form(struct emit *e, const struct resource *r);

/* A block (open, content, close) begins after a line end and ends with one. */
struct emit_format {
    const char *name; /* "markdown" */
    const char *first,
        *next;     /* what is written before the first block, and before each of the others */
    bool verbatim; /* content is written as it is */
    void (*begin)(struct emit *e);
    void (*open)(struct emit *e, const struct resource *r);
    void (*content)(struct emit *e, struct sv part); /* of a resource that is RES_OK */
    void (*close)(struct emit *e, const struct resource *r);
    void (*end)(struct emit *e);
    void (*entry)(struct emit *e, const struct resource *r); /* what begin() adds for a kept one */
    void (*note)(struct emit *e, const struct resource *r);  /* and, for a cut one, beside that */
};

extern const struct emit_format emit_markdown, emit_xml, emit_json;

/* Writes what precedes the block, and its beginning. */
void emit_open(struct emit *e, const struct emit_format *f, const struct resource *r);

const struct emit_format *emit_format_of(enum payload_format f);
bool                      emit_format_find(struct sv name, enum payload_format *out);

#endif

/* The payload's formats. Each is three functions: what comes before the resources, one
 * resource, what comes after. Content arrives whole or in parts of whole characters. */
#ifndef HEDDLE_EMIT_H
#define HEDDLE_EMIT_H

#include "payload/number.h"
#include "payload/payload.h"

/* Where the bytes go: to `out`, and through a counter and a hash as asked for. */
struct sink {
    struct sb           *out; /* NULL: nowhere */
    uint64_t             bytes;
    struct hash_sha256   hash;
    struct tokens_stream stream;
    bool                 hashes, counts;
};
void sink_add(struct sink *s, struct sv v);

struct emit {
    const struct payload *p;
    struct sink          *sink;
    struct sb             b;       /* small pieces, on their way to the sink */
    struct arena          keep;    /* of b */
    struct arena          scratch; /* emptied after each resource */
    struct number         number;  /* of the resource being written */
    size_t                done;    /* resources written */
};

/* What is in b goes to the sink; then, for large pieces, bytes as they are. */
void emit_flush(struct emit *e);
void emit_direct(struct emit *e, struct sv v);

struct emit_format {
    const char *name; /* "markdown" */
    void (*begin)(struct emit *e);
    void (*open)(struct emit *e, const struct resource *r);
    void (*content)(struct emit *e, struct sv part); /* of a resource that is RES_OK */
    void (*close)(struct emit *e, const struct resource *r);
    void (*end)(struct emit *e);
};

extern const struct emit_format emit_markdown, emit_xml, emit_json;

const struct emit_format *emit_format_of(enum payload_format f);
bool                      emit_format_find(struct sv name, enum payload_format *out);

#endif

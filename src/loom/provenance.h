/* Provenance: each node has a hash over what it says, what it follows, when and by whom it
 * was written and, for a model's text, the bytes the provider sent. The hash of the parent
 * is the one it had when the node was written, so an edit in place breaks nothing. */
#ifndef HEDDLE_PROVENANCE_H
#define HEDDLE_PROVENANCE_H

#include "base/json.h"

/* SHA-256, as hex, of the fields joined by "=|d|=": canonical content JSON; parent hashes,
 * sorted and joined by commas; the time as ISO 8601 with milliseconds; the author; and
 * `response` when it is there. */
struct provenance {
    struct sv        content; /* canonical JSON, see provenance_content() */
    const struct sv *parents;
    size_t           n_parents;
    int64_t          at;
    struct sv        author;
    struct sv        response; /* provenance_response(), or absent */
};
struct sv provenance_hash(const struct provenance *p, struct arena *a);

/* {"text":…,"type":"text"} for text, {"blocks":[…],"type":"mixed"} for parts. */
struct sv provenance_content(const struct json *content, struct arena *a);

/* SHA-256, as hex, of header lines ("key: value", sorted, joined by LF), an empty line and
 * the body, as received. */
struct sv provenance_response(struct sv headers, struct sv body, struct arena *a);

#endif

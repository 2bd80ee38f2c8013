/* Rebuilds records from entries, for export. */
#ifndef HEDDLE_HARNESS_JOIN_H
#define HEDDLE_HARNESS_JOIN_H

#include "harness/harness_internal.h"

/* The record from which an entry was made. */
struct harness_origin {
    struct sv          name, session, part, model;
    struct sv          line;   /* of a record that is not JSON; or absent */
    const struct json *record; /* or NULL: it is in a later entry, or there was none */
    const struct json *more;
};
bool harness_origin(const struct json *payload, struct harness_origin *out); /* false: of none */

struct harness_joining {
    enum harness to;
    struct sb    waiting; /* blocks of a record whose last entry comes */
    /* Members that are written with another value, as JSON: their names. */
    struct harness_override {
        const char *name;
        struct sv   json;
    } instead[2];
    const struct json *changed; /* members of a copy that differ from the original; or NULL */
    const struct json *without; /* names of members that the copy lacks; or NULL */
};

/* The record of an entry of the program `to`, as the text of one line. False: it has none, or it is
 * not complete yet. Entries must come in their order. */
bool harness_join(struct harness_joining *j, const struct json *payload, struct arena *a,
                  struct sv *out);

#endif

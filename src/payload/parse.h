/* An input.md, or the same as JSON, read back into its parts. What emit wrote is understood
 * exactly; the layout of other builds (`# Project Context`, `### [path](/path)`) is recognised.
 *
 * A body has the bytes of the file, also at its end, when its form is 0. Older builds did not write
 * forms: of theirs, a body that was not empty always ends with a line end, and numbers of lines are
 * part of it. */
#ifndef HEDDLE_PARSE_H
#define HEDDLE_PARSE_H

#include "base/sb.h"
#include "base/vec.h"
#include "payload/resource.h"

struct parsed_resource {
    struct sv name, tag, body; /* body: in the text */
    unsigned  form;            /* bits of enum resource_form; FORM_OPEN is already applied */
    bool      is_placeholder;  /* a fence without a tag */
    size_t    line;            /* of its label, from 1 */
};
struct parsed_entry {
    struct sv           name, note; /* note: what follows the link, or "" */
    enum resource_scope scope;
};
struct parsed {
    struct sv cwd, os, shell, tree, memos; /* absent when they are not there */
    bool      exact;                       /* JSON: bodies end as the files did */
    bool ends_early; /* what follows the last resource, or names one, shows that more is missing */
    VEC(struct parsed_entry) summary;
    VEC(struct parsed_resource) resources;
};

/* Did a budget cut it? Then no resource follows. */
bool parsed_is_cut(const struct parsed_entry *entry);

/* ST_INVALID_SYNTAX with the line: it is not a payload, or a fence is not closed. */
enum status payload_parse(struct sv text, struct arena *a, struct parsed *out,
                          struct err *e) MUST_USE;

#endif

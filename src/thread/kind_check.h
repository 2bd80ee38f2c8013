/* What the payload of an entry must look like: one validator for each kind, as data.
 *
 * A row describes one member of a payload; what no row names is kept and never looked at, so that a
 * newer version may add members. The same validator is used when an entry is appended (it is
 * refused), when it is imported (it is kept and reported) and when it is folded (it is skipped): a
 * record that is not sound is kept, shown by `heddle verify`, never acted on and never fatal. A
 * fold may therefore rely on the rows of its kind, and on nothing else.
 *
 *     static const struct member mark_fields[] = {
 *         F("mark",  MEMBER_TEXT, .required = true),
 *         F("until", MEMBER_INT),
 *         END,
 *     };
 *
 * `kept` says which members are the skeleton of an entry and stay when its content is erased
 * (thread/skeleton.h): ids, types, places, numbers; never other people's words, nor a hash of them,
 * which would tell what was erased. The kept rows are part of chain version 2: to keep another
 * member, or one member less, would change the chain of entries that exist. A new member is not
 * kept, and neither is any member of a new kind; tests/unit/thread_skeleton.c holds the values.
 *
 * Neither does the JSON type of a row ever change: a value of another type is content.
 *
 * A new kind is a row of KIND_TABLE (kind.h) and a row of `rules` in kind_check.c. If you make a
 * validator stricter or more tolerant, raise KIND_RULES, so that every thread is folded again. */
#ifndef HEDDLE_KIND_CHECK_H
#define HEDDLE_KIND_CHECK_H

#include "thread/kind.h"

enum { KIND_RULES = 3 };

enum member_type {
    MEMBER_ANY,     /* any value */
    MEMBER_TEXT,    /* a string */
    MEMBER_NAME,    /* a string that name_check() takes */
    MEMBER_WORD,    /* one of `words` */
    MEMBER_HASH,    /* 64 lower-case hex digits */
    MEMBER_PATH,    /* a relative path without ".", "..", empty parts and NUL */
    MEMBER_INT,     /* a whole number */
    MEMBER_COUNT,   /* a whole number from 0 on */
    MEMBER_BOOL,    /* true or false */
    MEMBER_OBJECT,  /* an object; its members are as `of` says, if there is an `of` */
    MEMBER_LIST,    /* a list; its items are as the one row `of` says, if there is an `of` */
    MEMBER_CONTENT, /* of a message in a snapshot: a string or a list of parts */
};

/* Absent and null are the same. A table ends with a row without a name. */
struct member {
    struct sv            name;
    enum member_type     type;
    bool                 required;
    bool                 kept;  /* part of the skeleton: it is not erased with the content */
    const char          *words; /* with spaces between them */
    const struct member *of;
};

/* Does the value have the JSON type that the row names? A value of another type can only come from
 * an import; it may be anything and therefore counts as content. */
bool member_has_shape(struct sv raw, const struct member *f);

/* The rows of a kind; NULL: it has none. See thread/skeleton.h for what `kept` means. */
const struct member *kind_fields(enum kind k);

/* Is a canonical object as `fields` say? In an erased entry content is null. Pure.
 * ST_INVALID_SYNTAX names the member that is not. */
enum status members_check(struct sv object, const struct member *fields, bool erased,
                          struct err *e) MUST_USE;

/* Does the entry fulfil the rules of its kind? An entry of an unknown kind always does. Lane and
 * op_id are looked at as far as the kind needs them, by kind_prepare(). */
enum status kind_check(const struct entry *n, struct err *e) MUST_USE;

#endif

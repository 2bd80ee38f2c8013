/* One thing a payload shows: a file, a page, the working tree's changes. */
#ifndef HEDDLE_RESOURCE_H
#define HEDDLE_RESOURCE_H

#include "base/hash.h"
#include "payload/fetch.h"
#include "payload/pipeline.h"
#include "tokens/tokens.h"

enum resource_scope { SCOPE_TURN, SCOPE_SESSION, SCOPE_GLOBAL, SCOPE_COUNT };
const char *resource_scope_name(enum resource_scope s); /* "turn" */

enum resource_kind {
    RESOURCE_FILE,
    RESOURCE_URL,
    RESOURCE_DIFF,
    RESOURCE_OUTSIDE,
    RESOURCE_SELF, /* the file that the payload is written to */
};

/* The state after loading. Everything but OK is shown as a placeholder. */
#define RESOURCE_STATES(X)                                                                         \
    X(RES_OK, "ok")                                                                                \
    X(RES_MISSING, "missing")                                                                      \
    X(RES_UNREADABLE, "unreadable")                                                                \
    X(RES_BINARY, "binary")                                                                        \
    X(RES_NOT_UTF8, "not_utf8")                                                                    \
    X(RES_OUTSIDE, "outside")                                                                      \
    X(RES_SELF, "self")                                                                            \
    X(RES_SECRET, "secret")                                                                        \
    X(RES_NOT_FETCHED, "not_fetched")
enum resource_state {
#define X(id, word) id,
    RESOURCE_STATES(X)
#undef X
};
const char *resource_state_word(enum resource_state s);

/* How a text that is shown differs from the bytes of its file: bits, 0 when it does not. The fence
 * of input.md has the words behind the language, JSON and XML have them as `form`. */
#define RESOURCE_FORMS(X)                                                                          \
    X(FORM_NUMBERED, 1, "numbered")                                                                \
    X(FORM_CONVERTED, 2, "converted")                                                              \
    X(FORM_OPEN, 4, "no-newline") /* the last line end is not the file's; only in a fence */       \
    X(FORM_OUTLINE, 8, "outline") /* read, not written yet */
enum resource_form {
#define X(id, bit, word) id = (bit),
    RESOURCE_FORMS(X)
#undef X
        FORM_UNKNOWN = 16, /* another word */
};

/* The words for these bits, each with a space in front; and the bits for such words. */
void     resource_add_form(struct sb *b, unsigned form);
unsigned resource_form_in(struct sv words);

/* Larger files are read in parts, and twice: once to find out about them, once to write them. */
enum { RESOURCE_LARGE = 2 << 20, RESOURCE_PART = 256 << 10 };

struct resource {
    struct sv           name; /* canonical path below the root, or the URL */
    enum resource_kind  kind;
    enum resource_scope scope;  /* the highest that lists it */
    unsigned            scopes; /* bit per scope */
    bool                cut;    /* left out by the budget */

    /* Set by resource_load(). */
    bool                loaded, has_hash, ends_with_newline;
    bool                converted; /* to UTF-8 */
    bool                is_stale;  /* the second time it was read it had changed */
    enum resource_state state;
    uint64_t            size;
    struct hash         sha256;
    size_t              run;          /* longest run of backticks */
    size_t              tokens;       /* of the content */
    size_t              block_tokens; /* of its whole block; set by weigh_block() */
    int64_t             changed;      /* a file's time stamp when it was looked at */
    char                why[96];      /* for the placeholder */
    char                type[64];     /* of a page */
    char                remark[128];  /* what to report about one that is OK; "": nothing */
    bool                fetched;      /* a page that resource_fetch() was called for */
    struct sv           body;         /* of a page, a diff or converted text: held, on the heap */
};

/* What loading needs to know; the same for all threads. */
struct resource_load_config {
    int                 root_fd;
    struct fetch_config fetch;
    bool                allow_secrets, hash;
    bool                outside; /* nothing below .heddle is read, even if it is named */
};

/* What one thread has for itself. */
struct resource_load_own {
    struct arena   scratch;
    struct tokens *tokens; /* NULL: nothing is counted */
};

/* The size and state that follow from what a scan found. */
struct scan_found;
void resource_take_scan(struct resource *r, const struct scan_found *s, bool allow_secrets);

/* Get a page, once: its bytes are held in r->body. May be called for many pages at a time, because
 * most of it is waiting. */
void resource_fetch(const struct resource_load_config *c, struct resource *r);

/* Find out about r. The content of a file that is not large is in *b; a page, a diff or text that
 * was converted to UTF-8 is in r->body; otherwise b->n is 0. It never fails: a problem is a state
 * of r. */
void resource_load(const struct resource_load_config *c, struct resource_load_own *own,
                   struct resource *r, struct pipeline_buffer *b);

/* Keep a copy of the body; without memory for it the state says so. */
void resource_hold(struct resource *r, struct sv body);
void resource_release(struct resource *r); /* frees body */

/* ST_CONFLICT: the resource changed between the two times it was read. */
enum status resource_changed(const struct resource *r, struct err *e) MUST_USE;

/* Is its content not in memory after loading? */
bool resource_is_large(const struct resource *r);

/* A large file in parts that end between characters; `part` points into *b. When `each` returns
 * false, it stops. Of a file that has grown since resource_load() only the part that existed then
 * is passed on. ST_CONFLICT when it was changed in another way, perhaps after some parts were
 * passed on. */
typedef bool resource_part_each(void *ctx, struct sv part);
enum status  resource_parts(const struct resource_load_config *c, const struct resource *r,
                            struct pipeline_buffer *b, resource_part_each *each, void *ctx,
                            struct err *e) MUST_USE;

/* The first and the last bytes of a large file; empty when they cannot be read. */
struct resource_ends {
    struct sv first, last;
    char      room[2][4096];
};
void resource_read_ends(const struct resource_load_config *c, const struct resource *r,
                        struct resource_ends *out);

/* The language tag of its fence. */
struct sv resource_tag(const struct resource *r, struct arena *a);

/* The text that is shown instead when it is not RES_OK. One line, without a line end. */
void resource_add_placeholder(struct sb *b, const struct resource *r);

/* Pieces of its block in Markdown: up to the content, and after it. */
void resource_add_head(struct sb *b, const struct resource *r, bool numbered,
                       struct arena *scratch);
void resource_add_tail(struct sb *b, const struct resource *r);

#endif

/* input.md: everything a model should know for a turn, made from the workspace.
 *
 *     struct payload p;
 *     payload_collect(&p, &request, &a);                  lists, tree, memos
 *     if (payload_measure(&p, e)) ...                     only for a budget: reads all
 *     if (payload_apply_budget(&p, e)) ...
 *     if (payload_write(&p, &out, e)) ...                 reads, counts, writes
 *     payload_release(&p);
 *
 * Without a budget everything is read once, while it is written, on all cores and in
 * bounded memory. No clock and no other state of the machine enters the text beside the
 * three lines of section 1. */
#ifndef HEDDLE_PAYLOAD_H
#define HEDDLE_PAYLOAD_H

#include "payload/list.h"
#include "payload/tree.h"

/* The text behind the link and a bracket by which the summary of input.md says that a budget cut a
 * resource. */
#define PAYLOAD_CUT_NOTE "left out to fit the budget: "

enum payload_format { PAYLOAD_MARKDOWN, PAYLOAD_XML, PAYLOAD_JSON };

struct payload_request {
    int                  root_fd;
    bool                 outside;          /* somebody else than a shell asks: see resource.h */
    struct sv            root;             /* absolute */
    char *const         *variables;        /* the environment, see base/env.h: git's, SHELL, … */
    struct sv            turn;             /* directory below the root, or absent */
    struct sv            session;          /* likewise */
    struct sv            self;             /* the file it goes to, below the root; or absent */
    struct sv            here;             /* the current directory, below the root */
    struct sv            include, exclude; /* values of patterns, one per line; absent: none */
    const struct sv     *paths;            /* entries of the turn, from the root */
    size_t               n_paths;
    bool                 literal_paths; /* they are names: no globs and no lists */
    struct tree_limits   tree;
    struct fetch_config  fetch;
    enum payload_format  format;
    bool                 no_tree;      /* without section 2 */
    bool                 lock_files;   /* take lock files from directories, see list.h */
    bool                 no_gitignore; /* what git ignores counts as well */
    bool                 diff, line_numbers, allow_secrets;
    bool                 hash;     /* sha256 of every resource, for a manifest */
    bool                 count;    /* tokens */
    bool                 estimate; /* by a quarter of the characters */
    enum tokens_encoding encoding;
    int64_t              budget;  /* tokens; 0: none */
    unsigned             threads; /* 0: all cores */
    /* Called on the calling thread with the progress; an error ends the work. May be NULL. */
    enum status (*progress)(void *ctx, const char *what, size_t done, size_t all, struct err *e);
    void *progress_ctx;
};

struct payload {
    const struct payload_request *q;
    struct arena                 *a;
    struct walk                   walk;
    struct lists                  lists;
    struct sv                     os, shell;
    struct sv                     tree;  /* absent: section omitted */
    struct sv                     memos; /* absent: section omitted */
    bool                          has_memos;
    struct sv                     counted_by; /* tokens_label(), once something is counted */
    bool                          is_estimate;
    bool   folded;     /* cut files are named by their directories, see summary.h */
    size_t fold_depth; /* of these, the deepest that is named */

    /* Known once it is written (or measured, with a budget). */
    size_t      head_tokens;               /* of sections 1 to 4 and the frame of 5 */
    size_t      tree_tokens, memos_tokens; /* of these texts, within head_tokens */
    size_t      tokens;                    /* of the whole */
    uint64_t    bytes;
    struct hash sha256; /* of the whole, when request.hash */
};

void payload_collect(struct payload *p, const struct payload_request *q, struct arena *a);

/* Read and count every resource. ST_NOT_FOUND, ST_CORRUPT: the token table. */
enum status payload_measure(struct payload *p, struct err *e) MUST_USE;

/* Mark what is cut: global first, then session, then turn; the largest first within a
 * scope. What was cut and fits after all comes back. Where naming the cuts one by one would not
 * fit, or would take a large part of the budget, they are folded into their directories.
 * ST_LIMIT_EXCEEDED with the sizes when the rest alone is over the budget. */
enum status payload_apply_budget(struct payload *p, struct err *e) MUST_USE;

/* Everything, in the format asked for. `out` may be NULL: then it is only counted.
 * ST_IO, ST_LIMIT_EXCEEDED: `out` failed. ST_CONFLICT: a file changed between two looks at it. */
enum status payload_write(struct payload *p, struct sb *out, struct err *e) MUST_USE;

void payload_release(struct payload *p);

/* Warnings for the user: problems of the walk, the lists and the resources. */
typedef VEC(struct sv) payload_notes;
payload_notes payload_warnings(const struct payload *p, struct arena *a);

#endif

/* Documents as the tools see them: Markdown files that belong to a thread. The caller decides where
 * they are stored and who may read them, and passes a table of functions. */
#ifndef HEDDLE_DOCS_H
#define HEDDLE_DOCS_H

#include "base/sb.h"

struct doc {
    struct sv path; /* names it for writing, and in the log */
    struct sv text;
    struct sv hash;     /* hex; "" for a document that create() gave */
    int64_t   modified; /* ms */
    bool      read_only;
    bool      not_text; /* not UTF-8; `text` is made readable then */
};

struct doc_name {
    struct sv name; /* by which read() finds it */
    struct sv from; /* the thread whose it is; absent: this one's own */
};

struct docs {
    void *ctx;
    /* By path, by path + ".md", or by first heading; what it gives lives in `a`. ST_NOT_FOUND
     * otherwise, ST_INVALID_SYNTAX when several have the heading. */
    enum status (*read)(void *ctx, struct sv thread, struct sv name, struct arena *a,
                        struct doc *out, struct err *e);
    /* `text` is from now on all of a document that read() or create() gave. */
    enum status (*write)(void *ctx, const struct doc *d, struct sv text, struct err *e);
    /* All documents. NULL: they cannot be listed. */
    enum status (*list)(void *ctx, struct sv thread, struct arena *a, struct doc_name **out,
                        size_t *n, struct err *e);
    /* Where a new document of this name goes; it is made by write(). NULL: none can be made.
     * ST_INVALID_SYNTAX, ST_PERMISSION_DENIED: not under this name. The caller has checked that
     * read() finds none. */
    enum status (*create)(void *ctx, struct sv thread, struct sv name, struct arena *a,
                          struct doc *out, struct err *e);
};

/* Assets of a thread below .leslie/threads/ID and its artifacts/ directory. What is there but not
 * the thread's own work is read-only: copies below context/inherited/, .meta/, and whatever a link
 * leads to. write() refuses it too. */
struct docs_folder {
    int root_fd;
};
struct docs docs_in_folder(struct docs_folder *f); /* f outlives it */

/* The document at a path below the workspace. */
enum status doc_read_file(int root_fd, struct sv path, struct arena *a, struct doc *out,
                          struct err *e) MUST_USE;

/* ---- text ---- */

int64_t doc_words(struct sv text);

/* A section by its explicit {#id}, by the slug of its heading, or by a word that occurs in
 * one heading only. It starts with its heading and runs to the next heading of the same or a higher
 * level. Headings in code fences are text. ST_NOT_FOUND names the sections there are. */
struct section {
    size_t start, body, end; /* byte offsets; body: after the heading line */
};
enum status doc_section(struct sv text, struct sv id, struct section *out, struct err *e) MUST_USE;

/* Is the first line that is not blank a heading? */
bool doc_starts_with_heading(struct sv text);

/* Lines first..last, 1-based. ST_LIMIT_EXCEEDED when the text has not that many. */
enum status doc_lines(struct sv text, int64_t first, int64_t last, struct sv *out,
                      struct err *e) MUST_USE;
size_t  doc_line_offset(struct sv text, int64_t line); /* start of a line; text.n past the end */
int64_t doc_line_count(struct sv text);

#endif

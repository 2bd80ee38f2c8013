/* The fields of threads, objectives, references and their copied files, in one table each: rows of
 * the view, the entries of the log, the files that other programs read, what is imported from them
 * and the answers of operations are all made from it. A new field is one line in record.c and one
 * member of its struct.
 *
 *     record_row_members(&w, &record_thread, t);        its row, in canonical order
 *     record_file_members(&w, &record_objective, o);    {"id":…,"title":…,"created_at":…}
 *     record_of_json(v, &record_reference, a, &ref);    what a row or an entry says           */
#ifndef HEDDLE_SHARE_RECORD_H
#define HEDDLE_SHARE_RECORD_H

#include "share/share.h"

enum column_type {
    COLUMN_TEXT,
    COLUMN_NUMBER,
    COLUMN_TIME,    /* a number in rows, RFC 3339 in files */
    COLUMN_STATUS,  /* enum thread_status, by name */
    COLUMN_LIST,    /* JSON as text; a list in files */
    COLUMN_FLAG,    /* bool */
    COLUMN_BINDING, /* bool: "frozen", or "live" */
    COLUMN_MODE,    /* a number, left out when it is the usual one */
    COLUMN_TEXTS,   /* struct sv *, and how many */
    COLUMN_RECORDS, /* an array of structs, and how many */
};

struct record;

struct record_column {
    const char          *row;  /* its key in rows and in entries */
    const char          *file; /* in files and answers; NULL: it is not there */
    enum column_type     type;
    size_t               offset;   /* in the struct */
    int                  place;    /* in files: 1, 2, … */
    bool                 optional; /* in files it is left out when it is absent, and not null */
    bool                 own;      /* only the log has it: an import does not set it */
    bool                 always; /* text: in rows it is null when it is absent, and not left out */
    size_t               count;  /* COLUMN_TEXTS, COLUMN_RECORDS: offset of how many, a size_t */
    const struct record *of;     /* COLUMN_RECORDS: what each is */
};

struct record {
    const struct record_column *columns; /* in the order of the keys of rows */
    size_t                      n, size; /* of columns; of the struct */
};

extern const struct record record_thread;    /* struct share_thread */
extern const struct record record_objective; /* struct share_objective */
extern const struct record record_reference; /* struct share_ref */
extern const struct record record_copy;      /* struct share_file */

/* The column at a place of the files; NULL: there are no more. */
const struct record_column *record_column_at(const struct record *r, int place);

/* What an object of a file has beside the columns of the record and `more`, as JSON; absent:
 * nothing else. The keys of `more` end with NULL. */
struct sv record_other_keys(const struct json *v, const struct record *r, const char *const *more,
                            struct arena *a);

/* Members of a row, in its order: the caller opens and closes the object. Those of an entry are the
 * same without the columns that are `own`. */
void record_row_members(struct jw *w, const struct record *r, const void *from);
void record_entry_members(struct jw *w, const struct record *r, const void *from);

/* Members as files and answers have them, in the order of the files. */
void record_file_members(struct jw *w, const struct record *r, const void *from);
void record_thread_file_members(struct jw                 *w,
                                const struct share_thread *t); /* with its directory */

/* Set the fields that a row or an entry has; others keep their values. An unknown status is
 * ignored. The text points into the object. record_of_entry() leaves out the columns that are
 * `own`. */
void record_of_json(const struct json *v, const struct record *r, struct arena *a, void *into);
void record_of_entry(const struct json *v, const struct record *r, struct arena *a, void *into);

/* The same from the text of a row without lists, faster: ten thousand of them are read by one
 * command. The text must outlive what is read. */
enum status record_of_row(struct sv row, const struct record *r, struct arena *a, void *into,
                          struct err *e) MUST_USE;

/* The same with the keys of files. Invalid times and an invalid status are ignored. */
void record_of_file(const struct json *v, const struct record *r, struct arena *a, void *into);

/* A text that is erased in the first record replaces the one in the second. Returns false when the
 * second had no text to lose. */
bool record_keep_erased(const struct record *r, const void *own, void *theirs);

/* Write JSON text in its own order with the writer's layout; text that is not JSON becomes null. */
void record_put_json(struct jw *w, struct sv json);

#endif

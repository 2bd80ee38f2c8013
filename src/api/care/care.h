/* What the operations that look after a workspace have in common. */
#ifndef HEDDLE_CARE_H
#define HEDDLE_CARE_H

#include "api/request.h"

/* All threads of the log, by id, in a transaction of its own. */
enum status care_threads(struct request *r, struct store_thread **list, size_t *n,
                         struct err *e) MUST_USE;

/* Things that were found, as lines of text that a document can hold, whatever bytes a damaged file
 * has. care_find() has the form of the functions that findings are reported through; its context is
 * the list. */
struct care_findings {
    struct arena *a;
    VEC(struct sv) list;
};
void care_find(void *findings, struct sv text);
void care_write(struct jw *w, const char *key, const struct care_findings *f);

/* Copies of older databases that cleaning removed: the names as a list of the document, its lines
 * of text, and a warning about one for an answer that has no such list (the context is the
 * request). */
#define CARE_REMOVED_HELP "copies of older databases that were removed"
void care_print_removed(const struct json *doc, struct term *t); /* member "removed" */
void care_warn_removed(void *request, struct sv name);

/* "1 thread", "1,234 threads". */
void care_print_count(struct term *t, int64_t n, const char *one, const char *many);

#endif

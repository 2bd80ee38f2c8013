/* Where in a log something happened that a reader looks for: compactions, forks, runs and how they
 * ended, documents, erasures. The rows mark/NAME/SEQ of thread_view, so that a log of a million
 * entries can be summarised with a few thousand reads. */
#ifndef HEDDLE_THREAD_MARKS_H
#define HEDDLE_THREAD_MARKS_H

#include "thread/log.h"

/* clang-format off */
#define LOG_MARK_TABLE(X) \
    X(COMPACTION,    "compaction")    /* a replace whose reason says so */ \
    X(REPLACE,       "replace")       /* a replace with any other reason */ \
    X(FORK,          "fork") \
    X(SWITCH,        "switch") \
    X(RUN_STARTED,   "run_started") \
    X(RUN_COMPLETED, "run_completed") \
    X(RUN_FAILED,    "run_failed") \
    X(RUN_CANCELLED, "run_cancelled") \
    X(DOCUMENT,      "document")      /* a document_write */ \
    X(ERASURE,       "erasure")
/* clang-format on */

enum log_mark {
#define X(id, name) LOG_MARK_##id,
    LOG_MARK_TABLE(X)
#undef X
        LOG_MARK_COUNT,
};
const char *log_mark_name(enum log_mark m);

/* The range of a log in equal parts: where in each part that has the mark its first one is, or the
 * last one. */
struct log_mark_query {
    struct sv thread;
    int64_t   from, to; /* seqs */
    int64_t   parts;
    bool      last;
};

/* In a transaction; seqs rising, in `a`. Cost: one read of a few thousand
 * rows, or one or two reads for each that is returned. */
enum status log_marks(struct log *l, const struct log_mark_query *q, enum log_mark m,
                      struct arena *a, int64_t **out, size_t *n, struct err *e) MUST_USE;

/* The last ones before entry `before`, newest first, at most `max`. */
enum status log_marks_back(struct log *l, struct sv thread, enum log_mark m, int64_t before,
                           size_t max, struct arena *a, int64_t **out, size_t *n,
                           struct err *e) MUST_USE;

/* The part of thread_view's fold that keeps these rows. */
enum status log_mark_fold(struct rows *f, const struct entry *n, struct err *e) MUST_USE;

#endif

/* Shared by the parts of the fold: view.c (the table of operations), view_rows.c (rows of threads
 * and objectives), view_refs.c (references), view_threads.c and view_import.c (operations). */
#ifndef HEDDLE_VIEW_INTERNAL_H
#define HEDDLE_VIEW_INTERNAL_H

#include "share/share_internal.h"

/* One operation that is folded. */
struct view_op {
    struct rows        *f;
    const struct entry *n;
    const struct json  *p;
    struct err         *e;
};

static inline enum status view_get(struct view_op *o, struct sv key, struct sv *row, bool *found)
{
    return row_get(o->f, key, row, found, o->e);
}

static inline enum status view_put(struct view_op *o, struct sv key, struct sv row)
{
    return row_put(o->f, key, row, o->e);
}

static inline enum status view_del(struct view_op *o, struct sv key)
{
    return row_del(o->f, key, o->e);
}

static inline struct sv view_text(const struct view_op *o, const char *key)
{
    return json_text(o->p, key);
}

/* ---- rows of threads and objectives (view_rows.c) -------------------------------------- */

/* All rows below a prefix, read before any is changed. */
enum status view_rows_of(struct view_op *o, struct sv prefix, struct store_row **out, size_t *n);

/* A number as text. */
struct sv view_seq_text(int64_t seq, struct arena *a);

enum status view_find_thread(struct view_op *o, struct sv id, struct share_thread *t, bool *found);
enum status view_save_thread(struct view_op *o, const struct share_thread *t);

/* What was said so far of a thread that has no row of its own: it only has a log. */
enum status view_find_log_thread(struct view_op *o, struct sv id, struct share_thread *t);
enum status view_save_log_thread(struct view_op *o, struct share_thread *t);

/* Note a change in the row `meta`, and add to its counts. `in_objective`: an objective changed. */
enum status view_change_meta(struct view_op *o, int threads, int objectives, bool in_objective);

enum status view_set_status(struct view_op *o, struct share_thread *t, enum thread_status to);

/* Its rows, and the counts of its objective and of all. */
enum status view_add_thread(struct view_op *o, const struct share_thread *t);
enum status view_drop_thread(struct view_op *o, const struct share_thread *t);

/* ---- references (view_refs.c) ---------------------------------------------------------- */

enum status view_add_edge(struct view_op *o, struct sv from, struct sv target, bool missing,
                          int64_t seq);

/* References that waited for this id are no longer broken. */
enum status view_mend(struct view_op *o, struct sv id);

/* The row of a reference and its frozen copies, in place of those of the one it repeats. */
enum status view_save_ref(struct view_op *o, struct share_ref *r);

/* Rows of references to `target` (absent: to any) with their copies; and the edge, too. */
enum status view_drop_refs(struct view_op *o, const char *prefix, struct sv from, struct sv target);
enum status view_drop_edge(struct view_op *o, struct sv from, struct sv target);

/* ---- operations: what each does, for the table in view.c ------------------------------- */

typedef enum status view_fold(struct view_op *o);

/* view_threads.c */
view_fold view_fold_objective, view_fold_objective_delete, view_fold_spawn, view_fold_status,
    view_fold_rename, view_fold_log_archive, view_fold_session, view_fold_inject, view_fold_deliver,
    view_fold_worker, view_fold_remove;
enum status view_add_injection(struct view_op *o, struct sv thread, struct sv actor, struct sv type,
                               struct sv content);

/* view_refs.c */
view_fold view_fold_reference, view_fold_refresh, view_fold_unreference, view_fold_rebind,
    view_fold_merge;

/* view_import.c */
view_fold view_fold_import;

#endif

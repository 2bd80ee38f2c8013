/* Deleting a thread from the log. */
#include "thread/deletion.h"

#include "base/vec.h"
#include "store/store.h"
#include "thread/anchor.h"
#include "thread/erase.h"
#include "thread/lane.h"
#include "thread/rows.h"
#include "thread/scan.h"
#include "thread/skeleton.h"

enum status deletion_find(struct log *l, struct sv thread, bool *deleted, struct err *e)
{
    struct arena a = { 0 };
    struct rows  r = rows_of_view(l, ANCHOR_THREAD, &thread_view, &a);
    struct sv    row;
    enum status  s = row_get(&r, key_of_name("deleted", thread, &a), &row, deleted, e);

    arena_free(&a);
    return s;
}

enum status deletion_refuse(struct sv thread, struct err *e)
{
    err_set(e, ST_CONFLICT, "thread '" SV_FMT "' was deleted, and its id is not given again",
            SV_ARG(thread));
    err_reason(e, "deleted");
    return err_hint(e, "take another id; `heddle log show .global` says when it was deleted");
}

enum status deletion_list(struct log *l, struct arena *a, struct sv **out, size_t *n, struct err *e)
{
    struct rows       r = rows_of_view(l, ANCHOR_THREAD, &thread_view, a);
    struct store_row *rows;

    if (rows_below(&r, SV("deleted/"), &rows, n, e))
        return err_code(e);
    *out = ARENA_NEW(a, struct sv, *n + 1);
    for (size_t i = 0; i < *n; i++)
        (*out)[i] = sv_skip(rows[i].key, sizeof "deleted/" - 1);
    return ST_OK;
}

/* ---- deleting ------------------------------------------------------------------------------ */

static enum status append(struct log *l, const struct deletion *d, int64_t *seq, struct err *e)
{
    struct arena      a = { 0 };
    struct sb         b = sb_in(&a, 0);
    struct jw         w = jw_in(&b, 0);
    struct store_head old, head;
    enum status       s = store_head(l->store, d->thread, &old, e);

    jw_open(&w, '{');
    if (!s && old.rev)
        jw_kstr(&w, "chain", hash_hex(&old.chain, &a));
    jw_key(&w, "files");
    jw_open(&w, '[');
    for (size_t i = 0; i < d->n_files; i++)
        jw_str(&w, d->files[i]);
    jw_close(&w, ']');
    jw_kstr(&w, "reason", d->reason.n ? d->reason : SV(""));
    if (!s && old.rev)
        jw_kint(&w, "rev", old.rev);
    jw_kstr(&w, "thread", d->thread);
    jw_close(&w, '}');
    struct entry n = { .at = d->at,
                       .kind = SV("thread_deletion"),
                       .actor = d->actor,
                       .payload = sb_sv(&b),
                       .refs = SV("{}") };
    if (!s)
        s = log_append(l, ANCHOR_THREAD, LOG_ANY_REV, &n, 1, &head, e);
    *seq = n.seq;
    arena_free(&a);
    return s;
}

/* Entries of .global from `from` on. */
static enum status find_about(struct log *l, struct sv thread, deletion_about_fn *is_about,
                              int64_t from, struct arena *a, struct deletion_found *out,
                              struct err *e)
{
    UNDO(log_scan_undo) struct store_scan *scan = NULL;
    struct store_query q = { .thread = ANCHOR_THREAD, .from = from, .to = STORE_TO_END };
    struct entry       n;
    bool               more = true;

    if (!is_about || log_scan(l, &q, &scan, e))
        return is_about ? err_code(e) : ST_OK;
    for (;;) {
        if (log_scan_next(scan, &n, &more, e))
            return err_code(e);
        if (!more)
            return ST_OK;
        if (n.salted && !n.erased && is_about(&n, thread))
            *vec_push(&out->about, a) = n.seq;
    }
}

enum status deletion_look(struct log *l, struct sv thread, deletion_about_fn *is_about,
                          struct arena *a, struct deletion_found *out, struct err *e)
{
    *out = (struct deletion_found){ 0 };
    if (erase_know(l, thread, a, &out->known, e) || log_head(l, ANCHOR_THREAD, &out->head, e))
        return err_code(e);
    return find_about(l, thread, is_about, 0, a, out, e);
}

/* What was found, if .global goes on from there, and what came since. */
static enum status about_now(struct log *l, const struct deletion *d, struct arena *a,
                             struct deletion_found *out, struct err *e)
{
    struct hash chain;
    bool        same = d->found && d->found->head.rev;

    *out = (struct deletion_found){ 0 };
    if (same && store_chain_at(l->store, ANCHOR_THREAD, d->found->head.rev - 1, &chain, &same, e))
        return err_code(e);
    same = same && hash_eq(&chain, &d->found->head.chain);
    for (size_t i = 0; same && i < d->found->about.n; i++)
        *vec_push(&out->about, a) = d->found->about.v[i];
    return find_about(l, d->thread, d->is_about, same ? d->found->head.rev : 0, a, out, e);
}

static enum status erase_about(struct log *l, const struct deletion *d, struct err *e)
{
    struct arena          a = { 0 };
    struct deletion_found now;
    enum status           s = about_now(l, d, &a, &now, e);

    for (size_t i = 0; !s && i < now.about.n; i++) {
        struct entry n;
        bool         found;
        s = log_entry(l, ANCHOR_THREAD, now.about.v[i], &a, &n, &found, e);
        if (s || !found || !skeleton_has_content(&n, &a))
            continue;
        skeleton_fill(&n, 1, &a);
        s = store_erase(l->store, ANCHOR_THREAD, &n, 1, e);
    }
    if (!s && now.about.n) /* rows of views hold texts of entries too */
        s = log_refold(l, ANCHOR_THREAD, e);
    arena_free(&a);
    return s;
}

enum status deletion_run(struct log *l, const struct deletion *d, int64_t *seq, struct err *e)
{
    const struct erase_known *known = d->found ? &d->found->known : NULL;

    if (erase_remember(l, d->thread, known, d->actor, d->at, e) || append(l, d, seq, e) ||
        erase_about(l, d, e))
        return err_code(e);
    return (d->later ? store_drop_later : store_drop)(l->store, d->thread, e);
}

/* The calls of the store that concern the log: heads, appending, scans, marks, erasing and the list
 * of threads. */
#include "base/path.h"
#include "base/utf8.h"
#include "store/limits.h"
#include "store/store_internal.h"

#include <assert.h>
#include <string.h>

/* A thread id, or the one reserved id of the workspace's own log, or a staged thread. */
static enum status check_thread(const struct store *s, struct sv thread, struct err *e)
{
    if (sv_is(thread, ".global"))
        return ST_OK;
    bool staged = s->staged && store_is_staged(thread);
    return name_check(staged ? sv_skip(thread, 1) : thread, "thread id", e);
}

enum status store_head(struct store *s, struct sv thread, struct store_head *out, struct err *e)
{
    if (seen_head(s, thread, out))
        return ST_OK;
    if (check_thread(s, thread, e) || s->ops->head(s, thread, out, e))
        return err_code(e);
    seen_note_head(s, thread, out);
    return ST_OK;
}

enum status store_head_agrees(struct sv thread, const struct store_head *h, struct err *e)
{
    long long there = (long long)h->rev, written = (long long)h->recorded_rev;

    if (h->rev == h->recorded_rev && hash_eq(&h->chain, &h->recorded_chain))
        return ST_OK;
    if (there < written)
        err_set(e, ST_CORRUPT,
                "thread " SV_FMT ": %lld entries are there and %lld were written: "
                "the last %lld were cut off",
                SV_ARG(thread), there, written, written - there);
    else if (there > written)
        err_set(e, ST_CORRUPT,
                "thread " SV_FMT ": %lld entries are there and %lld were written: "
                "the last %lld were not appended by heddle",
                SV_ARG(thread), there, written, there - written);
    else
        err_set(e, ST_CORRUPT,
                "thread " SV_FMT ": its last entry, %lld, is not the one that was "
                "written",
                SV_ARG(thread), there - 1);
    return err_hint(e, "put a copy of the database back, or keep what is there: `heddle log export "
                       "T > T.jsonl`, then `heddle log import NEW --salvage < T.jsonl`");
}

static enum status check_length(struct sv v, size_t max, const char *what, struct err *e)
{
    if (v.n <= max)
        return ST_OK;
    err_set(e, ST_LIMIT_EXCEEDED, "%s is %zu bytes long", what, v.n);
    return err_hint(e, "the limit is %zu bytes", max);
}

static enum status check_optional_name(struct sv name, const char *what, struct err *e)
{
    return name.s ? name_check(name, what, e) : ST_OK;
}

/* Is it text that every engine can store? */
static bool is_text(struct sv v)
{
    return !v.n || (!memchr(v.s, 0, v.n) && utf8_invalid(v) < 0);
}

enum status entry_check(const struct entry *n, struct err *e)
{
    if (check_length(n->kind, ENTRY_KIND_MAX, "the kind", e) || name_check(n->kind, "kind", e) ||
        check_optional_name(n->lane, "lane", e) || check_optional_name(n->actor, "actor", e) ||
        check_length(n->payload, ENTRY_PAYLOAD_MAX, "the payload", e) ||
        check_length(n->refs, ENTRY_REFS_MAX, "refs", e))
        return err_code(e);
    if (n->id.s &&
        (check_length(n->id, ENTRY_ID_MAX, "the entry id", e) || name_check(n->id, "entry id", e)))
        return err_code(e);
    if (n->op_id.s && (!n->op_id.n || !is_text(n->op_id)))
        return err_set(e, ST_INVALID_SYNTAX, "an op_id must be text, and not empty");
    if (!n->payload.n)
        return err_set(e, ST_INVALID_SYNTAX, "an entry needs a payload");
    if (!is_text(n->payload) || !is_text(n->refs))
        return err_set(e, ST_INVALID_SYNTAX, "an entry holds bytes that are not UTF-8, or a NUL");
    return check_length(n->op_id, ENTRY_ID_MAX, "the op_id", e);
}

static enum status check_batch(const struct entry *entries, size_t n, struct err *e)
{
    size_t bytes = 0;

    if (n > BATCH_ENTRIES_MAX) {
        err_set(e, ST_LIMIT_EXCEEDED, "%zu entries in one append", n);
        return err_hint(e, "append at most %d at a time", BATCH_ENTRIES_MAX);
    }
    for (size_t i = 0; i < n; i++) {
        if (entry_check(&entries[i], e))
            return n > 1 ? err_in(e, "entry %zu of %zu", i + 1, n) : e->code;
        bytes += entries[i].payload.n + entries[i].refs.n;
    }
    if (bytes <= BATCH_BYTES_MAX)
        return ST_OK;
    err_set(e, ST_LIMIT_EXCEEDED, "%zu bytes in one append", bytes);
    return err_hint(e, "append at most %d bytes at a time", BATCH_BYTES_MAX);
}

/* A thread keeps the version of chain it began with. */
static enum status fit_version(struct entry *entries, size_t n, struct store_head *h, struct err *e)
{
    if (!h->rev && n)
        h->version = entry_version(&entries[0]);
    for (size_t i = 0; h->version == 1 && i < n; i++) {
        if (entries[i].erased)
            return err_set(e, ST_INVALID_SYNTAX,
                           "an erased entry cannot stand in a thread of chain version 1");
        entries[i].salted = false;
    }
    return ST_OK;
}

enum status store_append(struct store *s, struct sv thread, int64_t expect, struct entry *entries,
                         size_t n, struct store_head *head, struct err *e)
{
    struct store_head h;

    assert(s->open == TX_WRITING);
    if (check_batch(entries, n, e) || store_head(s, thread, &h, e))
        return err_code(e);
    if (expect != STORE_ANY_REV && expect != h.rev) {
        err_set(e, ST_CONFLICT, "thread '" SV_FMT "' is at revision %lld, not at %lld",
                SV_ARG(thread), (long long)h.rev, (long long)expect);
        err_reason(e, "rev");
        return err_hint(e, "read what came in between, then append with --expect %lld",
                        (long long)h.rev);
    }
    if (store_head_agrees(thread, &h, e))
        return err_code(e);
    int64_t rev = h.rev;
    if (fit_version(entries, n, &h, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        entries[i].seq = h.rev++;
        h.chain = entries[i].chain = entry_chain(&entries[i], &h.chain);
        h.created = entries[i].seq == 0 ? entries[i].at : h.created;
        h.updated = entries[i].at;
    }
    if (n && s->ops->insert(s, thread, rev, entries, n, e))
        return err_code(e);
    h.recorded_rev = h.rev;
    h.recorded_chain = h.chain;
    seen_note_head(s, thread, &h);
    *head = h;
    return ST_OK;
}

enum status store_scan(struct store *s, const struct store_query *q, struct store_scan **out,
                       struct err *e)
{
    if (check_thread(s, q->thread, e))
        return err_code(e);
    if (s->ops->scan(s, q, out, e))
        return err_code(e);
    (*out)->store = s;
    memcpy((*out)->thread, q->thread.s, q->thread.n); /* check_thread() limits its length */
    (*out)->thread[q->thread.n] = 0;
    (*out)->last = -2;
    return ST_OK;
}

int64_t store_scan_lost(const struct store_scan *scan)
{
    return scan->lost;
}

enum status store_before(struct store_scan *scan, const struct entry *entries, size_t n,
                         struct entry_before *out, struct err *e)
{
    struct store *s = scan->store;

    for (size_t i = 0; i < n; i++) {
        int64_t seq = entries[i].seq;
        bool    is_next = scan->last == seq - 1;
        out[i] = is_next ? (struct entry_before){ scan->last_chain, true }
                         : (struct entry_before){ .known = seq == 0 };
        if (!out[i].known &&
            s->ops->chain_at(s, sv_of(scan->thread), seq - 1, &out[i].chain, &out[i].known, e))
            return err_code(e);
        scan->last = seq;
        scan->last_chain = entries[i].chain;
    }
    return ST_OK;
}

enum status store_prove(struct store_scan *scan, const struct entry *entries, size_t n,
                        struct arena *scratch, enum entry_proof *out, struct err *e)
{
    struct arena_mark    m = arena_mark(scratch);
    struct entry_before *before = arena_grow(scratch, NULL, 0, n * sizeof *before);
    enum status          s = store_before(scan, entries, n, before, e);

    if (!s)
        entry_prove(entries, before, n, scratch, out);
    arena_reset(scratch, m);
    return s;
}

enum status store_next(struct store_scan *scan, struct entry *out, bool *more, struct err *e)
{
    return scan->store->ops->next(scan, out, more, e);
}

void store_scan_close(struct store_scan *scan)
{
    if (scan)
        scan->store->ops->scan_close(scan);
}

void store_scan_undo(struct store_scan **scan)
{
    store_scan_close(*scan);
}

enum status store_first(struct store *s, const struct store_query *q, struct arena *a,
                        struct entry *out, bool *found, struct err *e)
{
    UNDO(store_scan_undo) struct store_scan *scan = NULL;
    struct entry                             n;

    if (store_scan(s, q, &scan, e) || store_next(scan, &n, found, e))
        return err_code(e);
    if (*found)
        *out = entry_dup(&n, a);
    return ST_OK;
}

enum status store_find_op(struct store *s, struct sv thread, struct sv op_id, struct arena *a,
                          struct entry *out, bool *found, struct err *e)
{
    if (check_thread(s, thread, e))
        return err_code(e);
    return s->ops->find_op(s, thread, op_id, a, out, found, e);
}

enum status store_chain_at(struct store *s, struct sv thread, int64_t seq, struct hash *out,
                           bool *found, struct err *e)
{
    *found = false;
    if (check_thread(s, thread, e))
        return err_code(e);
    return seq < 0 ? ST_OK : s->ops->chain_at(s, thread, seq, out, found, e);
}

enum status store_set_mark(struct store *s, struct sv thread, int64_t seq, enum entry_mark mark,
                           struct err *e)
{
    assert(s->open == TX_WRITING || s->rows_apart);
    return s->ops->set_mark(s, thread, seq, mark, e);
}

/* ---- erasing -------------------------------------------------------------------- */

/* Would the chain value that is there follow from what an erasure leaves? `before` is the one of
 * the entry before it; NULL: that entry is gone. */
static enum status check_erasable(struct sv thread, const struct entry *n,
                                  const struct hash *before, const struct hash *there,
                                  struct err *e)
{
    if (!n->salted || !n->skeleton.n) {
        err_set(e, ST_INVALID_SYNTAX, "entry %lld is of chain version 1: it cannot be erased",
                (long long)n->seq);
        return err_hint(e, "`heddle log rechain " SH_FMT "` makes the thread erasable",
                        SV_ARG(thread));
    }
    if (before) {
        struct hash want = entry_chain(n, before);
        if (hash_eq(&want, there))
            return ST_OK;
    }
    err_set(e, ST_CORRUPT, "entry %lld is not what was written: its chain value does not follow",
            (long long)n->seq);
    return err_hint(e, "`heddle verify " SH_FMT "` says what is whole", SV_ARG(thread));
}

/* The same of entries that follow each other. One scan reads their chain values: a store across a
 * network would be asked twice for each. */
static enum status check_run(struct store *s, struct sv thread, const struct entry *entries,
                             size_t n, struct err *e)
{
    UNDO(store_scan_undo) struct store_scan *scan = NULL;
    int64_t                                  first = entries[0].seq;
    bool                                     known = first == 0, more;
    struct store_query                       q = { .thread = thread,
                                                   .from = known ? 0 : first - 1,
                                                   .to = entries[n - 1].seq };
    struct hash                              before = { 0 };
    struct entry                             there;

    if (store_scan(s, &q, &scan, e))
        return err_code(e);
    for (size_t i = 0; i < n;) {
        if (store_next(scan, &there, &more, e))
            return err_code(e);
        if (!more || there.seq > entries[i].seq)
            return err_set(e, ST_NOT_FOUND, "there is no entry %lld", (long long)entries[i].seq);
        if (there.seq == entries[i].seq) {
            if (!entries[i].erased &&
                check_erasable(thread, &entries[i], known ? &before : NULL, &there.chain, e))
                return err_code(e);
            i++;
        }
        before = there.chain;
        known = true;
    }
    return ST_OK;
}

enum status store_erase(struct store *s, struct sv thread, const struct entry *entries, size_t n,
                        struct err *e)
{
    assert(s->open == TX_WRITING);
    if (check_thread(s, thread, e))
        return err_code(e);
    for (size_t i = 0, run; i < n; i += run) {
        for (run = 1; i + run < n && entries[i + run].seq == entries[i].seq + (int64_t)run;)
            run++;
        if (check_run(s, thread, &entries[i], run, e))
            return err_code(e);
    }
    return n ? s->ops->erase(s, thread, entries, n, e) : ST_OK;
}

enum status store_rechain(struct store *s, struct sv thread, struct entry *n, struct hash *chain,
                          bool last, struct err *e)
{
    assert(s->open == TX_WRITING && n->salted && n->skeleton.n);
    if (check_thread(s, thread, e) || entry_check(n, e))
        return err_code(e);
    *chain = n->chain = entry_chain(n, chain);
    seen_forget_head(s, thread);
    return s->ops->rechain(s, thread, n, last, e);
}

/* ---- staged threads -------------------------------------------------------------- */

bool store_is_staged(struct sv thread)
{
    return sv_starts(thread, SV(STORE_STAGED));
}

bool store_stages(const struct store *s)
{
    while (s->ops->rename && s->ops->behind)
        s = s->ops->behind((struct store *)(uintptr_t)s);
    return s->ops->rename != NULL;
}

void store_allow_staged(struct store *s, bool on)
{
    s->staged = on;
}

enum status store_staged(struct store *s, struct arena *a, struct sv **out, size_t *n,
                         struct err *e)
{
    *n = 0;
    return store_stages(s) ? s->ops->staged(s, a, out, n, e) : ST_OK;
}

void store_stage_after(struct store *s, struct sv staged, const struct store_head *head)
{
    struct store_head h = *head;

    assert(s->open == TX_WRITING && s->staged);
    h.views = 0;
    seen_note_head(s, staged, &h);
}

enum status store_rename(struct store *s, struct sv from, struct sv to, struct err *e)
{
    assert(s->open == TX_WRITING);
    if (check_thread(s, from, e) || check_thread(s, to, e))
        return err_code(e);
    seen_forget(s);
    return s->ops->rename(s, from, to, e);
}

/* ---- all threads -------------------------------------------------------------------- */

enum status store_threads(struct store *s, struct arena *a, struct store_thread **out, size_t *n,
                          struct err *e)
{
    return s->ops->threads(s, a, out, n, e);
}

enum status store_thread_ids(struct store *s, struct arena *a, struct sv **out, size_t *n,
                             struct err *e)
{
    struct store_thread *list;

    if (s->ops->thread_ids)
        return s->ops->thread_ids(s, a, out, n, e);
    if (s->ops->threads(s, a, &list, n, e))
        return err_code(e);
    *out = ARENA_NEW(a, struct sv, *n + 1);
    for (size_t i = 0; i < *n; i++)
        (*out)[i] = list[i].id;
    return ST_OK;
}

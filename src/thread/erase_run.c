/* Erasing what a plan names: at once when it is little, else in slices, after it is recorded. */
#include "thread/erase.h"

#include "store/store.h"
#include "thread/limits.h"
#include "thread/skeleton.h"
#include "thread/stage.h"

static bool goes(const struct erase_item *x, const struct erase_how *how)
{
    return x->asked || how->with_derived;
}

static enum status check_how(const struct erase_plan *plan, const struct erase_how *how,
                             struct err *e)
{
    if (!plan->asked && (!plan->derived || how->leave_derived) && !how->n_files &&
        !how->n_objects) {
        err_set(e, ST_NOT_FOUND, "there is nothing to erase");
        return err_hint(e, "what was erased, or holds no words, is passed over");
    }
    for (size_t i = 0; i < plan->items.n; i++)
        if (goes(&plan->items.v[i], how) && plan->items.v[i].fixed) {
            err_set(e, ST_INVALID_SYNTAX,
                    "thread '" SV_FMT "' is of chain version 1: entry %lld cannot be erased",
                    SV_ARG(plan->items.v[i].thread), (long long)plan->items.v[i].seq);
            return err_hint(e, "`heddle log rechain " SH_FMT "` makes it erasable",
                            SV_ARG(plan->items.v[i].thread));
        }
    if (!plan->derived || how->with_derived || how->leave_derived)
        return ST_OK;
    err_set(e, ST_CONFLICT, "%zu other entr%s hold%s it too", plan->derived,
            plan->derived == 1 ? "y" : "ies", plan->derived == 1 ? "s" : "");
    err_reason(e, "derived");
    return err_hint(e, "--with-derived erases them too, --leave-derived leaves them; --dry-run "
                       "lists them");
}

/* The last of the items from items[i] on that are erased and follow each other. */
static int64_t end_of_run(const struct erase_plan *plan, const struct erase_how *how, size_t i,
                          size_t to)
{
    const struct erase_item *x = &plan->items.v[i];
    size_t                   run = 1;

    while (i + run < to && run < ERASE_BATCH && goes(&x[run], how) &&
           x[run].seq == x->seq + (int64_t)run)
        run++;
    return x->seq + (int64_t)run - 1;
}

/* Read the entries of items[*i..to) that are erased, as many as one batch takes; *i is then the
 * item to go on with. Entries that follow each other are read by one scan. */
static enum status read_batch(struct log *l, const struct erase_plan *plan,
                              const struct erase_how *how, size_t *i, size_t to,
                              struct entry *batch, size_t *n, struct arena *a, struct err *e)
{
    UNDO(store_scan_undo) struct store_scan *scan = NULL;
    int64_t                                  next = -1; /* what the scan gives next; -1: nothing */
    size_t                                   bytes = 0;

    *n = 0;
    for (; *i < to && *n < ERASE_BATCH && bytes < ERASE_BATCH_BYTES; ++*i) {
        const struct erase_item *x = &plan->items.v[*i];
        struct store_query       q = { .thread = x->thread, .from = x->seq };
        struct entry             one;
        bool                     found = false;
        if (!goes(x, how))
            continue;
        if (x->seq != next) {
            store_scan_close(scan);
            scan = NULL;
            q.to = end_of_run(plan, how, *i, to);
            if (store_scan(l->store, &q, &scan, e))
                return err_code(e);
        }
        if (store_next(scan, &one, &found, e))
            return err_code(e);
        found = found && one.seq == x->seq;
        next = found ? x->seq + 1 : -1;
        if (!found)
            continue;
        batch[*n] = entry_dup(&one, a);
        skeleton_fill(&batch[*n], 1, a);
        bytes += batch[(*n)++].payload.n;
    }
    return ST_OK;
}

/* The entries items[from..to) of one thread, a batch at a time. */
static enum status erase_entries(struct log *l, const struct erase_plan *plan,
                                 const struct erase_how *how, size_t from, size_t to, struct err *e)
{
    struct arena scratch = { 0 };
    enum status  s = ST_OK;
    size_t       i = from;

    while (i < to && !s) {
        struct entry *batch = ARENA_NEW(&scratch, struct entry, ERASE_BATCH);
        size_t        n = 0;
        s = read_batch(l, plan, how, &i, to, batch, &n, &scratch, e);
        if (!s)
            s = store_erase(l->store, plan->items.v[from].thread, batch, n, e);
        arena_free(&scratch);
    }
    return s;
}

static void put_texts(struct jw *w, const char *key, const struct sv *list, size_t n)
{
    jw_key(w, key);
    jw_open(w, '[');
    for (size_t i = 0; i < n; i++)
        jw_str(w, list[i]);
    jw_close(w, ']');
}

/* {"files":[…],"left":[…],"objects":[…]?,"reason":…,"seqs":[…]} of one thread; the plan's own has
 * the rest too. */
static struct sv erasure_payload(const struct erase_plan *plan, const struct erase_how *how,
                                 struct sv thread, size_t from, size_t to, struct arena *a)
{
    bool      own = sv_eq(thread, plan->thread);
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    put_texts(&w, "files", how->files, own ? how->n_files : 0);
    jw_key(&w, "left");
    jw_open(&w, '[');
    for (size_t i = 0; own && i < plan->items.n; i++) {
        const struct erase_item *x = &plan->items.v[i];
        if (goes(x, how))
            continue;
        jw_open(&w, '{');
        jw_kint(&w, "seq", x->seq);
        jw_kstr(&w, "thread", x->thread);
        jw_close(&w, '}');
    }
    jw_close(&w, ']');
    if (own && how->n_objects)
        put_texts(&w, "objects", how->objects, how->n_objects);
    jw_kstr(&w, "reason", how->reason);
    jw_key(&w, "seqs");
    jw_open(&w, '[');
    for (size_t i = from; i < to; i++)
        if (goes(&plan->items.v[i], how))
            jw_int(&w, plan->items.v[i].seq);
    jw_close(&w, ']');
    jw_close(&w, '}');
    return sb_sv(&b);
}

/* items[from..to) are those of `thread`; without `now` it is only recorded that they go. */
static enum status erase_thread(struct log *l, const struct erase_plan *plan,
                                const struct erase_how *how, struct sv thread, size_t from,
                                size_t to, bool now, int64_t *seq, struct err *e)
{
    struct arena      scratch = { 0 };
    bool              own = sv_eq(thread, plan->thread);
    struct entry      note = { .at = how->at,
                               .kind = SV("erasure"),
                               .actor = how->actor,
                               .op_id = own ? how->op_id : (struct sv){ 0 },
                               .payload = erasure_payload(plan, how, thread, from, to, &scratch),
                               .refs = SV("{}") };
    struct store_head head;
    enum status       s = now ? erase_entries(l, plan, how, from, to, e) : ST_OK;

    if (!s)
        s = log_append(l, thread, LOG_ANY_REV, &note, 1, &head, e);
    if (!s && now && from < to) /* rows of views hold texts of entries too */
        s = log_refold(l, thread, e);
    if (!s && own)
        *seq = note.seq;
    arena_free(&scratch);
    return s;
}

/* How many of items[from..to) are erased? */
static size_t going(const struct erase_plan *plan, const struct erase_how *how, size_t from,
                    size_t to)
{
    size_t n = 0;

    for (; from < to; from++)
        n += goes(&plan->items.v[from], how);
    return n;
}

enum status erase_run(struct log *l, const struct erase_plan *plan, const struct erase_how *how,
                      int64_t *seq, struct err *e)
{
    size_t to;

    *seq = -1;
    /* What is erased would come again with the rest of an import. */
    if (check_how(plan, how, e) || log_stage_refuse(l, e))
        return err_code(e);
    bool now = going(plan, how, 0, plan->items.n) <= ERASE_SLICE;
    for (size_t from = 0; from < plan->items.n; from = to) {
        struct sv thread = plan->items.v[from].thread;
        for (to = from; to < plan->items.n && sv_eq(plan->items.v[to].thread, thread);)
            to++;
        if (going(plan, how, from, to) && erase_thread(l, plan, how, thread, from, to, now, seq, e))
            return err_in(e, "thread " SV_FMT, SV_ARG(thread));
    }
    /* The requested thread gets an `erasure` entry even when only files and other threads held the
     * text. */
    return *seq < 0 ? erase_thread(l, plan, how, plan->thread, 0, 0, now, seq, e) : ST_OK;
}

/* ---- what is recorded and not done yet --------------------------------------------------------
 */

/* As the items of a plan. */
static struct erase_plan plan_of(const struct erase_pending *p, struct arena *a)
{
    struct erase_plan plan = { .thread = p->thread, .a = a };

    for (size_t i = 0; i < p->n_seqs; i++)
        if (p->seqs[i] < p->seq)
            *vec_push(&plan.items, a) = (struct erase_item){
                .thread = p->thread, .seq = p->seqs[i], .asked = true, .source = -1
            };
    return plan;
}

/* The next entries, of items[*i..to), that still have content. */
static enum status read_left(struct log *l, const struct erase_plan *plan, size_t *i, size_t to,
                             struct entry *batch, size_t *n, struct arena *a, struct err *e)
{
    size_t read, left = 0;

    if (read_batch(l, plan, &(struct erase_how){ 0 }, i, to, batch, &read, a, e))
        return err_code(e);
    for (size_t k = 0; k < read; k++)
        if (batch[k].salted && !batch[k].erased && skeleton_has_content(&batch[k], a))
            batch[left++] = batch[k];
    *n = left;
    return ST_OK;
}

/* Take the content out of the next items, as many as one transaction may, which is open. */
static enum status erase_slice(struct log *l, const struct erase_plan *plan, size_t *i,
                               struct err *e)
{
    struct arena scratch = { 0 };
    size_t       to = plan->items.n - *i < ERASE_SLICE ? plan->items.n : *i + ERASE_SLICE;
    size_t       bytes = 0, n;
    bool         any = false;
    enum status  s = ST_OK;

    while (!s && *i < to && bytes < ERASE_BATCH_BYTES) {
        struct entry *batch = ARENA_NEW(&scratch, struct entry, ERASE_BATCH);
        s = read_left(l, plan, i, to, batch, &n, &scratch, e);
        for (size_t k = 0; !s && k < n; k++)
            bytes += batch[k].payload.n;
        if (!s && n)
            s = store_erase(l->store, plan->thread, batch, n, e);
        any = any || (!s && n);
        arena_free(&scratch);
    }
    if (!s && any) /* rows may have been folded from what is gone now */
        s = log_refold(l, plan->thread, e);
    return s;
}

/* Does the log still have the entry that records the erasure? Another one may have been restored.
 */
static enum status is_recorded(struct log *l, const struct erase_pending *p, bool *recorded,
                               struct err *e)
{
    struct hash chain;

    if (store_chain_at(l->store, p->thread, p->seq, &chain, recorded, e))
        return err_code(e);
    *recorded = *recorded && hash_eq(&chain, &p->chain);
    return ST_OK;
}

/* The first item from *i on that still has content; plan->items.n when there is none. */
static enum status find_left(struct log *l, const struct erase_plan *plan, size_t *i, struct err *e)
{
    struct arena scratch = { 0 };
    size_t       at = *i, n = 0;
    enum status  s = log_begin(l, (struct sv){ 0 }, STORE_READ, e);

    while (!s && !n && at < plan->items.n) {
        struct entry *batch = ARENA_NEW(&scratch, struct entry, ERASE_BATCH);
        *i = at;
        s = read_left(l, plan, &at, plan->items.n, batch, &n, &scratch, e);
        arena_free(&scratch);
    }
    if (!n)
        *i = at;
    log_abort(l);
    return s;
}

static enum status erase_rest_of(struct log *l, const struct erase_pending *p, struct err *e)
{
    struct arena      a = { 0 };
    struct erase_plan plan = plan_of(p, &a);
    size_t            i = 0;
    bool              recorded = true;
    enum status       s = find_left(l, &plan, &i, e);

    while (!s && recorded && i < plan.items.n) {
        s = log_begin(l, (struct sv){ 0 }, STORE_WRITE, e);
        if (!s)
            s = is_recorded(l, p, &recorded, e);
        if (!s && recorded)
            s = erase_slice(l, &plan, &i, e);
        if (!s)
            s = log_commit(l, e);
        log_abort(l);
        if (!s && i < plan.items.n)
            log_let_others(l);
    }
    arena_free(&a);
    return s ? err_in(e, "thread " SV_FMT, SV_ARG(p->thread)) : ST_OK;
}

enum status erase_rest(struct log *l, const struct erase_pending *list, size_t n, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].n_seqs && erase_rest_of(l, &list[i], e))
            return err_code(e);
    return ST_OK;
}

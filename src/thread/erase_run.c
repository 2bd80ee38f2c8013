/* Erasing what a plan names: at once when it is little, else in slices, after it is recorded. */
#include "thread/erase.h"

#include "store/store.h"
#include "thread/limits.h"
#include "thread/skeleton.h"

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

/* items[from..to) are those of `thread`. */
static enum status erase_thread(struct log *l, const struct erase_plan *plan,
                                const struct erase_how *how, struct sv thread, size_t from,
                                size_t to, int64_t *seq, struct err *e)
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
    enum status       s = erase_entries(l, plan, how, from, to, e);

    if (!s)
        s = log_append(l, thread, LOG_ANY_REV, &note, 1, &head, e);
    if (!s && from < to) /* rows of views hold texts of entries too */
        s = log_refold(l, thread, e);
    if (!s && own)
        *seq = note.seq;
    arena_free(&scratch);
    return s;
}

/* Is any of items[from..to) erased? */
static bool any_goes(const struct erase_plan *plan, const struct erase_how *how, size_t from,
                     size_t to)
{
    while (from < to && !goes(&plan->items.v[from], how))
        from++;
    return from < to;
}

enum status erase_run(struct log *l, const struct erase_plan *plan, const struct erase_how *how,
                      int64_t *seq, struct err *e)
{
    size_t to;

    *seq = -1;
    if (check_how(plan, how, e))
        return err_code(e);
    for (size_t from = 0; from < plan->items.n; from = to) {
        struct sv thread = plan->items.v[from].thread;
        for (to = from; to < plan->items.n && sv_eq(plan->items.v[to].thread, thread);)
            to++;
        if (any_goes(plan, how, from, to) && erase_thread(l, plan, how, thread, from, to, seq, e))
            return err_in(e, "thread " SV_FMT, SV_ARG(thread));
    }
    /* The requested thread gets an `erasure` entry even when only files and other threads held the
     * text. */
    return *seq < 0 ? erase_thread(l, plan, how, plan->thread, 0, 0, seq, e) : ST_OK;
}

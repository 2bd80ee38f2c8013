/* From chain version 1 to version 2: every entry gets a salt and a new chain value, in one pass. */
#include "store/store.h"
#include "thread/erase.h"

#include "thread/kind.h"
#include "thread/skeleton.h"

static enum status check_version(struct sv thread, const struct store_head *h, struct err *e)
{
    if (!h->rev)
        return log_no_thread(thread, e);
    if (h->version == 1)
        return store_head_agrees(thread, h, e);
    err_set(e, ST_CONFLICT, "thread '" SV_FMT "' is of chain version 2 already", SV_ARG(thread));
    return err_reason(e, "version");
}

static enum status changed(struct sv thread, int64_t seq, struct err *e)
{
    err_set(e, ST_CORRUPT, "thread " SV_FMT ": entry %lld is not what was written", SV_ARG(thread),
            (long long)seq);
    return err_hint(e, "a new chain would hide that: see `heddle verify " SH_FMT "`",
                    SV_ARG(thread));
}

/* The entry as the new chain has it. */
static enum status prepare(const struct rechain_how *how, struct entry *n, struct arena *a,
                           struct err *e)
{
    n->id = entry_id(n, a);
    if (how->payload && how->payload(how->ctx, n, a, &n->payload, e))
        return err_code(e);
    skeleton_salt(n, 1);
    skeleton_fill(n, 1, a);
    return ST_OK;
}

/* One entry after the other by its seq: the rows change under a scan. */
static enum status rechain_all(struct log *l, struct sv thread, int64_t rev,
                               const struct rechain_how *how, struct err *e)
{
    struct arena scratch = { 0 };
    struct hash  before = { 0 }, chain = { 0 };
    enum status  s = ST_OK;

    for (int64_t seq = 0; seq < rev && !s; seq++) {
        struct store_query q = { .thread = thread, .from = seq, .to = seq };
        struct entry       n;
        bool               found = false;
        s = store_first(l->store, &q, &scratch, &n, &found, e);
        if (s)
            break;
        struct hash want = found ? entry_chain(&n, &before) : before;
        if (!found || !hash_eq(&want, &n.chain)) {
            s = changed(thread, seq, e);
            break;
        }
        before = n.chain;
        s = prepare(how, &n, &scratch, e);
        if (!s)
            s = store_rechain(l->store, thread, &n, &chain, seq == rev - 1, e);
        arena_free(&scratch);
    }
    arena_free(&scratch);
    return s;
}

enum status log_rechain(struct log *l, struct sv thread, const struct rechain_how *how,
                        struct store_head *head, struct err *e)
{
    struct arena      a = { 0 };
    struct store_head h;
    struct sb         b = sb_in(&a, 0);
    struct jw         w = jw_in(&b, 0);

    if (store_head(l->store, thread, &h, e) || check_version(thread, &h, e))
        return err_code(e);
    jw_open(&w, '{');
    jw_kstr(&w, "chain", hash_hex(&h.chain, &a));
    jw_kint(&w, "rev", h.rev);
    jw_close(&w, '}');
    struct entry n = { .at = how->at,
                       .kind = SV("rechain"),
                       .actor = how->actor,
                       .payload = sb_sv(&b),
                       .refs = SV("{}") };
    enum status  s = rechain_all(l, thread, h.rev, how, e);
    if (!s)
        s = log_append(l, thread, LOG_ANY_REV, &n, 1, head, e);
    if (!s) /* rows hold values drawn from the chain */
        s = log_refold(l, thread, e);
    arena_free(&a);
    return s;
}

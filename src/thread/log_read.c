/* The entries of a damaged log, as many as can be read. The store's scan continues behind damage;
 * here the chain is recomputed, and missing entries are counted by the gaps between seqs.
 */
#include "thread/log_read.h"

#include "base/json.h"
#include "store/store.h"
#include "thread/skeleton.h"

static void tell(struct log_reader *r, const char *fmt, ...) PRINTF(2, 3);
static void tell(struct log_reader *r, const char *fmt, ...)
{
    struct arena scratch = { 0 };
    struct sb    b = sb_in(&scratch, 0);
    va_list      ap;

    va_start(ap, fmt);
    sb_addvf(&b, fmt, ap);
    va_end(ap);
    r->say(r->ctx, sb_sv(&b));
    arena_free(&scratch);
}

static enum status find_end(struct log_reader *r, struct log *l, int64_t to, struct err *e)
{
    struct store_head h;
    enum status       s = store_head(l->store, r->thread, &h, e);

    r->end = -1;
    if (s == ST_CORRUPT) {
        r->head = *e;
        return ST_OK;
    }
    if (s)
        return s;
    if (!h.rev && !h.recorded_rev)
        return log_no_thread(r->thread, e);
    if (to >= h.rev - 1 && store_head_agrees(r->thread, &h, &r->head))
        tell(r, "%s", r->head.text);
    r->end = h.rev > h.recorded_rev ? h.rev : h.recorded_rev;
    if (to < r->end)
        r->end = to + 1;
    return ST_OK;
}

enum status log_read_open(struct log_reader *r, struct log *l, struct sv thread, int64_t from,
                          int64_t to, void (*say)(void *, struct sv), void *ctx, struct err *e)
{
    struct store_query q = { .thread = thread, .from = from < 0 ? 0 : from, .to = to };

    *r = (struct log_reader){ .thread = thread, .next = q.from, .say = say, .ctx = ctx };
    if (find_end(r, l, to, e))
        return err_code(e);
    if (store_scan(l->store, &q, &r->scan, e))
        return err_code(e);
    ARENA_NEW(&r->scratch, char, 1); /* a block that stays between entries */
    return ST_OK;
}

/* The entries from `next` up to `seq` are missing. */
static void count_gap(struct log_reader *r, int64_t seq)
{
    int64_t gap = seq - r->next, told = store_scan_lost(r->scan) - r->counted;

    r->counted += told;
    if (gap <= 0 && told <= 0)
        return;
    r->missing += gap > told ? gap : told;
    if (told < gap && told == 0) /* else the scan reported it already */
        tell(r, gap == 1 ? "entry %lld is missing" : "entries %lld to %lld are missing",
             (long long)r->next, (long long)seq - 1);
}

/* The entry counts as given from now on. False: it was given before. */
static bool is_new(struct log_reader *r, int64_t seq)
{
    for (size_t i = 0; seq < r->next && i < r->given.n; i++)
        if (seq >= r->given.v[i].from && seq <= r->given.v[i].to)
            return false;
    r->missing -= seq < r->next; /* it was taken for missing when a later one came first */
    if (r->given.n && r->given.v[r->given.n - 1].to + 1 == seq) {
        r->given.v[r->given.n - 1].to = seq;
        return true;
    }
    *vec_push(&r->given, &r->scratch) = (struct log_range){ seq, seq };
    return true;
}

/* What the store gives next, with everything that it has to report told. */
static enum status next_new(struct log_reader *r, struct entry *out, bool *more, struct err *e)
{
    enum status s;

    do {
        while ((s = store_next(r->scan, out, more, e)) == ST_CORRUPT) {
            tell(r, "%s", e->text); /* the next call goes on behind it, or ends the scan */
            r->damaged = true;
        }
        if (s)
            return s;
        count_gap(r, *more ? out->seq : r->end > r->next ? r->end : r->next);
    } while (*more && !is_new(r, out->seq));
    return ST_OK;
}

/* Could heddle have written it: names that are names, and objects of JSON? */
static bool is_sound(struct log_reader *r, const struct entry *n)
{
    struct arena_mark m = arena_mark(&r->scratch);
    struct json       payload, refs;
    struct err        ignored;
    bool              sound = entry_check(n, &ignored) == ST_OK &&
                 json_parse(n->payload, 0, &r->scratch, &payload, &ignored) == ST_OK &&
                 json_parse(n->refs, 0, &r->scratch, &refs, &ignored) == ST_OK &&
                 payload.type == JSON_OBJECT && refs.type == JSON_OBJECT;

    arena_reset(&r->scratch, m);
    return sound;
}

enum status log_read_next(struct log_reader *r, struct entry *out, bool *intact, bool *more,
                          struct err *e)
{
    enum entry_proof proof;

    if (next_new(r, out, more, e))
        return err_code(e);
    if (!*more)
        return ST_OK;
    if (skeleton_prove(r->scan, out, 1, &r->scratch, &proof, e))
        return err_code(e);
    /* After a gap it cannot be proven: then it is taken for what was written if it could be. */
    *intact = proof == ENTRY_INTACT || (proof == ENTRY_UNPROVEN && is_sound(r, out));
    if (!*intact) {
        tell(r, "entry %lld is not what was written: %s", (long long)out->seq,
             proof == ENTRY_CHANGED ? "its chain value does not follow from it"
                                    : "what is there is not the text of an entry");
        r->changed++;
    }
    r->read++;
    if (out->seq >= r->next)
        r->next = out->seq + 1;
    return ST_OK;
}

void log_read_close(struct log_reader *r)
{
    store_scan_close(r->scan);
    r->scan = NULL;
    arena_free(&r->scratch);
}

enum status log_read_result(const struct log_reader *r, struct err *e)
{
    bool whole = !r->missing && !r->changed && !r->damaged;

    if (whole && !r->head.code)
        return ST_OK;
    if (whole)
        *e = r->head;
    else
        err_set(e, ST_CORRUPT,
                "thread " SV_FMT ": %lld entr%s read, %lld of them changed; %lld missing",
                SV_ARG(r->thread), (long long)r->read, r->read == 1 ? "y" : "ies",
                (long long)r->changed, (long long)r->missing);
    return err_hint(e, "`heddle log import --salvage` takes the export of a damaged log into a new "
                       "workspace; `heddle doctor` says what is wrong with this one");
}

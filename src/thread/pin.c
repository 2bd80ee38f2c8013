/* Heads of threads as JSON, and whether a log still has what was pinned. */
#include "thread/pin.h"

#include "base/path.h"
#include "base/vec.h"
#include "store/store.h"
#include "thread/deletion.h"
#include "thread/entry_json.h"
#include "thread/lane.h"

enum status pin_of(struct log *l, struct sv thread, struct head_pin *out, struct err *e)
{
    struct store_head h;

    if (store_head(l->store, thread, &h, e))
        return err_code(e);
    if (!h.rev && !h.recorded_rev)
        return log_no_thread(thread, e);
    if (store_head_agrees(thread, &h, e))
        return err_code(e);
    *out = (struct head_pin){ thread, h.rev, h.chain, h.updated };
    return ST_OK;
}

void pin_write(struct jw *w, const struct head_pin *p)
{
    struct arena scratch = { 0 };
    struct sb    hex = sb_in(&scratch, 0);

    sb_add_hex(&hex, p->chain.b, HASH_SIZE);
    jw_open(w, '{');
    jw_kint(w, "at", p->at);
    jw_kstr(w, "chain", sb_sv(&hex));
    jw_kint(w, "rev", p->rev);
    jw_kstr(w, "thread", p->thread);
    jw_close(w, '}');
    arena_free(&scratch);
}

/* ---- reading --------------------------------------------------------------------------- */

static enum status read_pin(const struct json *v, struct head_pin *out, struct err *e)
{
    const struct json *at = json_find(v, "at");

    *out = (struct head_pin){ .thread = json_text(v, "thread") };
    if (v->type != JSON_OBJECT || !out->thread.s || !json_int(json_find(v, "rev"), &out->rev) ||
        out->rev < 1 || !entry_chain_read(json_text(v, "chain"), &out->chain)) {
        err_set(e, ST_INVALID_SYNTAX, "not a pinned head");
        return err_hint(
            e, "it is {\"thread\":…,\"rev\":…,\"chain\":…} as `heddle head --json` prints");
    }
    if (!sv_is(out->thread, ".global") && name_check(out->thread, "thread id", e))
        return err_code(e);
    if (at && !json_int(at, &out->at))
        out->at = 0;
    return ST_OK;
}

struct pins {
    struct arena *a;
    VEC(struct head_pin) list;
};

/* One object: a pin, or {"items":[…]}. */
static enum status read_object(struct pins *p, const struct json *v, struct err *e)
{
    const struct json *items = json_find(v, "items");

    if (!json_is(items, JSON_ARRAY))
        return read_pin(v, vec_push(&p->list, p->a), e);
    for (size_t i = 0; i < items->n; i++)
        if (read_pin(&items->items[i], vec_push(&p->list, p->a), e))
            return err_in(e, "item %zu", i + 1);
    return ST_OK;
}

enum status pins_read(struct sv text, struct arena *a, struct head_pin **out, size_t *n,
                      struct err *e)
{
    struct pins p = { .a = a };
    struct json v;
    struct err  ignored;

    if (json_parse(text, 0, a, &v, &ignored) == ST_OK) {
        if (read_object(&p, &v, e))
            return err_code(e);
    } else {
        int64_t number = 0;
        for (struct sv_cut cut = { .tail = text, .found = true }; cut.found;) {
            cut = sv_cut(cut.tail, '\n');
            number++;
            if (!sv_trim(cut.head).n)
                continue;
            if (json_parse(cut.head, JSON_ONE_LINE, a, &v, e)) {
                err_hint(e, "`heddle head --json` prints what is read here");
                return err_in(e, "line %lld", (long long)number);
            }
            if (read_object(&p, &v, e))
                return err_in(e, "line %lld", (long long)number);
        }
    }
    if (!p.list.n) {
        err_set(e, ST_INVALID_SYNTAX, "holds no pinned head");
        return err_hint(e, "`heddle head --json` prints what is read here");
    }
    *out = p.list.v;
    *n = p.list.n;
    return ST_OK;
}

/* ---- comparing ------------------------------------------------------------------------- */

static void tell(const struct head_pin *p, void (*say)(void *, struct sv), void *ctx,
                 const char *fmt, ...) PRINTF(4, 5);
static void tell(const struct head_pin *p, void (*say)(void *, struct sv), void *ctx,
                 const char *fmt, ...)
{
    struct arena scratch = { 0 };
    struct sb    b = sb_in(&scratch, 0);
    va_list      ap;

    sb_addf(&b, "thread " SV_FMT ": ", SV_ARG(p->thread));
    va_start(ap, fmt);
    sb_addvf(&b, fmt, ap);
    va_end(ap);
    say(ctx, sb_sv(&b));
    arena_free(&scratch);
}

enum status pin_rechained(struct log *l, const struct head_pin *p, struct arena *a,
                          struct head_pin *then, bool *rechained, struct err *e)
{
    struct rows r = rows_of_view(l, p->thread, &thread_view, a);
    struct sv   row;
    struct json v;

    *rechained = false;
    if (row_get(&r, SV("rechain"), &row, rechained, e))
        return err_code(e);
    if (!*rechained)
        return ST_OK;
    *then = (struct head_pin){ .thread = p->thread };
    if (json_parse(row, 0, a, &v, e) || !json_int(json_find(&v, "rev"), &then->rev) ||
        !entry_chain_read(json_text(&v, "chain"), &then->chain))
        return err_set(e, ST_CORRUPT, "thread " SV_FMT ": its old head cannot be read",
                       SV_ARG(p->thread));
    *rechained = p->rev <= then->rev;
    return ST_OK;
}

/* The pin belongs to the old chain, of which only the last head is recorded. */
static void compare_old(const struct head_pin *p, const struct head_pin *then,
                        void (*say)(void *, struct sv), void            *ctx)
{
    if (p->rev < then->rev)
        tell(p, say, ctx,
             "entry %lld was pinned before the thread got a new chain (heddle log rechain), and "
             "cannot be compared",
             (long long)p->rev - 1);
    else if (!hash_eq(&p->chain, &then->chain))
        tell(p, say, ctx, "entry %lld is not the one that was pinned", (long long)p->rev - 1);
}

enum status pin_check(struct log *l, const struct head_pin *p, void (*say)(void *, struct sv),
                      void *ctx, struct err *e)
{
    struct arena    a = { 0 };
    struct hash     chain;
    struct head_pin then;
    bool            found, rechained, deleted = false;
    enum status     s = pin_rechained(l, p, &a, &then, &rechained, e);

    arena_free(&a);
    if (s)
        return s;
    if (rechained) {
        compare_old(p, &then, say, ctx);
        return ST_OK;
    }
    if (store_chain_at(l->store, p->thread, p->rev - 1, &chain, &found, e))
        return err_code(e);
    if (!found && deletion_find(l, p->thread, &deleted, e))
        return err_code(e);
    if (!found && deleted)
        tell(p, say, ctx, "it was deleted, as .global says");
    else if (!found)
        tell(p, say, ctx, "entry %lld was pinned and is not there", (long long)p->rev - 1);
    else if (!hash_eq(&chain, &p->chain))
        tell(p, say, ctx, "entry %lld is not the one that was pinned", (long long)p->rev - 1);
    return ST_OK;
}

/* Records of erasures, used for imports, for copies of the log that are older than an erasure, and
 * after a thread was deleted. */
#include "thread/erase.h"

#include "base/json.h"
#include "store/store.h"
#include "thread/anchor.h"
#include "thread/kind.h"
#include "thread/lane.h"
#include "thread/rows.h"
#include "thread/scan.h"
#include "thread/skeleton.h"

/* ---- imports -------------------------------------------------------------------------------- */

/* Chain values that an erasure keeps of entries which the log does not have. */
static enum status kept_chains(const struct entry *n, struct arena *a, struct map *out,
                               struct err *e)
{
    struct json p;

    if (kind_of(n->kind) != KIND_ERASURE || !kind_is_sound(n))
        return ST_OK;
    if (json_parse(sv_dup(n->payload, a), 0, a, &p, e))
        return err_code(e);
    const struct json *chains = json_find(&p, "chains");
    for (size_t i = 0; json_is(chains, JSON_ARRAY) && i < chains->n; i++)
        map_put(out, json_sv(&chains->items[i]), out);
    return ST_OK;
}

struct known_chains {
    struct sv     thread;
    struct arena *a;
    struct map   *out;
};

static enum status note_erased(void *ctx, const struct entry *n, struct err *e)
{
    struct known_chains *k = ctx;

    if (n->erased)
        map_put(k->out, hash_hex(&n->chain, k->a), k->out);
    else if (sv_eq(k->thread, ANCHOR_THREAD))
        return kept_chains(n, k->a, k->out, e);
    return ST_OK;
}

/* Entries of which it is recorded that they are erased, and whose content is being taken out. */
static enum status pending_chains(struct log *l, const struct erase_pending *p, struct arena *a,
                                  struct map *out, struct err *e)
{
    struct hash chain;
    bool        found;

    for (size_t i = 0; i < p->n_seqs; i++) {
        if (store_chain_at(l->store, p->thread, p->seqs[i], &chain, &found, e))
            return err_code(e);
        if (found && p->seqs[i] < p->seq)
            map_put(out, hash_hex(&chain, a), out);
    }
    return ST_OK;
}

static enum status chains_of(struct log *l, struct sv thread, struct arena *a, struct map *out,
                             struct err *e)
{
    struct known_chains   k = { thread, a, out };
    struct erase_pending *list;
    struct store_head     h;
    size_t                n;

    if (log_each_entry(l, thread, note_erased, &k, e) || log_head(l, thread, &h, e) ||
        erase_pending_in(l, thread, h.views, a, &list, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        if (pending_chains(l, &list[i], a, out, e))
            return err_code(e);
    return ST_OK;
}

/* `find` puts what it knows of one thread into `out`. Threads without erasures are not read. */
typedef enum status (*known_find)(struct log *l, struct sv thread, struct arena *a, struct map *out,
                                  struct err *e);

static enum status has_erased(struct log *l, struct sv thread, struct arena *a, bool *any,
                              struct err *e)
{
    struct rows       r = rows_of_view(l, thread, &thread_view, a);
    struct store_head h;
    struct sv         row;

    if (log_head(l, thread, &h, e) || row_get(&r, SV("erased"), &row, any, e))
        return err_code(e);
    *any = *any || (h.rev && !log_keeps(l, &h, &thread_view)); /* its rows are not complete */
    return ST_OK;
}

/* Is the thread as it was when it was noted in `heads`? Notes how it is now. */
static bool is_noted(struct map *heads, const struct store_thread *t, struct arena *a)
{
    const struct store_head *then = map_find(heads, t->id);

    if (then && then->rev == t->head.rev && hash_eq(&then->chain, &t->head.chain))
        return true;
    struct store_head *now = ARENA_NEW(a, struct store_head, 1);
    *now = t->head;
    map_put(heads, t->id, now);
    return false;
}

static enum status find_in_all(struct log *l, known_find find, struct map *heads, struct arena *a,
                               struct map *out, struct err *e)
{
    struct store_thread *list;
    size_t               n;

    if (store_threads(l->store, a, &list, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        bool any;
        if (list[i].damaged || (heads && is_noted(heads, &list[i], a)))
            continue;
        if (has_erased(l, list[i].id, a, &any, e) || (any && find(l, list[i].id, a, out, e)))
            return err_code(e);
    }
    return ST_OK;
}

enum status erase_known_chains(struct log *l, struct arena *a, struct map *out, struct err *e)
{
    *out = map_in(a);
    return find_in_all(l, chains_of, NULL, a, out, e);
}

enum status erase_known_since(struct log *l, struct arena *a, struct map *heads, struct map *out,
                              struct err *e)
{
    return find_in_all(l, chains_of, heads, a, out, e);
}

/* What is left of an entry, as it is imported. */
static void leave_skeleton(struct entry *n, struct arena *a)
{
    skeleton_fill(n, 1, a);
    n->payload = n->skeleton;
    n->refs = SV("{}");
    n->salted = false;
    n->erased = true;
}

void erase_again(const struct map *chains, struct entry *n, const struct hash *chain,
                 struct arena *a, int64_t *n_erased)
{
    if (!chains->n || !n->salted || !map_has(chains, hash_hex(chain, a)))
        return;
    leave_skeleton(n, a);
    ++*n_erased;
}

/* The entries that one erasure names and that still have content. */
static enum status replay_one(struct log *l, struct sv thread, const struct entry *n,
                              int64_t *n_erased, struct err *e)
{
    struct arena a = { 0 };
    struct json  p;
    enum status  s = json_parse(n->payload, 0, &a, &p, e);

    const struct json *seqs = s ? NULL : json_find(&p, "seqs");
    for (size_t i = 0; !s && json_is(seqs, JSON_ARRAY) && i < seqs->n; i++) {
        struct store_query q = { .thread = thread, .from = -1 };
        struct entry       one;
        bool               found = false;
        json_int(&seqs->items[i], &q.from);
        q.to = q.from;
        if (q.from < 0 || q.from >= n->seq)
            continue;
        s = store_first(l->store, &q, &a, &one, &found, e);
        if (s || !found || !one.salted || !skeleton_has_content(&one, &a))
            continue;
        skeleton_fill(&one, 1, &a);
        s = store_erase(l->store, thread, &one, 1, e);
        ++*n_erased;
    }
    arena_free(&a);
    return s;
}

enum status erase_replay(struct log *l, struct sv thread, const struct entry *entries, size_t n,
                         int64_t *n_erased, struct err *e)
{
    int64_t before = *n_erased;

    for (size_t i = 0; i < n; i++)
        if (kind_of(entries[i].kind) == KIND_ERASURE && kind_is_sound(&entries[i]) &&
            replay_one(l, thread, &entries[i], n_erased, e))
            return err_code(e);
    return *n_erased == before ? ST_OK : log_refold(l, thread, e);
}

/* ---- older copies of the log ------------------------------------------------------------------
 */

struct with_chains {
    const struct map *chains;
    struct arena      a;
    VEC(int64_t) seqs;
};

static enum status note_chain(void *ctx, const struct entry *n, struct err *e)
{
    struct with_chains *w = ctx;
    struct arena_mark   mark = arena_mark(&w->a);

    (void)e;
    bool has = n->salted && !n->erased && map_has(w->chains, hash_hex(&n->chain, &w->a));
    if (has)
        *vec_push(&w->seqs, &w->a) = n->seq;
    else
        arena_reset(&w->a, mark);
    return ST_OK;
}

static enum status erase_seq(struct log *l, struct sv thread, int64_t seq, struct err *e)
{
    struct arena       a = { 0 };
    struct store_query q = { .thread = thread, .from = seq, .to = seq };
    struct entry       n;
    bool               found;
    enum status        s = store_first(l->store, &q, &a, &n, &found, e);

    if (!s && found) {
        skeleton_fill(&n, 1, &a);
        s = store_erase(l->store, thread, &n, 1, e);
    }
    arena_free(&a);
    return s;
}

/* Append an `erasure` entry and an `erasure_done`, since no file has to be cleaned. */
static enum status append_erasure(struct log *l, struct sv thread, struct sv payload,
                                  struct sv actor, int64_t at, struct err *e)
{
    struct store_head head;
    struct entry      n = {
             .at = at, .kind = SV("erasure"), .actor = actor, .payload = payload, .refs = SV("{}")
    };

    if (log_append(l, thread, LOG_ANY_REV, &n, 1, &head, e))
        return err_code(e);
    struct erase_pending done = { .thread = thread, .seq = n.seq };
    return erase_say_done(l, &done, actor, at, e);
}

static enum status append_replayed(struct log *l, struct sv thread, struct with_chains *w,
                                   struct sv actor, int64_t at, struct err *e)
{
    struct sb b = sb_in(&w->a, 0);
    struct jw j = jw_in(&b, 0);

    jw_open(&j, '{');
    jw_key(&j, "files");
    jw_raw(&j, SV("[]"));
    jw_key(&j, "left");
    jw_raw(&j, SV("[]"));
    jw_kstr(&j, "reason", SV("erased after this copy of the log was made"));
    jw_key(&j, "seqs");
    jw_open(&j, '[');
    for (size_t i = 0; i < w->seqs.n; i++)
        jw_int(&j, w->seqs.v[i]);
    jw_close(&j, ']');
    jw_close(&j, '}');
    return append_erasure(l, thread, sb_sv(&b), actor, at, e);
}

static enum status erase_chains_of(struct log *l, struct sv thread, struct with_chains *w,
                                   struct sv actor, int64_t at, struct err *e)
{
    enum status s = log_each_entry(l, thread, note_chain, w, e);

    for (size_t i = 0; !s && i < w->seqs.n; i++)
        s = erase_seq(l, thread, w->seqs.v[i], e);
    if (!s && w->seqs.n)
        s = append_replayed(l, thread, w, actor, at, e);
    if (!s && w->seqs.n)
        s = log_refold(l, thread, e);
    return s ? err_in(e, "thread " SV_FMT, SV_ARG(thread)) : ST_OK;
}

struct known_files {
    struct arena *a;
    struct map   *out;
};

static enum status note_files(void *ctx, const struct entry *n, struct err *e)
{
    struct known_files *f = ctx;
    struct json         p;

    if (kind_of(n->kind) != KIND_ERASURE || !kind_is_sound(n))
        return ST_OK;
    if (json_parse(sv_dup(n->payload, f->a), 0, f->a, &p, e))
        return err_code(e);
    const struct json *files = json_find(&p, "files");
    for (size_t i = 0; json_is(files, JSON_ARRAY) && i < files->n; i++)
        map_put(f->out, json_sv(&files->items[i]), f->out);
    return ST_OK;
}

static enum status files_of(struct log *l, struct sv thread, struct arena *a, struct map *out,
                            struct err *e)
{
    struct known_files f = { a, out };

    return log_each_entry(l, thread, note_files, &f, e);
}

enum status erase_known_files(struct log *l, struct arena *a, struct map *out, struct err *e)
{
    *out = map_in(a);
    return find_in_all(l, files_of, NULL, a, out, e);
}

static enum status known_of(struct log *l, struct sv thread, struct arena *a, struct map *chains,
                            struct map *files, struct err *e)
{
    bool any;

    if (has_erased(l, thread, a, &any, e))
        return err_code(e);
    if (any && (chains_of(l, thread, a, chains, e) || files_of(l, thread, a, files, e)))
        return err_code(e);
    return ST_OK;
}

/* ---- what the log does not have -------------------------------------------------------------- */

enum { KEPT_CHAINS = 4096 }; /* in one entry */

/* chains[from..] and, in the first entry, the files. */
static struct sv kept_payload(const struct map *chains, size_t from, const struct map *files,
                              struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_key(&w, "chains");
    jw_open(&w, '[');
    for (size_t i = from; i < chains->n && i - from < KEPT_CHAINS; i++)
        jw_str(&w, chains->items[i].key);
    jw_close(&w, ']');
    jw_key(&w, "files");
    jw_open(&w, '[');
    for (size_t i = 0; !from && i < files->n; i++)
        jw_str(&w, files->items[i].key);
    jw_close(&w, ']');
    jw_kstr(&w, "reason", SV("erased in entries that this log does not have"));
    jw_key(&w, "seqs");
    jw_raw(&w, SV("[]"));
    jw_close(&w, '}');
    return sb_sv(&b);
}

static enum status remember(struct log *l, const struct map *chains, const struct map *files,
                            struct sv actor, int64_t at, struct err *e)
{
    size_t from = 0;

    while (from < chains->n || (!from && files->n)) {
        struct arena a = { 0 };
        enum status  s =
            append_erasure(l, ANCHOR_THREAD, kept_payload(chains, from, files, &a), actor, at, e);
        arena_free(&a);
        if (s)
            return s;
        from += KEPT_CHAINS;
    }
    return ST_OK;
}

enum status erase_know(struct log *l, struct sv thread, struct arena *a, struct erase_known *out,
                       struct err *e)
{
    *out = (struct erase_known){ .chains = map_in(a), .files = map_in(a) };
    if (log_head(l, thread, &out->head, e))
        return err_code(e);
    return known_of(l, thread, a, &out->chains, &out->files, e);
}

enum status erase_remember(struct log *l, struct sv thread, const struct erase_known *before,
                           struct sv actor, int64_t at, struct err *e)
{
    struct arena       a = { 0 };
    struct erase_known now;
    struct store_head  h;
    enum status        s = log_head(l, thread, &h, e);

    bool same = !s && before && before->head.rev == h.rev && hash_eq(&before->head.chain, &h.chain);
    if (!s && !same)
        s = erase_know(l, thread, &a, &now, e);
    if (!s)
        s = remember(l, same ? &before->chains : &now.chains, same ? &before->files : &now.files,
                     actor, at, e);
    arena_free(&a);
    return s;
}

static struct map without(const struct map *all, const struct map *known, struct arena *a)
{
    struct map out = map_in(a);

    for (size_t i = 0; i < all->n; i++)
        if (!map_has(known, all->items[i].key))
            map_put(&out, all->items[i].key, &out);
    return out;
}

static enum status remember_unknown(struct log *l, const struct map *chains,
                                    const struct map *files, struct sv actor, int64_t at,
                                    struct arena *a, struct err *e)
{
    struct map known, known_files;

    if (erase_known_chains(l, a, &known, e) || erase_known_files(l, a, &known_files, e))
        return err_code(e);
    known = without(chains, &known, a);
    known_files = without(files, &known_files, a);
    return remember(l, &known, &known_files, actor, at, e);
}

enum status erase_chains(struct log *l, const struct map *chains, const struct map *files,
                         struct sv actor, int64_t at, int64_t *n_erased, struct err *e)
{
    struct arena         a = { 0 };
    struct store_thread *list = NULL;
    size_t               n = 0;
    enum status          s = chains->n ? store_threads(l->store, &a, &list, &n, e) : ST_OK;

    for (size_t i = 0; !s && i < n; i++) {
        struct with_chains w = { .chains = chains };
        s = erase_chains_of(l, list[i].id, &w, actor, at, e);
        *n_erased += (int64_t)w.seqs.n;
        arena_free(&w.a);
    }
    if (!s)
        s = remember_unknown(l, chains, files, actor, at, &a, e);
    arena_free(&a);
    return s;
}

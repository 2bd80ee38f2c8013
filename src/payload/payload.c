/* Collecting, measuring, cutting and writing a payload. */
#include "payload/payload.h"

#include "base/clock.h"
#include "base/env.h"
#include "base/fs.h"
#include "base/path.h"
#include "payload/budget.h"
#include "payload/emit.h"
#include "payload/scan.h"
#include "payload/show.h"
#include "payload/summary.h"
#include "payload/weigh.h"
#include "project/gitdiff.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

enum { MEMO_LIMIT = 64 << 20 };

/* ---- collecting ------------------------------------------------------------------- */

static void read_system(struct payload *p)
{
    struct utsname u;
    struct sb      os = sb_in(p->a, 0);

    if (uname(&u) == 0)
        sb_addf(&os, "%s %s", u.sysname, u.release);
    else
        sb_adds(&os, "unknown");
    p->os = sb_sv(&os);
    p->shell = env_find(p->q->variables, "SHELL");
    if (!p->shell.n)
        p->shell = SV("unknown");
}

/* Memos go into the text as they are: what is not text, or holds a secret, leaves a note as a file
 * would. */
static void check_memos(struct payload *p)
{
    struct scan_found s = { .path = SV(".teddy/memos.yaml") };
    struct resource   r = { .name = s.path, .state = RES_OK };
    struct sb         b = sb_in(p->a, 0), said = sb_in(p->a, 0);

    scan_text(&s, p->memos, NULL, false, !p->q->allow_secrets);
    resource_take_scan(&r, &s, p->q->allow_secrets);
    if (r.state == RES_OK)
        return;
    resource_add_placeholder(&b, &r);
    sb_addc(&b, '\n');
    sb_addf(&said, ".teddy/memos.yaml: %s%s%s: the memos are left out",
            resource_state_word(r.state), r.why[0] ? ": " : "", r.why);
    p->memos = sb_sv(&b);
    *vec_push(&p->lists.warnings, p->a) = sb_sv(&said);
}

static void read_memos(struct payload *p)
{
    struct err  e;
    enum status s =
        fs_read(p->q->root_fd, SV(".teddy/memos.yaml"), MEMO_LIMIT, p->a, &p->memos, &e);

    p->has_memos = s == ST_OK;
    if (s && s != ST_NOT_FOUND)
        *vec_push(&p->lists.warnings, p->a) = sv_dup(sv_of(e.text), p->a);
    if (!s)
        check_memos(p);
}

static void add_diff(struct payload *p)
{
    struct arena scratch = { 0 };
    struct sv    text;
    struct err   e;

    if (gitdiff_read(p->q->root, p->q->variables, &scratch, &text, &e))
        *vec_push(&p->lists.warnings, p->a) = sv_dup(sv_of(e.text), p->a);
    else
        resource_hold(lists_add(&p->lists, SCOPE_TURN, SV("git:diff"), RESOURCE_DIFF), text);
    arena_free(&scratch);
}

/* The global list has had several names; the first that exists is used. */
static void read_global(struct payload *p)
{
    static const char *const names[] = { ".teddy/global.context", ".teddy/project.context",
                                         ".teddy/init.context", ".teddy/perm.context" };

    for (size_t i = 0; i < COUNT(names); i++)
        if (lists_add_file(&p->lists, SCOPE_GLOBAL, sv_of(names[i])))
            return;
}

static void read_lists(struct payload *p)
{
    const struct payload_request *q = p->q;

    if (q->turn.n)
        lists_add_file(&p->lists, SCOPE_TURN, path_join(q->turn, SV("turn.context"), p->a));
    for (size_t i = 0; i < q->n_paths; i++)
        lists_add_entry(&p->lists, SCOPE_TURN, q->paths[i], q->literal_paths);
    if (q->include.n)
        lists_add_matching(&p->lists, SCOPE_TURN, q->include, q->here);
    if (q->diff)
        add_diff(p);
    if (q->session.n)
        lists_add_file(&p->lists, SCOPE_SESSION,
                       path_join(q->session, SV("session.context"), p->a));
    read_global(p);
    if (q->exclude.n)
        lists_drop_matching(&p->lists, q->exclude, q->here);
}

void payload_collect(struct payload *p, const struct payload_request *q, struct arena *a)
{
    *p = (struct payload){ .q = q, .a = a };
    struct rules *rules = q->no_gitignore ? rules_in_without_git(q->root_fd, q->root, a)
                                          : rules_in(q->root_fd, q->root, q->variables, a);
    walk_read(rules, q->root_fd, a, &p->walk);
    walk_hide(&p->walk, q->self);
    lists_init(&p->lists, q->root_fd, &p->walk, a);
    p->lists.self = q->self;
    p->lists.allow_secrets = q->allow_secrets;
    p->lists.lock_files = q->lock_files;
    if (rules_trouble(rules))
        *vec_push(&p->lists.warnings, a) = sv_of(rules_trouble(rules));
    read_system(p);
    read_memos(p);
    read_lists(p);
    if (q->no_tree)
        return;
    struct sb tree = sb_in(a, 0);
    tree_write(&tree, &p->walk, q->tree);
    p->tree = sb_sv(&tree);
}

void payload_release(struct payload *p)
{
    for (size_t i = 0; i < p->lists.resources.n; i++)
        resource_release(&p->lists.resources.v[i]);
}

/* ---- running over the resources ----------------------------------------------------- */

/* What one thread has for itself. */
struct payload_hand {
    struct resource_load_own own;
    struct weigher           weigher;
};

struct payload_job {
    struct payload             *p;
    struct resource_load_config load;
    uint32_t                   *order; /* indexes of the resources to look at */
    size_t                      n;
    struct payload_hand        *hands; /* one per thread */
    unsigned                    threads;
    atomic_uint                 taken;
    struct emit                *emit; /* NULL: measure only */
    struct pipeline_buffer      parts;
    bool                        again; /* they were measured before */
    struct err                  e;
};

/* A counter as asked for; says how it counts. */
static enum status open_counter(struct payload *p, struct tokens **out, struct err *e)
{
    if (p->q->estimate)
        *out = tokens_open_estimate();
    else if (tokens_open_or_estimate(p->q->encoding, env_find(p->q->variables, TOKENS_VOCAB_DIR),
                                     out, e))
        return err_code(e);
    p->counted_by = sv_dup(sv_of(tokens_label(*out)), p->a);
    p->is_estimate = tokens_is_estimate(*out);
    return ST_OK;
}

static enum status job_init(struct payload_job *j, struct payload *p, bool count, struct err *e)
{
    const struct payload_request *q = p->q;

    *j = (struct payload_job){ .p = p };
    j->load = (struct resource_load_config){
        .root_fd = q->root_fd,
        .fetch = q->fetch,
        .allow_secrets = q->allow_secrets,
        .hash = q->hash,
        .outside = q->outside,
    };
    j->order = ARENA_NEW(p->a, uint32_t, p->lists.resources.n + 1);
    for (size_t i = 0; i < p->lists.resources.n; i++)
        if (p->lists.resources.v[i].scopes && !p->lists.resources.v[i].cut)
            j->order[j->n++] = (uint32_t)i;
    j->threads = q->threads ? q->threads : pipeline_threads();
    j->hands = ARENA_NEW(p->a, struct payload_hand, j->threads);
    for (unsigned i = 0; i < j->threads; i++) {
        weigher_init(&j->hands[i].weigher, p);
        if (count && open_counter(p, &j->hands[i].own.tokens, e))
            return err_code(e);
    }
    return ST_OK;
}

static void job_release(struct payload_job *j)
{
    for (unsigned i = 0; j->hands && i < j->threads; i++) {
        tokens_close(j->hands[i].own.tokens);
        arena_free(&j->hands[i].own.scratch);
        weigher_release(&j->hands[i].weigher);
    }
    pipeline_buffer_free(&j->parts);
}

static void *take_hand(void *ctx)
{
    struct payload_job *j = ctx;

    return &j->hands[atomic_fetch_add(&j->taken, 1)];
}

static struct resource *job_resource(const struct payload_job *j, size_t i)
{
    return &j->p->lists.resources.v[j->order[i]];
}

static void work(void *ctx, void *own, size_t i, struct pipeline_buffer *b)
{
    struct payload_job  *j = ctx;
    struct payload_hand *hand = own;
    struct resource     *r = job_resource(j, i);
    struct resource      before = *r;

    if (j->again && resource_is_large(r))
        return; /* resource_parts() looks at it */
    resource_load(&j->load, &hand->own, r, b);
    if (hand->own.tokens)
        weigh_block(&hand->weigher, &j->load, hand->own.tokens, r,
                    r->body.s ? r->body : (struct sv){ b->s, b->n });
    r->is_stale = j->again && (r->state != before.state || r->size != before.size ||
                               r->changed != before.changed);
}

static bool write_part(void *ctx, struct sv part)
{
    struct payload_job *j = ctx;

    emit_format_of(j->p->q->format)->content(j->emit, part);
    emit_flush(j->emit);
    return !j->emit->sink->out || !j->emit->sink->out->failed;
}

static bool write_content(struct payload_job *j, const struct resource *r,
                          const struct pipeline_buffer *b)
{
    const struct emit_format *f = emit_format_of(j->p->q->format);

    if (resource_is_large(r))
        return resource_parts(&j->load, r, &j->parts, write_part, j, &j->e) == ST_OK;
    f->content(j->emit, r->body.s ? r->body : (struct sv){ b->s, b->n });
    return true;
}

static enum status tell(struct payload_job *j, const char *what, size_t done, size_t all)
{
    const struct payload_request *q = j->p->q;

    return q->progress ? q->progress(q->progress_ctx, what, done, all, &j->e) : ST_OK;
}

static bool deliver(void *ctx, void *own, size_t i, const struct pipeline_buffer *b)
{
    struct payload_job       *j = ctx;
    struct emit              *emit = j->emit;
    struct resource          *r = job_resource(j, i);
    const struct emit_format *f = emit_format_of(j->p->q->format);

    (void)own;
    if (tell(j, "packing", i + 1, j->n))
        return false;
    if (r->is_stale && resource_changed(r, &j->e))
        return false;
    if (!emit)
        return true;
    struct arena_mark mark = arena_mark(&emit->scratch);
    emit->number = (struct number){ 0 };
    emit_open(emit, f, r);
    if (r->state == RES_OK && !write_content(j, r, b))
        return false;
    f->close(emit, r);
    emit->done++;
    arena_reset(&emit->scratch, mark);
    if (emit->b.n > RESOURCE_PART)
        emit_flush(emit);
    return !emit->sink->out || !emit->sink->out->failed;
}

/* ---- pages, all at once -------------------------------------------------------------- */

enum { FETCHES_AT_ONCE = 16 };

struct fetching {
    struct payload_job *j;
    struct resource    *pages[4096];
    size_t              n;
};

static void fetch_one(void *ctx, void *own, size_t i, struct pipeline_buffer *b)
{
    const struct fetching *f = ctx;

    (void)own;
    (void)b;
    resource_fetch(&f->j->load, f->pages[i]);
}

static bool fetched_one(void *ctx, void *own, size_t i, const struct pipeline_buffer *b)
{
    const struct fetching *f = ctx;

    (void)own;
    (void)b;
    return tell(f->j, "fetching pages", i + 1, f->n) == ST_OK;
}

/* Fetching is mostly waiting, so it uses more threads than cores. Pages beyond the limit are
 * fetched when they are written. */
static void fetch_pages(struct payload_job *j)
{
    struct fetching *f = ARENA_NEW(j->p->a, struct fetching, 1);
    struct pipeline  pl = { .ctx = f, .work = fetch_one, .deliver = fetched_one };

    f->j = j;
    f->n = 0;
    for (size_t i = 0; i < j->n && f->n < COUNT(f->pages); i++)
        if (job_resource(j, i)->kind == RESOURCE_URL && !job_resource(j, i)->fetched)
            f->pages[f->n++] = job_resource(j, i);
    if (!f->n)
        return;
    if (j->load.fetch.total_ms > 0)
        j->load.fetch.deadline_us = clock_steady_us() + j->load.fetch.total_ms * 1000;
    pipeline_run(&pl, f->n, f->n < FETCHES_AT_ONCE ? (unsigned)f->n : FETCHES_AT_ONCE);
}

static enum status run(struct payload_job *j, struct err *e)
{
    fetch_pages(j);
    struct pipeline pl = { .ctx = j, .open = take_hand, .work = work, .deliver = deliver };

    if (!j->e.code && (pipeline_run(&pl, j->n, j->threads) || !j->e.code))
        return ST_OK;
    *e = j->e;
    return err_code(e);
}

/* ---- measuring and the budget -------------------------------------------------------- */

static size_t block_sum(const struct payload *p)
{
    size_t sum = 0;

    for (size_t i = 0; i < p->lists.resources.n; i++) {
        const struct resource *r = &p->lists.resources.v[i];
        if (r->scopes && !r->cut)
            sum += r->block_tokens;
    }
    return sum;
}

/* Called when the tokens of every block are known. */
static void sum_up(struct payload *p, struct weigher *w, struct tokens *t)
{
    p->head_tokens = weigh_frame(w, t);
    p->tree_tokens = tokens_count(t, p->tree);
    p->memos_tokens = tokens_count(t, p->memos);
    p->tokens = p->head_tokens + block_sum(p);
}

enum status payload_measure(struct payload *p, struct err *e)
{
    struct payload_job j;
    enum status        s = job_init(&j, p, true, e);

    if (!s)
        s = run(&j, e);
    if (!s)
        sum_up(p, &j.hands[0].weigher, j.hands[0].own.tokens);
    job_release(&j);
    return s;
}

static enum status cannot_fit(const struct payload *p, size_t sum, struct err *e)
{
    size_t rest = p->head_tokens - p->tree_tokens - p->memos_tokens;

    err_set(e, ST_LIMIT_EXCEEDED,
            "the budget is %lld tokens, but %zu are left when every resource is cut "
            "(the tree has %zu, the memos have %zu, headings and the list of resources have %zu)",
            (long long)p->q->budget, sum, p->tree_tokens, p->memos_tokens, rest);
    if (p->tree_tokens >= p->memos_tokens && p->tree_tokens > rest)
        return err_hint(e, "shorten the tree with --max-depth or --max-entries, leave it out with "
                           "--no-tree, or raise --budget");
    if (p->memos_tokens > rest)
        return err_hint(e, "shorten .teddy/memos.yaml (`heddle memo remove`), or raise --budget");
    return err_hint(e, "raise --budget, or list fewer resources");
}

/* With more cuts than CUTS_NAMED, their names may take at most a quarter of the budget. */
enum { CUTS_NAMED = 32, NAMING_SHARE = 4 };

/* The state of one search for what fits: the items, and the tokens of their lines in the summary.
 */
struct cutting {
    struct payload     *p;
    struct weigher     *w;
    struct tokens      *t;
    struct arena       *scratch;
    struct budget_item *items;
    size_t             *entries;
    size_t              n, budget, bare; /* bare: the frame without the lines of resources */
};

static void set_items(struct cutting *c)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct resource *r = &c->p->lists.resources.v[i];
        bool                   fold = c->p->folded && summary_folds(r);
        struct budget_item    *it = &c->items[i];
        *it = (struct budget_item){ .rank = -(int)r->scope };
        if (!r->scopes)
            continue;
        it->tokens = r->block_tokens + (fold ? c->entries[i] : 0);
        it->note = fold ? 0 : weigh_note(c->w, c->t, r);
    }
}

/* The tokens that do not depend on what is kept. With folded cuts that is the frame with every
 * directory listed. */
static size_t fixed_part(struct cutting *c)
{
    for (size_t i = 0; i < c->n; i++)
        c->p->lists.resources.v[i].cut = c->p->folded && summary_folds(&c->p->lists.resources.v[i]);
    return weigh_frame(c->w, c->t);
}

static void take_cuts(struct cutting *c)
{
    for (size_t i = 0; i < c->n; i++)
        c->p->lists.resources.v[i].cut = c->items[i].cut;
    sum_up(c->p, c->w, c->t);
}

/* When the exact count is below the expected one, put back what fits. */
static void use_the_rest(struct cutting *c)
{
    bool *before = ARENA_NEW(c->scratch, bool, c->n + 1);

    for (size_t i = 0; i < c->n; i++)
        before[i] = c->items[i].cut;
    if (budget_put_back(c->items, c->n, c->p->tokens, c->budget, c->scratch) == c->p->tokens)
        return;
    take_cuts(c);
    if (c->p->tokens <= c->budget)
        return;
    for (size_t i = 0; i < c->n; i++)
        c->items[i].cut = before[i];
    take_cuts(c);
}

/* The exact sum is known only with the notes in place. While it is over the budget, the target is
 * lowered by the excess. False: everything is cut and it still does not fit. */
static bool cut_to_fit(struct cutting *c)
{
    size_t aim = c->budget, fixed = fixed_part(c);

    set_items(c);
    for (;;) {
        for (size_t i = 0; i < c->n; i++)
            c->items[i].cut = false;
        size_t sum = budget_apply(c->items, c->n, fixed, aim, c->scratch);
        take_cuts(c);
        if (c->p->tokens <= c->budget) {
            use_the_rest(c);
            return true;
        }
        if (sum > aim)
            return false;
        size_t over = c->p->tokens - c->budget;
        aim = aim > over ? aim - over : 0;
    }
}

/* Do the names of the cut resources leave enough of the budget for the others? */
static bool names_are_short(const struct cutting *c)
{
    size_t kept = c->bare, cuts = 0;

    for (size_t i = 0; i < c->n; i++) {
        cuts += c->items[i].cut;
        kept += c->items[i].cut ? 0 : c->entries[i];
    }
    size_t naming = c->p->head_tokens > kept ? c->p->head_tokens - kept : 0;
    return cuts <= CUTS_NAMED || naming <= c->budget / NAMING_SHARE;
}

/* Tries from naming every cut file to naming one directory for all of them. */
static enum status choose_cuts(struct cutting *c, struct err *e)
{
    static const size_t depths[] = { 8, 6, 4, 3, 2, 1, 0 };

    c->p->folded = false;
    bool fits = cut_to_fit(c);
    for (size_t i = 0; i < COUNT(depths) && !(fits && names_are_short(c)); i++) {
        c->p->folded = true;
        c->p->fold_depth = depths[i];
        fits = cut_to_fit(c);
    }
    return fits ? ST_OK : cannot_fit(c->p, c->p->tokens, e);
}

static enum status choose_with(struct payload *p, struct weigher *w, struct tokens *t,
                               struct arena *scratch, struct err *e)
{
    struct cutting c = { .p = p, .w = w, .t = t, .scratch = scratch };

    if (p->tokens <= (size_t)p->q->budget) /* measured, with nothing cut */
        return ST_OK;
    c.n = p->lists.resources.n;
    c.budget = (size_t)p->q->budget;
    c.bare = p->head_tokens;
    c.items = ARENA_NEW(scratch, struct budget_item, c.n + 1);
    c.entries = ARENA_NEW(scratch, size_t, c.n + 1);
    for (size_t i = 0; i < c.n; i++) {
        c.entries[i] =
            p->lists.resources.v[i].scopes ? weigh_entry(w, t, &p->lists.resources.v[i]) : 0;
        c.bare -= c.bare < c.entries[i] ? c.bare : c.entries[i];
    }
    return choose_cuts(&c, e);
}

enum status payload_apply_budget(struct payload *p, struct err *e)
{
    struct arena   scratch = { 0 };
    struct weigher w;
    struct tokens *t = NULL;
    enum status    s = open_counter(p, &t, e);

    weigher_init(&w, p);
    s = s ? s : choose_with(p, &w, t, &scratch, e);
    tokens_close(t);
    weigher_release(&w);
    arena_free(&scratch);
    return s;
}

/* ---- writing --------------------------------------------------------------------------- */

static enum status finish(struct payload_job *j, struct emit *emit, struct sb *out, struct err *e)
{
    struct payload *p = j->p;

    emit_format_of(p->q->format)->end(emit);
    emit_flush(emit);
    p->bytes = emit->sink->bytes;
    if (emit->sink->hashes)
        p->sha256 = hash_sha256_end(&emit->sink->hash);
    if (j->hands[0].own.tokens)
        sum_up(p, &j->hands[0].weigher, j->hands[0].own.tokens);
    if (out && out->fd < 0 && out->failed)
        return err_set(e, ST_LIMIT_EXCEEDED, "the payload is longer than %zu bytes", out->limit);
    return out && out->fd >= 0 ? sb_flush(out, e) : ST_OK;
}

enum status payload_write(struct payload *p, struct sb *out, struct err *e)
{
    bool               measured = p->tokens > 0;
    struct payload_job j;
    enum status        s = job_init(&j, p, p->q->count && !measured, e);
    struct emit_sink   sink = { .out = out, .hashes = p->q->hash };
    struct emit        emit = { .p = p, .sink = &sink };

    emit.b = sb_in(&emit.keep, 0);
    if (!s) {
        j.emit = &emit;
        j.again = measured;
        if (sink.hashes)
            hash_sha256_init(&sink.hash);
        emit_format_of(p->q->format)->begin(&emit);
        s = run(&j, e);
        s = s ? s : finish(&j, &emit, out, e);
    }
    job_release(&j);
    arena_free(&emit.keep);
    arena_free(&emit.scratch);
    return s;
}

/* ---- what to tell ------------------------------------------------------------------------ */

enum { CUTS_SHOWN = 3 };

/* One line for all cuts: how many, what they hold, and the largest by name. */
static void note_cuts(const struct payload *p, payload_notes *notes, struct arena *a)
{
    const struct resource *largest[CUTS_SHOWN] = { 0 };
    size_t                 n = 0, tokens = 0;

    for (size_t i = 0; i < p->lists.resources.n; i++) {
        const struct resource *r = &p->lists.resources.v[i];
        if (!r->scopes || !r->cut)
            continue;
        n++;
        tokens += r->block_tokens;
        for (size_t k = 0; k < CUTS_SHOWN; k++)
            if (!largest[k] || r->block_tokens > largest[k]->block_tokens) {
                const struct resource *smaller = largest[k];
                largest[k] = r;
                r = smaller;
                if (!r)
                    break;
            }
    }
    if (!n)
        return;
    struct sb b = sb_in(a, 0);
    sb_addf(&b, "%zu %s left out to fit the budget of ", n,
            n == 1 ? "resource was" : "resources were");
    sb_add_commas(&b, p->q->budget);
    sb_adds(&b, " tokens, ");
    sb_add_commas(&b, (int64_t)tokens);
    sb_adds(&b, " tokens in all: ");
    for (size_t k = 0; k < CUTS_SHOWN && largest[k]; k++) {
        sb_adds(&b, k ? ", " : "");
        sb_add_path(&b, largest[k]->name);
    }
    if (n > CUTS_SHOWN)
        sb_addf(&b, " and %zu more (--explain lists them)", n - CUTS_SHOWN);
    *vec_push(notes, a) = sb_sv(&b);
}

static void note_lock_files(const struct payload *p, payload_notes *notes, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    size_t    n = 0;

    for (size_t i = 0; i < p->lists.left_out.n; i++) {
        size_t at = (size_t)(uintptr_t)map_find(&p->lists.by_name, p->lists.left_out.v[i]);
        if (at && p->lists.resources.v[at - 1].scopes) /* another entry names it */
            continue;
        sb_adds(&b, n++ ? ", " : "lock files are not taken from folders (--lock-files does): ");
        sb_add_path(&b, p->lists.left_out.v[i]);
    }
    if (n)
        *vec_push(notes, a) = sb_sv(&b);
}

payload_notes payload_warnings(const struct payload *p, struct arena *a)
{
    payload_notes notes = { 0 };

    note_cuts(p, &notes, a);
    note_lock_files(p, &notes, a);

    for (size_t i = 0; i < p->walk.unread.n; i++) {
        struct sb b = sb_in(a, 0);
        sb_add_path(&b, p->walk.unread.v[i].path.n ? p->walk.unread.v[i].path : SV("."));
        if (p->walk.unread.v[i].error == ELOOP) /* the walk follows no links */
            sb_addf(&b, ": not listed: more than %d folders deep", WALK_DEPTH_MAX);
        else
            sb_addf(&b, ": not listed: %s", strerror(p->walk.unread.v[i].error));
        *vec_push(&notes, a) = sb_sv(&b);
    }
    for (size_t i = 0; i < p->lists.warnings.n; i++)
        *vec_push(&notes, a) = p->lists.warnings.v[i];
    for (size_t i = 0; i < p->lists.resources.n; i++) {
        const struct resource *r = &p->lists.resources.v[i];
        struct sb              b = sb_in(a, 0);
        if (!r->scopes || !r->loaded || r->cut || (r->state == RES_OK && !r->remark[0]))
            continue;
        sb_add_path(&b, r->name);
        if (r->state == RES_OK)
            sb_addf(&b, ": %s", r->remark);
        else
            sb_addf(&b, ": %s%s%s", resource_state_word(r->state), r->why[0] ? ": " : "", r->why);
        *vec_push(&notes, a) = sb_sv(&b);
    }
    return notes;
}

/* A log on PostgreSQL: opening it, and the table of its functions. postgres_internal.h says how the
 * parts fit together. */
#include "store/postgres_internal.h"

#include "base/failure.h"

#include <stdlib.h>
#include <unistd.h>

static void pg_close(struct store *s)
{
    struct pg_store *p = pg_of(s);

    if (p->in)
        pg_abort(s);
    pg_known_forget(p);
    arena_free(&p->hints);
    words_close(p->words);
    store_close(p->attached);
    if (p->pool)
        pg_pool_close(p->pool);
    if (p->wake >= 0)
        close(p->wake);
    free(p->shown);
    store_note_moved(s, SV(""));
    free(p);
}

/* Each workspace has a schema of its own, so that projects on one server do not share a log. */
static struct sv schema_of(const struct postgres_url *url, struct sv workspace, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    if (url->schema.n)
        return url->schema;
    sb_add(&b, url->schema_prefix.n ? url->schema_prefix : SV("heddle"));
    if (workspace.n) {
        sb_addc(&b, '_');
        sb_add(&b, workspace);
    }
    return sb_sv(&b);
}

static struct sv pool_key(struct sv url, struct sv schema, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add(&b, url);
    sb_addc(&b, 0);
    sb_add(&b, schema);
    return sb_sv(&b);
}

static enum status open_in(struct pg_store *p, struct sv url, const struct store_options *o,
                           struct arena *a, struct err *e)
{
    struct postgres_url parts;
    struct pg_failure   why;

    if (o->workspace.n > WORKSPACE_ID_MAX)
        return err_set(e, ST_INVALID_SYNTAX, "the id of a workspace has at most %d bytes",
                       WORKSPACE_ID_MAX);
    if (postgres_url_read(url, a, &parts, e))
        return err_code(e);
    if (o->workspace.s && !o->workspace.n && !parts.schema.n) {
        err_set(e, ST_NOT_FOUND, "there is no log at " SV_FMT, SV_ARG(postgres_url_shown(url, a)));
        return err_hint(e, "`heddle init` makes one here; --root names another workspace");
    }
    parts.schema = schema_of(&parts, o->workspace, a);
    memcpy(p->workspace, o->workspace.s ? o->workspace.s : "", o->workspace.n);
    p->shown = strdup(postgres_url_shown(url, a).s);
    if (!p->shown)
        failure_memory(url.n);
    if (pg_pool_open(pool_key(url, parts.schema, a), &parts, &p->pool, e))
        return err_code(e);
    if (!pg_pool_take(p->pool, 0, &p->link, &why))
        return pg_unreachable(p->shown, &why, e);
    pg_pool_give(p->pool, p->link);
    p->link = NULL;
    return ST_OK;
}

enum status postgres_open(struct sv url, const struct store_options *o, struct store **out,
                          struct err *e)
{
    struct arena     scratch = { 0 };
    struct pg_store *p = calloc(1, sizeof *p);

    if (!p)
        failure_memory(sizeof *p);
    p->base.ops = &postgres_ops;
    p->base.past_move = o->past_move;
    p->wake = -1;
    p->busy_ms = o->busy_ms ? o->busy_ms : STORE_BUSY_MS;
    p->create = o->create;
    p->read_only = o->read_only;
    p->known = map_in(&p->known_a);
    enum status s = open_in(p, url, o, &scratch, e);
    arena_free(&scratch);
    if (s) {
        pg_close(&p->base);
        return s;
    }
    *out = (struct store *)p;
    return ST_OK;
}

const struct store_ops postgres_ops = {
    .scheme = "postgres",
    .close = pg_close,
    .begin = pg_begin,
    .commit = pg_commit,
    .abort = pg_abort,
    .group_want = pg_group_want,
    .part_begin = pg_part_begin,
    .part_end = pg_part_end,
    .want = pg_want,
    .want_op = pg_want_op,
    .want_scan = pg_want_scan,
    .head = pg_head,
    .insert = pg_insert,
    .scan = pg_scan,
    .next = pg_next,
    .scan_close = pg_scan_close,
    .find_op = pg_find_op,
    .chain_at = pg_chain_at,
    .set_mark = pg_set_mark,
    .erase = pg_erase,
    .rechain = pg_rechain,
    .threads = pg_threads,
    .row_get = pg_row_get,
    .row_put = pg_row_put,
    .row_del = pg_row_del,
    .rows = pg_rows,
    .rows_next = pg_rows_next,
    .rows_close = pg_rows_close,
    .rows_clear = pg_rows_clear,
    .set_views = pg_set_views,
    .views = pg_views,
    .text_put = pg_text_put,
    .text_last = pg_text_last,
    .text_find = pg_text_find,
    .version = pg_version,
    .pause = pg_pause,
    .object_put = pg_object_put,
    .object_get = pg_object_get,
    .object_drop = pg_object_drop,
    .stats = pg_stats,
    .facts = pg_facts,
    .advise = pg_advise,
    .clock_ahead = pg_clock_ahead,
    .check = pg_check,
    .adopt_lost = pg_adopt_lost,
    .compact = pg_compact,
    .scrub = pg_scrub,
    .unreached = pg_unreached,
    .scrub_waits = pg_scrub_waits,
    .drop = pg_drop,
    .sizes = pg_sizes,
    .moved_get = pg_moved_get,
    .moved_set = pg_moved_set,
    .backup = pg_backup,
    .attach = pg_attach,
    .replace = pg_replace,
};

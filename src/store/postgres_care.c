/* Counting, checking and measuring a log on PostgreSQL. */
#include "store/postgres_internal.h"

#include "base/clock.h"

#include <stdio.h>

/* ---- statements that are not kept ------------------------------------------------ */

struct text_asked {
    struct pg_query         q;
    const struct pg_params *params;
    pg_sink                *sink;
    void                   *ctx;
};

static void build_text(struct pg_store *p, void *ctx)
{
    struct text_asked *x = ctx;

    pg_send(p->link, &x->q, x->params, x->sink, x->ctx);
}

enum status pg_run_text(struct pg_store *p, const char *text, const struct pg_params *params,
                        pg_sink *sink, void *ctx, struct err *e)
{
    struct arena      scratch = { 0 };
    struct text_asked x = { .q = { -1, pg_sql_in(p->pool->url.schema, text, &scratch) },
                            .params = params,
                            .sink = sink,
                            .ctx = ctx };
    enum status       s = pg_run(p, PG_AS_IT_IS, build_text, &x, e);

    arena_free(&scratch);
    return s;
}

/* ---- counts ---------------------------------------------------------------------- */

static void take_stats(void *ctx, struct pg_answer *a)
{
    struct store_stats *out = ctx;

    if (!pg_shape(a, "iiiiii") || a->n != 1)
        return;
    *out = (struct store_stats){ .threads = pg_int(a, 0, 0),
                                 .entries = pg_int(a, 0, 1),
                                 .rows = pg_int(a, 0, 2),
                                 .blobs = pg_int(a, 0, 3),
                                 .file_bytes = pg_int(a, 0, 4),
                                 .schema = (int)pg_int(a, 0, 5) };
}

enum status pg_stats(struct store *s, struct store_stats *out, struct err *e)
{
    /* A thread's entries are dense: its row says how many there are. */
    return pg_run_text(
        pg_of(s),
        "SELECT (SELECT count(*) FROM @thread WHERE rev > 0),"
        " (SELECT coalesce(sum(rev), 0)::bigint FROM @thread),"
        " (SELECT count(*) FROM @row WHERE tid > 0), (SELECT count(*) FROM @blob),"
        " (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint"
        " FROM pg_catalog.pg_class c WHERE c.relkind = 'r' AND c.relnamespace ="
        " (SELECT relnamespace FROM pg_catalog.pg_class WHERE oid = '@meta'::regclass)),"
        " (SELECT version FROM @meta)",
        NULL, take_stats, out, e);
}

struct measuring {
    struct arena *a;
    VEC(struct store_size) list;
};

static void take_sizes(void *ctx, struct pg_answer *a)
{
    struct measuring *x = ctx;

    x->list.n = 0;
    if (!pg_shape(a, "ttii"))
        return;
    for (int i = 0; i < a->n; i++) {
        struct sv view = pg_sv(a, i, 1);
        *vec_push(&x->list, x->a) =
            (struct store_size){ .thread = sv_dup(pg_sv(a, i, 0), x->a),
                                 .view = view.n ? sv_dup(view, x->a) : (struct sv){ 0 },
                                 .n = pg_int(a, i, 2),
                                 .bytes = pg_int(a, i, 3) };
    }
}

enum status pg_sizes(struct store *s, struct arena *a, struct store_size **out, size_t *n,
                     struct err *e)
{
    static const char text[] =
        "SELECT t.id, '' COLLATE \"C\" AS view, count(e.seq), coalesce(sum(octet_length(e.kind) +"
        " coalesce(octet_length(e.lane), 0) + coalesce(octet_length(e.actor), 0) +"
        " coalesce(octet_length(e.id), 0) + coalesce(octet_length(e.op), 0) +"
        " coalesce(octet_length(e.refs), 0) + e.size), 0)::bigint"
        " FROM @thread t LEFT JOIN @entry e ON e.tid = t.tid WHERE t.rev > 0 GROUP BY t.tid, t.id"
        " UNION ALL SELECT t.id, r.view, count(*), sum(octet_length(r.key) +"
        " octet_length(r.value))::bigint FROM @row r JOIN @thread t ON t.tid = r.tid"
        " GROUP BY t.tid, t.id, r.view ORDER BY 1, 2";
    struct measuring x = { .a = a };

    if (pg_run_text(pg_of(s), text, NULL, take_sizes, &x, e))
        return err_code(e);
    *out = x.list.v;
    *n = x.list.n;
    return ST_OK;
}

/* ---- checking -------------------------------------------------------------------- */

struct telling {
    void (*say)(void *, struct sv);
    void *ctx;
};

static void take_complaints(void *ctx, struct pg_answer *a)
{
    struct telling *t = ctx;

    if (!pg_shape(a, "t"))
        return;
    for (int i = 0; i < a->n; i++)
        t->say(t->ctx, pg_sv(a, i, 0));
}

/* clang-format off */
/* Each returns sentences about what is wrong, and nothing when all is well. */
static const char *const complaints[] = {
    "SELECT format('the table ''%s'' of the log is missing', x) FROM unnest(ARRAY['meta', 'thread', 'entry',"
    " 'blob', 'row', 'word', 'hint', 'object', 'scrub']) x WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_class c"
    " WHERE c.relname = x AND c.relnamespace = (SELECT relnamespace FROM pg_catalog.pg_class"
    " WHERE oid = '@meta'::regclass)) ORDER BY x",
    "SELECT format('the index ''%s'' of the log is missing', x) FROM unnest(ARRAY['entry_message',"
    " 'entry_anchor', 'entry_op', 'entry_blob']) x WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_class c"
    " WHERE c.relname = x AND c.relnamespace = (SELECT relnamespace FROM pg_catalog.pg_class"
    " WHERE oid = '@meta'::regclass)) ORDER BY x",
    "SELECT format('the index ''%s'' of the log is not valid; REINDEX makes it anew', c.relname)"
    " FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid WHERE NOT i.indisvalid"
    " AND c.relnamespace = (SELECT relnamespace FROM pg_catalog.pg_class WHERE oid = '@meta'::regclass) ORDER BY 1",
    "SELECT format('the trigger ''%s'' on the table ''%s'' of the log was not made by heddle', t.tgname, c.relname)"
    " FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal"
    " AND c.relnamespace = (SELECT relnamespace FROM pg_catalog.pg_class WHERE oid = '@meta'::regclass) ORDER BY 1",
    "SELECT format('the rule ''%s'' on the table ''%s'' of the log was not made by heddle', r.rulename, c.relname)"
    " FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_class c ON c.oid = r.ev_class WHERE c.relkind <> 'v'"
    " AND c.relnamespace = (SELECT relnamespace FROM pg_catalog.pg_class WHERE oid = '@meta'::regclass) ORDER BY 1",
    "SELECT format('%s damaged pages were found in this database; see the log of the server', checksum_failures)"
    " FROM pg_catalog.pg_stat_database WHERE datname = current_database() AND checksum_failures > 0",
    "SELECT format('%s %s of thread number %s %s there, and the thread is gone from the table of threads;"
    " `heddle doctor --fix` names it lost-%s', count(*), CASE count(*) WHEN 1 THEN 'entry' ELSE 'entries' END,"
    " e.tid, CASE count(*) WHEN 1 THEN 'is' ELSE 'are' END, e.tid) FROM @entry e"
    " WHERE NOT EXISTS (SELECT FROM @thread t WHERE t.tid = e.tid) GROUP BY e.tid ORDER BY e.tid",
};
/* clang-format on */

enum status pg_check(struct store *s, void (*say)(void *, struct sv), void *ctx, struct err *e)
{
    struct telling t = { say, ctx };

    for (size_t i = 0; i < COUNT(complaints); i++)
        if (pg_run_text(pg_of(s), complaints[i], NULL, take_complaints, &t, e))
            return err_code(e);
    return ST_OK;
}

static void take_number(void *ctx, struct pg_answer *a)
{
    int64_t *out = ctx;

    *out = pg_shape(a, "i") && a->n == 1 ? pg_int(a, 0, 0) : 0;
}

enum status pg_adopt_lost(struct store *s, int64_t *n, struct err *e)
{
    struct pg_store *p = pg_of(s);

    if (pg_run_text(
            p,
            "WITH lost AS (SELECT tid, max(seq) AS last FROM @entry e WHERE NOT EXISTS"
            " (SELECT FROM @thread t WHERE t.tid = e.tid) GROUP BY tid),"
            " made AS (INSERT INTO @thread(tid, id, rev, chain, created, updated, version)"
            " OVERRIDING SYSTEM VALUE SELECT l.tid, 'lost-' || l.tid::text, l.last + 1, e.chain,"
            " coalesce(f.at, 0), e.at, CASE WHEN e.salt IS NULL AND e.content IS NULL THEN 1"
            " ELSE 2 END FROM lost l JOIN @entry e ON e.tid = l.tid AND e.seq = l.last"
            " LEFT JOIN @entry f ON f.tid = l.tid AND f.seq = 0 RETURNING 1)"
            " SELECT count(*) FROM made",
            NULL, take_number, n, e))
        return err_code(e);
    if (*n > 0)
        pg_sent_once(p);
    return ST_OK;
}

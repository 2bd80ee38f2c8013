/* How the server runs our statements: none of them reads a large table from its beginning to its
 * end. Plans are generic, as they are in a session that keeps statements, and made over tables that
 * are large enough for a choice. */
#include "store/postgres_internal.h"
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

static struct arena     a;
static struct err       e;
static struct pg_store *p;

/* Threads of different lengths, with rows, words and op_ids. */
static const char *const filling[] = {
    "INSERT INTO @thread(id, rev) SELECT 't' || n, 40 FROM generate_series(1, 500) n",
    "INSERT INTO @entry(tid, seq, at, mark, kind, lane, op, chain, payload, blob, size)"
    " SELECT tid, s, 0, s % 3, 'note', 'l' || s % 4, 'op' || s, '', '{}',"
    " CASE WHEN s % 20 = 0 THEN int8send(s) END, 2 FROM @thread, generate_series(0, 39) s",
    "INSERT INTO @row(tid, view, key, value) SELECT tid, 'v' || s % 4, int8send(s), 'x'"
    " FROM @thread, generate_series(0, 39) s",
    "INSERT INTO @word(tid, seq, body) SELECT tid, s, 'word' || tid || ' and' || s"
    " FROM @thread, generate_series(0, 39) s",
    "INSERT INTO @blob(tid, hash, bytes) SELECT tid, int8send(s), 'x'"
    " FROM @thread, generate_series(0, 39) s",
    "INSERT INTO @hint(tid, views, keys) SELECT tid, '{v1}', '{}' FROM @thread",
    "ANALYZE @thread",
    "ANALYZE @entry",
    "ANALYZE @row",
    "ANALYZE @word",
    "ANALYZE @blob",
    "ANALYZE @hint",
};

static bool open_filled(int partitions)
{
    const char   *server = getenv("HEDDLE_TEST_POSTGRES");
    struct sb     b = sb_in(&a, 0);
    struct store *s = NULL;
    int64_t       version;

    if (!server || !*server)
        return false;
    /* One connection, so that what is prepared in it stays at hand. */
    sb_addf(&b, "%s&pool=1&partitions=%d&schema=plans_%d_%d", server, partitions, (int)getpid(),
            partitions);
    CHECK(store_open(sb_sv(&b), &(struct store_options){ .create = true }, &s, &e) == ST_OK);
    p = pg_of(s);
    CHECK(pg_version(s, &version, &e) == ST_OK); /* makes the tables */
    for (size_t i = 0; i < COUNT(filling); i++)
        CHECK(pg_run_text(p, filling[i], NULL, NULL, NULL, &e) == ST_OK);
    return true;
}

static void take_plan(void *ctx, struct pg_answer *answer)
{
    struct sb *plan = ctx;

    if (!pg_shape(answer, "t"))
        return;
    for (int i = 0; i < answer->n; i++) {
        sb_add(plan, pg_sv(answer, i, 0));
        sb_addc(plan, '\n');
    }
}

static void take_count(void *ctx, struct pg_answer *answer)
{
    if (pg_shape(answer, "i") && answer->n == 1)
        *(int64_t *)ctx = pg_int(answer, 0, 0);
}

/* The plan of a statement for whatever parameters; empty when it has none, as of BEGIN. */
static struct sv plan_of(int which)
{
    struct sb        prepare = sb_in(&a, 0), explain = sb_in(&a, 0), plan = sb_in(&a, 0);
    int64_t          n = 0;
    struct pg_params name = { 0 };
    char             id[24];

    snprintf(id, sizeof id, "plan_%d", which);
    pg_add_text(&name, sv_of(id));
    sb_addf(&prepare, "PREPARE %s AS %s", id, p->pool->sql[which]);
    if (pg_run_text(p, sb_sv(&prepare).s, NULL, NULL, NULL, &e))
        return SV("");
    CHECK(pg_run_text(p,
                      "SELECT cardinality(parameter_types)::bigint FROM"
                      " pg_catalog.pg_prepared_statements WHERE name = $1",
                      &name, take_count, &n, &e) == ST_OK);
    sb_addf(&explain, "EXPLAIN EXECUTE %s", id);
    for (int64_t i = 0; i < n; i++)
        sb_adds(&explain, i ? ", NULL" : "(NULL");
    sb_adds(&explain, n ? ")" : "");
    CHECK(pg_run_text(p, sb_sv(&explain).s, NULL, take_plan, &plan, &e) == ST_OK);
    return sb_sv(&plan);
}

/* Does it read a large table, or a part of one, as a whole? */
static struct sv whole_table(struct sv plan)
{
    static const struct sv tables[] = { SV_STATIC("entry"), SV_STATIC("row"), SV_STATIC("word"),
                                        SV_STATIC("blob") };

    for (struct sv_cut line = { .tail = plan }; line.tail.n;) {
        line = sv_cut(line.tail, '\n');
        int64_t at = (int64_t)sv_find(line.head, SV("Seq Scan on "));
        for (size_t i = 0; at >= 0 && i < COUNT(tables); i++)
            if (sv_starts(sv_skip(line.head, (size_t)at + 12), tables[i]))
                return line.head;
    }
    return (struct sv){ 0 };
}

static void check_plans(int partitions)
{
    int planned = 0;

    if (!open_filled(partitions))
        return;
    CHECK(sv_find(plan_of(PG_ROW), SV("Index")) >= 0); /* there are plans to look at */
    for (int i = 0; i < PG_STATEMENTS; i++) {
        struct sv plan = i == PG_ROW ? SV("") : plan_of(i);
        planned += plan.n > 0;
        struct sv bad = whole_table(plan);
        if (bad.s) {
            printf("# %s\n#  " SV_FMT "\n", p->pool->sql[i], SV_ARG(bad));
            CHECK(!bad.s);
        }
    }
    CHECK(planned > 40);
    store_close(&p->base);
    arena_free(&a);
}

static void no_statement_reads_a_large_table_as_a_whole(void)
{
    check_plans(0);
}

static void nor_a_part_of_one_where_tables_are_cut_into_parts(void)
{
    check_plans(16);
}

/* The test can fail: this is what it looks for. */
static void a_search_without_an_index_would_be_noticed(void)
{
    CHECK(whole_table(SV("Limit\n  ->  Seq Scan on entry_p3 e  (cost=0.00..1.00)\n")).s != NULL);
    CHECK(!whole_table(SV("Index Scan using x on entry\nSeq Scan on thread\n")).s);
}

TAP_MAIN(T(no_statement_reads_a_large_table_as_a_whole),
         T(nor_a_part_of_one_where_tables_are_cut_into_parts),
         T(a_search_without_an_index_would_be_noticed), )

/* Views on demand: nothing for threads that never wanted them, in step for those that did. */
#include "store/store.h"
#include "tap.h"
#include "thread/lane.h"

/* Counts entries; how often it was called tells what a fold cost. */
static int calls;

static enum status count(struct rows *f, const struct entry *n, struct err *e)
{
    struct sv row = SV("0");
    bool      found;
    int64_t   so_far = 0;

    (void)n;
    calls++;
    if (row_get(f, SV("count"), &row, &found, e))
        return err_code(e);
    if (found)
        sv_to_int(row, &so_far);
    struct sb b = sb_in(f->a, 0);
    sb_add_int(&b, so_far + 1);
    return row_put(f, SV("count"), sb_sv(&b), e);
}

static const struct view counting = {
    .name = "counting", .version = 1, .fold = count, .on_demand = true
};
static const struct view recounting = {
    .name = "counting", .version = 2, .fold = count, .on_demand = true
};
static const struct view *const views[] = { &thread_view, &counting, NULL };
static const struct view *const newer_views[] = { &thread_view, &recounting, NULL };

struct fixture {
    struct arena  a;
    struct store *s;
    struct log    l;
    struct err    e;
};

static struct fixture fresh(void)
{
    struct fixture f = { 0 };

    calls = 0;
    CHECK(store_open(SV("mem:"), &(struct store_options){ .create = true }, &f.s, &f.e) == ST_OK);
    f.l = log_of(f.s, views);
    return f;
}

static void done(struct fixture *f)
{
    store_close(f->s);
    arena_free(&f->a);
}

static void append(struct fixture *f, const char *thread)
{
    struct entry      n = { .kind = SV("note"), .payload = SV("{}") };
    struct store_head h;

    CHECK(log_begin(&f->l, sv_of(thread), STORE_WRITE, &f->e) == ST_OK);
    CHECK(log_append(&f->l, sv_of(thread), LOG_ANY_REV, &n, 1, &h, &f->e) == ST_OK);
    CHECK(log_commit(&f->l, &f->e) == ST_OK);
}

/* The row of the view; "" when there is none. */
static struct sv counted(struct fixture *f, const char *thread)
{
    struct sv value = SV("");
    bool      found;

    CHECK(log_begin(&f->l, sv_of(thread), STORE_READ, &f->e) == ST_OK);
    struct rows r = rows_of_view(&f->l, sv_of(thread), &counting, &f->a);
    CHECK(row_get(&r, SV("count"), &value, &found, &f->e) == ST_OK);
    log_abort(&f->l);
    return found ? value : SV("");
}

static void nothing_said(void *ctx, struct sv finding)
{
    (void)ctx;
    tap_check(0, __FILE__, __LINE__, finding.s);
}

static void verifies(struct fixture *f, const char *thread)
{
    int64_t entries;

    CHECK(log_verify(&f->l, sv_of(thread), nothing_said, NULL, &entries, &f->e) == ST_OK);
}

static void a_thread_that_never_wanted_it_pays_nothing(void)
{
    struct fixture f = fresh();

    append(&f, "t");
    append(&f, "t");
    CHECK_INT(calls, 0);
    CHECK_SV(counted(&f, "t"), SV(""));
    verifies(&f, "t");
    done(&f);
}

static void wanting_it_folds_what_is_there_once(void)
{
    struct fixture f = fresh();

    append(&f, "t");
    append(&f, "t");
    f.l.wanted = &counting;
    CHECK_SV(counted(&f, "t"), SV("2"));
    CHECK_SV(counted(&f, "t"), SV("2"));
    CHECK_INT(calls, 2);
    verifies(&f, "t");
    done(&f);
}

static void once_wanted_it_stays_in_step_for_everybody(void)
{
    struct fixture f = fresh();

    f.l.wanted = &counting;
    append(&f, "t"); /* wanted from the first entry on */
    f.l.wanted = NULL;
    append(&f, "t");
    append(&f, "other");
    CHECK_SV(counted(&f, "t"), SV("2"));
    CHECK_SV(counted(&f, "other"), SV(""));
    verifies(&f, "t");
    done(&f);
}

static void a_new_version_is_folded_anew_where_it_is_kept(void)
{
    struct fixture f = fresh();

    f.l.wanted = &counting;
    append(&f, "t");
    f.l.wanted = NULL;
    append(&f, "other");
    f.l = log_of(f.s, newer_views);
    calls = 0;
    CHECK_SV(counted(&f, "t"), SV("1"));
    CHECK_SV(counted(&f, "other"), SV(""));
    CHECK_INT(calls, 1);
    verifies(&f, "t");
    done(&f);
}

/* ---- the past ---------------------------------------------------------------------------- */

static void a_log_shows_a_thread_as_it_was(void)
{
    struct fixture    f = fresh();
    struct store_head now, then;

    f.l.wanted = &counting;
    for (int i = 0; i < 5; i++)
        append(&f, "t");
    CHECK_SV(counted(&f, "t"), SV("5"));
    CHECK(log_at(&f.l, SV("t"), 2, &f.e) == ST_OK);
    CHECK(log_head(&f.l, SV("t"), &then, &f.e) == ST_OK);
    CHECK_INT(then.rev, 3);
    log_abort(&f.l);
    CHECK_SV(counted(&f, "t"), SV("3")); /* and stays so from transaction to transaction */
    CHECK(log_begin(&f.l, SV("t"), STORE_WRITE, &f.e) == ST_IO);
    log_at_end(&f.l);
    CHECK_SV(counted(&f, "t"), SV("5"));
    append(&f, "t");
    CHECK(log_begin(&f.l, SV("t"), STORE_READ, &f.e) == ST_OK);
    CHECK(log_head(&f.l, SV("t"), &now, &f.e) == ST_OK);
    log_abort(&f.l);
    CHECK_INT(now.rev, 6);
    done(&f);
}

static void the_end_of_a_log_costs_no_fold_and_no_thread_is_an_error(void)
{
    struct fixture f = fresh();

    f.l.wanted = &counting;
    append(&f, "t");
    CHECK_SV(counted(&f, "t"), SV("1"));
    calls = 0;
    CHECK(log_at(&f.l, SV("t"), 0, &f.e) == ST_OK);
    log_at_end(&f.l);
    CHECK(log_at(&f.l, SV("t"), 1000, &f.e) == ST_OK);
    log_at_end(&f.l);
    CHECK_INT(calls, 0);
    CHECK(log_at(&f.l, SV("none"), 0, &f.e) == ST_NOT_FOUND);
    log_at_end(&f.l);
    CHECK(log_at(&f.l, SV("t"), -1, &f.e) == ST_OK); /* before its first entry */
    log_abort(&f.l);
    CHECK_SV(counted(&f, "t"), SV(""));
    log_at_end(&f.l);
    CHECK_SV(counted(&f, "t"), SV("1"));
    done(&f);
}

TAP_MAIN(T(a_thread_that_never_wanted_it_pays_nothing), T(wanting_it_folds_what_is_there_once),
         T(once_wanted_it_stays_in_step_for_everybody),
         T(a_new_version_is_folded_anew_where_it_is_kept), T(a_log_shows_a_thread_as_it_was),
         T(the_end_of_a_log_costs_no_fold_and_no_thread_is_an_error), )

/* Summaries that are made later: which model is asked, in which order, and when it is given up. */
#include "loom_test.h"

#include "command/summary.h"
#include "loom/pending.h"

static struct loom_test t;

/* One model fails, the other answers; both count how often they were asked. */
struct two_models {
    int         asked[2];
    enum status first; /* what the first fails with */
    const char *reason;
    int         first_fails;
};

static enum status ask_two(void *ctx, const struct model_request *q, struct arena *a,
                           struct model_response *out, struct err *e)
{
    struct two_models *m = ctx;
    int                which = sv_is(q->model, "b:two");

    (void)a;
    m->asked[which]++;
    if (!which && m->asked[0] <= m->first_fails) {
        err_set(e, m->first, "the first fails");
        return m->reason ? err_reason(e, m->reason) : e->code;
    }
    *out = (struct model_response){ .text = which ? SV("By two.") : SV("By one.") };
    return ST_OK;
}

static enum status ask_bad(void *ctx, const struct model_request *q, struct arena *a,
                           struct model_response *out, struct err *e)
{
    (void)q;
    (void)a;
    (void)e;
    *out = *(const struct model_response *)ctx;
    return ST_OK;
}

struct last {
    int64_t     n;
    struct node seen[20];
};

static void note(void *ctx, const struct summary_made *m)
{
    struct last *l = ctx;

    l->seen[l->n++].local = sv_dup(m->node, &t.a);
}

static void open_two(struct two_models *m)
{
    loom_test_open(&t, PERM_ALL);
    t.s.env.ask = ask_two;
    t.s.env.ask_ctx = m;
}

static struct small_models small;

/* The session's models: the first, or both. */
static void use_models(int n)
{
    small = (struct small_models){ 0 };
    small_add(&small, SV("a:one"), SMALL_ALWAYS);
    if (n > 1)
        small_add(&small, SV("b:two"), SMALL_ALWAYS);
    t.s.env.small = &small;
}

static void a_model_that_is_not_there_is_asked_once_and_the_other_stands_in(void)
{
    struct two_models  m = { .first = ST_NOT_FOUND, .first_fails = 1 };
    struct summary_job job = { 0 };

    open_two(&m);
    use_models(2);
    CHECK(session_summarise_pending(&t.s, &job, &t.e) == ST_OK);
    CHECK_INT(m.asked[0], 1);
    CHECK_INT(m.asked[1], job.made);
    CHECK(job.made >= 7);
    CHECK_INT(job.provisional, 0);
    CHECK_INT(job.waiting, 0);
    loom_test_close(&t);
}

static void a_model_that_recovers_is_asked_again(void)
{
    struct two_models  m = { .first = ST_MODEL_ERROR, .first_fails = SMALL_PATIENCE - 1 };
    struct summary_job job = { 0 };

    open_two(&m);
    use_models(2);
    CHECK(session_summarise_pending(&t.s, &job, &t.e) == ST_OK);
    CHECK_INT(m.asked[0], job.made);
    CHECK_INT(m.asked[1], SMALL_PATIENCE - 1);
    loom_test_close(&t);
}

static void a_model_that_goes_on_failing_is_given_up(void)
{
    struct two_models  m = { .first = ST_MODEL_ERROR, .first_fails = 1000 };
    struct summary_job job = { 0 };

    open_two(&m);
    use_models(1);
    CHECK(session_summarise_pending(&t.s, &job, &t.e) == ST_OK);
    CHECK_INT(m.asked[0], SMALL_PATIENCE);
    CHECK_INT(job.made, 0);
    CHECK_INT(job.provisional, job.waiting);
    CHECK(job.last.code == ST_MODEL_ERROR);
    loom_test_close(&t);
}

static void one_in_the_place_of_another_is_asked_once_that_one_is_gone(void)
{
    static const struct {
        const char *reason;
        int         fails, second;
    } cases[] = { { "modelNotFound", 1000, 1 },
                  { "serverError", 1000, 0 },
                  { "serverError", 0, 0 } };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct two_models  m = { .first = ST_MODEL_ERROR,
                                 .reason = cases[i].reason,
                                 .first_fails = cases[i].fails };
        struct summary_job job = { 0 };
        open_two(&m);
        use_models(1);
        small_add(&small, SV("b:two"), 0);
        CHECK(session_summarise_pending(&t.s, &job, &t.e) == ST_OK);
        CHECK((m.asked[1] > 0) == (cases[i].second > 0));
        if (cases[i].second) {
            CHECK_INT(m.asked[0], 1);
            CHECK_INT(m.asked[1], job.made);
        }
        loom_test_close(&t);
    }
}

static void what_is_cut_off_or_refused_is_no_summary(void)
{
    static const struct model_response bad[] = {
        { .text = SV_STATIC("Half of"), .interruption = SV_STATIC("network") },
        { .text = SV_STATIC("I cannot."), .finish = SV_STATIC("content_filter") },
        { .text = SV_STATIC(" \n") },
    };

    for (size_t i = 0; i < COUNT(bad); i++) {
        struct summary_job job = { 0 };
        loom_test_open(&t, PERM_ALL);
        t.s.env.ask = ask_bad;
        t.s.env.ask_ctx = (void *)(uintptr_t)&bad[i];
        use_models(1);
        CHECK(session_summarise_pending(&t.s, &job, &t.e) == ST_OK);
        CHECK_INT(job.made, 0);
        CHECK_INT(small.v[0].failures, SMALL_PATIENCE);
        loom_test_close(&t);
    }
}

static void whoever_cancels_ends_it_at_once(void)
{
    struct two_models  m = { 0 };
    struct summary_job job = { 0 };
    atomic_bool        cancel = true;

    open_two(&m);
    use_models(1);
    t.s.env.cancel = &cancel;
    CHECK(session_summarise_pending(&t.s, &job, &t.e) == ST_CONFLICT);
    CHECK_INT(m.asked[0], 0);
    CHECK_INT(job.provisional, 0);
    loom_test_close(&t);
}

static void parents_come_first(void)
{
    struct two_models  m = { 0 };
    struct last        seen = { 0 };
    struct summary_job job = { .told = note, .ctx = &seen };

    open_two(&m);
    use_models(1);
    CHECK(session_summarise_pending(&t.s, &job, &t.e) == ST_OK);
    CHECK(log_begin(&t.log, SV("marie"), STORE_READ, &t.e) == ST_OK);
    for (int64_t i = 0; i < seen.n; i++) {
        CHECK(node_find(&t.s.loom, seen.seen[i].local, &seen.seen[i], &t.e) == ST_OK);
        for (int64_t k = 0; k < i; k++)
            CHECK(seen.seen[k].parent != seen.seen[i].seq);
    }
    log_abort(&t.log);
    CHECK_INT(seen.n, job.made);
    loom_test_close(&t);
}

static void text_is_trimmed_to_its_last_whole_sentence(void)
{
    CHECK_SV(summary_trim(SV(" One. Two! Three and")), SV("One. Two!"));
    CHECK_SV(summary_trim(SV("Version 1.5 of it")), SV("Version 1.5 of it"));
    CHECK_SV(summary_trim(SV("Is it?")), SV("Is it?"));
    CHECK_SV(summary_trim(SV("")), SV(""));
}

TAP_MAIN(T(a_model_that_is_not_there_is_asked_once_and_the_other_stands_in),
         T(a_model_that_recovers_is_asked_again), T(a_model_that_goes_on_failing_is_given_up),
         T(one_in_the_place_of_another_is_asked_once_that_one_is_gone),
         T(what_is_cut_off_or_refused_is_no_summary), T(whoever_cancels_ends_it_at_once),
         T(parents_come_first), T(text_is_trimmed_to_its_last_whole_sentence), )

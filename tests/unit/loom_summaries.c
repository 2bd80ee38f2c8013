/* Summaries that are made later: which model is asked, in which order, and when it is given up. */
#include "loom_test.h"

#include "command/summary.h"
#include "loom/pending.h"

static struct loom_test t;

/* One model fails, the other answers; both count how often they were asked. */
struct two_models {
    int         asked[2];
    enum status first; /* what the first fails with */
    int         first_fails;
};

static enum status ask_two(void *ctx, const struct model_request *q, struct arena *a,
                           struct model_response *out, struct err *e)
{
    struct two_models *m = ctx;
    int                which = sv_is(q->model, "b:two");

    (void)a;
    m->asked[which]++;
    if (!which && m->asked[0] <= m->first_fails)
        return err_set(e, m->first, "the first fails");
    *out = (struct model_response){ .text = which ? SV("By two.") : SV("By one.") };
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

static const struct sv models[] = { SV_STATIC("a:one"), SV_STATIC("b:two") };

static void a_model_that_is_not_there_is_asked_once_and_the_other_stands_in(void)
{
    struct two_models  m = { .first = ST_NOT_FOUND, .first_fails = 1 };
    struct summary_job job = { .models = models, .n_models = 2 };

    open_two(&m);
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
    struct two_models  m = { .first = ST_MODEL_ERROR, .first_fails = SUMMARY_PATIENCE - 1 };
    struct summary_job job = { .models = models, .n_models = 2 };

    open_two(&m);
    CHECK(session_summarise_pending(&t.s, &job, &t.e) == ST_OK);
    CHECK_INT(m.asked[0], job.made);
    CHECK_INT(m.asked[1], SUMMARY_PATIENCE - 1);
    loom_test_close(&t);
}

static void a_model_that_goes_on_failing_is_given_up(void)
{
    struct two_models  m = { .first = ST_MODEL_ERROR, .first_fails = 1000 };
    struct summary_job job = { .models = models, .n_models = 1 };

    open_two(&m);
    CHECK(session_summarise_pending(&t.s, &job, &t.e) == ST_OK);
    CHECK_INT(m.asked[0], SUMMARY_PATIENCE);
    CHECK_INT(job.made, 0);
    CHECK_INT(job.provisional, job.waiting);
    CHECK(job.last.code == ST_MODEL_ERROR);
    loom_test_close(&t);
}

static void parents_come_first(void)
{
    struct two_models  m = { 0 };
    struct last        seen = { 0 };
    struct summary_job job = { .models = models, .n_models = 1, .told = note, .ctx = &seen };

    open_two(&m);
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
         T(parents_come_first), T(text_is_trimmed_to_its_last_whole_sentence), )

/* Summaries that are made later: which model of which company is asked, and when it is given up. */
#include "loom_test.h"

#include "command/company.h"
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

/* More than thirty words. */
#define LONG                                                                                       \
    "It goes on and on and on and on and on and on and on and on and on and on and on and on and " \
    "on and on and on and on."

static struct small_models small;

static struct sv successor(void *ctx, struct sv company)
{
    (void)ctx;
    return sv_is(company, "openai") ? SV("b:two") : (struct sv){ 0 };
}

/* The fixture with seven long texts of a person below each other; an agent of openai works there.
 */
static void open_tree(void)
{
    static const char *const names[] = { "d5n7", "h001", "h002", "h003",
                                         "h004", "h005", "h006", "h007" };

    loom_test_open(&t, PERM_ALL);
    CHECK(log_begin(&t.log, SV("marie"), STORE_WRITE, &t.e) == ST_OK);
    for (size_t i = 1; i < COUNT(names); i++)
        test_node(&t, names[i], names[i - 1], "Why? " LONG, SV("ada"), AUTHOR_HUMAN);
    CHECK(log_commit(&t.log, &t.e) == ST_OK);
    small = (struct small_models){ .of = successor };
    t.s.env.small = &small;
    t.s.agent.model = SV("openai:large");
}

static void open_two(struct two_models *m)
{
    open_tree();
    t.s.env.ask = ask_two;
    t.s.env.ask_ctx = m;
}

static void a_model_that_is_not_there_is_asked_once_and_its_successor_stands_in(void)
{
    struct two_models  m = { .first = ST_NOT_FOUND, .first_fails = 1 };
    struct summary_job job = { 0 };

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
    struct two_models  m = { .first = ST_MODEL_ERROR, .first_fails = SMALL_PATIENCE - 1 };
    struct summary_job job = { 0 };

    open_two(&m);
    CHECK(session_summarise_pending(&t.s, &job, &t.e) == ST_OK);
    CHECK_INT(m.asked[0], job.made + SMALL_PATIENCE - 1);
    CHECK_INT(m.asked[1], 0);
    loom_test_close(&t);
}

static void a_model_that_goes_on_failing_is_given_up(void)
{
    struct two_models  m = { .first = ST_MODEL_ERROR, .first_fails = 1000 };
    struct summary_job job = { 0 };

    open_two(&m);
    CHECK(session_summarise_pending(&t.s, &job, &t.e) == ST_OK);
    CHECK_INT(m.asked[0], SMALL_PATIENCE);
    CHECK_INT(job.made, 0);
    CHECK_INT(job.waiting, 7);
    CHECK_INT(job.provisional, job.waiting + job.tree_waits);
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
        open_tree();
        t.s.env.ask = ask_bad;
        t.s.env.ask_ctx = (void *)(uintptr_t)&bad[i];
        CHECK(session_summarise_pending(&t.s, &job, &t.e) == ST_OK);
        CHECK_INT(job.made, 0);
        CHECK_INT(small.state[0].failures, SMALL_PATIENCE);
        loom_test_close(&t);
    }
}

static void whoever_cancels_ends_it_at_once(void)
{
    struct two_models  m = { 0 };
    struct summary_job job = { 0 };
    atomic_bool        cancel = true;

    open_two(&m);
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
    CHECK(session_summarise_pending(&t.s, &job, &t.e) == ST_OK);
    CHECK(log_begin(&t.log, SV("marie"), STORE_READ, &t.e) == ST_OK);
    for (int64_t i = 0; i < seen.n; i++) {
        if (!seen.seen[i].local.n)
            continue; /* the tree's */
        CHECK(node_find(&t.s.loom, seen.seen[i].local, &seen.seen[i], &t.e) == ST_OK);
        for (int64_t k = 0; k < i; k++)
            CHECK(seen.seen[k].parent != seen.seen[i].seq);
    }
    log_abort(&t.log);
    CHECK_INT(seen.n, job.made);
    loom_test_close(&t);
}

static void short_texts_are_their_own_summaries(void)
{
    struct summary_job job = { 0 };
    struct node        n;
    struct sv          text;
    bool               made;

    loom_test_open(&t, PERM_ALL);
    small = (struct small_models){ .set = SV("a:one") };
    t.s.env.small = &small;
    CHECK(session_summarise_pending(&t.s, &job, &t.e) == ST_OK);
    CHECK_INT(t.requests, 0);
    CHECK_INT(job.waiting, 0);
    CHECK(log_begin(&t.log, SV("marie"), STORE_READ, &t.e) == ST_OK);
    CHECK(node_find(&t.s.loom, SV("b3k9"), &n, &t.e) == ST_OK);
    CHECK(node_summary(&t.s.loom, &n, &text, &made, &t.e) == ST_OK);
    CHECK(made);
    CHECK_SV(text, SV("Building on the childhood theme."));
    log_abort(&t.log);
    loom_test_close(&t);
}

/* ---- which company --------------------------------------------------------------------------- */

static void the_company_of_the_agent_decides(void)
{
    static const struct {
        const char *agent, *first, *second;
    } cases[] = {
        { "anthropic:opus", "anthropic:claude-3-5-haiku-latest", "anthropic:claude-haiku-5-5" },
        { "openai:large", "openai:gpt-4o-mini", "b:two" },
        { "openai-responses:large", "openai:gpt-4o-mini", "b:two" },
        { "google:gemini", "google:gemini", NULL },
        { "compatible:m1", "compatible:m1", NULL },
        { "ollama:llama", "ollama:llama", NULL },
        { "ollama-completions:base", NULL, NULL },
        { "offline:echo", NULL, NULL },
        { "nobody:knows", NULL, NULL },
        { "", NULL, NULL },
    };

    small = (struct small_models){ .of = successor };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct small_choice c = small_choose(&small, sv_of(cases[i].agent));
        CHECK_INT(c.n, (cases[i].first != NULL) + (cases[i].second != NULL));
        CHECK_SV(c.v[0], sv_of(cases[i].first));
        CHECK_SV(c.v[1], sv_of(cases[i].second));
    }
    small.set = SV("x:y");
    CHECK_SV(small_choose(&small, SV("compatible:m1")).v[0], SV("x:y"));
    CHECK_SV(small_choose(&small, SV("")).v[0], SV("x:y"));
    small.set = SV("none");
    CHECK_INT(small_choose(&small, SV("anthropic:opus")).n, 0);
    CHECK_INT(small_choose(NULL, SV("anthropic:opus")).n, 0);
}

/* The model on whose behalf a node is summarised. */
static struct sv whose(const char *local)
{
    struct node n;
    struct sv   model;

    CHECK(log_begin(&t.log, SV("marie"), STORE_READ, &t.e) == ST_OK);
    CHECK(node_find(&t.s.loom, sv_of(local), &n, &t.e) == ST_OK);
    CHECK(company_of_node(&t.s, &n, &model, &t.e) == ST_OK);
    log_abort(&t.log);
    return model;
}

static void a_text_belongs_to_who_wrote_answered_or_asks(void)
{
    open_tree();
    test_agent(&t, "Ann", "anthropic:opus", 0);
    test_agent(&t, "Loc", "compatible:m1", 0);
    CHECK(log_begin(&t.log, SV("marie"), STORE_WRITE, &t.e) == ST_OK);
    test_node(&t, "k001", "h001", "By Loc.", SV("Loc"), AUTHOR_MODEL);
    test_node(&t, "k002", "k001", "By Ann.", SV("Ann"), AUTHOR_MODEL);
    test_node(&t, "k003", "k002", "By somebody.", SV("Gone"), AUTHOR_MODEL);
    CHECK(log_commit(&t.log, &t.e) == ST_OK);
    CHECK_SV(whose("k001"), SV("compatible:m1"));
    CHECK_SV(whose("k002"), SV("anthropic:opus"));
    CHECK_SV(whose("k003"), SV("openai:large"));  /* its agent is not known: who asks */
    CHECK_SV(whose("h001"), SV("openai:large"));  /* a person's: who asks */
    t.s.agent.model = SV("");                     /* a person asks */
    CHECK_SV(whose("h001"), SV("compatible:m1")); /* who answered */
    CHECK_SV(whose("h002"), SV(""));
    CHECK_SV(whose("k003"), SV(""));
    CHECK_SV(whose("k001"), SV("compatible:m1"));
    loom_test_close(&t);
}

static void told(void *ctx, struct sv company, bool own, const char *what)
{
    sb_addf(ctx, SV_FMT "%s %s;", SV_ARG(company), own ? " (its own)" : "", what);
}

static void leaving_for_another_company_is_told(void)
{
    struct sb b;

    loom_test_open(&t, PERM_ALL);
    b = sb_in(&t.a, 0);
    t.s.env.leaves = told;
    t.s.env.leaves_ctx = &b;
    company_tell(&t.s, SV("openai:large"), SV("openai-responses:small"), "a");
    company_tell(&t.s, SV("openai:large"), SV("offline:echo"), "b");
    CHECK_SV(sb_sv(&b), SV("openai (its own) a;"));
    b.n = 0;
    company_tell(&t.s, SV("compatible:m1"), SV("openai:small"), "c");
    company_tell(&t.s, SV(""), SV("anthropic:small"), "d");
    CHECK_SV(sb_sv(&b), SV("openai c;anthropic d;"));
    loom_test_close(&t);
}

static void text_is_trimmed_to_its_last_whole_sentence(void)
{
    CHECK_SV(summary_trim(SV(" One. Two! Three and")), SV("One. Two!"));
    CHECK_SV(summary_trim(SV("Version 1.5 of it")), SV("Version 1.5 of it"));
    CHECK_SV(summary_trim(SV("Is it?")), SV("Is it?"));
    CHECK_SV(summary_trim(SV("")), SV(""));
}

TAP_MAIN(T(a_model_that_is_not_there_is_asked_once_and_its_successor_stands_in),
         T(a_model_that_recovers_is_asked_again), T(a_model_that_goes_on_failing_is_given_up),
         T(one_in_the_place_of_another_is_asked_once_that_one_is_gone),
         T(what_is_cut_off_or_refused_is_no_summary), T(whoever_cancels_ends_it_at_once),
         T(parents_come_first), T(short_texts_are_their_own_summaries),
         T(the_company_of_the_agent_decides), T(a_text_belongs_to_who_wrote_answered_or_asks),
         T(leaving_for_another_company_is_told), T(text_is_trimmed_to_its_last_whole_sentence), )

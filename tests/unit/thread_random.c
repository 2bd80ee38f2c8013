/* Random logs: the projection is that of the plain rule at every point and for every lane; one
 * that goes on from a cursor is the one from scratch; runs leave view and log the same. */
#include "naive.h"
#include "thread/erase.h"
#include "thread_test.h"

enum { LOGS_IN_MEMORY = 200, LOGS_ON_DISK = 16, STEPS = 22 };

static int logs(void)
{
    return t.on_disk ? LOGS_ON_DISK : LOGS_IN_MEMORY;
}

static struct sv thread_name(int i, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_addf(&b, "random%d", i);
    return sb_sv(&b);
}

static void write_log(struct sv thread, uint64_t seed, struct arena *a)
{
    struct dice d = { .seed = seed };

    OK(log_begin(&t.l, thread, STORE_WRITE, &t.e));
    for (int i = 0; i < STEPS; i++)
        OK(random_step(&t.l, thread, &d, i, a, &t.e));
    OK(log_commit(&t.l, &t.e));
}

static struct sv projected(struct sv thread, struct sv lane, int64_t upto, struct arena *a)
{
    struct projection_of of = { thread, lane, upto, SV("CP") };
    struct projection    p;
    struct sb            b = sb_in(a, 0);

    OK(project_start(&t.l, &of, a, &p, &t.e) ? t.e.code : project_write(&p, &b, &t.e));
    return sb_sv(&b);
}

/* The first difference is enough. */
static bool agree(struct naive_log *n, struct sv thread, int64_t from, struct arena *a)
{
    for (size_t k = 0; k < COUNT(naive_lanes); k++)
        for (int64_t upto = from; upto <= (int64_t)n->entries.n; upto++) {
            struct arena_mark m = arena_mark(a);
            struct sv         lane = sv_of(naive_lanes[k]);
            struct sv         got = projected(thread, lane, upto, a);
            struct sv         want = naive_project(n, thread, lane, upto, SV("CP"));
            if (!sv_eq(got, want)) {
                printf("# " SV_FMT ", lane " SV_FMT ", up to %lld\n", SV_ARG(thread), SV_ARG(lane),
                       (long long)upto);
                CHECK_SV(got, want);
                return false;
            }
            arena_reset(a, m);
        }
    return true;
}

static void every_lane_at_every_point_is_what_the_plain_rule_gives(void)
{
    for (int i = 0; i < logs(); i++) {
        struct arena     a = { 0 };
        struct naive_log n = { .a = &a };
        struct sv        thread = thread_name(i, &a);
        write_log(thread, (uint64_t)i + 1, &a);
        OK(log_begin(&t.l, thread, STORE_READ, &t.e));
        OK(naive_load(&n, t.s, thread, &t.e));
        bool same = agree(&n, thread, -1, &a);
        log_abort(&t.l);
        arena_free(&a);
        if (!same)
            return;
    }
}

struct texts {
    struct arena *a;
    VEC(struct sv) list;
};

static enum status keep_text(void *ctx, const struct message *m, struct err *e)
{
    struct texts *texts = ctx;
    struct sb     b = sb_in(texts->a, 0);

    (void)e;
    message_write(&b, m);
    *vec_push(&texts->list, texts->a) = sb_sv(&b);
    return ST_OK;
}

static struct sv joined(const struct texts *texts, size_t n)
{
    struct sb b = sb_in(texts->a, 0);

    for (size_t i = 0; i < n; i++) {
        sb_add(&b, texts->list.v[i]);
        sb_addc(&b, '\n');
    }
    return sb_sv(&b);
}

/* Go on from what was seen at `cursor`, or start afresh when told to. */
static struct sv continued(struct sv thread, struct sv lane, int64_t cursor, int64_t upto,
                           struct arena *a)
{
    struct projection_of of = { thread, lane, cursor, { 0 } };
    struct projection    p;
    struct texts         texts = { .a = a };
    bool                 restarts;

    OK(project_start(&t.l, &of, a, &p, &t.e));
    OK(project_each(&p, keep_text, &texts, &t.e));
    of.upto = upto;
    OK(project_start(&t.l, &of, a, &p, &t.e));
    OK(project_since(&p, cursor, &restarts, keep_text, &texts, &t.e));
    if (restarts) {
        texts.list.n = 0;
        OK(project_each(&p, keep_text, &texts, &t.e));
    }
    return joined(&texts, texts.list.n);
}

static struct sv from_scratch(struct sv thread, struct sv lane, int64_t upto, struct arena *a)
{
    struct projection_of of = { thread, lane, upto, { 0 } };
    struct projection    p;
    struct texts         texts = { .a = a };

    OK(project_start(&t.l, &of, a, &p, &t.e));
    OK(project_each(&p, keep_text, &texts, &t.e));
    return joined(&texts, texts.list.n);
}

static void going_on_from_any_cursor_is_the_same_as_starting_afresh(void)
{
    for (int i = 0; i < logs() / 2; i++) {
        struct arena a = { 0 };
        struct dice  d = { .seed = (uint64_t)i };
        struct sv    thread = thread_name(i, &a);
        write_log(thread, (uint64_t)i + 1000, &a);
        OK(log_begin(&t.l, thread, STORE_READ, &t.e));
        for (size_t k = 0; k < COUNT(naive_lanes); k++)
            for (int64_t cursor = -1; cursor < STEPS; cursor++) {
                struct arena_mark m = arena_mark(&a);
                struct sv         lane = sv_of(naive_lanes[k]);
                int64_t           upto = cursor + 1 + roll(&d, STEPS);
                CHECK_SV(continued(thread, lane, cursor, upto, &a),
                         from_scratch(thread, lane, upto, &a));
                arena_reset(&a, m);
            }
        log_abort(&t.l);
        arena_free(&a);
    }
}

static void what_is_folded_as_it_comes_is_what_is_folded_from_the_start(void)
{
    for (int i = 0; i < logs() / 4; i++) {
        struct arena a = { 0 };
        struct sv    thread = thread_name(i, &a);
        int          findings = 0;
        int64_t      entries;
        write_log(thread, (uint64_t)i + 5000, &a);
        OK(log_verify(&t.l, thread, tell_finding, &findings, &entries, &t.e));
        CHECK_INT(findings, 0);
        arena_free(&a);
    }
}

/* ---- export and import ------------------------------------------------------------------------
 */

static struct sv exported(struct store *s, struct sv thread, struct arena *a)
{
    struct naive_log n = { .a = a };
    struct sb        b = sb_in(a, 0);

    OK(naive_load(&n, s, thread, &t.e));
    for (size_t i = 0; i < n.entries.n; i++) {
        entry_write(&b, &n.entries.v[i]);
        sb_addc(&b, '\n');
    }
    return sb_sv(&b);
}

static void import_into(struct log *l, struct sv thread, struct sv text, struct arena *a)
{
    struct entry_defaults d = { 77, SV("elsewhere"), SV("importer") };
    struct store_head     h;

    OK(log_begin(l, thread, STORE_WRITE, &t.e));
    while (text.n) {
        struct sv_cut     cut = sv_cut(text, '\n');
        struct entry_line one;
        if (!OK(entry_read(cut.head, &d, a, &one, &t.e)) ||
            !OK(log_import(l, thread, &one.entry, 1, &h, NULL, NULL, &t.e)))
            break;
        CHECK_INT(one.entry.seq, one.seq);
        CHECK(hash_eq(&one.entry.chain, &one.chain));
        text = cut.tail;
    }
    OK(log_commit(l, &t.e));
}

static void an_export_imported_and_exported_again_is_the_same(void)
{
    for (int i = 0; i < logs() / 4; i++) {
        struct arena  a = { 0 };
        struct sv     thread = thread_name(i, &a);
        struct store *other = NULL;
        OK(store_open(SV("mem:"), &(struct store_options){ .create = true }, &other, &t.e));
        struct log l = log_of(other, test_views);
        write_log(thread, (uint64_t)i + 9000, &a);
        struct sv once = exported(t.s, thread, &a);
        import_into(&l, thread, once, &a);
        CHECK_SV(exported(other, thread, &a), once);
        store_close(other);
        arena_free(&a);
    }
}

/* ---- erasures ----------------------------------------------------------------------------- */

/* How many messages a lane shows. */
static size_t count_messages(struct sv thread, struct sv lane, struct arena *a)
{
    struct projection_of of = { thread, lane, STORE_TO_END, { 0 } };
    struct projection    p;
    struct texts         texts = { .a = a };

    OK(project_start(&t.l, &of, a, &p, &t.e));
    OK(project_each(&p, keep_text, &texts, &t.e));
    return texts.list.n - p.snapshot.n;
}

/* Erase random entries between random steps: the chain and the views hold after each, lanes show as
 * many messages as before, and an export of it imports to the same chain. */
static void erasures_keep_chain_views_and_shape(void)
{
    for (int i = 0; i < logs() / 4; i++) {
        struct arena a = { 0 };
        struct dice  d = { .seed = (uint64_t)i + 31 };
        struct sv    thread = thread_name(i, &a);
        int          findings = 0;
        int64_t      entries, erased = 0, seq = -1;
        write_log(thread, (uint64_t)i + 12000, &a);
        for (int k = 0; k < 4; k++) {
            struct store_head head;
            OK(store_head(t.s, thread, &head, &t.e));
            int64_t seqs[] = { roll(&d, (uint32_t)head.rev), roll(&d, (uint32_t)head.rev) };
            struct erase_what what = { .thread = thread, .seqs = seqs, .n_seqs = 2 };
            struct erase_how  how = {
                 .reason = SV("r"), .at = 9, .with_derived = roll(&d, 2), .leave_derived = true
            };
            struct erase_plan plan;
            size_t            before[COUNT(naive_lanes)];
            how.leave_derived = !how.with_derived;
            OK(log_begin(&t.l, thread, STORE_WRITE, &t.e));
            for (size_t j = 0; j < COUNT(naive_lanes); j++)
                before[j] = count_messages(thread, sv_of(naive_lanes[j]), &a);
            OK(erase_find(&t.l, &what, &a, &plan, &t.e));
            enum status s = erase_run(&t.l, &plan, &how, &seq, &t.e);
            CHECK(s == ST_OK || s == ST_NOT_FOUND);
            for (size_t j = 0; j < COUNT(naive_lanes); j++)
                CHECK_INT(count_messages(thread, sv_of(naive_lanes[j]), &a), before[j]);
            OK(log_commit(&t.l, &t.e));
        }
        struct log_findings to = { tell_finding, NULL, &findings, &erased };
        OK(log_examine(&t.l, thread, &to, &entries, &t.e));
        CHECK_INT(findings, 0);
        CHECK(seq < 0 || erased > 0);
        struct store *other = NULL;
        OK(store_open(SV("mem:"), &(struct store_options){ .create = true }, &other, &t.e));
        struct log l = log_of(other, test_views);
        struct sv  once = exported(t.s, thread, &a);
        import_into(&l, thread, once, &a);
        CHECK_SV(exported(other, thread, &a), once);
        store_close(other);
        arena_free(&a);
    }
}

/* ---- runs --------------------------------------------------------------------------------- */

/* A random call of the run room; refusals are part of it. */
static void run_step(struct dice *d, int i, struct arena *a)
{
    struct run_ref   who = { THREAD, roll(d, 4) ? (struct sv){ 0 } : SV("bob"), SV("x"), 1000 + i };
    struct run_state s;
    struct run_report report;
    struct err        e;
    struct sb         b = sb_in(a, 0);
    struct sv         out;
    enum status       st = ST_OK;

    if (run_status(&t.l, &who, a, &s, &e))
        s = (struct run_state){ 0 };
    switch (roll(d, 12)) {
    case 0:
    case 1:
        st = run_start(&t.l, &who, &(struct run_start){ .content = SV("\"Q\"") }, a, &s, &e);
        break;
    case 2:
    case 3:
        sb_addf(&b, "{\"kind\":\"llm_completed\",\"id\":\"e%d\",\"data\":{\"text\":\"A\"}}", i);
        break;
    case 4:
        sb_addf(
            &b,
            "{\"kind\":\"llm_completed\",\"data\":{\"tool_calls\":[{\"id\":\"t%d\",\"name\":\"f\"},"
            "{\"id\":\"u%d\",\"name\":\"g\"}]}}",
            i, i);
        break;
    case 5:
    case 6:
        if (s.n_calls)
            sb_addf(&b,
                    "{\"kind\":\"tool_completed\",\"tool_call_id\":\"" SV_FMT
                    "\",\"data\":{\"result\":1}}",
                    SV_ARG(s.calls[roll(d, (uint32_t)s.n_calls)].id));
        break;
    case 7:
        sb_adds(&b,
                PICK(d, ((const char *const[]){
                            "{\"kind\":\"request_completed\"}", "{\"kind\":\"request_failed\"}",
                            "{\"kind\":\"request_cancelled\"}", "{\"kind\":\"worker_exit\"}" })));
        break;
    case 8:
        st = run_steer(&t.l, &who, &(struct run_steer){ .kind = "steer", .text = SV("S") }, a, &out,
                       &e);
        break;
    case 9: st = run_drain(&t.l, &who, a, &out, &e); break;
    default: {
        struct op op = { .thread = THREAD, .agent = who.agent, .lane = some_lane(d), .at = i };
        struct op_result r;
        struct sb        id = sb_in(a, 0);
        sb_addf(&id, "op%u", roll(d, 30));
        op.op_id = sb_sv(&id);
        op.type = roll(d, 2) ? OP_REPLACE : roll(d, 2) ? OP_SWITCH : OP_FORK;
        op.context = some_context(d, a);
        op.reason = roll(d, 2) ? SV("compaction") : SV("manual");
        op.from_seq = OP_AT_HEAD;
        st = op_apply(&t.l, &op, a, &r, &e);
    }
    }
    if (b.n) {
        struct json event = naive_json(sb_sv(&b), a);
        st = run_events(&t.l, &who, &event, 1, a, &s, &report, &e);
    }
    CHECK(st == ST_OK || st == ST_CONFLICT || st == ST_NOT_FOUND);
}

static void check_state(const char *agent, struct arena *a)
{
    struct run_ref   who = { THREAD, sv_of(agent), SV("x"), 0 };
    struct run_state s;
    struct err       e;

    if (run_status(&t.l, &who, a, &s, &e))
        return; /* nothing is there yet */
    CHECK_INT(s.active, s.status == RUN_AWAITING_LLM || s.status == RUN_AWAITING_TOOL);
    if (s.active)
        return;
    CHECK_INT(s.parked_seq, -1);
    CHECK_INT(s.n_queue, 0);
    CHECK(s.status == RUN_IDLE || s.termination_reason.n);
}

static void after_every_step_of_a_run_the_view_is_the_projection_of_the_log(void)
{
    for (int i = 0; i < (t.on_disk ? 3 : 40); i++) {
        struct arena a = { 0 };
        struct dice  d = { .seed = (uint64_t)i * 77 + 5 };
        store_close(t.s);
        if (t.on_disk) {
            size_t n = strlen(t.url); /* a file of its own */
            snprintf(t.url + n, sizeof t.url - n, "%d", i);
        }
        t.s = test_open();
        t.l = log_of(t.s, test_views);
        for (int step = 0; step < (t.on_disk ? 30 : 60); step++) {
            struct arena_mark m = arena_mark(&a);
            struct naive_log  n = { .a = &a };
            run_step(&d, step, &a);
            check_state("default", &a);
            check_state("bob", &a);
            OK(log_begin(&t.l, THREAD, STORE_READ, &t.e));
            OK(naive_load(&n, t.s, THREAD, &t.e));
            bool same = n.entries.n == 0 || agree(&n, THREAD, (int64_t)n.entries.n - 1, &a);
            log_abort(&t.l);
            arena_reset(&a, m);
            if (!same)
                break;
        }
        if (rev())
            check_whole();
        arena_free(&a);
    }
}

THREAD_MAIN(T(every_lane_at_every_point_is_what_the_plain_rule_gives),
            T(going_on_from_any_cursor_is_the_same_as_starting_afresh),
            T(what_is_folded_as_it_comes_is_what_is_folded_from_the_start),
            T(an_export_imported_and_exported_again_is_the_same),
            T(erasures_keep_chain_views_and_shape),
            T(after_every_step_of_a_run_the_view_is_the_projection_of_the_log), )

/* From turn to turn: what stays the same, what is read, what is recorded, compaction. */
#include "assemble_test.h"
#include "command/compact_session.h"

static struct assemble_test x;

static size_t agreeing(struct sv a, struct sv b)
{
    size_t n = 0;

    while (n < a.n && n < b.n && a.s[n] == b.s[n])
        n++;
    return n;
}

/* What the next turn should begin with: the prompt, and the messages that are said to stay. */
static struct sv stable_text(const struct assembly *out)
{
    struct context c = out->context;

    c.n = out->cache.messages;
    return assemble_test_text(&x, &c);
}

/* ada says something, Collab goes there and is asked, and answers. */
static struct assembly turn(struct node *tip, int number, int64_t budget)
{
    struct assembly_request q = assemble_test_request(&x, "Collab");
    struct assembly         out;

    assemble_test_say(&x, tip, "ada", AUTHOR_HUMAN, assemble_test_words(&x, number, 30));
    assemble_test_go(&x, tip);
    q.budget = budget;
    CHECK(assemble_test_run(&x, &q, &out) == ST_OK);
    assemble_test_say(&x, tip, "Collab", AUTHOR_MODEL, assemble_test_words(&x, number, 60));
    return out;
}

static void a_turn_begins_with_all_that_the_one_before_said_would_stay(void)
{
    struct node tip;

    assemble_test_open(&x, PERM_ALL);
    tip = assemble_test_grow(&x, 40, 30);
    struct sv before = stable_text(&(struct assembly[]){ turn(&tip, 100, 50000) }[0]);
    for (int i = 1; i < 8; i++) {
        struct assembly now = turn(&tip, 100 + i, 50000);
        struct sv       text = assemble_test_text(&x, &now.context);
        CHECK(sv_starts(text, before));
        before = stable_text(&now);
    }
    assemble_test_close(&x);
}

/* Bytes of each request that the next one begins with, of a conversation that is always too long:
 * the cut moves in steps, so that most turns agree in all that could agree. */
static void a_conversation_that_is_cut_agrees_from_turn_to_turn(void)
{
    enum { TURNS = 40 };
    struct node tip;
    struct sv   before = { 0 }, said = { 0 };
    size_t      agreed = 0, possible = 0, whole = 0;

    assemble_test_open(&x, PERM_ALL);
    tip = assemble_test_grow(&x, 60, 60);
    for (int i = 0; i < TURNS; i++) {
        struct assembly now = turn(&tip, 200 + i, 6000);
        struct sv       text = assemble_test_text(&x, &now.context);
        CHECK(now.pruned.left_out + now.pruned.summarized > 0);
        if (i) {
            size_t n = agreeing(before, text);
            agreed += n < said.n ? n : said.n;
            possible += said.n;
            whole += n >= said.n;
        }
        before = text;
        said = stable_text(&now);
    }
    printf("# %zu of %zu bytes agree, all of them in %zu of %d turns\n", agreed, possible, whole,
           TURNS - 1);
    CHECK(agreed * 100 >= possible * 70);
    CHECK(whole * 100 >= (TURNS - 1) * 70);
    assemble_test_close(&x);
}

static void a_change_in_memory_leaves_the_prompt_as_it_was(void)
{
    struct assembly_request q;
    struct assembly         one, two;
    bool                    ok;

    assemble_test_open(&x, PERM_ALL);
    assemble_test_grow(&x, 4, 10);
    q = assemble_test_request(&x, "Collab");
    q.agent.system_prompt = SV("Be brief.");
    CHECK(assemble_test_run(&x, &q, &one) == ST_OK);
    loom_test_run(&x.t, "pin a7x2", &ok);
    CHECK(assemble_test_run(&x, &q, &two) == ST_OK);
    CHECK(!sv_eq(one.context.system_prompt, two.context.system_prompt));
    CHECK_INT(one.cache.system, two.cache.system);
    CHECK_SV(sv_first(two.context.system_prompt, two.cache.system),
             sv_first(one.context.system_prompt, one.cache.system));
    CHECK(sv_ends(sv_first(two.context.system_prompt, two.cache.system),
                  SV("Use → help to see available commands.")));
    assemble_test_close(&x);
}

static void what_is_read_does_not_grow_with_the_thread(void)
{
    struct assembly_request q;
    struct assembly         out;
    int64_t                 reads[2];

    for (int i = 0; i < 2; i++) {
        assemble_test_open(&x, PERM_ALL);
        assemble_test_grow(&x, i ? 2000 : 200, 20);
        q = assemble_test_request(&x, "Collab");
        q.budget = 4000;
        CHECK(assemble_test_run(&x, &q, &out) == ST_OK);
        reads[i] = out.reads;
        assemble_test_close(&x);
    }
    CHECK(reads[1] <= reads[0] + 2 && reads[0] < 200);
}

static void counts_are_made_once(void)
{
    struct assembly_request q;
    struct assembly         out;

    assemble_test_open(&x, PERM_ALL);
    assemble_test_grow(&x, 50, 60);
    q = assemble_test_request(&x, "Collab");
    CHECK(assemble_test_run(&x, &q, &out) == ST_OK);
    uint64_t made = x.counts.made, found = x.counts.found;
    CHECK(made > 50);
    CHECK(assemble_test_run(&x, &q, &out) == ST_OK);
    CHECK_INT(x.counts.made, made);
    CHECK(x.counts.found > found + 50);
    assemble_test_close(&x);
}

/* ---- what is recorded --------------------------------------------------------------------- */

/* The block is that of the assembly, whose request has no registry here. */
static void what_stood_before_a_node_stands_there_again(void)
{
    struct assembly_request q;
    struct assembly         out, again = { 0 };
    struct node             tip;
    struct loom             l;

    assemble_test_open(&x, PERM_ALL);
    tip = assemble_test_grow(&x, 4, 10);
    again.block = SV("<thread_context thread=\"marie\" objective=\"o\">\n</thread_context>");
    again.injected = SV("<thread_injections>\n</thread_injections>");
    l = x.t.s.loom;
    CHECK(log_begin(&x.t.log, l.thread, STORE_WRITE, &x.t.e) == ST_OK);
    CHECK(assembly_record(&l, SV("Collab"), &tip, &again, &x.t.e) == ST_OK);
    CHECK(log_commit(&x.t.log, &x.t.e) == ST_OK);
    struct sv shown = SV("USER\n<thread_context thread=\"marie\" objective=\"o\">\n"
                         "</thread_context>\n\n<thread_injections>\n</thread_injections>\n\n[");
    q = assemble_test_request(&x, "Collab");
    CHECK(assemble_test_run(&x, &q, &out) == ST_OK); /* the turn itself, when it is resumed */
    CHECK(sv_find(assemble_test_text(&x, &out.context), shown) >= 0);
    CHECK(!out.block.s && !out.injected.s); /* nothing is to be recorded again */
    assemble_test_say(&x, &tip, "Collab", AUTHOR_MODEL, SV("An answer."));
    assemble_test_say(&x, &tip, "ada", AUTHOR_HUMAN, SV("Another question."));
    assemble_test_go(&x, &tip);
    CHECK(assemble_test_run(&x, &q, &out) == ST_OK);
    CHECK(sv_find(assemble_test_text(&x, &out.context), shown) >= 0);
    q.agent.name = SV("ada"); /* another agent was not shown it */
    CHECK(assemble_test_run(&x, &q, &out) == ST_OK);
    CHECK(sv_find(assemble_test_text(&x, &out.context), shown) < 0);
    assemble_test_close(&x);
}

static void a_turn_is_resumed_with_the_bytes_it_began_with(void)
{
    struct assembly_request q;
    struct assembly         out;
    struct store_head       head;
    struct node             tip;
    bool                    ok;

    assemble_test_open(&x, PERM_ALL);
    tip = assemble_test_grow(&x, 10, 20);
    q = assemble_test_request(&x, "Collab");
    CHECK(assemble_test_run(&x, &q, &out) == ST_OK);
    struct sv began = assemble_test_text(&x, &out.context);
    CHECK(log_begin(&x.t.log, q.loom.thread, STORE_READ, &x.t.e) == ST_OK);
    CHECK(log_head(&x.t.log, q.loom.thread, &head, &x.t.e) == ST_OK);
    log_abort(&x.t.log);
    loom_test_run(&x.t, "pin a7x2", &ok); /* what the turn did before it was killed */
    loom_test_run(&x.t, "annotate r001 \"a note\"", &ok);
    assemble_test_say(&x, &tip, "Collab", AUTHOR_MODEL, SV("Half an answer."));
    CHECK(assemble_test_run(&x, &q, &out) == ST_OK);
    CHECK(!sv_eq(assemble_test_text(&x, &out.context), began));
    CHECK(log_at(&x.t.log, q.loom.thread, head.rev - 1, &x.t.e) == ST_OK);
    CHECK(assembly_make(&q, &x.t.a, &out, &x.t.e) == ST_OK);
    log_at_end(&x.t.log);
    CHECK_SV(assemble_test_text(&x, &out.context), began);
    assemble_test_close(&x);
}

/* ---- compaction -------------------------------------------------------------------------------
 */

static struct compact_how automatic(int64_t budget)
{
    struct compact_how how = compact_automatic(budget, 80);

    how.counts = &x.counts;
    how.keep = 6;
    return how;
}

static void a_compaction_is_due_at_a_share_of_the_budget(void)
{
    struct compact_how  how;
    struct compact_plan plan;
    struct op_result    result;

    assemble_test_open(&x, PERM_ALL);
    assemble_test_grow(&x, 60, 40); /* about 6,500 tokens */
    how = automatic(50000);
    CHECK(session_compact(&x.t.s, &how, &plan, &result, &x.t.e) == ST_OK);
    CHECK(!plan.is_due && sv_is(plan.why_not, "the conversation is short enough"));
    how = automatic(5000);
    how.model = SV("offline:echo");
    CHECK(session_compact(&x.t.s, &how, &plan, &result, &x.t.e) == ST_OK);
    CHECK(plan.is_due && plan.summarizes && result.applied);
    CHECK_INT(x.t.requests, 1);
    CHECK_INT(plan.kept, 6);
    CHECK(plan.after < plan.before / 4);
    CHECK(sv_find(sb_sv(&x.t.asked), SV("model [")) >= 0);
    CHECK(session_compact(&x.t.s, &how, &plan, &result, &x.t.e) == ST_OK);
    CHECK(!plan.is_due); /* not again */
    CHECK_INT(x.t.requests, 1);
    assemble_test_close(&x);
}

static void after_a_compaction_the_summary_stands_before_what_was_kept(void)
{
    struct compact_how      how;
    struct compact_plan     plan;
    struct op_result        result;
    struct assembly_request q;
    struct assembly         out;
    bool                    ok;

    assemble_test_open(&x, PERM_ALL);
    assemble_test_grow(&x, 60, 40);
    loom_test_run(&x.t, "pin a7x2", &ok);
    how = automatic(5000);
    how.model = SV("offline:echo");
    CHECK(session_compact(&x.t.s, &how, &plan, &result, &x.t.e) == ST_OK);
    q = assemble_test_request(&x, "Collab");
    CHECK(assemble_test_run(&x, &q, &out) == ST_OK);
    struct sv text = assemble_test_text(&x, &out.context);
    CHECK(sv_find(text, SV("USER\n[Summary of 58 messages, [r001] to [")) >= 0);
    CHECK(sv_find(text, SV("Answer 1.")) >= 0);
    CHECK(sv_find(text, SV("[a7x2] human · ")) >= 0); /* pinned, with its metadata */
    CHECK(sv_find(text, SV("This is message 53.")) < 0);
    CHECK(sv_find(text, SV("This is message 54.")) >= 0);
    CHECK_INT(out.reads, 6 + 2);
    assemble_test_close(&x);
}

static void a_model_that_fails_leaves_the_conversation_as_it_was(void)
{
    struct compact_how      how;
    struct compact_plan     plan;
    struct op_result        result;
    struct assembly_request q;
    struct assembly         one, two;

    assemble_test_open(&x, PERM_ALL);
    assemble_test_grow(&x, 60, 40);
    q = assemble_test_request(&x, "Collab");
    CHECK(assemble_test_run(&x, &q, &one) == ST_OK);
    x.t.model_status = ST_MODEL_ERROR;
    how = automatic(5000);
    how.model = SV("offline:echo");
    CHECK(session_compact(&x.t.s, &how, &plan, &result, &x.t.e) == ST_MODEL_ERROR);
    CHECK(assemble_test_run(&x, &q, &two) == ST_OK);
    CHECK_SV(assemble_test_text(&x, &two.context), assemble_test_text(&x, &one.context));
    assemble_test_close(&x);
}

static void taking_a_compaction_back_gives_the_same_bytes(void)
{
    struct compact_how      how;
    struct compact_plan     plan;
    struct op_result        result;
    struct compact_undone   undone;
    struct assembly_request q;
    struct assembly         one, two;

    assemble_test_open(&x, PERM_ALL);
    assemble_test_grow(&x, 60, 40);
    q = assemble_test_request(&x, "Collab");
    CHECK(assemble_test_run(&x, &q, &one) == ST_OK);
    struct sv before = assemble_test_text(&x, &one.context);
    how = automatic(5000);
    for (int i = 0; i < 3; i++) {
        how.over = how.enough = 0;
        how.keep = 20 - 5 * i;
        CHECK(session_compact(&x.t.s, &how, &plan, &result, &x.t.e) == ST_OK);
        CHECK(plan.is_due && result.applied);
    }
    CHECK(assemble_test_run(&x, &q, &two) == ST_OK);
    CHECK(!sv_eq(assemble_test_text(&x, &two.context), before));
    for (int i = 0; i < 3; i++)
        CHECK(session_compact_undo(&x.t.s, (struct sv){ 0 }, (struct sv){ 0 }, &undone, &result,
                                   &x.t.e) == ST_OK);
    CHECK(assemble_test_run(&x, &q, &two) == ST_OK);
    CHECK_SV(assemble_test_text(&x, &two.context), before);
    CHECK(session_compact_undo(&x.t.s, (struct sv){ 0 }, (struct sv){ 0 }, &undone, &result,
                               &x.t.e) == ST_NOT_FOUND);
    assemble_test_close(&x);
}

static void two_compactions_at_once_are_a_conflict(void)
{
    struct compact_request q = { .loom = { 0 } };
    struct compact_plan    one, two;
    struct op_result       result;
    struct compact_by      by = { .agent = SV("Collab"), .actor = SV("Collab"), .op_id = SV("a") };

    assemble_test_open(&x, PERM_ALL);
    assemble_test_grow(&x, 60, 40);
    q = (struct compact_request){ .loom = x.t.s.loom, .agent = SV("Collab"), .counts = &x.counts };
    CHECK(log_begin(&x.t.log, q.loom.thread, STORE_READ, &x.t.e) == ST_OK);
    CHECK(compact_prepare(&q, &x.t.a, &one, &x.t.e) == ST_OK);
    CHECK(compact_prepare(&q, &x.t.a, &two, &x.t.e) == ST_OK);
    log_abort(&x.t.log);
    CHECK(compact_summarize(&one, (struct sv){ 0 }, NULL, NULL, &x.t.a, &x.t.e) == ST_OK);
    CHECK(compact_summarize(&two, (struct sv){ 0 }, NULL, NULL, &x.t.a, &x.t.e) == ST_OK);
    CHECK(log_begin(&x.t.log, q.loom.thread, STORE_WRITE, &x.t.e) == ST_OK);
    CHECK(compact_apply(&one, &by, &x.t.a, &result, &x.t.e) == ST_OK);
    by.op_id = SV("b");
    CHECK(compact_apply(&two, &by, &x.t.a, &result, &x.t.e) == ST_CONFLICT);
    log_abort(&x.t.log);
    assemble_test_close(&x);
}

TAP_MAIN(T(a_turn_begins_with_all_that_the_one_before_said_would_stay),
         T(a_conversation_that_is_cut_agrees_from_turn_to_turn),
         T(a_change_in_memory_leaves_the_prompt_as_it_was),
         T(what_is_read_does_not_grow_with_the_thread), T(counts_are_made_once),
         T(what_stood_before_a_node_stands_there_again),
         T(a_turn_is_resumed_with_the_bytes_it_began_with),
         T(a_compaction_is_due_at_a_share_of_the_budget),
         T(after_a_compaction_the_summary_stands_before_what_was_kept),
         T(a_model_that_fails_leaves_the_conversation_as_it_was),
         T(taking_a_compaction_back_gives_the_same_bytes),
         T(two_compactions_at_once_are_a_conflict), )

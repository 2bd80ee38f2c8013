/* Erasing: what goes, what is found beside it, what is refused, what stays the same. */
#include "thread/erase.h"
#include "thread/limits.h"
#include "thread/needle_table.h"
#include "thread/op.h"
#include "thread/token.h"
#include "thread_test.h"

#define SECRET "Anna Karenina lives at 12 Mill Lane"

static struct erase_plan plan;

static enum status erase_with(struct erase_what what, bool with, bool leave)
{
    struct erase_how how = { .reason = SV("asked"),
                             .actor = SV("tester"),
                             .at = t.now++,
                             .with_derived = with,
                             .leave_derived = leave };
    int64_t          seq;

    what.thread = THREAD;
    if (log_begin(&t.l, THREAD, STORE_WRITE, &t.e))
        return t.e.code;
    if (erase_find(&t.l, &what, &t.a, &plan, &t.e) || erase_run(&t.l, &plan, &how, &seq, &t.e) ||
        log_commit(&t.l, &t.e)) {
        log_abort(&t.l);
        return t.e.code;
    }
    return ST_OK;
}

static enum status erase_one(int64_t seq, bool with, bool leave)
{
    return erase_with((struct erase_what){ .seqs = &seq, .n_seqs = 1 }, with, leave);
}

/* "1 4+ 7+": seqs of the plan, those that were derived with a plus. */
static struct sv planned(void)
{
    struct sb b = sb_in(&t.a, 0);

    for (size_t i = 0; i < plan.items.n; i++)
        sb_addf(&b, "%s%lld%s", i ? " " : "", (long long)plan.items.v[i].seq,
                plan.items.v[i].asked ? "" : "+");
    return sb_sv(&b);
}

static void count(void *ctx, struct sv finding)
{
    printf("# " SV_FMT "\n", SV_ARG(finding));
    ++*(int *)ctx;
}

static void check_erased(int64_t want_erased)
{
    int64_t             entries, erased = 0;
    int                 n = 0;
    struct log_findings to = { count, count, &n, &erased };

    OK(log_examine(&t.l, THREAD, &to, &entries, &t.e));
    CHECK_INT(n, 0);
    CHECK_INT(erased, want_erased);
}

static void what_was_said_goes_and_its_place_stays(void)
{
    say("user", "hi");
    say("user", SECRET);
    say("assistant", "noted");
    struct hash chain = last_entry().chain;
    OK(erase_one(1, false, false));
    CHECK_SV(brief("default", STORE_TO_END), SV("CP| u:hi u:[erased] a:noted"));
    CHECK(entry_at(1).erased);
    struct hash after = entry_at(2).chain;
    CHECK(hash_eq(&after, &chain));
    CHECK(sv_find(view("default", STORE_TO_END), SV("\"erased\":true")) > 0);
    struct entry note = last_entry();
    CHECK_SV(note.kind, SV("erasure"));
    CHECK_SV(note.payload, SV("{\"files\":[],\"left\":[],\"reason\":\"asked\",\"seqs\":[1]}"));
    check_erased(1);
    CHECK(erase_one(1, false, false) == ST_NOT_FOUND); /* it is gone */
    CHECK(erase_one(77, false, false) == ST_NOT_FOUND);
}

static void a_snapshot_that_showed_it_is_named_and_refused(void)
{
    say("user", SECRET);
    apply(
        REPLACE("default", "op1", "{\"messages\":[{\"role\":\"user\",\"content\":\"a digest\"}]}"));
    say("user", "next");
    CHECK(erase_one(0, false, false) == ST_CONFLICT);
    CHECK(strcmp(t.e.reason, "derived") == 0);
    CHECK_SV(planned(), SV("0 1+"));
    CHECK(!entry_at(0).erased);
    OK(erase_one(0, true, false));
    /* Still hides what it replaced. */
    CHECK_SV(brief("default", STORE_TO_END), SV("-| u:[erased] u:next"));
    check_erased(2);
}

static void a_snapshot_of_another_lane_is_not_derived(void)
{
    say_on("side", "user", SECRET);
    say("user", "something else");
    apply(
        REPLACE("default", "op1", "{\"messages\":[{\"role\":\"user\",\"content\":\"a digest\"}]}"));
    OK(erase_one(0, false, false));
    CHECK_SV(planned(), SV("0"));
}

static void a_snapshot_made_of_a_derived_one_is_derived(void)
{
    say("user", SECRET);
    apply(REPLACE("default", "op1", "{\"messages\":[]}"));
    apply(REPLACE("default", "op2", "{\"messages\":[]}"));
    CHECK(erase_one(0, false, false) == ST_CONFLICT);
    CHECK_SV(planned(), SV("0 1+ 2+")); /* the second was made of the first */
}

static void the_same_text_is_found_whatever_it_is_packed_into(void)
{
    struct sb token = sb_in(&t.a, 0), b = sb_in(&t.a, 0);

    say("user", SECRET);
    line("{\"kind\":\"note\",\"payload\":{\"x\":[\"he said: " SECRET "!\"]}}");
    line("{\"kind\":\"model_response\",\"payload\":{\"body\":\"{\\\"t\\\":\\\"" SECRET "\\\"}\"}}");
    line("{\"kind\":\"model_response\",\"payload\":{\"body\":\"data: {\\\"t\\\":\\\"" SECRET
         "\\\"}\\n\\n\"}}");
    sb_adds(&token, TOKEN_PREFIX);
    sb_add_base64url(&token, SV("{\"state\":\"" SECRET "\"}"));
    sb_addf(&b,
            "{\"kind\":\"run_checkpoint\",\"payload\":{\"run_id\":\"r\",\"token\":\"" SV_FMT
            ".c2ln\"}}",
            SV_ARG(sb_sv(&token)));
    line(sb_sv(&b).s);
    line("{\"kind\":\"note\",\"payload\":{\"x\":\"nothing of it\"}}");
    line("{\"kind\":\"note\",\"payload\":{},\"refs\":{\"r\":\"" SECRET "\"}}");
    CHECK(erase_one(0, false, false) == ST_CONFLICT);
    CHECK_SV(planned(), SV("0 1+ 2+ 3+ 4+ 6+"));
    OK(erase_one(0, true, false));
    check_erased(6);
    for (int64_t i = 0; i < rev(); i++)
        CHECK(sv_find(entry_at(i).payload, SV("Karenina")) < 0 &&
              sv_find(entry_at(i).refs, SV("Karenina")) < 0);
}

/* The steps of a run have its ids, parts of messages their types, answers the form of their
 * provider: none of that is what was said. */
static void ids_and_words_of_a_format_are_not_looked_for(void)
{
    line("{\"kind\":\"ai_message\",\"payload\":{\"role\":\"user\",\"content\":[{\"type\":"
         "\"input_text\",\"text\":\"" SECRET "\"},{\"type\":\"image\",\"media_type\":"
         "\"image/png\",\"data\":\"aGk=\"}]},\"refs\":{\"run_id\":\"turn_0123456789\","
         "\"request_id\":\"turn_0123456789\"}}");
    line("{\"kind\":\"ai_message\",\"payload\":{\"role\":\"assistant\",\"content\":[{\"type\":"
         "\"input_text\",\"text\":\"an image/png file\"}]},\"refs\":{\"run_id\":"
         "\"turn_0123456789\"}}");
    line("{\"kind\":\"run_finished\",\"payload\":{\"outcome\":\"completed\",\"reason\":\"done\","
         "\"run_id\":\"turn_0123456789\"}}");
    for (int i = 0; i < 2; i++)
        line("{\"kind\":\"model_response\",\"payload\":{\"body\":\"event: "
             "content_block_delta\\ndata: {\\\"t\\\":1}\\n\\n\",\"headers\":\"Content-Type: "
             "text/event-stream\",\"model\":\"a-model-of-theirs\",\"run_id\":"
             "\"turn_0123456789\"}}");
    OK(erase_one(0, false, false));
    CHECK_SV(planned(), SV("0"));
    CHECK_INT(plan.kept.n, 0);
    OK(erase_one(3, false, false));
    CHECK_SV(planned(), SV("3"));
    CHECK_INT(plan.kept.n, 0);
}

/* A member of such a name that holds words is looked for all the same. */
static void words_under_the_name_of_an_id_are_looked_for(void)
{
    line("{\"kind\":\"note\",\"payload\":{\"type\":\"" SECRET "\"}}");
    line("{\"kind\":\"note\",\"payload\":{\"x\":\"" SECRET "\"}}");
    CHECK(erase_one(0, false, false) == ST_CONFLICT);
    CHECK_SV(planned(), SV("0 1+"));
}

static void summaries_commands_and_answers_are_found_by_structure(void)
{
    line("{\"kind\":\"model_response\",\"payload\":{\"body\":\"An\",\"hash\":"
         "\"00000000000000000000000000000000000000000000000000000000000000aa\"}}");
    line("{\"kind\":\"ai_message\",\"payload\":{\"role\":\"assistant\",\"content\":\"" SECRET
         "\",\"node\":{\"id\":\"n1\",\"local_id\":\"a7x2\",\"response\":"
         "\"00000000000000000000000000000000000000000000000000000000000000aa\"}}}");
    line("{\"kind\":\"summary\",\"payload\":{\"target\":{\"node\":\"a7x2\"},\"text\":\"where she "
         "lives\"}}");
    line("{\"kind\":\"summary\",\"payload\":{\"target\":{\"type\":\"tree\"},\"text\":\"all\"}}");
    line("{\"kind\":\"tool_action\",\"payload\":{\"agent\":\"a\",\"result\":\"shown\",\"shows\":[{"
         "\"node\":\"n1\"}]}}");
    line("{\"kind\":\"memory_operation\",\"payload\":{\"op\":\"stash\",\"target\":{\"node\":"
         "\"n1\"},\"text\":\"kept\"}}");
    line("{\"kind\":\"summary\",\"payload\":{\"target\":{\"node\":\"zzzz\"},\"text\":\"other\"}}");
    CHECK(erase_one(1, false, false) == ST_CONFLICT);
    CHECK_SV(planned(), SV("0+ 1 2+ 3+ 4+ 5+"));
    OK(erase_one(1, true, false));
    CHECK(sv_find(entry_at(1).payload, SV("aa\"")) < 0); /* no hash of it stays */
    check_erased(6);
}

static void the_summary_of_a_document_goes_with_what_was_written(void)
{
    line("{\"kind\":\"document_write\",\"payload\":{\"doc\":\"plan\",\"path\":\"docs/plan.md\","
         "\"after\":\"00000000000000000000000000000000000000000000000000000000000000bb\"}}");
    line(
        "{\"kind\":\"summary\",\"payload\":{\"target\":{\"doc\":\"docs/plan.md\",\"type\":\"doc\"},"
        "\"of\":\"00000000000000000000000000000000000000000000000000000000000000bb\",\"text\":\"a "
        "plan\"}}");
    line("{\"kind\":\"summary\",\"payload\":{\"target\":{\"doc\":\"docs/"
         "other.md\",\"type\":\"doc\"},"
         "\"text\":\"another\"}}");
    CHECK(erase_one(0, false, false) == ST_CONFLICT);
    CHECK_SV(planned(), SV("0 1+"));
    OK(erase_one(0, true, false));
    CHECK(sv_find(entry_at(1).payload, SV("bb\"")) < 0); /* no hash of it stays */
    check_erased(2);
    say("user", SECRET);
    OK(erase_one(rev() - 1, false, false)); /* a message is not a document */
}

static void other_threads_are_looked_through(void)
{
    struct entry n = {
        .at = 5, .kind = SV("note"), .payload = SV("{\"x\":\"" SECRET "\"}"), .refs = SV("{}")
    };

    say("user", SECRET);
    OK(append_entries(SV("u"), LOG_ANY_REV, &n, 1));
    CHECK(erase_one(0, false, false) == ST_CONFLICT);
    CHECK_INT((int64_t)plan.derived, 1);
    OK(erase_one(0, true, false));
    struct store_query q = { .thread = SV("u"), .to = STORE_TO_END };
    bool               found = false;
    OK(store_first(t.s, &q, &t.a, &n, &found, &t.e));
    CHECK(found && n.erased);
    struct store_head h;
    OK(store_head(t.s, SV("u"), &h, &t.e));
    CHECK_INT(h.rev, 2); /* and says so there */
}

static void what_is_left_is_said(void)
{
    say("user", SECRET);
    say("user", SECRET);
    OK(erase_one(0, false, true));
    CHECK(!entry_at(1).erased);
    CHECK(sv_find(last_entry().payload, SV("\"left\":[{\"seq\":1,\"thread\":\"t\"}]")) > 0);
}

static void an_actor_or_a_time_says_what_goes(void)
{
    line("{\"kind\":\"note\",\"payload\":{\"x\":1},\"actor\":\"bob\",\"at\":10}");
    line("{\"kind\":\"note\",\"payload\":{\"x\":2},\"actor\":\"eve\",\"at\":20}");
    line("{\"kind\":\"note\",\"payload\":{},\"actor\":\"eve\",\"at\":30}");
    line("{\"kind\":\"note\",\"payload\":{\"x\":3},\"actor\":\"bob\",\"at\":40}");
    OK(erase_with((struct erase_what){ .actor = SV("eve") }, false, false));
    CHECK_SV(planned(), SV("1"));
    CHECK_INT((int64_t)plan.bare, 1);
    OK(erase_with((struct erase_what){ .before = 40 }, false, false));
    CHECK_SV(planned(), SV("0"));
    check_erased(2);
}

static void words_are_looked_for_besides(void)
{
    struct sv words[] = { SV("12 Mill Lane") }, brief_word = SV("Mill");

    line("{\"kind\":\"note\",\"payload\":{\"x\":\"" SECRET "\"}}");
    say("user", "off to 12 Mill Lane then");
    CHECK(erase_with((struct erase_what){ .words = words, .n_words = 1 }, false, false) ==
          ST_CONFLICT);
    CHECK(erase_with((struct erase_what){ .words = words, .n_words = 1 }, false, true) ==
          ST_NOT_FOUND);
    OK(erase_with((struct erase_what){ .words = words, .n_words = 1 }, true, false));
    CHECK_SV(planned(), SV("0+ 1+"));
    CHECK(erase_with((struct erase_what){ .words = &brief_word, .n_words = 1 }, true, false) ==
          ST_INVALID_SYNTAX);
}

static void repeating_what_was_erased_is_a_duplicate(void)
{
    struct entry n = { .at = 1,
                       .kind = SV("ai_message"),
                       .lane = SV("default"),
                       .op_id = SV("once"),
                       .payload = SV("{\"content\":\"" SECRET "\",\"role\":\"user\"}") };
    struct entry again = n;

    OK(append_entries(THREAD, LOG_ANY_REV, &n, 1));
    OK(erase_one(0, false, false));
    int64_t before = rev();
    OK(append_entries(THREAD, LOG_ANY_REV, &again, 1));
    CHECK(t.l.repeated);
    CHECK_INT(rev(), before);
}

static void repeating_an_operation_that_was_erased_is_a_duplicate(void)
{
    struct op        op = { .thread = THREAD,
                            .type = OP_REPLACE,
                            .op_id = SV("r1"),
                            .actor = SV("tester"),
                            .context = SV("{\"messages\":[{\"content\":\"" SECRET
                                          "\",\"role\":\"user\"}],\"system_prompt\":null}") };
    struct op_result r;

    say("user", "one");
    OK(op_apply(&t.l, &op, &t.a, &r, &t.e));
    CHECK(r.applied && !r.duplicate);
    OK(erase_one(1, false, false));
    int64_t before = rev();
    OK(op_apply(&t.l, &op, &t.a, &r, &t.e));
    CHECK(r.duplicate);
    CHECK_INT(r.seq, 1);
    op.lane = SV("another"); /* not what the entry says */
    CHECK(op_apply(&t.l, &op, &t.a, &r, &t.e) == ST_CONFLICT);
    CHECK_SV(sv_of(t.e.reason), SV("op_id"));
    CHECK_INT(rev(), before);
}

static void an_erasure_is_pending_until_it_is_done(void)
{
    struct erase_pending *list;
    size_t                n;

    say("user", SECRET);
    OK(erase_one(0, false, false));
    restart();
    OK(log_begin(&t.l, THREAD, STORE_READ, &t.e));
    OK(erase_pending(&t.l, &t.a, &list, &n, &t.e));
    log_abort(&t.l);
    CHECK_INT((int64_t)n, 1);
    OK(store_scrub(t.s, NULL, NULL, &t.e));
    OK(erase_done(&t.l, list, n, SV("tester"), t.now++, &t.e));
    OK(log_begin(&t.l, THREAD, STORE_READ, &t.e));
    OK(erase_pending(&t.l, &t.a, &list, &n, &t.e));
    log_abort(&t.l);
    CHECK_INT((int64_t)n, 0);
    check_erased(1);
}

/* ---- chain version 1 --------------------------------------------------------------------------
 */

static void old_message(const char *text)
{
    struct sb b = sb_in(&t.a, 0);

    sb_addf(&b, "{\"content\":\"%s\",\"role\":\"user\"}", text);
    struct entry      n = { .at = t.now++,
                            .kind = SV("ai_message"),
                            .lane = SV("default"),
                            .payload = sb_sv(&b),
                            .unsalted = true };
    struct store_head h;
    OK(log_begin(&t.l, THREAD, STORE_WRITE, &t.e));
    OK(log_import(&t.l, THREAD, &n, 1, &h, NULL, NULL, &t.e));
    CHECK_INT(h.version, 1);
    OK(log_commit(&t.l, &t.e));
}

static void a_thread_of_version_1_is_erasable_after_a_rechain(void)
{
    struct rechain_how how = { .actor = SV("tester"), .at = 5 };
    struct store_head  h;

    old_message(SECRET);
    old_message("stays");
    struct sv id = entry_id(&(struct entry){ .chain = entry_at(1).chain }, &t.a);
    struct sv shown = view("default", STORE_TO_END);
    CHECK(erase_one(0, false, false) == ST_INVALID_SYNTAX);
    OK(log_begin(&t.l, THREAD, STORE_WRITE, &t.e));
    OK(log_rechain(&t.l, THREAD, &how, &h, &t.e));
    OK(log_commit(&t.l, &t.e));
    CHECK_INT(h.version, 2);
    CHECK_SV(entry_at(1).id, id);
    CHECK_SV(last_entry().kind, SV("rechain"));
    CHECK_SV(view("default", 1), sv_find(shown, SV("\"at\":1")) >= 0 ? shown : SV("?"));
    check_erased(0);
    OK(log_begin(&t.l, THREAD, STORE_WRITE, &t.e));
    CHECK(log_rechain(&t.l, THREAD, &how, &h, &t.e) == ST_CONFLICT);
    log_abort(&t.l);
    OK(erase_one(0, false, false));
    CHECK_SV(brief("default", STORE_TO_END), SV("CP| u:[erased] u:stays"));
    check_erased(1);
}

/* ---- needles ----------------------------------------------------------------------------------
 */

static void needles_are_found_and_short_ones_refused(void)
{
    struct needles set = needles_in(&t.a);

    CHECK(!needles_find(&set, SV("anything at all")));
    CHECK(!needles_add(&set, SV("  seven  ")));
    for (int i = 0; i < 500; i++) {
        struct sb b = sb_in(&t.a, 0);
        sb_addf(&b, "needle number %d.", i);
        CHECK(needles_add(&set, sb_sv(&b)));
    }
    CHECK(needles_find(&set, SV("x needle number 499. y")));
    CHECK(needles_find(&set, SV("needle number 0.")));
    CHECK(!needles_find(&set, SV("needle number 500.")));
    CHECK(!needles_find(&set, SV("needle")));
    needles_add_text(&set, SV("short\na line that is long enough to be looked for\n"));
    CHECK(needles_find(&set, SV("> a line that is long enough to be looked for")));
    CHECK(!needles_find(&set, SV("> short")));
    CHECK(needles_in_json(&set, SV("{\"a\\u0062\":\"needle\\u0020number 7.\"}")));
}

/* The work of looking for `n` texts in as many bytes as they have themselves, by a byte. */
static int64_t work_per_byte(size_t n, const char *kind)
{
    struct arena   a = { 0 };
    struct needles set = needles_in(&a);
    struct sb      hay = sb_in(&a, 0);
    char           same[257];

    memset(same, 'a', sizeof same - 1);
    same[sizeof same - 1] = '\0';
    for (size_t i = 0; i < n; i++) {
        struct sb b = sb_in(&a, 0);
        if (!strcmp(kind, "alike at the beginning"))
            sb_addf(&b, "every line of this log begins alike %zu.", i);
        else if (!strcmp(kind, "alike at both ends"))
            sb_addf(&b, "the same beginning %08zu and the same end", i);
        else if (!strcmp(kind, "of every length"))
            sb_addf(&b, "%.*s%zub", (int)(8 + i % 240), same, i);
        else if (!strcmp(kind, "one letter again and again"))
            sb_addf(&b, "%s%zu", same, i);
        CHECK(needles_add(&set, sb_sv(&b)));
        sb_add(&hay, sv_of(kind[0] == 'o' ? same
                                          : "every line of this log begins alike, the same "
                                            "beginning 00000001 and another end"));
    }
    CHECK(!needles_find(&set, sb_sv(&hay)));
    int64_t work = (int64_t)needle_table_work(set.table) / (int64_t)sb_sv(&hay).n;
    sb_add(&hay, set.texts.items[n / 2].key);
    CHECK(needles_find(&set, sb_sv(&hay)));
    arena_free(&a);
    return work;
}

static void looking_for_texts_is_linear_whatever_they_begin_with(void)
{
    static const char *const kinds[] = { "alike at the beginning", "alike at both ends",
                                         "of every length", "one letter again and again" };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        int64_t few = work_per_byte(100, kinds[i]), many = work_per_byte(4000, kinds[i]);
        printf("# %s: %lld and %lld steps a byte\n", kinds[i], (long long)few, (long long)many);
        CHECK(few <= 32 && many <= 32);
    }
}

/* Texts of few letters have much in common; a plain search says what is right. */
static void a_search_finds_what_a_plain_one_finds(void)
{
    unsigned state = 7;
    int      found = 0;

    for (int round = 0; round < 3000; round++) {
        struct arena   a = { 0 };
        struct needles set = needles_in(&a);
        struct sv      texts[12];
        size_t         n = 1 + (size_t)round % 12;
        bool           want = false;
        char           hay[200];
        for (size_t i = 0; i < n; i++) {
            size_t length = 8 + (state = state * 1103515245u + 12345u) / 65536 % 24;
            char  *text = ARENA_NEW(&a, char, length);
            for (size_t k = 0; k < length; k++)
                text[k] = (state = state * 1103515245u + 12345u) / 65536 % 3 ? 'x' : 'y';
            texts[i] = (struct sv){ text, length };
            CHECK(needles_add(&set, texts[i]));
        }
        for (size_t k = 0; k < sizeof hay; k++)
            hay[k] = (state = state * 1103515245u + 12345u) / 65536 % 3 ? 'x' : 'y';
        for (size_t i = 0; i < n; i++)
            want = want || sv_find((struct sv){ hay, sizeof hay }, texts[i]) >= 0;
        CHECK_INT(needles_find(&set, (struct sv){ hay, sizeof hay }), want);
        found += want;
        arena_free(&a);
    }
    CHECK(found > 300 && found < 2700);
}

/* ---- what comes between the plan and the erasure ---- */

static void plan_one(struct erase_what *what)
{
    what->thread = THREAD;
    OK(log_begin(&t.l, THREAD, STORE_READ, &t.e));
    OK(erase_find(&t.l, what, &t.a, &plan, &t.e));
    log_abort(&t.l);
}

/* Does the plan hold in a write transaction? */
static bool stands(void)
{
    bool yes = false;

    OK(log_begin(&t.l, THREAD, STORE_WRITE, &t.e));
    OK(erase_check(&t.l, &plan, &yes, &t.e));
    log_abort(&t.l);
    return yes;
}

static void append_note(struct sv thread, const char *text)
{
    struct sb         b = sb_in(&t.a, 0);
    struct store_head h;

    sb_addf(&b, "{\"text\":\"%s\"}", text);
    struct entry n = { .at = t.now++, .kind = SV("note"), .payload = sb_sv(&b) };
    OK(log_begin(&t.l, thread, STORE_WRITE, &t.e));
    OK(log_append(&t.l, thread, LOG_ANY_REV, &n, 1, &h, &t.e));
    OK(log_commit(&t.l, &t.e));
}

static void a_plan_holds_when_nothing_that_came_after_it_concerns_it(void)
{
    struct erase_how  how = { .reason = SV("asked"), .actor = SV("tester"), .at = 9 };
    int64_t           zero = 0, seq;
    struct erase_what what = { .seqs = &zero, .n_seqs = 1 };
    bool              holds = false;

    say("user", SECRET);
    plan_one(&what);
    CHECK(stands());
    say("user", "something else");
    append_note(SV("elsewhere"), "also something else");
    CHECK(stands());
    OK(log_begin(&t.l, THREAD, STORE_WRITE, &t.e));
    OK(erase_check(&t.l, &plan, &holds, &t.e));
    CHECK(holds);
    OK(erase_run(&t.l, &plan, &how, &seq, &t.e));
    OK(log_commit(&t.l, &t.e));
    check_erased(1);
}

static void a_plan_does_not_hold_when_the_text_is_said_again(void)
{
    int64_t           zero = 0;
    struct erase_what what = { .seqs = &zero, .n_seqs = 1 };

    say("user", SECRET);
    plan_one(&what);
    append_note(SV("elsewhere"), SECRET);
    CHECK(!stands());
    plan_one(&what);
    CHECK(stands());
    apply(
        REPLACE("default", "op1", "{\"messages\":[{\"role\":\"user\",\"content\":\"a digest\"}]}"));
    CHECK(!stands()); /* a snapshot that showed it */
    plan_one(&what);
    CHECK_INT(plan.items.n, 3);
    CHECK(stands());
}

static void a_plan_does_not_hold_after_another_erasure_or_more_of_what_is_meant(void)
{
    int64_t           zero = 0;
    struct erase_what what = { .seqs = &zero, .n_seqs = 1 };
    struct erase_what all = { .before = INT64_MAX };

    say("user", SECRET);
    say("user", "a second text of some length");
    plan_one(&what);
    struct erase_plan mine = plan;
    OK(erase_one(1, true, false));
    plan = mine;
    CHECK(!stands());
    plan_one(&all);
    CHECK(stands());
    say("user", "one more");
    CHECK(!stands());
}

static void a_plan_does_not_hold_when_too_much_came_after_it(void)
{
    static struct entry list[ERASE_TAIL];
    int64_t             zero = 0;
    struct erase_what   what = { .seqs = &zero, .n_seqs = 1 };
    struct store_head   h;

    say("user", SECRET);
    plan_one(&what);
    for (size_t i = 0; i < COUNT(list); i++)
        list[i] = (struct entry){ .at = 5, .kind = SV("note"), .payload = SV("{}") };
    OK(log_begin(&t.l, SV("elsewhere"), STORE_WRITE, &t.e));
    OK(log_append(&t.l, SV("elsewhere"), LOG_ANY_REV, list, COUNT(list), &h, &t.e));
    OK(log_commit(&t.l, &t.e));
    CHECK(stands());
    append_note(SV("elsewhere"), "one more");
    CHECK(!stands());
}

THREAD_MAIN(
    T(what_was_said_goes_and_its_place_stays), T(a_snapshot_that_showed_it_is_named_and_refused),
    T(a_snapshot_of_another_lane_is_not_derived), T(a_snapshot_made_of_a_derived_one_is_derived),
    T(the_same_text_is_found_whatever_it_is_packed_into),
    T(ids_and_words_of_a_format_are_not_looked_for),
    T(words_under_the_name_of_an_id_are_looked_for),
    T(summaries_commands_and_answers_are_found_by_structure),
    T(the_summary_of_a_document_goes_with_what_was_written), T(other_threads_are_looked_through),
    T(what_is_left_is_said), T(an_actor_or_a_time_says_what_goes), T(words_are_looked_for_besides),
    T(repeating_what_was_erased_is_a_duplicate),
    T(repeating_an_operation_that_was_erased_is_a_duplicate),
    T(an_erasure_is_pending_until_it_is_done), T(a_thread_of_version_1_is_erasable_after_a_rechain),
    T(needles_are_found_and_short_ones_refused),
    T(looking_for_texts_is_linear_whatever_they_begin_with),
    T(a_search_finds_what_a_plain_one_finds),
    T(a_plan_holds_when_nothing_that_came_after_it_concerns_it),
    T(a_plan_does_not_hold_when_the_text_is_said_again),
    T(a_plan_does_not_hold_after_another_erasure_or_more_of_what_is_meant),
    T(a_plan_does_not_hold_when_too_much_came_after_it), )

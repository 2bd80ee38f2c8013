/* What an agent is sent for a turn, in full: order, blocks, roles, what stays the same. */
#include "assemble_test.h"

/* Do the texts stand in this order? Ends with NULL. */
static void check_order(struct sv text, const char *const *parts)
{
    for (size_t i = 0; parts[i]; i++) {
        ptrdiff_t at = sv_find(text, sv_of(parts[i]));
        CHECK(at >= 0);
        if (at < 0) {
            printf("# not found in its place: %s\n", parts[i]);
            return;
        }
        text = sv_skip(text, (size_t)at + strlen(parts[i]));
    }
}

static void an_aware_agent_gets_the_blocks_in_the_order_of_the_seed(void)
{
    static const char *const order[] = { "SYSTEM\nYou are operating in a loom-aware context.",
                                         "Use → help to see available commands.\n\n",
                                         "=== Operational Memory ===\nPinned:\n  [a7x2] ",
                                         "USER\n[r001] human · 1970-01-12 13:46\n",
                                         "USER\n[a7x2] human · 1970-01-12 13:46\n3 continuations\n"
                                         "---\nWhy does Marie hesitate?\n",
                                         "ASSISTANT\n[b3k9] model · ",
                                         "USER\n=== Loom Context ===\n",
                                         "Position: ... → [b3k9] → [e6p4]*\n",
                                         "USER\n[e6p4] human · 1970-01-12 13:46\n1 continuation\n"
                                         "---\nGo on.\n",
                                         NULL };
    struct assemble_test     x;
    struct assembly          out;
    bool                     ok;

    assemble_test_open(&x, PERM_loom_aware | PERM_loom_write);
    loom_test_run(&x.t, "switch to e6p4", &ok);
    loom_test_run(&x.t, "pin a7x2", &ok);
    struct assembly_request q = assemble_test_request(&x, "Collab");
    CHECK(assemble_test_run(&x, &q, &out) == ST_OK);
    check_order(assemble_test_text(&x, &out.context), order);
    assemble_test_close(&x);
}

static void an_agent_without_loom_aware_gets_the_conversation_alone(void)
{
    struct assemble_test x;
    struct assembly      out;

    assemble_test_open(&x, PERM_ALL);
    struct assembly_request q = assemble_test_request(&x, "Sub");
    q.node = SV("g8r2");
    CHECK(assemble_test_run(&x, &q, &out) == ST_OK);
    CHECK_SV(assemble_test_text(&x, &out.context),
             SV("SYSTEM\n\nUSER\nLet us study Marie.\n\nWhy does Marie hesitate?\n"
                "ASSISTANT\nShe is protecting someone.\nUSER\nWhom?\n"));
    assemble_test_close(&x);
}

static void equal_requests_give_equal_bytes(void)
{
    struct assemble_test x;
    struct assembly      once, twice;

    assemble_test_open(&x, PERM_ALL);
    struct assembly_request q = assemble_test_request(&x, "Collab");
    CHECK(assemble_test_run(&x, &q, &once) == ST_OK && assemble_test_run(&x, &q, &twice) == ST_OK);
    CHECK_SV(assemble_test_text(&x, &once.context), assemble_test_text(&x, &twice.context));
    CHECK_INT(once.tokens, twice.tokens);
    assemble_test_close(&x);
}

static void messages_added_in_a_turn_leave_what_stands_before_them(void)
{
    struct assemble_test x;
    struct assembly      out;

    assemble_test_open(&x, PERM_ALL);
    struct assembly_request q = assemble_test_request(&x, "Collab");
    q.input = SV("And now?");
    CHECK(assemble_test_run(&x, &q, &out) == ST_OK);
    struct sv      before = assemble_test_text(&x, &out.context);
    size_t         tokens = out.tokens;
    struct message answer = message_of_text("assistant", SV("I look.\n→ view a7x2"), &x.t.a);
    struct message result = message_of_text("user", SV("[a7x2] human"), &x.t.a);
    CHECK(assembly_add(&out, &answer, &x.t.e) == ST_OK);
    CHECK(assembly_add(&out, &result, &x.t.e) == ST_OK);
    struct sv after = assemble_test_text(&x, &out.context);
    CHECK(sv_starts(after, before) && after.n > before.n);
    CHECK(out.tokens == tokens + out.added && out.added > 0);
    out.budget = out.tokens;
    CHECK(assembly_add(&out, &answer, &x.t.e) == ST_LIMIT_EXCEEDED);
    CHECK_SV(assemble_test_text(&x, &out.context), after);
    assemble_test_close(&x);
}

/* ---- the budget ------------------------------------------------------------------------- */

/* Counted again, text by text, without what the assembler knows. */
static size_t counted(struct assemble_test *x, const struct assembly *out)
{
    size_t sum = tokens_count(x->tokens, out->context.system_prompt);

    for (size_t i = 0; i < out->context.n; i++) {
        struct json v;
        CHECK(json_parse(out->context.messages[i].content, 0, &x->t.a, &v, &x->t.e) == ST_OK);
        sum += tokens_count(x->tokens, json_sv(&v)) + ASSEMBLY_MESSAGE_TOKENS;
    }
    return sum;
}

static void a_budget_is_never_exceeded_and_every_cut_is_named(void)
{
    static const int     budgets[] = { 600, 800, 1000, 2000, 5000, 20000 };
    struct assemble_test x;
    struct assembly      out;
    bool                 ok;

    assemble_test_open(&x, PERM_ALL);
    assemble_test_grow(&x, 120, 40);
    loom_test_run(&x.t, "pin a7x2", &ok);
    struct assembly_request q = assemble_test_request(&x, "Collab");
    for (int s = ASSEMBLY_AUTO; s < ASSEMBLY_STOP_AT_LIMIT; s++)
        for (size_t i = 0; i < COUNT(budgets); i++) {
            q.budget = budgets[i];
            q.strategy = (enum assembly_strategy)s;
            enum status st = assemble_test_run(&x, &q, &out);
            CHECK(st == ST_OK);
            if (st) {
                printf("# %s\n", x.t.e.text);
                continue;
            }
            CHECK(out.tokens <= (size_t)budgets[i]);
            CHECK(counted(&x, &out) <= out.tokens);
            struct sv text = assemble_test_text(&x, &out.context);
            CHECK(sv_find(text, SV("Why does Marie hesitate?")) >= 0); /* pinned */
            CHECK(sv_find(text, SV("This is message 119.")) >= 0);     /* the input */
            bool pruned = out.pruned.left_out || out.pruned.summarized;
            CHECK(pruned == (out.cuts.n > 0));
            CHECK(pruned == (sv_find(text, SV("\nPruned: ")) >= 0));
        }
    assemble_test_close(&x);
}

TAP_MAIN(T(an_aware_agent_gets_the_blocks_in_the_order_of_the_seed),
         T(an_agent_without_loom_aware_gets_the_conversation_alone),
         T(equal_requests_give_equal_bytes),
         T(messages_added_in_a_turn_leave_what_stands_before_them),
         T(a_budget_is_never_exceeded_and_every_cut_is_named), )

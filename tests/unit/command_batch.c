/* The commands of a turn in a session: lists, places, failed switches, refusals that stop the rest.
 */
#include "base/utf8.h"
#include "loom_test.h"

static struct sv shown(struct loom_test *t, const struct result *r)
{
    struct sb b = sb_in(&t->a, 0);

    result_show(&b, r);
    return sb_sv(&b);
}

static bool holds(struct sv text, const char *part)
{
    bool found = sv_find(text, sv_of(part)) >= 0;

    if (!found)
        printf("# not in: " SV_FMT "\n", SV_ARG(text));
    return found;
}

static size_t nodes(struct loom_test *t)
{
    struct tree tree = { 0 };

    CHECK(log_begin(&t->log, SV("marie"), STORE_READ, &t->e) == ST_OK);
    CHECK(loom_tree(&t->s.loom, &tree, &t->e) == ST_OK);
    log_abort(&t->log);
    return (size_t)tree.nodes;
}

static struct turn take(struct loom_test *t, const char *output)
{
    struct turn turn = { 0 };

    CHECK(session_turn(&t->s, sv_of(output), &turn, &t->e) == ST_OK);
    return turn;
}

static void text_of_a_broken_quotation_is_never_run(void)
{
    static const char *const outputs[] = {
        "→ respond a7x2 \"The terminal printed:\n→ prune d5n7\nand she laughed.",
        "→ respond a7x2 \"She said \"no\" and\n→ prune d5n7\nleft.",
        "→ respond a7x2 \"She said \" no\n→ prune d5n7\nand left.",
    };

    for (size_t i = 0; i < COUNT(outputs); i++) {
        struct loom_test t;
        loom_test_open(&t, PERM_ALL);
        size_t      before = nodes(&t);
        struct turn turn = take(&t, outputs[i]);
        CHECK_INT(turn.n, 1);
        CHECK(turn.n == 1 && !turn.results[0].ok);
        CHECK(holds(shown(&t, &turn.results[0]), "✗ INVALID_SYNTAX: "));
        CHECK(holds(shown(&t, &turn.results[0]), "; 1 line with → after it was not run"));
        CHECK_INT(nodes(&t), before);
        loom_test_close(&t);
    }
}

static void a_list_runs_for_all_or_for_none(void)
{
    struct loom_test t;

    loom_test_open(&t, PERM_ALL);
    struct turn turn = take(&t, "→ bookmark b3k9, c4m2 and d5n7\n→ view a7x2 and nowhere");
    CHECK_INT(turn.n, 4);
    CHECK_SV(shown(&t, &turn.results[0]), SV("✓ bookmarked [b3k9]\n"));
    CHECK_SV(shown(&t, &turn.results[2]), SV("✓ bookmarked [d5n7]\n"));
    CHECK(!turn.results[3].ok);
    CHECK(holds(shown(&t, &turn.results[3]), "nothing of this line was run"));
    turn = take(&t, "→ prune d5n7 and stop");
    CHECK(turn.n == 1 && !turn.results[0].ok);
    turn = take(&t, "→ view d5n7");
    CHECK(turn.results[0].ok);
    loom_test_close(&t);
}

static void places_are_nodes(void)
{
    struct loom_test t;

    loom_test_open(&t, PERM_ALL);
    struct turn turn = take(&t, "→ switch to e6p4\n→ view here\n→ view parent\n→ view root\n"
                                "→ go up\n→ view this\n→ switch to root\n→ view parent\n"
                                "→ annotate here \"the start\"\n→ diff root a7x2");
    CHECK_INT(turn.n, 10);
    CHECK(holds(shown(&t, &turn.results[1]), "[e6p4] "));
    CHECK(holds(shown(&t, &turn.results[2]), "[b3k9] "));
    CHECK(holds(shown(&t, &turn.results[3]), "[r001] "));
    CHECK(holds(shown(&t, &turn.results[5]), "[b3k9] "));
    CHECK(holds(shown(&t, &turn.results[7]), "NOT_FOUND: you are at the root [r001]"));
    CHECK(holds(shown(&t, &turn.results[8]), "added to [r001]"));
    CHECK(turn.results[9].ok);
    turn = take(&t, "→ prune it\n→ switch to root in tree:\"marie\"");
    CHECK(holds(shown(&t, &turn.results[0]), "'it' does not name a node"));
    CHECK(holds(shown(&t, &turn.results[1]), "root is a place of this tree"));
    loom_test_close(&t);
}

static void after_a_failed_switch_nothing_is_written_at_the_old_place(void)
{
    static const char *const switches[] = { "→ switch to zz99\n", "→ go to it\n",
                                            "- → switch to b3k9\n" };

    for (size_t i = 0; i < COUNT(switches); i++) {
        struct loom_test t;
        struct sb        b;
        loom_test_open(&t, PERM_ALL);
        (void)take(&t, "→ switch to d5n7");
        b = sb_in(&t.a, 0);
        sb_addf(&b,
                "%s→ respond \"lost\"\n→ continue\n→ bookmark here\n→ pin here\n→ path\n"
                "→ respond b3k9 \"named\"\n→ switch to c4m2\n→ respond \"found\"",
                switches[i]);
        sb_addc(&b, '\0');
        struct turn turn = take(&t, sb_sv(&b).s);
        CHECK_INT(turn.n, 9);
        for (size_t k = 0; k < 5 && turn.n == 9; k++)
            CHECK(!turn.results[k].ok);
        CHECK(holds(shown(&t, &turn.results[1]), "✗ CONFLICT: not run: "));
        CHECK(holds(shown(&t, &turn.results[1]), "you are still at [d5n7]"));
        CHECK(turn.results[5].ok && turn.results[6].ok && turn.results[7].ok);
        CHECK(holds(shown(&t, &turn.results[8]), "as continuation from [c4m2]"));
        turn = take(&t, "→ list d5n7 continuations");
        CHECK_SV(shown(&t, &turn.results[0]), SV("[d5n7] → 0 continuations\n"));
        loom_test_close(&t);
    }
}

static void who_may_only_use_documents_has_commands_too(void)
{
    struct loom_test t;

    loom_test_open(&t, PERM_doc_read | PERM_doc_write);
    struct turn turn = take(&t, "→ read doc:\"character notes\" summary\n→ view a7x2");
    CHECK(!turn.has_node);
    CHECK_INT(turn.n, 2);
    CHECK(turn.n == 2 && turn.results[0].ok);
    CHECK(turn.n == 2 && holds(shown(&t, &turn.results[1]), "PERMISSION_DENIED"));
    loom_test_close(&t);
    loom_test_open(&t, 0);
    turn = take(&t, "→ view a7x2");
    CHECK(turn.has_node && turn.n == 0);
    loom_test_close(&t);
}

static void what_looks_like_a_command_is_answered_and_kept(void)
{
    struct loom_test t;

    loom_test_open(&t, PERM_ALL);
    struct turn turn = take(&t, "I would do this:\n- → prune d5n7\nand then go.");
    CHECK(turn.has_node);
    CHECK_INT(turn.n, 1);
    CHECK_SV(shown(&t, &turn.results[0]),
             SV("✗ INVALID_SYNTAX: not run: a command is a line that starts with →\n"
                "  hint: → prune d5n7\n"));
    turn = take(&t, "→ view here full\n→ view d5n7");
    CHECK(holds(shown(&t, &turn.results[0]), "- → prune d5n7"));
    CHECK(turn.results[1].ok);
    loom_test_close(&t);
}

/* Excerpts and previews of texts without blanks: whole characters, and more than the first word. */
static void excerpts_are_cut_between_characters(void)
{
    struct loom_test t;
    struct sb        b;

    loom_test_open(&t, PERM_ALL);
    for (int i = 0; i < 4; i++) {
        b = sb_in(&t.a, 0);
        sb_adds(&b, "→ respond a7x2 \"I ");
        for (int k = 0; k < i; k++)
            sb_addc(&b, 'x');
        for (int k = 0; k < 30; k++)
            sb_adds(&b, "天地玄黄");
        sb_adds(&b, "needle宇宙洪荒\"");
        sb_addc(&b, '\0');
        struct turn turn = take(&t, sb_sv(&b).s);
        CHECK(turn.n == 1 && turn.results[0].ok);
    }
    struct turn turn = take(&t, "→ find \"needle\"\n→ list a7x2 continuations");
    struct sv   found = shown(&t, &turn.results[0]), list = shown(&t, &turn.results[1]);
    CHECK(utf8_invalid(found) < 0 && utf8_invalid(list) < 0);
    CHECK(sv_find(found, SV("\xef\xbf\xbd")) < 0);
    CHECK(holds(found, "needle"));
    CHECK(holds(list, "I 天地玄黄天地"));
    loom_test_close(&t);
}

static void many_lines_that_look_like_commands_do_not_spoil_a_turn(void)
{
    struct loom_test t;
    struct sb        b;

    loom_test_open(&t, PERM_ALL);
    b = sb_in(&t.a, 0);
    sb_adds(&b, "A guide:\n");
    for (int i = 0; i < 300; i++)
        sb_adds(&b, "- → view a7x2\n");
    sb_addc(&b, '\0');
    struct turn turn = take(&t, sb_sv(&b).s);
    CHECK(turn.has_node);
    CHECK_INT(turn.n, 20);
    CHECK(holds(shown(&t, &turn.results[19]), "further lines like this one are not answered"));
    loom_test_close(&t);
}

/* At a prompt each answer is read before the next line is written. */
static void a_failed_switch_is_forgotten_at_the_prompt(void)
{
    struct loom_test t;
    struct turn      turn;

    loom_test_open(&t, PERM_ALL);
    CHECK(session_lines(&t.s, SV("switch to zz99"), &turn, &t.e) == ST_OK);
    CHECK(turn.n == 1 && !turn.results[0].ok);
    CHECK(session_lines(&t.s, SV("bookmark here"), &turn, &t.e) == ST_OK);
    CHECK(turn.n == 1 && turn.results[0].ok);
    CHECK(session_lines(&t.s, SV("view a7x2, b3k9"), &turn, &t.e) == ST_OK);
    CHECK_INT(turn.n, 2);
    loom_test_close(&t);
}

TAP_MAIN(T(many_lines_that_look_like_commands_do_not_spoil_a_turn),
         T(a_failed_switch_is_forgotten_at_the_prompt), T(excerpts_are_cut_between_characters),
         T(text_of_a_broken_quotation_is_never_run), T(a_list_runs_for_all_or_for_none),
         T(places_are_nodes), T(after_a_failed_switch_nothing_is_written_at_the_old_place),
         T(who_may_only_use_documents_has_commands_too),
         T(what_looks_like_a_command_is_answered_and_kept), )

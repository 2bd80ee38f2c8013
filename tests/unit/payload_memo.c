/* Memos and reports: files that people and other programs write. */
#include "tap.h"

#include "payload/memo.h"
#include "payload/report.h"
#include "payload/session.h"

static struct arena a;

static struct sv nth(struct sv file, size_t i)
{
    memo_list  all;
    struct err e;

    CHECK(memo_read(file, &a, &all, &e) == ST_OK);
    return i < all.n ? all.v[i].text : (struct sv){ 0 };
}

static void every_way_to_write_a_string_is_read(void)
{
    struct sv file =
        SV("# head\n- plain text # note\n- 'it''s'\n- \"a\\n\\u00e9\"\n\n- long\n  line\n"
           "- |\n  one\n  two\n- >\n  x\n  y\n-\n- last");

    CHECK_SV(nth(file, 0), SV("plain text"));
    CHECK_SV(nth(file, 1), SV("it's"));
    CHECK_SV(nth(file, 2), SV("a\n\xc3\xa9"));
    CHECK_SV(nth(file, 3), SV("long line"));
    CHECK_SV(nth(file, 4), SV("one\ntwo"));
    CHECK_SV(nth(file, 5), SV("x y"));
    CHECK_SV(nth(file, 6), SV(""));
    CHECK_SV(nth(file, 7), SV("last"));
    CHECK(!nth(file, 8).s);
    CHECK(!nth(SV(""), 0).s);
    CHECK(!nth(SV("[]\n"), 0).s);
}

static void what_is_no_list_is_refused(void)
{
    memo_list  all;
    struct err e;

    CHECK(memo_read(SV("key: value\n"), &a, &all, &e) == ST_INVALID_SYNTAX);
    CHECK(memo_read(SV("- a\nb\n"), &a, &all, &e) == ST_INVALID_SYNTAX);
    CHECK(memo_read(SV("- 'open\n"), &a, &all, &e) == ST_INVALID_SYNTAX);
}

static void adding_keeps_every_other_byte(void)
{
    CHECK_SV(memo_added(SV(""), SV("a"), &a), SV("- a\n"));
    CHECK_SV(memo_added(SV("- x"), SV("a"), &a), SV("- x\n- a\n"));
    CHECK_SV(memo_added(SV("# c\r\n- x\r\n"), SV("a"), &a), SV("# c\r\n- x\r\n- a\r\n"));
    CHECK_SV(memo_added(SV("  - x\n"), SV("a"), &a), SV("  - x\n  - a\n"));
    CHECK_SV(memo_added(SV("[]\n"), SV("a"), &a), SV("- a\n"));
}

static void what_is_added_is_read_back(void)
{
    static const char *const texts[] = {
        "plain", "a: b",        "- dash",    "#hash",      "a # b",     "true",    "12", "it's",
        "\"q\"", "back\\slash", "tab\there", "two\nlines", "[x]",       "{x}",     "*a", "&a",
        "!t",    "%d",          "@x",        "`x`",        "trailing:", "\xc3\xa9"
    };

    for (size_t i = 0; i < COUNT(texts); i++)
        CHECK_SV(nth(memo_added(SV("- first\n"), sv_of(texts[i]), &a), 1), sv_of(texts[i]));
}

static void removing_takes_whole_items(void)
{
    struct sv  file = SV("# head\n- a\n# about b\n- b\n  more\n\n- c\n");
    memo_list  all;
    struct err e;

    CHECK(memo_read(file, &a, &all, &e) == ST_OK && all.n == 3);
    CHECK_SV(memo_removed(file, &all.v[1], &a), SV("# head\n- a\n# about b\n\n- c\n"));
    CHECK_SV(memo_removed(file, &all.v[0], &a), SV("# head\n# about b\n- b\n  more\n\n- c\n"));
}

static void both_forms_of_a_report_are_read(void)
{
    struct report_actions r;

    report_read(SV("# Execution Report: x\n## 2. Execution Summary\n### Action Log\n"
                   "#### `READ`\n- **Status:** ✅ Completed\n- **Resource:** [src/a.c](/src/a.c)\n"
                   "#### `PRUNE`\n- **Status:** Completed\n- **Resource:** [old.c](/old.c)\n"),
                &a, &r);
    CHECK_INT(r.actions.n, 2);
    CHECK(r.actions.v[0].kind == ACTION_READ && r.actions.v[0].outcome == ACTION_DONE);
    CHECK_SV(r.actions.v[0].target, SV("src/a.c"));
    CHECK(r.actions.v[1].kind == ACTION_PRUNE);
    CHECK_SV(r.actions.v[1].target, SV("old.c"));
    CHECK(!r.has_user_request);
    report_read(SV("# R\n## User Request\nhi\n## Action Log\n### `EDIT`: [b.c](/b.c)\n- "
                   "**Status:** FAILURE\n"
                   "### `READ`: .gitignore\n- **Status:** SUCCESS\n- **Lines:** 1-5\n"
                   "### READ: x\n- **Status:** SKIPPED\n````\n### `READ`: in-a-fence\n````\n"
                   "### Summary of READ\n"),
                &a, &r);
    CHECK(r.has_user_request);
    CHECK_INT(r.actions.n, 3);
    CHECK(r.actions.v[0].kind == ACTION_EDIT && r.actions.v[0].outcome == ACTION_FAILED);
    CHECK_SV(r.actions.v[0].target, SV("b.c"));
    CHECK_SV(r.actions.v[1].target, SV(".gitignore")); /* keeps its dot */
    CHECK(r.actions.v[1].is_range);
    CHECK(r.actions.v[2].outcome == ACTION_SKIPPED);
    CHECK(report_plan_has_message(SV("# Plan\n## Message\nhello\n")));
    CHECK(!report_plan_has_message(SV("# Plan\n```\n## Message\n```\n### Message\n")));
}

static void a_turn_is_found_by_its_number(void)
{
    struct session_place p = session_place_of(SV(".teddy/sessions/s/01"));

    CHECK_SV(p.session, SV(".teddy/sessions/s"));
    CHECK_SV(p.turn, SV(".teddy/sessions/s/01"));
    p = session_place_of(SV(".teddy/old/07/deeper"));
    CHECK_SV(p.session, SV(".teddy/old"));
    CHECK_SV(p.turn, SV(".teddy/old/07"));
    p = session_place_of(SV(".teddy/sessions/s"));
    CHECK(p.session.n && !p.turn.n);
    p = session_place_of(SV(".teddy/sessions/s/02-branch"));
    CHECK(p.session.n && !p.turn.n);
    CHECK(!session_place_of(SV(".teddy/prompts")).session.n);
    CHECK(!session_place_of(SV("src/01")).session.n);
    CHECK(!session_place_of(SV("")).session.n);
}

TAP_MAIN(T(every_way_to_write_a_string_is_read), T(what_is_no_list_is_refused),
         T(adding_keeps_every_other_byte), T(what_is_added_is_read_back),
         T(removing_takes_whole_items), T(both_forms_of_a_report_are_read),
         T(a_turn_is_found_by_its_number), )

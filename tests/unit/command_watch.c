/* An output while it comes: what is shown when, and where it ends. */
#include "command/scan_watch.h"

#include "tap.h"

static struct arena a;
static struct sb    seen;

static void note(void *ctx, enum watch_part what, struct sv text)
{
    static const char words[] = { 'p', 'c', 't' };

    (void)ctx;
    sb_addf(&seen, "%c<" SV_FMT ">", words[what], SV_ARG(text));
}

static struct scan_watch w;

static void begin(void)
{
    seen = sb_in(&a, 0);
    scan_watch_init(&w, &a, note, NULL);
}

/* What is shown because of this piece. */
static bool shows(const char *piece, const char *want)
{
    seen.n = 0;
    scan_watch_feed(&w, sv_of(piece));
    CHECK_SV(sb_sv(&seen), sv_of(want));
    return !w.is_over;
}

static void prose_is_shown_at_once_but_for_the_start_of_a_line(void)
{
    begin();
    CHECK(shows("Hel", "p<Hel>"));
    CHECK(shows("lo", "p<lo>"));
    CHECK(shows(".\n", "p<.\n>"));
    CHECK(shows("  ", ""));
    CHECK(shows("x", "p<  x>"));
    CHECK(shows(" → y\n", "p< → y\n>"));
    CHECK(shows("\xe2", ""));
    CHECK(shows("\x80\x9cSo", "p<“So>"));
    CHECK(shows("\n\n", "p<\n>p<\n>"));
    scan_watch_end(&w);
    CHECK_SV(scan_watch_text(&w), SV("Hello.\n  x → y\n“So\n\n"));
}

static void a_command_is_shown_when_it_is_whole(void)
{
    begin();
    CHECK(shows("I look.\n\xe2\x86", "p<I look.\n>"));
    CHECK(shows("\x92 view a7", ""));
    CHECK(shows("x2\n", "c<→ view a7x2>"));
    CHECK(shows("→ respond \"one\n", ""));
    CHECK(shows("→ prune r001\n", "")); /* inside of the quotation */
    CHECK(shows("two\"\n\n", "c<→ respond \"one\n→ prune r001\ntwo\">"));
    CHECK(shows("   → tree", ""));
    seen.n = 0;
    scan_watch_end(&w);
    CHECK_SV(sb_sv(&seen), SV("c<→ tree>"));
    CHECK(!w.is_over);
}

static void prose_after_a_batch_ends_it_with_its_first_letter(void)
{
    begin();
    CHECK(shows("→ view a7x2\n→ view b3k9\n→ list a7x2 annotations\n\n",
                "c<→ view a7x2>c<→ view b3k9>c<→ list a7x2 annotations>"));
    CHECK(shows("- ", "")); /* perhaps "- → view", which is answered */
    CHECK(shows("→ tree\n", ""));
    CHECK(!shows("I", ""));
    CHECK(!shows(" see that it is so.", ""));
    scan_watch_end(&w);
    CHECK_SV(scan_watch_rest(&w), SV("I see that it is so."));
    struct scan scan;
    scan_output(scan_watch_text(&w), &a, &scan);
    CHECK_INT(scan.commands, 3);
    CHECK_INT(scan.n, 4);
    CHECK(!scan.discarded.s);
    begin(); /* a list that is none */
    CHECK(shows("→ tree\n1", "c<→ tree>"));
    CHECK(shows(". First, ", ""));
    CHECK(!shows("we look.\n", ""));
    scan_watch_end(&w);
    CHECK_SV(scan_watch_rest(&w), SV("1. First, we look.\n"));
}

static void thoughts_and_fences_hold_no_commands(void)
{
    begin();
    CHECK(shows("→ think\n", "t<→ think>"));
    CHECK(shows("→ prune r001\n", "t<→ prune r001>"));
    CHECK(shows("←\n", "t<←>"));
    CHECK(
        shows("Prose.\n```\n→ prune r001\n```\n", "p<Prose.\n>p<```\n>p<→ prune r001\n>p<```\n>"));
    CHECK(shows("→ tree\n", "c<→ tree>"));
    CHECK(shows("→ think once ←\n", "t<→ think once ←>"));
    CHECK(!shows("And on.", ""));
    scan_watch_end(&w);
    struct scan scan;
    scan_output(scan_watch_text(&w), &a, &scan);
    CHECK_INT(scan.commands, 1);
    CHECK_INT(scan.n, 3);
}

static void a_quotation_that_cannot_be_read_ends_it(void)
{
    begin();
    CHECK(!shows("→ respond a7x2 \"one\" two\" three\"\n→ prune r001\n",
                 "c<→ respond a7x2 \"one\" two\" three\">"));
    scan_watch_end(&w);
    CHECK_SV(scan_watch_rest(&w), SV("→ prune r001\n"));
}

/* Each of these took hours if every piece were looked at with all that came before it. */
static void cost_grows_with_the_output(void)
{
    static const char *const pieces[] = { "x", " ", "→ respond \"a\nb'c ", "→ think ", "\"", "«" };

    for (size_t i = 0; i < COUNT(pieces); i++) {
        begin();
        w.show = NULL;
        for (int k = 0; k < 300000; k++)
            if (scan_watch_feed(&w, sv_of(pieces[i])))
                break;
        scan_watch_end(&w);
        arena_free(&a);
    }
    begin();
    w.show = NULL;
    scan_watch_feed(&w, SV("→ respond «"));
    for (int k = 0; k < 100000; k++)
        scan_watch_feed(&w, SV("it's \"so\"\n"));
    CHECK(!scan_watch_feed(&w, SV("»\n")));
    scan_watch_end(&w);
    arena_free(&a);
}

TAP_MAIN(T(prose_is_shown_at_once_but_for_the_start_of_a_line),
         T(a_command_is_shown_when_it_is_whole),
         T(prose_after_a_batch_ends_it_with_its_first_letter),
         T(thoughts_and_fences_hold_no_commands), T(a_quotation_that_cannot_be_read_ends_it),
         T(cost_grows_with_the_output), )

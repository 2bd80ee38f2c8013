/* Tables for a terminal: how wide their columns are, what is cut, what is coloured. */
#include "api/term.h"
#include "tap.h"

static struct arena a;

static struct sv table(size_t width, bool colour, const char *const rows[][3], size_t n)
{
    static const char *const heads[] = { "ID", "STATE", "TITLE", NULL };
    struct sb                out = sb_in(&a, 0);
    struct term              t = { .out = &out, .a = &a, .width = width, .colour = colour };
    struct term_table        table = { .heads = heads };

    for (size_t i = 0; i < n; i++)
        term_row(&table, &a,
                 (struct sv[]){ sv_of(rows[i][0]), sv_of(rows[i][1]), sv_of(rows[i][2]) });
    term_table(&table, &t);
    return sb_sv(&out);
}

static const char *const two[][3] = {
    { "a", "open", "a title of some length" },
    { "b-long-name", "closed", "x" },
};

static void without_a_width_nothing_is_cut(void)
{
    CHECK_SV(table(0, false, two, 2), SV("ID           STATE   TITLE\n"
                                         "a            open    a title of some length\n"
                                         "b-long-name  closed  x\n"));
    CHECK_SV(table(80, false, two, 2), table(0, false, two, 2));
    CHECK_SV(table(0, false, two, 0), SV(""));
}

static void the_widest_column_is_cut_first(void)
{
    CHECK_SV(table(35, false, two, 2), SV("ID           STATE   TITLE\n"
                                          "a            open    a title of so…\n"
                                          "b-long-name  closed  x\n"));
    CHECK_SV(table(29, false, two, 2), SV("ID           STATE   TITLE\n"
                                          "a            open    a title…\n"
                                          "b-long-name  closed  x\n"));
}

static void ids_are_cut_last(void)
{
    CHECK_SV(table(28, false, two, 2), SV("ID          STATE   TITLE\n"
                                          "a           open    a title…\n"
                                          "b-long-na…  closed  x\n"));
}

static void no_column_is_cut_to_nothing(void)
{
    struct sv narrow = table(1, false, two, 2);

    CHECK_SV(narrow, table(2, false, two, 2));
    CHECK(sv_find(narrow, SV("b-long-…  closed  x\n")) >= 0);
}

static void wide_characters_take_two_columns(void)
{
    static const char *const rows[][3] = { { "a", "open", "漢字漢字漢字漢字漢字" } };

    CHECK_SV(table(25, false, rows, 1), SV("ID  STATE  TITLE\na   open   漢字漢字漢字…\n"));
    CHECK_SV(table(26, false, rows, 1), SV("ID  STATE  TITLE\na   open   漢字漢字漢字漢…\n"));
}

static void text_of_others_is_harmless_and_one_line(void)
{
    static const char *const rows[][3] = { { "a", "\x1b[31mred", "one\ntwo" } };

    CHECK_SV(table(0, true, rows, 1),
             SV("\x1b[1mID\x1b[0m  \x1b[1mSTATE\x1b[0m        \x1b[1mTITLE\x1b[0m\n"
                "\x1b[36ma\x1b[0m   \\x1b[31mred  one\n"));
}

TAP_MAIN(T(without_a_width_nothing_is_cut), T(the_widest_column_is_cut_first), T(ids_are_cut_last),
         T(no_column_is_cut_to_nothing), T(wide_characters_take_two_columns),
         T(text_of_others_is_harmless_and_one_line), )

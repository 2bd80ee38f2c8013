#include "base/path.h"

#include "tap.h"

static struct arena a;
static struct err   e;

static struct sv normal(struct sv path)
{
    struct sv out;

    return path_normal(path, &a, &out, &e) ? SV("REFUSED") : out;
}

static void a_path_has_one_form(void)
{
    static const struct {
        const char *path, *form;
    } cases[] = {
        { "", "" },
        { ".", "" },
        { "/", "" },
        { "//", "" },
        { "./.", "" },
        { "a", "a" },
        { "/a", "a" },
        { "a/", "a" },
        { "a//b", "a/b" },
        { "./a/./b/.", "a/b" },
        { "a/..", "" },
        { "a/b/..", "a" },
        { "a/b/../c", "a/c" },
        { "a/../b", "b" },
        { "a/b/c/../../d", "a/d" },
        { "a\\b", "a/b" },
        { "\\a\\", "a" },
        { ".hidden", ".hidden" },
        { "...", "..." },
        { "..a", "..a" },
        { "a..", "a.." },
        { "a b/\xc3\xa9", "a b/\xc3\xa9" },
        { "\xff", "\xff" }, /* names of files are bytes */
        { "..", "REFUSED" },
        { "/..", "REFUSED" },
        { "../a", "REFUSED" },
        { "a/../..", "REFUSED" },
        { "a/../../a", "REFUSED" },
        { "..\\a", "REFUSED" },
        { "./..", "REFUSED" },
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sv got = normal(sv_of(cases[i].path));
        CHECK_SV(got, sv_of(cases[i].form));
        if (!sv_is(got, "REFUSED"))
            CHECK_SV(normal(got), got); /* and it is its own form */
    }
    CHECK_SV(normal(SV("a\0b")), SV("REFUSED"));
    CHECK_INT(e.code, ST_INVALID_SYNTAX);
}

static void joining_puts_one_slash_between(void)
{
    CHECK_SV(path_join(SV("a"), SV("b"), &a), SV("a/b"));
    CHECK_SV(path_join(SV("a/"), SV("b"), &a), SV("a/b"));
    CHECK_SV(path_join(SV(""), SV("b"), &a), SV("b"));
    CHECK_SV(path_join(SV("/"), SV("b"), &a), SV("/b"));
}

static void the_last_part_and_the_rest(void)
{
    CHECK_SV(path_base(SV("a/b/c")), SV("c"));
    CHECK_SV(path_base(SV("c")), SV("c"));
    CHECK_SV(path_base(SV("a/")), SV(""));
    CHECK_SV(path_dir(SV("a/b/c")), SV("a/b"));
    CHECK_SV(path_dir(SV("c")), SV(""));
    CHECK_SV(path_dir(SV("/c")), SV(""));
}

static void good_names_pass(void)
{
    static const char *const names[] = { "a",         "A-b_c.9", "x y z", "\xc3\xa9t\xc3\xa9",
                                         "two words", "a..b",    "a.",    "\xf0\x9f\x98\x80",
                                         "-x",        "*" };

    for (size_t i = 0; i < COUNT(names); i++)
        CHECK_INT(name_check(sv_of(names[i]), "name", &e), ST_OK);
}

static void bad_names_are_refused_with_a_hint(void)
{
    static const char *const names[] = {
        ".",    "..",   "../x", ".hidden", "a/b",  "/",        "/abs",          "a\\b",
        "a\nb", "\x1b", "\x7f", "\xff",    "\xc3", "\xc2\x85", "a\xed\xa0\x80",
    };

    for (size_t i = 0; i < COUNT(names); i++) {
        CHECK_INT(name_check(sv_of(names[i]), "thread id", &e), ST_INVALID_SYNTAX);
        CHECK(strstr(e.text, "thread id") == e.text);
        CHECK(e.hint[0]);
        for (const char *p = e.text; *p; p++)
            CHECK((unsigned char)*p >= 0x20); /* the message itself is printable */
    }
    CHECK_INT(name_check(SV("a\0b"), "name", &e), ST_INVALID_SYNTAX);
    CHECK_INT(name_check(SV(""), "name", &e), ST_INVALID_SYNTAX);
}

static void names_have_a_longest_length(void)
{
    char name[NAME_MAX_BYTES + 1];

    memset(name, 'n', sizeof name);
    CHECK_INT(name_check((struct sv){ name, NAME_MAX_BYTES }, "name", &e), ST_OK);
    CHECK_INT(name_check((struct sv){ name, NAME_MAX_BYTES + 1 }, "name", &e), ST_LIMIT_EXCEEDED);
    CHECK(strstr(e.hint, "128") != NULL);
}

TAP_MAIN(T(a_path_has_one_form), T(joining_puts_one_slash_between), T(the_last_part_and_the_rest),
         T(good_names_pass), T(bad_names_are_refused_with_a_hint), T(names_have_a_longest_length), )

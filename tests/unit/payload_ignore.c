/* Globs and pattern files by themselves; payload_git_oracle.c asks git about thousands. */
#include "tap.h"

#include "base/sb.h"
#include "project/gitconfig.h"
#include "project/glob.h"
#include "project/ignore.h"

static bool matches(const char *pattern, const char *text)
{
    struct arena       a = { 0 };
    const struct glob *g = glob_in(sv_of(pattern), &a);
    bool               yes = g && glob_match(g, sv_of(text));

    arena_free(&a);
    return yes;
}

static void stars_stay_within_a_component(void)
{
    CHECK(matches("*.c", "main.c"));
    CHECK(!matches("*.c", "src/main.c"));
    CHECK(matches("src/*/x", "src/a/x"));
    CHECK(!matches("src/*/x", "src/a/b/x"));
    CHECK(matches("a*b*c", "aXbYc"));
    CHECK(!matches("a*b*c", "aXbY"));
    CHECK(matches("", ""));
    CHECK(!matches("?", "/"));
}

static void two_stars_take_whole_components(void)
{
    CHECK(matches("**/x", "x"));
    CHECK(matches("**/x", "a/b/x"));
    CHECK(!matches("**/x", "ax"));
    CHECK(matches("a/**", "a/b/c"));
    CHECK(matches("a/**/b", "a/b"));
    CHECK(matches("a/**/b", "a/x/y/b"));
    CHECK(!matches("a/**/b", "ab"));
    CHECK(!matches("a**b", "a/b")); /* not between slashes: as one star */
    CHECK(matches("**/*.c", "a/b.c/d.c"));
}

static void sets_have_ranges_classes_and_escapes(void)
{
    CHECK(matches("[a-c]x", "bx"));
    CHECK(!matches("[!a-c]x", "bx"));
    CHECK(matches("[^a]", "b"));
    CHECK(matches("[]]", "]"));
    CHECK(matches("[[:digit:]]", "7"));
    CHECK(!matches("[[:digit:]]", "a"));
    CHECK(matches("[\\]]", "]"));
    CHECK(matches("[a\\-z]", "-"));
    CHECK(!matches("[z-a]", "m"));
    CHECK(!matches("[a", "a"));
    CHECK(!matches("[[:nope:]]", "n"));
    CHECK(matches("\\*", "*"));
    CHECK(!matches("a\\", "a\\"));
}

/* Patterns that blow up a matcher which tries every way. The time would show it: here it
 * is enough that it ends. */
static void many_stars_end(void)
{
    struct arena a = { 0 };
    struct sb    pattern = sb_in(&a, 0), text = sb_in(&a, 0);

    for (int i = 0; i < 40; i++)
        sb_adds(&pattern, "**/a*a*");
    sb_adds(&pattern, "b");
    for (int i = 0; i < 400; i++)
        sb_adds(&text, "aaaaaaaaaa/");
    const struct glob *g = glob_in(sb_sv(&pattern), &a);
    CHECK(g && !glob_match(g, sb_sv(&text)));
    arena_free(&a);
}

/* '-' out, '+' brought back, '.' not mentioned. */
static char verdict(const char *file, const char *path, bool is_dir)
{
    struct arena         a = { 0 };
    const struct ignore *g = ignore_in(sv_of(file), &a);
    int                  line = ignore_match(g, sv_of(path), is_dir);
    char                 c = line < 0 ? '.' : ignore_is_negated(g, line) ? '+' : '-';

    arena_free(&a);
    return c;
}

static void the_last_line_that_matches_counts(void)
{
    CHECK_INT(verdict("*.log\n!keep.log\n", "a.log", false), '-');
    CHECK_INT(verdict("*.log\n!keep.log\n", "keep.log", false), '+');
    CHECK_INT(verdict("!keep.log\n*.log\n", "keep.log", false), '-');
    CHECK_INT(verdict("a\n", "b", false), '.');
    CHECK_INT(verdict("", "b", false), '.');
}

static void a_slash_anchors_and_a_trailing_one_means_folders(void)
{
    CHECK_INT(verdict("/build\n", "build", true), '-');
    CHECK_INT(verdict("/build\n", "src/build", true), '.');
    CHECK_INT(verdict("a/b\n", "a/b", false), '-');
    CHECK_INT(verdict("a/b\n", "x/a/b", false), '.');
    CHECK_INT(verdict("out/\n", "x/out", true), '-');
    CHECK_INT(verdict("out/\n", "out", false), '.');
    CHECK_INT(verdict("/\n", "x", true), '.');
    CHECK_INT(verdict("lib\n!lib/\n", "lib", true), '+');
    CHECK_INT(verdict("lib\n!lib/\n", "lib", false), '-');
}

static void comments_blanks_and_line_ends(void)
{
    CHECK_INT(verdict("# a\n", "# a", false), '.');
    CHECK_INT(verdict("\\#a\n", "#a", false), '-');
    CHECK_INT(verdict("\\!a\n", "!a", false), '-');
    CHECK_INT(verdict("a  \n", "a", false), '-');
    CHECK_INT(verdict("a\\ \n", "a ", false), '-');
    CHECK_INT(verdict("a\r\n", "a", false), '-');
    CHECK_INT(verdict("\xef\xbb\xbf"
                      "a\n",
                      "a", false),
              '-');
    CHECK_INT(verdict("a", "a", false), '-');
    CHECK_INT(verdict("*.tar.gz\n", "x.tar.gz", false), '-');
    CHECK_INT(verdict("*.gz\n", "x.tar.gz", false), '-');
    CHECK_INT(verdict("*gz\n", "x.tar.gz", false), '-');
}

static char folded_verdict(const char *file, const char *path)
{
    struct arena         a = { 0 };
    const struct ignore *g = ignore_in_folded(sv_of(file), &a);
    int                  line = ignore_match(g, sv_of(path), false);

    arena_free(&a);
    return line < 0 ? '.' : '-';
}

static void case_may_not_count(void)
{
    static const char *const match[][2] = {
        { "Foo\n", "fOO" },       { "*.O\n", "x.o" },           { "/A/b\n", "a/B" },
        { "A/*.C\n", "a/x.c" },   { "[A-C]x\n", "BX" },         { "[[:upper:]]\n", "a" },
        { "*BAR*\n", "xbarfoo" }, { "*.Tar.gz\n", "a.TAR.GZ" },
    };

    for (size_t i = 0; i < COUNT(match); i++)
        CHECK_INT(folded_verdict(match[i][0], match[i][1]), '-');
    CHECK_INT(folded_verdict("\\A\n", "A"), '.'); /* git's ways, see glob.h */
    CHECK_INT(folded_verdict("[A]\n", "a"), '.');
    CHECK_INT(verdict("Foo\n", "foo", false), '.');
}

static void a_negated_line_may_reach_below_a_folder(void)
{
    struct arena         a = { 0 };
    const struct ignore *g = ignore_in(SV("!dist/index.html\n!docs/*/x\n"), &a);
    const struct ignore *names = ignore_in(SV("!.env\n"), &a);

    CHECK(ignore_may_bring_back(g, SV("dist"), false));
    CHECK(!ignore_may_bring_back(g, SV("dist2"), false));
    CHECK(!ignore_may_bring_back(g, SV("node_modules"), false));
    CHECK(ignore_may_bring_back(g, SV("docs"), false));
    CHECK(ignore_may_bring_back(g, SV("docs/a"), false));
    CHECK(ignore_may_bring_back(names, SV("any"), false));
    CHECK(!ignore_may_bring_back(names, SV("any"), true));
    CHECK(!ignore_may_bring_back(NULL, SV("any"), false));
    arena_free(&a);
}

static void git_configuration_is_read_as_git_reads_it(void)
{
    struct arena a = { 0 };

    CHECK_SV(gitconfig_value(SV("[core]\n\texcludesFile = ~/x # why\n"), "core.excludesfile", &a),
             SV("~/x"));
    CHECK_SV(gitconfig_value(SV("[CORE] ExcludesFile=\"a # b\"\n"), "core.excludesfile", &a),
             SV("a # b"));
    CHECK_SV(gitconfig_value(SV("[core \"sub\"]\nexcludesfile=a\n[core]\nexcludesfile = b\\\nc\n"),
                             "core.excludesfile", &a),
             SV("bc"));
    CHECK_SV(gitconfig_value(SV("[core]\nexcludesfile=a\n[core]\nexcludesfile=b\n"),
                             "core.excludesfile", &a),
             SV("b"));
    CHECK(!gitconfig_value(SV("[other]\nexcludesfile=a\n"), "core.excludesfile", &a).s);
    CHECK(!gitconfig_value(SV("[core"), "core.excludesfile", &a).s);
    arena_free(&a);
}

TAP_MAIN(T(stars_stay_within_a_component), T(two_stars_take_whole_components),
         T(sets_have_ranges_classes_and_escapes), T(many_stars_end),
         T(the_last_line_that_matches_counts), T(a_slash_anchors_and_a_trailing_one_means_folders),
         T(comments_blanks_and_line_ends), T(case_may_not_count),
         T(a_negated_line_may_reach_below_a_folder), T(git_configuration_is_read_as_git_reads_it), )

/* git itself judges: random trees with random pattern files, and the walk must list what
 * `git ls-files --others --cached --exclude-standard` lists. One repository holds many
 * trees, each below its own folder with its own .gitignore files, so that one run of
 * git answers for hundreds.
 *
 * HEDDLE_ORACLE_ROUNDS=100 runs longer; HEDDLE_ORACLE_SEED=n starts elsewhere. */
#include "tap.h"

#include "base/fs.h"
#include "base/path.h"
#include "project/walk.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TREES = 120, FILES = 14, DIR_MAX = 256 };

static uint64_t state = 88172645463325252u;

static unsigned draw(unsigned below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 20) % below;
}

/* Few names, so that patterns hit. */
static const char *const names[] = { "a",     "b",      "ab",   "abc",      "foo", "bar",
                                     "foo.c", "a.o",    "b.c",  "a.b.c",    "A",   "x y",
                                     "x ",    "foo]",   "[a]",  "a*",       "!b",  "#c",
                                     "a\\b",  "foobar", ".hid", "\xc3\xa9", "a-b", "9",
                                     "z9",    "]",      "a\tb", "Foo.C",    "BAR", "Ab" };

/* Pieces of patterns; joined at random they give both sense and nonsense. */
static const char *const pieces[] = {
    "a",           "b",           "foo",         "bar",  "*",    "**",
    "/",           "?",           "[ab]",        "[!a]", "[^b]", "*.c",
    "*.o",         "\\",          "[",           "]",    "[]]",  "[a-z]",
    "-",           ".",           "!",           "#",    " ",    "[[:alpha:]]",
    "[[:digit:]]", "[[:punct:]]", "[[:nope:]]",  "\\ ",  "\\#",  "\\!",
    "ab",          "/**/",        "**/",         "/**",  "\\*",  "[\\]]",
    "[a\\-z]",     "[!]a]",       "***",         "*/",   "x y",  "\xc3\xa9",
    "[9-z]",       "[z-a]",       "[[:alpha",    "A",    "B",    "Foo",
    "[A-C]",       "[[:upper:]]", "[[:lower:]]", "[B]",  "\\A",  "[A-z]",
    "[X-c]",
};

static void add_pattern(struct sb *b)
{
    unsigned n = 1 + draw(4);

    if (!draw(5))
        sb_addc(b, '!');
    if (!draw(6))
        sb_addc(b, '/');
    if (!draw(3)) { /* a name that is there, perhaps with a folder in front */
        if (!draw(2))
            sb_addf(b, "%s/", names[draw(COUNT(names))]);
        sb_adds(b, names[draw(COUNT(names))]);
    } else {
        while (n--)
            sb_adds(b, pieces[draw(COUNT(pieces))]);
    }
    if (!draw(5))
        sb_addc(b, '/');
    if (!draw(8))
        sb_addc(b, ' ');
    sb_adds(b, draw(12) ? "\n" : "\r\n");
}

static void write_file(int root, struct sv path, struct sv bytes)
{
    UNDO(fd_undo) int fd = -1;
    struct err        e;

    if (fs_open(root, path, O_WRONLY | O_CREAT | O_TRUNC, &fd, &e) == ST_OK && bytes.n)
        CHECK(write(fd, bytes.s, bytes.n) == (ssize_t)bytes.n);
}

static void write_patterns(int root, struct sv dir, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    for (unsigned n = draw(6); n; n--)
        add_pattern(&b);
    write_file(root, path_join(dir, SV(".gitignore"), a), sb_sv(&b));
}

static void make_tree(int root, struct sv top, struct arena *a)
{
    struct err e;

    for (int i = 0; i < FILES; i++) {
        struct sv dir = top;
        for (unsigned depth = draw(4); depth; depth--)
            dir = path_join(dir, sv_of(names[draw(COUNT(names))]), a);
        if (fs_mkdirs(root, dir, &e)) /* a file stands in the way: fine */
            continue;
        if (!draw(40))
            (void)!symlinkat("a", root, sv_cstr(path_join(dir, SV("lnk"), a), a));
        write_file(root, path_join(dir, sv_of(names[draw(COUNT(names))]), a), SV("x"));
        if (!draw(5))
            write_patterns(root, dir, a);
    }
    write_patterns(root, top, a);
}

static int by_bytes(const void *x, const void *y)
{
    return sv_cmp(*(const struct sv *)x, *(const struct sv *)y);
}

typedef VEC(struct sv) paths;

static bool collect(void *ctx, struct sv path, const struct walk_node *node)
{
    struct {
        paths        *list;
        struct arena *a;
    } *to = ctx;

    (void)node;
    if (!sv_is(path_base(path), ".gitignore"))
        *vec_push(to->list, to->a) = sv_dup(path, to->a);
    return true;
}

static paths ours(const char *dir, int root, struct arena *a)
{
    struct walk w;
    paths       list = { 0 };
    struct {
        paths        *list;
        struct arena *a;
    } to = { &list, a };

    walk_read(rules_in(root, sv_of(dir), environ, a), root, a, &w);
    walk_files(&w, &w.nodes.v[0], SV(""), collect, &to);
    qsort(list.v, list.n, sizeof list.v[0], by_bytes);
    return list;
}

static paths gits(const char *dir, struct arena *a)
{
    struct sb  command = sb_in(a, 0);
    paths      list = { 0 };
    struct sv  text = { 0 };
    struct err e;

    sb_addf(&command, "cd '%s' && git ls-files -z --others --cached --exclude-standard", dir);
    FILE *f = popen(sb_sv(&command).s, "r");
    CHECK(f && fs_read_fd(fileno(f), 0, a, &text, &e) == ST_OK);
    CHECK(pclose(f) == 0);
    while (text.n) {
        struct sv_cut c = sv_cut(text, 0);
        if (!sv_is(path_base(c.head), ".gitignore"))
            *vec_push(&list, a) = c.head;
        text = c.tail;
    }
    qsort(list.v, list.n, sizeof list.v[0], by_bytes);
    return list;
}

/* Where two sorted lists differ, with the first few names. */
static size_t differences(const paths *got, const paths *want)
{
    size_t i = 0, k = 0, n = 0;

    while (i < got->n || k < want->n) {
        int d = i == got->n ? 1 : k == want->n ? -1 : sv_cmp(got->v[i], want->v[k]);
        if (d && n++ < 5)
            printf("# %s " SV_FMT "\n", d < 0 ? "only we list" : "only git lists",
                   SV_ARG(d < 0 ? got->v[i] : want->v[k]));
        i += d <= 0;
        k += d >= 0;
    }
    return n;
}

/* All repositories stand in one folder, which goes at the end: a file system may be slow to make
 * files right after many were removed. */
static char base[DIR_MAX];

static void remove_all(void)
{
    char command[PATH_MAX];

    snprintf(command, sizeof command, "rm -rf '%s'", base);
    if (!getenv("HEDDLE_ORACLE_KEEP") && system(command) != 0)
        fprintf(stderr, "%s could not be removed\n", base);
}

static int fresh_repository(char *dir, const char *options)
{
    static int  made;
    char        command[PATH_MAX];
    const char *tmp = getenv("TMPDIR");

    if (!made++) {
        snprintf(base, sizeof base, "%.200s/heddle-oracle-XXXXXX", tmp ? tmp : "/tmp");
        CHECK(mkdtemp(base) != NULL);
        atexit(remove_all);
    }
    snprintf(dir, DIR_MAX, "%.230s/%d", base, made);
    snprintf(command, sizeof command, "git init -q %s '%s'", options, dir);
    CHECK(system(command) == 0);
    return open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static unsigned number(const char *name, unsigned otherwise)
{
    const char *v = getenv(name);

    return v ? (unsigned)strtoul(v, NULL, 10) : otherwise;
}

static void set_config(const char *dir, const char *key_and_value)
{
    char command[PATH_MAX + 128];

    snprintf(command, sizeof command, "git -C '%s' config %s", dir, key_and_value);
    CHECK(system(command) == 0);
}

static void in_repository(const char *dir, const char *command)
{
    char whole[PATH_MAX + 512];

    snprintf(whole, sizeof whole, "cd '%s' && %s", dir, command);
    CHECK(system(whole) == 0);
}

/* Every third file is tracked, whatever the patterns say of it. */
static void track_some(int root, const char *dir, struct arena *a)
{
    struct sb  command = sb_in(a, 0), chosen = sb_in(a, 0);
    struct sv  text = { 0 };
    struct err e;

    sb_addf(&command, "cd '%s' && git ls-files -z --others", dir);
    FILE *f = popen(sb_sv(&command).s, "r");
    CHECK(f && fs_read_fd(fileno(f), 0, a, &text, &e) == ST_OK);
    CHECK(pclose(f) == 0);
    while (text.n) {
        struct sv_cut c = sv_cut(text, 0);
        if (!draw(3)) {
            sb_add(&chosen, c.head);
            sb_addc(&chosen, 0);
        }
        text = c.tail;
    }
    write_file(root, SV(".git/chosen"), sb_sv(&chosen));
    in_repository(dir, "git update-index -z --add --stdin <.git/chosen");
}

/* The forms an index can have. */
static const struct {
    const char *init, *make;
} index_forms[] = {
    { "", "git update-index --index-version 2" },
    { "", "git update-index --index-version 4" },
    { "", "git update-index --index-version 4 --split-index" },
    { "--object-format=sha256", "git update-index --index-version 3" },
    { "", "git update-index --split-index && git rm -q --cached -r tree1 tree2 && touch new && "
          "git add -f new" },
    { "", "touch intent flagged && git add -f flagged && git add -N -f intent && "
          "git update-index --skip-worktree flagged" },
};

static void one_round(size_t form, bool ignore_case, size_t *listed)
{
    struct arena      a = { 0 };
    char              dir[DIR_MAX];
    UNDO(fd_undo) int root = fresh_repository(dir, index_forms[form].init);
    struct sb         exclude = sb_in(&a, 0);

    for (int i = 0; i < TREES; i++) {
        struct sb top = sb_in(&a, 0);
        sb_addf(&top, "tree%d", i);
        make_tree(root, sb_sv(&top), &a);
    }
    for (unsigned n = draw(3); n; n--)
        add_pattern(&exclude);
    write_file(root, SV(".git/info/exclude"), sb_sv(&exclude));
    if (ignore_case)
        set_config(dir, "core.ignoreCase true");
    if (!ignore_case) { /* else git takes two files whose names differ in case for one */
        track_some(root, dir, &a);
        in_repository(dir, index_forms[form].make);
    }
    paths got = ours(dir, root, &a), want = gits(dir, &a);
    CHECK_INT(differences(&got, &want), 0);
    *listed += want.n;
    arena_free(&a);
}

static void random_trees_are_listed_as_git_lists_them(void)
{
    size_t listed = 0;

    state ^= number("HEDDLE_ORACLE_SEED", 0) * 2654435761u;
    for (unsigned i = number("HEDDLE_ORACLE_ROUNDS", 14); i && !tap_failures; i--)
        one_round(i % COUNT(index_forms), i > 2 * COUNT(index_forms), &listed);
    CHECK(listed > 500); /* else the patterns hide everything and nothing is tested */
}

/* The workspace may be a folder of a larger work tree: the files above it count. */
static void a_folder_of_a_work_tree_obeys_the_files_above_it(void)
{
    struct arena      a = { 0 };
    char              dir[DIR_MAX];
    UNDO(fd_undo) int root = fresh_repository(dir, "");
    struct err        e;

    CHECK(fs_mkdirs(root, SV("sub/deep/x"), &e) == ST_OK);
    write_file(root, SV(".gitignore"), SV("*.log\n/sub/deep/only\nsub/*.tmp\n"));
    write_file(root, SV("sub/.gitignore"), SV("!keep.log\n"));
    const char *const files[] = { "a.log", "keep.log", "only", "c.tmp", "x/keep.log", "x/only" };
    for (size_t i = 0; i < COUNT(files); i++)
        write_file(root, path_join(SV("sub/deep"), sv_of(files[i]), &a), SV("x"));
    struct sv         below = path_join(sv_of(dir), SV("sub/deep"), &a);
    UNDO(fd_undo) int deep = open(sv_cstr(below, &a), O_PATH | O_DIRECTORY);
    paths             got = ours(below.s, deep, &a), want = gits(below.s, &a);
    CHECK_INT(differences(&got, &want), 0);
    CHECK_INT(got.n, 4);
    arena_free(&a);
}

/* ---- the configuration ---- */

/* A condition under which the user's configuration includes a file, and whether it holds: the
 * repository is $HOME/code/repo on branch feature/one, with a remote. */
static const struct {
    const char *condition;
    bool        holds;
} conditions[] = {
    { "gitdir:~/code/", true },
    { "gitdir:~/other/", false },
    { "gitdir:code/", true },
    { "gitdir:repo/.git", true },
    { "gitdir:repo", false },
    { "gitdir:./code/", true },
    { "gitdir:./c*e/repo/.git", true },
    { "gitdir:./Code/", false },
    { "gitdir/i:./Code/", true },
    { "gitdir/i:~/CODE/", true },
    { "gitdir:**/.git", true },
    { "gitdir:link/", false },
    { "onbranch:feature/one", true },
    { "onbranch:feature/", true },
    { "onbranch:f*", false },
    { "onbranch:main", false },
    { "hasconfig:remote.*.url:https://example.org/**", true },
    { "hasconfig:remote.*.url:https://example.org/*", false },
    { "hasconfig:remote.*.url:git@**", false },
    { "nonsense:x", false },
};

static void conditional_includes_count_as_for_git(void)
{
    struct arena      a = { 0 };
    char              home[DIR_MAX];
    UNDO(fd_undo) int root = fresh_repository(home, "");
    struct err        e;
    struct sv         work = path_join(sv_of(home), SV("code/repo"), &a);
    struct sb         make = sb_in(&a, 0);

    setenv("HOME", home, 1);
    CHECK(fs_mkdirs(root, SV("code/repo"), &e) == ST_OK);
    sb_addf(&make, "rm -rf '%s/.git' && git init -q -b feature/one '" SV_FMT "'", home,
            SV_ARG(work));
    CHECK(system(sb_sv(&make).s) == 0);
    set_config(work.s, "remote.origin.url https://example.org/a/b");
    write_file(root, SV("more"), SV("[core]\n\texcludesFile = ~/patterns\n"));
    write_file(root, SV("patterns"), SV("*.out\n"));
    write_file(root, SV("code/repo/a.out"), SV("x"));
    write_file(root, SV("code/repo/b.txt"), SV("x"));
    UNDO(fd_undo) int repo = open(work.s, O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; i < COUNT(conditions); i++) {
        struct sb config = sb_in(&a, 0);
        sb_addf(&config, "[includeIf \"%s\"]\n\tpath = ~/more\n", conditions[i].condition);
        write_file(root, SV(".gitconfig"), sb_sv(&config));
        paths got = ours(work.s, repo, &a), want = gits(work.s, &a);
        if (got.n != (conditions[i].holds ? 1 : 2) || differences(&got, &want))
            FAIL(conditions[i].condition);
    }
    arena_free(&a);
}

static void a_relative_excludes_file_lies_at_the_top(void)
{
    struct arena      a = { 0 };
    char              dir[DIR_MAX];
    UNDO(fd_undo) int root = fresh_repository(dir, "");
    struct err        e;

    CHECK(fs_mkdirs(root, SV("sub"), &e) == ST_OK);
    write_file(root, SV("patterns"), SV("*.out\n"));
    write_file(root, SV(".git/patterns"), SV("*.txt\n"));
    write_file(root, SV("sub/a.out"), SV("x"));
    write_file(root, SV("sub/a.txt"), SV("x"));
    set_config(dir, "core.excludesFile patterns");
    paths got = ours(dir, root, &a), want = gits(dir, &a);
    CHECK_INT(differences(&got, &want), 0);
    CHECK_INT(got.n, 2);
    arena_free(&a);
}

/* ---- what is on the machine ---- */

/* The names of headers, which nobody chose for this test, under patterns in several places. */
static void a_large_real_tree_is_listed_as_git_lists_it(void)
{
    static const char *const files[][2] = {
        { ".gitignore", "*.hpp\n/asm*/\n**/detail/\n!**/detail/keep*\nbits/*\n!bits/types/\n"
                        "[a-f]*config*.h\n*_internal*\n" },
        { "linux/.gitignore", "*\n!net*/\n!net*/**\n!if_*.h\n" },
        { "sys/.gitignore", "/s*.h\n!stat.h\n" },
    };
    struct arena      a = { 0 };
    char              dir[DIR_MAX], command[PATH_MAX + 256];
    UNDO(fd_undo) int root = fresh_repository(dir, "");
    struct err        e;

    snprintf(command, sizeof command,
             "cd '%s' && (cd /usr/include && find . -type d -print0) | xargs -0 mkdir -p && "
             "(cd /usr/include && find . -type f -print0) | xargs -0 touch",
             dir);
    CHECK(system(command) == 0);
    for (size_t i = 0; i < COUNT(files); i++) {
        CHECK(fs_mkdirs(root, path_dir(sv_of(files[i][0])), &e) == ST_OK);
        write_file(root, sv_of(files[i][0]), sv_of(files[i][1]));
    }
    paths got = ours(dir, root, &a), want = gits(dir, &a);
    CHECK_INT(differences(&got, &want), 0);
    CHECK(got.n > 500);
    arena_free(&a);
}

/* Settings that only a work tree or the environment has. */
static void settings_of_a_work_tree_and_of_the_environment_count(void)
{
    struct arena      a = { 0 };
    char              dir[DIR_MAX];
    UNDO(fd_undo) int root = fresh_repository(dir, "");

    write_file(root, SV("one.w"), SV("x"));
    write_file(root, SV("two.e"), SV("x"));
    write_file(root, SV("three"), SV("x"));
    write_file(root, SV(".git/w"), SV("*.w\n"));
    write_file(root, SV(".git/e"), SV("*.e\n"));
    set_config(dir, "extensions.worktreeConfig true");
    in_repository(dir, "git config --worktree core.excludesFile .git/w");
    for (int i = 0; i < 2; i++) {
        paths got = ours(dir, root, &a), want = gits(dir, &a);
        CHECK_INT(differences(&got, &want), 0);
        CHECK_INT(got.n, 2);
        setenv("GIT_CONFIG_COUNT", "1", 1);
        setenv("GIT_CONFIG_KEY_0", "core.excludesFile", 1);
        setenv("GIT_CONFIG_VALUE_0", ".git/e", 1);
    }
    unsetenv("GIT_CONFIG_COUNT");
    arena_free(&a);
}

/* A repository beside its work tree, as the environment names it. */
static void the_environment_names_the_repository(void)
{
    struct arena      a = { 0 };
    char              dir[DIR_MAX], moved[DIR_MAX + 8];
    UNDO(fd_undo) int root = fresh_repository(dir, "");

    write_file(root, SV(".gitignore"), SV("*.log\n"));
    write_file(root, SV("tracked.log"), SV("x"));
    write_file(root, SV("other.log"), SV("x"));
    write_file(root, SV("b"), SV("x"));
    in_repository(dir, "git add -f tracked.log && mv .git ../moved.git");
    snprintf(moved, sizeof moved, "%.240s/../moved.git", dir);
    setenv("GIT_DIR", moved, 1);
    setenv("GIT_WORK_TREE", dir, 1);
    paths got = ours(dir, root, &a), want = gits(dir, &a);
    unsetenv("GIT_DIR");
    unsetenv("GIT_WORK_TREE");
    CHECK_INT(differences(&got, &want), 0);
    CHECK_INT(got.n, 2);
    arena_free(&a);
}

TAP_MAIN(T(random_trees_are_listed_as_git_lists_them),
         T(a_folder_of_a_work_tree_obeys_the_files_above_it),
         T(conditional_includes_count_as_for_git), T(a_relative_excludes_file_lies_at_the_top),
         T(settings_of_a_work_tree_and_of_the_environment_count),
         T(the_environment_names_the_repository), T(a_large_real_tree_is_listed_as_git_lists_it), )

/* git itself judges: random trees with random pattern files, and the walk must list what
 * `git ls-files --others --cached --exclude-standard` lists. One repository holds many
 * trees, each below its own folder with its own .gitignore files, so that one run of
 * git answers for hundreds.
 *
 * HEDDLE_ORACLE_ROUNDS=100 runs longer; HEDDLE_ORACLE_SEED=n starts elsewhere. */
#include "tap.h"

#include "base/fs.h"
#include "base/path.h"
#include "payload/walk.h"

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
static const char *const names[] = { "a",        "b",   "ab",    "abc", "foo",  "bar",    "foo.c",
                                     "a.o",      "b.c", "a.b.c", "A",   "x y",  "x ",     "foo]",
                                     "[a]",      "a*",  "!b",    "#c",  "a\\b", "foobar", ".hid",
                                     "\xc3\xa9", "a-b", "9",     "z9",  "]",    "a\tb" };

/* Pieces of patterns; joined at random they give both sense and nonsense. */
static const char *const pieces[] = {
    "a",           "b",           "foo",        "bar",   "*",        "**",    "/",   "?",
    "[ab]",        "[!a]",        "[^b]",       "*.c",   "*.o",      "\\",    "[",   "]",
    "[]]",         "[a-z]",       "-",          ".",     "!",        "#",     " ",   "[[:alpha:]]",
    "[[:digit:]]", "[[:punct:]]", "[[:nope:]]", "\\ ",   "\\#",      "\\!",   "ab",  "/**/",
    "**/",         "/**",         "\\*",        "[\\]]", "[a\\-z]",  "[!]a]", "***", "*/",
    "x y",         "\xc3\xa9",    "[9-z]",      "[z-a]", "[[:alpha",
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

    walk_read(rules_in(root, sv_of(dir), a), root, a, &w);
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

static int fresh_repository(char *dir)
{
    char command[PATH_MAX + 64];

    const char *base = getenv("TMPDIR");
    snprintf(dir, DIR_MAX, "%.200s/heddle-oracle-XXXXXX", base ? base : "/tmp");
    CHECK(mkdtemp(dir) != NULL);
    snprintf(command, sizeof command, "git init -q '%s'", dir);
    CHECK(system(command) == 0);
    return open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void forget(const char *dir)
{
    char command[PATH_MAX + 64];

    if (getenv("HEDDLE_ORACLE_KEEP"))
        return;
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    CHECK(system(command) == 0);
}

static unsigned number(const char *name, unsigned otherwise)
{
    const char *v = getenv(name);

    return v ? (unsigned)strtoul(v, NULL, 10) : otherwise;
}

static void one_round(size_t *listed)
{
    struct arena      a = { 0 };
    char              dir[DIR_MAX];
    UNDO(fd_undo) int root = fresh_repository(dir);
    struct sb         exclude = sb_in(&a, 0);

    for (int i = 0; i < TREES; i++) {
        struct sb top = sb_in(&a, 0);
        sb_addf(&top, "tree%d", i);
        make_tree(root, sb_sv(&top), &a);
    }
    for (unsigned n = draw(3); n; n--)
        add_pattern(&exclude);
    write_file(root, SV(".git/info/exclude"), sb_sv(&exclude));
    paths got = ours(dir, root, &a), want = gits(dir, &a);
    CHECK_INT(differences(&got, &want), 0);
    *listed += want.n;
    forget(dir);
    arena_free(&a);
}

static void random_trees_are_listed_as_git_lists_them(void)
{
    size_t listed = 0;

    state ^= number("HEDDLE_ORACLE_SEED", 0) * 2654435761u;
    for (unsigned i = number("HEDDLE_ORACLE_ROUNDS", 10); i && !tap_failures; i--)
        one_round(&listed);
    CHECK(listed > 500); /* else the patterns hide everything and nothing is tested */
}

/* The workspace may be a folder of a larger work tree: the files above it count. */
static void a_folder_of_a_work_tree_obeys_the_files_above_it(void)
{
    struct arena      a = { 0 };
    char              dir[DIR_MAX];
    UNDO(fd_undo) int root = fresh_repository(dir);
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
    forget(dir);
    arena_free(&a);
}

TAP_MAIN(T(random_trees_are_listed_as_git_lists_them),
         T(a_folder_of_a_work_tree_obeys_the_files_above_it), )

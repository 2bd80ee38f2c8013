/* What programs write: one table of their names, and how their arguments are read. */
#include "api/hook/shell_reading.h"
#include "base/path.h"
#include "base/sb.h"

/* Limits on how much of a line is followed: the answer must be given in milliseconds, whatever the
 * line is. */
enum { PATHS_MAX = 1000, BRACES_MAX = 1000, FIND_MAX = 8 };

enum takes {
    TAKES_ALL,     /* every argument is a file that it changes */
    TAKES_TREE,    /* the same; with -r or -R all that is below */
    TAKES_MOVE,    /* the same, always; the last one is where they are put */
    TAKES_COPY,    /* the last one, or the directory that an option names */
    TAKES_LINK,    /* the same with -s; else all, since a hard link is the file itself */
    TAKES_INPLACE, /* every one, with one of some options or words */
    TAKES_FIRST,   /* the first one that is not an option */
    TAKES_DD,      /* of=FILE */
    TAKES_OPTION,  /* what stands behind some options */
    TAKES_TAR,     /* where it extracts, or the archive that it makes */
    TAKES_FIND,    /* what it finds, with -delete; and what -exec runs */
    TAKES_GIT,     /* the arguments of some subcommands, or the whole work tree */
};

/* clang-format off */
static const struct {
    const char *name;
    enum takes  takes;
    const char *options; /* separated by spaces: options whose value is a file that is written; of TAKES_INPLACE: options or words with which the program changes its arguments */
} commands[] = {
    { "rm", TAKES_TREE, 0 }, { "chmod", TAKES_TREE, 0 }, { "chown", TAKES_TREE, 0 }, { "chgrp", TAKES_TREE, 0 },
    { "rmdir", TAKES_ALL, 0 }, { "unlink", TAKES_ALL, 0 }, { "shred", TAKES_ALL, 0 }, { "touch", TAKES_ALL, 0 },
    { "truncate", TAKES_ALL, 0 }, { "mkdir", TAKES_ALL, 0 }, { "tee", TAKES_ALL, 0 }, { "rename", TAKES_ALL, 0 }, { "patch", TAKES_ALL, 0 }, { "ed", TAKES_ALL, 0 },
    { "mv", TAKES_MOVE, "-t --target-directory" }, { "cp", TAKES_COPY, "-t --target-directory" }, { "install", TAKES_COPY, "-t --target-directory" },
    { "rsync", TAKES_COPY, 0 }, { "ln", TAKES_LINK, "-t --target-directory" },
    { "gzip", TAKES_ALL, 0 }, { "gunzip", TAKES_ALL, 0 }, { "bzip2", TAKES_ALL, 0 }, { "bunzip2", TAKES_ALL, 0 }, { "xz", TAKES_ALL, 0 }, { "unxz", TAKES_ALL, 0 },
    { "mkfifo", TAKES_ALL, 0 }, { "mktemp", TAKES_ALL, 0 }, { "mknod", TAKES_ALL, 0 }, { "sponge", TAKES_ALL, 0 }, { "dos2unix", TAKES_ALL, 0 }, { "unix2dos", TAKES_ALL, 0 },
    { "chattr", TAKES_TREE, 0 }, { "setfacl", TAKES_TREE, 0 }, { "scp", TAKES_COPY, 0 }, { "zip", TAKES_FIRST, 0 },
    { "ex", TAKES_ALL, 0 }, { "vi", TAKES_ALL, 0 }, { "vim", TAKES_ALL, 0 }, { "nvim", TAKES_ALL, 0 }, { "nano", TAKES_ALL, 0 }, { "emacs", TAKES_ALL, 0 },
    { "black", TAKES_ALL, 0 }, { "rustfmt", TAKES_ALL, 0 }, { "prettier", TAKES_INPLACE, "-w --write" }, { "gofmt", TAKES_INPLACE, "-w" }, { "goimports", TAKES_INPLACE, "-w" },
    { "shfmt", TAKES_INPLACE, "-w --write" }, { "clang-format", TAKES_INPLACE, "-i --in-place" }, { "autopep8", TAKES_INPLACE, "-i --in-place" }, { "eslint", TAKES_INPLACE, "--fix" },
    { "sed", TAKES_INPLACE, "-i --in-place" }, { "perl", TAKES_INPLACE, "-i" }, { "ruby", TAKES_INPLACE, "-i" }, { "yq", TAKES_INPLACE, "-i --inplace" },
    { "awk", TAKES_INPLACE, "inplace" }, { "gawk", TAKES_INPLACE, "inplace" }, { "dd", TAKES_DD, 0 },
    { "curl", TAKES_OPTION, "-o --output --output-dir" }, { "wget", TAKES_OPTION, "-O --output-document -P --directory-prefix" },
    { "sort", TAKES_OPTION, "-o --output" }, { "unzip", TAKES_OPTION, "-d" }, { "pandoc", TAKES_OPTION, "-o --output" }, { "zstd", TAKES_OPTION, "-o" },
    { "csplit", TAKES_OPTION, "-f --prefix" }, { "cc", TAKES_OPTION, "-o" }, { "gcc", TAKES_OPTION, "-o" }, { "clang", TAKES_OPTION, "-o" },
    { "tar", TAKES_TAR, 0 }, { "find", TAKES_FIND, 0 }, { "git", TAKES_GIT, 0 },
};
/* Options of rsync whose value is neither source nor target. */
static const char *const rsync_values[] = { "--exclude", "--include", "--filter", "-f", "-e", "--exclude-from", "--include-from" };
static const char *const find_runs[] = { "-exec", "-execdir", "-ok", "-okdir" };
/* Conditions of find on names. */
static const struct {
    const char *name;
    bool        whole, fold;
} find_tests[] = {
    { "-name", false, false }, { "-iname", false, true }, { "-path", true, false }, { "-ipath", true, true }, { "-wholename", true, false }, { "-iwholename", true, true },
};
/* Other conditions, which are not evaluated: a command with one of them is allowed. */
static const char *const find_unknown[] = { "-regex", "-iregex", "-empty", "-lname", "-samefile", "-inum" };
/* clang-format on */

/* ---- paths --------------------------------------------------------------------------------- */

struct path_names {
    VEC(struct sv) list;
};

/* The first { that has a , and its } behind it; false: none. */
static bool find_braces(struct sv path, size_t *open, size_t *close)
{
    bool found = false, comma = false;

    *open = *close = 0;
    for (size_t i = 0; i < path.n; i++) {
        if (path.s[i] == '{') {
            *open = i;
            found = true;
            comma = false;
        } else if (path.s[i] == ',') {
            comma = true;
        } else if (path.s[i] == '}' && found && comma) {
            *close = i;
            return true;
        }
    }
    return false;
}

/* a{b,c}d is abd and acd: the innermost braces first. */
static void expand_braces(struct shell_reading *s, struct sv path, int *left,
                          struct path_names *out)
{
    size_t open, close;

    if (--*left < 0 || !find_braces(path, &open, &close)) {
        *vec_push(&out->list, s->a) = path;
        return;
    }
    struct sv_cut c = { .tail = sv_first(sv_skip(path, open + 1), close - open - 1),
                        .found = true };
    while (c.found && *left > 0) {
        struct sb b = sb_in(s->a, 0);
        c = sv_cut(c.tail, ',');
        sb_add(&b, sv_first(path, open));
        sb_add(&b, c.head);
        sb_add(&b, sv_skip(path, close + 1));
        expand_braces(s, sb_sv(&b), left, out);
    }
}

/* The names that a word expands to; none when it is not known. */
static struct path_names names_of(struct shell_reading *s, const struct shell_word *w)
{
    struct path_names names = { 0 };
    int               left = BRACES_MAX;

    if (w->unknown)
        return names;
    if (w->pattern)
        expand_braces(s, w->text, &left, &names);
    else
        *vec_push(&names.list, s->a) = w->text;
    return names;
}

/* Absent: not known. */
static struct sv absolute(const struct shell_reading *s, struct sv path)
{
    if (!path.n || (path.s[0] != '/' && !s->cwd.s))
        return (struct sv){ 0 };
    return path.s[0] == '/' ? path : path_join(s->cwd, path, s->a);
}

/* Adds the paths that a word names, with reach and conditions from `how`. */
static void add_as(struct shell_reading *s, const struct shell_word *w, struct shell_path how)
{
    struct path_names names = names_of(s, w);

    if (w->found) {
        how.reach = SHELL_TREE;
        how.tests = w->found;
    }
    for (size_t i = 0; i < names.list.n && s->out->list.n < PATHS_MAX; i++) {
        how.path = absolute(s, names.list.v[i]);
        how.pattern = w->pattern;
        if (how.path.n)
            *vec_push(&s->out->list, s->a) = how;
    }
}

void shell_add(struct shell_reading *s, const struct shell_word *w)
{
    add_as(s, w, (struct shell_path){ .reach = SHELL_ONE });
}

static void add_reach(struct shell_reading *s, const struct shell_word *w, enum shell_reach reach)
{
    add_as(s, w, (struct shell_path){ .reach = reach });
}

/* ---- arguments ----------------------------------------------------------------------------- */

bool shell_is_option(const struct shell_word *w)
{
    return sv_starts(w->text, SV("-"));
}

static void add_all(struct shell_reading *s, const struct shell_words *w, size_t from,
                    enum shell_reach reach)
{
    for (size_t i = from; i < w->n; i++)
        if (!shell_is_option(&w->v[i]))
            add_reach(s, &w->v[i], reach);
}

/* What follows an option in the same word: "FILE" of -oFILE and of -sSoFILE, "=FILE" of
 * --output=FILE, "" of -o. Absent: the word is not this option. */
static struct sv after_option(struct sv word, struct sv option)
{
    if (sv_starts(option, SV("--"))) {
        struct sv rest = sv_skip(word, option.n);
        bool      is_it = sv_starts(word, option) && (!rest.n || rest.s[0] == '=');
        return is_it ? rest : (struct sv){ 0 };
    }
    for (size_t i = 1; i < word.n && word.s[0] == '-' && word.s[1] != '-'; i++)
        if (word.s[i] == option.s[1])
            return sv_skip(word, i + 1);
    return (struct sv){ 0 };
}

/* What belongs to an option at `i`: -o FILE, --output FILE, --output=FILE, -oFILE, -so FILE. *next:
 * it is the word behind it. False: it is none of the options, or nothing belongs to it. */
static bool option_value(const struct shell_words *w, size_t i, const char *options,
                         struct shell_word *out, bool *next)
{
    for (struct sv_cut c = { .tail = sv_of(options), .found = true }; c.found;) {
        c = sv_cut(c.tail, ' ');
        struct sv rest = after_option(w->v[i].text, c.head);
        if (!rest.s)
            continue;
        *next = !rest.n;
        if (*next && i + 1 == w->n)
            return false;
        *out = w->v[*next ? i + 1 : i];
        if (!*next)
            out->text = sv_skip(rest, sv_starts(c.head, SV("--")));
        return true;
    }
    return false;
}

/* Adds the values of these options as written files. False: there are none. */
static bool add_options(struct shell_reading *s, const struct shell_words *w, const char *options)
{
    struct shell_word value;
    bool              any = false, next;

    for (size_t i = 1; i < w->n; i++)
        if (option_value(w, i, options, &value, &next)) {
            shell_add(s, &value);
            any = true;
        }
    return any;
}

/* -pi has the letters p and i; behind M and I follows a name (perl). */
static bool has_letter(struct sv word, char letter)
{
    for (size_t i = 1; i < word.n && !sv_has(SV("-.=MI"), word.s[i]); i++)
        if (word.s[i] == letter)
            return true;
    return false;
}

bool shell_has_option(const struct shell_words *w, char letter, const char *name)
{
    for (size_t i = 1; i < w->n; i++)
        if (shell_is_option(&w->v[i]) &&
            (sv_starts(w->v[i].text, sv_of(name)) || has_letter(w->v[i].text, letter)))
            return true;
    return false;
}

/* Is there a word that starts with this text? */
static bool has_word(const struct shell_words *w, const char *start)
{
    for (size_t i = 1; i < w->n; i++)
        if (sv_starts(w->v[i].text, sv_of(start)))
            return true;
    return false;
}

/* Does one of the options, or the words, say that files are changed where they are? */
static bool is_in_place(const struct shell_words *w, const char *options)
{
    for (struct sv_cut c = { .tail = sv_of(options), .found = true }; c.found;) {
        c = sv_cut(c.tail, ' ');
        for (size_t i = 1; i < w->n; i++)
            if (sv_starts(w->v[i].text, c.head) || (c.head.n == 2 && shell_is_option(&w->v[i]) &&
                                                    has_letter(w->v[i].text, c.head.s[1])))
                return true;
    }
    return false;
}

static void add_first(struct shell_reading *s, const struct shell_words *w)
{
    for (size_t i = 1; i < w->n; i++)
        if (!shell_is_option(&w->v[i])) {
            shell_add(s, &w->v[i]);
            return;
        }
}

static const struct shell_word here = { .text = SV_STATIC(".") };

/* tar xf A -C DIR, tar -cf A DIR: the first word holds options, with a dash or without. */
static void add_tar(struct shell_reading *s, const struct shell_words *w)
{
    struct sv how = w->n > 1 && !sv_starts(w->v[1].text, SV("--")) ? w->v[1].text : SV("");

    if (sv_has(how, 'x') || shell_has_option(w, 'x', "--extract")) {
        if (!add_options(s, w, "-C --directory"))
            shell_add(s, &here);
    } else if (sv_has(how, 'c') || shell_has_option(w, 'c', "--create")) {
        if (!add_options(s, w, "--file") && w->n > 2 && sv_ends(how, SV("f")))
            shell_add(s, &w->v[2]);
    }
}

/* ---- copies -------------------------------------------------------------------------------- */

struct copying {
    struct shell_reading *s;
    struct shell_word     target;
    bool                  contents; /* the target is the copy (-T) */
    bool                  slash;    /* DIR/ is what is in it (rsync) */
};

/* Does a source name the contents of a directory, and not the directory itself? */
static bool is_contents(const struct copying *c, struct sv source)
{
    struct sv name = path_base(source);

    return c->contents || sv_is(name, ".") || sv_is(name, "..") ||
           (c->slash && sv_ends(source, SV("/")));
}

static void add_copy(const struct copying *c, struct sv source, bool pattern)
{
    struct shell_path how = { .reach = SHELL_COPY };
    struct shell_word target = c->target;

    if (is_contents(c, source)) {
        how.from = absolute(c->s, source);
        add_as(c->s, &target, how);
        return;
    }
    while (source.n > 1 && sv_ends(source, SV("/")))
        source.n--;
    how.only = path_base(source);
    how.from =
        absolute(c->s, sv_has(source, '/') ? sv_first(source, source.n - how.only.n) : SV("."));
    add_as(c->s, &target, how);
    if (pattern || target.unknown || !how.only.n)
        return;
    target.text = path_join(target.text, how.only, c->s->a);
    shell_add(c->s, &target);
}

/* cp SOURCE… TARGET, cp -t TARGET SOURCE…: adds the target, and the names that the sources get in
 * it. */
static void add_copies(struct shell_reading *s, const struct shell_words *w, const char *options,
                       enum shell_reach source_reach)
{
    struct copying c = { s,
                         { .unknown = true },
                         shell_has_option(w, 'T', "--no-target-directory"),
                         sv_is(path_base(w->v[0].text), "rsync") };
    size_t         at = w->n, last = w->n - 1; /* the word that is the target */
    bool           next = false;

    for (size_t i = 1; options && i < w->n && at == w->n; i++)
        if (option_value(w, i, options, &c.target, &next))
            at = last = next ? i + 1 : i;
    if (at == w->n && w->n > 1)
        c.target = w->v[last];
    shell_add(s, &c.target);
    for (size_t i = 1; i < w->n; i++) {
        struct path_names names = names_of(s, &w->v[i]);
        if (i == last || shell_is_option(&w->v[i]) ||
            (c.slash && shell_is_one_of(w->v[i - 1].text, rsync_values, COUNT(rsync_values))))
            continue;
        if (source_reach != SHELL_ONE)
            add_reach(s, &w->v[i], source_reach);
        for (size_t k = 0; k < names.list.n; k++)
            add_copy(&c, names.list.v[k], w->v[i].pattern);
    }
}

/* rsync --delete removes what the source does not have. With exclusions it is not known what stays,
 * and it is allowed. */
static void add_rsync_delete(struct shell_reading *s, const struct shell_words *w)
{
    if (w->n > 1 && has_word(w, "--del") && !has_word(w, "--exclude") && !has_word(w, "--filter") &&
        !has_word(w, "-f"))
        add_reach(s, &w->v[w->n - 1], SHELL_TREE);
}

/* ---- find ---------------------------------------------------------------------------------- */

static void add_test(struct shell_reading *s, const struct shell_words *w, size_t i, bool negated,
                     struct shell_tests *out)
{
    for (size_t k = 0; k < COUNT(find_tests); k++)
        if (sv_is(w->v[i].text, find_tests[k].name)) {
            bool prunes = i + 2 < w->n && sv_is(w->v[i + 2].text, "-prune");
            out->unknown = out->unknown || w->v[i + 1].unknown;
            *vec_push(&out->list, s->a) =
                (struct shell_test){ w->v[i + 1].text, find_tests[k].whole, find_tests[k].fold,
                                     negated || prunes, prunes };
        }
}

/* Reads the conditions that follow the places. Conditions on times, sizes and owners are taken to
 * be true. */
static struct shell_tests read_tests(struct shell_reading *s, const struct shell_words *w,
                                     size_t from)
{
    struct shell_tests out = { 0 };
    bool               negated = false;

    for (size_t i = from; i < w->n; i++) {
        struct sv word = w->v[i].text;
        if (i + 1 < w->n) {
            add_test(s, w, i, negated, &out);
            if (sv_is(word, "-maxdepth") && !sv_to_int(w->v[i + 1].text, &out.depth))
                out.depth = 0;
            if (sv_is(word, "-type") && !negated) {
                out.no_dirs = out.no_dirs || !sv_has(w->v[i + 1].text, 'd');
                out.no_files = out.no_files || !sv_has(w->v[i + 1].text, 'f');
            }
        }
        out.unknown = out.unknown || shell_is_one_of(word, find_unknown, COUNT(find_unknown));
        negated = sv_is(word, "!") || sv_is(word, "-not");
    }
    return out;
}

/* The command behind -exec, with {} for what is found at a place. */
static void run_found(struct shell_reading *s, const struct shell_words *w, size_t at,
                      const struct shell_word *found)
{
    struct shell_words command = { .v = ARENA_NEW(s->a, struct shell_word, w->n) };

    for (size_t i = at + 1; i < w->n; i++) {
        if (sv_is(w->v[i].text, ";") || sv_is(w->v[i].text, "+"))
            break;
        command.v[command.n++] = sv_is(w->v[i].text, "{}") ? *found : w->v[i];
    }
    if (s->depth < SHELL_NESTED_MAX) {
        s->depth++;
        shell_run(s, command);
        s->depth--;
    }
}

/* Adds what `find` deletes or passes to a command. -delete counts for files alone: a directory that
 * is not empty is not deleted. */
static void add_found(struct shell_reading *s, const struct shell_words *w, size_t from,
                      struct shell_word place, const struct shell_tests *all)
{
    struct shell_tests *tests = ARENA_NEW(s->a, struct shell_tests, 2);
    size_t              runs = 0;

    tests[0] = tests[1] = *all;
    tests[0].place = tests[1].place = place.text;
    tests[1].no_dirs = true;
    for (size_t i = from; i < w->n; i++) {
        bool deletes = sv_is(w->v[i].text, "-delete");
        place.found = &tests[deletes];
        if (deletes)
            add_reach(s, &place, SHELL_TREE);
        else if (runs < FIND_MAX && shell_is_one_of(w->v[i].text, find_runs, COUNT(find_runs)) &&
                 ++runs)
            run_found(s, w, i, &place);
    }
}

static void add_find(struct shell_reading *s, const struct shell_words *w)
{
    static const char *const links[] = { "-H", "-L", "-P" };
    size_t                   first = 1, from;

    while (first < w->n && shell_is_one_of(w->v[first].text, links, COUNT(links)))
        first++;
    from = first;
    while (from < w->n && !shell_is_option(&w->v[from]) && !sv_is(w->v[from].text, "!") &&
           !sv_is(w->v[from].text, "("))
        from++;
    struct shell_tests tests = read_tests(s, w, from);
    if (from == first)
        add_found(s, w, from, here, &tests);
    for (size_t i = first; i < from && i < first + FIND_MAX; i++)
        add_found(s, w, from, w->v[i], &tests);
}

/* ---- git ----------------------------------------------------------------------------------- */

struct sv shell_dir(const struct shell_reading *s, const struct shell_word *w)
{
    if (w->unknown || w->pattern || !w->text.n || w->text.s[0] == '~')
        return (struct sv){ 0 };
    if (w->text.s[0] == '/')
        return w->text;
    return s->cwd.s ? path_join(s->cwd, w->text, s->a) : s->cwd;
}

/* The paths that follow a subcommand; without any, the current directory with the reach
 * `otherwise`. */
static void add_paths(struct shell_reading *s, const struct shell_words *w, enum shell_reach reach,
                      enum shell_reach otherwise)
{
    size_t before = s->out->list.n;

    add_all(s, w, 1, reach);
    if (s->out->list.n == before && otherwise != SHELL_ONE)
        add_reach(s, &here, otherwise);
}

static void git_checkout(struct shell_reading *s, const struct shell_words *w)
{
    bool force = shell_has_option(w, 'f', "--force");

    add_paths(s, w, SHELL_TRACKED, force ? SHELL_REPO : SHELL_ONE);
    if (force)
        add_reach(s, &here, SHELL_REPO);
}

static void git_restore(struct shell_reading *s, const struct shell_words *w)
{
    if (!shell_has_option(w, 'S', "--staged") || shell_has_option(w, 'W', "--worktree"))
        add_paths(s, w, SHELL_TRACKED, SHELL_ONE);
}

static void git_rm(struct shell_reading *s, const struct shell_words *w)
{
    if (!has_word(w, "--cached"))
        add_paths(s, w, SHELL_TRACKED, SHELL_ONE);
}

static void git_mv(struct shell_reading *s, const struct shell_words *w)
{
    add_copies(s, w, NULL, SHELL_TREE);
}

/* Without -f nothing is removed. With exclusions it is not known what stays, and it is allowed. */
static void git_clean(struct shell_reading *s, const struct shell_words *w)
{
    if (shell_has_option(w, 'f', "--force") && !shell_has_option(w, 'n', "--dry-run") &&
        !shell_has_option(w, 'e', "--exclude"))
        add_paths(s, w, SHELL_TREE, SHELL_TREE);
}

static void git_reset(struct shell_reading *s, const struct shell_words *w)
{
    if (has_word(w, "--hard"))
        add_reach(s, &here, SHELL_REPO);
}

/* git stash, git stash push [-u] [-- PATH…] */
static void git_stash(struct shell_reading *s, const struct shell_words *w)
{
    struct shell_words paths = *w;
    bool               others =
        shell_has_option(w, 'u', "--include-untracked") || shell_has_option(w, 'a', "--all");

    if (w->n > 1 && !shell_is_option(&w->v[1]) && !sv_is(w->v[1].text, "push") &&
        !sv_is(w->v[1].text, "save"))
        return;
    while (paths.n && !sv_is(paths.v[0].text, "--")) {
        paths.v++;
        paths.n--;
    }
    if (paths.n > 1)
        add_all(s, &paths, 1, others ? SHELL_TREE : SHELL_TRACKED);
    else
        add_reach(s, &here, others ? SHELL_TREE : SHELL_REPO);
}

/* git clone REPOSITORY DIR */
static void git_clone(struct shell_reading *s, const struct shell_words *w)
{
    if (w->n > 2)
        shell_add(s, &w->v[w->n - 1]);
}

static void git_init(struct shell_reading *s, const struct shell_words *w)
{
    add_all(s, w, 1, SHELL_ONE);
}

/* git worktree add DIR */
static void git_worktree(struct shell_reading *s, const struct shell_words *w)
{
    add_all(s, w, 2, SHELL_ONE);
}

static void git_output(struct shell_reading *s, const struct shell_words *w)
{
    add_options(s, w, "-o --output --output-directory");
}

/* git -C DIR SUBCOMMAND */
static void add_git(struct shell_reading *s, const struct shell_words *w)
{
    static const struct {
        const char *name;
        void (*add)(struct shell_reading *, const struct shell_words *);
    } changes[] = { { "checkout", git_checkout },
                    { "clone", git_clone },
                    { "init", git_init },
                    { "worktree", git_worktree },
                    { "archive", git_output },
                    { "diff", git_output },
                    { "format-patch", git_output },
                    { "restore", git_restore },
                    { "rm", git_rm },
                    { "mv", git_mv },
                    { "clean", git_clean },
                    { "reset", git_reset },
                    { "stash", git_stash } };
    struct shell_reading there = *s;
    size_t               i = 1;

    for (; i < w->n && shell_is_option(&w->v[i]); i++) {
        bool moves = sv_is(w->v[i].text, "-C");
        if ((moves || sv_is(w->v[i].text, "-c")) && ++i < w->n && moves)
            there.cwd = shell_dir(&there, &w->v[i]);
    }
    for (size_t k = 0; i < w->n && k < COUNT(changes); k++)
        if (sv_is(w->v[i].text, changes[k].name))
            changes[k].add(&there, &(struct shell_words){ w->v + i, w->n - i });
}

/* ---- all of them --------------------------------------------------------------------------- */

static void add_of(struct shell_reading *s, const struct shell_words *w, size_t command)
{
    const char *options = commands[command].options;
    bool        all = shell_has_option(w, 'r', "--recursive") || shell_has_option(w, 'R', "-R");

    switch (commands[command].takes) {
    case TAKES_ALL: add_all(s, w, 1, SHELL_ONE); break;
    case TAKES_TREE: add_all(s, w, 1, all ? SHELL_TREE : SHELL_ONE); break;
    case TAKES_MOVE: add_copies(s, w, options, SHELL_TREE); break;
    case TAKES_COPY:
        add_copies(s, w, options, SHELL_ONE);
        add_rsync_delete(s, w);
        break;
    case TAKES_LINK:
        if (shell_has_option(w, 's', "--symbolic"))
            add_copies(s, w, options, SHELL_ONE);
        else
            add_all(s, w, 1, SHELL_ONE);
        break;
    case TAKES_INPLACE:
        if (is_in_place(w, options))
            add_all(s, w, 1, SHELL_ONE);
        break;
    case TAKES_FIRST: add_first(s, w); break;
    case TAKES_DD:
        for (size_t i = 1; i < w->n; i++) {
            struct shell_word of = w->v[i];
            of.text = sv_skip(of.text, 3);
            if (sv_starts(w->v[i].text, SV("of=")))
                shell_add(s, &of);
        }
        break;
    case TAKES_OPTION: add_options(s, w, options); break;
    case TAKES_TAR: add_tar(s, w); break;
    case TAKES_FIND: add_find(s, w); break;
    case TAKES_GIT: add_git(s, w); break;
    }
}

void shell_command(struct shell_reading *s, const struct shell_words *w)
{
    struct sv name = path_base(w->v[0].text);

    for (size_t i = 0; i < COUNT(commands); i++)
        if (sv_is(name, commands[i].name))
            add_of(s, w, i);
}

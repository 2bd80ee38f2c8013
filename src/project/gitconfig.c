/* Reading git's configuration files: their syntax, the conditions of includes, the order of the
 * files. */
#include "project/gitconfig.h"

#include "base/env.h"
#include "base/fs.h"
#include "base/path.h"
#include "base/vec.h"
#include "project/glob.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_LIMIT = 16 << 20, INCLUDE_DEPTH = 10, ENVIRONMENT_MAX = 1000 };

struct sv gitconfig_slurp(struct sv path, struct arena *a)
{
    struct err        ignored;
    struct sv         out = { 0 };
    UNDO(fd_undo) int fd = open(sv_cstr(path, a), O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0 || fs_read_fd(fd, FILE_LIMIT, a, &out, &ignored))
        return (struct sv){ 0 };
    return out;
}

struct sv gitconfig_home(char *const *variables, struct arena *a)
{
    struct sv xdg = env_find(variables, "XDG_CONFIG_HOME"), home = env_find(variables, "HOME");

    return xdg.n ? xdg : home.n ? path_join(home, SV(".config"), a) : (struct sv){ 0 };
}

struct sv gitconfig_path(char *const *variables, struct sv path, struct sv dir, struct arena *a)
{
    if (sv_starts(path, SV("~/")))
        return path_join(env_find(variables, "HOME"), sv_skip(path, 2), a);
    if (path.n && path.s[0] != '/')
        return path_join(dir, path, a);
    return path;
}

/* ---- syntax ---------------------------------------------------------------------------------- */

struct gitconfig_reader {
    struct sv     rest;
    struct arena *a;
    struct sv     section;    /* "core" */
    struct sv     subsection; /* of [remote "origin"]: origin, as it is written */
    bool          has_subsection;
};

/* The text between the quotes at the start of v; a byte after a backslash is taken as it is. */
static struct sv read_quoted(struct sv v, size_t *used, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    size_t    i = 1;

    for (; i < v.n && v.s[i] != '"' && v.s[i] != '\n'; i++) {
        if (v.s[i] == '\\' && i + 1 < v.n)
            i++;
        sb_addc(&b, v.s[i]);
    }
    *used = i < v.n ? i + 1 : i;
    return sb_sv(&b);
}

/* `[core]` or `[remote "origin"]` sets the section; what follows on the line is read as usual. */
static void read_section(struct gitconfig_reader *r)
{
    size_t n = 1, used = 0;

    while (n < r->rest.n && r->rest.s[n] != ']' && r->rest.s[n] != '"' && r->rest.s[n] != '\n')
        n++;
    r->section = sv_lower(sv_trim(sv_skip(sv_first(r->rest, n), 1)), r->a);
    r->rest = sv_skip(r->rest, n);
    r->has_subsection = r->rest.n && r->rest.s[0] == '"';
    if (r->has_subsection) {
        r->subsection = read_quoted(r->rest, &used, r->a);
        r->rest = sv_skip(r->rest, used);
    }
    if (r->rest.n && r->rest.s[0] == ']')
        r->rest = sv_skip(r->rest, 1);
}

/* The value after "=": quotes, escapes, comments and continued lines. */
static struct sv read_value(struct gitconfig_reader *r)
{
    struct sb b = sb_in(r->a, 0);
    size_t    i = 0, keep = 0;
    bool      quoted = false;

    for (; i < r->rest.n && r->rest.s[i] != '\n'; i++) {
        char c = r->rest.s[i];
        if (!quoted && (c == '#' || c == ';')) {
            while (i < r->rest.n && r->rest.s[i] != '\n')
                i++;
            break;
        }
        if (c == '"') {
            quoted = !quoted;
            keep = b.n;
            continue;
        }
        if (c == '\\' && i + 1 < r->rest.n) {
            c = r->rest.s[++i];
            if (c == '\n')
                continue;
            c = (char)(c == 'n' ? '\n' : c == 't' ? '\t' : c == 'b' ? '\b' : c);
            sb_addc(&b, c);
            keep = b.n;
            continue;
        }
        bool blank = c == ' ' || c == '\t' || c == '\r';
        if (blank && !quoted && !b.n)
            continue;
        sb_addc(&b, c);
        if (!blank || quoted)
            keep = b.n;
    }
    r->rest = sv_skip(r->rest, i);
    return sv_first(sb_sv(&b), keep);
}

static size_t key_length(struct sv v)
{
    size_t n = 0;

    while (n < v.n && ((byte_lower(v.s[n]) >= 'a' && byte_lower(v.s[n]) <= 'z') || v.s[n] == '-' ||
                       (v.s[n] >= '0' && v.s[n] <= '9')))
        n++;
    return n;
}

/* A key without "=" is one that is true. */
static struct sv read_rest_of_key(struct gitconfig_reader *r)
{
    while (r->rest.n && (r->rest.s[0] == ' ' || r->rest.s[0] == '\t'))
        r->rest = sv_skip(r->rest, 1);
    if (!r->rest.n || r->rest.s[0] != '=')
        return SV("true");
    r->rest = sv_skip(r->rest, 1);
    return read_value(r);
}

/* The next "section.key" and its value; false at the end. The subsection is in the reader. */
static bool next_value(struct gitconfig_reader *r, struct sv *key, struct sv *value)
{
    while (r->rest.n) {
        char c = r->rest.s[0];
        if (c == '[') {
            read_section(r);
        } else if (key_length(r->rest)) {
            struct sv name = sv_first(r->rest, key_length(r->rest));
            struct sb full = sb_in(r->a, 0);
            sb_addf(&full, SV_FMT "." SV_FMT, SV_ARG(r->section), SV_ARG(sv_lower(name, r->a)));
            *key = sb_sv(&full);
            r->rest = sv_skip(r->rest, name.n);
            *value = read_rest_of_key(r);
            return true;
        } else if (c == '#' || c == ';') {
            r->rest = sv_cut(r->rest, '\n').tail;
        } else {
            r->rest = sv_skip(r->rest, 1);
        }
    }
    return false;
}

struct sv gitconfig_value(struct sv text, const char *key, struct arena *a)
{
    struct gitconfig_reader r = { .rest = text, .a = a, .section = SV("") };
    struct sv               name, value, found = { 0 };

    while (next_value(&r, &name, &value))
        if (!r.has_subsection && sv_is(name, key))
            found = value;
    return found;
}

static bool truth(struct sv v)
{
    static const char *const words[] = { "true", "yes", "on" };
    char                     text[8];

    if (!v.n || v.n >= sizeof text)
        return false;
    for (size_t i = 0; i < v.n; i++)
        text[i] = byte_lower(v.s[i]);
    for (size_t i = 0; i < COUNT(words); i++)
        if (sv_is((struct sv){ text, v.n }, words[i]))
            return true;
    text[v.n] = 0;
    return strtol(text, NULL, 0) != 0;
}

/* ---- conditions ------------------------------------------------------------------ */

typedef VEC(struct sv) addresses;

struct gitconfig_reading {
    const struct gitconfig_repo *repo;
    struct arena                *a;
    struct gitconfig            *out;
    addresses                    remotes;
    bool                         collects;     /* the addresses of the remotes are not known yet */
    bool                         asks_remotes; /* some condition depends on them */
};

static struct sv variable(const struct gitconfig_reading *r, const char *name)
{
    return env_find(r->repo->variables, name);
}

static bool matches(struct sv pattern, struct sv text, bool fold, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add(&b, pattern);
    if (pattern.n && pattern.s[pattern.n - 1] == '/')
        sb_adds(&b, "**");
    const struct glob *g = fold ? glob_in_folded(sb_sv(&b), a) : glob_in(sb_sv(&b), a);
    return g && glob_match(g, fold ? sv_lower(text, a) : text);
}

static struct sv real_path(struct sv path, struct arena *a)
{
    char found[PATH_MAX];

    return realpath(sv_cstr(path, a), found) ? sv_dup(sv_of(found), a) : path;
}

/* "./x" is relative to the directory of the configuration file, and that prefix is not a pattern;
 * "x" matches anywhere. */
static bool is_at(const struct gitconfig_reading *r, struct sv pattern, struct sv file,
                  struct sv git_dir, bool fold)
{
    struct sb whole = sb_in(r->a, 0);

    if (sv_starts(pattern, SV("./"))) {
        struct sv dir = path_dir(real_path(file, r->a));
        if (git_dir.n <= dir.n || git_dir.s[dir.n] != '/' ||
            !(fold ? sv_eq(sv_lower(dir, r->a), sv_lower(sv_first(git_dir, dir.n), r->a))
                   : sv_starts(git_dir, dir)))
            return false;
        return matches(sv_skip(pattern, 2), sv_skip(git_dir, dir.n + 1), fold, r->a);
    }
    if (sv_starts(pattern, SV("~/")))
        pattern = path_join(real_path(variable(r, "HOME"), r->a), sv_skip(pattern, 2), r->a);
    else if (!pattern.n || pattern.s[0] != '/')
        sb_adds(&whole, "**/");
    sb_add(&whole, pattern);
    return matches(sb_sv(&whole), git_dir, fold, r->a);
}

static bool lies_at(const struct gitconfig_reading *r, struct sv pattern, struct sv file, bool fold)
{
    return is_at(r, pattern, file, real_path(r->repo->git_dir, r->a), fold) ||
           is_at(r, pattern, file, r->repo->git_dir, fold);
}

static bool has_remote(struct gitconfig_reading *r, struct sv pattern)
{
    r->asks_remotes = true;
    for (size_t i = 0; !r->collects && i < r->remotes.n; i++)
        if (matches(pattern, r->remotes.v[i], false, r->a))
            return true;
    return false;
}

static bool holds(struct gitconfig_reading *r, struct sv condition, struct sv file)
{
    static const char *const kinds[] = { "gitdir:", "gitdir/i:", "onbranch:",
                                         "hasconfig:remote.*.url:" };
    size_t                   k = 0;

    while (k < COUNT(kinds) && !sv_starts(condition, sv_of(kinds[k])))
        k++;
    if (k == COUNT(kinds))
        return false;
    struct sv pattern = sv_skip(condition, strlen(kinds[k]));
    switch (k) {
    case 0: return lies_at(r, pattern, file, false);
    case 1: return lies_at(r, pattern, file, true);
    case 2: return r->repo->branch.n && matches(pattern, r->repo->branch, false, r->a);
    default: return has_remote(r, pattern);
    }
}

/* ---- files ----------------------------------------------------------------------- */

static void take_value(const struct gitconfig_reading *r, struct sv key, struct sv value)
{
    if (sv_is(key, "core.excludesfile"))
        r->out->excludes_file = value;
    if (sv_is(key, "core.ignorecase"))
        r->out->ignore_case = truth(value);
    if (sv_is(key, "extensions.objectformat"))
        r->out->sha256 = sv_is(value, "sha256");
}

/* Reads one file, and the files it includes at the place of the line that includes them; the later
 * value wins. */
static void read_file(struct gitconfig_reading *r, struct sv file, int depth)
{
    struct gitconfig_reader c = { .rest = gitconfig_slurp(file, r->a),
                                  .a = r->a,
                                  .section = SV("") };
    struct sv               key, value;

    while (depth && next_value(&c, &key, &value)) {
        bool plain = !c.has_subsection;
        if ((plain && sv_is(key, "include.path")) ||
            (!plain && sv_is(key, "includeif.path") && holds(r, c.subsection, file)))
            read_file(r, gitconfig_path(r->repo->variables, value, path_dir(file), r->a),
                      depth - 1);
        else if (plain)
            take_value(r, key, value);
        else if (r->collects && sv_is(key, "remote.url"))
            *vec_push(&r->remotes, r->a) = value;
    }
}

/* Values that `git -c` and scripts pass on in the environment come last. */
static void read_environment(const struct gitconfig_reading *r)
{
    int64_t n;

    if (!sv_to_int(variable(r, "GIT_CONFIG_COUNT"), &n))
        return;
    for (int64_t i = 0; i < n && i < ENVIRONMENT_MAX; i++) {
        struct sb key = sb_in(r->a, 0), value = sb_in(r->a, 0);
        sb_addf(&key, "GIT_CONFIG_KEY_%lld", (long long)i);
        sb_addf(&value, "GIT_CONFIG_VALUE_%lld", (long long)i);
        struct sv given = variable(r, sb_sv(&value).s);
        if (given.s)
            take_value(r, sv_lower(variable(r, sb_sv(&key).s), r->a), given);
    }
}

static void read_files(struct gitconfig_reading *r)
{
    struct sv xdg = gitconfig_home(r->repo->variables, r->a), home = variable(r, "HOME");
    struct sv system = variable(r, "GIT_CONFIG_SYSTEM"), user = variable(r, "GIT_CONFIG_GLOBAL");

    if (!variable(r, "GIT_CONFIG_NOSYSTEM").n)
        read_file(r, system.n ? system : SV("/etc/gitconfig"), INCLUDE_DEPTH);
    if (user.n) {
        read_file(r, user, INCLUDE_DEPTH);
    } else {
        if (xdg.n)
            read_file(r, path_join(xdg, SV("git/config"), r->a), INCLUDE_DEPTH);
        if (home.n)
            read_file(r, path_join(home, SV(".gitconfig"), r->a), INCLUDE_DEPTH);
    }
    struct sv own = path_join(r->repo->common_dir, SV("config"), r->a);
    read_file(r, own, INCLUDE_DEPTH);
    if (truth(gitconfig_value(gitconfig_slurp(own, r->a), "extensions.worktreeconfig", r->a)))
        read_file(r, path_join(r->repo->git_dir, SV("config.worktree"), r->a), INCLUDE_DEPTH);
    read_environment(r);
}

struct gitconfig gitconfig_read(const struct gitconfig_repo *repo, struct arena *a)
{
    struct gitconfig         c = { 0 };
    struct gitconfig_reading r = { .repo = repo, .a = a, .out = &c, .collects = true };

    read_files(&r);
    if (r.asks_remotes) { /* the addresses may be in a later file than the condition */
        c = (struct gitconfig){ 0 };
        r.collects = false;
        read_files(&r);
    }
    return c;
}

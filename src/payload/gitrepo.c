#include "payload/gitrepo.h"

#include "base/fs.h"
#include "base/path.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_LIMIT = 16 << 20, INCLUDE_DEPTH = 10 };

static struct sv slurp(struct sv path, struct arena *a)
{
    struct err        ignored;
    struct sv         out = { 0 };
    UNDO(fd_undo) int fd = open(sv_cstr(path, a), O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0 || fs_read_fd(fd, FILE_LIMIT, a, &out, &ignored))
        return (struct sv){ 0 };
    return out;
}

static struct sv env(const char *name)
{
    struct sv v = sv_of(getenv(name));

    return v.n ? v : (struct sv){ 0 };
}

/* ---- the configuration language -------------------------------------------------- */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static struct sv lowered(struct sv v, struct arena *a)
{
    char *s = ARENA_NEW(a, char, v.n + 1);

    for (size_t i = 0; i < v.n; i++)
        s[i] = lower(v.s[i]);
    return (struct sv){ s, v.n };
}

struct config_reader {
    struct sv     rest;
    struct arena *a;
    struct sv     section; /* "core", or "" inside one with a subsection */
};

/* "[core]" sets the section; what follows on the line is read as usual. */
static void read_section(struct config_reader *r)
{
    struct sv_cut c = sv_cut(sv_skip(r->rest, 1), ']');
    struct sv     name = sv_trim(c.head);

    r->section = sv_has(name, '"') || sv_has(name, '\n') ? SV("") : lowered(name, r->a);
    r->rest = c.tail;
}

/* The value after "=": quotes, escapes, comments and continued lines. */
static struct sv read_value(struct config_reader *r)
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

    while (n < v.n && ((lower(v.s[n]) >= 'a' && lower(v.s[n]) <= 'z') || v.s[n] == '-' ||
                       (v.s[n] >= '0' && v.s[n] <= '9')))
        n++;
    return n;
}

/* The next "section.key" and its value; false at the end. */
static bool next_value(struct config_reader *r, struct sv *key, struct sv *value)
{
    while (r->rest.n) {
        char c = r->rest.s[0];
        if (c == '[') {
            read_section(r);
        } else if (key_length(r->rest)) {
            struct sv name = sv_first(r->rest, key_length(r->rest));
            struct sb full = sb_in(r->a, 0);
            sb_addf(&full, SV_FMT "." SV_FMT, SV_ARG(r->section), SV_ARG(lowered(name, r->a)));
            *key = sb_sv(&full);
            r->rest = sv_skip(r->rest, name.n);
            while (r->rest.n && (r->rest.s[0] == ' ' || r->rest.s[0] == '\t'))
                r->rest = sv_skip(r->rest, 1);
            bool has = r->rest.n && r->rest.s[0] == '=';
            r->rest = sv_skip(r->rest, has);
            *value = read_value(r);
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
    struct config_reader r = { .rest = text, .a = a, .section = SV("") };
    struct sv            name, value, found = { 0 };

    while (next_value(&r, &name, &value))
        if (sv_is(name, key))
            found = value;
    return found;
}

/* ---- files ----------------------------------------------------------------------- */

/* "~/x" is below the home folder; another relative path is below `dir`. */
static struct sv expanded(struct sv path, struct sv dir, struct arena *a)
{
    if (sv_starts(path, SV("~/")))
        return path_join(env("HOME"), sv_skip(path, 2), a);
    if (path.n && path.s[0] != '/')
        return path_join(dir, path, a);
    return path;
}

/* core.excludesFile of one file and of those it includes; the later value wins. */
static void excludes_of(struct sv file, int depth, struct arena *a, struct sv *found)
{
    struct config_reader r = { .rest = slurp(file, a), .a = a, .section = SV("") };
    struct sv            key, value;

    while (depth && next_value(&r, &key, &value)) {
        if (sv_is(key, "core.excludesfile"))
            *found = expanded(value, path_dir(file), a);
        if (sv_is(key, "include.path"))
            excludes_of(expanded(value, path_dir(file), a), depth - 1, a, found);
    }
}

static struct sv config_home(struct arena *a)
{
    struct sv xdg = env("XDG_CONFIG_HOME");

    return xdg.n ? xdg : env("HOME").n ? path_join(env("HOME"), SV(".config"), a) : xdg;
}

/* In git's order: system, user (two places), repository. */
static struct sv global_ignore(struct sv common_dir, struct arena *a)
{
    struct sv home = config_home(a), found = { 0 };
    struct sv system = env("GIT_CONFIG_SYSTEM"), user = env("GIT_CONFIG_GLOBAL");

    if (!env("GIT_CONFIG_NOSYSTEM").n)
        excludes_of(system.n ? system : SV("/etc/gitconfig"), INCLUDE_DEPTH, a, &found);
    if (user.n) {
        excludes_of(user, INCLUDE_DEPTH, a, &found);
    } else {
        if (home.n)
            excludes_of(path_join(home, SV("git/config"), a), INCLUDE_DEPTH, a, &found);
        if (env("HOME").n)
            excludes_of(path_join(env("HOME"), SV(".gitconfig"), a), INCLUDE_DEPTH, a, &found);
    }
    excludes_of(path_join(common_dir, SV("config"), a), INCLUDE_DEPTH, a, &found);
    if (!found.s && home.n)
        found = path_join(home, SV("git/ignore"), a);
    return found.n ? slurp(found, a) : (struct sv){ 0 };
}

/* .git may be a file that points to the real folder (linked work trees, submodules),
 * and that folder may share its configuration with another ("commondir"). */
static struct sv common_dir(struct sv top, struct arena *a)
{
    struct sv   git = path_join(top, SV(".git"), a);
    struct stat st;

    if (stat(sv_cstr(git, a), &st) == 0 && S_ISREG(st.st_mode)) {
        struct sv text = sv_trim(slurp(git, a));
        if (sv_starts(text, SV("gitdir:")))
            git = expanded(sv_trim(sv_skip(text, 7)), top, a);
    }
    struct sv common = sv_trim(slurp(path_join(git, SV("commondir"), a), a));
    return common.n ? expanded(common, git, a) : git;
}

struct gitrepo gitrepo_find(struct sv root, struct arena *a)
{
    struct gitrepo repo = { 0 };
    struct sv      dir = root;

    while (dir.n && access(sv_cstr(path_join(dir, SV(".git"), a), a), F_OK) != 0)
        dir = path_dir(dir);
    if (!dir.n)
        return repo;
    struct sv common = common_dir(dir, a);
    repo.found = true;
    repo.top = dir;
    repo.info_exclude = slurp(path_join(common, SV("info/exclude"), a), a);
    repo.global_ignore = global_ignore(common, a);
    return repo;
}

/* Lists of resources: reading them, and finding what their entries stand for. */
#include "payload/list.h"

#include "base/fs.h"
#include "base/path.h"
#include "base/utf8.h"
#include "payload/secret.h"
#include "payload/show.h"
#include "project/glob.h"
#include "project/pattern.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum { LIST_LIMIT = 64 << 20 };

void lists_init(struct lists *l, int root_fd, const struct walk *walk, struct arena *a)
{
    *l = (struct lists){ .a = a, .root_fd = root_fd, .walk = walk };
    l->by_name = map_in(a);
    l->read = map_in(a);
}

static void say(struct lists *l, const char *fmt, ...) PRINTF(2, 3);
static void say(struct lists *l, const char *fmt, ...)
{
    struct sb b = sb_in(l->a, 0);
    va_list   ap;

    va_start(ap, fmt);
    sb_addvf(&b, fmt, ap);
    va_end(ap);
    *vec_push(&l->warnings, l->a) = sb_sv(&b);
}

struct resource *lists_add(struct lists *l, enum resource_scope scope, struct sv name,
                           enum resource_kind kind)
{
    size_t at = (size_t)(uintptr_t)map_find(&l->by_name, name);

    if (!at) {
        struct resource *r = vec_push(&l->resources, l->a);
        at = l->resources.n;
        r->name = sv_dup(name, l->a);
        r->kind = kind;
        r->scope = scope;
        map_put(&l->by_name, name, (void *)(uintptr_t)at);
    }
    struct resource *r = &l->resources.v[at - 1];
    if (!(r->scopes & 1u << scope)) {
        r->scopes |= 1u << scope;
        *vec_push(&l->shown[scope], l->a) = (uint32_t)(at - 1);
    }
    return r;
}

list_lines list_read(struct sv text, struct arena *a)
{
    list_lines lines = { 0 };

    text = utf8_skip_bom(text);
    while (text.n) {
        struct sv_cut c = sv_cut(text, '\n');
        struct sv     line = sv_trim(c.head);
        if (line.n && line.s[0] != '#')
            *vec_push(&lines, a) = line;
        text = c.tail;
    }
    return lines;
}

/* ---- directories, globs, patterns ------------------------------------------------------ */

struct picking {
    struct lists        *l;
    enum resource_scope  scope;
    const struct glob   *glob;       /* or */
    const struct ignore *patterns;   /* or neither: all */
    bool                 names_lock; /* a pattern has the name of a lock file in it */
    size_t               found;
};

/* Does the last matching line of the patterns, for the path or a directory above it, select it? */
static bool is_selected(const struct ignore *g, struct sv path)
{
    int line = IGNORE_NO_LINE;

    for (size_t n = 0; n <= path.n; n++) {
        if (n != path.n && path.s[n] != '/')
            continue;
        int own = ignore_match(g, sv_first(path, n), n != path.n);
        line = own > line ? own : line;
    }
    return line >= 0 && !ignore_is_negated(g, line);
}

/* A link to a directory of the project is skipped: the walk finds the files in the directory
 * itself. */
static bool is_folder_link(const struct lists *l, struct sv path, const struct walk_node *node)
{
    UNDO(fd_undo) int fd = -1;
    struct err        ignored;

    return node->kind == WALK_LINK &&
           fs_open(l->root_fd, path, O_PATH | O_DIRECTORY, &fd, &ignored) == ST_OK;
}

static const char *const lock_names[] = {
    "package-lock.json", "npm-shrinkwrap.json",
    "yarn.lock",         "pnpm-lock.yaml",
    "bun.lock",          "deno.lock",
    "Cargo.lock",        "poetry.lock",
    "uv.lock",           "pdm.lock",
    "Pipfile.lock",      "composer.lock",
    "Gemfile.lock",      "go.sum",
    "go.work.sum",       "flake.lock",
    "mix.lock",          "pubspec.lock",
    "Podfile.lock",      "packages.lock.json",
    "gradle.lockfile",   "conan.lock",
    "Package.resolved",
};

static bool is_lock_file(struct sv path)
{
    struct sv name = path_base(path);

    for (size_t i = 0; i < COUNT(lock_names); i++)
        if (sv_is(name, lock_names[i]))
            return true;
    return false;
}

/* Was the file listed by its own name, and not through a directory that contains it? */
static bool is_named(const struct picking *p, struct sv path)
{
    if (p->patterns)
        return ignore_match(p->patterns, path, false) >= 0 && p->names_lock;
    return false;
}

static bool pick(void *ctx, struct sv path, const struct walk_node *node)
{
    struct picking *p = ctx;

    if ((p->glob && !glob_match(p->glob, path)) || (p->patterns && !is_selected(p->patterns, path)))
        return true;
    if (is_folder_link(p->l, path, node))
        return true;
    p->found++;
    if (!p->l->lock_files && is_lock_file(path) && !is_named(p, path)) {
        *vec_push(&p->l->left_out, p->l->a) = sv_dup(path, p->l->a);
        return true;
    }
    lists_add(p->l, p->scope, path, RESOURCE_FILE);
    return true;
}

static bool count_file(void *n, struct sv path, const struct walk_node *node)
{
    (void)path;
    (void)node;
    *(size_t *)n += 1;
    return true;
}

static void add_folder(struct lists *l, enum resource_scope scope, struct sv path)
{
    struct picking          p = { .l = l, .scope = scope };
    const struct walk_node *node = walk_find(l->walk, path);
    size_t                  n = 0;

    if (node) {
        walk_files(l->walk, node, path, count_file, &n);
        vec_reserve(&l->resources, n, l->a);
        walk_files(l->walk, node, path, pick, &p);
    }
    if (!p.found)
        say(l, "folder '" SV_FMT "' %s", SV_ARG(path.n ? path : SV(".")),
            node ? "holds no files" : "is ignored: none of its files are taken");
}

static void add_glob(struct lists *l, enum resource_scope scope, struct sv pattern)
{
    struct picking p = { .l = l, .scope = scope, .glob = glob_in(pattern, l->a) };

    if (p.glob)
        walk_files(l->walk, &l->walk->nodes.v[0], SV(""), pick, &p);
    if (!p.found)
        say(l, "'" SV_FMT "' matches no file", SV_ARG(pattern));
}

static bool is_not_selected(void *ctx, struct sv path, const struct walk_node *node)
{
    (void)node;
    return !is_selected(ctx, path);
}

/* Does the pattern by itself select a file of the project? */
static bool selects_a_file(struct lists *l, struct sv pattern)
{
    const struct ignore *one = ignore_in(pattern, l->a);

    return one && !walk_files(l->walk, &l->walk->nodes.v[0], SV(""), is_not_selected,
                              (void *)(uintptr_t)one);
}

static void say_pattern(struct lists *l, const char *option, struct sv pattern, const char *what)
{
    say(l, "%s " SV_FMT " %s", option, SV_ARG(pattern), what);
}

/* The patterns of one value, from the root. */
static void take_value(struct lists *l, const char *option, struct sv value, struct sv here,
                       pattern_list *out)
{
    pattern_list parts = { 0 };
    struct err   e;

    if (sv_has(value, ',') && selects_a_file(l, value))
        *vec_push(&parts, l->a) = value;
    else
        parts = pattern_split(value, l->a);
    for (size_t i = 0; i < parts.n; i++) {
        pattern_list each = { 0 };
        if (pattern_expand(parts.v[i], l->a, &each, &e))
            say_pattern(l, option, parts.v[i], e.text);
        for (size_t k = 0; k < each.n; k++) {
            struct sv pattern;
            if (pattern_from(each.v[k], here, l->a, &pattern, &e))
                say_pattern(l, option, each.v[k], "leads out of the project");
            else
                *vec_push(out, l->a) = pattern;
        }
    }
}

static pattern_list take_values(struct lists *l, const char *option, struct sv values,
                                struct sv here)
{
    pattern_list out = { 0 };

    while (values.n) {
        struct sv_cut c = sv_cut(values, '\n');
        take_value(l, option, c.head, here, &out);
        values = c.tail;
    }
    return out;
}

static const struct ignore *compiled(struct lists *l, const pattern_list *all)
{
    struct sb b = sb_in(l->a, 0);

    for (size_t i = 0; i < all->n; i++) {
        sb_add(&b, all->v[i]);
        sb_addc(&b, '\n');
    }
    return ignore_in(sb_sv(&b), l->a);
}

void lists_add_matching(struct lists *l, enum resource_scope scope, struct sv values,
                        struct sv here)
{
    pattern_list   all = take_values(l, "--include", values, here);
    struct picking p = { .l = l, .scope = scope, .patterns = compiled(l, &all) };

    for (size_t i = 0; i < all.n; i++)
        p.names_lock = p.names_lock || is_lock_file(all.v[i]);
    if (p.patterns)
        walk_files(l->walk, &l->walk->nodes.v[0], SV(""), pick, &p);
    for (size_t i = 0; i < all.n; i++) /* a pattern that selects nothing is probably a mistake */
        if (all.v[i].s[0] != '!' && !selects_a_file(l, all.v[i]))
            say_pattern(l, "--include", all.v[i],
                        here.n && sv_has(all.v[i], '/') && all.v[i].s[0] != '/'
                            ? "matches no file: it is looked for from the root, with ./ in front "
                              "from the current directory"
                            : "matches no file");
}

static bool may_drop(const struct resource *r)
{
    return r->kind == RESOURCE_FILE || r->kind == RESOURCE_SELF;
}

static bool drops_any(const struct lists *l, const struct ignore *g)
{
    for (size_t i = 0; g && i < l->resources.n; i++)
        if (may_drop(&l->resources.v[i]) && is_selected(g, l->resources.v[i].name))
            return true;
    return false;
}

void lists_drop_matching(struct lists *l, struct sv values, struct sv here)
{
    pattern_list         all = take_values(l, "--exclude", values, here);
    const struct ignore *g = compiled(l, &all);

    for (size_t i = 0; i < all.n; i++)
        if (all.v[i].s[0] != '!' && !drops_any(l, ignore_in(all.v[i], l->a)))
            say_pattern(l, "--exclude", all.v[i], "matches no resource");
    for (int s = 0; s < SCOPE_COUNT; s++) {
        size_t kept = 0;
        for (size_t i = 0; i < l->shown[s].n; i++) {
            struct resource *r = &l->resources.v[l->shown[s].v[i]];
            if (may_drop(r) && is_selected(g, r->name))
                r->scopes = 0;
            else
                l->shown[s].v[kept++] = l->shown[s].v[i];
        }
        l->shown[s].n = kept;
    }
}

/* ---- entries ------------------------------------------------------------------------ */

/* Where a link to a directory leads, below the root. False: it is not a link to one of the
 * project. */
static bool folder_behind(const struct lists *l, struct sv path, struct sv *out)
{
    UNDO(fd_undo) int fd = -1;
    struct err        ignored;
    char              root[PATH_MAX], to[PATH_MAX], name[64];

    if (fs_open(l->root_fd, path, O_PATH | O_DIRECTORY, &fd, &ignored))
        return false;
    snprintf(name, sizeof name, "/proc/self/fd/%d", l->root_fd);
    ssize_t root_n = readlink(name, root, sizeof root);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t   n = readlink(name, to, sizeof to);
    struct sv top = { root, root_n > 0 ? (size_t)root_n : 0 }, full = { to, n > 0 ? (size_t)n : 0 };
    if (top.n == 1) /* "/" */
        top.n = 0;
    if (!n || !root_n || !sv_starts(full, top) || (full.n > top.n && full.s[top.n] != '/'))
        return false;
    *out = sv_dup(sv_skip(full, full.n > top.n ? top.n + 1 : top.n), l->a);
    return true;
}

/* What cannot be examined counts as a file: loading reports why it cannot be read. */
static enum fs_kind kind_of(const struct lists *l, struct sv path)
{
    enum fs_kind kind;
    struct err   ignored;

    if (!path.n)
        return FS_DIR;
    return fs_kind(l->root_fd, path, &kind, &ignored) ? FS_FILE : kind;
}

/* The path of an entry and what is there. A backslash is read as a slash only when no file has the
 * name as written. */
static enum status find_entry(struct lists *l, struct sv entry, struct sv *path, enum fs_kind *kind,
                              struct err *e)
{
    struct sv other;

    if (path_normal_exact(entry, l->a, path, e))
        return err_code(e);
    *kind = kind_of(l, *path);
    if (*kind != FS_MISSING || !sv_has(entry, '\\'))
        return ST_OK;
    if (path_normal(entry, l->a, &other, e))
        return err_code(e);
    if (kind_of(l, other) == FS_MISSING)
        return ST_OK;
    *path = other;
    *kind = kind_of(l, other);
    return ST_OK;
}

static void add_globs(struct lists *l, enum resource_scope scope, struct sv path)
{
    pattern_list each = { 0 };
    struct err   e;

    if (pattern_expand(path, l->a, &each, &e))
        say(l, "'" SV_FMT "' %s", SV_ARG(path), e.text);
    for (size_t i = 0; i < each.n; i++)
        if (glob_is(each.v[i]))
            add_glob(l, scope, each.v[i]);
        else
            lists_add_entry(l, scope, each.v[i], true);
}

/* URLs are part of the payload, so one that contains a password or token is shown without it, and
 * is not fetched. */
static void add_url(struct lists *l, enum resource_scope scope, struct sv url)
{
    size_t      from, to;
    const char *what = l->allow_secrets ? NULL : secret_find_in_url(url, &from, &to);
    struct sb   b = sb_in(l->a, 0);

    if (!what) {
        lists_add(l, scope, url, RESOURCE_URL);
        return;
    }
    sb_add(&b, sv_first(url, from));
    sb_adds(&b, "REDACTED");
    sb_add(&b, sv_skip(url, to));
    struct resource *r = lists_add(l, scope, sb_sv(&b), RESOURCE_URL);
    r->fetched = true;
    r->state = RES_SECRET;
    snprintf(r->why, sizeof r->why, "%s", what);
}

void lists_add_entry(struct lists *l, enum resource_scope scope, struct sv entry, bool literal)
{
    struct err   e;
    struct sv    path;
    enum fs_kind kind;

    if (show_is_url(entry)) {
        add_url(l, scope, entry);
        return;
    }
    if (sv_has(entry, 0)) {
        lists_add(l, scope, entry, RESOURCE_FILE); /* loading reports what is wrong with it */
        return;
    }
    if (find_entry(l, entry, &path, &kind, &e)) {
        lists_add(l, scope, entry, RESOURCE_OUTSIDE);
        return;
    }
    if (l->self.n && sv_eq(path, l->self)) {
        lists_add(l, scope, path, RESOURCE_SELF);
        return;
    }
    if (kind == FS_LINK && folder_behind(l, path, &path))
        kind = FS_DIR;
    bool is_list = !literal && kind == FS_FILE && sv_ends(path, SV(".context"));
    if (kind == FS_DIR)
        add_folder(l, scope, path);
    else if (kind == FS_MISSING && !literal && (glob_is(path) || pattern_has_braces(path)))
        add_globs(l, scope, path);
    else if (!is_list || !lists_add_file(l, scope, path))
        lists_add(l, scope, path, RESOURCE_FILE);
}

bool lists_add_file(struct lists *l, enum resource_scope scope, struct sv path)
{
    struct sv  text;
    struct err e;
    struct sb  key = sb_in(l->a, 0);

    sb_addf(&key, "%d " SV_FMT, (int)scope, SV_ARG(path));
    if (map_has(&l->read, sb_sv(&key)))
        return true;
    if (l->depth >= LIST_DEPTH_MAX) {
        say(l, "list '" SV_FMT "' is not read: more than %d lists deep", SV_ARG(path),
            LIST_DEPTH_MAX);
        return true;
    }
    enum status s = fs_read(l->root_fd, path, LIST_LIMIT, l->a, &text, &e);
    if (s && s != ST_NOT_FOUND)
        say(l, "list '" SV_FMT "': %s", SV_ARG(path), e.text);
    if (s)
        return false;
    map_put(&l->read, sb_sv(&key), l);
    list_lines lines = list_read(text, l->a);
    l->depth++;
    for (size_t i = 0; i < lines.n; i++)
        lists_add_entry(l, scope, lines.v[i], false);
    l->depth--;
    return true;
}

#include "payload/list.h"

#include "base/fs.h"
#include "base/path.h"
#include "base/utf8.h"
#include "payload/glob.h"
#include "payload/show.h"

#include <stdio.h>

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

struct resource *lists_add(struct lists *l, enum scope scope, struct sv name,
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

/* ---- folders, globs, patterns ------------------------------------------------------ */

struct picking {
    struct lists        *l;
    enum scope           scope;
    const struct glob   *glob;     /* or */
    const struct ignore *patterns; /* or neither: all */
    size_t               found;
};

/* Does the last matching line of the patterns, for the path or a folder above it, select it? */
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

/* A link to a folder of the project: what it leads to is found in its own place. */
static bool is_folder_link(const struct lists *l, struct sv path, const struct walk_node *node)
{
    UNDO(fd_undo) int fd = -1;
    struct err        ignored;

    return node->kind == WALK_LINK &&
           fs_open(l->root_fd, path, O_PATH | O_DIRECTORY, &fd, &ignored) == ST_OK;
}

static bool pick(void *ctx, struct sv path, const struct walk_node *node)
{
    struct picking *p = ctx;

    if ((p->glob && !glob_match(p->glob, path)) || (p->patterns && !is_selected(p->patterns, path)))
        return true;
    if (is_folder_link(p->l, path, node))
        return true;
    p->found++;
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

static void add_folder(struct lists *l, enum scope scope, struct sv path)
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

static void add_glob(struct lists *l, enum scope scope, struct sv pattern)
{
    struct picking p = { .l = l, .scope = scope, .glob = glob_in(pattern, l->a) };

    if (p.glob)
        walk_files(l->walk, &l->walk->nodes.v[0], SV(""), pick, &p);
    if (!p.found)
        say(l, "'" SV_FMT "' matches no file", SV_ARG(pattern));
}

static struct sv as_lines(struct sv list, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    for (size_t i = 0; i < list.n; i++)
        sb_addc(&b, list.s[i] == ',' ? '\n' : list.s[i]);
    return sb_sv(&b);
}

static bool is_not_selected(void *ctx, struct sv path, const struct walk_node *node)
{
    (void)node;
    return !is_selected(ctx, path);
}

/* A pattern that selects nothing by itself is a slip of the pen as a rule. */
static void say_what_matches_nothing(struct lists *l, struct sv lines)
{
    while (lines.n) {
        struct sv_cut        c = sv_cut(lines, '\n');
        const struct ignore *one = ignore_in(c.head, l->a);
        lines = c.tail;
        if (!c.head.n || c.head.s[0] == '!')
            continue;
        if (!one || walk_files(l->walk, &l->walk->nodes.v[0], SV(""), is_not_selected,
                               (void *)(uintptr_t)one))
            say(l, "--include " SV_FMT " matches no file", SV_ARG(c.head));
    }
}

void lists_add_matching(struct lists *l, enum scope scope, struct sv patterns)
{
    struct sv      lines = as_lines(patterns, l->a);
    struct picking p = { .l = l, .scope = scope, .patterns = ignore_in(lines, l->a) };

    if (p.patterns)
        walk_files(l->walk, &l->walk->nodes.v[0], SV(""), pick, &p);
    say_what_matches_nothing(l, lines);
}

void lists_drop_matching(struct lists *l, struct sv patterns)
{
    const struct ignore *g = ignore_in(as_lines(patterns, l->a), l->a);

    for (int s = 0; s < SCOPE_COUNT; s++) {
        size_t kept = 0;
        for (size_t i = 0; i < l->shown[s].n; i++) {
            struct resource *r = &l->resources.v[l->shown[s].v[i]];
            bool             is_file = r->kind == RESOURCE_FILE || r->kind == RESOURCE_SELF;
            if (is_file && is_selected(g, r->name))
                r->scopes = 0;
            else
                l->shown[s].v[kept++] = l->shown[s].v[i];
        }
        l->shown[s].n = kept;
    }
}

/* ---- entries ------------------------------------------------------------------------ */

static void add_entry(struct lists *l, enum scope scope, struct sv entry)
{
    struct err e;
    struct sv  path;

    if (is_url(entry)) {
        lists_add(l, scope, entry, RESOURCE_URL);
        return;
    }
    if (sv_has(entry, 0)) {
        lists_add(l, scope, entry, RESOURCE_FILE); /* loading says what is wrong with it */
        return;
    }
    if (path_normal(entry, l->a, &path, &e)) {
        lists_add(l, scope, entry, RESOURCE_OUTSIDE);
        return;
    }
    if (l->self.n && sv_eq(path, l->self)) {
        lists_add(l, scope, path, RESOURCE_SELF);
        return;
    }
    enum fs_kind kind;
    if (fs_kind(l->root_fd, path, &kind, &e)) {
        lists_add(l, scope, path, RESOURCE_FILE); /* loading says why it cannot be read */
        return;
    }
    if (kind == FS_DIR)
        add_folder(l, scope, path);
    else if (kind == FS_MISSING && glob_is(path))
        add_glob(l, scope, path);
    else if (kind != FS_FILE || !sv_ends(path, SV(".context")) || !lists_add_file(l, scope, path))
        lists_add(l, scope, path, RESOURCE_FILE);
}

bool lists_add_file(struct lists *l, enum scope scope, struct sv path)
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
        add_entry(l, scope, lines.v[i]);
    l->depth--;
    return true;
}

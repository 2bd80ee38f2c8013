/* One pass with getdents64, depth first: only the directories on the path to the one being listed
 * are open. The kind of each entry comes with its name, so that no entry needs a stat() call. */
#include "project/walk.h"

#include "base/fs.h"
#include "base/path.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LIST_BUFFER = 64 * 1024 };

/* The kernel's record; glibc's struct dirent64 has the same layout but wants a DIR. */
struct walk_record {
    uint64_t       inode;
    int64_t        offset;
    unsigned short size;
    unsigned char  type;
    char           name[];
};

/* An entry of the directory being read, before it is decided whether it is kept. */
struct walk_entry {
    uint64_t           key; /* kind and the first seven folded bytes of the name: sorts most */
    struct sv          name;
    enum walk_kind     kind;
    enum rules_verdict verdict;
    struct rules_state state;
};

struct walker {
    const struct rules *rules;
    struct arena       *a;
    struct arena        scratch;
    struct walk        *out;
    char               *buffer;
    char               *path; /* of the directory being read, with the rules' prefix */
    size_t              path_n, path_cap;
    int                 depth;
};

typedef VEC(struct walk_entry) entries;

static unsigned char folded(char c)
{
    return (unsigned char)byte_lower(c);
}

static uint64_t sort_key(struct sv name, bool is_dir)
{
    uint64_t key = is_dir ? 0 : 1;

    for (size_t i = 0; i < 7; i++)
        key = key << 8 | (i < name.n ? folded(name.s[i]) : 0);
    return key;
}

static int compare(const void *left, const void *right)
{
    const struct walk_entry *a = left, *b = right;
    size_t                   n = a->name.n < b->name.n ? a->name.n : b->name.n;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    for (size_t i = 0; i < n; i++) {
        int d = (int)folded(a->name.s[i]) - (int)folded(b->name.s[i]);
        if (d)
            return d;
    }
    if (a->name.n != b->name.n)
        return a->name.n < b->name.n ? -1 : 1;
    return sv_cmp(a->name, b->name); /* A before a */
}

/* Path of an entry of the current directory, in the walker's buffer. */
static struct sv path_with(struct walker *w, struct sv name)
{
    size_t need = w->path_n + name.n + 2;

    if (need > w->path_cap) {
        w->path = arena_grow(w->a, w->path, w->path_cap, need * 2);
        w->path_cap = need * 2;
    }
    memcpy(w->path + w->path_n, name.s, name.n);
    return (struct sv){ w->path, w->path_n + name.n };
}

static void trouble(struct walker *w, int error)
{
    size_t    prefix = rules_prefix(w->rules).n;
    struct sv path = sv_skip((struct sv){ w->path, w->path_n }, prefix);

    if (path.n && path.s[path.n - 1] == '/')
        path.n--;
    *vec_push(&w->out->unread, w->a) = (struct walk_trouble){ sv_dup(path, w->a), error };
}

static enum walk_kind kind_of(int dir, const struct walk_record *r)
{
    struct stat st;

    switch (r->type) {
    case DT_DIR: return WALK_DIR;
    case DT_REG: return WALK_FILE;
    case DT_LNK: return WALK_LINK;
    case DT_UNKNOWN: break;
    default: return WALK_OTHER;
    }
    if (fstatat(dir, r->name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return WALK_OTHER;
    return S_ISDIR(st.st_mode)   ? WALK_DIR
           : S_ISREG(st.st_mode) ? WALK_FILE
           : S_ISLNK(st.st_mode) ? WALK_LINK
                                 : WALK_OTHER;
}

/* All entries of an open directory, unjudged; *has_gitignore says whether one is there. */
static void list(struct walker *w, int fd, entries *found, bool *has_gitignore)
{
    for (;;) {
        long n = syscall(SYS_getdents64, fd, w->buffer, LIST_BUFFER);
        if (n < 0)
            trouble(w, errno);
        if (n <= 0)
            return;
        for (long at = 0; at < n;) {
            const struct walk_record *r = (const void *)(w->buffer + at);
            struct sv                 name = sv_of(r->name);
            at += r->size;
            if (name.s[0] == '.' && (name.n == 1 || (name.n == 2 && name.s[1] == '.')))
                continue;
            if (name.n == 10 && r->type != DT_DIR && sv_is(name, ".gitignore"))
                *has_gitignore = true;
            struct walk_entry *it = vec_push(found, &w->scratch);
            it->kind = kind_of(fd, r);
            it->name = sv_dup(name, w->a);
        }
    }
}

/* Judges the entries and keeps those that belong to the project, in order. */
static void keep(struct walker *w, const struct rules_dir *dir, entries *found)
{
    size_t kept = 0;

    for (size_t i = 0; i < found->n; i++) {
        struct walk_entry *it = &found->v[i];
        bool               is_dir = it->kind == WALK_DIR;
        if (it->kind == WALK_OTHER) /* pipes, sockets, devices: nothing of a project */
            continue;
        it->verdict = rules_judge(w->rules, dir, path_with(w, it->name), is_dir, &it->state);
        if (it->verdict == RULES_OUT)
            continue;
        it->key = sort_key(it->name, is_dir);
        found->v[kept++] = *it;
    }
    found->n = kept;
    if (kept > 1)
        qsort(found->v, kept, sizeof found->v[0], compare);
}

static struct sv read_gitignore(int fd, struct arena *a)
{
    struct err ignored;
    struct sv  text = { 0 };
    UNDO(fd_undo)
    int file = openat(fd, ".gitignore", O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

    if (file < 0 || fs_read_fd(file, 16 << 20, a, &text, &ignored))
        return (struct sv){ 0 };
    return text;
}

static void read_dir(struct walker *w, int fd, const struct rules_dir *up, struct rules_state state,
                     uint32_t at);

static void enter(struct walker *w, int fd, const struct rules_dir *dir,
                  const struct walk_entry *it, uint32_t at)
{
    size_t had = w->path_n;

    path_with(w, it->name);
    w->path_n += it->name.n;
    int below = -1;
    if (w->depth >= WALK_DEPTH_MAX)
        errno = ELOOP;
    else
        below = openat(fd, it->name.s, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (below < 0) {
        trouble(w, errno);
    } else {
        w->depth++;
        read_dir(w, below, dir, it->state, at);
        w->depth--;
        close(below);
    }
    w->path_n = had;
    if (it->verdict == RULES_LOOK) {
        struct walk_node *node = &w->out->nodes.v[at];
        bool              any = false;
        for (uint32_t i = 0; i < node->count && !any; i++)
            any = w->out->nodes.v[node->first + i].shown;
        node->shown = any;
    }
    w->out->dirs += w->out->nodes.v[at].shown;
}

/* Children go to the end of the node array in one piece, then each directory among them is read in
 * turn. */
static void read_children(struct walker *w, int fd, const struct rules_dir *dir, entries *found,
                          uint32_t at)
{
    uint32_t first = (uint32_t)w->out->nodes.n;

    keep(w, dir, found);
    w->out->nodes.v[at].first = first;
    w->out->nodes.v[at].count = (uint32_t)found->n;
    for (size_t i = 0; i < found->n; i++) {
        const struct walk_entry *it = &found->v[i];
        *vec_push(&w->out->nodes, w->a) =
            (struct walk_node){ .name = it->name, .kind = it->kind, .shown = true };
        w->out->files += it->kind != WALK_DIR;
    }
    for (size_t i = 0; i < found->n && found->v[i].kind == WALK_DIR; i++)
        enter(w, fd, dir, &found->v[i], first + (uint32_t)i);
}

static void read_dir(struct walker *w, int fd, const struct rules_dir *up, struct rules_state state,
                     uint32_t at)
{
    struct arena_mark mark = arena_mark(&w->scratch);
    entries           found = { 0 };
    bool              has_gitignore = false;
    struct rules_dir  dir = *up;

    list(w, fd, &found, &has_gitignore);
    if (at > 0) { /* the workspace's own .gitignore is part of its rules already */
        struct sv path = { w->path, w->path_n };
        struct sv text = has_gitignore ? read_gitignore(fd, w->a) : (struct sv){ 0 };
        dir = rules_enter(w->rules, up, path, state, text, w->a);
        path_with(w, SV("/"));
        w->path_n++;
    }
    read_children(w, fd, &dir, &found, at);
    arena_reset(&w->scratch, mark);
}

void walk_read(const struct rules *rules, int root_fd, struct arena *a, struct walk *out)
{
    struct walker     w = { .rules = rules, .a = a, .out = out };
    struct rules_dir  top = rules_top(rules);
    UNDO(fd_undo) int fd = openat(root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    *out = (struct walk){ 0 };
    *vec_push(&out->nodes, a) =
        (struct walk_node){ .name = SV(""), .kind = WALK_DIR, .shown = true };
    w.buffer = ARENA_NEW(&w.scratch, char, LIST_BUFFER);
    path_with(&w, rules_prefix(rules));
    w.path_n = rules_prefix(rules).n;
    if (fd < 0)
        trouble(&w, errno);
    else
        read_dir(&w, fd, &top, top.state, 0);
    arena_free(&w.scratch);
}

static const struct walk_node *child_named(const struct walk *w, const struct walk_node *node,
                                           struct sv name)
{
    for (uint32_t i = 0; i < node->count; i++)
        if (sv_eq(w->nodes.v[node->first + i].name, name))
            return &w->nodes.v[node->first + i];
    return NULL;
}

const struct walk_node *walk_find(const struct walk *w, struct sv path)
{
    const struct walk_node *node = &w->nodes.v[0];

    while (path.n && node) {
        struct sv_cut c = sv_cut(path, '/');
        node = child_named(w, node, c.head);
        path = c.tail;
    }
    return node && node->shown ? node : NULL;
}

void walk_hide(struct walk *w, struct sv path)
{
    const struct walk_node *node = path.n ? walk_find(w, path) : NULL;

    if (node)
        w->nodes.v[node - w->nodes.v].shown = false;
}

struct walk_visit {
    const struct walk *w;
    struct sb          path;
    walk_each         *each;
    void              *ctx;
};

static bool visit(struct walk_visit *v, const struct walk_node *node)
{
    size_t had = v->path.n;

    if (node->kind != WALK_DIR)
        return node->kind == WALK_OTHER || v->each(v->ctx, sb_sv(&v->path), node);
    for (uint32_t i = 0; i < node->count; i++) {
        const struct walk_node *child = &v->w->nodes.v[node->first + i];
        if (!child->shown)
            continue;
        if (had)
            sb_addc(&v->path, '/');
        sb_add(&v->path, child->name);
        bool on = visit(v, child);
        v->path.n = had;
        if (!on)
            return false;
    }
    return true;
}

bool walk_files(const struct walk *w, const struct walk_node *node, struct sv path, walk_each *each,
                void *ctx)
{
    struct arena      scratch = { 0 };
    struct walk_visit v = { .w = w, .path = sb_in(&scratch, 0), .each = each, .ctx = ctx };

    sb_add(&v.path, path);
    bool on = visit(&v, node);
    arena_free(&scratch);
    return on;
}

/* Compiling the patterns of an ignore file, and matching paths by git's rules. */
#include "project/ignore.h"

#include "base/utf8.h"
#include "base/vec.h"
#include "project/glob.h"

#include <string.h>

enum pattern_kind {
    NAME_LITERAL, /* foo          the last part is this             hashed */
    NAME_SUFFIX,  /* *.o          the last part ends with this      hashed when it is one .ext */
    NAME_GLOB,    /* f?o          the last part matches */
    PATH_LITERAL, /* /a/b         the whole path is this            hashed */
    PATH_GLOB,    /* a/f*         the path starts with `text`, its rest matches `glob` */
};

struct pattern {
    enum pattern_kind  kind;
    bool               negated, only_dirs, hashed;
    struct sv          text;
    const struct glob *glob;
};

/* The value of a hashed key: the last line that applies to directories, and the last for other
 * files. */
struct ignore_slot {
    struct sv key; /* the first byte is the kind of the pattern */
    int       for_dirs, for_files;
};

struct ignore {
    VEC(struct pattern) all;
    VEC(int) scanned; /* lines that are not hashed, in order */
    struct ignore_slot *slots;
    size_t              slot_count;
    bool                fold; /* patterns are in lower case, and paths are converted to it */
    bool                has_negated, has_names, has_paths, has_suffixes;
};

/* ---- reading lines -------------------------------------------------------------- */

/* Removes spaces at the end, unless a backslash precedes them. */
static struct sv without_trailing_blanks(struct sv v)
{
    size_t keep = 0;

    for (size_t i = 0; i < v.n; i++) {
        if (v.s[i] == '\\' && i + 1 == v.n)
            return v;
        if (v.s[i] == '\\')
            i++;
        else if (v.s[i] == ' ')
            continue;
        keep = i + 1;
    }
    return sv_first(v, keep);
}

static struct sv folded(struct sv v, bool fold, struct arena *a)
{
    return fold ? sv_lower(v, a) : v;
}

/* A basename pattern: no slash in it. */
static bool read_name(struct pattern *p, struct sv v, bool fold, struct arena *a)
{
    size_t literal = glob_literal(v);

    p->text = folded(v, fold, a);
    if (literal == v.n) {
        p->kind = NAME_LITERAL;
        return v.n > 0;
    }
    if (v.s[0] == '*' && !glob_is(sv_skip(v, 1))) {
        p->kind = NAME_SUFFIX;
        p->text = sv_skip(p->text, 1);
        return true;
    }
    p->kind = NAME_GLOB;
    p->glob = fold ? glob_in_folded(v, a) : glob_in(v, a);
    return p->glob != NULL;
}

/* A pattern with a slash is anchored. Its literal beginning is compared separately, so that a **
 * directly behind it is treated as if it were at the start: git does the same. */
static bool read_path(struct pattern *p, struct sv v, bool fold, struct arena *a)
{
    if (v.s[0] == '/')
        v = sv_skip(v, 1);
    size_t literal = glob_literal(v);
    p->text = folded(sv_first(v, literal), fold, a);
    if (literal == v.n) {
        p->kind = PATH_LITERAL;
        return v.n > 0;
    }
    p->kind = PATH_GLOB;
    v = sv_skip(v, literal);
    p->glob = fold ? glob_in_folded(v, a) : glob_in(v, a);
    return p->glob != NULL;
}

/* False when the line is empty, a comment, or can never match. */
static bool read_line(struct sv v, bool fold, struct pattern *p, struct arena *a)
{
    const char *nul = v.n ? memchr(v.s, 0, v.n) : NULL;

    if (!v.n || v.s[0] == '#')
        return false;
    if (nul)
        v = sv_first(v, (size_t)(nul - v.s));
    v = without_trailing_blanks(v);
    if (v.n && v.s[0] == '!') {
        p->negated = true;
        v = sv_skip(v, 1);
    }
    if (v.n && v.s[v.n - 1] == '/') {
        p->only_dirs = true;
        v = sv_first(v, v.n - 1);
    }
    if (!v.n)
        return false;
    return sv_has(v, '/') ? read_path(p, v, fold, a) : read_name(p, v, fold, a);
}

/* ---- the hash ------------------------------------------------------------------- */

static size_t hash_of(char kind, struct sv key)
{
    uint64_t h = 1469598103934665603u ^ (unsigned char)kind;

    for (size_t i = 0; i < key.n; i++)
        h = (h ^ (unsigned char)key.s[i]) * 1099511628211u;
    return (size_t)(h ^ h >> 29);
}

static char kind_letter(enum pattern_kind kind)
{
    return kind == NAME_LITERAL ? 'n' : kind == NAME_SUFFIX ? 'e' : 'p';
}

static struct ignore_slot *slot_for(const struct ignore *g, char kind, struct sv key)
{
    size_t i = hash_of(kind, key) & (g->slot_count - 1);

    for (;; i = (i + 1) & (g->slot_count - 1)) {
        struct ignore_slot *s = &g->slots[i];
        if (!s->key.s || (s->key.s[0] == kind && sv_eq(sv_skip(s->key, 1), key)))
            return s;
    }
}

static void hash_line(struct ignore *g, int line, struct arena *a)
{
    struct pattern     *p = &g->all.v[line];
    char                kind = kind_letter(p->kind);
    struct ignore_slot *s = slot_for(g, kind, p->text);

    if (!s->key.s) {
        char *key = ARENA_NEW(a, char, p->text.n + 1);
        key[0] = kind;
        memcpy(key + 1, p->text.s, p->text.n);
        *s = (struct ignore_slot){ { key, p->text.n + 1 }, IGNORE_NO_LINE, IGNORE_NO_LINE };
    }
    s->for_dirs = line;
    if (!p->only_dirs)
        s->for_files = line;
    g->has_names = g->has_names || p->kind == NAME_LITERAL;
    g->has_suffixes = g->has_suffixes || p->kind == NAME_SUFFIX;
    g->has_paths = g->has_paths || p->kind == PATH_LITERAL;
}

/* Is it ".ext" with a single dot? Then only the last extension of a name can match it. */
static bool is_extension(struct sv v)
{
    return v.n > 1 && v.s[0] == '.' && !sv_has(sv_skip(v, 1), '.');
}

static void index_lines(struct ignore *g, struct arena *a)
{
    g->slot_count = 8;
    while (g->slot_count < g->all.n * 2)
        g->slot_count *= 2;
    g->slots = ARENA_NEW(a, struct ignore_slot, g->slot_count);
    for (size_t i = 0; i < g->all.n; i++) {
        struct pattern *p = &g->all.v[i];
        p->hashed = p->kind == NAME_LITERAL || p->kind == PATH_LITERAL ||
                    (p->kind == NAME_SUFFIX && is_extension(p->text));
        if (p->hashed)
            hash_line(g, (int)i, a);
        else
            *vec_push(&g->scanned, a) = (int)i;
    }
}

static const struct ignore *compile(struct sv text, bool fold, struct arena *a)
{
    struct ignore *g = ARENA_NEW(a, struct ignore, 1);

    g->fold = fold;
    text = utf8_skip_bom(text);
    while (text.n) {
        struct sv_cut  c = sv_cut(text, '\n');
        struct pattern p = { 0 };
        struct sv      line = c.head;
        if (line.n && line.s[line.n - 1] == '\r')
            line.n--;
        if (read_line(line, fold, &p, a)) {
            *vec_push(&g->all, a) = p;
            g->has_negated = g->has_negated || p.negated;
        }
        text = c.tail;
    }
    if (!g->all.n)
        return NULL;
    index_lines(g, a);
    return g;
}

const struct ignore *ignore_in(struct sv text, struct arena *a)
{
    return compile(text, false, a);
}

const struct ignore *ignore_in_folded(struct sv text, struct arena *a)
{
    return compile(text, true, a);
}

/* ---- matching ------------------------------------------------------------------- */

static int look_up(const struct ignore *g, char kind, struct sv key, bool is_dir)
{
    const struct ignore_slot *s = slot_for(g, kind, key);

    return !s->key.s ? IGNORE_NO_LINE : is_dir ? s->for_dirs : s->for_files;
}

static bool pattern_matches(const struct pattern *p, struct sv path, struct sv name)
{
    switch (p->kind) {
    case NAME_SUFFIX: return sv_ends(name, p->text);
    case NAME_GLOB: return glob_match(p->glob, name);
    case PATH_GLOB:
        return sv_starts(path, p->text) && glob_match(p->glob, sv_skip(path, p->text.n));
    default: return false; /* found by hash */
    }
}

static int max_int(int a, int b)
{
    return a > b ? a : b;
}

static int match(const struct ignore *g, struct sv path, bool is_dir)
{
    int           best = IGNORE_NO_LINE;
    struct sv_cut parts = sv_cut_last(path, '/');
    struct sv     name = parts.found ? parts.tail : path;
    struct sv_cut dot = sv_cut_last(name, '.');
    if (g->has_names)
        best = look_up(g, 'n', name, is_dir);
    if (g->has_paths)
        best = max_int(best, look_up(g, 'p', path, is_dir));
    if (g->has_suffixes && dot.found)
        best = max_int(best, look_up(g, 'e', sv_skip(name, dot.head.n), is_dir));
    for (size_t i = g->scanned.n; i-- > 0 && g->scanned.v[i] > best;) {
        const struct pattern *p = &g->all.v[g->scanned.v[i]];
        if ((is_dir || !p->only_dirs) && pattern_matches(p, path, name))
            return g->scanned.v[i];
    }
    return best;
}

int ignore_match(const struct ignore *g, struct sv path, bool is_dir)
{
    struct arena scratch = { 0 };

    if (!g)
        return IGNORE_NO_LINE;
    if (!g->fold)
        return match(g, path, is_dir);
    int line = match(g, sv_lower(path, &scratch), is_dir);
    arena_free(&scratch);
    return line;
}

bool ignore_is_negated(const struct ignore *g, int line)
{
    return line >= 0 && g->all.v[line].negated;
}

static bool may_match_below(const struct pattern *p, struct sv dir)
{
    size_t n = p->text.n < dir.n ? p->text.n : dir.n;

    if (memcmp(p->text.s, dir.s, n) != 0)
        return false;
    if (p->text.n > dir.n)
        return p->text.s[dir.n] == '/';
    return p->kind == PATH_GLOB;
}

bool ignore_may_bring_back(const struct ignore *g, struct sv dir, bool only_paths)
{
    for (size_t i = 0; g && g->has_negated && i < g->all.n; i++) {
        const struct pattern *p = &g->all.v[i];
        if (!p->negated)
            continue;
        if (p->kind < PATH_LITERAL ? !only_paths : may_match_below(p, dir))
            return true;
    }
    return false;
}

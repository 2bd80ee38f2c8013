/* A pattern becomes a row of operations. Two places to go back to are enough: the last
 * `*` and the last `**`. A `*` stays within one component, so a later `*` of the same
 * component, or any of a later one, makes the earlier choice irrelevant; and whatever a
 * later `**` can reach does not depend on where an earlier one stopped. */
#include "project/glob.h"

#include "base/vec.h"

#include <string.h>

enum glob_op_kind {
    OP_BYTE,
    OP_ANY,
    OP_SET,
    OP_STAR,
    OP_REST,      /* ** at the end: everything */
    OP_DIRS,      /* ** and a slash: nothing, or anything up to and with a slash */
    OP_SOME_DIRS, /* ** and an escaped slash: anything up to and with a slash */
};

struct glob_op {
    uint8_t  kind, byte;
    uint16_t set;
};
struct set {
    uint32_t bits[8];
};
struct glob {
    VEC(struct glob_op) ops;
    VEC(struct set) sets;
};

static bool is_special(char c)
{
    return c == '*' || c == '?' || c == '[' || c == '\\';
}

size_t glob_literal(struct sv text)
{
    size_t n = 0;

    while (n < text.n && !is_special(text.s[n]))
        n++;
    return n;
}

bool glob_is(struct sv text)
{
    return glob_literal(text) < text.n;
}

/* ---- sets ----------------------------------------------------------------------- */

static void set_add(struct set *s, unsigned char c)
{
    s->bits[c >> 5] |= 1u << (c & 31);
}

static bool set_has(const struct set *s, unsigned char c)
{
    return s->bits[c >> 5] >> (c & 31) & 1;
}

/* ASCII only, whatever the locale; spaces are those git knows. */
static bool is_git_space(int c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool in_class(struct sv name, int c)
{
    static const char *const names[] = { "alnum", "alpha", "blank", "cntrl", "digit", "graph",
                                         "lower", "print", "punct", "space", "upper", "xdigit" };
    size_t                   i = 0;

    while (i < COUNT(names) && !sv_is(name, names[i]))
        i++;
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    bool digit = c >= '0' && c <= '9', print = c >= 0x20 && c <= 0x7e;
    switch (i) {
    case 0: return letter || digit;
    case 1: return letter;
    case 2: return c == ' ' || c == '\t';
    case 3: return c < 0x20 || c == 0x7f;
    case 4: return digit;
    case 5: return print && !is_git_space(c);
    case 6: return c >= 'a' && c <= 'z';
    case 7: return print;
    case 8: return print && c != ' ' && !letter && !digit;
    case 9: return is_git_space(c);
    case 10: return c >= 'A' && c <= 'Z';
    case 11: return digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    default: return false;
    }
}

static bool add_class(struct set *s, struct sv name)
{
    bool any = false;

    for (int c = 0; c < 128; c++)
        if (in_class(name, c)) {
            set_add(s, (unsigned char)c);
            any = true;
        }
    return any;
}

struct set_reader {
    struct sv     v;
    size_t        at;
    struct set   *set;
    unsigned char before; /* left end of a range that may follow; 0: none */
    bool          fold;
};

static bool read_range(struct set_reader *r)
{
    if (r->v.s[++r->at] == '\\' && ++r->at >= r->v.n)
        return false;
    for (unsigned c = r->before; c <= (unsigned char)r->v.s[r->at]; c++) {
        set_add(r->set, (unsigned char)c);
        if (r->fold)
            set_add(r->set, (unsigned char)byte_lower((char)c));
    }
    r->before = 0;
    r->at++;
    return true;
}

/* At "[:": a class by name, or a plain bracket when no ":]" closes it. */
static bool read_class(struct set_reader *r)
{
    size_t end = r->at + 2;

    while (end < r->v.n && r->v.s[end] != ']')
        end++;
    if (end >= r->v.n)
        return false;
    if (end == r->at + 2 || r->v.s[end - 1] != ':') {
        set_add(r->set, '[');
        r->before = '[';
        r->at++;
        return true;
    }
    struct sv name = { r->v.s + r->at + 2, end - 1 - (r->at + 2) };
    r->before = 0;
    r->at = end + 1;
    return add_class(r->set, r->fold && sv_is(name, "upper") ? SV("alpha") : name);
}

static bool read_member(struct set_reader *r)
{
    char c = r->v.s[r->at];

    if (c == '-' && r->before && r->at + 1 < r->v.n && r->v.s[r->at + 1] != ']')
        return read_range(r);
    if (c == '[' && r->at + 1 < r->v.n && r->v.s[r->at + 1] == ':')
        return read_class(r);
    if (c == '\\' && ++r->at >= r->v.n)
        return false;
    r->before = (unsigned char)r->v.s[r->at];
    set_add(r->set, r->before);
    r->at++;
    return true;
}

/* The set that opens at v[0] == '['; *used is its length. A closing bracket in first
 * place is a member. */
static bool read_set(struct sv v, bool fold, struct set *set, size_t *used)
{
    struct set_reader r = { .v = v, .at = 1, .set = set, .fold = fold };
    bool              negated = v.n > 1 && (v.s[1] == '!' || v.s[1] == '^');

    r.at += negated;
    do {
        if (r.at >= v.n || !read_member(&r))
            return false;
    } while (r.at >= v.n || v.s[r.at] != ']');
    for (size_t i = 0; negated && i < COUNT(set->bits); i++)
        set->bits[i] = ~set->bits[i];
    *used = r.at + 1;
    return true;
}

/* ---- compiling ------------------------------------------------------------------ */

static struct glob_op *push(struct glob *g, enum glob_op_kind kind, struct arena *a)
{
    struct glob_op *op = vec_push(&g->ops, a);

    op->kind = (uint8_t)kind;
    return op;
}

/* At a run of stars at v[i]; returns where the pattern goes on. */
static size_t push_stars(struct glob *g, struct sv v, size_t i, struct arena *a)
{
    size_t end = i;

    while (end < v.n && v.s[end] == '*')
        end++;
    bool escaped = end + 1 < v.n && v.s[end] == '\\' && v.s[end + 1] == '/';
    bool closed = end == v.n || v.s[end] == '/' || escaped;
    if (end - i < 2 || !closed || (i > 0 && v.s[i - 1] != '/')) {
        push(g, OP_STAR, a);
        return end;
    }
    push(g, end == v.n ? OP_REST : escaped ? OP_SOME_DIRS : OP_DIRS, a);
    return end == v.n ? end : end + 1 + escaped;
}

static const struct glob *compile(struct sv v, bool fold, struct arena *a)
{
    struct glob *g = ARENA_NEW(a, struct glob, 1);

    for (size_t i = 0; i < v.n;) {
        size_t used = 1;
        if (v.s[i] == '*') {
            i = push_stars(g, v, i, a);
            continue;
        }
        if (v.s[i] == '?') {
            push(g, OP_ANY, a);
        } else if (v.s[i] == '[') {
            struct set *set = vec_push(&g->sets, a);
            if (g->sets.n > UINT16_MAX || !read_set(sv_skip(v, i), fold, set, &used))
                return NULL;
            push(g, OP_SET, a)->set = (uint16_t)(g->sets.n - 1);
        } else {
            bool escaped = v.s[i] == '\\';
            if (escaped && ++i >= v.n)
                return NULL;
            push(g, OP_BYTE, a)->byte = (uint8_t)(fold && !escaped ? byte_lower(v.s[i]) : v.s[i]);
        }
        i += used;
    }
    return g;
}

const struct glob *glob_in(struct sv pattern, struct arena *a)
{
    return compile(pattern, false, a);
}

const struct glob *glob_in_folded(struct sv pattern, struct arena *a)
{
    return compile(pattern, true, a);
}

/* ---- matching ------------------------------------------------------------------- */

static bool takes(const struct glob *g, const struct glob_op *op, char c)
{
    switch (op->kind) {
    case OP_BYTE: return (char)op->byte == c;
    case OP_ANY: return c != '/';
    default: return c != '/' && set_has(&g->sets.v[op->set], (unsigned char)c);
    }
}

bool glob_match(const struct glob *g, struct sv text)
{
    const size_t none = SIZE_MAX;
    size_t       i = 0, t = 0, star = none, star_t = 0, dirs = none, dirs_t = 0;

    for (;;) {
        if (i == g->ops.n) {
            if (t == text.n)
                return true;
        } else if (g->ops.v[i].kind == OP_REST) {
            return true;
        } else if (g->ops.v[i].kind == OP_STAR) {
            star = ++i;
            star_t = t;
            continue;
        } else if (g->ops.v[i].kind == OP_DIRS || g->ops.v[i].kind == OP_SOME_DIRS) {
            bool may_be_none = g->ops.v[i].kind == OP_DIRS;
            dirs = ++i;
            dirs_t = t;
            star = none;
            if (may_be_none)
                continue;
        } else if (t < text.n && takes(g, &g->ops.v[i], text.s[t])) {
            i++;
            t++;
            continue;
        }
        /* No match from here: let the last * match one more byte, or else the last ** one more
         * component. */
        if (star != none && star_t < text.n && text.s[star_t] != '/') {
            t = ++star_t;
            i = star;
            continue;
        }
        const char *slash = dirs == none ? NULL : memchr(text.s + dirs_t, '/', text.n - dirs_t);
        if (!slash)
            return false;
        t = dirs_t = (size_t)(slash - text.s) + 1;
        i = dirs;
        star = none;
    }
}

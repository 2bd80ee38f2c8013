/* A treap with reference counts: a node's priority is drawn when it is made, a parent's is never
 * lower than a child's, so that the expected depth is logarithmic whatever the order of keys. A
 * node with one holder is changed in place; one that is shared is copied first. */
#include "store/tree.h"

#include "base/failure.h"
#include "base/status.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* gcc's analyzer does not follow reference counts: it sees a leak where another holder remains. */
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

/* Key and value, shared by the copies of a node. */
struct pair {
    atomic_uint refs;
    size_t      key_n, value_n;
    char        bytes[];
};

struct store_tree {
    atomic_uint        refs;
    uint32_t           priority;
    struct pair       *pair;
    struct store_tree *left, *right;
};

static uint32_t draw(void)
{
    static _Thread_local uint64_t state = 0x9e3779b97f4a7c15u;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32);
}

static struct pair *pair_of(struct sv key, struct sv value)
{
    struct pair *p = malloc(sizeof *p + key.n + value.n);

    if (!p)
        failure_memory(sizeof *p + key.n + value.n);
    atomic_init(&p->refs, 1);
    p->key_n = key.n;
    p->value_n = value.n;
    if (key.n)
        memcpy(p->bytes, key.s, key.n);
    if (value.n)
        memcpy(p->bytes + key.n, value.s, value.n);
    return p;
}

static void pair_drop(struct pair *p)
{
    if (atomic_fetch_sub(&p->refs, 1) == 1)
        free(p);
}

static struct sv key_of(const struct store_tree *t)
{
    return (struct sv){ t->pair->bytes, t->pair->key_n };
}

static struct sv value_of(const struct store_tree *t)
{
    return (struct sv){ t->pair->bytes + t->pair->key_n, t->pair->value_n };
}

static struct store_tree *node_of(struct pair *p, uint32_t priority, struct store_tree *left,
                                  struct store_tree *right)
{
    struct store_tree *t = malloc(sizeof *t);

    if (!t)
        failure_memory(sizeof *t);
    atomic_init(&t->refs, 1);
    t->priority = priority;
    t->pair = p;
    t->left = left;
    t->right = right;
    return t;
}

struct store_tree *tree_hold(struct store_tree *t)
{
    if (t)
        atomic_fetch_add(&t->refs, 1);
    return t;
}

void tree_drop(struct store_tree *t)
{
    while (t && atomic_fetch_sub(&t->refs, 1) == 1) {
        struct store_tree *right = t->right;
        tree_drop(t->left);
        pair_drop(t->pair);
        free(t);
        t = right;
    }
}

/* Make *t a node that nobody else holds, with the same contents. */
static struct store_tree *own(struct store_tree **t)
{
    struct store_tree *shared = *t;

    if (atomic_load(&shared->refs) == 1)
        return shared;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): it was dereferenced above */
    atomic_fetch_add(&shared->pair->refs, 1);
    *t = node_of(shared->pair, shared->priority, tree_hold(shared->left), tree_hold(shared->right));
    tree_drop(shared);
    return *t;
}

/* Split t, which the caller gives up, into what is below `key` and what is above. The key itself is
 * not in it. */
static void split(struct store_tree *t, struct sv key, struct store_tree **below,
                  struct store_tree **above)
{
    while (t) {
        own(&t);
        if (sv_cmp(key_of(t), key) < 0) {
            *below = t;
            below = &t->right;
            t = t->right;
        } else {
            *above = t;
            above = &t->left;
            t = t->left;
        }
    }
    *below = *above = NULL;
}

static struct store_tree *join(struct store_tree *below, struct store_tree *above)
{
    struct store_tree *top = NULL, **at = &top;

    while (below && above) {
        if (below->priority >= above->priority) {
            *at = below;
            own(at);
            below = (*at)->right;
            at = &(*at)->right;
        } else {
            *at = above;
            own(at);
            above = (*at)->left;
            at = &(*at)->left;
        }
    }
    *at = below ? below : above;
    return top;
}

static struct store_tree *find(struct store_tree *t, struct sv key)
{
    while (t) {
        int c = sv_cmp(key, key_of(t));
        if (!c)
            break;
        t = c < 0 ? t->left : t->right;
    }
    return t;
}

void tree_put(struct store_tree **t, struct sv key, struct sv value)
{
    struct pair *p = pair_of(key, value);
    bool         there = find(*t, key) != NULL;
    uint32_t     priority = draw();

    while (*t && (there || (*t)->priority >= priority)) {
        struct store_tree *n = own(t);
        int                c = sv_cmp(key, key_of(n));
        if (!c) {
            pair_drop(n->pair);
            n->pair = p;
            return;
        }
        t = c < 0 ? &n->left : &n->right;
    }
    struct store_tree *n = node_of(p, priority, NULL, NULL);
    split(*t, key, &n->left, &n->right);
    *t = n;
}

void tree_del(struct store_tree **t, struct sv key)
{
    if (!find(*t, key))
        return;
    for (;;) {
        struct store_tree *n = own(t);
        int                c = sv_cmp(key, key_of(n));
        if (!c) {
            *t = join(n->left, n->right);
            n->left = n->right = NULL;
            tree_drop(n);
            return;
        }
        t = c < 0 ? &n->left : &n->right;
    }
}

bool tree_get(struct store_tree *t, struct sv key, struct sv *value)
{
    t = find(t, key);
    if (t)
        *value = value_of(t);
    return t != NULL;
}

static bool found(const struct store_tree *t, struct tree_item *out)
{
    if (t)
        *out = (struct tree_item){ key_of(t), value_of(t) };
    return t != NULL;
}

bool tree_at_least(struct store_tree *t, struct sv key, bool or_equal, struct tree_item *out)
{
    const struct store_tree *best = NULL;

    while (t) {
        int c = sv_cmp(key_of(t), key);
        if (c > 0 || (c == 0 && or_equal)) {
            best = t;
            t = t->left;
        } else {
            t = t->right;
        }
    }
    return found(best, out);
}

bool tree_at_most(struct store_tree *t, struct sv key, bool or_equal, struct tree_item *out)
{
    const struct store_tree *best = NULL;

    while (t) {
        int c = sv_cmp(key_of(t), key);
        if (c < 0 || (c == 0 && or_equal)) {
            best = t;
            t = t->right;
        } else {
            t = t->left;
        }
    }
    return found(best, out);
}

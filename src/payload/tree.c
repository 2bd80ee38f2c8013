/* Writing the tree of the project as indented text, within limits. */
#include "payload/tree.h"

#include "payload/show.h"

struct printer {
    struct sb         *b;
    const struct walk *w;
    struct tree_limits limits;
    size_t             lines;
};

/* Shown entries below a node, of all depths. */
static size_t count_below(const struct walk *w, const struct walk_node *node)
{
    size_t n = 0;

    for (uint32_t i = 0; i < node->count; i++) {
        const struct walk_node *child = &w->nodes.v[node->first + i];
        if (child->shown)
            n += 1 + (child->kind == WALK_DIR ? count_below(w, child) : 0);
    }
    return n;
}

static void indent(struct printer *p, size_t depth)
{
    static const char blanks[] = "                                ";

    for (size_t n = depth * 2; n; n -= n < 32 ? n : 32)
        sb_add(p->b, (struct sv){ blanks, n < 32 ? n : 32 });
}

static void say_more(struct printer *p, size_t depth, size_t n)
{
    if (!n)
        return;
    indent(p, depth);
    sb_addf(p->b, "… %zu more\n", n);
}

static void print_children(struct printer *p, const struct walk_node *node, size_t depth)
{
    if (p->limits.max_depth && depth >= p->limits.max_depth) {
        say_more(p, depth, count_below(p->w, node));
        return;
    }
    size_t left_out = 0;
    for (uint32_t i = 0; i < node->count; i++) {
        const struct walk_node *child = &p->w->nodes.v[node->first + i];
        if (!child->shown)
            continue;
        if (p->limits.max_entries && p->lines >= p->limits.max_entries) {
            left_out += 1 + (child->kind == WALK_DIR ? count_below(p->w, child) : 0);
            continue;
        }
        p->lines++;
        indent(p, depth);
        sb_add_path(p->b, child->name);
        sb_adds(p->b, child->kind == WALK_DIR ? "/\n" : "\n");
        if (child->kind == WALK_DIR)
            print_children(p, child, depth + 1);
    }
    say_more(p, depth, left_out);
}

void tree_write(struct sb *b, const struct walk *w, struct tree_limits limits)
{
    struct printer p = { .b = b, .w = w, .limits = limits };

    print_children(&p, &w->nodes.v[0], 0);
}

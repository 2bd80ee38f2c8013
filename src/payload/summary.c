/* Lines of the summary, with cut files folded into their directories when that is asked for. */
#include "payload/summary.h"

bool summary_folds(const struct resource *r)
{
    return r->kind == RESOURCE_FILE;
}

struct sv summary_directory(struct sv path, size_t depth)
{
    size_t end = 0;

    for (size_t i = 0; depth && i < path.n; i++)
        if (path.s[i] == '/') {
            end = i + 1;
            depth--;
        }
    return end ? sv_first(path, end) : SV("./");
}

static void add_line(const struct payload *p, const struct resource *r, struct map *dirs,
                     summary_lines *lines, struct arena *a)
{
    struct summary_line line = { .r = r, .name = r->name };

    if (r->cut) {
        line.bytes = r->size;
        line.tokens = r->block_tokens;
    }
    if (!r->cut || !p->folded || !summary_folds(r)) {
        *vec_push(lines, a) = line;
        return;
    }
    struct sv dir = summary_directory(r->name, p->fold_depth);
    size_t    at = (size_t)(uintptr_t)map_find(dirs, dir);
    if (!at) {
        *vec_push(lines, a) = (struct summary_line){ .name = dir };
        at = lines->n;
        map_put(dirs, dir, (void *)(uintptr_t)at);
    }
    struct summary_line *fold = &lines->v[at - 1];
    fold->files++;
    fold->bytes += line.bytes;
    fold->tokens += line.tokens;
}

summary_lines summary_of_scope(const struct payload *p, enum resource_scope s, struct arena *a)
{
    summary_lines lines = { 0 };
    struct map    dirs = map_in(a);

    vec_reserve(&lines, p->lists.shown[s].n, a);
    for (size_t i = 0; i < p->lists.shown[s].n; i++)
        add_line(p, &p->lists.resources.v[p->lists.shown[s].v[i]], &dirs, &lines, a);
    return lines;
}

summary_lines summary_of_cuts(const struct payload *p, struct arena *a)
{
    summary_lines lines = { 0 };
    struct map    dirs = map_in(a);

    for (size_t i = 0; i < p->lists.resources.n; i++)
        if (p->lists.resources.v[i].scopes && p->lists.resources.v[i].cut)
            add_line(p, &p->lists.resources.v[i], &dirs, &lines, a);
    return lines;
}

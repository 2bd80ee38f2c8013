/* Replacing a few items in a large file that we wrote ourselves.
 *
 * Ten thousand threads make twelve megabytes; a command changes one or two items of them. A
 * JSON string holds no raw line break, so a line that starts with two blanks and `"threads": {` is
 * the section and cannot be anybody's text. What does not look as render.c lays it out
 * is refused, and the caller renders the file as a whole. */
#include "share/share_internal.h"

#include <stdlib.h>
#include <string.h>

struct cut {
    size_t    from, to;
    struct sv text;
};

struct section {
    size_t open;  /* just behind its bracket */
    size_t close; /* at the line break before its closing bracket, or at the bracket if empty */
    bool   empty;
};

static ptrdiff_t find_from(struct sv text, size_t from, struct sv needle)
{
    const char *hit =
        from < text.n ? memmem(text.s + from, text.n - from, needle.s, needle.n) : NULL;

    return hit ? hit - text.s : -1;
}

static bool find_section(struct sv old, const char *name, struct arena *a, struct section *out)
{
    struct sb b = sb_in(a, 0);
    bool      is_array = strcmp(name, "operations") == 0;

    sb_addf(&b, "\n  \"%s\": %c", name, is_array ? '[' : '{');
    ptrdiff_t at = find_from(old, 0, sb_sv(&b));
    if (at < 0)
        return false;
    out->open = (size_t)at + sb_sv(&b).n;
    if (out->open >= old.n)
        return false;
    out->empty = old.s[out->open] == (is_array ? ']' : '}');
    if (out->empty) {
        out->close = out->open;
        return true;
    }
    ptrdiff_t end = find_from(old, out->open, is_array ? SV("\n  ]") : SV("\n  }"));
    out->close = end < 0 ? 0 : (size_t)end;
    return end >= 0;
}

/* The value of a member of a section: from its brace to its closing brace. */
static bool find_item(struct sv old, const struct section *in, struct sv key, struct arena *a,
                      struct cut *out)
{
    struct sb b = sb_in(a, 0);

    sb_adds(&b, "\n    ");
    sb_add_json_string(&b, key);
    sb_adds(&b, ": {");
    struct sv needle = sb_sv(&b);
    ptrdiff_t at = find_from(sv_first(old, in->close), in->open, needle);
    if (at < 0)
        return false;
    out->from = (size_t)at + needle.n - 1;
    ptrdiff_t end = find_from(old, out->from, SV("\n    }"));
    if (end < 0)
        return false;
    out->to = (size_t)end + 6;
    return true;
}

static int by_place(const void *a, const void *b)
{
    const struct cut *x = a, *y = b;

    return x->from < y->from ? -1 : x->from > y->from;
}

/* All items that are new in one section, behind those that are there. */
static void add_new(struct sb *b, bool *any, const struct patch *p)
{
    sb_adds(b, *any ? ",\n    " : "\n    ");
    *any = true;
    if (p->key.s) {
        sb_add_json_string(b, p->key);
        sb_adds(b, ": ");
    }
    sb_add(b, p->text);
}

static bool section_cuts(struct sv old, const struct patch *patches, size_t n, const char *name,
                         struct arena *a, struct cut *cuts, size_t *n_cuts)
{
    struct section in;
    struct sb      tail = sb_in(a, 0);
    bool           any, grew = false;

    if (!find_section(old, name, a, &in))
        return false;
    any = !in.empty;
    for (size_t i = 0; i < n; i++) {
        if (patches[i].kind != PATCH_ITEM || strcmp(patches[i].section, name) != 0)
            continue;
        struct cut c = { .text = patches[i].text };
        if (patches[i].key.s && !in.empty && find_item(old, &in, patches[i].key, a, &c)) {
            cuts[(*n_cuts)++] = c;
            continue;
        }
        add_new(&tail, &any, &patches[i]);
        grew = true;
    }
    if (grew) {
        if (in.empty)
            sb_adds(&tail, "\n  ");
        cuts[(*n_cuts)++] = (struct cut){ in.close, in.close, sb_sv(&tail) };
    }
    return true;
}

static bool metadata_cut(struct sv old, struct sv text, struct cut *out)
{
    ptrdiff_t at = find_from(sv_first(old, 256), 0, SV("\n  \"metadata\": {"));
    ptrdiff_t end = at < 0 ? -1 : find_from(old, (size_t)at, SV("\n  }"));

    if (end < 0)
        return false;
    *out = (struct cut){ (size_t)at + 15, (size_t)end + 4, text };
    return true;
}

static enum status not_ours(struct err *e)
{
    return err_set(e, ST_CORRUPT, "the file is not laid out as heddle writes it");
}

enum status patch_write(struct sv old, const struct patch *patches, size_t n, struct arena *a,
                        struct sb *out, struct err *e)
{
    static const char *const names[] = { "threads", "operations", "relations" };
    struct cut              *cuts = ARENA_NEW(a, struct cut, n + COUNT(names) + 1);
    size_t                   n_cuts = 0, at = 0;

    for (size_t k = 0; k < COUNT(names); k++) {
        bool used = false;
        for (size_t i = 0; i < n; i++)
            used = used ||
                   (patches[i].kind == PATCH_ITEM && strcmp(patches[i].section, names[k]) == 0);
        if (used && !section_cuts(old, patches, n, names[k], a, cuts, &n_cuts))
            return not_ours(e);
    }
    for (size_t i = 0; i < n; i++)
        if (patches[i].kind == PATCH_METADATA &&
            !metadata_cut(old, patches[i].text, &cuts[n_cuts++]))
            return not_ours(e);
    qsort(cuts, n_cuts, sizeof *cuts, by_place);
    for (size_t i = 0; i < n_cuts; i++) {
        if (cuts[i].from < at)
            return not_ours(e);
        sb_add(out, (struct sv){ old.s + at, cuts[i].from - at });
        sb_add(out, cuts[i].text);
        at = cuts[i].to;
    }
    sb_add(out, sv_skip(old, at));
    return ST_OK;
}

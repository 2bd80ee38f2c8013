/* Replacing a few items in a large file that heddle wrote.
 *
 * Ten thousand threads make twelve megabytes; a command changes one or two items of them. A JSON
 * string holds no raw line break, so a line that starts with two spaces and `"threads": {` is the
 * section and cannot be anybody's text. A file with another layout than that of render.c is
 * refused, and the caller renders it completely. */
#include "share/share_internal.h"

#include <stdlib.h>
#include <string.h>

struct cut {
    size_t    from, to;
    struct sv text;
};

struct patch_section {
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

/* The sections in the order they stand in. One search per section: its end and the head of the
 * next are looked for together, and a long needle is found fast. */
static const struct {
    const char *name;
    char        open, close;
} section_kinds[] = { { "threads", '{', '}' },
                      { "operations", '[', ']' },
                      { "relations", '{', '}' },
                      { "objectives", '{', '}' } };

static size_t kind_of(const char *name)
{
    size_t k = 0;

    while (strcmp(section_kinds[k].name, name) != 0)
        k++;
    return k;
}

/* From the head of section k, which begins at or behind `from`. `next` names the one behind it;
 * NULL: it is the last. */
static bool find_section(struct sv old, size_t from, size_t k, const char *next, struct arena *a,
                         struct patch_section *out)
{
    struct sb head = sb_in(a, 0), tail = sb_in(a, 0);
    char      close = section_kinds[k].close;

    sb_addf(&head, "\n  \"%s\": %c", section_kinds[k].name, section_kinds[k].open);
    ptrdiff_t at = find_from(old, from, sb_sv(&head));
    if (at < 0)
        return false;
    out->open = (size_t)at + sb_sv(&head).n;
    out->empty = out->open < old.n && old.s[out->open] == close;
    out->close = out->open;
    if (out->empty)
        return true;
    sb_addf(&tail, "\n    }\n  %c", close);
    if (next)
        sb_addf(&tail, ",\n  \"%s\": ", next);
    else if (sv_ends(old, SV("\n    }\n  }\n}\n"))) {
        out->close = old.n - 7;
        return out->close > out->open;
    }
    ptrdiff_t end = find_from(old, out->open, sb_sv(&tail));
    out->close = end < 0 ? 0 : (size_t)end + 6;
    return end >= 0;
}

/* All sections of a file, indexed as in section_kinds. False: not laid out as render.c does. */
static bool find_sections(struct sv old, struct arena *a, struct patch_section *out)
{
    bool   objectives = find_from(sv_first(old, 64), 0, SV("\n  \"objectives\": ")) >= 0;
    size_t threads = kind_of("threads"), ops = kind_of("operations");
    size_t relations = kind_of("relations"), objs = kind_of("objectives");

    if (objectives)
        return find_section(old, 0, objs, "metadata", a, &out[objs]);
    if (find_section(old, 0, threads, "operations", a, &out[threads]))
        return find_section(old, out[threads].close, ops, "relations", a, &out[ops]) &&
               find_section(old, out[ops].close, relations, NULL, a, &out[relations]);
    return find_section(old, 0, threads, NULL, a, &out[threads]);
}

/* The value of a member of a section: from its brace to its closing brace. */
static bool find_item(struct sv old, const struct patch_section *in, struct sv key, struct arena *a,
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

static void section_cuts(struct sv old, const struct patch *patches, size_t n, size_t kind,
                         const struct patch_section *in, struct arena *a, struct cut *cuts,
                         size_t *n_cuts)
{
    struct sb tail = sb_in(a, 0);
    bool      any = !in->empty, grew = false;

    for (size_t i = 0; i < n; i++) {
        if (patches[i].kind != PATCH_ITEM || kind_of(patches[i].section) != kind)
            continue;
        struct cut c = { .text = patches[i].text };
        if (patches[i].key.s && !in->empty && find_item(old, in, patches[i].key, a, &c)) {
            cuts[(*n_cuts)++] = c;
            continue;
        }
        add_new(&tail, &any, &patches[i]);
        grew = true;
    }
    if (!grew)
        return;
    if (in->empty)
        sb_adds(&tail, "\n  ");
    cuts[(*n_cuts)++] = (struct cut){ in->close, in->close, sb_sv(&tail) };
}

/* It is the first thing in two of the files and the last in the third. */
static bool metadata_cut(struct sv old, struct sv text, struct cut *out)
{
    size_t    late = old.n > 4096 ? old.n - 4096 : 0;
    ptrdiff_t at = find_from(sv_first(old, 256), 0, SV("\n  \"metadata\": {"));

    if (at < 0)
        at = find_from(old, late, SV("\n  \"metadata\": {"));
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
    struct patch_section sections[COUNT(section_kinds)] = { 0 };
    struct cut          *cuts = ARENA_NEW(a, struct cut, n + COUNT(section_kinds) + 1);
    size_t               n_cuts = 0, at = 0;

    if (!find_sections(old, a, sections))
        return not_ours(e);
    for (size_t i = 0; i < n; i++) {
        if (patches[i].kind == PATCH_ITEM && !sections[kind_of(patches[i].section)].open)
            return not_ours(e);
        if (patches[i].kind == PATCH_METADATA &&
            !metadata_cut(old, patches[i].text, &cuts[n_cuts++]))
            return not_ours(e);
    }
    for (size_t k = 0; k < COUNT(section_kinds); k++)
        if (sections[k].open)
            section_cuts(old, patches, n, k, &sections[k], a, cuts, &n_cuts);
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

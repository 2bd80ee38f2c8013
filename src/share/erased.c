/* What an erased operation on threads still says.
 *
 * Erasing takes everything out of an entry that is not in its skeleton, also two members that folds
 * need: `what` an import brought in, and the `scope` of a reference, without which it would show
 * all of its target. The names of the members stay, and `what` follows from them. The scope becomes
 * the paths that were certainly in it, so that the reference never shows more than before. Tags,
 * and keys of other programs, become a placeholder, so that an import can tell that they were
 * erased from that there never were any. */
#include "share/share_internal.h"

#include "thread/skeleton.h"

/* The first member that is there decides. */
static const struct {
    const char *member, *what;
} imports[] = {
    { "record", "operation" }, { "section", "bad" },      { "thread_id", "thread" },
    { "title", "objective" },  { "listed", "objective" }, { "depends_on", "relation" },
};

static struct json *find(struct json *p, const char *key)
{
    for (size_t i = 0; p->type == JSON_OBJECT && i < p->n; i++)
        if (sv_is(p->members[i].key, key))
            return &p->members[i].value;
    return NULL;
}

static bool is_null(const struct json *v)
{
    return v && v->type == JSON_NULL;
}

/* Imports of references are of three kinds with the same members: `action` tells them apart. */
static void tell_what(struct json *p)
{
    struct json *what = find(p, "what");
    struct sv    action = json_text(p, "action");

    if (!is_null(what))
        return;
    for (size_t i = 0; !action.n && i < COUNT(imports); i++)
        if (find(p, imports[i].member))
            action = sv_of(imports[i].what);
    if (action.n)
        *what = json_of(action);
}

static void tell_scope(struct json *p, struct arena *a)
{
    struct json       *scope = find(p, "scope");
    const struct json *files = json_find(p, "files");
    size_t             n = json_is(files, JSON_ARRAY) ? files->n : 0;

    if (!is_null(scope))
        return;
    *scope = (struct json){ .type = JSON_ARRAY, .n = n ? n : 1 };
    scope->items = ARENA_NEW(a, struct json, n + 1);
    scope->items[0] = json_of(SV(ERASED_TEXT)); /* a path that no thread has */
    for (size_t i = 0; i < n; i++)
        scope->items[i] = json_of(json_text(&files->items[i], "name"));
}

static void tell_texts(struct json *p)
{
    static const struct {
        const char *member, *text;
    } texts[] = { { "tags", ERASED_TAGS }, { "extra", ERASED_EXTRA } };

    for (size_t i = 0; i < COUNT(texts); i++) {
        struct json *v = find(p, texts[i].member);
        if (is_null(v))
            *v = json_of(sv_of(texts[i].text));
    }
}

void operation_fill_erased(const struct entry *n, struct json *p, struct arena *a)
{
    if (!n->erased || p->type != JSON_OBJECT)
        return;
    tell_what(p);
    tell_scope(p, a);
    tell_texts(p);
}

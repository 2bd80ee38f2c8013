/* The little of .leslie that a thread needs, read from its files into a log in memory: for an
 * answer that cannot wait until all of them are imported. */
#include "base/fs.h"
#include "base/map.h"
#include "share/share_internal.h"

/* The members of a section of the file that are in `wanted`. */
static void put_section(struct jw *w, const struct json *doc, const char *section,
                        const struct map *wanted)
{
    const struct json *all = json_find(doc, section);

    jw_key(w, section);
    jw_open(w, '{');
    for (size_t i = 0; json_is(all, JSON_OBJECT) && i < all->n; i++)
        if (map_has(wanted, all->members[i].key)) {
            jw_key_sv(w, all->members[i].key);
            jw_json(w, &all->members[i].value);
        }
    jw_close(w, '}');
}

/* Does an operation name the thread in one of its parameters? They say of which kind its references
 * are. */
static bool concerns(const struct json *operation, struct sv thread)
{
    const struct json *params = json_find(operation, "params");

    for (size_t i = 0; json_is(params, JSON_OBJECT) && i < params->n; i++)
        if (json_is(&params->members[i].value, JSON_STRING) &&
            sv_eq(json_sv(&params->members[i].value), thread))
            return true;
    return false;
}

/* The document with only that thread, what it references, and the operations that concern it. */
static struct sv part_of(const struct json *doc, struct sv thread, struct arena *a)
{
    const struct json *targets =
        json_find(json_find_sv(json_find(doc, "relations"), thread), "references_to");
    const struct json *ops = json_find(doc, "operations");
    struct map         wanted = map_in(a);
    struct sb          b = sb_in(a, 0);
    struct jw          w = jw_in(&b, 0);

    map_put(&wanted, thread, a);
    for (size_t i = 0; json_is(targets, JSON_ARRAY) && i < targets->n; i++)
        map_put(&wanted, json_sv(&targets->items[i]), a);
    jw_open(&w, '{');
    jw_kstr(&w, "version", json_text(doc, "version"));
    jw_key(&w, "metadata");
    jw_open(&w, '{');
    jw_close(&w, '}');
    put_section(&w, doc, "threads", &wanted);
    put_section(&w, doc, "relations", &wanted);
    jw_key(&w, "operations");
    jw_open(&w, '[');
    for (size_t i = 0; json_is(ops, JSON_ARRAY) && i < ops->n; i++)
        if (concerns(&ops->items[i], thread))
            jw_json(&w, &ops->items[i]);
    jw_close(&w, ']');
    jw_close(&w, '}');
    return sb_sv(&b);
}

enum status share_begin_from_files(struct share *s, struct sv thread, struct err *e)
{
    struct sv   relations, objectives;
    struct json doc;

    s->strict = s->read_only = true;
    if (fs_read(s->root, SHARE_RELATIONS, 0, s->a, &relations, e) ||
        json_parse(relations, JSON_KEEP_ORDER, s->a, &doc, e) ||
        log_begin(s->log, SHARE_GLOBAL, STORE_WRITE, e))
        return err_code(e);
    enum status r = fs_read(s->root, SHARE_OBJECTIVES, 0, s->a, &objectives, e);
    if (!r)
        r = import_objectives(s, objectives, false, e);
    if (!r || r == ST_NOT_FOUND)
        r = import_relations(s, part_of(&doc, thread, s->a), false, e);
    if (r)
        log_abort(s->log);
    return r;
}

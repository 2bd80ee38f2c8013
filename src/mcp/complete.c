/* completion/complete: names of threads, for arguments of prompts and of addresses. */
#include "mcp/mcp_internal.h"

extern const struct operation op_name_list;

enum { VALUES_MAX = 100 };

/* What the argument of this name is a name of; NULL: it is free text. */
static const char *kind_of(struct sv argument)
{
    return sv_is(argument, "thread") ? "thread" : sv_is(argument, "agent") ? "agent" : NULL;
}

static enum status find_names(struct mcp_item *x, const char *kind, struct sv start,
                              struct json *doc, struct err *e)
{
    struct sb b = sb_in(x->a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "kind", sv_of(kind));
    jw_kstr(&w, "prefix", start);
    jw_kint(&w, "limit", VALUES_MAX + 1);
    jw_close(&w, '}');
    return mcp_ask(x, &op_name_list, sb_sv(&b), NULL, doc, e);
}

enum status mcp_complete(struct mcp_item *x, struct jw *w, struct err *e)
{
    const struct json *argument = json_find(x->params, "argument"), *items = NULL;
    struct sv          name = json_text(argument, "name"), value = json_text(argument, "value");
    struct sv          type = json_text(json_find(x->params, "ref"), "type");
    struct json        doc;

    if (!name.s || !value.s || (!sv_is(type, "ref/prompt") && !sv_is(type, "ref/resource")))
        return err_set(e, ST_USAGE, "ref is a prompt or a resource, argument a name and a value");
    if (kind_of(name) && find_names(x, kind_of(name), value, &doc, e) == ST_OK)
        items = json_find(&doc, "items"); /* where there is no log there are no names */
    jw_key(w, "completion");
    jw_open(w, '{');
    jw_key(w, "values");
    jw_open(w, '[');
    for (size_t i = 0; items && i < items->n && i < VALUES_MAX; i++)
        jw_str(w, json_text(&items->items[i], "name"));
    jw_close(w, ']');
    jw_kbool(w, "hasMore", items && items->n > VALUES_MAX);
    jw_close(w, '}');
    return ST_OK;
}

/* Agents and their permissions: parsing, checking, appending, and the view that keeps them. */
#include "loom/agent.h"

#include "base/json.h"
#include "base/path.h"
#include "base/vec.h"
#include "loom/shown.h"
#include "thread/kind.h"
#include "thread/stage.h"

/* ---- permissions ------------------------------------------------------------------ */

static const struct {
    enum permission bit;
    const char     *name;
    unsigned        needs;
} permissions[] = {
#define X(bit, name, needs, what) { PERM_##name, #name, needs },
    PERMISSION_TABLE(X)
#undef X
};

const char *permission_name(enum permission p)
{
    for (size_t i = 0; i < COUNT(permissions); i++)
        if (permissions[i].bit == p)
            return permissions[i].name;
    return "none";
}

void permissions_list(struct sb *b, unsigned have)
{
    bool any = false;

    for (size_t i = 0; i < COUNT(permissions); i++) {
        if (!(have & permissions[i].bit))
            continue;
        sb_adds(b, any ? ", " : "");
        sb_adds(b, permissions[i].name);
        any = true;
    }
    if (!any)
        sb_adds(b, "none");
}

static enum status check_needs(unsigned have, struct err *e)
{
    for (size_t i = 0; i < COUNT(permissions); i++) {
        unsigned missing = permissions[i].needs & ~have;
        if (!(have & permissions[i].bit) || !missing)
            continue;
        err_set(e, ST_INVALID_SYNTAX, "%s requires %s", permissions[i].name,
                permission_name((enum permission)missing));
        return err_hint(e, "give both");
    }
    return ST_OK;
}

enum status permissions_parse(struct sv list, unsigned *out, struct err *e)
{
    struct sv_cut c = { .tail = list, .found = true };
    unsigned      have = 0;

    while (c.found) {
        c = sv_cut(c.tail, ',');
        struct sv name = sv_trim(c.head);
        unsigned  bit = sv_is(name, "all") ? PERM_ALL : 0;
        for (size_t i = 0; i < COUNT(permissions); i++)
            bit |= sv_is(name, permissions[i].name) ? permissions[i].bit : 0;
        if (!bit && name.n && !sv_is(name, "none")) {
            err_set(e, ST_USAGE, "no such permission: '" SV_FMT "'", SV_ARG(name));
#define X(bit, name, needs, what) #name ", "
            return err_hint(e, PERMISSION_TABLE(X) "all or none");
#undef X
        }
        have |= bit;
    }
    if (check_needs(have, e))
        return err_code(e);
    *out = have;
    return ST_OK;
}

enum status permission_check(unsigned have, enum permission needed, struct err *e)
{
    if ((have & needed) == needed)
        return ST_OK;
    err_set(e, ST_PERMISSION_DENIED, "%s not enabled", permission_name(needed));
    if (needed == PERM_loom_generate)
        return err_hint(e, "request elevated permissions or ask the human to generate");
    return err_hint(e, "request elevated permissions or ask the human to do it");
}

/* ---- the view --------------------------------------------------------------------- */

static enum status fold(struct rows *f, const struct entry *n, struct err *e)
{
    struct json p;

    if (kind_of(n->kind) != KIND_THREAD_OPERATION || !log_is_global(f->thread))
        return ST_OK;
    if (json_parse(n->payload, 0, f->a, &p, e))
        return err_code(e);
    struct sv op = json_text(&p, "operation"), name = json_text(&p, "name");
    if (!name.n || !sv_starts(op, SV("agent_")))
        return ST_OK;
    struct sv key = key_of_name("agent", name, f->a);
    if (sv_is(op, "agent_remove"))
        return row_del(f, key, e);
    if (sv_is(op, "agent_add") || sv_is(op, "agent_set"))
        return row_put(f, key, n->payload, e);
    return ST_OK;
}

const struct view agents_view = { .name = "agents", .version = 1, .fold = fold };

/* ---- reading ---------------------------------------------------------------------- */

static enum status read_agent(struct sv row, struct arena *a, struct agent *out, struct err *e)
{
    struct json        v;
    const struct json *list;

    if (json_parse(row, 0, a, &v, e))
        return err_in(e, "an agent");
    *out =
        (struct agent){ .name = json_text(&v, "name"),
                        .kind = sv_is(json_text(&v, "kind"), "model") ? AUTHOR_MODEL : AUTHOR_HUMAN,
                        .model = json_text(&v, "model"),
                        .system_prompt = json_text(&v, "system_prompt") };
    agent_settings_read(&v, a, &out->settings);
    list = json_find(&v, "permissions");
    for (size_t i = 0; json_is(list, JSON_ARRAY) && i < list->n; i++)
        for (size_t k = 0; k < COUNT(permissions); k++)
            if (sv_is(json_sv(&list->items[i]), permissions[k].name))
                out->permissions |= permissions[k].bit;
    return ST_OK;
}

enum status agent_find(struct log *l, struct sv name, struct arena *a, struct agent *out,
                       bool *found, struct err *e)
{
    struct rows r = rows_of_view(l, GLOBAL_THREAD, &agents_view, a);
    struct sv   row;

    if (row_get(&r, key_of_name("agent", name, a), &row, found, e))
        return err_code(e);
    return *found ? read_agent(row, a, out, e) : ST_OK;
}

enum status agent_named(struct log *l, struct sv name, struct arena *a, struct agent *out,
                        struct err *e)
{
    bool found;

    if (agent_find(l, name, a, out, &found, e))
        return err_code(e);
    if (found)
        return ST_OK;
    err_set(e, ST_NOT_FOUND, "agent '" SV_FMT "' not found", SV_ARG(name));
    return err_hint(e, "`heddle agent add " SH_FMT " --kind human|model` makes it", SV_ARG(name));
}

enum status agent_list(struct log *l, struct arena *a, struct agent **out, size_t *n, struct err *e)
{
    struct rows       r = rows_of_view(l, GLOBAL_THREAD, &agents_view, a);
    struct store_row *rows;

    if (rows_below(&r, SV("agent/"), &rows, n, e))
        return err_code(e);
    *out = ARENA_NEW(a, struct agent, *n + 1);
    for (size_t i = 0; i < *n; i++)
        if (read_agent(rows[i].value, a, &(*out)[i], e))
            return err_code(e);
    return ST_OK;
}

/* ---- writing ---------------------------------------------------------------------- */

enum status agent_name_check(struct sv name, struct err *e)
{
    if (name_check(name, "agent name", e))
        return err_code(e);
    if (shown_is_name(name))
        return ST_OK;
    err_set(e, ST_INVALID_SYNTAX, "agent name '" SV_FMT "' could be taken for something else",
            SV_ARG(name));
    return err_hint(e, "use a name of your own: no quotes, brackets, arrows, = or * in it, no "
                       "characters that nobody sees, and not human, model, tool or you");
}

static enum status check_agent(const struct agent *x, struct err *e)
{
    if (check_needs(x->permissions, e))
        return err_code(e);
    if (x->kind == AUTHOR_MODEL && !x->model.n) {
        err_set(e, ST_USAGE, "a model agent needs a model");
        return err_hint(e, "--model provider:identifier, for example offline:echo");
    }
    if (x->kind == AUTHOR_HUMAN && x->model.n)
        return err_set(e, ST_INVALID_SYNTAX, "a person has no model");
    struct sv_cut model = sv_cut(x->model, ':');
    if (x->model.n && (!model.head.n || !sv_trim(model.tail).n)) {
        err_set(e, ST_USAGE, "not a model: '" SV_FMT "'", SV_ARG(x->model));
        return err_hint(e, "write provider:identifier, for example offline:echo");
    }
    return agent_settings_check(&x->settings, e);
}

static enum status append(struct log *l, const char *op, const struct agent *x, struct sv actor,
                          int64_t now, struct arena *a, struct err *e)
{
    struct sb         b = sb_in(a, 0);
    struct jw         w = jw_in(&b, 0);
    struct json       v;
    struct store_head head;

    jw_open(&w, '{');
    jw_kstr(&w, "kind", sv_of(author_kind_name(x->kind)));
    if (x->model.n)
        jw_kstr(&w, "model", x->model);
    jw_kstr(&w, "name", x->name);
    jw_kstr(&w, "operation", sv_of(op));
    jw_key(&w, "permissions");
    jw_open(&w, '[');
    for (size_t i = 0; i < COUNT(permissions); i++)
        if (x->permissions & permissions[i].bit)
            jw_str(&w, sv_of(permissions[i].name));
    jw_close(&w, ']');
    agent_settings_write(&w, &x->settings);
    if (x->system_prompt.n)
        jw_kstr(&w, "system_prompt", x->system_prompt);
    jw_close(&w, '}');
    if (json_parse(sb_sv(&b), 0, a, &v, e))
        return err_code(e);
    struct entry n = { .at = now,
                       .kind = sv_of(kind_name(KIND_THREAD_OPERATION)),
                       .actor = actor,
                       .payload = json_canonical(&v, a) };
    return log_append(l, GLOBAL_THREAD, LOG_ANY_REV, &n, 1, &head, e);
}

enum status agent_add(struct log *l, const struct agent *x, struct sv actor, int64_t now,
                      struct arena *a, struct err *e)
{
    struct agent old;
    bool         found;

    if (agent_name_check(x->name, e) || check_agent(x, e) ||
        agent_find(l, x->name, a, &old, &found, e))
        return err_code(e);
    if (found) {
        err_set(e, ST_CONFLICT, "there is an agent '" SV_FMT "' already", SV_ARG(x->name));
        return err_hint(e, "`heddle agent set " SH_FMT "` changes it", SV_ARG(x->name));
    }
    return append(l, "agent_add", x, actor, now, a, e);
}

enum status agent_put(struct log *l, const struct agent *x, struct sv actor, int64_t now,
                      struct arena *a, struct err *e)
{
    return check_agent(x, e) ? err_code(e) : append(l, "agent_set", x, actor, now, a, e);
}

enum status agent_remove(struct log *l, struct sv name, struct sv actor, int64_t now,
                         struct arena *a, struct err *e)
{
    struct agent old;
    bool         found;

    if (agent_find(l, name, a, &old, &found, e))
        return err_code(e);
    if (!found) {
        err_set(e, ST_NOT_FOUND, "agent '" SV_FMT "' not found", SV_ARG(name));
        return err_hint(e, "`heddle agent list` shows the agents there are");
    }
    return append(l, "agent_remove", &old, actor, now, a, e);
}

/* Prompts: texts that a person chooses from a menu of the client and sends to the model. */
#include "api/share/context.h"
#include "mcp/mcp_internal.h"

extern const struct operation op_payload_make;

struct mcp_argument {
    const char *name, *description;
    bool        required;
};

/* clang-format off */
static const struct mcp_prompt {
    const char            *name, *title, *description;
    struct mcp_argument arguments[4]; /* ends with a name of NULL */
} prompts[] = {
    { "thread-context", "Context of a thread", "What a thread may read and write, then the task",
      { { "thread", "the thread", true }, { "task", "what is to be done", false } } },
    { "payload", "Everything for one turn", "The project's tree, the memos and the contents of files",
      { { "paths", "files, directories or globs, with commas between them", false },
        { "budget", "at most this many tokens", false } } },
};
/* clang-format on */

static void put_arguments(struct jw *w, const struct mcp_prompt *p, const struct mcp_server *server)
{
    jw_key(w, "arguments");
    jw_open(w, '[');
    for (const struct mcp_argument *g = p->arguments; g->name; g++) {
        bool filled = server->thread.n && sv_is(sv_of(g->name), "thread");
        jw_open(w, '{');
        jw_kstr(w, "name", sv_of(g->name));
        jw_kstr(w, "description", sv_of(g->description));
        jw_kbool(w, "required", g->required && !filled);
        jw_close(w, '}');
    }
    jw_close(w, ']');
}

enum status mcp_prompts_list(struct mcp_item *x, struct jw *w, struct err *e)
{
    size_t at;

    if (mcp_cursor_read(x, &at, e))
        return err_code(e);
    jw_key(w, "prompts");
    jw_open(w, '[');
    for (size_t i = at; i < COUNT(prompts); i++) {
        jw_open(w, '{');
        jw_kstr(w, "name", sv_of(prompts[i].name));
        jw_kstr(w, "title", sv_of(prompts[i].title));
        jw_kstr(w, "description", sv_of(prompts[i].description));
        put_arguments(w, &prompts[i], x->s->server);
        jw_close(w, '}');
    }
    jw_close(w, ']');
    return ST_OK;
}

/* ---- get --------------------------------------------------------------------------------------
 */

static enum status make_context(struct mcp_item *x, const struct json *given, struct sv *text,
                                struct err *e)
{
    struct sb   b = sb_in(x->a, 0);
    struct jw   w = jw_in(&b, 0);
    struct sv   thread = json_text(given, "thread"), task = json_text(given, "task");
    struct json doc;

    if (!thread.n)
        thread = x->s->server->thread;
    jw_open(&w, '{');
    jw_kstr(&w, "thread", thread);
    if (task.n)
        jw_kstr(&w, "task", task);
    jw_kbool(&w, "notes", true);
    jw_close(&w, '}');
    if (mcp_ask(x, &op_context_make, sb_sv(&b), NULL, &doc, e))
        return err_code(e);
    *text = json_text(&doc, "context");
    x->context_thread = thread;
    x->context_waiting = *json_find(&doc, "waiting");
    return ST_OK;
}

static void put_paths(struct jw *w, struct sv list)
{
    jw_key(w, "paths");
    jw_open(w, '[');
    while (list.n) {
        struct sv_cut c = sv_cut(list, ',');
        if (sv_trim(c.head).n)
            jw_str(w, sv_trim(c.head));
        list = c.tail;
    }
    jw_close(w, ']');
}

static enum status make_payload(struct mcp_item *x, const struct json *given, struct sv *text,
                                struct err *e)
{
    struct sb   b = sb_in(x->a, 0), out = sb_in(x->a, 0);
    struct jw   w = jw_in(&b, 0);
    struct sv   budget = json_text(given, "budget");
    struct json doc;
    int64_t     n;

    jw_open(&w, '{');
    jw_kbool(&w, "offline", true);
    if (json_text(given, "paths").n)
        put_paths(&w, json_text(given, "paths"));
    if (budget.n && !sv_to_int(budget, &n))
        return err_set(e, ST_USAGE, "budget is a number of tokens, not '" SV_FMT "'",
                       SV_ARG(budget));
    if (budget.n)
        jw_kint(&w, "budget", n);
    jw_close(&w, '}');
    if (mcp_ask(x, &op_payload_make, sb_sv(&b), &out, &doc, e))
        return err_code(e);
    *text = sb_sv(&out);
    return ST_OK;
}

static enum status check_arguments(const struct mcp_prompt *p, const struct json *given,
                                   struct err *e)
{
    for (size_t i = 0; given && i < given->n; i++) {
        const struct mcp_argument *g = p->arguments;
        while (g->name && !sv_is(given->members[i].key, g->name))
            g++;
        if (!g->name || given->members[i].value.type != JSON_STRING)
            return err_set(e, ST_USAGE, "'" SV_FMT "' is not an argument of %s, or not a string",
                           SV_ARG(given->members[i].key), p->name);
    }
    return ST_OK;
}

static const struct mcp_prompt *find(struct sv name)
{
    for (size_t i = 0; i < COUNT(prompts); i++)
        if (sv_is(name, prompts[i].name))
            return &prompts[i];
    return NULL;
}

enum status mcp_prompts_get(struct mcp_item *x, struct jw *w, struct err *e)
{
    const struct json       *given = json_find(x->params, "arguments");
    const struct mcp_prompt *p;
    struct sv                name, text;

    if (mcp_text(x, "name", &name, e))
        return err_code(e);
    p = find(name);
    if (!p)
        return err_set(e, ST_USAGE, "there is no prompt '" SV_FMT "'", SV_ARG(name));
    if (given && given->type != JSON_OBJECT)
        return err_set(e, ST_USAGE, "arguments is an object");
    if (check_arguments(p, given, e) ||
        (p == &prompts[0] ? make_context(x, given, &text, e) : make_payload(x, given, &text, e)))
        return err_code(e);
    jw_kstr(w, "description", sv_of(p->description));
    jw_key(w, "messages");
    jw_open(w, '[');
    jw_open(w, '{');
    jw_kstr(w, "role", SV("user"));
    jw_key(w, "content");
    jw_open(w, '{');
    jw_kstr(w, "type", SV("text"));
    jw_kstr(w, "text", text);
    jw_close(w, '}');
    jw_close(w, '}');
    jw_close(w, ']');
    return ST_OK;
}

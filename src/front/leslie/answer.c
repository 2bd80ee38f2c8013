/* Runs an operation for a command of Leslie (upstream), and prints its document in Leslie's
 * envelope. */
#include "front/leslie/format.h"
#include "front/leslie/leslie_internal.h"

static bool ask(void *ctx, struct sv question)
{
    return app_ask(ctx, question);
}

enum status leslie_operation(struct app *app, const struct operation *op, void *params,
                             struct request *r, struct err *e)
{
    request_init(r, &app->ws, app->a);
    r->actor = app->actor;
    r->ask = ask;
    r->ask_ctx = app;
    enum status s = operation_run(op, r, params, e);
    app->error_details = r->error_details;
    request_end(r);
    return s;
}

/* ---- the envelope -------------------------------------------------------------------- */

/* One object: the members that are listed, under upstream's names and in its order. */
static void put_members(struct jw *w, const struct json *doc, const char *members)
{
    struct sv rest = sv_of(members);

    jw_open(w, '{');
    while (rest.n) {
        struct sv_cut      word = sv_cut(rest, ' '), name = sv_cut(word.head, '=');
        const struct json *v = json_find_sv(doc, name.found ? name.tail : name.head);
        rest = word.tail;
        if (!v)
            continue;
        jw_key_sv(w, name.head);
        jw_json(w, v);
    }
    jw_close(w, '}');
}

static void put_warning(struct jw *w, const struct warning *x)
{
    jw_open(w, '{');
    jw_kstr(w, "code", x->code);
    jw_kstr(w, "message", x->message);
    if (x->thread.s) {
        jw_key(w, "context");
        jw_open(w, '{');
        jw_kstr(w, "thread", x->thread);
        jw_close(w, '}');
    }
    jw_close(w, '}');
}

/* Warnings that upstream also has: they have codes and are not in its documents. */
static bool is_upstream(const struct warning *x)
{
    return x->code.n && !x->in_doc;
}

static void put_warnings(struct jw *w, const struct request *r, bool always)
{
    size_t n = 0;

    for (size_t i = 0; i < r->warnings.n; i++)
        n += is_upstream(&r->warnings.v[i]);
    if (!n && !always)
        return;
    jw_key(w, "warnings");
    jw_open(w, '[');
    for (size_t i = 0; i < r->warnings.n; i++)
        if (is_upstream(&r->warnings.v[i]))
            put_warning(w, &r->warnings.v[i]);
    jw_close(w, ']');
}

enum status leslie_answer(struct app *app, struct request *r, const char *members, unsigned how,
                          struct err *e)
{
    struct sb   b = sb_in(app->a, 0);
    struct jw   w = jw_in(&b, 2);
    struct json doc;

    if (json_parse(request_document(r), JSON_KEEP_ORDER, app->a, &doc, e))
        return err_code(e);
    jw_open(&w, '{');
    jw_kbool(&w, "success", true);
    jw_key(&w, "data");
    if (how & LESLIE_LIST) {
        const struct json *items = json_find(&doc, "items");
        jw_open(&w, '[');
        for (size_t i = 0; i < items->n; i++)
            put_members(&w, &items->items[i], members);
        jw_close(&w, ']');
    } else {
        put_members(&w, &doc, members);
    }
    put_warnings(&w, r, how & LESLIE_WARNINGS);
    jw_close(&w, '}');
    sb_addc(&b, '\n');
    return format_print(&app->out, sb_sv(&b), app->format, app->a, e);
}

enum status leslie_reply(struct app *app, struct sv data, struct err *e)
{
    struct sb   b = sb_in(app->a, 0);
    struct jw   w = jw_in(&b, 2);
    struct json doc;

    if (json_parse(data, JSON_KEEP_ORDER, app->a, &doc, e))
        return err_code(e);
    jw_open(&w, '{');
    jw_kbool(&w, "success", true);
    jw_key(&w, "data");
    jw_json(&w, &doc);
    jw_close(&w, '}');
    sb_addc(&b, '\n');
    return format_print(&app->out, sb_sv(&b), app->format, app->a, e);
}

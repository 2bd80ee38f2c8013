/* context.make, context.parse, context.acknowledge: makes the <thread_context> block in front of a
 * task, reads one, and marks its injections as delivered. */
#include "api/share/context.h"

#include "api/share/share_call.h"
#include "api/term.h"
#include "share/prompt.h"

/* ---- make ---------------------------------------------------------------------------- */

/* clang-format off */
static const struct param make_params[] = {
    { "thread",  PARAM_TEXT, offsetof(struct context_make_params, thread),  .required = true, .value = "T", .help = "the thread" },
    { "task",    PARAM_TEXT, offsetof(struct context_make_params, task),    .value = "TEXT", .help = "what follows the block; - reads it from stdin" },
    { "spawned", PARAM_FLAG, offsetof(struct context_make_params, spawned), .help = "as it is at spawn: without the thread's own assets" },
    { "notes",   PARAM_FLAG, offsetof(struct context_make_params, notes),   .help = "say in comments what else there is to know, and where to write" },
    { 0 },
};
static const struct field made[] = {
    { "thread",     FIELD_TEXT, .help = "the thread" },
    { "context",    FIELD_TEXT, .help = "the block, the injections that wait, and the task" },
    { "injections", FIELD_NUMBER, .help = "how many injections are in it" },
    { "waiting",    FIELD_LIST, .item = FIELD_NUMBER, .help = "which: for context.acknowledge, once the context has been handed on" },
    { 0 },
};
/* clang-format on */

static enum status make(struct request *r, const void *params, struct err *e)
{
    const struct context_make_params *p = params;
    unsigned      flags = (p->spawned ? BLOCK_AT_SPAWN : 0u) | (p->notes ? BLOCK_NOTES : 0u);
    struct share  s;
    struct prompt text;

    if (share_call_begin(r, &s, STORE_READ, e) ||
        prompt_make(&s, p->thread, flags, p->task, &text, e))
        return share_call_fail(r, &s, e);
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "thread", p->thread);
    jw_kstr(r->doc, "context", text.text);
    jw_kint(r->doc, "injections", (int64_t)text.n_pending);
    jw_key(r->doc, "waiting");
    jw_open(r->doc, '[');
    for (size_t i = 0; i < text.n_pending; i++)
        jw_int(r->doc, text.pending[i].seq);
    jw_close(r->doc, ']');
    jw_close(r->doc, '}');
    return share_call_end(r, &s);
}

static void print_made(const struct json *doc, struct term *t)
{
    sb_add(t->out, json_text(doc, "context")); /* for a model: as it is */
    sb_addc(t->out, '\n');
}

const struct operation op_context_make = {
    .name = "context.make",
    .summary = CONTEXT_SUMMARY,
    .details = CONTEXT_DETAILS,
    .group = GROUP_SHARE,
    .needs = NEEDS_ROOT,
    .in_thread = true,
    .params = make_params,
    .params_size = sizeof(struct context_make_params),
    .answer = made,
    .run = make,
    .print = print_made,
};

/* ---- acknowledge --------------------------------------------------------------------- */

/* clang-format off */
static const struct param acknowledge_params[] = {
    { "thread",  PARAM_TEXT, offsetof(struct context_acknowledge_params, thread),  .required = true, .value = "T", .help = "the thread" },
    { "waiting", PARAM_JSON, offsetof(struct context_acknowledge_params, waiting), .required = true, .value = "LIST", .help = "the injections that were handed on: `waiting` of context.make" },
    PARAM_ONCE(struct context_acknowledge_params),
    { 0 },
};
static const struct field acknowledged[] = {
    { "thread",       FIELD_TEXT, .help = "the thread" },
    { "acknowledged", FIELD_NUMBER, .help = "how many injections will not be told again" },
    { 0 },
};
/* clang-format on */

static bool is_listed(const struct json *list, int64_t seq)
{
    int64_t n;

    for (size_t i = 0; i < list->n; i++)
        if (json_int(&list->items[i], &n) && n == seq)
            return true;
    return false;
}

/* Of those that wait, the ones that are listed: asked twice, the second time finds none. */
static enum status deliver(struct share *s, const struct context_acknowledge_params *p, size_t *n,
                           struct err *e)
{
    struct share_thread t;
    struct injection   *pending;
    size_t              n_pending;

    *n = 0;
    if (share_thread(s, p->thread, &t, e) || share_pending(s, t.id, &pending, &n_pending, e))
        return err_code(e);
    for (size_t i = 0; i < n_pending; i++)
        if (is_listed(p->waiting, pending[i].seq))
            pending[(*n)++] = pending[i];
    return *n ? share_delivered(s, t.id, pending, *n, e) : ST_OK;
}

static enum status acknowledge(struct request *r, const void *params, struct err *e)
{
    const struct context_acknowledge_params *p = params;
    struct share                             s;
    size_t                                   n;

    if (p->waiting->type != JSON_ARRAY)
        return err_set(e, ST_USAGE, "waiting must be a list of numbers");
    if (share_call_begin(r, &s, STORE_WRITE, e) || deliver(&s, p, &n, e))
        return share_call_fail(r, &s, e);
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "thread", p->thread);
    jw_kint(r->doc, "acknowledged", (int64_t)n);
    jw_close(r->doc, '}');
    return share_call_commit(r, &s, e);
}

static void print_acknowledged(const struct json *doc, struct term *t)
{
    term_f(t, "acknowledged: %lld\n", share_doc_number(doc, "acknowledged"));
}

const struct operation op_context_acknowledge = {
    .name = "context.acknowledge",
    .summary = "Record that the injections of a context were handed on",
    .details = "Until then every context of the thread has them: told twice is better than never\n"
               "told. `heddle context` does it when it has printed them.",
    .group = GROUP_SHARE,
    .needs = NEEDS_ROOT,
    OPERATION_ONCE,
    .params = acknowledge_params,
    .params_size = sizeof(struct context_acknowledge_params),
    .answer = acknowledged,
    .run = acknowledge,
    .print = print_acknowledged,
};

/* ---- parse --------------------------------------------------------------------------- */

/* clang-format off */
static const struct param parse_params[] = {
    { "text", PARAM_TEXT, offsetof(struct context_parse_params, text), .value = "FILE", .help = "a message with a block in it" },
    { 0 },
};
static const struct field asset_fields[] = {
    { "type", FIELD_TEXT, .nullable = true, .help = "type of the asset" },
    { "path", FIELD_TEXT, .nullable = true, .help = "where it is, below the workspace" },
    { 0 },
};
static const struct field ref_fields[] = {
    { "thread", FIELD_TEXT, .nullable = true, .help = "the thread that may be read" },
    { "assets", FIELD_LIST, .of = asset_fields, .help = "what it has" },
    { 0 },
};
static const struct field parsed[] = {
    { "thread",         FIELD_TEXT, .nullable = true, .help = "whose context it is" },
    { "objective",      FIELD_TEXT, .nullable = true, .help = "what it works towards" },
    { "relations_file", FIELD_TEXT, .nullable = true, .help = "where the relations of threads are" },
    { "assets",         FIELD_LIST, .of = asset_fields, .help = "the thread's own assets" },
    { "refs",           FIELD_LIST, .of = ref_fields, .help = "the threads it may read" },
    { 0 },
};
/* clang-format on */

static void put_asset(struct jw *w, const struct block_asset *x)
{
    jw_open(w, '{');
    jw_kstr(w, "type", x->type);
    jw_kstr(w, "path", x->path);
    jw_close(w, '}');
}

static void put_doc(struct jw *w, const struct block_doc *doc)
{
    jw_open(w, '{');
    jw_kstr(w, "thread", doc->thread);
    jw_kstr(w, "objective", doc->objective);
    jw_kstr(w, "relations_file", doc->relations_file);
    jw_key(w, "assets");
    jw_open(w, '[');
    for (size_t i = 0; i < doc->assets.n; i++)
        put_asset(w, &doc->assets.v[i]);
    jw_close(w, ']');
    jw_key(w, "refs");
    jw_open(w, '[');
    for (size_t i = 0; i < doc->refs.n; i++) {
        jw_open(w, '{');
        jw_kstr(w, "thread", doc->refs.v[i].thread);
        jw_key(w, "assets");
        jw_open(w, '[');
        for (size_t k = 0; k < doc->refs.v[i].assets.n; k++)
            put_asset(w, &doc->refs.v[i].assets.v[k]);
        jw_close(w, ']');
        jw_close(w, '}');
    }
    jw_close(w, ']');
    jw_close(w, '}');
}

static enum status parse(struct request *r, const void *params, struct err *e)
{
    const struct context_parse_params *p = params;
    struct block_doc                   doc;

    if (block_parse(p->text.s ? p->text : SV(""), r->a, &doc, e))
        return err_code(e);
    put_doc(r->doc, &doc);
    return ST_OK;
}

/* The text is JSON too, indented. */
static void print_parsed(const struct json *doc, struct term *t)
{
    struct sb b = sb_in(t->a, 0);
    struct jw w = jw_in(&b, 2);

    jw_json(&w, doc);
    sb_add(t->out, sb_sv(&b));
    sb_addc(t->out, '\n');
}

const struct operation op_context_parse = {
    .name = "context.parse",
    .summary = "Find a <thread_context> in a message and say what it tells",
    .group = GROUP_SHARE,
    .needs = NEEDS_NOTHING,
    .params = parse_params,
    .params_size = sizeof(struct context_parse_params),
    .answer = parsed,
    .run = parse,
    .print = print_parsed,
};

/* payload.explain and payload.weigh: where the bytes and tokens of a payload go. */
#include "api/payload/payload_call.h"
#include "api/payload/payload_ops.h"
#include "api/term.h"
#include "payload/show.h"

#include <stdlib.h>

/* clang-format off */
static const struct param params[] = { PAYLOAD_PARAMS, { 0 } };
static const char *const sections[] = { "resource", "tree", "memos", "frame", NULL };
static const struct field section_fields[] = {
    { "section", FIELD_ENUM,   .values = sections, .help = "what part of the payload this is" },
    { "scope",   FIELD_TEXT,   .nullable = true, .help = "of a resource: turn, session or global" },
    { "bytes",   FIELD_NUMBER, .help = "its size" },
    { "tokens",  FIELD_NUMBER, .help = "what it takes, with heading and fence" },
    { "fate",    FIELD_TEXT,   .help = "kept, cut, or the state of what is shown as a placeholder" },
    { "path",    FIELD_TEXT,   .help = "the resource, or what the section holds" },
    { 0 },
};
static const struct field explain_answer[] = {
    { "items",      FIELD_LIST,   .of = section_fields, .help = "the parts: resources in order, then the rest" },
    { "bytes",      FIELD_NUMBER, .help = "of the whole" },
    { "tokens",     FIELD_NUMBER, .help = "of the whole" },
    { "counted_by", FIELD_TEXT,   .help = "how tokens were counted" },
    { "budget",     FIELD_NUMBER, .optional = true, .help = "what was asked for" },
    { 0 },
};
static const struct field part_fields[] = {
    { "name",   FIELD_TEXT,   .help = "a file, or a directory with a slash, in the directory above" },
    { "depth",  FIELD_NUMBER, .help = "how many directories it stands in" },
    { "tokens", FIELD_NUMBER, .help = "of its content, or of all below it" },
    { 0 },
};
static const struct field weigh_answer[] = {
    { "items",      FIELD_LIST,   .of = part_fields, .help = "directories and files, the heaviest first, each before what it holds" },
    { "total",      FIELD_NUMBER, .help = "tokens of all content" },
    { "tokens",     FIELD_NUMBER, .help = "of the whole payload, with headings and fences" },
    { "counted_by", FIELD_TEXT,   .help = "how tokens were counted" },
    { 0 },
};
/* clang-format on */

static struct sv shown(struct sv path, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add_path(&b, path);
    return sb_sv(&b);
}

static int64_t number_of(const struct json *doc, const char *key)
{
    int64_t n = 0;

    return json_int(json_find(doc, key), &n) ? n : 0;
}

static void print_right(struct term *t, int64_t n, size_t width)
{
    struct sb b = sb_in(t->a, 0);

    sb_add_commas(&b, n);
    if (b.n < width)
        sb_pad(t->out, ' ', width - b.n);
    sb_add(t->out, sb_sv(&b));
}

/* Make the payload to measure it; its bytes are written if the request has an output. Afterwards
 * the document is open at its items. `cuts`: warn of what was cut, too. */
static enum status begin(struct request *r, const void *params_given, bool cuts,
                         struct payload_call *c, struct err *e)
{
    struct payload_params p = *(const struct payload_params *)params_given;

    p.count = true;
    if (payload_call_begin(r, &p, c, e))
        return err_code(e);
    if (payload_call_write(r, c, false, e)) {
        payload_call_end(c);
        return err_code(e);
    }
    payload_call_warn(r, c, cuts);
    payload_call_warn_empty(r, c);
    jw_open(r->doc, '{');
    jw_key(r->doc, "items");
    jw_open(r->doc, '[');
    return ST_OK;
}

static void write_count(struct jw *w, const struct payload *p)
{
    jw_kint(w, "tokens", (int64_t)p->tokens);
    jw_kstr(w, "counted_by", p->counted_by);
}

/* ---- payload.explain -------------------------------------------------------------------- */

static const char *fate(const struct resource *r)
{
    return r->cut ? "cut" : r->state == RES_OK ? "kept" : resource_state_word(r->state);
}

static void write_part(struct jw *w, const char *section, const char *scope, uint64_t bytes,
                       size_t tokens, const char *what, struct sv path)
{
    jw_open(w, '{');
    jw_kstr(w, "section", sv_of(section));
    jw_kstr(w, "scope", sv_of(scope));
    jw_kint(w, "bytes", (int64_t)bytes);
    jw_kint(w, "tokens", (int64_t)tokens);
    jw_kstr(w, "fate", sv_of(what));
    jw_kstr(w, "path", path);
    jw_close(w, '}');
}

static uint64_t write_resources(struct jw *w, const struct payload *p)
{
    struct arena scratch = { 0 };
    uint64_t     content = 0;

    for (size_t i = 0; i < p->lists.resources.n; i++) {
        const struct resource *r = &p->lists.resources.v[i];
        struct arena_mark      mark = arena_mark(&scratch);
        if (!r->scopes)
            continue;
        content += r->cut || r->state != RES_OK ? 0 : r->size; /* else a placeholder is shown */
        write_part(w, "resource", resource_scope_name(r->scope), r->size, r->block_tokens, fate(r),
                   shown(r->name, &scratch));
        arena_reset(&scratch, mark);
    }
    arena_free(&scratch);
    return content;
}

static void write_parts(struct jw *w, const struct payload *p)
{
    uint64_t content = write_resources(w, p) + p->tree.n + p->memos.n;
    size_t   sections_sum = p->tree_tokens + p->memos_tokens;

    if (p->tree.s)
        write_part(w, "tree", NULL, p->tree.n, p->tree_tokens, "kept", SV("project structure"));
    if (p->has_memos)
        write_part(w, "memos", NULL, p->memos.n, p->memos_tokens, "kept", SV(".teddy/memos.yaml"));
    write_part(w, "frame", NULL, p->bytes > content ? p->bytes - content : 0,
               p->head_tokens > sections_sum ? p->head_tokens - sections_sum : 0, "kept",
               SV("system, summary, headings"));
}

static enum status run_explain(struct request *r, const void *params_given, struct err *e)
{
    struct payload_call c;

    if (begin(r, params_given, true, &c, e))
        return err_code(e);
    write_parts(r->doc, &c.payload);
    jw_close(r->doc, ']');
    jw_kint(r->doc, "bytes", (int64_t)c.payload.bytes);
    write_count(r->doc, &c.payload);
    if (c.q.budget)
        jw_kint(r->doc, "budget", c.q.budget);
    jw_close(r->doc, '}');
    payload_call_end(&c);
    return ST_OK;
}

static void print_part(const struct json *item, struct term *t)
{
    struct sv scope = json_text(item, "scope");

    term_f(t, "%-8.*s  %-8.*s", SV_ARG(json_text(item, "section")),
           SV_ARG(scope.s ? scope : SV("-")));
    print_right(t, number_of(item, "bytes"), 14);
    print_right(t, number_of(item, "tokens"), 14);
    term_f(t, "  %-11.*s  ", SV_ARG(json_text(item, "fate")));
    term_text(t, json_text(item, "path"));
    term_f(t, "\n");
}

static void print_explain(const struct json *doc, struct term *t)
{
    const struct json *items = json_find(doc, "items");

    term_f(t, "section   scope            bytes        tokens  fate         path\n");
    for (size_t i = 0; i < items->n; i++) {
        struct arena_mark mark = arena_mark(t->a);
        print_part(&items->items[i], t);
        arena_reset(t->a, mark);
    }
    term_f(t, "%-8s  -       ", "total");
    print_right(t, number_of(doc, "bytes"), 14);
    print_right(t, number_of(doc, "tokens"), 14);
    term_f(t, "  counted by ");
    term_text(t, json_text(doc, "counted_by"));
    if (json_find(doc, "budget"))
        term_f(t, ", budget %lld", (long long)number_of(doc, "budget"));
    term_f(t, "\n");
}

/* ---- payload.weigh ------------------------------------------------------------------------ */

struct heavy_part {
    struct sv name;     /* of the part, with a slash for a directory */
    size_t    from, to; /* range of the sorted resources below it */
    size_t    tokens;
    bool      is_dir;
};

struct weighed {
    const struct resource *r;
};

static int by_path(const void *left, const void *right)
{
    const struct weighed *a = left, *b = right;

    return sv_cmp(a->r->name, b->r->name);
}

static int by_weight(const void *left, const void *right)
{
    const struct heavy_part *a = left, *b = right;

    if (a->tokens != b->tokens)
        return a->tokens > b->tokens ? -1 : 1;
    return sv_cmp(a->name, b->name);
}

struct weighing {
    struct jw      *w;
    struct weighed *v;
    size_t          total;
    struct arena    scratch;
};

/* The part of a name behind `skip` bytes; a URL is one part. */
static struct sv part_of(const struct resource *r, size_t skip, bool *is_dir)
{
    struct sv     rest = sv_skip(r->name, skip);
    struct sv_cut c = sv_cut(rest, '/');

    *is_dir = c.found && r->kind == RESOURCE_FILE;
    return *is_dir ? sv_first(rest, c.head.n + 1) : rest;
}

static void write_weight(struct weighing *x, const struct heavy_part *part, size_t depth)
{
    struct arena_mark mark = arena_mark(&x->scratch);

    jw_open(x->w, '{');
    jw_kstr(x->w, "name", shown(part->name, &x->scratch));
    jw_kint(x->w, "depth", (int64_t)depth);
    jw_kint(x->w, "tokens", (int64_t)part->tokens);
    jw_close(x->w, '}');
    arena_reset(&x->scratch, mark);
}

static void weigh(struct weighing *x, size_t from, size_t to, size_t skip, size_t depth)
{
    VEC(struct heavy_part) parts = { 0 };

    for (size_t i = from; i < to; i++) {
        bool               is_dir;
        struct sv          name = part_of(x->v[i].r, skip, &is_dir);
        struct heavy_part *last = parts.n ? &parts.v[parts.n - 1] : NULL;
        if (!last || !is_dir || !sv_eq(last->name, name)) {
            last = vec_push(&parts, &x->scratch);
            *last = (struct heavy_part){ .name = name, .from = i, .is_dir = is_dir };
        }
        last->to = i + 1;
        last->tokens += x->v[i].r->cut ? 0 : x->v[i].r->tokens;
    }
    if (parts.n)
        qsort(parts.v, parts.n, sizeof parts.v[0], by_weight);
    for (size_t i = 0; i < parts.n; i++) {
        const struct heavy_part *part = &parts.v[i];
        write_weight(x, part, depth);
        if (part->is_dir)
            weigh(x, part->from, part->to, skip + part->name.n, depth + 1);
    }
}

static size_t weigh_all(struct jw *w, const struct payload *p)
{
    struct weighing x = { .w = w };
    size_t          n = 0;

    x.v = ARENA_NEW(&x.scratch, struct weighed, p->lists.resources.n + 1);
    for (size_t i = 0; i < p->lists.resources.n; i++)
        if (p->lists.resources.v[i].scopes) {
            x.v[n++].r = &p->lists.resources.v[i];
            x.total += p->lists.resources.v[i].cut ? 0 : p->lists.resources.v[i].tokens;
        }
    qsort(x.v, n, sizeof x.v[0], by_path);
    weigh(&x, 0, n, 0, 0);
    arena_free(&x.scratch);
    return x.total;
}

static enum status run_weigh(struct request *r, const void *params_given, struct err *e)
{
    struct payload_call c;

    if (begin(r, params_given, false, &c, e))
        return err_code(e);
    size_t total = weigh_all(r->doc, &c.payload);
    jw_close(r->doc, ']');
    jw_kint(r->doc, "total", (int64_t)total);
    write_count(r->doc, &c.payload);
    jw_close(r->doc, '}');
    payload_call_end(&c);
    return ST_OK;
}

static void print_weigh(const struct json *doc, struct term *t)
{
    const struct json *items = json_find(doc, "items");
    int64_t            total = number_of(doc, "total");

    for (size_t i = 0; i < items->n; i++) {
        const struct json *item = &items->items[i];
        struct arena_mark  mark = arena_mark(t->a);
        int64_t            tokens = number_of(item, "tokens");
        print_right(t, tokens, 12);
        term_f(t, " %5.1f%%  ", total ? 100.0 * (double)tokens / (double)total : 0.0);
        sb_pad(t->out, ' ', (size_t)number_of(item, "depth") * 2);
        term_text(t, json_text(item, "name"));
        term_f(t, "\n");
        arena_reset(t->a, mark);
    }
    print_right(t, total, 12);
    term_f(t, " 100.0%%  content, counted by ");
    term_text(t, json_text(doc, "counted_by"));
    term_f(t, "; ");
    sb_add_commas(t->out, number_of(doc, "tokens"));
    term_f(t, " with headings and fences\n");
}

/* What both rows have in common. */
#define LOOKS_AT_PAYLOAD                                                                           \
    .group = GROUP_PAYLOAD, .needs = NEEDS_ROOT, .slow = true, .streams = STREAM_OUT,              \
    .params = params, .params_size = sizeof(struct payload_params)

const struct operation op_payload_explain = {
    .name = "payload.explain",
    .summary = "Say where the bytes and tokens of a payload go",
    .details = "The payload is made with the same parameters as by payload.make; its bytes go out\n"
               "where somebody takes them.",
    LOOKS_AT_PAYLOAD,
    .answer = explain_answer,
    .run = run_explain,
    .print = print_explain,
};

const struct operation op_payload_weigh = {
    .name = "payload.weigh",
    .summary = "Say how many tokens every directory and file of a payload takes",
    LOOKS_AT_PAYLOAD,
    .answer = weigh_answer,
    .run = run_weigh,
    .print = print_weigh,
};

/* payload.parse: a payload read back into its parts, and written as files. */
#include "api/payload/payload_call.h"
#include "api/payload/payload_extract.h"
#include "api/payload/payload_ops.h"
#include "api/term.h"
#include "payload/show.h"

/* clang-format off */
#define P(field) offsetof(struct payload_parse_params, field)
static const struct param params[] = {
    { "file",  PARAM_TEXT, P(file),  .value = "FILE", .help = "the payload" },
    { "text",  PARAM_TEXT, P(text),  .value = "TEXT", .help = "the same as text, in the place of a file" },
    { "into",  PARAM_TEXT, P(into),  .value = "DIR", .help = "write its files below DIR" },
    { "force", PARAM_FLAG, P(force), .help = "write over files that are there" },
    { "list",  PARAM_FLAG, P(list),  .help = "names and sizes, without contents" },
    { 0 },
};
#undef P
static const struct field resource_fields[] = {
    { "path",        FIELD_TEXT,   .help = "the file, or the URL" },
    { "size",        FIELD_NUMBER, .help = "of what stands there, in bytes" },
    { "language",    FIELD_TEXT,   .optional = true, .help = "the tag of its fence; with content" },
    { "form",        FIELD_TEXT,   .optional = true, .help = "how its text differs from the file: numbered, converted, outline" },
    { "content",     FIELD_TEXT,   .optional = true, .help = "its text" },
    { "placeholder", FIELD_TEXT,   .optional = true, .help = "the note in the place of its text" },
    { 0 },
};
static const struct field answer[] = {
    { "cwd",       FIELD_TEXT, .nullable = true, .help = "where it was made" },
    { "os",        FIELD_TEXT, .nullable = true, .help = "on which system" },
    { "shell",     FIELD_TEXT, .nullable = true, .help = "with which shell" },
    { "tree",      FIELD_TEXT, .nullable = true, .help = "the project's tree" },
    { "memos",     FIELD_TEXT, .nullable = true, .help = "the memos" },
    { "resources", FIELD_LIST, .of = resource_fields, .help = "what it shows, in order" },
    { 0 },
};
/* clang-format on */

static void write_resource(struct request *r, const struct parsed_resource *x, bool list)
{
    struct sb name = sb_in(r->a, 0);

    sb_add_path(&name, x->name);
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "path", sb_sv(&name));
    jw_kint(r->doc, "size", (int64_t)x->body.n);
    if (x->is_placeholder) {
        jw_kstr(r->doc, "placeholder", x->body);
    } else if (!list) {
        jw_kstr(r->doc, "language", x->tag);
        struct sb form = sb_in(r->a, 0);
        resource_add_form(&form, x->form & ~(unsigned)FORM_OPEN);
        if (form.n)
            jw_kstr(r->doc, "form", sv_trim(sb_sv(&form)));
        jw_kstr(r->doc, "content", x->body);
    }
    jw_close(r->doc, '}');
}

static void write_parsed(struct request *r, const struct parsed *p, bool list)
{
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "cwd", p->cwd);
    jw_kstr(r->doc, "os", p->os);
    jw_kstr(r->doc, "shell", p->shell);
    jw_kstr(r->doc, "tree", p->tree);
    jw_kstr(r->doc, "memos", p->memos);
    jw_key(r->doc, "resources");
    jw_open(r->doc, '[');
    for (size_t i = 0; i < p->resources.n; i++)
        write_resource(r, &p->resources.v[i], list);
    jw_close(r->doc, ']');
    jw_close(r->doc, '}');
}

static enum status run(struct request *r, const void *params_given, struct err *e)
{
    const struct payload_parse_params *p = params_given;
    struct sv                          text;
    struct parsed                      parsed;

    if (payload_call_text(r, p->file, p->text, &text, e))
        return err_code(e);
    if (payload_parse(text, r->a, &parsed, e))
        return p->file.s ? err_in(e, SV_FMT, SV_ARG(p->file)) : err_code(e);
    if (parsed.ends_early && !p->into.n)
        request_warn(r, (struct sv){ 0 }, (struct sv){ 0 },
                     "the payload ends too early: its last line, ---, or a resource is missing");
    if (p->into.n && payload_extract(r, &parsed, p->into, p->force, e))
        return err_code(e);
    write_parsed(r, &parsed, p->list);
    return ST_OK;
}

static void print(const struct json *doc, struct term *t)
{
    const struct json *list = json_find(doc, "resources");

    for (size_t i = 0; i < list->n; i++) {
        const struct json *item = &list->items[i];
        struct arena_mark  mark = arena_mark(t->a);
        struct sb          size = sb_in(t->a, 0);
        int64_t            n = 0;
        if (json_int(json_find(item, "size"), &n))
            sb_add_commas(&size, n);
        term_f(t, "%12.*s%s", SV_ARG(sb_sv(&size)),
               json_find(item, "placeholder") ? "  - " : "    ");
        term_text(t, json_text(item, "path"));
        term_f(t, "\n");
        arena_reset(t->a, mark);
    }
}

const struct operation op_payload_parse = {
    .name = "payload.parse",
    .summary = "Read a payload back: its parts, or files below a directory",
    .details =
        "Nothing is written into directories whose names start with a dot, nor files that a shell\n"
        "or an editor would run, and nothing over a file that is there, except with force. Files\n"
        "whose lines are numbered, that were converted, or of which only an outline is shown are\n"
        "never written, nor anything of a payload that ends too early.",
    .group = GROUP_PAYLOAD,
    .needs = NEEDS_ROOT,
    .access = ACCESS_MANAGE,
    .repeat = REPEAT_SAME,
    .params = params,
    .params_size = sizeof(struct payload_parse_params),
    .answer = answer,
    .run = run,
    .print = print,
};

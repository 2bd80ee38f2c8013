/* store.info: where the log is, and advice about that. */
#include "api/care/care.h"
#include "api/term.h"
#include "api/workspace_id.h"

/* clang-format off */
static const struct field fact_fields[] = {
    { "name",  FIELD_TEXT, .help = "what it is about: server, schema, user, rights, replication, …" },
    { "value", FIELD_TEXT, .help = "what the store says" },
    { 0 },
};
static const struct field answer[] = {
    { "facts",     FIELD_LIST, .of = fact_fields, .help = "what the engine says of itself, in its order" },
    { "kind",      FIELD_TEXT, .help = "sqlite or postgres" },
    { "notes",     FIELD_LIST, .item = FIELD_TEXT, .help = "what is not wrong and could be better" },
    { "place",     FIELD_TEXT, .help = "path of the file, or URL without a password" },
    { "workspace", FIELD_TEXT, .optional = true, .help = "the id in .leslie/workspace.json, by which a server keeps logs apart" },
    { 0 },
};
/* clang-format on */

static void put_fact(struct jw *w, const struct store_fact *f)
{
    jw_open(w, '{');
    jw_kstr(w, "name", f->name);
    jw_kstr(w, "value", f->value);
    jw_close(w, '}');
}

static struct sv fact_of(const struct store_fact *facts, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (sv_is(facts[i].name, name))
            return facts[i].value;
    return SV("");
}

static enum status run(struct request *r, const void *params, struct err *e)
{
    struct care_findings notes = { .a = r->a };
    struct store_fact   *facts;
    struct sv            id;
    size_t               n;

    (void)params;
    if (store_facts(r->log.store, r->a, &facts, &n, e) ||
        store_advise(r->log.store, care_find, &notes, e) ||
        workspace_id(r->ws, false, r->a, &id, e))
        return err_code(e);
    jw_open(r->doc, '{');
    jw_key(r->doc, "facts");
    jw_open(r->doc, '[');
    for (size_t i = 0; i < n; i++)
        if (!sv_is(facts[i].name, "kind") && !sv_is(facts[i].name, "place"))
            put_fact(r->doc, &facts[i]);
    jw_close(r->doc, ']');
    jw_kstr(r->doc, "kind", fact_of(facts, n, "kind"));
    care_write(r->doc, "notes", &notes);
    jw_kstr(r->doc, "place", fact_of(facts, n, "place"));
    if (id.s)
        jw_kstr(r->doc, "workspace", id);
    jw_close(r->doc, '}');
    return ST_OK;
}

static void print_row(struct term *t, struct sv name, struct sv value)
{
    term_f(t, "%-15.*s ", SV_ARG(name));
    term_text(t, value);
    term_f(t, "\n");
}

static void print(const struct json *doc, struct term *t)
{
    const struct json *facts = json_find(doc, "facts"), *notes = json_find(doc, "notes");

    print_row(t, SV("kind"), json_text(doc, "kind"));
    print_row(t, SV("place"), json_text(doc, "place"));
    for (size_t i = 0; facts && i < facts->n; i++)
        print_row(t, json_text(&facts->items[i], "name"), json_text(&facts->items[i], "value"));
    for (size_t i = 0; notes && i < notes->n; i++) {
        term_f(t, "note: ");
        term_text(t, json_sv(&notes->items[i]));
        term_f(t, "\n");
    }
}

const struct operation op_store_info = {
    .name = "store.info",
    .summary = "Show where the log is, its version, its copies, and what could be better",
    .details =
        "The log is a file of the workspace, unless HEDDLE_STORE or the user's settings name\n"
        "another store. On PostgreSQL it also says as whom the server is reached, with which\n"
        "rights, and which standbys there are.\n"
        "\n"
        "  heddle store info",
    .group = GROUP_CARE,
    .needs = NEEDS_LOG,
    .repeat = REPEAT_READS,
    .answer = answer,
    .run = run,
    .print = print,
};

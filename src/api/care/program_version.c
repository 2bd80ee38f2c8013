/* program.version: which version of heddle answers. */
#include "api/request.h"
#include "api/term.h"

static const struct field answer[] = {
    { "version", FIELD_TEXT, .help = "of the program" },
    { 0 },
};

static enum status run(struct request *r, const void *params, struct err *e)
{
    (void)params;
    (void)e;
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "version", SV(HEDDLE_VERSION));
    jw_close(r->doc, '}');
    return ST_OK;
}

static void print(const struct json *doc, struct term *t)
{
    term_f(t, "heddle ");
    term_text(t, json_text(doc, "version"));
    term_f(t, "\n");
}

const struct operation op_program_version = {
    .name = "program.version",
    .summary = "Print the version",
    .group = GROUP_CARE,
    .needs = NEEDS_NOTHING,
    .answer = answer,
    .run = run,
    .print = print,
};

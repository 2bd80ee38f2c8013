/* What an operation on a context did: the document and its text. */
#include "api/log/op_result.h"

/* clang-format off */
const struct field op_result_fields[] = {
    { "applied",    FIELD_FLAG,   .help = "it was applied now" },
    { "deferred",   FIELD_FLAG,   .help = "it is parked until the run ends" },
    { "duplicate",  FIELD_FLAG,   .help = "its op_id was there already: nothing was written" },
    { "lane",       FIELD_TEXT,   .help = "the lane" },
    { "op_id",      FIELD_TEXT,   .help = "id of the operation" },
    { "seq",        FIELD_NUMBER, .help = "of the entry that holds it" },
    { "superseded", FIELD_TEXT,   .optional = true, .help = "op_id of the parked operation whose place it took" },
    { 0 },
};
/* clang-format on */

void op_result_write(struct jw *w, const struct op_result *r)
{
    jw_open(w, '{');
    jw_kbool(w, "applied", r->applied && !r->duplicate);
    jw_kbool(w, "deferred", r->deferred);
    jw_kbool(w, "duplicate", r->duplicate);
    jw_kstr(w, "lane", r->lane);
    jw_kstr(w, "op_id", r->op_id);
    jw_kint(w, "seq", r->seq);
    if (r->superseded.n)
        jw_kstr(w, "superseded", r->superseded);
    jw_close(w, '}');
}

void op_result_print(const struct json *doc, const char *what, struct term *t)
{
    bool        deferred = json_truth(json_find(doc, "deferred"));
    struct sv   superseded = json_text(doc, "superseded");
    const char *state = json_truth(json_find(doc, "duplicate"))
                            ? (deferred ? "parked before" : "applied before")
                        : deferred ? "parked until the run ends"
                                   : "applied";

    term_f(t, "%s " SV_FMT ": %s (lane " SV_FMT ", entry %lld)\n", what,
           SV_ARG(json_text(doc, "op_id")), state, SV_ARG(json_text(doc, "lane")),
           (long long)json_number(doc, "seq"));
    if (superseded.n)
        term_f(t, "  it takes the place of " SV_FMT "\n", SV_ARG(superseded));
}

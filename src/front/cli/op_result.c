#include "front/cli/op_result.h"

void op_result_print(struct app *app, const struct op_result *r, const char *what)
{
    struct jw w = jw_in(&app->out, 0);

    if (!app->json) {
        const char *state = r->duplicate  ? (r->deferred ? "parked before" : "applied before")
                            : r->deferred ? "parked until the run ends"
                                          : "applied";
        sb_addf(&app->out, "%s " SV_FMT ": %s (lane " SV_FMT ", entry %lld)\n", what,
                SV_ARG(r->op_id), state, SV_ARG(r->lane), (long long)r->seq);
        if (r->superseded.n)
            sb_addf(&app->out, "  it takes the place of " SV_FMT "\n", SV_ARG(r->superseded));
        return;
    }
    jw_open(&w, '{');
    jw_kbool(&w, "applied", r->applied && !r->duplicate);
    jw_kbool(&w, "deferred", r->deferred);
    jw_kbool(&w, "duplicate", r->duplicate);
    jw_kstr(&w, "lane", r->lane);
    jw_kstr(&w, "op_id", r->op_id);
    jw_kint(&w, "seq", r->seq);
    if (r->superseded.n)
        jw_kstr(&w, "superseded", r->superseded);
    jw_close(&w, '}');
    sb_addc(&app->out, '\n');
}

/* Positions: harness_position entries, and the row that holds the last one. */
#include "harness/harness_internal.h"

#include "thread/kind.h"

struct sv harness_canonical(struct sv text, struct arena *a)
{
    struct json v;
    struct err  never;

    if (json_is_canonical(text) || json_parse(text, 0, a, &v, &never))
        return text;
    return json_canonical(&v, a);
}

enum status harness_position_append(struct log *l, const struct harness_position *p,
                                    const struct harness_state *s, struct arena *a, struct err *e)
{
    struct sb         b = sb_in(a, 0);
    struct jw         w = jw_in(&b, 0);
    struct store_head head;

    jw_open(&w, '{');
    jw_kstr(&w, "harness", sv_of(harness_name(p->harness)));
    if (p->part.n)
        jw_kstr(&w, "part", p->part);
    jw_kstr(&w, "session", p->session);
    jw_key(&w, "state");
    harness_state_write(&w, s);
    jw_close(&w, '}');
    struct entry n = { .at = p->at,
                       .kind = sv_of(kind_name(KIND_HARNESS_POSITION)),
                       .actor = p->actor,
                       .payload = harness_canonical(sb_sv(&b), a) };
    return log_append(l, p->thread, LOG_ANY_REV, &n, 1, &head, e);
}

enum status harness_position_read(struct log *l, const struct harness_position *p, struct arena *a,
                                  struct harness_state *s, bool *found, struct err *e)
{
    struct rows r = rows_of_view(l, p->thread, &harness_view, a);
    struct sv   key = harness_position_key(p->harness, p->session, p->part, a);
    struct json v;

    harness_state_init(s);
    if (row_json(&r, key, &v, found, e))
        return err_code(e);
    if (*found)
        harness_state_read(&v, a, s);
    return ST_OK;
}

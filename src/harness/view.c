/* The rows of this room:
 *
 *     bind/NAME/SESSION          in .global: {"lane","thread"} of a session
 *     of/THREAD/NAME/SESSION     in .global: the same from the other side
 *     pos/NAME/SESSION/PART      how far a transcript was read, and what its session is: the
 *                                `state` of the last harness_position (state.h); PART is empty, or
 *                                names a file beside the transcript */
#include "harness/harness_internal.h"

#include "thread/kind.h"

struct sv harness_bind_key(enum harness h, struct sv session, struct arena *a)
{
    return key_of_names("bind", sv_of(harness_name(h)), session, a);
}

struct sv harness_of_key(struct sv thread, enum harness h, struct sv session, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add(&b, key_of_names("of", thread, sv_of(harness_name(h)), a));
    sb_addc(&b, '/');
    sb_add(&b, session);
    return sb_sv(&b);
}

struct sv harness_position_key(enum harness h, struct sv session, struct sv part, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add(&b, key_of_names("pos", sv_of(harness_name(h)), session, a));
    sb_addc(&b, '/');
    sb_add(&b, part);
    return sb_sv(&b);
}

/* The newest binding counts; the session leaves the thread that it was bound to. */
static enum status fold_session(struct rows *f, enum harness h, const struct json *p, struct err *e)
{
    struct sv   session = json_text(p, "session"), thread = json_text(p, "thread");
    struct sv   key = harness_bind_key(h, session, f->a);
    struct sb   b = sb_in(f->a, 0);
    struct jw   w = jw_in(&b, 0);
    struct json old;
    bool        found;

    if (row_json(f, key, &old, &found, e))
        return err_code(e);
    if (found && row_del(f, harness_of_key(json_text(&old, "thread"), h, session, f->a), e))
        return err_code(e);
    jw_open(&w, '{');
    jw_kstr(&w, "lane", json_text(p, "lane"));
    jw_kstr(&w, "thread", thread);
    jw_close(&w, '}');
    if (row_put(f, key, sb_sv(&b), e))
        return err_code(e);
    return row_put(f, harness_of_key(thread, h, session, f->a), SV(""), e);
}

static enum status fold_position(struct rows *f, enum harness h, const struct json *p,
                                 struct err *e)
{
    struct sv part = json_text(p, "part");

    return row_put(f,
                   harness_position_key(h, json_text(p, "session"), part.s ? part : SV(""), f->a),
                   json_canonical(json_find(p, "state"), f->a), e);
}

static enum status fold(struct rows *f, const struct entry *n, struct err *e)
{
    enum kind    k = kind_of(n->kind);
    struct json  p;
    enum harness h;

    if (k != KIND_HARNESS_SESSION && k != KIND_HARNESS_POSITION)
        return ST_OK;
    if (json_parse(n->payload, 0, f->a, &p, e))
        return err_code(e);
    if (n->erased || !harness_find(json_text(&p, "harness"), &h))
        return ST_OK;
    return k == KIND_HARNESS_SESSION ? fold_session(f, h, &p, e) : fold_position(f, h, &p, e);
}

const struct view harness_view = { .name = "harness", .version = 1, .fold = fold };

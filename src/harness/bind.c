/* Which thread and lane a session is recorded in: harness_session entries of .global. */
#include "harness/harness_internal.h"

#include "base/path.h"
#include "thread/kind.h"

#include <ctype.h>

bool harness_id_is_valid(struct sv id)
{
    for (size_t i = 0; i < id.n; i++)
        if (!isalnum((unsigned char)id.s[i]) &&
            !((id.s[i] == '-' || id.s[i] == '_' || id.s[i] == '.') && i && i + 1 < id.n))
            return false;
    return id.n > 0 && id.n <= HARNESS_SESSION_ID_MAX;
}

/* Ids that begin with a time differ at their end: UUIDs of version 7, and those with a prefix. */
struct sv harness_short_id(struct sv id)
{
    bool random = id.n == 36 && id.s[8] == '-' && id.s[14] == '4';

    if (id.n <= 8)
        return id;
    return random ? sv_first(id, 8) : sv_skip(id, id.n - 8);
}

static struct sv name_with(enum harness h, struct sv id, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_addf(&b, "%s-", harness_name(h));
    sb_add(&b, id);
    return sb_sv(&b);
}

static enum status check_session(struct sv session, struct err *e)
{
    if (harness_id_is_valid(session))
        return ST_OK;
    err_set(e, ST_INVALID_SYNTAX, "'" SV_FMT "' is not the id of a session", SV_ARG(session));
    return err_hint(e, "at most %d letters, digits, and . _ - between them",
                    HARNESS_SESSION_ID_MAX);
}

enum status harness_bound(struct log *l, enum harness h, struct sv session, struct arena *a,
                          struct harness_binding *out, bool *found, struct err *e)
{
    struct rows r = rows_of_view(l, HARNESS_GLOBAL, &harness_view, a);
    struct json v;

    if (row_json(&r, harness_bind_key(h, session, a), &v, found, e))
        return err_code(e);
    if (*found)
        *out = (struct harness_binding){ json_text(&v, "thread"), json_text(&v, "lane") };
    return ST_OK;
}

/* Does the thread have an entry, or a session that is bound to it? */
static enum status is_used(struct log *l, struct sv thread, struct arena *a, bool *used,
                           struct err *e)
{
    struct rows       r = rows_of_view(l, HARNESS_GLOBAL, &harness_view, a);
    struct store_head head;
    struct store_row *rows;
    size_t            n;

    if (log_head(l, thread, &head, e) ||
        row_list(&r, key_below_name("of", thread, a), (struct sv){ 0 }, 1, &rows, &n, e))
        return err_code(e);
    *used = head.rev > 0 || n > 0;
    return ST_OK;
}

enum status harness_thread_name(struct log *l, enum harness h, struct sv session, struct arena *a,
                                struct sv *out, struct err *e)
{
    bool used;

    if (check_session(session, e))
        return err_code(e);
    *out = name_with(h, harness_short_id(session), a);
    if (is_used(l, *out, a, &used, e))
        return err_code(e);
    if (used)
        *out = name_with(h, session, a);
    return ST_OK;
}

static enum status append_binding(struct log *l, enum harness h, struct sv session,
                                  const struct harness_binding *to, struct sv actor, int64_t at,
                                  struct arena *a, struct err *e)
{
    struct sb         b = sb_in(a, 0);
    struct jw         w = jw_in(&b, 0);
    struct store_head head;

    jw_open(&w, '{');
    jw_kstr(&w, "harness", sv_of(harness_name(h)));
    jw_kstr(&w, "lane", to->lane);
    jw_kstr(&w, "session", session);
    jw_kstr(&w, "thread", to->thread);
    jw_close(&w, '}');
    struct entry n = { .at = at,
                       .kind = sv_of(kind_name(KIND_HARNESS_SESSION)),
                       .actor = actor,
                       .payload = sb_sv(&b) };
    return log_append(l, HARNESS_GLOBAL, LOG_ANY_REV, &n, 1, &head, e);
}

/* Copy the positions of its transcripts to the new thread, without the lanes, which it does not
   have. */
static enum status carry_positions(struct log *l, enum harness h, struct sv session, struct sv from,
                                   const struct harness_position *p, struct arena *a, struct err *e)
{
    struct rows           r = rows_of_view(l, from, &harness_view, a);
    struct sv             prefix = harness_position_key(h, session, SV(""), a);
    struct harness_state *state = ARENA_NEW(a, struct harness_state, 1);
    struct store_row     *rows;
    struct json           v;
    size_t                n;

    if (log_catch_up(l, from, INT64_MAX, e) || log_catch_up(l, p->thread, INT64_MAX, e) ||
        rows_below(&r, prefix, &rows, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        struct harness_position one = *p;
        if (json_parse(rows[i].value, 0, a, &v, e))
            return err_code(e);
        harness_state_read(&v, a, state);
        state->n_tips = state->n_calls = state->n_starts = 0;
        harness_text_set(&state->lane, SV(""));
        one.part = sv_skip(rows[i].key, prefix.n);
        if (harness_position_append(l, &one, state, a, e))
            return err_code(e);
    }
    return ST_OK;
}

enum status harness_bind(struct log *l, enum harness h, struct sv session,
                         const struct harness_binding *to, struct sv actor, int64_t at,
                         struct arena *a, struct harness_binding *out, struct err *e)
{
    struct harness_binding old, made = *to;
    bool                   found, used;

    if (check_session(session, e) || name_check(to->thread, "thread id", e) ||
        (to->lane.s && name_check(to->lane, "lane", e)) ||
        log_catch_up(l, HARNESS_GLOBAL, INT64_MAX, e) ||
        harness_bound(l, h, session, a, &old, &found, e))
        return err_code(e);
    if (found && sv_eq(old.thread, to->thread) && (!to->lane.s || sv_eq(old.lane, to->lane))) {
        if (out)
            *out = old;
        return ST_OK;
    }
    if (is_used(l, to->thread, a, &used, e))
        return err_code(e);
    if (!to->lane.s)
        made.lane = used ? name_with(h, harness_short_id(session), a) : LANE_DEFAULT;
    struct harness_position p = {
        .harness = h, .session = session, .thread = made.thread, .actor = actor, .at = at
    };
    if (append_binding(l, h, session, &made, actor, at, a, e) ||
        (found && !sv_eq(old.thread, made.thread) &&
         carry_positions(l, h, session, old.thread, &p, a, e)))
        return err_code(e);
    if (out)
        *out = made;
    return ST_OK;
}

enum status harness_bind_own(struct log *l, enum harness h, struct sv session, struct sv actor,
                             int64_t at, struct arena *a, struct harness_binding *out,
                             struct err *e)
{
    struct harness_binding to = { 0 };
    bool                   found;

    if (log_catch_up(l, HARNESS_GLOBAL, INT64_MAX, e) ||
        harness_bound(l, h, session, a, out, &found, e))
        return err_code(e);
    if (found)
        return ST_OK;
    if (harness_thread_name(l, h, session, a, &to.thread, e))
        return err_code(e);
    return harness_bind(l, h, session, &to, actor, at, a, out, e);
}

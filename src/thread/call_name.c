/* Names for results of tools that have none; messages of some providers are like that. The calls of
 * the last assistant's message are remembered while a projection is folded, so that the usual
 * result, which follows its call, is named without reading anything again. */
#include "thread/call_name.h"

#include "store/store.h"

/* The raw name of the call with this raw id, or absent. */
static struct sv name_in(struct sv calls, struct sv id)
{
    struct sv rest = calls, call, key, raw;

    while (json_next_item(&rest, &call)) {
        struct sv members = call, name = { 0 }, inner = { 0 }, found = { 0 };
        while (json_next(&members, &key, &raw)) {
            if (sv_is(key, "id"))
                found = raw;
            else if (sv_is(key, "name"))
                name = raw;
            else if (sv_is(key, "function"))
                inner = raw;
        }
        if (!sv_eq(found, id))
            continue;
        while (!name.s && json_next(&inner, &key, &raw))
            if (sv_is(key, "name"))
                name = raw;
        return name.n && name.s[0] == '"' ? name : (struct sv){ 0 };
    }
    return (struct sv){ 0 };
}

static bool has_calls(const struct message *m)
{
    return sv_is(m->role, "assistant") && m->tool_calls.n > 2;
}

static void remember(struct projection *p, struct sv calls)
{
    if (!p->calls.a)
        p->calls = sb_in(p->a, 0);
    p->calls.n = 0;
    sb_add(&p->calls, calls);
    p->calls_age = 0;
}

/* In the entries of one stretch of the path before `seq`, newest first; *left is how many more
 * messages may be looked at. */
static enum status look_in_stretch(struct projection *p, const struct stretch *s, int64_t seq,
                                   struct sv id, int *left, struct sv *name, struct err *e)
{
    UNDO(store_scan_undo) struct store_scan *scan = NULL;
    struct store_query                       q = { .thread = p->thread,
                                                   .from = s->from > p->after ? s->from : p->after + 1,
                                                   .to = s->to < seq ? s->to : seq - 1,
                                                   .lane = s->lane,
                                                   .mark = MARK_MESSAGE,
                                                   .backwards = true,
                                                   .brief = true };
    struct entry                             n;
    bool                                     more = true;

    if (q.from > q.to)
        return ST_OK;
    if (store_scan(p->log->store, &q, &scan, e))
        return err_code(e);
    while (*left > 0 && !name->s) {
        if (store_next(scan, &n, &more, e))
            return err_code(e);
        if (!more)
            return ST_OK;
        --*left;
        struct message m = message_of_entry(&n);
        struct sv      found = has_calls(&m) ? name_in(m.tool_calls, id) : (struct sv){ 0 };
        if (found.s)
            *name = sv_dup(found, p->a);
    }
    return ST_OK;
}

static enum status look_back(struct projection *p, const struct message *m, struct sv *name,
                             struct err *e)
{
    int left = CALL_NAME_FAR;

    for (size_t i = p->n_path; m->seq >= 0 && i-- > 0 && left > 0 && !name->s;)
        if (look_in_stretch(p, &p->path[i], m->seq, m->tool_call_id, &left, name, e))
            return err_code(e);
    for (size_t i = m->seq >= 0 ? p->snapshot.n : 0; i-- > 0 && left-- > 0 && !name->s;)
        if (has_calls(&p->snapshot.messages[i]))
            *name = name_in(p->snapshot.messages[i].tool_calls, m->tool_call_id);
    return ST_OK;
}

enum status call_name(struct projection *p, struct message *m, struct err *e)
{
    if (has_calls(m)) {
        remember(p, m->tool_calls);
        return ST_OK;
    }
    p->calls_age++;
    if (!sv_is(m->role, "tool") || m->name.s || !m->tool_call_id.s)
        return ST_OK;
    if (p->calls.n && p->calls_age <= CALL_NAME_FAR) {
        struct sv name = name_in(sb_sv(&p->calls), m->tool_call_id);
        m->name = name.s ? sv_dup(name, p->a) : name; /* `calls` changes later */
    }
    return m->name.s ? ST_OK : look_back(p, m, &m->name, e);
}

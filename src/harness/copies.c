/* Records that a session has in common with another one, as forks do: they stand in the log once,
 * on the lane of the session that was imported first.
 *
 * To export each session unchanged, two things are kept as records that are shown to no model: what
 * is different in this session's copy of a record (`copy`), and where among its own records the
 * common ones stand (`shared`: the entries of a run of them). */
#include "harness/export.h"
#include "harness/harness_internal.h"
#include "harness/join.h"
#include "thread/scan.h"

/* Is the member the same in both records? The id of the session always differs. */
static bool is_kept(const struct json_member *m, const struct json *other)
{
    const struct json *v = json_find_sv(other, m->key);

    return sv_is(m->key, "sessionId") || (v && json_eq(&m->value, v));
}

/* How a fork's copy of a record differs: its changed members, and the names of those that it lacks.
 * Absent: not at all. */
static struct sv difference(const struct json *copy, const struct json *original,
                            struct harness_item *out, struct arena *a)
{
    struct sb changed = sb_in(a, 0), more = sb_in(a, 0);
    struct jw w = jw_in(&changed, 0), m = jw_in(&more, 0);
    size_t    n = 0;

    jw_open(&w, '{');
    for (size_t i = 0; i < copy->n; i++) {
        if (is_kept(&copy->members[i], original))
            continue;
        jw_key_sv(&w, copy->members[i].key);
        jw_json(&w, &copy->members[i].value);
        n++;
    }
    jw_close(&w, '}');
    jw_open(&m, '{');
    jw_kstr(&m, "copy", out->key);
    jw_key(&m, "without");
    jw_open(&m, '[');
    for (size_t i = 0; i < original->n; i++)
        if (!json_find_sv(copy, original->members[i].key)) {
            jw_str(&m, original->members[i].key);
            n++;
        }
    jw_close(&m, ']');
    jw_close(&m, '}');
    out->record = sb_sv(&changed);
    out->more = sb_sv(&more);
    return n ? out->record : (struct sv){ 0 };
}

/* "SESSION/KEY:suffix" */
static struct sv key_beside(const struct harness_batch *b, struct sv key, const char *suffix,
                            struct arena *a)
{
    struct sb full = sb_in(a, 0);

    sb_add(&full, b->session);
    sb_addc(&full, '/');
    sb_add(&full, key);
    sb_adds(&full, suffix);
    return sb_sv(&full);
}

static enum status note_copy(struct harness_batch *b, const struct harness_item *item, int64_t seq,
                             struct arena *a, struct err *e)
{
    struct harness_item   copy = { .kind = HARNESS_KEPT, .link = HARNESS_LOOSE, .key = item->key };
    struct json           payload, record;
    struct harness_origin o;
    struct entry          n;
    bool                  found;

    if (harness_batch_flush(b, e) || log_entry(b->log, b->thread, seq, a, &n, &found, e))
        return err_code(e);
    if (!found || json_parse(n.payload, 0, a, &payload, e) || !harness_origin(&payload, &o) ||
        !json_is(o.record, JSON_OBJECT) || json_parse(item->record, 0, a, &record, e) ||
        !difference(&record, o.record, &copy, a).s)
        return ST_OK;
    copy.key = key_beside(b, item->key, ":copy", a);
    copy.at = item->at;
    return harness_batch_keep(b, &copy, a, e);
}

/* ---- runs ----------------------------------------------------------------------------------- */

enum status harness_shared_add(struct harness_batch *b, const struct harness_item *item,
                               const struct harness_place *p, struct arena *a, struct err *e)
{
    struct harness_run *run = &b->run;

    if (p->lane.n && harness_can_export(b->harness)) { /* a mark has no lane, and no place */
        if (!run->n)
            harness_text_set(&run->first, harness_key(item->key, a));
        if (!run->n++)
            run->seqs.n = 0;
        sb_addf(&run->seqs, "%s%lld", run->n > 1 ? "," : "", (long long)p->at);
        run->at = item->at;
    }
    return item->record.s ? note_copy(b, item, p->at, a, e) : ST_OK;
}

enum status harness_shared_end(struct harness_batch *b, struct arena *a, struct err *e)
{
    struct harness_item item = { .kind = HARNESS_KEPT, .link = HARNESS_LOOSE };
    struct sb           more = sb_in(a, 0);

    if (!b->run.n)
        return ST_OK;
    sb_adds(&more, "{\"shared\":[");
    sb_add(&more, sb_sv(&b->run.seqs));
    sb_adds(&more, "]}");
    item.key = key_beside(b, harness_text_sv(&b->run.first), ":shared", a);
    item.record = SV("{}");
    item.more = sb_sv(&more);
    item.at = b->run.at;
    b->run.n = 0;
    return harness_batch_keep(b, &item, a, e);
}

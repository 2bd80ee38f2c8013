/* Writes transcripts: which entries, in which order, and which record each of them becomes. */
#include "harness/export.h"

#include "base/clock.h"
#include "base/path.h"
#include "harness/writer.h"
#include "thread/kind.h"
#include "thread/lane.h"
#include "thread/project.h"
#include "thread/scan.h"

#include <ctype.h>

bool harness_can_export(enum harness h)
{
    return harness_writer_of(h) != NULL;
}

/* ---- walking -------------------------------------------------------------------------------- */

typedef enum status (*entry_fn)(struct harness_writing *w, const struct entry *n,
                                const struct json *payload, struct err *e);

/* Each entry of from..to, of one lane (absent: all), with its payload. */
static enum status walk(struct harness_writing *w, int64_t from, int64_t to, struct sv lane,
                        entry_fn each, struct err *e)
{
    UNDO(log_scan_undo) struct store_scan *scan = NULL;
    struct store_query q = { .thread = w->what->thread, .from = from, .to = to };
    struct entry       n;
    bool               more = true;
    enum status        s = log_scan(w->log, &q, &scan, e);

    while (!s && !(s = log_scan_next(scan, &n, &more, e)) && more) {
        struct arena_mark m = arena_mark(&w->scratch);
        struct json       payload;
        if ((!lane.s || sv_eq(n.lane, lane)) && !n.erased &&
            !(s = json_parse(n.payload, 0, &w->scratch, &payload, e)))
            s = each(w, &n, &payload, e);
        arena_reset(&w->scratch, m);
    }
    return s;
}

/* Writes the parts of a path that belong to other lanes as records of this session. */
static enum status write_shared(struct harness_writing *w, const struct stretch *path, size_t n,
                                struct err *e)
{
    for (size_t i = 0; i + 1 < n; i++)
        if (walk(w, path[i].from, path[i].to, path[i].lane, w->writer->shared, e))
            return err_code(e);
    return ST_OK;
}

/* ---- a session as it was --------------------------------------------------------------------- */

static bool is_of_session(const struct harness_writing *w, const struct json *payload,
                          struct harness_origin *o)
{
    return harness_origin(payload, o) && sv_is(o->name, harness_name(w->what->to)) &&
           sv_eq(o->session, w->what->session) && sv_eq(o->part, w->what->part);
}

/* Writes a run of records that this session shares with others. Each is written once, even if the
 * log names it twice because the session was read twice. */
static enum status write_run(struct harness_writing *w, const struct json *seqs, struct err *e)
{
    for (size_t i = 0; json_is(seqs, JSON_ARRAY) && i < seqs->n; i++) {
        struct entry n;
        struct json  payload;
        struct sb    once = sb_in(&w->scratch, 0);
        int64_t      seq;
        bool         found;
        if (!json_int(&seqs->items[i], &seq))
            continue;
        sb_addf(&once, "entry %lld", (long long)seq);
        if (harness_was_written(w, sb_sv(&once)))
            continue;
        harness_note_written(w, sb_sv(&once));
        if (log_entry(w->log, w->what->thread, seq, &w->scratch, &n, &found, e) ||
            (found && !n.erased &&
             (json_parse(n.payload, 0, &w->scratch, &payload, e) ||
              w->writer->shared(w, &n, &payload, e))))
            return err_code(e);
    }
    return ST_OK;
}

/* What the session shares with the one that it was forked from stands where its runs say. Where an
 * earlier version imported it there are none: then before the first record of its own that follows
 * something. */
static enum status write_own(struct harness_writing *w, const struct entry *n,
                             const struct json *payload, struct err *e)
{
    struct harness_origin o;
    bool forks = sv_eq(n->lane, w->binding.lane) && kind_of(n->kind) == KIND_AI_CONTEXT_OPERATION &&
                 json_find(json_find(payload, "operation"), "from");

    if (forks && !w->is_shared && !w->has_runs && !w->what->part.n) {
        struct stretch *path;
        size_t          count;
        w->is_shared = true;
        if (lane_path(w->log, w->what->thread, n->lane, n->seq, w->a, &path, &count, e))
            return err_code(e);
        /* The lane itself may have no entries here: then the whole path belongs to other lanes. */
        if (count && !sv_eq(path[count - 1].lane, n->lane))
            count++;
        return write_shared(w, path, count, e);
    }
    if (!is_of_session(w, payload, &o) || json_find(o.more, "copy"))
        return ST_OK;
    if (json_find(o.more, "shared"))
        return write_run(w, json_find(o.more, "shared"), e);
    return harness_write_joined(w, payload, e);
}

static enum status find_copies(struct harness_writing *w, const struct entry *n,
                               const struct json *payload, struct err *e)
{
    struct harness_origin o;
    struct harness_copy  *copy;

    (void)n;
    if (!is_of_session(w, payload, &o))
        return ST_OK;
    w->has_runs = w->has_runs || json_find(o.more, "shared");
    if (!json_find(o.more, "copy"))
        return ST_OK;
    copy = ARENA_NEW(w->a, struct harness_copy, 1);
    if (json_parse(json_canonical(o.record, w->a), 0, w->a, &copy->changed, e) ||
        json_parse(json_canonical(json_find(o.more, "without"), w->a), 0, w->a, &copy->without, e))
        return err_code(e);
    map_put(&w->copies, harness_key(json_text(o.more, "copy"), w->a), copy);
    return ST_OK;
}

static enum status write_session(struct harness_writing *w, struct err *e)
{
    bool found;

    if (harness_bound(w->log, w->what->to, w->what->session, w->a, &w->binding, &found, e))
        return err_code(e);
    if (!found || !sv_eq(w->binding.thread, w->what->thread)) {
        err_set(e, ST_NOT_FOUND, "thread '" SV_FMT "' has no session '" SV_FMT "' of %s",
                SV_ARG(w->what->thread), SV_ARG(w->what->session), harness_title(w->what->to));
        return err_hint(e, "`heddle sessions` lists them");
    }
    w->session = w->what->session;
    if (walk(w, 0, STORE_TO_END, (struct sv){ 0 }, find_copies, e))
        return err_code(e);
    return walk(w, 0, STORE_TO_END, (struct sv){ 0 }, write_own, e);
}

/* ---- a lane ---------------------------------------------------------------------------------- */

static const struct harness_change *change_of(const struct harness_export *what, int64_t seq)
{
    for (size_t i = 0; i < what->n_changes; i++)
        if (what->changes[i].seq == seq)
            return &what->changes[i];
    return NULL;
}

/* The version of a message that is shown in its place. */
static enum status write_version(struct harness_writing *w, int64_t seq, struct err *e)
{
    struct entry n;
    struct json  payload;
    bool         found;

    if (log_entry(w->log, w->what->thread, seq, &w->scratch, &n, &found, e))
        return err_code(e);
    if (!found || n.erased)
        return ST_OK;
    return json_parse(n.payload, 0, &w->scratch, &payload, e)
               ? err_code(e)
               : w->writer->message(w, n.at, n.seq, &payload, e);
}

/* Records of the program itself, and new ones for what others said. */
static enum status write_entry(struct harness_writing *w, const struct entry *n,
                               const struct json *payload, struct err *e)
{
    struct harness_origin        o;
    const struct harness_change *change = change_of(w->what, n->seq);
    bool own = harness_origin(payload, &o) && sv_is(o.name, harness_name(w->what->to));

    if (change)
        return change->by < 0 ? ST_OK : write_version(w, change->by, e);
    if (own)
        return w->writer->shared(w, n, payload, e);
    if (kind_of(n->kind) != KIND_AI_MESSAGE || n->seq <= w->after || !kind_is_sound(n))
        return ST_OK;
    w->failed = sv_find(n->refs, SV("\"is_error\":true")) >= 0;
    return w->writer->message(w, n->at, n->seq, payload, e);
}

/* Is the snapshot in force one that the program made itself? Then its record is on the path. */
static enum status is_own_anchor(struct harness_writing *w, int64_t anchor, bool *own,
                                 struct err *e)
{
    struct harness_origin o;
    struct entry          n;
    struct json           payload;
    bool                  found;

    *own = anchor < 0;
    if (anchor < 0)
        return ST_OK;
    if (log_entry(w->log, w->what->thread, anchor, w->a, &n, &found, e))
        return err_code(e);
    if (!found || json_parse(n.payload, 0, w->a, &payload, e))
        return ST_OK;
    *own = harness_origin(&payload, &o) && sv_is(o.name, harness_name(w->what->to));
    return ST_OK;
}

/* A context that was replaced by heddle, or another program, begins with its snapshot. */
static enum status write_snapshot(struct harness_writing *w, const struct projection *p,
                                  struct err *e)
{
    for (size_t i = 0; i < p->snapshot.n; i++) {
        struct sb   b = sb_in(&w->scratch, 0);
        struct json payload;
        message_write_stored(&b, &p->snapshot.messages[i]);
        if (json_parse(sb_sv(&b), 0, &w->scratch, &payload, e) ||
            w->writer->message(w, p->snapshot.messages[i].at, p->anchor, &payload, e))
            return err_code(e);
    }
    return ST_OK;
}

static enum status write_path(struct harness_writing *w, struct projection *p, struct err *e)
{
    bool own;

    if (is_own_anchor(w, p->anchor, &own, e))
        return err_code(e);
    w->after = own ? -1 : p->after;
    if (!own && write_snapshot(w, p, e))
        return err_code(e);
    for (size_t i = 0; i < p->n_path; i++) {
        int64_t from = p->path[i].from > w->after + 1 ? p->path[i].from : w->after + 1;
        if (from <= p->path[i].to && walk(w, from, p->path[i].to, p->path[i].lane, write_entry, e))
            return err_code(e);
    }
    return ST_OK;
}

static enum status write_lane(struct harness_writing *w, struct err *e)
{
    struct projection_of of = { w->what->thread, w->what->lane, w->what->upto, { 0 } };
    struct projection    p;
    struct lane          lane;
    bool                 found;

    if (lane_find(w->log, of.thread, of.lane, w->a, &lane, &found, e))
        return err_code(e);
    if (!found) {
        err_set(e, ST_NOT_FOUND, "thread '" SV_FMT "' has no lane '" SV_FMT "'", SV_ARG(of.thread),
                SV_ARG(of.lane));
        return err_reason(e, "lane");
    }
    if (project_start(w->log, &of, w->a, &p, e))
        return err_code(e);
    struct store_head head;
    if (log_head(w->log, of.thread, &head, e))
        return err_code(e);
    w->at = head.updated;
    w->session = w->what->id.s ? w->what->id : harness_made_session(w, p.at);
    if (w->writer->begin && w->writer->begin(w, e))
        return err_code(e);
    return write_path(w, &p, e);
}

enum status harness_export(struct log *l, const struct harness_export *what, struct arena *a,
                           struct sb *out, struct harness_exported *done, struct err *e)
{
    struct harness_writing w = { .log = l,
                                 .what = what,
                                 .a = a,
                                 .out = out,
                                 .after = -1,
                                 .writer = harness_writer_of(what->to),
                                 .calls = map_in(a),
                                 .written = map_in(a),
                                 .copies = map_in(a) };
    enum status            s;

    if (!w.writer) {
        err_set(e, ST_INVALID_SYNTAX, "sessions of %s cannot be written", harness_title(what->to));
        return err_hint(e, "claude-code and pi can");
    }
    if (what->id.s && !harness_id_is_valid(what->id))
        return err_set(e, ST_INVALID_SYNTAX, "'" SV_FMT "' is not an id of a session",
                       SV_ARG(what->id));
    w.join = (struct harness_joining){ .to = what->to, .waiting = sb_in(a, 0) };
    ARENA_NEW(&w.scratch, char, 1);
    s = what->session.s ? write_session(&w, e) : write_lane(&w, e);
    arena_free(&w.scratch);
    if (!s)
        *done = (struct harness_exported){
            .session = w.session, .records = w.records, .made = w.made, .left_out = w.left_out
        };
    return s;
}

/* ---- where it goes --------------------------------------------------------------------------- */

/* Claude Code: every character of the path that is not a letter or a digit is a dash. */
static struct sv claude_path(struct sv cwd, struct sv session, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    for (size_t i = 0; i < cwd.n; i++)
        sb_addc(&b, isalnum((unsigned char)cwd.s[i]) ? cwd.s[i] : '-');
    sb_addc(&b, '/');
    sb_add(&b, session);
    sb_adds(&b, ".jsonl");
    return sb_sv(&b);
}

/* pi: --PATH--/TIME_ID.jsonl, without the first slash. */
static struct sv pi_path(struct sv cwd, struct sv session, int64_t at, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    size_t    time;

    sb_adds(&b, "--");
    for (size_t i = cwd.n && cwd.s[0] == '/'; i < cwd.n; i++)
        sb_addc(&b,
                (char)(cwd.s[i] == '/' || cwd.s[i] == '\\' || cwd.s[i] == ':' ? '-' : cwd.s[i]));
    sb_adds(&b, "--/");
    time = b.n;
    sb_add_iso_ms(&b, at);
    for (size_t i = time; i < b.n; i++)
        if (b.s[i] == ':' || b.s[i] == '.')
            b.s[i] = '-';
    sb_addc(&b, '_');
    sb_add(&b, session);
    sb_adds(&b, ".jsonl");
    return sb_sv(&b);
}

struct sv harness_export_path(enum harness h, struct sv cwd, struct sv session, int64_t at,
                              struct arena *a)
{
    return h == HARNESS_PI ? pi_path(cwd, session, at, a) : claude_path(cwd, session, a);
}

/* Sessions of opencode as records: the session itself, then its messages in order. A message that
 * is still being written, and those behind it, are left for the next time.
 *
 * A fork is a session with copies of messages under new ids, and does not say where they come
 * from. It is known by messages that are older than the session; what it was forked from is
 * the session of the project whose messages have the same times and roles. */
#include "harness/harness_internal.h"
#include "harness/opencode_store.h"

enum { CANDIDATES_MAX = 200 };

struct db_reading {
    struct opencode_store  *store;
    struct opencode_session session;
    struct sv               forked_from; /* or absent */
    struct sv              *ids;         /* of its messages */
    struct sv              *also;        /* of what they are copies of; absent: none */
    size_t                  n, next;
    bool                    told; /* the record of the session itself was returned */
    struct arena            record;
};

/* ---- forks ----------------------------------------------------------------------------------- */

struct stamp {
    int64_t created;
    bool    is_user;
};

static enum status stamp_of(struct db_reading *d, struct sv session, struct sv id,
                            struct stamp *out, struct err *e)
{
    struct arena scratch = { 0 };
    struct sv    text;
    struct json  v;
    struct err   ignored;
    enum status  s = opencode_message(d->store, session, id, &scratch, &text, e);

    *out = (struct stamp){ 0 };
    if (!s && json_parse(text, 0, &scratch, &v, &ignored) == ST_OK)
        *out = (struct stamp){ json_number(json_find(&v, "time"), "created"),
                               sv_is(json_text(&v, "role"), "user") };
    arena_free(&scratch);
    return s;
}

/* How many messages of the session are those of `other`, from the first on? */
static enum status shared(struct db_reading *d, const struct sv *ids, size_t n, struct sv session,
                          struct sv other, const struct sv *others, size_t m, size_t *out,
                          struct err *e)
{
    struct stamp x, y;

    for (*out = 0; *out < n && *out < m; ++*out) {
        if (stamp_of(d, session, ids[*out], &x, e) || stamp_of(d, other, others[*out], &y, e))
            return err_code(e);
        if (!x.created || x.created != y.created || x.is_user != y.is_user)
            break;
    }
    return ST_OK;
}

static enum status copied_from(struct db_reading *d, const struct opencode_session *s,
                               const struct sv *ids, size_t n, struct arena *a, int depth,
                               struct sv *also, struct sv *from, struct err *e);

/* The ids of the other session's messages, or of what those are copies of in turn. */
static enum status take_over(struct db_reading *d, const struct opencode_session *other,
                             struct sv *others, size_t m, size_t n, struct arena *a, int depth,
                             struct sv *also, struct err *e)
{
    struct sv *earlier = ARENA_NEW(a, struct sv, m + 1), from = { 0 };

    if (depth < 8 && copied_from(d, other, others, m, a, depth + 1, earlier, &from, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        also[i] = earlier[i].s ? earlier[i] : others[i];
    return ST_OK;
}

static enum status copied_from(struct db_reading *d, const struct opencode_session *s,
                               const struct sv *ids, size_t n, struct arena *a, int depth,
                               struct sv *also, struct sv *from, struct err *e)
{
    struct opencode_session *list;
    size_t                   count, best = 0;
    struct stamp             first = { 0 };

    if (!n || stamp_of(d, s->id, ids[0], &first, e))
        return n ? err_code(e) : ST_OK;
    if (s->parent.n || !first.created || first.created >= s->created)
        return ST_OK;
    if (opencode_sessions(d->store, a, &list, &count, e))
        return err_code(e);
    for (size_t i = count, looked = 0; i-- > 0 && looked < CANDIDATES_MAX;) {
        struct sv *others;
        size_t     m, same;
        if (list[i].created >= s->created || !sv_eq(list[i].project, s->project))
            continue;
        looked++;
        if (opencode_messages(d->store, list[i].id, a, &others, &m, e) ||
            shared(d, ids, n, s->id, list[i].id, others, m, &same, e))
            return err_code(e);
        if (same <= best)
            continue;
        best = same;
        *from = list[i].id;
        if (take_over(d, &list[i], others, m, same, a, depth, also, e))
            return err_code(e);
    }
    return ST_OK;
}

/* ---- the input ------------------------------------------------------------------------------ */

static enum status open_store(struct harness_file *f, struct arena *a, struct opencode_store **out,
                              struct err *e)
{
    return opencode_open(f->fd, f->src->dir, a, out, e);
}

static enum status find_session(struct harness_file *f, struct db_reading *d, struct err *e)
{
    bool found;

    if (opencode_session(d->store, f->pos.session, &f->lines, &d->session, &found, e))
        return err_code(e);
    if (found)
        return ST_OK;
    err_set(e, ST_NOT_FOUND, SV_FMT " has no session '" SV_FMT "'", SV_ARG(f->path),
            SV_ARG(f->pos.session));
    return err_reason(e, "session");
}

static void close_db(struct harness_file *f)
{
    struct db_reading *d = f->in;

    opencode_close(d->store);
    arena_free(&d->record);
}

/* Is nothing new: was the last message read before, and is the session unchanged? */
static enum status look(struct harness_file *f, bool found, bool *is_new, struct err *e)
{
    struct db_reading d = { 0 };
    enum status       s = open_store(f, &f->lines, &d.store, e);

    if (!s)
        s = find_session(f, &d, e);
    if (!s)
        s = opencode_messages(d.store, f->pos.session, &f->lines, &d.ids, &d.n, e);
    opencode_close(d.store);
    if (s) {
        arena_free(&f->lines);
        return s;
    }
    f->size = (int64_t)d.n;
    *is_new =
        !found || f->state->seen != d.session.updated ||
        (d.n ? !sv_eq(d.ids[d.n - 1], harness_text_sv(&f->state->tail)) : f->state->tail.n > 0);
    arena_free(&f->lines);
    return ST_OK;
}

/* Reading continues after the last message that was read. When that message is gone because the
 * session was rewound, all are read again; known ones are skipped. */
static enum status open_db(struct harness_file *f, struct err *e)
{
    struct db_reading *d = ARENA_NEW(&f->lines, struct db_reading, 1);

    f->in = d;
    if (open_store(f, &f->lines, &d->store, e) || find_session(f, d, e) ||
        opencode_messages(d->store, f->pos.session, &f->lines, &d->ids, &d->n, e))
        return err_code(e);
    d->also = ARENA_NEW(&f->lines, struct sv, d->n + 1);
    if (copied_from(d, &d->session, d->ids, d->n, &f->lines, 0, d->also, &d->forked_from, e))
        return err_code(e);
    for (size_t i = d->n; f->state->tail.n && i-- > 0 && !d->next;)
        if (sv_eq(d->ids[i], harness_text_sv(&f->state->tail)))
            d->next = i + 1;
    return ST_OK;
}

static struct sv session_record(const struct db_reading *d, struct arena *a)
{
    const struct opencode_session *s = &d->session;
    struct sb                      b = sb_in(a, 0);
    struct jw                      w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_key(&w, "session");
    jw_open(&w, '{');
    jw_kint(&w, "created", s->created);
    jw_kstr(&w, "directory", s->directory);
    jw_kstr(&w, "forked_from", d->forked_from);
    jw_kstr(&w, "id", s->id);
    jw_kstr(&w, "parent", s->parent.n ? s->parent : (struct sv){ 0 });
    jw_kstr(&w, "title", s->title);
    jw_kint(&w, "updated", s->updated);
    jw_kstr(&w, "version", s->version);
    jw_close(&w, '}');
    jw_close(&w, '}');
    return sb_sv(&b);
}

/* An answer that has not ended may still grow; one behind which there is another will not. */
static bool is_final(const struct db_reading *d, struct sv info, struct sv parts, struct arena *a)
{
    struct json v;
    struct err  ignored;

    if (d->next + 1 < d->n || json_parse(info, 0, a, &v, &ignored))
        return true;
    if (sv_is(json_text(&v, "role"), "user"))
        return !sv_is(parts, "[]");
    return json_find(json_find(&v, "time"), "completed") || json_find(&v, "error");
}

static enum status message_record(struct harness_file *f, struct db_reading *d, struct sv *text,
                                  bool *more, struct err *e)
{
    struct sv before = d->next ? d->ids[d->next - 1] : (struct sv){ 0 }, info, parts;
    struct sb b = sb_in(&d->record, 0);
    struct jw w = jw_in(&b, 0);

    if (opencode_message(d->store, f->pos.session, d->ids[d->next], &d->record, &info, e) ||
        opencode_parts(d->store, d->ids[d->next], &d->record, &parts, e))
        return err_code(e);
    *more = is_final(d, info, parts, &d->record);
    if (!*more)
        harness_note(f->report, f->state->number,
                     "answers that are still being written: left for the next import");
    jw_open(&w, '{');
    jw_kstr(&w, "also", d->also[d->next]);
    jw_kstr(&w, "before", before);
    jw_kstr(&w, "before_also", d->next ? d->also[d->next - 1] : (struct sv){ 0 });
    jw_key(&w, "info");
    jw_raw(&w, info);
    jw_key(&w, "parts");
    jw_raw(&w, parts);
    jw_close(&w, '}');
    *text = sb_sv(&b);
    return ST_OK;
}

static enum status next(struct harness_file *f, struct sv *text, bool *whole, bool *fits,
                        bool *more, struct err *e)
{
    struct db_reading *d = f->in;

    arena_free(&d->record);
    *whole = *fits = true;
    *more = false;
    if (!d->told) {
        *text = session_record(d, &d->record);
        *more = true;
        return ST_OK;
    }
    if (d->next == d->n)
        return ST_OK;
    if (message_record(f, d, text, more, e))
        return err_code(e);
    *fits = text->n <= HARNESS_RECORD_MAX;
    return ST_OK;
}

/* The offset counts messages; the first of a batch is the session itself. */
static void taken(struct harness_file *f)
{
    struct db_reading *d = f->in;

    if (!d->told) {
        d->told = true;
        return;
    }
    harness_text_set(&f->state->tail, d->ids[d->next++]);
    f->state->offset = (int64_t)d->next;
}

static void save(struct harness_file *f)
{
    (void)f;
}

enum status harness_stored_sessions(int fd, int dir, struct arena *a, struct sv **out, size_t *n,
                                    struct err *e)
{
    struct opencode_store   *store;
    struct opencode_session *list;
    enum status              s;

    if (opencode_open(fd, dir, a, &store, e))
        return err_code(e);
    s = opencode_sessions(store, a, &list, n, e);
    opencode_close(store);
    if (s)
        return s;
    *out = ARENA_NEW(a, struct sv, *n + 1);
    for (size_t i = 0; i < *n; i++)
        (*out)[i] = list[i].id;
    return ST_OK;
}

const struct harness_input harness_database = {
    .look = look, .open = open_db, .next = next, .taken = taken, .save = save, .close = close_db
};

/* Importing what is new in a transcript: batches of records, each appended in one transaction with
 * the position that was reached. */
#include "harness/harness_internal.h"

#include "base/clock.h"
#include "base/path.h"
#include "base/utf8.h"
#include "thread/kind.h"

enum {
    LINEAGE_MAX = 16,
    /* A payload has a few levels around the record, and an export of the log some more. */
    RECORD_DEPTH_MAX = JSON_DEPTH_MAX - 12,
};

/* ---- records ---------------------------------------------------------------------------- */

struct harness_item *harness_item_add(struct harness_reading *x, enum harness_item_kind kind,
                                      enum harness_link link, struct sv key)
{
    struct harness_item *item = vec_push(&x->items, x->kept);

    *item = (struct harness_item){ .kind = kind, .link = link, .key = key };
    return item;
}

struct sv harness_loose_key(struct harness_reading *x)
{
    struct sb b = sb_in(x->a, 0);

    sb_add(&b, x->session);
    if (x->part.n)
        sb_addf(&b, "." SV_FMT, SV_ARG(x->part));
    sb_addf(&b, "/" SV_FMT "+%lld", SV_ARG(harness_text_sv(&x->state->previous)),
            (long long)++x->state->loose);
    return sb_sv(&b);
}

void harness_keep_loose(struct harness_reading *x, const struct json *record)
{
    struct harness_item *item =
        harness_item_add(x, HARNESS_KEPT, HARNESS_LOOSE, harness_loose_key(x));

    item->record = json_canonical(record, x->a);
}

/* A line that is not a JSON object is kept as it is, as far as it is text. */
static void keep_line(struct harness_file *im, struct sv text)
{
    struct sb            b = sb_in(im->x.a, 0);
    struct harness_item *item =
        harness_item_add(&im->x, HARNESS_KEPT, HARNESS_LOOSE, harness_loose_key(&im->x));

    sb_add_lossy(&b, text);
    item->line = sb_sv(&b);
    harness_note(im->report, im->state->number,
                 "lines that are not JSON objects, or nested too deep: kept as they are");
}

/* How deep a value is nested, as far as that matters. */
static int depth_of(const struct json *v, int above)
{
    int most = above;

    if ((v->type != JSON_ARRAY && v->type != JSON_OBJECT) || above > RECORD_DEPTH_MAX)
        return above;
    for (size_t i = 0; i < v->n; i++) {
        int d = depth_of(v->type == JSON_ARRAY ? &v->items[i] : &v->members[i].value, above + 1);
        most = d > most ? d : most;
    }
    return most;
}

/* The record as JSON; false: it is not JSON, or an entry cannot hold it. */
static bool parse(struct harness_file *im, struct sv text, struct json *v, bool *mended)
{
    if (im->ready) {
        *v = *im->ready;
        *mended = im->ready_mended;
    } else if (!harness_parse(text, im->x.a, v, mended)) {
        return false;
    }
    return v->type == JSON_OBJECT && depth_of(v, 0) <= RECORD_DEPTH_MAX;
}

static void read_text(struct harness_file *im, struct sv text)
{
    struct json v;
    bool        mended;

    if (!parse(im, text, &v, &mended)) {
        keep_line(im, text);
        return;
    }
    if (mended)
        harness_note(im->report, im->state->number,
                     "records with bytes that are not UTF-8: those became U+FFFD");
    im->format->read(&im->x, &v);
}

static enum status add_items(struct harness_file *im, struct harness_batch *b, struct err *e)
{
    for (size_t i = 0; i < im->x.items.n; i++) {
        const struct harness_item *item = &im->x.items.v[i];
        if (harness_batch_add(b, item, im->x.a, e))
            return err_code(e);
        if (item->link != HARNESS_LOOSE) {
            harness_text_set(&im->state->previous, harness_key(item->key, im->x.a));
            im->state->loose = 0;
        }
    }
    return ST_OK;
}

/* A line without its end may still be written to: it is taken only when it is a JSON object, which
 * nothing can be added to. */
static bool is_complete(struct harness_file *im, struct sv text)
{
    struct json v;
    bool        mended;

    return harness_parse(text, im->x.a, &v, &mended) && v.type == JSON_OBJECT;
}

/* The call of its parent that started a sub-agent. */
static enum status find_start(struct harness_file *im, struct harness_batch *b, struct err *e)
{
    struct harness_position p = im->pos;
    bool                    found;

    if (!im->state->is_agent || !im->state->parent.n || im->state->messages || b->hangs_on.n)
        return ST_OK;
    p.session = harness_text_sv(&im->state->parent);
    p.part = SV("");
    if (harness_position_read(im->log, &p, &im->kept, im->other, &found, e))
        return err_code(e);
    if (found)
        b->hangs_on = harness_call_take(im->other, im->pos.session, &im->kept);
    return ST_OK;
}

/* The sessions that this one comes from, nearest first: known once its header was read. */
static enum status find_lineage(struct harness_file *im, struct err *e)
{
    struct harness_position p = im->pos;
    struct sv              *list = ARENA_NEW(&im->kept, struct sv, LINEAGE_MAX);
    struct harness_state   *s = im->other;
    struct sv               parent = harness_text_sv(&im->state->parent);
    size_t                  n = 0;
    bool                    found;

    if (!im->format->local_ids)
        return ST_OK;
    list[n++] = im->pos.session;
    for (p.part = SV(""); parent.n && n < LINEAGE_MAX; parent = harness_text_sv(&s->parent)) {
        p.session = list[n++] = sv_dup(parent, &im->kept);
        if (harness_position_read(im->log, &p, &im->kept, s, &found, e))
            return err_code(e);
    }
    im->lineage = (struct sv_list){ list, n };
    return ST_OK;
}

static bool needs_lineage(const struct harness_file *im)
{
    return im->format->local_ids && im->lineage.n == 1 && im->state->parent.n;
}

static enum status take_record(struct harness_file *im, struct harness_batch *b, struct sv text,
                               bool whole, bool *taken, struct err *e)
{
    struct arena_mark m = arena_mark(&im->record);
    enum status       s = ST_OK;

    im->x.items.n = 0;
    *taken = whole || is_complete(im, text);
    if (*taken && sv_trim(text).n) {
        read_text(im, text);
        im->report->read++;
        im->state->records++;
        if (im->x.failed.code) {
            *e = im->x.failed;
            s = err_code(e);
        }
        if (!s && needs_lineage(im))
            s = find_lineage(im, e);
        if (!s)
            s = find_start(im, b, e);
        if (!s)
            s = add_items(im, b, e);
    }
    arena_reset(&im->record, m);
    return s;
}

/* ---- the input ----------------------------------------------------------------------------- */

/* Afterwards nothing is open, whichever input it was, so that another kind of input may be opened,
 * or none: a batch that finds nothing new ends without having opened any. */
static void close_input(struct harness_file *im)
{
    if (im->in && im->input->close)
        im->input->close(im);
    im->in = NULL;
    im->ready = NULL;
    arena_free(&im->lines);
}

/* ---- a batch ------------------------------------------------------------------------------ */

void harness_file_restart(struct harness_file *im)
{
    bool                numbered = im->state->is_numbered;
    struct harness_text named = im->state->named;

    harness_state_init(im->state);
    im->state->is_numbered = numbered;
    im->state->named = named;
}

bool harness_knows(struct harness_reading *x, struct sv key)
{
    struct harness_found found;
    bool                 is_there = false;

    return !x->failed.code &&
           harness_lookup(x->batch, key, 0, x->a, &found, &is_there, &x->failed) == ST_OK &&
           is_there;
}

static bool is_at_limit(const struct harness_file *im, int64_t read)
{
    const struct harness_limits *l = im->limits;

    return !im->input->in_one && ((l->bytes && im->report->bytes + read >= l->bytes) ||
                                  (l->deadline_us && clock_steady_us() > l->deadline_us));
}

static enum status take_next(struct harness_file *im, struct harness_batch *b, bool *more,
                             struct err *e)
{
    struct sv text;
    bool      whole, fits, is_taken = true;

    if (im->input->next(im, &text, &whole, &fits, more, e))
        return err_code(e);
    if (!*more)
        return ST_OK;
    im->state->number++;
    if (!fits)
        harness_note(im->report, im->state->number, "records of more than %d MB: left out",
                     HARNESS_RECORD_MAX >> 20);
    else if (take_record(im, b, text, whole, &is_taken, e))
        return err_code(e);
    if (is_taken)
        im->input->taken(im);
    else
        im->state->number--;
    *more = is_taken;
    return ST_OK;
}

/* Records from the position on, until there are no more or the batch is full. */
static enum status read_batch(struct harness_file *im, struct harness_batch *b, bool *more,
                              struct err *e)
{
    int64_t start = im->state->offset, read = 0;

    if (im->input->open(im, e))
        return err_code(e);
    *more = true;
    for (int64_t n = 0; *more; n++) {
        bool full = read >= HARNESS_BATCH_BYTES || n >= HARNESS_BATCH_RECORDS;
        if (n && (full || is_at_limit(im, read)))
            break;
        if (take_next(im, b, more, e))
            return err_code(e);
        read = im->state->offset - start;
    }
    im->report->bytes += read;
    return ST_OK;
}

static enum status load_position(struct harness_file *im, bool *is_new, struct err *e)
{
    bool found;

    if (im->beside) { /* the position of such a file is not stored: it is read again next time */
        *is_new = im->state->offset < im->size;
        return ST_OK;
    }
    if (harness_position_read(im->log, &im->pos, &im->kept, im->state, &found, e))
        return err_code(e);
    return im->input->look(im, found, is_new, e);
}

static void save_position(struct harness_file *im)
{
    im->input->save(im);
    if (im->path.s && !sv_eq(im->state->path, im->path))
        im->state->path = im->path;
    if (!im->state->cwd.n && im->src->cwd.n)
        im->state->cwd = im->src->cwd;
}

/* A thread that was created for the session gets the title of the session, or its first prompt. */
static enum status append_title(struct harness_file *im, struct err *e)
{
    struct harness_state *s = im->state;
    struct sv             title = harness_text_sv(s->title.n ? &s->title : &s->asked);
    struct sb             b = sb_in(&im->batch, 0);
    struct jw             w = jw_in(&b, 0);
    struct store_head     head;

    if (!title.n || sv_eq(title, harness_text_sv(&s->named)) || im->pos.part.n ||
        !sv_eq(im->main, LANE_DEFAULT))
        return ST_OK;
    harness_text_set(&s->named, title);
    jw_open(&w, '{');
    jw_kstr(&w, "mark", SV("tree"));
    jw_kstr(&w, "title", title);
    jw_close(&w, '}');
    struct entry n = { .at = s->last ? s->last : im->pos.at,
                       .kind = sv_of(kind_name(KIND_LOOM_MARK)),
                       .actor = im->src->actor,
                       .payload = sb_sv(&b) };
    return log_append(im->log, im->pos.thread, LOG_ANY_REV, &n, 1, &head, e);
}

static enum status append_batch(struct harness_file *im, bool *more, struct err *e)
{
    struct harness_batch b = { .log = im->log,
                               .harness = im->src->harness,
                               .lineage = im->format->local_ids ? &im->lineage : NULL,
                               .thread = im->pos.thread,
                               .session = im->pos.session,
                               .part = im->pos.part,
                               .main = im->main,
                               .hangs_on = im->x.hangs_on,
                               .actor = im->src->actor,
                               .a = &im->batch,
                               .state = im->state,
                               .now = im->pos.at,
                               .report = im->report,
                               .waiting = map_in(&im->batch),
                               .run = { .seqs = sb_in(&im->kept, 0) } };
    struct store_head    head;
    int64_t              from, seen;
    bool                 is_new;

    *more = false;
    if (load_position(im, &is_new, e) || log_head(im->log, im->pos.thread, &head, e))
        return err_code(e);
    if (!is_new)
        return ST_OK;
    b.next = head.rev;
    im->x.batch = &b;
    from = im->state->offset;
    seen = im->state->seen;
    if (find_lineage(im, e) || read_batch(im, &b, more, e) || harness_shared_end(&b, im->x.a, e) ||
        harness_batch_flush(&b, e))
        return err_code(e);
    if (im->beside ||
        (im->state->offset == from && im->state->seen == seen && !im->report->rewritten))
        return ST_OK; /* only a record that is still being written */
    save_position(im);
    if (append_title(im, e))
        return err_code(e);
    return harness_position_append(im->log, &im->pos, im->state, &im->batch, e);
}

static enum status commit_batch(struct harness_file *im, bool *more, struct err *e)
{
    enum status s = log_begin(im->log, im->pos.thread, STORE_WRITE, e);

    if (!s)
        s = append_batch(im, more, e);
    if (!s)
        s = log_commit(im->log, e);
    if (s)
        log_abort(im->log);
    if (s || !*more || !im->input->in_one)
        close_input(im);
    arena_free(&im->batch);
    return s;
}

/* Nothing is written when nothing is new. */
static enum status is_new(struct harness_file *im, bool *out, struct err *e)
{
    enum status s = log_begin(im->log, im->pos.thread, STORE_READ, e);

    if (!s)
        s = load_position(im, out, e);
    log_abort(im->log);
    im->report->rewritten = false;
    return s;
}

enum status harness_file_import(struct harness_file *im, struct err *e)
{
    const struct harness_limits *l = im->limits;
    bool                         more, bulk;
    enum status                  s = is_new(im, &more, e);

    bulk = !s && more && im->size - im->state->offset > HARNESS_BULK;
    if (bulk)
        log_bulk(im->log, true);
    if (bulk && im->input == &harness_lines)
        im->input = &harness_lines_ahead;
    while (!s && more) {
        s = commit_batch(im, &more, e);
        im->report->more = !s && more && is_at_limit(im, 0);
        if (s || im->report->more)
            break;
        if (l->check)
            s = l->check(l->ctx, im->state->offset, im->size, e);
    }
    close_input(im);
    if (bulk)
        log_bulk(im->log, false);
    if (im->beside && !im->report->entries) /* all records were known */
        im->report->read = 0;
    return s;
}

/* ---- whose it is ---------------------------------------------------------------------------- */

const struct harness_format *harness_format_of(enum harness h)
{
    static const struct harness_format *const formats[] = {
        [HARNESS_CLAUDE_CODE] = &harness_claude,
        [HARNESS_CODEX] = &harness_codex,
        [HARNESS_OPENCODE] = &harness_opencode,
        [HARNESS_GEMINI] = &harness_gemini,
        [HARNESS_PI] = &harness_pi,
    };

    return formats[h];
}

static enum status not_a_transcript(const struct harness_source *src, struct err *e)
{
    err_set(e, ST_INVALID_SYNTAX, SV_FMT " is not a session of %s", SV_ARG(src->path),
            harness_title(src->harness));
    return err_hint(e, "no record of it has the id of a session");
}

static enum status read_first(struct harness_file *im, struct harness_identity *out, struct err *e)
{
    bool more = true, done = false;

    if (im->input->open(im, e))
        return err_code(e);
    for (int n = 0; more && !done && n < HARNESS_IDENTIFY_RECORDS; n++) {
        struct arena_mark m = arena_mark(&im->record);
        struct sv         text;
        struct json       v;
        bool              whole, fits, mended;
        if (im->input->next(im, &text, &whole, &fits, &more, e))
            return err_code(e);
        if (more && fits && harness_parse(text, &im->record, &v, &mended) && v.type == JSON_OBJECT)
            done = im->format->identify(&v, &im->kept, out);
        arena_reset(&im->record, m);
    }
    return ST_OK;
}

/* What the first records say. */
static enum status identify(struct harness_file *im, struct harness_identity *out, struct err *e)
{
    enum status s;

    *out = (struct harness_identity){ 0 };
    harness_state_init(im->state);
    s = read_first(im, out, e);
    close_input(im);
    if (s)
        return s;
    if (out->is_agent && !out->parent.n) /* Gemini: in a directory that is named after it */
        out->parent = path_base(path_dir(im->path));
    return harness_id_is_valid(out->session) ? ST_OK : not_a_transcript(im->src, e);
}

static enum status find_binding(struct harness_file *im, struct harness_binding *out, bool *found,
                                struct err *e)
{
    enum status s = log_begin(im->log, HARNESS_GLOBAL, STORE_READ, e);

    if (!s)
        s = harness_bound(im->log, im->src->harness, im->pos.session, &im->kept, out, found, e);
    log_abort(im->log);
    return s;
}

/* A session that is not bound belongs to the thread of the one that it was forked from, or that
 * started it; else it gets a thread of its own. Asks again within the transaction: another process
 * may have bound the session meanwhile, and its thread then counts. */
static enum status bind_in(struct harness_file *im, const struct harness_identity *id,
                           struct harness_binding *out, struct err *e)
{
    const struct harness_source *src = im->src;
    struct harness_binding       to = { .thread = src->thread };
    bool                         found;

    if (log_catch_up(im->log, HARNESS_GLOBAL, INT64_MAX, e) ||
        harness_bound(im->log, src->harness, im->pos.session, &im->kept, out, &found, e))
        return err_code(e);
    if (found)
        return ST_OK;
    if (!to.thread.s &&
        harness_find_relative(im->log, src->harness, id, src->actor, src->now, &im->kept, &to, e))
        return err_code(e);
    return to.thread.s ? harness_bind(im->log, src->harness, im->pos.session, &to, src->actor,
                                      src->now, &im->kept, out, e)
                       : harness_bind_own(im->log, src->harness, im->pos.session, src->actor,
                                          src->now, &im->kept, out, e);
}

static enum status bind_now(struct harness_file *im, const struct harness_identity *id,
                            struct harness_binding *out, struct err *e)
{
    enum status s;

    do {
        s = log_begin(im->log, HARNESS_GLOBAL, STORE_WRITE, e);
        im->log->repeats = true;
        if (!s)
            s = bind_in(im, id, out, e);
        im->log->repeats = false;
        if (!s)
            s = log_commit(im->log, e);
        if (s)
            log_abort(im->log);
    } while (s && log_again(im->log, e));
    return s;
}

static enum status need_session(const struct harness_source *src, struct err *e)
{
    if (src->session.s || src->harness != HARNESS_OPENCODE)
        return ST_OK;
    return err_set(e, ST_INVALID_SYNTAX, "which session of " SV_FMT "?", SV_ARG(src->path));
}

static enum status find_thread(struct harness_file *im, struct err *e)
{
    struct harness_identity id;
    struct harness_binding  bound = { 0 };
    bool                    found = false;

    im->pos.session = im->src->session;
    if (need_session(im->src, e) || (im->pos.session.s && find_binding(im, &bound, &found, e)))
        return err_code(e);
    if (!found) {
        if (identify(im, &id, e))
            return err_code(e);
        im->pos.session = id.session;
        im->pos.part = id.part.s ? id.part : SV("");
        if (find_binding(im, &bound, &found, e) || (!found && bind_now(im, &id, &bound, e)))
            return err_code(e);
    }
    im->pos.thread = bound.thread;
    im->main = im->pos.part.n ? im->pos.part : bound.lane;
    return ST_OK;
}

/* ---- all of it -------------------------------------------------------------------------------
 */

static void report_session(struct harness_file *im)
{
    struct harness_report *r = im->report;

    r->session = sv_dup(im->pos.session, r->a);
    r->thread = sv_dup(im->pos.thread, r->a);
    r->lane = sv_dup(im->main, r->a);
    r->title = sv_dup(harness_text_sv(&im->state->title), r->a);
}

static enum status import_all(struct harness_file *im, struct err *e)
{
    if (find_thread(im, e))
        return err_code(e);
    im->x.session = im->pos.session;
    im->x.part = im->pos.part;
    if (harness_file_import(im, e))
        return err_code(e);
    report_session(im);
    if (im->src->harness != HARNESS_CLAUDE_CODE || im->src->dir < 0 || im->pos.part.n)
        return ST_OK;
    return harness_claude_parts(im, im->src->dir, e);
}

static const struct harness_input *input_of(const struct harness_source *src)
{
    if (src->harness == HARNESS_OPENCODE)
        return &harness_database;
    return harness_document_is(src->fd) ? &harness_document : &harness_lines;
}

enum status harness_import(struct log *l, const struct harness_source *src,
                           const struct harness_limits *limits, struct harness_report *r,
                           struct err *e)
{
    struct harness_file im = {
        .log = l,
        .src = src,
        .limits = limits,
        .format = harness_format_of(src->harness),
        .input = input_of(src),
        .report = r,
        .fd = src->fd,
        .path = src->path,
        .pos = { .harness = src->harness, .part = SV(""), .actor = src->actor, .at = src->now }
    };
    enum status s;

    im.state = ARENA_NEW(&im.kept, struct harness_state, 1);
    im.other = ARENA_NEW(&im.kept, struct harness_state, 1);
    ARENA_NEW(&im.record, char, 1); /* keeps one block allocated across resets */
    im.x = (struct harness_reading){
        .a = &im.record, .kept = &im.kept, .state = im.state, .report = r
    };
    s = import_all(&im, e);
    arena_free(&im.kept);
    arena_free(&im.record);
    return s;
}

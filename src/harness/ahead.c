/* Long transcripts: a second thread of execution reads and parses lines while the first one appends
 * what came before. It works ahead by a bounded number of lines and bytes, so that memory does not
 * grow with the file. Each slot of the ring is written by one side alone: the reader fills free
 * slots in order, the import takes full ones in the same order and gives them back. */
#include "harness/harness_internal.h"

#include <pthread.h>
#include <unistd.h>

enum { SLOTS = 256, AHEAD_BYTES = 4 << 20 };

struct slot {
    struct arena a; /* of the line: its text, and what was parsed */
    struct sv    text;
    struct json  json;
    bool         parsed, mended, whole, fits;
    int64_t      end; /* offset behind the line */
};

struct ahead {
    pthread_t       thread;
    pthread_mutex_t lock; /* of what follows, up to `slots` */
    pthread_cond_t  changed;
    size_t          full;  /* slots that are filled and not given back */
    size_t          bytes; /* of their texts */
    bool            reader_waits, import_waits;
    bool            stop;   /* the import ended, and reads no further line */
    bool            ended;  /* no line comes any more ... */
    enum status     status; /* ... because of this */
    struct err      e;

    struct slot  slots[SLOTS];
    size_t       in, out; /* next slot of the reader, and of the import */
    struct lines lines;
    struct arena line_memory;
    int64_t      start;
    bool         is_out; /* slots[out] was given to the import */
};

/* ---- the reader ------------------------------------------------------------------------------ */

static enum status read_line(struct ahead *h, struct slot *s, bool *more, struct err *e)
{
    struct sv   text;
    enum status status = lines_next(&h->lines, &text, more, e);

    s->fits = status != ST_LIMIT_EXCEEDED;
    if (!s->fits) {
        text = SV("");
        *more = true;
        status = lines_skip(&h->lines, e);
    }
    if (status || !*more)
        return status;
    s->text = sv_dup(text, &s->a);
    s->whole = h->lines.from > 0 && h->lines.buf[h->lines.from - 1] == '\n';
    s->end = h->start + h->lines.bytes - (int64_t)(h->lines.n - h->lines.from);
    s->parsed = s->fits && harness_parse(s->text, &s->a, &s->json, &s->mended);
    return ST_OK;
}

static bool is_full(const struct ahead *h)
{
    return h->full == SLOTS || (h->bytes > AHEAD_BYTES && h->full > 1);
}

static bool is_half_empty(const struct ahead *h)
{
    return h->full <= SLOTS / 2 && (h->bytes <= AHEAD_BYTES / 2 || h->full <= 1);
}

/* Waits until there is space; false: the import ended. Once the ring is full, the reader waits
 * until half of it is free, so that the two do not wake each other for every line. */
static bool wait_for_room(struct ahead *h)
{
    bool go_on;

    pthread_mutex_lock(&h->lock);
    if (is_full(h)) {
        h->reader_waits = true;
        while (!h->stop && !is_half_empty(h))
            pthread_cond_wait(&h->changed, &h->lock);
        h->reader_waits = false;
    }
    go_on = !h->stop;
    pthread_mutex_unlock(&h->lock);
    return go_on;
}

static void *work(void *ctx)
{
    struct ahead *h = ctx;
    struct err    e = { 0 };
    bool          more = true;
    enum status   status = ST_OK;

    while (more && !status && wait_for_room(h)) {
        struct slot *s = &h->slots[h->in];
        arena_free(&s->a);
        status = read_line(h, s, &more, &e);
        pthread_mutex_lock(&h->lock);
        if (more && !status) {
            h->in = (h->in + 1) % SLOTS;
            h->full++;
            h->bytes += s->text.n;
        }
        if (h->import_waits)
            pthread_cond_broadcast(&h->changed);
        pthread_mutex_unlock(&h->lock);
    }
    pthread_mutex_lock(&h->lock);
    h->ended = true;
    h->status = status;
    h->e = e;
    pthread_cond_broadcast(&h->changed);
    pthread_mutex_unlock(&h->lock);
    return NULL;
}

/* ---- the import --------------------------------------------------------------------------------
 */

static enum status open_ahead(struct harness_file *f, struct err *e)
{
    struct ahead *h;

    if (lseek(f->fd, f->state->offset, SEEK_SET) < 0)
        return err_errno(e, "seek in " SV_FMT, SV_ARG(f->path));
    h = ARENA_NEW(&f->lines, struct ahead, 1);
    h->lines = lines_of(f->fd, HARNESS_RECORD_MAX, &h->line_memory);
    h->lines.number = f->state->number;
    h->start = f->state->offset;
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->changed, NULL);
    if (pthread_create(&h->thread, NULL, work, h)) {
        arena_free(&h->line_memory);
        return err_set(e, ST_IO, "a thread for reading cannot be started");
    }
    f->in = h;
    return ST_OK;
}

/* Returns the slot that was given before to the reader. */
static void give_back(struct ahead *h)
{
    if (!h->is_out)
        return;
    h->is_out = false;
    h->full--;
    h->bytes -= h->slots[h->out].text.n;
    h->out = (h->out + 1) % SLOTS;
    if (h->reader_waits && is_half_empty(h))
        pthread_cond_broadcast(&h->changed);
}

static enum status next(struct harness_file *f, struct sv *text, bool *whole, bool *fits,
                        bool *more, struct err *e)
{
    struct ahead *h = f->in;
    struct slot  *s;

    pthread_mutex_lock(&h->lock);
    give_back(h);
    h->import_waits = true;
    while (!h->full && !h->ended)
        pthread_cond_wait(&h->changed, &h->lock);
    h->import_waits = false;
    *more = h->full > 0;
    enum status status = *more ? ST_OK : h->status;
    if (status)
        *e = h->e;
    h->is_out = *more;
    pthread_mutex_unlock(&h->lock);
    if (!*more)
        return status;
    s = &h->slots[h->out];
    *text = s->text;
    *whole = s->whole;
    *fits = s->fits;
    f->ready = s->parsed ? &s->json : NULL;
    f->ready_mended = s->mended;
    return ST_OK;
}

static void taken(struct harness_file *f)
{
    struct ahead *h = f->in;

    f->state->offset = h->slots[h->out].end;
}

static void close_ahead(struct harness_file *f)
{
    struct ahead *h = f->in;

    pthread_mutex_lock(&h->lock);
    h->stop = true;
    pthread_cond_broadcast(&h->changed);
    pthread_mutex_unlock(&h->lock);
    pthread_join(h->thread, NULL);
    for (size_t i = 0; i < SLOTS; i++)
        arena_free(&h->slots[i].a);
    arena_free(&h->line_memory);
    pthread_mutex_destroy(&h->lock);
    pthread_cond_destroy(&h->changed);
}

static enum status look(struct harness_file *f, bool found, bool *is_new, struct err *e)
{
    return harness_lines.look(f, found, is_new, e);
}

static void save(struct harness_file *f)
{
    harness_lines.save(f);
}

const struct harness_input harness_lines_ahead = { .look = look,
                                                   .open = open_ahead,
                                                   .next = next,
                                                   .taken = taken,
                                                   .save = save,
                                                   .close = close_ahead };

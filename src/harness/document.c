/* A transcript that is one JSON document, as Gemini CLI wrote until 2026: an object with a list
 * `messages`. It is read in pieces, so that a long one takes no more memory than its longest
 * message: what stands before the list is the first record, each message is one, and what stands
 * behind it is {"$set":{…}}, as in the lines that replaced this format. The program rewrites the
 * file each time, so it is read from the start whenever it has changed, or was not read to its end.
 * Between the batches of one import it stays open. */
#include "harness/harness_internal.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 256 << 10 };

struct doc_reading {
    char     *piece;
    size_t    from, n;
    int64_t   read;  /* bytes given to scan() */
    struct sb text;  /* the record that is being read */
    int       depth; /* brackets that are open */
    bool      in_string, escaped;
    bool      in_list, had_list; /* of messages */
    bool      ended;             /* the document is complete */
    bool      at_end;            /* there are no more bytes */
    bool      too_long;
    size_t    key;      /* where the last key of the outermost object begins in `text` */
    bool      is_value; /* behind the colon */
};

bool harness_document_is(int fd)
{
    char      start[512];
    ssize_t   n = pread(fd, start, sizeof start, 0);
    struct sv v = { start, n > 0 ? (size_t)n : 0 };

    /* A line of JSON begins with { and a key; a document is indented. */
    while (v.n && (v.s[0] == ' ' || v.s[0] == '\n' || v.s[0] == '\r' || v.s[0] == '\t'))
        v = sv_skip(v, 1);
    if (!v.n || v.s[0] != '{')
        return false;
    v = sv_skip(v, 1);
    while (v.n && (v.s[0] == ' ' || v.s[0] == '\r' || v.s[0] == '\t'))
        v = sv_skip(v, 1);
    return v.n && v.s[0] == '\n';
}

/* Is the position in the log where the last batch of this process ended? */
static bool goes_on(const struct harness_file *f, bool found, int64_t size)
{
    const struct doc_reading *d = f->in;

    return d && found && f->state->offset == d->read && f->size == size;
}

static enum status look(struct harness_file *f, bool found, bool *is_new, struct err *e)
{
    struct stat st;

    if (fstat(f->fd, &st))
        return err_errno(e, SV_FMT, SV_ARG(f->path));
    *is_new = true;
    if (goes_on(f, found, (int64_t)st.st_size))
        return ST_OK;
    f->in = NULL;
    arena_free(&f->lines);
    f->size = (int64_t)st.st_size;
    *is_new = !found || f->state->offset != f->size ||
              !sv_eq(harness_tail(f->fd, f->size, &f->kept), harness_text_sv(&f->state->tail));
    if (*is_new)
        harness_file_restart(f);
    return ST_OK;
}

static enum status open_document(struct harness_file *f, struct err *e)
{
    struct doc_reading *d;

    if (f->in)
        return ST_OK;
    d = ARENA_NEW(&f->lines, struct doc_reading, 1);
    if (lseek(f->fd, 0, SEEK_SET) < 0)
        return err_errno(e, "seek in " SV_FMT, SV_ARG(f->path));
    d->piece = ARENA_NEW(&f->lines, char, PIECE);
    d->text = sb_in(&f->lines, 0);
    f->in = d;
    return ST_OK;
}

static enum status more_bytes(struct harness_file *f, struct doc_reading *d, struct err *e)
{
    ssize_t n;

    do
        n = read(f->fd, d->piece, PIECE);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return err_errno(e, "read " SV_FMT, SV_ARG(f->path));
    d->from = 0;
    d->n = (size_t)n;
    return ST_OK;
}

/* The text without white space and commas at its end, closed. */
static void close_object(struct sb *b, const char *with)
{
    while (b->n && (b->s[b->n - 1] == ' ' || b->s[b->n - 1] == '\n' || b->s[b->n - 1] == ',' ||
                    b->s[b->n - 1] == '\r' || b->s[b->n - 1] == '\t'))
        b->n--;
    sb_adds(b, with);
}

static bool is_messages(const struct doc_reading *d)
{
    struct sv key = sv_skip(sb_sv((struct sb *)&d->text), d->key);

    return sv_starts(key, SV("\"messages\""));
}

/* Inside of a string only its end counts. */
static void scan_string(struct doc_reading *d, char c)
{
    if (d->escaped)
        d->escaped = false;
    else if (c == '\\')
        d->escaped = true;
    else if (c == '"')
        d->in_string = false;
}

static void open_bracket(struct doc_reading *d, char c, bool *complete)
{
    if (d->depth == 1 && c == '[' && is_messages(d)) {
        d->text.n = d->key; /* what stood before the list is a record */
        close_object(&d->text, "}");
        d->in_list = d->had_list = true;
        *complete = true;
    }
    d->depth++;
}

static void close_bracket(struct doc_reading *d, bool *complete)
{
    d->depth--;
    if (d->in_list && d->depth == 2) {
        *complete = true;
    } else if (d->in_list && d->depth == 1) {
        d->in_list = false;
        d->text.n = 0;
        sb_adds(&d->text, "{\"$set\":{");
    } else if (d->depth == 0) {
        d->ended = *complete = true;
        d->text.n--; /* the closing bracket of the list */
        close_object(&d->text, d->had_list ? "}}" : "}");
    }
}

/* One byte; *complete when it ends a record, which is in d->text. */
static void scan(struct doc_reading *d, char c, bool *complete)
{
    bool counts = !d->in_list || d->depth > 2 || c == '{';

    if (d->ended)
        return;
    if (counts && d->text.n < HARNESS_RECORD_MAX)
        sb_addc(&d->text, c);
    d->too_long = d->too_long || (counts && d->text.n >= HARNESS_RECORD_MAX);
    if (d->in_string) {
        scan_string(d, c);
        return;
    }
    if (c == '"') {
        d->in_string = true;
        if (d->depth == 1 && !d->is_value)
            d->key = d->text.n - 1;
    } else if (c == '{' || c == '[') {
        open_bracket(d, c, complete);
    } else if (c == '}' || c == ']') {
        close_bracket(d, complete);
    }
    if (d->depth == 1 && (c == ':' || c == ','))
        d->is_value = c == ':';
}

/* Behind the list the rest begins with a comma. */
static struct sv without_comma(struct sv text, struct arena *a)
{
    struct sv start = SV("{\"$set\":{");
    struct sv rest = sv_skip(text, start.n);
    struct sb b;

    if (!sv_starts(text, start))
        return text;
    while (rest.n && (rest.s[0] == ',' || rest.s[0] == ' ' || rest.s[0] == '\n'))
        rest = sv_skip(rest, 1);
    b = sb_in(a, 0);
    sb_add(&b, start);
    sb_add(&b, rest);
    return sb_sv(&b);
}

static enum status next(struct harness_file *f, struct sv *text, bool *whole, bool *fits,
                        bool *more, struct err *e)
{
    struct doc_reading *d = f->in;
    bool                complete = false;

    d->text.n = 0;
    d->too_long = false;
    while (!complete && !d->ended) {
        if (d->from == d->n && more_bytes(f, d, e))
            return err_code(e);
        d->at_end = !d->n;
        if (d->at_end)
            break;
        scan(d, d->piece[d->from++], &complete);
        d->read++;
    }
    *whole = *fits = true;
    *more = complete;
    if (complete && d->too_long)
        *fits = false;
    *text = complete ? without_comma(sb_sv(&d->text), &f->lines) : SV("");
    return ST_OK;
}

static void taken(struct harness_file *f)
{
    f->state->offset = ((struct doc_reading *)f->in)->read;
}

/* Bytes after the end of the document are ignored. */
static void save(struct harness_file *f)
{
    const struct doc_reading *d = f->in;

    if (d->ended || d->at_end)
        f->state->offset = f->size;
    harness_text_set(&f->state->tail, harness_tail(f->fd, f->size, &f->kept));
}

const struct harness_input harness_document = {
    .in_one = true, .look = look, .open = open_document, .next = next, .taken = taken, .save = save
};

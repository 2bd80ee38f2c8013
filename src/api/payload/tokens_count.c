/* tokens.count: how many tokens a text or files have, and which. */
#include "api/payload/tokens_count.h"

#include "api/payload/token_choice.h"
#include "api/payload/tokens_show.h"
#include "api/request.h"
#include "api/term.h"
#include "base/fs.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* clang-format off */
#define P(field) offsetof(struct tokens_count_params, field)
static const struct param params[] = {
    { "files",      PARAM_LIST, P(files),      .value = "FILE", .help = "the files to count" },
    { "text",       PARAM_TEXT, P(text),       .value = "TEXT", .help = "a text to count, in the place of files" },
    { "encoding",   PARAM_ENUM, P(encoding),   .value = "E", .values = tokens_encoding_names, .help = "o200k_base (the default) or cl100k_base" },
    { "model",      PARAM_TEXT, P(model),      .value = "M", .help = "count as this model does, as far as that is known" },
    { "ids",        PARAM_FLAG, P(ids),        .help = "print the ids of the tokens" },
    { "split",      PARAM_FLAG, P(split),      .help = "show the text cut at token borders" },
    { "estimate",   PARAM_FLAG, P(estimate),   .help = "a quarter of the characters, without a vocabulary" },
    { "keep_going", PARAM_FLAG, P(keep_going), .help = "count the other files when one cannot be read, and warn about it" },
    { 0 },
};
#undef P
static const struct field file_fields[] = {
    { "path",         FIELD_TEXT,   .help = "the file as it was named; - for a text" },
    { "bytes",        FIELD_NUMBER, .help = "its size" },
    { "tokens",       FIELD_NUMBER, .help = "how many tokens that is, times the factor" },
    { "invalid_utf8", FIELD_FLAG,   .help = "some bytes were no UTF-8, and were counted as U+FFFD" },
    { "ids",          FIELD_LIST,   .item = FIELD_NUMBER, .optional = true, .help = "the tokens; with ids and with split" },
    { "texts",        FIELD_LIST,   .item = FIELD_ANY, .optional = true, .help = "what each stands for: a string, or {\"hex\"} when it is not whole characters; with split" },
    { 0 },
};
static const struct field answer[] = {
    { "encoding", FIELD_TEXT,   .help = "the vocabulary, or chars/4" },
    { "estimate", FIELD_FLAG,   .help = "whether the counts are not exact" },
    { "model",    FIELD_TEXT,   .optional = true, .help = "the model that was asked for" },
    { "factor",   FIELD_REAL,   .optional = true, .help = "what counts were multiplied by, when that is not 1" },
    { "files",    FIELD_LIST,   .of = file_fields, .help = "the files that could be read, in their order" },
    { "total",    FIELD_NUMBER, .help = "the sum of their tokens" },
    { "unread",   FIELD_NUMBER, .optional = true, .help = "how many files could not be read; with keep_going" },
    { 0 },
};
/* clang-format on */

/* One file, counted. */
struct counted {
    struct sv path;
    size_t    bytes, tokens;
    bool      lossy; /* it held invalid UTF-8 */

    struct tokens_ids ids; /* with ids and split */
};

struct counting {
    struct request                   *r;
    const struct tokens_count_params *p;
    struct token_choice               choice;
    struct tokens                    *t;
    VEC(struct counted) rows;
    size_t total, failed;
    char  *buffer; /* for reading */
};

static bool is_estimate(const struct counting *c)
{
    return tokens_is_estimate(c->t) || !c->choice.exact || c->choice.thousandths != 1000;
}

static bool is_showing(const struct counting *c)
{
    return c->p->ids || c->p->split;
}

/* ---- one file ------------------------------------------------------------------------------ */

static enum status unread(struct sv path, struct err *e)
{
    bool directory = errno == EISDIR;

    err_errno(e, SV_FMT, SV_ARG(path));
    return directory ? err_hint(e, "`heddle payload " SH_FMT " --token-tree` counts what is in it",
                                SV_ARG(path))
                     : err_code(e);
}

/* Read and count in parts, so that a file may be larger than memory. */
static enum status count_input(struct counting *c, int fd, struct counted *row, struct err *e)
{
    enum { PART = 64 * 1024 };
    struct tokens_stream s;
    ssize_t              n;
    enum status          failed = ST_OK;

    if (!c->buffer)
        c->buffer = arena_grow(c->r->a, NULL, 0, PART);
    tokens_stream_init(&s, c->t);
    while (!failed && (n = read(fd, c->buffer, PART)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        failed = n < 0 ? unread(row->path, e) : request_check(c->r, e);
        if (failed)
            break;
        row->bytes += (size_t)n;
        tokens_stream_add(&s, (struct sv){ c->buffer, (size_t)n });
    }
    row->tokens = tokens_stream_end(&s);
    row->lossy = s.lossy;
    return failed;
}

/* Count a complete text; listing single tokens needs all of it. */
static enum status count_text(struct counting *c, struct sv text, struct counted *row,
                              struct err *e)
{
    row->bytes = text.n;
    row->lossy = utf8_invalid(text) >= 0;
    if (!is_showing(c)) {
        row->tokens = tokens_count(c->t, text);
        return ST_OK;
    }
    if (tokens_encode(c->t, text, c->r->a, &row->ids, e))
        return err_code(e);
    row->tokens = row->ids.n;
    return ST_OK;
}

static enum status count_file(struct counting *c, struct counted *row, struct err *e)
{
    UNDO(fd_undo) int fd = -1;
    struct sv         text;

    if (request_open(c->r, row->path, &fd, e))
        return err_code(e);
    if (!is_showing(c))
        return count_input(c, fd, row, e);
    if (fs_read_fd(fd, 0, c->r->a, &text, e))
        return err_in(e, SV_FMT, SV_ARG(row->path));
    return count_text(c, text, row, e);
}

static void take(struct counting *c, struct counted *row)
{
    row->tokens = tokens_scale(row->tokens, c->choice.thousandths);
    c->total += row->tokens;
    *vec_push(&c->rows, c->r->a) = *row;
}

static enum status count_all(struct counting *c, struct err *e)
{
    if (c->p->text.s) {
        struct counted row = { .path = SV("-") };
        if (count_text(c, c->p->text, &row, e))
            return err_code(e);
        take(c, &row);
    }
    for (size_t i = 0; i < c->p->files.n; i++) {
        struct counted row = { .path = c->p->files.v[i] };
        if (count_file(c, &row, e) == ST_OK) {
            take(c, &row);
            continue;
        }
        if (!c->p->keep_going || request_check(c->r, e))
            return err_code(e);
        request_warn(c->r, sv_of(status_word(e->code)), (struct sv){ 0 }, "%s", e->text);
        c->failed++;
    }
    return ST_OK;
}

/* ---- the document -------------------------------------------------------------------------- */

static enum status write_file(const struct counting *c, const struct counted *row, struct err *e)
{
    struct jw *w = c->r->doc;
    struct sb  path = sb_in(c->r->a, 0);

    sb_add_lossy(&path, row->path);
    jw_open(w, '{');
    jw_kstr(w, "path", sb_sv(&path));
    jw_kint(w, "bytes", (int64_t)row->bytes);
    jw_kint(w, "tokens", (int64_t)row->tokens);
    jw_kbool(w, "invalid_utf8", row->lossy);
    if (is_showing(c) && tokens_show_json(w, c->t, &row->ids, c->p->split, c->r->a, e))
        return err_code(e);
    jw_close(w, '}');
    return ST_OK;
}

static enum status write_document(const struct counting *c, struct err *e)
{
    struct jw *w = c->r->doc;

    jw_open(w, '{');
    jw_kstr(w, "encoding", tokens_is_estimate(c->t) ? SV("chars/4") : sv_of(tokens_label(c->t)));
    jw_kbool(w, "estimate", is_estimate(c));
    if (c->p->model.s)
        jw_kstr(w, "model", c->p->model);
    if (c->choice.thousandths != 1000) {
        struct sb factor = sb_in(c->r->a, 0);
        sb_addf(&factor, "%d.%03d", (int)(c->choice.thousandths / 1000),
                (int)(c->choice.thousandths % 1000));
        jw_key(w, "factor");
        jw_raw(w, sb_sv(&factor));
    }
    jw_key(w, "files");
    jw_open(w, '[');
    for (size_t i = 0; i < c->rows.n; i++)
        if (write_file(c, &c->rows.v[i], e))
            return err_code(e);
    jw_close(w, ']');
    jw_kint(w, "total", (int64_t)c->total);
    if (c->failed)
        jw_kint(w, "unread", (int64_t)c->failed);
    jw_close(w, '}');
    return ST_OK;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static enum status check(struct counting *c, struct err *e)
{
    const struct tokens_count_params *p = c->p;

    if (p->text.s && p->files.n)
        return err_set(e, ST_USAGE, "text and files do not go together");
    if (!p->text.s && !p->files.n)
        return err_set(e, ST_USAGE, "text and files are missing");
    if (p->ids && p->split)
        return err_set(e, ST_USAGE, "--ids and --split cannot be had at once");
    if (is_showing(c) && p->estimate)
        return err_set(e, ST_USAGE, "an estimate has no tokens to show");
    return token_choose(&c->r->ws->config, p->encoding, p->model, &c->choice, e);
}

static enum status open_counter(struct counting *c, struct err *e)
{
    struct sv dir = workspace_variable(c->r->ws, TOKENS_VOCAB_DIR);

    if (c->p->estimate) {
        c->t = tokens_open_estimate();
        return ST_OK;
    }
    if (c->choice.asked || is_showing(c))
        return tokens_open(c->choice.encoding, dir, &c->t, e);
    if (tokens_open_or_estimate(c->choice.encoding, dir, &c->t, e))
        return err_code(e);
    if (tokens_is_estimate(c->t))
        request_warn(c->r, (struct sv){ 0 }, (struct sv){ 0 },
                     "no vocabulary table is installed: counts are estimates");
    return ST_OK;
}

static enum status run(struct request *r, const void *params_given, struct err *e)
{
    struct counting c = { .r = r, .p = params_given };

    if (check(&c, e) || open_counter(&c, e))
        return err_code(e);
    enum status s = count_all(&c, e);
    s = s ? s : write_document(&c, e);
    tokens_close(c.t);
    if (!s && c.failed)
        err_set(&r->verdict, ST_IO, "%zu of %zu files could not be read", c.failed, c.p->files.n);
    return s;
}

/* ---- for a person --------------------------------------------------------------------------- */

static int64_t number_of(const struct json *row, const char *key)
{
    int64_t n = 0;

    return json_int(json_find(row, key), &n) ? n : 0;
}

/* What the numbers are: nothing when they are exact. */
static void print_label(const struct json *doc, struct term *t)
{
    const struct json *factor = json_find(doc, "factor");

    if (!json_truth(json_find(doc, "estimate")))
        return;
    term_f(t, "  (estimate: ");
    term_text(t, json_text(doc, "encoding"));
    if (factor)
        term_f(t, " x %.*s", (int)factor->n, factor->s);
    term_f(t, ")");
}

static void print_count(const struct json *doc, struct term *t, int width, int64_t tokens,
                        struct sv what)
{
    term_f(t, "%*lld", width, (long long)tokens);
    if (what.n) {
        term_f(t, "  ");
        sb_add_plain_line(t->out, what);
    }
    print_label(doc, t);
    term_f(t, "\n");
}

/* Standard input alone, or a text, is printed without a name. */
static void print(const struct json *doc, struct term *t)
{
    const struct json *files = json_find(doc, "files");
    int64_t            total = number_of(doc, "total");
    bool               many = (int64_t)files->n + number_of(doc, "unread") > 1;
    int                width = many ? snprintf(NULL, 0, "%lld", (long long)total) : 0;

    for (size_t i = 0; i < files->n; i++) {
        const struct json *file = &files->items[i];
        struct sv          path = json_text(file, "path");
        if (!json_find(file, "ids")) {
            bool unnamed = !many && sv_is(path, "-");
            print_count(doc, t, width, number_of(file, "tokens"), unnamed ? SV("") : path);
            continue;
        }
        if (many) {
            term_f(t, "==> ");
            sb_add_plain_line(t->out, path);
            term_f(t, " <==\n");
        }
        tokens_show_print(file, t);
    }
    if (many && !(files->n && json_find(&files->items[0], "ids")))
        print_count(doc, t, width, total, SV("total"));
}

const struct operation op_tokens_count = {
    .name = "tokens.count",
    .summary = "Count the tokens of files",
    .details =
        "Counts are exact for OpenAI's encodings: text is encoded as ordinary text, and bytes that "
        "are not UTF-8 count as U+FFFD. Without a file, standard input is counted; so is -.\n\n"
        "Models of other makers publish no vocabulary. Their count is that of o200k_base, is "
        "called "
        "an estimate, and is multiplied by the factor that .heddle/config.json gives for the model "
        "in tokens.factor.\n\n"
        "  heddle tokens src/*.c\n"
        "  git diff | heddle tokens --model gpt-4\n"
        "  heddle tokens --split README.md",
    .group = GROUP_PAYLOAD,
    .needs = NEEDS_ROOT,
    .slow = true,
    .params = params,
    .params_size = sizeof(struct tokens_count_params),
    .answer = answer,
    .run = run,
    .print = print,
};

/* `tokens`: count the tokens of files, or show them. */
#include "api/payload/token_choice.h"
#include "base/fs.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "front/cli/command.h"
#include "front/cli/tokens_show.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

struct tokens_opts {
    struct sv encoding, model, color;
    bool      ids, split, estimate;
};

#define O(field) offsetof(struct tokens_opts, field)
static const struct opt opts_table[] = {
    { OPT_TEXT, "encoding", "E", "o200k_base (the default) or cl100k_base", O(encoding), 0 },
    { OPT_TEXT, "model", "M", "count as this model does, as far as that is known", O(model), 0 },
    { OPT_FLAG, "ids", NULL, "print the ids of the tokens", O(ids), 0 },
    { OPT_FLAG, "split", NULL, "show the text cut at token borders", O(split), 0 },
    { OPT_FLAG, "estimate", NULL, "a quarter of the characters, without a vocabulary", O(estimate),
      0 },
    { OPT_TEXT, "color", "WHEN", "colour of --split: auto (the default), always or never", O(color),
      0 },
    { 0 },
};

/* One file, counted. */
struct row {
    struct sv path;
    size_t    bytes, tokens;
    bool      lossy; /* it held invalid UTF-8 */

    struct tokens_ids ids; /* with --ids and --split */
};

struct work {
    struct app               *app;
    const struct tokens_opts *o;
    struct token_choice       choice;
    struct tokens            *t;
    bool                      color;
    VEC(struct row) rows;
    size_t total, failed;
    char  *buffer; /* for reading */
};

static bool is_estimate(const struct work *w)
{
    return tokens_is_estimate(w->t) || !w->choice.exact || w->choice.thousandths != 1000;
}

/* ---- one file ---- */

static enum status open_input(struct sv path, struct arena *a, int *fd, struct err *e)
{
    if (sv_is(path, "-")) {
        *fd = dup(STDIN_FILENO);
        return *fd < 0 ? err_errno(e, "standard input") : ST_OK;
    }
    *fd = open(sv_cstr(path, a), O_RDONLY | O_CLOEXEC);
    return *fd < 0 ? err_errno(e, SV_FMT, SV_ARG(path)) : ST_OK;
}

/* Read and count in parts, so that a file may be larger than memory. */
static enum status count_input(struct work *w, int fd, struct row *row, struct err *e)
{
    enum { PART = 64 * 1024 };
    struct tokens_stream s;
    ssize_t              n;

    if (!w->buffer)
        w->buffer = arena_grow(w->app->a, NULL, 0, PART);
    tokens_stream_init(&s, w->t);
    while ((n = read(fd, w->buffer, PART)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            enum status failed = err_errno(e, SV_FMT, SV_ARG(row->path));
            tokens_stream_end(&s);
            return failed;
        }
        row->bytes += (size_t)n;
        tokens_stream_add(&s, (struct sv){ w->buffer, (size_t)n });
    }
    row->tokens = tokens_stream_end(&s);
    row->lossy = s.lossy;
    return ST_OK;
}

static bool is_showing(const struct work *w)
{
    return w->o->ids || w->o->split;
}

/* Tokens one by one need the whole file at once. */
static enum status encode_input(struct work *w, int fd, struct row *row, struct err *e)
{
    struct sv text;

    if (fs_read_fd(fd, 0, w->app->a, &text, e))
        return err_in(e, SV_FMT, SV_ARG(row->path));
    row->bytes = text.n;
    row->lossy = utf8_invalid(text) >= 0;
    if (tokens_encode(w->t, text, w->app->a, &row->ids, e))
        return err_code(e);
    row->tokens = row->ids.n;
    return ST_OK;
}

static enum status show(struct work *w, const struct row *row, struct err *e)
{
    struct sb *out = &w->app->out;

    if (w->app->n_args > 1) {
        sb_adds(out, "==> ");
        sb_add_plain_line(out, row->path);
        sb_adds(out, " <==\n");
    }
    if (w->o->split)
        return w->color ? tokens_show_color(out, w->t, &row->ids, e)
                        : tokens_show_lines(out, w->t, &row->ids, e);
    tokens_show_ids(out, &row->ids);
    return ST_OK;
}

static enum status do_file(struct work *w, struct sv path, struct err *e)
{
    UNDO(fd_undo) int fd = -1;
    struct row        row = { .path = path };

    if (open_input(path, w->app->a, &fd, e))
        return err_code(e);
    if (is_showing(w) ? encode_input(w, fd, &row, e) : count_input(w, fd, &row, e))
        return err_code(e);
    if (is_showing(w) && !w->app->json && show(w, &row, e))
        return err_code(e);
    row.tokens = tokens_scale(row.tokens, w->choice.thousandths);
    w->total += row.tokens;
    *vec_push(&w->rows, w->app->a) = row;
    return ST_OK;
}

/* ---- reports ---- */

static void add_factor(struct sb *b, int64_t thousandths)
{
    sb_addf(b, "%d.%03d", (int)(thousandths / 1000), (int)(thousandths % 1000));
}

/* What the numbers are: nothing when they are exact. */
static void add_label(struct sb *b, const struct work *w)
{
    if (!is_estimate(w))
        return;
    sb_adds(b, "  (estimate: ");
    sb_adds(b, tokens_is_estimate(w->t) ? "chars/4" : tokens_label(w->t));
    if (w->choice.thousandths != 1000) {
        sb_adds(b, " x ");
        add_factor(b, w->choice.thousandths);
    }
    sb_addc(b, ')');
}

static void print_line(struct work *w, int width, size_t tokens, struct sv what)
{
    struct sb *out = &w->app->out;

    sb_addf(out, "%*zu", width, tokens);
    if (what.n) {
        sb_adds(out, "  ");
        sb_add_plain_line(out, what);
    }
    add_label(out, w);
    sb_addc(out, '\n');
}

static void print_rows(struct work *w)
{
    bool many = w->app->n_args > 1;
    int  width = many ? snprintf(NULL, 0, "%zu", w->total) : 0;

    for (size_t i = 0; i < w->rows.n; i++)
        print_line(w, width, w->rows.v[i].tokens, w->app->n_args ? w->rows.v[i].path : SV(""));
    if (many)
        print_line(w, width, w->total, SV("total"));
}

static enum status add_row_json(struct work *w, struct jw *j, const struct row *row, struct err *e)
{
    struct sb path = sb_in(w->app->a, 0);

    sb_add_lossy(&path, row->path);
    jw_open(j, '{');
    jw_kstr(j, "path", sb_sv(&path));
    jw_kint(j, "bytes", (int64_t)row->bytes);
    jw_kint(j, "tokens", (int64_t)row->tokens);
    jw_kbool(j, "invalid_utf8", row->lossy);
    if (is_showing(w) && tokens_show_json(j, w->t, &row->ids, w->o->split, w->app->a, e))
        return err_code(e);
    jw_close(j, '}');
    return ST_OK;
}

static enum status print_json(struct work *w, struct err *e)
{
    struct sb b = sb_in(w->app->a, 0);
    struct jw j = jw_in(&b, 0);

    jw_open(&j, '{');
    jw_kstr(&j, "encoding", tokens_is_estimate(w->t) ? SV("chars/4") : sv_of(tokens_label(w->t)));
    jw_kbool(&j, "estimate", is_estimate(w));
    if (w->o->model.s)
        jw_kstr(&j, "model", w->o->model);
    if (w->choice.thousandths != 1000) {
        struct sb factor = sb_in(w->app->a, 0);
        add_factor(&factor, w->choice.thousandths);
        jw_key(&j, "factor");
        jw_raw(&j, sb_sv(&factor));
    }
    jw_key(&j, "files");
    jw_open(&j, '[');
    for (size_t i = 0; i < w->rows.n; i++)
        if (add_row_json(w, &j, &w->rows.v[i], e))
            return err_code(e);
    jw_close(&j, ']');
    jw_kint(&j, "total", (int64_t)w->total);
    jw_close(&j, '}');
    sb_addc(&b, '\n');
    sb_add(&w->app->out, sb_sv(&b));
    return ST_OK;
}

/* ---- all of it ---- */

static enum status open_counter(struct work *w, struct err *e)
{
    if (w->o->estimate) {
        w->t = tokens_open_estimate();
        return ST_OK;
    }
    if (w->choice.asked || is_showing(w))
        return tokens_open(w->choice.encoding, &w->t, e);
    if (tokens_open_or_estimate(w->choice.encoding, &w->t, e))
        return err_code(e);
    if (tokens_is_estimate(w->t))
        warn("no vocabulary table is installed: counts are estimates");
    return ST_OK;
}

static enum status check(struct work *w, struct err *e)
{
    const struct tokens_opts *o = w->o;

    if (o->ids && o->split)
        return err_set(e, ST_USAGE, "--ids and --split cannot be had at once");
    if (is_showing(w) && o->estimate)
        return err_set(e, ST_USAGE, "an estimate has no tokens to show");
    if (!o->color.s || sv_is(o->color, "auto"))
        w->color = tokens_color_wanted();
    else if (sv_is(o->color, "always") || sv_is(o->color, "never"))
        w->color = sv_is(o->color, "always");
    else
        return err_set(e, ST_USAGE, "--color is auto, always or never, not '" SV_FMT "'",
                       SV_ARG(o->color));
    return token_choose(&w->app->ws.config, o->encoding, o->model, &w->choice, e);
}

/* A file that cannot be read does not hide the others, except in JSON, which has one answer. */
static enum status do_files(struct work *w, struct err *e)
{
    struct app *app = w->app;

    if (!app->n_args)
        return do_file(w, SV("-"), e);
    for (size_t i = 0; i < app->n_args; i++) {
        if (do_file(w, app_arg(app, i), e) == ST_OK)
            continue;
        if (app->json || app->n_args == 1)
            return err_code(e);
        app_fail(app, e);
        w->failed++;
    }
    return ST_OK;
}

static enum status run(struct app *app, const void *opts, struct err *e)
{
    struct work w = { .app = app, .o = opts };

    if (check(&w, e) || open_counter(&w, e))
        return err_code(e);
    if (w.color && is_showing(&w) && !app->json)
        app->out.show = SB_RAW; /* tokens_show_color() makes the text fit, and adds colours */
    enum status s = do_files(&w, e);
    if (!s && app->json)
        s = print_json(&w, e);
    else if (!s && !is_showing(&w))
        print_rows(&w);
    tokens_close(w.t);
    if (!s && w.failed)
        s = err_set(e, ST_IO, "%zu of %zu files could not be read", w.failed, app->n_args);
    return s;
}

const struct command cmd_tokens = {
    .name = "tokens",
    .synopsis = "[--encoding E] [--model M] [--ids|--split] [--estimate] [FILE…]",
    .group = GROUP_PAYLOAD,
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
    .opts = opts_table,
    .opts_size = sizeof(struct tokens_opts),
    .max_args = SIZE_MAX,
    .needs = NEEDS_ROOT,
    .run = run,
};

/* `memo add | remove | list`: .teddy/memos.yaml, every other byte of it kept. */
#include "base/fs.h"
#include "base/utf8.h"
#include "front/cli/command.h"
#include "payload/memo.h"

enum { MEMO_FILE_MAX = 16 << 20, MEMO_MAX = 64 << 10 };

#define MEMO_FILE SV(".teddy/memos.yaml")

/* The file as it is, "" when it is missing. */
static enum status read_file(struct app *app, struct sv *file, struct err *e)
{
    enum status s = fs_read(app->ws.root_fd, MEMO_FILE, MEMO_FILE_MAX, app->a, file, e);

    if (s == ST_NOT_FOUND) {
        *file = SV("");
        return ST_OK;
    }
    return s;
}

/* Two processes that edit the memos come one after the other. */
static enum status lock(struct app *app, int *fd, struct err *e)
{
    return workspace_make(&app->ws, SV(".teddy"), e)
               ? err_code(e)
               : fs_lock_dir(app->ws.root_fd, SV(".teddy"), fd, e);
}

static enum status read_memos(struct app *app, struct sv *file, memos *all, struct err *e)
{
    if (read_file(app, file, e))
        return err_code(e);
    if (memo_read(*file, app->a, all, e)) {
        err_in(e, SV_FMT, SV_ARG(MEMO_FILE));
        return err_hint(e, "a memo file is a flat YAML list: one `- text` a line");
    }
    return ST_OK;
}

static const struct memo *find_memo(const memos *all, struct sv text)
{
    for (size_t i = 0; i < all->n; i++)
        if (sv_eq(sv_trim(all->v[i].text), text))
            return &all->v[i];
    return NULL;
}

static void print_result(struct app *app, const char *what, struct sv text)
{
    struct jw w = jw_in(&app->out, 0);

    if (!app->json) {
        sb_addf(&app->out, "%s: ", what);
        sb_add_plain(&app->out, text);
        sb_addc(&app->out, '\n');
        return;
    }
    jw_open(&w, '{');
    jw_kstr(&w, "result", sv_of(what));
    jw_kstr(&w, "memo", text);
    jw_close(&w, '}');
    sb_addc(&app->out, '\n');
}

/* ---- add ----------------------------------------------------------------------------- */

static enum status check_text(struct sv text, struct err *e)
{
    if (!text.n)
        return err_set(e, ST_INVALID_SYNTAX, "the memo is empty");
    if (text.n > MEMO_MAX)
        return err_set(e, ST_LIMIT_EXCEEDED, "the memo is %zu bytes long, over %d", text.n,
                       MEMO_MAX);
    if (utf8_invalid(text) >= 0 || sv_has(text, 0))
        return err_set(e, ST_INVALID_SYNTAX, "the memo is not UTF-8 text");
    return ST_OK;
}

static enum status run_add(struct app *app, const void *opts, struct err *e)
{
    UNDO(fd_undo) int held = -1;
    struct sv         text, file;
    memos             all;

    (void)opts;
    if (app_text(app, app_arg(app, 0), &text, e))
        return err_code(e);
    text = sv_trim(text);
    if (check_text(text, e) || lock(app, &held, e) || read_memos(app, &file, &all, e))
        return err_code(e);
    if (find_memo(&all, text)) {
        print_result(app, "already there", text);
        return ST_OK;
    }
    if (fs_write(app->ws.root_fd, MEMO_FILE, memo_added(file, text, app->a), 0644, e))
        return err_code(e);
    print_result(app, "added", text);
    return ST_OK;
}

/* ---- remove ---------------------------------------------------------------------------- */

static enum status run_remove(struct app *app, const void *opts, struct err *e)
{
    UNDO(fd_undo) int  held = -1;
    struct sv          text, file;
    memos              all;
    const struct memo *m;
    int64_t            n;

    (void)opts;
    if (app_text(app, app_arg(app, 0), &text, e))
        return err_code(e);
    text = sv_trim(text);
    if (lock(app, &held, e) || read_memos(app, &file, &all, e))
        return err_code(e);
    m = find_memo(&all, text);
    if (!m && sv_to_int(text, &n) && n >= 1 && n <= (int64_t)all.n)
        m = &all.v[n - 1];
    if (!m) {
        struct sb shown = sb_in(app->a, 0);
        sb_add_plain(&shown, sv_first(text, 80));
        err_set(e, ST_NOT_FOUND, "there is no memo '%s'", sb_sv(&shown).s);
        return err_hint(e, "`heddle memo list` prints them with their numbers");
    }
    struct sv gone = m->text;
    if (fs_write(app->ws.root_fd, MEMO_FILE, memo_removed(file, m, app->a), 0644, e))
        return err_code(e);
    print_result(app, "removed", gone);
    return ST_OK;
}

/* ---- list -------------------------------------------------------------------------------- */

static enum status run_list(struct app *app, const void *opts, struct err *e)
{
    struct sv file;
    memos     all;
    struct jw w = jw_in(&app->out, 0);

    (void)opts;
    if (read_memos(app, &file, &all, e))
        return err_code(e);
    if (!app->json) {
        for (size_t i = 0; i < all.n; i++) {
            sb_addf(&app->out, "%3zu  ", i + 1);
            sb_add_plain(&app->out, all.v[i].text);
            sb_addc(&app->out, '\n');
        }
        if (!all.n)
            sb_adds(&app->out, "no memos; `heddle memo add TEXT` adds one\n");
        return ST_OK;
    }
    jw_open(&w, '{');
    jw_key(&w, "memos");
    jw_open(&w, '[');
    for (size_t i = 0; i < all.n; i++)
        jw_str(&w, all.v[i].text);
    jw_close(&w, ']');
    jw_close(&w, '}');
    sb_addc(&app->out, '\n');
    return ST_OK;
}

const struct command cmd_memo_add = {
    .name = "memo add",
    .synopsis = "TEXT|-",
    .group = GROUP_PAYLOAD,
    .summary = "Add a memo: a line every payload of this workspace shows",
    .details = "Memos are kept in .teddy/memos.yaml, a flat list of strings. The rest of the file\n"
               "stays as it is.\n\n"
               "  heddle memo add 'The lexer is done.'",
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_ROOT,
    .run = run_add,
};

const struct command cmd_memo_remove = {
    .name = "memo remove",
    .synopsis = "TEXT|N",
    .group = GROUP_PAYLOAD,
    .summary = "Remove a memo, by its whole text or its number",
    .details = "Numbers are those of `heddle memo list`.\n"
               "\n"
               "  heddle memo remove 1",
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_ROOT,
    .run = run_remove,
};

const struct command cmd_memo_list = {
    .name = "memo list",
    .synopsis = "",
    .group = GROUP_PAYLOAD,
    .summary = "Print the memos with their numbers",
    .needs = NEEDS_ROOT,
    .run = run_list,
};

/* memo.add, memo.remove, memo.list: .teddy/memos.yaml, every other byte of it kept. */
#include "payload/memo.h"
#include "api/request.h"
#include "api/term.h"
#include "base/fs.h"
#include "base/utf8.h"

enum { MEMO_FILE_MAX = 16 << 20, MEMO_MAX = 64 << 10 };

#define MEMO_FILE SV(".teddy/memos.yaml")

struct memo_params {
    struct sv text;
};

/* clang-format off */
static const struct param add_params[] = {
    { "text", PARAM_TEXT, offsetof(struct memo_params, text), .required = true, .blank = true, .value = "TEXT|-", .help = "the memo" },
    { 0 },
};
static const struct param remove_params[] = {
    { "memo", PARAM_TEXT, offsetof(struct memo_params, text), .required = true, .value = "TEXT|N", .help = "its whole text, or its number in the list" },
    { 0 },
};
static const char *const add_results[] = { "added", "already there", NULL };
static const char *const remove_results[] = { "removed", NULL };
static const struct field add_answer[] = {
    { "result", FIELD_ENUM, .values = add_results, .help = "what was done" },
    { "memo",   FIELD_TEXT, .help = "the memo, without spaces at its ends" },
    { 0 },
};
static const struct field remove_answer[] = {
    { "result", FIELD_ENUM, .values = remove_results, .help = "what was done" },
    { "memo",   FIELD_TEXT, .help = "the memo that is gone" },
    { 0 },
};
static const struct field list_answer[] = {
    { "items", FIELD_LIST, .item = FIELD_TEXT, .help = "the memos, in the order of the file" },
    { 0 },
};
/* clang-format on */

/* The text of the file; "" when it is missing. */
static enum status read_file(struct request *r, struct sv *file, struct err *e)
{
    enum status s = fs_read(workspace_project_fd(r->ws), MEMO_FILE, MEMO_FILE_MAX, r->a, file, e);

    if (s == ST_NOT_FOUND) {
        *file = SV("");
        return ST_OK;
    }
    return s;
}

/* Only one process edits the memos at a time. */
static enum status lock(struct request *r, int *fd, struct err *e)
{
    return workspace_make(r->ws, SV(".teddy"), e)
               ? err_code(e)
               : fs_lock_dir(workspace_project_fd(r->ws), SV(".teddy"), fd, e);
}

static enum status read_memos(struct request *r, struct sv *file, memo_list *all, struct err *e)
{
    if (read_file(r, file, e))
        return err_code(e);
    if (memo_read(*file, r->a, all, e)) {
        err_in(e, SV_FMT, SV_ARG(MEMO_FILE));
        return err_hint(e, "a memo file is a flat YAML list: one `- text` a line");
    }
    return ST_OK;
}

static const struct memo *find_memo(const memo_list *all, struct sv text)
{
    for (size_t i = 0; i < all->n; i++)
        if (sv_eq(sv_trim(all->v[i].text), text))
            return &all->v[i];
    return NULL;
}

static void write_result(struct request *r, const char *what, struct sv text)
{
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "result", sv_of(what));
    jw_kstr(r->doc, "memo", text);
    jw_close(r->doc, '}');
}

static void print_result(const struct json *doc, struct term *t)
{
    term_text(t, json_text(doc, "result"));
    term_f(t, ": ");
    term_text(t, json_text(doc, "memo"));
    term_f(t, "\n");
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

static enum status run_add(struct request *r, const void *params, struct err *e)
{
    struct sv         text = sv_trim(((const struct memo_params *)params)->text), file;
    UNDO(fd_undo) int held = -1;
    memo_list         all;

    if (check_text(text, e) || lock(r, &held, e) || read_memos(r, &file, &all, e))
        return err_code(e);
    bool there = find_memo(&all, text) != NULL;
    if (!there &&
        fs_write(workspace_project_fd(r->ws), MEMO_FILE, memo_added(file, text, r->a), 0644, e))
        return err_code(e);
    write_result(r, there ? "already there" : "added", text);
    return ST_OK;
}

/* ---- remove ---------------------------------------------------------------------------- */

static enum status run_remove(struct request *r, const void *params, struct err *e)
{
    struct sv          text = sv_trim(((const struct memo_params *)params)->text), file;
    UNDO(fd_undo) int  held = -1;
    memo_list          all;
    const struct memo *m;
    int64_t            n;

    if (lock(r, &held, e) || read_memos(r, &file, &all, e))
        return err_code(e);
    m = find_memo(&all, text);
    if (!m && sv_to_int(text, &n) && n >= 1 && n <= (int64_t)all.n)
        m = &all.v[n - 1];
    if (!m) {
        struct sb shown = sb_in(r->a, 0);
        sb_add_plain(&shown, sv_first(text, 80));
        err_set(e, ST_NOT_FOUND, "there is no memo '%s'", sb_sv(&shown).s);
        return err_hint(e, "`heddle memo list` prints them with their numbers");
    }
    struct sv gone = m->text;
    if (fs_write(workspace_project_fd(r->ws), MEMO_FILE, memo_removed(file, m, r->a), 0644, e))
        return err_code(e);
    write_result(r, "removed", gone);
    return ST_OK;
}

/* ---- list -------------------------------------------------------------------------------- */

static enum status run_list(struct request *r, const void *params, struct err *e)
{
    struct sv file;
    memo_list all;

    (void)params;
    if (read_memos(r, &file, &all, e))
        return err_code(e);
    jw_open(r->doc, '{');
    jw_key(r->doc, "items");
    jw_open(r->doc, '[');
    for (size_t i = 0; i < all.n; i++)
        jw_str(r->doc, all.v[i].text);
    jw_close(r->doc, ']');
    jw_close(r->doc, '}');
    return ST_OK;
}

static void print_list(const struct json *doc, struct term *t)
{
    const struct json *items = json_find(doc, "items");

    for (size_t i = 0; i < items->n; i++) {
        term_f(t, "%3zu  ", i + 1);
        term_text(t, json_sv(&items->items[i]));
        term_f(t, "\n");
    }
    if (!items->n)
        term_f(t, "no memos; `heddle memo add TEXT` adds one\n");
}

const struct operation op_memo_add = {
    .name = "memo.add",
    .summary = "Add a memo: a line every payload of this workspace shows",
    .details = "Memos are kept in .teddy/memos.yaml, a flat list of strings. The rest of the file\n"
               "stays as it is.\n\n"
               "  heddle memo add 'The lexer is done.'",
    .group = GROUP_PAYLOAD,
    .needs = NEEDS_ROOT,
    .repeat = REPEAT_SAME,
    .params = add_params,
    .params_size = sizeof(struct memo_params),
    .answer = add_answer,
    .run = run_add,
    .print = print_result,
};

const struct operation op_memo_remove = {
    .name = "memo.remove",
    .summary = "Remove a memo, by its whole text or its number",
    .details = "Numbers are those of `heddle memo list`.\n"
               "\n"
               "  heddle memo remove 1",
    .group = GROUP_PAYLOAD,
    .needs = NEEDS_ROOT,
    .repeat = REPEAT_NEVER, /* after the removal the same number means another memo */
    .params = remove_params,
    .params_size = sizeof(struct memo_params),
    .answer = remove_answer,
    .run = run_remove,
    .print = print_result,
};

const struct operation op_memo_list = {
    .name = "memo.list",
    .summary = "Print the memos with their numbers",
    .group = GROUP_PAYLOAD,
    .needs = NEEDS_ROOT,
    .answer = list_answer,
    .run = run_list,
    .print = print_list,
};

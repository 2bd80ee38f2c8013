/* thread.archive and thread.rename: archives a thread, or gives it another title. */
#include "api/share/share_call.h"
#include "api/term.h"
#include "share/operation.h"

struct change_params {
    struct sv thread, title, reason, op_id;
    int64_t   expect;
};

/* clang-format off */
#define THREAD { "thread", PARAM_NAME, offsetof(struct change_params, thread), .required = true, .value = "T", .help = "the thread" }
static const struct param archive_params[] = {
    THREAD,
    { "reason", PARAM_TEXT, offsetof(struct change_params, reason), .value = "R", .help = "why; it stays in the log" },
    PARAM_ONCE(struct change_params),
    PARAM_EXPECT(struct change_params),
    { 0 },
};
static const struct param rename_params[] = {
    THREAD,
    { "title", PARAM_TEXT, offsetof(struct change_params, title), .required = true, .value = "TITLE", .help = "its new title" },
    PARAM_ONCE(struct change_params),
    PARAM_EXPECT(struct change_params),
    { 0 },
};
static const struct field answer[] = {
    { "thread", FIELD_OBJECT, .of = thread_fields, .help = "the thread as it is now" },
    { 0 },
};
/* clang-format on */

static enum status finish(struct request *r, struct share *s, const struct share_thread *t,
                          struct err *e)
{
    struct store_head head;

    if (log_head(s->log, t->id, &head, e))
        return share_call_fail(r, s, e);
    jw_open(r->doc, '{');
    jw_key(r->doc, "thread");
    jw_open(r->doc, '{');
    if (t->objective.s)
        thread_members(r->doc, t, head.rev);
    else
        log_thread_members(r->doc, s, t->id, &head, t);
    jw_close(r->doc, '}');
    jw_close(r->doc, '}');
    return share_call_commit(r, s, e);
}

static enum status run_archive(struct request *r, const void *params, struct err *e)
{
    const struct change_params *p = params;
    struct share_thread         t;
    struct share                s;

    if (share_call_begin(r, &s, STORE_WRITE, e) || share_archive(&s, p->thread, p->reason, &t, e))
        return share_call_fail(r, &s, e);
    return finish(r, &s, &t, e);
}

static enum status run_rename(struct request *r, const void *params, struct err *e)
{
    const struct change_params *p = params;
    struct share_thread         t;
    struct share                s;

    if (share_call_begin(r, &s, STORE_WRITE, e) || share_rename(&s, p->thread, p->title, &t, e))
        return share_call_fail(r, &s, e);
    return finish(r, &s, &t, e);
}

/* A thread that only has a log may have no title, and no state. */
static void print(const struct json *doc, struct term *t)
{
    static const char *const columns[] = { "id", "status", "title" };
    const struct json       *thread = json_find(doc, "thread");

    for (size_t i = 0; i < COUNT(columns); i++) {
        if (i && json_text(thread, columns[i]).s)
            term_f(t, "  ");
        sb_add_plain_line(t->out, json_text(thread, columns[i]));
    }
    term_f(t, "\n");
}

const struct operation op_thread_archive = {
    .name = "thread.archive",
    .summary = "Put a thread away: it is done, and nothing of it is lost",
    .details =
        "One that is still active is marked as done first. Its log, files and references stay\n"
        "and can be read; `heddle list --status archived` shows it. A thread that only has a\n"
        "log is archived as it is. To get rid of one: `heddle help thread delete`.\n"
        "\n"
        "  heddle thread archive research",
    .group = GROUP_CARE,
    .needs = NEEDS_ROOT,
    OPERATION_ONCE,
    .params = archive_params,
    .params_size = sizeof(struct change_params),
    .answer = answer,
    .run = run_archive,
    .print = print,
};

const struct operation op_thread_rename = {
    .name = "thread.rename",
    .summary = "Give a thread another title; its id stays",
    .details =
        "The title is what lists and contexts show. The id is part of the log's chain, of\n"
        "references, directories and prompts, and always stays the same. A thread that only\n"
        "has a log, and was not made with `heddle spawn`, gets its first title this way.\n"
        "\n"
        "  heddle thread rename build 'The parser, second version'",
    .group = GROUP_CARE,
    .needs = NEEDS_ROOT,
    OPERATION_ONCE,
    .params = rename_params,
    .params_size = sizeof(struct change_params),
    .answer = answer,
    .run = run_rename,
    .print = print,
};

/* thread.delete: removes a thread from the log for good. */
#include "api/care/care.h"
#include "api/care/removal.h"
#include "api/share/share_call.h"
#include "api/term.h"
#include "base/clock.h"
#include "share/delete.h"

#include <stdio.h>

struct delete_params {
    struct sv thread, reason;
    bool      yes, keep_files;
};

/* clang-format off */
static const struct param params[] = {
    { "thread",     PARAM_NAME, offsetof(struct delete_params, thread), .required = true, .value = "T", .help = "the thread" },
    { "reason",     PARAM_TEXT, offsetof(struct delete_params, reason), .value = "R", .help = "why; it stays in the log of the workspace" },
    { "keep_files", PARAM_FLAG, offsetof(struct delete_params, keep_files), .help = "leave its directory below .leslie/threads" },
    { "yes",        PARAM_FLAG, offsetof(struct delete_params, yes), .help = "do not ask" },
    { 0 },
};
static const struct field answer[] = {
    { "before",  FIELD_FLAG, .help = "it was deleted already" },
    { "broken",  FIELD_NUMBER, .help = "threads whose references to it are broken now" },
    { "clean",   FIELD_FLAG, .help = "whether the files are clean too; else `heddle doctor --fix` does the rest" },
    { "entries", FIELD_NUMBER, .help = "how many entries its log had" },
    { "finished", FIELD_NUMBER, .help = "deletions and erasures whose files were cleaned now, this one included; others were interrupted" },
    { "removed", FIELD_LIST, .help = CARE_REMOVED_HELP },
    { "seq",     FIELD_NUMBER, .nullable = true, .help = "of the entry of .global that says so" },
    { "thread",  FIELD_TEXT, .help = "the thread" },
    { 0 },
};
/* clang-format on */

static enum status refuse(struct err *e)
{
    err_set(e, ST_PERMISSION_DENIED, "deleting was not confirmed; nothing was deleted");
    err_reason(e, "needs_yes");
    return err_hint(e, "say --yes; `heddle backup` keeps a copy");
}

static void judge(struct request *r, const struct delete_result *out)
{
    if (!out->unfinished.code)
        return;
    err_set(&r->verdict, out->unfinished.code,
            "deleted from the log, but files are not clean yet: %.400s", out->unfinished.text);
    err_reason(&r->verdict, "unfinished");
    err_hint(&r->verdict, "`heddle doctor --fix` does the rest");
}

static enum status run(struct request *r, const void *params_given, struct err *e)
{
    const struct delete_params *p = params_given;
    struct care_findings        removed = { .a = r->a };
    struct delete_request       q = { .thread = p->thread,
                                      .reason = p->reason,
                                      .at = clock_now_ms(),
                                      .keep_files = p->keep_files,
                                      .removed = care_find,
                                      .ctx = &removed };
    struct delete_result        out;
    struct share                s;
    struct former              *former;
    size_t                      n_former;

    if (!p->yes && !r->agreed)
        return refuse(e);
    if (removal_begin(r, false, &former, &n_former, e))
        return err_code(e);
    share_init(&s, &r->log, r->ws->root_fd, r->actor, r->a);
    if (share_delete(&s, &q, &out, e))
        return share_call_fail(r, &s, e);
    former_clean(r, former, n_former, false, &out.unfinished);
    jw_open(r->doc, '{');
    jw_kbool(r->doc, "before", out.before);
    jw_kint(r->doc, "broken", (int64_t)out.broken);
    jw_kbool(r->doc, "clean", !out.unfinished.code);
    jw_kint(r->doc, "entries", out.entries);
    jw_kint(r->doc, "finished", out.unfinished.code ? 0 : (int64_t)out.finished);
    care_write(r->doc, "removed", &removed);
    jw_kint_if(r->doc, "seq", !out.before, out.seq);
    jw_kstr(r->doc, "thread", p->thread);
    jw_close(r->doc, '}');
    judge(r, &out);
    return share_call_end(r, &s);
}

static void print(const struct json *doc, struct term *t)
{
    int64_t broken = json_number(doc, "broken");

    if (json_truth(json_find(doc, "before"))) {
        sb_add_plain_line(t->out, json_text(doc, "thread"));
        term_f(t, " was deleted before%s\n",
               !json_truth(json_find(doc, "clean")) ? ""
               : json_number(doc, "finished")       ? ", and the files are clean now"
                                                    : "");
        care_print_removed(doc, t);
        return;
    }
    term_f(t, "✓ deleted ");
    sb_add_plain_line(t->out, json_text(doc, "thread"));
    term_f(t, ", ");
    care_print_count(t, json_number(doc, "entries"), "entry", "entries");
    term_f(t, " (.global #%lld)\n", (long long)json_number(doc, "seq"));
    if (broken)
        term_f(t, "  %lld thread%s to it, and the reference%s broken now\n", (long long)broken,
               broken == 1 ? " refers" : "s refer", broken == 1 ? " is" : "s are");
    care_print_removed(doc, t);
    term_f(t, "  backups, exports, clones and frozen copies in other threads still hold it\n");
}

const struct operation op_thread_delete = {
    .name = "thread.delete",
    .summary = "Delete a thread: its log, its directory and what is known of it",
    .details =
        "Entries, rows and words go out of the database, and its directory below .leslie/threads\n"
        "unless --keep-files. An entry of .global says who deleted it, when and why, and how its\n"
        "log ended; what .global had of it (titles, injections) is erased. The id is never given\n"
        "again. References of others to it are broken from then on, and are shown as such; frozen\n"
        "copies that others took stay theirs. A thread that is only finished is better archived\n"
        "(`heddle help thread archive`), and words in it are erased with `heddle erase`.\n"
        "\n"
        "Asks at a terminal; elsewhere it takes --yes. When it is interrupted the log is either "
        "as\n"
        "it was or without the thread; repeated, or with `heddle doctor --fix`, it removes what\n"
        "is left of it in the database and cleans the files.\n"
        "\n"
        "  heddle thread delete lexer --reason 'a test' --yes",
    .group = GROUP_CARE,
    .needs = NEEDS_WRITE,
    .access = ACCESS_MANAGE,
    .repeat = REPEAT_SAME,
    .params = params,
    .params_size = sizeof(struct delete_params),
    .answer = answer,
    .run = run,
    .print = print,
};

/* hook.record: the session of another program in the log: its thread, and what its transcript says.
 */
#include "api/hook/hook.h"
#include "api/share/share_call.h"
#include "api/term.h"
#include "base/clock.h"
#include "base/path.h"
#include "harness/where.h"
#include "share/operation.h"

#include <unistd.h>

/* clang-format off */
#define P(field) offsetof(struct hook_record_params, field)
static const struct param params[] = {
    { "harness",    PARAM_ENUM, P(harness),    .required = true, .value = "NAME", .values = hook_harnesses, .help = "the program" },
    { "session",    PARAM_TEXT, P(session),    .required = true, .value = "ID", .help = "its session" },
    { "thread",     PARAM_NAME, P(thread),     .value = "T", .help = "the thread that somebody named for this session" },
    { "otherwise",  PARAM_NAME, P(otherwise),  .value = "T", .help = "the thread of a session that is not bound" },
    { "own",        PARAM_FLAG, P(own),        .help = "a session that belongs nowhere gets a thread of its own, also without a transcript" },
    { "parent",     PARAM_TEXT, P(parent),     .value = "ID", .help = "the session that started it, or that it was forked from" },
    { "cwd",        PARAM_TEXT, P(cwd),        .value = "DIR", .help = "where it works" },
    { "transcript", PARAM_TEXT, P(transcript), .value = "FILE", .help = "where the program writes it down" },
    { "limit",      PARAM_NUMBER, P(limit),    .value = "N", .min = 0, .max = INT64_MAX, .fallback = "0", .help = "most bytes of it to read now; 0: all" },
    { 0 },
};
static const struct field answer[] = {
    { "thread",   FIELD_TEXT,   .nullable = true, .help = "the thread that it is recorded in; null: not known yet" },
    { "lane",     FIELD_TEXT,   .nullable = true, .help = "its lane" },
    { "made",     FIELD_FLAG,   .help = "whether the thread was made for it" },
    { "entries",  FIELD_NUMBER, .help = "entries that were appended" },
    { "messages", FIELD_NUMBER, .help = "of them, messages" },
    { 0 },
};
/* clang-format on */

struct recording {
    struct request                  *r;
    const struct hook_record_params *p;
    enum harness                     harness;
    struct harness_binding           at;
    struct harness_report            report;
    bool                             made;
};

/* ---- the thread ---------------------------------------------------------------------------- */

/* The thread that the session is to be bound to; absent when only its transcript can tell. */
static enum status choose(struct recording *x, struct harness_binding *to, bool *bound,
                          struct err *e)
{
    const struct hook_record_params *p = x->p;
    struct hook_thread               at;

    *to = (struct harness_binding){ 0 };
    if (hook_thread_find(&x->r->log, x->harness, p->session, p->thread, p->parent, p->otherwise,
                         x->r->a, &at, e))
        return err_code(e);
    *bound = at.how == HOOK_BOUND;
    to->thread = at.thread;
    to->lane = at.lane;
    return ST_OK;
}

static enum status bind(struct recording *x, struct err *e)
{
    struct harness_binding to;
    bool                   bound = false;

    if (log_begin(&x->r->log, SHARE_GLOBAL, STORE_WRITE, e))
        return err_code(e);
    enum status s = choose(x, &to, &bound, e);
    if (!s && to.thread.n && !bound)
        s = harness_bind(&x->r->log, x->harness, x->p->session, &to, x->r->actor, clock_now_ms(),
                         x->r->a, &x->at, e);
    else if (!s && !to.thread.n && x->p->own)
        s = harness_bind_own(&x->r->log, x->harness, x->p->session, x->r->actor, clock_now_ms(),
                             x->r->a, &x->at, e);
    else if (!s)
        x->at = to;
    if (!s)
        s = log_commit(&x->r->log, e);
    if (s)
        log_abort(&x->r->log);
    return s;
}

/* "Claude Code session" until the program has a title for it. */
static struct sv first_title(const struct recording *x)
{
    struct sb b = sb_in(x->r->a, 0);

    sb_addf(&b, "%s session", harness_title(x->harness));
    return sb_sv(&b);
}

static enum status make_objective(struct share *s, struct err *e)
{
    struct objective_request q = { .title = SV("Sessions of coding agents"), .id = HOOK_OBJECTIVE };
    struct share_objective   o;
    struct sv                made;
    enum status              st = share_objective(s, HOOK_OBJECTIVE, &o, e);

    return st == ST_NOT_FOUND ? share_objective_create(s, &q, &made, e) : st;
}

/* A thread with its directory, so that others can refer to it; and with the title that the program
 * has given the session meanwhile. */
static enum status settle_thread(struct recording *x, struct share *s, struct err *e)
{
    struct share_thread t;
    struct sv           title = x->report.title.n ? x->report.title : first_title(x);
    bool                found;

    if (share_thread_find(s, x->at.thread, &t, &found, e))
        return err_code(e);
    if (found)
        return x->report.title.n && sv_eq(t.title, first_title(x))
                   ? share_rename(s, t.id, title, &t, e)
                   : ST_OK;
    struct spawn_request q = { .intent = title, .objective = HOOK_OBJECTIVE, .id = x->at.thread };
    x->made = true;
    return make_objective(s, e) ? err_code(e) : share_spawn(s, &q, &t, e);
}

/* Is there anything to do? Checked in a read transaction first, because the answer is usually no.
 */
static enum status needs_thread(struct recording *x, bool *out, struct err *e)
{
    struct share        s;
    struct share_thread t = { 0 };
    bool                found = false;

    share_init(&s, &x->r->log, x->r->ws->root_fd, x->r->actor, x->r->a);
    s.read_only = true;
    enum status st = share_begin(&s, STORE_READ, e);
    if (!st)
        st = share_thread_find(&s, x->at.thread, &t, &found, e);
    share_end(&s);
    *out = !found || (x->report.title.n && sv_eq(t.title, first_title(x)));
    return st;
}

static enum status make_thread(struct recording *x, struct err *e)
{
    struct share s;
    bool         needed;

    if (!x->at.thread.n)
        return ST_OK;
    if (needs_thread(x, &needed, e))
        return err_code(e);
    if (!needed)
        return ST_OK;
    if (share_call_begin(x->r, &s, STORE_WRITE, e) || settle_thread(x, &s, e) ||
        share_commit(&s, e))
        return share_call_fail(x->r, &s, e);
    return share_call_end(x->r, &s);
}

/* ---- the transcript ------------------------------------------------------------------------ */

static struct sv variable(const void *ctx, const char *name)
{
    return workspace_variable(ctx, name);
}

/* opencode keeps all sessions in one database, and names no file. */
static struct sv transcript_path(const struct recording *x)
{
    if (x->p->transcript.n || x->harness != HARNESS_OPENCODE)
        return x->p->transcript;
    struct sv home = harness_home(HARNESS_OPENCODE, variable, x->r->ws, x->r->a);
    return home.n ? path_join(home, SV("opencode.db"), x->r->a) : home;
}

static enum status check(void *ctx, int64_t done, int64_t total, struct err *e)
{
    (void)done, (void)total;
    return request_check(ctx, e);
}

/* A transcript that does not exist yet, or was deleted, is not an error: the next event or `heddle
 * import` reads it. */
static enum status import(struct recording *x, struct err *e)
{
    struct sv             path = transcript_path(x);
    UNDO(fd_undo) int     fd = -1;
    UNDO(fd_undo) int     dir = -1;
    struct harness_limits limits = { .bytes = x->p->limit, .check = check, .ctx = x->r };
    struct harness_source src = { .harness = x->harness,
                                  .path = path,
                                  .dir = -1,
                                  .session = x->p->session,
                                  .cwd = x->p->cwd,
                                  .thread = x->at.thread,
                                  .actor = x->r->actor,
                                  .now = clock_now_ms() };

    if (!path.n)
        return ST_OK;
    enum status s = request_open(x->r, path, &fd, e);
    if (s)
        return s == ST_NOT_FOUND ? ST_OK : s;
    if (x->harness != HARNESS_OPENCODE && request_open(x->r, path_dir(path), &dir, e))
        return err_code(e);
    src.fd = fd;
    src.dir = dir;
    if (harness_import(&x->r->log, &src, &limits, &x->report, e))
        return err_code(e);
    if (x->report.compactions &&
        x->harness == HARNESS_GEMINI) /* Gemini CLI has no event for compactions */
        hook_compacted(x->r, x->p->session);
    if (x->report.thread.n)
        x->at = (struct harness_binding){ x->report.thread, x->report.lane };
    return ST_OK;
}

static enum status run(struct request *r, const void *given, struct err *e)
{
    struct recording x = { .r = r, .p = given };

    harness_find(x.p->harness, &x.harness);
    harness_report_init(&x.report, r->a);
    if (bind(&x, e) || import(&x, e) || make_thread(&x, e))
        return err_code(e);
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "thread", x.at.thread.n ? x.at.thread : (struct sv){ 0 });
    jw_kstr(r->doc, "lane", x.at.lane.n ? x.at.lane : (struct sv){ 0 });
    jw_kbool(r->doc, "made", x.made);
    jw_kint(r->doc, "entries", x.report.entries);
    jw_kint(r->doc, "messages", x.report.messages);
    jw_close(r->doc, '}');
    return ST_OK;
}

static void print(const struct json *doc, struct term *t)
{
    term_text(t, json_text(doc, "thread"));
    term_f(t, ": %lld entries\n", (long long)json_number(doc, "entries"));
}

const struct operation op_hook_record = {
    .name = "hook.record",
    .summary = "Record the session of a coding agent in its thread",
    .details =
        "Binds the session to its thread, makes the thread when there is none, and imports what\n"
        "is new in the transcript, as `heddle import` does: what was recorded is not recorded\n"
        "again, by either of them.",
    .group = GROUP_DOORS,
    .needs = NEEDS_WRITE,
    .repeat = REPEAT_SAME,
    .params = params,
    .params_size = sizeof(struct hook_record_params),
    .answer = answer,
    .run = run,
    .print = print,
};

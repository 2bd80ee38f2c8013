/* hook.event: what another program should be told about an event of one of its sessions. */
#include "api/hook/hook.h"
#include "api/share/share_call.h"
#include "api/term.h"
#include "base/clock.h"
#include "base/path.h"
#include "base/utf8.h"
#include "share/prompt.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* clang-format off */
const char *const hook_harnesses[] = {
#define X(id, name, title) name,
    HARNESS_TABLE(X)
#undef X
    NULL,
};
const char *const hook_events[] = { "start", "prompt", "tool_before", "tool_after", "compact", "stop", "end", NULL };
static const char *const hows[] = { "unbound", "given", "bound", "parent", "otherwise", "guessed", "new", NULL };

#define P(field) offsetof(struct hook_event_params, field)
static const struct param params[] = {
    { "harness",    PARAM_ENUM,   P(harness),    .required = true, .value = "NAME", .values = hook_harnesses, .help = "the program" },
    { "session",    PARAM_TEXT,   P(session),    .required = true, .value = "ID", .help = "its session" },
    { "event",      PARAM_ENUM,   P(event),      .required = true, .value = "E", .values = hook_events, .help = "what happens" },
    { "source",     PARAM_TEXT,   P(source),     .value = "S", .help = "of a start: startup, resume, clear, compact, fork" },
    { "thread",     PARAM_NAME,   P(thread),     .value = "T", .help = "the thread that somebody named for this session" },
    { "otherwise",  PARAM_NAME,   P(otherwise),  .value = "T", .help = "the thread of a session that is not bound" },
    { "parent",     PARAM_TEXT,   P(parent),     .value = "ID", .help = "the session that started it, or that it was forked from" },
    { "cwd",        PARAM_TEXT,   P(cwd),        .value = "DIR", .help = "where its tools work" },
    { "transcript", PARAM_TEXT,   P(transcript), .value = "FILE", .help = "where the program writes it down" },
    { "idle",       PARAM_NUMBER, P(idle),       .value = "S", .min = 0, .max = INT64_MAX, .help = "of a fork: seconds since the last answer of what it was forked from" },
    { "tool",       PARAM_TEXT,   P(tool),       .value = "NAME", .help = "the tool" },
    { "call",       PARAM_TEXT,   P(call),       .value = "ID", .help = "its call" },
    { "paths",      PARAM_LIST,   P(paths),      .value = "PATH", .whole = true, .help = "files that it would write" },
    { "whole",      PARAM_FLAG,   P(whole),      .help = "whether it removes or moves what is below them as well" },
    { "command",    PARAM_TEXT,   P(command),    .value = "LINE", .help = "the line that it would give to a shell" },
    { "prompted",   PARAM_FLAG,   P(prompted),   .help = "of a start: its prompt comes with it, and not as another event" },
    { "runs",       PARAM_FLAG,   P(runs),       .help = "whether it may write files that nothing names" },
    { "from_files", PARAM_NAME,   P(from_files), .value = "T", .help = "answer for this thread from the files of .leslie, which are not imported yet: nothing of another thread may be written then" },
    { "limit",      PARAM_NUMBER, P(limit),      .value = "N", .min = 200, .max = INT64_MAX, .fallback = "9500", .help = "longest context, in characters" },
    { 0 },
};
static const struct field answer[] = {
    { "thread",  FIELD_TEXT, .nullable = true, .help = "the thread of the session" },
    { "lane",    FIELD_TEXT, .nullable = true, .help = "its lane, when it is bound" },
    { "how",     FIELD_ENUM, .values = hows, .help = "how that is known" },
    { "context", FIELD_TEXT, .nullable = true, .help = "what the agent is told now" },
    { "waiting", FIELD_LIST, .item = FIELD_NUMBER, .help = "injections in it: for context.acknowledge, once it has been handed on" },
    { "deny",    FIELD_TEXT, .nullable = true, .help = "why the tool may not run" },
    { "report",  FIELD_TEXT, .nullable = true, .help = "what changed and should not have, or why nothing is recorded, for agent and person" },
    { "record",  FIELD_FLAG, .help = "whether hook.record should follow" },
    { "unread",  FIELD_FLAG, .help = "whether the thread is not in the log, and files of .leslie are not imported yet" },
    { 0 },
};
/* clang-format on */

struct hooking {
    struct request                 *r;
    const struct hook_event_params *p;
    enum harness                    harness;
    enum hook_event                 event;
    struct share                    s;
    struct log                      files;     /* what was read of the files of .leslie, with ... */
    struct err                      unreached; /* ... from_files, or when this keeps from the log */
    struct hook_thread              at;
    bool                            exists; /* the thread */
    bool              gone; /* the log existed before the tool ran, and does not now */
    struct sv         context, deny, report;
    struct injection *pending;
    size_t            n_pending;
};

/* ---- which thread -------------------------------------------------------------------------- */

enum status hook_thread_find(struct log *l, enum harness h, struct sv session, struct sv given,
                             struct sv parent, struct sv otherwise, struct arena *a,
                             struct hook_thread *out, struct err *e)
{
    struct harness_binding b = { 0 };
    bool                   found;

    *out = (struct hook_thread){ .how = HOOK_UNBOUND };
    if (harness_bound(l, h, session, a, &b, &found, e))
        return err_code(e);
    if (found)
        *out = (struct hook_thread){ HOOK_BOUND, b.thread, b.lane };
    if (given.n && (!found || !sv_eq(given, b.thread)))
        *out = (struct hook_thread){ HOOK_GIVEN, given, { 0 } };
    if (out->how != HOOK_UNBOUND)
        return ST_OK;
    if (parent.n && harness_bound(l, h, parent, a, &b, &found, e))
        return err_code(e);
    if (parent.n && found)
        *out = (struct hook_thread){ HOOK_PARENT, b.thread, { 0 } };
    else if (otherwise.n)
        *out = (struct hook_thread){ HOOK_OTHERWISE, otherwise, { 0 } };
    return ST_OK;
}

/* Seconds between the last change of a transcript and the time at which the origin of the fork last
 * answered. */
static int64_t distance(const struct hooking *h, int dir, const char *name)
{
    struct stat st;
    int64_t     then = clock_system_ms() / 1000 - (h->p->idle > 0 ? h->p->idle : 0);

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
        return INT64_MAX;
    return st.st_mtime > then ? st.st_mtime - then : then - st.st_mtime;
}

/* Claude Code does not name the origin of a fork, and the fork has no transcript yet when it
 * starts. The origin is taken to be the session in the same directory whose transcript was last
 * changed closest to the time of the last answer, which the event tells. */
static enum status guess_origin(struct hooking *h, struct err *e)
{
    UNDO(fd_undo) int fd = -1;
    struct err        ignored;
    int64_t           best = INT64_MAX;
    struct dirent    *d;

    if (!h->p->transcript.n || request_open(h->r, path_dir(h->p->transcript), &fd, &ignored))
        return ST_OK;
    DIR *dir = fdopendir(fd);
    if (!dir)
        return ST_OK;
    fd = -1; /* closed with it */
    enum status s = ST_OK;
    while (!s && (d = readdir(dir))) {
        struct sv              name = sv_of(d->d_name);
        struct harness_binding b;
        bool                   found = false;
        int64_t far = sv_ends(name, SV(".jsonl")) ? distance(h, dirfd(dir), d->d_name) : INT64_MAX;
        if (far >= best)
            continue;
        s = harness_bound(&h->r->log, h->harness, sv_first(name, name.n - 6), h->r->a, &b, &found,
                          e);
        if (!s && found) {
            best = far;
            h->at = (struct hook_thread){ HOOK_GUESSED, b.thread, { 0 } };
        }
    }
    closedir(dir);
    return s;
}

static enum status find_thread(struct hooking *h, struct err *e)
{
    const struct hook_event_params *p = h->p;
    struct share_thread             t;

    struct log *l = h->unreached.code ? &h->files : &h->r->log;

    if (hook_thread_find(l, h->harness, p->session, p->thread, p->parent, p->otherwise, h->r->a,
                         &h->at, e))
        return err_code(e);
    if (h->unreached.code)
        return ST_OK;
    if (h->at.how == HOOK_UNBOUND && sv_is(p->source, "fork") && guess_origin(h, e))
        return err_code(e);
    if (h->at.how == HOOK_UNBOUND && h->event == HOOK_START) {
        h->at.how = HOOK_NEW; /* hook.record chooses again, with `own` */
        if (harness_thread_name(&h->r->log, h->harness, p->session, h->r->a, &h->at.thread, e))
            return err_code(e);
    }
    return h->at.thread.n ? share_thread_find(&h->s, h->at.thread, &t, &h->exists, e) : ST_OK;
}

/* ---- what is told -------------------------------------------------------------------------- */

static bool fits(const struct hooking *h, struct sv text)
{
    return (int64_t)utf8_count(text) <= h->p->limit;
}

/* A block that is longer than the limit: without its comments; if that is still too long, an empty
 * block and the command that prints the whole one. */
static enum status make_short(struct hooking *h, struct err *e)
{
    struct prompt       all;
    struct share_thread t;
    struct sb           b = sb_in(h->r->a, 0);

    if (prompt_make(&h->s, h->at.thread, 0, (struct sv){ 0 }, &all, e))
        return err_code(e);
    h->context = all.text;
    if (fits(h, h->context))
        return ST_OK;
    if (share_thread(&h->s, h->at.thread, &t, e) ||
        block_of_new(&h->s, t.id, t.objective, 0, &h->context, e))
        return err_code(e);
    sb_add(&b, h->context);
    sb_addf(&b, "\nThe whole block has %zu characters, more than fit in here: run `heddle context ",
            utf8_count(all.text));
    sb_add_shell(&b, h->at.thread);
    sb_adds(&b, "` to read it.");
    h->context = sb_sv(&b);
    h->n_pending = 0; /* they are delivered when the block is read */
    return ST_OK;
}

static enum status make_context(struct hooking *h, struct err *e)
{
    struct prompt text;

    if (!h->exists)
        return block_of_new(&h->s, h->at.thread, HOOK_OBJECTIVE, BLOCK_NOTES, &h->context, e);
    if (prompt_make(&h->s, h->at.thread, BLOCK_NOTES, (struct sv){ 0 }, &text, e))
        return err_code(e);
    h->context = text.text;
    h->pending = text.pending;
    h->n_pending = text.n_pending;
    return fits(h, h->context) ? ST_OK : make_short(h, e);
}

/* Injections that arrived while the session ran. The block itself was given at the start. */
static enum status make_injections(struct hooking *h, struct err *e)
{
    if (!h->exists || h->at.how == HOOK_GUESSED)
        return ST_OK;
    if (share_pending(&h->s, h->at.thread, &h->pending, &h->n_pending, e))
        return err_code(e);
    if (!h->n_pending)
        return ST_OK;
    if (block_injections(h->pending, h->n_pending, h->r->a, &h->context, e))
        return err_code(e);
    if (!fits(h, h->context)) { /* they stay pending until the next start, where the block is
                                   shortened to make room */
        h->context = (struct sv){ 0 };
        h->n_pending = 0;
    }
    return ST_OK;
}

/* A refusal that may be stricter than the log would have it. */
static void add_why_strict(struct hooking *h)
{
    struct sb b = sb_in(h->r->a, 0);

    sb_add(&b, h->deny);
    sb_addf(&b,
            " The log of this workspace cannot be read (%s): which threads this one may write is "
            "not known%s, and heddle lets it write into no other's directory until then. Tell the "
            "person you work for.%s%s",
            h->unreached.text, h->at.thread.n ? "" : ", nor which thread this session belongs to",
            h->unreached.hint[0] ? " What helps: " : "", h->unreached.hint);
    h->deny = sb_sv(&b);
}

static enum status before_tool(struct hooking *h, struct err *e)
{
    struct sv thread = h->at.thread;

    if (hook_deny(h->r, &h->s, thread, h->p, &h->deny, e))
        return err_code(e);
    if (h->unreached.code && h->deny.n)
        add_why_strict(h);
    return h->deny.n || !h->p->runs || !h->exists ? ST_OK
                                                  : hook_marks_keep(h->r, &h->s, thread, h->p, e);
}

static enum status after_tool(struct hooking *h, struct err *e)
{
    if (!h->exists)
        return ST_OK;
    if (hook_marks_compare(h->r, &h->s, h->at.thread, h->p, &h->report, e))
        return err_code(e);
    return !h->report.n && hook_compacted_take(h->r, h->p->session) ? make_context(h, e) : ST_OK;
}

static enum status start(struct hooking *h, struct err *e)
{
    (void)hook_compacted_take(h->r, h->p->session); /* this start gives the context anyway */
    if (make_context(h, e))
        return err_code(e);
    /* A new session has not been told anything yet. Its caller may still find that it is not a
     * session at all, so nothing is recorded for it here. */
    if (!h->p->prompted && h->at.how != HOOK_NEW &&
        hook_told(h->r, h->p->session, h->p->source, h->context)) {
        h->context = (struct sv){ 0 };
        h->n_pending = 0;
    }
    return ST_OK;
}

static enum status act(struct hooking *h, struct err *e)
{
    if (h->event == HOOK_PROMPT || h->event == HOOK_COMPACT || h->event == HOOK_END)
        hook_told_forget(h->r, h->p->session);
    switch (h->event) {
    case HOOK_START: return start(h, e);
    case HOOK_PROMPT:
        return hook_compacted_take(h->r, h->p->session) ? make_context(h, e)
                                                        : make_injections(h, e);
    case HOOK_TOOL_BEFORE: return before_tool(h, e);
    case HOOK_TOOL_AFTER: return after_tool(h, e);
    case HOOK_END: hook_marks_drop(h->r, h->p); return ST_OK;
    case HOOK_COMPACT:
    case HOOK_STOP: break;
    }
    return ST_OK;
}

/* Prompts and calls of tools are recorded together with the answer, at the next stop event. */
static bool wants_record(const struct hooking *h)
{
    return h->event == HOOK_START || h->event == HOOK_COMPACT || h->event == HOOK_STOP ||
           h->event == HOOK_END;
}

/* ---- the operation ------------------------------------------------------------------------- */

static void put_answer(struct hooking *h)
{
    struct jw *w = h->r->doc;

    jw_open(w, '{');
    jw_kstr(w, "thread", h->at.thread.n ? h->at.thread : (struct sv){ 0 });
    jw_kstr(w, "lane", h->at.lane.n ? h->at.lane : (struct sv){ 0 });
    jw_kstr(w, "how", sv_of(hows[h->at.how]));
    jw_kstr(w, "context", h->context);
    jw_key(w, "waiting");
    jw_open(w, '[');
    for (size_t i = 0; i < h->n_pending; i++)
        jw_int(w, h->pending[i].seq);
    jw_close(w, ']');
    jw_kstr(w, "deny", h->deny);
    jw_kstr(w, "report", h->report);
    jw_kbool(w, "record", wants_record(h));
    jw_kbool(w, "unread", h->s.behind && h->at.thread.n && h->at.how != HOOK_NEW && !h->exists);
    jw_close(w, '}');
}

static size_t index_of(const char *const *names, struct sv name)
{
    size_t i = 0;

    while (!sv_is(name, names[i]))
        i++;
    return i;
}

/* The paths of a block are read where the session is. */
static void init_share(struct hooking *h, struct log *log)
{
    const struct workspace *ws = h->r->ws;

    share_init(&h->s, log, ws->root_fd, h->r->actor, h->r->a);
    h->s.base = share_call_base(ws, ws->start, h->r->a);
    h->s.read_only = true;
}

static void end(struct hooking *h)
{
    if (h->s.log && h->s.log->store) /* otherwise share_begin() was not called */
        share_end(&h->s);
    if (h->files.store && h->r->log.store)
        log_abort(&h->r->log);
    store_close(h->files.store);
    h->files.store = NULL;
}

static enum status open_files(struct hooking *h, struct err *e)
{
    struct store *store;

    if (store_open(SV("mem:"), &(struct store_options){ .create = true }, &store, e))
        return err_code(e);
    h->files = log_of(store, workspace_views);
    init_share(h, &h->files);
    return ST_OK;
}

/* What the thread needs of the files, in a log of its own; sessions are looked up in the real one.
 */
static enum status begin_from_files(struct hooking *h, struct err *e)
{
    if (request_log(h->r, STORE_READ, e) || open_files(h, e) ||
        log_begin(&h->r->log, SHARE_GLOBAL, STORE_READ, e))
        return err_code(e);
    return share_begin_from_files(&h->s, h->p->from_files, e);
}

/* The log cannot be read: what a tool may write is judged by what the directories of .leslie say
 * alone, and strictly. */
static enum status begin_unreached(struct hooking *h, struct err *e)
{
    h->unreached = *e;
    end(h);
    if (open_files(h, e))
        return err_code(e);
    h->s.strict = true;
    return log_begin(&h->files, SHARE_GLOBAL, STORE_WRITE, e);
}

/* Opens the log for reading. Changes that other programs made to .leslie are not imported here: the
 * next command does that, or, when the thread itself is not in the log yet, the door, which is told
 * so (`unread`). A missing log is created, except after a tool: there was one before the tool ran,
 * and its loss is reported. */
static enum status begin(struct hooking *h, struct err *e)
{
    if (h->p->from_files.n)
        return begin_from_files(h, e);
    enum status s = request_log(h->r, STORE_READ, e);

    h->gone = s == ST_NOT_FOUND && h->event == HOOK_TOOL_AFTER;
    if (h->gone)
        return ST_OK;
    if (s == ST_NOT_FOUND)
        s = request_log(h->r, STORE_WRITE, e);
    init_share(h, &h->r->log);
    return s ? s : share_begin(&h->s, STORE_READ, e);
}

enum status hook_read_in(struct request *r, struct err *e)
{
    struct share s;

    if (share_call_begin(r, &s, STORE_WRITE, e))
        return share_call_fail(r, &s, e);
    return share_call_commit(r, &s, e);
}

/* A session goes on although nothing of it is recorded; where a person is there, it is said. */
static void report_moved(struct hooking *h)
{
    struct sv place = store_gone_to(h->r->log.store);
    struct sb b = sb_in(h->r->a, 0);

    if (!place.s || h->report.n || (h->event != HOOK_START && h->event != HOOK_PROMPT))
        return;
    sb_adds(&b, "heddle: the log of this workspace was moved to ");
    sb_add(&b, place);
    sb_adds(&b, ", and the settings of this user still name the old store: nothing of this session "
                "is recorded, and what others wrote since is not seen. `heddle store switch ");
    sb_add_shell(&b, place);
    sb_adds(&b, "` uses the log where it is now.");
    h->report = sb_sv(&b);
}

/* The same of a log that is not where it is looked for, or cannot be read, instead of a session
 * that silently has none. */
static bool report_absent(struct hooking *h, const struct err *e)
{
    struct sb b = sb_in(h->r->a, 0);

    if ((strcmp(e->reason, WORKSPACE_LOST) != 0 && strcmp(e->reason, STORE_MOVED) != 0 &&
         e->code != ST_IO && e->code != ST_CORRUPT) ||
        (h->event != HOOK_START && h->event != HOOK_PROMPT))
        return false;
    sb_addf(&b, "heddle: %s: nothing of this session is recorded, and no other thread is seen. %s",
            e->text, e->hint);
    h->report = sb_sv(&b);
    return true;
}

static enum status run(struct request *r, const void *given, struct err *e)
{
    const struct hook_event_params *p = given;
    bool                            absent;
    struct hooking                  h = { .r = r, .p = p };

    harness_find(p->harness, &h.harness);
    h.event = (enum hook_event)index_of(hook_events, p->event);
    enum status s = begin(&h, e);
    absent = s && report_absent(&h, e);
    if (s && h.event == HOOK_TOOL_BEFORE)
        s = begin_unreached(&h, e);
    if (h.gone)
        h.report =
            SV("heddle: the log of this workspace, .heddle/heddle.db, is not there any more. "
               "If it was this tool, stop and tell the person you work for: what was "
               "recorded is gone, unless `heddle backup` made a copy.");
    if (!s && !h.gone)
        s = find_thread(&h, e);
    if (!s && !h.gone && (h.at.thread.n || h.event == HOOK_TOOL_BEFORE))
        s = act(&h, e);
    if (!s && r->log.store)
        report_moved(&h);
    end(&h);
    if (!s || absent)
        put_answer(&h);
    return absent ? ST_OK : s;
}

static void print(const struct json *doc, struct term *t)
{
    static const char *const texts[] = { "context", "deny", "report" };

    for (size_t i = 0; i < COUNT(texts); i++)
        if (json_text(doc, texts[i]).n) {
            term_text(t, json_text(doc, texts[i]));
            term_f(t, "\n");
        }
}

const struct operation op_hook_event = {
    .name = "hook.event",
    .summary = "Say what an event of a coding agent's session asks for",
    .details =
        "A session that starts, goes on or was compacted gets the <thread_context> of its\n"
        "thread; a prompt gets what was injected meanwhile; a tool that would write what the\n"
        "thread may only read is denied, and what one changed all the same is reported. The log\n"
        "is not written: hook.record does that afterwards.",
    .group = GROUP_DOORS,
    .needs = NEEDS_ROOT,
    .params = params,
    .params_size = sizeof(struct hook_event_params),
    .answer = answer,
    .run = run,
    .print = print,
};

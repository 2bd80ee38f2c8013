/* `heddle hook`: reads the event, asks hook.event, prints the answer, and records the session in a
 * background process, so that the calling program does not wait for it. */
#include "front/hook/hook.h"

#include "api/hook/hook.h"
#include "api/share/context.h"
#include "api/user_file.h"
#include "api/workspace_open.h"
#include "base/clock.h"
#include "base/failure.h"
#include "base/path.h"
#include "front/hook/event.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- notes of what went wrong -------------------------------------------------------------- */

enum { LOG_MAX = 1 << 20, NOTE_MAX = 700 };

/* The log for notes. It is opened first, because the handler of SIGALRM cannot open it. */
static int log_fd = -1;

/* hook.log is emptied when it is full: only recent notes are useful. */
static void use_log(int fd)
{
    struct stat st;

    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && st.st_size > LOG_MAX && ftruncate(fd, 0) != 0) {
        close(fd);
        return;
    }
    if (log_fd >= 0)
        close(log_fd);
    log_fd = fd;
}

/* The log in the user's state directory, used until the workspace is known and outside of
 * workspaces. */
static void open_user_log(struct app *app)
{
    struct sv   trust = user_file_path(&app->ws, USER_TRUST, app->a);
    const char *path = sv_cstr(path_join(path_dir(trust), SV("hook.log"), app->a), app->a);

    if (trust.n)
        use_log(open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
}

/* The same, creating the directory. It is only created when there is something to write. */
static void make_user_log(struct app *app)
{
    struct sv dir = path_dir(user_file_path(&app->ws, USER_TRUST, app->a));

    for (size_t i = 1; i <= dir.n; i++)
        if (i == dir.n || dir.s[i] == '/')
            (void)!mkdir(sv_cstr(sv_first(dir, i), app->a), 0700);
    open_user_log(app);
}

static void open_workspace_log(struct app *app)
{
    struct err ignored;
    int        fd = -1;

    if (app->ws.has_heddle && fs_open_own(app->ws.root_fd, SV(".heddle/hook.log"),
                                          O_WRONLY | O_APPEND, &fd, &ignored) == ST_OK)
        use_log(fd);
}

/* Writes one line with a single write() and without allocating: it is also called from a signal
 * handler. */
static void note_raw(const char *what)
{
    char   room[NOTE_MAX + 1];
    size_t n = 0;

    if (log_fd < 0)
        return;
    for (; what[n] && n < NOTE_MAX; n++)
        room[n] = (unsigned char)what[n] < 0x20 || what[n] == 0x7f ? '?' : what[n];
    room[n++] = '\n';
    (void)!write(log_fd, room, n);
}

static void note(struct app *app, const char *fmt, ...) PRINTF(2, 3);
static void note(struct app *app, const char *fmt, ...)
{
    struct sb b = sb_in(app->a, 0);
    va_list   ap;

    sb_add_iso_ms(&b, clock_now_ms());
    sb_adds(&b, " hook: ");
    va_start(ap, fmt);
    sb_addvf(&b, fmt, ap);
    va_end(ap);
    if (log_fd < 0)
        make_user_log(app);
    note_raw(sb_sv(&b).s);
}

static void note_text(void *ctx, struct sv text)
{
    note(ctx, SV_FMT, SV_ARG(text));
}

static void fail(struct app *app, const struct err *e)
{
    note(app, "%s: %s", status_word(e->code), e->text);
}

/* ---- limits -------------------------------------------------------------------------------- */

static void give_up(int signal)
{
    (void)signal;
    note_raw("hook: it took too long, and was given up");
    _exit(0);
}

static _Noreturn void end_quietly(const char *what)
{
    note_raw(what);
    _exit(0);
}

/* Does the program that calls wait until all is done? */
static bool is_waited_for(const struct app *app)
{
    return sv_is(workspace_variable(&app->ws, "HEDDLE_HOOK_WAIT"), "1");
}

static void set_limit(int64_t ms)
{
    struct itimerval t = { .it_value = { ms / 1000, ms % 1000 * 1000 } };

    signal(SIGALRM, give_up);
    setitimer(ITIMER_REAL, &t, NULL);
}

/* ---- the request --------------------------------------------------------------------------- */

struct hooking {
    struct app                *app;
    const struct hook_options *o;
    struct hook_seen           seen;
    struct sv                  given;      /* HEDDLE_THREAD */
    struct sv                  from_files; /* a thread that is not in the log yet */
    struct json                answer, recorded;
};

/* Opens a transcript: a file of the user that the program names in the event. */
static enum status open_named(void *ctx, struct sv name, int *fd, struct err *e)
{
    const struct app *app = ctx;

    *fd = open(sv_cstr(name, app->a), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    return *fd < 0 ? err_errno(e, "open " SV_FMT, SV_ARG(name)) : ST_OK;
}

static void init_request(struct hooking *h, struct request *r)
{
    request_init(r, &h->app->ws, h->app->a);
    r->actor = sv_of(h->seen.harness);
    r->open = open_named;
    r->open_ctx = h->app;
}

/* Runs hook.event; its warnings go to the log. */
static enum status ask(struct hooking *h, struct err *e)
{
    const struct hook_seen  *x = &h->seen;
    struct hook_event_params p = { .harness = sv_of(x->harness),
                                   .session = x->session,
                                   .event = sv_of(x->event),
                                   .source = x->source,
                                   .thread = h->given,
                                   .otherwise = h->o->thread,
                                   .parent = x->parent,
                                   .cwd = x->cwd,
                                   .transcript = x->transcript,
                                   .tool = x->tool,
                                   .call = x->call,
                                   .command = x->command,
                                   .paths = x->paths,
                                   .whole = x->whole,
                                   .idle = x->idle,
                                   .limit = 9500,
                                   .from_files = h->from_files,
                                   .runs = x->runs,
                                   .prompted = x->prompted };
    struct request           r;

    init_request(h, &r);
    enum status s = operation_run(&op_hook_event, &r, &p, e);
    request_end(&r);
    for (size_t i = 0; i < r.warnings.n; i++)
        note_text(h->app, r.warnings.v[i].message);
    return s ? s : json_parse(request_document(&r), JSON_KEEP_ORDER, h->app->a, &h->answer, e);
}

/* How many bytes of a transcript are read before the answer, to find out what a session was forked
 * from. */
enum { ORIGIN_BYTES = 1 << 20 };

/* Runs hook.record. A session that is not bound yet is bound to `otherwise`; or to the thread of
 * the session that its transcript names as its origin, of which `limit` bytes are read (0: all);
 * or, with `own`, to a new thread. */
static enum status record(struct hooking *h, struct sv otherwise, bool own, int64_t limit,
                          struct err *e)
{
    const struct hook_seen   *x = &h->seen;
    struct hook_record_params p = { .harness = sv_of(x->harness),
                                    .session = x->session,
                                    .thread = h->given,
                                    .otherwise = otherwise,
                                    .parent = x->parent,
                                    .cwd = x->cwd,
                                    .transcript = x->transcript,
                                    .limit = limit,
                                    .own = own };
    struct request            r;

    init_request(h, &r);
    enum status s = operation_run(&op_hook_record, &r, &p, e);
    request_end(&r);
    for (size_t i = 0; i < r.warnings.n; i++)
        note_text(h->app, r.warnings.v[i].message);
    return s ? s : json_parse(request_document(&r), JSON_KEEP_ORDER, h->app->a, &h->recorded, e);
}

static enum status acknowledge(struct hooking *h, struct err *e)
{
    const struct json                *waiting = json_find(&h->answer, "waiting");
    struct context_acknowledge_params p = { .thread = json_text(&h->answer, "thread"),
                                            .waiting = waiting };
    struct request                    r;

    if (!json_is(waiting, JSON_ARRAY) || !waiting->n)
        return ST_OK;
    init_request(h, &r);
    enum status s = operation_run(&op_context_acknowledge, &r, &p, e);
    request_end(&r);
    return s;
}

/* ---- a fresh clone ------------------------------------------------------------------------- */

static void give_up_streams(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    setsid();
    for (int fd = 0; fd <= 2; fd++) /* the caller waits until its pipe is closed */
        dup2(null, fd);
    close(null);
}

/* Imports the files of .leslie in a process of its own, which goes on when this one cannot wait any
 * longer. True: they are in the log now. */
static bool read_in(struct hooking *h)
{
    struct app *app = h->app;
    bool        waits = is_waited_for(app);
    int         ends[2], status = 1;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    set_limit(waits ? HOOK_RECORD_S * 1000 : HOOK_READ_IN_MS + HOOK_LIMIT_MS);
    workspace_close_idle(&app->ws);
    pid_t child = fork();
    if (child == 0) {
        struct request r;
        struct err     e = { 0 };
        close(ends[0]);
        give_up_streams();
        set_limit(HOOK_RECORD_S * 1000);
        init_request(h, &r);
        enum status s = hook_read_in(&r, &e);
        if (s)
            fail(app, &e);
        request_end(&r);
        _exit(s ? 1 : 0);
    }
    close(ends[1]);
    struct pollfd until = { .fd = ends[0],
                            .events = POLLIN }; /* it is closed when the child ends */
    bool          ended = child > 0 && poll(&until, 1, waits ? -1 : HOOK_READ_IN_MS) > 0;
    close(ends[0]);
    if (child > 0 && !ended)
        note(app, "the files of .leslie are still being read in: answered from them, not from the "
                  "log");
    return ended && waitpid(child, &status, 0) == child && status == 0;
}

/* The thread is not in the log, and files of .leslie are not either: they came with a clone, or
 * with a pull. They are imported before the answer. When that takes too long or fails, the answer
 * is made from the few of them that matter; when that fails, too, the one from the log stays. */
static void ask_again(struct hooking *h)
{
    struct json first = h->answer;
    struct err  e = { 0 };

    h->from_files = read_in(h) ? (struct sv){ 0 } : json_text(&first, "thread");
    if (ask(h, &e) == ST_OK)
        return;
    fail(h->app, &e);
    h->answer = first;
}

/* ---- afterwards ---------------------------------------------------------------------------- */

/* Forks. True in the child, which does the remaining work in the background while the parent exits
 * and the calling program goes on. The stores are closed before, since they may not be used across
 * a fork. */
static bool leave(struct app *app)
{
    if (is_waited_for(app))
        return true;
    pid_t child = fork();
    if (child < 0)
        note(app, "nothing was recorded: fork: errno %d", errno);
    if (child != 0)
        return false;
    give_up_streams();
    return true;
}

/* Records the session. The answer may have named a new thread that another session has taken in the
 * meantime: the log says so. */
static enum status record_all(struct hooking *h, struct err *e)
{
    struct sv told = json_text(&h->answer, "thread");
    bool      is_new = sv_is(json_text(&h->answer, "how"), "new");

    if (record(h, is_new ? (struct sv){ 0 } : told, is_new, 0, e))
        return err_code(e);
    struct sv thread = json_text(&h->recorded, "thread");
    if (is_new && !sv_eq(thread, told))
        note(h->app,
             "session " SV_FMT " is recorded in " SV_FMT ", and was told " SV_FMT
             ", which another session has taken meanwhile",
             SV_ARG(h->seen.session), SV_ARG(thread), SV_ARG(told));
    return ST_OK;
}

static void do_rest(struct hooking *h)
{
    struct err e = { 0 };

    set_limit(HOOK_RECORD_S * 1000);
    if (acknowledge(h, &e))
        fail(h->app, &e);
    if (json_truth(json_find(&h->answer, "record")) && record_all(h, &e))
        fail(h->app, &e);
}

/* ---- all of it ----------------------------------------------------------------------------- */

static bool is_known(struct sv harness)
{
    for (size_t i = 0; hook_harnesses[i]; i++)
        if (sv_is(harness, hook_harnesses[i]))
            return true;
    return false;
}

static enum status read_event(struct hooking *h, struct sv harness, struct err *e)
{
    struct app *app = h->app;
    struct sv   text;
    struct json doc, *kept = ARENA_NEW(app->a, struct json, 1);

    if (!is_known(harness))
        return err_set(e, ST_INVALID_SYNTAX, "'" SV_FMT "' is not a program that heddle knows",
                       SV_ARG(harness));
    app_say_waiting(app);
    if (fs_read_fd(STDIN_FILENO, HOOK_EVENT_MAX, app->a, &text, e) ||
        json_parse(text, 0, app->a, &doc, e))
        return err_in(e, "the event");
    *kept = doc;
    return hook_event_read(sv_cstr(harness, app->a), kept, app->a, &h->seen, e);
}

/* Claude Code reports that a session is a fork, but not of which session. The command line of the
 * program may have the id (--resume ID). */
static struct sv resumed_id(struct app *app)
{
    struct sv  pid = workspace_variable(&app->ws, "CLAUDE_PID"), text, id = { 0 };
    struct sb  path = sb_in(app->a, 0);
    int64_t    n;
    struct err ignored;

    if (!sv_to_int(pid, &n) || n < 1)
        return id;
    sb_addf(&path, "/proc/%lld/cmdline", (long long)n);
    UNDO(fd_undo) int fd = open(sb_sv(&path).s, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fs_read_fd(fd, 1 << 20, app->a, &text, &ignored))
        return id;
    for (struct sv_cut c = { .tail = text, .found = true }; c.found && !id.n;) {
        c = sv_cut(c.tail, '\0');
        if (sv_is(c.head, "--resume") || sv_is(c.head, "-r"))
            id = sv_cut(c.tail, '\0').head;
        else if (sv_starts(c.head, SV("--resume=")))
            id = sv_skip(c.head, 9);
    }
    return id;
}

/* Finds the workspace: from the directory of the session, else from that of the project, else from
 * our own. A directory that is not there is passed over; a HEDDLE_ROOT or a pointer of git that
 * leads nowhere is an error when no workspace is found. */
static enum status open_place(struct hooking *h, struct err *e)
{
    struct app *app = h->app;
    struct sv   places[] = { h->seen.cwd, workspace_variable(&app->ws, "CLAUDE_PROJECT_DIR"),
                             SV(".") };
    struct err  wrong = { 0 };

    app->ws.is_seen = true;
    for (size_t i = 0; i < COUNT(places) && !app->ws.is_workspace; i++) {
        if (!places[i].n)
            continue;
        if (workspace_find(&app->ws, sv_cstr(places[i], app->a), app->a, e) == ST_USAGE)
            wrong = *e;
        else if (app->ws.trouble.code)
            wrong = app->ws.trouble;
    }
    if (app->ws.is_workspace)
        return workspace_settings(&app->ws, app->a, e);
    *e = wrong;
    return wrong.code;
}

/* A device or a pipe may never end, and the agent waits for the answer: such a session is one
 * without a transcript. */
static void check_transcript(struct hooking *h)
{
    struct stat st;

    if (!h->seen.transcript.n || stat(sv_cstr(h->seen.transcript, h->app->a), &st) != 0 ||
        S_ISREG(st.st_mode))
        return;
    note(h->app, "the transcript " SV_FMT " is not a regular file, and is not read",
         SV_ARG(h->seen.transcript));
    h->seen.transcript = (struct sv){ 0 };
}

static bool has_transcript(const struct hooking *h)
{
    return h->seen.transcript.n && access(sv_cstr(h->seen.transcript, h->app->a), R_OK) == 0;
}

/* The transcript of a fork names what it was forked from, so it is read before the answer, if it
 * exists. */
static bool knows_origin(const struct hooking *h)
{
    return sv_is(h->seen.source, "fork") && has_transcript(h);
}

/* The same for a session that is not bound, before a tool runs in it; and for a new session that
 * has a transcript already, such as an exported lane. */
static bool wants_origin(const struct hooking *h)
{
    struct sv how = json_text(&h->answer, "how");

    return has_transcript(h) && (sv_is(how, "new") || (sv_is(how, "unbound") &&
                                                       sv_is(sv_of(h->seen.event), "tool_before")));
}

/* A transcript that cannot be read costs what it would have told, and not the answer: the agent
 * gets its context, and its tools are guarded, as in a session without one. */
static void find_origin(struct hooking *h)
{
    struct err e = { 0 };

    if (record(h, (struct sv){ 0 }, false, ORIGIN_BYTES, &e))
        fail(h->app, &e);
}

static enum status answer(struct hooking *h, struct err *e)
{
    struct app *app = h->app;

    if (knows_origin(h))
        find_origin(h);
    if (ask(h, e))
        return err_code(e);
    if (json_truth(json_find(&h->answer, "unread")))
        ask_again(h);
    if (wants_origin(h)) {
        find_origin(h);
        if (ask(h, e))
            return err_code(e);
    }
    sb_add(&app->out, hook_answer(&h->seen, &h->answer, app->a));
    return sb_flush(&app->out, e);
}

enum status hook_serve(struct app *app, const struct hook_options *o, struct err *e)
{
    struct hooking h = { .app = app, .o = o };

    open_user_log(app);
    set_limit(is_waited_for(app) ? HOOK_RECORD_S * 1000 : HOOK_LIMIT_MS);
    failure_handle(end_quietly);
    app->out.show = SB_RAW;
    app->ws.note = app->ws.warn = note_text;
    app->ws.note_ctx = app->ws.warn_ctx = app;
    h.given = workspace_variable(&app->ws, "HEDDLE_THREAD");
    if ((h.given.n && name_check(h.given, "HEDDLE_THREAD", e)) ||
        (o->thread.n && name_check(o->thread, "--thread", e)))
        return err_code(e);
    if (read_event(&h, o->harness, e))
        return err_code(e);
    if (sv_is(h.seen.source, "fork") && !h.seen.parent.n)
        h.seen.parent = resumed_id(app);
    if (!h.seen.event || open_place(&h, e))
        return h.seen.event ? err_code(e) : ST_OK;
    if (!app->ws.is_workspace) { /* nothing to do */
        if (h.given.n)
            note(app, "HEDDLE_THREAD is " SV_FMT ", but " SV_FMT " is in no workspace",
                 SV_ARG(h.given), SV_ARG(app->ws.start));
        return ST_OK;
    }
    open_workspace_log(app);
    if (sv_is(sv_of(h.seen.event), "start"))
        workspace_say_place(&app->ws);
    check_transcript(&h);
    if (answer(&h, e))
        return err_code(e);
    if ((json_truth(json_find(&h.answer, "record")) || json_find(&h.answer, "waiting")->n)) {
        workspace_close_idle(&app->ws);
        if (leave(app))
            do_rest(&h);
    }
    return ST_OK;
}

/* ---- the command line ---------------------------------------------------------------------- */

bool hook_is_for(int argc, char **argv)
{
    return argc > 2 && sv_is(sv_of(argv[1]), "hook") && argv[2][0] != '-';
}

/* An unknown word is noted in the log and otherwise ignored: an exit status other than 0 could stop
 * the calling program. */
static enum status run(struct app *app, char **words, size_t n, struct err *e)
{
    struct hook_options o = { .harness = sv_of(words[1]) };
    size_t              known = 2;

    if (n > 3 && sv_is(sv_of(words[2]), "--thread")) {
        o.thread = sv_of(words[3]);
        known = 4;
    }
    if (n > known)
        note(app, "'%s' is not a word that hook knows", words[known]);
    return hook_serve(app, &o, e);
}

static int exit_status(enum status s)
{
    (void)s;
    return 0;
}

const struct app_door hook_door = { .run = run, .fail = fail, .exit_status = exit_status };

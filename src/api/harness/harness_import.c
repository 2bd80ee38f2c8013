/* harness.import: sessions of other programs into threads. */
#include "api/request.h"
#include "api/term.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/map.h"
#include "base/path.h"
#include "harness/harness.h"
#include "harness/where.h"

#include <limits.h>
#include <poll.h>
#include <sys/stat.h>

struct import_params {
    struct sv harness, path, thread, only;
    bool      all, follow;
};

static const char *const names[] = {
#define X(id, name, title) name,
    HARNESS_TABLE(X)
#undef X
        NULL,
};

/* clang-format off */
static const struct param params[] = {
    { "harness", PARAM_ENUM, offsetof(struct import_params, harness), .value = "PROGRAM", .values = names, .required = true, .help = "whose sessions" },
    { "path",    PARAM_TEXT, offsetof(struct import_params, path),    .value = "PATH", .help = "a transcript, or a directory of them" },
    { "all",     PARAM_FLAG, offsetof(struct import_params, all),     .help = "every session where the program keeps them" },
    { "only",    PARAM_TEXT, offsetof(struct import_params, only),    .value = "NAME", .help = "of these, the one that `heddle transcripts` lists under this name" },
    { "follow",  PARAM_FLAG, offsetof(struct import_params, follow),  .help = "go on: import what is added, until it is stopped" },
    { "thread",  PARAM_NAME, offsetof(struct import_params, thread),  .value = "T", .help = "the thread of sessions that have none yet (default: one of their own)" },
    { 0 },
};
static const struct field note_fields[] = {
    { "count", FIELD_NUMBER, .help = "how often" },
    { "first", FIELD_NUMBER, .help = "the line, or the number of the record, where it was seen first" },
    { "what",  FIELD_TEXT,   .help = "what was not understood or not taken as it is" },
    { 0 },
};
static const struct field session_fields[] = {
    { "session",     FIELD_TEXT,   .help = "id of the session" },
    { "thread",      FIELD_TEXT,   .help = "the thread it is recorded in" },
    { "lane",        FIELD_TEXT,   .help = "its lane" },
    { "title",       FIELD_TEXT,   .nullable = true, .help = "what the program calls it" },
    { "path",        FIELD_TEXT,   .help = "the transcript" },
    { "read",        FIELD_NUMBER, .help = "records that were read" },
    { "known",       FIELD_NUMBER, .help = "of them, those that were there already" },
    { "entries",     FIELD_NUMBER, .help = "entries that were appended" },
    { "messages",    FIELD_NUMBER, .help = "of them, messages" },
    { "lanes",       FIELD_NUMBER, .help = "lanes that came into being: forks, rewinds, sub-agents" },
    { "compactions", FIELD_NUMBER, .help = "compactions" },
    { "rewritten",   FIELD_FLAG,   .help = "whether the file was not what had been read of it before" },
    { "notes",       FIELD_LIST,   .of = note_fields, .help = "what was not understood" },
    { 0 },
};
static const struct field failure_fields[] = {
    { "path",    FIELD_TEXT, .help = "the file" },
    { "message", FIELD_TEXT, .help = "why it was not imported" },
    { 0 },
};
static const struct field answer[] = {
    { "items",       FIELD_LIST,   .of = session_fields, .help = "sessions with something new" },
    { "failed",      FIELD_LIST,   .of = failure_fields, .help = "files that could not be imported" },
    { "transcripts", FIELD_NUMBER, .help = "how many transcripts were looked at" },
    { 0 },
};
/* clang-format on */

/* How long --follow waits before it looks for changes again. */
enum { WAIT_MS = 500 };

struct failure {
    struct sv path, message;
};
struct session_import {
    struct request             *r;
    const struct import_params *p;
    struct arena               *a;           /* of one look at the transcripts */
    struct arena                follows;     /* as long as --follow goes on */
    struct map                  seen_before; /* path → struct fs_mark */
    enum harness                harness;
    int                         dir;  /* the directory that is imported; -1: a file */
    struct sv                   base; /* its path */
    VEC(struct harness_report) done;
    VEC(struct sv) paths; /* of each of them */
    VEC(struct failure) failed;
    int64_t seen, taken; /* transcripts that are there, and that were read */
    bool    following;
};

static enum status check(void *ctx, int64_t done, int64_t total, struct err *e)
{
    struct session_import *x = ctx;

    request_progress(x->r, "importing", done, total);
    return request_check(x->r, e);
}

/* ---- answers ------------------------------------------------------------------------------ */

static void write_notes(struct jw *w, const struct harness_report *r)
{
    jw_key(w, "notes");
    jw_open(w, '[');
    for (size_t i = 0; i < r->notes.n; i++) {
        jw_open(w, '{');
        jw_kint(w, "count", r->notes.v[i].count);
        jw_kint(w, "first", r->notes.v[i].first);
        jw_kstr(w, "what", r->notes.v[i].what);
        jw_close(w, '}');
    }
    jw_close(w, ']');
}

static void write_session(struct jw *w, const struct harness_report *r, struct sv path)
{
    jw_open(w, '{');
    jw_kstr(w, "session", r->session);
    jw_kstr(w, "thread", r->thread);
    jw_kstr(w, "lane", r->lane);
    jw_kstr(w, "title", r->title.n ? r->title : (struct sv){ 0 });
    jw_klossy(w, "path", path);
    jw_kint(w, "read", r->read);
    jw_kint(w, "known", r->known);
    jw_kint(w, "entries", r->entries);
    jw_kint(w, "messages", r->messages);
    jw_kint(w, "lanes", r->lanes);
    jw_kint(w, "compactions", r->compactions);
    jw_kbool(w, "rewritten", r->rewritten);
    write_notes(w, r);
    jw_close(w, '}');
}

static void write_answer(const struct session_import *x, struct jw *w)
{
    jw_open(w, '{');
    jw_key(w, "items");
    jw_open(w, '[');
    for (size_t i = 0; i < x->done.n; i++)
        write_session(w, &x->done.v[i], x->paths.v[i]);
    jw_close(w, ']');
    jw_key(w, "failed");
    jw_open(w, '[');
    for (size_t i = 0; i < x->failed.n; i++) {
        jw_open(w, '{');
        jw_klossy(w, "path", x->failed.v[i].path);
        jw_klossy(w, "message", x->failed.v[i].message);
        jw_close(w, '}');
    }
    jw_close(w, ']');
    jw_kint(w, "transcripts", x->seen);
    jw_close(w, '}');
}

/* ---- importing ---------------------------------------------------------------------------- */

static enum status tell(struct session_import *x, const struct harness_report *r, struct sv path,
                        struct err *e)
{
    if (!r->read && !r->rewritten)
        return ST_OK;
    if (x->following) {
        write_session(request_event(x->r), r, path);
        return request_send(x->r, e);
    }
    *vec_push(&x->done, x->a) = *r;
    *vec_push(&x->paths, x->a) = path;
    return ST_OK;
}

static enum status import_source(struct session_import *x, struct harness_source src, struct err *e)
{
    struct harness_limits limits = { .check = check, .ctx = x };
    struct harness_report report;

    x->taken++;
    src.harness = x->harness;
    src.thread = x->p->thread;
    src.actor = x->r->actor;
    src.now = clock_now_ms();
    harness_report_init(&report, x->a);
    if (harness_import(&x->r->log, &src, &limits, &report, e))
        return err_code(e);
    return tell(x, &report, src.path, e);
}

/* With --only, sessions of other names are skipped. */
static bool is_wanted(const struct session_import *x, struct sv name)
{
    return !x->p->only.s || sv_eq(x->p->only, name);
}

/* A store of opencode holds many sessions. */
static enum status import_stored(struct session_import *x, struct harness_source src, struct err *e)
{
    struct sv *ids;
    size_t     n;

    if (harness_stored_sessions(src.fd, src.dir, x->a, &ids, &n, e))
        return err_in(e, SV_FMT, SV_ARG(src.path));
    x->seen += (int64_t)n - 1;
    for (size_t i = 0; i < n; i++) {
        if (!is_wanted(x, ids[i]))
            continue;
        src.session = ids[i];
        if (request_check(x->r, e) || import_source(x, src, e))
            return err_code(e);
        request_progress(x->r, "sessions", (int64_t)i + 1, (int64_t)n);
    }
    return ST_OK;
}

/* Gemini CLI writes the path of the project beside the directory `chats`. */
static struct sv project_of(struct session_import *x, struct sv name)
{
    struct sv  text, root = path_join(path_dir(path_dir(name)), SV(".project_root"), x->a);
    struct err ignored;

    if (x->harness != HARNESS_GEMINI || fs_read(x->dir, root, PATH_MAX, x->a, &text, &ignored))
        return (struct sv){ 0 };
    return sv_trim(text);
}

/* One transcript below the directory. */
static enum status import_below(struct session_import *x, struct sv name, struct err *e)
{
    UNDO(fd_undo) int     fd = -1;
    UNDO(fd_undo) int     dir = -1;
    struct sv             above = path_dir(name);
    struct harness_source src = { .path = path_join(x->base, name, x->a) };

    if (fs_open(x->dir, name, O_RDONLY | O_CLOEXEC, &fd, e) ||
        fs_open(x->dir, above.n ? above : SV("."), O_RDONLY | O_DIRECTORY | O_CLOEXEC, &dir, e))
        return err_code(e);
    src.fd = fd;
    src.dir = x->harness == HARNESS_OPENCODE ? -1 : dir;
    src.cwd = project_of(x, name);
    return x->harness == HARNESS_OPENCODE ? import_stored(x, src, e) : import_source(x, src, e);
}

/* The directories of JSON files in which opencode kept sessions before it had a database. */
static enum status import_storage(struct session_import *x, struct err *e)
{
    static const char *const places[] = { "storage", "." };
    UNDO(fd_undo) int        dir = -1;
    enum fs_kind             kind;

    for (size_t i = 0; i < COUNT(places); i++) {
        struct sv sessions = path_join(sv_of(places[i]), SV("session"), x->a);
        if (fs_kind(x->dir, sessions, &kind, e))
            return err_code(e);
        if (kind != FS_DIR)
            continue;
        struct harness_source src = { .fd = -1,
                                      .path = path_join(x->base, sv_of(places[i]), x->a) };
        if (fs_open(x->dir, sv_of(places[i]), O_RDONLY | O_DIRECTORY | O_CLOEXEC, &dir, e))
            return err_code(e);
        src.dir = dir;
        x->seen++;
        return import_stored(x, src, e);
    }
    return ST_OK;
}

/* One file that cannot be imported does not stop the others. */
static enum status import_or_note(struct session_import *x, struct sv name, struct err *e)
{
    if (import_below(x, name, e) == ST_OK)
        return ST_OK;
    if (e->code == ST_IO || sv_is(sv_of(e->reason), "cancelled") ||
        sv_is(sv_of(e->reason), "deadline") || sv_is(sv_of(e->reason), "reader_gone"))
        return err_code(e);
    *vec_push(&x->failed, x->a) =
        (struct failure){ path_join(x->base, name, x->a), sv_dup(sv_of(e->text), x->a) };
    if (!x->following)
        request_warn(x->r, (struct sv){ 0 }, (struct sv){ 0 }, SV_FMT ": %s", SV_ARG(name),
                     e->text);
    return ST_OK;
}

/* While following: is the file as it was at the last look? */
static bool is_unchanged(struct session_import *x, const struct harness_transcript *t)
{
    struct harness_transcript *last = map_find(&x->seen_before, t->path);

    if (!x->following)
        return false;
    if (last && last->changed_ns == t->changed_ns && last->size == t->size)
        return true;
    if (!last) {
        last = ARENA_NEW(&x->follows, struct harness_transcript, 1);
        map_put(&x->seen_before, t->path, last);
    }
    *last = *t;
    last->path = (struct sv){ 0 };
    return false;
}

static enum status import_all(struct session_import *x, struct err *e)
{
    struct harness_transcript *list;
    size_t                     n;

    if (harness_transcripts(x->harness, x->dir, x->a, &list, &n, e))
        return err_code(e);
    x->seen = (int64_t)n;
    for (size_t i = 0; i < n; i++) {
        if (is_unchanged(x, &list[i]) ||
            (x->harness != HARNESS_OPENCODE && !is_wanted(x, list[i].path)))
            continue;
        if (request_check(x->r, e) || import_or_note(x, list[i].path, e))
            return err_code(e);
        request_progress(x->r, "sessions", (int64_t)i + 1, (int64_t)n);
    }
    return x->harness == HARNESS_OPENCODE ? import_storage(x, e) : ST_OK;
}

static struct sv variable(const void *ctx, const char *name)
{
    return workspace_variable(ctx, name);
}

static enum status what_to_import(const struct import_params *p, struct request *r, enum harness h,
                                  struct sv *out, struct err *e)
{
    *out = p->path;
    if (p->path.s && p->all) {
        err_set(e, ST_USAGE, "a path and --all exclude each other");
        return err_hint(e, "--all imports every session where the program keeps them");
    }
    if (p->only.s && !p->all) {
        err_set(e, ST_USAGE, "--only names one of --all");
        return err_hint(e, "give --all with it, or the path of the transcript alone");
    }
    if (!p->path.s && !p->all) {
        err_set(e, ST_USAGE, "which sessions of %s?", harness_title(h));
        return err_hint(e, "name a transcript or a directory of them, or give --all");
    }
    if (p->all)
        *out = harness_home(h, variable, r->ws, r->a);
    if (out->n)
        return ST_OK;
    err_set(e, ST_NOT_FOUND, "where %s keeps its sessions is not known", harness_title(h));
    return err_hint(e, "HOME is not set: name the directory");
}

/* --all, and the program has never kept a session there. */
static enum status nothing_named(const struct session_import *x, struct err *e)
{
    err_set(e, ST_NOT_FOUND, "%s has no session '" SV_FMT "'", harness_title(x->harness),
            SV_ARG(x->p->only));
    return err_hint(e, "`heddle transcripts` lists what is not imported yet");
}

static enum status nothing_there(const struct session_import *x, struct sv path, struct err *e)
{
    err_set(e, ST_NOT_FOUND, "no sessions of %s: " SV_FMT " is not there",
            harness_title(x->harness), SV_ARG(path));
    return err_hint(e, "if it keeps them elsewhere, set %s as it does, or name the directory",
                    harness_home_variable(x->harness));
}

static enum status import_named(struct session_import *x, struct sv path, struct err *e)
{
    UNDO(fd_undo) int fd = -1;
    UNDO(fd_undo) int dir = -1;
    struct stat       st;
    struct err        ignored;

    if (x->p->all ? harness_home_open(path, x->a, &fd, e) : request_open(x->r, path, &fd, e))
        return x->p->all && e->code == ST_NOT_FOUND ? nothing_there(x, path, e) : err_code(e);
    if (fstat(fd, &st))
        return err_errno(e, SV_FMT, SV_ARG(path));
    x->base = path;
    if (S_ISDIR(st.st_mode)) {
        x->dir = fd;
        if (import_all(x, e))
            return err_code(e);
        return x->p->only.s && !x->taken ? nothing_named(x, e) : ST_OK;
    }
    x->seen = 1;
    struct harness_source src = { .fd = fd, .dir = -1, .path = path };
    if (x->harness == HARNESS_OPENCODE)
        return import_stored(x, src, e);
    if (!request_open(x->r, path_dir(path).n ? path_dir(path) : SV("."), &dir, &ignored))
        src.dir =
            dir; /* without the directory, files of sub-agents beside the transcript are not read */
    return import_source(x, src, e);
}

/* --follow ends when standard output is closed or the deadline has passed: neither is an error. */
static bool is_end(const struct err *e)
{
    return sv_is(sv_of(e->reason), "reader_gone") || sv_is(sv_of(e->reason), "cancelled") ||
           sv_is(sv_of(e->reason), "deadline");
}

static bool is_left(const struct session_import *x)
{
    struct pollfd peer = { .fd = x->r->peer, .events = 0 };

    return poll(&peer, 1, WAIT_MS) > 0 && x->r->peer >= 0;
}

static enum status follow(struct session_import *x, struct sv path, struct err *e)
{
    struct arena look = { 0 };
    enum status  s;

    x->following = true;
    /* cppcheck-suppress autoVariables ; put back below */
    x->a = &look;
    x->seen_before = map_in(&x->follows);
    do {
        s = request_check(x->r, e) || import_named(x, path, e) ? err_code(e) : ST_OK;
        memset(&x->failed, 0, sizeof x->failed);
        arena_free(&look);
    } while (!s && !is_left(x));
    x->a = x->r->a;
    arena_free(&x->follows);
    return s && is_end(e) ? ST_OK : s;
}

static enum status run(struct request *r, const void *given, struct err *e)
{
    struct session_import x = { .r = r, .p = given, .a = r->a, .dir = -1 };
    struct sv             path;
    enum status           s;

    harness_find(x.p->harness, &x.harness);
    if (what_to_import(x.p, r, x.harness, &path, e))
        return err_code(e);
    s = x.p->follow ? follow(&x, path, e) : import_named(&x, path, e);
    if (!s)
        write_answer(&x, r->doc);
    return s;
}

/* ---- text ----------------------------------------------------------------------------------- */

static void print_count(struct term *t, const struct json *x, const char *member, const char *one,
                        const char *many)
{
    int64_t n = json_number(x, member);

    if (n)
        term_f(t, ", %lld %s", (long long)n, n == 1 ? one : many);
}

static void print_session(const struct json *x, struct term *t)
{
    const struct json *notes = json_find(x, "notes");
    struct sv          title = json_text(x, "title");

    term_text(t, json_text(x, "thread"));
    if (!sv_is(json_text(x, "lane"), "default")) {
        term_f(t, " lane ");
        term_text(t, json_text(x, "lane"));
    }
    int64_t read = json_number(x, "read"), entries = json_number(x, "entries");
    term_f(t, ": %lld record%s read, %lld entr%s", (long long)read, read == 1 ? "" : "s",
           (long long)entries, entries == 1 ? "y" : "ies");
    print_count(t, x, "messages", "message", "messages");
    print_count(t, x, "lanes", "lane", "lanes");
    print_count(t, x, "compactions", "compaction", "compactions");
    if (title.n) {
        term_f(t, " · ");
        term_text(t, title);
    }
    term_f(t, "%s\n", json_truth(json_find(x, "rewritten")) ? " (the file was rewritten)" : "");
    for (size_t i = 0; i < notes->n; i++) {
        int64_t n = json_number(&notes->items[i], "count");
        term_f(t, "  ! ");
        term_text(t, json_text(&notes->items[i], "what"));
        if (n > 1)
            term_f(t, ", %lld times", (long long)n);
        term_f(t, " (%srecord %lld)\n", n > 1 ? "first: " : "",
               (long long)json_number(&notes->items[i], "first"));
    }
}

static void print(const struct json *doc, struct term *t)
{
    const struct json *items = json_find(doc, "items");

    for (size_t i = 0; i < items->n; i++)
        print_session(&items->items[i], t);
    if (!items->n)
        term_f(t, "nothing new in %lld transcript%s\n", (long long)json_number(doc, "transcripts"),
               json_number(doc, "transcripts") == 1 ? "" : "s");
}

const struct operation op_harness_import = {
    .name = "harness.import",
    .summary = "Bring in sessions of Claude Code, Codex, opencode, Gemini CLI or pi",
    .details =
        "Each session becomes a thread with its tree: forks, rewinds and sub-agents are lanes,\n"
        "compactions replace the context, tool calls and their results, models, tokens and times\n"
        "are kept. Forks of a session are lanes of its thread.\n"
        "\n"
        "Repeating is harmless: what is there already is not imported again, and of a transcript\n"
        "that has grown only what is new is read. A session that a hook records is not imported a\n"
        "second time. What is not understood is kept as it is and counted.\n"
        "\n"
        "  heddle import claude-code --all\n"
        "  heddle import pi ~/.pi/agent/sessions --follow",
    .group = GROUP_LOOM,
    .needs = NEEDS_WRITE,
    .access = ACCESS_MANAGE,
    .repeat = REPEAT_SAME,
    .streams = STREAM_EVENTS,
    .params = params,
    .params_size = sizeof(struct import_params),
    .answer = answer,
    .event = session_fields,
    .run = run,
    .print = print,
    .print_event = print_session,
};

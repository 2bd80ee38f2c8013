/* harness.export: a lane as a session that another program can resume, or an imported session as it
 * was. */
#include "api/log/project_call.h"
#include "api/request.h"
#include "api/term.h"
#include "base/fs.h"
#include "base/path.h"
#include "harness/export.h"
#include "harness/where.h"
#include "thread/lane.h"

#include <fcntl.h>
#include <unistd.h>

struct export_params {
    struct sv thread, to, lane, session, id, cwd;
    bool      place;
};

static const char *const targets[] = { "claude-code", "pi", NULL };

/* clang-format off */
static const struct param params[] = {
    { "thread",  PARAM_NAME, offsetof(struct export_params, thread),  .value = "T", .required = true, .help = "the thread" },
    { "to",      PARAM_ENUM, offsetof(struct export_params, to),      .value = "PROGRAM", .values = targets, .required = true, .help = "the program that is to read it: claude-code or pi" },
    { "lane",    PARAM_NAME, offsetof(struct export_params, lane),    .value = "L", .help = "the lane (default: the active one)" },
    { "session", PARAM_TEXT, offsetof(struct export_params, session), .value = "ID", .help = "in place of a lane: an imported session of the same program, as it was" },
    { "id",      PARAM_TEXT, offsetof(struct export_params, id),      .value = "ID", .help = "the id of the new session (default: made from the thread, the lane and its last entry)" },
    { "cwd",     PARAM_TEXT, offsetof(struct export_params, cwd),     .value = "DIR", .help = "the project of the new session (default: the workspace)" },
    { "place",   PARAM_FLAG, offsetof(struct export_params, place),   .help = "write it where the program looks for its sessions" },
    { 0 },
};
static const struct field answer[] = {
    { "thread",   FIELD_TEXT,   .help = "the thread" },
    { "session",  FIELD_TEXT,   .help = "the id of the session that was written" },
    { "records",  FIELD_NUMBER, .help = "how many records" },
    { "made",     FIELD_NUMBER, .help = "of them, those that were made for messages of other programs" },
    { "left_out", FIELD_NUMBER, .help = "parts of messages that the program has no place for" },
    { "path",     FIELD_TEXT,   .nullable = true, .help = "the file; null: it was written to the stream" },
    { "resume",   FIELD_TEXT,   .help = "the command that resumes it" },
    { 0 },
};
/* clang-format on */

static struct sv variable(const void *ctx, const char *name)
{
    return workspace_variable(ctx, name);
}

/* ---- where it goes --------------------------------------------------------------------------- */

/* Opens the nearest existing directory above a path, and gives the part of the path that does not
 * exist. */
static enum status open_above(struct request *r, struct sv home, struct sv *below, int *dir,
                              struct err *e)
{
    while (request_directory(r, home, dir, e)) {
        if (e->code != ST_NOT_FOUND || path_dir(home).n < 2)
            return err_code(e);
        *below = path_join(path_base(home), *below, r->a);
        home = path_dir(home);
    }
    return ST_OK;
}

/* An existing file is a session and is never overwritten. A new file gets its name only when it is
 * complete. */
static enum status put_file(struct request *r, enum harness h, struct sv below, struct sv text,
                            struct sv *path, struct err *e)
{
    UNDO(fd_undo) int dir = -1;
    struct sv         home = harness_home(h, variable, r->ws, r->a);
    bool              there;

    if (!home.n)
        return err_set(e, ST_NOT_FOUND, "where %s keeps its sessions is not known",
                       harness_title(h));
    *path = path_join(home, below, r->a);
    if (open_above(r, home, &below, &dir, e) || fs_mkdirs(dir, path_dir(below), e) ||
        fs_exists(dir, below, &there, e))
        return err_code(e);
    if (!there)
        return fs_write(dir, below, text, 0600, e);
    err_set(e, ST_CONFLICT, "there is a session already: " SV_FMT, SV_ARG(*path));
    return err_hint(e, "give the new session an --id of its own");
}

/* The part of a lane that is seen: nothing that is pruned or excluded leaves the log. */
static enum status find_seen(struct request *r, struct harness_export *what, struct err *e)
{
    struct project_asked asked = { .thread = what->thread, .lane = what->lane, .at = PARAM_UNSET };
    struct harness_change *changes;
    struct loom_seen       seen;

    if (project_call_seen(r, &asked, &seen, e))
        return err_code(e);
    changes = ARENA_NEW(r->a, struct harness_change, seen.n + 1);
    for (size_t i = 0; i < seen.n; i++) {
        changes[i] = (struct harness_change){ seen.changes[i].seq, seen.changes[i].by };
        if (seen.changes[i].by == NO_NODE)
            request_warn(r, (struct sv){ 0 }, what->thread,
                         "[" SV_FMT "] is excluded, and left out", SV_ARG(seen.changes[i].local));
    }
    what->lane = seen.lane;
    what->upto = seen.upto;
    what->changes = changes;
    what->n_changes = seen.n;
    return ST_OK;
}

/* A session is written as it was, a lane as it is seen. */
static enum status write_all(struct request *r, struct harness_export *what, struct sb *out,
                             struct harness_exported *done, struct err *e)
{
    if (project_call_begin(r, what->thread, e))
        return err_code(e);
    enum status s = what->session.s ? ST_OK : find_seen(r, what, e);
    if (!s)
        s = harness_export(&r->log, what, r->a, out, done, e);
    log_abort(&r->log);
    return s;
}

/* The session is written to memory first: the name of the file contains the id, which the export
 * chooses. */
static enum status place(struct request *r, struct harness_export *what, struct sv *path,
                         struct harness_exported *done, struct err *e)
{
    struct sb         text = sb_in(r->a, 0);
    struct store_head head = { 0 };

    if (write_all(r, what, &text, done, e) || log_begin(&r->log, what->thread, STORE_READ, e))
        return err_code(e);
    enum status s = log_head(&r->log, what->thread, &head, e);
    log_abort(&r->log);
    if (s)
        return s;
    struct sv below = harness_export_path(what->to, what->cwd, done->session, head.updated, r->a);
    return put_file(r, what->to, below, sb_sv(&text), path, e);
}

/* ---- the operation --------------------------------------------------------------------------- */

static void write_answer(struct request *r, const struct harness_export *what, struct sv path,
                         const struct harness_exported *done)
{
    struct sb b = sb_in(r->a, 0);

    harness_resume_command(what->to, done->session, what->cwd, &b);
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "thread", what->thread);
    jw_kstr(r->doc, "session", done->session);
    jw_kint(r->doc, "records", done->records);
    jw_kint(r->doc, "made", done->made);
    jw_kint(r->doc, "left_out", done->left_out);
    jw_key(r->doc, "path");
    jw_str(r->doc, path);
    jw_kstr(r->doc, "resume", sb_sv(&b));
    jw_close(r->doc, '}');
    if (done->left_out)
        request_warn(r, (struct sv){ 0 }, what->thread,
                     "%lld part%s of messages ha%s no place in a session of %s: thinking without a "
                     "signature is left out, other parts are named in the text",
                     (long long)done->left_out, done->left_out == 1 ? "" : "s",
                     done->left_out == 1 ? "s" : "ve", harness_title(what->to));
}

static enum status run(struct request *r, const void *given, struct err *e)
{
    const struct export_params *p = given;
    struct harness_exported     done;
    struct sv                   path = { 0 };
    struct harness_export       what = { .thread = p->thread,
                                         .session = p->session,
                                         .lane = p->lane,
                                         .id = p->id,
                                         .cwd = p->cwd.s ? p->cwd : workspace_project(r->ws) };

    harness_find(p->to, &what.to);
    if (p->session.s && (p->lane.s || p->id.s)) {
        err_set(e, ST_USAGE, "a session and a lane or id exclude each other");
        return err_hint(e, "--session writes a session as it was, with its own id");
    }
    if (!sv_starts(what.cwd, SV("/"))) {
        err_set(e, ST_USAGE, "'" SV_FMT "' is not an absolute path", SV_ARG(what.cwd));
        return err_hint(e, "the program knows its projects by their whole paths: --cwd \"$PWD\"");
    }
    if (!p->place && request_needs_out(r, e))
        return err_code(e);
    if (p->place ? place(r, &what, &path, &done, e) : write_all(r, &what, r->out, &done, e))
        return err_code(e);
    write_answer(r, &what, path, &done);
    return ST_OK;
}

/* Without --place the session was written to standard output, and nothing else is printed. */
static void print(const struct json *doc, struct term *t)
{
    if (!json_text(doc, "path").s)
        return;
    term_text(t, json_text(doc, "path"));
    term_f(t, "\n");
    term_text(t, json_text(doc, "resume"));
    term_f(t, "\n");
}

const struct operation op_harness_export = {
    .name = "harness.export",
    .summary = "Write a lane as a session that Claude Code or pi can resume",
    .details =
        "A lane becomes a new session: messages of the same program keep their records and ids, "
        "so that\nan import of the new session finds what it shares with the thread; others become "
        "new records.\nWith --session an imported session is written as it was, record by record.",
    .group = GROUP_LOOM,
    .needs = NEEDS_LOG,
    .access = ACCESS_MANAGE,
    .repeat = REPEAT_READS,
    .streams = STREAM_OUT,
    .params = params,
    .params_size = sizeof(struct export_params),
    .answer = answer,
    .run = run,
    .print = print,
};

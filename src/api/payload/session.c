/* session.new, session.list and turn.new: where the turns of a conversation are kept. */
#include "payload/session.h"
#include "api/payload/turn_log.h"
#include "api/term.h"
#include "base/clock.h"
#include "base/path.h"

struct new_params {
    struct sv      name, message, thread;
    struct sv_list context;
};
struct turn_params {
    struct sv session;
};

/* clang-format off */
static const struct param new_params[] = {
    { "name",    PARAM_TEXT, offsetof(struct new_params, name),    .value = "NAME", .help = "its name; made from the date and the message unless given" },
    { "message", PARAM_TEXT, offsetof(struct new_params, message), .letter = 'm', .value = "TEXT|-", .help = "the first request; kept as initial_request.md" },
    { "context", PARAM_LIST, offsetof(struct new_params, context), .letter = 'c', .value = "A,B", .help = "entries for session.context" },
    { "thread",  PARAM_NAME, offsetof(struct new_params, thread),  .value = "T", .help = "bind it to thread T: its turns become entries of that log" },
    { 0 },
};
static const struct param turn_params[] = {
    { "session", PARAM_TEXT, offsetof(struct turn_params, session), .value = "NAME", .help = "the session (default: the one of this directory, else the newest)" },
    { 0 },
};
static const char *const states[] = { "empty", "pending", "complete", "damaged", NULL };
static const struct field new_answer[] = {
    { "session", FIELD_TEXT, .help = "its name" },
    { "dir",     FIELD_TEXT, .help = "its directory, below the workspace" },
    { "turn",    FIELD_TEXT, .help = "the directory of its first turn" },
    { "thread",  FIELD_TEXT, .nullable = true, .help = "the thread it is bound to" },
    { 0 },
};
static const struct field session_fields[] = {
    { "name",       FIELD_TEXT,   .help = "the session" },
    { "dir",        FIELD_TEXT,   .help = "its directory, below the workspace" },
    { "turns",      FIELD_NUMBER, .help = "how many turns it has" },
    { "turn",       FIELD_NUMBER, .help = "the number of the latest; 0: there is none" },
    { "state",      FIELD_ENUM,   .values = states, .help = "of the latest turn: nothing yet, a plan, a report; damaged: session.json cannot be understood" },
    { "thread",     FIELD_TEXT,   .nullable = true, .help = "the thread it is bound to" },
    { "parent",     FIELD_TEXT,   .nullable = true, .help = "the session it continues" },
    { "created_at", FIELD_TIME,   .nullable = true, .help = "when it was made; null: not recorded" },
    { 0 },
};
static const struct field list_answer[] = {
    { "items", FIELD_LIST, .of = session_fields, .help = "the sessions, oldest first" },
    { 0 },
};
static const struct field turn_answer[] = {
    { "session", FIELD_TEXT,   .help = "the session; another one than before after turn 99" },
    { "turn",    FIELD_TEXT,   .help = "the directory of the turn, below the workspace" },
    { "number",  FIELD_NUMBER, .help = "its number, from 1" },
    { "parent",  FIELD_TEXT,   .nullable = true, .help = "the directory of the turn before" },
    { "thread",  FIELD_TEXT,   .nullable = true, .help = "the thread the session is bound to" },
    { "entries", FIELD_LIST,   .item = FIELD_TEXT, .help = "what its turn.context lists" },
    { 0 },
};
/* clang-format on */

/* ---- session.new -------------------------------------------------------------------------- */

static struct sv turn_path(const struct session_dir *s, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_addf(&b, SV_FMT "/%02d", SV_ARG(s->dir), s->turn);
    return sb_sv(&b);
}

static enum status run_new(struct request *r, const void *params, struct err *e)
{
    const struct new_params *p = params;
    struct session_request   q = { .name = p->name,
                                   .message = p->message,
                                   .context = p->context,
                                   .thread = p->thread,
                                   .now_ms = clock_now_ms() };
    struct session_dir       s;

    if (session_new(workspace_project_fd(r->ws), &q, r->a, &s, e) ||
        workspace_make(r->ws, SV(".teddy"), e) || turn_log(r, &s, e))
        return err_code(e);
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "session", s.name);
    jw_kstr(r->doc, "dir", s.dir);
    jw_kstr(r->doc, "turn", turn_path(&s, r->a));
    jw_kstr(r->doc, "thread", s.thread);
    jw_close(r->doc, '}');
    return ST_OK;
}

static void print_turn(const struct json *doc, struct term *t)
{
    term_text(t, json_text(doc, "turn"));
    term_f(t, "\n");
}

/* ---- session.list ------------------------------------------------------------------------- */

static const char *state_of(const struct session_dir *s)
{
    return s->damaged ? "damaged" : s->has_report ? "complete" : s->has_plan ? "pending" : "empty";
}

static void write_session(struct jw *w, const struct session_dir *s)
{
    jw_open(w, '{');
    jw_kstr(w, "name", s->name);
    jw_kstr(w, "dir", s->dir);
    jw_kint(w, "turns", s->turns);
    jw_kint(w, "turn", s->turn);
    jw_kstr(w, "state", sv_of(state_of(s)));
    jw_kstr(w, "thread", s->thread);
    jw_kstr(w, "parent", s->parent);
    if (s->created_ms)
        jw_ktime(w, "created_at", s->created_ms);
    else
        jw_kstr(w, "created_at", (struct sv){ 0 });
    jw_close(w, '}');
}

static enum status run_list(struct request *r, const void *params, struct err *e)
{
    session_dirs all;

    (void)params;
    if (session_list(workspace_project_fd(r->ws), r->a, &all, e))
        return err_code(e);
    jw_open(r->doc, '{');
    jw_key(r->doc, "items");
    jw_open(r->doc, '[');
    for (size_t i = 0; i < all.n; i++)
        write_session(r->doc, &all.v[i]);
    jw_close(r->doc, ']');
    jw_close(r->doc, '}');
    return ST_OK;
}

static int64_t number_of(const struct json *item, const char *key)
{
    int64_t n = 0;

    return json_int(json_find(item, key), &n) ? n : 0;
}

static void print_list(const struct json *doc, struct term *t)
{
    const struct json *items = json_find(doc, "items");

    for (size_t i = 0; i < items->n; i++) {
        const struct json *item = &items->items[i];
        term_text(t, json_text(item, "name"));
        term_f(t, "  turn %02lld of %lld  ", (long long)number_of(item, "turn"),
               (long long)number_of(item, "turns"));
        term_text(t, json_text(item, "state"));
        if (json_text(item, "thread").n) {
            term_f(t, "  thread ");
            term_text(t, json_text(item, "thread"));
        }
        term_f(t, "\n");
    }
    if (!items->n)
        term_f(t, "no sessions; `heddle session new NAME` makes one\n");
}

/* ---- turn.new ------------------------------------------------------------------------------ */

/* The named session, that of the current directory, or the one made last. */
static enum status choose(struct request *r, struct sv name, struct session_dir *s, struct err *e)
{
    struct sv start = path_join(workspace_project(r->ws), SV(""), r->a), here = SV("");

    if (name.n)
        return session_find(workspace_project_fd(r->ws), name, r->a, s, e);
    if (sv_starts(r->ws->start, start))
        here = sv_skip(r->ws->start, start.n);
    struct session_place at = session_place_of(here);
    if (at.session.n)
        return session_find(workspace_project_fd(r->ws), path_base(at.session), r->a, s, e);
    session_dirs all;
    if (session_list(workspace_project_fd(r->ws), r->a, &all, e))
        return err_code(e);
    if (!all.n) {
        err_set(e, ST_NOT_FOUND, "there is no session");
        return err_hint(e, "`heddle session new NAME` makes one");
    }
    *s = all.v[all.n - 1];
    return ST_OK;
}

static void write_turn(struct jw *w, const struct session_turn *t)
{
    jw_open(w, '{');
    jw_kstr(w, "session", t->session);
    jw_kstr(w, "turn", t->dir);
    jw_kint(w, "number", t->number);
    jw_kstr(w, "parent", t->parent.n ? t->parent : (struct sv){ 0 });
    jw_kstr(w, "thread", t->thread);
    jw_key(w, "entries");
    jw_open(w, '[');
    for (size_t i = 0; i < t->entries.n; i++)
        jw_str(w, t->entries.v[i]);
    jw_close(w, ']');
    jw_close(w, '}');
}

static enum status run_turn(struct request *r, const void *params, struct err *e)
{
    struct session_dir  s;
    struct session_turn t;

    if (choose(r, ((const struct turn_params *)params)->session, &s, e) ||
        session_turn_new(workspace_project_fd(r->ws), &s, SV(""), clock_now_ms(), r->a, &t, e) ||
        session_find(workspace_project_fd(r->ws), t.session, r->a, &s, e) || turn_log(r, &s, e))
        return err_code(e);
    write_turn(r->doc, &t);
    return ST_OK;
}

const struct operation op_session_new = {
    .name = "session.new",
    .summary = "Make a session and its first turn below .teddy/sessions",
    .details =
        "Without NAME the session is named by the date and the words of the message. Its list\n"
        "session.context starts with the entries of .teddy/init.context.\n\n"
        "  heddle session new parser --message 'Write the parser.' --context src/",
    .group = GROUP_PAYLOAD,
    .needs = NEEDS_ROOT,
    .repeat = REPEAT_NEVER,
    .params = new_params,
    .params_size = sizeof(struct new_params),
    .answer = new_answer,
    .run = run_new,
    .print = print_turn,
};

const struct operation op_session_list = {
    .name = "session.list",
    .summary = "List the sessions, oldest first",
    .group = GROUP_PAYLOAD,
    .needs = NEEDS_ROOT,
    .answer = list_answer,
    .run = run_list,
    .print = print_list,
};

const struct operation op_turn_new = {
    .name = "turn.new",
    .summary = "Make the next turn of a session from what the last one did",
    .details = "Its turn.context is the last one's, with what report.md says was read, created or\n"
               "edited, without what was pruned, and with the last turn's plan.md and report.md.\n"
               "After turn 99 a new session goes on.\n\n"
               "  heddle turn new --session first",
    .group = GROUP_PAYLOAD,
    .needs = NEEDS_ROOT,
    .repeat = REPEAT_NEVER,
    .params = turn_params,
    .params_size = sizeof(struct turn_params),
    .answer = turn_answer,
    .run = run_turn,
    .print = print_turn,
};

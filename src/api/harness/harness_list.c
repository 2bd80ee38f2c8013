/* harness.list: the sessions of other programs, by project. */
#include "api/harness/usage_doc.h"
#include "api/term.h"
#include "base/clock.h"
#include "harness/where.h"

struct list_params {
    struct sv harness, project;
    bool      agents;
};

static const char *const names[] = {
#define X(id, name, title) name,
    HARNESS_TABLE(X)
#undef X
        NULL,
};

/* clang-format off */
static const struct param params[] = {
    { "harness", PARAM_ENUM, offsetof(struct list_params, harness), .value = "PROGRAM", .values = names, .help = "only sessions of this program" },
    { "project", PARAM_TEXT, offsetof(struct list_params, project), .value = "DIR", .help = "only sessions of this project, or one below it" },
    { "agents",  PARAM_FLAG, offsetof(struct list_params, agents),  .help = "sub-agents, too" },
    { 0 },
};
static const struct field session_fields[] = {
    { "session",  FIELD_TEXT,   .help = "id of the session" },
    { "harness",  FIELD_ENUM,   .values = names, .help = "the program" },
    { "thread",   FIELD_TEXT,   .help = "the thread it is recorded in" },
    { "lane",     FIELD_TEXT,   .help = "its lane" },
    { "project",  FIELD_TEXT,   .nullable = true, .help = "the directory it was started in" },
    { "branch",   FIELD_TEXT,   .nullable = true, .help = "the branch of git it was on last" },
    { "title",    FIELD_TEXT,   .nullable = true, .help = "what the program calls it, else what was asked first" },
    { "prompt",   FIELD_TEXT,   .nullable = true, .help = "what was asked last" },
    { "model",    FIELD_TEXT,   .nullable = true, .help = "the model that answered last" },
    { "parent",   FIELD_TEXT,   .nullable = true, .help = "the session it was forked from, or that started it" },
    { "is_agent", FIELD_FLAG,   .help = "whether it is a sub-agent" },
    { "first",    FIELD_TIME,   .nullable = true, .help = "when it began" },
    { "last",     FIELD_TIME,   .nullable = true, .help = "when the last record was written" },
    { "turns",    FIELD_NUMBER, .help = "how often something was asked" },
    { "messages", FIELD_NUMBER, .help = "messages of all roles" },
    { "agents",   FIELD_NUMBER, .help = "sub-agents whose work is counted with it" },
    { "tokens",   FIELD_OBJECT, .of = usage_fields, .help = "what it used" },
    { "cost",     FIELD_REAL,   .nullable = true, .help = "dollars, as the program told or models.prices say; null: not known" },
    { "path",     FIELD_TEXT,   .nullable = true, .help = "the transcript that was read last" },
    { "resume",   FIELD_TEXT,   .help = "the command that goes on with it" },
    { 0 },
};
static const struct field answer[] = {
    { "items", FIELD_LIST, .of = session_fields, .help = "the sessions, by project, the one used last first" },
    { 0 },
};
/* clang-format on */

static bool is_below(struct sv path, struct sv dir)
{
    while (dir.n > 1 && dir.s[dir.n - 1] == '/')
        dir.n--;
    return sv_starts(path, dir) && (path.n == dir.n || path.s[dir.n] == '/' || sv_is(dir, "/"));
}

static bool is_wanted(const struct list_params *p, const struct harness_session *s)
{
    if (p->harness.s && !sv_is(p->harness, harness_name(s->harness)))
        return false;
    if (p->project.s && !is_below(s->cwd, p->project))
        return false;
    return p->agents || !s->is_agent;
}

static void put_text(struct jw *w, const char *key, struct sv v)
{
    jw_key(w, key);
    jw_str(w, v.n ? v : (struct sv){ 0 });
}

static void put_time(struct jw *w, const char *key, int64_t at)
{
    if (at) {
        jw_ktime(w, key, at);
        return;
    }
    jw_key(w, key);
    jw_null(w);
}

static struct sv resume_of(const struct harness_session *s, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    harness_resume_command(s->harness, s->id, s->cwd, &b);
    return sb_sv(&b);
}

static void write_session(struct request *r, const struct harness_session *s)
{
    struct jw *w = r->doc;
    int64_t    cost = s->cost;
    bool       known = s->has_cost || usage_price(r, s->harness, s->model, &s->total, &cost);

    jw_open(w, '{');
    jw_kstr(w, "session", s->id);
    jw_kstr(w, "harness", sv_of(harness_name(s->harness)));
    jw_kstr(w, "thread", s->thread);
    jw_kstr(w, "lane", s->lane);
    put_text(w, "project", s->cwd);
    put_text(w, "branch", s->branch);
    put_text(w, "title", s->title.n ? s->title : s->asked);
    put_text(w, "prompt", s->prompt);
    put_text(w, "model", s->model);
    put_text(w, "parent", s->parent);
    jw_kbool(w, "is_agent", s->is_agent);
    put_time(w, "first", s->first);
    put_time(w, "last", s->last);
    jw_kint(w, "turns", s->turns);
    jw_kint(w, "messages", s->messages);
    jw_kint(w, "agents", s->agents);
    usage_members(w, &s->total, known ? &cost : NULL);
    put_text(w, "path", s->path);
    jw_kstr(w, "resume", resume_of(s, r->a));
    jw_close(w, '}');
}

static enum status run(struct request *r, const void *given, struct err *e)
{
    const struct list_params *p = given;
    struct harness_session   *list;
    size_t                    n;

    if (harness_sessions(&r->log, r->a, &list, &n, e))
        return err_code(e);
    jw_open(r->doc, '{');
    jw_key(r->doc, "items");
    jw_open(r->doc, '[');
    for (size_t i = 0; i < n; i++)
        if (is_wanted(p, &list[i]))
            write_session(r, &list[i]);
    jw_close(r->doc, ']');
    jw_close(r->doc, '}');
    return ST_OK;
}

/* ---- text ------------------------------------------------------------------------------------ */

/* "2026-11-17 14:48" of an instant. */
static struct sv minute_of(struct sv time, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    int64_t   ms;

    if (!clock_parse_iso(time, &ms))
        return SV("-");
    sb_add_minute(&b, ms);
    return sb_sv(&b);
}

static void print_text(struct term *t, const char *label, struct sv text)
{
    if (!text.n)
        return;
    term_f(t, "    %s", label);
    term_text(t, text);
    term_f(t, "\n");
}

static void print_session(const struct json *x, struct term *t)
{
    int64_t   turns = json_number(x, "turns");
    struct sv title = json_text(x, "title"), lane = json_text(x, "lane");

    term_f(t, "  " SV_FMT "  ", SV_ARG(minute_of(json_text(x, "last"), t->a)));
    term_styled(t, STYLE_NAME, json_text(x, "thread"));
    if (!sv_is(lane, "default")) {
        term_f(t, " lane ");
        term_text(t, lane);
    }
    term_f(t, "  %lld turn%s, ", (long long)turns, turns == 1 ? "" : "s");
    usage_print(x, t);
    term_f(t, "\n");
    print_text(t, "", title);
    print_text(t, "last: ", sv_eq(json_text(x, "prompt"), title) ? SV("") : json_text(x, "prompt"));
    print_text(t, json_truth(json_find(x, "is_agent")) ? "started by " : "fork of ",
               json_text(x, "parent"));
    print_text(t, "", json_text(x, "resume"));
}

static void print(const struct json *doc, struct term *t)
{
    const struct json *items = json_find(doc, "items");
    struct sv          project = { 0 };

    for (size_t i = 0; i < items->n; i++) {
        struct sv own = json_text(&items->items[i], "project");
        if (!i || !sv_eq(own, project)) {
            term_f(t, "%s", i ? "\n" : "");
            term_styled(t, STYLE_HEAD, own.n ? own : SV("(no project)"));
            term_f(t, "\n");
        }
        project = own;
        print_session(&items->items[i], t);
    }
    if (!items->n)
        term_f(t, "no sessions; `heddle import PROGRAM --all` brings in those of a program\n");
}

const struct operation op_harness_list = {
    .name = "harness.list",
    .summary = "List the sessions of other programs, by project",
    .details =
        "Sessions that were imported or that a hook recorded: when they were used last, how many\n"
        "turns they have, tokens and cost, the title or what was asked first, what was asked "
        "last,\n"
        "and the command that goes on with each. A cost that the program does not report follows\n"
        "from models.prices of the settings. Sub-agents are counted with the session that started\n"
        "them, and listed with --agents.\n"
        "\n"
        "  heddle sessions\n"
        "  heddle sessions --harness codex --json",
    .group = GROUP_LOOM,
    .needs = NEEDS_LOG,
    .slow = true,
    .repeat = REPEAT_READS,
    .params = params,
    .params_size = sizeof(struct list_params),
    .answer = answer,
    .run = run,
    .print = print,
};

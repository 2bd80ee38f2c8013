/* assemble: what a model would be sent for a turn of an agent, and what that is made of. */
#include "api/assemble/assemble_call.h"
#include "api/term.h"
#include "assemble/thinking.h"
#include "command/ask.h"
#include "loom/shown.h"

struct make_params {
    struct assemble_params all;
    struct sv              format;
    bool                   explain;
};

/* clang-format off */
static const char *const formats[] = { "anthropic", "openai", "compatible", "responses", "gemini", "completions", "text", "markdown", NULL };
static const char *const forms[] = { "full", "summary", "reference", NULL };
static const char *const kinds[] = {
#define X(kind, name, priority) name,
    SECTION_TABLE(X)
#undef X
    NULL,
};

#define MAKE(field) offsetof(struct make_params, all.field)
static const struct param params[] = {
    { "thread",   PARAM_NAME,   MAKE(thread),   .value = "T", .required = true, .help = "the thread" },
    { "agent",    PARAM_TEXT,   MAKE(agent),    .value = "A", .help = "for whom (default: you)" },
    { "task",     PARAM_TEXT,   MAKE(task),     .value = "TEXT", .help = "what is asked (default: the node where the agent is, when somebody else wrote it)" },
    { "node",     PARAM_TEXT,   MAKE(node),     .value = "ID", .help = "as if the agent were at this node" },
    { "budget",   PARAM_NUMBER, MAKE(budget),   .value = "N", .min = 1, .max = INT64_MAX, .help = "at most N tokens (default: loom.budget of the settings, 50000)" },
    { "reserve",  PARAM_NUMBER, MAKE(reserve),  .value = "N", .min = 0, .max = INT64_MAX, .help = "of these, leave N free" },
    { "strategy", PARAM_ENUM,   MAKE(strategy), .value = "S", .values = assembly_strategies, .help = "what is cut: auto, summarize, truncateMiddle, rollingWindow, or nothing (stopAtLimit)" },
    { "recent",   PARAM_NUMBER, MAKE(recent),   .value = "N", .min = 1, .max = 1000, .help = "keep the last N messages whole where possible (default 4)" },
    { "session",  PARAM_TEXT,   MAKE(session),  .value = "NAME", .help = "the session whose resources are sent; none: none (default: the newest bound to the thread)" },
    { "load",     PARAM_FLAG,   MAKE(load),     .help = "put <thread_context> in again, as when an agent is loaded" },
    { "at",       PARAM_NUMBER, MAKE(at),       .value = "SEQ", .min = -1, .max = INT64_MAX, .help = "as it was after entry SEQ of the thread" },
    { "format",   PARAM_ENUM,   offsetof(struct make_params, format),  .value = "F", .values = formats, .help = "anthropic, openai, compatible, responses, gemini, completions, text or markdown (default: what the agent's model takes, else text)" },
    { "explain",  PARAM_FLAG,   offsetof(struct make_params, explain), .help = "print what it is made of, with tokens and cuts" },
    { 0 },
};

static const struct field source_fields[] = {
    { "from",  FIELD_NUMBER, .optional = true, .help = "the first entry" },
    { "to",    FIELD_NUMBER, .optional = true, .help = "the last entry" },
    { "node",  FIELD_TEXT,   .optional = true, .help = "the node, or the first of several" },
    { "last",  FIELD_TEXT,   .optional = true, .help = "the last node of several" },
    { "path",  FIELD_TEXT,   .optional = true, .help = "a file, an address, or the command of a result" },
    { "hash",  FIELD_TEXT,   .optional = true, .help = "of the text: the first half of its BLAKE2b-256, in hex" },
    { "count", FIELD_NUMBER, .optional = true, .help = "how many nodes, results or resources" },
    { 0 },
};
static const struct field section_fields[] = {
    { "kind",     FIELD_ENUM,   .values = kinds, .help = "what it holds" },
    { "form",     FIELD_ENUM,   .values = forms, .help = "whole, summarised, or only named" },
    { "priority", FIELD_NUMBER, .help = "the lower, the sooner it is cut; 0: never" },
    { "source",   FIELD_OBJECT, .of = source_fields, .help = "where it comes from" },
    { "tokens",   FIELD_NUMBER, .help = "of its text" },
    { "message",  FIELD_NUMBER, .nullable = true, .help = "which message holds it, from 0; null: the system prompt" },
    { 0 },
};
static const struct field cut_fields[] = {
    { "kind",   FIELD_ENUM,   .values = kinds, .help = "what was cut" },
    { "source", FIELD_OBJECT, .of = source_fields, .help = "which" },
    { "what",   FIELD_TEXT,   .help = "what was done with it" },
    { "why",    FIELD_TEXT,   .help = "and why" },
    { "before", FIELD_NUMBER, .help = "its tokens as it stands in the log; 0: it was not read" },
    { "after",  FIELD_NUMBER, .help = "and as it is sent" },
    { 0 },
};
static const struct field stable_fields[] = {
    { "system_bytes", FIELD_NUMBER, .help = "of the system prompt, from its start" },
    { "messages",     FIELD_NUMBER, .help = "from the first one" },
    { 0 },
};
static const struct field answer[] = {
    { "thread",     FIELD_TEXT,   .help = "the thread" },
    { "agent",      FIELD_TEXT,   .help = "for whom" },
    { "node",       FIELD_TEXT,   .nullable = true, .help = "where the agent is; null in an empty tree" },
    { "format",     FIELD_ENUM,   .values = formats, .help = "of what was written" },
    { "strategy",   FIELD_ENUM,   .values = assembly_strategies, .help = "what is cut when it is too much" },
    { "budget",     FIELD_NUMBER, .help = "tokens that it may have" },
    { "tokens",     FIELD_NUMBER, .help = "tokens that it has" },
    { "counted_by", FIELD_TEXT,   .help = "how they were counted" },
    { "exact",      FIELD_FLAG,   .help = "whether that is the vocabulary of the agent's model" },
    { "messages",   FIELD_NUMBER, .help = "how many messages there are" },
    { "stable",     FIELD_OBJECT, .of = stable_fields, .help = "what the next turn begins with as well, unless something in it changes" },
    { "sections",   FIELD_LIST,   .of = section_fields, .help = "what it is made of, in order" },
    { "cuts",       FIELD_LIST,   .of = cut_fields, .help = "what is not sent as it stands in the log" },
    { "repairs",    FIELD_LIST,   .help = "what was changed so that the provider takes it, one sentence each" },
    { 0 },
};
/* clang-format on */

/* ---- the bytes ------------------------------------------------------------------------------ */

struct assemble_making {
    struct assemble_call c;
    struct assembly      x;
    struct sv            format;
    struct sb            out;
    struct render_report report;
    size_t               tokens; /* of the bytes, where they are text */
};

/* The format of the agent's model; text for a person. */
static struct sv usual_format(const struct agent *x)
{
    const char *dialect = x->model.n ? model_dialect(x->model) : NULL;

    if (!dialect)
        return SV("text");
    return sv_is(sv_of(dialect), "offline") ? SV("anthropic") : sv_of(dialect);
}

static enum status write_body(struct assemble_making *m, struct err *e)
{
    const struct agent  *agent = &m->c.q.agent;
    struct body_settings settings = ask_settings(agent->model, &agent->settings);
    enum body_dialect    dialect = BODY_ANTHROPIC;

    struct context asked;
    bool           own = sv_eq(m->format, usual_format(agent)); /* else no thinking */

    settings.cache = m->x.cache;
    if (!body_dialect_of(m->format, &dialect))
        return err_set(e, ST_USAGE, "no format is called '" SV_FMT "'", SV_ARG(m->format));
    if (thinking_settle(&m->x.context, own ? agent->model : SV(""), m->c.r->a, &asked, &m->report,
                        e) ||
        body_write(dialect, &asked, &settings, m->c.r->a, &m->out, &m->report, e))
        return err_code(e);
    sb_addc(&m->out, '\n');
    return ST_OK;
}

/* Text is counted as a whole, with its headings: all of it is within the budget. */
static enum status write_once(struct assemble_making *m, struct err *e)
{
    bool markdown = sv_is(m->format, "markdown");

    m->out = sb_in(m->c.r->a, 0);
    m->report = report_in(m->c.r->a);
    if (assemble_call_make(&m->c, &m->x, e))
        return err_code(e);
    m->tokens = m->x.tokens;
    if (!markdown && !sv_is(m->format, "text"))
        return write_body(m, e);
    struct render_report unused = report_in(m->c.r->a);
    struct context       shown; /* a person reads what is said */
    if (thinking_settle(&m->x.context, SV(""), m->c.r->a, &shown, &unused, e) ||
        render_context(markdown ? RENDER_MARKDOWN : RENDER_TEXT, &shown, NULL, m->c.r->a, &m->out,
                       &m->report, e))
        return err_code(e);
    size_t whole = counts_of(&m->c.counts, sb_sv(&m->out));
    m->tokens = whole > m->x.tokens ? whole : m->x.tokens;
    return ST_OK;
}

static enum status write_all(struct assemble_making *m, struct err *e)
{
    for (;;) {
        if (write_once(m, e))
            return err_code(e);
        int64_t over = (int64_t)m->tokens + m->c.q.reserve - m->c.q.budget;
        if (over <= 0 || m->tokens == m->x.tokens)
            return ST_OK;
        m->c.q.reserve += over; /* the headings need room, too */
    }
}

/* ---- the document ------------------------------------------------------------------------------
 */

static void write_source(struct jw *w, const struct assembly_source *s)
{
    jw_key(w, "source");
    jw_open(w, '{');
    if (s->from >= 0)
        jw_kint(w, "from", s->from);
    if (s->to >= 0)
        jw_kint(w, "to", s->to);
    if (s->node.n)
        jw_klossy(w, "node", s->node);
    if (s->last.n)
        jw_klossy(w, "last", s->last);
    if (s->path.n)
        jw_klossy(w, "path", s->path);
    if (s->hash.n)
        jw_kstr(w, "hash", s->hash);
    if (s->count)
        jw_kint(w, "count", s->count);
    jw_close(w, '}');
}

static void write_sections(struct jw *w, const struct assembly *x)
{
    jw_key(w, "sections");
    jw_open(w, '[');
    for (size_t i = 0; i < x->sections.n; i++) {
        const struct assembly_section *s = &x->sections.v[i];
        jw_open(w, '{');
        jw_kstr(w, "kind", sv_of(assembly_kind_name(s->kind)));
        jw_kstr(w, "form", sv_of(assembly_form_name(s->form)));
        jw_kint(w, "priority", assembly_priority(s->kind));
        write_source(w, &s->source);
        jw_kint(w, "tokens", (int64_t)s->tokens);
        jw_kint_if(w, "message", s->message != SECTION_IN_SYSTEM, (int64_t)s->message);
        jw_close(w, '}');
    }
    jw_close(w, ']');
}

static void write_cuts(struct jw *w, const struct assembly *x)
{
    jw_key(w, "cuts");
    jw_open(w, '[');
    for (size_t i = 0; i < x->cuts.n; i++) {
        const struct assembly_cut *c = &x->cuts.v[i];
        jw_open(w, '{');
        jw_kstr(w, "kind", sv_of(assembly_kind_name(c->kind)));
        write_source(w, &c->source);
        jw_kstr(w, "what", c->what);
        jw_kstr(w, "why", c->why);
        jw_kint(w, "before", (int64_t)c->before);
        jw_kint(w, "after", (int64_t)c->after);
        jw_close(w, '}');
    }
    jw_close(w, ']');
}

static void write_repairs(struct request *r, const struct render_report *report)
{
    jw_key(r->doc, "repairs");
    jw_open(r->doc, '[');
    for (size_t i = 0; i < report->list.n; i++) {
        struct sb b = sb_in(r->a, 0);
        repair_write(&b, &report->list.v[i]);
        jw_str(r->doc, sb_sv(&b));
    }
    jw_close(r->doc, ']');
}

static void write_document(struct request *r, const struct assemble_making *m)
{
    const struct assembly *x = &m->x;
    struct jw             *w = r->doc;

    jw_open(w, '{');
    jw_kstr(w, "thread", m->c.q.loom.thread);
    jw_kstr(w, "agent", m->c.q.agent.name);
    jw_kstr(w, "node", x->here.seq == NO_NODE ? (struct sv){ 0 } : x->here.local);
    jw_kstr(w, "format", m->format);
    jw_kstr(w, "strategy", sv_of(assembly_strategies[m->c.q.strategy]));
    jw_kint(w, "budget", m->c.q.budget);
    jw_kint(w, "tokens", (int64_t)m->tokens);
    jw_kstr(w, "counted_by", sv_of(tokens_label(m->c.tokens)));
    jw_kbool(w, "exact", m->c.choice.exact && !tokens_is_estimate(m->c.tokens));
    jw_kint(w, "messages", (int64_t)x->context.n);
    jw_key(w, "stable");
    jw_open(w, '{');
    jw_kint(w, "system_bytes", (int64_t)x->cache.system);
    jw_kint(w, "messages", (int64_t)x->cache.messages);
    jw_close(w, '}');
    write_sections(w, x);
    write_cuts(w, x);
    write_repairs(r, &m->report);
    jw_close(w, '}');
}

/* Has the conversation continued after the agent's position? Then the caller may have meant another
 * node.
 */
static enum status warn_passed(struct assemble_making *m, struct err *e)
{
    struct request *r = m->c.r;
    struct node     next;
    bool            found = false;

    if (m->c.q.node.s || m->c.at != PARAM_UNSET || m->x.here.seq == NO_NODE)
        return ST_OK;
    if (log_begin(&r->log, m->c.q.loom.thread, STORE_READ, e))
        return err_code(e);
    enum status s = loom_went_on(&m->c.q.loom, m->c.q.agent.name, &m->x.here, &next, &found, e);
    log_abort(&r->log);
    if (!s && found)
        request_warn(r, (struct sv){ 0 }, m->c.q.loom.thread,
                     "the agent is at [" SV_FMT "], and others have gone on to [" SV_FMT
                     "]: --node " SV_FMT " is that",
                     SV_ARG(m->x.here.local), SV_ARG(next.local), SV_ARG(next.local));
    return s;
}

/* What a person should know who sees only the bytes. */
static void warn(struct request *r, const struct assemble_making *m)
{
    struct sb notice = sb_in(r->a, 0);

    assembly_notice(&notice, &m->x.pruned);
    if (notice.n)
        request_remark(r, "cut to fit %lld tokens: " SV_FMT " (--explain lists it)",
                       (long long)m->c.q.budget, SV_ARG(sb_sv(&notice)));
    for (size_t i = 0; i < m->report.list.n; i++) {
        struct sb b = sb_in(r->a, 0);
        repair_write(&b, &m->report.list.v[i]);
        request_remark(r, SV_FMT, SV_ARG(sb_sv(&b)));
    }
}

static enum status run(struct request *r, const void *given, struct err *e)
{
    const struct make_params *p = given;
    struct assemble_making    m = { .format = p->format };
    struct sb                *out = NULL;

    if (assemble_call_open(&m.c, r, &p->all, e))
        return err_code(e);
    if (!m.format.s)
        m.format = usual_format(&m.c.q.agent);
    if (write_all(&m, e))
        return assemble_call_close(&m.c, loom_node_hint(err_code(e), p->all.thread, e));
    if (!p->explain && request_out(r, &out, e))
        return assemble_call_close(&m.c, err_code(e));
    if (out)
        sb_add(out, sb_sv(&m.out));
    write_document(r, &m);
    if (!p->explain)
        warn(r, &m);
    return assemble_call_close(&m.c, warn_passed(&m, e));
}

/* ---- for a person
 * ---------------------------------------------------------------------------------- */

static int64_t number_of(const struct json *doc, const char *key)
{
    int64_t n = 0;

    return json_int(json_find(doc, key), &n) ? n : 0;
}

/* Neighbours that differ only in their source are one row. */
static bool goes_with(const struct json *a, const struct json *b)
{
    return sv_is(json_text(a, "kind"), "node") && sv_is(json_text(b, "kind"), "node") &&
           sv_eq(json_text(a, "form"), json_text(b, "form"));
}

/* "3 nodes, [r001] to [b3k9]", "[a7x2]", "entry 12". */
static struct sv source_text(const struct json *first, const struct json *last, int64_t count,
                             struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct sv node = json_text(first, "node"), end = json_text(last, "last");

    if (!end.n)
        end = json_text(last, "node");
    if (count > 1 || (count && !node.n && !json_text(first, "path").n))
        sb_add_commas(&b, count);
    if (node.n)
        sb_addf(&b, "%s[" SV_FMT "]", b.n ? ": " : "", SV_ARG(node));
    if (node.n && end.n && !sv_eq(node, end))
        sb_addf(&b, " to [" SV_FMT "]", SV_ARG(end));
    if (json_text(first, "path").n)
        sb_addf(&b, "%s" SV_FMT, b.n ? ": " : "", SV_ARG(json_text(first, "path")));
    if (!b.n && json_find(first, "from"))
        sb_addf(&b, "entry %lld", (long long)number_of(first, "from"));
    return sb_sv(&b);
}

static struct sv commas(int64_t n, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add_commas(&b, n);
    return sb_sv(&b);
}

static void print_sections(const struct json *list, struct term *t)
{
    static const char *const heads[] = { "SECTION", "FORM", "TOKENS", "SOURCE", NULL };
    struct term_table        table = { .heads = heads };

    for (size_t i = 0, k; i < list->n; i = k) {
        const struct json *s = &list->items[i], *source = json_find(s, "source");
        int64_t            tokens = 0, count = 0;
        for (k = i; k < list->n && (k == i || goes_with(s, &list->items[k])); k++) {
            int64_t n = number_of(json_find(&list->items[k], "source"), "count");
            tokens += number_of(&list->items[k], "tokens");
            count += n;
        }
        term_row(&table, t->a,
                 (struct sv[]){
                     json_text(s, "kind"), json_text(s, "form"), commas(tokens, t->a),
                     source_text(source, json_find(&list->items[k - 1], "source"), count, t->a) });
    }
    term_table(&table, t);
}

static void print_cuts(const struct json *list, struct term *t)
{
    static const char *const heads[] = { "CUT", "TOKENS", "WHAT", "WHY", "SOURCE", NULL };
    struct term_table        table = { .heads = heads };

    if (!list->n) {
        term_f(t, "\nnothing was cut\n");
        return;
    }
    term_f(t, "\n");
    for (size_t i = 0; i < list->n; i++) {
        const struct json *c = &list->items[i], *source = json_find(c, "source");
        struct sb          tokens = sb_in(t->a, 0);
        sb_add(&tokens, number_of(c, "before") ? commas(number_of(c, "before"), t->a) : SV("?"));
        sb_addf(&tokens, " → " SV_FMT, SV_ARG(commas(number_of(c, "after"), t->a)));
        term_row(&table, t->a,
                 (struct sv[]){ json_text(c, "kind"), sb_sv(&tokens), json_text(c, "what"),
                                json_text(c, "why"),
                                source_text(source, source, number_of(source, "count"), t->a) });
    }
    term_table(&table, t);
}

static void print(const struct json *doc, struct term *t)
{
    const struct json *stable = json_find(doc, "stable"), *repairs = json_find(doc, "repairs");
    int64_t            messages = number_of(doc, "messages");

    print_sections(json_find(doc, "sections"), t);
    term_f(t,
           "\n" SV_FMT " of " SV_FMT " tokens (" SV_FMT "%s), %d for each of " SV_FMT
           " message%s included; the first " SV_FMT " stay the same\n",
           SV_ARG(commas(number_of(doc, "tokens"), t->a)),
           SV_ARG(commas(number_of(doc, "budget"), t->a)), SV_ARG(json_text(doc, "counted_by")),
           json_truth(json_find(doc, "exact")) ? "" : ", an estimate for this model",
           ASSEMBLY_MESSAGE_TOKENS, SV_ARG(commas(messages, t->a)), messages == 1 ? "" : "s",
           SV_ARG(commas(number_of(stable, "messages"), t->a)));
    print_cuts(json_find(doc, "cuts"), t);
    for (size_t i = 0; i < repairs->n; i++) {
        term_text(t, json_sv(&repairs->items[i]));
        term_f(t, "\n");
    }
}

const struct operation op_assemble = {
    .name = "assemble",
    .summary = "Print what a model is sent for a turn of an agent",
    .details =
        "In this order: the agent's prompt and what a loom-aware agent is told about the loom, "
        "its\n"
        "working memory, the conversation up to where it is with the ids of its nodes, results "
        "that\n"
        "are still in view, the tree and who else is there, the resources of a session that is\n"
        "bound to the thread, <thread_context>, and what it is asked. An agent without loom_aware\n"
        "gets its prompt, the conversation and the input alone. (`heddle project` prints the "
        "context of\n"
        "a lane as the log has it, `heddle context` the files that a thread reads.)\n\n"
        "What does not fit the budget is cut: older messages become summaries or are only "
        "counted,\n"
        "then the trace, results that are not pinned, recalled stashes, resources and the newest\n"
        "messages. The prompt, pins and the input are never cut; if they do not fit, nothing is\n"
        "printed. Equal requests give equal bytes. --explain lists every part with its source,\n"
        "its tokens and what was cut.\n\n"
        "The budget counts the texts, and 4 tokens for each message; of text and markdown all\n"
        "that is printed.\n\n"
        "  heddle assemble design --agent Collab --task 'Go on.' --budget 8000 --explain\n"
        "  heddle assemble design --agent Collab --format markdown",
    .group = GROUP_LOOM,
    .needs = NEEDS_ROOT,
    .repeat = REPEAT_READS,
    .streams = STREAM_OUT,
    .view = &loom_view,
    .params = params,
    .params_size = sizeof(struct make_params),
    .answer = answer,
    .run = run,
    .print = print,
};

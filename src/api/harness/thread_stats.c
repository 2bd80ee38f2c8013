/* thread.stats: what each turn of a thread cost. */
#include "api/harness/usage_doc.h"
#include "api/share/share_call.h"
#include "api/term.h"
#include "base/clock.h"
#include "thread/scan.h"

struct stats_params {
    struct sv thread, lane;
    int64_t   limit;
};

/* clang-format off */
static const struct param params[] = {
    { "thread", PARAM_NAME,   offsetof(struct stats_params, thread), .value = "T", .required = true, .help = "the thread" },
    { "lane",   PARAM_NAME,   offsetof(struct stats_params, lane),   .value = "L", .help = "only turns of this lane" },
    { "limit",  PARAM_NUMBER, offsetof(struct stats_params, limit),  .value = "N", .min = 1, .max = 100000, .fallback = "50", .help = "at most the last N turns (default 50); sums are of all" },
    { 0 },
};
static const struct field turn_fields[] = {
    { "seq",      FIELD_NUMBER, .help = "the entry with which it begins" },
    { "at",       FIELD_TIME,   .help = "when" },
    { "lane",     FIELD_TEXT,   .help = "the lane it is on" },
    { "harness",  FIELD_TEXT,   .nullable = true, .help = "the program whose session it is; null: none" },
    { "prompt",   FIELD_TEXT,   .nullable = true, .help = "the beginning of what was asked; null: nobody asked" },
    { "model",    FIELD_TEXT,   .nullable = true, .help = "the model that answered last" },
    { "messages", FIELD_NUMBER, .help = "messages of all roles" },
    { "calls",    FIELD_NUMBER, .help = "calls of tools" },
    { "tokens",   FIELD_OBJECT, .of = usage_fields, .help = "what it used" },
    { "cost",     FIELD_REAL,   .nullable = true, .help = "dollars; null: not known" },
    { 0 },
};
static const struct field answer[] = {
    { "thread", FIELD_TEXT,   .help = "the thread" },
    { "turns",  FIELD_NUMBER, .help = "how many turns there are" },
    { "tokens", FIELD_OBJECT, .of = usage_fields, .help = "of all turns" },
    { "cost",   FIELD_REAL,   .nullable = true, .help = "of all turns whose cost is known; null: of none" },
    { "items",  FIELD_LIST,   .of = turn_fields, .help = "the last turns, oldest first" },
    { 0 },
};
/* clang-format on */

static enum harness program_of(struct sv name)
{
    enum harness h = HARNESS_COUNT;

    return harness_find(name, &h) ? h : HARNESS_COUNT;
}

static void put_text(struct jw *w, const char *key, struct sv v)
{
    jw_key(w, key);
    jw_str(w, v.n ? v : (struct sv){ 0 });
}

static void write_turn(struct request *r, const struct harness_turn *t)
{
    struct jw *w = r->doc;

    jw_open(w, '{');
    jw_kint(w, "seq", t->seq);
    jw_ktime(w, "at", t->at);
    jw_kstr(w, "lane", t->lane);
    put_text(w, "harness", t->program);
    put_text(w, "prompt", t->prompt);
    put_text(w, "model", t->model);
    jw_kint(w, "messages", t->messages);
    jw_kint(w, "calls", t->calls);
    usage_members(w, &t->usage, t->usage.priced ? &t->usage.cost : NULL);
    jw_close(w, '}');
}

static enum status read_turns(struct request *r, struct sv thread, struct harness_turn **out,
                              size_t *n, struct err *e)
{
    struct store_head head;
    enum status       s = log_begin(&r->log, thread, STORE_READ, e);

    if (!s)
        s = log_head(&r->log, thread, &head, e);
    if (!s && !head.rev)
        s = log_no_thread(thread, e);
    if (!s)
        s = harness_turns(&r->log, thread, r->a, out, n, e);
    log_abort(&r->log);
    return share_call_or_empty(r, thread, s, e);
}

static enum status run(struct request *r, const void *given, struct err *e)
{
    const struct stats_params *p = given;
    struct harness_turn       *list = NULL;
    struct harness_usage       sum = { 0 };
    size_t                     n = 0, kept = 0;

    if (read_turns(r, p->thread, &list, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        struct harness_turn *t = &list[i];
        if (p->lane.s && !sv_eq(t->lane, p->lane))
            continue;
        if (!t->usage.priced)
            t->usage.priced =
                usage_price(r, program_of(t->program), t->model, &t->usage, &t->usage.cost);
        harness_usage_add(&sum, &t->usage, 1);
        list[kept++] = *t;
    }
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "thread", p->thread);
    jw_kint(r->doc, "turns", (int64_t)kept);
    usage_members(r->doc, &sum, sum.priced ? &sum.cost : NULL);
    jw_key(r->doc, "items");
    jw_open(r->doc, '[');
    for (size_t i = kept > (size_t)p->limit ? kept - (size_t)p->limit : 0; i < kept; i++)
        write_turn(r, &list[i]);
    jw_close(r->doc, ']');
    jw_close(r->doc, '}');
    return ST_OK;
}

/* ---- text ------------------------------------------------------------------------------------ */

static struct sv minute_of(struct sv time, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    int64_t   ms = 0;

    clock_parse_iso(time, &ms);
    sb_add_minute(&b, ms);
    return sb_sv(&b);
}

static struct sv number(int64_t n, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add_commas(&b, n);
    return sb_sv(&b);
}

static struct sv or_dash(struct sv v)
{
    return v.n ? v : SV("-");
}

static void print(const struct json *doc, struct term *t)
{
    static const char *const heads[] = { "AT",     "LANE", "CALLS", "INPUT", "CACHED",
                                         "OUTPUT", "COST", "TURN",  NULL };
    const struct json       *items = json_find(doc, "items");
    struct term_table        table = { .heads = heads };

    for (size_t i = 0; i < items->n; i++) {
        const struct json *x = &items->items[i], *k = json_find(x, "tokens");
        term_row(&table, t->a,
                 (struct sv[]){ minute_of(json_text(x, "at"), t->a), json_text(x, "lane"),
                                number(json_number(x, "calls"), t->a),
                                number(json_number(k, "input"), t->a),
                                number(json_number(k, "cache_read"), t->a),
                                number(json_number(k, "output"), t->a), usage_cost_text(x, t->a),
                                or_dash(json_text(x, "prompt")) });
    }
    if (items->n)
        term_table(&table, t);
    term_f(t, "%lld turn%s, ", (long long)json_number(doc, "turns"),
           json_number(doc, "turns") == 1 ? "" : "s");
    usage_print(doc, t);
    term_f(t, "\n");
}

const struct operation op_thread_stats = {
    .name = "thread.stats",
    .summary = "Show what each turn of a thread cost",
    .details = "Tokens and dollars from what was asked to what was asked next, for sessions of\n"
               "other programs and for answers of models that heddle asked. Reads the thread.",
    .group = GROUP_CARE,
    .needs = NEEDS_LOG,
    .repeat = REPEAT_READS,
    .params = params,
    .params_size = sizeof(struct stats_params),
    .answer = answer,
    .run = run,
    .print = print,
};

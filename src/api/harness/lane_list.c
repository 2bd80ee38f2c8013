/* lane.list: the lanes of a thread, and how they forked: sessions, rewinds and sub-agents among
 * them. */
#include "api/harness/usage_doc.h"
#include "api/share/share_call.h"
#include "api/term.h"
#include "base/map.h"
#include "thread/lane.h"
#include "thread/scan.h"

#include <stdlib.h>

struct lanes_params {
    struct sv thread;
};

/* clang-format off */
static const struct param params[] = {
    { "thread", PARAM_NAME, offsetof(struct lanes_params, thread), .value = "T", .required = true, .help = "the thread" },
    { 0 },
};
static const struct field lane_fields[] = {
    { "lane",     FIELD_TEXT,   .help = "the lane" },
    { "from",     FIELD_TEXT,   .nullable = true, .help = "the lane it left; null: none" },
    { "at",       FIELD_NUMBER, .nullable = true, .help = "the last entry they share; -1: none; null: it left none" },
    { "seq",      FIELD_NUMBER, .help = "the entry that brought it into being" },
    { "active",   FIELD_FLAG,   .help = "whether it is the one that goes on" },
    { "turns",    FIELD_NUMBER, .help = "its own turns" },
    { "messages", FIELD_NUMBER, .help = "messages in them" },
    { "prompt",   FIELD_TEXT,   .nullable = true, .help = "the beginning of what was asked first on it; null: nobody asked" },
    { "tokens",   FIELD_OBJECT, .of = usage_fields, .help = "what its turns used" },
    { "cost",     FIELD_REAL,   .nullable = true, .help = "dollars, of turns that say it; null: none does" },
    { 0 },
};
static const struct field answer[] = {
    { "thread", FIELD_TEXT, .help = "the thread" },
    { "items",  FIELD_LIST, .of = lane_fields, .help = "its lanes, in the order in which they came into being" },
    { 0 },
};
/* clang-format on */

struct lanes_found {
    struct lane         *lanes;
    struct harness_turn *turns;
    size_t               n_lanes, n_turns;
    struct sv            active;
};

static enum status read_lanes(struct request *r, struct sv thread, struct lanes_found *out,
                              struct err *e)
{
    struct store_head head;
    enum status       s = log_begin(&r->log, thread, STORE_READ, e);

    if (!s)
        s = log_head(&r->log, thread, &head, e);
    if (!s && !head.rev)
        s = log_no_thread(thread, e);
    if (!s)
        s = lane_list(&r->log, thread, r->a, &out->lanes, &out->n_lanes, e);
    if (!s)
        s = lane_active(&r->log, thread, SV("default"), r->a, &out->active, e);
    if (!s)
        s = harness_turns(&r->log, thread, r->a, &out->turns, &out->n_turns, e);
    log_abort(&r->log);
    return share_call_or_empty(r, thread, s, e);
}

/* The turns of one lane. */
struct lane_sum {
    struct harness_usage usage;
    struct sv            prompt;
    int64_t              turns, messages;
};

static struct map sums_of(const struct lanes_found *x, struct arena *a)
{
    struct map sums = map_in(a);

    for (size_t i = 0; i < x->n_turns; i++) {
        const struct harness_turn *t = &x->turns[i];
        struct lane_sum           *sum = map_find(&sums, t->lane);
        if (!sum) {
            sum = ARENA_NEW(a, struct lane_sum, 1);
            map_put(&sums, t->lane, sum);
        }
        if (!sum->prompt.n)
            sum->prompt = t->prompt;
        sum->turns++;
        sum->messages += t->messages;
        harness_usage_add(&sum->usage, &t->usage, 1);
    }
    return sums;
}

static void write_lane(struct jw *w, const struct lanes_found *x, const struct lane *lane,
                       const struct lane_sum *sum)
{
    static const struct lane_sum none;

    sum = sum ? sum : &none;
    jw_open(w, '{');
    jw_kstr(w, "lane", lane->name);
    jw_kstr(w, "from", lane->from.n ? lane->from : (struct sv){ 0 });
    jw_kint_if(w, "at", lane->from.n > 0, lane->at);
    jw_kint(w, "seq", lane->seq);
    jw_kbool(w, "active", sv_eq(lane->name, x->active));
    jw_kint(w, "turns", sum->turns);
    jw_kint(w, "messages", sum->messages);
    jw_kstr(w, "prompt", sum->prompt.n ? sum->prompt : (struct sv){ 0 });
    usage_members(w, &sum->usage, sum->usage.priced ? &sum->usage.cost : NULL);
    jw_close(w, '}');
}

static int by_seq(const void *a, const void *b)
{
    const struct lane *x = a, *y = b;

    return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static enum status run(struct request *r, const void *given, struct err *e)
{
    const struct lanes_params *p = given;
    struct lanes_found         x = { 0 };

    if (read_lanes(r, p->thread, &x, e))
        return err_code(e);
    if (x.n_lanes)
        qsort(x.lanes, x.n_lanes, sizeof *x.lanes, by_seq);
    struct map sums = sums_of(&x, r->a);
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "thread", p->thread);
    jw_key(r->doc, "items");
    jw_open(r->doc, '[');
    for (size_t i = 0; i < x.n_lanes; i++)
        write_lane(r->doc, &x, &x.lanes[i], map_find(&sums, x.lanes[i].name));
    jw_close(r->doc, ']');
    jw_close(r->doc, '}');
    return ST_OK;
}

/* ---- text ------------------------------------------------------------------------------------ */

enum { LEVELS_MAX = 32 }; /* deeper lanes are not indented further */

static void print_lane(const struct json *x, struct term *t)
{
    int64_t turns = json_number(x, "turns"), messages = json_number(x, "messages");

    term_styled(t, STYLE_NAME, json_text(x, "lane"));
    term_f(t, "%s  %lld turn%s, %lld message%s", json_truth(json_find(x, "active")) ? "*" : "",
           (long long)turns, turns == 1 ? "" : "s", (long long)messages, messages == 1 ? "" : "s");
    if (json_text(x, "from").n)
        term_f(t, ", from entry %lld", (long long)json_number(x, "at"));
    if (json_text(x, "prompt").n) {
        term_f(t, "  ");
        term_text(t, json_text(x, "prompt"));
    }
    term_f(t, "\n");
}

static bool is_below(const struct json *x, struct sv from)
{
    return sv_eq(json_text(x, "from"), from) && !sv_eq(json_text(x, "lane"), from);
}

/* The lanes that left `from` (absent: none), each with those that left it. */
static void print_below(const struct json *items, struct sv from, const char *indent, int level,
                        struct term *t)
{
    size_t left = 0;

    for (size_t i = 0; i < items->n; i++)
        left += is_below(&items->items[i], from);
    for (size_t i = 0; i < items->n && level < LEVELS_MAX; i++) {
        const struct json *x = &items->items[i];
        struct sb          deeper = sb_in(t->a, 0);
        if (!is_below(x, from))
            continue;
        left--;
        term_f(t, "%s%s", indent, !level ? "" : left ? "├─ " : "└─ ");
        print_lane(x, t);
        sb_addf(&deeper, "%s%s", indent, !level ? "" : left ? "│  " : "   ");
        print_below(items, json_text(x, "lane"), sb_sv(&deeper).s, level + 1, t);
    }
}

static void print(const struct json *doc, struct term *t)
{
    print_below(json_find(doc, "items"), SV(""), "", 0, t);
}

const struct operation op_lane_list = {
    .name = "lane.list",
    .summary = "Show the lanes of a thread, and how they forked",
    .details =
        "Each lane below the one that it left, with its own turns and what was asked first on it:\n"
        "forks, rewinds and sub-agents of imported sessions are lanes, too. * is the lane that\n"
        "goes on. `heddle tree` shows the messages themselves.\n"
        "\n"
        "  heddle lanes design",
    .group = GROUP_LOOM,
    .needs = NEEDS_LOG,
    .repeat = REPEAT_READS,
    .in_thread = true,
    .of_log = true,
    .params = params,
    .params_size = sizeof(struct lanes_params),
    .answer = answer,
    .run = run,
    .print = print,
};

/* The state of a session as JSON and back, by one table; and the ends of its lanes. */
#include "harness/state.h"

#include "base/money.h"
#include "base/utf8.h"

#include <stdlib.h>

void harness_text_set(struct harness_text *t, struct sv v)
{
    v = utf8_first(v, sizeof t->s);
    if (v.n)
        memcpy(t->s, v.s, v.n);
    t->n = (uint16_t)v.n;
}

struct sv harness_text_sv(const struct harness_text *t)
{
    return t->n ? (struct sv){ t->s, t->n } : (struct sv){ 0 };
}

/* ---- usage -------------------------------------------------------------------------------- */

void harness_usage_add(struct harness_usage *to, const struct harness_usage *more, int sign)
{
    to->input += sign * more->input;
    to->output += sign * more->output;
    to->cache_read += sign * more->cache_read;
    to->cache_write += sign * more->cache_write;
    to->reasoning += sign * more->reasoning;
    to->cost += sign * more->cost;
    to->priced = to->priced || more->priced;
}

bool harness_dollars(const struct json *number, int64_t *nano)
{
    char   text[64];
    double v;

    if (!json_is(number, JSON_NUMBER) || number->n >= sizeof text)
        return false;
    if (money_parse((struct sv){ number->s, number->n }, nano))
        return true;
    memcpy(text, number->s, number->n);
    text[number->n] = '\0';
    v = strtod(text, NULL);
    if (!(v > -1e9 && v < 1e9))
        return false;
    *nano = (int64_t)(v * 1e9 + (v < 0 ? -0.5 : 0.5));
    return true;
}

/* ---- the table ------------------------------------------------------------------------------ */

enum field_form { FORM_NUMBER, FORM_TEXT, FORM_LONG, FORM_FLAG };

/* clang-format off */
#define S(member) offsetof(struct harness_state, member)
/* By name: the object is canonical. */
static const struct {
    const char     *name;
    enum field_form form;
    size_t          offset;
} table[] = {
    { "agent",        FORM_FLAG,   S(is_agent) },
    { "asked",        FORM_TEXT,   S(asked) },
    { "branch",       FORM_TEXT,   S(branch) },
    { "cache_read",   FORM_NUMBER, S(total.cache_read) },
    { "cache_write",  FORM_NUMBER, S(total.cache_write) },
    { "cost",         FORM_NUMBER, S(total.cost) },
    { "cwd",          FORM_LONG,   S(cwd) },
    { "first",        FORM_NUMBER, S(first) },
    { "group",        FORM_TEXT,   S(group) },
    { "group_cache_read",  FORM_NUMBER, S(counted.cache_read) },
    { "group_cache_write", FORM_NUMBER, S(counted.cache_write) },
    { "group_cost",   FORM_NUMBER, S(counted.cost) },
    { "group_input",  FORM_NUMBER, S(counted.input) },
    { "group_output", FORM_NUMBER, S(counted.output) },
    { "group_reasoning", FORM_NUMBER, S(counted.reasoning) },
    { "input",        FORM_NUMBER, S(total.input) },
    { "keeps",        FORM_TEXT,   S(keeps) },
    { "lane",         FORM_TEXT,   S(lane) },
    { "last",         FORM_NUMBER, S(last) },
    { "list",         FORM_TEXT,   S(list) },
    { "loose",        FORM_NUMBER, S(loose) },
    { "messages",     FORM_NUMBER, S(messages) },
    { "model",        FORM_TEXT,   S(model) },
    { "named",        FORM_TEXT,   S(named) },
    { "number",       FORM_NUMBER, S(number) },
    { "numbered",     FORM_FLAG,   S(is_numbered) },
    { "offset",       FORM_NUMBER, S(offset) },
    { "origin",       FORM_TEXT,   S(origin) },
    { "output",       FORM_NUMBER, S(total.output) },
    { "parent",       FORM_TEXT,   S(parent) },
    { "path",         FORM_LONG,   S(path) },
    { "previous",     FORM_TEXT,   S(previous) },
    { "priced",       FORM_FLAG,   S(total.priced) },
    { "prompt",       FORM_TEXT,   S(prompt) },
    { "reasoning",    FORM_NUMBER, S(total.reasoning) },
    { "records",      FORM_NUMBER, S(records) },
    { "seen",         FORM_NUMBER, S(seen) },
    { "tail",         FORM_TEXT,   S(tail) },
    { "title",        FORM_TEXT,   S(title) },
    { "told",         FORM_NUMBER, S(told) },
    { "turns",        FORM_NUMBER, S(turns) },
    { "usage_records", FORM_FLAG,  S(has_usage_records) },
    { "version",      FORM_TEXT,   S(version) },
};
/* clang-format on */

void harness_state_init(struct harness_state *s)
{
    memset(s, 0, sizeof *s);
}

static void write_field(struct jw *w, const struct harness_state *s, size_t i)
{
    const char *at = (const char *)s + table[i].offset;
    struct sv   text = { 0 };

    switch (table[i].form) {
    case FORM_NUMBER:
        if (*(const int64_t *)(const void *)at)
            jw_kint(w, table[i].name, *(const int64_t *)(const void *)at);
        return;
    case FORM_FLAG:
        if (*(const bool *)(const void *)at)
            jw_kbool(w, table[i].name, true);
        return;
    case FORM_TEXT: text = harness_text_sv((const struct harness_text *)(const void *)at); break;
    case FORM_LONG: text = *(const struct sv *)(const void *)at; break;
    }
    if (text.s)
        jw_kstr(w, table[i].name, text);
}

static void write_tips(struct jw *w, const struct harness_state *s)
{
    jw_key(w, "tips");
    jw_open(w, '[');
    for (size_t i = 0; i < s->n_tips; i++) {
        jw_open(w, '[');
        jw_str(w, (struct sv){ s->tips[i].lane.s, s->tips[i].lane.n });
        jw_str(w, (struct sv){ s->tips[i].key.s, s->tips[i].key.n });
        jw_int(w, s->tips[i].answer);
        jw_close(w, ']');
    }
    jw_close(w, ']');
}

static void write_lists(struct jw *w, const struct harness_state *s)
{
    if (s->n_calls) {
        jw_key(w, "calls");
        jw_open(w, '[');
        for (size_t i = 0; i < s->n_calls; i++) {
            jw_open(w, '[');
            jw_str(w, (struct sv){ s->calls[i].id.s, s->calls[i].id.n });
            jw_str(w, (struct sv){ s->calls[i].key.s, s->calls[i].key.n });
            jw_close(w, ']');
        }
        jw_close(w, ']');
    }
    if (s->n_starts) {
        jw_key(w, "starts");
        jw_open(w, '[');
        for (size_t i = 0; i < s->n_starts; i++)
            jw_str(w, (struct sv){ s->starts[i].s, s->starts[i].n });
        jw_close(w, ']');
    }
    if (s->n_tips)
        write_tips(w, s);
}

void harness_state_write(struct jw *w, const struct harness_state *s)
{
    jw_open(w, '{');
    for (size_t i = 0; i < COUNT(table); i++)
        write_field(w, s, i);
    write_lists(w, s);
    jw_close(w, '}');
}

/* ---- back ---------------------------------------------------------------------------------- */

static const struct json *item_of(const struct json *list, size_t i)
{
    return json_is(list, JSON_ARRAY) && i < list->n ? &list->items[i] : NULL;
}

static void read_lists(const struct json *v, struct harness_state *s)
{
    const struct json *tips = json_find(v, "tips"), *calls = json_find(v, "calls");
    const struct json *starts = json_find(v, "starts"), *x;

    for (; (x = item_of(tips, s->n_tips)) && s->n_tips < HARNESS_TIPS_MAX; s->n_tips++) {
        struct harness_tip *t = &s->tips[s->n_tips];
        harness_text_set(&t->lane, json_sv(item_of(x, 0)));
        harness_text_set(&t->key, json_sv(item_of(x, 1)));
        if (!json_int(item_of(x, 2), &t->answer))
            t->answer = 0;
    }
    for (; (x = item_of(calls, s->n_calls)) && s->n_calls < HARNESS_CALLS_MAX; s->n_calls++) {
        harness_text_set(&s->calls[s->n_calls].id, json_sv(item_of(x, 0)));
        harness_text_set(&s->calls[s->n_calls].key, json_sv(item_of(x, 1)));
    }
    for (; (x = item_of(starts, s->n_starts)) && s->n_starts < HARNESS_STARTS_MAX; s->n_starts++)
        harness_text_set(&s->starts[s->n_starts], json_sv(x));
}

void harness_state_read(const struct json *v, struct arena *a, struct harness_state *s)
{
    harness_state_init(s);
    for (size_t i = 0; i < COUNT(table); i++) {
        const struct json *x = json_find(v, table[i].name);
        char              *at = (char *)s + table[i].offset;
        if (!x)
            continue;
        switch (table[i].form) {
        case FORM_NUMBER: json_int(x, (int64_t *)(void *)at); break;
        case FORM_FLAG: *(bool *)(void *)at = json_truth(x); break;
        case FORM_TEXT: harness_text_set((struct harness_text *)(void *)at, json_sv(x)); break;
        case FORM_LONG:
            *(struct sv *)(void *)at = json_sv(x).s ? sv_dup(json_sv(x), a) : (struct sv){ 0 };
            break;
        }
    }
    read_lists(v, s);
}

/* ---- calls --------------------------------------------------------------------------------- */

static void drop_call(struct harness_state *s, size_t i)
{
    memmove(&s->calls[i], &s->calls[i + 1], (s->n_calls - i - 1) * sizeof s->calls[0]);
    s->n_calls--;
}

void harness_call_add(struct harness_state *s, struct sv id, struct sv key)
{
    if (!id.n)
        return;
    if (s->n_calls == HARNESS_CALLS_MAX)
        drop_call(s, 0);
    harness_text_set(&s->calls[s->n_calls].id, id);
    harness_text_set(&s->calls[s->n_calls++].key, key);
}

struct sv harness_call_take(struct harness_state *s, struct sv id, struct arena *a)
{
    struct sv key = { 0 };

    for (size_t i = 0; id.n && i < s->n_calls && !key.s; i++)
        if (sv_eq(harness_text_sv(&s->calls[i].id), id)) {
            key = sv_dup(harness_text_sv(&s->calls[i].key), a);
            drop_call(s, i);
        }
    return key;
}

void harness_start_add(struct harness_state *s, struct sv key)
{
    if (s->n_starts == HARNESS_STARTS_MAX) {
        memmove(s->starts, s->starts + 1, (HARNESS_STARTS_MAX - 1) * sizeof s->starts[0]);
        s->n_starts--;
    }
    harness_text_set(&s->starts[s->n_starts++], key.n ? key : SV("-"));
}

struct sv harness_start_back(struct harness_state *s, int64_t n)
{
    if (n <= 0 || (uint64_t)n > s->n_starts)
        return (struct sv){ 0 };
    s->n_starts -= (size_t)n;
    return harness_text_sv(&s->starts[s->n_starts]);
}

/* ---- ends of lanes ------------------------------------------------------------------------- */

static bool is_text(const struct harness_text *t, struct sv v)
{
    return t->n == v.n && memcmp(t->s, v.s, v.n) == 0;
}

struct harness_tip *harness_tip_of_lane(struct harness_state *s, struct sv lane)
{
    for (size_t i = s->n_tips; lane.n && i-- > 0;)
        if (is_text(&s->tips[i].lane, lane))
            return &s->tips[i];
    return NULL;
}

struct harness_tip *harness_tip_with_key(struct harness_state *s, struct sv key)
{
    for (size_t i = s->n_tips; key.n && i-- > 0;)
        if (is_text(&s->tips[i].key, key))
            return &s->tips[i];
    return NULL;
}

/* The list is in order of use: a lane that is used moves to its end. */
struct harness_tip *harness_tip_set(struct harness_state *s, struct sv lane, struct sv key)
{
    struct harness_tip *t = harness_tip_of_lane(s, lane), *last = &s->tips[s->n_tips];
    struct harness_tip  moved = { .answer = 0 };

    if (t && t + 1 == last) {
        harness_text_set(&t->key, key);
        return t;
    }
    if (t)
        moved = *t;
    else
        harness_text_set(&moved.lane, lane);
    if (!t && s->n_tips == HARNESS_TIPS_MAX)
        t = s->tips;
    if (t)
        memmove(t, t + 1, (size_t)(last - (t + 1)) * sizeof *t);
    else
        s->n_tips++;
    t = &s->tips[s->n_tips - 1];
    *t = moved;
    harness_text_set(&t->key, key);
    return t;
}

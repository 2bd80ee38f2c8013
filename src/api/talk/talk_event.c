/* Events of a turn: one table of names, a writer and a printer. */
#include "api/talk/talk_event.h"

#include "api/loom/loom_call.h"
#include "api/term.h"
#include "base/money.h"

/* clang-format off */
static const char *const types[] = {
    [TURN_STARTED] = "started", [TURN_RESUMED] = "resumed", [TURN_TEXT] = "text", [TURN_THINKING] = "thinking",
    [TURN_COMMAND] = "command", [TURN_THOUGHT] = "thought", [TURN_RESULT] = "result", [TURN_NODE] = "node",
    [TURN_INPUT] = "input", [TURN_USAGE] = "usage", [TURN_NOTICE] = "notice", NULL,
};
const struct field talk_used_fields[] = {
    { "requests",  FIELD_NUMBER, .help = "how often a model was asked" },
    { "input",     FIELD_NUMBER, .help = "tokens that were sent" },
    { "output",    FIELD_NUMBER, .help = "tokens that came back" },
    { "cost",      FIELD_REAL,   .nullable = true, .help = "dollars; null: not known" },
    { "estimated", FIELD_FLAG,   .help = "whether a part of it was estimated, because the provider did not tell" },
    { 0 },
};
const struct field talk_event_fields[] = {
    { "type",   FIELD_ENUM,   .values = types, .help = "what happened: started, resumed, text and thinking (pieces of the answer), command, thought, result, node (what the prose has become), input (steering that the model is given), usage, notice" },
    { "round",  FIELD_NUMBER, .help = "how often the model was asked so far" },
    { "text",   FIELD_TEXT,   .optional = true, .help = "of started and resumed: the run; else what was said" },
    { "node",   FIELD_TEXT,   .optional = true, .help = "the node it is about" },
    { "result", FIELD_OBJECT, .of = loom_result_fields, .optional = true, .help = "what a command did" },
    { "usage",  FIELD_OBJECT, .of = talk_used_fields, .optional = true, .help = "of the turn so far" },
    { "break",  FIELD_FLAG,   .optional = true, .help = "whether a line end goes before it: a text before it has none, or a result follows another one" },
    { "start",  FIELD_FLAG,   .optional = true, .help = "of thinking: whether it begins a line" },
    { 0 },
};
/* clang-format on */

/* ---- documents ----------------------------------------------------------------------------- */

void talk_used_write(struct jw *w, const struct turn_used *u)
{
    char      room[40];
    struct sb b = sb_on(room, sizeof room, NULL);

    jw_open(w, '{');
    jw_kint(w, "requests", u->requests);
    jw_kint(w, "input", u->input);
    jw_kint(w, "output", u->output);
    jw_key(w, "cost");
    if (u->cost >= 0) {
        sb_add_decimal(&b, u->cost);
        jw_raw(w, sb_sv(&b));
    } else {
        jw_null(w);
    }
    jw_kbool(w, "estimated", u->estimated);
    jw_close(w, '}');
}

static bool is_piece(enum turn_event_type t)
{
    return t == TURN_TEXT || t == TURN_THINKING;
}

/* Pieces of one kind go on in the line; everything else begins one. Results are apart. */
static bool needs_break(const struct turn_event *ev, struct talk_line *line)
{
    bool now = (line->open && !(is_piece(ev->type) && ev->type == line->type)) ||
               (ev->type == TURN_RESULT && line->type == TURN_RESULT);

    line->type = ev->type;
    if (is_piece(ev->type) && ev->text.n)
        line->open = !sv_ends(ev->text, SV("\n"));
    else
        line->open = false;
    return now;
}

void talk_event_write(struct jw *w, const struct turn_event *ev, struct talk_line *line)
{
    bool was_open = line->open;
    bool broken = needs_break(ev, line);

    jw_open(w, '{');
    jw_kstr(w, "type", sv_of(types[ev->type]));
    jw_kint(w, "round", ev->round);
    if (ev->text.s)
        jw_klossy(w, "text", ev->text);
    if (ev->node.s)
        jw_kstr(w, "node", ev->node);
    if (ev->result) {
        jw_key(w, "result");
        result_json(w, ev->result);
    }
    if (ev->used) {
        jw_key(w, "usage");
        talk_used_write(w, ev->used);
    }
    if (broken)
        jw_kbool(w, "break", true);
    if (ev->type == TURN_THINKING && ev->text.n && (broken || !was_open))
        jw_kbool(w, "start", true);
    jw_close(w, '}');
}

/* ---- for people ------------------------------------------------------------------------------ */

/* Every line with two spaces in front. */
static void print_block(struct term *t, enum term_style style, struct sv text)
{
    while (text.n) {
        struct sv_cut line = sv_cut(text, '\n');
        struct sb     b = sb_in(t->a, 0);
        sb_adds(&b, line.head.n ? "  " : "");
        sb_add(&b, line.head);
        term_styled(t, style, sb_sv(&b));
        term_f(t, "\n");
        text = line.tail;
    }
}

static void print_result(const struct json *result, struct term *t)
{
    const struct json *error = json_find(result, "error");
    struct sb          b = sb_in(t->a, 0);

    if (!error) {
        print_block(t, STYLE_DIM, json_text(result, "text"));
        return;
    }
    result_show_error(&b, json_text(error, "code"), json_text(error, "message"),
                      json_text(error, "hint"));
    print_block(t, STYLE_BAD, sb_sv(&b));
}

static void add_used(struct sb *b, const struct json *used)
{
    const struct json *cost = json_find(used, "cost");
    int64_t            nano;

    sb_adds(b, json_truth(json_find(used, "estimated")) ? "~" : "");
    sb_add_commas(b, json_number(used, "input"));
    sb_adds(b, " tokens in · ");
    sb_add_commas(b, json_number(used, "output"));
    sb_adds(b, " out");
    if (json_is(cost, JSON_NUMBER) && money_parse((struct sv){ cost->s, cost->n }, &nano)) {
        sb_adds(b, " · ");
        sb_add_dollars(b, nano);
    }
}

static void print_line(struct term *t, enum term_style style, const char *mark, struct sv text)
{
    struct sb b = sb_in(t->a, 0);

    sb_adds(&b, mark);
    sb_add(&b, text);
    term_styled(t, style, sb_sv(&b));
    term_f(t, "\n");
}

static void print_node(struct term *t, struct sv node)
{
    struct sb b = sb_in(t->a, 0);

    sb_addf(&b, "[" SV_FMT "]", SV_ARG(node));
    print_line(t, STYLE_DIM, "", sb_sv(&b));
}

/* Dim; where nothing can be dim each line has a mark, so that it is not taken for the answer. */
static void print_thinking(struct sv text, bool start, struct term *t)
{
    struct sv_cut line = { .tail = text };

    if (t->colour) {
        term_styled(t, STYLE_DIM, text);
        return;
    }
    while (line.tail.n) {
        line = sv_cut(line.tail, '\n');
        if (start)
            sb_adds(t->out, "· ");
        term_text(t, line.head);
        sb_adds(t->out, line.found ? "\n" : "");
        start = line.found;
    }
}

void talk_event_print(const struct json *event, struct term *t)
{
    struct sv type = json_text(event, "type"), text = json_text(event, "text");

    if (json_truth(json_find(event, "break")))
        term_f(t, "\n");
    if (sv_is(type, "text"))
        term_text(t, text);
    else if (sv_is(type, "thinking"))
        print_thinking(text, json_truth(json_find(event, "start")), t);
    else if (sv_is(type, "command") || sv_is(type, "thought"))
        print_line(t, STYLE_DIM, "", text);
    else if (sv_is(type, "result"))
        print_result(json_find(event, "result"), t);
    else if (sv_is(type, "input"))
        print_line(t, STYLE_NAME, "» ", text);
    else if (sv_is(type, "notice"))
        print_line(t, STYLE_NOTE, "! ", text);
    else if (sv_is(type, "node"))
        print_node(t, json_text(event, "node"));
}

void talk_used_print(const struct json *used, struct term *t)
{
    struct sb b = sb_in(t->a, 0);

    sb_adds(&b, "(");
    add_used(&b, used);
    sb_adds(&b, ")");
    term_styled(t, STYLE_DIM, sb_sv(&b));
    term_f(t, "\n");
}

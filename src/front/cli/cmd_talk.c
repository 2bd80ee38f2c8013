/* `talk`: an agent answers; without a message, a conversation at a prompt. What a turn does is the
 * operation `talk`; the prompt, the meter and what is typed meanwhile are the shell's. */
#include "base/money.h"
#include "front/cli/background.h"
#include "front/cli/steering.h"
#include "front/cli/tree_prompt.h"

extern const struct operation op_talk, op_run_status, op_assemble, op_compact, op_tree_summarize,
    op_tree_close, op_agent_list;

struct talk {
    struct tree_prompt prompt; /* at which the person types */
    struct background  summaries;
    struct sv          agent;
    void              *params;
    bool               quits;
};

/* ---- the meter ------------------------------------------------------------------------------ */

/* Sums over all turns of this process; static, because finish() has no context of its own. */
static struct {
    int64_t turns, input, output, cost;
} meter;

static void add_cost(struct sb *b, int64_t nano)
{
    if (nano <= 0)
        return;
    sb_adds(b, " · ");
    sb_add_dollars(b, nano);
}

static void count(const struct json *usage)
{
    const struct json *cost = json_find(usage, "cost");
    int64_t            nano = 0;

    if (json_is(cost, JSON_NUMBER) && !money_parse((struct sv){ cost->s, cost->n }, &nano))
        nano = 0;
    meter.turns++;
    meter.input += json_number(usage, "input");
    meter.output += json_number(usage, "output");
    meter.cost += nano;
}

/* Print the answer of a turn and, from the second turn on, the tokens of all turns so far. */
static enum status finish(struct app *app, struct request *r, const void *params, struct err *e)
{
    struct json doc;

    (void)params;
    if (command_print_answer(app, &op_talk, r, e))
        return err_code(e);
    if (json_parse(request_document(r), 0, app->a, &doc, e))
        return err_code(e);
    count(json_find(&doc, "usage"));
    if (app->json || meter.turns < 2)
        return ST_OK;
    struct sb   b = sb_in(app->a, 0);
    struct term t = app_term(app);
    sb_addf(&b, "(in %lld turns: ", (long long)meter.turns);
    sb_add_commas(&b, meter.input + meter.output);
    sb_adds(&b, " tokens");
    add_cost(&b, meter.cost);
    sb_adds(&b, ")");
    term_styled(&t, STYLE_DIM, sb_sv(&b));
    sb_addc(&app->out, '\n');
    return ST_OK;
}

/* ---- one turn -------------------------------------------------------------------------------- */

static void *field(void *params, const char *name)
{
    return (char *)params + param_find(op_talk.params, sv_of(name))->offset;
}

static struct sv *text_field(void *params, const char *name)
{
    return field(params, name);
}

static const struct command turn_row = { .name = "talk", .op = &op_talk, .finish = finish };

/* Each turn has its own arena, because a conversation may have many turns. */
static enum status turn(struct app *app, void *params, struct steering *s, struct err *e)
{
    struct arena  own = { 0 };
    struct arena *usual = app->a;

    steering_begin(s, app, *text_field(params, "thread"), *text_field(params, "agent"));
    /* cppcheck-suppress autoVariables ; put back below */
    app->a = &own;
    app->event_term = (struct term){ 0 };
    enum status st = command_call(app, &turn_row, params, e);
    app->a = usual;
    app->event_term = (struct term){ 0 };
    arena_free(&own);
    steering_end(s);
    struct err unwritten;
    return sb_flush(&app->out, &unwritten) && !st ? (*e = unwritten, err_code(e)) : st;
}

/* ---- a conversation ---------------------------------------------------------------------------
 */

/* At a terminal the error of a turn is printed and the conversation goes on; elsewhere it ends. */
static enum status settle(struct talk *t, enum status st, struct err *e)
{
    if (st && line_has_person()) {
        app_fail(t->prompt.app, e);
        return ST_OK;
    }
    return st;
}

static bool is_command(struct sv input)
{
    return sv_starts(input, SV("/")) || sv_starts(input, SV("→"));
}

static enum status command(struct talk *t, struct sv input, struct sv at, struct err *e);

/* Where the agent's branch ends; absent in an empty tree. */
static struct sv branch_end(struct talk *t)
{
    struct err ignored;

    return json_text(tree_prompt_where_is(&t->prompt, t->agent, &ignored), "end");
}

/* Run a turn with the message behind `at`, or behind the end of the agent's branch. A turn that did
 * not begin leaves the place where the next message goes as it was. Lines that were typed too late
 * for it are said after it, and commands among them are run then. */
static enum status say(struct talk *t, struct sv message, struct sv at, bool resume, struct err *e)
{
    struct steering s;
    struct sv       line, before = t->prompt.at.n ? branch_end(t) : (struct sv){ 0 };

    *text_field(t->params, "message") = message;
    *text_field(t->params, "at") = resume || !at.n ? (struct sv){ 0 } : at;
    *(bool *)field(t->params, "resume") = resume;
    enum status st = settle(t, turn(t->prompt.app, t->params, &s, e), e);
    *text_field(t->params, "at") = (struct sv){ 0 };
    *(bool *)field(t->params, "resume") = false;
    if (t->prompt.at.n && !sv_eq(before, branch_end(t)))
        t->prompt.at = (struct sv){ 0 };
    background_wake(&t->summaries, t->agent);
    while (!st && !t->quits && steering_left(&s, &line))
        st = is_command(line) ? command(t, line, t->prompt.at, e)
                              : say(t, line, t->prompt.at, false, e);
    steering_release(&s);
    return st;
}

/* ---- commands ------------------------------------------------------------------------------- */

/* Operations on the thread that a person can run without leaving the conversation. */
static const struct talk_command {
    const char             *word;
    const struct operation *op;
    const char             *flag; /* a parameter that is set, or NULL */
    bool                    agent;
    const char             *help;
} own[] = {
    { "/explain", &op_assemble, "explain", true, "what the agent would be sent now, with tokens" },
    { "/compact", &op_compact, NULL, true, "shorten the conversation for good" },
    { "/uncompact", &op_compact, "undo", true, "take the last compaction back" },
    { "/summarize", &op_tree_summarize, NULL, false, "make the summaries that are missing" },
    { "/close", &op_tree_close, NULL, false, "the same, and one of the tree" },
};

static void help(struct app *app)
{
    struct term t = app_term(app);

    term_f(&t, "Here: /go (answer what is there), /resume, /agent NAME, /cancel (while it works), "
               "/quit\n");
    for (size_t i = 0; i < COUNT(own); i++)
        term_f(&t, "      %s: %s\n", own[i].word, own[i].help);
    term_f(&t, "Of the tree, with / or →:\n\n");
}

static enum status operate(struct talk *t, const struct talk_command *c, struct err *e)
{
    struct tree_prompt *p = &t->prompt;
    struct prompt_given given[] = { { "thread", p->thread },
                                    { c->agent ? "agent" : "thread",
                                      c->agent ? t->agent : p->thread },
                                    { c->flag, c->flag ? SV("true") : (struct sv){ 0 } },
                                    { 0 } };
    struct request      r;

    if (tree_prompt_call(p, c->op, given, &r, e) || tree_prompt_print(p, c->op, &r, e))
        return err_code(e);
    return sb_flush(&p->app->out, e);
}

/* Let `name` answer from now on. It must be a model that exists: otherwise a mistyped name would be
 * noticed only after a message was written for it. */
static enum status name_agent(struct talk *t, struct sv name, struct err *e)
{
    const struct prompt_given none[] = { { 0 } };
    const struct json        *doc = tree_prompt_look(&t->prompt, &op_agent_list, none, e);
    const struct json        *list = json_find(doc, "items");
    struct sb                 models = sb_in(&t->prompt.line, 0);

    if (!doc)
        return err_code(e);
    for (size_t i = 0; i < list->n; i++) {
        struct sv other = json_text(&list->items[i], "name");
        if (!sv_is(json_text(&list->items[i], "kind"), "model"))
            continue;
        sb_addf(&models, "%s" SV_FMT, models.n ? ", " : "", SV_ARG(other));
        if (!sv_eq(other, name))
            continue;
        t->agent = sv_dup(name, t->prompt.app->a);
        *text_field(t->params, "agent") = t->agent;
        t->prompt.label = t->prompt.partner = t->agent;
        return ST_OK;
    }
    err_set(e, ST_NOT_FOUND, name.n ? "there is no model '" SV_FMT "'" : "say which model answers",
            SV_ARG(name));
    return err_hint(e, "/agent NAME, one of: " SV_FMT, SV_ARG(sb_sv(&models)));
}

/* A command of the tree. If it moves the speaker, even to where it was before, the next message is
 * said there. */
static enum status act(struct talk *t, struct sv input, struct err *e)
{
    struct tree_prompt *p = &t->prompt;
    struct err          ignored;
    const struct json  *before = tree_prompt_where(p, &ignored);
    struct sv           thread = p->thread;

    if (tree_prompt_act(p, input, e))
        return err_code(e);
    const struct json *after = tree_prompt_where(p, &ignored);
    struct sv          here = json_text(after, "position");
    bool moved = !sv_eq(thread, p->thread) || !sv_eq(json_text(before, "position"), here) ||
                 json_number(before, "since") != json_number(after, "since");
    if (here.n && moved)
        p->at = sv_dup(here, p->app->a);
    if (sv_eq(thread, p->thread))
        return ST_OK;
    background_end(&t->summaries, false); /* the tree that was left is closed */
    background_begin(&t->summaries, p->app, p->thread, t->agent);
    *text_field(t->params, "thread") = p->thread;
    return ST_OK;
}

/* Run a line that starts with / or →; see settle() for errors. `at`: the place that the person was
 * shown, or absent. */
static enum status command(struct talk *t, struct sv input, struct sv at, struct err *e)
{
    struct sv_cut word = sv_cut(input, ' ');

    t->quits = sv_is(input, "/quit") || sv_is(input, "/exit");
    if (t->quits)
        return ST_OK;
    if (sv_is(input, "/go") || sv_is(input, "/resume"))
        return say(t, (struct sv){ 0 }, at, sv_is(input, "/resume"), e);
    if (sv_is(word.head, "/agent"))
        return settle(t, name_agent(t, sv_trim(word.tail), e), e);
    for (size_t i = 0; i < COUNT(own); i++)
        if (sv_is(input, own[i].word))
            return settle(t, operate(t, &own[i], e), e);
    if (sv_is(input, "/help"))
        help(t->prompt.app);
    return settle(t, act(t, input, e), e);
}

/* Tell the person when the agent's last turn was interrupted. */
static void tell_interrupted(struct talk *t)
{
    struct prompt_given given[] = { { "thread", t->prompt.thread }, { "agent", t->agent }, { 0 } };
    struct err          ignored;
    const struct json  *doc = tree_prompt_look(&t->prompt, &op_run_status, given, &ignored);

    if (json_truth(json_find(doc, "active")))
        warn("a turn of " SV_FMT " was interrupted, or goes on elsewhere: /resume goes on with it",
             SV_ARG(t->agent));
}

static enum status lines(struct talk *t, struct err *e)
{
    struct tree_prompt *p = &t->prompt;
    bool                more = true, any = false;
    struct sv           input;

    while (more && !t->quits) {
        if (tree_prompt_read(p, &input, &more, e))
            return err_code(e);
        any = any || input.n;
        struct sv at = p->shown.n ? p->shown : p->at;
        if (more && is_command(input)) {
            if (command(t, input, at, e))
                return err_code(e);
        } else if (more && input.n && say(t, sv_dup(input, p->app->a), at, false, e)) {
            return err_code(e);
        }
        tree_prompt_next(p);
    }
    if (!any && !line_has_person()) /* the input is empty: the agent answers without a message */
        return say(t, (struct sv){ 0 }, p->at, false, e);
    if (line_has_person())
        sb_addc(&p->app->out, '\n');
    return ST_OK;
}

static enum status converse(struct app *app, void *params, struct err *e)
{
    struct talk t = { .agent = *text_field(params, "agent"), .params = params };

    t.prompt = (struct tree_prompt){ .app = app,
                                     .thread = *text_field(params, "thread"),
                                     .label = t.agent,
                                     .partner = t.agent,
                                     .history = -1 };
    if (!app->ws.has_heddle && workspace_make(&app->ws, SV(".heddle"), e))
        return err_code(e);
    background_begin(&t.summaries, app, t.prompt.thread, t.agent);
    tree_prompt_open(&t.prompt, ".heddle/talk_history");
    if (line_has_person())
        tell_interrupted(&t);
    enum status st = lines(&t, e);
    background_end(&t.summaries, st != ST_OK);
    tree_prompt_close(&t.prompt);
    return st;
}

static enum status run(struct app *app, const void *opts, struct err *e)
{
    void           *params = (void *)(uintptr_t)opts; /* command_parse() made it for this call */
    struct sv      *message = text_field(params, "message");
    struct steering s;

    if (command_set(&op_talk, params, "thread", app_arg(app, 0), app->a, e))
        return err_code(e);
    if (!text_field(params, "agent")->n)
        return command_need("talk", "--agent", (struct sv){ 0 }, e);
    if (message->s && sv_is(*message, "-") && app_text(app, *message, message, e))
        return err_code(e);
    if (!message->s && !*(bool *)field(params, "resume") && !text_field(params, "at")->s)
        return converse(app, params, e);
    struct background summaries;
    background_begin(&summaries, app, *text_field(params, "thread"), *text_field(params, "agent"));
    enum status st = turn(app, params, &s, e);
    steering_release(&s);
    background_end(&summaries, st != ST_OK);
    return st;
}

static const struct cli_word words[] = { { "thread", WORD_PLAIN }, { 0 } };

const struct command cmd_talk = {
    .name = "talk",
    .op = &op_talk,
    .words = words,
    .run = run,
};

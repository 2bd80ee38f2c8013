/* `say` and `do`: a message, or a model's whole output, into the tree. */
#include "front/cli/command.h"
#include "front/loom_env.h"
#include "loom/node.h"

#include <unistd.h>

struct say_opts {
    struct sv agent, at;
};

static const struct opt say_table[] = {
    { OPT_TEXT, "agent", "A", "who says it (default: you)", offsetof(struct say_opts, agent), 0 },
    { OPT_TEXT, "at", "NODE", "the node it follows (default: where the agent is)",
      offsetof(struct say_opts, at), 0 },
    { 0 },
};

static const struct opt do_table[] = {
    { OPT_TEXT, "agent", "A", "whose output it is (default: you)", offsetof(struct say_opts, agent),
      0 },
    { OPT_TEXT, "at", "NODE", "the node that the output answers: the agent goes there first",
      offsetof(struct say_opts, at), 0 },
    { 0 },
};

static void print_node(struct app *app, const struct node *n)
{
    if (!app->json) {
        sb_addf(&app->out, "[" SV_FMT "]\n", SV_ARG(n->local));
        return;
    }
    struct jw w = jw_in(&app->out, 0);
    jw_open(&w, '{');
    jw_kstr(&w, "id", n->id);
    jw_kstr(&w, "local_id", n->local);
    jw_kstr(&w, "lane", n->lane);
    jw_kint(&w, "seq", n->seq);
    jw_kint(&w, "depth", n->depth);
    jw_close(&w, '}');
    sb_addc(&app->out, '\n');
}

static enum status run_say(struct app *app, const void *opts, struct err *e)
{
    const struct say_opts *o = opts;
    struct loom_env        env;
    struct session         s;
    struct node            n;
    struct sv              text;

    loom_env_init(&env, app);
    if (app_text(app, app_arg(app, 1), &text, e) ||
        loom_env_open(&env, app_arg(app, 0), o->agent, &s, e))
        return err_code(e);
    while (text.n && text.s[text.n - 1] == '\n') /* the end of a piped file, not of the text */
        text.n--;
    if (session_say(&s, text, o->at, "say", &n, e))
        return loom_node_hint(err_code(e), app_arg(app, 0), e);
    print_node(app, &n);
    loom_tell_branch(&s);
    return ST_OK;
}

/* Results as a model sees them: one after another, a blank line between. */
static void print_results(struct app *app, const struct turn *turn)
{
    bool any = false;

    for (size_t i = 0; i < turn->n; i++) {
        if (turn->results[i].silent && turn->results[i].ok)
            continue;
        sb_adds(&app->out, any ? "\n" : "");
        result_show(&app->out, &turn->results[i]);
        any = true;
    }
}

static void print_json(struct app *app, const struct turn *turn)
{
    struct jw w = jw_in(&app->out, 0);

    jw_open(&w, '{');
    jw_key(&w, "node");
    jw_str(&w, turn->has_node ? turn->node.local : (struct sv){ 0 });
    jw_key(&w, "results");
    jw_open(&w, '[');
    for (size_t i = 0; i < turn->n; i++)
        result_json(&w, &turn->results[i]);
    jw_close(&w, ']');
    jw_kint(&w, "discarded_bytes", (int64_t)turn->discarded.n);
    jw_close(&w, '}');
    sb_addc(&app->out, '\n');
}

static enum status run_do(struct app *app, const void *opts, struct err *e)
{
    const struct say_opts *o = opts;
    struct loom_env        env;
    struct session         s;
    struct turn            turn;
    struct sv              output;

    loom_env_init(&env, app);
    if (app_text(app, SV("-"), &output, e) || loom_env_open(&env, app_arg(app, 0), o->agent, &s, e))
        return err_code(e);
    if (o->at.s && session_go(&s, o->at, e))
        return loom_node_hint(err_code(e), app_arg(app, 0), e);
    enum status st = session_turn(&s, output, &turn, e);
    if (app->json && !st)
        print_json(app, &turn);
    else if (!app->json)
        print_results(app, &turn); /* what was done before trouble came is not hidden */
    else if (turn.n > 1)
        warn("%zu commands were done before this", turn.n - 1);
    if (!st && turn.has_node)
        loom_tell_branch(&s);
    if (!st && turn.discarded.n && !app->json)
        warn("%zu bytes after the commands were not stored: a model has not seen their results yet",
             turn.discarded.n);
    loom_env_release(&env);
    return st;
}

const struct command cmd_say = {
    .name = "say",
    .synopsis = "T [--agent A] [--at NODE] TEXT|-",
    .group = GROUP_LOOM,
    .view = &loom_view,
    .summary = "Add a message to a thread; prints its [localId]",
    .details = "The message becomes a node after the one where the agent is, or after NODE: at the "
               "end of its lane, or on a lane forked there. You are at the node you wrote or "
               "switched to last: --at answers what somebody else said.\n\n"
               "  heddle say design 'Which store should we use?'\n"
               "  heddle say design --at a7x2 - < idea.md",
    .opts = say_table,
    .opts_size = sizeof(struct say_opts),
    .min_args = 2,
    .max_args = 2,
    .needs = NEEDS_WRITE,
    .run = run_say,
};

const struct command cmd_do = {
    .name = "do",
    .synopsis = "T --agent A [--at NODE]",
    .group = GROUP_LOOM,
    .view = &loom_view,
    .summary = "Take a model's output on stdin and run its → lines",
    .details = "Prose becomes a node; the commands of the batch run in order, and what the model "
               "would be shown is printed. See heddle-loom(7) for the language.\n\n"
               "An agent stays at its node until it writes or switches; what others say moves "
               "nobody. Give --at for an output that answers what somebody else said.\n\n"
               "  printf '→ view a7x2\\n→ tree\\n' | heddle do design --agent Collab\n"
               "  printf 'I agree.\\n' | heddle do design --agent Collab --at a7x2",
    .opts = do_table,
    .opts_size = sizeof(struct say_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_WRITE,
    .data = true,
    .run = run_do,
};

/* `verify`, `stats`, `doctor`, `version`, `attention`: rows of operations, and what only a shell
 * does for them.
 */
#include "api/workspace_open.h"
#include "front/cli/command.h"

#include <string.h>

extern const struct operation op_program_version, op_store_compact, op_workspace_attention,
    op_workspace_doctor, op_workspace_stats, op_workspace_verify, op_thread_stats;

/* ---- verify ------------------------------------------------------------------------------- */

enum { PINS_MAX = 64 << 20, KEY_BYTES_MAX = 1 << 16 };

static struct sv *verify_text(void *params, const char *name)
{
    const struct param *p = param_find(op_workspace_verify.params, sv_of(name));

    return (struct sv *)(void *)((char *)params + p->offset);
}

/* Read the heads, or the signed note, from the file that was named; error messages name it, too. A
 * key with plus signs in it is the public key itself; anything else names a file that holds one. */
static enum status read_files(struct app *app, struct request *r, void *params, struct err *e)
{
    struct sv *key = verify_text(params, "key"), *from = verify_text(params, "source");
    struct sv *text = verify_text(params, "signed");

    (void)r;
    if (text->s && command_need("verify", "--key", *key, e))
        return err_code(e);
    if (!text->s)
        text = verify_text(params, "pin");
    *from = *text;
    if (text->s && (sv_is(*from, "-") ? app_text(app, *from, text, e)
                                      : app_file(app, *from, PINS_MAX, text, e)))
        return err_code(e);
    if (!sv_trim(*key).n || sv_has(*key, '+'))
        return ST_OK;
    if (app_file(app, *key, KEY_BYTES_MAX, key, e) == ST_OK)
        return ST_OK;
    if (err_in(e, "--key") != ST_NOT_FOUND)
        return err_code(e);
    return err_hint(e, "give the public key that `heddle head --new-key` printed, NAME+ID+KEY, or "
                       "a file that holds it");
}

static const struct cli_word verify_words[] = {
    { "thread", WORD_OPTIONAL },
    { "source", WORD_HIDDEN },
    { NULL, 0 },
};

const struct command cmd_verify = {
    .name = "verify",
    .synopsis = "[T] [--pin FILE] [--signed FILE --key PUB]",
    .op = &op_workspace_verify,
    .words = verify_words,
    .prepare = read_files,
};

/* ---- doctor ------------------------------------------------------------------------------- */

/* Other commands refuse a workspace that everybody can write; this one can fix it. */
static enum status read_settings(struct app *app, struct request *r, void *params, struct err *e)
{
    (void)r;
    (void)params;
    if (workspace_settings(&app->ws, app->a, e) == ST_OK)
        return ST_OK;
    if (strcmp(e->reason, "open_to_others") != 0)
        return err_code(e);
    app->ws.is_named = true;
    return workspace_settings(&app->ws, app->a, e);
}

const struct command cmd_doctor = {
    .name = "doctor",
    .needs = NEEDS_PLACE,
    .op = &op_workspace_doctor,
    .prepare = read_settings,
};

/* ---- stats -------------------------------------------------------------------------------- */

struct stats_opts {
    struct sv lane;
    int64_t   limit;
};

static const struct opt stats_opts[] = {
    { OPT_TEXT, "lane", "L", "of a thread: only turns of this lane",
      offsetof(struct stats_opts, lane), 0 },
    { OPT_NUMBER, "limit", "N",
      "of a thread: at most the last N turns (default 50); sums are of all",
      offsetof(struct stats_opts, limit), 0 },
    { 0 },
};

static enum status run_stats(struct app *app, const void *opts, struct err *e)
{
    static const struct command all = { .name = "stats", .op = &op_workspace_stats };
    static const struct command one = { .name = "stats", .op = &op_thread_stats };
    const struct stats_opts    *o = opts;
    const struct operation     *op = &op_thread_stats;
    void                       *p = params_init(op->params, op->params_size, app->a);
    struct sb                   limit = sb_in(app->a, 0);

    if (!app->n_args && (o->lane.s || o->limit != OPT_UNSET))
        return err_set(e, ST_USAGE, "--lane and --limit need a thread");
    if (!app->n_args)
        return command_call(app, &all, NULL, e);
    sb_add_int(&limit, o->limit);
    if (command_set(op, p, "thread", app_arg(app, 0), app->a, e) ||
        command_set(op, p, "--lane", o->lane, app->a, e) ||
        (o->limit != OPT_UNSET && command_set(op, p, "--limit", sb_sv(&limit), app->a, e)))
        return err_code(e);
    return command_call(app, &one, p, e);
}

const struct command cmd_stats = {
    .name = "stats",
    .synopsis = "[T [--lane L] [--limit N]]",
    .group = GROUP_CARE,
    .summary = "Count threads, entries and bytes, or what each turn of a thread cost",
    .details =
        "Without a thread: one line for each thread that has a log; .global is what the workspace\n"
        "knows of threads, objectives and agents. Behind the entries stand the bytes that they "
        "take,\nand those of the views made from them, both without what the database adds; --json "
        "has each\nview. Reads the whole log.\n"
        "\n"
        "With a thread: tokens and dollars of each turn, from what was asked to what was asked "
        "next,\nfor sessions of other programs and for answers of models that heddle asked. A cost "
        "that was\nnot told follows from models.prices of the settings.\n"
        "\n"
        "  heddle stats --json\n"
        "  heddle stats claude-code-1b9d6bcd",
    .opts = stats_opts,
    .opts_size = sizeof(struct stats_opts),
    .max_args = 1,
    .needs = NEEDS_ROOT,
    .run = run_stats,
};

const struct command cmd_version = { .name = "version", .op = &op_program_version };

const struct command cmd_compact_store = { .name = "compact-store", .op = &op_store_compact };

/* ---- attention ---------------------------------------------------------------------------- */

const struct command cmd_attention = { .name = "attention", .op = &op_workspace_attention };

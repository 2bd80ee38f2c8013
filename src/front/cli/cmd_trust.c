/* `trust`: the row of the operation, and the question. The answer comes from a person at the
 * terminal and from nowhere else: not from stdin, an option or the environment, so that an agent
 * that runs the command has to ask its user. */
#include "api/settings.h"
#include "api/trust.h"
#include "api/workspace_open.h"
#include "base/fs.h"
#include "front/cli/ask.h"
#include "front/cli/command.h"

#include <unistd.h>

extern const struct operation op_workspace_trust;

static void *param_of(void *params, const char *name)
{
    return (char *)params + param_find(op_workspace_trust.params, sv_of(name))->offset;
}

static void show_one(void *ctx, struct sv dotted, const struct config_key *k, const struct json *v)
{
    struct sb   *b = ctx;
    struct arena scratch = { 0 };
    struct sb    value = sb_in(&scratch, 0);
    struct jw    w = jw_in(&value, 0);

    jw_json(&w, v);
    sb_adds(b, "  ");
    sb_add_plain_line(b, dotted);
    sb_addf(b, " (%s)\n    ", config_power(k));
    sb_add_plain_line(b, sb_sv(&value));
    sb_addc(b, '\n');
    arena_free(&scratch);
}

static enum status ask(struct app *app, int tty, const struct config *c, struct sv hash,
                       struct err *e)
{
    struct sb b = sb_in(app->a, 0), out = sb_to_fd(tty, app->a);

    sb_adds(&b, "The settings of the workspace ");
    sb_add_plain_line(&b, app->ws.root);
    sb_adds(&b, " ask for more than a workspace may do by itself:\n\n");
    config_walk(&c->guarded, SV(""), show_one, &b, app->a);
    sb_addf(&b, "\n(.heddle/config.json, sha256 " SV_FMT ")\nTrust them? [y/N] ", SV_ARG(hash));
    sb_add(&out, sb_sv(&b));
    if (sb_flush(&out, e))
        return err_in(e, "the terminal");
    if (ask_yes(tty))
        return ST_OK;
    err_set(e, ST_PERMISSION_DENIED, "not trusted; nothing was changed");
    return err_hint(e, "settings for yourself go into your own file: `heddle config set --user`");
}

/* Ask when the operation needs an answer and a person is at the terminal. */
static enum status prepare(struct app *app, struct request *r, void *params, struct err *e)
{
    UNDO(fd_undo) int tty = -1;
    struct json       doc, none = { 0 };
    struct config     c;
    struct sv         text;

    if (*(bool *)param_of(params, "list") || *(bool *)param_of(params, "remove"))
        return ST_OK;
    if (workspace_settings(&app->ws, app->a, e) ||
        settings_of_workspace(&app->ws, app->a, &text, &doc, e))
        return err_code(e);
    config_join(&c, &none, &doc, false, app->a);
    tty = ask_terminal();
    if (c.trusted || trust_has(&app->ws, text, app->a) || tty < 0)
        return ST_OK;
    struct sv hash = trust_hash(text, app->a);
    if (ask(app, tty, &c, hash, e))
        return err_code(e);
    *(struct sv *)param_of(params, "sha256") = hash;
    r->agreed = true;
    return ST_OK;
}

static const struct cli_word words[] = { { "sha256", WORD_HIDDEN }, { NULL, 0 } };

const struct command cmd_trust = {
    .name = "trust",
    .synopsis = "[--remove | --list]",
    .needs = NEEDS_PLACE,
    .op = &op_workspace_trust,
    .words = words,
    .prepare = prepare,
};

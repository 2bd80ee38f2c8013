/* `trust`: let the settings of this workspace run programs, spend keys and open the network. The
 * answer comes from a person at the terminal and from nowhere else: not from stdin, an option or
 * the environment, so that an agent that is told to run the command is told to ask its user. */
#include "api/trust.h"
#include "base/fs.h"
#include "base/utf8.h"
#include "front/cli/command.h"

#include <errno.h>
#include <termios.h>
#include <unistd.h>

struct trust_opts {
    bool remove, list;
};

static const struct opt trust_opts[] = {
    { OPT_FLAG, "remove", NULL, "no longer trust this workspace",
      offsetof(struct trust_opts, remove), 0 },
    { OPT_FLAG, "list", NULL, "list the workspaces that are trusted",
      offsetof(struct trust_opts, list), 0 },
    { 0 },
};

/* ---- what it would allow ------------------------------------------------------------------ */

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

static void json_one(void *ctx, struct sv dotted, const struct config_key *k, const struct json *v)
{
    struct jw *w = ctx;

    jw_open(w, '{');
    jw_kstr(w, "key", dotted);
    jw_kstr(w, "power", sv_of(config_power(k)));
    jw_key(w, "value");
    jw_json(w, v);
    jw_close(w, '}');
}

/* {"root","sha256","trusted","settings":[{"key","power","value"}]} */
static void answer_json(struct app *app, struct sv text, bool trusted)
{
    struct jw w = jw_in(&app->out, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "root", app->ws.root);
    jw_key(&w, "settings");
    jw_open(&w, '[');
    config_walk(&app->ws.config.guarded, SV(""), json_one, &w, app->a);
    jw_close(&w, ']');
    jw_kstr(&w, "sha256", text.s ? trust_hash(text, app->a) : (struct sv){ 0 });
    jw_kbool(&w, "trusted", trusted);
    jw_close(&w, '}');
    sb_addc(&app->out, '\n');
}

static void answer(struct app *app, struct sv text, bool trusted, const char *said)
{
    if (app->json) {
        answer_json(app, text, trusted);
        return;
    }
    sb_adds(&app->out, said);
    sb_add_plain_line(&app->out, app->ws.root);
    sb_addc(&app->out, '\n');
}

/* ---- asking ------------------------------------------------------------------------------- */

static enum status no_terminal(struct app *app, struct err *e)
{
    err_set(e, ST_PERMISSION_DENIED,
            "only a person at a terminal can trust a workspace, and there is no terminal here");
    err_reason(e, "needs_terminal");
    return err_hint(e, "ask the user to run: heddle trust --root " SH_FMT, SV_ARG(app->ws.root));
}

/* One line as it is typed; what was typed before the question does not answer it. */
static bool says_yes(int tty)
{
    char    line[16];
    ssize_t n;

    tcflush(tty, TCIFLUSH);
    do
        n = read(tty, line, sizeof line);
    while (n < 0 && errno == EINTR);
    struct sv said = sv_trim((struct sv){ line, n > 0 ? (size_t)n : 0 });
    return sv_is(said, "y") || sv_is(said, "yes") || sv_is(said, "Y") || sv_is(said, "YES");
}

static enum status ask(struct app *app, struct sv text, struct err *e)
{
    UNDO(fd_undo) int tty = open("/dev/tty", O_RDWR | O_CLOEXEC);
    struct sb         b = sb_in(app->a, 0);

    if (tty < 0 || !isatty(tty))
        return no_terminal(app, e);
    sb_adds(&b, "The settings of the workspace ");
    sb_add_plain_line(&b, app->ws.root);
    sb_adds(&b, " ask for more than a workspace may do by itself:\n\n");
    config_walk(&app->ws.config.guarded, SV(""), show_one, &b, app->a);
    sb_addf(&b, "\n(.heddle/config.json, sha256 " SV_FMT ")\nTrust them? [y/N] ",
            SV_ARG(trust_hash(text, app->a)));
    struct sb out = sb_to_fd(tty, app->a);
    sb_add(&out, sb_sv(&b));
    if (sb_flush(&out, e))
        return err_in(e, "the terminal");
    if (says_yes(tty))
        return ST_OK;
    err_set(e, ST_PERMISSION_DENIED, "not trusted; nothing was changed");
    return err_hint(e, "settings for yourself go into your own file: `heddle config set --user`");
}

static enum status trust(struct app *app, struct err *e)
{
    struct sv   text;
    struct json doc, none = { 0 };

    if (app_read_settings(app, e) || app_workspace_settings(app, &text, &doc, e))
        return err_code(e);
    config_join(&app->ws.config, &none, &doc, false, app->a);
    if (app->ws.config.trusted) {
        answer(app, text, true, "nothing here needs trust: ");
        return ST_OK;
    }
    if (trust_has(app->ws.root, text, app->a)) {
        answer(app, text, true, "trusted already: ");
        return ST_OK;
    }
    if (ask(app, text, e) || trust_add(app->ws.root, text, app->a, e))
        return err_code(e);
    answer(app, text, true, "trusted: ");
    return ST_OK;
}

/* ---- the rest ----------------------------------------------------------------------------- */

static enum status remove_trust(struct app *app, struct err *e)
{
    bool was;

    if (trust_remove(app->ws.root, app->a, &was, e))
        return err_code(e);
    if (app->json) {
        struct jw w = jw_in(&app->out, 0);
        jw_open(&w, '{');
        jw_kbool(&w, "removed", was);
        jw_kstr(&w, "root", app->ws.root);
        jw_close(&w, '}');
        sb_addc(&app->out, '\n');
        return ST_OK;
    }
    sb_adds(&app->out, was ? "no longer trusted: " : "was not trusted: ");
    sb_add_plain_line(&app->out, app->ws.root);
    sb_addc(&app->out, '\n');
    return ST_OK;
}

static enum status list(struct app *app, struct err *e)
{
    struct json all;
    struct jw   w = jw_in(&app->out, 0);

    if (trust_list(app->a, &all, e))
        return err_code(e);
    if (app->json)
        jw_open(&w, '[');
    for (size_t i = 0; i < all.n; i++) {
        struct sv root = all.members[i].key, hash = json_text(&all.members[i].value, "sha256");
        struct sv at = json_text(&all.members[i].value, "at");
        if (app->json) {
            jw_open(&w, '{');
            jw_kstr(&w, "at", at);
            jw_kstr(&w, "root", root);
            jw_kstr(&w, "sha256", hash);
            jw_close(&w, '}');
            continue;
        }
        sb_add_plain_line(&app->out, at);
        sb_adds(&app->out, "  ");
        sb_add_plain_line(&app->out, root);
        sb_addc(&app->out, '\n');
    }
    if (app->json) {
        jw_close(&w, ']');
        sb_addc(&app->out, '\n');
    } else if (!all.n) {
        sb_adds(&app->out, "no workspace is trusted\n");
    }
    return ST_OK;
}

static enum status run(struct app *app, const void *opts, struct err *e)
{
    const struct trust_opts *o = opts;

    if (o->list && o->remove)
        return err_set(e, ST_USAGE, "--list and --remove are two things to do");
    if (o->list)
        return list(app, e);
    return o->remove ? remove_trust(app, e) : trust(app, e);
}

const struct command cmd_trust = {
    .name = "trust",
    .synopsis = "[--remove | --list]",
    .group = GROUP_CARE,
    .summary = "Allow what this workspace's settings say of programs, keys, networks",
    .details =
        "The file .heddle/config.json comes with a checkout. Settings in it that run programs\n"
        "(executors), say where keys are sent or open the network are ignored until you have seen\n"
        "and trusted them. Shows them, and asks at the terminal; where there is none the command\n"
        "is refused, so that no agent can answer. A file that changes has to be trusted again,\n"
        "unless `heddle config set` changed a setting that needs no trust.\n\n"
        "Your own file needs no trust: `heddle config set --user`.\n\n"
        "  heddle trust --list",
    .opts = trust_opts,
    .opts_size = sizeof(struct trust_opts),
    .needs = NEEDS_PLACE,
    .run = run,
};

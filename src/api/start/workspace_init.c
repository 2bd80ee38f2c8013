/* workspace.init: make a directory a workspace, and say how to go on. */
#include "api/owner.h"
#include "api/settings.h"
#include "api/share/guide_write.h"
#include "api/start/goal.h"
#include "api/term.h"
#include "base/fs.h"
#include "thread/anchor.h"
#include "thread/log.h"

struct init_params {
    struct sv goal;
    bool      agents_md, yes, here;
};

/* clang-format off */
static const struct param params[] = {
    { "for",       PARAM_ENUM, offsetof(struct init_params, goal), .values = goal_names, .value = "GOAL", .help = "print the next three commands for this: agents, app, story or chat" },
    { "agents_md", PARAM_FLAG, offsetof(struct init_params, agents_md), .help = "put the guide for agents into AGENTS.md" },
    { "here",      PARAM_FLAG, offsetof(struct init_params, here), .help = "in a directory of a git repository: make the workspace in it, and not at the top of the repository" },
    { "yes",       PARAM_FLAG, offsetof(struct init_params, yes), .help = "replace a guide of another major version without asking" },
    { 0 },
};
static const struct field answer[] = {
    { "created",   FIELD_FLAG, .help = "whether there was none before" },
    { "root",      FIELD_TEXT, .help = "the directory" },
    { "agents_md", FIELD_ENUM, .values = guide_states, .optional = true, .help = "what became of AGENTS.md; skipped: a guide of another major version stays" },
    { "next",      FIELD_LIST, .optional = true, .help = "commands to go on with, for a shell" },
    { "more",      FIELD_TEXT, .optional = true, .help = "what comes then" },
    { 0 },
};
/* clang-format on */

static enum status make_if_missing(struct workspace *ws, struct sv path, struct sv bytes,
                                   bool *made, struct err *e)
{
    bool there;

    if (fs_exists(ws->root_fd, path, &there, e))
        return err_code(e);
    *made = !there;
    return *made ? fs_write(ws->root_fd, path, bytes, 0644, e) : ST_OK;
}

/* In a directory of a repository one workspace for all of it is usually meant: it has its place at
 * the top of the main checkout. A linked worktree has none of its own, because nobody would find it
 * from the other checkouts, and it is lost with the worktree. */
static enum status check_place(struct request *r, bool here, struct err *e)
{
    const struct workspace *ws = r->ws;
    const struct gitplace  *g = &ws->git;
    struct sv               top = g->shared;

    if (workspace_check_place(ws, e))
        return err_code(e);
    if (!g->found || !sv_eq(ws->root, ws->start) || sv_eq(ws->root, top))
        return ST_OK;
    if (g->top.n && !gitplace_is_linked(g) &&
        (here || ws->is_workspace ||
         request_ask(
             r, "Make a workspace for " SV_FMT " alone, and not for the repository " SV_FMT "?",
             SV_ARG(ws->root), SV_ARG(top))))
        return ST_OK;
    err_set(e, ST_CONFLICT, SV_FMT " is in a git repository, whose workspace belongs in " SV_FMT,
            SV_ARG(ws->root), SV_ARG(top));
    err_reason(e, "git_repository");
    if (!g->top.n || gitplace_is_linked(g))
        return err_hint(e, "run: heddle init --root " SH_FMT, SV_ARG(top));
    return err_hint(e,
                    "run: heddle init --root " SH_FMT "; --here makes one for this directory alone",
                    SV_ARG(top));
}

static enum status make(struct request *r, bool *made, struct err *e)
{
    struct store_head head;
    bool              made_config, made_ignore;

    if (fs_mkdirs(r->ws->root_fd, SV(".heddle"), e))
        return err_code(e);
    workspace_made(r->ws);
    if (make_if_missing(r->ws, SETTINGS_FILE, SV("{}\n"), &made_config, e) ||
        make_if_missing(r->ws, SV(".heddle/.gitignore"), WORKSPACE_IGNORED, &made_ignore, e) ||
        request_log(r, STORE_WRITE, e) ||
        log_head(&r->log, ANCHOR_THREAD, &head, e)) /* the first question makes the log */
        return err_code(e);
    *made = made_config || store_is_new(r->log.store);
    return ST_OK;
}

/* It can be made in a directory of another user, and cannot be found from below it. */
static void warn_of_owner(struct request *r)
{
    const struct json *safe = json_find(&r->ws->config.user, "safe_workspaces");
    struct err         e;

    if (owner_check(r->ws, safe, r->a, &e))
        request_warn(r, (struct sv){ 0 }, (struct sv){ 0 }, "%s; %s", e.text, e.hint);
}

static void put_next(struct jw *w, const struct goal *g)
{
    if (!g)
        return;
    jw_key(w, "next");
    jw_open(w, '[');
    for (size_t i = 0; i < GOAL_STEPS; i++)
        jw_str(w, sv_of(g->steps[i]));
    jw_close(w, ']');
    jw_kstr(w, "more", sv_of(g->more));
}

static enum status run(struct request *r, const void *params_given, struct err *e)
{
    const struct init_params *p = params_given;
    struct guide              guide = { 0 };
    bool                      created = false;

    if (check_place(r, p->here, e) || make(r, &created, e) ||
        (p->agents_md && guide_write(r, p->yes, &guide, e)))
        return err_code(e);
    warn_of_owner(r);
    jw_open(r->doc, '{');
    jw_kbool(r->doc, "created", created);
    jw_kstr(r->doc, "root", r->ws->root);
    if (p->agents_md)
        jw_kstr(r->doc, "agents_md", sv_of(guide.status));
    put_next(r->doc, goal_find(p->goal));
    jw_close(r->doc, '}');
    return ST_OK;
}

static void print(const struct json *doc, struct term *t)
{
    const struct json *next = json_find(doc, "next");

    term_f(t, "%s workspace in ", json_truth(json_find(doc, "created")) ? "made a" : "there is a");
    term_text(t, json_text(doc, "root"));
    term_f(t, "\n");
    if (json_find(doc, "agents_md"))
        term_f(t, "AGENTS.md: " SV_FMT "\n", SV_ARG(json_text(doc, "agents_md")));
    if (!next)
        return;
    term_f(t, "\nnext:\n");
    for (size_t i = 0; i < next->n; i++)
        term_f(t, "  " SV_FMT "\n", SV_ARG(json_sv(&next->items[i])));
    term_f(t, "\n" SV_FMT "\n", SV_ARG(json_text(doc, "more")));
}

const struct operation op_workspace_init = {
    .name = "workspace.init",
    .summary = "Make the current directory (or --root DIR) a workspace",
    .details =
        "Writes .heddle/ with an empty log and config. Harmless when it is there already.\n"
        "\n"
        "All checkouts of a git repository have one workspace, at the top of the main checkout:\n"
        "in a linked worktree it is made there. In a directory below the top init asks, or\n"
        "takes --here.\n"
        "\n"
        "With --for it prints three commands to begin with: to share work between agents\n"
        "(agents), to keep the log of an agent (app), to explore a tree with a model (story), or\n"
        "to pack a project for a chat (chat).\n"
        "\n"
        "  heddle init --for agents",
    .group = GROUP_START,
    .needs = NEEDS_ROOT,
    .access = ACCESS_SHELL,
    .here = true,
    .repeat = REPEAT_SAME,
    .params = params,
    .params_size = sizeof(struct init_params),
    .answer = answer,
    .run = run,
    .print = print,
};

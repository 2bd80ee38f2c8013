/* `merge`, `transcript`: bringing work together, keeping what was said. */
#include "front/cli/command.h"
#include "front/share/door.h"

struct merge_opts {
    struct sv sources, target, scope, strategy;
    bool      dry_run;
};

static const struct opt merge_opts[] = {
    { OPT_LIST, "sources", "T,…", "the threads whose work is taken",
      offsetof(struct merge_opts, sources), 0 },
    { OPT_TEXT, "target", "T", "the thread that gets it", offsetof(struct merge_opts, target), 0 },
    { OPT_LIST, "scope", "A,B", "only these files and folders", offsetof(struct merge_opts, scope),
      0 },
    { OPT_TEXT, "strategy", "WORD", "for conflicts: interactive, agent-first, human, strict",
      offsetof(struct merge_opts, strategy), 0 },
    { OPT_FLAG, "dry-run", NULL, "say what would be done", offsetof(struct merge_opts, dry_run),
      0 },
    { 0 },
};

/* `target`: the paths are below its folder and are given below the workspace, as upstream does. */
static void put_paths(struct door *d, const char *key, struct sv target, const struct sv *v,
                      size_t n)
{
    jw_key(d->data, key);
    jw_open(d->data, '[');
    for (size_t i = 0; i < n; i++)
        jw_str(d->data, target.s ? share_path(target, "", v[i], d->app->a) : v[i]);
    jw_close(d->data, ']');
}

static void text_paths(struct door *d, const char *word, const struct sv *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        sb_addf(&d->text, "%s  ", word);
        sb_add_plain(&d->text, v[i]);
        sb_addc(&d->text, '\n');
    }
}

/* The answer is out, and somebody has to do something: that is no success. `leslie` keeps
 * upstream's exit status; there the conflicts are in the answer alone. */
static enum status unsettled(struct door *d, const struct merge_request *r, size_t n, struct err *e)
{
    if (!n || is_leslie(d->app))
        return ST_OK;
    d->app->json = false; /* the document is out; the failure is told on stderr */
    err_set(e, ST_CONFLICT, "%zu conflict%s in '" SV_FMT "' %s to be settled", n, n == 1 ? "" : "s",
            SV_ARG(r->target), n == 1 ? "has" : "have");
    err_reason(e, "merge_conflict");
    if (r->dry_run)
        return err_hint(e, "nothing was changed; --strategy says what becomes of conflicts");
    return err_hint(e,
                    sv_is(r->strategy, "human")
                        ? "the source's files are beside the target's as NAME.from-SOURCE"
                        : "both versions stand between <<<<<<< and >>>>>>>, or beside each other "
                          "as NAME.from-SOURCE");
}

static enum status run_merge(struct app *app, const void *opts, struct err *e)
{
    const struct merge_opts *o = opts;
    struct door              d;
    struct merge_result      res;
    struct merge_request     r = { .sources = list_of(o->sources, app->a),
                                   .scope = list_of(o->scope, app->a),
                                   .target = o->target,
                                   .strategy = o->strategy.n ? o->strategy : SV("interactive"),
                                   .dry_run = o->dry_run };

    if (command_need("merge", "sources", o->sources, e) ||
        command_need("merge", "target", o->target, e))
        return err_code(e);
    if (door_open(&d, app, STORE_WRITE, e) || share_merge(&d.s, &r, &res, e) || door_commit(&d, e))
        return door_fail(&d, e);
    jw_open(d.data, '{');
    put_paths(&d, "mergedFiles", r.target, res.merged.v, res.merged.n);
    put_paths(&d, "conflicts", (struct sv){ 0 }, res.conflicts.v, res.conflicts.n);
    if (res.removed.n)
        put_paths(&d, "removedFiles", r.target, res.removed.v, res.removed.n);
    if (res.kept.n)
        put_paths(&d, "keptFiles", (struct sv){ 0 }, res.kept.v, res.kept.n);
    if (o->dry_run)
        jw_kbool(d.data, "dry_run", true);
    jw_close(d.data, '}');
    text_paths(&d, o->dry_run ? "would change" : "changed", res.merged.v, res.merged.n);
    text_paths(&d, o->dry_run ? "would remove" : "removed", res.removed.v, res.removed.n);
    text_paths(&d, "conflict", res.conflicts.v, res.conflicts.n);
    text_paths(&d, "kept", res.kept.v, o->dry_run ? 0 : res.kept.n);
    if (!res.merged.n && !res.removed.n && !res.conflicts.n)
        sb_adds(&d.text, "nothing to merge\n");
    return door_done(&d, e) ? err_code(e) : unsettled(&d, &r, res.unsettled, e);
}

const struct command cmd_merge = {
    .name = "merge",
    .synopsis = "--sources T,… --target T [--scope A,B] [--strategy WORD] [--dry-run]",
    .group = GROUP_SHARE,
    .summary = "Bring the files of threads into another",
    .details =
        "Three ways: a file is compared with the target's and with what the last merge took, or\n"
        "one inherited from the other. What the source removed since is removed, unless the\n"
        "target changed it. Lines that both changed are a conflict:\n\n"
        "  interactive   both versions between markers, for you to settle (the default)\n"
        "  agent-first   the source's lines are taken; the target's text is kept in\n"
        "                .meta/replaced/ of its folder\n"
        "  human         the target stays, the source's file is put beside it\n"
        "  strict        nothing is merged at all\n\n"
        "Either everything is merged or nothing. A file that meets a folder of its name is\n"
        "refused. The exit status is 1 when a conflict is left to be settled.\n\n"
        "  heddle merge --sources research --target build --dry-run",
    .opts = merge_opts,
    .opts_size = sizeof(struct merge_opts),
    .needs = NEEDS_ROOT,
    .run = run_merge,
};

struct transcript_opts {
    struct sv chat, query, assistant, start, end, mode, stop_reason;
};

static const struct opt transcript_opts[] = {
    { OPT_TEXT, "chat", "ID", "the chat it was", offsetof(struct transcript_opts, chat), 0 },
    { OPT_TEXT, "query", "TEXT", "what was asked", offsetof(struct transcript_opts, query), 0 },
    { OPT_TEXT, "assistant", "TEXT", "what was answered; - reads it from stdin",
      offsetof(struct transcript_opts, assistant), 0 },
    { OPT_TEXT, "start", "TIME", "when it began (default: now)",
      offsetof(struct transcript_opts, start), 0 },
    { OPT_TEXT, "end", "TIME", "when it ended", offsetof(struct transcript_opts, end), 0 },
    { OPT_TEXT, "mode", "WORD", "agent mode (default: agent)",
      offsetof(struct transcript_opts, mode), 0 },
    { OPT_TEXT, "stop-reason", "WORD", "why it ended (default: end_turn)",
      offsetof(struct transcript_opts, stop_reason), 0 },
    { 0 },
};

static enum status time_of(struct sv text, const char *name, int64_t *out, struct err *e)
{
    if (!text.s || clock_parse_iso(text, out))
        return ST_OK;
    return err_set(e, ST_INVALID_SYNTAX, "--%s is a time such as 2026-11-15T21:36:00Z", name);
}

static enum status run_transcript(struct app *app, const void *opts, struct err *e)
{
    const struct transcript_opts *o = opts;
    struct door                   d;
    struct sv                     path;
    struct sb                     absolute = sb_in(app->a, 0);
    struct transcript_request     r = { .thread = app_arg(app, 0),
                                        .chat = o->chat,
                                        .query = o->query,
                                        .mode = o->mode,
                                        .stop_reason = o->stop_reason };
    struct sv *const              needed[] = { (struct sv *)(uintptr_t)&o->chat,
                                               (struct sv *)(uintptr_t)&o->query,
                                               (struct sv *)(uintptr_t)&o->assistant };
    static const char *const      names[] = { "chat", "query", "assistant" };

    for (size_t i = 0; i < COUNT(needed); i++)
        if (command_need("transcript", names[i], *needed[i], e))
            return err_code(e);
    if (time_of(o->start, "start", &r.start, e) || time_of(o->end, "end", &r.end, e) ||
        app_text(app, o->assistant, &r.assistant, e))
        return err_code(e);
    if (door_open(&d, app, STORE_WRITE, e) || share_transcript(&d.s, &r, &path, e) ||
        door_commit(&d, e))
        return door_fail(&d, e);
    sb_addf(&absolute, SV_FMT "/" SV_FMT, SV_ARG(app->ws.root), SV_ARG(path));
    jw_open(d.data, '{');
    jw_kstr(d.data, "transcript_path", sb_sv(&absolute));
    jw_close(d.data, '}');
    sb_addf(&d.text, SV_FMT "\n", SV_ARG(path));
    return door_done(&d, e);
}

const struct command cmd_transcript = {
    .name = "transcript",
    .synopsis = "T --chat ID --query TEXT --assistant TEXT|- [--start TIME] [--end TIME]",
    .group = GROUP_SHARE,
    .summary = "Keep a conversation as a text file of its thread",
    .details =
        "  heddle transcript build --chat c1 --query 'Is it fast?' --assistant 'Measured: yes.'",
    .opts = transcript_opts,
    .opts_size = sizeof(struct transcript_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_ROOT,
    .run = run_transcript,
};

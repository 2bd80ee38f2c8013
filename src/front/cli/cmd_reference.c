/* `reference`, `refresh`, `read`: work of other threads. */
#include "front/cli/command.h"
#include "front/share/door.h"
#include "share/asset.h"

struct ref_opts {
    struct sv from, target, scope, binding;
};

static const struct opt reference_opts[] = {
    { OPT_TEXT, "from", "T", "the thread that reads", offsetof(struct ref_opts, from), 0 },
    { OPT_TEXT, "target", "T", "the thread that is read", offsetof(struct ref_opts, target), 0 },
    { OPT_LIST, "scope", "A,B", "only these files and folders of it",
      offsetof(struct ref_opts, scope), 0 },
    { OPT_TEXT, "binding", "live|frozen", "what it has then, or a copy of now (default: frozen)",
      offsetof(struct ref_opts, binding), 0 },
    { 0 },
};

static const struct opt refresh_opts[] = {
    { OPT_TEXT, "from", "T", "the thread that reads", offsetof(struct ref_opts, from), 0 },
    { OPT_TEXT, "target", "T", "only this source (default: all of them)",
      offsetof(struct ref_opts, target), 0 },
    { OPT_LIST, "scope", "A,B", "only these files and folders", offsetof(struct ref_opts, scope),
      0 },
    { 0 },
};

static enum status run_reference(struct app *app, const void *opts, struct err *e)
{
    const struct ref_opts   *o = opts;
    struct door              d;
    struct share_ref         r;
    struct reference_request q = { .from = o->from,
                                   .target = o->target,
                                   .scope = list_of(o->scope, app->a),
                                   .given_as = "--target" };

    if (command_need("reference", "from", o->from, e) ||
        command_need("reference", "target", o->target, e) ||
        parse_binding(o->binding, true, &q.frozen, e))
        return err_code(e);
    if (door_open(&d, app, STORE_WRITE, e) || share_reference(&d.s, &q, &r, e) ||
        door_commit(&d, e))
        return door_fail(&d, e);
    jw_open(d.data, '{');
    jw_kstr(d.data, "ref_id", r.id);
    if (r.frozen && !r.missing)
        jw_ktime(d.data, "snapshot_version", r.at);
    jw_key(d.data, "copied_paths");
    jw_open(d.data, '[');
    for (size_t i = 0; r.frozen && i < r.n_files; i++)
        jw_str(d.data, share_path(r.from, "context/inherited", r.files[i].place, app->a));
    jw_close(d.data, ']');
    jw_kstr(d.data, "binding", r.frozen ? SV("frozen") : SV("live"));
    jw_close(d.data, '}');
    sb_addf(&d.text, SV_FMT "  ", SV_ARG(r.id));
    put_binding(&d.text, &r);
    sb_addc(&d.text, '\n');
    d.warnings = true;
    return door_done(&d, e);
}

static enum status run_refresh(struct app *app, const void *opts, struct err *e)
{
    const struct ref_opts *o = opts;
    struct door            d;
    struct refresh_result *done;
    size_t                 n;
    struct refresh_request q = { o->from, o->target, list_of(o->scope, app->a) };

    if (command_need("refresh", "from", o->from, e))
        return err_code(e);
    if (door_open(&d, app, STORE_WRITE, e) || share_refresh(&d.s, &q, &done, &n, e) ||
        door_commit(&d, e))
        return door_fail(&d, e);
    jw_open(d.data, '[');
    for (size_t i = 0; i < n; i++) {
        jw_open(d.data, '{');
        jw_kstr(d.data, "ref_id", done[i].ref.id);
        jw_kstr(d.data, "target", done[i].ref.target);
        jw_kstr(d.data, "binding", done[i].ref.frozen ? SV("frozen") : SV("live"));
        jw_ktime(d.data, "snapshot_version", done[i].ref.at);
        jw_kint(d.data, "added", (int64_t)done[i].added);
        jw_kint(d.data, "changed", (int64_t)done[i].changed);
        jw_kint(d.data, "removed", (int64_t)done[i].removed);
        if (done[i].source_gone)
            jw_kbool(d.data, "source_gone", true);
        jw_close(d.data, '}');
        if (done[i].source_gone)
            sb_addf(&d.text, SV_FMT ": the source is gone; %zu cop%s kept\n",
                    SV_ARG(done[i].ref.target), done[i].ref.frozen ? done[i].ref.n_files : 0,
                    done[i].ref.n_files == 1 ? "y" : "ies");
        else
            sb_addf(&d.text, SV_FMT ": %zu added, %zu changed, %zu removed\n",
                    SV_ARG(done[i].ref.target), done[i].added, done[i].changed, done[i].removed);
    }
    jw_close(d.data, ']');
    return door_done(&d, e);
}

/* An agent may hold the path of a file in full; the workspace's own part of it says nothing. */
static struct sv below_root(struct app *app, struct sv name)
{
    return sv_starts(name, app->ws.root) && name.n > app->ws.root.n && name.s[app->ws.root.n] == '/'
               ? sv_skip(name, app->ws.root.n + 1)
               : name;
}

static enum status run_read(struct app *app, const void *opts, struct err *e)
{
    struct door        d;
    struct asset_found f;
    struct sv          bytes;

    (void)opts;
    if (door_open(&d, app, STORE_READ, e) ||
        asset_find(&d.s, app_arg(app, 0), below_root(app, app_arg(app, 1)), &f, e) ||
        asset_read(&d.s, &f, app->a, &bytes, e))
        return door_fail(&d, e);
    jw_open(d.data, '{');
    jw_kstr(d.data, "path", f.path);
    jw_kstr(d.data, "thread", f.thread);
    jw_kstr(d.data, "binding", sv_of(f.how));
    jw_kint(d.data, "size", (int64_t)bytes.n);
    jw_close(d.data, '}');
    sb_add(&d.text, bytes);
    return door_done(&d, e);
}

const struct command cmd_reference = {
    .name = "reference",
    .synopsis = "--from T --target T [--scope A,B] [--binding live|frozen]",
    .group = GROUP_SHARE,
    .summary = "Let a thread read the work of another",
    .details = "frozen copies the target's files now; only `heddle refresh` changes the copies.\n"
               "live leads to what the target has whenever it is read. A reference that would\n"
               "close a circle is refused. A target that does not exist yet is a warning; the\n"
               "reference is kept and works once the target is there. A comma that belongs to a\n"
               "name in --scope is written \\,.\n\n"
               "  heddle reference --from build --target research --binding live",
    .opts = reference_opts,
    .opts_size = sizeof(struct ref_opts),
    .needs = NEEDS_ROOT,
    .run = run_reference,
};

const struct command cmd_refresh = {
    .name = "refresh",
    .synopsis = "--from T [--target T] [--scope A,B]",
    .group = GROUP_SHARE,
    .summary = "Make the frozen copies of a thread anew",
    .details = "  heddle refresh --from build",
    .opts = refresh_opts,
    .opts_size = sizeof(struct ref_opts),
    .needs = NEEDS_ROOT,
    .run = run_refresh,
};

const struct command cmd_read = {
    .name = "read",
    .synopsis = "T NAME|PATH",
    .group = GROUP_SHARE,
    .summary = "Print the bytes of an asset as a thread sees it",
    .details = "The thread's own file of that name; else the frozen copy; else the live origin;\n"
               "else it is refused. THREAD/NAME says whose when several have the name. A path as\n"
               "`heddle context` shows it leads to that file and no other. A frozen copy that was\n"
               "deleted is made again; one that was changed is refused. With --json: where the\n"
               "bytes are.\n\n"
               "  heddle read build notes.md\n"
               "  heddle read build .leslie/threads/research/notes.md",
    .min_args = 2,
    .max_args = 2,
    .needs = NEEDS_ROOT,
    .data = true,
    .run = run_read,
};

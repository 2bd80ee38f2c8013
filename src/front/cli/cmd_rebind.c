/* `unreference`, `rebind`: references dropped, bound otherwise, taken up again. */
#include "front/cli/command.h"
#include "front/share/door.h"

struct rebind_opts {
    struct sv from, target, ref, binding;
    bool      as_before;
};

static const struct opt unreference_opts[] = {
    { OPT_TEXT, "from", "T", "the thread that reads", offsetof(struct rebind_opts, from), 0 },
    { OPT_TEXT, "target", "T", "all its references to this thread",
      offsetof(struct rebind_opts, target), 0 },
    { OPT_TEXT, "ref", "ID", "only this reference", offsetof(struct rebind_opts, ref), 0 },
    { 0 },
};

static const struct opt rebind_opts[] = {
    { OPT_TEXT, "from", "T", "the thread that reads", offsetof(struct rebind_opts, from), 0 },
    { OPT_TEXT, "target", "T", "all its references to this thread",
      offsetof(struct rebind_opts, target), 0 },
    { OPT_TEXT, "ref", "ID", "only this reference", offsetof(struct rebind_opts, ref), 0 },
    { OPT_TEXT, "binding", "live|frozen", "what it has then, or a copy of now",
      offsetof(struct rebind_opts, binding), 0 },
    { OPT_FLAG, "as-before", NULL, "the binding, and the copies, that it had before",
      offsetof(struct rebind_opts, as_before), 0 },
    { 0 },
};

static void put_refs(struct door *d, const struct ref_list *refs, bool dropped)
{
    jw_open(d->data, '[');
    for (size_t i = 0; i < refs->list.n; i++) {
        const struct share_ref *r = &refs->list.v[i];
        jw_open(d->data, '{');
        jw_kstr(d->data, "ref_id", r->id);
        jw_kstr(d->data, "target", r->target);
        jw_kstr(d->data, "binding", r->frozen ? SV("frozen") : SV("live"));
        jw_kint(d->data, "files", r->frozen ? (int64_t)r->n_files : 0);
        jw_close(d->data, '}');
        sb_addf(&d->text, SV_FMT "  ", SV_ARG(r->id));
        put_binding(&d->text, r);
        if (dropped) {
            sb_adds(&d->text, "; dropped: `heddle rebind --from ");
            sb_add_shell(&d->text, r->from);
            sb_adds(&d->text, " --ref ");
            sb_add_shell(&d->text, r->id);
            sb_adds(&d->text, "` takes it up again");
        }
        sb_addc(&d->text, '\n');
    }
    jw_close(d->data, ']');
    d->warnings = true;
}

static enum status run_unreference(struct app *app, const void *opts, struct err *e)
{
    const struct rebind_opts *o = opts;
    struct door               d;
    struct ref_list           refs;

    if (command_need("unreference", "from", o->from, e))
        return err_code(e);
    if (door_open(&d, app, STORE_WRITE, e) ||
        share_unreference(&d.s, o->from, o->target, o->ref, &refs, e) || door_commit(&d, e))
        return door_fail(&d, e);
    put_refs(&d, &refs, true);
    return door_done(&d, e);
}

static enum status run_rebind(struct app *app, const void *opts, struct err *e)
{
    const struct rebind_opts *o = opts;
    struct door               d;
    struct ref_list           refs;
    struct rebind_request     q = { .from = o->from,
                                    .target = o->target,
                                    .id = o->ref,
                                    .has_binding = o->binding.s != NULL,
                                    .as_before = o->as_before };

    if (command_need("rebind", "from", o->from, e) ||
        parse_binding(o->binding, false, &q.frozen, e))
        return err_code(e);
    if (door_open(&d, app, STORE_WRITE, e) || share_rebind(&d.s, &q, &refs, e) ||
        door_commit(&d, e))
        return door_fail(&d, e);
    put_refs(&d, &refs, false);
    if (!refs.list.n)
        sb_adds(&d.text, "nothing to change: it is bound so already\n");
    return door_done(&d, e);
}

const struct command cmd_unreference = {
    .name = "unreference",
    .synopsis = "--from T (--target T | --ref ID)",
    .group = GROUP_SHARE,
    .summary = "Drop a reference",
    .details =
        "The thread can read the target no more, and frozen copies go from its folder; a copy\n"
        "that somebody changed stays. What was copied is kept: `heddle rebind` takes the\n"
        "reference up again as it was.\n\n"
        "  heddle unreference --from build --target research",
    .opts = unreference_opts,
    .opts_size = sizeof(struct rebind_opts),
    .needs = NEEDS_ROOT,
    .run = run_unreference,
};

const struct command cmd_rebind = {
    .name = "rebind",
    .synopsis = "--from T (--target T | --ref ID) [--binding live|frozen] [--as-before]",
    .group = GROUP_SHARE,
    .summary = "Make a reference live or frozen, or take a dropped one up again",
    .details =
        "The reference keeps its id and its scope. frozen copies the target's files now, to the\n"
        "places where earlier copies of them were; live removes the copies. --as-before goes\n"
        "back to the binding and the copies it had. A reference that was dropped comes back\n"
        "as it was unless a binding is given.\n\n"
        "  heddle rebind --from build --target research --binding frozen\n"
        "  heddle rebind --from build --target research --as-before",
    .opts = rebind_opts,
    .opts_size = sizeof(struct rebind_opts),
    .needs = NEEDS_ROOT,
    .run = run_rebind,
};

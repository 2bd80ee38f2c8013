/* reference.add, reference.drop, reference.rebind, reference.refresh: which threads read the work
 * of which, and how. */
#include "api/share/share_call.h"
#include "api/term.h"
#include "share/operation.h"

/* ---- add ----------------------------------------------------------------------------- */

struct add_params {
    struct sv      from, target, binding, op_id;
    struct sv_list scope;
};

/* clang-format off */
static const struct param add_params[] = {
    { "from",    PARAM_TEXT, offsetof(struct add_params, from),    .required = true, .value = "T", .help = "the thread that reads" },
    { "target",  PARAM_TEXT, offsetof(struct add_params, target),  .required = true, .value = "T", .help = "the thread that is read" },
    { "scope",   PARAM_LIST, offsetof(struct add_params, scope),   .value = "A,B", .help = "only these files and directories of it" },
    { "binding", PARAM_ENUM, offsetof(struct add_params, binding), .values = share_bindings, .fallback = "frozen", .help = "what it has then, or a copy of now (default: frozen)" },
    PARAM_ONCE(struct add_params),
    { 0 },
};
static const struct field added[] = {
    MADE_REF_FIELDS,
    { "snapshot_version", FIELD_TIME, .optional = true, .help = "of which moment the copies are" },
    { "copied_paths",     FIELD_LIST, .help = "the copies, below the workspace" },
    { 0 },
};
/* clang-format on */

static enum status add(struct request *r, const void *params, struct err *e)
{
    const struct add_params *p = params;
    struct share             s;
    struct share_ref         ref;
    struct reference_request q = { .from = p->from,
                                   .target = p->target,
                                   .scope = p->scope,
                                   .frozen = sv_is(p->binding, "frozen"),
                                   .given_as = "--target" };

    if (share_call_begin(r, &s, STORE_WRITE, e) || share_reference(&s, &q, &ref, e))
        return share_call_fail(r, &s, e);
    jw_open(r->doc, '{');
    share_made_ref_members(r->doc, &ref);
    if (ref.frozen && !ref.missing)
        jw_ktime(r->doc, "snapshot_version", ref.at);
    jw_key(r->doc, "copied_paths");
    jw_open(r->doc, '[');
    for (size_t i = 0; ref.frozen && i < ref.n_files; i++)
        jw_str(r->doc, share_path(ref.from, "context/inherited", ref.files[i].place, r->a));
    jw_close(r->doc, ']');
    jw_close(r->doc, '}');
    return share_call_commit(r, &s, e);
}

static void print_ref(const struct json *ref, struct term *t)
{
    term_f(t, SV_FMT "  ", SV_ARG(json_text(ref, "ref_id")));
    share_print_made_ref(t->out, ref);
}

static void print_added(const struct json *doc, struct term *t)
{
    print_ref(doc, t);
    term_f(t, "\n");
}

const struct operation op_reference_add = {
    .name = "reference.add",
    .summary = "Let a thread read the work of another",
    .details = "frozen copies the target's files now; only `heddle refresh` changes the copies.\n"
               "live leads to what the target has whenever it is read. A reference that would\n"
               "close a circle is refused. A target that does not exist yet is a warning; the\n"
               "reference is kept and works once the target is there. A comma that belongs to a\n"
               "name in --scope is written \\,.\n\n"
               "  heddle reference --from build --target research --binding live",
    .group = GROUP_SHARE,
    .needs = NEEDS_ROOT,
    OPERATION_ONCE,
    .params = add_params,
    .params_size = sizeof(struct add_params),
    .answer = added,
    .run = add,
    .print = print_added,
};

/* ---- refresh ------------------------------------------------------------------------- */

struct refresh_params {
    struct sv      from, target, op_id;
    struct sv_list scope;
};

/* clang-format off */
static const struct param refresh_params[] = {
    { "from",   PARAM_TEXT, offsetof(struct refresh_params, from),   .required = true, .value = "T", .help = "the thread that reads" },
    { "target", PARAM_TEXT, offsetof(struct refresh_params, target), .value = "T", .help = "only this source (default: all of them)" },
    { "scope",  PARAM_LIST, offsetof(struct refresh_params, scope),  .value = "A,B", .help = "only these files and directories" },
    PARAM_ONCE(struct refresh_params),
    { 0 },
};
static const struct field refreshed_ref[] = {
    MADE_REF_FIELDS,
    { "snapshot_version", FIELD_TIME, .help = "of which moment the copies are" },
    { "added",            FIELD_NUMBER, .help = "files that are new" },
    { "changed",          FIELD_NUMBER, .help = "files that differ" },
    { "removed",          FIELD_NUMBER, .help = "files that are gone" },
    { "source_gone",      FIELD_FLAG, .optional = true, .help = "there was nothing to copy; the copies were kept" },
    { 0 },
};
static const struct field refreshed[] = {
    { "items", FIELD_LIST, .of = refreshed_ref, .help = "the references that were made anew" },
    { 0 },
};
/* clang-format on */

static enum status refresh(struct request *r, const void *params, struct err *e)
{
    const struct refresh_params *p = params;
    struct share                 s;
    struct refresh_result       *done;
    size_t                       n;
    struct refresh_request       q = { p->from, p->target, p->scope };

    if (share_call_begin(r, &s, STORE_WRITE, e) || share_refresh(&s, &q, &done, &n, e))
        return share_call_fail(r, &s, e);
    jw_open(r->doc, '{');
    jw_key(r->doc, "items");
    jw_open(r->doc, '[');
    for (size_t i = 0; i < n; i++) {
        jw_open(r->doc, '{');
        share_made_ref_members(r->doc, &done[i].ref);
        jw_ktime(r->doc, "snapshot_version", done[i].ref.at);
        jw_kint(r->doc, "added", (int64_t)done[i].added);
        jw_kint(r->doc, "changed", (int64_t)done[i].changed);
        jw_kint(r->doc, "removed", (int64_t)done[i].removed);
        if (done[i].source_gone)
            jw_kbool(r->doc, "source_gone", true);
        jw_close(r->doc, '}');
    }
    jw_close(r->doc, ']');
    jw_close(r->doc, '}');
    return share_call_commit(r, &s, e);
}

static void print_refreshed(const struct json *doc, struct term *t)
{
    const struct json *items = json_find(doc, "items");

    for (size_t i = 0; i < items->n; i++) {
        const struct json *ref = &items->items[i];
        long long          files = share_doc_number(ref, "files");
        term_f(t, SV_FMT ": ", SV_ARG(json_text(ref, "target")));
        if (json_truth(json_find(ref, "source_gone")))
            term_f(t, "the source is gone; %lld cop%s kept\n", files, files == 1 ? "y" : "ies");
        else
            term_f(t, "%lld added, %lld changed, %lld removed\n", share_doc_number(ref, "added"),
                   share_doc_number(ref, "changed"), share_doc_number(ref, "removed"));
    }
}

const struct operation op_reference_refresh = {
    .name = "reference.refresh",
    .summary = "Copy again what the frozen references of a thread show",
    .details = "  heddle refresh --from build",
    .group = GROUP_SHARE,
    .needs = NEEDS_ROOT,
    OPERATION_ONCE,
    .params = refresh_params,
    .params_size = sizeof(struct refresh_params),
    .answer = refreshed,
    .run = refresh,
    .print = print_refreshed,
};

/* ---- drop, rebind -------------------------------------------------------------------- */

struct rebind_params {
    struct sv from, target, ref, binding, op_id;
    bool      as_before;
};

/* clang-format off */
static const struct param drop_params[] = {
    { "from",   PARAM_TEXT, offsetof(struct rebind_params, from),   .required = true, .value = "T", .help = "the thread that reads" },
    { "target", PARAM_TEXT, offsetof(struct rebind_params, target), .value = "T",  .help = "all its references to this thread" },
    { "ref",    PARAM_TEXT, offsetof(struct rebind_params, ref),    .value = "ID", .help = "only this reference" },
    PARAM_ONCE(struct rebind_params),
    { 0 },
};
static const struct param rebind_params[] = {
    { "from",      PARAM_TEXT, offsetof(struct rebind_params, from),    .required = true, .value = "T", .help = "the thread that reads" },
    { "target",    PARAM_TEXT, offsetof(struct rebind_params, target),  .value = "T",  .help = "all its references to this thread" },
    { "ref",       PARAM_TEXT, offsetof(struct rebind_params, ref),     .value = "ID", .help = "only this reference" },
    { "binding",   PARAM_ENUM, offsetof(struct rebind_params, binding), .values = share_bindings, .help = "what it has then, or a copy of now" },
    { "as_before", PARAM_FLAG, offsetof(struct rebind_params, as_before), .help = "the binding, and the copies, that it had before" },
    PARAM_ONCE(struct rebind_params),
    { 0 },
};
static const struct field dropped[] = {
    { "items", FIELD_LIST, .of = share_made_ref_fields, .help = "the references that were dropped, as they were" },
    { 0 },
};
static const struct field rebound[] = {
    { "items", FIELD_LIST, .of = share_made_ref_fields, .help = "the references that changed" },
    { 0 },
};
/* clang-format on */

static void put_refs(struct jw *w, const struct ref_list *refs)
{
    jw_open(w, '{');
    jw_key(w, "items");
    jw_open(w, '[');
    for (size_t i = 0; i < refs->list.n; i++) {
        jw_open(w, '{');
        share_made_ref_members(w, &refs->list.v[i]);
        jw_close(w, '}');
    }
    jw_close(w, ']');
    jw_close(w, '}');
}

static enum status drop(struct request *r, const void *params, struct err *e)
{
    const struct rebind_params *p = params;
    struct share                s;
    struct ref_list             refs;

    if (share_call_begin(r, &s, STORE_WRITE, e) ||
        share_unreference(&s, p->from, p->target, p->ref, &refs, e))
        return share_call_fail(r, &s, e);
    put_refs(r->doc, &refs);
    return share_call_commit(r, &s, e);
}

static void print_dropped(const struct json *doc, struct term *t)
{
    const struct json *items = json_find(doc, "items");

    for (size_t i = 0; i < items->n; i++) {
        print_ref(&items->items[i], t);
        term_f(t, "; dropped: `heddle rebind --from ");
        sb_add_shell(t->out, json_text(&items->items[i], "from"));
        term_f(t, " --ref ");
        sb_add_shell(t->out, json_text(&items->items[i], "ref_id"));
        term_f(t, "` takes it up again\n");
    }
}

const struct operation op_reference_drop = {
    .name = "reference.drop",
    .summary = "Drop a reference",
    .details =
        "The thread can no longer read the target, and its frozen copies are removed; a copy\n"
        "that somebody changed stays. What was copied is kept: `heddle rebind` takes the\n"
        "reference up again as it was.\n\n"
        "  heddle unreference --from build --target research",
    .group = GROUP_SHARE,
    .needs = NEEDS_ROOT,
    OPERATION_ONCE,
    .params = drop_params,
    .params_size = sizeof(struct rebind_params),
    .answer = dropped,
    .run = drop,
    .print = print_dropped,
};

static enum status rebind(struct request *r, const void *params, struct err *e)
{
    const struct rebind_params *p = params;
    struct share                s;
    struct ref_list             refs;
    struct rebind_request       q = { .from = p->from,
                                      .target = p->target,
                                      .id = p->ref,
                                      .has_binding = p->binding.s != NULL,
                                      .frozen = sv_is(p->binding, "frozen"),
                                      .as_before = p->as_before };

    if (share_call_begin(r, &s, STORE_WRITE, e) || share_rebind(&s, &q, &refs, e))
        return share_call_fail(r, &s, e);
    put_refs(r->doc, &refs);
    return share_call_commit(r, &s, e);
}

static void print_rebound(const struct json *doc, struct term *t)
{
    const struct json *items = json_find(doc, "items");

    for (size_t i = 0; i < items->n; i++)
        print_added(&items->items[i], t);
    if (!items->n)
        term_f(t, "nothing to change: it is bound so already\n");
}

const struct operation op_reference_rebind = {
    .name = "reference.rebind",
    .summary = "Make a reference live or frozen, or take a dropped one up again",
    .details =
        "The reference keeps its id and its scope. frozen copies the target's files now, to the\n"
        "places where earlier copies of them were; live removes the copies. --as-before goes\n"
        "back to the binding and the copies it had. A reference that was dropped comes back\n"
        "as it was unless a binding is given.\n\n"
        "  heddle rebind --from build --target research --binding frozen\n"
        "  heddle rebind --from build --target research --as-before",
    .group = GROUP_SHARE,
    .needs = NEEDS_ROOT,
    OPERATION_ONCE,
    .params = rebind_params,
    .params_size = sizeof(struct rebind_params),
    .answer = rebound,
    .run = rebind,
    .print = print_rebound,
};

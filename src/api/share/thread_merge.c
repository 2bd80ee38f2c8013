/* thread.merge: bringing the work of threads together. */
#include "api/share/share_call.h"
#include "api/term.h"
#include "share/operation.h"

struct merge_params {
    struct sv_list sources, scope;
    struct sv      target, strategy, op_id;
    bool           dry_run;
};

/* clang-format off */
static const char *const strategies[] = { "interactive", "agent-first", "human", "strict", NULL };

static const struct param params[] = {
    { "sources",  PARAM_LIST, offsetof(struct merge_params, sources),  .required = true, .value = "T,…", .help = "the threads whose work is taken" },
    { "target",   PARAM_TEXT, offsetof(struct merge_params, target),   .required = true, .value = "T", .help = "the thread that gets it" },
    { "scope",    PARAM_LIST, offsetof(struct merge_params, scope),    .value = "A,B", .help = "only these files and directories" },
    { "strategy", PARAM_ENUM, offsetof(struct merge_params, strategy), .value = "WORD", .values = strategies, .fallback = "interactive", .help = "for conflicts: interactive, agent-first, human, strict" },
    { "dry_run",  PARAM_FLAG, offsetof(struct merge_params, dry_run),  .help = "say what would be done" },
    PARAM_ONCE(struct merge_params),
    { 0 },
};
static const struct field answer[] = {
    { "target",        FIELD_TEXT, .help = "the thread that gets the work" },
    { "directory",     FIELD_TEXT, .help = "its directory, below the workspace" },
    { "merged_files",  FIELD_LIST, .help = "files of it that changed, below the workspace" },
    { "conflicts",     FIELD_LIST, .help = "files that both sides changed, below its directory" },
    { "removed_files", FIELD_LIST, .optional = true, .help = "files of it that are gone, below the workspace" },
    { "kept_files",    FIELD_LIST, .optional = true, .help = "where the texts are that were overwritten, below the workspace" },
    { "dry_run",       FIELD_FLAG, .optional = true, .help = "nothing was changed" },
    { 0 },
};
/* clang-format on */

/* `directory`: the paths are relative to it; the document has them relative to the workspace. */
static void put_paths(struct request *r, const char *key, struct sv target, const struct sv *v,
                      size_t n)
{
    jw_key(r->doc, key);
    jw_open(r->doc, '[');
    for (size_t i = 0; i < n; i++)
        jw_str(r->doc, target.s ? share_path(target, "", v[i], r->a) : v[i]);
    jw_close(r->doc, ']');
}

static void put_result(struct request *r, const struct merge_request *q,
                       const struct merge_result *res)
{
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "target", q->target);
    jw_kstr(r->doc, "directory", share_dir(q->target, r->a));
    put_paths(r, "merged_files", q->target, res->merged.v, res->merged.n);
    put_paths(r, "conflicts", (struct sv){ 0 }, res->conflicts.v, res->conflicts.n);
    if (res->removed.n)
        put_paths(r, "removed_files", q->target, res->removed.v, res->removed.n);
    if (res->kept.n)
        put_paths(r, "kept_files", (struct sv){ 0 }, res->kept.v, res->kept.n);
    if (q->dry_run)
        jw_kbool(r->doc, "dry_run", true);
    jw_close(r->doc, '}');
}

/* Conflicts that a person has to settle are not a success. */
static void judge(struct request *r, const struct merge_request *q, size_t unsettled)
{
    struct err *e = &r->verdict;

    if (!unsettled)
        return;
    err_set(e, ST_CONFLICT, "%zu conflict%s in '" SV_FMT "' %s to be settled", unsettled,
            unsettled == 1 ? "" : "s", SV_ARG(q->target), unsettled == 1 ? "has" : "have");
    err_reason(e, "merge_conflict");
    err_hint(e, "%s",
             q->dry_run ? "nothing was changed; --strategy says what becomes of conflicts"
             : sv_is(q->strategy, "human")
                 ? "the source's files are beside the target's as NAME.from-SOURCE"
                 : "both versions stand between <<<<<<< and >>>>>>>, or beside each other as "
                   "NAME.from-SOURCE");
}

static enum status run(struct request *r, const void *params_given, struct err *e)
{
    const struct merge_params *p = params_given;
    struct share               s;
    struct merge_result        res;
    struct merge_request       q = { .sources = p->sources,
                                     .scope = p->scope,
                                     .target = p->target,
                                     .strategy = p->strategy,
                                     .dry_run = p->dry_run };

    if (share_call_begin(r, &s, STORE_WRITE, e) || share_merge(&s, &q, &res, e))
        return share_call_fail(r, &s, e);
    put_result(r, &q, &res);
    judge(r, &q, res.unsettled);
    return share_call_commit(r, &s, e);
}

/* A person is shown the paths below the directory of the target. */
static void print_paths(struct term *t, const char *word, const struct json *paths,
                        struct sv directory)
{
    for (size_t i = 0; paths && i < paths->n; i++) {
        struct sv path = json_sv(&paths->items[i]);
        term_f(t, "%s  ", word);
        term_text(t, sv_starts(path, directory) ? sv_skip(path, directory.n + 1) : path);
        term_f(t, "\n");
    }
}

static void print(const struct json *doc, struct term *t)
{
    const struct json *merged = json_find(doc, "merged_files"),
                      *removed = json_find(doc, "removed_files"),
                      *conflicts = json_find(doc, "conflicts");
    struct sv directory = json_text(doc, "directory"), none = SV("\n");
    bool      dry = json_truth(json_find(doc, "dry_run"));

    print_paths(t, dry ? "would change" : "changed", merged, directory);
    print_paths(t, dry ? "would remove" : "removed", removed, directory);
    print_paths(t, "conflict", conflicts, none);
    if (!dry)
        print_paths(t, "kept", json_find(doc, "kept_files"), none);
    if (!merged->n && !removed && !conflicts->n)
        term_f(t, "nothing to merge\n");
}

const struct operation op_thread_merge = {
    .name = "thread.merge",
    .summary = "Bring the files of threads into another",
    .details =
        "Three ways: a file is compared with the target's and with what the last merge took, or\n"
        "one inherited from the other. What the source removed since is removed, unless the\n"
        "target changed it. Lines that both changed are a conflict:\n\n"
        "  interactive   both versions between markers, for you to settle (the default)\n"
        "  agent-first   the source's lines are taken; the target's text is kept in\n"
        "                .meta/replaced/ of its directory\n"
        "  human         the target stays, the source's file is put beside it\n"
        "  strict        nothing is merged at all\n\n"
        "Either everything is merged or nothing. A file that meets a directory of its name is\n"
        "refused. The exit status is 1 when a conflict is left to be settled.\n\n"
        "  heddle merge --sources research --target build --dry-run",
    .group = GROUP_SHARE,
    .needs = NEEDS_ROOT,
    OPERATION_ONCE,
    .params = params,
    .params_size = sizeof(struct merge_params),
    .answer = answer,
    .run = run,
    .print = print,
};

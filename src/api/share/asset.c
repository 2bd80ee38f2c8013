/* asset.list, asset.read: what a thread has made, and what it may read of others. */
#include "share/asset.h"

#include "api/markdown_doc.h"
#include "api/share/share_call.h"
#include "api/term.h"
#include "base/utf8.h"
#include "loom/agent.h"

/* ---- list ---------------------------------------------------------------------------- */

struct list_params {
    struct sv thread;
};

static const char *const accesses[] = { "rw", "r", NULL };

/* clang-format off */
static const struct param list_params[] = {
    { "thread", PARAM_TEXT, offsetof(struct list_params, thread), .required = true, .value = "T", .help = "the thread" },
    { 0 },
};
static const struct field asset_fields[] = {
    { "type",   FIELD_TEXT, .help = "plan, progress, design, learnings, transcript; other: of no listed type" },
    { "path",   FIELD_TEXT, .help = "below the workspace; a directory ends in /" },
    { "thread", FIELD_TEXT, .help = "whose it is" },
    { "access", FIELD_ENUM, .values = accesses, .help = "rw: the thread's own" },
    { 0 },
};
static const struct field listed[] = {
    { "items", FIELD_LIST, .of = asset_fields, .help = "its own assets, then those it may read" },
    { 0 },
};
/* clang-format on */

/* Rows of a list from `from` on: whose they are, and whether the thread may write them. */
static void put_rows(struct jw *w, const struct asset_list *list, size_t from, struct sv owner,
                     bool own)
{
    for (size_t i = from; i < list->list.n; i++) {
        jw_open(w, '{');
        jw_kstr(w, "type", sv_of(list->list.v[i].type));
        jw_kstr(w, "path", list->list.v[i].path);
        jw_kstr(w, "thread", owner);
        jw_kstr(w, "access", own ? SV("rw") : SV("r"));
        jw_close(w, '}');
    }
}

static enum status assets_of(struct share *s, const struct share_ref *r, struct asset_list *list,
                             struct jw *w, struct err *e)
{
    struct share_thread target;
    bool                found;
    size_t              from = list->list.n, n_warnings = s->warnings.n;

    if (share_thread_find(s, r->target, &target, &found, e))
        return err_code(e);
    if (!found) {
        share_warn(s, "W202", r->target, "Reference target '" SV_FMT "' not found",
                   SV_ARG(r->target));
        return ST_OK;
    }
    if (assets_of_ref(s, r, list, e) || asset_others_of_ref(s, r, list, e))
        return err_code(e);
    for (size_t i = n_warnings; i < s->warnings.n;) /* the missing files are in the list */
        if (sv_find(s->warnings.v[i].message, SV("is of no asset type")) >= 0)
            s->warnings.v[i] = s->warnings.v[--s->warnings.n];
        else
            i++;
    put_rows(w, list, from, r->target, false);
    return ST_OK;
}

static enum status list(struct request *r, const void *params, struct err *e)
{
    const struct list_params *p = params;
    struct share              s;
    struct share_thread       t;
    struct asset_list         all = { 0 };
    struct share_ref         *refs;
    size_t                    n;

    if (share_call_begin(r, &s, STORE_READ, e) || share_thread(&s, p->thread, &t, e) ||
        assets_own(&s, t.id, &all, e) || asset_others_own(&s, t.id, &all, e) ||
        share_refs(&s, t.id, true, r->a, &refs, &n, e))
        return share_call_fail(r, &s, e);
    jw_open(r->doc, '{');
    jw_key(r->doc, "items");
    jw_open(r->doc, '[');
    put_rows(r->doc, &all, 0, t.id, true);
    for (size_t i = 0; i < n; i++)
        if (assets_of(&s, &refs[i], &all, r->doc, e))
            return share_call_fail(r, &s, e);
    jw_close(r->doc, ']');
    jw_close(r->doc, '}');
    return share_call_end(r, &s);
}

static void print_list(const struct json *doc, struct term *t)
{
    const struct json *items = json_find(doc, "items");

    for (size_t i = 0; i < items->n; i++) {
        const struct json *x = &items->items[i];
        struct sv          type = json_text(x, "type");
        term_f(t, "%s  %-10.*s  ", sv_is(json_text(x, "access"), "rw") ? "rw" : "r-", (int)type.n,
               type.s);
        sb_add_plain_line(t->out, json_text(x, "path"));
        term_f(t, "\n");
    }
}

const struct operation op_asset_list = {
    .name = "asset.list",
    .summary = "List the assets a thread has and those it may read",
    .details = "rw is the thread's own, r- comes from threads it may read. `other` is work of no\n"
               "listed type: it has no <asset> in the block, and `heddle read` gives it.\n"
               "\n"
               "  heddle artifacts build",
    .group = GROUP_SHARE,
    .needs = NEEDS_ROOT,
    .in_thread = true,
    .params = list_params,
    .params_size = sizeof(struct list_params),
    .answer = listed,
    .run = list,
    .print = print_list,
};

/* ---- read ---------------------------------------------------------------------------- */

struct read_params {
    struct sv thread, name;
    bool      markdown;
};

static const char *const how_names[] = { "own", "frozen", "live", NULL };

/* clang-format off */
static const struct param read_params[] = {
    { "thread", PARAM_TEXT, offsetof(struct read_params, thread), .required = true, .value = "T", .help = "the thread that reads" },
    { "name",   PARAM_TEXT, offsetof(struct read_params, name),   .required = true, .value = "NAME|PATH", .help = "the asset, or the path of it that the context shows" },
    { "markdown", PARAM_FLAG, offsetof(struct read_params, markdown), .help = "in the document also the text as nodes of Markdown" },
    { 0 },
};
static const struct field read_fields[] = {
    { "path",    FIELD_TEXT, .help = "where the bytes are, below the workspace" },
    { "thread",  FIELD_TEXT, .help = "whose it is" },
    { "binding", FIELD_ENUM, .values = how_names, .help = "how the thread comes to it" },
    { "size",    FIELD_NUMBER, .help = "bytes" },
    { "markdown", FIELD_LIST, .item = FIELD_ANY, .optional = true, .nullable = true, .help = "strings and nodes, each with type and children; null: it is too long, not text, or cannot be parsed" },
    { 0 },
};
/* clang-format on */

/* An agent may pass an absolute path: the part up to the workspace's root is removed. */
static struct sv below_root(const struct request *r, struct sv name)
{
    struct sv root = r->ws->root;

    return sv_starts(name, root) && name.n > root.n && name.s[root.n] == '/'
               ? sv_skip(name, root.n + 1)
               : name;
}

static void write_markdown(struct request *r, struct sv thread, struct sv bytes)
{
    if (utf8_invalid(bytes) < 0) {
        markdown_doc(r, thread, bytes);
        return;
    }
    jw_key(r->doc, "markdown");
    jw_null(r->doc);
}

static enum status read_asset(struct request *r, const void *params, struct err *e)
{
    const struct read_params *p = params;
    struct share              s;
    struct asset_found        f;
    struct sv                 bytes;

    if (share_call_begin(r, &s, STORE_READ, e) ||
        asset_find(&s, p->thread, below_root(r, p->name), &f, e) ||
        asset_read(&s, &f, r->a, &bytes, e))
        return share_call_fail(r, &s, e);
    if (r->out)
        sb_add(r->out, bytes);
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "path", f.path);
    jw_kstr(r->doc, "thread", f.thread);
    jw_kstr(r->doc, "binding", sv_of(f.how));
    jw_kint(r->doc, "size", (int64_t)bytes.n);
    if (p->markdown)
        write_markdown(r, p->thread, bytes);
    jw_close(r->doc, '}');
    return share_call_end(r, &s);
}

const struct operation op_asset_read = {
    .name = "asset.read",
    .summary = "Print the bytes of an asset as a thread sees it",
    .details = "The thread's own file of that name; else the frozen copy; else the live origin;\n"
               "else it is refused. THREAD/NAME says whose when several have the name. A path as\n"
               "`heddle context` shows it leads to that file and no other. A frozen copy that was\n"
               "deleted is made again; one that was changed is refused. With --json: where the\n"
               "bytes are.\n\n"
               "  heddle read build notes.md\n"
               "  heddle read build .leslie/threads/research/notes.md",
    .group = GROUP_SHARE,
    .needs = NEEDS_ROOT,
    .in_thread = true,
    .permission = PERM_doc_read,
    .streams = STREAM_OUT,
    .params = read_params,
    .params_size = sizeof(struct read_params),
    .answer = read_fields,
    .run = read_asset,
    .print = term_nothing, /* The bytes are already written. */
};

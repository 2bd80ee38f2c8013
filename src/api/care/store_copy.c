/* store.copy and store.switch: moving the log to another store. */
#include "api/care/backup.h"
#include "api/care/care.h"
#include "api/settings.h"
#include "api/term.h"
#include "api/user_file.h"
#include "api/workspace_id.h"
#include "base/path.h"
#include "base/utf8.h"
#include "share/share.h"

struct copy_params {
    struct sv from, to;
    bool      verify;
};

struct switch_params {
    struct sv to;
};

/* clang-format off */
#define WHERE "`here` is where the log is now; else a file, or postgres://…"
static const struct param copy_params[] = {
    { "from",   PARAM_TEXT, offsetof(struct copy_params, from), .required = true, .value = "FROM", .help = "the store to read: " WHERE },
    { "to",     PARAM_TEXT, offsetof(struct copy_params, to), .required = true, .value = "TO", .help = "the store to write: empty, or an earlier copy" },
    { "verify", PARAM_FLAG, offsetof(struct copy_params, verify), .help = "then compute every chain and view of the copy again" },
    { 0 },
};
static const struct param switch_params[] = {
    { "to", PARAM_TEXT, offsetof(struct switch_params, to), .required = true, .value = "TO", .help = "where the log is from now on: a file, or postgres://…" },
    { 0 },
};
static const struct field copy_answer[] = {
    { "entries",  FIELD_NUMBER, .help = "entries that were copied now" },
    { "files",    FIELD_NUMBER, .help = "contents of frozen copies that the copy has too" },
    { "findings", FIELD_LIST, .item = FIELD_TEXT, .help = "what is wrong with the copy; only with verify" },
    { "threads",  FIELD_NUMBER, .help = "threads that are equal in both" },
    { "verified", FIELD_FLAG, .help = "whether chains and views were computed again" },
    { 0 },
};
static const struct field switch_answer[] = {
    { "from",    FIELD_TEXT, .help = "where the log was" },
    { "threads", FIELD_NUMBER, .help = "threads that are equal in both" },
    { "to",      FIELD_TEXT, .help = "where it is now" },
    { 0 },
};
/* clang-format on */

/* ---- which store ----------------------------------------------------------------- */

static bool is_server(struct sv name)
{
    return sv_find(name, SV("://")) > 0;
}

/* A shell may name any store; other doors only files of the workspace. */
static enum status check_place(struct request *r, struct sv name, struct err *e)
{
    struct sv inside;

    if (r->open)
        return ST_OK;
    if (!is_server(name) && !sv_starts(name, SV("/")) &&
        path_normal(name, r->a, &inside, e) == ST_OK)
        return ST_OK;
    err_set(e, ST_PERMISSION_DENIED, "'" SV_FMT "' is not a file of the workspace", SV_ARG(name));
    return err_hint(e, "run it in a shell");
}

static struct sv path_of(struct request *r, struct sv name)
{
    return is_server(name) || sv_starts(name, SV("/")) ? name : path_join(r->ws->root, name, r->a);
}

static enum status open_other(struct request *r, struct sv name, bool create, struct store **out,
                              struct err *e)
{
    struct store_options o = { .create = create, .read_only = !create };

    if (check_place(r, name, e))
        return err_code(e);
    if (is_server(name) && workspace_id(r->ws, create, r->a, &o.workspace, e))
        return err_code(e);
    if (is_server(name) && !o.workspace.s)
        o.workspace = SV("");
    return store_open(path_of(r, name), &o, out, e);
}

/* `here` is the log of the workspace. */
static enum status open_named(struct request *r, struct sv name, bool create, struct store **out,
                              struct err *e)
{
    if (sv_is(name, "here"))
        return workspace_take(r->ws, create ? STORE_WRITE : STORE_READ, out, e);
    return open_other(r, name, create, out, e);
}

/* ---- copying --------------------------------------------------------------------- */

static void tell(void *ctx, struct sv thread, int64_t done, int64_t of)
{
    (void)thread;
    request_progress(ctx, "store copy: entries of a thread", done, of);
}

/* Contents of frozen copies, which a store for several machines has beside the log. */
static enum status copy_objects(struct request *r, struct store **from, struct log *to,
                                struct share_objects *out, struct err *e)
{
    struct log   l = log_of(*from, workspace_views);
    struct share s;

    share_init(&s, &l, r->ws->root_fd, r->actor, r->a);
    enum status status = share_objects_copy(&s, to, out, e);
    *from = l.store;
    if (!status && out->missing)
        request_warn(r, SV("objects"), (struct sv){ 0 },
                     "%lld contents of frozen copies are neither on this machine nor in FROM: run "
                     "the copy again on the machine that has them",
                     (long long)out->missing);
    return status;
}

static enum status copy(struct request *r, const struct copy_params *p, struct store **from,
                        struct store **to, struct err *e)
{
    struct store_copy    how = { .rows = true, .progress = tell, .ctx = r };
    struct care_findings found = { .a = r->a };
    int64_t              entries = 0;
    struct share_objects objects;

    if (store_copy(*from, *to, &how, e))
        return err_code(e);
    struct log  l = log_of(*to, workspace_views);
    enum status s = copy_objects(r, from, &l, &objects, e);
    if (!s && p->verify)
        s = backup_verify_log(r, &l, &found, &entries, e);
    *to = l.store;
    if (s)
        return s;
    jw_open(r->doc, '{');
    jw_kint(r->doc, "entries", how.entries);
    jw_kint(r->doc, "files", objects.there);
    care_write(r->doc, "findings", &found);
    jw_kint(r->doc, "threads", how.threads);
    jw_kbool(r->doc, "verified", p->verify);
    jw_close(r->doc, '}');
    if (!found.list.n)
        return ST_OK;
    err_set(&r->verdict, ST_CORRUPT, "%zu difference%s found in the copy", found.list.n,
            found.list.n == 1 ? "" : "s");
    return ST_OK;
}

static enum status run_copy(struct request *r, const void *params_given, struct err *e)
{
    const struct copy_params *p = params_given;
    struct store             *from = NULL, *to = NULL;

    if (sv_eq(p->from, p->to))
        return err_set(e, ST_USAGE, "FROM and TO are the same store");
    enum status s = open_named(r, p->from, false, &from, e);
    if (s)
        return err_in(e, "FROM");
    if (open_named(r, p->to, true, &to, e)) {
        store_close(from);
        return err_in(e, "TO");
    }
    s = copy(r, p, &from, &to, e);
    store_close(from);
    store_close(to);
    return s;
}

static void print_copy(const struct json *doc, struct term *t)
{
    const struct json *found = json_find(doc, "findings");

    care_print_count(t, json_number(doc, "threads"), "thread", "threads");
    term_f(t, " equal, ");
    care_print_count(t, json_number(doc, "entries"), "entry", "entries");
    term_f(t, " copied");
    if (json_number(doc, "files")) {
        term_f(t, ", with the contents of ");
        care_print_count(t, json_number(doc, "files"), "frozen file", "frozen files");
    }
    term_f(t, "%s\n",
           json_truth(json_find(doc, "verified")) ? ", chains and views computed again" : "");
    for (size_t i = 0; found && i < found->n; i++) {
        term_f(t, "  ✗ ");
        term_text(t, json_sv(&found->items[i]));
        term_f(t, "\n");
    }
}

/* ---- switching ------------------------------------------------------------------- */

static enum status differs(struct sv thread, struct err *e)
{
    err_set(e, ST_CONFLICT, "thread '" SV_FMT "' is not the same in both stores", SV_ARG(thread));
    err_reason(e, "not_copied");
    return err_hint(e, "`heddle store copy here TO` copies what is new");
}

/* Are the two logs equal? Both are held while they are compared. */
static enum status compare(struct store *one, struct store *two, struct arena *a, size_t *threads,
                           struct err *e)
{
    struct store_thread *x, *y;
    size_t               n, m;

    if (store_threads(one, a, &x, &n, e) || store_threads(two, a, &y, &m, e))
        return err_code(e);
    for (size_t i = 0; i < n || i < m; i++) {
        int order = i >= n ? 1 : i >= m ? -1 : sv_cmp(x[i].id, y[i].id);
        if (order)
            return differs(order < 0 ? x[i].id : y[i].id, e);
        if (x[i].head.rev != y[i].head.rev || !hash_eq(&x[i].head.chain, &y[i].head.chain))
            return differs(x[i].id, e);
    }
    *threads = n;
    return ST_OK;
}

struct store_edit {
    const struct workspace *ws;
    struct sv               key, value; /* value absent: take it out */
};

static enum status edit_stores(void *ctx, struct sv before, struct arena *a, struct sv *after,
                               struct err *e)
{
    struct store_edit *d = ctx;

    return config_with(utf8_skip_bom(before), CONFIG_OF_USER, user_file_path(d->ws, USER_CONFIG, a),
                       d->key, d->value, a, after, e);
}

/* The user's settings name the store of this workspace; a file at its usual place needs no name,
 * unless the user keeps all logs elsewhere. */
static enum status remember(struct request *r, struct sv to, struct err *e)
{
    struct store_edit  d = { .ws = r->ws, .value = to };
    struct sb          key = sb_in(r->a, 0);
    enum config_source from;
    struct sv          id;

    if (workspace_id(r->ws, true, r->a, &id, e))
        return err_code(e);
    sb_adds(&key, "stores.");
    sb_add(&key, id);
    d.key = sb_sv(&key);
    config_value(&r->ws->config, SV("store"), &from);
    if (from != CONFIG_FROM_USER &&
        sv_eq(to, path_join(r->ws->root, SV(".heddle/heddle.db"), r->a)))
        d.value = (struct sv){ 0 };
    return user_file_change(r->ws, USER_CONFIG, edit_stores, &d, r->a, e);
}

/* The log of the workspace is locked while the two are compared and the settings changed, as far as
 * its store can: no entry that is written meanwhile is left behind. */
static enum status switch_to(struct request *r, struct sv to, struct store *here,
                             struct store *there, struct err *e)
{
    struct store_fact *was, *is;
    size_t             n, threads = 0;

    if (store_facts(here, r->a, &was, &n, e) || store_facts(there, r->a, &is, &n, e) ||
        store_begin(here, STORE_WRITE, e))
        return err_code(e);
    enum status s = compare(here, there, r->a, &threads, e);
    if (!s)
        s = remember(r, path_of(r, to), e);
    store_abort(here);
    if (s)
        return s;
    if (r->ws->store_url.n)
        request_warn(
            r, SV("overruled"), (struct sv){ 0 },
            "HEDDLE_STORE is set and counts over the settings: take it out of the environment");
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "from", was[1].value);
    jw_kint(r->doc, "threads", (int64_t)threads);
    jw_kstr(r->doc, "to", is[1].value);
    jw_close(r->doc, '}');
    return ST_OK;
}

static enum status run_switch(struct request *r, const void *params_given, struct err *e)
{
    const struct switch_params *p = params_given;
    struct store               *there;

    if (open_other(r, p->to, false, &there, e))
        return err_code(e);
    enum status s = switch_to(r, p->to, r->log.store, there, e);
    store_close(there);
    return s;
}

static void print_switch(const struct json *doc, struct term *t)
{
    term_f(t, "the log is now at ");
    term_text(t, json_text(doc, "to"));
    term_f(t, " (");
    care_print_count(t, json_number(doc, "threads"), "thread", "threads");
    term_f(t, "); it was at ");
    term_text(t, json_text(doc, "from"));
    term_f(t, "\n");
}

const struct operation op_store_copy = {
    .name = "store.copy",
    .summary = "Copy the log to another store: a file, or a PostgreSQL server",
    /* clang-format off */
    .details =
        "Every entry keeps its place, its bytes and its chain value. A copy that was interrupted\n"
        "goes on where it stopped, and one of a log that has grown copies what is new. Contents of\n"
        "frozen copies go along, for machines that reach only the server. `here` is\n"
        "where the log of the workspace is now. postgres://USER@HOST/DATABASE is a server, whose\n"
        "password stands in ~/.pgpass; there the copy has a schema of its own, by the id in\n"
        ".leslie/workspace.json, unless the URL names another.\n"
        "\n"
        "  heddle store copy here copy.db --verify",
    /* clang-format on */
    .group = GROUP_CARE,
    .needs = NEEDS_ROOT,
    .slow = true,
    .access = ACCESS_SHELL,
    .repeat = REPEAT_SAME,
    .params = copy_params,
    .params_size = sizeof(struct copy_params),
    .answer = copy_answer,
    .run = run_copy,
    .print = print_copy,
};

const struct operation op_store_switch = {
    .name = "store.switch",
    .summary = "Use another store for the log of this workspace from now on",
    /* clang-format off */
    .details =
        "The other store must hold the same log: `heddle store copy` makes it so. Your own settings\n"
        "then name it for this workspace (`stores`), never a file of the workspace. The old store\n"
        "stays as it is. Other people and machines that use the log switch too; processes that\n"
        "run already should be started again.\n"
        "\n"
        "  heddle store copy here copy.db && heddle store switch copy.db",
    /* clang-format on */
    .group = GROUP_CARE,
    .needs = NEEDS_WRITE,
    .slow = true,
    .access = ACCESS_SHELL,
    .repeat = REPEAT_SAME,
    .params = switch_params,
    .params_size = sizeof(struct switch_params),
    .answer = switch_answer,
    .run = run_switch,
    .print = print_switch,
};

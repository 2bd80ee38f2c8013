/* store.copy and store.switch: moving the log to another store. */
#include "api/care/backup.h"
#include "api/care/care.h"
#include "api/care/staged.h"
#include "api/settings.h"
#include "api/term.h"
#include "api/user_file.h"
#include "api/workspace_id.h"
#include "base/fs.h"
#include "base/path.h"
#include "base/rand.h"
#include "base/utf8.h"
#include "share/share.h"
#include "thread/erase.h"

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
    { "threads", FIELD_NUMBER, .help = "threads of the log" },
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

static enum status open_other(struct request *r, struct sv name, struct store_options o,
                              struct store **out, struct err *e)
{
    if (check_place(r, name, e))
        return err_code(e);
    if (is_server(name) && workspace_id(r->ws, o.create, r->a, &o.workspace, e))
        return err_code(e);
    if (is_server(name) && !o.workspace.s)
        o.workspace = SV("");
    return store_open(path_of(r, name), &o, out, e);
}

/* `here` is the log of the workspace. Another store may be one that the log was moved away from: it
 * is brought up to date, as a copy, before the log is moved back. */
static enum status open_named(struct request *r, struct sv name, bool create, struct store **out,
                              struct err *e)
{
    struct store_options o = { .create = create, .read_only = !create, .past_move = true };

    if (sv_is(name, "here"))
        return workspace_take(r->ws, create ? STORE_WRITE : STORE_READ, out, e);
    return open_other(r, name, o, out, e);
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

/* What was erased in the log since an earlier copy was made goes out of that copy first: else it
 * would be back when the copy is used. */
static enum status erase_first(struct request *r, struct store **from, struct store *to,
                               struct err *e)
{
    struct log         l = log_of(*from, workspace_views);
    struct store_moved here, there;
    int64_t            n = 0;

    if (store_moved(*from, r->a, &here, e) || store_moved(to, r->a, &there, e))
        return err_code(e);
    bool        former = there.to.s && store_came_by(&here, there.id);
    enum status s = erase_in_copy(&l, to, former ? ERASE_COPY_THREADS : ERASE_COPY_ENTRIES, &n, e);
    *from = l.store;
    if (!s && n)
        s = store_scrub(to, NULL, NULL, e);
    if (!s && n)
        request_warn(r, SV("erased"), (struct sv){ 0 },
                     "%lld entr%s of TO still held what was erased in FROM: erased there, too",
                     (long long)n, n == 1 ? "y" : "ies");
    return s;
}

static enum status copy(struct request *r, const struct copy_params *p, struct store **from,
                        struct store **to, struct err *e)
{
    struct store_copy    how = { .rows = true, .progress = tell, .ctx = r };
    struct care_findings found = { .a = r->a };
    int64_t              entries = 0;
    struct share_objects objects;

    if (erase_first(r, from, *to, e) || store_copy(*from, *to, &how, e))
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
    if (!s)
        request_warn_moved(r, from);
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

/* Does the other store have all of the log? Nobody writes to the first one meanwhile. It may have
 * more: what was written there already, by those who use it. */
static enum status compare(struct store *one, struct store *two, struct arena *a, struct err *e)
{
    struct store_thread *list;
    size_t               n;

    if (store_threads(one, a, &list, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        struct hash there;
        bool        found = false;
        if (list[i].damaged)
            return err_set(e, ST_CORRUPT, "thread '" SV_FMT "' cannot be read", SV_ARG(list[i].id));
        if (store_head_agrees(list[i].id, &list[i].head, e) ||
            store_chain_at(two, list[i].id, list[i].head.rev - 1, &there, &found, e))
            return err_code(e);
        if (!found || !hash_eq(&there, &list[i].head.chain))
            return differs(list[i].id, e);
    }
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

/* ---- moving: never two stores that both take entries ----------------------------------- */

/* A move from one store to the other. Each step is committed before the next one begins, and a
 * switch that was interrupted after any of them is finished by repeating it:
 *
 *     announce   the new store notes the id of the move; if it is marked itself, because the log
 *                was there before, the mark says that this move will end it
 *     leave      the old store is compared with the new one, while nobody else can write to it, and
 *                marked: no writer gets past that
 *     arrive     the mark of the new store is removed
 *     remember   the settings of the user name the new store
 *
 * Other users, and other machines, repeat the same command: the old store is marked already, and
 * the new one knows the id of its mark. */
struct move {
    struct request *r;
    struct store   *here, *there;
    struct sv       from, to; /* their places, without passwords */
    struct sv       id;
    bool            same; /* both are one store */
};

static enum status refuse_moved(const char *which, const struct store_moved *m, struct err *e)
{
    err_set(e, ST_CONFLICT, "the log is not at %s any more: it was moved to " SV_FMT, which,
            SV_ARG(m->to));
    err_reason(e, STORE_MOVED);
    return err_hint(e, "`heddle store switch " SH_FMT "` uses it there", SV_ARG(m->to));
}

/* The moves by which the log came to the new store: those that it knows, those by which the log
 * came to the old one, and this one. */
static struct sv moves_with(const struct store_moved *new, const struct store_moved *old,
                            const struct move *m, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add(&b, new->came);
    for (struct sv left = old->came; left.n;) {
        struct sv_cut line = sv_cut(left, '\n');
        if (!store_came_by(new, sv_cut(line.head, ' ').head)) {
            sb_add(&b, line.head);
            sb_addc(&b, '\n');
        }
        left = line.tail;
    }
    sb_add(&b, m->id);
    sb_addc(&b, ' ');
    sb_add(&b, m->from);
    sb_addc(&b, '\n');
    return sb_sv(&b);
}

static enum status announce(struct move *m, const struct store_moved *old, struct err *e)
{
    struct arena *a = m->r->a;
    struct store_moved new;

    if (store_begin_alone(m->there, e))
        return err_code(e);
    enum status s = store_moved(m->there, a, &new, e);
    if (!s && new.to.s && !store_came_by(old, new.id))
        s = refuse_moved("TO", &new, e);
    if (!s) {
        new.came = moves_with(&new, old, m, a);
        new.back = new.to.s ? m->id : (struct sv){ 0 };
        s = store_set_moved(m->there, &new, e);
    }
    if (!s)
        s = store_commit(m->there, e);
    store_abort(m->there);
    return s;
}

/* The rest of an import that was shown in part would stay in the old store. */
static enum status check_imports(struct move *m, struct err *e)
{
    struct log l = log_of(m->here, workspace_views);

    return log_stage_refuse(&l, e);
}

/* Imports that were interrupted are ended in the store that has their lines. */
static enum status end_imports(struct move *m, struct err *e)
{
    struct log  l = log_of(m->here, workspace_views);
    enum status s = staged_sweep(m->r, &l, m->r->ws->root_fd, NULL, e);

    m->here = l.store;
    return s;
}

static enum status leave(struct move *m, struct err *e)
{
    struct store_moved old;

    if (store_begin_alone(m->here, e))
        return err_code(e);
    enum status s = store_moved(m->here, m->r->a, &old, e);
    if (!s && old.to.s)
        s = refuse_moved("this place", &old, e); /* somebody was faster */
    m->same = !s && store_came_by(&old, m->id);
    if (!s)
        s = check_imports(m, e);
    if (!s)
        s = compare(m->here, m->there, m->r->a, e);
    if (!s && !m->same) {
        old.to = m->to;
        old.id = m->id;
        s = store_set_moved(m->here, &old, e);
    }
    if (!s && !m->same)
        s = store_commit(m->here, e);
    store_abort(m->here);
    return s;
}

/* Ends the mark of the new store, or forgets a move from a store to itself. */
static enum status arrive(struct move *m, struct err *e)
{
    struct store_moved new;

    if (store_begin_alone(m->there, e))
        return err_code(e);
    enum status s = store_moved(m->there, m->r->a, &new, e);
    if (!s && new.to.s && !sv_eq(new.back, m->id))
        s = refuse_moved("TO", &new, e);
    bool change = !s && (m->same || new.to.s);
    if (change) {
        new.to = new.id = new.back = (struct sv){ 0 };
        if (m->same) /* its line is the last one */
            new.came.n -= m->id.n + m->from.n + 2;
        s = store_set_moved(m->there, &new, e);
    }
    if (!s && change)
        s = store_commit(m->there, e);
    store_abort(m->there);
    return s;
}

static enum status move(struct move *m, struct err *e)
{
    struct arena      *a = m->r->a;
    struct store_moved old, new;

    if (store_moved(m->here, a, &old, e) || store_moved(m->there, a, &new, e))
        return err_code(e);
    m->id = old.to.s ? old.id : rand_unique_id(16, a);
    if (old.to.s && !store_came_by(&new, old.id))
        return refuse_moved("this place", &old, e);
    if (!old.to.s && (end_imports(m, e) || announce(m, &old, e) || leave(m, e)))
        return err_code(e);
    return arrive(m, e);
}

/* The usual place is noted as left, unless the log came back to it. */
static enum status note_moved(struct request *r, struct sv id, struct sv to, struct err *e)
{
    struct workspace_moved m = { .id = id, .to = to };

    if (sv_eq(to, store_url_bare(path_join(r->ws->root, SV(".heddle/heddle.db"), r->a), r->a)))
        m.to = (struct sv){ 0 };
    return workspace_set_moved(r->ws, &m, r->a, e);
}

/* The log is at the new place now: note it here and in the settings of the user. */
static enum status settle(struct request *r, struct sv to, const struct move *m, struct sv from,
                          struct err *e)
{
    struct store_fact   *is;
    struct store_thread *list;
    size_t               n;

    if (store_facts(m->there, r->a, &is, &n, e) || store_threads(m->there, r->a, &list, &n, e))
        return err_code(e);
    if (note_moved(r, m->id, m->to, e) || remember(r, path_of(r, to), e)) {
        err_in(e, "the log is at " SV_FMT " now, but your settings do not say so yet",
               SV_ARG(m->to));
        return err_hint(e, "repeat `heddle store switch " SH_FMT "`", SV_ARG(m->to));
    }
    if (r->ws->store_url.n)
        request_warn(
            r, SV("overruled"), (struct sv){ 0 },
            "HEDDLE_STORE is set and counts over the settings: take it out of the environment");
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "from", from);
    jw_kint(r->doc, "threads", (int64_t)n);
    jw_kstr(r->doc, "to", is[1].value);
    jw_close(r->doc, '}');
    return ST_OK;
}

static enum status switch_to(struct request *r, struct sv to, struct store *here,
                             struct store *there, struct err *e)
{
    struct move        m = { .r = r, .here = here, .there = there };
    struct store_fact *was;
    size_t             n;
    UNDO(fd_undo) int  dir = -1;

    if (store_facts(here, r->a, &was, &n, e) || workspace_store_url(r->ws, r->a, &m.from, &dir, e))
        return err_code(e);
    m.from = store_url_bare(m.from, r->a);
    m.to = store_url_bare(path_of(r, to), r->a);
    return move(&m, e) ? err_code(e) : settle(r, to, &m, was[1].value, e);
}

/* Others whose settings name nothing follow a log whose old file is gone: the note says by which
 * move it left, and the new store knows it. */
static enum status follow(struct request *r, struct sv to, struct store *there, struct err *e)
{
    struct workspace_moved left = workspace_moved(r->ws, r->a);
    struct store_moved new;
    struct move m = { .there = there, .id = left.id };

    m.to = store_url_bare(path_of(r, to), r->a);
    if (!left.to.n || !sv_eq(left.to, m.to))
        return err_code(e); /* why the old store was not opened */
    if (store_moved(there, r->a, &new, e))
        return err_code(e);
    if (new.to.s || !store_came_by(&new, left.id))
        return new.to.s ? refuse_moved("TO", &new, e)
                        : err_set(e, ST_CONFLICT, SV_FMT " is not the store that the log came to",
                                  SV_ARG(m.to));
    return settle(r, to, &m, path_join(r->ws->root, SV(".heddle/heddle.db"), r->a), e);
}

static enum status run_switch(struct request *r, const void *params_given, struct err *e)
{
    const struct switch_params *p = params_given;
    struct store               *here, *there;

    if (open_other(r, p->to, (struct store_options){ .past_move = true }, &there, e))
        return err_code(e);
    enum status s = workspace_take(r->ws, STORE_WRITE, &here, e);
    if (!s) {
        s = switch_to(r, p->to, here, there, e);
        store_close(here);
    } else if (s == ST_CONFLICT) {
        s = follow(r, p->to, there, e);
    }
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
        "goes on where it stopped, and one of a log that has grown copies what is new; what was\n"
        "erased in FROM since then is erased in TO. Contents of frozen copies go along, for\n"
        "machines that reach only the server. `here` is where the log of the workspace is now.\n"
        "postgres://USER@HOST/DATABASE is a server, whose password stands in ~/.pgpass; there the\n"
        "copy has a schema of its own, by the id in .leslie/workspace.json, unless the URL names\n"
        "another.\n"
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
        "is marked: whoever still writes to it, also a server that runs or a user with other\n"
        "settings, is refused with CONFLICT (reason `moved`) and told the new place; reading it\n"
        "warns. They run the same command. To move the log back, copy it to the old store and\n"
        "switch to that. A switch that was interrupted is finished by repeating it.\n"
        "\n"
        "  heddle store copy here copy.db && heddle store switch copy.db",
    /* clang-format on */
    .group = GROUP_CARE,
    .needs = NEEDS_ROOT,
    .slow = true,
    .access = ACCESS_SHELL,
    .repeat = REPEAT_SAME,
    .params = switch_params,
    .params_size = sizeof(struct switch_params),
    .answer = switch_answer,
    .run = run_switch,
    .print = print_switch,
};

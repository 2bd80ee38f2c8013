/* token.create, token.list, token.revoke: secrets with which programs may call the server. */
#include "api/door_token.h"
#include "api/request.h"
#include "api/term.h"
#include "base/clock.h"
#include "base/path.h"

struct token_params {
    struct sv      name, id, expires;
    struct sv_list permissions, thread;
};

/* clang-format off */
static const struct param create_params[] = {
    { "name",        PARAM_NAME, offsetof(struct token_params, name), .value = "NAME", .fallback = "program", .help = "who uses it: recorded in the log as the actor" },
    { "permissions", PARAM_LIST, offsetof(struct token_params, permissions), .value = "P,…", .values = token_permission_names, .fallback = "read", .help = "what it may do: read, write, run, manage" },
    { "thread",      PARAM_LIST, offsetof(struct token_params, thread), .value = "T,…", .help = "only within these threads (default: all)" },
    { "expires",     PARAM_TEXT, offsetof(struct token_params, expires), .value = "WHEN", .fallback = "90d", .help = "when it ends: 30d, 12h, 45m, a time such as 2027-01-31T00:00Z, or never" },
    { 0 },
};
static const struct param revoke_params[] = {
    { "id", PARAM_TEXT, offsetof(struct token_params, id), .required = true, .value = "ID", .help = "the token, as token.list names it" },
    { 0 },
};
#define TOKEN_FIELDS \
    { "id",          FIELD_TEXT, .help = "names the token; it is not a secret" }, \
    { "actor",       FIELD_TEXT, .help = "who uses it" }, \
    { "permissions", FIELD_LIST, .help = "what it may do" }, \
    { "threads",     FIELD_LIST, .help = "within which threads; empty: all" }, \
    { "created_at",  FIELD_TIME, .help = "when it was made" }, \
    { "expires_at",  FIELD_TIME, .nullable = true, .help = "when it ends" }, \
    { "expired",     FIELD_FLAG, .help = "it has ended" }
static const struct field created_fields[] = {
    TOKEN_FIELDS,
    { "token", FIELD_TEXT, .help = "the secret: it is kept nowhere and shown once" },
    { 0 },
};
static const struct field item_fields[] = { TOKEN_FIELDS, { 0 } };
static const struct field list_fields[] = {
    { "items", FIELD_LIST, .of = item_fields, .help = "the tokens of this workspace, oldest first" },
    { 0 },
};
static const struct field revoked_fields[] = {
    { "id", FIELD_TEXT, .help = "the token that is no longer valid" },
    { 0 },
};
/* clang-format on */

static void write_members(struct jw *w, const struct door_token *t)
{
    jw_kstr(w, "id", t->id);
    jw_kstr(w, "actor", t->actor);
    door_token_write_reach(w, t);
    jw_ktime(w, "created_at", t->created);
    jw_ktime_if(w, "expires_at", t->expires != 0, t->expires);
    jw_kbool(w, "expired", t->expires && t->expires <= clock_now_ms());
}

/* ---- create -------------------------------------------------------------------------------- */

/* "30d", an instant, or "never", which is 0. */
static enum status read_expiry(struct sv text, int64_t now, int64_t *out, struct err *e)
{
    static const struct {
        char    unit;
        int64_t ms;
    } units[] = { { 'm', 60 * 1000 }, { 'h', 3600 * 1000 }, { 'd', 24 * 3600 * 1000 } };
    int64_t n, most = INT64_C(100) * 366 * 24 * 3600 * 1000;

    *out = 0;
    if (sv_is(text, "never") || (clock_parse_iso(text, out) && *out > now))
        return ST_OK;
    for (size_t i = 0; text.n > 1 && i < COUNT(units); i++)
        if (text.s[text.n - 1] == units[i].unit && sv_to_int(sv_first(text, text.n - 1), &n) &&
            n > 0 && n <= most / units[i].ms) {
            *out = now + n * units[i].ms;
            return ST_OK;
        }
    err_set(e, ST_USAGE, "'" SV_FMT "' is not a time in the future", SV_ARG(text));
    return err_hint(e, "30d, 12h, 45m, 2027-01-31T00:00Z, or never");
}

static enum status read_permissions(const struct sv_list *list, unsigned *out, struct err *e)
{
    *out = 0;
    for (size_t i = 0; i < list->n; i++) {
        unsigned bit = 0;
        for (size_t k = 0; token_permission_names[k]; k++)
            if (sv_is(list->v[i], token_permission_names[k]))
                bit = 1u << k;
        if (!bit) {
            err_set(e, ST_USAGE, "'" SV_FMT "' is not a permission", SV_ARG(list->v[i]));
            return err_hint(e, "there are read, write, run and manage");
        }
        *out |= bit;
    }
    return *out ? ST_OK : err_set(e, ST_USAGE, "a token without permissions is of no use");
}

static enum status check_threads(const struct sv_list *list, struct err *e)
{
    for (size_t i = 0; i < list->n; i++)
        if (name_check(list->v[i], "thread id", e))
            return err_code(e);
    return ST_OK;
}

static enum status run_create(struct request *r, const void *given, struct err *e)
{
    const struct token_params *p = given;
    struct door_token t = { .actor = p->name, .threads = p->thread, .created = clock_now_ms() };
    struct sv         secret;

    if (read_permissions(&p->permissions, &t.permissions, e) ||
        read_expiry(p->expires, t.created, &t.expires, e) || check_threads(&p->thread, e) ||
        door_token_add(r->ws, &t, r->a, &secret, e))
        return err_code(e);
    jw_open(r->doc, '{');
    write_members(r->doc, &t);
    jw_kstr(r->doc, "token", secret);
    jw_close(r->doc, '}');
    return ST_OK;
}

static void print_created(const struct json *doc, struct term *t)
{
    term_text(t, json_text(doc, "token"));
    term_f(t, "\n");
}

/* ---- list, revoke -------------------------------------------------------------------------- */

static enum status run_list(struct request *r, const void *given, struct err *e)
{
    door_tokens list;

    (void)given;
    if (door_token_list(r->ws, r->a, &list, e))
        return err_code(e);
    jw_open(r->doc, '{');
    jw_key(r->doc, "items");
    jw_open(r->doc, '[');
    for (size_t i = 0; i < list.n; i++) {
        jw_open(r->doc, '{');
        write_members(r->doc, &list.v[i]);
        jw_close(r->doc, '}');
    }
    jw_close(r->doc, ']');
    jw_close(r->doc, '}');
    return ST_OK;
}

static struct sv joined(const struct json *list, struct sv none, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    for (size_t i = 0; json_is(list, JSON_ARRAY) && i < list->n; i++) {
        sb_adds(&b, i ? "," : "");
        sb_add(&b, json_sv(&list->items[i]));
    }
    return b.n ? sb_sv(&b) : none;
}

static void print_list(const struct json *doc, struct term *t)
{
    static const char *const heads[] = { "ID", "NAME", "PERMISSIONS", "THREADS", "EXPIRES", NULL };
    struct term_table        table = { .heads = heads };
    const struct json       *items = json_find(doc, "items");

    if (!json_is(items, JSON_ARRAY) || !items->n) {
        term_f(t, "no tokens; `heddle token create NAME` makes one\n");
        return;
    }
    for (size_t i = 0; i < items->n; i++) {
        const struct json *x = &items->items[i];
        struct sv          until = json_text(x, "expires_at");
        bool               over = json_truth(json_find(x, "expired"));
        term_row(&table, t->a,
                 (struct sv[]){ json_text(x, "id"), json_text(x, "actor"),
                                joined(json_find(x, "permissions"), SV("none"), t->a),
                                joined(json_find(x, "threads"), SV("all"), t->a),
                                over      ? SV("expired")
                                : until.n ? until
                                          : SV("never") });
    }
    term_table(&table, t);
}

static enum status run_revoke(struct request *r, const void *given, struct err *e)
{
    const struct token_params *p = given;
    bool                       was = false;

    if (door_token_remove(r->ws, p->id, r->a, &was, e))
        return err_code(e);
    if (!was) {
        err_set(e, ST_NOT_FOUND, "there is no token '" SV_FMT "'", SV_ARG(p->id));
        return err_hint(e, "`heddle token list` shows their ids");
    }
    jw_open(r->doc, '{');
    jw_kstr(r->doc, "id", p->id);
    jw_close(r->doc, '}');
    return ST_OK;
}

const struct operation op_token_create = {
    .name = "token.create",
    .summary = "Make a token with which a program may ask the server",
    .details = "The program sends it as `Authorization: Bearer TOKEN`. What it may do:\n"
               "\n"
               "  read    operations that change nothing, and events\n"
               "  write   operations that are recorded in the log\n"
               "  run     operations that start programs, or ask models or the network\n"
               "  manage  operations that erase, delete or write files, or change who may do what\n"
               "\n"
               "With --thread it reaches operations on these threads alone. The token is printed\n"
               "once; what is kept, in the user's own files, is its hash. A server that runs\n"
               "knows it at once.\n"
               "\n"
               "  heddle token create ci --permissions read,write --thread build --expires 30d",
    .group = GROUP_DOORS,
    .needs = NEEDS_ROOT,
    .repeat = REPEAT_NEVER,
    .access = ACCESS_MANAGE,
    .params = create_params,
    .params_size = sizeof(struct token_params),
    .answer = created_fields,
    .run = run_create,
    .print = print_created,
};

const struct operation op_token_list = {
    .name = "token.list",
    .summary = "List the tokens of programs that may ask the server",
    .group = GROUP_DOORS,
    .needs = NEEDS_ROOT,
    .repeat = REPEAT_READS,
    .access = ACCESS_MANAGE,
    .answer = list_fields,
    .run = run_list,
    .print = print_list,
};

const struct operation op_token_revoke = {
    .name = "token.revoke",
    .summary = "Take a token back",
    .details = "It is refused from the next request on.\n\n  heddle token revoke tk_7d2k9x4m",
    .group = GROUP_DOORS,
    .needs = NEEDS_ROOT,
    .repeat = REPEAT_NEVER,
    .access = ACCESS_MANAGE,
    .params = revoke_params,
    .params_size = sizeof(struct token_params),
    .answer = revoked_fields,
    .run = run_revoke,
    .print = term_nothing,
};

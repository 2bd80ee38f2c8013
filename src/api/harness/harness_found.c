/* harness.found: sessions that other programs keep and that were not imported yet. */
#include "api/request.h"
#include "api/term.h"
#include "base/fs.h"
#include "base/path.h"
#include "harness/sessions.h"
#include "harness/where.h"

#include <fcntl.h>
#include <stdlib.h>

struct found_params {
    struct sv harness;
    int64_t   limit;
};

static const char *const names[] = {
#define X(id, name, title) name,
    HARNESS_TABLE(X)
#undef X
        NULL,
};

/* clang-format off */
static const struct param params[] = {
    { "harness", PARAM_ENUM,   offsetof(struct found_params, harness), .value = "PROGRAM", .values = names, .help = "only of this program" },
    { "limit",   PARAM_NUMBER, offsetof(struct found_params, limit), .value = "N", .min = 1, .max = 10000, .fallback = "1000", .help = "at most this many, those that changed last" },
    { 0 },
};
static const struct field item_fields[] = {
    { "harness", FIELD_ENUM,   .values = names, .help = "the program" },
    { "name",    FIELD_TEXT,   .help = "of the transcript, below where the program keeps them; of opencode: the id of the session" },
    { "path",    FIELD_TEXT,   .help = "the file that holds it" },
    { "size",    FIELD_NUMBER, .nullable = true, .help = "bytes of the file; null: it holds other sessions, too" },
    { "changed", FIELD_TIME,   .nullable = true, .help = "when it was written last" },
    { 0 },
};
static const struct field failure_fields[] = {
    { "harness", FIELD_ENUM, .values = names, .help = "the program" },
    { "path",    FIELD_TEXT, .help = "where it keeps its sessions" },
    { "message", FIELD_TEXT, .help = "why they cannot be listed" },
    { 0 },
};
static const struct field answer[] = {
    { "items",  FIELD_LIST,   .of = item_fields, .help = "the ones that changed last first" },
    { "total",  FIELD_NUMBER, .help = "how many there are" },
    { "failed", FIELD_LIST,   .of = failure_fields, .help = "programs whose sessions cannot be listed" },
    { 0 },
};
/* clang-format on */

struct transcript_found {
    enum harness harness;
    struct sv    name, path;
    int64_t      size, changed_ns; /* -1, 0: not known */
};
struct look_failed {
    enum harness harness;
    struct sv    path, message;
};
struct transcripts_look {
    struct request         *r;
    struct harness_session *known;
    size_t                  n_known;
    VEC(struct transcript_found) found;
    VEC(struct look_failed) failed;
};

/* A session is known by its transcript; one that a hook recorded by its id, which is part of the
 * name that the program gave the file. */
static bool is_known(const struct transcripts_look *x, enum harness h, struct sv name,
                     struct sv path)
{
    for (size_t i = 0; i < x->n_known; i++) {
        const struct harness_session *s = &x->known[i];
        if (s->harness == h &&
            (sv_eq(s->path, path) || (s->id.n >= 8 && sv_find(path_base(name), s->id) >= 0)))
            return true;
    }
    return false;
}

static void add(struct transcripts_look *x, struct transcript_found f)
{
    if (!is_known(x, f.harness, f.name, f.path))
        *vec_push(&x->found, x->r->a) = f;
}

/* A store of opencode: its sessions have ids, and no files of their own. */
static enum status look_stored(struct transcripts_look *x, int fd, int dir, struct sv path,
                               int64_t changed_ns, struct err *e)
{
    struct sv *ids;
    size_t     n;

    if (harness_stored_sessions(fd, dir, x->r->a, &ids, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        add(x, (struct transcript_found){ HARNESS_OPENCODE, ids[i], path, -1, changed_ns });
    return ST_OK;
}

static enum status look_database(struct transcripts_look *x, int home, struct sv base,
                                 const struct harness_transcript *t, struct err *e)
{
    UNDO(fd_undo) int fd = -1;

    if (fs_open(home, t->path, O_RDONLY | O_CLOEXEC, &fd, e))
        return err_code(e);
    return look_stored(x, fd, -1, path_join(base, t->path, x->r->a), t->changed_ns, e);
}

static enum status look_below(struct transcripts_look *x, enum harness h, int home, struct sv base,
                              struct err *e)
{
    struct harness_transcript *list;
    size_t                     n;

    if (harness_transcripts(h, home, x->r->a, &list, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        if (h == HARNESS_OPENCODE && look_database(x, home, base, &list[i], e))
            return err_code(e);
        if (h != HARNESS_OPENCODE)
            add(x,
                (struct transcript_found){ h, list[i].path, path_join(base, list[i].path, x->r->a),
                                           list[i].size, list[i].changed_ns });
    }
    return ST_OK;
}

static struct sv variable(const void *ctx, const char *name)
{
    return workspace_variable(ctx, name);
}

/* A program that was never used here has no directory; that is not reported. */
static void look_at(struct transcripts_look *x, enum harness h)
{
    UNDO(fd_undo) int fd = -1;
    struct sv         base = harness_home(h, variable, x->r->ws, x->r->a);
    struct err        e;

    if (!base.n || (harness_home_open(base, x->r->a, &fd, &e) && e.code == ST_NOT_FOUND))
        return;
    if (fd >= 0 && look_below(x, h, fd, base, &e) == ST_OK)
        return;
    *vec_push(&x->failed, x->r->a) =
        (struct look_failed){ h, base, sv_dup(sv_of(e.text), x->r->a) };
}

static int newest_first(const void *a, const void *b)
{
    const struct transcript_found *x = a, *y = b;

    if (x->changed_ns != y->changed_ns)
        return x->changed_ns < y->changed_ns ? 1 : -1;
    return x->harness != y->harness ? (int)x->harness - (int)y->harness : sv_cmp(x->name, y->name);
}

static void put_found(struct jw *w, const struct transcript_found *f)
{
    jw_open(w, '{');
    jw_kstr(w, "harness", sv_of(harness_name(f->harness)));
    jw_klossy(w, "name", f->name);
    jw_klossy(w, "path", f->path);
    jw_kint_if(w, "size", f->size >= 0, f->size);
    jw_ktime_if(w, "changed", f->changed_ns != 0, f->changed_ns / 1000000);
    jw_close(w, '}');
}

static void put_failed(struct jw *w, const struct look_failed *f)
{
    jw_open(w, '{');
    jw_kstr(w, "harness", sv_of(harness_name(f->harness)));
    jw_klossy(w, "path", f->path);
    jw_klossy(w, "message", f->message);
    jw_close(w, '}');
}

static enum status run(struct request *r, const void *given, struct err *e)
{
    const struct found_params *p = given;
    struct transcripts_look    x = { .r = r };
    struct jw                 *w = r->doc;

    if (harness_sessions(&r->log, r->a, &x.known, &x.n_known, e))
        return err_code(e);
    for (int h = 0; h < HARNESS_COUNT; h++)
        if (!p->harness.s || sv_is(p->harness, harness_name((enum harness)h)))
            look_at(&x, (enum harness)h);
    if (x.found.n)
        qsort(x.found.v, x.found.n, sizeof *x.found.v, newest_first);
    jw_open(w, '{');
    jw_key(w, "items");
    jw_open(w, '[');
    for (size_t i = 0; i < x.found.n && (int64_t)i < p->limit; i++)
        put_found(w, &x.found.v[i]);
    jw_close(w, ']');
    jw_kint(w, "total", (int64_t)x.found.n);
    jw_key(w, "failed");
    jw_open(w, '[');
    for (size_t i = 0; i < x.failed.n; i++)
        put_failed(w, &x.failed.v[i]);
    jw_close(w, ']');
    jw_close(w, '}');
    return ST_OK;
}

static void print(const struct json *doc, struct term *t)
{
    static const char *const heads[] = { "PROGRAM", "CHANGED", "NAME", NULL };
    const struct json       *items = json_find(doc, "items"), *failed = json_find(doc, "failed");
    struct term_table        table = { .heads = heads };

    for (size_t i = 0; i < items->n; i++)
        term_row(&table, t->a,
                 (struct sv[]){ json_text(&items->items[i], "harness"),
                                sv_first(json_text(&items->items[i], "changed"), 16),
                                json_text(&items->items[i], "name") });
    term_table(&table, t);
    if (!items->n)
        term_f(t, "every session that is there was imported\n");
    if (json_number(doc, "total") > (int64_t)items->n)
        term_f(t, "%lld more\n", (long long)(json_number(doc, "total") - (int64_t)items->n));
    for (size_t i = 0; i < failed->n; i++) {
        term_f(t, "! ");
        term_text(t, json_text(&failed->items[i], "message"));
        term_f(t, "\n");
    }
}

const struct operation op_harness_found = {
    .name = "harness.found",
    .summary = "List sessions of other programs that were not imported yet",
    .details =
        "What Claude Code, Codex, opencode, Gemini CLI and pi keep for this user, without the\n"
        "sessions that were imported or that a hook recorded. Nothing is read but names.\n"
        "\n"
        "  heddle transcripts\n"
        "  heddle import claude-code --all --only -work/1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed.jsonl",
    .group = GROUP_LOOM,
    .needs = NEEDS_LOG,
    .access = ACCESS_MANAGE,
    .repeat = REPEAT_READS,
    .slow = true,
    .params = params,
    .params_size = sizeof(struct found_params),
    .answer = answer,
    .run = run,
    .print = print,
};

/* asset.history, asset.compare: what was done to a document, and how two of its states differ. */
#include "share/asset.h"

#include "api/share/asset_versions.h"
#include "api/share/share_call.h"
#include "api/term.h"
#include "base/diff.h"
#include "base/utf8.h"
#include "loom/agent.h"
#include "share/share_internal.h"
#include "thread/marks.h"
#include "thread/scan.h"
#include "thread/skeleton.h"

/* ---- history -----------------------------------------------------------------------------------
 */

enum { LOOKED_AT_MAX = VERSION_WRITES_MAX }; /* writes, of whatever document, for one answer */

struct history_params {
    struct sv thread, name;
    int64_t   before, limit;
};

/* clang-format off */
static const struct param history_params[] = {
    { "thread", PARAM_NAME,   offsetof(struct history_params, thread), .required = true, .value = "T", .help = "the thread" },
    { "name",   PARAM_TEXT,   offsetof(struct history_params, name),   .value = "NAME", .help = "only this document, by its name or path" },
    { "before", PARAM_NUMBER, offsetof(struct history_params, before), .value = "SEQ", .min = 0, .max = INT64_MAX, .help = "only writes before this entry" },
    { "limit",  PARAM_NUMBER, offsetof(struct history_params, limit),  .value = "N", .min = 1, .max = 1000, .fallback = "100", .help = "at most this many" },
    { 0 },
};
static const struct field write_fields[] = {
    { "seq",      FIELD_NUMBER, .help = "the entry" },
    { "at",       FIELD_TIME,   .help = "when" },
    { "agent",    FIELD_TEXT,   .nullable = true, .help = "who wrote" },
    { "doc",      FIELD_TEXT,   .nullable = true, .help = "the document, as it was called" },
    { "path",     FIELD_TEXT,   .nullable = true, .help = "where it is" },
    { "offset",   FIELD_NUMBER, .nullable = true, .help = "where in it, in bytes" },
    { "inserted", FIELD_NUMBER, .nullable = true, .help = "how many bytes came in" },
    { "before",   FIELD_TEXT,   .nullable = true, .help = "hash of what it was; null: it was new, or that was erased" },
    { "after",    FIELD_TEXT,   .nullable = true, .help = "hash of what it became" },
    { "kept_before", FIELD_FLAG, .help = "whether what it was is kept" },
    { "kept",     FIELD_FLAG,   .help = "whether what it became is kept, so that it can be compared" },
    { 0 },
};
static const struct field history_fields[] = {
    { "thread", FIELD_TEXT,   .help = "the thread" },
    { "items",  FIELD_LIST,   .of = write_fields, .help = "what was written through heddle, newest first" },
    { "next",   FIELD_NUMBER, .nullable = true, .help = "ask again with this as before; null: there is no more" },
    { 0 },
};
/* clang-format on */

static void put_number(struct jw *w, const char *key, const struct json *v)
{
    int64_t n = 0;
    bool    is_there = json_int(v, &n);

    jw_kint_if(w, key, is_there, n);
}

static bool is_kept(const struct asset_versions *v, struct sv hash)
{
    UNDO(fd_undo) int fd = -1;
    struct share     *s = v->s;
    struct sv         bytes, path = hash.n ? object_path(hash, s->a) : (struct sv){ 0 };
    struct err        ignored;

    if (asset_version_find(v, hash, &bytes))
        return true;
    return path.n && share_open(s, path, O_PATH, &fd, &ignored) == ST_OK;
}

/* `plan.md` is also the name of .leslie/threads/T/plan.md. */
static bool is_named(const struct json *p, struct sv name)
{
    struct sv path = json_text(p, "path");

    return !name.n || sv_eq(name, path) || sv_eq(name, json_text(p, "doc")) ||
           (sv_ends(path, name) && path.n > name.n && path.s[path.n - name.n - 1] == '/');
}

static void put_write(struct request *r, const struct asset_versions *v, const struct entry *n,
                      const struct json *p)
{
    struct jw *w = r->doc;

    jw_open(w, '{');
    jw_kint(w, "seq", n->seq);
    jw_ktime(w, "at", n->at);
    jw_kstr(w, "agent", json_text(p, "agent"));
    jw_kstr(w, "doc", json_text(p, "doc"));
    jw_kstr(w, "path", json_text(p, "path"));
    put_number(w, "offset", json_find(p, "at"));
    put_number(w, "inserted", json_find(p, "inserted"));
    jw_kstr(w, "before", json_text(p, "before"));
    jw_kstr(w, "after", json_text(p, "after"));
    jw_kbool(w, "kept_before", is_kept(v, json_text(p, "before")));
    jw_kbool(w, "kept", is_kept(v, json_text(p, "after")));
    jw_close(w, '}');
}

static enum status read_write(struct request *r, struct sv thread, int64_t seq, struct entry *n,
                              struct json *payload, struct err *e)
{
    bool found;

    if (log_entry(&r->log, thread, seq, r->a, n, &found, e))
        return err_code(e);
    if (!found)
        return err_set(e, ST_CORRUPT, "entry %lld is missing", (long long)seq);
    return json_parse(skeleton_shown(n, r->a), 0, r->a, payload, e);
}

/* *next is where to go on; -1: nowhere. */
static enum status put_writes(struct request *r, struct share *s, const struct history_params *p,
                              int64_t *next, struct err *e)
{
    int64_t *seqs, before = p->before == PARAM_UNSET ? INT64_MAX : p->before, given = 0;
    size_t   n;
    struct asset_versions v;

    *next = -1;
    if (asset_versions_read(&v, r, s, p->thread, is_named, p->name, e) ||
        log_marks_back(&r->log, p->thread, LOG_MARK_DOCUMENT, before, LOOKED_AT_MAX, r->a, &seqs,
                       &n, e))
        return err_code(e);
    if (n == LOOKED_AT_MAX)
        *next = seqs[n - 1];
    for (size_t i = 0; i < n; i++) {
        struct entry entry;
        struct json  payload;
        if (given == p->limit) {
            *next = seqs[i - 1];
            break;
        }
        if (read_write(r, p->thread, seqs[i], &entry, &payload, e))
            return err_code(e);
        if (is_named(&payload, p->name)) {
            put_write(r, &v, &entry, &payload);
            given++;
        }
    }
    return ST_OK;
}

static enum status put_history(struct request *r, struct share *s, const struct history_params *p,
                               struct err *e)
{
    struct jw *w = r->doc;
    int64_t    next;

    jw_open(w, '{');
    jw_kstr(w, "thread", p->thread);
    jw_key(w, "items");
    jw_open(w, '[');
    if (put_writes(r, s, p, &next, e))
        return err_code(e);
    jw_close(w, ']');
    jw_kint_if(w, "next", next >= 0, next);
    jw_close(w, '}');
    return ST_OK;
}

static enum status history(struct request *r, const void *given, struct err *e)
{
    const struct history_params *p = given;
    struct share                 s;

    if (share_call_begin(r, &s, STORE_READ, e) || put_history(r, &s, p, e))
        return share_call_fail(r, &s, e);
    return share_call_end(r, &s);
}

static void print_history(const struct json *doc, struct term *t)
{
    static const char *const heads[] = { "ENTRY", "WHEN", "WHO", "DOCUMENT", NULL };
    const struct json       *items = json_find(doc, "items");
    struct term_table        table = { .heads = heads };

    for (size_t i = 0; i < items->n; i++) {
        const struct json *x = &items->items[i], *seq = json_find(x, "seq");
        term_row(&table, t->a,
                 (struct sv[]){ { seq->s, seq->n },
                                sv_first(json_text(x, "at"), 16),
                                json_text(x, "agent"),
                                json_text(x, "path") });
    }
    term_table(&table, t);
    term_next(doc, "--before", t);
    if (!items->n)
        term_f(t, "nothing was written through heddle\n");
}

const struct operation op_asset_history = {
    .name = "asset.history",
    .summary = "List what was written to the documents of a thread",
    .details = "Newest first: which entry, when, who, and which document. What other programs\n"
               "write to the files is not in the log.\n"
               "\n"
               "  heddle history build plan.md",
    .group = GROUP_SHARE,
    .needs = NEEDS_LOG,
    .in_thread = true,
    .permission = PERM_doc_read,
    .repeat = REPEAT_READS,
    .params = history_params,
    .params_size = sizeof(struct history_params),
    .answer = history_fields,
    .run = history,
    .print = print_history,
};

/* ---- difference --------------------------------------------------------------------------------
 */

enum { AROUND = 3 }; /* lines that are shown around a change */

struct compare_params {
    struct sv thread, name, hash, to;
};

/* clang-format off */
static const struct param compare_params[] = {
    { "thread", PARAM_TEXT, offsetof(struct compare_params, thread), .required = true, .value = "T", .help = "the thread that reads" },
    { "name",   PARAM_TEXT, offsetof(struct compare_params, name),   .required = true, .value = "NAME|PATH", .help = "the asset, or the path of it that the context shows" },
    { "hash",   PARAM_TEXT, offsetof(struct compare_params, hash),   .value = "HASH", .help = "compare with the content that has this hash, where it is kept (default: a frozen copy with what its source is now)" },
    { "to",     PARAM_TEXT, offsetof(struct compare_params, to),     .value = "HASH", .help = "and that with the content that has this hash (default: with what the asset is now)" },
    { 0 },
};
static const char *const states[] = { "same", "changed", "missing", NULL };
static const char *const marks[] = { " ", "-", "+", NULL };
static const struct field line_fields[] = {
    { "mark",   FIELD_ENUM,   .values = marks, .help = "which side has it; a blank: both" },
    { "before", FIELD_NUMBER, .nullable = true, .help = "its number there, from 1" },
    { "after",  FIELD_NUMBER, .nullable = true, .help = "and here" },
    { "text",   FIELD_TEXT,   .help = "the line" },
    { 0 },
};
static const struct field side_fields[] = {
    { "path", FIELD_TEXT,   .nullable = true, .help = "where it is, below the workspace" },
    { "hash", FIELD_TEXT,   .nullable = true, .help = "of its bytes" },
    { "size", FIELD_NUMBER, .help = "bytes" },
    { 0 },
};
static const struct field compare_fields[] = {
    { "thread", FIELD_TEXT,   .help = "whose it is" },
    { "state",  FIELD_ENUM,   .values = states, .help = "missing: the source has it no more" },
    { "before", FIELD_OBJECT, .of = side_fields, .help = "the frozen copy, or the content that was named" },
    { "after",  FIELD_OBJECT, .of = side_fields, .help = "what is there now" },
    { "removed", FIELD_NUMBER, .help = "lines that are gone" },
    { "added",   FIELD_NUMBER, .help = "lines that are new" },
    { "lines",  FIELD_LIST,   .of = line_fields, .nullable = true, .help = "what changed, with three lines around it; null: it is not text, or more than 2000 lines" },
    { 0 },
};
/* clang-format on */

struct asset_side {
    struct sv path, hash, bytes;
    bool      missing;
};

struct diff_line {
    char      mark;
    struct sv text;
};

struct asset_diff {
    struct arena *a;
    VEC(struct diff_line) lines;
    int64_t removed, added;
};

static void take_line(void *ctx, char mark, struct sv line)
{
    struct asset_diff *d = ctx;

    *vec_push(&d->lines, d->a) = (struct diff_line){ mark, line };
    d->removed += mark == '-';
    d->added += mark == '+';
}

static bool is_near_change(const struct asset_diff *d, size_t at)
{
    size_t from = at > AROUND ? at - AROUND : 0;

    for (size_t i = from; i < d->lines.n && i <= at + AROUND; i++)
        if (d->lines.v[i].mark != ' ')
            return true;
    return false;
}

static void put_lines(struct jw *w, const struct asset_diff *d)
{
    int64_t before = 0, after = 0;

    jw_open(w, '[');
    for (size_t i = 0; i < d->lines.n; i++) {
        char mark = d->lines.v[i].mark;
        before += mark != '+';
        after += mark != '-';
        if (!is_near_change(d, i))
            continue;
        jw_open(w, '{');
        jw_kstr(w, "mark", (struct sv){ &mark, 1 });
        jw_kint_if(w, "before", mark != '+', before);
        jw_kint_if(w, "after", mark != '-', after);
        jw_kstr(w, "text", d->lines.v[i].text);
        jw_close(w, '}');
    }
    jw_close(w, ']');
}

static void put_side(struct jw *w, const char *key, const struct asset_side *x)
{
    jw_key(w, key);
    jw_open(w, '{');
    jw_kstr(w, "path", x->path);
    jw_kstr(w, "hash", x->hash);
    jw_kint(w, "size", (int64_t)x->bytes.n);
    jw_close(w, '}');
}

/* Behind the last line break stands no line, unless only one of the two has it. */
static bool compare_lines(struct sv before, struct sv after, struct asset_diff *d)
{
    if (sv_ends(before, SV("\n")) && sv_ends(after, SV("\n"))) {
        before.n--;
        after.n--;
    }
    return diff_lines(before, after, take_line, d);
}

static void put_difference(struct request *r, struct sv thread, const struct asset_side *before,
                           const struct asset_side *after)
{
    struct jw        *w = r->doc;
    struct asset_diff d = { .a = r->a };
    bool              same = !after->missing && sv_eq(before->bytes, after->bytes);
    bool              text = utf8_invalid(before->bytes) < 0 && utf8_invalid(after->bytes) < 0;

    text = text && (same || compare_lines(before->bytes, after->bytes, &d));
    jw_open(w, '{');
    jw_kstr(w, "thread", thread);
    jw_kstr(w, "state", after->missing ? SV("missing") : same ? SV("same") : SV("changed"));
    put_side(w, "before", before);
    put_side(w, "after", after);
    jw_kint(w, "removed", d.removed);
    jw_kint(w, "added", d.added);
    jw_key(w, "lines");
    if (text)
        put_lines(w, &d);
    else
        jw_null(w);
    jw_close(w, '}');
}

static enum status read_side(struct share *s, const struct asset_found *f, struct asset_side *out,
                             struct err *e)
{
    enum status status = asset_read(s, f, s->a, &out->bytes, e);

    out->path = f->path;
    out->missing = status == ST_NOT_FOUND;
    if (out->missing)
        return ST_OK;
    struct hash h = hash_blake2b(&out->bytes, 1);
    out->hash = hash_hex(&h, s->a);
    return status;
}

/* Knowing the hash is not enough to see content: the thread must have written it. */
static enum status was_written(struct request *r, const struct compare_params *p, struct sv hash,
                               struct err *e)
{
    int64_t *seqs;
    size_t   n;

    if (log_marks_back(&r->log, p->thread, LOG_MARK_DOCUMENT, INT64_MAX, LOOKED_AT_MAX, r->a, &seqs,
                       &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        struct entry entry;
        struct json  payload;
        if (read_write(r, p->thread, seqs[i], &entry, &payload, e))
            return err_code(e);
        if (sv_eq(json_text(&payload, "after"), hash) || sv_eq(json_text(&payload, "before"), hash))
            return ST_OK;
    }
    err_set(e, ST_NOT_FOUND, "nothing with this hash was written in thread '" SV_FMT "'",
            SV_ARG(p->thread));
    return err_hint(e, "`heddle history " SH_FMT " --json` shows hashes", SV_ARG(p->thread));
}

/* What had this hash: it is kept as a copy, or follows from the log. */
static enum status read_hash(struct request *r, struct share *s, const struct compare_params *p,
                             struct sv hash, struct asset_side *out, struct err *e)
{
    struct asset_versions v;

    out->hash = hash;
    if (was_written(r, p, hash, e) || asset_versions_read(&v, r, s, p->thread, NULL, SV(""), e))
        return err_code(e);
    if (asset_version_find(&v, hash, &out->bytes) ||
        object_read(s, hash, s->a, &out->bytes, e) == ST_OK)
        return ST_OK;
    if (e->code != ST_NOT_FOUND)
        return err_code(e);
    err_set(e, ST_NOT_FOUND, "what had the hash " SV_FMT " is not kept",
            SV_ARG(sv_first(hash, 12)));
    return err_hint(e, "another program changed the file, or the write was taken back; `heddle "
                       "history --json` says of each state whether it is kept");
}

/* A frozen copy against its source; anything against content that is kept. */
static enum status find_sides(struct request *r, struct share *s, const struct compare_params *p,
                              const struct asset_found *f, struct asset_side *before,
                              struct asset_side *after, struct err *e)
{
    struct asset_found live = { .thread = f->thread, .how = "live" };

    if (p->hash.n) {
        if (read_hash(r, s, p, p->hash, before, e))
            return err_code(e);
        return p->to.n ? read_hash(r, s, p, p->to, after, e) : read_side(s, f, after, e);
    }
    if (p->to.n) {
        err_set(e, ST_USAGE, "--to says with what --hash is compared");
        return err_hint(e, "give both");
    }
    if (!f->ref || !f->file) {
        err_set(e, ST_USAGE, "'" SV_FMT "' is not a frozen copy: there is nothing to compare with",
                SV_ARG(p->name));
        return err_hint(e, "--hash names content that is kept");
    }
    live.path = share_path(f->ref->target, "", f->file->source, s->a);
    return read_side(s, f, before, e) ? err_code(e) : read_side(s, &live, after, e);
}

static enum status compare(struct request *r, const void *given, struct err *e)
{
    const struct compare_params *p = given;
    struct asset_side            before = { 0 }, after = { 0 };
    struct asset_found           f;
    struct share                 s;

    if (share_call_begin(r, &s, STORE_READ, e) || asset_find(&s, p->thread, p->name, &f, e) ||
        find_sides(r, &s, p, &f, &before, &after, e))
        return share_call_fail(r, &s, e);
    put_difference(r, f.thread, &before, &after);
    return share_call_end(r, &s);
}

static void print_compare(const struct json *doc, struct term *t)
{
    const struct json *lines = json_find(doc, "lines");

    if (!json_is(lines, JSON_ARRAY))
        term_f(t, "the two differ, and are not texts of at most %d lines\n", DIFF_LINES_MAX);
    for (size_t i = 0; json_is(lines, JSON_ARRAY) && i < lines->n; i++) {
        sb_add(t->out, json_text(&lines->items[i], "mark"));
        sb_add_plain_line(t->out, json_text(&lines->items[i], "text"));
        term_f(t, "\n");
    }
    term_f(t, "%s: %lld line%s gone, %lld new\n",
           sv_is(json_text(doc, "state"), "missing") ? "the source has it no more"
           : sv_is(json_text(doc, "state"), "same")  ? "the same"
                                                     : "changed",
           (long long)json_number(doc, "removed"), json_number(doc, "removed") == 1 ? "" : "s",
           (long long)json_number(doc, "added"));
}

const struct operation op_asset_compare = {
    .name = "asset.compare",
    .summary = "Compare a frozen copy with what its source is now",
    .details =
        "Or an asset with what it was, named by its hash (`heddle history --json`); with --to two\n"
        "states of it. What was written through heddle can be compared as long as no other\n"
        "program changed the file.\n"
        "\n"
        "  heddle diff review notes.md",
    .group = GROUP_SHARE,
    .needs = NEEDS_ROOT,
    .in_thread = true,
    .permission = PERM_doc_read,
    .repeat = REPEAT_READS,
    .params = compare_params,
    .params_size = sizeof(struct compare_params),
    .answer = compare_fields,
    .run = compare,
    .print = print_compare,
};

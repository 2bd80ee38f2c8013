/* Reads lines of entries, appends them to a log, and warns about them. */
#include "api/log/batch.h"

#include "api/term.h"
#include "thread/kind.h"

static enum status check_thread(const struct batch *b, const struct entry_line *l, struct err *e)
{
    if (!b->thread.s || !l->thread.s || sv_eq(b->thread, l->thread))
        return ST_OK;
    err_set(e, ST_CONFLICT, "the entry is of thread '" SV_FMT "', not '" SV_FMT "'",
            SV_ARG(l->thread), SV_ARG(b->thread));
    err_reason(e, "thread");
    return err_hint(e, "`heddle log import --all` takes the entries of several threads");
}

struct sv batch_actor(const struct request *r)
{
    return r->own_name ? r->actor : (struct sv){ 0 };
}

static enum status check_actor(const struct batch *b, const struct entry *n, struct err *e)
{
    if (!b->actor.s)
        return ST_OK;
    if (!sv_eq(n->actor, b->actor)) {
        err_set(e, ST_PERMISSION_DENIED, "the entry is not in the name of '" SV_FMT "', who asks",
                SV_ARG(b->actor));
        err_reason(e, "actor");
        return err_hint(e, "leave actor out; a token with the permission manage may name others");
    }
    if (kind_of(n->kind) != KIND_DOCUMENT_WRITE)
        return ST_OK;
    err_set(e, ST_PERMISSION_DENIED, "an entry of kind " SV_FMT " is written with the document",
            SV_ARG(n->kind));
    return err_hint(e, "`→ write` writes a document");
}

enum status batch_add(struct batch *b, struct sv text, int64_t number,
                      const struct entry_defaults *d, struct err *e)
{
    struct batch_line *one = vec_push(&b->lines, b->a);

    one->number = number;
    b->bytes += text.n;
    if (entry_read(sv_dup(text, b->a), d, b->a, &one->read, e) || check_thread(b, &one->read, e) ||
        check_actor(b, &one->read.entry, e))
        return err_in(e, "line %lld", (long long)number);
    return ST_OK;
}

struct entry *batch_entries(const struct batch *b, struct arena *a)
{
    struct entry *list = ARENA_NEW(a, struct entry, b->lines.n + 1);

    for (size_t i = 0; i < b->lines.n; i++)
        list[i] = b->lines.v[i].read.entry;
    return list;
}

enum status batch_check_operations(const struct batch *b, struct err *e)
{
    for (size_t i = 0; i < b->lines.n; i++) {
        if (kind_of(b->lines.v[i].read.entry.kind) != KIND_THREAD_OPERATION)
            continue;
        err_set(e, ST_PERMISSION_DENIED,
                "line %lld: a thread_operation is written by the operation itself",
                (long long)b->lines.v[i].number);
        return err_hint(e,
                        "use `heddle spawn`, `heddle reference`, `heddle agent add` and the like; "
                        "`heddle log import .global` restores an export where there are none yet");
    }
    return ST_OK;
}

enum status batch_check_own_kinds(const struct batch *b, struct err *e)
{
    static const struct {
        enum kind   kind;
        const char *use;
    } own[] = {
        { KIND_ERASURE, "`heddle erase` erases" },
        { KIND_ERASURE_DONE, "`heddle doctor --fix` cleans files, and says so" },
        { KIND_THREAD_DELETION, "`heddle thread delete` deletes a thread" },
        { KIND_RECHAIN, "`heddle log rechain` does that" },
        { KIND_ANCHOR, "`heddle head --anchor` does that" },
        { KIND_OPERATION_DONE, "the operation itself, with --op-id, writes it" },
    };

    for (size_t i = 0; i < b->lines.n; i++)
        for (size_t k = 0; k < COUNT(own); k++) {
            struct sv kind = b->lines.v[i].read.entry.kind;
            if (kind_of(kind) != own[k].kind)
                continue;
            err_set(e, ST_PERMISSION_DENIED,
                    "line %lld: an entry of kind " SV_FMT " is written by the operation itself",
                    (long long)b->lines.v[i].number, SV_ARG(kind));
            return err_hint(e, "%s", own[k].use);
        }
    return batch_check_operations(b, e);
}

/* Appending failed: if one line caused it, the error names that line. */
static enum status name_line(const struct batch *b, const struct entry *list, bool keeps,
                             enum status s, struct err *e)
{
    for (size_t i = 0; s != ST_CONFLICT && i < b->lines.n; i++) {
        struct entry one = list[i];
        struct err   why;
        if ((keeps || !kind_prepare(&one, &why)) && !entry_check(&one, &why))
            continue;
        *e = why;
        return err_in(e, "line %lld", (long long)b->lines.v[i].number);
    }
    return s;
}

/* Lines of an export carry their seq; `first` is the seq of the first one here. */
static enum status check_seqs(const struct batch *b, int64_t first, struct err *e)
{
    for (size_t i = 0; i < b->lines.n; i++) {
        const struct batch_line *one = &b->lines.v[i];
        int64_t                  becomes = first + (int64_t)i;
        if (!one->read.has_seq || one->read.seq == becomes)
            continue;
        err_set(e, ST_CONFLICT, "line %lld: entry %lld would become entry %lld",
                (long long)one->number, (long long)one->read.seq, (long long)becomes);
        err_reason(e, "seq");
        return err_hint(e, "an export goes into a thread that has no entries; `heddle log import "
                           "--salvage` takes one with gaps");
    }
    return ST_OK;
}

static enum status check_chain(const struct batch_line *l, const struct entry *n, struct err *e)
{
    if (!l->read.has_chain || hash_eq(&l->read.chain, &n->chain))
        return ST_OK;
    err_set(e, ST_CORRUPT, "line %lld: entry %lld does not match its chain value",
            (long long)l->number, (long long)n->seq);
    return err_hint(e,
                    "this or an earlier line was changed; `heddle log import --salvage` takes it "
                    "all the same");
}

void batch_note_kept(void *ctx, const struct entry *n, const struct err *why)
{
    struct batch_kept *kept = ctx;

    if (kept->n++)
        return;
    kept->seq = n->seq;
    kept->why = *why;
}

enum status batch_append(struct log *l, struct sv thread, int64_t expect, const struct batch *b,
                         struct entry *list, struct batch_kept *kept, struct store_head *head,
                         struct err *e)
{
    struct store_head before;

    if (log_head(l, thread, &before, e))
        return err_code(e);
    enum status s = kept ? log_import(l, thread, list, b->lines.n, head, batch_note_kept, kept, e)
                         : log_append(l, thread, expect, list, b->lines.n, head, e);
    if (s == ST_OK || s == ST_CONFLICT) {
        struct err why;
        if (check_seqs(b, l->repeated ? list[0].seq : before.rev, &why)) {
            *e = why;
            return err_code(e);
        }
    }
    if (s)
        return name_line(b, list, kept, s, e);
    for (size_t i = 0; i < b->lines.n; i++)
        if (check_chain(&b->lines.v[i], &list[i], e))
            return err_code(e);
    return ST_OK;
}

void batch_tell_kept(struct request *r, const struct batch_kept *kept)
{
    if (kept->n == 1)
        request_warn(r, (struct sv){ 0 }, (struct sv){ 0 },
                     "entry %lld is kept and not acted on: %s", (long long)kept->seq,
                     kept->why.text);
    else if (kept->n)
        request_warn(r, (struct sv){ 0 }, (struct sv){ 0 },
                     "%lld entries are kept and not acted on; the first, %lld: %s (`heddle verify` "
                     "names all)",
                     (long long)kept->n, (long long)kept->seq, kept->why.text);
}

/* Was a line of this kind warned about before? */
static bool was_told(const struct batch *b, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (sv_eq(b->lines.v[k].read.entry.kind, b->lines.v[i].read.entry.kind))
            return true;
    return false;
}

bool batch_unknown(struct sv kind, struct sb *say)
{
    const char *near = kind_near(kind);

    if (kind_is_known(kind))
        return false;
    sb_addf(say, "kind '" SV_FMT "' is not known: it is kept and is part of no context%s%s%s",
            SV_ARG(kind), near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    return true;
}

void batch_tell_unknown(struct request *r, const struct batch *b)
{
    for (size_t i = 0; i < b->lines.n; i++) {
        struct sb say = sb_in(r->a, 0);
        if (!was_told(b, i) && batch_unknown(b->lines.v[i].read.entry.kind, &say))
            request_warn(r, (struct sv){ 0 }, (struct sv){ 0 }, "line %lld: " SV_FMT,
                         (long long)b->lines.v[i].number, SV_ARG(sb_sv(&say)));
    }
}

void appended_write(struct jw *w, const struct appended *x)
{
    if (x->duplicate)
        jw_kbool(w, "duplicate", true);
    jw_kint(w, "first_seq", x->first);
    jw_kint(w, "last_seq", x->last);
    jw_kint(w, "rev", x->rev);
}

void appended_print(const struct json *doc, struct term *t)
{
    int64_t first = json_number(doc, "first_seq"), last = json_number(doc, "last_seq");
    int64_t rev = json_number(doc, "rev");

    if (last < first)
        term_f(t, "nothing appended; revision %lld\n", (long long)rev);
    else
        term_f(t, "%s %lld to %lld; revision %lld\n",
               json_truth(json_find(doc, "duplicate")) ? "already there: entries"
                                                       : "appended entries",
               (long long)first, (long long)last, (long long)rev);
}

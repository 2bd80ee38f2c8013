/* Checks the files against the log. Each is rendered again and compared, byte by byte, and every
 * frozen copy is hashed. What a killed command left, or what another program changed and was not
 * imported yet, is not wrong: it is reported as a note. */
#include "share/share_internal.h"

#include "share/operation_internal.h"
#include "thread/erase.h"
#include "thread/kind.h"
#include "thread/scan.h"

typedef void say_fn(void *ctx, struct sv text);

struct share_verifying {
    struct share *s;
    say_fn       *say, *note;
    void         *ctx;
    int64_t       rev;
    bool          erasing; /* an erasure is not finished: files may be from before it */
    struct err   *e;
};

static void tell(struct share_verifying *v, say_fn *how, struct sv path, const char *what)
{
    struct sb b = sb_in(v->s->a, 0);

    sb_addf(&b, SV_FMT " %s", SV_ARG(path), what);
    how(v->ctx, sb_sv(&b));
}

/* The bytes decide. The stamp only says how a difference came about. */
static enum status verify_file(struct share_verifying *v, int which)
{
    struct sv   path = share_file_paths[which], there = { 0 };
    struct sb   b = sb_in(v->s->a, 0);
    int64_t     at;
    enum status r = files_rev(v->s, which, &at, v->e);

    if (!r && at == -2) {
        tell(v, v->note, path, "is missing; the next command that writes makes it");
        return ST_OK;
    }
    if (!r && at >= 0 && at != v->rev) {
        tell(v, v->note, path, "is older than the log; the next command that writes makes it anew");
        return ST_OK;
    }
    if (!r)
        r = fs_read(v->s->root, path, 0, v->s->a, &there, v->e);
    if (!r)
        r = render_file(v->s, (enum share_file_id)which, &b, v->e);
    if (r || sv_eq(there, sb_sv(&b)))
        return r;
    if (at == v->rev && v->erasing)
        tell(v, v->note, path,
             "is from before an erasure that was interrupted; `heddle doctor --fix` makes it anew");
    else if (at == v->rev)
        tell(v, v->say, path, "is not what the log gives");
    else
        tell(v, v->note, path, "was changed by another program; the next command imports that");
    return ST_OK;
}

/* A reference without a target is not an error, because the target may still be created or
 * restored. */
static enum status verify_source(struct share_verifying *v, const struct share_ref *r)
{
    struct share_thread t;
    struct sb           b = sb_in(v->s->a, 0);
    bool                found, gone;

    if (share_thread_find(v->s, r->target, &t, &found, v->e) ||
        share_source_is_gone(v->s, r->target, found, &gone, v->e))
        return err_code(v->e);
    if (!gone || (found && !r->frozen && !r->n_files))
        return ST_OK;
    sb_addf(&b, "'" SV_FMT "' refers to '" SV_FMT "', %s", SV_ARG(r->from), SV_ARG(r->target),
            found ? "whose directory is gone" : "which is not there");
    sb_adds(&b, r->frozen && r->n_files ? " (the copies are kept)" : "");
    sb_adds(&b, "; `heddle unreference --from ");
    sb_add_shell(&b, r->from);
    sb_adds(&b, " --ref ");
    sb_add_shell(&b, r->id);
    sb_adds(&b, "` drops the reference");
    v->note(v->ctx, sb_sv(&b));
    return ST_OK;
}

/* A frozen copy is missing: either it was erased together with its source, or it is lost. */
static enum status verify_missing(struct share_verifying *v, struct sv path, struct sv hash,
                                  say_fn *how)
{
    struct map erased = map_in(v->s->a);

    if (!share_hash_is_erased(hash) && erase_known_files(v->s->log, v->s->a, &erased, v->e))
        return err_code(v->e);
    if (share_hash_is_erased(hash) || map_has(&erased, object_path(hash, v->s->a)))
        tell(v, v->note, path, "was erased; `heddle refresh` copies what its source has now");
    else
        tell(v, how, path, "is gone: a frozen copy");
    return ST_OK;
}

static enum status verify_copy(struct share_verifying *v, const struct share_ref *r,
                               const struct share_file *f, say_fn *how)
{
    struct sv   path = share_path(r->from, "context/inherited", f->place, v->s->a), hash;
    int64_t     size;
    struct err  why;
    enum status got = object_hash_of(v->s, path, &hash, &size, &why);

    if (got == ST_NOT_FOUND)
        return verify_missing(v, path, f->hash, how);
    if (got)
        tell(v, how, path, why.text);
    else if (!sv_eq(hash, f->hash))
        tell(v, how, path, "is not what was frozen: moved away, the next read puts it back");
    return ST_OK;
}

static enum status verify_copies(struct share_verifying *v, struct sv prefix)
{
    /* While entries are not applied, a copy may be older than the log without anything wrong. */
    say_fn    *how = v->s->stamp.applied < v->rev || v->erasing ? v->note : v->say;
    struct sv *rows;
    size_t     n;

    if (share_rows_below(v->s, prefix, false, v->s->a, &rows, &n, v->e))
        return err_code(v->e);
    for (size_t i = 0; i < n; i++) {
        struct share_ref r;
        if (share_ref_read(rows[i], v->s->a, &r, v->e))
            return err_code(v->e);
        if (verify_source(v, &r))
            return err_code(v->e);
        for (size_t k = 0; r.frozen && k < r.n_files; k++)
            if (verify_copy(v, &r, &r.files[k], how))
                return err_code(v->e);
    }
    return ST_OK;
}

/* Entries that their kind does not allow are reported by log_verify(). */
static void verify_entry(struct share_verifying *v, const struct entry *n, struct arena *a)
{
    struct json p;
    struct err  why;

    if (n->erased || !kind_is_sound(n) || json_parse(n->payload, 0, a, &p, &why) ||
        !share_knows(json_text(&p, "operation")) || operation_check(&p, a, &why) == ST_OK)
        return;
    struct sb b = sb_in(v->s->a, 0);
    sb_addf(&b, "thread .global: entry %lld is kept and not acted on: ", (long long)n->seq);
    sb_add_plain_line(&b, sv_of(why.text));
    v->note(v->ctx, sb_sv(&b));
}

/* Entries that no operation of heddle would write: kept in the log, without effect. */
static enum status verify_entries(struct share_verifying *v)
{
    UNDO(log_scan_undo) struct store_scan *scan = NULL;
    struct arena                           scratch = { 0 };
    struct store_query                     q = { .thread = SHARE_GLOBAL, .to = STORE_TO_END };
    struct entry                           n;
    bool                                   more = true;
    enum status                            r = log_scan(v->s->log, &q, &scan, v->e);

    while (!r && !(r = log_scan_next(scan, &n, &more, v->e)) && more) {
        struct arena_mark m = arena_mark(&scratch);
        if (kind_of(n.kind) == KIND_THREAD_OPERATION)
            verify_entry(v, &n, &scratch);
        arena_reset(&scratch, m);
    }
    arena_free(&scratch);
    return r;
}

static enum status verify_undone(struct share_verifying *v)
{
    struct share_pending_effect *list;
    size_t                       n;

    if (share_undone(v->s, &list, &n, v->e))
        return err_code(v->e);
    for (size_t i = 0; i < n; i++) {
        struct sb b = sb_in(v->s->a, 0);
        sb_addf(&b, SV_FMT " of '" SV_FMT "' is recorded and not done on disk: " SV_FMT,
                SV_ARG(list[i].operation), SV_ARG(list[i].about), SV_ARG(list[i].why));
        v->say(v->ctx, sb_sv(&b));
    }
    return ST_OK;
}

static enum status look_for_erasures(struct share_verifying *v)
{
    struct erase_pending *list;
    size_t                n;

    if (erase_pending(v->s->log, v->s->a, &list, &n, v->e))
        return err_code(v->e);
    v->erasing = n > 0;
    return ST_OK;
}

enum status share_verify(struct share *s, say_fn *say, say_fn *note, void *ctx, struct err *e)
{
    struct share_verifying v = { .s = s, .say = say, .note = note, .ctx = ctx, .e = e };
    bool                   current;

    if (log_begin(s->log, SHARE_GLOBAL, STORE_READ, e)) {
        if (e->code != ST_CORRUPT)
            return err_code(e);
        say(ctx, SV("the files below .leslie/ cannot be compared with a damaged log .global"));
        return ST_OK;
    }
    enum status r = share_rev(s, &v.rev, e);
    if (!r)
        r = look_for_erasures(&v);
    if (!r && v.rev)
        r = files_look(s, v.rev, &current, e);
    for (int i = 0; i < SHARE_FILES && !r && v.rev; i++)
        r = verify_file(&v, i);
    if (!r && v.rev)
        r = verify_undone(&v);
    if (!r)
        r = verify_entries(&v);
    if (!r)
        r = verify_copies(&v, SV("ref/"));
    if (!r)
        r = verify_copies(&v, SV("inh/"));
    share_end(s);
    return r;
}

/* Beginning and ending a transaction on the shared log, with what other programs changed. */
#include "share/share_internal.h"

#include "base/path.h"
#include "base/rand.h"
#include "thread/anchor.h"
#include "thread/kind.h"
#include "thread/scan.h"

#include <stdarg.h>

void share_init(struct share *s, struct log *log, int root, struct sv actor, struct arena *a)
{
    *s = (struct share){ .a = a, .log = log, .root = root, .actor = actor, .flock_fd = -1 };
}

void share_warn(struct share *s, const char *code, struct sv thread, const char *fmt, ...)
{
    struct sb b = sb_in(s->a, 0);
    va_list   ap;

    va_start(ap, fmt);
    sb_addvf(&b, fmt, ap);
    va_end(ap);
    struct sv message = sb_sv(&b);
    for (size_t i = 0; i < s->warnings.n; i++)
        if (sv_eq(s->warnings.v[i].message, message))
            return; /* said already */
    *vec_push(&s->warnings, s->a) =
        (struct share_warning){ code, message, thread.s ? sv_dup(thread, s->a) : thread };
}

/* ---- beginning ------------------------------------------------------------------------ */

/* The rev for which files are written: entries of other rooms in this log do not change them. */
enum status share_rev(struct share *s, int64_t *rev, struct err *e)
{
    struct sv row;
    bool      found;

    *rev = 0;
    if (share_row(s, SV("rev"), &row, &found, e))
        return err_code(e);
    if (found)
        sv_to_int(row, rev);
    return ST_OK;
}

static enum status begin(struct share *s, enum store_mode mode, int64_t *rev, struct err *e)
{
    if (log_begin(s->log, SHARE_GLOBAL, mode, e))
        return err_code(e);
    if (share_rev(s, rev, e)) {
        log_abort(s->log);
        return err_code(e);
    }
    return ST_OK;
}

/* A file that cannot be read keeps its bytes under a name of its own. */
static void set_aside(struct share *s, int which, const struct err *why, struct sv bytes)
{
    struct hash h = hash_blake2b(&bytes, 1);
    struct sb   b = sb_in(s->a, 0);

    sb_addf(&b, SV_FMT ".unreadable-" SV_FMT, SV_ARG(path_base(share_file_paths[which])),
            SV_ARG(sv_first(hash_hex(&h, s->a), 8)));
    s->set_aside[which] = sb_sv(&b);
    share_warn(s, "T502", (struct sv){ 0 },
               SV_FMT " cannot be read (%s); it is kept as " SV_FMT
                      " and written anew from the log",
               SV_ARG(share_file_paths[which]), why->text, SV_ARG(s->set_aside[which]));
}

typedef enum status import_fn(struct share *, struct sv, bool only_new, struct err *);

static enum status import_backup(struct share *s, int which, import_fn *import, struct err *e)
{
    struct sb b = sb_in(s->a, 0);
    struct sv text;

    sb_addf(&b, SV_FMT ".bak", SV_ARG(share_file_paths[which]));
    enum status r = fs_read(s->root, sb_sv(&b), 0, s->a, &text, e);
    if (r)
        return r == ST_NOT_FOUND ? ST_OK : r; /* no backup: only the log remains */
    r = import(s, text, true, e);
    return r == ST_INVALID_SYNTAX || r == ST_LIMIT_EXCEEDED ? ST_OK : r;
}

/* One side of a text with conflict markers; what stands between ||||||| and ======= belongs to
 * neither. */
static struct sv side_of(struct sv text, bool theirs, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    enum { BOTH, OURS, BASE, THEIRS } part = BOTH;

    while (text.n) {
        struct sv_cut line = sv_cut(text, '\n');
        text = line.tail;
        if (sv_starts(line.head, SV("<<<<<<< ")))
            part = OURS;
        else if (part == OURS && sv_starts(line.head, SV("|||||||")))
            part = BASE;
        else if (part != BOTH && sv_starts(line.head, SV("=======")))
            part = THEIRS;
        else if (part == THEIRS && sv_starts(line.head, SV(">>>>>>> ")))
            part = BOTH;
        else if (part == BOTH || part == (theirs ? THEIRS : OURS)) {
            sb_add(&b, line.head);
            sb_addc(&b, '\n');
        }
    }
    return sb_sv(&b);
}

static bool has_markers(struct sv text)
{
    return sv_find(text, SV("\n<<<<<<< ")) >= 0 && sv_find(text, SV("\n>>>>>>> ")) >= 0;
}

/* After a git pull with conflicts both sides are imported, each as an older file, so that their
 * union is written. A side that cannot be read leaves the file to be set aside. */
static enum status import_sides(struct share *s, int which, import_fn *import, struct sv text,
                                struct err *e)
{
    for (int side = 0; side < 2; side++) {
        enum status r = import(s, side_of(text, side, s->a), false, e);
        if (r)
            return r;
    }
    share_warn(s, "W202", (struct sv){ 0 },
               SV_FMT " had conflicts of a merge; both sides are taken and it is written anew",
               SV_ARG(share_file_paths[which]));
    return ST_OK;
}

static enum status import_file(struct share *s, int which, struct err *e)
{
    import_fn *import = which == FILE_RELATIONS ? import_relations : import_objectives;
    struct sv  text;
    struct err why = { 0 };

    enum status r = fs_read(s->root, share_file_paths[which], 0, s->a, &text, e);
    if (r)
        return r;
    r = has_markers(text) ? import_sides(s, which, import, text, &why)
                          : import(s, text, false, &why);
    if (r == ST_INVALID_SYNTAX || r == ST_LIMIT_EXCEEDED) {
        set_aside(s, which, &why, text);
        return import_backup(s, which, import, e);
    }
    if (r)
        *e = why;
    return r;
}

/* Nothing is imported from the registry. One that holds what the log gives was copied along with
 * its workspace, and nobody changed it. */
static enum status look_at_registry(struct share *s, struct err *e)
{
    struct sv  text;
    struct sb  ours = sb_in(s->a, 0);
    struct err why;

    enum status r = fs_read(s->root, SHARE_REGISTRY, 0, s->a, &text, e);
    if (r)
        return r == ST_NOT_FOUND ? ST_OK : r; /* it is written from the log */
    if (render_file(s, FILE_REGISTRY, &ours, e))
        return err_code(e);
    if (!sv_eq(text, sb_sv(&ours)) && !has_markers(text)) {
        err_set(&why, ST_CONFLICT, "another program changed it");
        set_aside(s, FILE_REGISTRY, &why, text);
    }
    return ST_OK;
}

static enum status import_foreign(struct share *s, struct err *e)
{
    if (s->foreign[FILE_REGISTRY] && s->stamp.file[FILE_REGISTRY][0].rev >= 0 &&
        look_at_registry(s, e))
        return err_code(e);
    if ((s->foreign[FILE_OBJECTIVES] && import_file(s, FILE_OBJECTIVES, e)) ||
        (s->foreign[FILE_RELATIONS] && import_file(s, FILE_RELATIONS, e)))
        return err_code(e);
    return ST_OK;
}

static enum status begin_write(struct share *s, struct err *e)
{
    int64_t rev;
    bool    current;
    char    salt[32];

    if (share_lock(s, e))
        return err_code(e);
    s->writing = true;
    if (begin(s, STORE_WRITE, &rev, e) || files_look(s, rev, &current, e) || import_foreign(s, e)) {
        share_end(s);
        return err_code(e);
    }
    struct sb b = sb_in(s->a, sizeof salt);
    sb_addf(&b, "share %lld", (long long)rev);
    rand_mix(sb_sv(&b));
    return ST_OK;
}

enum status share_begin(struct share *s, enum store_mode mode, struct err *e)
{
    int64_t    rev;
    bool       current;
    struct err late = { 0 };

    if (mode == STORE_WRITE)
        return begin_write(s, e);
    if (begin(s, STORE_READ, &rev, e))
        return err_code(e);
    if (files_look(s, rev, &current, e))
        return err_code(e);
    if (current)
        return ST_OK;
    s->behind = s->read_only;
    if (s->read_only) {
        share_warn(s, "W202", (struct sv){ 0 },
                   "the files below .leslie/ were changed and cannot be imported: this workspace "
                   "is read-only");
        return ST_OK;
    }
    log_abort(s->log);
    if (begin_write(s, &late) || share_commit(s, &late))
        share_warn(s, "T501", (struct sv){ 0 },
                   "the files below .leslie/ could not be brought up to date: %s", late.text);
    s->unwritten.code = ST_OK; /* of others; who reads is warned of it */
    return begin(s, STORE_READ, &rev, e);
}

/* ---- ending --------------------------------------------------------------------------- */

/* Write directories and files for the present log, unless another process did so while this one
 * waited. */
static enum status bring_up_to_date(struct share *s, struct err *e)
{
    int64_t rev;
    bool    current = false, foreign = false;

    for (int i = 0; i < SHARE_FILES; i++)
        foreign = foreign || s->foreign[i];
    if (begin(s, STORE_READ, &rev, e) || (!foreign && files_look(s, rev, &current, e)))
        return err_code(e);
    if (!rev || (current && !s->stamp.n_undone))
        return ST_OK;
    bool    had = s->stamp.applied > 0; /* then a missing file was deleted */
    int64_t at;
    if (files_rev(s, FILE_RELATIONS, &at, e))
        return err_code(e);
    struct err  why = { 0 };
    enum status r = effects_apply(s, rev, &why); /* the files are written even if this fails */
    if (!r && had && at == -2)
        r = effects_rebuild(s, &why);
    if (files_write(s, rev, e))
        return err_code(e);
    if (!r && s->collect && collect_objects(s, &why))
        r = err_code(&why);
    if (r)
        *e = why;
    return r;
}

enum status share_commit(struct share *s, struct err *e)
{
    struct err late = { 0 };

    if (log_commit(s->log, e)) {
        share_end(s);
        return err_code(e);
    }
    if (bring_up_to_date(s, &late)) {
        share_warn(s, "T502", (struct sv){ 0 },
                   "done, but the files below .leslie/ could not be written: %s; the next command "
                   "tries again",
                   late.text);
        s->unwritten = late;
    }
    share_end(s);
    return ST_OK;
}

void share_end(struct share *s)
{
    log_abort(s->log);
    share_unlock(s);
    s->writing = s->collect = s->acted = false;
    for (int i = 0; i < SHARE_FILES; i++) {
        s->foreign[i] = false;
        s->set_aside[i] = (struct sv){ 0 };
    }
}

/* ---- appending ------------------------------------------------------------------------- */

static enum status fresh_op_id(struct share *s, struct sv *out, struct err *e)
{
    struct entry taken;
    bool         found = true;

    while (found) {
        *out = rand_hex_id("op-", s->a);
        if (log_find_op(s->log, SHARE_GLOBAL, *out, s->a, &taken, &found, e))
            return err_code(e);
    }
    return ST_OK;
}

enum status share_append(struct share *s, struct sv op_id, struct sv payload, struct err *e)
{
    struct json       v;
    struct store_head head;
    struct entry      n = { .at = clock_now_ms(),
                            .kind = sv_of(kind_name(KIND_THREAD_OPERATION)),
                            .actor = s->actor,
                            .op_id = op_id };

    if (!op_id.s && fresh_op_id(s, &n.op_id, e))
        return err_code(e);
    if (json_parse(payload, 0, s->a, &v, e))
        return err_in(e, "operation");
    n.payload = json_canonical(&v, s->a);
    if (log_append(s->log, SHARE_GLOBAL, LOG_ANY_REV, &n, 1, &head, e))
        return err_code(e);
    return s->log->repeated ? ST_OK
                            : anchor_if_due(s->log, head.rev - 1, head.rev, s->actor, n.at, e);
}

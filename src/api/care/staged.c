/* Holding the token of an import or a restore; moving or dropping what an interrupted one left. */
#include "api/care/staged.h"

#include "base/scratch.h"
#include "base/vec.h"
#include "store/store.h"

#include <stdio.h>
#include <unistd.h>

/* Bytes of the file, which are given back to the disk when it is full: dropping what was staged
 * writes a little. */
enum { STAGED_ROOM = 512 << 10 };

enum status staged_take(int root, struct arena *a, struct staged *out, struct err *e)
{
    char              name[FS_TEMP_NAME];
    UNDO(fd_undo) int at = fs_open_below(root, ".heddle", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    *out = (struct staged){ .root = root, .fd = -1 };
    if (at < 0)
        return err_errno(e, "open .heddle");
    out->fd = scratch_make(at, name);
    if (out->fd < 0)
        return err_errno(e, "make a file in .heddle");
    (void)!posix_fallocate(out->fd, 0, STAGED_ROOM);
    out->token = sv_dup(sv_skip(sv_of(name), sizeof SCRATCH_PREFIX - 1), a);
    return ST_OK;
}

static struct sv file_of(struct sv token, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_addf(&b, ".heddle/" SCRATCH_PREFIX SV_FMT, SV_ARG(token));
    return sb_sv(&b);
}

void staged_release(struct staged *s)
{
    struct arena a = { 0 };
    struct err   ignored; /* `heddle doctor` finds a file that cannot be removed */

    if (s->token.s && s->fd >= 0)
        (void)!fs_remove(s->root, file_of(s->token, &a), &ignored);
    arena_free(&a);
    fd_undo(&s->fd);
    s->token = (struct sv){ 0 };
}

void staged_drop(struct request *r, struct log *l, const struct staged *s, struct err *e)
{
    static const char said[] = "what had been read is still in the database, and in no thread: "
                               "`heddle doctor --fix` removes it, and so does the next import";
    struct err        why = { 0 };
    char              hint[sizeof e->hint];

    if (!s->token.s)
        return;
    log_allow_staged(l, true);
    enum status st = ftruncate(s->fd, 0) != 0
                         ? err_errno(&why, "empty a file in .heddle")
                         : log_drop_staged(l, s->token, e->code == ST_IO, &why);
    log_allow_staged(l, false);
    if (!st)
        return;
    if (!e->code) {
        request_warn(r, SV("unfinished"), (struct sv){ 0 }, "%s (%s)", said, why.text);
        return;
    }
    snprintf(hint, sizeof hint, "%s", e->hint);
    err_hint(e, "%.*s%s%s", (int)(sizeof hint - sizeof said - 4), hint, hint[0] ? "; " : "", said);
}

/* ---- what was left --------------------------------------------------------------------------- */

/* A staged thread whose maker is gone. */
struct left {
    struct sv        id, token;
    bool             decided;
    struct log_stage how;
};

struct lefts {
    VEC(struct left) list;
};

static enum status find_left(struct log *l, int root, struct arena *a, struct lefts *out,
                             struct err *e)
{
    struct sv  *ids = NULL;
    size_t      n = 0;
    enum status s = log_begin(l, (struct sv){ 0 }, STORE_READ, e);

    if (!s)
        s = log_staged(l, a, &ids, &n, e);
    for (size_t i = 0; !s && i < n; i++) {
        struct left one = { .id = ids[i], .token = log_staged_token(ids[i]) };
        bool        gone = !one.token.s;
        if (!gone)
            s = scratch_is_left(root, file_of(one.token, a), &gone, e);
        if (!s && gone)
            s = log_stage_find(l, one.id, a, &one.how, &one.decided, e);
        if (!s && gone)
            *vec_push(&out->list, a) = one;
    }
    log_abort(l);
    return s;
}

enum status staged_each_left(struct log *l, int root, struct arena *a,
                             void (*each)(void *ctx, struct sv token, struct sv into), void *ctx,
                             struct err *e)
{
    struct lefts left = { 0 };
    struct sv    last = { 0 };

    log_allow_staged(l, true);
    enum status s = find_left(l, root, a, &left, e);
    log_allow_staged(l, false);
    for (size_t i = 0; !s && i < left.list.n; i++) {
        const struct left *x = &left.list.v[i];
        if (x->decided && x->how.at < x->how.end)
            each(ctx, x->token, x->how.into);
        else if (!last.s || !sv_eq(last, x->token))
            each(ctx, x->token, (struct sv){ 0 });
        last = x->token;
    }
    return s;
}

/* Move what is left of it. When it cannot follow any more, or one of the two threads is damaged,
 * that is said, and the rest is dropped: the file that it came from has it, and what comes next (a
 * deletion of the damaged thread, say) is not kept from its work. */
static enum status finish(struct request *r, struct log *l, struct left *x,
                          struct staged_swept *out, struct err *e)
{
    int64_t     erased = 0;
    struct sv   into = x->how.into;
    enum status s = log_stage_move(l, x->id, &x->how, &erased, e);

    if (s == ST_CORRUPT || (s == ST_CONFLICT && !sv_is(sv_of(e->reason), "busy"))) {
        request_warn(r, (struct sv){ 0 }, (struct sv){ 0 },
                     "an import into " SV_FMT " was interrupted, and its last %lld entries cannot "
                     "follow: %s",
                     SV_ARG(into), (long long)(x->how.end - x->how.at), e->text);
        return ST_OK;
    }
    if (s)
        return s;
    request_warn(r, (struct sv){ 0 }, (struct sv){ 0 },
                 "an import into " SV_FMT " was interrupted: the rest of its %lld entries was "
                 "appended now",
                 SV_ARG(into), (long long)(x->how.end - x->how.first));
    if (out)
        *vec_push(&out->moved, r->a) =
            (struct staged_moved){ into, x->how.lines, x->how.moved, x->how.rev };
    return ST_OK;
}

enum status staged_sweep(struct request *r, struct log *l, int root, struct staged_swept *out,
                         struct err *e)
{
    struct lefts left = { 0 };
    bool         any;

    if (!log_stages(l))
        return ST_OK;
    log_allow_staged(l, true);
    enum status s = find_left(l, root, r->a, &left, e);
    for (size_t i = 0; !s && i < left.list.n; i++)
        if (left.list.v[i].decided && left.list.v[i].how.at < left.list.v[i].how.end)
            s = finish(r, l, &left.list.v[i], out, e);
    for (size_t i = 0; !s && i < left.list.n; i++) {
        struct err ignored; /* `heddle doctor` finds a file that cannot be removed */
        (void)!fs_remove(root, file_of(left.list.v[i].token, r->a), &ignored);
        s = log_drop_staged(l, left.list.v[i].token, false, e);
    }
    if (!s) /* also of threads that were exchanged */
        s = store_drop_rest(l->store, &any, e);
    log_allow_staged(l, false);
    return s ? err_in(e, "what an interrupted import left") : ST_OK;
}

enum status staged_finish(struct request *r, struct log *l, int root, struct err *e)
{
    struct sv  *ids = NULL;
    size_t      n = 0;
    enum status s = staged_sweep(r, l, root, NULL, e);

    if (s || !log_stages(l))
        return s;
    log_allow_staged(l, true);
    s = log_staged(l, r->a, &ids, &n, e);
    for (size_t i = 0; !s && i < n; i++) {
        struct log_stage g = { 0 };
        bool             decided = false;
        int64_t          erased = 0;
        s = log_begin(l, (struct sv){ 0 }, STORE_READ, e);
        if (!s)
            s = log_stage_find(l, ids[i], r->a, &g, &decided, e);
        log_abort(l);
        if (!s && decided)
            s = log_stage_move(l, ids[i], &g, &erased, e);
    }
    log_allow_staged(l, false);
    return s;
}

/* Remembers in small files below .heddle/hook which context a session was given: a program that
 * reports two starts in a row gets the block once, and one without an event for compactions gets it
 * again after one. Failure is ignored: giving the block twice is better than not at all. */
#include "api/hook/hook.h"
#include "base/hash.h"
#include "base/path.h"

#include <unistd.h>

static struct sv file_of(struct sv session, const char *suffix, struct arena *a)
{
    struct hash h = hash_blake2b(&session, 1);
    struct sb   b = sb_in(a, 0);

    sb_adds(&b, HOOK_DIR "/");
    sb_add_hex(&b, h.b, 8);
    sb_adds(&b, suffix);
    return sb_sv(&b);
}

static void write_file(struct request *r, struct sv name, struct sv text)
{
    UNDO(fd_undo) int fd = -1;
    struct err        ignored;

    if (fs_mkdirs(r->ws->root_fd, SV(HOOK_DIR), &ignored) == ST_OK &&
        fs_open_own(r->ws->root_fd, name, O_WRONLY | O_TRUNC, &fd, &ignored) == ST_OK)
        (void)!write(fd, text.s, text.n);
}

/* The file: HASH SOURCE. */
bool hook_told(struct request *r, struct sv session, struct sv source, struct sv context)
{
    struct sv   name = file_of(session, ".told", r->a), was;
    struct hash h = hash_blake2b(&context, 1);
    struct sb   now = sb_in(r->a, 0);
    struct err  ignored;

    if (fs_read(r->ws->root_fd, name, 0, r->a, &was, &ignored) == ST_OK) {
        struct sv_cut c = sv_cut(was, ' ');
        if (sv_eq(c.head, hash_hex(&h, r->a)) && !sv_eq(c.tail, source))
            return true;
    }
    sb_add(&now, hash_hex(&h, r->a));
    sb_addc(&now, ' ');
    sb_add(&now, source);
    write_file(r, name, sb_sv(&now));
    return false;
}

void hook_told_forget(struct request *r, struct sv session)
{
    struct err ignored;

    (void)!fs_remove(r->ws->root_fd, file_of(session, ".told", r->a), &ignored);
}

void hook_compacted(struct request *r, struct sv session)
{
    write_file(r, file_of(session, ".compacted", r->a), SV("1"));
}

bool hook_compacted_take(struct request *r, struct sv session)
{
    struct sv  name = file_of(session, ".compacted", r->a);
    bool       there = false;
    struct err ignored;

    return fs_exists(r->ws->root_fd, name, &there, &ignored) == ST_OK && there &&
           fs_remove(r->ws->root_fd, name, &ignored) == ST_OK;
}

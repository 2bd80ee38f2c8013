/* A log that was moved to another store. The store that it left keeps a text, "moved", which every
 * transaction reads at its beginning: one that writes is refused then, and one that reads lets its
 * caller say so. The store that it came to keeps the list of these moves, "came".
 *
 *     moved:  ID BACK PLACE      absent or empty: the log is here
 *     came:   ID PLACE           a line for each move, oldest first
 *
 * ID is the id of the move, the same in both stores; BACK is the id of a move back to here that is
 * not finished, or `-`; PLACE is where the log went to, or came from, without a password. */
#include "store/postgres_url.h"
#include "store/store_internal.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>

/* A store that was moved to and fro forgets the oldest moves. */
enum { CAME_MAX = 64 };

struct sv store_url_bare(struct sv url, struct arena *a)
{
    char whole[PATH_MAX];

    if (sv_starts(url, SV("fault:")))
        url = sv_cut(sv_skip(url, SV("fault:").n), ':').tail;
    if (sv_starts(url, SV("sqlite:")))
        url = sv_skip(url, SV("sqlite:").n);
    if (postgres_url_is(url))
        return postgres_url_bare(url, a);
    return realpath(sv_cstr(url, a), whole) ? sv_dup(sv_of(whole), a) : url;
}

/* ---- what a transaction sees ----------------------------------------------------------- */

static struct sv place_in(struct sv moved)
{
    return sv_cut(sv_cut(moved, ' ').tail, ' ').tail;
}

void store_note_moved(struct store *s, struct sv moved)
{
    struct sv place = place_in(moved);

    s->looked = true;
    if (s->gone ? sv_is(place, s->gone) : !place.n)
        return;
    arena_free(&s->gone_a);
    s->gone = place.n ? sv_cstr(place, &s->gone_a) : NULL;
}

enum status store_check_moved(const struct store *s, struct err *e)
{
    if (!s->gone || s->alone || s->past_move)
        return ST_OK;
    struct sv place = sv_of(s->gone);
    err_set(e, ST_CONFLICT, "the log was moved to %s: nothing is written to the old store",
            s->gone);
    err_reason(e, STORE_MOVED);
    return err_hint(e, "`heddle store switch " SH_FMT "` uses it where it is now", SV_ARG(place));
}

struct sv store_gone_to(struct store *s)
{
    struct arena a = { 0 };
    struct sv    moved, came;
    struct err   ignored; /* then it is not known, and the next transaction looks */

    while (s->ops->behind)
        s = s->ops->behind(s);
    if (!s->looked && !s->ops->moved_get(s, &a, &moved, &came, &ignored))
        store_note_moved(s, moved);
    s->looked = false;
    arena_free(&a);
    return s->gone ? sv_of(s->gone) : (struct sv){ 0 };
}

/* ---- moving -------------------------------------------------------------------------------- */

enum status store_begin_alone(struct store *s, struct err *e)
{
    assert(!s->group);
    s->alone = true;
    if (!store_begin(s, STORE_WRITE, e))
        return ST_OK;
    s->alone = false;
    return err_code(e);
}

enum status store_moved(struct store *s, struct arena *a, struct store_moved *out, struct err *e)
{
    struct sv moved, came;

    *out = (struct store_moved){ 0 };
    if (s->ops->moved_get(s, a, &moved, &came, e))
        return err_code(e);
    out->came = came;
    if (!place_in(moved).n)
        return ST_OK;
    struct sv_cut id = sv_cut(moved, ' '), back = sv_cut(id.tail, ' ');
    out->to = back.tail;
    out->id = id.head;
    if (!sv_is(back.head, "-"))
        out->back = back.head;
    return ST_OK;
}

enum status store_set_moved(struct store *s, const struct store_moved *m, struct err *e)
{
    struct arena scratch = { 0 };
    struct sb    moved = sb_in(&scratch, 0);
    struct sv    came = m->came;
    size_t       lines = 0;

    assert(s->open == TX_WRITING && s->alone);
    if (m->to.s) {
        sb_add(&moved, m->id);
        sb_addc(&moved, ' ');
        sb_add(&moved, m->back.n ? m->back : SV("-"));
        sb_addc(&moved, ' ');
        sb_add(&moved, m->to);
    }
    for (size_t i = 0; i < came.n; i++)
        lines += came.s[i] == '\n';
    for (; lines > CAME_MAX; lines--)
        came = sv_cut(came, '\n').tail;
    enum status st = s->ops->moved_set(s, sb_sv(&moved), came, e);
    arena_free(&scratch);
    return st;
}

bool store_came_by(const struct store_moved *m, struct sv id)
{
    for (struct sv left = m->came; left.n;) {
        struct sv_cut line = sv_cut(left, '\n');
        if (id.n && sv_eq(sv_cut(line.head, ' ').head, id))
            return true;
        left = line.tail;
    }
    return false;
}

/* Former stores of the log: finding them, and erasing in them what was erased in the log. */
#include "api/care/former.h"

#include "base/fs.h"
#include "base/path.h"
#include "thread/erase.h"

#include <unistd.h>

static bool is_server(struct sv place)
{
    return sv_find(place, SV("://")) > 0;
}

/* Has the file the mark of one of the moves in `here`? Nothing is done to a file without it. */
static enum former_is mark_of(struct sv place, const struct store_moved *here, struct arena *a)
{
    struct store_options o = { .read_only = true };
    struct store        *s = NULL;
    struct store_moved   there;
    struct err           ignored;

    if (store_open(place, &o, &s, &ignored))
        return FORMER_OTHER;
    enum former_is is = FORMER_OTHER;
    if (!store_moved(s, a, &there, &ignored) && there.to.s)
        is = store_came_by(here, there.id) ? FORMER_MARKED : FORMER_ASTRAY;
    store_close(s);
    return is;
}

struct former_search {
    struct request    *r;
    struct store_moved here;
    struct sv          own; /* where the log is */
    VEC(struct former) list;
};

static bool is_known(const struct former_search *f, struct sv place)
{
    for (size_t i = 0; i < f->list.n; i++)
        if (sv_eq(f->list.v[i].place, place))
            return true;
    return sv_eq(place, f->own);
}

/* May it be opened: a file of the workspace, or one that the log names which the user chose? */
static bool may_open(const struct former_search *f, struct sv place)
{
    const struct workspace *ws = f->r->ws;
    struct sv               root = path_join(ws->root, SV(""), f->r->a), inside;
    enum fs_kind            kind;
    struct err              ignored;

    if (is_server(place))
        return false;
    if (!sv_starts(f->own, root))
        return true;
    return sv_starts(place, root) &&
           !path_normal(sv_skip(place, root.n), f->r->a, &inside, &ignored) &&
           !fs_kind(ws->root_fd, inside, &kind, &ignored) && kind == FS_FILE;
}

static void add(struct former_search *f, struct sv place, bool usual)
{
    struct arena  *a = f->r->a;
    enum former_is is = FORMER_NAMED;

    if (!place.n || is_known(f, place) ||
        (!is_server(place) && access(sv_cstr(place, a), F_OK) != 0))
        return;
    if (may_open(f, place))
        is = mark_of(place, &f->here, a);
    if (is == FORMER_MARKED || is == FORMER_NAMED || usual)
        *vec_push(&f->list, a) = (struct former){ place, is };
}

enum status former_find(struct request *r, struct former **out, size_t *n, struct err *e)
{
    struct former_search f = { .r = r };
    UNDO(fd_undo) int    dir = -1;

    if (store_moved(r->log.store, r->a, &f.here, e) ||
        workspace_store_url(r->ws, r->a, &f.own, &dir, e))
        return err_code(e);
    f.own = store_url_bare(f.own, r->a);
    for (struct sv left = f.here.came; left.n;) {
        left.n -= sv_ends(left, SV("\n"));
        struct sv_cut line = sv_cut_last(left, '\n');
        add(&f, sv_cut(line.found ? line.tail : left, ' ').tail, false);
        left = line.found ? line.head : (struct sv){ 0 };
    }
    add(&f, store_url_bare(path_join(r->ws->root, SV(".heddle/heddle.db"), r->a), r->a), true);
    *out = f.list.v;
    *n = f.list.n;
    return ST_OK;
}

enum status former_erase(struct request *r, const struct former *f, bool dry_run, int64_t *n,
                         struct err *e)
{
    struct store_options o = { .read_only = dry_run, .past_move = true };
    struct store        *copy = NULL;

    *n = 0;
    if (store_open(f->place, &o, &copy, e))
        return err_code(e);
    enum status s =
        erase_in_copy(&r->log, copy, dry_run ? ERASE_COPY_COUNT : ERASE_COPY_THREADS, n, e);
    if (!s && !dry_run) /* what imports had read when the log left: none of it goes on there */
        s = store_drop_staged(copy, SV(STORE_STAGED), false, e);
    if (!s && !dry_run) /* also when a command that was killed has erased already */
        s = store_scrub(copy, NULL, NULL, e);
    store_close(copy);
    return s ? err_in(e, SV_FMT, SV_ARG(f->place)) : ST_OK;
}

static void clean_one(struct request *r, const struct former *f, bool dry_run, struct err *why)
{
    struct err e;
    int64_t    n = 0;

    if (f->is != FORMER_MARKED) {
        request_warn(r, SV("former"), (struct sv){ 0 },
                     SV_FMT " %s: it may still hold what is erased, and is not cleaned; remove it "
                            "when it is not needed",
                     SV_ARG(f->place),
                     f->is == FORMER_NAMED ? "had the log before it was moved here"
                                           : "is a database beside the log");
        return;
    }
    if (former_erase(r, f, dry_run, &n, &e)) {
        if (!why->code)
            *why = e;
        request_warn(r, SV("former"), (struct sv){ 0 },
                     "the store that the log was moved from is not clean yet: %s", e.text);
    } else if (dry_run || n) {
        request_warn(r, SV("former"), (struct sv){ 0 },
                     SV_FMT " had the log before it was moved here: %s", SV_ARG(f->place),
                     dry_run ? "what is erased is erased there too"
                             : "what was erased is erased there too");
    }
}

void former_clean(struct request *r, const struct former *list, size_t n, bool dry_run,
                  struct err *why)
{
    for (size_t i = 0; i < n; i++)
        clean_one(r, &list[i], dry_run, why);
}

bool former_has_file(const struct request *r, const struct former *list, size_t n, struct sv path)
{
    struct sv whole = path_join(r->ws->root, path, r->a);

    for (size_t i = 0; i < n; i++)
        if (list[i].is == FORMER_MARKED && sv_starts(whole, list[i].place))
            return true;
    return false;
}

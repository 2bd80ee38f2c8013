/* Finds out which protected files a tool has changed, by comparing hashes from before and after.
 * hook_deny.c decides before the tool runs. */
#include "api/hook/hook.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/path.h"
#include "share/guard.h"

#include <unistd.h>

/* ---- after --------------------------------------------------------------------------------- */

/* The number of bytes that are hashed before a tool runs. Further files are compared by size, time
 * and inode only. */
enum { HASH_BYTES = 1 << 20 };

/* .heddle/hook/SESSION-CALL, both as hashes: an id of another program may not be the name of a
 * file. */
static struct sv marks_file(const struct hook_event_params *p, struct arena *a)
{
    struct hash session = hash_blake2b(&p->session, 1), call = hash_blake2b(&p->call, 1);
    struct sb   b = sb_in(a, 0);

    sb_adds(&b, HOOK_DIR "/");
    sb_add_hex(&b, session.b, 8);
    sb_addc(&b, '-');
    sb_add_hex(&b, call.b, 8);
    return sb_sv(&b);
}

static void put_mark(struct jw *w, const struct guard_mark *m)
{
    jw_open(w, '{');
    jw_kstr(w, "path", m->path);
    jw_kstr(w, "owner", m->owner);
    if (m->hash.n)
        jw_kstr(w, "hash", m->hash);
    jw_kint(w, "inode", (int64_t)m->mark.inode);
    jw_kint(w, "size", (int64_t)m->mark.size);
    jw_kint(w, "mtime_ns", m->mark.mtime_ns);
    jw_close(w, '}');
}

enum status hook_marks_keep(struct request *r, struct share *s, struct sv thread,
                            const struct hook_event_params *p, struct err *e)
{
    struct guard_mark_list marks;
    struct sb              b = sb_in(r->a, 0);
    struct jw              w = jw_in(&b, 0);
    UNDO(fd_undo) int      fd = -1;

    if (guard_marks(s, thread, HASH_BYTES, &marks, e))
        return err_code(e);
    if (!marks.list.n)
        return ST_OK;
    jw_open(&w, '[');
    for (size_t i = 0; i < marks.list.n; i++)
        put_mark(&w, &marks.list.v[i]);
    jw_close(&w, ']');
    /* Not synced: after a crash of the machine the tool has ended too, and nothing is compared. */
    if (fs_mkdirs(r->ws->root_fd, SV(HOOK_DIR), e) ||
        fs_open_own(r->ws->root_fd, marks_file(p, r->a), O_WRONLY | O_TRUNC, &fd, e))
        return err_code(e);
    struct sv text = sb_sv(&b);
    if (write(fd, text.s, text.n) != (ssize_t)text.n)
        return err_errno(e, "write " HOOK_DIR);
    return ST_OK;
}

static void read_marks(const struct json *list, struct guard_mark_list *out, struct arena *a)
{
    for (size_t i = 0; json_is(list, JSON_ARRAY) && i < list->n; i++) {
        const struct json *m = &list->items[i];
        *vec_push(&out->list, a) =
            (struct guard_mark){ .path = json_text(m, "path"),
                                 .owner = json_text(m, "owner"),
                                 .hash = json_text(m, "hash"),
                                 .mark = { .inode = (uint64_t)json_number(m, "inode"),
                                           .size = (uint64_t)json_number(m, "size"),
                                           .mtime_ns = json_number(m, "mtime_ns") } };
    }
}

static struct sv report_text(const struct guard_mark_list *changed, struct sv thread,
                             struct arena *a)
{
    enum { SHOWN = 10 };
    struct sb b = sb_in(a, 0);

    sb_addf(&b,
            "heddle: while this tool ran, files changed that thread '" SV_FMT "' may only read:\n",
            SV_ARG(thread));
    for (size_t i = 0; i < changed->list.n && i < SHOWN; i++) {
        sb_adds(&b, "  ");
        sb_add_plain_line(&b, changed->list.v[i].path);
        sb_addf(&b, " (of thread '" SV_FMT "')\n", SV_ARG(changed->list.v[i].owner));
    }
    if (changed->list.n > SHOWN)
        sb_addf(&b, "  and %zu more\n", changed->list.n - SHOWN);
    sb_adds(&b, "If it was this tool, put back what was there and tell the person you work for. A "
                "frozen copy that is deleted is made again by `heddle read`.");
    return sb_sv(&b);
}

enum status hook_marks_compare(struct request *r, struct share *s, struct sv thread,
                               const struct hook_event_params *p, struct sv *report, struct err *e)
{
    struct sv              name = marks_file(p, r->a), text;
    struct guard_mark_list before = { 0 }, changed;
    struct json            doc;

    *report = (struct sv){ 0 };
    enum status st = fs_read(r->ws->root_fd, name, 0, r->a, &text, e);
    if (st)
        return st == ST_NOT_FOUND ? ST_OK : st;
    if (fs_remove(r->ws->root_fd, name, e) || json_parse(text, 0, r->a, &doc, e))
        return err_code(e);
    read_marks(&doc, &before, r->a);
    if (guard_marks_changed(s, thread, &before, &changed, e))
        return err_code(e);
    if (changed.list.n)
        *report = report_text(&changed, thread, r->a);
    return ST_OK;
}

/* Removes the files of this session, and old files of sessions that ended without an event. Failure
 * is ignored: the end of the next session removes them. */
void hook_marks_drop(struct request *r, const struct hook_event_params *p)
{
    enum { DAY_MS = 86400000 };
    struct sv       own = sv_first(path_base(marks_file(p, r->a)), 16);
    struct fs_item *list;
    struct fs_mark  mark;
    struct err      ignored;
    size_t          n;
    bool            found;

    if (fs_list(r->ws->root_fd, SV(HOOK_DIR), r->a, &list, &n, &ignored))
        return;
    for (size_t i = 0; i < n; i++) {
        struct sv name = path_join(SV(HOOK_DIR), list[i].name, r->a);
        bool      old = fs_mark(r->ws->root_fd, name, &mark, &found, &ignored) == ST_OK && found &&
                   clock_system_ms() - mark.mtime_ns / 1000000 > DAY_MS;
        if (old || sv_starts(list[i].name, own))
            (void)!fs_remove(r->ws->root_fd, name, &ignored);
    }
}

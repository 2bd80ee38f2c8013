/* Sub-agents of Claude Code: files beside the transcript, each a lane of its own. Its first node
 * hangs on the call that started it, which SESSION/subagents/agent-ID.meta.json names. */
#include "harness/harness_internal.h"

#include "base/fs.h"
#include "base/path.h"

enum { META_MAX = 1 << 20 };

static struct sv join3(struct sv dir, const char *between, struct sv name, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add(&b, dir);
    sb_adds(&b, between);
    sb_add(&b, name);
    return sb_sv(&b);
}

/* The node of the call that started an agent; absent when nothing says which. */
static struct sv started_by(struct harness_file *f, int dir, struct sv file, struct arena *a)
{
    struct sv   stem = sv_first(file, file.n - strlen(".jsonl")), text;
    struct json meta;
    struct err  ignored;

    if (fs_read(dir, join3(stem, ".meta", SV(".json"), a), META_MAX, a, &text, &ignored) ||
        json_parse(text, 0, a, &meta, &ignored))
        return (struct sv){ 0 };
    return harness_call_take(f->state, json_text(&meta, "toolUseId"), a);
}

static enum status import_part(const struct harness_file *whole, int dir, struct sv file,
                               struct sv part, struct sv hangs_on, struct err *e)
{
    UNDO(fd_undo) int   fd = -1;
    struct harness_file f = *whole;
    enum status         s;

    if (fs_open(dir, file, O_RDONLY | O_CLOEXEC, &fd, e))
        return err_code(e);
    f.fd = fd;
    f.kept = f.record = f.batch = f.lines = (struct arena){ 0 };
    f.state = ARENA_NEW(&f.kept, struct harness_state, 1);
    f.other = ARENA_NEW(&f.kept, struct harness_state, 1);
    f.path =
        join3(sv_first(whole->path, whole->path.n - path_base(whole->path).n), "", file, &f.kept);
    f.pos.part = f.main = part;
    ARENA_NEW(&f.record, char, 1);
    f.x = (struct harness_reading){ .a = &f.record,
                                    .kept = &f.kept,
                                    .session = whole->pos.session,
                                    .part = part,
                                    .hangs_on = hangs_on,
                                    .state = f.state,
                                    .report = whole->report };
    s = harness_file_import(&f, e);
    arena_free(&f.kept);
    arena_free(&f.record);
    return s;
}

/* How far each part was read: part → offset + 1. */
static enum status known_parts(struct harness_file *f, struct map *out, struct err *e)
{
    struct rows       r = rows_of_view(f->log, f->pos.thread, &harness_view, &f->kept);
    struct sv         prefix = harness_position_key(f->pos.harness, f->pos.session, SV(""), r.a);
    struct store_row *rows;
    struct json       v;
    size_t            n = 0;
    enum status       s = log_begin(f->log, f->pos.thread, STORE_READ, e);

    *out = map_in(&f->kept);
    if (!s)
        s = rows_below(&r, prefix, &rows, &n, e);
    for (size_t i = 0; i < n && !s; i++) {
        s = json_parse(rows[i].value, 0, &f->kept, &v, e);
        if (!s)
            map_put(out, sv_skip(rows[i].key, prefix.n),
                    (void *)(uintptr_t)(json_number(&v, "offset") + 1));
    }
    log_abort(f->log);
    return s;
}

static enum status import_named(struct harness_file *f, int dir, struct sv file, struct sv part,
                                const struct map *known, struct err *e)
{
    int64_t        read = (int64_t)(uintptr_t)map_find(known, part) - 1;
    struct fs_mark mark;
    bool           found;

    if (fs_mark(dir, file, &mark, &found, e))
        return err_code(e);
    if (!found || (int64_t)mark.size == read)
        return ST_OK;
    struct sv by = read < 0 ? started_by(f, dir, file, &f->kept) : (struct sv){ 0 };
    return import_part(f, dir, file, part, by, e);
}

enum status harness_claude_parts(struct harness_file *f, int dir, struct err *e)
{
    struct sv       folder = join3(f->pos.session, "/", SV("subagents"), &f->kept);
    struct fs_item *items;
    struct map      known;
    size_t          n;
    enum fs_kind    kind;

    if (fs_kind(dir, folder, &kind, e))
        return err_code(e);
    if (kind != FS_DIR)
        return ST_OK;
    if (fs_list(dir, folder, &f->kept, &items, &n, e) || known_parts(f, &known, e))
        return err_code(e);
    for (size_t i = 0; i < n && !f->report->more; i++) {
        struct sv name = items[i].name, file = join3(folder, "/", name, &f->kept);
        struct sv part = sv_first(name, name.n - (sv_ends(name, SV(".jsonl")) ? 6 : 0));
        if (items[i].kind != FS_FILE || !sv_ends(name, SV(".jsonl")) || !harness_id_is_valid(part))
            continue;
        if (import_named(f, dir, file, part, &known, e))
            return err_in(e, SV_FMT, SV_ARG(file));
    }
    return ST_OK;
}

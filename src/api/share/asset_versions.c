/* Going back through the writes of a thread to its documents. */
#include "api/share/asset_versions.h"

#include "base/hash.h"
#include "share/asset.h"
#include "thread/kind.h"
#include "thread/marks.h"
#include "thread/scan.h"

/* A document as it was after an earlier write. `bytes` absent: nothing older is known. */
struct version_reached {
    struct sv bytes, hash;
};

static struct sv hash_text(struct sv bytes, struct arena *a)
{
    struct hash h = hash_blake2b(&bytes, 1);

    return hash_hex(&h, a);
}

static void keep(struct asset_versions *v, struct version_reached *f, struct sv bytes)
{
    struct sv *kept = ARENA_NEW(v->r->a, struct sv, 1);

    v->bytes += bytes.n;
    if (v->bytes > VERSION_BYTES_MAX) {
        f->bytes = (struct sv){ 0 };
        return;
    }
    *kept = bytes;
    *f = (struct version_reached){ bytes, hash_text(bytes, v->r->a) };
    map_put(&v->hashes, f->hash, kept);
}

/* What is in the file now; nothing when it cannot be read. */
static struct version_reached *reach(struct asset_versions *v, struct sv path)
{
    struct version_reached *f = map_find(&v->files, path);
    struct asset_found      found;
    struct sv               bytes;
    struct err              ignored;

    if (f)
        return f;
    f = ARENA_NEW(v->r->a, struct version_reached, 1);
    *f = (struct version_reached){ 0 };
    map_put(&v->files, path, f);
    if (!asset_find(v->s, v->thread, path, &found, &ignored) &&
        !asset_read(v->s, &found, v->r->a, &bytes, &ignored))
        keep(v, f, bytes);
    return f;
}

static enum status entry_at(struct asset_versions *v, int64_t seq, struct entry *n, struct json *p,
                            bool *found, struct err *e)
{
    if (log_entry(&v->r->log, v->thread, seq, v->r->a, n, found, e))
        return err_code(e);
    return *found ? json_parse(n->payload, 0, v->r->a, p, e) : ST_OK;
}

/* What a write took away: the record of its command, which follows it, says so. */
static enum status removed_by(struct asset_versions *v, const struct entry *write,
                              const struct json *p, struct sv *removed, struct err *e)
{
    struct entry n;
    struct json  record;
    bool         found;

    *removed = (struct sv){ 0 };
    if (entry_at(v, write->seq + 1, &n, &record, &found, e))
        return err_code(e);
    if (!found || kind_of(n.kind) != KIND_TOOL_ACTION)
        return ST_OK;
    const struct json *undo = json_find(&record, "undo");
    if (undo && sv_is(json_text(undo, "do"), "unwrite") &&
        sv_eq(json_text(undo, "after"), json_text(p, "after")) &&
        sv_eq(json_text(undo, "path"), json_text(p, "path")))
        *removed = json_text(undo, "removed");
    return ST_OK;
}

static void go_back(struct asset_versions *v, struct version_reached *f, const struct json *p,
                    struct sv removed)
{
    struct sb b = sb_in(v->r->a, 0);
    int64_t   at = -1, inserted = -1;

    json_int(json_find(p, "at"), &at);
    json_int(json_find(p, "inserted"), &inserted);
    if (at < 0 || inserted < 0 || (uint64_t)at > f->bytes.n ||
        (uint64_t)inserted > f->bytes.n - (uint64_t)at)
        return;
    sb_add(&b, sv_first(f->bytes, (size_t)at));
    sb_add(&b, removed);
    sb_add(&b, sv_skip(f->bytes, (size_t)(at + inserted)));
    if (sv_eq(hash_text(sb_sv(&b), v->r->a), json_text(p, "before")))
        keep(v, f, sb_sv(&b));
}

/* A write that does not lead to what was reached is passed over: an undo took it back. */
static enum status take_write(struct asset_versions *v, const struct entry *n, const struct json *p,
                              struct err *e)
{
    struct version_reached *f = reach(v, json_text(p, "path"));
    struct sv               removed;

    if (!f->bytes.s || !sv_eq(f->hash, json_text(p, "after")))
        return ST_OK;
    if (removed_by(v, n, p, &removed, e))
        return err_code(e);
    if (removed.s)
        go_back(v, f, p, removed);
    return ST_OK;
}

enum status asset_versions_read(struct asset_versions *v, struct request *r, struct share *s,
                                struct sv thread,
                                bool (*is_wanted)(const struct json *write, struct sv name),
                                struct sv name, struct err *e)
{
    int64_t *seqs;
    size_t   n;

    *v = (struct asset_versions){
        .r = r, .s = s, .thread = thread, .files = map_in(r->a), .hashes = map_in(r->a)
    };
    if (log_marks_back(&r->log, thread, LOG_MARK_DOCUMENT, INT64_MAX, VERSION_WRITES_MAX, r->a,
                       &seqs, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        struct entry entry;
        struct json  p;
        bool         found;
        if (entry_at(v, seqs[i], &entry, &p, &found, e))
            return err_code(e);
        if (found && json_text(&p, "path").n && (!is_wanted || is_wanted(&p, name)) &&
            take_write(v, &entry, &p, e))
            return err_code(e);
    }
    return ST_OK;
}

bool asset_version_find(const struct asset_versions *v, struct sv hash, struct sv *bytes)
{
    const struct sv *found = hash.n ? map_find(&v->hashes, hash) : NULL;

    if (found)
        *bytes = *found;
    return found != NULL;
}

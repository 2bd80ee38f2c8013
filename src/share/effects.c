/* What entries do to directories and files besides the views: thread directories, frozen copies,
 * live names, merged files, transcripts, log lines. Each effect looks before it acts, so that a
 * command that was killed half-way can be finished by the next one. */
#include "share/share_internal.h"

#include "base/path.h"
#include "share/operation_internal.h"
#include "thread/kind.h"
#include "thread/scan.h"

#include <sys/stat.h>
#include <unistd.h>

struct effect {
    struct share       *s;
    struct arena       *a;
    const struct entry *n;
    const struct json  *p;
    bool                again; /* it failed before: later entries may have been done since */
    struct err         *e;
};

enum { UNDONE_TEXT = 240 };

static struct sv text(const struct effect *f, const char *key)
{
    return json_text(f->p, key);
}

/* The bytes of a file; absent when there is none. */
static enum status read_if_there(struct effect *f, struct sv path, struct sv *out)
{
    enum status s = fs_read(f->s->root, path, 0, f->a, out, f->e);

    if (s != ST_NOT_FOUND)
        return s;
    *out = (struct sv){ 0 };
    return ST_OK;
}

/* ---- objects -------------------------------------------------------------------------------- */

/* An object that no frozen copy needs any more. */
static enum status drop_unused(struct effect *f, struct sv hash)
{
    struct sv row;
    bool      found;

    if (!hash.n || share_row(f->s, key_of_name("blob", hash, f->a), &row, &found, f->e))
        return hash.n ? err_code(f->e) : ST_OK;
    return found ? ST_OK : object_drop(f->s, hash, f->e);
}

static enum status drop_list(struct effect *f, const struct json *hashes)
{
    for (size_t i = 0; json_is(hashes, JSON_ARRAY) && i < hashes->n; i++)
        if (drop_unused(f, json_sv(&hashes->items[i])))
            return err_code(f->e);
    return ST_OK;
}

/* ---- references ------------------------------------------------------------------------------ */

/* Remove a copy that no reference holds any more, unless somebody changed it. */
static enum status remove_copy(struct effect *f, struct sv thread, struct sv place, struct sv was)
{
    struct sv   path = share_path(thread, "context/inherited", place, f->a), now;
    int64_t     size;
    enum status r = object_hash_of(f->s, path, &now, &size, f->e);

    if (r && r != ST_NOT_FOUND && r != ST_PERMISSION_DENIED)
        return r;
    if (r == ST_OK && was.s && !sv_eq(now, was)) {
        share_warn(f->s, "W203", thread,
                   SV_FMT " was changed after it was copied; it stays, and is no copy of a "
                          "reference any more",
                   SV_ARG(path));
        return ST_OK;
    }
    if (fs_remove(f->s->root, path, f->e))
        return err_code(f->e);
    for (struct sv dir = path_dir(place); dir.n; dir = path_dir(dir)) { /* directories left empty */
        UNDO(fd_undo) int parent = -1;
        struct sv         full = share_path(thread, "context/inherited", dir, f->a);
        if (fs_open(f->s->root, path_dir(full), O_RDONLY | O_DIRECTORY, &parent, f->e) ||
            unlinkat(parent, sv_cstr(path_base(full), f->a), AT_REMOVEDIR) != 0)
            break;
    }
    return ST_OK;
}

static enum status remove_copies(struct effect *f, struct sv thread)
{
    const struct json *places = json_find(f->p, "gone"), *was = json_find(f->p, "gone_was");

    for (size_t i = 0; json_is(places, JSON_ARRAY) && i < places->n; i++) {
        struct sv place = json_sv(&places->items[i]), row;
        bool      found;
        if (share_row(f->s, key_of_names("snap", thread, place, f->a), &row, &found, f->e))
            return err_code(f->e);
        if (found)
            continue; /* another reference holds it now */
        if (remove_copy(f, thread, place,
                        json_is(was, JSON_ARRAY) && i < was->n ? json_sv(&was->items[i])
                                                               : (struct sv){ 0 }))
            return err_code(f->e);
    }
    return ST_OK;
}

static enum status write_if_changed(struct share *s, struct sv path, struct sv now, struct err *e)
{
    struct sv   old;
    enum status r = fs_read(s->root, path, 0, s->a, &old, e);

    if (r && r != ST_NOT_FOUND)
        return r;
    if (!r && sv_eq(old, now))
        return ST_OK;
    if (fs_mkdirs(s->root, path_dir(path), e))
        return err_code(e);
    return fs_write(s->root, path, now, 0666, e);
}

/* context/live/.refs.json and context/.frozen.json: where names lead, and what was copied. Neither
 * is made while it would be empty. */
enum status share_names_write(struct share *s, struct sv thread, struct err *e)
{
    struct share_ref *refs, *live;
    size_t            n, n_live = 0, n_frozen = 0;
    bool              has_live, has_frozen;
    struct sv         one = share_path(thread, "context/live", SV(".refs.json"), s->a);
    struct sv         two = share_path(thread, "context", SHARE_FROZEN, s->a);

    if (share_refs(s, thread, true, s->a, &refs, &n, e))
        return err_code(e);
    live = ARENA_NEW(s->a, struct share_ref, n + 1);
    for (size_t i = 0; i < n; i++)
        if (refs[i].frozen)
            refs[n_frozen++] = refs[i];
        else
            live[n_live++] = refs[i];
    if (fs_exists(s->root, one, &has_live, e) || fs_exists(s->root, two, &has_frozen, e) ||
        ((n_live || has_live) && write_if_changed(s, one, render_refs(live, n_live, s->a), e)))
        return err_code(e);
    if (n_frozen || has_frozen)
        return write_if_changed(s, two, render_frozen(refs, n_frozen, s->a), e);
    return ST_OK;
}

static enum status log_line(struct effect *f, struct sv objective, const char *level,
                            struct sv message, struct sv thread, struct sv title);

static enum status do_reference(struct effect *f)
{
    struct share_ref    r;
    struct share_thread t;
    bool                found;

    /* Remove dropped copies first: a file may be in the way of a new directory. Then place only the
     * copies of this reference: those of another may need a path that a later entry frees. */
    if (!sv_is(text(f, "operation"), "reference"))
        f->s->collect = true;
    if (share_ref_of_json(f->p, f->a, &r, f->e) || remove_copies(f, r.from) ||
        share_copies_of(f->s, r.from, r.id, f->e) || drop_list(f, json_find(f->p, "gone_hashes")) ||
        share_names_write(f->s, r.from, f->e))
        return err_code(f->e);
    if (!r.missing || share_thread_find(f->s, r.from, &t, &found, f->e) || !found)
        return ST_OK;
    struct sb b = sb_in(f->a, 0);
    sb_addf(&b, "Referenced Thread " SV_FMT " not found", SV_ARG(r.target));
    return log_line(f, t.objective, "warn", sb_sv(&b), r.from, (struct sv){ 0 });
}

/* ---- threads ----------------------------------------------------------------------------------
 */

static enum status make_folders(struct share *s, struct sv thread, struct err *e)
{
    static const char *const folders[] = { "artifacts", "context/inherited", "context/live",
                                           ".meta/transcripts" };

    for (size_t i = 0; i < COUNT(folders); i++)
        if (fs_mkdirs(s->root, share_path(thread, "", sv_of(folders[i]), s->a), e))
            return err_code(e);
    return ST_OK;
}

static enum status do_spawn(struct effect *f)
{
    struct sv id = text(f, "thread_id");

    if (make_folders(f->s, id, f->e))
        return err_code(f->e);
    if (!json_is(json_find(f->p, "inherited"), JSON_OBJECT))
        return ST_OK;
    return share_copies_of(f->s, id, (struct sv){ 0 }, f->e) ? err_code(f->e)
                                                             : share_names_write(f->s, id, f->e);
}

static enum status do_import(struct effect *f)
{
    struct sv what = text(f, "what");

    if (!sv_is(what, "edge") && !sv_is(what, "rebind") && !sv_is(what, "unreference"))
        return ST_OK;
    return share_names_write(f->s, text(f, "from"), f->e);
}

struct rebuilding {
    struct share *s;
    VEC(struct sv) ids;
};

static enum status note_thread(void *ctx, const struct share_thread *t, struct err *e)
{
    struct rebuilding *b = ctx;

    (void)e;
    *vec_push(&b->ids, b->s->a) = sv_dup(t->id, b->s->a);
    return ST_OK;
}

enum status effects_rebuild(struct share *s, struct err *e)
{
    struct rebuilding b = { .s = s };

    if (share_threads(s, note_thread, &b, e))
        return err_code(e);
    for (size_t i = 0; i < b.ids.n; i++)
        if (make_folders(s, b.ids.v[i], e) || share_copies_of(s, b.ids.v[i], (struct sv){ 0 }, e) ||
            share_names_write(s, b.ids.v[i], e))
            return err_code(e);
    return ST_OK;
}

/* ---- lines in logs -----------------------------------------------------------------------------
 */

/* Append a line unless the file has it already: then it was written before a crash. */
static enum status append_line(struct effect *f, struct sv path, struct sv line)
{
    UNDO(fd_undo) int fd = -1;
    struct sv         old;

    if (read_if_there(f, path, &old))
        return err_code(f->e);
    if (old.s && sv_find(old, line) >= 0)
        return ST_OK;
    if (fs_mkdirs(f->s->root, path_dir(path), f->e) ||
        fs_open_own(f->s->root, path, O_WRONLY | O_APPEND, &fd, f->e))
        return err_code(f->e);
    return write(fd, line.s, line.n) == (ssize_t)line.n
               ? ST_OK
               : err_errno(f->e, "append to " SV_FMT, SV_ARG(path));
}

/* A logfmt value: in quotes when it has spaces or =, never more than one line. */
static void logfmt(struct sb *b, const char *key, struct sv v)
{
    bool quote = !v.n;

    for (size_t i = 0; i < v.n; i++)
        quote = quote || (unsigned char)v.s[i] <= ' ' || v.s[i] == '=' || v.s[i] == '"';
    sb_addf(b, "%s%s=", b->n ? " " : "", key);
    if (!v.s)
        sb_adds(b, "null");
    else if (quote)
        sb_add_json_string(b, v);
    else
        sb_add(b, v);
}

static enum status log_line(struct effect *f, struct sv objective, const char *level,
                            struct sv message, struct sv thread, struct sv title)
{
    struct sb b = sb_in(f->a, 0), at = sb_in(f->a, 0), path = sb_in(f->a, 0);

    sb_add_iso_ms(&at, f->n->at);
    logfmt(&b, "level", sv_of(level));
    logfmt(&b, "msg", message);
    logfmt(&b, "objectiveId", objective);
    logfmt(&b, "threadId", thread);
    logfmt(&b, "time", sb_sv(&at));
    if (title.s)
        logfmt(&b, "title", title);
    sb_addc(&b, '\n');
    sb_addf(&path, ".leslie/logs/" SV_FMT "/objective.log", SV_ARG(objective));
    return append_line(f, sb_sv(&path), sb_sv(&b));
}

static enum status do_objective(struct effect *f)
{
    return log_line(f, text(f, "id"), "info", SV("Objective created"), SV("objective"),
                    text(f, "title"));
}

static enum status do_inject(struct effect *f)
{
    struct sb b = sb_in(f->a, 0);
    struct sv content = text(f, "content");

    sb_add_iso_ms(&b, f->n->at);
    sb_addf(&b, " type=" SV_FMT " content=", SV_ARG(text(f, "type")));
    for (size_t i = 0; i < content.n; i++) { /* one injection, one line */
        if (content.s[i] == '\n')
            sb_adds(&b, "\\n");
        else if (content.s[i] == '\\')
            sb_adds(&b, "\\\\");
        else
            sb_addc(&b, content.s[i]);
    }
    sb_addc(&b, '\n');
    return append_line(f, share_path(text(f, "thread_id"), ".meta", SV("injections.log"), f->a),
                       sb_sv(&b));
}

/* ---- files made by merge and transcript ---------------------------------------------------------
 */

/* The bytes of an object as an ordinary file, if the file still is what it was when the
 * operation looked at it. */
static enum status put_file(struct effect *f, struct sv path, struct sv before, struct sv after,
                            bool exec)
{
    struct sv   now = { 0 }, bytes;
    int64_t     size;
    enum status st = object_hash_of(f->s, path, &now, &size, f->e);

    if (st && st != ST_NOT_FOUND)
        return st;
    if (st == ST_NOT_FOUND ? before.n > 0 : !sv_eq(now, before) || sv_eq(now, after))
        return ST_OK; /* done already, or changed since: it must not be overwritten */
    st = object_read(f->s, after, f->a, &bytes, f->e);
    if (st == ST_NOT_FOUND)
        return ST_OK;
    if (st || fs_mkdirs(f->s->root, path_dir(path), f->e))
        return err_code(f->e);
    return fs_write(f->s->root, path, bytes, exec ? 0777 : 0666, f->e);
}

static enum status remove_file(struct effect *f, struct sv path, struct sv before)
{
    struct sv   now;
    int64_t     size;
    enum status st = object_hash_of(f->s, path, &now, &size, f->e);

    if (st == ST_NOT_FOUND || (!st && !sv_eq(now, before)))
        return ST_OK; /* done already, or changed since */
    return st ? st : fs_remove(f->s->root, path, f->e);
}

/* The same bytes with another executable bit. */
static enum status set_exec(struct effect *f, struct sv path, struct sv after, bool exec)
{
    UNDO(fd_undo) int fd = -1;
    struct sv         now;
    struct stat       st;
    int64_t           size;
    enum status       r = object_hash_of(f->s, path, &now, &size, f->e);

    if (r || !exec || !sv_eq(now, after))
        return r == ST_NOT_FOUND ? ST_OK : r;
    if (fs_open(f->s->root, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, &fd, f->e))
        return err_code(f->e);
    if (fstat(fd, &st) != 0)
        return err_errno(f->e, "look at " SV_FMT, SV_ARG(path));
    mode_t may_read = st.st_mode & 0444; /* those who may read it may also run it */
    if ((st.st_mode & 0100) || fchmod(fd, (st.st_mode & 07777) | may_read >> 2) == 0)
        return ST_OK;
    return err_errno(f->e, "chmod " SV_FMT, SV_ARG(path));
}

static enum status merge_one(struct effect *f, const struct json *file)
{
    struct sv target = text(f, "target");
    struct sv path = share_path(target, "", json_text(file, "path"), f->a);
    struct sv before = json_text(file, "before"), after = json_text(file, "after");
    struct sv kept = json_text(file, "kept");
    bool      exec = json_is(json_find(file, "exec"), JSON_TRUE);

    /* What is overwritten is put aside first. */
    if (kept.n && put_file(f, share_path(target, MERGE_KEPT, kept, f->a), SV(""), before, false))
        return err_code(f->e);
    if (json_is(json_find(file, "gone"), JSON_TRUE))
        return remove_file(f, path, before) || (kept.n && drop_unused(f, before)) ? err_code(f->e)
                                                                                  : ST_OK;
    if (put_file(f, path, before, after, exec) || set_exec(f, path, after, exec) ||
        drop_unused(f, after) || (kept.n && drop_unused(f, before)))
        return err_code(f->e);
    return ST_OK;
}

/* Each file on its own: the first failure is returned, but the other files are still written. */
static enum status do_merge(struct effect *f)
{
    const struct json *files = json_find(f->p, "files");
    struct err         kept = { 0 };

    for (size_t i = 0; json_is(files, JSON_ARRAY) && i < files->n; i++)
        if (merge_one(f, &files->items[i]) && !kept.code)
            kept = *f->e;
    if (kept.code)
        *f->e = kept;
    return kept.code;
}

enum { TRANSCRIPTS_KEPT = 50 };

static enum status do_transcript(struct effect *f)
{
    struct sv       dir = share_path(text(f, "thread_id"), ".meta", SV("transcripts"), f->a), now;
    struct sv       path = path_join(dir, text(f, "name"), f->a), bytes;
    struct fs_item *items;
    size_t          n, txt = 0;

    enum status got = object_read(f->s, text(f, "hash"), f->a, &bytes, f->e);
    if (got && got != ST_NOT_FOUND)
        return got;
    if (!got) {
        if (fs_mkdirs(f->s->root, dir, f->e) || read_if_there(f, path, &now) ||
            ((!now.s || !sv_eq(now, bytes)) && fs_write(f->s->root, path, bytes, 0666, f->e)) ||
            drop_unused(f, text(f, "hash")))
            return err_code(f->e);
    }
    if (fs_list(f->s->root, dir, f->a, &items, &n, f->e))
        return err_code(f->e);
    for (size_t i = n; i-- > 0;) /* names begin with their time: the last are the newest */
        if (sv_ends(items[i].name, SV(".txt")) && ++txt > TRANSCRIPTS_KEPT &&
            fs_remove(f->s->root, path_join(dir, items[i].name, f->a), f->e))
            return err_code(f->e);
    return ST_OK;
}

/* ---- the table
 * ------------------------------------------------------------------------------------ */

static const struct {
    const char *operation;
    enum status (*apply)(struct effect *);
} effects[] = {
    { "objective", do_objective }, { "spawn", do_spawn },           { "reference", do_reference },
    { "refresh", do_reference },   { "unreference", do_reference }, { "rebind", do_reference },
    { "inject", do_inject },       { "merge", do_merge },           { "transcript", do_transcript },
    { "import", do_import },
};

static enum status apply(struct effect *f)
{
    struct sv operation = text(f, "operation");

    for (size_t i = 0; i < COUNT(effects); i++)
        if (sv_is(operation, effects[i].operation))
            return effects[i].apply(f);
    return ST_OK;
}

/* Files that every workspace has: a common plan, and the list of what belongs in version
 * control. */
static enum status make_usual(struct share *s, struct err *e)
{
    static const struct {
        const char *path, *text;
    } usual[] = {
        { ".leslie/threads/.global/plan.md",
          "# Plan\n\nWhat all threads of this workspace should know.\n" },
        { ".leslie/.gitignore", "# Made anew from thread_relations.json, or of this machine only.\n"
                                "/threads/.global/registry.json*\n"
                                "/threads/*/context/live/.refs.json\n/logs/\n/*.bak\n/*.lock\n"
                                "/*.tmp\n/*.unreadable-*\n.heddle-*\n" },
        { ".leslie/.gitattributes", "*.log merge=union\n" },
    };

    for (size_t i = 0; i < COUNT(usual) && s->acted; i++) { /* a reading command adds nothing */
        bool there;
        if (fs_exists(s->root, sv_of(usual[i].path), &there, e) ||
            (!there && fs_write(s->root, sv_of(usual[i].path), sv_of(usual[i].text), 0666, e)))
            return err_code(e);
    }
    return ST_OK;
}

/* Apply one entry of the log, if it is an operation with effects. */
static enum status apply_entry(struct share *s, const struct entry *n, bool again, struct arena *a,
                               struct err *e)
{
    struct json   p;
    struct effect f = { s, a, n, &p, again, e };

    if (kind_of(n->kind) != KIND_THREAD_OPERATION)
        return ST_OK;
    if (json_parse(n->payload, 0, a, &p, e))
        return err_code(e);
    return share_is_sane(&p, a) ? apply(&f) : ST_OK;
}

static void still_undone(struct share *s, int64_t seq, const struct err *why)
{
    struct sb b = sb_in(s->a, UNDONE_TEXT);

    for (const char *c = why->text; *c; c++) /* one line of the stamp */
        sb_addc(&b, *c == '\n' ? ' ' : *c);
    s->stamp.undone[s->stamp.n_undone++] = (struct share_undone){ seq, sb_sv(&b) };
}

static enum status entry_at(struct share *s, int64_t seq, struct arena *a, struct entry *out,
                            bool *found, struct err *e)
{
    return log_entry(s->log, SHARE_GLOBAL, seq, a, out, found, e);
}

/* Try the effects that failed before again, one by one. */
static enum status apply_again(struct share *s, struct arena *a, struct err *e)
{
    struct share_stamp was = s->stamp;
    struct entry       n;
    struct err         why;
    bool               found;

    s->stamp.n_undone = 0;
    for (size_t i = 0; i < was.n_undone; i++) {
        struct arena_mark m = arena_mark(a);
        if (entry_at(s, was.undone[i].seq, a, &n, &found, e))
            return err_code(e);
        if (found && apply_entry(s, &n, true, a, &why))
            still_undone(s, was.undone[i].seq, &why);
        arena_reset(a, m);
    }
    if (s->stamp.n_undone)
        share_warn(s, "T502", (struct sv){ 0 },
                   "%zu earlier change%s of files could still not be made (%s); `heddle doctor` "
                   "lists what is not done",
                   s->stamp.n_undone, s->stamp.n_undone == 1 ? "" : "s", s->stamp.undone[0].why.s);
    return ST_OK;
}

enum status effects_apply(struct share *s, int64_t to, struct err *e)
{
    UNDO(log_scan_undo) struct store_scan *scan = NULL;
    struct arena                           scratch = { 0 };
    struct store_query q = { .thread = SHARE_GLOBAL, .from = s->stamp.applied, .to = to - 1 };
    struct entry       n;
    struct err         why;
    bool               more = s->stamp.applied < to;
    enum status        r = ST_OK;

    if (make_usual(s, &why)) {
        share_warn(s, "T502", (struct sv){ 0 }, "%s", why.text);
        s->unwritten = why;
    }
    r = apply_again(s, &scratch, e);
    if (!r && more)
        r = log_scan(s->log, &q, &scan, e);
    while (!r && more && !(r = log_scan_next(scan, &n, &more, e)) && more) {
        struct arena_mark m = arena_mark(&scratch);
        if (apply_entry(s, &n, false, &scratch, &why)) {
            if (s->stamp.n_undone == SHARE_UNDONE_MAX) {
                *e = why; /* the disk fails as a whole: the next command continues from here */
                r = err_code(e);
                break;
            }
            share_warn(s, "T502", (struct sv){ 0 },
                       "recorded, but not done on disk: %s; the next command tries again",
                       why.text);
            still_undone(s, n.seq, &why);
            s->unwritten = why;
        }
        s->stamp.applied = n.seq + 1;
        arena_reset(&scratch, m);
    }
    if (!r)
        s->stamp.applied = to;
    arena_free(&scratch);
    return r;
}

enum status share_undone(struct share *s, struct share_pending_effect **out, size_t *n,
                         struct err *e)
{
    struct share_pending_effect *list =
        ARENA_NEW(s->a, struct share_pending_effect, s->stamp.n_undone + 1);
    struct entry entry;
    struct json  p;
    bool         found;

    *n = 0;
    for (size_t i = 0; i < s->stamp.n_undone; i++) {
        if (entry_at(s, s->stamp.undone[i].seq, s->a, &entry, &found, e) ||
            (found && json_parse(entry.payload, 0, s->a, &p, e)))
            return err_code(e);
        if (!found)
            continue;
        static const char *const    keys[] = { "thread_id", "from_id", "target" };
        struct share_pending_effect x = { .operation = json_text(&p, "operation"),
                                          .why = s->stamp.undone[i].why,
                                          .at = entry.at };
        for (size_t k = 0; k < COUNT(keys) && !x.thread.n; k++)
            x.thread = json_text(&p, keys[k]);
        x.about = x.thread.n ? x.thread : json_text(&p, "id");
        list[(*n)++] = x;
    }
    *out = list;
    return ST_OK;
}

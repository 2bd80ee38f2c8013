/* Finding the assets of a thread, and what scopes cover. */
#include "share/asset.h"

#include "base/map.h"
#include "base/path.h"
#include "base/utf8.h"
#include "share/limits.h"
#include "share/share_internal.h"

#include <sys/stat.h>

/* clang-format off */
static const struct {
    const char *name, *type;
} candidates[] = {
    { "plan.md",           "plan" },
    { "plan",              "plan" },
    { "progress.md",       "progress" },
    { "design.md",         "design" },
    { "design",            "design" },
    { "learnings",         "learnings" },
    { ".meta/transcripts", "transcript" },
    { "transcript.md",     "transcript" },
};
static const char *const homes[] = { "", "artifacts" };
/* clang-format on */

static bool is_conversation(struct sv path)
{
    return sv_is(path, "transcript.md") || sv_starts(path, SV(".meta/transcripts"));
}

static bool is_below(struct sv path, struct sv top)
{
    return sv_starts(path, top) && (path.n == top.n || path.s[top.n] == '/');
}

static struct sv without_artifacts(struct sv path)
{
    return sv_starts(path, SV("artifacts/")) ? sv_skip(path, 10) : path;
}

const char *asset_type(struct sv path)
{
    path = without_artifacts(path);
    for (size_t i = 0; i < COUNT(candidates); i++)
        if (is_below(path, sv_of(candidates[i].name)))
            return candidates[i].type;
    return NULL;
}

/* The kind of the file at a path; links inside the workspace are followed. */
static enum status kind_there(struct share *s, struct sv path, enum fs_kind *out, struct err *e)
{
    UNDO(fd_undo) int fd = -1;
    struct stat       st;
    enum status       r = fs_kind(s->root, path, out, e);

    if (!r && *out != FS_LINK)
        return ST_OK;
    if (!r)
        r = share_open(s, path, O_PATH, &fd, e);
    if (!r && fstat(fd, &st) != 0)
        r = err_errno(e, "look at " SV_FMT, SV_ARG(path));
    if (r == ST_PERMISSION_DENIED) /* a link that leads out: not shown, with a warning */
        share_warn(s, "T402", (struct sv){ 0 }, "%s", e->text);
    else if (r && r != ST_NOT_FOUND)
        return r;
    *out = r ? FS_MISSING : S_ISREG(st.st_mode) ? FS_FILE : S_ISDIR(st.st_mode) ? FS_DIR : FS_OTHER;
    return ST_OK;
}

static enum status folder_is_empty(struct share *s, struct sv path, bool *out, struct err *e)
{
    struct fs_item *items;
    size_t          n = 0;
    enum status     r = fs_list(s->root, path, s->a, &items, &n, e);

    if (r && r != ST_NOT_FOUND)
        return r;
    *out = n == 0;
    return ST_OK;
}

static void add_asset(struct share *s, struct asset_list *out, const char *type, struct sv path,
                      enum fs_kind kind)
{
    struct sb b = sb_in(s->a, 0);

    sb_add(&b, path);
    if (kind == FS_DIR)
        sb_addc(&b, '/');
    for (size_t i = 0; i < out->list.n; i++)
        if (sv_eq(out->list.v[i].path, sb_sv(&b)))
            return;
    *vec_push(&out->list, s->a) = (struct asset){ type, sb_sv(&b) };
}

static enum status probe(struct share *s, struct sv thread, bool conversations,
                         struct asset_list *out, struct err *e)
{
    for (size_t i = 0; i < COUNT(candidates); i++)
        for (size_t h = 0; h < COUNT(homes); h++) {
            struct sv    name = sv_of(candidates[i].name);
            struct sv    path = share_path(thread, homes[h], name, s->a);
            enum fs_kind kind;
            bool         empty = false;
            if (kind_there(s, path, &kind, e))
                return err_code(e);
            if ((kind != FS_FILE && kind != FS_DIR) || (is_conversation(name) && !conversations))
                continue;
            /* The directory for transcripts is made with the thread; it is not an asset until it
             * holds one. */
            if (is_conversation(name) && kind == FS_DIR && folder_is_empty(s, path, &empty, e))
                return err_code(e);
            if (!empty)
                add_asset(s, out, candidates[i].type, path, kind);
        }
    return ST_OK;
}

enum status assets_own(struct share *s, struct sv thread, struct asset_list *out, struct err *e)
{
    return probe(s, thread, true, out, e);
}

/* ---- scopes ---------------------------------------------------------------------------- */

/* A scope is shown in terminals and stored in records: it must be text without control
 * characters. */
static enum status scope_text(struct sv v, struct err *e)
{
    size_t len;

    for (struct sv rest = v; rest.n; rest = sv_skip(rest, len)) {
        int32_t c = utf8_decode(rest, &len);
        if (c >= 0x20 && (c < 0x7f || c > 0x9f))
            continue;
        return err_set(e, ST_INVALID_SYNTAX,
                       c < 0 ? "a name that is not UTF-8" : "a name with a control character");
    }
    return ST_OK;
}

enum status share_scope_normal(struct share *s, const struct sv *given, size_t n, struct sv **out,
                               size_t *n_out, struct err *e)
{
    *out = ARENA_NEW(s->a, struct sv, n + 1);
    *n_out = 0;
    for (size_t i = 0; i < n; i++) {
        struct sv path;
        if (sv_is(given[i], "all")) {
            *n_out = 0;
            return ST_OK;
        }
        if (scope_text(given[i], e) || path_normal(given[i], s->a, &path, e))
            return err_in(e, "scope");
        path = without_artifacts(path);
        if (!path.n) {
            *n_out = 0; /* the directory itself */
            return ST_OK;
        }
        if (is_below(path, SV("context")) ||
            (is_below(path, SV(".meta")) && !is_conversation(path))) {
            err_set(e, ST_PERMISSION_DENIED, "scope '" SV_FMT "' is not shared", SV_ARG(path));
            return err_hint(e, "context/ and .meta/ belong to the thread alone");
        }
        (*out)[(*n_out)++] = path;
    }
    return ST_OK;
}

bool share_scope_covers(const struct sv *scope, size_t n, struct sv name)
{
    for (size_t i = 0; i < n; i++)
        if (is_below(name, scope[i]))
            return true;
    return n == 0 && !is_below(name, SV("context")) && !is_below(name, SV(".meta")) &&
           !is_conversation(name);
}

/* What a killed heddle left beside the file it was writing. */
bool share_is_temporary(struct sv name)
{
    return sv_starts(name, SV(".heddle-tmp-")) || sv_starts(name, SV(".heddle-lock-"));
}

/* A record is JSON, which holds only text: a name that is not UTF-8 cannot be recorded. */
static bool is_nameable(struct share *s, struct sv thread, struct sv path)
{
    if (utf8_invalid(path) < 0)
        return true;
    struct sb shown = sb_in(s->a, 0);
    sb_add_plain_line(&shown, path);
    share_warn(s, "W203", thread, "'" SV_FMT "' is not shared: its name is not UTF-8",
               SV_ARG(sb_sv(&shown)));
    return false;
}

static void add_file(struct share *s, struct scope_files *out, struct sv source)
{
    *vec_push(&out->list, s->a) = (struct scope_file){ source, source };
}

/* Each source is listed once, however many scopes cover it; `artifacts/` is removed from its name
 * unless another file has the shorter name. */
static void settle_names(struct share *s, struct scope_files *out)
{
    struct map seen = map_in(s->a);
    size_t     n = 0;

    for (size_t i = 0; i < out->list.n; i++) {
        struct scope_file f = out->list.v[i];
        if (map_has(&seen, f.source))
            continue;
        map_put(&seen, f.source, out);
        out->list.v[n++] = f;
    }
    out->list.n = n;
    for (size_t i = 0; i < n; i++) {
        struct scope_file *f = &out->list.v[i];
        struct sv          bare = without_artifacts(f->source);
        f->name = bare.n != f->source.n && map_has(&seen, bare) ? f->source : bare;
    }
}

static void link_left_out(struct share *s, struct sv thread, struct sv below)
{
    struct sb shown = sb_in(s->a, 0);

    sb_add_plain_line(&shown, share_path(thread, "", below, s->a));
    share_warn(s, "W203", thread, "'" SV_FMT "' is a link, and links to folders are not followed",
               SV_ARG(sb_sv(&shown)));
}

/* Files of a directory and below, in order. Links to files inside the workspace are files; links to
 * directories are not entered, so that nothing is walked twice. */
static enum status walk(struct share *s, struct sv thread, struct sv below, int depth,
                        struct scope_files *out, struct err *e)
{
    struct fs_item *items;
    size_t          n;

    if (depth > SCOPE_DEPTH_MAX || out->list.n > SCOPE_FILES_MAX)
        return err_set(e, ST_LIMIT_EXCEEDED,
                       "thread '" SV_FMT "' has more than %d files or %d levels", SV_ARG(thread),
                       SCOPE_FILES_MAX, SCOPE_DEPTH_MAX);
    if (fs_list(s->root, share_path(thread, "", below, s->a), s->a, &items, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++) {
        struct sv path = path_join(below, items[i].name, s->a);
        bool      link = items[i].kind == FS_LINK;
        if (share_is_temporary(items[i].name))
            collect_temporary(s, share_path(thread, "", below, s->a), items[i].name);
        if (share_is_temporary(items[i].name) || !is_nameable(s, thread, path))
            continue;
        if (!below.n && (sv_is(path, "context") || sv_is(path, ".meta") || is_conversation(path)))
            continue;
        enum fs_kind kind = items[i].kind;
        if (link && kind_there(s, share_path(thread, "", path, s->a), &kind, e))
            return err_code(e);
        if (kind == FS_FILE)
            add_file(s, out, path);
        else if (kind == FS_DIR && link)
            link_left_out(s, thread, path);
        else if (kind == FS_DIR && walk(s, thread, path, depth + 1, out, e))
            return err_code(e);
    }
    return ST_OK;
}

static enum status collect_one(struct share *s, struct sv thread, struct sv scope,
                               struct scope_files *out, struct err *e)
{
    bool any = false;

    for (size_t h = 0; h < COUNT(homes); h++) {
        struct sv    below = path_join(sv_of(homes[h]), scope, s->a);
        enum fs_kind kind;
        if (kind_there(s, share_path(thread, "", below, s->a), &kind, e))
            return err_code(e);
        if (kind == FS_FILE)
            add_file(s, out, below);
        else if (kind == FS_DIR && walk(s, thread, below, 1, out, e))
            return err_code(e);
        any = any || kind == FS_FILE || kind == FS_DIR;
    }
    if (!any) {
        out->missing++;
        share_warn(s, "W203", thread, "Thread '" SV_FMT "' has no '" SV_FMT "'", SV_ARG(thread),
                   SV_ARG(scope));
    }
    return ST_OK;
}

enum status share_scope_collect(struct share *s, struct sv thread, const struct sv *scope,
                                size_t n_scope, struct scope_files *out, struct err *e)
{
    enum fs_kind kind;

    *out = (struct scope_files){ 0 };
    if (!n_scope) {
        if (fs_kind(s->root, share_dir(thread, s->a), &kind, e) ||
            (kind == FS_DIR && walk(s, thread, SV(""), 0, out, e)))
            return err_code(e);
        if (kind == FS_LINK)
            link_left_out(s, thread, SV(""));
    }
    for (size_t i = 0; i < n_scope; i++)
        if (collect_one(s, thread, scope[i], out, e))
            return err_code(e);
    settle_names(s, out);
    return ST_OK;
}

/* ---- what references show ------------------------------------------------------------- */

static void no_type(struct share *s, struct sv thread, struct sv path)
{
    share_warn(s, "W203", thread,
               "'" SV_FMT "' is of no asset type and is not in the context; `heddle read` gives it",
               SV_ARG(path));
}

static enum status live_scope(struct share *s, const struct share_ref *r, struct asset_list *out,
                              struct err *e)
{
    for (size_t i = 0; i < r->n_scope; i++) {
        bool any = false;
        for (size_t h = 0; h < COUNT(homes); h++) {
            struct sv    path = share_path(r->target, homes[h], r->scope[i], s->a);
            enum fs_kind kind;
            if (kind_there(s, path, &kind, e))
                return err_code(e);
            if (kind != FS_FILE && kind != FS_DIR)
                continue;
            any = true;
            if (asset_type(r->scope[i]))
                add_asset(s, out, asset_type(r->scope[i]), path, kind);
            else
                no_type(s, r->target, r->scope[i]);
        }
        if (!any)
            share_warn(s, "W203", r->target, "Thread '" SV_FMT "' has no '" SV_FMT "'",
                       SV_ARG(r->target), SV_ARG(r->scope[i]));
    }
    return ST_OK;
}

/* Add the copies of `want`: of a file, or the directories with the copies of a directory. A copy
 * that is not on the disk counts too, because reading it restores it. */
static void add_copies(struct share *s, const struct share_ref *r, struct sv want,
                       struct asset_list *out)
{
    for (size_t i = 0; i < r->n_files; i++) {
        const struct share_file *f = &r->files[i];
        struct sv                bare = without_artifacts(f->source);
        if (!is_below(bare, want))
            continue;
        struct sv tail = sv_skip(bare, want.n);
        if (!sv_ends(f->place, tail))
            tail = SV(""); /* the place does not end like its source: use the file itself */
        struct sv path =
            share_path(r->from, "context/inherited", sv_first(f->place, f->place.n - tail.n), s->a);
        if (asset_type(want))
            add_asset(s, out, asset_type(want), path, tail.n ? FS_DIR : FS_FILE);
    }
}

static bool copies_below(const struct share_ref *r, struct sv want)
{
    for (size_t i = 0; i < r->n_files; i++)
        if (is_below(without_artifacts(r->files[i].source), want))
            return true;
    return false;
}

enum status assets_of_ref(struct share *s, const struct share_ref *r, struct asset_list *out,
                          struct err *e)
{
    if (!r->frozen)
        return r->n_scope ? live_scope(s, r, out, e) : probe(s, r->target, false, out, e);
    for (size_t i = 0; i < r->n_scope; i++)
        if (asset_type(r->scope[i]))
            add_copies(s, r, r->scope[i], out);
        else if (copies_below(r, r->scope[i]))
            no_type(s, r->target, r->scope[i]);
    for (size_t i = 0; !r->n_scope && i < COUNT(candidates); i++)
        add_copies(s, r, sv_of(candidates[i].name), out);
    return ST_OK;
}

/* ---- work of no listed type ---------------------------------------------------------------- */

static bool is_listed(struct sv name)
{
    return asset_type(name) || sv_is(name, "context") || sv_is(name, ".meta") ||
           sv_is(name, "artifacts") || share_is_temporary(name);
}

enum status asset_others_own(struct share *s, struct sv thread, struct asset_list *out,
                             struct err *e)
{
    for (size_t h = 0; h < COUNT(homes); h++) {
        struct fs_item *items;
        size_t          n;
        struct sv       dir = share_dir(thread, s->a);
        if (*homes[h])
            dir = path_join(dir, sv_of(homes[h]), s->a);
        enum status r = fs_list(s->root, dir, s->a, &items, &n, e);
        if (r == ST_NOT_FOUND)
            continue;
        if (r)
            return r;
        for (size_t i = 0; i < n; i++) {
            struct sv    path = path_join(dir, items[i].name, s->a);
            enum fs_kind kind;
            bool         empty = false;
            if (is_listed(items[i].name))
                continue;
            if (kind_there(s, path, &kind, e) ||
                (kind == FS_DIR && folder_is_empty(s, path, &empty, e)))
                return err_code(e);
            if (kind == FS_FILE || (kind == FS_DIR && !empty))
                add_asset(s, out, "other", path, kind);
        }
    }
    return ST_OK;
}

static enum status others_live(struct share *s, const struct share_ref *r, struct asset_list *out,
                               struct err *e)
{
    for (size_t i = 0; i < r->n_scope; i++)
        for (size_t h = 0; h < COUNT(homes) && !asset_type(r->scope[i]); h++) {
            struct sv    path = share_path(r->target, homes[h], r->scope[i], s->a);
            enum fs_kind kind;
            if (kind_there(s, path, &kind, e))
                return err_code(e);
            if (kind == FS_FILE || kind == FS_DIR)
                add_asset(s, out, "other", path, kind);
        }
    return ST_OK;
}

static void others_frozen(struct share *s, const struct share_ref *r, struct asset_list *out)
{
    for (size_t i = 0; i < r->n_files; i++) {
        const struct share_file *f = &r->files[i];
        struct sv                bare = without_artifacts(f->source);
        struct sv_cut            top = sv_cut(bare, '/');
        size_t                   tail = bare.n - top.head.n;
        if (asset_type(bare))
            continue;
        if (!sv_ends(f->place, sv_skip(bare, top.head.n)))
            tail = 0;
        add_asset(
            s, out, "other",
            share_path(r->from, "context/inherited", sv_first(f->place, f->place.n - tail), s->a),
            tail ? FS_DIR : FS_FILE);
    }
}

enum status asset_others_of_ref(struct share *s, const struct share_ref *r, struct asset_list *out,
                                struct err *e)
{
    if (r->frozen)
        others_frozen(s, r, out);
    else if (!r->n_scope)
        return asset_others_own(s, r->target, out, e);
    else
        return others_live(s, r, out, e);
    return ST_OK;
}

/* Writing the manifest of a payload, reading one, comparing two. */
#include "payload/manifest.h"

#include "payload/number.h"
#include "payload/show.h"
#include "payload/summary.h"

static struct sv shown(struct sv path, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add_path(&b, path);
    return sb_sv(&b);
}

static struct sv hex_of(struct sv text, struct arena *a)
{
    struct hash h = hash_sha256(text);

    return hash_hex(&h, a);
}

static void write_row(struct jw *w, const struct payload *p, const struct resource *r)
{
    struct arena scratch = { 0 };

    jw_open(w, '{');
    jw_kstr(w, "path", shown(r->name, &scratch));
    jw_kstr(w, "scope", sv_of(resource_scope_name(r->scope)));
    jw_key(w, "scopes");
    jw_open(w, '[');
    for (int s = 0; s < SCOPE_COUNT; s++)
        if (r->scopes >> s & 1)
            jw_str(w, sv_of(resource_scope_name((enum resource_scope)s)));
    jw_close(w, ']');
    jw_kstr(w, "state", sv_of(resource_state_word(r->state)));
    if (r->why[0])
        jw_kstr(w, "why", sv_of(r->why));
    if (r->remark[0])
        jw_kstr(w, "remark", sv_of(r->remark));
    jw_kint(w, "size", (int64_t)r->size);
    jw_kstr(w, "sha256", r->has_hash ? hash_hex(&r->sha256, &scratch) : (struct sv){ 0 });
    if (p->counted_by.n) {
        jw_kint(w, "tokens", (int64_t)r->tokens);
        jw_kint(w, "block_tokens", (int64_t)r->block_tokens);
    }
    jw_kbool(w, "cut", r->cut);
    jw_close(w, '}');
    arena_free(&scratch);
}

void manifest_write(struct jw *w, const struct payload *p)
{
    struct arena  scratch = { 0 };
    payload_notes notes = payload_warnings(p, &scratch);

    jw_open(w, '{');
    jw_kstr(w, "format", SV("heddle-manifest-1"));
    jw_kstr(w, "root", shown(p->q->root, &scratch));
    jw_kstr(w, "counted_by", p->counted_by);
    jw_kbool(w, "estimate", p->is_estimate);
    jw_key(w, "payload");
    jw_open(w, '{');
    jw_kint(w, "bytes", (int64_t)p->bytes);
    jw_kstr(w, "sha256", hash_hex(&p->sha256, &scratch));
    jw_kint(w, "tokens", (int64_t)p->tokens);
    jw_kint(w, "frame_tokens", (int64_t)p->head_tokens);
    if (p->q->budget)
        jw_kint(w, "budget", p->q->budget);
    jw_close(w, '}');
    jw_kstr(w, "tree_sha256", p->tree.s ? hex_of(p->tree, &scratch) : (struct sv){ 0 });
    jw_kstr(w, "memos_sha256", p->has_memos ? hex_of(p->memos, &scratch) : (struct sv){ 0 });
    jw_key(w, "resources");
    jw_open(w, '[');
    for (size_t i = 0; i < p->lists.resources.n; i++)
        if (p->lists.resources.v[i].scopes)
            write_row(w, p, &p->lists.resources.v[i]);
    jw_close(w, ']');
    jw_key(w, "warnings");
    jw_open(w, '[');
    for (size_t i = 0; i < notes.n; i++)
        jw_str(w, notes.v[i]);
    jw_close(w, ']');
    jw_close(w, '}');
    arena_free(&scratch);
}

/* ---- rows ------------------------------------------------------------------------------- */

/* The last line end of a text in a fence may have been added by the fence. */
static void add_text_row(manifest_rows *rows, struct sv path, struct sv text, bool fenced,
                         struct arena *a)
{
    struct manifest_row *row = vec_push(rows, a);

    *row = (struct manifest_row){ .path = path, .sha256 = hex_of(text, a), .size = -1 };
    if (fenced && text.n)
        row->sha256_short = hex_of(sv_first(text, text.n - 1), a);
}

manifest_rows manifest_of_payload(const struct payload *p, struct arena *a)
{
    manifest_rows rows = { 0 };

    if (p->tree.s)
        add_text_row(&rows, MANIFEST_TREE, p->tree, false, a);
    if (p->has_memos)
        add_text_row(&rows, MANIFEST_MEMOS, p->memos, false, a);
    for (size_t i = 0; i < p->lists.resources.n; i++) {
        const struct resource *r = &p->lists.resources.v[i];
        if (!r->scopes)
            continue;
        struct manifest_row *row = vec_push(&rows, a);
        row->path = r->name;
        row->cut = r->cut;
        row->is_file = summary_folds(r);
        row->size = (int64_t)r->size;
        row->scopes = __builtin_popcount(r->scopes);
        if (r->state == RES_OK) {
            row->sha256 = hash_hex(&r->sha256, a);
        } else {
            struct sb b = sb_in(a, 0);
            resource_add_placeholder(&b, r);
            row->placeholder = sb_sv(&b);
        }
    }
    return rows;
}

/* "12 files, " at the start of *note, which is moved behind it; -1: *note begins with something
 * else. */
static int64_t take_number(struct sv *note, const char *unit)
{
    struct sv_cut c = sv_cut(*note, ' ');
    int64_t       n;

    if (!sv_to_int(c.head, &n) || n < 0 || !sv_starts(c.tail, sv_of(unit)))
        return -1;
    *note = sv_cut(c.tail, ' ').tail;
    return n;
}

/* What section 4 lists as cut. A resource may be listed there in several scopes. */
static void add_cut_rows(manifest_rows *rows, const struct parsed *p, struct arena *a)
{
    struct sv  start = SV("(" PAYLOAD_CUT_NOTE);
    struct map seen = map_in(a);

    for (size_t i = 0; i < p->summary.n; i++) {
        const struct parsed_entry *entry = &p->summary.v[i];
        struct manifest_row        row = { .path = entry->name, .cut = true };
        struct sv                  note = sv_skip(entry->note, start.n);
        if (!parsed_is_cut(entry))
            continue;
        row.files = take_number(&note, "file");
        row.files = row.files < 0 ? 0 : row.files;
        row.size = take_number(&note, "bytes");
        struct manifest_row *before = map_find(&seen, row.path);
        if (before && row.files) { /* other files of the same directory, in another scope */
            before->files += row.files;
            before->size += row.size;
        } else if (!before) {
            before = ARENA_NEW(a, struct manifest_row, 1);
            *before = row;
            map_put(&seen, row.path, before);
        }
    }
    for (size_t i = 0; i < p->summary.n; i++) {
        struct manifest_row *row = map_find(&seen, p->summary.v[i].name);
        if (!row || !row->cut)
            continue;
        *vec_push(rows, a) = *row;
        row->cut = false; /* once */
    }
}

static manifest_rows rows_of_parsed(const struct parsed *p, bool numbered, struct arena *a)
{
    manifest_rows rows = { 0 };

    if (p->tree.s)
        add_text_row(&rows, MANIFEST_TREE, p->tree, !p->exact, a);
    if (p->memos.s)
        add_text_row(&rows, MANIFEST_MEMOS, p->memos, !p->exact, a);
    for (size_t i = 0; i < p->resources.n; i++) {
        const struct parsed_resource *r = &p->resources.v[i];
        if (r->is_placeholder) {
            *vec_push(&rows, a) = (struct manifest_row){ .path = r->name,
                                                         .placeholder = sv_trim(r->body),
                                                         .size = -1 };
            continue;
        }
        bool      in_doubt = !p->exact && !(r->form & FORM_OPEN);
        struct sv plain =
            numbered || r->form & FORM_NUMBERED ? number_removed(r->body, a) : r->body;
        add_text_row(&rows, r->name, plain.s ? plain : r->body, in_doubt, a);
    }
    add_cut_rows(&rows, p, a);
    return rows;
}

static enum status not_readable(struct err *e)
{
    err_set(e, ST_INVALID_SYNTAX, "this is neither a payload in Markdown or JSON nor a manifest");
    return err_hint(e, "`heddle payload` and `heddle payload --json` write them");
}

static void add_hash_row(manifest_rows *rows, struct sv path, struct sv sha256, struct arena *a)
{
    if (sha256.n)
        *vec_push(rows, a) = (struct manifest_row){ .path = path, .sha256 = sha256, .size = -1 };
}

static enum status read_json(struct sv text, struct arena *a, manifest_rows *out, struct err *e)
{
    struct json        doc;
    const struct json *list;

    if (json_parse(text, 0, a, &doc, e))
        return err_code(e);
    list = json_find(&doc, "resources");
    if (!sv_is(json_text(&doc, "format"), "heddle-manifest-1") || !json_is(list, JSON_ARRAY))
        return not_readable(e);
    add_hash_row(out, MANIFEST_TREE, json_text(&doc, "tree_sha256"), a);
    add_hash_row(out, MANIFEST_MEMOS, json_text(&doc, "memos_sha256"), a);
    for (size_t i = 0; i < list->n; i++) {
        const struct json   *r = &list->items[i];
        struct manifest_row *row = vec_push(out, a);
        if (!show_unshow(json_text(r, "path"), a, &row->path))
            return err_set(e, ST_INVALID_SYNTAX, "resource %zu of the manifest has no path", i);
        row->cut = json_truth(json_find(r, "cut"));
        row->size = json_int(json_find(r, "size"), &row->size) ? row->size : -1;
        if (sv_is(json_text(r, "state"), "ok"))
            row->sha256 = json_text(r, "sha256");
        else
            row->placeholder = json_text(r, "state");
    }
    return ST_OK;
}

static bool is_json_payload(struct sv text, struct arena *a)
{
    struct json doc;
    struct err  ignored;

    return json_parse(text, 0, a, &doc, &ignored) == ST_OK &&
           sv_is(json_text(&doc, "format"), "heddle-payload-1");
}

enum status manifest_read(struct sv text, bool numbered, struct arena *a, manifest_rows *out,
                          struct err *e)
{
    struct parsed p;

    *out = (manifest_rows){ 0 };
    if (text.n && text.s[0] == '{' && !is_json_payload(text, a))
        return read_json(text, a, out, e);
    if (sv_starts(text, SV("<?xml")))
        return not_readable(e);
    if (payload_parse(text, a, &p, e))
        return err_code(e);
    *out = rows_of_parsed(&p, numbered, a);
    return ST_OK;
}

struct sv manifest_payload_sha256(struct sv text, struct arena *a)
{
    struct json doc;
    struct err  ignored;

    if (json_parse(text, 0, a, &doc, &ignored))
        return (struct sv){ 0 };
    return json_text(json_find(&doc, "payload"), "sha256");
}

/* ---- comparing ---------------------------------------------------------------------------- */

const char *manifest_change_word(enum manifest_change c)
{
    static const char *const words[] = { "added", "changed", "removed" };

    return words[c];
}

/* Whether a budget cut it is not a difference by itself: another resource may have grown. */
static bool is_same(const struct manifest_row *a, const struct manifest_row *b)
{
    bool cut = a->cut || b->cut;

    if (a->files != b->files || (cut && a->size >= 0 && b->size >= 0 && a->size != b->size))
        return false;
    if (cut && !(a->sha256.s && b->sha256.s)) /* an input.md has only the size of a cut one */
        return !(a->sha256.s && b->placeholder.s) && !(b->sha256.s && a->placeholder.s);
    /* Of what was not shown, a manifest has only the state, and an input.md only the placeholder.
     */
    if (a->placeholder.s || b->placeholder.s)
        return a->placeholder.s && b->placeholder.s &&
               (sv_eq(a->placeholder, b->placeholder) ||
                sv_starts(a->placeholder, SV("--- ")) != sv_starts(b->placeholder, SV("--- ")));
    return sv_eq(a->sha256, b->sha256) ||
           (a->sha256_short.s && sv_eq(a->sha256_short, b->sha256)) ||
           (b->sha256_short.s && sv_eq(b->sha256_short, a->sha256));
}

/* The directory in `folds` that stands for a cut file, or NULL. */
static struct manifest_row *fold_of(const struct map *folds, struct sv path)
{
    for (size_t n = path.n; n > 0; n--) {
        struct manifest_row *row = path.s[n - 1] == '/' ? map_find(folds, sv_first(path, n)) : NULL;
        if (row)
            return row;
    }
    return map_find(folds, SV("./"));
}

/* Can a directory stand for it in a list of cut files? */
static bool may_fold(const struct manifest_row *row)
{
    return row->is_file && (row->sha256.s || row->cut);
}

/* The rows of `now` in the form of `then`: files below a directory that `then` lists with its
 * number of cut files are counted there, except files that `then` lists by name. A resource that
 * several scopes list was counted in each of them. */
static manifest_rows folded_like(const manifest_rows *then, const manifest_rows *now,
                                 struct arena *a)
{
    struct map    folds = map_in(a), named = map_in(a);
    manifest_rows rows = { 0 };
    bool          any = false;

    for (size_t i = 0; i < then->n; i++)
        if (then->v[i].files <= 0) {
            map_put(&named, then->v[i].path, &then->v[i]);
        } else {
            struct manifest_row *fold = ARENA_NEW(a, struct manifest_row, 1);
            *fold = (struct manifest_row){ .path = then->v[i].path, .cut = true };
            map_put(&folds, fold->path, fold);
            any = true;
        }
    if (!any)
        return *now;
    for (size_t i = 0; i < now->n; i++) {
        const struct manifest_row *row = &now->v[i];
        bool                       hidden = may_fold(row) && !map_has(&named, row->path);
        struct manifest_row       *fold = hidden ? fold_of(&folds, row->path) : NULL;
        if (!fold) {
            *vec_push(&rows, a) = *row;
            continue;
        }
        fold->files += row->scopes ? row->scopes : 1;
        fold->size += row->size * (row->scopes ? row->scopes : 1);
    }
    for (size_t i = 0; i < then->n; i++) {
        struct manifest_row *fold = then->v[i].files > 0 ? map_find(&folds, then->v[i].path) : NULL;
        if (fold && fold->files)
            *vec_push(&rows, a) = *fold;
    }
    return rows;
}

manifest_differences manifest_compare(const manifest_rows *then, const manifest_rows *now,
                                      struct arena *a)
{
    manifest_differences out = { 0 };
    struct map           old = map_in(a), new = map_in(a);
    manifest_rows        counted = folded_like(then, now, a);

    now = &counted;

    for (size_t i = 0; i < then->n; i++)
        map_put(&old, then->v[i].path, &then->v[i]);
    for (size_t i = 0; i < now->n; i++) {
        const struct manifest_row *was = map_find(&old, now->v[i].path);
        map_put(&new, now->v[i].path, &now->v[i]);
        if (!was || !is_same(was, &now->v[i]))
            *vec_push(&out, a) =
                (struct manifest_difference){ was ? CHANGE_CHANGED : CHANGE_ADDED, now->v[i].path };
    }
    for (size_t i = 0; i < then->n; i++)
        if (!map_has(&new, then->v[i].path))
            *vec_push(&out, a) = (struct manifest_difference){ CHANGE_REMOVED, then->v[i].path };
    return out;
}

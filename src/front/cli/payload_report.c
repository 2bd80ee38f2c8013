#include "front/cli/payload_report.h"

#include "front/cli/payload_extract.h"
#include "payload/show.h"

#include <stdlib.h>

/* ---- tables ---------------------------------------------------------------------------- */

static void add_shown(struct sb *out, struct sv path, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add_path(&b, path);
    sb_add_plain(out, sb_sv(&b));
}

static void add_right(struct sb *out, int64_t n, size_t width, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add_commas(&b, n);
    if (b.n < width)
        sb_pad(out, ' ', width - b.n);
    sb_add(out, sb_sv(&b));
}

static const char *fate(const struct resource *r)
{
    return r->cut ? "cut" : r->state == RES_OK ? "kept" : resource_state_word(r->state);
}

static void add_section(struct sb *out, const char *name, uint64_t bytes, size_t tokens,
                        const char *rest)
{
    struct arena scratch = { 0 };

    sb_addf(out, "%-8s  -       ", name);
    add_right(out, (int64_t)bytes, 14, &scratch);
    add_right(out, (int64_t)tokens, 14, &scratch);
    sb_adds(out, rest);
    arena_free(&scratch);
}

void report_explain(struct sb *out, const struct payload *p)
{
    struct arena scratch = { 0 };
    uint64_t     content = 0;

    sb_adds(out, "section   scope            bytes        tokens  fate         path\n");
    for (size_t i = 0; i < p->lists.resources.n; i++) {
        const struct resource *r = &p->lists.resources.v[i];
        if (!r->scopes)
            continue;
        content += r->cut || r->state != RES_OK ? 0 : r->size; /* else a placeholder is shown */
        sb_addf(out, "resource  %-8s", scope_name(r->scope));
        add_right(out, (int64_t)r->size, 14, &scratch);
        add_right(out, (int64_t)r->block_tokens, 14, &scratch);
        sb_addf(out, "  %-11s  ", fate(r));
        add_shown(out, r->name, &scratch);
        sb_addc(out, '\n');
    }
    content += p->tree.n + p->memos.n;
    size_t sections = p->tree_tokens + p->memos_tokens;
    if (p->tree.s)
        add_section(out, "tree", p->tree.n, p->tree_tokens, "  kept         project structure\n");
    if (p->has_memos)
        add_section(out, "memos", p->memos.n, p->memos_tokens,
                    "  kept         .teddy/memos.yaml\n");
    add_section(out, "frame", p->bytes > content ? p->bytes - content : 0,
                p->head_tokens > sections ? p->head_tokens - sections : 0,
                "  kept         system, summary, headings\n");
    add_section(out, "total", p->bytes, p->tokens, "");
    sb_addf(out, "  counted by " SV_FMT, SV_ARG(p->counted_by));
    if (p->q->budget)
        sb_addf(out, ", budget %lld", (long long)p->q->budget);
    sb_addc(out, '\n');
    arena_free(&scratch);
}

/* ---- the token tree --------------------------------------------------------------------- */

struct heavy {
    struct sv name;     /* of the part, with a slash for a folder */
    size_t    from, to; /* range of the sorted resources below it */
    size_t    tokens;
    bool      is_dir;
};

struct weighed {
    const struct resource *r;
};

static int by_path(const void *left, const void *right)
{
    const struct weighed *a = left, *b = right;

    return sv_cmp(a->r->name, b->r->name);
}

static int by_weight(const void *left, const void *right)
{
    const struct heavy *a = left, *b = right;

    if (a->tokens != b->tokens)
        return a->tokens > b->tokens ? -1 : 1;
    return sv_cmp(a->name, b->name);
}

struct weigher {
    struct sb      *out;
    struct weighed *v;
    size_t          total;
    struct arena    scratch;
};

/* The part of a name behind `skip` bytes; a URL is one part. */
static struct sv part_of(const struct resource *r, size_t skip, bool *is_dir)
{
    struct sv     rest = sv_skip(r->name, skip);
    struct sv_cut c = sv_cut(rest, '/');

    *is_dir = c.found && r->kind == RESOURCE_FILE;
    return *is_dir ? sv_first(rest, c.head.n + 1) : rest;
}

static void weigh(struct weigher *w, size_t from, size_t to, size_t skip, size_t depth)
{
    VEC(struct heavy) parts = { 0 };

    for (size_t i = from; i < to; i++) {
        bool          is_dir;
        struct sv     name = part_of(w->v[i].r, skip, &is_dir);
        struct heavy *last = parts.n ? &parts.v[parts.n - 1] : NULL;
        if (!last || !is_dir || !sv_eq(last->name, name)) {
            last = vec_push(&parts, &w->scratch);
            *last = (struct heavy){ .name = name, .from = i, .is_dir = is_dir };
        }
        last->to = i + 1;
        last->tokens += w->v[i].r->cut ? 0 : w->v[i].r->tokens;
    }
    if (parts.n)
        qsort(parts.v, parts.n, sizeof parts.v[0], by_weight);
    for (size_t i = 0; i < parts.n; i++) {
        const struct heavy *part = &parts.v[i];
        add_right(w->out, (int64_t)part->tokens, 12, &w->scratch);
        sb_addf(w->out, " %5.1f%%  ",
                w->total ? 100.0 * (double)part->tokens / (double)w->total : 0.0);
        sb_pad(w->out, ' ', depth * 2);
        add_shown(w->out, part->name, &w->scratch);
        sb_addc(w->out, '\n');
        if (part->is_dir)
            weigh(w, part->from, part->to, skip + part->name.n, depth + 1);
    }
}

void report_token_tree(struct sb *out, const struct payload *p)
{
    struct weigher w = { .out = out };
    size_t         n = 0;

    w.v = ARENA_NEW(&w.scratch, struct weighed, p->lists.resources.n + 1);
    for (size_t i = 0; i < p->lists.resources.n; i++)
        if (p->lists.resources.v[i].scopes) {
            w.v[n++].r = &p->lists.resources.v[i];
            w.total += p->lists.resources.v[i].cut ? 0 : p->lists.resources.v[i].tokens;
        }
    qsort(w.v, n, sizeof w.v[0], by_path);
    weigh(&w, 0, n, 0, 0);
    add_right(out, (int64_t)w.total, 12, &w.scratch);
    sb_addf(out, " 100.0%%  content, counted by " SV_FMT "; ", SV_ARG(p->counted_by));
    sb_add_commas(out, (int64_t)p->tokens);
    sb_adds(out, " with headings and fences\n");
    arena_free(&w.scratch);
}

/* ---- reading back ------------------------------------------------------------------------ */

static void parsed_json(struct sb *out, const struct parsed *p, struct arena *a)
{
    struct jw w = jw_in(out, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "cwd", p->cwd);
    jw_kstr(&w, "os", p->os);
    jw_kstr(&w, "shell", p->shell);
    jw_kstr(&w, "tree", p->tree);
    jw_kstr(&w, "memos", p->memos);
    jw_key(&w, "resources");
    jw_open(&w, '[');
    for (size_t i = 0; i < p->resources.n; i++) {
        const struct parsed_resource *r = &p->resources.v[i];
        struct sb                     name = sb_in(a, 0);
        sb_add_path(&name, r->name);
        jw_open(&w, '{');
        jw_kstr(&w, "path", sb_sv(&name));
        jw_kint(&w, "size", (int64_t)r->body.n);
        if (!r->is_placeholder)
            jw_kstr(&w, "language", r->tag);
        jw_kstr(&w, r->is_placeholder ? "placeholder" : "content", r->body);
        jw_close(&w, '}');
    }
    jw_close(&w, ']');
    jw_close(&w, '}');
    sb_addc(out, '\n');
}

enum status report_parse(struct app *app, struct sv file, struct sv into, bool force, struct err *e)
{
    struct sv     text;
    struct parsed p;

    if (app_file(app, file, 0, &text, e))
        return err_code(e);
    if (payload_parse(text, app->a, &p, e))
        return err_in(e, SV_FMT, SV_ARG(file));
    if (into.n && payload_extract(app, &p, into, force, e))
        return err_code(e);
    if (app->json) {
        parsed_json(&app->out, &p, app->a);
        return ST_OK;
    }
    for (size_t i = 0; i < p.resources.n; i++) {
        add_right(&app->out, (int64_t)p.resources.v[i].body.n, 12, app->a);
        sb_adds(&app->out, p.resources.v[i].is_placeholder ? "  - " : "    ");
        add_shown(&app->out, p.resources.v[i].name, app->a);
        sb_addc(&app->out, '\n');
    }
    return ST_OK;
}

void report_differences(struct app *app, const manifest_differences *d)
{
    struct jw w = jw_in(&app->out, 0);

    if (app->json) {
        jw_open(&w, '{');
        jw_key(&w, "differences");
        jw_open(&w, '[');
    }
    for (size_t i = 0; i < d->n; i++) {
        struct sv path = d->v[i].path;
        struct sv word = sv_of(manifest_change_word(d->v[i].change));
        struct sb name = sb_in(app->a, 0);
        sb_add_path(&name, path);
        if (app->json) {
            jw_open(&w, '{');
            jw_kstr(&w, "change", word);
            jw_kstr(&w, "path", sb_sv(&name));
            jw_close(&w, '}');
        } else {
            sb_addf(&app->out, "%-8s ", word.s);
            sb_add_plain(&app->out, sb_sv(&name));
            sb_addc(&app->out, '\n');
        }
    }
    if (app->json) {
        jw_close(&w, ']');
        jw_close(&w, '}');
        sb_addc(&app->out, '\n');
    }
}

enum status report_check_manifest(struct app *app, struct sv file, struct sv manifest,
                                  bool numbered, struct err *e)
{
    struct sv     text, listed;
    manifest_rows held, promised;

    if (app_file(app, file, 0, &text, e) || app_file(app, manifest, 0, &listed, e))
        return err_code(e);
    if (manifest_read(text, numbered, app->a, &held, e))
        return err_in(e, SV_FMT, SV_ARG(file));
    if (manifest_read(listed, false, app->a, &promised, e))
        return err_in(e, SV_FMT, SV_ARG(manifest));
    manifest_differences d = manifest_compare(&promised, &held, app->a);
    struct hash          whole = hash_sha256(text);
    struct sv            want = manifest_payload_sha256(listed, app->a);
    if (d.n) {
        if (!app->json)
            report_differences(app, &d);
        return err_set(e, ST_CONFLICT, "it differs from the manifest in %zu places", d.n);
    }
    if (want.n && !sv_eq(want, hash_hex(&whole, app->a)))
        return err_set(e, ST_CONFLICT, "the resources are as the manifest says, the rest is not");
    sb_adds(&app->out, app->json ? "{\"differences\":[]}\n" : "as the manifest says\n");
    return ST_OK;
}

/* Writing the <thread_context> block. */
#include "share/block.h"

#include "base/path.h"
#include "base/utf8.h"
#include "share/operation_internal.h"
#include "share/share_internal.h"

static bool is_xml_char(int32_t c)
{
    return c == 0x9 || c == 0xa || c == 0xd || (c >= 0x20 && c <= 0xd7ff) ||
           (c >= 0xe000 && c <= 0xfffd) || (c >= 0x10000 && c <= 0x10ffff);
}

static const char *escape_of(int32_t c)
{
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&apos;";
    case '\n': return "&#10;";
    case '\t': return "&#9;";
    case '\r': return "&#13;";
    default: return NULL;
    }
}

enum status sb_add_xml(struct sb *b, struct sv v, struct err *e)
{
    while (v.n) {
        size_t  len;
        int32_t c = utf8_decode(v, &len);
        if (!is_xml_char(c)) {
            if (c < 0)
                return err_set(e, ST_INVALID_SYNTAX, "a name is not valid UTF-8");
            return err_set(e, ST_INVALID_SYNTAX, "U+%04X cannot stand in XML 1.0", (unsigned)c);
        }
        const char *escaped = escape_of(c);
        if (escaped)
            sb_adds(b, escaped);
        else
            sb_add(b, sv_first(v, len));
        v = sv_skip(v, len);
    }
    return ST_OK;
}

static enum status attribute(struct sb *b, const char *name, struct sv value, struct err *e)
{
    sb_addf(b, " %s=\"", name);
    if (sb_add_xml(b, value, e))
        return err_in(e, "%s of <thread_context>", name);
    sb_addc(b, '"');
    return ST_OK;
}

/* A path as the reader of the block finds it. */
static struct sv shown(const struct share *s, struct sv path)
{
    return s->base.n ? path_join(s->base, path, s->a) : path;
}

/* A path that XML cannot represent is left out with a warning; the block stays valid. */
static void put_asset(struct share *s, struct sb *b, const struct asset *x, const char *indent,
                      bool *any)
{
    struct sb  line = sb_in(s->a, 0);
    struct err why;

    sb_addf(&line, "%s<asset type=\"%s\"", indent, x->type);
    if (attribute(&line, "path", shown(s, x->path), &why)) {
        share_warn(s, "W203", (struct sv){ 0 }, "left out of the context: %s", why.text);
        return;
    }
    *any = true;
    sb_addf(b, SV_FMT " />\n", SV_ARG(sb_sv(&line)));
}

/* ---- notes ----------------------------------------------------------------------------------- */

enum { NOTE_TITLE = 120, NOTE_PATHS = 20 };

/* Text of others inside a comment: one line, escaped as in an attribute, and never "--". */
static void note_text(struct sb *b, struct sv v, struct arena *a)
{
    struct sb  clean = sb_in(a, 0), escaped = sb_in(a, 0);
    struct err ignored;

    sb_add_plain_line(&clean, v);
    if (sb_add_xml(&escaped, sb_sv(&clean), &ignored))
        escaped = sb_in(a, 0); /* cannot happen: plain text can always be escaped */
    struct sv text = sb_sv(&escaped);
    for (size_t i = 0; i < text.n; i++)
        if (text.s[i] == '-' && i && text.s[i - 1] == '-')
            sb_adds(b, "&#45;");
        else
            sb_addc(b, text.s[i]);
}

static void note_paths(struct share *s, struct sb *b, const struct asset_list *list)
{
    for (size_t i = 0; i < list->list.n && i < NOTE_PATHS; i++) {
        sb_adds(b, i ? ", " : " ");
        note_text(b, shown(s, list->list.v[i].path), s->a);
    }
    if (list->list.n > NOTE_PATHS)
        sb_addf(b, " and %zu more", list->list.n - NOTE_PATHS);
}

static enum status note_own(struct share *s, struct sb *b, struct sv thread, bool at_spawn,
                            struct err *e)
{
    struct asset_list others = { 0 };

    sb_adds(b,
            "  <!-- yours: write plan.md or plan/, progress.md, design.md or design/, learnings/ "
            "below ");
    note_text(b, shown(s, share_dir(thread, s->a)), s->a);
    sb_adds(b, "/ -->\n");
    if (at_spawn)
        return ST_OK;
    if (asset_others_own(s, thread, &others, e))
        return err_code(e);
    if (others.list.n) {
        sb_adds(b, "  <!-- yours, of no listed type:");
        note_paths(s, b, &others);
        sb_adds(b, " -->\n");
    }
    return ST_OK;
}

static void note_standing(struct share *s, struct sb *b, const struct share_ref *r,
                          const struct share_ref_standing *st)
{
    if (!st->has_thread) {
        sb_adds(b, "not found");
    } else {
        sb_adds(b, "&quot;");
        note_text(b, transcript_cut(sv_cut(st->title, '\n').head, NOTE_TITLE, s->a), s->a);
        sb_addf(b, "&quot;; %s", thread_status_name(st->status));
    }
    if (r->frozen) {
        sb_adds(b, r->inherit ? "; inherited copy of " : "; frozen copy of ");
        sb_add_minute(b, r->at);
    } else {
        sb_adds(b, "; live");
    }
    for (size_t i = 0; i < r->n_scope; i++) {
        sb_adds(b, i ? ", " : "; only ");
        note_text(b, r->scope[i], s->a);
    }
    if (st->state != REF_FRESH)
        sb_addf(b, "; %s", freshness_name(st->state));
    if (st->stale_since) {
        sb_adds(b, st->state == REF_STALE ? " since " : "; source changed ");
        sb_add_minute(b, st->stale_since);
    }
    sb_addf(b, "; %zu file%s, ", st->files, st->files == 1 ? "" : "s");
    sb_add_commas(b, st->bytes);
    sb_addf(b, " byte%s", st->bytes == 1 ? "" : "s");
}

/* One comment for each reference; without BLOCK_NOTES only when it names what is not shown. */
static enum status note_ref(struct share *s, struct sb *b, const struct share_ref *r, bool shown,
                            unsigned flags, struct err *e)
{
    struct asset_list         others = { 0 };
    struct share_ref_standing st = { 0 };

    if (!(flags & BLOCK_NOTES) && (shown || !(flags & BLOCK_OTHERS)))
        return ST_OK;
    if (asset_others_of_ref(s, r, &others, e) || share_ref_standing(s, r, &st, NULL, e))
        return err_code(e);
    if (!(flags & BLOCK_NOTES) && !others.list.n)
        return ST_OK;
    sb_adds(b, "  <!-- ");
    note_text(b, r->target, s->a);
    sb_adds(b, ": ");
    if (flags & BLOCK_NOTES)
        note_standing(s, b, r, &st);
    if (others.list.n) {
        sb_adds(b, flags & BLOCK_NOTES ? "; of no listed type:" : "work of no listed type:");
        note_paths(s, b, &others);
    }
    sb_adds(b, " -->\n");
    return ST_OK;
}

static enum status note_refs(struct share *s, struct sb *b, const struct share_ref *refs, size_t n,
                             struct sv target, bool shown, unsigned flags, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (sv_eq(refs[i].target, target) && note_ref(s, b, &refs[i], shown, flags, e))
            return err_code(e);
    return ST_OK;
}

/* ---- the block ------------------------------------------------------------------------------- */

static enum status warn_of_nothing(struct share *s, struct sv target, struct err *e)
{
    bool gone;

    if (share_source_is_gone(s, target, true, &gone, e))
        return err_code(e);
    share_warn(s, "W203", target, "Referenced Thread " SV_FMT " has no %s", SV_ARG(target),
               gone ? "folder here: nothing of it can be shown" : "assets to show yet");
    return ST_OK;
}

/* All references to one target are one <ref>. */
static enum status put_ref(struct share *s, struct sb *b, const struct share_ref *refs, size_t n,
                           struct sv target, unsigned flags, struct err *e)
{
    struct asset_list   assets = { 0 };
    struct share_thread t;
    bool                found, any = false;
    struct sb           inside = sb_in(s->a, 0);

    if (share_thread_find(s, target, &t, &found, e))
        return err_code(e);
    if (!found)
        share_warn(s, "W202", target, "Referenced Thread " SV_FMT " not found", SV_ARG(target));
    for (size_t i = 0; i < n && found; i++)
        if (sv_eq(refs[i].target, target) && assets_of_ref(s, &refs[i], &assets, e))
            return err_code(e);
    for (size_t i = 0; i < assets.list.n; i++)
        put_asset(s, &inside, &assets.list.v[i], "    ", &any);
    if (note_refs(s, b, refs, n, target, any, flags, e))
        return err_code(e);
    if (!any)
        return found ? warn_of_nothing(s, target, e) : ST_OK;
    sb_adds(b, "  <ref");
    if (attribute(b, "thread", target, e))
        return err_code(e);
    sb_addf(b, ">\n" SV_FMT "  </ref>\n", SV_ARG(sb_sv(&inside)));
    return ST_OK;
}

static enum status put_open(struct share *s, struct sb *b, struct sv thread, struct sv objective,
                            struct err *e)
{
    sb_adds(b, "<thread_context");
    if (attribute(b, "thread", thread, e) || attribute(b, "objective", objective, e) ||
        attribute(b, "relations_file", shown(s, SHARE_RELATIONS), e))
        return err_code(e);
    sb_adds(b, ">\n");
    return ST_OK;
}

enum status block_of_new(struct share *s, struct sv thread, struct sv objective, unsigned flags,
                         struct sv *out, struct err *e)
{
    struct sb b = sb_in(s->a, 0);

    if (put_open(s, &b, thread, objective, e) ||
        (flags & BLOCK_NOTES && note_own(s, &b, thread, true, e)))
        return err_code(e);
    sb_adds(&b, "</thread_context>");
    *out = sb_sv(&b);
    return ST_OK;
}

enum status block_write(struct share *s, struct sv thread, unsigned flags, struct sv *out,
                        struct err *e)
{
    struct share_thread t;
    struct asset_list   own = { 0 };
    struct share_ref   *refs;
    size_t              n;
    bool                any, at_spawn = flags & BLOCK_AT_SPAWN;
    struct sb           b = sb_in(s->a, 0);

    if (share_thread(s, thread, &t, e) || (!at_spawn && assets_own(s, thread, &own, e)) ||
        share_refs(s, thread, true, s->a, &refs, &n, e))
        return err_code(e);
    if (put_open(s, &b, t.id, t.objective, e))
        return err_code(e);
    if (flags & BLOCK_NOTES && note_own(s, &b, t.id, at_spawn, e))
        return err_code(e);
    for (size_t i = 0; i < own.list.n; i++)
        put_asset(s, &b, &own.list.v[i], "  ", &any);
    for (size_t i = 0; i < n; i++) {
        bool done = false;
        for (size_t k = 0; k < i; k++)
            done = done || sv_eq(refs[k].target, refs[i].target);
        if (!done && put_ref(s, &b, refs, n, refs[i].target, flags, e))
            return err_code(e);
    }
    sb_adds(&b, "</thread_context>");
    *out = sb_sv(&b);
    return ST_OK;
}

enum status block_injections(const struct injection *v, size_t n, struct arena *a, struct sv *out,
                             struct err *e)
{
    struct sb b = sb_in(a, 0);

    sb_adds(&b, "<thread_injections>\n");
    for (size_t i = 0; i < n; i++) {
        struct sb at = sb_in(a, 0);
        sb_add_iso_ms(&at, v[i].at);
        sb_adds(&b, "  <injection");
        if (attribute(&b, "type", v[i].type, e) || attribute(&b, "by", v[i].actor, e) ||
            attribute(&b, "at", sb_sv(&at), e))
            return err_code(e);
        sb_addc(&b, '>');
        struct err ignored;
        struct sb  body = sb_in(a, 0);
        if (sb_add_xml(&body, v[i].content, &ignored)) { /* a control character: say it in JSON */
            struct sb quoted = sb_in(a, 0);
            sb_add_json_string(&quoted, v[i].content);
            body = sb_in(a, 0);
            if (sb_add_xml(&body, sb_sv(&quoted), e))
                return err_code(e);
        }
        sb_addf(&b, SV_FMT "</injection>\n", SV_ARG(sb_sv(&body)));
    }
    sb_adds(&b, "</thread_injections>");
    *out = sb_sv(&b);
    return ST_OK;
}

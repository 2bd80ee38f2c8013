#include "share/block.h"

#include "base/utf8.h"
#include "share/operation.h"
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

/* A path that XML cannot carry is left out and named; the block stays whole. */
static void put_asset(struct share *s, struct sb *b, const struct asset *x, const char *indent,
                      bool *any)
{
    struct sb  line = sb_in(s->a, 0);
    struct err why;

    sb_addf(&line, "%s<asset type=\"%s\"", indent, x->type);
    if (attribute(&line, "path", x->path, &why)) {
        share_warn(s, "W203", (struct sv){ 0 }, "left out of the context: %s", why.text);
        return;
    }
    *any = true;
    sb_addf(b, SV_FMT " />\n", SV_ARG(sb_sv(&line)));
}

/* All references to one target are one <ref>. */
static enum status put_ref(struct share *s, struct sb *b, const struct share_ref *refs, size_t n,
                           struct sv target, struct err *e)
{
    struct asset_list   assets = { 0 };
    struct share_thread t;
    bool                found, any = false;
    struct sb           inside = sb_in(s->a, 0);

    if (share_thread_find(s, target, &t, &found, e))
        return err_code(e);
    if (!found) {
        share_warn(s, "W202", target, "Referenced Thread " SV_FMT " not found", SV_ARG(target));
        return ST_OK;
    }
    for (size_t i = 0; i < n; i++)
        if (sv_eq(refs[i].target, target) && assets_of_ref(s, &refs[i], &assets, e))
            return err_code(e);
    for (size_t i = 0; i < assets.list.n; i++)
        put_asset(s, &inside, &assets.list.v[i], "    ", &any);
    if (!any) {
        share_warn(s, "W203", target, "Referenced Thread " SV_FMT " has no assets to show yet",
                   SV_ARG(target));
        return ST_OK;
    }
    sb_adds(b, "  <ref");
    if (attribute(b, "thread", target, e))
        return err_code(e);
    sb_addf(b, ">\n" SV_FMT "  </ref>\n", SV_ARG(sb_sv(&inside)));
    return ST_OK;
}

enum status block_write(struct share *s, struct sv thread, bool at_spawn, struct sv *out,
                        struct err *e)
{
    struct share_thread t;
    struct asset_list   own = { 0 };
    struct share_ref   *refs;
    size_t              n;
    bool                any;
    struct sb           b = sb_in(s->a, 0);

    if (share_thread(s, thread, &t, e) || (!at_spawn && assets_own(s, thread, &own, e)) ||
        share_refs(s, thread, true, s->a, &refs, &n, e))
        return err_code(e);
    sb_adds(&b, "<thread_context");
    if (attribute(&b, "thread", t.id, e) || attribute(&b, "objective", t.objective, e) ||
        attribute(&b, "relations_file", SHARE_RELATIONS, e))
        return err_code(e);
    sb_adds(&b, ">\n");
    for (size_t i = 0; i < own.list.n; i++)
        put_asset(s, &b, &own.list.v[i], "  ", &any);
    for (size_t i = 0; i < n; i++) {
        bool done = false;
        for (size_t k = 0; k < i; k++)
            done = done || sv_eq(refs[k].target, refs[i].target);
        if (!done && put_ref(s, &b, refs, n, refs[i].target, e))
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

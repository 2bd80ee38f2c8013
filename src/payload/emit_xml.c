/* The payload as XML. Bytes that XML 1.0 cannot hold are written as <char code="27"/>,
 * and a carriage return as &#13;, so that content comes back as it was. */
#include "base/utf8.h"
#include "payload/emit.h"
#include "payload/show.h"
#include "payload/summary.h"

static const char *entity(unsigned char c)
{
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\r': return "&#13;";
    default: return NULL;
    }
}

static bool is_forbidden(struct sv v, size_t i)
{
    unsigned char c = (unsigned char)v.s[i];

    if (c < 0x20)
        return c != '\t' && c != '\n' && c != '\r';
    return c == 0xef && i + 2 < v.n && (unsigned char)v.s[i + 1] == 0xbf &&
           (unsigned char)v.s[i + 2] >= 0xbe; /* U+FFFE, U+FFFF */
}

static void add_text(struct sb *b, struct sv v)
{
    size_t from = 0;

    for (size_t i = 0; i < v.n; i++) {
        unsigned char c = (unsigned char)v.s[i];
        const char   *special = entity(c);
        bool          forbidden = is_forbidden(v, i);
        if (!special && !forbidden)
            continue;
        sb_add(b, (struct sv){ v.s + from, i - from });
        if (special) {
            sb_adds(b, special);
        } else if (c < 0x20) {
            sb_addf(b, "<char code=\"%d\"/>", c);
        } else {
            sb_addf(b, "<char code=\"%d\"/>", 0xff00 + (unsigned char)v.s[i + 2] + 0x40);
            i += 2;
        }
        from = i + 1;
    }
    sb_add(b, sv_skip(v, from));
}

/* A path, which has no control characters in the form in which it is shown. */
static void add_name(struct emit *e, struct sv name)
{
    struct sb shown = sb_in(&e->scratch, 0);

    sb_add_path(&shown, name);
    add_text(&e->b, sb_sv(&shown));
}

static void add_cut(struct sb *b, size_t files, uint64_t bytes, size_t tokens)
{
    sb_adds(b, " cut=\"true\"");
    if (files)
        sb_addf(b, " files=\"%zu\"", files);
    sb_addf(b, " bytes=\"%llu\" tokens=\"%zu\"", (unsigned long long)bytes, tokens);
}

static void add_entry(struct emit *e, enum resource_scope s, const struct summary_line *line)
{
    sb_addf(&e->b, "<entry scope=\"%s\" name=\"", resource_scope_name(s));
    add_name(e, line->name);
    sb_addc(&e->b, '"');
    if (!line->r || line->r->cut)
        add_cut(&e->b, line->files, line->bytes, line->tokens);
    sb_adds(&e->b, "/>\n");
}

static void add_summary(struct emit *e)
{
    sb_adds(&e->b, "<summary>\n");
    for (int s = 0; s < SCOPE_COUNT; s++) {
        summary_lines lines = summary_of_scope(e->p, (enum resource_scope)s, &e->scratch);
        for (size_t i = 0; i < lines.n; i++)
            add_entry(e, (enum resource_scope)s, &lines.v[i]);
    }
    sb_adds(&e->b, "</summary>\n");
}

static void begin(struct emit *e)
{
    const struct payload *p = e->p;
    struct sb            *b = &e->b;

    sb_adds(b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<payload format=\"heddle-payload-1\">\n"
               "<system>\n<cwd>");
    add_name(e, p->q->root);
    sb_adds(b, "</cwd>\n<os>");
    add_text(b, p->os);
    sb_adds(b, "</os>\n<shell>");
    add_name(e, p->shell);
    sb_adds(b, "</shell>\n</system>\n");
    if (p->tree.s) {
        sb_adds(b, "<tree>");
        add_text(b, p->tree);
        sb_adds(b, "</tree>\n");
    }
    if (p->has_memos) {
        struct sb text = sb_in(&e->scratch, 0);
        sb_add_lossy(&text, p->memos);
        sb_adds(b, "<memos>");
        add_text(b, sb_sv(&text));
        sb_adds(b, "</memos>\n");
    }
    add_summary(e);
    sb_adds(b, "<resources>\n");
}

static void open(struct emit *e, const struct resource *r)
{
    struct sb *b = &e->b;

    sb_adds(b, "<resource name=\"");
    add_name(e, r->name);
    sb_addf(b, "\" scope=\"%s\" state=\"%s\"", resource_scope_name(r->scope),
            resource_state_word(r->state));
    if (r->state == RES_OK) {
        struct sv form = emit_form(e, r);
        if (form.n)
            sb_addf(b, " form=\"" SV_FMT "\"", SV_ARG(form));
        sb_adds(b, " language=\"");
        add_text(b, resource_tag(r, &e->scratch));
        sb_adds(b, "\">");
        return;
    }
    struct sb text = sb_in(&e->scratch, 0);
    resource_add_placeholder(&text, r);
    sb_addc(b, '>');
    add_text(b, sb_sv(&text));
}

static void content(struct emit *e, struct sv part)
{
    struct arena_mark mark = arena_mark(&e->scratch);

    add_text(&e->b, emit_numbered(e, part));
    arena_reset(&e->scratch, mark);
}

static void close(struct emit *e, const struct resource *r)
{
    (void)r;
    sb_adds(&e->b, "</resource>\n");
}

static void end(struct emit *e)
{
    sb_adds(&e->b, "</resources>\n</payload>\n");
}

static void entry(struct emit *e, const struct resource *r)
{
    struct summary_line line = { .r = r, .name = r->name };

    for (int s = 0; s < SCOPE_COUNT; s++)
        if (r->scopes >> s & 1)
            add_entry(e, (enum resource_scope)s, &line);
}

static void note(struct emit *e, const struct resource *r)
{
    for (int s = 0; s < SCOPE_COUNT; s++)
        if (r->scopes >> s & 1)
            add_cut(&e->b, 0, r->size, r->block_tokens);
}

const struct emit_format emit_xml = {
    .name = "xml",
    .first = "",
    .next = "",
    .begin = begin,
    .open = open,
    .content = content,
    .close = close,
    .end = end,
    .entry = entry,
    .note = note,
};

/* The payload as one JSON document; docs/FORMATS.md has its members. */
#include "base/json.h"
#include "base/utf8.h"
#include "payload/emit.h"
#include "payload/show.h"
#include "payload/summary.h"

/* Valid UTF-8 as the inside of a JSON string. */
static void add_escaped(struct sb *b, struct sv v)
{
    size_t from = 0;

    for (size_t i = 0; i < v.n; i++) {
        unsigned char c = (unsigned char)v.s[i];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        sb_add(b, (struct sv){ v.s + from, i - from });
        from = i + 1;
        if (c == '\n')
            sb_adds(b, "\\n");
        else if (c == '\t')
            sb_adds(b, "\\t");
        else if (c == '\r')
            sb_adds(b, "\\r");
        else if (c < 0x20)
            sb_addf(b, "\\u%04x", c);
        else
            sb_addf(b, "\\%c", c);
    }
    sb_add(b, sv_skip(v, from));
}

static void add_string(struct sb *b, const char *key, struct sv v)
{
    sb_addf(b, "\"%s\":", key);
    sb_add_json_string(b, v);
}

/* A path is written as in the other formats, so that it is always text. */
static void add_name(struct emit *e, struct sv name)
{
    struct sb shown = sb_in(&e->scratch, 0);

    sb_add_path(&shown, name);
    sb_add_json_string(&e->b, sb_sv(&shown));
}

static void add_cut(struct emit *e, const struct summary_line *line)
{
    sb_adds(&e->b, "{\"name\":");
    add_name(e, line->name);
    if (line->files)
        sb_addf(&e->b, ",\"files\":%zu", line->files);
    sb_addf(&e->b, ",\"bytes\":%llu,\"tokens\":%zu}", (unsigned long long)line->bytes,
            line->tokens);
}

/* What the budget left out; no member when it left out nothing. */
static void add_cuts(struct emit *e)
{
    summary_lines lines = summary_of_cuts(e->p, &e->scratch);

    for (size_t i = 0; i < lines.n; i++) {
        sb_adds(&e->b, i ? "," : ",\"cut\":[");
        add_cut(e, &lines.v[i]);
    }
    sb_adds(&e->b, lines.n ? "]" : "");
}

static void add_summary(struct emit *e)
{
    sb_adds(&e->b, "\"summary\":{");
    for (int s = 0; s < SCOPE_COUNT; s++) {
        summary_lines lines = summary_of_scope(e->p, (enum resource_scope)s, &e->scratch);
        sb_addf(&e->b, "%s\"%s\":[", s ? "," : "", resource_scope_name((enum resource_scope)s));
        for (size_t i = 0; i < lines.n; i++) {
            sb_adds(&e->b, i ? "," : "");
            add_name(e, lines.v[i].name);
        }
        sb_addc(&e->b, ']');
    }
    add_cuts(e);
    sb_adds(&e->b, "},");
}

static void begin(struct emit *e)
{
    const struct payload *p = e->p;
    struct sb            *b = &e->b;

    sb_adds(b, "{\"format\":\"heddle-payload-1\",\"system\":{\"cwd\":");
    add_name(e, p->q->root);
    sb_addc(b, ',');
    add_string(b, "os", p->os);
    sb_adds(b, ",\"shell\":");
    add_name(e, p->shell);
    sb_adds(b, "},");
    if (p->tree.s) {
        add_string(b, "tree", p->tree);
        sb_addc(b, ',');
    }
    if (p->has_memos) {
        struct sb text = sb_in(&e->scratch, 0);
        sb_add_lossy(&text, p->memos);
        add_string(b, "memos", sb_sv(&text));
        sb_addc(b, ',');
    }
    add_summary(e);
    sb_adds(b, "\"resources\":[\n");
}

static void open(struct emit *e, const struct resource *r)
{
    static const char *const kinds[] = { "file", "url", "diff", "file", "file" };
    struct sb               *b = &e->b;

    sb_adds(b, "{\"name\":");
    add_name(e, r->name);
    sb_addf(b, ",\"kind\":\"%s\",\"scope\":\"%s\",\"state\":\"%s\",", kinds[r->kind],
            resource_scope_name(r->scope), resource_state_word(r->state));
    if (r->state == RES_OK) {
        struct sv form = emit_form(e, r);
        if (form.n) {
            add_string(b, "form", form);
            sb_addc(b, ',');
        }
        add_string(b, "language", resource_tag(r, &e->scratch));
        sb_adds(b, ",\"content\":\"");
        return;
    }
    struct sb text = sb_in(&e->scratch, 0);
    resource_add_placeholder(&text, r);
    sb_adds(b, "\"placeholder\":\"");
    add_escaped(b, sb_sv(&text));
}

static void content(struct emit *e, struct sv part)
{
    struct arena_mark mark = arena_mark(&e->scratch);

    add_escaped(&e->b, emit_numbered(e, part));
    arena_reset(&e->scratch, mark);
}

static void close(struct emit *e, const struct resource *r)
{
    (void)r;
    sb_adds(&e->b, "\"}\n");
}

static void end(struct emit *e)
{
    sb_adds(&e->b, "]}\n");
}

static void entry(struct emit *e, const struct resource *r)
{
    for (int s = 0; s < SCOPE_COUNT; s++)
        if (r->scopes >> s & 1) {
            sb_addc(&e->b, ',');
            add_name(e, r->name);
        }
}

static void note(struct emit *e, const struct resource *r)
{
    struct summary_line line = { r, r->name, 0, r->size, r->block_tokens };

    sb_addc(&e->b, ',');
    add_cut(e, &line);
}

const struct emit_format emit_json = {
    .name = "json",
    .first = "",
    .next = ",",
    .begin = begin,
    .open = open,
    .content = content,
    .close = close,
    .end = end,
    .entry = entry,
    .note = note,
};

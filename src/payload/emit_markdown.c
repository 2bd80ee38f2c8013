/* input.md. Headings, their numbers and the blank lines between are a contract. */
#include "payload/emit.h"
#include "payload/show.h"
#include "payload/summary.h"

/* Text in a fence longer than any run in it, closed on a line of its own. */
static void add_fenced(struct sb *b, struct sv text)
{
    size_t fence = show_fence_around(show_backtick_run(text));

    sb_add_fence(b, fence);
    sb_addc(b, '\n');
    sb_add(b, text);
    if (text.n && text.s[text.n - 1] != '\n')
        sb_addc(b, '\n');
    sb_add_fence(b, fence);
    sb_addc(b, '\n');
}

static void add_system(struct sb *b, const struct payload *p)
{
    sb_adds(b, "## 1. System Information\n- **CWD:** ");
    sb_add_path(b, p->q->root);
    sb_adds(b, "\n- **OS:** ");
    sb_add_plain(b, p->os);
    sb_adds(b, "\n- **Shell:** ");
    sb_add_path(b, p->shell);
    sb_adds(b, "\n\n");
}

static void add_cut(struct sb *b, size_t files, uint64_t bytes, size_t tokens)
{
    sb_adds(b, " (" PAYLOAD_CUT_NOTE);
    if (files)
        sb_addf(b, "%zu %s, ", files, files == 1 ? "file" : "files");
    sb_addf(b, "%llu bytes, %zu tokens)", (unsigned long long)bytes, tokens);
}

static void add_summary_line(struct sb *b, const struct summary_line *line)
{
    sb_adds(b, "- ");
    sb_add_link(b, line->name);
    if (!line->r || line->r->cut)
        add_cut(b, line->files, line->bytes, line->tokens);
    sb_addc(b, '\n');
}

static void add_summary(struct emit *e)
{
    struct sb               *b = &e->b;
    const struct payload    *p = e->p;
    static const char *const headings[SCOPE_COUNT] = { "### Turn\n", "### Session\n",
                                                       "### Global\n" };

    sb_adds(b, "## 4. Context Summary\n\n");
    for (int s = 0; s < SCOPE_COUNT; s++) {
        if (!p->lists.shown[s].n)
            continue;
        summary_lines lines = summary_of_scope(p, (enum resource_scope)s, &e->scratch);
        sb_adds(b, headings[s]);
        for (size_t i = 0; i < lines.n; i++)
            add_summary_line(b, &lines.v[i]);
        sb_addc(b, '\n');
    }
}

static void begin(struct emit *e)
{
    struct sb *b = &e->b;

    sb_adds(b, "# Agent Invocation Payload\n\n");
    add_system(b, e->p);
    if (e->p->tree.s) {
        sb_adds(b, "## 2. Project Structure\n");
        add_fenced(b, e->p->tree);
        sb_addc(b, '\n');
    }
    if (e->p->has_memos) {
        sb_adds(b, "## 3. Memos\n");
        add_fenced(b, e->p->memos);
        sb_addc(b, '\n');
    }
    add_summary(e);
    sb_adds(b, "## 5. Resource Contents\n");
}

static void open(struct emit *e, const struct resource *r)
{
    resource_add_head(&e->b, r, e->p->q->line_numbers, &e->scratch);
    if (r->state != RES_OK)
        resource_add_placeholder(&e->b, r);
}

static void content(struct emit *e, struct sv part)
{
    if (e->p->q->line_numbers)
        number_add(&e->number, &e->b, part);
    else
        emit_direct(e, part);
}

static void close(struct emit *e, const struct resource *r)
{
    resource_add_tail(&e->b, r);
}

static void end(struct emit *e)
{
    if (e->done)
        sb_adds(&e->b, "---\n");
}

static void entry(struct emit *e, const struct resource *r)
{
    struct summary_line line = { .r = r, .name = r->name };

    for (int s = 0; s < SCOPE_COUNT; s++)
        if (r->scopes >> s & 1)
            add_summary_line(&e->b, &line);
}

static void note(struct emit *e, const struct resource *r)
{
    for (int s = 0; s < SCOPE_COUNT; s++)
        if (r->scopes >> s & 1)
            add_cut(&e->b, 0, r->size, r->block_tokens);
}

const struct emit_format emit_markdown = {
    .name = "markdown",
    .first = "\n",
    .next = "",
    .verbatim = true,
    .begin = begin,
    .open = open,
    .content = content,
    .close = close,
    .end = end,
    .entry = entry,
    .note = note,
};

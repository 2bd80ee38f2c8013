/* A context for a person to read. Headings start at the left edge and messages are indented by two
 * spaces, so that no text of a message can look like a heading. */
#include "assemble/render_internal.h"

struct page {
    struct sb *out;
    bool       begun;
};

/* Indented by two spaces; control characters are escaped. */
static void add_indented(struct page *p, struct sv text)
{
    struct sv_cut line = { .tail = text, .found = true };

    while (line.found) {
        line = sv_cut(line.tail, '\n');
        if (sv_ends(line.head, SV("\r")))
            line.head.n--;
        if (!line.found && !line.head.n)
            break;
        if (line.head.n)
            sb_adds(p->out, "  ");
        sb_add_plain(p->out, line.head);
        sb_addc(p->out, '\n');
    }
}

static void add_heading(struct page *p, struct sv role, int64_t seq)
{
    sb_adds(p->out, p->begun ? "\n" : "");
    p->begun = true;
    sb_add_plain_line(p->out, role);
    if (seq >= 0)
        sb_addf(p->out, " #%lld", (long long)seq);
}

static void add_media(struct page *p, const struct part *part, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_addf(&b, "[%s", part_word(part));
    if (part->filename.n)
        sb_addf(&b, " " SV_FMT, SV_ARG(part->filename));
    if (part->media_type.n)
        sb_addf(&b, " " SV_FMT, SV_ARG(part->media_type));
    if (part->url.n)
        sb_addf(&b, " " SV_FMT, SV_ARG(part->url));
    if (part->file_id.n)
        sb_addf(&b, " " SV_FMT, SV_ARG(part->file_id));
    if (part->data.s) {
        sb_adds(&b, ", ");
        sb_add_commas(&b, (int64_t)(part->data.n / 4 * 3));
        sb_adds(&b, " bytes");
    }
    sb_addc(&b, ']');
    add_indented(p, sb_sv(&b));
}

static void add_thinking(struct page *p, struct sv text)
{
    sb_adds(p->out, "  (thinking)\n");
    add_indented(p, text);
    sb_adds(p->out, "  (end of thinking)\n");
}

static void add_part(struct page *p, const struct part *part, struct arena *a)
{
    switch (part->kind) {
    case PART_TEXT: add_indented(p, part->text); break;
    case PART_THINKING: add_thinking(p, part->text); break;
    case PART_OTHER: add_indented(p, json_canonical(&part->raw, a)); break;
    default: add_media(p, part, a);
    }
}

static void add_call(struct page *p, const struct tool_call *c, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct sv text = json_sv(&c->arguments);

    sb_adds(&b, "calls ");
    sb_add(&b, c->name);
    sb_adds(&b, " [");
    sb_add(&b, c->id);
    sb_adds(&b, "] ");
    sb_add(&b, text.s ? text : json_canonical(&c->arguments, a));
    add_indented(p, sb_sv(&b));
}

static void add_turn(struct page *p, const struct parsed_message *t, struct arena *a)
{
    add_heading(p, t->role, t->seq);
    if (t->name.n) {
        sb_addc(p->out, ' ');
        sb_add_plain_line(p->out, t->name);
    }
    if (parsed_is(t, "tool")) {
        sb_adds(p->out, " [");
        sb_add_plain_line(p->out, t->tool_call_id);
        sb_addc(p->out, ']');
    }
    sb_addc(p->out, '\n');
    if (t->thinking.n)
        add_thinking(p, t->thinking);
    if (t->details.type != JSON_NULL)
        sb_addf(p->out, "  [reasoning details, %zu bytes]\n", json_canonical(&t->details, a).n);
    for (size_t i = 0; i < t->n_parts; i++)
        if (t->parts[i].kind != PART_CALL) /* calls stand behind the rest here */
            add_part(p, &t->parts[i], a);
    for (size_t i = 0; i < t->n_calls; i++)
        add_call(p, &t->calls[i], a);
}

void render_text(const struct rendering *x)
{
    struct page p = { .out = x->out };

    if (x->system_prompt.n) {
        add_heading(&p, SV("system"), -1);
        sb_addc(x->out, '\n');
        add_indented(&p, x->system_prompt);
    }
    for (size_t i = 0; i < x->n; i++)
        add_turn(&p, &x->turns[i], x->a);
}

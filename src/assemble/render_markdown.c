/* A context as a Markdown document, to be pasted where there is no API: a heading for the prompt
 * and for each message, and its text verbatim. Arguments and results of calls stand in fences that
 * are longer than any they hold. */
#include "assemble/render_internal.h"

/* "## user", "## result c1". */
static void add_heading(const struct rendering *x, struct sv what, struct sv id)
{
    sb_adds(x->out, "## ");
    sb_add_plain_line(x->out, what);
    sb_adds(x->out, id.n ? " " : "");
    sb_add_plain_line(x->out, id);
    sb_adds(x->out, "\n\n");
}

static void add_text(const struct rendering *x, struct sv text)
{
    sb_add(x->out, text);
    sb_adds(x->out, text.n && !sv_ends(text, SV("\n")) ? "\n" : "");
}

/* At least three, and one more than the longest row of backticks. */
static size_t fence_of(struct sv text)
{
    size_t longest = 2, n = 0;

    for (size_t i = 0; i < text.n; i++) {
        n = text.s[i] == '`' ? n + 1 : 0;
        longest = n > longest ? n : longest;
    }
    return longest + 1;
}

static void add_fenced(const struct rendering *x, struct sv text)
{
    size_t n = fence_of(text);

    sb_pad(x->out, '`', n);
    sb_addc(x->out, '\n');
    add_text(x, text);
    sb_pad(x->out, '`', n);
    sb_addc(x->out, '\n');
}

static void add_part(const struct rendering *x, const struct part *p)
{
    switch (p->kind) {
    case PART_TEXT: add_text(x, p->text); break;
    case PART_CALL:
    case PART_THINKING:
    case PART_REDACTED: break; /* not part of a conversation */
    case PART_IMAGE_URL:
    case PART_FILE_URL: sb_addf(x->out, "[%s](" SV_FMT ")\n", part_word(p), SV_ARG(p->url)); break;
    default: sb_addf(x->out, "[%s]\n", part_word(p));
    }
}

static void add_turn(const struct rendering *x, const struct parsed_message *t)
{
    bool result = parsed_is(t, "tool");

    add_heading(x, result ? SV("result") : t->role, result ? t->tool_call_id : SV(""));
    for (size_t i = 0; i < t->n_parts; i++)
        if (result && t->parts[i].kind == PART_TEXT)
            add_fenced(x, t->parts[i].text);
        else
            add_part(x, &t->parts[i]);
    for (size_t i = 0; i < t->n_calls; i++) {
        struct sv text = json_sv(&t->calls[i].arguments);
        sb_addf(x->out, "\nCall " SV_FMT " (" SV_FMT "):\n", SV_ARG(t->calls[i].name),
                SV_ARG(t->calls[i].id));
        add_fenced(x, text.s ? text : json_canonical(&t->calls[i].arguments, x->a));
    }
}

void render_markdown(const struct rendering *x)
{
    bool begun = x->system_prompt.n > 0;

    if (begun) {
        add_heading(x, SV("system"), SV(""));
        add_text(x, x->system_prompt);
    }
    for (size_t i = 0; i < x->n; i++) {
        sb_adds(x->out, begun ? "\n" : "");
        add_turn(x, &x->turns[i]);
        begun = true;
    }
}

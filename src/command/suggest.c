/* Asking the classifier what a line may have meant. */
#include "command/suggest.h"

#include "base/utf8.h"
#include "command/ask.h"
#include "command/company.h"
#include "command/lexer.h"
#include "loom/shown.h"

#include <string.h>

enum {
    SUGGEST_TOKENS = 100,
    SUGGEST_LINE = 500, /* bytes of the line that are asked about */
    SUGGEST_SHOWN = 400 /* bytes of a suggestion; a longer one is not shown */
};

static struct sv instructions(const struct session *s)
{
    struct sb b = sb_in(s->a, 0);

    sb_adds(&b, "You turn a line of plain words into one command of a small language. Answer with "
                "the one command that the line means, on one line, and nothing else. If it is not "
                "clear which one is meant, or if none fits, answer NONE. Add nothing that the line "
                "does not say.\n\nThe forms of the commands (ID is a node such as a7x2, or here, "
                "parent, root):\n");
    for (const struct tool *t = tool_table; t->name; t++) {
        if ((s->agent.permissions & t->needs) != t->needs || strcmp(t->name, "think") == 0)
            continue;
        for (size_t i = 0; t->syntax[i]; i++)
            sb_addf(&b, "→ %s\n", t->syntax[i]);
    }
    return sb_sv(&b);
}

/* The command in an answer, without arrow and backticks. Of several lines none is it. */
static struct sv command_of(struct sv answer)
{
    struct sv line = sv_trim(answer);

    while (sv_starts(line, SV("`")) && sv_ends(line, SV("`")) && line.n > 1)
        line = sv_trim((struct sv){ line.s + 1, line.n - 2 });
    return sv_starts(line, SV("→")) ? sv_trim(sv_skip(line, sizeof "→" - 1)) : line;
}

/* In its canonical form; empty: not a command, or not one of this agent. */
static struct sv canonical(struct session *s, struct sv command)
{
    struct sb   b = sb_in(s->a, 0);
    struct call c;
    struct err  ignored;

    if (sv_is(command, "NONE") || sv_has(command, '\n') ||
        call_parse(command, s->a, &c, &ignored) ||
        permission_check(s->agent.permissions, c.tool->needs, &ignored))
        return SV("");
    call_print(&b, &c);
    return b.n <= SUGGEST_SHOWN ? sb_sv(&b) : SV("");
}

void suggest_command(struct session *s, struct sv line, struct err *e)
{
    struct model_response answer;
    struct sb             asked = sb_in(s->a, 0);
    struct err            why;

    if (!s->env.classifier.n || !s->env.ask || e->code != ST_INVALID_SYNTAX ||
        strcmp(e->reason, LEX_QUOTES) == 0 || /* what follows may be part of a text */
        strcmp(e->reason, CALL_DOUBT) == 0)   /* it is understood, and the hint has the line */
        return;
    sb_adds(&asked, "→ ");
    sb_add_oneline(&asked, utf8_first(line, SUGGEST_LINE));
    company_tell(s, s->agent.model, s->env.classifier, "for lines that are not understood");
    if (ask_text(s, s->env.classifier, instructions(s), sb_sv(&asked), SUGGEST_TOKENS, &answer,
                 &why)) {
        struct sv had = sv_dup(sv_of(e->hint), s->a);
        err_hint(e, SV_FMT "%s(no suggestion: %.200s)", SV_ARG(had), had.n ? " " : "", why.text);
        return;
    }
    struct sv meant = canonical(s, command_of(answer.text));
    if (meant.n && !answer.interruption.n)
        err_hint(e, "did you mean → " SV_FMT " ? It was not run; give it as it stands if so",
                 SV_ARG(meant));
}

/* Help: what is printed for people from the table of commands. */
#include "front/cli/help.h"

#include "api/start/goal.h"
#include "base/utf8.h"
#include "front/cli/pager.h"

#include <string.h>

struct sv help_first_word(const struct command *c)
{
    return sv_cut(sv_of(c->name), ' ').head;
}

struct sv help_word(size_t i)
{
    for (size_t k = 0; commands[k]; k++) {
        bool seen = commands[k]->hidden;
        for (size_t j = 0; j < k && !seen; j++)
            seen = !commands[j]->hidden &&
                   sv_eq(help_first_word(commands[j]), help_first_word(commands[k]));
        if (!seen && i-- == 0)
            return help_first_word(commands[k]);
    }
    return (struct sv){ 0 };
}

/* ---- lines of a terminal ---------------------------------------------------------- */

enum { HELP_COLUMNS = 80 };

/* A word, in a line that is broken before it gets too long; `at` is the column so far. */
static size_t put_word(struct sb *out, struct sv word, size_t at, size_t indent)
{
    size_t wide = utf8_count(word);

    if (at > indent && at + 1 + wide > HELP_COLUMNS) {
        sb_addc(out, '\n');
        sb_pad(out, ' ', indent);
        at = indent;
    } else if (at > indent) {
        sb_addc(out, ' ');
        at++;
    }
    sb_add(out, word);
    return at + wide;
}

/* Print the words of a text, wrapped. The first line starts at column `at`, the others at column
 * `indent`. */
static size_t put_wrapped(struct sb *out, struct sv text, size_t at, size_t indent)
{
    while (text.n) {
        struct sv_cut c = sv_cut(text, ' ');
        if (c.head.n)
            at = put_word(out, c.head, at, indent);
        text = c.tail;
    }
    return at;
}

/* Take the next part of a synopsis that must not be broken across lines: what is in brackets, an
 * option with its value, or a word. */
static struct sv synopsis_piece(struct sv *rest)
{
    bool   option = sv_starts(*rest, SV("--"));
    int    open = 0;
    size_t n = 0;

    for (; n < rest->n; n++) {
        open += (rest->s[n] == '[') - (rest->s[n] == ']');
        if (rest->s[n] != ' ' || open > 0)
            continue;
        if (!option)
            break;
        option = false; /* the next word is its value */
    }
    struct sv piece = sv_first(*rest, n);
    *rest = sv_skip(*rest, n < rest->n ? n + 1 : n);
    return piece;
}

struct sv help_argument(const struct command *c, size_t i)
{
    struct sv rest = sv_of(c->synopsis);

    while (rest.n) {
        struct sv piece = synopsis_piece(&rest);
        if (piece.n && piece.s[0] != '-' && piece.s[0] != '[' && i-- == 0)
            return piece;
    }
    return (struct sv){ 0 };
}

static void put_usage(struct sb *out, const char *lead, const struct command *c)
{
    struct sv rest = sv_of(c->synopsis);
    size_t    indent = strlen(lead) + strlen("heddle ") + strlen(c->name);

    sb_addf(out, "%sheddle %s", lead, c->name);
    for (size_t at = indent; rest.n;) {
        struct sv piece = synopsis_piece(&rest);
        if (at == indent) {
            sb_addc(out, ' ');
            at++;
            sb_add(out, piece);
            at += utf8_count(piece);
        } else {
            at = put_word(out, piece, at, indent + 1);
        }
    }
    sb_addc(out, '\n');
}

/* Paragraphs are filled; lines that start with two spaces stay as they are. */
static void put_details(struct sb *out, struct sv text)
{
    size_t at = 0;

    while (text.n) {
        struct sv_cut line = sv_cut(text, '\n');
        bool          shown = sv_starts(line.head, SV("  "));
        text = line.tail;
        if (at && (shown || !line.head.n)) {
            sb_addc(out, '\n');
            at = 0;
        }
        if (shown || !line.head.n)
            sb_addf(out, SV_FMT "\n", SV_ARG(line.head));
        else
            at = put_wrapped(out, line.head, at, 0);
    }
    if (at)
        sb_addc(out, '\n');
}

/* ---- what is printed ------------------------------------------------------------------ */

static const char title[] =
    "heddle " HEDDLE_VERSION ": keeps what agents said and did, and weaves what they see next\n\n";

void help_goals(struct sb *out)
{
    sb_adds(out, title);
    for (const struct goal *g = goal_table; g->name; g++)
        sb_addf(out, "  %-26s heddle init --for %-7s %s\n", g->what, g->name, g->words);
    sb_addf(out, "  %-26s %-25s %s\n", "look at it", "heddle demo", "stats, verify, doctor");
    sb_adds(out, "\n`heddle init --for GOAL` begins here and names the next three commands.\n"
                 "`heddle help` lists all commands, `heddle help COMMAND` explains one.\n");
}

static void help_overview(struct sb *out)
{
    enum { TEXT_AT = 21 };

    sb_adds(out, title);
    sb_adds(out, "usage: heddle COMMAND [ARGUMENTS] [--json] [--root DIR] [--as WHO]\n");
    for (size_t g = 0; g < GROUP_COUNT; g++) {
        bool any = false;
        for (size_t i = 0; commands[i]; i++) {
            if (command_group(commands[i]) != g || commands[i]->hidden)
                continue;
            if (!any)
                sb_addf(out, "\n%s\n", op_group_title((enum op_group)g));
            any = true;
            sb_addf(out, "  %-18s ", commands[i]->name);
            put_wrapped(out, sv_of(command_summary(commands[i])), TEXT_AT, TEXT_AT);
            sb_addc(out, '\n');
        }
    }
    sb_adds(out, "\n`heddle help COMMAND` tells more; `heddle demo` shows it at work.\n"
                 "There, T is the name of a thread, L of a lane, A of an agent; SEQ is the number\n"
                 "of an entry.\n");
}

static void opt_lines(struct sb *out, const struct opt *o)
{
    enum { TEXT_AT = 27 };

    for (; o && o->type; o++) {
        struct arena scratch = { 0 };
        struct sb    left = sb_in(&scratch, 0);
        sb_adds(&left, "  ");
        if (o->letter)
            sb_addf(&left, "-%c, ", o->letter);
        sb_addf(&left, "--%s%s%s", o->name, o->value ? " " : "", o->value ? o->value : "");
        size_t wide = utf8_count(sb_sv(&left));
        sb_add(out, sb_sv(&left));
        if (wide >= TEXT_AT) {
            sb_addc(out, '\n');
            wide = 0;
        }
        sb_pad(out, ' ', TEXT_AT - wide);
        put_wrapped(out, sv_of(o->help), TEXT_AT, TEXT_AT);
        sb_addc(out, '\n');
        arena_free(&scratch);
    }
}

/* `tree` is a command and also the first word of others. No form is broken across lines. */
static void name_forms(struct sb *out, const struct command *c)
{
    size_t start = out->n;

    for (size_t i = 0, wide = 0; commands[i]; i++) {
        size_t more = strlen(commands[i]->name) + sizeof ", `heddle help `" - 1;
        if (commands[i]->hidden || strcmp(commands[i]->name, c->name) == 0 ||
            !sv_is(help_first_word(commands[i]), c->name))
            continue;
        bool breaks = wide && wide + more >= HELP_COLUMNS;
        sb_addf(out, "%s%s`heddle help %s`", out->n == start ? "\nsee also" : ",",
                breaks ? "\n" : " ", commands[i]->name);
        wide = breaks ? more : (wide ? wide : sizeof "see also" - 1) + more;
    }
    if (out->n > start)
        sb_addc(out, '\n');
}

static void help_command(struct sb *out, const struct command *c)
{
    put_usage(out, "usage: ", c);
    sb_addf(out, "\n%s.\n", c->summary);
    if (c->details) {
        sb_addc(out, '\n');
        put_details(out, sv_of(c->details));
    }
    sb_adds(out, "\noptions\n");
    opt_lines(out, c->opts);
    opt_lines(out, global_opts);
    name_forms(out, c);
}

enum status help_print(struct app *app, const struct command *c, struct err *e)
{
    struct sb text = sb_in(app->a, 0);

    if (c)
        help_command(&text, c);
    else
        help_overview(&text);
    return pager_print(app, sb_sv(&text), e);
}

bool help_family(struct sb *out, struct sv word)
{
    struct arena scratch = { 0 };
    bool         any = false;

    for (size_t i = 0; commands[i]; i++) {
        if (commands[i]->hidden || !sv_eq(help_first_word(commands[i]), word))
            continue;
        put_usage(out, any ? "       " : "usage: ", command_complete(commands[i], &scratch));
        sb_addf(out, "           %s\n", command_summary(commands[i]));
        any = true;
    }
    arena_free(&scratch);
    if (any)
        sb_addf(out, "\n`heddle help " SV_FMT " FORM` tells more of each.\n", SV_ARG(word));
    return any;
}

struct sv help_about(struct sv word, struct arena *a)
{
    struct sb   b = sb_in(a, 0);
    const char *summary = NULL;

    for (size_t i = 0; commands[i]; i++) {
        struct sv_cut c = sv_cut(sv_of(commands[i]->name), ' ');
        if (commands[i]->hidden || !sv_eq(c.head, word))
            continue;
        sb_addf(&b, "%s" SV_FMT, summary ? ", " : "", SV_ARG(c.found ? c.tail : c.head));
        summary = summary ? "" : command_summary(commands[i]);
    }
    return summary && summary[0] ? sv_of(summary) : sb_sv(&b);
}

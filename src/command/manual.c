/* The manual page of the language, printed from the tool table (mdoc). */
#include "command/tools.h"

#include <string.h>

/* Text in which characters with a meaning for roff are escaped. */
static void roff(struct sb *b, struct sv text)
{
    for (size_t i = 0; i < text.n; i++) {
        if ((i == 0 || text.s[i - 1] == '\n') && (text.s[i] == '.' || text.s[i] == '\''))
            sb_adds(b, "\\&");
        bool sentence_ends = i + 1 < text.n && text.s[i] == ' ' && i > 0 && text.s[i - 1] == '.';
        if (text.s[i] == '\\')
            sb_adds(b, "\\e");
        else if (sentence_ends)
            sb_addc(b, '\n');
        else
            sb_addc(b, text.s[i]);
    }
}

static void literal_lines(struct sb *b, const char *const *lines)
{
    sb_adds(b, ".Bd -literal -offset indent\n");
    for (size_t i = 0; lines[i]; i++) {
        sb_adds(b, "→ ");
        roff(b, sv_of(lines[i]));
        sb_addc(b, '\n');
    }
    sb_adds(b, ".Ed\n");
}

enum { PHRASE_SHOWN_MAX = 40 };

/* A phrase with its choices; a long one with the first of each. */
static struct sv phrase_shown(const char *phrase, struct arena *a)
{
    struct sb     b = sb_in(a, 0);
    struct sv_cut c = { .tail = sv_of(phrase), .found = true };

    if (strlen(phrase) <= PHRASE_SHOWN_MAX)
        return sv_of(phrase);
    while (c.found) {
        c = sv_cut(c.tail, ' ');
        sb_adds(&b, b.n ? " " : "");
        sb_add(&b, sv_cut(c.head, '/').head);
    }
    return sb_sv(&b);
}

static void other_words(struct sb *b, const struct tool *t)
{
    struct sb list = sb_in(b->a, 0);

    for (size_t i = 0; phrase_synonyms[i].phrase; i++) {
        if (!phrase_synonyms[i].tool || strcmp(phrase_synonyms[i].tool, t->name) != 0)
            continue;
        struct sv shown = phrase_shown(phrase_synonyms[i].phrase, b->a);
        if (sv_find(sb_sv(&list), shown) >= 0)
            continue;
        sb_adds(&list, list.n ? ", " : "");
        sb_add(&list, shown);
    }
    if (list.n)
        sb_addf(b, ".Pp\nAlso: " SV_FMT ".\n", SV_ARG(sb_sv(&list)));
}

static void one_tool(struct sb *b, const struct tool *t)
{
    sb_addf(b, ".Ss %s\n", t->name);
    roff(b, sv_of(t->summary));
    sb_addf(b, " (needs %s).\n", permission_name(t->needs));
    literal_lines(b, t->syntax);
    roff(b, sv_of(t->remark));
    sb_addc(b, '\n');
    other_words(b, t);
}

static const char head[] =
    ".Dt HEDDLE-LOOM 7\n.Os\n.Sh NAME\n.Nm heddle-loom\n"
    ".Nd the language in which agents walk and write a tree\n"
    ".Sh DESCRIPTION\n"
    "A thread is a tree of nodes; an agent, a person or a model, stands on one of them.\n"
    "A line of an agent's output that starts with → is a command.\n"
    "Everything else is prose and becomes a node.\n"
    ".Xr heddle-do 1\n"
    "takes a model's output,\n"
    ".Xr heddle-loom 1\n"
    "is a prompt for a person.\n"
    ".Sh LINES\n"
    "Commands that follow each other are a batch.\n"
    "They run in order and their results come back together.\n"
    "The model has not seen them yet, so prose that follows a batch in the same output is not "
    "stored.\n"
    "An error does not stop the batch.\n"
    ".Pp\n"
    "After a quotation that is not closed, or one that cannot be told from the words around it, "
    "nothing "
    "more of the output runs, and the answer says how many lines that were.\n"
    "After a\n"
    ".Ql → switch ,\n"
    ".Ql → respond\n"
    "or\n"
    ".Ql → edit\n"
    "that failed, commands of the same batch that would write where the agent stands are refused.\n"
    ".Pp\n"
    "Lines between three or more backticks or tildes are text, and so is what stands in\n"
    ".Ql <!-- -->\n"
    "and in tags that show, quote or think:\n"
    ".Ql <pre> ,\n"
    ".Ql <code> ,\n"
    ".Ql <example> ,\n"
    ".Ql <quote> ,\n"
    ".Ql <details> ,\n"
    ".Ql <thinking> ,\n"
    ".Ql <reasoning>\n"
    "and the like,\n"
    "and everything between\n"
    ".Ql → think\n"
    "and the next ← at the end of a line.\n"
    "Where commands follow the start of such a block and it has no end, the answer says so.\n"
    "A line that only looks like a command (in a list, bold, in backticks, with another arrow) "
    "does not "
    "run, and is answered with the line that would.\n"
    "The output of an agent that may use no tool is text altogether.\n"
    ".Sh WORDS\n"
    ".Bl -tag -width Ds\n"
    ".It ids\n"
    "bare, in brackets or in backticks, in any case: a7x2, [A7X2].\n"
    "An edit of a7x2 is a7x2', then a7x2''.\n"
    "Some tools take a list: a7x2, b3k9 and c4m2.\n"
    "It runs for each of them, or for none when one does not exist.\n"
    ".It places\n"
    "here (or this, current), parent and root instead of an id.\n"
    "[here] in brackets is an id.\n"
    ".It key:value\n"
    "or key=value, without spaces or with the value in quotes; key value where the tool has the "
    "key.\n"
    ".It text\n"
    "in quotes, straight, curly, „like this“, «this», 「this」, 'this' or between three straight "
    "ones, "
    "over several lines if need be.\n"
    "A backslash stands for itself, except that \\e\\(dq is a quote, \\e\\e before a quote or an n "
    "is one "
    "backslash, and \\en is a line end unless it begins a word: \\enabla and C:\\enew are kept.\n"
    "Where \\en stands between two words and could be either, the command is refused.\n"
    ".It fillers\n"
    "please, me, the, node, a and the like are skipped, and so is what stands before a command: "
    "let me, I want to.\n"
    ".El\n"
    ".Pp\n"
    "What is not understood is answered with INVALID_SYNTAX and the form that comes nearest; "
    "nothing "
    "is guessed.\n"
    "A line with a word of doubt in it, such as not, or, if, maybe, is refused.\n"
    "A line that asks or hedges, with ?, dots, brackets round it, could you or I think, never runs "
    "a tool that changes something: the answer is the line that would do it.\n"
    "Inside a quotation and in a thought all of these are text, and tools that only look may be "
    "asked for so.\n"
    ".Sh TOOLS\n";

static const char tail[] = ".Sh PERMISSIONS\n.Bl -tag -width loom_generate\n"
#define X(bit, name, needs, what) ".It " #name "\n" what ".\n"
    PERMISSION_TABLE(X)
#undef X
        ".El\n"
        ".Pp\n"
        "loom_write and loom_generate need loom_aware; doc_write needs doc_read.\n"
        ".Sh FAILURES\n"
        "An error is shown as\n"
        ".Bd -literal -offset indent\n✗ CODE: what happened\n  hint: what to do\n.Ed\n"
        ".Pp\n"
        "with one of the codes\n"
        ".Bl -tag -width PERMISSION_DENIED\n"
        ".It NOT_FOUND\nthe node, document or stash does not exist.\n"
        ".It PERMISSION_DENIED\nthe agent may not do this.\n"
        ".It INVALID_SYNTAX\nthe line was not understood; rephrase it.\n"
        ".It LIMIT_EXCEEDED\na limit was passed; ask for less.\n"
        ".It CROSS_TREE\nthe node is in another tree; name the tree.\n"
        ".It CONFLICT\nsomeone else is at work there; try again, or elsewhere.\n"
        ".It MODEL_ERROR\nthe model or search service that was asked failed.\n"
        ".El\n"
        ".Sh SEE ALSO\n.Xr heddle-agent 1 ,\n.Xr heddle-do 1 ,\n.Xr heddle-loom 1 ,\n.Xr "
        "heddle-say 1 ,\n"
        ".Xr heddle-tree 1 ,\n.Xr heddle-config 5\n";

void tools_manual(struct sb *b)
{
    sb_adds(b, ".\\\" Printed from the tool table: heddle help --man loom.7. Do not "
               "edit.\n.Dd " HEDDLE_DATE "\n");
    sb_adds(b, head);
    for (size_t i = 0; tool_table[i].name; i++)
        one_tool(b, &tool_table[i]);
    sb_adds(b, tail);
}

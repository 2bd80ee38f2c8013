/* Finds the commands in what a model wrote. One pass over the lines; a line is read once more where
 * a quotation or a block begins in it. */
#include "command/scan_internal.h"

#include "base/sb.h"
#include "base/vec.h"
#include "command/grammar.h"
#include "command/lexer.h"

#include <string.h>

/* Text between these holds no commands. `anywhere`: it may begin within a line; otherwise only at
 * the start of one, because prose may mention a tag. */
static const struct scan_block {
    const char *open, *close;
    bool        anywhere;
} blocks[] = {
    { "<!--", "-->", true },
    { "<pre", "</pre>", false },
    { "<code", "</code>", false },
    { "<thinking", "</thinking>", false },
    { "<think", "</think>", false },
    { "<thought", "</thought>", false },
    { "<scratchpad", "</scratchpad>", false },
    { "<reasoning", "</reasoning>", false },
    { "<reflection", "</reflection>", false },
    { "<analysis", "</analysis>", false },
    { "<example", "</example>", false },
    { "<examples", "</examples>", false },
    { "<quote", "</quote>", false },
    { "<blockquote", "</blockquote>", false },
    { "<details", "</details>", false },
    { "<document", "</document>", false },
    { "<samp", "</samp>", false },
    { "<xmp", "</xmp>", false },
};

struct scanner {
    struct sv     rest; /* not read yet */
    struct arena *a;
    struct sb     prose;
    VEC(struct scanned_line) lines;
    struct scan      *out;
    struct scan_fence fence;
    size_t            hidden;  /* lines with → in the current fence or block */
    bool              says;    /* the prose holds more than white space and answered lines */
    size_t            answers; /* lines that only look like commands */
};

struct sv scan_line(struct sv *rest)
{
    struct sv_cut c = sv_cut(*rest, '\n');
    struct sv     line = c.head;

    *rest = c.found ? c.tail : sv_skip(*rest, rest->n);
    if (line.n && line.s[line.n - 1] == '\r')
        line.n--;
    return line;
}

/* ---- what holds no commands ---------------------------------------------------------- */

/* The run of backticks or tildes that makes this line a fence, or 0. What follows the run names a
 * language; when it holds a backtick, the line is code within a line. */
static size_t fence_marks(struct sv line, char mark)
{
    size_t n = 0;

    while (n < line.n && line.s[n] == mark)
        n++;
    return n >= 3 && (mark != '`' || !sv_has(sv_skip(line, n), '`')) ? n : 0;
}

static bool starts_tag(struct sv v, const char *tag)
{
    size_t n = strlen(tag);

    if (v.n < n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (byte_lower(v.s[i]) != tag[i])
            return false;
    return tag[1] == '!' || v.n == n || strchr("> \t/", v.s[n]);
}

/* Where the block is closed in the line: the offset behind its end, or 0. */
static size_t block_end(const struct scan_block *b, struct sv line)
{
    size_t n = strlen(b->close);

    for (size_t i = 0; i + n <= line.n; i++) {
        size_t k = 0;
        while (k < n && byte_lower(line.s[i + k]) == b->close[k])
            k++;
        if (k == n)
            return i + n;
    }
    return 0;
}

static const struct scan_block *block_at(struct sv v, bool starts)
{
    for (size_t i = 0; i < COUNT(blocks); i++)
        if ((starts || blocks[i].anywhere) && starts_tag(v, blocks[i].open))
            return &blocks[i];
    return NULL;
}

/* Blocks that begin and end in this line; what is open at its end stays open. Backticks within the
 * line hide what is between them. */
static void follow_blocks(struct scan_fence *s, struct sv line)
{
    bool starts = true, code = false;

    while (line.n) {
        if (s->block) {
            size_t end = block_end(s->block, line);
            if (!end)
                return;
            s->block = NULL;
            line = sv_skip(line, end);
            continue;
        }
        if (!code)
            s->block = block_at(line, starts);
        code = line.s[0] == '`' ? !code : code;
        starts = starts && (line.s[0] == ' ' || line.s[0] == '\t');
        line = sv_skip(line, 1);
    }
}

void scan_follow(struct scan_fence *f, struct sv line)
{
    line = sv_trim(line);
    if (f->mark) {
        size_t n = fence_marks(line, f->mark);
        if (n >= f->marks && line.n == n)
            f->mark = 0;
        return;
    }
    for (const char *mark = "`~"; *mark && !f->mark; mark++)
        if ((f->marks = fence_marks(line, *mark)))
            f->mark = *mark;
    if (!f->mark)
        follow_blocks(f, line);
}

/* ---- lines that look like commands ---------------------------------------------------- */

bool scan_is_command(struct sv line, struct sv *after)
{
    struct sv v = sv_trim(line);

    if (!sv_starts(v, SV("→")))
        return false;
    *after = sv_trim(sv_skip(v, 3));
    return true;
}

/* How many lines of a text start with an arrow. */
static size_t arrows(struct sv text)
{
    size_t    n = 0;
    struct sv after;

    while (text.n)
        n += scan_is_command(scan_line(&text), &after);
    return n;
}

/* What people put before an arrow, and arrows other than →. Longer ones first. */
static const char *const decorations[] = { "\xef\xbb\xbf",
                                           "\xe2\x80\x8b",
                                           "\xe2\x81\xa0",
                                           "\xc2\xa0",
                                           "\xe3\x80\x80",
                                           "**",
                                           "__",
                                           "*",
                                           "_",
                                           "`",
                                           "-",
                                           "+",
                                           "•",
                                           "·",
                                           ">",
                                           "#",
                                           "|",
                                           "\"",
                                           "“",
                                           "(",
                                           "[",
                                           "\\",
                                           " ",
                                           "\t" };
static const char *const arrow_marks[] = { "→", "-->", "->", "==>", "=>", "--→", "⇒",
                                           "➜", "➔",   "➡",  "⟶",   "›",  "»" };

/* "1." and "2)" of a numbered list. */
static size_t list_number(struct sv v)
{
    size_t n = 0;

    while (n < v.n && v.s[n] >= '0' && v.s[n] <= '9')
        n++;
    return n && n < v.n && (v.s[n] == '.' || v.s[n] == ')') ? n + 1 : 0;
}

static size_t starts_with_one(struct sv v, const char *const *marks, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (sv_starts(v, sv_of(marks[i])))
            return strlen(marks[i]);
    return 0;
}

/* What decorated the arrow decorates the end of the line too. */
static struct sv strip_tail(struct sv v)
{
    static const char *const tails[] = { "**", "__", "*", "_", "`", "|", ")", "]", "”" };
    bool                     again = true;

    while (again) {
        again = false;
        v = sv_trim(v);
        for (size_t i = 0; i < COUNT(tails); i++)
            if (sv_ends(v, sv_of(tails[i]))) {
                v.n -= strlen(tails[i]);
                again = true;
            }
    }
    return v;
}

/* Does an arrow stand behind nothing but decoration? *after is what follows it. */
static bool is_lookalike(struct sv line, struct sv *after)
{
    struct sv v = sv_trim(line);
    size_t    n = list_number(v);
    bool      decorated = n > 0;

    v = sv_skip(v, n);
    for (;;) {
        size_t arrow = starts_with_one(v, arrow_marks, COUNT(arrow_marks));
        if (arrow) {
            *after = decorated ? strip_tail(sv_skip(v, arrow)) : sv_trim(sv_skip(v, arrow));
            return true;
        }
        n = starts_with_one(v, decorations, COUNT(decorations));
        if (!n)
            return false;
        decorated = true;
        v = sv_skip(v, n);
    }
}

static void add_answer(struct scanner *s, struct sv text, const struct err *answer)
{
    struct err *e = ARENA_NEW(s->a, struct err, 1);

    *e = *answer;
    *vec_push(&s->lines, s->a) =
        (struct scanned_line){ .text = text, .is_refused = true, .refusal = e };
}

enum { SHOWN_MAX = 200, ANSWERS_MAX = 20 };

/* "-> so she left" is prose: a command must be seen in the line. */
bool scan_is_answered(struct sv line, const char *more, struct arena *a, struct sv *after,
                      struct err *answer)
{
    struct sv   thought;
    struct call c;
    struct err  e = { 0 };

    if (!is_lookalike(line, after) || !after->n || lexer_is_open(*after))
        return false;
    bool        think = call_is_think(*after, &thought);
    enum status st = think ? ST_OK : call_parse(*after, a, &c, &e);
    if (!think && !c.tool && !strstr(e.hint, "did you mean"))
        return false;
    err_set(answer, ST_INVALID_SYNTAX, "not run: a command is a line that starts with →%s", more);
    if (st || after->n > SHOWN_MAX)
        err_hint(answer, "%s", e.hint[0] ? e.hint : "start the line with → and nothing before it");
    else
        err_hint(answer, "→ " SV_FMT, SV_ARG(*after));
    return true;
}

static bool answer_lookalike(struct scanner *s, struct sv line)
{
    struct sv  after;
    struct err answer = { 0 };

    const char *more =
        s->answers + 1 == ANSWERS_MAX ? "; further lines like this one are not answered" : "";

    if (!scan_is_answered(line, more, s->a, &after, &answer))
        return false;
    if (++s->answers <= ANSWERS_MAX)
        add_answer(s, after, &answer);
    return true;
}

/* Marks and decorations, the start of a numbered list, an arrow. */
bool scan_could_be(struct sv start)
{
    static const char  first[] = "0123456789";
    const char *const *lists[] = { decorations, arrow_marks };
    const size_t       counts[] = { COUNT(decorations), COUNT(arrow_marks) };

    if (start.s[0] && strchr(first, start.s[0]))
        return true;
    for (size_t k = 0; k < COUNT(lists); k++)
        for (size_t i = 0; i < counts[k]; i++) {
            size_t n = strlen(lists[k][i]);
            n = n < start.n ? n : start.n;
            if (memcmp(lists[k][i], start.s, n) == 0)
                return true;
        }
    return false;
}

bool scan_is_unclear(struct sv command, struct arena *a)
{
    struct call c;
    struct err  e = { 0 };

    return call_parse(command, a, &c, &e) && strcmp(e.reason, LEX_QUOTES) == 0;
}

/* ---- commands and thoughts ------------------------------------------------------------ */

/* Lines up to one that ends with ←, or to the end. What follows a ← in its line is looked at as a
 * line of its own; it cannot be a command, because it does not start its line. */
static void take_thought(struct scanner *s, struct sv first)
{
    struct sb b = sb_in(s->a, 0);
    ptrdiff_t end = sv_find(first, SV("←"));
    struct sv rest = end < 0 ? (struct sv){ 0 } : sv_trim(sv_skip(first, (size_t)end + 3));
    size_t    inside = 0;
    struct sv after;

    sb_add(&b, end < 0 ? first : sv_first(first, (size_t)end));
    while (end < 0 && s->rest.n) {
        struct sv line = scan_line(&s->rest), trimmed = sv_trim(line);
        if (sv_ends(trimmed, SV("←"))) {
            line = sv_first(trimmed, trimmed.n - 3);
            end = 0;
        }
        inside += scan_is_command(line, &after);
        if (b.n && (end < 0 || sv_trim(line).n))
            sb_addc(&b, '\n');
        sb_add(&b, end < 0 ? line : sv_trim(line));
    }
    *vec_push(&s->lines, s->a) =
        (struct scanned_line){ .text = sv_trim(sb_sv(&b)), .is_think = true };
    if (end < 0 && inside) {
        struct err e = { 0 };
        err_set(&e, ST_INVALID_SYNTAX, "the thought has no end: %zu line%s with → in it %s text",
                inside, inside == 1 ? "" : "s", inside == 1 ? "is" : "are");
        err_hint(&e, "end a thought with ← alone on a line");
        add_answer(s, SV("think"), &e);
    }
    if (rest.n && !answer_lookalike(s, rest) && !s->out->commands) {
        s->says = true;
        sb_add(&s->prose, rest);
        sb_addc(&s->prose, '\n');
    }
}

/* Nothing after this command is run. */
static void stop_after(struct scanner *s, struct scanned_line *line)
{
    line->not_run = arrows(s->rest);
    s->out->discarded = sv_trim(s->rest);
    if (!s->out->discarded.n)
        s->out->discarded = (struct sv){ 0 };
    s->rest = sv_skip(s->rest, s->rest.n);
}

/* The command with the lines its open quotation reaches into. A quotation that never closes, or one
 * that cannot be told from the words around it, ends the output, because it is not known where its
 * text ends. */
static void take_command(struct scanner *s, struct sv command)
{
    struct sv text = { command.s, (size_t)(s->rest.s + s->rest.n - command.s) };
    size_t    end;
    bool      closed = lexer_command_end(text, &end);

    if (closed) {
        command = sv_trim(sv_first(text, end));
        s->rest = sv_skip(text, end < text.n ? end + 1 : end);
    }
    struct scanned_line *line = vec_push(&s->lines, s->a);
    *line = (struct scanned_line){ .text = command };
    s->out->commands++;
    if (!closed || scan_is_unclear(command, s->a))
        stop_after(s, line);
}

static void take_prose(struct scanner *s, struct sv line)
{
    bool      inside = scan_is_inside(&s->fence);
    bool      answered = !inside && answer_lookalike(s, line);
    struct sv after;

    s->says = s->says || (!answered && sv_trim(line).n);
    scan_follow(&s->fence, line);
    if (!scan_is_inside(&s->fence))
        s->hidden = 0;
    else
        s->hidden += inside && scan_is_command(line, &after);
    sb_add(&s->prose, line);
    sb_addc(&s->prose, '\n');
}

/* Commands after the start of a block that has no end: it is not known whether they are part of
 * it. */
static void answer_open_block(struct scanner *s)
{
    struct err  e = { 0 };
    const char *close = s->fence.block         ? s->fence.block->close
                        : s->fence.mark == '~' ? "~~~"
                                               : "```";

    if (!s->hidden)
        return;
    err_set(&e, ST_INVALID_SYNTAX, "%zu line%s with → in a block without its end %s: not run",
            s->hidden, s->hidden == 1 ? "" : "s", close);
    err_hint(&e, "write %s before the commands; in a block they are text", close);
    add_answer(s, SV("block"), &e);
}

void scan_output(struct sv output, struct arena *a, struct scan *out)
{
    struct scanner s = { .rest = output, .a = a, .prose = sb_in(a, 0), .out = out };
    struct sv      command, first;

    *out = (struct scan){ 0 };
    while (s.rest.n) {
        struct sv before = s.rest, line = scan_line(&s.rest);
        if (!scan_is_inside(&s.fence) && scan_is_command(line, &command)) {
            if (call_is_think(command, &first))
                take_thought(&s, first);
            else
                take_command(&s, command);
        } else if (!out->commands) {
            take_prose(&s, line);
        } else if (sv_trim(line).n && !answer_lookalike(&s, line)) {
            out->discarded = sv_trim(before);
            break;
        }
    }
    answer_open_block(&s);
    out->prose = s.says ? sb_sv(&s.prose) : SV("");
    while (out->prose.n && out->prose.s[out->prose.n - 1] == '\n')
        out->prose.n--;
    out->lines = s.lines.v;
    out->n = s.lines.n;
}

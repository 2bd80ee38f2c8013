#include "command/scan.h"

#include "base/sb.h"
#include "base/vec.h"
#include "command/grammar.h"
#include "command/lexer.h"

struct scanner {
    struct sv     rest; /* not read yet */
    struct arena *a;
    struct sb     prose;
    VEC(struct scanned_line) lines;
    struct scan *out;
    size_t       fence;    /* length of the run of backticks we are inside of; 0: none */
    size_t       unclosed; /* commands whose quotation never closes */
};

static struct sv take_line(struct sv *rest)
{
    struct sv_cut c = sv_cut(*rest, '\n');
    struct sv     line = c.head;

    *rest = c.found ? c.tail : sv_skip(*rest, rest->n);
    if (line.n && line.s[line.n - 1] == '\r')
        line.n--;
    return line;
}

/* The run of backticks that makes this line a fence, or 0. What follows the run names a language;
 * when it holds a backtick, the line is code within a line. */
static size_t backticks(struct sv line)
{
    size_t n = 0;

    while (n < line.n && line.s[n] == '`')
        n++;
    return n >= 3 && !sv_has(sv_skip(line, n), '`') ? n : 0;
}

static bool is_command(struct sv line, struct sv *after)
{
    struct sv v = sv_trim(line);

    if (!sv_starts(v, SV("→")))
        return false;
    *after = sv_trim(sv_skip(v, 3));
    return true;
}

/* Lines up to one that is ← alone, or to the end. */
static void take_thought(struct scanner *s, struct sv first)
{
    struct sb b = sb_in(s->a, 0);

    sb_add(&b, first);
    while (s->rest.n) {
        struct sv line = take_line(&s->rest);
        if (sv_is(sv_trim(line), "←"))
            break;
        if (b.n)
            sb_addc(&b, '\n');
        sb_add(&b, line);
    }
    *vec_push(&s->lines, s->a) = (struct scanned_line){ sv_trim(sb_sv(&b)), true };
}

/* So often a quotation is followed to the end of the output in vain; after that, every command is
 * one line. Such output is refused or useless anyway, and must not cost its square. */
enum { UNCLOSED_MAX = 100 };

/* The command with the lines its open quotation reaches into. A quotation that never closes
 * takes nothing with it: the line alone is then the (broken) command. */
static void take_command(struct scanner *s, struct sv command)
{
    struct sv text = { command.s, (size_t)(s->rest.s + s->rest.n - command.s) };
    size_t    end;

    if (s->unclosed < UNCLOSED_MAX && lex_command_end(text, &end)) {
        command = sv_trim(sv_first(text, end));
        s->rest = sv_skip(text, end < text.n ? end + 1 : end);
    } else {
        s->unclosed++;
    }
    *vec_push(&s->lines, s->a) = (struct scanned_line){ command, false };
    s->out->commands++;
}

static void take_prose(struct scanner *s, struct sv line)
{
    size_t ticks = backticks(sv_trim(line));

    if (!s->fence)
        s->fence = ticks;
    else if (ticks >= s->fence && sv_trim(line).n == ticks)
        s->fence = 0;
    sb_add(&s->prose, line);
    sb_addc(&s->prose, '\n');
}

void scan_output(struct sv output, struct arena *a, struct scan *out)
{
    struct scanner s = { .rest = output, .a = a, .prose = sb_in(a, 0), .out = out };
    struct sv      command, first;

    *out = (struct scan){ 0 };
    while (s.rest.n) {
        struct sv before = s.rest, line = take_line(&s.rest);
        if (!s.fence && is_command(line, &command)) {
            if (call_is_think(command, &first))
                take_thought(&s, first);
            else
                take_command(&s, command);
        } else if (out->commands && sv_trim(line).n) {
            out->discarded = sv_trim(before);
            break;
        } else if (!out->commands) {
            take_prose(&s, line);
        }
    }
    out->prose = sb_sv(&s.prose);
    while (out->prose.n && out->prose.s[out->prose.n - 1] == '\n')
        out->prose.n--;
    out->lines = s.lines.v;
    out->n = s.lines.n;
}

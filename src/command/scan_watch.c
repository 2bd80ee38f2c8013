/* Line by line over an output that grows. The rules of a line are those of scan.c; what needs more
 * than one line, a quotation or a thought that is open, waits until it is closed. */
#include "command/scan_watch.h"

#include "base/utf8.h"
#include "command/grammar.h"

#include <string.h>

void scan_watch_init(struct scan_watch *w, struct arena                                  *a,
                     void (*show)(void *ctx, enum watch_part what, struct sv text), void *ctx)
{
    *w = (struct scan_watch){ .text = sb_in(a, 0), .a = a, .show = show, .ctx = ctx };
}

static struct sv text_from(struct scan_watch *w, size_t from, size_t to)
{
    return (struct sv){ sb_sv(&w->text).s + from, to - from };
}

static void show(struct scan_watch *w, enum watch_part what, struct sv text)
{
    if (w->show && text.n)
        w->show(w->ctx, what, text);
}

static void show_prose(struct scan_watch *w, size_t to)
{
    if (to > w->shown)
        show(w, SCAN_PROSE, text_from(w, w->shown, to));
    w->shown = to > w->shown ? to : w->shown;
}

/* The output ends at `at`: the rest is ignored. */
static void end_at(struct scan_watch *w, size_t at)
{
    w->over = at;
    w->is_over = true;
}

static void next_line(struct scan_watch *w, size_t at)
{
    w->at = w->lead = at;
    w->shown = at > w->shown ? at : w->shown;
}

/* ---- commands and thoughts --------------------------------------------------------------- */

/* The command that starts at w->command is complete; the next line starts at `next`. */
static void take_command(struct scan_watch *w, size_t next)
{
    struct sv command = sv_trim(text_from(w, w->command, next)), after = command;

    w->quoting = false;
    w->commands++;
    show(w, SCAN_COMMAND, command);
    next_line(w, next);
    scan_is_command(command, &after);
    if (scan_is_unclear(after, &w->scratch))
        end_at(w, next);
}

/* A line of the command, with its end: it is complete unless a quotation is open. */
static void add_command_line(struct scan_watch *w, struct sv line, size_t next)
{
    w->quoting = lexer_goes_on(&w->lexer, line);
    if (w->quoting)
        next_line(w, next);
    else
        take_command(w, next);
}

static void begin_command(struct scan_watch *w, size_t next)
{
    struct sv line = text_from(w, w->at, next);

    w->command = w->at;
    w->lexer = (struct lexer_line){ 0 };
    add_command_line(w, sv_skip(line, (size_t)sv_find(line, SV("→")) + strlen("→")), next);
}

/* A line of a thought; the one that closes it ends with ←. */
static void take_thought_line(struct scan_watch *w, struct sv line, size_t next)
{
    show(w, SCAN_THOUGHT, line);
    w->thinking = !sv_ends(sv_trim(line), SV("←"));
    next_line(w, next);
}

/* → think: what follows a ← in the same line is prose. */
static void begin_thought(struct scan_watch *w, struct sv line, struct sv first, size_t next)
{
    ptrdiff_t end = sv_find(first, SV("←"));

    show(w, SCAN_THOUGHT, line);
    w->thinking = end < 0;
    next_line(w, next);
}

/* ---- lines -------------------------------------------------------------------------------- */

static void take_prose(struct scan_watch *w, struct sv line, size_t next)
{
    scan_follow(&w->fence, line);
    show_prose(w, next);
    next_line(w, next);
}

/* After a batch: nothing but more commands, blank lines, and lines that are answered. */
static void take_after(struct scan_watch *w, struct sv line, size_t next)
{
    struct sv  after;
    struct err answer = { 0 };

    if (sv_trim(line).n && !scan_is_answered(line, "", &w->scratch, &after, &answer))
        end_at(w, w->at);
    else
        next_line(w, next);
}

static void take_line(struct scan_watch *w, struct sv line, size_t next)
{
    struct sv command, first;

    if (w->thinking) {
        take_thought_line(w, line, next);
    } else if (w->quoting) {
        add_command_line(w, text_from(w, w->at, next), next);
    } else if (!scan_is_inside(&w->fence) && scan_is_command(line, &command)) {
        if (call_is_think(command, &first))
            begin_thought(w, line, first, next);
        else
            begin_command(w, next);
    } else if (w->commands) {
        take_after(w, line, next);
    } else {
        take_prose(w, line, next);
    }
}

/* ---- the line that is not complete ---------------------------------------------------------- */

/* Its first characters after spaces; empty: there are none yet. */
static struct sv line_start(struct scan_watch *w)
{
    struct sv all = sb_sv(&w->text);

    w->lead = w->lead > w->at ? w->lead : w->at;
    while (w->lead < all.n && strchr(" \t\r", all.s[w->lead]) && all.s[w->lead])
        w->lead++;
    return sv_skip(all, w->lead);
}

static bool is_arrow_start(struct sv start)
{
    static const char arrow[] = "→";
    size_t            n = start.n < 3 ? start.n : 3;

    return memcmp(start.s, arrow, n) == 0;
}

/* Prose is shown before its line is complete, and one after a batch ends the output at once. */
static void look_at_start(struct scan_watch *w)
{
    struct sv start = line_start(w);

    if (w->thinking || w->quoting || !start.n)
        return;
    if (!scan_is_inside(&w->fence) && is_arrow_start(start))
        return;
    if (!w->commands)
        show_prose(w, w->text.n);
    else if (!scan_could_be(start))
        end_at(w, w->at);
}

bool scan_watch_feed(struct scan_watch *w, struct sv piece)
{
    sb_add(&w->text, piece);
    while (!w->is_over) {
        struct arena_mark mark = arena_mark(&w->scratch);
        size_t            from = w->searched > w->at ? w->searched : w->at;
        struct sv_cut     c = sv_cut(text_from(w, from, w->text.n), '\n');
        if (!c.found)
            break;
        size_t    end = from + c.head.n;
        struct sv line = text_from(w, w->at, end);
        line.n -= line.n && line.s[line.n - 1] == '\r';
        w->searched = 0;
        take_line(w, line, end + 1);
        arena_reset(&w->scratch, mark);
    }
    w->searched = w->text.n;
    if (!w->is_over && w->at < w->text.n)
        look_at_start(w);
    return w->is_over;
}

void scan_watch_end(struct scan_watch *w)
{
    struct sv line = text_from(w, w->at, w->text.n), command;

    if (!w->is_over && w->quoting && w->command < w->text.n)
        show(w, SCAN_COMMAND, sv_trim(text_from(w, w->command, w->text.n)));
    else if (!w->is_over && line.n) {
        bool is_command = !scan_is_inside(&w->fence) && scan_is_command(line, &command);
        if (w->thinking)
            show(w, SCAN_THOUGHT, line);
        else if (is_command)
            show(w, SCAN_COMMAND, sv_trim(line));
        else if (!w->commands)
            show_prose(w, w->text.n);
    }
    arena_free(&w->scratch);
}

struct sv scan_watch_text(struct scan_watch *w)
{
    return text_from(w, 0, w->is_over ? w->over : w->text.n);
}

struct sv scan_watch_rest(struct scan_watch *w)
{
    return text_from(w, w->is_over ? w->over : w->text.n, w->text.n);
}

/* The → language: whatever comes in, nothing crashes; what parses prints to a line that parses to
 * the same call, and that line is its own canonical form. What changes something is read only from
 * a line whose quotations close and that has no sign of doubt. The scanner loses no command, and
 * finds the same in an output that comes in pieces, which it may end early. */
#include "command/doubt.h"
#include "command/grammar.h"
#include "command/lexer.h"
#include "command/scan_watch.h"
#include "command/tools.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_line(struct sv line, struct arena *a)
{
    struct call  once, again;
    struct err   e;
    struct sb    b = sb_in(a, 0), c = sb_in(a, 0);
    struct sv    thought;
    struct doubt doubt;

    if (call_parse(line, a, &once, &e)) {
        if (e.code != ST_INVALID_SYNTAX || !e.text[0])
            abort();
        return;
    }
    if (!tool_only_looks(once.tool) && !call_is_think(line, &thought) &&
        (lexer_is_open(line) || doubt_find(line, a, &doubt)))
        abort();
    call_print(&b, &once);
    if (call_parse(sb_sv(&b), a, &again, &e) || !call_eq(&once, &again))
        abort();
    call_print(&c, &again);
    if (!sv_eq(sb_sv(&b), sb_sv(&c)))
        abort();
}

static bool same_line(const struct scanned_line *x, const struct scanned_line *y)
{
    return sv_eq(x->text, y->text) && x->is_think == y->is_think && x->is_refused == y->is_refused;
}

/* In pieces of n bytes, until the watch says that it is over. */
static void check_watch(struct sv text, const struct scan *whole, size_t n, struct arena *a)
{
    struct scan_watch w;
    struct scan       part;

    scan_watch_init(&w, a, NULL, NULL);
    for (struct sv rest = text; rest.n; rest = sv_skip(rest, n))
        if (scan_watch_feed(&w, sv_first(rest, n)))
            break;
    scan_watch_end(&w);
    scan_output(scan_watch_text(&w), a, &part);
    if (!sv_eq(part.prose, whole->prose) || part.n != whole->n || part.commands != whole->commands)
        abort();
    for (size_t i = 0; i < part.n; i++)
        if (!same_line(&part.lines[i], &whole->lines[i]))
            abort();
    if (w.is_over && part.discarded.n) /* what ends it is not part of what counts */
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = { 0 };
    struct scan  scan;
    struct sv    text = { (const char *)data, size };

    check_line(text, &a);
    scan_output(text, &a, &scan);
    for (size_t i = 0; i < scan.n; i++)
        if (!scan.lines[i].is_think)
            check_line(scan.lines[i].text, &a);
    for (size_t n = 1; size && n <= size; n = n < 4 ? n + 1 : n * 7)
        check_watch(text, &scan, n, &a);
    arena_free(&a);
    return 0;
}

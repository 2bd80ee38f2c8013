/* The → language: whatever comes in, nothing crashes; what parses prints to a line that parses to
 * the same call, and that line is its own canonical form. The scanner loses no command. */
#include "command/grammar.h"
#include "command/scan.h"
#include "command/tools.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_line(struct sv line, struct arena *a)
{
    struct call once, again;
    struct err  e;
    struct sb   b = sb_in(a, 0), c = sb_in(a, 0);

    if (call_parse(line, a, &once, &e)) {
        if (e.code != ST_INVALID_SYNTAX || !e.text[0])
            abort();
        return;
    }
    call_print(&b, &once);
    if (call_parse(sb_sv(&b), a, &again, &e) || !call_eq(&once, &again))
        abort();
    call_print(&c, &again);
    if (!sv_eq(sb_sv(&b), sb_sv(&c)))
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
    arena_free(&a);
    return 0;
}

/* Patterns: the compiled matcher agrees with a slow one that follows the definition word by
 * word; pattern files, configuration files, memos and reports of any bytes are read. */
#include "payload/memo.h"
#include "payload/report.h"
#include "project/gitconfig.h"
#include "project/glob.h"
#include "project/ignore.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Stars and ** by trying everything; sets and escapes are left to the real one. `steps`
 * bounds the tries: -1 is "not known". */
static int slow(struct sv pattern, size_t from, struct sv text, int *steps)
{
    if (--*steps < 0)
        return -1;
    if (from == pattern.n)
        return text.n == 0;
    char c = pattern.s[from];
    if (c != '*') {
        if (!text.n || (c == '?' ? text.s[0] == '/' : text.s[0] != c))
            return 0;
        return slow(pattern, from + 1, sv_skip(text, 1), steps);
    }
    size_t end = from;
    while (end < pattern.n && pattern.s[end] == '*')
        end++;
    bool whole = end - from > 1 && (!from || pattern.s[from - 1] == '/') &&
                 (end == pattern.n || pattern.s[end] == '/');
    if (whole && end == pattern.n)
        return 1;
    if (whole) {
        int none = slow(pattern, end + 1, text, steps);
        if (none)
            return none;
    }
    for (size_t i = 0; i <= text.n; i++) {
        int rest = slow(pattern, end, sv_skip(text, i), steps);
        if (rest)
            return rest;
        if (i < text.n && !whole && text.s[i] == '/')
            return 0;
    }
    return 0;
}

static bool is_simple(struct sv v)
{
    return !sv_has(v, '[') && !sv_has(v, '\\');
}

static void compare(struct sv pattern, struct sv text, struct arena *a)
{
    const struct glob *g = glob_in(pattern, a);
    int                steps = 20000;

    if (!g || !text.s || !is_simple(pattern) || pattern.n > 40 || text.n > 60)
        return;
    int want = slow(pattern, 0, text, &steps);
    if (want >= 0 && glob_match(g, text) != (want > 0))
        abort();
}

static void memo_round_trip(struct sv text, struct arena *a)
{
    memo_list  all, fewer;
    struct err e;

    if (memo_read(text, a, &all, &e))
        return;
    struct sv more = memo_added(text, SV("a memo: new"), a);
    if (memo_read(more, a, &fewer, &e) == ST_OK && fewer.n) {
        struct sv again = memo_removed(more, &fewer.v[fewer.n - 1], a);
        if (again.n > more.n)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena          a = { 0 };
    struct sv             text = { (const char *)data, size };
    struct sv_cut         c = sv_cut(text, '\n');
    struct report_actions report;

    compare(c.head, c.tail, &a);
    const struct ignore *g = ignore_in(c.found ? c.tail : text, &a);
    int                  line = ignore_match(g, c.head, size % 2);
    if (g)
        ignore_is_negated(g, line);
    ignore_match(ignore_in_folded(c.found ? c.tail : text, &a), c.head, size % 2);
    ignore_may_bring_back(g, c.head, false);
    gitconfig_value(text, "core.excludesfile", &a);
    memo_round_trip(text, &a);
    report_read(text, &a, &report);
    arena_free(&a);
    return 0;
}

/* What models write, from tests/spec/loom: phrasings.txt must be understood in the greater part and
 * never wrongly; refusals.txt must run nothing. The phrasings are split in two halves by a hash;
 * the failures of the second are only counted, unless PHRASINGS=all is set: the grammar is written
 * for the first half and measured by the second. The independent part is reported by itself. */
#include "base/fs.h"
#include "base/hash.h"
#include "base/vec.h"
#include "command/scan.h"
#include "loom_test.h"

#include <fcntl.h>
#include <stdlib.h>

enum { UNDERSTOOD_PERCENT = 85, PHRASINGS_MIN = 346, REFUSALS_MIN = 80, INDEPENDENT_MIN = 150 };

enum part { FIRST, SECOND, INDEPENDENT, PARTS };

static struct arena a;

static struct sv spec_file(const char *name)
{
    const char *root = getenv("HEDDLE_SOURCE");
    struct sb   path = sb_in(&a, 0);
    struct sb   text = sb_in(&a, 0);
    char        buf[4096];
    size_t      n;

    sb_addf(&path, "%s/tests/spec/loom/%s", root ? root : ".", name);
    sb_addc(&path, '\0');
    FILE *f = fopen(sb_sv(&path).s, "r");
    CHECK(f != NULL);
    while (f && (n = fread(buf, 1, sizeof buf, f)) > 0)
        sb_add(&text, (struct sv){ buf, n });
    if (f)
        fclose(f);
    return sb_sv(&text);
}

/* The calls a line stands for. False: it was refused. */
enum { CALLS_MAX = 8 };
static bool calls_of(struct sv line, struct call *calls, size_t *n)
{
    struct sb   b = sb_in(&a, 0);
    struct scan s;
    struct err  e;

    sb_adds(&b, "→ ");
    sb_add(&b, line);
    scan_output(sb_sv(&b), &a, &s);
    *n = 0;
    for (size_t i = 0; i < s.n; i++) {
        struct call c;
        if (s.lines[i].is_think) {
            calls[(*n)++] = (struct call){ .tool = tool_find(SV("think")),
                                           .args[0].text = s.lines[i].text,
                                           .n = 1 };
            continue;
        }
        if (call_parse(s.lines[i].text, &a, &c, &e))
            return false;
        for (size_t k = 0; k < call_each_count(&c) && *n < CALLS_MAX; k++)
            calls[(*n)++] = call_each(&c, k);
    }
    return true;
}

struct part_count {
    const char *name;
    size_t      n, understood, refused, wrong;
};

static enum part half_of(struct sv phrase)
{
    struct hash h = hash_blake2b(&phrase, 1);

    return h.b[0] & 1 ? SECOND : FIRST;
}

static void try_phrase(struct sv phrase, const struct call *want, size_t n_want,
                       struct part_count *h)
{
    bool        listed = strcmp(h->name, "second half") != 0 || getenv("PHRASINGS");
    struct call got[CALLS_MAX];
    size_t      n;
    const char *what = "refused";

    h->n++;
    if (calls_of(phrase, got, &n) && n) {
        bool same = n == n_want;
        for (size_t i = 0; same && i < n; i++)
            same = call_eq(&got[i], &want[i]);
        h->understood += same;
        h->wrong += !same;
        what = same ? NULL : "WRONG";
    } else {
        h->refused++;
    }
    if (what && (listed || strcmp(what, "WRONG") == 0))
        printf("# %s: %s: → " SV_FMT "\n", h->name, what, SV_ARG(phrase));
}

static void most_phrasings_are_understood_and_none_wrongly(void)
{
    struct part_count parts[PARTS] = { { .name = "first half" },
                                       { .name = "second half" },
                                       { .name = "independent" } };
    struct call       want[CALLS_MAX];
    size_t            n_want = 0, n;
    bool              in_calls = false, independent = false;
    struct sv_cut     c = { .tail = spec_file("phrasings.txt"), .found = true };

    while (c.found) {
        c = sv_cut(c.tail, '\n');
        struct sv line = c.head;
        independent = independent || sv_is(line, "# part: independent");
        if (!sv_trim(line).n || line.s[0] == '#')
            continue;
        if (line.s[0] == ' ') {
            in_calls = false;
            line = sv_trim(line);
            try_phrase(line, want, n_want, &parts[independent ? INDEPENDENT : half_of(line)]);
            continue;
        }
        n_want = in_calls ? n_want : 0;
        in_calls = true;
        if (!calls_of(line, want + n_want, &n) || n != 1)
            printf("# not a call: " SV_FMT "\n", SV_ARG(line)), FAIL("a documented form");
        n_want += n;
    }
    for (int i = 0; i < PARTS; i++) {
        struct part_count *h = &parts[i];
        printf("# %s: %zu phrasings, %zu understood (%.1f %%), %zu refused, %zu wrong\n", h->name,
               h->n, h->understood, h->n ? 100.0 * (double)h->understood / (double)h->n : 0,
               h->refused, h->wrong);
        CHECK(h->understood * 100 >= h->n * UNDERSTOOD_PERCENT);
        CHECK_INT(h->wrong, 0);
    }
    CHECK(parts[FIRST].n + parts[SECOND].n >= PHRASINGS_MIN);
    CHECK(parts[FIRST].n * 3 > parts[SECOND].n && parts[SECOND].n * 3 > parts[FIRST].n);
    CHECK(parts[INDEPENDENT].n >= INDEPENDENT_MIN);
}

static struct sv with_line_breaks(struct sv line)
{
    struct sb b = sb_in(&a, 0);

    while (line.n) {
        ptrdiff_t at = sv_find(line, SV("⏎"));
        sb_add(&b, sv_first(line, at < 0 ? line.n : (size_t)at));
        line = sv_skip(line, at < 0 ? line.n : (size_t)at + 3);
        sb_adds(&b, at < 0 ? "" : "\n");
    }
    return sb_sv(&b);
}

static void what_is_not_a_command_runs_nothing(void)
{
    struct sv_cut c = { .tail = spec_file("refusals.txt"), .found = true };
    size_t        n = 0;

    while (c.found) {
        c = sv_cut(c.tail, '\n');
        if (!sv_trim(c.head).n || (sv_starts(c.head, SV("# ")) && !sv_starts(c.head, SV("# →"))))
            continue;
        struct loom_test t;
        struct turn      turn;
        loom_test_open(&t, PERM_ALL);
        CHECK(session_turn(&t.s, with_line_breaks(c.head), &turn, &t.e) == ST_OK);
        for (size_t i = 0; i < turn.n; i++)
            if (turn.results[i].ok && !turn.results[i].silent) {
                printf("# ran: " SV_FMT "\n", SV_ARG(c.head));
                FAIL("nothing of it runs");
            }
        loom_test_close(&t);
        n++;
    }
    CHECK(n >= REFUSALS_MIN);
}

TAP_MAIN(T(most_phrasings_are_understood_and_none_wrongly), T(what_is_not_a_command_runs_nothing), )

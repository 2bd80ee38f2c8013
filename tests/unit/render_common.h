/* Rendering of a context given as JSON, for the render_ tests. */
#ifndef HEDDLE_TESTS_RENDER_COMMON_H
#define HEDDLE_TESTS_RENDER_COMMON_H

#include "assemble/render.h"
#include "tap.h"

static struct arena         arena;
static struct render_report report;

/* A context literal in ' instead of ", rendered; limit LIMIT_NONE: all. */
static inline struct sv render_limited(enum render_format f, const char *quoted, int64_t limit)
{
    struct sb             text = sb_in(&arena, 0), out = sb_in(&arena, 0);
    struct context        c;
    struct err            e = { 0 };
    struct render_options o = { .limited = limit != LIMIT_NONE, .limit = limit };

    for (const char *p = quoted; *p; p++)
        sb_addc(&text, *p == '\'' ? '"' : *p);
    report = report_in(&arena);
    if (context_read(sb_sv(&text), &arena, &c, &e) ||
        render_context(f, &c, &o, &arena, &out, &report, &e)) {
        tap_check(0, __FILE__, __LINE__, e.text);
        return SV("");
    }
    return sb_sv(&out);
}

static inline struct sv render_all(enum render_format f, const char *quoted)
{
    return render_limited(f, quoted, LIMIT_NONE);
}

/* The wanted text, also with ' for ". */
static inline struct sv want(const char *quoted)
{
    struct sb b = sb_in(&arena, 0);

    for (const char *p = quoted; *p; p++)
        sb_addc(&b, *p == '\'' ? '"' : *p);
    return sb_sv(&b);
}

/* The i-th line of the report, as a person sees it. */
static inline struct sv repair_line(size_t i)
{
    struct sb b = sb_in(&arena, 0);

    if (i < report.list.n)
        repair_write(&b, &report.list.v[i]);
    return sb_sv(&b);
}

#endif

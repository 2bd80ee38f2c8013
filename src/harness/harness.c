/* The names of the programs whose sessions are known, and reports. */
#include "harness/harness_internal.h"

#include <stdio.h>

static const struct {
    const char *name, *title;
} table[] = {
#define X(id, name, title) [HARNESS_##id] = { name, title },
    HARNESS_TABLE(X)
#undef X
};

const char *harness_name(enum harness h)
{
    return table[h].name;
}

const char *harness_title(enum harness h)
{
    return table[h].title;
}

bool harness_find(struct sv name, enum harness *out)
{
    for (size_t i = 0; i < COUNT(table); i++)
        if (sv_is(name, table[i].name)) {
            *out = (enum harness)i;
            return true;
        }
    return false;
}

void harness_report_init(struct harness_report *r, struct arena *a)
{
    *r = (struct harness_report){ .a = a };
}

/* Formatted in place: a file with a million faults of one kind takes no memory for them. */
void harness_note(struct harness_report *r, int64_t number, const char *fmt, ...)
{
    char    what[256];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    for (size_t i = 0; i < r->notes.n; i++)
        if (sv_is(r->notes.v[i].what, what)) {
            r->notes.v[i].count++;
            return;
        }
    if (r->notes.n == HARNESS_NOTES_MAX)
        r->others++;
    else
        *vec_push(&r->notes, r->a) =
            (struct harness_note){ .what = sv_dup(sv_of(what), r->a), .count = 1, .first = number };
}

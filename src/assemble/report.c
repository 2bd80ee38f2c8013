/* The list of changes that rendering made, and its words. */
#include "assemble/report.h"

static const char *const words[] = {
#define X(kind, word) [kind] = word,
    REPAIR_TABLE(X)
#undef X
};

struct render_report report_in(struct arena *a)
{
    return (struct render_report){ .a = a };
}

void report_add(struct render_report *r, enum repair_kind kind, struct repair_place place,
                const char *fmt, ...)
{
    struct sb b = sb_in(r->a, 0);
    va_list   ap;

    va_start(ap, fmt);
    sb_addvf(&b, fmt, ap);
    va_end(ap);
    *vec_push(&r->list, r->a) =
        (struct repair){ kind, place.seq, place.tool_call_id, sb_sv(&b), place.at };
}

void report_cut(struct render_report *r, size_t start)
{
    size_t kept = 0;

    for (size_t i = 0; i < r->list.n; i++)
        if (r->list.v[i].at >= start)
            r->list.v[kept++] = r->list.v[i];
    r->list.n = kept;
}

void repair_write(struct sb *b, const struct repair *repair)
{
    if (repair->seq >= 0)
        sb_addf(b, "entry %lld", (long long)repair->seq);
    else if (repair->seq == -1)
        sb_adds(b, "snapshot");
    if (repair->tool_call_id.n) {
        sb_adds(b, ", call ");
        sb_add_plain_line(b, repair->tool_call_id);
    }
    sb_addf(b, "%s%s ", repair->seq == REPAIR_NO_ENTRY ? "" : ": ", words[repair->kind]);
    sb_add_plain_line(b, repair->what);
}

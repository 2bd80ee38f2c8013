/* Reading a thread from end to end, in memory that does not grow with it. */
#include "api/log/log_walk.h"

#include "thread/log_read.h"

/* Findings that are warned of one by one; the error at the end counts all of them. */
enum { TOLD_MAX = 1000 };

static void tell(void *ctx, struct sv finding)
{
    struct request *r = ctx;

    if (r->warnings.n < TOLD_MAX)
        request_warn(r, (struct sv){ 0 }, (struct sv){ 0 }, SV_FMT, SV_ARG(finding));
}

enum status log_walk(struct request *r, struct log_walk *w, struct err *e)
{
    struct log_reader in;
    struct entry      n;
    bool              more = true, intact;
    enum status       s = log_read_open(&in, &r->log, w->thread, w->from, w->to, tell, r, e);

    if (s)
        return s;
    while (!r->out || !r->out->failed) { /* failed: the reader has closed its end */
        s = log_read_next(&in, &n, &intact, &more, e);
        if (s || !more)
            break;
        w->given++;
        s = w->each(w->ctx, &n, intact, e);
        if (!s)
            s = request_check(r, e);
        if (s)
            break;
        request_progress(r, "export", n.seq, in.end > 0 ? in.end : 0);
    }
    log_read_close(&in);
    return s || more ? s : log_read_result(&in, e);
}

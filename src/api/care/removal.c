/* The first step of an operation that says that a text is gone. */
#include "api/care/removal.h"

#include "api/care/staged.h"

static void tell_left(void *ctx, struct sv token, struct sv into)
{
    (void)token;
    if (into.s)
        request_warn(ctx, SV("unfinished"), (struct sv){ 0 },
                     "an import into " SV_FMT " was interrupted: its rest is appended first, and "
                     "not listed here",
                     SV_ARG(into));
    else
        request_warn(ctx, SV("unfinished"), (struct sv){ 0 },
                     "an import or a restore was interrupted: what it had read is removed first");
}

enum status removal_begin(struct request *r, bool dry_run, struct former **former, size_t *n,
                          struct err *e)
{
    if (former_find(r, former, n, e))
        return err_code(e);
    return dry_run ? staged_each_left(&r->log, r->ws->root_fd, r->a, tell_left, r, e)
                   : staged_sweep(r, &r->log, r->ws->root_fd, NULL, e);
}

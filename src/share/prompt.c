/* The prompt of an agent, put together from its parts. */
#include "share/prompt.h"

enum status prompt_make(struct share *s, struct sv thread, unsigned flags, struct sv task,
                        struct prompt *out, struct err *e)
{
    struct sv block, injected;
    struct sb b = sb_in(s->a, 0);

    if (block_write(s, thread, flags, &block, e) ||
        share_pending(s, thread, &out->pending, &out->n_pending, e))
        return err_code(e);
    sb_add(&b, block);
    if (out->n_pending) {
        if (block_injections(out->pending, out->n_pending, s->a, &injected, e))
            return err_code(e);
        sb_addf(&b, "\n\n" SV_FMT, SV_ARG(injected));
    }
    if (task.s) {
        sb_adds(&b, "\n\n");
        sb_add(&b, task);
    }
    out->text = sb_sv(&b);
    return ST_OK;
}

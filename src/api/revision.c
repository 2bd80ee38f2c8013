/* What an answer depends on, hashed. */
#include "api/revision.h"

#include "base/hash.h"
#include "loom/agent.h"

static struct sv hash_sv(const struct hash *h)
{
    return (struct sv){ (const char *)h->b, HASH_SIZE };
}

/* Both heads in one transaction, which costs less than two. */
static enum status read_heads(struct log *l, struct sv thread, struct store_head *own,
                              struct store_head *global, struct err *e)
{
    if (store_begin(l->store, STORE_READ, e))
        return err_code(e);
    enum status s = log_head(l, GLOBAL_THREAD, global, e);
    if (!s && thread.s)
        s = log_head(l, thread, own, e);
    store_abort(l->store);
    return s;
}

enum status revision_write(struct request *r, struct sv thread, struct sv form, struct sb *out,
                           struct err *e)
{
    struct store_head own = { 0 }, global;

    if (request_log(r, STORE_READ, e) || read_heads(&r->log, thread, &own, &global, e))
        return err_code(e);
    struct sv   parts[] = { hash_sv(&own.chain), hash_sv(&global.chain), form, SV(HEDDLE_VERSION) };
    struct hash h = hash_blake2b(parts, COUNT(parts));
    sb_addf(out, "%lld-", (long long)(thread.s ? own.rev : global.rev));
    sb_add_hex(out, h.b, 8);
    return ST_OK;
}

/* Documents in a turn. A command that writes one changes a file, and then the log: when the process
 * is killed in between, the command is run again, and must find the file as it was. So the bytes of
 * the file are kept before it is written, under the number of the command. */
#include "agent/turn_internal.h"

#include "base/hash.h"

/* The number of the running command; absent: none of a run is. */
static struct sv write_name(struct turn_work *t, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    if (!t->s->op_id.n)
        return (struct sv){ 0 };
    sb_addf(&b, "%lld-%zu", (long long)t->s->round, t->s->line - 1);
    return sb_sv(&b);
}

static enum status changed_since(struct sv path, struct err *e)
{
    err_set(e, ST_CONFLICT,
            "'" SV_FMT "' was being written when the turn was interrupted, and has "
            "changed since",
            SV_ARG(path));
    return err_hint(e, "read it again, then write");
}

static enum status read_doc(void *ctx, struct sv thread, struct sv name, struct arena *a,
                            struct doc *out, struct err *e)
{
    struct turn_work  *t = ctx;
    struct spool_write was;
    struct sv          file = write_name(t, a);
    bool               found;

    if (t->docs.read(t->docs.ctx, thread, name, a, out, e))
        return err_code(e);
    if (!file.n)
        return ST_OK;
    if (spool_write_read(&t->spool, file, a, &was, &found, e))
        return err_code(e);
    if (!found || !sv_eq(was.path, out->path) || sv_eq(out->hash, was.before))
        return ST_OK;
    if (!sv_eq(out->hash, was.after))
        return changed_since(out->path, e);
    out->text = was.text;
    out->hash = was.before;
    return ST_OK;
}

static enum status write_doc(void *ctx, const struct doc *d, struct sv text, struct err *e)
{
    struct turn_work  *t = ctx;
    struct arena       scratch = { 0 };
    struct hash        h = hash_blake2b(&text, 1);
    struct sv          file = write_name(t, &scratch);
    struct spool_write keep = { d->path, d->hash, hash_hex(&h, &scratch), d->text };
    enum status        st = file.n ? spool_write_keep(&t->spool, file, &keep, e) : ST_OK;

    arena_free(&scratch);
    return st ? st : t->docs.write(t->docs.ctx, d, text, e);
}

static enum status list_docs(void *ctx, struct sv thread, struct arena *a, struct doc_name **out,
                             size_t *n, struct err *e)
{
    struct turn_work *t = ctx;

    return t->docs.list(t->docs.ctx, thread, a, out, n, e);
}

static enum status create_doc(void *ctx, struct sv thread, struct sv name, struct arena *a,
                              struct doc *out, struct err *e)
{
    struct turn_work *t = ctx;

    return t->docs.create(t->docs.ctx, thread, name, a, out, e);
}

void turn_docs(struct turn_work *t)
{
    t->docs = t->s->env.docs;
    t->s->env.docs = (struct docs){ .ctx = t,
                                    .read = t->docs.read ? read_doc : NULL,
                                    .write = t->docs.write ? write_doc : NULL,
                                    .list = t->docs.list ? list_docs : NULL,
                                    .create = t->docs.create ? create_doc : NULL };
}

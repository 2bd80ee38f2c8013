/* Files and pages of a session that is bound to a thread, read and cut by the room that makes
 * input.md. */
#include "assemble/resources.h"

#include "base/hash.h"
#include "loom/shown.h"

/* The first line, so that the resources are not mistaken for a part of the conversation. */
#define HEADING "=== Resources ===\n"

static void count_cuts(struct assembly_draft *d, const struct payload *p, bool all)
{
    struct assembly_pruned *pruned = &d->x->pruned;

    pruned->resources = pruned->resource_tokens = 0;
    d->resource_cuts.n = 0;
    for (size_t i = 0; i < p->lists.resources.n; i++) {
        const struct resource *r = &p->lists.resources.v[i];
        if (!r->scopes || !(all || r->cut))
            continue;
        pruned->resources++;
        pruned->resource_tokens += (int64_t)r->block_tokens;
        *vec_push(&d->resource_cuts, d->a) = (struct assembly_cut){
            .kind = SECTION_RESOURCES,
            .source = { .from = -1, .to = -1, .path = sv_dup(r->name, d->a), .count = 1 },
            .before = r->block_tokens,
            .what = SV("left out"),
            .why = SV("to fit the budget"),
        };
    }
}

/* Each resource that is sent is a section of its own; its text is a part of the text of all
 * resources. */
static void list_kept(struct assembly_draft *d, const struct payload *p)
{
    d->resource_parts.n = 0;
    for (size_t i = 0; i < p->lists.resources.n; i++) {
        const struct resource   *r = &p->lists.resources.v[i];
        struct assembly_section *s;
        if (!r->scopes || r->cut)
            continue;
        s = vec_push(&d->resource_parts, d->a);
        *s = (struct assembly_section){
            .kind = SECTION_RESOURCES,
            .source = { .from = -1, .to = -1, .path = sv_dup(r->name, d->a), .count = 1 },
            .tokens = r->block_tokens,
        };
        if (r->has_hash)
            s->source.hash = hash_hex(&r->sha256, d->a);
    }
}

static void take_text(struct assembly_draft *d, struct sv text)
{
    struct sb b = sb_in(d->a, 0);

    sb_adds(&b, HEADING);
    sb_add(&b, text);
    sb_adds(&b, sv_ends(text, SV("\n")) ? "===" : "\n===");
    d->resources = sb_sv(&b);
}

static void take_line(struct assembly_draft *d, const struct payload *p)
{
    struct sb b = sb_in(d->a, 0);

    count_cuts(d, p, true);
    d->resource_parts.n = 0;
    sb_add_count_of(&b, d->x->pruned.resources, "resource is", "resources are");
    sb_adds(&b, " left out: ");
    sb_add_commas(&b, d->x->pruned.resource_tokens);
    sb_adds(&b, " tokens.\n");
    take_text(d, sb_sv(&b));
}

static size_t listed(const struct payload *p)
{
    size_t n = 0;

    for (size_t i = 0; i < p->lists.resources.n; i++)
        n += p->lists.resources.v[i].scopes != 0;
    return n;
}

/* The warnings of a payload (a file that cannot be read, a secret) are the caller's to tell. */
static void take_warnings(struct assembly_draft *d, const struct payload *p)
{
    payload_notes notes = payload_warnings(p, d->a);

    d->x->warnings.n = 0;
    for (size_t i = 0; i < notes.n; i++)
        *vec_push(&d->x->warnings, d->a) = notes.v[i];
}

static enum status write_payload(struct assembly_draft *d, struct payload *p, struct err *e)
{
    struct sb out = sb_in(d->a, 0);

    if (payload_write(p, &out, e))
        return err_code(e);
    count_cuts(d, p, false);
    list_kept(d, p);
    take_text(d, sb_sv(&out));
    return ST_OK;
}

static enum status make(struct assembly_draft *d, struct payload *p, bool only_line, struct err *e)
{
    enum status s = payload_measure(p, e);

    if (s || !listed(p))
        return s;
    take_warnings(d, p);
    if (!only_line && p->q->budget)
        s = payload_apply_budget(p, e);
    if (!only_line && !s)
        return write_payload(d, p, e);
    if (s && s != ST_LIMIT_EXCEEDED)
        return s;
    take_line(d, p);
    return ST_OK;
}

enum { ATTEMPTS = 5 };

/* If a file changes while it is read, the attempt is repeated. */
static enum status run(struct assembly_draft *d, size_t tokens, bool only_line, struct err *e)
{
    struct payload_request q;
    struct payload         p;
    enum status            s = ST_OK;

    if (!d->q->payload || !(d->q->agent.permissions & (PERM_loom_aware | PERM_doc_read)))
        return ST_OK;
    q = *d->q->payload;
    q.format = PAYLOAD_MARKDOWN;
    q.count = q.hash = true;
    q.budget = (int64_t)(tokens * 1000 / (size_t)d->q->counts->thousandths);
    for (int left = ATTEMPTS; left > 0; left--) {
        payload_collect(&p, &q, d->a);
        s = make(d, &p, only_line, e);
        payload_release(&p);
        if (s != ST_CONFLICT || e->reason[0]) /* a reason: the request was cancelled */
            break;
    }
    return s;
}

enum status draft_resources(struct assembly_draft *d, size_t tokens, struct err *e)
{
    return run(d, tokens, false, e);
}

enum status draft_drop_resources(struct assembly_draft *d, struct err *e)
{
    return run(d, 0, true, e);
}

/* Which thinking may be sent back: a chain of hashes over what stands before each message. */
#include "assemble/thinking.h"

#include "base/hash.h"
#include "base/json.h"

/* ---- what stands before a message -------------------------------------------------------- */

static void add_field(struct hash_blake2b *h, struct sv v)
{
    uint64_t n = v.s ? v.n + 1 : 0; /* absent is not empty */

    hash_blake2b_add(h, (struct sv){ (const char *)&n, sizeof n });
    hash_blake2b_add(h, v);
}

static struct hash chain_start(const struct context *c)
{
    struct hash_blake2b h;

    hash_blake2b_init(&h);
    add_field(&h, c->system_prompt);
    return hash_blake2b_end(&h);
}

/* Only the fields that a renderer reads are hashed; seq and time are not. */
static struct hash chain_next(const struct hash *before, const struct message *m)
{
    struct hash_blake2b h;

    hash_blake2b_init(&h);
    add_field(&h, (struct sv){ (const char *)before->b, HASH_SIZE });
    add_field(&h, m->role);
    add_field(&h, m->content);
    add_field(&h, m->tool_calls);
    add_field(&h, m->tool_call_id);
    add_field(&h, m->name);
    add_field(&h, m->reasoning_details);
    return hash_blake2b_end(&h);
}

static struct hash prefix_of(const struct context *c)
{
    struct hash h = chain_start(c);

    for (size_t i = 0; i < c->n; i++)
        h = chain_next(&h, &c->messages[i]);
    return h;
}

struct sv thinking_keep(struct sv model, struct sv parts, const struct context *asked,
                        struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    if (!parts.n)
        return (struct sv){ 0 };
    struct hash prefix = prefix_of(asked);
    jw_open(&w, '{');
    jw_kstr(&w, "model", model);
    jw_key(&w, "parts");
    jw_raw(&w, parts);
    jw_kstr(&w, "prefix", hash_hex(&prefix, a));
    jw_close(&w, '}');
    return sb_sv(&b);
}

/* ---- what may be sent ---------------------------------------------------------------------- */

/* The parts that are not thinking, as a list; absent: there are none. */
static struct sv unbound_parts(const struct json *parts, struct arena *a, size_t *n)
{
    struct sb b = sb_in(a, 0);

    *n = 0;
    for (size_t i = 0; i < parts->n; i++) {
        if (!sv_is(json_text(&parts->items[i], "type"), "message"))
            continue;
        sb_addc(&b, *n ? ',' : '[');
        json_write(&b, &parts->items[i]);
        ++*n;
    }
    sb_adds(&b, *n ? "]" : "");
    return *n ? sb_sv(&b) : (struct sv){ 0 };
}

/* All parts, if this model made them after exactly this context; else those that are not thinking,
 * or absent. *dropped says whether any was left out. */
static enum status parts_of(struct sv details, struct sv model, const struct hash *before,
                            struct arena *a, struct sv *out, bool *dropped, struct err *e)
{
    struct json        v;
    const struct json *parts;
    size_t             unbound = 0;

    *out = (struct sv){ 0 };
    *dropped = true;
    if (json_parse(details, 0, a, &v, e)) {
        e->code = ST_CORRUPT;
        return err_in(e, "a stored message");
    }
    parts = json_find(&v, "parts");
    struct sv by = json_text(&v, "model");
    if (!json_is(parts, JSON_ARRAY) || !parts->n ||
        !sv_eq(sv_cut(by, ':').head, sv_cut(model, ':').head))
        return ST_OK;
    if (sv_eq(by, model) && sv_eq(json_text(&v, "prefix"), hash_hex(before, a))) {
        *out = json_canonical(parts, a);
        *dropped = false;
        return ST_OK;
    }
    *out = unbound_parts(parts, a, &unbound);
    *dropped = unbound < parts->n;
    return ST_OK;
}

enum status thinking_settle(const struct context *c, struct sv model, struct arena *a,
                            struct context *out, struct render_report *r, struct err *e)
{
    struct hash before = chain_start(c);
    size_t      dropped = 0;

    *out = *c;
    out->messages = ARENA_NEW(a, struct message, c->n + 1);
    for (size_t i = 0; i < c->n; i++) {
        struct message *m = &out->messages[i];
        *m = c->messages[i];
        if (m->reasoning_details.s) {
            bool gone;
            if (parts_of(m->reasoning_details, model, &before, a, &m->reasoning_details, &gone, e))
                return err_code(e);
            m->thinking = (struct sv){ 0 }; /* it is in the parts, or dropped with them */
            m->whole = (struct sv){ 0 };
            dropped += gone;
        }
        before = chain_next(&before, m);
    }
    if (dropped)
        report_add(r, REPAIR_DROPPED, REPAIR_OF_ALL,
                   "the thinking of %zu message%s: what stands before it has changed, or another "
                   "model made it",
                   dropped, dropped == 1 ? "" : "s");
    return ST_OK;
}

/* A line of a log: whatever is accepted is written as a line that reads back as the same entry,
 * whatever the defaults of the second reader are, and is written the same again; and what is made
 * of it when it goes into a log depends on the line alone. */
#include "thread/entry_json.h"
#include "thread/kind.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool same(struct sv a, struct sv b)
{
    return !a.s == !b.s && sv_eq(a, b);
}

static bool same_entry(const struct entry *x, const struct entry *y)
{
    return x->at == y->at && same(x->id, y->id) && same(x->kind, y->kind) &&
           same(x->lane, y->lane) && same(x->actor, y->actor) && same(x->op_id, y->op_id) &&
           same(x->payload, y->payload) && same(x->refs, y->refs) && x->mark == y->mark;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct entry_defaults first = { 7, SV_STATIC("lane"), SV_STATIC("who") };
    static const struct entry_defaults other = { 9, SV_STATIC("elsewhere"), SV_STATIC("x") };
    struct arena                       a = { 0 };
    struct err                         e;
    struct entry_line                  one, two;
    struct hash                        zero = { { 0 } };

    if (entry_read((struct sv){ (const char *)data, size }, &first, &a, &one, &e) == ST_OK &&
        kind_prepare(&one.entry, &e) == ST_OK && entry_check(&one.entry, &e) == ST_OK) {
        struct sb b = sb_in(&a, 0), again = sb_in(&a, 0);
        one.entry.chain = entry_chain(&one.entry, &zero);
        entry_write(&b, &one.entry);
        if (entry_read(sb_sv(&b), &other, &a, &two, &e) || kind_prepare(&two.entry, &e))
            abort();
        two.entry.chain = entry_chain(&two.entry, &zero);
        entry_write(&again, &two.entry);
        if (!same_entry(&one.entry, &two.entry) || !sv_eq(sb_sv(&b), sb_sv(&again)) ||
            !two.has_chain || !hash_eq(&two.chain, &one.entry.chain))
            abort();
    }
    arena_free(&a);
    return 0;
}

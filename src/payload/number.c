/* Adding line numbers to text that comes in parts, and removing them. */
#include "payload/number.h"

#include <stdio.h>

#define NUMBER_FORMAT "%4llu: "

void number_add(struct number *n, struct sb *b, struct sv part)
{
    while (part.n) {
        struct sv_cut c = sv_cut(part, '\n');
        if (!n->inside)
            sb_addf(b, NUMBER_FORMAT, (unsigned long long)++n->line);
        sb_add(b, c.head);
        if (c.found)
            sb_addc(b, '\n');
        n->inside = !c.found;
        part = c.tail;
    }
}

struct sv number_removed(struct sv text, struct arena *a)
{
    struct sb plain = sb_in(a, 0);

    for (uint64_t line = 1; text.n; line++) {
        char          room[32];
        struct sv_cut c = sv_cut(text, '\n');
        int           n = snprintf(room, sizeof room, NUMBER_FORMAT, (unsigned long long)line);
        if (!sv_starts(c.head, (struct sv){ room, (size_t)n }))
            return (struct sv){ 0 };
        sb_add(&plain, sv_skip(c.head, (size_t)n));
        if (c.found)
            sb_addc(&plain, '\n');
        text = c.tail;
    }
    return sb_sv(&plain);
}

#include "payload/number.h"

void number_add(struct number *n, struct sb *b, struct sv part)
{
    while (part.n) {
        struct sv_cut c = sv_cut(part, '\n');
        if (!n->inside)
            sb_addf(b, "%4llu: ", (unsigned long long)++n->line);
        sb_add(b, c.head);
        if (c.found)
            sb_addc(b, '\n');
        n->inside = !c.found;
        part = c.tail;
    }
}

/* An Open Loom file of any size, with all that an import writes: branches, notes, bookmarks,
 * prunes, links, summaries, a node that was selected. */
#ifndef HEDDLE_OPEN_LOOM_H
#define HEDDLE_OPEN_LOOM_H

#include "base/sb.h"

static inline void open_loom_node(struct sb *b, int i)
{
    sb_addf(b,
            "%s\"n%d\":{\"author\":{\"role\":\"%s\"},\"content\":[{\"text\":\"node %d of the "
            "tree\",\"type\":\"text\"}]",
            i ? "," : "", i, i % 2 ? "model" : "human", i);
    if (i % 50 == 7)
        sb_adds(b, ",\"meta\":{\"bookmarkLabel\":\"here\",\"bookmarked\":true}");
    else if (i % 97 == 5)
        sb_adds(b, ",\"meta\":{\"pruned\":true}");
    if (i % 61 == 3)
        sb_addf(b,
                ",\"extensions\":{\"heddle\":{\"links\":[{\"nodeId\":\"n%d\"}],"
                "\"summary\":{\"text\":\"the sum of it\"}}}",
                i / 2);
    sb_addc(b, '}');
}

/* `trees` trees of `nodes` nodes each. A note has the number i with i % 33 == 32. */
static inline struct sv open_loom_in(struct arena *a, int trees, int nodes)
{
    struct sb b = sb_in(a, 0);

    sb_adds(&b, "{\"format\":\"open-loom\",\"trees\":[");
    for (int t = 0; t < trees; t++) {
        sb_addf(&b, "%s{\"currentNodeId\":\"n%d\",\"id\":\"t%d\",\"mode\":\"dialogue\",\"nodes\":{",
                t ? "," : "", nodes / 2, t);
        for (int i = 0; i < nodes; i++)
            open_loom_node(&b, i);
        sb_adds(&b, "},\"edges\":[");
        for (int i = 1; i < nodes; i++)
            sb_addf(&b,
                    "%s{\"sources\":[{\"nodeId\":\"n%d\"}],\"targetNodeId\":\"n%d\",\"type\":"
                    "\"%s\"}",
                    i > 1 ? "," : "", i % 10 == 0 ? i - 6 : i - 1 - (i % 33 == 0), i,
                    i % 33 == 32 ? "annotation" : "continuation");
        sb_adds(&b, "],\"rootNodeIds\":[\"n0\"],\"title\":\"Long\"}");
    }
    sb_adds(&b, "],\"version\":\"2.0\"}");
    return sb_sv(&b);
}

#endif

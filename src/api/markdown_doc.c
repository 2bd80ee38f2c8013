/* Texts as trees of Markdown nodes in documents: messages of a tree, files of a thread. */
#include "api/markdown_doc.h"

#include "markdown/markdown.h"

void markdown_doc(struct request *r, struct sv thread, struct sv text)
{
    struct sb  b = sb_in(r->a, 0);
    struct jw  w = jw_in(&b, 0);
    struct err e;
    bool       cut = false;

    jw_key(r->doc, "markdown");
    if (!markdown_write(text, &w, &cut, &e) && !cut) {
        jw_raw(r->doc, sb_sv(&b));
        return;
    }
    jw_null(r->doc);
    if (!cut && e.code == ST_IO && !r->warnings.n)
        request_warn(r, (struct sv){ 0 }, thread, "%s: %s", e.text, e.hint);
}

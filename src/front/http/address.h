/* The document behind an address of the page: `.json` behind the address is the operation that the
 * screen shows. `GET /t/design/log.json?at=12` is `GET /api/log.list?thread=design&from=12&…`, with
 * the same checks and the same answer.
 *
 * A browser that goes to such an address asks for text/html, and gets the page: what a browser
 * sends by itself is not a permission (see who.h). The page then asks for
 * /api/at/t/design/log?at=12, which gives the document. */
#ifndef HEDDLE_FRONT_ADDRESS_H
#define HEDDLE_FRONT_ADDRESS_H

#include "front/http/head.h"

/* Makes path and query those of the operation, if the address is one of a document. The text lives
 * in `a`. */
void address_settle(struct serve_head *h, struct arena *a);

#endif

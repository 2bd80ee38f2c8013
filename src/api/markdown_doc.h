/* A member of a document that holds a text as a tree of Markdown nodes. */
#ifndef HEDDLE_MARKDOWN_DOC_H
#define HEDDLE_MARKDOWN_DOC_H

#include "api/request.h"

/* Writes the member "markdown" of r's document: the nodes of `text` (markdown/markdown.h), or null
 * when the text is too long, has too many nodes, or the parser is not installed. The last case adds
 * a warning about `thread`, once in a request. */
void markdown_doc(struct request *r, struct sv thread, struct sv text);

#endif

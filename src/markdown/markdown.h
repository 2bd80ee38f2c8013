/* Markdown as a tree of nodes, for a page that makes elements of them. No HTML is ever made: what
 * looks like a tag in the text is text. The parser is libcmark-gfm, loaded on first use.
 *
 *     [ { "type": "heading", "level": 2, "children": [ "Words, ", { "type": "code", "text": "x" } ]
 * }, { "type": "list", "ordered": true, "start": 1, "tight": true, "children": [ … ] } ]
 *
 * A string is text. Blocks: paragraph, heading, quote, list, item (checked, for a task), code_block
 * (info, text), rule, table (children are rows, the first one its head), row, cell. Within lines:
 * emphasis, strong, code (text), link and image (url, title), break. `url` is there only when it
 * starts with http:, https:, mailto: or #. */
#ifndef HEDDLE_MARKDOWN_H
#define HEDDLE_MARKDOWN_H

#include "base/json.h"

enum {
    MARKDOWN_BYTES_MAX = 200 * 1024,
    MARKDOWN_NODES_MAX = 50000,
    MARKDOWN_DEPTH_MAX = 20, /* what is nested deeper is there as text */

    /* Beyond these, tables are read as paragraphs: the time that the parser takes for them grows
     * with the square of what it is given (18 s for 200 KB). */
    MARKDOWN_TABLE_BYTES = 64 * 1024,
    MARKDOWN_TABLE_LINES = 1000,
    MARKDOWN_TABLE_COLUMNS = 64,
};

/* The list of the top nodes. *cut: there are more than MARKDOWN_NODES_MAX nodes, and the rest is
 * left out. ST_LIMIT_EXCEEDED: the text is longer than MARKDOWN_BYTES_MAX. ST_IO, reason "library":
 * the parser is not installed. Nothing is written then. Safe from several threads. */
enum status markdown_write(struct sv text, struct jw *w, bool *cut, struct err *e) MUST_USE;

#endif

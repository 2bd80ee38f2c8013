/* Text for a person: what the printers of operations write to. It knows how wide the terminal is
 * and whether it has colours; without a terminal the width is unlimited and there are none, so
 * that the text of a document is always the same for a program that reads it.
 *
 *     struct term_table t = { .heads = heads };
 *     term_row(&t, term->a, (struct sv[]){ id, status, title });
 *     term_table(&t, term);                                                            */
#ifndef HEDDLE_TERM_H
#define HEDDLE_TERM_H

#include "base/sb.h"
#include "base/vec.h"

struct json;

struct term {
    struct sb    *out;
    struct arena *a;
    size_t        width; /* columns; 0: unlimited */
    bool          colour;
};

enum term_style {
    STYLE_PLAIN,
    STYLE_HEAD,
    STYLE_DIM,
    STYLE_GOOD,
    STYLE_BAD,
    STYLE_NOTE,
    STYLE_NAME,
};

/* The print() of an operation that prints nothing for people. */
void term_nothing(const struct json *doc, struct term *t);

/* Text of others: made harmless for the terminal (sb_add_plain). */
void term_text(struct term *t, struct sv text);
void term_styled(struct term *t, enum term_style style, struct sv text);
void term_f(struct term *t, const char *fmt, ...) PRINTF(2, 3); /* heddle's own text */

/* Rows under headings. Columns are as wide as their widest cell. Where the terminal is too narrow
 * the widest columns are cut, with an ellipsis, the first one last, but none below
 * TERM_COLUMN_MIN. */
enum { TERM_COLUMNS = 8, TERM_COLUMN_MIN = 8 };
struct term_cells {
    struct sv *v;
};
struct term_table {
    VEC(struct term_cells) rows;
    const char *const *heads; /* ends with NULL */
    size_t             n, width[TERM_COLUMNS];
};
void term_row(struct term_table *t, struct arena *a, const struct sv *cells);
void term_table(const struct term_table *t, struct term *to);

/* The end of a list: when `next` in the document says that there is more, a line that names the
 * option which shows it. */
void term_next(const struct json *doc, const char *option, struct term *t);

#endif

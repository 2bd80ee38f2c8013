/* Printing for a person: styles, and tables that fit the terminal. */
#include "api/term.h"

#include "base/json.h"
#include "base/utf8.h"

/* clang-format off */
static const char *const style_codes[] = {
    [STYLE_PLAIN] = "", [STYLE_HEAD] = "1", [STYLE_DIM] = "2", [STYLE_GOOD] = "32",
    [STYLE_BAD] = "31", [STYLE_NOTE] = "33", [STYLE_NAME] = "36",
};
/* clang-format on */

void term_nothing(const struct json *doc, struct term *t)
{
    (void)doc;
    (void)t;
}

void term_text(struct term *t, struct sv text)
{
    sb_add_plain(t->out, text);
}

void term_styled(struct term *t, enum term_style style, struct sv text)
{
    bool coloured = t->colour && style != STYLE_PLAIN;

    if (coloured)
        sb_addf(t->out, "\x1b[%sm", style_codes[style]);
    sb_add_plain(t->out, text);
    if (coloured)
        sb_adds(t->out, "\x1b[0m");
}

void term_f(struct term *t, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    sb_addvf(t->out, fmt, ap);
    va_end(ap);
}

/* ---- tables ------------------------------------------------------------------------- */

/* The first line of a text, harmless for the terminal. */
static struct sv cell_text(struct sv v, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add_plain_line(&b, sv_cut(v, '\n').head);
    return sb_sv(&b);
}

void term_row(struct term_table *t, struct arena *a, const struct sv *cells)
{
    for (t->n = 0; t->heads[t->n] && t->n < TERM_COLUMNS;)
        t->n++;
    struct sv *row = ARENA_NEW(a, struct sv, t->n);
    for (size_t i = 0; i < t->n; i++) {
        row[i] = cell_text(cells[i], a);
        size_t wide = utf8_width(row[i]);
        t->width[i] = wide > t->width[i] ? wide : t->width[i];
    }
    *vec_push(&t->rows, a) = (struct term_cells){ row };
}

/* Which column becomes narrower: the widest. The first one holds ids, which are copied, so it is
 * the last to be cut. */
static size_t widest_column(const size_t *width, size_t n)
{
    size_t widest = n > 1 ? 1 : 0;

    for (size_t c = widest + 1; c < n; c++)
        widest = width[c] >= width[widest] ? c : widest;
    return width[widest] > TERM_COLUMN_MIN ? widest : 0;
}

/* How wide each column is: what it asks for, less where the terminal has no room for all. */
static void fit_columns(const struct term_table *t, size_t limit, size_t *width)
{
    size_t total = 2 * (t->n - 1);

    for (size_t c = 0; c < t->n; c++) {
        size_t head = utf8_width(sv_of(t->heads[c]));
        width[c] = t->width[c] > head ? t->width[c] : head;
        total += width[c];
    }
    while (limit && total > limit) {
        size_t widest = widest_column(width, t->n);
        if (width[widest] <= TERM_COLUMN_MIN)
            break;
        width[widest]--;
        total--;
    }
}

/* A cell of at most `width` columns; what is longer ends with an ellipsis. Returns its width. */
static size_t put_cell(struct term *to, enum term_style style, struct sv cell, size_t width)
{
    size_t wide = utf8_width(cell);

    if (wide <= width) {
        term_styled(to, style, cell);
        return wide;
    }
    cell = utf8_fit(cell, width - 1);
    term_styled(to, style, cell);
    sb_adds(to->out, "…");
    return utf8_width(cell) + 1;
}

static void print_row(const struct term_table *t, struct term *to, const size_t *width,
                      const struct sv *row)
{
    for (size_t c = 0; c < t->n; c++) {
        enum term_style style = !row ? STYLE_HEAD : c ? STYLE_PLAIN : STYLE_NAME;
        size_t          wide = put_cell(to, style, row ? row[c] : sv_of(t->heads[c]), width[c]);
        if (c + 1 < t->n)
            sb_pad(to->out, ' ', width[c] - wide + 2);
    }
    sb_addc(to->out, '\n');
}

void term_table(const struct term_table *t, struct term *to)
{
    size_t width[TERM_COLUMNS] = { 0 };

    if (!t->rows.n || !t->n)
        return;
    fit_columns(t, to->width, width);
    print_row(t, to, width, NULL);
    for (size_t r = 0; r < t->rows.n; r++)
        print_row(t, to, width, t->rows.v[r].v);
}

void term_next(const struct json *doc, const char *option, struct term *t)
{
    const struct json *next = json_find(doc, "next");

    if (json_is(next, JSON_NUMBER))
        term_f(t, "there is more: %s " SV_FMT "\n", option,
               SV_ARG(((struct sv){ next->s, next->n })));
}

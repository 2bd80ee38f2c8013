/* Printing for a person: styles, and tables that fit the terminal. */
#include "api/term.h"

#include "base/utf8.h"

/* clang-format off */
static const char *const style_codes[] = {
    [STYLE_PLAIN] = "", [STYLE_HEAD] = "1", [STYLE_DIM] = "2", [STYLE_GOOD] = "32",
    [STYLE_BAD] = "31", [STYLE_NAME] = "36",
};
/* clang-format on */

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

static size_t column_width(const struct term_table *t, size_t c)
{
    size_t head = utf8_width(sv_of(t->heads[c]));

    return t->width[c] > head ? t->width[c] : head;
}

/* A last cell that would run past the edge ends with an ellipsis. */
static void put_last(struct term *to, enum term_style style, struct sv cell, size_t at)
{
    bool cut = to->width && at + utf8_width(cell) > to->width;

    if (!cut || at + 1 >= to->width) {
        term_styled(to, style, cell);
        return;
    }
    term_styled(to, style, utf8_fit(cell, to->width - at - 1));
    sb_adds(to->out, "…");
}

static void print_row(const struct term_table *t, struct term *to, const struct sv *row)
{
    enum term_style style = row ? STYLE_PLAIN : STYLE_HEAD;
    size_t          at = 0;

    for (size_t c = 0; c < t->n; c++) {
        struct sv cell = row ? row[c] : sv_of(t->heads[c]);
        if (c + 1 == t->n) {
            put_last(to, style, cell, at);
            break;
        }
        term_styled(to, style, cell);
        sb_pad(to->out, ' ', column_width(t, c) - utf8_width(cell) + 2);
        at += column_width(t, c) + 2;
    }
    sb_addc(to->out, '\n');
}

void term_table(const struct term_table *t, struct term *to)
{
    if (!t->rows.n)
        return;
    print_row(t, to, NULL);
    for (size_t r = 0; r < t->rows.n; r++)
        print_row(t, to, t->rows.v[r].v);
}

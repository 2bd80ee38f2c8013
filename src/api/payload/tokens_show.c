/* The ids and texts of tokens, into a document and from it to a terminal. */
#include "api/payload/tokens_show.h"

#include "base/utf8.h"

/* ---- into the document ------------------------------------------------------------------ */

static enum status add_texts(struct jw *j, struct tokens *t, const struct tokens_ids *ids,
                             struct arena *a, struct err *e)
{
    for (size_t i = 0; i < ids->n; i++) {
        struct sv text;
        if (tokens_text(t, ids->v[i], &text, e))
            return err_code(e);
        if (utf8_invalid(text) < 0) {
            jw_str(j, text);
            continue;
        }
        struct sb hex = sb_in(a, 0);
        sb_add_hex(&hex, text.s, text.n);
        jw_open(j, '{');
        jw_kstr(j, "hex", sb_sv(&hex));
        jw_close(j, '}');
    }
    return ST_OK;
}

enum status tokens_show_json(struct jw *j, struct tokens *t, const struct tokens_ids *ids,
                             bool texts, struct arena *a, struct err *e)
{
    jw_key(j, "ids");
    jw_open(j, '[');
    for (size_t i = 0; i < ids->n; i++)
        jw_int(j, ids->v[i]);
    jw_close(j, ']');
    if (!texts)
        return ST_OK;
    jw_key(j, "texts");
    jw_open(j, '[');
    if (add_texts(j, t, ids, a, e))
        return err_code(e);
    jw_close(j, ']');
    return ST_OK;
}

/* ---- from the document --------------------------------------------------------------------- */

static struct sv number_text(const struct json *number)
{
    return (struct sv){ number->s, number->n };
}

static char nibble(char c)
{
    return (char)(c >= 'a' ? c - 'a' + 10 : c - '0');
}

/* The bytes of a token, as tokens_show_json() wrote them. */
static struct sv bytes_of(const struct json *text, struct arena *a)
{
    struct sv hex = json_text(text, "hex");
    struct sb b = sb_in(a, 0);

    if (text->type == JSON_STRING)
        return json_sv(text);
    for (size_t i = 0; i + 1 < hex.n; i += 2)
        sb_addc(&b, (char)(nibble(hex.s[i]) << 4 | nibble(hex.s[i + 1])));
    return sb_sv(&b);
}

/* Valid text as it is (escaped for JSON when `quoted`), other bytes as \xNN. */
static void add_text(struct sb *out, struct sv text, bool quoted, struct arena *a)
{
    while (text.n) {
        ptrdiff_t bad = utf8_invalid(text);
        struct sv good = sv_first(text, bad < 0 ? text.n : (size_t)bad);
        if (quoted) {
            struct sb b = sb_in(a, 0);
            sb_add_json_string(&b, good);
            sb_add(out, (struct sv){ sb_sv(&b).s + 1, sb_sv(&b).n - 2 });
        } else {
            sb_add_plain(out, good);
        }
        text = sv_skip(text, good.n);
        if (text.n) {
            sb_addf(out, "\\x%02x", (unsigned char)text.s[0]);
            text = sv_skip(text, 1);
        }
    }
}

/* A newline is shown as an escape and then printed without colour, because a background colour
 * would run to the edge. */
static void add_colored(struct sb *out, struct sv text, const char *color, struct arena *a)
{
    while (text.n) {
        struct sv_cut line = sv_cut(text, '\n');
        if (line.head.n || line.found) {
            sb_adds(out, color);
            add_text(out, line.head, false, a);
            sb_adds(out, line.found ? "↵\033[0m\n" : "\033[0m");
        }
        text = line.tail;
    }
}

/* Black on five light grounds; five, so that repeated pairs and triples still differ. */
static const char *const grounds[] = { "\033[30;48;5;153m", "\033[30;48;5;222m",
                                       "\033[30;48;5;157m", "\033[30;48;5;217m",
                                       "\033[30;48;5;189m" };

static void print_colored(const struct json *texts, struct term *t)
{
    bool at_line_start = true;

    for (size_t i = 0; i < texts->n; i++) {
        struct arena_mark mark = arena_mark(t->a);
        struct sv         text = bytes_of(&texts->items[i], t->a);
        add_colored(t->out, text, grounds[i % COUNT(grounds)], t->a);
        at_line_start = sv_ends(text, SV("\n"));
        arena_reset(t->a, mark);
    }
    if (!at_line_start)
        sb_addc(t->out, '\n');
}

static void print_lines(const struct json *ids, const struct json *texts, struct term *t)
{
    for (size_t i = 0; i < ids->n && i < texts->n; i++) {
        struct arena_mark mark = arena_mark(t->a);
        sb_add(t->out, number_text(&ids->items[i]));
        sb_adds(t->out, "\t\"");
        add_text(t->out, bytes_of(&texts->items[i], t->a), true, t->a);
        sb_adds(t->out, "\"\n");
        arena_reset(t->a, mark);
    }
}

void tokens_show_print(const struct json *file, struct term *t)
{
    const struct json *ids = json_find(file, "ids"), *texts = json_find(file, "texts");

    if (texts && t->colour) {
        print_colored(texts, t);
    } else if (texts) {
        print_lines(ids, texts, t);
    } else {
        for (size_t i = 0; i < ids->n; i++) {
            if (i)
                sb_addc(t->out, ' ');
            sb_add(t->out, number_text(&ids->items[i]));
        }
        sb_addc(t->out, '\n');
    }
}

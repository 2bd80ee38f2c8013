#include "front/cli/tokens_show.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <unistd.h>

void tokens_show_ids(struct sb *out, const struct tokens_ids *ids)
{
    for (size_t i = 0; i < ids->n; i++) {
        if (i)
            sb_addc(out, ' ');
        sb_add_int(out, ids->v[i]);
    }
    sb_addc(out, '\n');
}

/* Valid text as it is (escaped for JSON when `quoted`), other bytes as \xNN. */
static void add_text(struct sb *out, struct sv text, bool quoted)
{
    while (text.n) {
        ptrdiff_t bad = utf8_invalid(text);
        struct sv good = sv_first(text, bad < 0 ? text.n : (size_t)bad);
        if (quoted) {
            struct arena scratch = { 0 };
            struct sb    b = sb_in(&scratch, 0);
            sb_add_json_string(&b, good);
            sb_add(out, (struct sv){ sb_sv(&b).s + 1, sb_sv(&b).n - 2 });
            arena_free(&scratch);
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

enum status tokens_show_lines(struct sb *out, struct tokens *t, const struct tokens_ids *ids,
                              struct err *e)
{
    for (size_t i = 0; i < ids->n; i++) {
        struct sv text;
        if (tokens_text(t, ids->v[i], &text, e))
            return err_code(e);
        sb_addf(out, "%u\t\"", ids->v[i]);
        add_text(out, text, true);
        sb_adds(out, "\"\n");
    }
    return ST_OK;
}

bool tokens_color_wanted(void)
{
    const char *term = getenv("TERM"), *no = getenv("NO_COLOR");

    return isatty(STDOUT_FILENO) && !(no && *no) && term && !sv_is(sv_of(term), "dumb");
}

/* A newline is shown, then done, without colour: a background would run to the edge. */
static void add_colored(struct sb *out, struct sv text, const char *color)
{
    while (text.n) {
        struct sv_cut line = sv_cut(text, '\n');
        if (line.head.n || line.found) {
            sb_adds(out, color);
            add_text(out, line.head, false);
            sb_adds(out, line.found ? "↵\033[0m\n" : "\033[0m");
        }
        text = line.tail;
    }
}

enum status tokens_show_color(struct sb *out, struct tokens *t, const struct tokens_ids *ids,
                              struct err *e)
{
    /* Black on five light grounds; five, so that repeated pairs and triples still differ. */
    static const char *const grounds[] = { "\033[30;48;5;153m", "\033[30;48;5;222m",
                                           "\033[30;48;5;157m", "\033[30;48;5;217m",
                                           "\033[30;48;5;189m" };
    bool                     at_line_start = true;

    for (size_t i = 0; i < ids->n; i++) {
        struct sv text;
        if (tokens_text(t, ids->v[i], &text, e))
            return err_code(e);
        add_colored(out, text, grounds[i % COUNT(grounds)]);
        at_line_start = sv_ends(text, SV("\n"));
    }
    if (!at_line_start)
        sb_addc(out, '\n');
    return ST_OK;
}

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

#include "loom/shown.h"

#include "base/utf8.h"

/* What stands at the start of a line of ours, after blanks. */
/* clang-format off */
static const struct sv marks[] = {
    SV_STATIC("→"), SV_STATIC("←"), SV_STATIC("✓"), SV_STATIC("✗"), SV_STATIC("==="),
    SV_STATIC("<thread_context"), SV_STATIC("</thread_context"), SV_STATIC("## Result "),
};
/* clang-format on */

static bool is_blank(int32_t cp)
{
    return cp == ' ' || cp == '\t' || cp == 0xa0 || (cp >= 0x2000 && cp <= 0x200f) ||
           cp == 0x202f || cp == 0x205f || cp == 0x2060 || cp == 0x3000 || cp == 0xfeff;
}

/* Everything that some reader takes for the end of a line. */
static bool ends_line(int32_t cp)
{
    return cp == '\n' || cp == '\r' || cp == '\v' || cp == '\f' || cp == 0x85 || cp == 0x2028 ||
           cp == 0x2029;
}

/* [a7x2] human · …: the head of a node. */
static bool is_node_head(struct sv v)
{
    enum { ID_MAX = 80, HEAD_MAX = ID_MAX + 24 };
    struct sv_cut c = sv_cut(sv_first(v, HEAD_MAX), ']'); /* no further: every line is looked at */

    if (!v.n || v.s[0] != '[' || !c.found || c.head.n > ID_MAX || sv_has(c.head, '\n'))
        return false;
    struct sv rest = sv_trim(c.tail);
    return sv_starts(rest, SV("human ·")) || sv_starts(rest, SV("model ·")) ||
           sv_starts(rest, SV("tool ·")) || sv_starts(rest, SV("collaborator ·"));
}

static bool looks_like_ours(struct sv line)
{
    size_t len;

    while (line.n && is_blank(utf8_decode(line, &len)))
        line = sv_skip(line, len);
    for (size_t i = 0; i < COUNT(marks); i++)
        if (sv_starts(line, marks[i]))
            return true;
    return is_node_head(line);
}

static void add_char(struct sb *b, struct sv v, int32_t cp)
{
    if (cp < 0)
        sb_add_utf8(b, 0xfffd);
    else if ((cp < 0x20 && cp != '\n' && cp != '\t') || (cp >= 0x7f && cp < 0xa0))
        sb_addf(b, "\\x%02x", (unsigned)cp);
    else
        sb_add(b, v);
}

void sb_add_shown(struct sb *b, struct sv text)
{
    bool   starts = true;
    size_t len;

    for (; text.n; text = sv_skip(text, len)) {
        int32_t cp = utf8_decode(text, &len);
        if (starts && looks_like_ours(text))
            sb_addc(b, '\\');
        if (cp == '\r' && len < text.n && text.s[len] == '\n') {
            starts = false;
            continue; /* CRLF is one line end */
        }
        add_char(b, sv_first(text, len), cp);
        starts = ends_line(cp);
    }
}

/* Characters of the folded text; `stop` after that many. Returns how many there were. */
static size_t fold_line(struct sb *b, struct sv text, size_t stop)
{
    size_t len, n = 0;
    bool   gap = false;

    for (text = sv_trim(text); text.n && n < stop; text = sv_skip(text, len)) {
        int32_t cp = utf8_decode(text, &len);
        if (ends_line(cp) || cp == ' ' || cp == '\t') {
            gap = true;
            continue;
        }
        if (gap) {
            sb_addc(b, ' ');
            n++;
        }
        gap = false;
        if (n < stop)
            add_char(b, sv_first(text, len), cp);
        n++;
    }
    return n;
}

void sb_add_oneline(struct sb *b, struct sv text)
{
    fold_line(b, text, SIZE_MAX);
}

void sb_add_name(struct sb *b, struct sv name)
{
    if (looks_like_ours(name))
        sb_addc(b, '\\');
    sb_add_oneline(b, name);
}

void sb_add_quoted(struct sb *b, struct sv text)
{
    struct arena scratch = { 0 };
    struct sb    line = sb_in(&scratch, 0);

    sb_add_oneline(&line, text);
    sb_addc(b, '"');
    for (size_t i = 0; i < line.n; i++) {
        if (line.s[i] == '"' || line.s[i] == '\\')
            sb_addc(b, '\\');
        sb_addc(b, line.s[i]);
    }
    sb_addc(b, '"');
    arena_free(&scratch);
}

/* The longest start of v, a folded line, that ends before a word and has at most max
 * characters; when its first word is longer than that, the word is cut. */
static struct sv cut_at_word(struct sv v, size_t max)
{
    size_t at = 0, chars = 0, last_gap = 0, len;

    for (; at < v.n && chars < max; chars++, at += len) {
        if (utf8_decode(sv_skip(v, at), &len) == ' ')
            last_gap = at;
    }
    if (at < v.n && v.s[at] == ' ')
        last_gap = at;
    return sv_first(v, last_gap ? last_gap : at);
}

void sb_add_preview(struct sb *b, struct sv text, size_t max)
{
    struct arena scratch = { 0 };
    struct sb    line = sb_in(&scratch, 0);
    size_t       n = fold_line(&line, text, max + 64);

    sb_addc(b, '"');
    if (n <= max) {
        sb_add(b, sb_sv(&line));
    } else {
        sb_add(b, cut_at_word(sb_sv(&line), max - 3));
        sb_adds(b, "...");
    }
    sb_addc(b, '"');
    arena_free(&scratch);
}

void sb_add_count(struct sb *b, int64_t n, const char *noun)
{
    sb_add_count_of(b, n, noun, noun);
    sb_adds(b, n == 1 ? "" : "s");
}

void sb_add_count_of(struct sb *b, int64_t n, const char *one, const char *many)
{
    sb_add_commas(b, n);
    sb_addf(b, " %s", n == 1 ? one : many);
}

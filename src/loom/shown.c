/* Making text of others harmless where it could pass for a command or for text of heddle. */
#include "loom/shown.h"

#include "base/utf8.h"
#include "loom/loom_internal.h"

#include <strings.h>

/* How lines that heddle prints begin, after spaces. A line of other people's text that begins in
 * the same way could be confused with one. tests/unit/loom_shown.c compares this with everything
 * heddle prints. */
/* clang-format off */
static const struct sv marks[] = {
    /* commands, results, blocks, drawings */
    SV_STATIC("→"), SV_STATIC("←"), SV_STATIC("✓"), SV_STATIC("✗"), SV_STATIC("==="),
    SV_STATIC("<thread_context"), SV_STATIC("</thread_context"), SV_STATIC("## Result "),
    SV_STATIC("├"), SV_STATIC("└"), SV_STATIC("│"), SV_STATIC("Root ["), SV_STATIC("* = current"),
    SV_STATIC("* requires "), SV_STATIC("Other roots: "),
    /* memory */
    SV_STATIC("Pinned:"), SV_STATIC("Recalled:"), SV_STATIC("Recent actions:"), SV_STATIC("Stashed:"),
    SV_STATIC("Stashed (not in context)"), SV_STATIC("Working Memory:"), SV_STATIC("pinned:"),
    SV_STATIC("stashed:"), SV_STATIC("Action Trace ("), SV_STATIC("Results still in view"),
    /* the tree */
    SV_STATIC("Tree: \""), SV_STATIC("Position:"), SV_STATIC("Permissions:"), SV_STATIC("Annotations:"),
    SV_STATIC("Main themes:"), SV_STATIC("Last active:"), SV_STATIC("Path to ["), SV_STATIC("diff ["),
    SV_STATIC("Changes by others"), SV_STATIC("No changes by others"), SV_STATIC("depth:"),
    SV_STATIC("switched to ["), SV_STATIC("a new branch:"), SV_STATIC("still hidden by "),
    SV_STATIC("downstream nodes preserved"), SV_STATIC("conversation continues from"),
    SV_STATIC("bookmarks:"), SV_STATIC("excluded nodes:"), SV_STATIC("pruned branches:"),
    SV_STATIC("agents:"), SV_STATIC("documents:"), SV_STATIC("doc:\""), SV_STATIC("tree:\""),
    /* searches, help, what was left out */
    SV_STATIC("Find: \""), SV_STATIC("Search: \""), SV_STATIC("Source: "), SV_STATIC("Published: "),
    SV_STATIC("Use → "), SV_STATIC("Available tools"), SV_STATIC("Syntax:"), SV_STATIC("hint:"),
    SV_STATIC("Navigation: view"), SV_STATIC("Content: respond"), SV_STATIC("Documents: read"),
    SV_STATIC("Memory: pin"), SV_STATIC("Meta: help"), SV_STATIC("(full "), SV_STATIC("[...]"),
    SV_STATIC("result:"),
    /* in a conversation: calls of tools and their results, what stands for messages that are missing */
    SV_STATIC("[call "), SV_STATIC("[result "), SV_STATIC("[Summary of "), SV_STATIC("[... earlier "),
    SV_STATIC("[Earlier in this "),
};

/* Behind a number, as in "3 continuations · 1 link". */
static const struct sv counted[] = {
    SV_STATIC("continuation"), SV_STATIC("annotation"), SV_STATIC("link"), SV_STATIC("version"),
    SV_STATIC("node"), SV_STATIC("branch"), SV_STATIC("leaf"), SV_STATIC("leaves"), SV_STATIC("result"),
    SV_STATIC("bookmark"), SV_STATIC("excluded node"), SV_STATIC("pruned branch"), SV_STATIC("agent"),
    SV_STATIC("document"), SV_STATIC("tree"), SV_STATIC("token"), SV_STATIC("earlier"), SV_STATIC("more"),
};
/* clang-format on */

enum { LOOKED_AT = 240 }; /* bytes of each line that are examined */

static bool is_blank(int32_t cp)
{
    return cp == ' ' || cp == '\t' || cp == 0xa0 || (cp >= 0x2000 && cp <= 0x200f) ||
           cp == 0x202f || cp == 0x205f || cp == 0x2060 || cp == 0x3000 || cp == 0xfeff;
}

/* Is it a character that some program treats as the end of a line? */
static bool ends_line(int32_t cp)
{
    return cp == '\n' || cp == '\r' || cp == '\v' || cp == '\f' || cp == 0x85 || cp == 0x2028 ||
           cp == 0x2029;
}

/* A row of a list, the head of a node, a result of a search: [a7x2], [ann-3], [1] "Title". */
static bool is_row(struct sv v)
{
    struct sv_cut c = sv_cut(v, ']');
    int64_t       number;

    if (!v.n || v.s[0] != '[' || !c.found)
        return false;
    struct sv id = sv_skip(c.head, 1);
    if (sv_starts(id, SV("ann-")))
        return sv_to_int(sv_skip(id, 4), &number);
    if (sv_to_int(id, &number))
        return sv_starts(c.tail, SV(" \""));
    struct sv rest = sv_trim(c.tail);
    return loom_local_id_is_valid(id) || sv_starts(rest, SV("human ·")) ||
           sv_starts(rest, SV("model ·")) || sv_starts(rest, SV("tool ·")) ||
           sv_starts(rest, SV("collaborator ·"));
}

/* "3 continuations · 1 link", "8 nodes", "... 3 more", "(2 earlier nodes not shown)". */
static bool is_count(struct sv v)
{
    struct sv from = v;

    while (v.n && (v.s[0] == '.' || v.s[0] == '(' || v.s[0] == ' '))
        v = sv_skip(v, 1);
    bool   framed = v.s != from.s;
    size_t digits = 0;
    while (v.n && ((v.s[0] >= '0' && v.s[0] <= '9') || v.s[0] == ',')) {
        v = sv_skip(v, 1);
        digits++;
    }
    for (size_t i = 0; digits && v.n && v.s[0] == ' ' && i < COUNT(counted); i++) {
        struct sv rest = sv_skip(v, 1);
        if (!sv_starts(rest, counted[i]))
            continue;
        rest = sv_skip(rest, counted[i].n);
        if (sv_starts(rest, SV("es")))
            rest = sv_skip(rest, 2);
        else if (sv_starts(rest, SV("s")))
            rest = sv_skip(rest, 1);
        if (framed || !rest.n || rest.s[0] == ':' || sv_starts(rest, SV(" ·")) ||
            sv_starts(rest, SV(" (")) || sv_starts(rest, SV(", ")))
            return true;
    }
    return false;
}

/* "Context: 1,204 tokens", "Pruned: 14 older nodes": a word that is common, and a number. */
static bool is_total(struct sv v)
{
    static const struct sv words[] = { SV_STATIC("Context: "), SV_STATIC("Pruned: ") };

    for (size_t i = 0; i < COUNT(words); i++) {
        struct sv rest = sv_skip(v, words[i].n < v.n ? words[i].n : v.n);
        if (sv_starts(v, words[i]) && rest.n &&
            (rest.s[0] == '~' || (rest.s[0] >= '0' && rest.s[0] <= '9')))
            return true;
    }
    return false;
}

/* "Human active at [c4m2], depth:2", "bookmarked · 1 link". */
static bool is_state(struct sv v)
{
    static const struct sv words[] = { SV_STATIC("bookmarked"), SV_STATIC("excluded") };

    for (size_t i = 0; i < COUNT(words); i++) {
        struct sv rest = sv_skip(v, words[i].n < v.n ? words[i].n : v.n);
        if (sv_starts(v, words[i]) && (!rest.n || sv_starts(rest, SV(" ·"))))
            return true;
    }
    return sv_find(v, SV(" active at [")) >= 0;
}

static bool looks_like_ours(struct sv text)
{
    size_t len = 0, n = 0;

    while (text.n && is_blank(utf8_decode(text, &len)))
        text = sv_skip(text, len);
    while (n < text.n && n < LOOKED_AT && text.s[n] != '\n' && text.s[n] != '\r')
        n++;
    struct sv line = sv_first(text, n);
    for (size_t i = 0; line.n && i < COUNT(marks); i++)
        if (line.s[0] == marks[i].s[0] && sv_starts(line, marks[i]))
            return true;
    return is_row(line) || is_count(line) || is_total(line) || is_state(line);
}

/* Characters that reverse the order of text, or that are invisible. Those that scripts need inside
 * words (joiners, marks of direction) are allowed. */
static bool is_deceptive(int32_t cp)
{
    return (cp >= 0x202a && cp <= 0x202e) || (cp >= 0x2060 && cp <= 0x206f) || cp == 0x2028 ||
           cp == 0x2029 || cp == 0xfeff || (cp >= 0xfff9 && cp <= 0xfffb) ||
           (cp >= 0xe0000 && cp <= 0xe0fff);
}

static void add_char(struct sb *b, struct sv v, int32_t cp)
{
    if (cp < 0)
        sb_add_utf8(b, 0xfffd);
    else if ((cp < 0x20 && cp != '\n' && cp != '\t') || (cp >= 0x7f && cp < 0xa0))
        sb_addf(b, "\\x%02x", (unsigned)cp);
    else if (is_deceptive(cp))
        sb_addf(b, "\\u{%x}", (unsigned)cp);
    else
        sb_add(b, v);
}

/* How many bytes from the start are characters that are shown as they are and end no line: most of
 * most texts. */
static size_t plain_run(struct sv text)
{
    size_t n = 0;

    while (n < text.n && text.s[n] >= 0x20 && text.s[n] < 0x7f)
        n++;
    return n;
}

/* Lines after the first begin with `indent` spaces. */
static void add_lines(struct sb *b, struct sv text, size_t indent)
{
    bool   starts = true;
    size_t len;

    for (; text.n; text = sv_skip(text, len)) {
        if (starts && looks_like_ours(text))
            sb_addc(b, '\\');
        len = plain_run(text);
        if (len) {
            sb_add(b, sv_first(text, len));
            starts = false;
            continue;
        }
        int32_t cp = utf8_decode(text, &len);
        if (cp == '\r' && len < text.n && text.s[len] == '\n') {
            starts = false;
            continue; /* CRLF is one line end */
        }
        add_char(b, sv_first(text, len), cp);
        starts = ends_line(cp);
        if (cp == '\n' && len < text.n)
            sb_pad(b, ' ', indent);
    }
}

void sb_add_shown(struct sb *b, struct sv text)
{
    add_lines(b, text, 0);
}

void sb_add_block(struct sb *b, struct sv text)
{
    add_lines(b, text, BLOCK_INDENT);
}

void sb_add_clean(struct sb *b, struct sv line)
{
    size_t len;

    for (; line.n; line = sv_skip(line, len)) {
        int32_t cp = utf8_decode(line, &len);
        add_char(b, sv_first(line, len), cp);
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

/* Words that heddle uses for kinds of authors. */
static bool is_reserved(struct sv name)
{
    static const struct sv words[] = { SV_STATIC("human"), SV_STATIC("model"),
                                       SV_STATIC("tool"),  SV_STATIC("collaborator"),
                                       SV_STATIC("you"),   SV_STATIC("agent"),
                                       SV_STATIC("system") };

    for (size_t i = 0; i < COUNT(words); i++)
        if (name.n == words[i].n && strncasecmp(name.s, words[i].s, name.n) == 0)
            return true;
    return false;
}

/* Characters that heddle's own lines contain. */
static bool is_mark(int32_t cp)
{
    return cp == '"' || cp == '[' || cp == ']' || cp == '<' || cp == '>' || cp == '=' ||
           cp == '`' || cp == '*' || cp == 0xb7 || (cp >= 0x2190 && cp <= 0x21ff) ||
           (cp >= 0x2500 && cp <= 0x257f) || (cp >= 0x2713 && cp <= 0x2718);
}

bool shown_is_name(struct sv name)
{
    bool   gap = true; /* no space in front, none at the end, no two together */
    size_t len;

    if (!name.n || is_reserved(name) || looks_like_ours(name))
        return false;
    for (struct sv v = name; v.n; v = sv_skip(v, len)) {
        int32_t cp = utf8_decode(v, &len);
        if (cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || is_mark(cp) || utf8_is_unseen(cp) ||
            (is_blank(cp) && cp != ' ') || (cp == ' ' && gap))
            return false;
        gap = cp == ' ';
    }
    return !gap;
}

void sb_add_name(struct sb *b, struct sv name)
{
    if (shown_is_name(name)) {
        sb_add(b, name);
        return;
    }
    sb_adds(b, "agent ");
    sb_add_quoted(b, name);
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

/* The longest start of v, a folded line, that ends before a word (before a character, where words
 * are written without spaces) and has at most max characters; when its first word is longer than
 * that, the word is cut. */
static struct sv cut_at_word(struct sv v, size_t max)
{
    size_t at = 0, chars = 0, last_gap = 0, len;

    for (; at < v.n && chars < max; chars++, at += len) {
        int32_t cp = utf8_decode(sv_skip(v, at), &len);
        if (cp == ' ' || utf8_is_unspaced(cp))
            last_gap = at;
    }
    if (at < v.n && (v.s[at] == ' ' || utf8_is_unspaced(utf8_decode(sv_skip(v, at), &len))))
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

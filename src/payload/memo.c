/* Reading and editing the YAML list of memos without touching the rest of the file. */
#include "payload/memo.h"

#include "base/json.h"
#include "base/utf8.h"

#include <string.h>

/* ---- reading -------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* A line that opens an item: "-" alone or "- text", at the list's own indentation. */
static bool opens_item(struct sv line, size_t indent)
{
    size_t n = 0;

    while (n < line.n && line.s[n] == ' ')
        n++;
    if (n != indent || n >= line.n || line.s[n] != '-')
        return false;
    return n + 1 == line.n || is_blank(line.s[n + 1]) || line.s[n + 1] == '\r';
}

static size_t indent_of(struct sv line)
{
    size_t n = 0;

    while (n < line.n && line.s[n] == ' ')
        n++;
    return n;
}

/* 'it''s' */
static bool single_quoted(struct sv v, struct sb *b)
{
    for (size_t i = 1; i < v.n; i++) {
        if (v.s[i] != '\'') {
            sb_addc(b, v.s[i]);
        } else if (i + 1 < v.n && v.s[i + 1] == '\'') {
            sb_addc(b, '\'');
            i++;
        } else {
            struct sv rest = sv_trim(sv_skip(v, i + 1));
            return !rest.n || rest.s[0] == '#';
        }
    }
    return false;
}

static void add_escape(struct sb *b, struct sv v, size_t *i)
{
    static const char from[] = "nt\"\\/rbf0aev", to[] = "\n\t\"\\/\r\b\f\0\a\x1b\v";
    char              c = v.s[++*i];
    const char       *at = memchr(from, c, sizeof from - 1);
    size_t            digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    uint32_t          cp = 0;

    if (at) {
        sb_addc(b, to[at - from]);
        return;
    }
    for (; digits && *i + 1 < v.n; digits--) {
        const char *hex = "0123456789abcdef";
        char        d = v.s[*i + 1];
        const char *p = memchr(hex, d >= 'A' && d <= 'F' ? d + 32 : d, 16);
        if (!p)
            break;
        cp = cp << 4 | (uint32_t)(p - hex);
        ++*i;
    }
    if (c == 'x' || c == 'u' || c == 'U')
        sb_add_utf8(b, cp);
    else
        sb_addc(b, c);
}

static bool double_quoted(struct sv v, struct sb *b)
{
    for (size_t i = 1; i < v.n; i++) {
        if (v.s[i] == '"') {
            struct sv rest = sv_trim(sv_skip(v, i + 1));
            return !rest.n || rest.s[0] == '#';
        }
        if (v.s[i] == '\\' && i + 1 < v.n)
            add_escape(b, v, &i);
        else
            sb_addc(b, v.s[i]);
    }
    return false;
}

/* Lines joined with one space, as YAML folds them. */
static struct sv folded(struct sv v, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    while (v.n) {
        struct sv_cut c = sv_cut(v, '\n');
        struct sv     line = sv_trim(c.head);
        if (line.n && b.n)
            sb_addc(&b, ' ');
        sb_add(&b, line);
        v = c.tail;
    }
    return sb_sv(&b);
}

/* A | or > block: its lines without their common indentation and without the last line end. */
static struct sv block(struct sv header, struct sv body, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    size_t    indent = SIZE_MAX;

    for (struct sv v = body; v.n;) {
        struct sv_cut c = sv_cut(v, '\n');
        if (sv_trim(c.head).n && indent_of(c.head) < indent)
            indent = indent_of(c.head);
        v = c.tail;
    }
    for (struct sv v = body; v.n;) {
        struct sv_cut c = sv_cut(v, '\n');
        struct sv     line = sv_skip(c.head, indent < c.head.n ? indent : c.head.n);
        if (line.n && line.s[line.n - 1] == '\r')
            line.n--;
        sb_add(&b, line);
        sb_addc(&b, header.s[0] == '|' ? '\n' : ' ');
        v = c.tail;
    }
    return sv_trim(sb_sv(&b));
}

static struct sv without_comment(struct sv v)
{
    for (size_t i = 1; i < v.n; i++)
        if (v.s[i] == '#' && is_blank(v.s[i - 1]))
            return sv_trim(sv_first(v, i));
    return v;
}

/* The text of an item whose first line (without the dash) and further lines are given. */
static bool item_text(struct sv first, struct sv more, struct arena *a, struct sv *out)
{
    struct sb b = sb_in(a, 0), whole = sb_in(a, 0);

    first = sv_trim(first);
    if (first.n && (first.s[0] == '|' || first.s[0] == '>')) {
        *out = block(first, more, a);
        return true;
    }
    sb_add(&whole, first);
    sb_addc(&whole, '\n');
    sb_add(&whole, more);
    struct sv v = folded(sb_sv(&whole), a);
    if (v.n && (v.s[0] == '\'' || v.s[0] == '"')) {
        bool ok = v.s[0] == '"' ? double_quoted(v, &b) : single_quoted(v, &b);
        *out = sb_sv(&b);
        return ok;
    }
    *out = without_comment(v);
    return true;
}

/* The line at `at` and where the next one starts. */
static struct sv line_at(struct sv file, size_t at, size_t *next)
{
    struct sv_cut c = sv_cut(sv_skip(file, at), '\n');

    *next = at + c.head.n + c.found;
    return c.head;
}

/* Where an item ends whose first line ends at `at`: lines that are indented further belong
 * to it, blank ones only when such a line follows. */
static size_t item_end(struct sv file, size_t at, size_t indent)
{
    size_t end = at, next;

    for (; at < file.n; at = next) {
        struct sv line = line_at(file, at, &next);
        bool      blank = !sv_trim(line).n;
        if (!blank && indent_of(line) <= indent)
            break;
        if (!blank)
            end = next;
    }
    return end;
}

enum status memo_read(struct sv file, struct arena *a, memo_list *out, struct err *e)
{
    size_t at = file.n - utf8_skip_bom(file).n, next, indent = SIZE_MAX;

    *out = (memo_list){ 0 };
    for (; at < file.n; at = next) {
        struct sv line = line_at(file, at, &next), bare = sv_trim(line);
        if (!bare.n || bare.s[0] == '#' || sv_is(bare, "---") || sv_is(bare, "[]"))
            continue;
        if (indent == SIZE_MAX)
            indent = indent_of(line);
        struct memo m = { .from = at, .to = item_end(file, next, indent) };
        if (!opens_item(line, indent) ||
            !item_text(sv_skip(line, indent + 1), sv_skip(sv_first(file, m.to), next), a,
                       &m.text)) {
            struct sb shown = sb_in(a, 0);
            sb_add_plain(&shown, sv_first(bare, 60));
            return err_set(e, ST_INVALID_SYNTAX, "'%s' is no item of a list", sb_sv(&shown).s);
        }
        *vec_push(out, a) = m;
        next = m.to;
    }
    return ST_OK;
}

/* ---- writing -------------------------------------------------------------------------------- */

/* Would YAML read the bare text as something else, or not at all? */
static bool needs_quotes(struct sv v)
{
    static const char *const words[] = { "true", "false", "null", "yes", "no", "on", "off", "~",
                                         "True", "False", "Null", "Yes", "No", "On", "Off" };

    if (!v.n || memchr("-?:,[]{}#&*!|>'\"%@`=<.+0123456789", v.s[0], 34))
        return true;
    for (size_t i = 0; i < COUNT(words); i++)
        if (sv_is(v, words[i]))
            return true;
    for (size_t i = 0; i < v.n; i++) {
        unsigned char c = (unsigned char)v.s[i];
        if (c < 0x20 || c == 0x7f || (c == ':' && (i + 1 == v.n || is_blank(v.s[i + 1]))) ||
            (c == '#' && i && is_blank(v.s[i - 1])))
            return true;
    }
    return false;
}

struct sv memo_added(struct sv file, struct sv text, struct arena *a)
{
    struct sb   b = sb_in(a, 0);
    memo_list   all;
    struct err  ignored;
    size_t      indent = 0;
    const char *end = sv_find(file, SV("\r\n")) >= 0 ? "\r\n" : "\n";

    if (memo_read(file, a, &all, &ignored) == ST_OK && all.n)
        indent = indent_of(sv_skip(file, all.v[0].from));
    if (!all.n && sv_is(sv_trim(file), "[]"))
        file = SV(""); /* an empty list in the other notation */
    sb_add(&b, file);
    if (file.n && file.s[file.n - 1] != '\n')
        sb_adds(&b, end);
    sb_pad(&b, ' ', indent);
    sb_adds(&b, "- ");
    if (needs_quotes(text))
        sb_add_json_string(&b, text); /* JSON strings are YAML */
    else
        sb_add(&b, text);
    sb_adds(&b, end);
    return sb_sv(&b);
}

struct sv memo_removed(struct sv file, const struct memo *m, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add(&b, sv_first(file, m->from));
    sb_add(&b, sv_skip(file, m->to));
    return sb_sv(&b);
}

/* The text of documents: words, lines, headings and sections of Markdown. */
#include "command/docs.h"
#include "base/utf8.h"

#include "base/hash.h"

/* ---- words and lines -------------------------------------------------------------- */

int64_t doc_words(struct sv text)
{
    int64_t n = 0;
    bool    in = false;

    for (size_t i = 0; i < text.n; i++) {
        bool blank = text.s[i] == ' ' || (text.s[i] >= '\t' && text.s[i] <= '\r');
        n += !blank && !in;
        in = !blank;
    }
    return n;
}

int64_t doc_line_count(struct sv text)
{
    int64_t n = text.n && text.s[text.n - 1] != '\n';

    for (size_t i = 0; i < text.n; i++)
        n += text.s[i] == '\n';
    return n;
}

size_t doc_line_offset(struct sv text, int64_t line)
{
    size_t at = 0;

    while (line > 1 && at < text.n) {
        line -= text.s[at] == '\n';
        at++;
    }
    return at;
}

enum status doc_lines(struct sv text, int64_t first, int64_t last, struct sv *out, struct err *e)
{
    int64_t count = doc_line_count(text);

    if (first < 1 || last < first || last > count) {
        err_set(e, ST_LIMIT_EXCEEDED, "lines %lld-%lld are outside the document", (long long)first,
                (long long)last);
        return count ? err_hint(e, "it has lines 1-%lld", (long long)count)
                     : err_hint(e, "it is empty");
    }
    size_t from = doc_line_offset(text, first), to = doc_line_offset(text, last + 1);
    *out = (struct sv){ text.s + from, to - from };
    return ST_OK;
}

/* ---- headings --------------------------------------------------------------------- */

struct heading {
    size_t    start, body; /* of its line, and of what follows */
    int       level;       /* 0: no more headings */
    struct sv title;       /* without {#id} */
    struct sv id;          /* explicit, or absent */
};

struct heading_scan {
    struct sv text;
    size_t    at;
    struct sv fence; /* the run that opened the current fence; absent: none */
};

static struct sv fence_run(struct sv line)
{
    size_t n = 0;

    line = sv_trim(line);
    if (!line.n || (line.s[0] != '`' && line.s[0] != '~'))
        return (struct sv){ 0 };
    while (n < line.n && line.s[n] == line.s[0])
        n++;
    return n >= 3 ? sv_first(line, n) : (struct sv){ 0 };
}

static void pass_fence(struct heading_scan *s, struct sv line)
{
    struct sv run = fence_run(line);

    if (!run.s)
        return;
    if (!s->fence.s)
        s->fence = run;
    else if (run.s[0] == s->fence.s[0] && run.n >= s->fence.n && sv_trim(line).n == run.n)
        s->fence = (struct sv){ 0 };
}

static bool read_heading(struct sv line, struct heading *h)
{
    int level = 0;

    while (level < 6 && (size_t)level < line.n && line.s[level] == '#')
        level++;
    if (!level || ((size_t)level < line.n && line.s[level] != ' ' && line.s[level] != '\t'))
        return false;
    h->level = level;
    h->title = sv_trim(sv_skip(line, (size_t)level));
    while (h->title.n && h->title.s[h->title.n - 1] == '#')
        h->title.n--;
    h->title = sv_trim(h->title);
    h->id = (struct sv){ 0 };
    ptrdiff_t at = sv_find(h->title, SV("{#"));
    if (at >= 0 && h->title.s[h->title.n - 1] == '}') {
        h->id = (struct sv){ h->title.s + at + 2, h->title.n - (size_t)at - 3 };
        h->title = sv_trim(sv_first(h->title, (size_t)at));
    }
    return true;
}

bool doc_starts_with_heading(struct sv text)
{
    struct heading h;

    while (text.n && (text.s[0] == '\n' || text.s[0] == '\r'))
        text = sv_skip(text, 1);
    return text.n && text.s[0] == '#' && read_heading(sv_trim(sv_cut(text, '\n').head), &h);
}

static bool next_heading(struct heading_scan *s, struct heading *h)
{
    while (s->at < s->text.n) {
        struct sv rest = sv_skip(s->text, s->at);
        struct sv line = sv_cut(rest, '\n').head;
        size_t    start = s->at;
        s->at += line.n + (line.n < rest.n);
        bool was_fenced = s->fence.s != NULL;
        pass_fence(s, line);
        if (was_fenced || s->fence.s || !read_heading(sv_trim(line), h) || line.s[0] != '#')
            continue;
        h->start = start;
        h->body = s->at;
        return true;
    }
    h->level = 0;
    return false;
}

static bool is_word_char(char c)
{
    return (byte_lower(c) >= 'a' && byte_lower(c) <= 'z') || (c >= '0' && c <= '9') ||
           (unsigned char)c >= 0x80;
}

/* Does `id` equal the slug of the title: lower case, words joined by dashes? */
static bool is_slug(struct sv title, struct sv id)
{
    size_t k = 0;
    bool   gap = false, any = false;

    for (size_t i = 0; i < title.n; i++) {
        if (title.s[i] == '\'')
            continue;
        if (!is_word_char(title.s[i])) {
            gap = true;
            continue;
        }
        if (gap && any && !(k < id.n && id.s[k++] == '-'))
            return false;
        gap = false;
        any = true;
        if (!(k < id.n && byte_lower(id.s[k++]) == byte_lower(title.s[i])))
            return false;
    }
    return any && k == id.n;
}

static bool has_word(struct sv title, struct sv word)
{
    for (size_t i = 0; i + word.n <= title.n; i++) {
        size_t k = 0;
        while (k < word.n && byte_lower(title.s[i + k]) == byte_lower(word.s[k]))
            k++;
        bool starts = i == 0 || !is_word_char(title.s[i - 1]);
        bool ends = i + word.n == title.n || !is_word_char(title.s[i + word.n]);
        if (word.n && k == word.n && starts && ends)
            return true;
    }
    return false;
}

/* How well a heading fits: 3 explicit id, 2 slug, 1 a word of it, 0 not. */
static int fit(const struct heading *h, struct sv id)
{
    if (h->id.s && sv_eq(h->id, id))
        return 3;
    return is_slug(h->title, id) ? 2 : has_word(h->title, id) ? 1 : 0;
}

static enum status no_section(struct sv text, struct sv id, bool several, struct err *e)
{
    struct heading_scan s = { .text = text };
    struct heading      h;
    struct arena        scratch = { 0 };
    struct sb           names = sb_in(&scratch, 0);

    while (next_heading(&s, &h) && names.n < 200)
        sb_addf(&names, "%s" SV_FMT, names.n ? ", " : "", SV_ARG(h.id.s ? h.id : h.title));
    if (several)
        err_set(e, ST_INVALID_SYNTAX, "more than one section is called '" SV_FMT "'",
                SV_ARG(utf8_first(id, 80)));
    else
        err_set(e, ST_NOT_FOUND, "the document has no section '" SV_FMT "'",
                SV_ARG(utf8_first(id, 80)));
    err_hint(e, names.n ? "sections: %s" : "it has no headings%s", names.n ? sb_sv(&names).s : "");
    arena_free(&scratch);
    return err_code(e);
}

enum status doc_section(struct sv text, struct sv id, struct section *out, struct err *e)
{
    struct heading_scan s = { .text = text };
    struct heading      h, best = { 0 };
    int                 best_fit = 0, times = 0;

    if (sv_starts(id, SV("§")))
        id = sv_skip(id, 2);
    while (next_heading(&s, &h)) {
        int f = fit(&h, id);
        times = f > best_fit ? 1 : times + (f && f == best_fit);
        if (f > best_fit) {
            best_fit = f;
            best = h;
        }
    }
    if (!best_fit || times > 1)
        return no_section(text, id, times > 1, e);
    s = (struct heading_scan){ .text = text, .at = best.body };
    while (next_heading(&s, &h) && h.level > best.level)
        ;
    *out = (struct section){ best.start, best.body, h.level ? h.start : text.n };
    return ST_OK;
}

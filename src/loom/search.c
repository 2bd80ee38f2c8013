/* Finding nodes by their words. */
#include "loom/search.h"

#include "base/utf8.h"
#include "base/vec.h"
#include "loom/limits.h"
#include "loom/loom_internal.h"
#include "loom/shown.h"
#include "thread/kind.h"
#include "thread/scan.h"

#include <string.h>

enum { EXCERPT_BEFORE = 30, EXCERPT = 90, TRIES = 20 };

/* ---- the index ---------------------------------------------------------------------- */

static enum status put_words(struct log *log, struct sv thread, const struct entry *x,
                             struct arena *a, struct err *e)
{
    struct json p;

    if (kind_of(x->kind) != KIND_AI_MESSAGE)
        return ST_OK;
    if (json_parse(x->payload, 0, a, &p, e))
        return err_code(e);
    return log_text_put(log, thread, x->seq, loom_message_text(&p, a), e);
}

enum status loom_index(struct log *log, struct sv thread, struct loom_indexed *out, struct err *e)
{
    UNDO(log_scan_undo) struct store_scan *scan = NULL;
    struct store_query                     q = { .thread = thread };
    struct arena                           scratch = { 0 };
    struct store_head                      head = { 0 };
    struct entry                           x;
    bool                                   more = true;
    int64_t                                last, wordless = 0;
    size_t                                 bytes = 0;
    enum status                            s = log_text_last(log, thread, &last, e);

    *out = (struct loom_indexed){ 0 };
    if (s || last == INT64_MAX)
        return s;
    q.from = last + 1;
    q.to = last + INDEX_SLICE;
    s = log_head(log, thread, &head, e);
    if (!s)
        s = log_scan(log, &q, &scan, e);
    while (!s && bytes < INDEX_SLICE_BYTES && !(s = log_scan_next(scan, &x, &more, e)) && more) {
        struct arena_mark m = arena_mark(&scratch);
        bytes += x.payload.n;
        s = put_words(log, thread, &x, &scratch, e);
        arena_reset(&scratch, m);
        wordless = kind_of(x.kind) == KIND_AI_MESSAGE ? 0 : wordless + 1;
        last = x.seq;
    }
    int64_t end = q.to < head.rev ? q.to : head.rev - 1;
    if (!s && !more && last < end) { /* entries are missing: the next slice begins behind them */
        last = end;
        wordless++;
    }
    arena_free(&scratch);
    *out = (struct loom_indexed){ .more = last + 1 < head.rev, .at = last + 1, .of = head.rev };
    if (s || !wordless)
        return s;
    /* Entries behind the last message would be passed over again, by the next slice or at every
     * search. */
    return out->more || wordless >= QUERY_WORDLESS_MAX ? log_text_put(log, thread, last, SV(""), e)
                                                       : ST_OK;
}

enum status loom_index_is_due(struct log *log, struct sv thread, bool *due, struct err *e)
{
    UNDO(log_scan_undo) struct store_scan *scan = NULL;
    struct store_query                     q = { .thread = thread, .to = STORE_TO_END };
    struct entry                           x;
    int64_t                                last, wordless = 0;
    bool                                   more = true;

    *due = false;
    if (log_text_last(log, thread, &last, e))
        return err_code(e);
    if (last == INT64_MAX)
        return ST_OK;
    q.from = last + 1;
    if (log_scan(log, &q, &scan, e))
        return err_code(e);
    while (more && !*due) {
        if (log_scan_next(scan, &x, &more, e))
            return err_code(e);
        *due = more && (kind_of(x.kind) == KIND_AI_MESSAGE || ++wordless >= QUERY_WORDLESS_MAX);
    }
    return ST_OK;
}

/* ---- the query ---------------------------------------------------------------------- */

static bool is_word_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (unsigned char)c >= 0x80;
}

static bool has_word_char(struct sv v)
{
    for (size_t i = 0; i < v.n; i++)
        if (is_word_char(v.s[i]))
            return true;
    return false;
}

/* The next word of *rest: up to a space, or a 'phrase'. */
static struct sv next_word(struct sv *rest)
{
    *rest = sv_trim(*rest);
    if (rest->n > 1 && rest->s[0] == '\'') {
        struct sv_cut c = sv_cut(sv_skip(*rest, 1), '\'');
        if (c.found) {
            *rest = c.tail;
            return c.head;
        }
    }
    struct sv_cut c = sv_cut(*rest, ' ');
    *rest = c.tail;
    return c.head;
}

static size_t split(struct sv query, struct sv *words)
{
    size_t n = 0;

    while (sv_trim(query).n && n < QUERY_WORDS_MAX) {
        struct sv w = next_word(&query);
        if (has_word_char(w))
            words[n++] = w;
    }
    return n;
}

struct found_list {
    struct found *v;
    size_t        n, cap; /* as VEC() has them */
};

static enum status keep(struct loom *l, const struct store_hit *hit, struct found *out, bool *ok,
                        struct err *e)
{
    struct loom       at;
    struct rows       r = rows_of_view(l->log, hit->thread, &loom_view, l->a);
    struct sv         row;
    int64_t           by = NO_NODE;
    struct store_head head;

    if (log_head(l->log, hit->thread, &head, e) || loom_other(l, hit->thread, &at, e) ||
        row_get(&r, key_of_seq("n", hit->seq, l->a), &row, ok, e))
        return err_code(e);
    *ok = *ok && log_keeps(l->log, &head, &loom_view); /* else its tree is being folded */
    if (!*ok)
        return ST_OK;
    out->thread = hit->thread;
    if (node_at(&at, hit->seq, &out->node, e) || node_hidden(&at, &out->node, &by, e))
        return err_code(e);
    *ok = by == NO_NODE && !out->node.withdrawn;
    if (*ok && (node_text(&at, hit->seq, &out->text, e) || loom_title(&at, &out->title, e)))
        return err_code(e);
    return ST_OK;
}

/* The newest `ask` matches, those that can be seen. *all: there are no others. */
static enum status look(struct loom *l, const struct sv *words, size_t count, bool everywhere,
                        size_t ask, size_t max, struct found_list *out, bool *all, struct err *e)
{
    struct store_hit *list;
    size_t            hits, at = 0;

    out->n = 0;
    if (log_text_find(l->log, everywhere ? (struct sv){ 0 } : l->thread, words, count, ask, l->a,
                      &list, &hits, e))
        return err_code(e);
    for (; at < hits && out->n < max; at++) {
        struct found one;
        bool         ok;
        if (keep(l, &list[at], &one, &ok, e))
            return err_code(e);
        if (ok)
            *vec_push(out, l->a) = one;
    }
    *all = hits < ask && at == hits;
    return ST_OK;
}

enum status loom_find(struct loom *l, struct sv query, bool everywhere, size_t max,
                      struct found **out, size_t *n, bool *more, struct err *e)
{
    struct sv         words[QUERY_WORDS_MAX];
    size_t            count = split(query, words);
    struct found_list found = { 0 };
    bool              all = false;

    if (!count || utf8_invalid(query) >= 0) {
        err_set(e, ST_INVALID_SYNTAX, "there is no word to look for");
        return err_hint(e, "give letters or digits; words in 'single quotes' are a phrase");
    }
    /* More than asked for, because some may be hidden; many more when many are. */
    for (size_t ask = max + TRIES; !all && found.n < max; ask *= 8) {
        if (look(l, words, count, everywhere, ask, max, &found, &all, e))
            return err_code(e);
        if (ask >= FIND_LOOKED_AT)
            break;
    }
    *out = found.v;
    *n = found.n;
    *more = !all;
    return ST_OK;
}

void found_excerpt(struct sb *b, struct sv text, struct sv query)
{
    struct sv words[QUERY_WORDS_MAX] = { SV("") };
    size_t    at = 0;

    split(query, words);
    while (at + words[0].n <= text.n && strncasecmp(text.s + at, words[0].s, words[0].n) != 0)
        at++;
    if (at + words[0].n > text.n)
        at = 0;
    size_t from = at > EXCERPT_BEFORE ? at - EXCERPT_BEFORE : 0;
    while (from && text.s[from] != ' ' && at - from < EXCERPT_BEFORE + 20)
        from--;
    while (from && ((unsigned char)text.s[from] & 0xc0) == 0x80)
        from--; /* to the start of a character */
    struct sb part = sb_in(b->a, 0);
    sb_adds(&part, from ? "..." : "");
    sb_add(&part, sv_trim(sv_skip(text, from)));
    sb_add_preview(b, sb_sv(&part), EXCERPT);
}

/* Tokens: the count does not depend on how the text comes or which loops count it, and the texts of
 * the ids are the text. */
#include "base/utf8.h"
#include "tokens/counter.h"

#include <err.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static struct tokens *counter(enum tokens_encoding enc, bool plain)
{
    static struct tokens *open[2][2];
    struct err            e;

    if (!open[enc][plain]) {
        if (tokens_open(enc, (struct sv){ 0 }, &open[enc][plain], &e))
            errx(1, "%s", e.text);
        if (plain) {
            open[enc][plain]->kernel = &kernel_plain;
            open[enc][plain]->merge.encode = kernel_plain.window;
        }
    }
    return open[enc][plain];
}

static void check_ids(struct tokens *t, struct sv text, size_t count, struct arena *a)
{
    struct sb         clean = sb_in(a, 0), joined = sb_in(a, 0);
    struct tokens_ids ids;
    struct err        e;

    check(tokens_encode(t, text, a, &ids, &e) == ST_OK);
    check(ids.n == count);
    for (size_t i = 0; i < ids.n; i++) {
        struct sv part;
        check(tokens_text(t, ids.v[i], &part, &e) == ST_OK && part.n);
        sb_add(&joined, part);
    }
    sb_add_lossy(&clean, text);
    check(sv_eq(sb_sv(&joined), sb_sv(&clean)));
}

static void check_parts(struct tokens *t, struct sv text, size_t count, size_t part, bool counted)
{
    struct tokens_stream s;

    tokens_stream_init(&s, t);
    for (struct sv rest = text; rest.n; rest = sv_skip(rest, part)) {
        struct sv next = sv_first(rest, part);
        s.due = 0; /* look for finished pieces after every part */
        if (counted)
            tokens_stream_add_counted(&s, next, tokens_count(t, next));
        else
            tokens_stream_add(&s, next);
    }
    check(tokens_stream_end(&s) == count);
}

static void check_budget(struct tokens *t, struct sv text, size_t count, size_t limit)
{
    size_t offset, n = tokens_count_until(t, text, limit, &offset);

    check(n <= limit && offset <= text.n);
    check(limit < count ? offset < text.n : n == count && offset == text.n);
}

static void check_lines(struct tokens *t, struct sv text, size_t count, size_t at, struct arena *a)
{
    struct tokens_lines l;

    tokens_lines_in(t, text, a, &l);
    check(l.total == count);
    if (utf8_invalid(text) < 0 && at <= text.n)
        check(tokens_lines_count(t, &l, at, text.n) == tokens_count(t, sv_skip(text, at)));
}

/* The first three bytes choose: encoding and way of parts, size of parts, a place. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = { 0 };

    if (size < 3)
        return 0;
    enum tokens_encoding enc = data[0] & 1 ? TOKENS_CL100K : TOKENS_O200K;
    struct sv            text = { (const char *)data + 3, size - 3 };
    struct tokens       *t = counter(enc, false);
    size_t               count = tokens_count(t, text);
    check(tokens_count(counter(enc, true), text) == count);
    check_ids(t, text, count, &a);
    check_parts(t, text, count, 1 + data[1], data[0] & 2);
    check_budget(t, text, count, data[2]);
    check_lines(t, text, count, data[2], &a);
    arena_free(&a);
    return 0;
}

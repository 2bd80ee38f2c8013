/* Streams of providers: whatever comes, reading it ends, gives the same events however it is split,
 * numbers parts in order, hands on text that is UTF-8, and has at most one end, which is the last
 * event. The first byte chooses the dialect, the second how the stream is split. */
#include "base/utf8.h"
#include "model/stream.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
    struct sb events;
    size_t    part;
    bool      any, ended;
};

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void require_json(struct sv text)
{
    struct arena scratch = { 0 };
    struct json  v;
    struct err   e;

    require(json_parse(text, 0, &scratch, &v, &e) == ST_OK && json_is(&v, JSON_OBJECT));
    arena_free(&scratch);
}

static enum status note(void *ctx, const struct model_event *ev, struct err *e)
{
    struct seen *s = ctx;
    bool end = ev->type == MODEL_FINISH || ev->type == MODEL_ERROR || ev->type == MODEL_USAGE;

    (void)e;
    require(!s->ended);
    s->ended = ev->type == MODEL_FINISH || ev->type == MODEL_ERROR;
    if (!end) {
        require(s->any ? ev->part == s->part || ev->part == s->part + 1 : ev->part == 0);
        s->part = ev->part;
        s->any = true;
    }
    if (ev->type == MODEL_KEEP || ev->type == MODEL_LOGPROBS || ev->type == MODEL_RESEND)
        require_json(ev->text);
    if (ev->type == MODEL_TEXT || ev->type == MODEL_THINKING)
        require(ev->text.n && utf8_invalid(ev->text) < 0);
    sb_addf(&s->events, "%d %zu %d:", (int)ev->type, ev->part, (int)ev->finish);
    sb_add(&s->events, ev->text);
    sb_add(&s->events, ev->id);
    sb_add(&s->events, ev->name);
    sb_addf(&s->events, "%lld %lld\n", (long long)ev->usage.input, (long long)ev->usage.output);
    return ST_OK;
}

static enum status feed(stream_read *read, struct sv bytes, size_t n, struct seen *seen,
                        struct arena *a)
{
    struct stream s = stream_in(read, note, seen, a);
    struct err    e = { 0 };
    enum status   st = ST_OK;

    *seen = (struct seen){ .events = sb_in(a, 0) };
    for (; bytes.n && !st; bytes = sv_skip(bytes, n))
        st = stream_feed(&s, sv_first(bytes, n), &e);
    if (s.over)
        st = ST_OK;
    if (!st)
        require(stream_end(&s, &e) == ST_OK && seen->ended == s.complete);
    require(!st || st == ST_MODEL_ERROR);
    stream_free(&s);
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static stream_read *const dialects[] = { stream_anthropic, stream_chat, stream_responses,
                                             stream_gemini };
    struct arena              a = { 0 };
    struct seen               whole, split;

    if (size < 2)
        return 0;
    stream_read *read = dialects[data[0] % COUNT(dialects)];
    struct sv    stream = { (const char *)data + 2, size - 2 };
    enum status  st = feed(read, stream, size, &whole, &a);
    require(feed(read, stream, data[1] % 64 + 1, &split, &a) == st);
    require(sv_eq(sb_sv(&whole.events), sb_sv(&split.events)));
    arena_free(&a);
    return 0;
}

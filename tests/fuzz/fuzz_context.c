/* Contexts: what is read and stored reads back to the same stored bytes, and every renderer
 * gives valid JSON (or text without control characters) for it, twice the same. */
#include "assemble/render.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct sv render(enum render_format f, const struct context *c, int64_t limit,
                        struct arena *a)
{
    struct sb             out = sb_in(a, 0), said = sb_in(a, 0);
    struct render_options o = { .limited = limit >= 0, .limit = limit };
    struct render_report  r = report_in(a);
    struct err            e;

    if (render_context(f, c, &o, a, &out, &r, &e))
        abort(); /* whatever was read can be rendered */
    for (size_t i = 0; i < r.list.n; i++)
        repair_write(&said, &r.list.v[i]);
    return sb_sv(&out);
}

static void check_json(struct sv text, struct arena *a)
{
    struct json v;
    struct err  e;

    if (json_parse(text, 0, a, &v, &e) == ST_LIMIT_EXCEEDED)
        return; /* parts nested to the limit, and two levels around them */
    if (json_parse(text, 0, a, &v, &e) || !sv_eq(json_canonical(&v, a), text))
        abort();
}

static void check_text(struct sv text)
{
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.s[i] < 0x20 && text.s[i] != '\n' && text.s[i] != '\t')
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena   a = { 0 };
    struct context c, again;
    struct err     e;

    if (context_read((struct sv){ (const char *)data, size }, &a, &c, &e) == ST_OK) {
        struct sv once = context_stored(&c, SV("id"), &a);
        if (context_read(once, &a, &again, &e) ||
            !sv_eq(once, context_stored(&again, SV("id"), &a)))
            abort();
        for (int64_t limit = -1; limit < 4; limit++) {
            check_json(render(RENDER_ANTHROPIC, &c, limit, &a), &a);
            check_json(render(RENDER_OPENAI, &c, limit, &a), &a);
            check_text(render(RENDER_TEXT, &c, limit, &a));
        }
        if (!sv_eq(render(RENDER_ANTHROPIC, &c, -1, &a), render(RENDER_ANTHROPIC, &again, -1, &a)))
            abort();
    }
    arena_free(&a);
    return 0;
}

/* thread_relations.json of another program: importing it never fails half-way, the file we
 * then write is valid JSON, and importing that changes nothing. */
#include "share/share_internal.h"
#include "store/store.h"
#include "thread/lane.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct view *const views[] = { &thread_view, &share_view, NULL };

static int64_t rev(struct store *store)
{
    struct store_head h;
    struct err        e;

    return store_head(store, SHARE_GLOBAL, &h, &e) ? -1 : h.rev;
}

static void check(struct share *s, struct store *store)
{
    struct err  e;
    struct sb   b = sb_in(s->a, 0);
    struct json v;
    int64_t     before;

    if (render_file(s, FILE_RELATIONS, &b, &e) || json_parse(sb_sv(&b), 0, s->a, &v, &e))
        abort();
    before = rev(store);
    if (import_relations(s, sb_sv(&b), false, &e) || rev(store) != before)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena         a = { 0 };
    struct err           e;
    struct store        *store;
    struct share         s;
    struct store_options o = { .create = true };

    if (store_open(SV("mem:fuzz"), &o, &store, &e))
        abort();
    struct log log = log_of(store, views);
    share_init(&s, &log, -1, SV("user"), &a);
    if (log_begin(&log, SHARE_GLOBAL, STORE_WRITE, &e))
        abort();
    enum status st = import_relations(&s, (struct sv){ (const char *)data, size }, false, &e);
    if (st == ST_OK)
        check(&s, store);
    else if (st != ST_INVALID_SYNTAX && st != ST_LIMIT_EXCEEDED)
        abort();
    log_abort(&log);
    store_close(store);
    arena_free(&a);
    return 0;
}

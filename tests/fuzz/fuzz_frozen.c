/* context/.frozen.json of a checkout: whatever it says, a reference made of its lines passes the
 * check of records, so that no line leads out of its folder or names an object that is no hash. */
#include "share/import_internal.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct copy_list *copies, struct arena *a)
{
    struct share_file *files = ARENA_NEW(a, struct share_file, copies->list.n + 1);
    struct share_ref   r = {
          .id = SV("r"), .from = SV("a"), .target = SV("b"), .frozen = true, .files = files
    };
    struct sb   b = sb_in(a, 0);
    struct jw   w = jw_in(&b, 0);
    struct json v;
    struct err  e;

    for (size_t i = 0; i < copies->list.n; i++) {
        files[r.n_files] = copies->list.v[i].f;
        files[r.n_files++].name = copies->list.v[i].f.source;
    }
    jw_open(&w, '{');
    jw_kstr(&w, "operation", SV("reference"));
    share_ref_write(&w, &r);
    jw_close(&w, '}');
    if (json_parse(sb_sv(&b), 0, a, &v, &e) || operation_check(&v, a, &e))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena     a = { 0 };
    struct copy_list copies = { 0 };
    struct err       e;
    enum status r = import_frozen_parse((struct sv){ (const char *)data, size }, &a, &copies, &e);

    if (r && r != ST_INVALID_SYNTAX && r != ST_LIMIT_EXCEEDED)
        abort();
    if (!r)
        check(&copies, &a);
    arena_free(&a);
    return 0;
}

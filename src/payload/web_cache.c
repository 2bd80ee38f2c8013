/* Keeping fetched pages in files, one per URL, and finding them again. */
#include "payload/web_cache.h"

#include "base/fs.h"
#include "base/hash.h"
#include "base/json.h"

enum { PAGE_LIMIT = 256 << 20 };

static struct sv file_name(struct sv url, struct arena *a)
{
    struct hash h = hash_sha256(url);

    return hash_hex(&h, a);
}

bool web_cache_get(int dir, struct sv url, struct arena *a, struct web_page *out)
{
    struct err  ignored;
    struct sv   text;
    struct json head;
    int64_t     size, at;

    if (dir < 0 || fs_read(dir, file_name(url, a), PAGE_LIMIT, a, &text, &ignored))
        return false;
    struct sv_cut c = sv_cut(text, '\n');
    if (!c.found || json_parse(c.head, 0, a, &head, &ignored) || head.type != JSON_OBJECT)
        return false;
    struct hash body = hash_sha256(c.tail);
    if (!sv_eq(json_text(&head, "url"), url) || !json_int(json_find(&head, "at"), &at) ||
        !json_int(json_find(&head, "size"), &size) || (size_t)size != c.tail.n ||
        !sv_eq(json_text(&head, "sha256"), hash_hex(&body, a)))
        return false;
    *out = (struct web_page){
        .body = c.tail,
        .type = json_text(&head, "type"),
        .at = at,
        .is_private = json_truth(json_find(&head, "private")),
    };
    return true;
}

void web_cache_put(int dir, struct sv url, const struct web_page *page)
{
    struct arena scratch = { 0 };
    struct err   ignored;
    struct sb    b = sb_in(&scratch, 0);
    struct jw    w = jw_in(&b, 0);
    struct hash  body = hash_sha256(page->body);

    if (dir >= 0) {
        jw_open(&w, '{');
        jw_kstr(&w, "url", url);
        jw_kstr(&w, "type", page->type.s ? page->type : SV(""));
        jw_kint(&w, "at", page->at);
        jw_kint(&w, "size", (int64_t)page->body.n);
        jw_kstr(&w, "sha256", hash_hex(&body, &scratch));
        jw_kbool(&w, "private", page->is_private);
        jw_close(&w, '}');
        sb_addc(&b, '\n');
        sb_add(&b, page->body);
        (void)!fs_write(dir, file_name(url, &scratch), sb_sv(&b), 0600, &ignored);
    }
    arena_free(&scratch);
}

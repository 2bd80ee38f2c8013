/* JSON with comments: whatever comes in, nothing crashes. Into what is such a text a member can be
 * put and found again, everything else stays what it was, and when it is taken out the same bytes
 * are left, unless the object was empty. The same for an item of a list. */
#include "base/jsonc.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct sv path[] = { SV_STATIC("heddle new"), SV_STATIC("list") };
static const char      value[] = "{\"k\":[1,\"two\"]}";

static bool is_ours(void *ctx, const struct json *item)
{
    (void)ctx;
    return json_find(item, "k") != NULL;
}

static struct json parsed(struct sv text, struct arena *a)
{
    struct json v;
    struct err  e;

    if (json_parse(jsonc_plain(text, a), 0, a, &v, &e))
        abort();
    return v;
}

/* Is `v` the object `was` with one more member? */
static bool is_one_more(const struct json *v, const struct json *was)
{
    for (size_t i = 0; i < was->n; i++) {
        const struct json *now = json_find_sv(v, was->members[i].key);
        if (!now || !json_eq(now, &was->members[i].value))
            return false;
    }
    return v->n == was->n + 1;
}

static void check_member(struct sv text, struct arena *a)
{
    struct json was = parsed(sv_trim(text).n ? text : SV("{}"), a), now;
    struct sv   with, found, back;
    struct err  e;

    if (json_find_sv(&was, path[0]))
        return;
    if (jsonc_set(text, path, 1, sv_of(value), a, &with, &e) ||
        jsonc_find(with, path, 1, a, &found, &e) || jsonc_remove(with, path, 1, a, &back, &e))
        abort();
    now = parsed(with, a);
    if (!is_one_more(&now, &was) || (was.n && !sv_eq(back, text)))
        abort();
    struct json left = parsed(back, a);
    if (!json_eq(&left, &was))
        abort();
}

static void check_item(struct sv text, struct arena *a)
{
    struct json was = parsed(sv_trim(text).n ? text : SV("{}"), a), left;
    struct sv   once, twice, back;
    struct err  e;

    if (json_find_sv(&was, path[0]))
        return;
    if (jsonc_add(text, path, 2, sv_of(value), a, &once, &e) ||
        jsonc_add(once, path, 2, SV("7"), a, &twice, &e) ||
        jsonc_drop(twice, path, 2, is_ours, NULL, a, &back, &e))
        abort();
    left = parsed(back, a);
    const struct json *list = json_find(json_find_sv(&left, path[0]), "list");
    if (!json_is(list, JSON_ARRAY) || list->n != 1)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = { 0 };
    struct sv    text = { (const char *)data, size }, out;
    struct err   e;

    if (jsonc_plain(text, &a).n != text.n)
        abort();
    if (jsonc_set(text, path, 1, sv_of(value), &a, &out, &e) == ST_OK) {
        check_member(text, &a);
        check_item(text, &a);
    }
    arena_free(&a);
    return 0;
}

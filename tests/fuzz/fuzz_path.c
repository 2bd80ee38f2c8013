/* Paths: the canonical form has no "", ".", ".." parts, no backslash and no NUL, is its own
 * canonical form, and joins again from its folder and its last name; a name that passes is such a
 * part. */
#include "base/path.h"

#include "base/utf8.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_parts(struct sv path)
{
    struct sv_cut part = { .tail = path, .found = path.n > 0 };

    while (part.found) {
        part = sv_cut(part.tail, '/');
        require(part.head.n && !sv_is(part.head, ".") && !sv_is(part.head, ".."));
    }
    require(!sv_has(path, 0) && !sv_has(path, '\\'));
}

static void check_path(struct sv text, struct arena *a)
{
    struct sv  path, again;
    struct err e;

    if (path_normal(text, a, &path, &e))
        return;
    require(path.n <= text.n);
    check_parts(path);
    require(path_normal(path, a, &again, &e) == ST_OK && sv_eq(path, again));
    if (path.n)
        require(sv_eq(path_join(path_dir(path), path_base(path), a), path));
}

static void check_name(struct sv text, struct arena *a)
{
    struct err e;
    struct sv  path;

    if (name_check(text, "name", &e)) {
        require(utf8_invalid(sv_of(e.text)) < 0 || text.n > 100); /* a long one may be cut */
        return;
    }
    require(text.n <= NAME_MAX_BYTES && utf8_invalid(text) < 0);
    require(path_normal(text, a, &path, &e) == ST_OK && sv_eq(path, text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = { 0 };
    struct sv    text = { (const char *)data, size };

    check_path(text, &a);
    check_name(text, &a);
    arena_free(&a);
    return 0;
}

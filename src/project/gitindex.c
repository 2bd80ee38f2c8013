/* The format is described in git's Documentation/gitformat-index.txt; numbers are big-endian. */
#include "project/gitindex.h"

#include "base/fs.h"
#include "base/path.h"

#include <stdlib.h>
#include <string.h>

enum {
    HEADER = 12,    /* "DIRC", version, number of entries */
    STAT_DATA = 40, /* of an entry, in front of the hash */
    FLAG_EXTENDED = 0x4000,
    INDEX_LIMIT = 1 << 30,
    SHARED_MAX = 8 * 1000 * 1000, /* entries of a shared index that a bitmap may name */
};

struct gitindex_reader {
    const unsigned char *s;
    size_t               n, at;
    unsigned             version;
    size_t               hash_size;
    struct arena        *a;
};

static uint32_t u32_at(const unsigned char *s)
{
    return (uint32_t)s[0] << 24 | (uint32_t)s[1] << 16 | (uint32_t)s[2] << 8 | s[3];
}

static enum status damaged(struct err *e)
{
    return err_set(e, ST_CORRUPT, "git's index cannot be read");
}

/* How many bytes at the end of the previous path a path of version 4 replaces. */
static bool take_varint(struct gitindex_reader *r, size_t *out)
{
    size_t value = 0;

    for (int i = 0; i < 9; i++) {
        if (r->at >= r->n)
            return false;
        unsigned char c = r->s[r->at++];
        value = (i ? value + 1 : 0) << 7 | (c & 127);
        if (!(c & 128)) {
            *out = value;
            return true;
        }
    }
    return false;
}

/* The name behind the fixed part of the entry that starts at `from`. */
static bool take_name(struct gitindex_reader *r, size_t from, struct sv before, struct sv *name)
{
    size_t drop = 0;

    if (r->version == 4 && (!take_varint(r, &drop) || drop > before.n))
        return false;
    const unsigned char *nul = r->at < r->n ? memchr(r->s + r->at, 0, r->n - r->at) : NULL;
    if (!nul)
        return false;
    struct sv rest = { (const char *)r->s + r->at, (size_t)(nul - (r->s + r->at)) };
    r->at += rest.n + 1;
    *name = rest;
    if (r->version < 4) { /* up to a multiple of eight */
        size_t used = r->at - from;
        r->at += (8 - used % 8) % 8;
        return r->at <= r->n;
    }
    size_t keep = before.n - drop;
    char  *s = ARENA_NEW(r->a, char, keep + rest.n + 1);
    if (keep)
        memcpy(s, before.s, keep);
    if (rest.n)
        memcpy(s + keep, rest.s, rest.n);
    *name = (struct sv){ s, keep + rest.n };
    return true;
}

static bool take_entry(struct gitindex_reader *r, struct sv before, struct sv *name)
{
    size_t from = r->at, fixed = STAT_DATA + r->hash_size + 2;

    if (r->n - r->at < fixed)
        return false;
    unsigned flags = (unsigned)r->s[from + fixed - 2] << 8 | r->s[from + fixed - 1];
    r->at += fixed;
    if (r->version >= 3 && (flags & FLAG_EXTENDED))
        r->at += 2;
    return r->at <= r->n && take_name(r, from, before, name);
}

/* A bitmap in EWAH: runs of equal words and literal words. Sets out[i] for each bit. */
static bool take_bitmap(const unsigned char *s, size_t n, struct gitindex *x, struct arena *a)
{
    if (n < 8)
        return false;
    size_t bits = u32_at(s), words = u32_at(s + 4), bit = 0;
    if (bits > SHARED_MAX || words > (n - 8) / 8)
        return false;
    s += 8;
    for (size_t i = 0; i < words;) {
        uint64_t marker = (uint64_t)u32_at(s + i * 8) << 32 | u32_at(s + i * 8 + 4);
        uint64_t run = marker >> 1 & 0xffffffff, literals = marker >> 33;
        i++;
        for (uint64_t k = 0; k < run && bit < bits; k++)
            for (int b = 0; b < 64 && bit < bits; b++, bit++)
                *vec_push(&x->deleted, a) = marker & 1;
        for (; literals && i < words; literals--, i++) {
            uint64_t word = (uint64_t)u32_at(s + i * 8) << 32 | u32_at(s + i * 8 + 4);
            for (int b = 0; b < 64 && bit < bits; b++, bit++)
                *vec_push(&x->deleted, a) = word >> b & 1;
        }
    }
    return true;
}

/* The "link" extension: the hash of the shared index, and which of its entries are deleted. */
static bool take_link(struct gitindex_reader *r, size_t size, struct gitindex *x)
{
    struct sb            b = sb_in(r->a, 0);
    const unsigned char *s = r->s + r->at;
    bool                 any = false;

    if (size < r->hash_size)
        return false;
    for (size_t i = 0; i < r->hash_size; i++)
        any = any || s[i];
    if (!any)
        return true;
    sb_add_hex(&b, s, r->hash_size);
    x->shared = sb_sv(&b);
    return size == r->hash_size || take_bitmap(s + r->hash_size, size - r->hash_size, x, r->a);
}

static bool take_extensions(struct gitindex_reader *r, struct gitindex *x)
{
    while (r->n - r->at >= 8 + r->hash_size) {
        bool   link = memcmp(r->s + r->at, "link", 4) == 0;
        size_t size = u32_at(r->s + r->at + 4);
        r->at += 8;
        if (size > r->n - r->at || (link && !take_link(r, size, x)))
            return false;
        r->at += size;
    }
    return true;
}

static int by_bytes(const void *a, const void *b)
{
    return sv_cmp(*(const struct sv *)a, *(const struct sv *)b);
}

/* Sorts the paths, if git has not, and removes repetitions: one in conflict occurs three times. */
static void sort_paths(struct gitindex *x)
{
    bool   sorted = true;
    size_t kept = 0;

    for (size_t i = 1; i < x->paths.n && sorted; i++)
        sorted = sv_cmp(x->paths.v[i - 1], x->paths.v[i]) <= 0;
    if (!sorted)
        qsort(x->paths.v, x->paths.n, sizeof x->paths.v[0], by_bytes);
    for (size_t i = 0; i < x->paths.n; i++)
        if (!kept || !sv_eq(x->paths.v[kept - 1], x->paths.v[i]))
            x->paths.v[kept++] = x->paths.v[i];
    x->paths.n = kept;
}

/* The paths in the order of the file: the bitmaps refer to entries of a shared index by number. */
static enum status parse(struct sv bytes, size_t hash_size, struct arena *a, struct gitindex *out,
                         struct err *e)
{
    struct gitindex_reader r = { .s = (const unsigned char *)bytes.s, .n = bytes.n, .a = a };
    struct sv              name = SV("");

    *out = (struct gitindex){ 0 };
    r.hash_size = hash_size;
    if (bytes.n < HEADER || memcmp(bytes.s, "DIRC", 4) != 0)
        return damaged(e);
    r.version = u32_at(r.s + 4);
    r.at = HEADER;
    size_t n = u32_at(r.s + 8);
    if (r.version < 2 || r.version > 4 || n > bytes.n / (STAT_DATA + hash_size + 2))
        return damaged(e);
    vec_reserve(&out->paths, n, a);
    for (size_t i = 0; i < n; i++) {
        if (!take_entry(&r, name, &name))
            return damaged(e);
        *vec_push(&out->paths, a) = name;
    }
    return take_extensions(&r, out) ? ST_OK : damaged(e);
}

enum status gitindex_parse(struct sv bytes, size_t hash_size, struct arena *a, struct gitindex *out,
                           struct err *e)
{
    if (parse(bytes, hash_size, a, out, e))
        return err_code(e);
    sort_paths(out);
    return ST_OK;
}

static enum status slurp(struct sv file, struct arena *a, struct sv *out, struct err *e)
{
    UNDO(fd_undo) int fd = open(sv_cstr(file, a), O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0)
        return err_errno(e, "open " SV_FMT, SV_ARG(file));
    return fs_read_fd(fd, INDEX_LIMIT, a, out, e);
}

/* An entry that replaces one of the shared index has an empty name: it takes over that name. */
static void add_shared(struct gitindex *x, const struct gitindex *shared, struct arena *a)
{
    size_t kept = 0;

    for (size_t i = 0; i < x->paths.n; i++)
        if (x->paths.v[i].n)
            x->paths.v[kept++] = x->paths.v[i];
    x->paths.n = kept;
    vec_reserve(&x->paths, shared->paths.n, a);
    for (size_t i = 0; i < shared->paths.n; i++)
        if (i >= x->deleted.n || !x->deleted.v[i])
            *vec_push(&x->paths, a) = shared->paths.v[i];
}

enum status gitindex_read(struct sv file, struct sv git_dir, size_t hash_size, struct arena *a,
                          struct gitindex *out, struct err *e)
{
    struct sv       bytes;
    struct gitindex shared;
    struct sb       name = sb_in(a, 0);

    if (slurp(file, a, &bytes, e) || parse(bytes, hash_size, a, out, e))
        return err_code(e);
    if (out->shared.n) {
        sb_addf(&name, "sharedindex." SV_FMT, SV_ARG(out->shared));
        if (slurp(path_join(git_dir, sb_sv(&name), a), a, &bytes, e) ||
            parse(bytes, hash_size, a, &shared, e))
            return err_code(e);
        add_shared(out, &shared, a);
    }
    sort_paths(out);
    return ST_OK;
}

/* The number of the first path that is not before `path`. */
static size_t lower_bound(const struct gitindex *x, struct sv path)
{
    size_t from = 0, to = x->paths.n;

    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (sv_cmp(x->paths.v[middle], path) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

bool gitindex_has(const struct gitindex *x, struct sv path)
{
    size_t at = lower_bound(x, path);

    return at < x->paths.n && sv_eq(x->paths.v[at], path);
}

bool gitindex_has_below(const struct gitindex *x, struct sv dir)
{
    struct arena scratch = { 0 };
    struct sb    b = sb_in(&scratch, 0);

    sb_add(&b, dir);
    sb_addc(&b, '/');
    struct sv start = sb_sv(&b);
    size_t    at = lower_bound(x, start);
    bool      found = at < x->paths.n && sv_starts(x->paths.v[at], start);
    arena_free(&scratch);
    return found;
}

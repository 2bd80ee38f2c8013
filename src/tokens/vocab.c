/* Finding, mapping and checking the table of a vocabulary. */
#include "tokens/vocab.h"

#include "base/failure.h"
#include "base/fs.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- reading a table ---- */

static enum status damaged(struct err *e, const char *path, const char *what)
{
    err_set(e, ST_CORRUPT, "vocabulary table %s: %s", path, what);
    return err_hint(e, "build or install heddle again, or name the directory of a whole table in "
                       "HEDDLE_VOCAB_DIR");
}

static const uint8_t *section_at(const struct vocab *v, enum section_kind s)
{
    return v->map + ((const struct table_head *)(const void *)v->map)->sections[s].offset;
}

static uint64_t section_size(const struct vocab *v, enum section_kind s)
{
    return ((const struct table_head *)(const void *)v->map)->sections[s].size;
}

static bool section_whole(const struct vocab *v, enum section_kind s)
{
    const struct table_head *head = (const void *)v->map;

    return table_sum(section_at(v, s), section_size(v, s)) == head->sections[s].sum;
}

/* The number of lines of a hashed section; 0 when its size is not that of whole lines. */
static size_t lines_of(const struct vocab *v, enum section_kind s)
{
    uint64_t size = section_size(v, s);

    return size % LINE_BYTES ? 0 : size / LINE_BYTES;
}

static enum status check_head(const struct vocab *v, const char *path, struct err *e)
{
    const struct table_head *head = (const void *)v->map;

    if (v->map_size < sizeof *head || memcmp(head->magic, TABLE_MAGIC, sizeof head->magic) != 0)
        return damaged(e, path, "this is not a vocabulary table");
    if (head->order != TABLE_ORDER)
        return damaged(e, path, "made for a machine of another byte order");
    if (head->version != TABLE_VERSION)
        return damaged(e, path, "made by another version of heddle");
    if (head->sum != table_sum(head, offsetof(struct table_head, sum)))
        return damaged(e, path, "the head does not verify");
    if (head->encoding != v->encoding)
        return damaged(e, path, "holds another encoding");
    if (head->size != v->map_size)
        return damaged(e, path, "the file is cut short or has grown");
    for (int s = 0; s < SECTION_COUNT; s++) {
        const struct table_section *at = &head->sections[s];
        if (at->offset % LINE_BYTES || at->offset > head->size ||
            at->size > head->size - at->offset)
            return damaged(e, path, "a section lies outside the file");
    }
    return ST_OK;
}

static bool sizes_fit(const struct vocab *v)
{
    return section_size(v, SECTION_CLASSES) >= CLASS_BLOCKS + 128 &&
           section_size(v, SECTION_BYTES) == 256 * sizeof(uint32_t) &&
           section_size(v, SECTION_BIGRAMS) == 65536 * sizeof(uint32_t) &&
           v->n_tokens < 1u << TOKEN_BITS &&
           section_size(v, SECTION_TEXTS) >= (v->n_tokens + 1) * sizeof(uint32_t) &&
           section_size(v, SECTION_BORDERS) == sizeof(struct borders) && v->pair_lines &&
           v->short_lines && v->middle_lines;
}

enum status vocab_read(struct vocab *v, enum tokens_encoding enc, const uint8_t *map, size_t size,
                       const char *path, struct err *e)
{
    *v = (struct vocab){ .encoding = enc, .map = map, .map_size = size, .path = path };
    if (check_head(v, path, e))
        return err_code(e);
    v->n_tokens = ((const struct table_head *)(const void *)map)->n_tokens;
    v->class_block = section_at(v, SECTION_CLASSES);
    v->class_of = v->class_block + CLASS_BLOCKS;
    v->byte_id = (const void *)section_at(v, SECTION_BYTES);
    v->bigram = (const void *)section_at(v, SECTION_BIGRAMS);
    v->pairs = (const void *)section_at(v, SECTION_PAIRS);
    v->shorts = (const void *)section_at(v, SECTION_SHORT);
    v->middles = (const void *)section_at(v, SECTION_MIDDLE);
    v->borders = (const void *)section_at(v, SECTION_BORDERS);
    v->pair_lines = lines_of(v, SECTION_PAIRS);
    v->short_lines = lines_of(v, SECTION_SHORT);
    v->middle_lines = lines_of(v, SECTION_MIDDLE);
    if (!sizes_fit(v))
        return damaged(e, path, "a section has an impossible size");
    /* All of this is read soon: mapping the pages at once is twice as fast. */
    madvise((void *)map, (size_t)(section_at(v, SECTION_TEXTS) - map), MADV_POPULATE_READ);
    for (int s = 0; s < SECTION_TEXTS; s++)
        if (!section_whole(v, (enum section_kind)s))
            return damaged(e, path, "its contents do not verify");
    return ST_OK;
}

enum status vocab_text(struct vocab *v, uint32_t id, struct sv *out, struct err *e)
{
    if (!v->texts_whole && !section_whole(v, SECTION_TEXTS))
        return damaged(e, v->path, "its texts do not verify");
    v->texts_whole = true;
    *out = (struct sv){ 0 };
    if (id >= v->n_tokens)
        return ST_OK;
    const uint32_t *start = (const void *)section_at(v, SECTION_TEXTS);
    const char     *bytes = (const char *)(start + v->n_tokens + 1);
    *out = (struct sv){ bytes + start[id], start[id + 1] - start[id] };
    return ST_OK;
}

/* ---- finding and mapping the file ---- */

static const char *path_in(const char *dir, const char *below, enum tokens_encoding enc)
{
    char *path;

    if (asprintf(&path, "%s%s/%s.tok", dir, below, tokens_encoding_name(enc)) < 0)
        failure_memory(SIZE_MAX);
    return path;
}

/* The directory of the running program, without its last slash. */
static bool program_dir(char *out, size_t cap)
{
    ssize_t n = readlink("/proc/self/exe", out, cap - 1);

    if (n <= 0)
        return false;
    out[n] = 0;
    char *slash = strrchr(out, '/');
    if (!slash)
        return false;
    *slash = 0;
    return true;
}

/* Opens the first table there is. The build puts share/heddle beside the program (and above its
 * test programs); an installed program has it in ../share/heddle. */
static int open_first(enum tokens_encoding enc, const char *asked, const char **path)
{
    char        here[PATH_MAX];
    const char *tries[3] = { NULL };
    int         n = 0, fd = -1;

    if (asked) {
        tries[n++] = path_in(asked, "", enc);
    } else {
        if (program_dir(here, sizeof here)) {
            tries[n++] = path_in(here, "/share/heddle", enc);
            tries[n++] = path_in(here, "/../share/heddle", enc);
        }
        tries[n++] = path_in(HEDDLE_DATA_DIR, "", enc);
    }
    for (int i = 0; i < n; i++) {
        if (fd < 0 && (i == 0 || errno == ENOENT || errno == ENOTDIR)) {
            free((char *)*path);
            *path = tries[i];
            fd = open(tries[i], O_RDONLY | O_CLOEXEC);
        } else {
            free((char *)tries[i]);
        }
    }
    return fd;
}

static enum status map_file(struct vocab *v, enum tokens_encoding enc, const char *dir,
                            struct err *e)
{
    const char       *path = NULL;
    UNDO(fd_undo) int fd = open_first(enc, dir, &path);
    struct stat       st;
    enum status       s;

    if (fd < 0) {
        s = err_errno(e, "no vocabulary table for %s: %s", tokens_encoding_name(enc), path);
        err_hint(e, "install heddle whole, or name the directory of %s.tok in HEDDLE_VOCAB_DIR",
                 tokens_encoding_name(enc));
    } else if (fstat(fd, &st) != 0) {
        s = err_errno(e, "%s", path);
    } else if (!S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(struct table_head)) {
        s = damaged(e, path, "this is not a vocabulary table");
    } else {
        void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
        s = map == MAP_FAILED ? err_errno(e, "map %s", path)
                              : vocab_read(v, enc, map, (size_t)st.st_size, path, e);
        if (s && map != MAP_FAILED)
            munmap(map, (size_t)st.st_size);
    }
    if (s)
        free((char *)path);
    return s;
}

/* All mapped tables, shared by their users: they are read-only. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct vocab   *mapped;

static struct vocab *find_mapped(enum tokens_encoding enc, struct sv dir)
{
    struct vocab *v = mapped;

    while (v && (v->encoding != enc || !sv_eq(sv_of(v->dir), dir)))
        v = v->next;
    return v;
}

static enum status map_new(enum tokens_encoding enc, struct sv dir, struct vocab **out,
                           struct err *e)
{
    struct vocab *v = calloc(1, sizeof *v);
    char         *name = dir.n ? strndup(dir.s, dir.n) : NULL;
    enum status   s = !v || (dir.n && !name) ? err_errno(e, "map a vocabulary") : ST_OK;

    s = s ? s : map_file(v, enc, name, e);
    if (s) {
        free(name);
        free(v);
        return s;
    }
    v->dir = name;
    v->next = mapped;
    mapped = v;
    *out = v;
    return ST_OK;
}

enum status vocab_open(enum tokens_encoding enc, struct sv dir, struct vocab **out, struct err *e)
{
    enum status s = ST_OK;

    pthread_mutex_lock(&lock);
    struct vocab *v = find_mapped(enc, dir);
    if (!v)
        s = map_new(enc, dir, &v, e);
    if (!s) {
        v->users++;
        *out = v;
    }
    pthread_mutex_unlock(&lock);
    return s;
}

void vocab_close(struct vocab *v)
{
    pthread_mutex_lock(&lock);
    if (--v->users == 0) {
        struct vocab **at = &mapped;
        while (*at != v)
            at = &(*at)->next;
        *at = v->next;
        munmap((void *)v->map, v->map_size);
        free((char *)v->path);
        free(v->dir);
        free(v);
    }
    pthread_mutex_unlock(&lock);
}

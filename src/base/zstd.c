/* The few functions of libzstd that streams need, looked up by name with dlsym(). Their types are
 * part of the ABI of libzstd.so.1, so neither the header is needed to build nor the library to
 * run. */
#include "base/zstd.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct in_buffer {
    const void *src;
    size_t      size, pos;
};
struct out_buffer {
    void  *dst;
    size_t size, pos;
};
enum { GO_ON = 0, END = 2 }; /* ZSTD_e_continue, ZSTD_e_end */

struct library {
    void *(*new_writer)(void);
    size_t (*free_writer)(void *);
    size_t (*compress)(void *, struct out_buffer *, struct in_buffer *, int);
    void *(*new_reader)(void);
    size_t (*free_reader)(void *);
    size_t (*expand)(void *, struct out_buffer *, struct in_buffer *);
    unsigned (*is_error)(size_t);
    const char *(*error_name)(size_t);
};

static struct library lib; /* filled in once, and not changed afterwards */
static bool           lib_there;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool find(void *so, const char *name, void *into)
{
    void *p = dlsym(so, name);

    memcpy(into, &p, sizeof p);
    return p != NULL;
}

static void load(void)
{
    void *so = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);

    lib_there = so && find(so, "ZSTD_createCCtx", &lib.new_writer) &&
                find(so, "ZSTD_freeCCtx", &lib.free_writer) &&
                find(so, "ZSTD_compressStream2", &lib.compress) &&
                find(so, "ZSTD_createDCtx", &lib.new_reader) &&
                find(so, "ZSTD_freeDCtx", &lib.free_reader) &&
                find(so, "ZSTD_decompressStream", &lib.expand) &&
                find(so, "ZSTD_isError", &lib.is_error) &&
                find(so, "ZSTD_getErrorName", &lib.error_name);
}

enum { ROOM = 128 * 1024 };

struct zstd {
    int              fd;
    void            *context;
    bool             writes, ended; /* ended: the input is at its end, or the frame is complete */
    struct in_buffer in;            /* of a reader: what was read and not yet expanded */
    char             room[ROOM];
};

static enum status make(int fd, bool writes, struct zstd **out, struct err *e)
{
    pthread_once(&once, load);
    if (!lib_there) {
        err_set(e, ST_IO, "libzstd, which compressed files need, is not installed");
        err_reason(e, "no_zstd");
        return err_hint(e, "install libzstd1, or use a name that does not end with .zst");
    }
    struct zstd *z = calloc(1, sizeof *z);
    if (z)
        z->context = writes ? lib.new_writer() : lib.new_reader();
    if (!z || !z->context) {
        free(z);
        return err_set(e, ST_IO, "out of memory");
    }
    z->fd = fd;
    z->writes = writes;
    z->in.src = z->room;
    z->ended = true;
    *out = z;
    return ST_OK;
}

enum status zstd_writer(int fd, struct zstd **out, struct err *e)
{
    return make(fd, true, out, e);
}

enum status zstd_reader(int fd, struct zstd **out, struct err *e)
{
    return make(fd, false, out, e);
}

void zstd_free(struct zstd *z)
{
    if (!z)
        return;
    if (z->writes)
        lib.free_writer(z->context);
    else
        lib.free_reader(z->context);
    free(z);
}

/* ---- writing --------------------------------------------------------------------------- */

static enum status put(int fd, const char *s, size_t n, struct err *e)
{
    while (n) {
        ssize_t done = write(fd, s, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return err_errno(e, "write");
        s += done;
        n -= (size_t)done;
    }
    return ST_OK;
}

static enum status compress(struct zstd *z, struct sv bytes, int how, struct err *e)
{
    struct in_buffer in = { bytes.s, bytes.n, 0 };
    size_t           left;

    do {
        struct out_buffer out = { z->room, ROOM, 0 };
        left = lib.compress(z->context, &out, &in, how);
        if (lib.is_error(left))
            return err_set(e, ST_IO, "compress: %s", lib.error_name(left));
        if (put(z->fd, z->room, out.pos, e))
            return err_code(e);
    } while (in.pos < in.size || (how == END && left));
    return ST_OK;
}

enum status zstd_write(struct zstd *z, struct sv bytes, struct err *e)
{
    return compress(z, bytes, GO_ON, e);
}

enum status zstd_finish(struct zstd *z, struct err *e)
{
    return compress(z, SV(""), END, e);
}

/* ---- reading --------------------------------------------------------------------------- */

static enum status fill(struct zstd *z, bool *end, struct err *e)
{
    ssize_t n;

    do
        n = read(z->fd, z->room, ROOM);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return err_errno(e, "read");
    z->in = (struct in_buffer){ z->room, (size_t)n, 0 };
    *end = n == 0;
    return ST_OK;
}

enum status zstd_read(struct zstd *z, void *to, size_t size, size_t *got, struct err *e)
{
    struct out_buffer out = { to, size, 0 };
    bool              end = false;

    while (out.pos < size && !end) {
        if (z->in.pos == z->in.size && fill(z, &end, e))
            return err_code(e);
        if (end && !z->ended)
            return err_set(e, ST_CORRUPT, "the compressed file is cut short");
        if (end)
            break;
        size_t left = lib.expand(z->context, &out, &z->in);
        if (lib.is_error(left))
            return err_set(e, ST_CORRUPT, "not a compressed file, or damaged: %s",
                           lib.error_name(left));
        z->ended = left == 0;
    }
    *got = out.pos;
    return ST_OK;
}

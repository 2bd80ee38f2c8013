/* Loading libpq. */
#include "store/pq.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static struct pq      lib;
static bool           lib_there;
static pthread_once_t lib_once = PTHREAD_ONCE_INIT;

static bool look_up(void *so, const char *name, void *slot)
{
    void *p = dlsym(so, name);

    memcpy(slot, &p, sizeof p);
    return p != NULL;
}

static void load(void)
{
    void *so = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);

    lib_there = so != NULL;
#define X(name) lib_there = lib_there && look_up(so, #name, &lib.name);
    PQ_TABLE(X)
#undef X
}

enum status pq_load(const struct pq **out, struct err *e)
{
    pthread_once(&lib_once, load);
    if (!lib_there) {
        err_set(e, ST_IO, "a log on PostgreSQL needs libpq 14 or newer, which is not there");
        return err_hint(e, "install it; its package in Debian is libpq5");
    }
    *out = &lib;
    return ST_OK;
}

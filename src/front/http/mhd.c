/* Loading libmicrohttpd. */
#include "front/http/mhd.h"

#include "base/sv.h"

#include <dlfcn.h>
#include <string.h>

static bool look_up(void *handle, void *slot, const char *name)
{
    void *p = dlsym(handle, name);

    memcpy(slot, &p, sizeof p);
    return p != NULL;
}

enum status mhd_load(struct mhd *lib, struct err *e)
{
    lib->handle = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
    bool all = lib->handle != NULL;
#define X(name) all = all && look_up(lib->handle, &lib->name, "MHD_" #name);
    MHD_TABLE(X)
#undef X
    if (all) {
        lib->parses_in_place = sv_starts(sv_of(lib->get_version()), SV("0.9.7"));
        return ST_OK;
    }
    err_set(e, ST_IO, "libmicrohttpd is not installed, or too old");
    err_reason(e, "library");
    return err_hint(e, "install the package libmicrohttpd12");
}

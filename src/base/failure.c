/* The one way in which code below the doors ends the process. */
#include "base/failure.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static _Atomic(failure_handler *) handle;

void failure_handle(failure_handler *handler)
{
    atomic_store(&handle, handler);
}

void failure_system(const char *what)
{
    failure_handler *h = atomic_load(&handle);

    if (h)
        h(what);
    abort();
}

void failure_memory(size_t bytes)
{
    char text[64] = "out of memory";

    if (bytes != SIZE_MAX)
        snprintf(text, sizeof text, "out of memory (%zu bytes)", bytes);
    failure_system(text);
}

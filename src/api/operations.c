/* The table of all operations. */
#include "api/operation.h"

/* clang-format off */
static const char *const group_titles[] = {
    [GROUP_START]   = "Start",
    [GROUP_LOG]     = "Log and projection",
    [GROUP_RUN]     = "Runs and checkpoints",
    [GROUP_SHARE]   = "Threads that share work",
    [GROUP_LOOM]    = "Loom",
    [GROUP_PAYLOAD] = "Payload",
    [GROUP_DOORS]   = "Doors",
    [GROUP_CARE]    = "Care",
};

#define OPERATION_TABLE(X) \
    X(thread_list)

#define X(name) extern const struct operation op_##name;
OPERATION_TABLE(X)
#undef X

const struct operation *const operations[] = {
#define X(name) &op_##name,
    OPERATION_TABLE(X)
#undef X
    NULL,
};
/* clang-format on */

const char *op_group_title(enum op_group g)
{
    return g < COUNT(group_titles) ? group_titles[g] : "";
}

const struct operation *operation_find(struct sv name)
{
    for (size_t i = 0; operations[i]; i++)
        if (sv_is(name, operations[i]->name))
            return operations[i];
    return NULL;
}

enum status operation_named(struct sv name, const struct operation **out, struct err *e)
{
    const char *nearest = NULL;
    size_t      best = 4;

    *out = operation_find(name);
    if (*out)
        return ST_OK;
    for (size_t i = 0; operations[i]; i++) {
        size_t d = sv_distance(name, sv_of(operations[i]->name));
        if (d < best) {
            best = d;
            nearest = operations[i]->name;
        }
    }
    err_set(e, ST_NOT_FOUND, "there is no operation '" SV_FMT "'", SV_ARG(name));
    return nearest ? err_hint(e, "did you mean %s?", nearest)
                   : err_hint(e, "`heddle api schema` lists the operations");
}

#include "model/model_internal.h"

#include "base/clock.h"

#include <time.h>

static const struct model_provider *const providers[] = { &model_offline };

/* clang-format off */
static const struct failure {
    int         status;
    const char *code;
    bool        retry;
    const char *advice;
} failures[] = {
    { 401, "authenticationFailed", false, "check the provider's key" },
    { 403, "authenticationFailed", false, "check the provider's key" },
    { 404, "modelNotFound",        false, "check the model's name" },
    { 408, "timeout",              true,  "try again" },
    { 413, "contextTooLong",       false, "continue from an earlier node, or shorten the branch" },
    { 400, "invalidRequest",       false, "the provider refused the request" },
    { 422, "invalidRequest",       false, "the provider refused the request" },
    { 429, "rateLimited",          true,  "wait a little and try again" },
    { 451, "contentFiltered",      false, "the provider refused the content" },
    { 0,   "networkError",         true,  "check the connection and try again" },
};
/* clang-format on */

enum status model_http_error(int status, struct sv message, bool *retry, struct err *e)
{
    struct failure f = { status, "unknown", false, "see the provider's message" };

    if (status >= 500)
        f = (struct failure){ status, "serverError", true, "try again later" };
    for (size_t i = 0; i < COUNT(failures); i++)
        if (failures[i].status == status)
            f = failures[i];
    *retry = f.retry;
    err_set(e, ST_MODEL_ERROR, "%s%s" SV_FMT, f.code, message.n ? ": " : "", SV_ARG(message));
    err_reason(e, f.code);
    return err_hint(e, "%s", f.advice);
}

void model_pause(struct model_client *c, int64_t ms)
{
    if (c->sleep)
        c->sleep(c->ctx, ms);
    else
        nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

enum status model_complete(struct model_client *c, const struct model_request *q, struct arena *a,
                           struct model_response *out, struct err *e)
{
    static const int64_t         pauses[MODEL_ATTEMPTS] = { 0, 500, 1500 };
    struct sv_cut                name = sv_cut(q->model, ':');
    const struct model_provider *p = NULL;

    for (size_t i = 0; i < COUNT(providers); i++)
        p = sv_is(name.head, providers[i]->name) ? providers[i] : p;
    if (!p || !name.found) {
        err_set(e, ST_NOT_FOUND, "no provider for model '" SV_FMT "'", SV_ARG(q->model));
        return err_hint(e, "offline:echo and offline:script FILE need no network");
    }
    bool retry = true;
    for (int i = 0; i < MODEL_ATTEMPTS && retry; i++) {
        if (i)
            model_pause(c, pauses[i]);
        *out = (struct model_response){ .provider = name.head,
                                        .model = name.tail,
                                        .finish = SV("stop"),
                                        .prompt_tokens = -1,
                                        .completion_tokens = -1,
                                        .asked_at = clock_now_ms() };
        retry = false;
        if (p->ask(c, name.tail, q, a, out, &retry, e) == ST_OK) {
            out->answered_at = clock_now_ms();
            return ST_OK;
        }
    }
    return err_code(e);
}

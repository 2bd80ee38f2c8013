/* The thread that makes summaries. */
#include "front/cli/background.h"

#include "api/loom/loom_env.h"
#include "api/request.h"

#include <errno.h>
#include <time.h>

extern const struct operation op_tree_summarize, op_tree_close;

/* Failure is ignored: a summary that is still missing is made by the next call. */
static void summarise(struct background *b, const struct operation *op, struct sv agent)
{
    struct arena   a = { 0 };
    struct request r;
    struct err     ignored;
    void          *params = params_init(op->params, op->params_size, &a);

    request_init(&r, &b->app->ws, &a);
    r.actor = b->app->actor;
    r.cancel = &b->cancel;
    r.warn_now = warn_text;
    bool has_any = loom_has_summaries(&r, agent);
    request_end(&r); /* the log was open for reading */
    if (has_any &&
        (param_set(param_find(op->params, SV("thread")), params, b->thread, &a, &ignored) ||
         operation_run(op, &r, params, &ignored)))
        b->failed++;
    request_end(&r);
    arena_free(&a);
}

static void *work(void *ctx)
{
    struct background *b = ctx;

    pthread_mutex_lock(&b->lock);
    while (!b->ends) {
        if (!b->wanted) {
            pthread_cond_wait(&b->wake, &b->lock);
            continue;
        }
        b->wanted = false;
        struct sv agent = b->agent;
        pthread_mutex_unlock(&b->lock);
        summarise(b, &op_tree_summarize, agent);
        pthread_mutex_lock(&b->lock);
    }
    pthread_mutex_unlock(&b->lock);
    if (!atomic_load(&b->cancel)) /* a turn that failed may not even have begun */
        summarise(b, &op_tree_close, b->agent);
    pthread_mutex_lock(&b->lock);
    b->over = true;
    pthread_cond_signal(&b->done);
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

void background_begin(struct background *b, struct app *app, struct sv thread, struct sv agent)
{
    *b = (struct background){ .app = app, .thread = thread, .agent = agent };
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->wake, NULL);
    pthread_cond_init(&b->done, NULL);
    bool nobody = sv_is(loom_small_models(&app->ws).set, "none");
    b->runs = !nobody && pthread_create(&b->worker, NULL, work, b) == 0;
}

void background_wake(struct background *b, struct sv agent)
{
    pthread_mutex_lock(&b->lock);
    b->wanted = true;
    b->agent = agent;
    pthread_cond_signal(&b->wake);
    pthread_mutex_unlock(&b->lock);
}

/* With the lock held: wait until the thread has ended, but at most BACKGROUND_CLOSE_MS. */
static void wait_for_it(struct background *b)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += BACKGROUND_CLOSE_MS / 1000;
    while (b->runs && !b->over && pthread_cond_timedwait(&b->done, &b->lock, &until) != ETIMEDOUT)
        ;
}

void background_end(struct background *b, bool now)
{
    if (now)
        atomic_store(&b->cancel, true);
    pthread_mutex_lock(&b->lock);
    b->ends = true;
    pthread_cond_signal(&b->wake);
    wait_for_it(b);
    pthread_mutex_unlock(&b->lock);
    atomic_store(&b->cancel, true);
    if (b->runs)
        pthread_join(b->worker, NULL);
    pthread_cond_destroy(&b->wake);
    pthread_cond_destroy(&b->done);
    pthread_mutex_destroy(&b->lock);
}

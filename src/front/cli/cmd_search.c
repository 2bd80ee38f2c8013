/* `search`: nodes of every thread by their words. */
#include "base/clock.h"
#include "front/cli/command.h"
#include "front/cli/progress.h"
#include "loom/agent.h"
#include "loom/search.h"

struct search_opts {
    struct sv thread;
    int64_t   max;
};

static const struct opt opts_table[] = {
    { OPT_TEXT, "thread", "T", "only in this thread", offsetof(struct search_opts, thread), 0 },
    { OPT_NUMBER, "max", "N", "at most so many (default 20)", offsetof(struct search_opts, max),
      0 },
    { 0 },
};

enum { SEARCH_DEFAULT = 20, SEARCH_MOST = 1000 };

static void print(struct app *app, struct sv query, const struct found *list, size_t n)
{
    struct jw w = jw_in(&app->out, 0);

    if (app->json)
        jw_open(&w, '[');
    for (size_t i = 0; i < n; i++) {
        struct sb b = sb_in(app->a, 0);
        found_excerpt(&b, list[i].text, query);
        if (app->json) {
            struct sv quoted = sb_sv(&b);
            jw_open(&w, '{');
            jw_kstr(&w, "thread", list[i].thread);
            jw_kstr(&w, "local_id", list[i].node.local);
            jw_kint(&w, "seq", list[i].node.seq);
            jw_kstr(&w, "author", list[i].node.author);
            jw_kint(&w, "at", list[i].node.at);
            jw_kstr(&w, "excerpt", (struct sv){ quoted.s + 1, quoted.n - 2 });
            jw_close(&w, '}');
            continue;
        }
        sb_add_plain(&app->out, list[i].thread);
        sb_addf(&app->out, "  [" SV_FMT "] %s · ", SV_ARG(list[i].node.local),
                author_kind_name(list[i].node.kind));
        sb_add_plain(&app->out, sb_sv(&b));
        sb_addc(&app->out, '\n');
    }
    if (app->json) {
        jw_close(&w, ']');
        sb_addc(&app->out, '\n');
    }
}

/* A thread that was only ever a log has no nodes to be found yet: they are folded now. */
static enum status fold_threads(struct app *app, struct err *e)
{
    struct store_thread *list;
    size_t               n;
    struct progress      p;

    if (log_begin(&app->log, (struct sv){ 0 }, STORE_READ, e))
        return err_code(e);
    enum status s = store_threads(app->log.store, app->a, &list, &n, e);
    log_abort(&app->log);
    p = progress_of("folding threads", s ? 0 : (int64_t)n);
    for (size_t i = 0; !s && i < n; i++) {
        s = log_begin(&app->log, list[i].id, STORE_READ, e);
        log_abort(&app->log);
        progress_at(&p, (int64_t)i + 1);
    }
    progress_end(&p);
    return s;
}

/* What was written since someone last looked is indexed first. In a workspace that cannot be
 * written, what is there already is searched, and that is said. */
static enum status bring_up_to_date(struct app *app, struct sv thread, struct err *e)
{
    bool due;

    if (loom_index_is_due(&app->log, thread, &due, e))
        return err_code(e);
    if (!due)
        return ST_OK;
    if (log_begin(&app->log, thread, STORE_WRITE, e) || loom_index(&app->log, thread, e) ||
        log_commit(&app->log, e)) {
        log_abort(&app->log);
        warn("the newest messages of %.*s are not searched: %s", SV_ARG(thread), e->text);
    }
    return ST_OK;
}

static enum status update_index(struct app *app, struct sv only, struct err *e)
{
    struct store_thread *threads;
    size_t               n;

    if (only.s)
        return bring_up_to_date(app, only, e);
    if (store_threads(app->log.store, app->a, &threads, &n, e))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        if (!sv_eq(threads[i].id, GLOBAL_THREAD) && bring_up_to_date(app, threads[i].id, e))
            return err_code(e);
    return ST_OK;
}

static enum status run(struct app *app, const void *opts, struct err *e)
{
    const struct search_opts *o = opts;
    int64_t                   max = o->max == OPT_UNSET ? SEARCH_DEFAULT : o->max;
    struct loom   l = { .log = &app->log, .thread = o->thread, .a = app->a, .now = clock_now_ms() };
    struct found *list;
    size_t        n;
    bool          more;

    if (max < 1 || max > SEARCH_MOST)
        return err_set(e, ST_USAGE, "--max takes a number from 1 to %d", SEARCH_MOST);
    if ((!o->thread.s && fold_threads(app, e)) || update_index(app, o->thread, e) ||
        log_begin(&app->log, o->thread, STORE_READ, e))
        return err_code(e);
    enum status s = loom_find(&l, app_arg(app, 0), !o->thread.s, (size_t)max, &list, &n, &more, e);
    log_abort(&app->log);
    if (s)
        return s;
    print(app, app_arg(app, 0), list, n);
    if (more && (int64_t)n < max)
        warn("many of the matches are hidden: the newest %d were looked at", FIND_LOOKED_AT);
    return ST_OK;
}

const struct command cmd_search = {
    .name = "search",
    .synopsis = "QUERY [--thread T] [--max N]",
    .group = GROUP_LOOM,
    .view = &loom_view,
    .summary = "Find nodes of all threads by their words",
    .details = "Every word must occur; words in 'single quotes' are a phrase. Newest first.\n\n"
               "  heddle search \"mother childhood\"",
    .opts = opts_table,
    .opts_size = sizeof(struct search_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_LOG,
    .run = run,
};

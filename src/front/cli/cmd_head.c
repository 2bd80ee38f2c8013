/* `head`: where each log ends, to be kept elsewhere and compared with `verify --pin`. */
#include "base/clock.h"
#include "front/cli/command.h"
#include "thread/pin.h"

static void print_text(struct app *app, const struct pin *p)
{
    sb_add_plain(&app->out, p->thread);
    sb_addf(&app->out, " %lld ", (long long)p->rev);
    sb_add_hex(&app->out, p->chain.b, HASH_SIZE);
    sb_addc(&app->out, ' ');
    sb_add_iso_ms(&app->out, p->at);
    sb_addc(&app->out, '\n');
}

static enum status print_one(struct app *app, struct sv thread, struct jw *w, struct err *e)
{
    struct pin p;

    if (pin_of(&app->log, thread, &p, e))
        return err_code(e);
    if (app->json)
        pin_write(w, &p);
    else
        print_text(app, &p);
    return ST_OK;
}

static enum status print_all(struct app *app, struct jw *w, struct err *e)
{
    struct store_thread *list;
    size_t               n;

    if (store_threads(app->log.store, app->a, &list, &n, e))
        return err_code(e);
    jw_open(w, '{');
    jw_key(w, "items");
    jw_open(w, '[');
    for (size_t i = 0; i < n; i++)
        if (print_one(app, list[i].id, w, e))
            return err_code(e);
    jw_close(w, ']');
    jw_close(w, '}');
    return ST_OK;
}

static enum status run(struct app *app, const void *opts, struct err *e)
{
    struct sb text = sb_in(app->a, 0); /* printed only when all went well */
    struct jw w = jw_in(&text, 0);

    (void)opts;
    if (log_begin(&app->log, (struct sv){ 0 }, STORE_READ, e))
        return err_code(e);
    enum status s = app->n_args ? print_one(app, app_arg(app, 0), &w, e) : print_all(app, &w, e);
    log_abort(&app->log);
    if (s || !app->json)
        return s;
    sb_add(&app->out, sb_sv(&text));
    sb_addc(&app->out, '\n');
    return ST_OK;
}

const struct command cmd_head = {
    .name = "head",
    .synopsis = "[T]",
    .group = GROUP_CARE,
    .summary = "Print where the log of a thread ends: revision, chain value, time",
    .details =
        "The chain value of the last entry stands for all entries before it. Kept outside the\n"
        "workspace it shows what nothing inside can: that an older copy was put back, or that the\n"
        "log was written anew. `heddle verify --pin` compares. With --json one object, or without\n"
        "T {\"items\":[…]} of every thread.\n\n"
        "  heddle head --json > pins.json",
    .max_args = 1,
    .needs = NEEDS_LOG,
    .run = run,
};

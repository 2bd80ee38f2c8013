/* A thread that reads the terminal while a turn goes on. */
#include "front/cli/steering.h"

#include "front/cli/command.h"

#include "api/request.h"
#include "base/fs.h"
#include "front/cli/interrupt.h"
#include "front/cli/line_edit.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

extern const struct operation op_run_steer;

/* ---- one line ------------------------------------------------------------------------------ */

static enum status steer(struct steering *s, struct sv line, struct err *e)
{
    struct arena   a = { 0 };
    struct request r;
    void          *params = params_init(op_run_steer.params, op_run_steer.params_size, &a);

    request_init(&r, &s->app->ws, &a);
    r.actor = s->app->actor;
    enum status st = command_set(&op_run_steer, params, "thread", s->thread, &a, e);
    if (!st)
        st = command_set(&op_run_steer, params, "agent", s->agent, &a, e);
    if (!st)
        st = command_set(&op_run_steer, params, "text", line, &a, e);
    if (!st)
        st = operation_run(&op_run_steer, &r, params, e);
    request_end(&r);
    arena_free(&a);
    return st;
}

/* `ending`: the turn is over. */
static void take_line(struct steering *s, struct sv line, bool ending)
{
    struct err why;

    line = sv_trim(line);
    if (!line.n)
        return;
    if (sv_is(line, "/cancel")) {
        if (!ending)
            interrupt_now();
        return;
    }
    bool command = sv_starts(line, SV("/")) || sv_starts(line, SV("→")); /* not for the model */
    if (!command && !ending && steer(s, line, &why) == ST_OK)
        return;
    *vec_push(&s->left, &s->a) = sv_dup(line, &s->a); /* the turn is ending, or has its answer */
}

/* ---- the thread ----------------------------------------------------------------------------- */

/* What was typed before the end of the turn is read, even when the end comes first. */
static void *read_lines(void *ctx)
{
    struct steering *s = ctx;
    struct arena     a = { 0 };
    struct sb        text = sb_in(&a, 0);
    struct pollfd    from[2] = { { .fd = 0, .events = POLLIN }, { s->stop[0], POLLIN, 0 } };
    bool             ending = false;
    char             room[4096];

    while (poll(from, 2, ending ? 0 : -1) >= 0) {
        ending = ending || from[1].revents;
        if (!from[0].revents && ending)
            break;
        ssize_t n = from[0].revents ? read(0, room, sizeof room) : 0;
        if (n <= 0 && from[0].revents)
            break; /* the terminal is gone, or Ctrl-D: the turn goes on without it */
        sb_add(&text, (struct sv){ room, n > 0 ? (size_t)n : 0 });
        for (struct sv_cut c = sv_cut(sb_sv(&text), '\n'); c.found;) {
            take_line(s, c.head, ending);
            struct sb rest = sb_in(&a, 0);
            sb_add(&rest, c.tail);
            text = rest;
            c = sv_cut(sb_sv(&text), '\n');
        }
    }
    if (sv_trim(sb_sv(&text)).n) /* a line that Ctrl-D ended, or the end of the terminal */
        *vec_push(&s->left, &s->a) = sv_dup(sv_trim(sb_sv(&text)), &s->a);
    arena_free(&a);
    return NULL;
}

void steering_begin(struct steering *s, struct app *app, struct sv thread, struct sv agent)
{
    *s = (struct steering){ .app = app, .thread = thread, .agent = agent, .stop = { -1, -1 } };
    if (!line_has_person() || pipe2(s->stop, O_CLOEXEC) != 0)
        return;
    s->runs = pthread_create(&s->reader, NULL, read_lines, s) == 0;
}

void steering_end(struct steering *s)
{
    fd_undo(&s->stop[1]); /* the reader sees that it is closed */
    if (s->runs)
        pthread_join(s->reader, NULL);
    s->runs = false;
    fd_undo(&s->stop[0]);
}

bool steering_left(struct steering *s, struct sv *line)
{
    if (s->taken == s->left.n)
        return false;
    *line = s->left.v[s->taken++];
    return true;
}

void steering_release(struct steering *s)
{
    struct sv line;

    while (steering_left(s, &line))
        warn("typed too late for the turn, and not said: " SV_FMT, SV_ARG(line));
    arena_free(&s->a);
    s->left.n = s->taken = 0;
}

/* Lines that a person types while a turn goes on. Each is handed to the turn as steering, by the
 * operation run.steer on a thread of its own; what the turn does not take any more is left for the
 * next one. Only where standard input is a terminal.
 *
 *     struct steering s;
 *     steering_begin(&s, app, thread, agent);
 *     ... the turn ...
 *     steering_end(&s);
 *     while (steering_left(&s, &line)) ...                                             */
#ifndef HEDDLE_STEERING_H
#define HEDDLE_STEERING_H

#include "base/vec.h"
#include "front/app.h"

#include <pthread.h>

struct steering {
    struct app  *app;
    struct sv    thread, agent;
    bool         runs;
    pthread_t    reader;
    int          stop[2]; /* a pipe: something in it ends the reader */
    struct arena a;       /* of the lines that are left */
    VEC(struct sv) left;  /* oldest first */
    size_t taken;         /* how many of them steering_left() has given */
};

void steering_begin(struct steering *s, struct app *app, struct sv thread, struct sv agent);
void steering_end(struct steering *s);

/* The next line that no turn has taken; it is good until steering_release(), which warns of those
 * that nobody asked for. */
bool steering_left(struct steering *s, struct sv *line);
void steering_release(struct steering *s);

#endif

/* The events of a turn as documents, and as text for a person. */
#ifndef HEDDLE_TALK_EVENT_H
#define HEDDLE_TALK_EVENT_H

#include "agent/turn.h"
#include "api/field.h"

struct term;

extern const struct field talk_event_fields[];
extern const struct field talk_used_fields[];

/* What the events so far left on a screen: whether a line is open, and of what. */
struct talk_line {
    bool                 open;
    enum turn_event_type type;
};

void talk_event_write(struct jw *w, const struct turn_event *ev, struct talk_line *line);
void talk_used_write(struct jw *w, const struct turn_used *u);

void talk_event_print(const struct json *event, struct term *t);
void talk_used_print(const struct json *used, struct term *t);

#endif

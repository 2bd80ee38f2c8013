/* Which function answers which path. */
#ifndef HEDDLE_FRONT_ROUTE_H
#define HEDDLE_FRONT_ROUTE_H

#include "front/http/call.h"

enum route_who {
    WHO_ANYBODY, /* anybody: the answer reveals nothing */
    WHO_KNOWN,   /* the page, the shell or a program with a token */
    WHO_SHELL,
};

struct serve_route {
    const char    *path;
    bool           below; /* every path that begins with it */
    const char    *method;
    enum route_who who;
    /* After the head, before the body: which operation, whether the body streams. NULL: nothing to
     * do. False: refused. */
    bool (*begin)(struct serve_call *c, struct serve_refusal *why);
    enum MHD_Result (*answer)(struct serve_call *c); /* after the body, unless it is streamed */
};

/* The row for a path and a method. NULL, and a refusal: 404, or 405 when the method is another. */
const struct serve_route *route_find(const struct serve_head *h, struct serve_refusal *why);

/* Rows of other files. */
bool            api_begin(struct serve_call *c, struct serve_refusal *why);
enum MHD_Result api_answer(struct serve_call *c);
enum MHD_Result events_answer(struct serve_call *c);
enum MHD_Result page_answer(struct serve_call *c);

#endif

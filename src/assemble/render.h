/* Renderers: a context as its receiver wants it.
 *
 *     struct render_report report = report_in(&a);
 *     if (render_write(RENDER_ANTHROPIC, &projection, &options, &out, &report, e)) ...
 *     for (size_t i = 0; i < report.list.n; i++)
 *         repair_write(&text, &report.list.v[i]);              one line each, on stderr
 *
 * Messages come in oldest first. The output is canonical JSON (or text for people) and a
 * pure function of the context: equal contexts give equal bytes. What a shape cannot hold is
 * never left out silently: each such thing is a line of the report. Heddle's own marks on a
 * message (seq, time, refs) are not part of any request.
 *
 * json        the projection as it is, no repair but the changes of its options
 * anthropic   {"messages":[…],"system":TEXT}: roles alternate, calls are tool_use blocks, all
 *             results of a turn are tool_result blocks at the head of one user message;
 *             system messages are joined into "system"; thinking needs its signature
 * openai      {"messages":[…]} of chat completions: the prompt is the first message, calls
 *             have JSON text as arguments, results are tool messages
 * text        for reading in a terminal: nothing in it can move the cursor
 * markdown    for pasting: a heading for the prompt and each message, its text as it is */
#ifndef HEDDLE_RENDER_H
#define HEDDLE_RENDER_H

#include "assemble/limit.h"
#include "assemble/report.h"
#include "loom/node.h"
#include "thread/project.h"

/*    format             name */
#define RENDER_TABLE(X)                                                                            \
    X(RENDER_JSON, "json")                                                                         \
    X(RENDER_ANTHROPIC, "anthropic")                                                               \
    X(RENDER_OPENAI, "openai")                                                                     \
    X(RENDER_TEXT, "text")                                                                         \
    X(RENDER_MARKDOWN, "markdown")

enum render_format {
#define X(format, name) format,
    RENDER_TABLE(X)
#undef X
};

#define RENDER_NAMES "json, anthropic, openai, text or markdown"

/* ST_USAGE: no such format. */
enum status render_format_of(struct sv name, enum render_format *out, struct err *e) MUST_USE;

/* With a limit, render_write() reads the lane from its end, and a little more than the limit, so
 * that no call is cut from its result; a call that stands more than RENDER_LOOK_BACK messages
 * before its result is not looked for, and the result is then reported as one without a call. */
enum { RENDER_LOOK_BACK = 1000 };

/* The parts of a context that will be sent again unchanged, so that a provider can cache them.
 * anthropic marks the ends of these parts, and the end of the context, with which the next round of
 * the turn begins; formats without marks ignore this. */
struct render_cache {
    bool      on;
    size_t    system;   /* bytes of the system prompt that are the same in every turn */
    size_t    messages; /* messages at the start with which the next turn begins as well */
    struct sv key; /* the same for every request that begins so: for providers who route by it */
};

struct render_options {
    bool    limited; /* only the newest `limit` messages; see limit.h */
    int64_t limit;
    /* Messages that are excluded, or shown in another version (loom_seen()). An excluded result
     * keeps its place, without its content, since its call would seem unanswered. */
    const struct loom_change *changes;
    size_t                    n_changes;

    struct render_cache cache;
    bool                merge; /* openai: neighbours of one role are one message, as the templates
                                * of some local models demand */
    bool details;   /* openai: a list of reasoning_details is sent as it is (thinking.h) */
    bool user_last; /* anthropic: a user's message follows a last one of the assistant */
};

/* Render a projection, in its transaction. `o` may be NULL; `r` gets what was repaired.
 * The output ends without a newline, except text, which is lines. */
enum status render_write(enum render_format f, struct projection *p, const struct render_options *o,
                         struct sb *out, struct render_report *r, struct err *e) MUST_USE;

/* The context of a projection with the changes of its options; each is reported. In its
 * transaction. */
enum status render_changed(struct projection *p, const struct context *c,
                           const struct render_options *o, struct context *out,
                           struct render_report *r, struct err *e) MUST_USE;

/* The same for a context in memory; not for RENDER_JSON, which says where a projection
 * comes from. Scratch memory is taken from `a`. */
enum status render_context(enum render_format f, const struct context *c,
                           const struct render_options *o, struct arena *a, struct sb *out,
                           struct render_report *r, struct err *e) MUST_USE;

#endif

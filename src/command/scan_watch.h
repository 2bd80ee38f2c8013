/* Scans a model's output while it arrives: which parts are prose, which are commands, and when a
 * batch of commands is complete. A model cannot know the results of its commands, so the first line
 * of prose after a batch ends the output: what follows is ignored, and the caller can stop the
 * request.
 *
 *     struct scan_watch w;
 *     scan_watch_init(&w, a, show, ctx);
 *     if (scan_watch_feed(&w, piece)) stop();              for each piece that comes
 *     scan_watch_end(&w);
 *     scan_output(scan_watch_text(&w), a, &scan);          the commands, as ever
 *
 * The scan of what counts is that of the whole output, however it was split. Text is shown as soon
 * as it is known what it is: prose at once, except for the first characters of a line. */
#ifndef HEDDLE_COMMAND_SCAN_WATCH_H
#define HEDDLE_COMMAND_SCAN_WATCH_H

#include "command/lexer.h"
#include "command/scan_internal.h"

#include "base/sb.h"

enum watch_part {
    SCAN_PROSE,   /* a piece of text, line ends and all */
    SCAN_COMMAND, /* a whole command with its arrow, without its line end; may span lines */
    SCAN_THOUGHT, /* a whole line of a thought, → think and ← too */
};

struct scan_watch {
    struct sb         text;     /* all that came */
    size_t            at;       /* of the line that is being read */
    size_t            lead;     /* where it starts behind its spaces, as far as that is known */
    size_t            searched; /* up to where there is no line end behind `at` */
    size_t            shown;    /* up to where prose was shown */
    size_t            command;  /* start of the command whose quotation is open, when `quoting` */
    size_t            over;     /* where the output ends, once it is over */
    size_t            commands;
    struct lexer_line lexer; /* of that command */
    struct scan_fence fence;
    bool              quoting, thinking, is_over;
    struct arena     *a;
    struct arena      scratch;
    void (*show)(void *ctx, enum watch_part what, struct sv text);
    void *ctx;
};

/* `show` may be NULL. */
void scan_watch_init(struct scan_watch *w, struct arena                                  *a,
                     void (*show)(void *ctx, enum watch_part what, struct sv text), void *ctx);

/* True once the output is over: what was fed behind that point does not count. */
bool scan_watch_feed(struct scan_watch *w, struct sv piece);

/* No more will come: what waits is shown. Call it once, before scan_watch_text(). */
void scan_watch_end(struct scan_watch *w);

struct sv scan_watch_text(struct scan_watch *w); /* what counts */
struct sv scan_watch_rest(struct scan_watch *w); /* what came behind it; empty: nothing */

#endif

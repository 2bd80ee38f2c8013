/* Where a payload goes: a file that is replaced as a whole, a device or pipe, stdout, the
 * clipboard beside any of them, or nowhere.
 *
 *     struct payload_out d;
 *     if (payload_out_open(app, output, turn, report, &d, e)) return err_code(e);
 *     s = payload_out_write(app, &p, &d, copy, e);
 *     payload_out_close(&d);                                                              */
#ifndef HEDDLE_PAYLOAD_OUT_H
#define HEDDLE_PAYLOAD_OUT_H

#include "front/cli/command.h"
#include "payload/payload.h"

struct payload_out {
    struct sv shown;   /* for the message */
    int       dir;     /* folder of the file */
    struct sv name;    /* in it; absent: not a file */
    int       mode;    /* of the file that is there; 0: a new one */
    bool      in_turn; /* the input.md of a turn, because nothing else was asked for */
    int       plain;   /* a descriptor written to directly (a device, stdout), or -1 */
    int       kept;    /* what was written, to be read again, or -1 */
};

/* `output` is a path, - or absent. Then it is the turn's input.md or, outside a turn, stdout,
 * which holds a report instead when `report`. A file keeps its mode; a link stays and what it
 * leads to is replaced; what is no regular file (/dev/null, a pipe) is written to.
 * ST_INVALID_SYNTAX: a folder. ST_USAGE: stdout twice. ST_NOT_FOUND, ST_IO. */
enum status payload_out_open(struct app *app, struct sv output, struct sv turn, bool report,
                             struct payload_out *d, struct err *e) MUST_USE;
void        payload_out_close(struct payload_out *d);

/* All of it or, for a file, nothing. Under the name teddy what goes to a turn is printed as
 * well. A copy that fails is warned about. As payload_write(). */
enum status payload_out_write(struct app *app, struct payload *p, struct payload_out *d, bool copy,
                              struct err *e) MUST_USE;

/* Can a failed write be tried again? Not when parts of it may have been seen. */
bool payload_out_may_repeat(const struct payload_out *d);

/* The path below the root of the file that `output` and `turn` name, or that is behind stdout;
 * absent when there is none. */
struct sv payload_out_place(struct app *app, struct sv output, struct sv turn);

#endif

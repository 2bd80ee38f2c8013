/* Where a payload goes: a file that is replaced as a whole, a device or pipe, stdout, the
 * clipboard beside any of them, or nowhere.
 *
 *     struct payload_out d;
 *     if (payload_out_find(app, output, turn, report, copy, &d, e)) return err_code(e);
 *     payload_out_take(&d, request);               then the operation runs
 *     s = payload_out_done(&d, e);                 when it went well
 *     payload_out_close(&d);                                                              */
#ifndef HEDDLE_PAYLOAD_OUT_H
#define HEDDLE_PAYLOAD_OUT_H

#include "base/fs.h"
#include "front/cli/command.h"

struct payload_out {
    struct app     *app;
    struct sv       shown;   /* for the message */
    int             dir;     /* directory of the file */
    struct sv       name;    /* in it; absent: not a file */
    int             mode;    /* of the file that is there; 0: a new one */
    bool            in_turn; /* the input.md of a turn, because nothing else was asked for */
    bool            copy;    /* to the clipboard as well */
    int             plain;   /* a descriptor written to directly (a device, stdout), or -1 */
    int             kept;    /* what was written, to be read again, or -1 */
    bool            drafted; /* `draft` is open */
    struct fs_draft draft;
    struct sb       to; /* what the operation writes to */
};

/* `output` is a path, - or absent. Then it is the turn's input.md or, outside a turn, stdout, which
 * holds a report instead when `report`. A file keeps its mode; a link stays and what it leads to is
 * replaced; what is not a regular file (/dev/null, a pipe) is written to. ST_INVALID_SYNTAX: a
 * directory. ST_USAGE: stdout twice. ST_NOT_FOUND, ST_IO. */
enum status payload_out_find(struct app *app, struct sv output, struct sv turn, bool report,
                             bool copy, struct payload_out *d, struct err *e) MUST_USE;

/* Have the request write there. Nothing is made before it asks. */
void payload_out_take(struct payload_out *d, struct request *r);

/* All of it was written: the file is put in its place and the copy made. Under the name teddy what
 * goes to a turn is printed as well. A copy that fails is warned about. */
enum status payload_out_done(struct payload_out *d, struct err *e) MUST_USE;
void        payload_out_close(struct payload_out *d); /* drops what is not done */

/* The path below the root of the file that `output` and `turn` name, or that is behind stdout;
 * absent when there is none. */
struct sv payload_out_place(struct app *app, struct sv output, struct sv turn);

#endif

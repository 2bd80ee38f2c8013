/* How a server that runs for a workspace is found: a file of the user, outside of any workspace, so
 * that a checkout cannot bring one.
 *
 *     $XDG_RUNTIME_DIR/heddle/HASH.json     {"pid","root","socket","token","url"}, 0600
 *     $XDG_RUNTIME_DIR/heddle/HASH.sock     the server's socket for the shell
 *     $XDG_RUNTIME_DIR/heddle/HASH.lock     locked as long as the server runs
 *
 * HASH is made from the path of the workspace. Without XDG_RUNTIME_DIR it is heddle/run below the
 * user's state directory. The directory is 0700 and the user's own; one that is not is refused. */
#ifndef HEDDLE_SERVE_FILE_H
#define HEDDLE_SERVE_FILE_H

#include "api/workspace.h"

struct serve_file {
    struct sv root, url, socket, token;
    int64_t   pid;
};

/* The place of the files of this workspace, made when it is missing. */
struct serve_place {
    int       dir; /* a descriptor of the directory, which the caller closes; -1: none */
    struct sv path, json, socket, lock; /* of the directory; names in it */
};
enum status serve_place_open(const struct workspace *ws, struct arena *a, struct serve_place *out,
                             struct err *e) MUST_USE;

/* Become the one server of this workspace until *fd is closed. ST_CONFLICT: there is one. */
enum status serve_file_lock(const struct serve_place *p, int *fd, struct err *e) MUST_USE;

enum status serve_file_write(const struct serve_place *p, const struct serve_file *f,
                             struct arena *a, struct err *e) MUST_USE;
void        serve_file_remove(const struct serve_place *p); /* the file and the socket */

/* The server of this workspace. ST_NOT_FOUND, reason "no_server": none runs. */
enum status serve_file_find(const struct workspace *ws, struct arena *a, struct serve_file *out,
                            struct err *e) MUST_USE;

#endif

/* A workspace: a directory with its settings and its log. It lives as long as the process that
 * serves it and may be used from several threads at once: what a door fills in before the first
 * request is not changed afterwards, and the stores have a lock.
 *
 *     struct workspace ws;
 *     workspace_init(&ws);
 *     ... the door finds the directory, reads the settings and checks whom they may be trusted by
 *     if (workspace_take(&ws, STORE_READ, &store, e)) ...
 *     workspace_give(&ws, store);
 *     workspace_close(&ws);                                                            */
#ifndef HEDDLE_WORKSPACE_H
#define HEDDLE_WORKSPACE_H

#include "api/config.h"
#include "thread/view.h"

#include <pthread.h>

enum { WORKSPACE_STORES = 8 };

struct workspace {
    /* Filled in by the door; their bytes must outlive the workspace. */
    struct sv     start;     /* absolute path of the directory that was asked from */
    struct sv     root;      /* absolute path of the workspace */
    int           root_fd;   /* -1: none was found */
    struct config config;    /* the settings that count */
    struct sv     store_url; /* a store somewhere else; absent: as the settings say */
    void (*note)(void *ctx, struct sv text); /* told that a workspace was made; may be NULL */
    void *note_ctx;

    bool            has_heddle;   /* root holds a .heddle directory */
    bool            is_workspace; /* root holds .heddle, .leslie or .teddy */
    pthread_mutex_t lock;         /* of the two above and of what follows */
    struct {
        struct store *store;
        bool          read_only;
    } idle[WORKSPACE_STORES]; /* open, and used by nobody */
};

/* The views of every room, ending with NULL. */
extern const struct view *const workspace_views[];

void workspace_init(struct workspace *ws);
void workspace_close(struct workspace *ws); /* closes the stores and the root */

/* Make .heddle or .teddy when it is missing. Where there was no workspace at all, that there is one
 * now is told to ws->note: the caller may have been in the wrong directory. */
enum status workspace_make(struct workspace *ws, struct sv mark, struct err *e) MUST_USE;

/* A store of the workspace's log, for the caller alone until it gives it back. For writing the log
 * is made when it is missing (and .heddle with it); for reading a missing one is ST_NOT_FOUND.
 * ST_PERMISSION_DENIED: the workspace's settings lead out of the workspace. */
enum status workspace_take(struct workspace *ws, enum store_mode mode, struct store **out,
                           struct err *e) MUST_USE;
void        workspace_give(struct workspace *ws, struct store *store, enum store_mode mode);

#endif

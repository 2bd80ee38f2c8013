/* A workspace: a directory with its settings and its log. It lives as long as the process that
 * serves it and may be used from several threads at once: what a door fills in before the first
 * request is not changed afterwards, and the stores have a lock.
 *
 *     struct workspace ws;
 *     workspace_init(&ws);
 *     if (workspace_open(&ws, NULL, NEEDS_ROOT, &arena, e)) ...    see workspace_open.h
 *     if (workspace_take(&ws, STORE_READ, &store, e)) ...
 *     workspace_give(&ws, store, STORE_READ);
 *     workspace_close(&ws);                                                            */
#ifndef HEDDLE_WORKSPACE_H
#define HEDDLE_WORKSPACE_H

#include "api/config.h"
#include "project/gitplace.h"
#include "store/store.h"
#include "thread/view.h"

#include <pthread.h>
#include <stdatomic.h>

enum { WORKSPACE_STORES = 8, WORKSPACE_SECRETS = 8 };

struct workspace {
    /* Filled in by the door and by workspace_open(); their bytes must outlive the workspace. */
    struct sv start;   /* absolute path of the directory in which the program was called */
    struct sv root;    /* absolute path of the workspace: all checkouts of a repository have one */
    int       root_fd; /* -1: none was found */
    struct sv project; /* the checkout in which the caller is; absent: it is root. Use
                        * workspace_project() */
    int           project_fd; /* -1 likewise; use workspace_project_fd() */
    struct config config;     /* the settings in effect */
    struct sv     store_url;  /* a store elsewhere; absent: the one in the settings */
    struct sv     program;    /* what is run to supervise a worker; absent: none can be started */
    char        **variables;  /* the environment ("NAME=value", ends with NULL); NULL: none */
    void (*note)(void *ctx, struct sv text); /* see workspace_note(); may be NULL; is called from
                                              * any thread */
    void *note_ctx;
    void (*warn)(void *ctx, struct sv text); /* called for withheld settings; may be NULL */
    void *warn_ctx;

    bool only_here;      /* set by the door: no directory above is looked at */
    bool exactly;        /* likewise: root is the given directory, whatever it is */
    bool is_seen;        /* likewise: the given directory is where the caller is, and not one that a
                          * person named; HEDDLE_ROOT counts more */
    struct gitplace git; /* around `start` */
    struct sv       left; /* a directory of this checkout with a log that is not used: see root */
    struct sv       foreign;      /* what led to root and belongs to another user: a part of git */
    struct err      trouble;      /* code: why no log may be made or opened here */
    bool            is_named;     /* the door named root itself: it was not found by searching */
    bool            has_heddle;   /* root holds a .heddle directory */
    bool            is_workspace; /* root holds .heddle, .leslie or .teddy */
    atomic_bool seed_mixed; /* HEDDLE_SEED: the state of a log was mixed into the random numbers */
    pthread_mutex_t lock;   /* of has_heddle, is_workspace and what follows */
    struct {
        struct store *store;
        bool          read_only;
    } idle[WORKSPACE_STORES]; /* open and not in use */
    struct {
        char *name, *value; /* on the heap; NULL: free */
    } secrets[WORKSPACE_SECRETS];
};

/* .heddle/.gitignore: git tracks nothing of the log, the keys and the settings. */
#define WORKSPACE_IGNORED SV("*\n")

/* The views of every room, ending with NULL. */
extern const struct view *const workspace_views[];

void workspace_init(struct workspace *ws);
void workspace_close(struct workspace *ws); /* closes the stores and the root */

/* Close the stores that nobody uses. Before fork(): a child must not use those of its parent. */
void workspace_close_idle(struct workspace *ws);

/* A variable of the environment that the door handed in; absent when it is not set. */
struct sv workspace_variable(const struct workspace *ws, const char *name);

/* Tell the door what the caller should know about the workspace itself: that it was made, that a
 * file of the user is ignored. */
void workspace_note(const struct workspace *ws, const char *fmt, ...) PRINTF(2, 3);

/* The directory that is packed, and holds .teddy and the source files: the checkout in which the
 * caller is. It differs from root only in a linked worktree of git, and below HEDDLE_ROOT. */
struct sv workspace_project(const struct workspace *ws);
int       workspace_project_fd(const struct workspace *ws);

/* ws->trouble as an error: no log may be made or opened here. */
enum status workspace_check_place(const struct workspace *ws, struct err *e) MUST_USE;

/* Make .heddle in the workspace, or .teddy in the project, when it is missing. When there was no
 * workspace before, a note says that one was created: the caller may be in the wrong directory. */
enum status workspace_make(struct workspace *ws, struct sv mark, struct err *e) MUST_USE;

/* Record that the caller made .heddle and reports it itself. */
void workspace_made(struct workspace *ws);

/* A store of the workspace's log, for the caller alone until it gives it back. For writing the log
 * is made when it is missing (and .heddle with it); for reading a missing one is ST_NOT_FOUND.
 * ST_PERMISSION_DENIED: the workspace's settings lead out of the workspace. ST_NOT_FOUND, reason
 * WORKSPACE_LOST: the store that the user's settings name for this workspace is not there; it is
 * not made again. */
#define WORKSPACE_LOST "lost"
enum status workspace_take(struct workspace *ws, enum store_mode mode, struct store **out,
                           struct err *e) MUST_USE;
/* Gives it back, with the mode in which it was taken; a transaction that is open is aborted. */
void workspace_give(struct workspace *ws, struct store *store, enum store_mode mode);

/* The URL of that store: the one the door names (HEDDLE_STORE), the one in the user's settings for
 * this workspace or for all, else a file below the workspace; *dir is then the directory in which
 * it is to be opened, or -1. */
enum status workspace_store_url(struct workspace *ws, struct arena *a, struct sv *url, int *dir,
                                struct err *e) MUST_USE;

/* What `heddle store switch` leaves beside the log's usual place, in .heddle/moved: with it a file
 * that is missing there is not made again, because users with other settings would have a second
 * log then. ST_CONFLICT, reason STORE_MOVED. The text may come with a checkout: it is only shown,
 * or compared with what the user names. */
struct workspace_moved {
    struct sv id; /* of the move, see store_moved() */
    struct sv to; /* without a password; absent: there is no note */
};
struct workspace_moved workspace_moved(const struct workspace *ws, struct arena *a);
/* Absent `to`: removes the note. */
enum status workspace_set_moved(struct workspace *ws, const struct workspace_moved *m,
                                struct arena *a, struct err *e) MUST_USE;

/* Secrets that a person had to enter, such as a passphrase: kept only in memory, until the
 * workspace is closed. When the table is full, further ones are not kept. */
bool workspace_secret_find(struct workspace *ws, struct sv name, struct arena *a, struct sv *out);
void workspace_secret_put(struct workspace *ws, struct sv name, struct sv value);

#endif

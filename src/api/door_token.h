/* Tokens with which programs ask the server: who they are, what they may do, until when.
 *
 * They are kept in tokens.json of the user's state (api/user_file.h), by workspace, as hashes: a
 * token is shown once, when it is made. They are neither in the log nor in the workspace, so that
 * no checkout and no imported log can bring one.
 *
 *     {"workspaces":{"/home/you/project":[{"actor","created_at","expires_at","hash","id",
 *                                          "permissions","threads"}]}}
 *
 * A server reads them through a book, which notices at once when the file has changed. */
#ifndef HEDDLE_DOOR_TOKEN_H
#define HEDDLE_DOOR_TOKEN_H

#include "api/operation.h"
#include "api/workspace.h"
#include "base/fs.h"
#include "base/vec.h"

/* clang-format off */
/*    bit  name     what it allows */
#define TOKEN_PERMISSIONS(X)                                                                      \
    X(0,  read,    "operations that change nothing, and events")                                  \
    X(1,  write,   "operations that are recorded in the log")                                     \
    X(2,  run,     "operations that start programs, or ask models or the network")                \
    X(3,  manage,  "operations that erase, delete or write files, or change who may do what")
/* clang-format on */

enum token_permission {
#define X(bit, name, what) TOKEN_##name = 1 << bit,
    TOKEN_PERMISSIONS(X)
#undef X
#define X(bit, name, what) | TOKEN_##name
        TOKEN_ALL = 0 TOKEN_PERMISSIONS(X)
#undef X
};

extern const char *const token_permission_names[]; /* ends with NULL */

/* The permission that an operation needs; 0: no token is enough, only the shell may call it. */
unsigned token_needed(const struct operation *op);

struct door_token {
    struct sv      id; /* "tk_" and 8 characters: for people */
    struct sv      actor;
    unsigned       permissions;
    struct sv_list threads;          /* empty: all */
    int64_t        created, expires; /* expires 0: never */
    struct sv      hash;             /* of the token, in hex */
};
typedef VEC(struct door_token) door_tokens;

/* What it may be used for, as members "permissions" and "threads" of an object. */
void door_token_write_reach(struct jw *w, const struct door_token *t);

/* Those of this workspace, by the time they were made; expired ones too. */
enum status door_token_list(const struct workspace *ws, struct arena *a, door_tokens *out,
                            struct err *e) MUST_USE;

/* Add one: id and hash are filled in, and *secret is what the program is given. */
enum status door_token_add(const struct workspace *ws, struct door_token *t, struct arena *a,
                           struct sv *secret, struct err *e) MUST_USE;

/* *was is false when there was no token with that id. */
enum status door_token_remove(const struct workspace *ws, struct sv id, struct arena *a, bool *was,
                              struct err *e) MUST_USE;

/* May a token with these threads be used for this call? */
bool door_token_reaches(const struct sv_list *threads, const struct operation *op,
                        const void *params);

/* The list as a server keeps it. Any thread may ask. */
struct token_book;
struct token_book *token_book_open(const struct workspace *ws);
void               token_book_close(struct token_book *b);

/* The token with this secret. False: there is none, or it has expired. What is filled in lives in
 * `a`. */
bool token_book_find(struct token_book *b, struct sv secret, struct arena *a,
                     struct door_token *out);

/* Is the token with this id still valid? */
bool token_book_has(struct token_book *b, struct sv id);

#endif

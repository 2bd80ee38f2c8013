/* One error type for the whole program.
 *
 *     if (fd < 0)
 *         return err_errno(e, "open %s", path);
 *     ...
 *     err_set(e, ST_NOT_FOUND, "thread '%s' not found", id);
 *     return err_hint(e, "`heddle list` shows the threads there are");
 *
 * An error is filled once, where the failure is seen; callers may put context in
 * front with err_in(). The text lives inside the struct, so reporting an error
 * never allocates. Outputs of a function are written only when it returns ST_OK. */
#ifndef HEDDLE_STATUS_H
#define HEDDLE_STATUS_H

#include "base/base.h"

/* clang-format off */
/*    code                   word                 exit  http  leslie  when: one sentence, which manual and schema print */
#define STATUS_TABLE(X)                                                                          \
    X(ST_OK,                "OK",                  0,   200,  "",     "done")                    \
    X(ST_NOT_FOUND,         "NOT_FOUND",           1,   404,  "T101", "the named thing does not exist")      \
    X(ST_PERMISSION_DENIED, "PERMISSION_DENIED",   1,   403,  "T402", "the caller may not do this")          \
    X(ST_INVALID_SYNTAX,    "INVALID_SYNTAX",      1,   400,  "T902", "the input breaks a documented rule")  \
    X(ST_LIMIT_EXCEEDED,    "LIMIT_EXCEEDED",      1,   413,  "T902", "a documented limit was reached")      \
    X(ST_CROSS_TREE,        "CROSS_TREE",          1,   409,  "T902", "the operation leaves its thread")     \
    X(ST_CONFLICT,          "CONFLICT",            1,   409,  "T501", "someone else was first: read again, then retry") \
    X(ST_MODEL_ERROR,       "MODEL_ERROR",         1,   502,  "T902", "the model provider failed")           \
    X(ST_IO,                "IO",                  1,   500,  "T502", "the disk or the database failed")      \
    X(ST_CORRUPT,           "CORRUPT",             1,   500,  "T502", "a stored thing does not verify")      \
    X(ST_USAGE,             "INVALID_SYNTAX",      2,   400,  "T902", "the command line was misused")
/* clang-format on */

enum status {
#define X(code, ...) code,
    STATUS_TABLE(X)
#undef X
};

struct err {
    enum status code;
    char        reason[48]; /* machine-readable detail such as "token_expired", or "" */
    char        text[640];
    char        hint[640]; /* what to do about it, or "" */
};

#define STATUS_LAST ST_USAGE

const char *status_word(enum status s);    /* "NOT_FOUND" */
const char *status_meaning(enum status s); /* "the named thing does not exist" */
const char *status_leslie(enum status s);  /* "T101" */
int         status_exit(enum status s);
int         status_http(enum status s);

/* Fill *e and return `code`, so that `return err_set(...)` is the whole idiom. */
enum status err_set(struct err *e, enum status code, const char *fmt, ...) PRINTF(3, 4);

/* ST_IO with strerror(errno) after the text; ENOENT gives ST_NOT_FOUND and
 * EACCES, EPERM and EROFS name the permission in the hint. */
enum status err_errno(struct err *e, const char *fmt, ...) PRINTF(2, 3);

/* Add to a filled error. Both return e->code. A hint often contains a command to run: text from
 * outside is formatted with SH_FMT in it, and is then quoted for a shell where necessary.
 *
 *     err_hint(e, "`heddle status " SH_FMT "` shows it", SV_ARG(thread)); */
#define SH_FMT "\001%.*s\002"
enum status err_hint(struct err *e, const char *fmt, ...) PRINTF(2, 3);
enum status err_reason(struct err *e, const char *reason);

/* Put "context: " in front of the text. Returns e->code. */
enum status err_in(struct err *e, const char *fmt, ...) PRINTF(2, 3);

/* An error is never ST_OK. Stating it inline lets static analyzers, which do not look into other
 * files, see that `return err_set(...)` is a failure. */
static inline enum status err_not_ok(enum status s)
{
    return s ? s : ST_IO;
}

/* `if (step(..., e)) return err_code(e);` passes the error of the step on. A macro, since analyzers
 * stop looking into functions at some depth of calls. */
#define err_code(e) ((e)->code ? (e)->code : ST_IO)
#define err_set(...) err_not_ok(err_set(__VA_ARGS__))
#define err_errno(...) err_not_ok(err_errno(__VA_ARGS__))
#define err_hint(...) err_not_ok(err_hint(__VA_ARGS__))
#define err_reason(...) err_not_ok(err_reason(__VA_ARGS__))
#define err_in(...) err_not_ok(err_in(__VA_ARGS__))

#endif

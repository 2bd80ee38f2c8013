/* What a payload held, without its contents: a JSON document to verify a payload with
 * and to compare it with a later one. docs/FORMATS.md has its members. */
#ifndef HEDDLE_MANIFEST_H
#define HEDDLE_MANIFEST_H

#include "base/json.h"
#include "payload/parse.h"
#include "payload/payload.h"

void manifest_write(struct jw *w, const struct payload *p);

/* One resource as some payload showed it. */
struct manifest_row {
    struct sv path;
    struct sv sha256;       /* hex; absent for a placeholder */
    struct sv sha256_short; /* without the last line end, when that is in doubt; or absent */
    struct sv placeholder;  /* its text, or the state; absent when there is content */
    bool      cut;          /* by a budget: only its name and size were shown */
    int64_t   size;         /* in bytes; -1: not known */
    int       scopes;       /* how many list it; 0: not known */
    int64_t   files;        /* > 0: `path` is a directory ("src/") with this many cut files */
    bool      is_file; /* of a payload: a file of the project, which a directory may stand for */
};
typedef VEC(struct manifest_row) manifest_rows;

/* Rows that are not resources. */
#define MANIFEST_TREE SV("(project structure)")
#define MANIFEST_MEMOS SV("(memos)")

/* Rows of a written payload, and of the text of a manifest or an input.md (which of the two
 * it is shows in its first byte). `numbered`: an input.md has line numbers. */
manifest_rows manifest_of_payload(const struct payload *p, struct arena *a);
enum status   manifest_read(struct sv text, bool numbered, struct arena *a, manifest_rows *out,
                            struct err *e) MUST_USE;

/* The sha256 of the whole payload a manifest was made with, or absent. */
struct sv manifest_payload_sha256(struct sv text, struct arena *a);

enum manifest_change { CHANGE_ADDED, CHANGE_CHANGED, CHANGE_REMOVED };
const char *manifest_change_word(enum manifest_change c); /* "added" */

struct manifest_difference {
    enum manifest_change change;
    struct sv            path;
};
typedef VEC(struct manifest_difference) manifest_differences;

/* In the order of `now`, then what is gone in the order of `then`. What a budget cut in one of them
 * and not in the other is not a difference by itself. Where `then` names cut files by their
 * directory, the files of `now` there that it does not name are counted together in the same way:
 * `now` is of a payload. */
manifest_differences manifest_compare(const manifest_rows *then, const manifest_rows *now,
                                      struct arena *a);

#endif

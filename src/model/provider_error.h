/* What a failure of a provider means: a code of our own, whether to try again, and what to do. For
 * the files of this room. Pure. */
#ifndef HEDDLE_PROVIDER_ERROR_H
#define HEDDLE_PROVIDER_ERROR_H

#include "base/json.h"
#include "model/model.h"

/* What a provider's document says of its failure; members that it does not have are absent. */
struct provider_error {
    struct sv message;
    struct sv words[8]; /* type, code, status, reasons: what names the failure */
    size_t    n_words;
    struct sv param;          /* the setting that it refuses */
    int64_t   status;         /* of a failure inside of a stream; 0: none */
    int64_t   retry_after_ms; /* -1: unknown */
};
void provider_error_read(const struct json *doc, struct provider_error *out);

/* ST_MODEL_ERROR for an answer with this HTTP status (0: an event of a stream) and document. *facts
 * (may be NULL) is filled. */
enum status provider_error_of(int status, const struct json *doc, bool *retry,
                              struct provider_error *facts, struct err *e);

/* ST_MODEL_ERROR with a code of the table, such as "timeout". */
enum status provider_error_set(const char *code, struct sv message, bool *retry, struct err *e);

/* A copy in which every occurrence of the secret is asterisks. */
struct sv provider_error_masked(struct sv text, struct sv secret, struct arena *a);

/* The value of Retry-After, in ms from `now_ms` on: seconds, or a date; -1: neither. */
int64_t provider_error_wait(struct sv value, int64_t now_ms);

#endif

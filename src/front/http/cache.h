/* Cached answers, which are valid until something is committed.
 *
 * The answer of an operation whose row says `of_log` follows from its parameters and the log. It is
 * kept with the mark of the log (api/mark.h) that was read before the operation ran, and given to
 * an equal request whose own mark, read when it arrived, is the same: so every write that was
 * acknowledged before a request came, by this process or another, is in its answer. The caller's
 * permissions are checked for every request before the cache is used, and the caller is part of the
 * key. Files of the page, which are part of the program, are kept in the same way without a mark.
 *
 * What is kept is bounded by CACHE_BYTES; the least recently used answer is dropped first, and
 * outdated answers are dropped within about a second, so that no erased text stays here. Stores
 * without marks (PostgreSQL) keep nothing. */
#ifndef HEDDLE_FRONT_CACHE_H
#define HEDDLE_FRONT_CACHE_H

#include "front/http/call.h"

enum {
    CACHE_BYTES = 8 << 20,
    CACHE_ANSWER_MAX = 64 << 10, /* larger answers are not kept */
    CACHE_BODY_MAX = 16 << 10,   /* of a request: a longer one is not looked up */
};

struct serve_cache *cache_open(struct serve *s);
void                cache_close(struct serve_cache *k);

/* Can the answer of this operation be cached? If so, its parameters may be read in the thread of
 * the connection. */
bool cache_may(const struct serve_call *c);

/* Sends the cached answer of an equal request if nothing was committed since; *done is the result
 * for libmicrohttpd. Otherwise the answer is kept, if possible, once it is made. */
bool cache_answer(struct serve_call *c, enum MHD_Result *done);
bool cache_answer_page(struct serve_call *c, struct sv path, enum MHD_Result *done);

/* In a thread that may wait, once the operation has run. */
void cache_prepare(struct serve_call *c);

/* Will the answer in `text` be kept? Then the cache takes over the response, which must have its
 * own copy of the bytes. */
bool cache_wants(const struct serve_call *c);
void cache_keep(struct serve_call *c, struct MHD_Response *r);

/* Drop outdated answers. */
void cache_tidy(struct serve_cache *k);

#endif

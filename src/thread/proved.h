/* A scan that is read to its end, and whose entries are proved (skeleton.h). It reads some entries
 * ahead, so that several are proved at a time. Once many have come, a second thread of execution
 * proves what was read while this one reads on; the store is used by this one alone. */
#ifndef HEDDLE_PROVED_H
#define HEDDLE_PROVED_H

#include "store/store.h"

/* Entries that were read, and after that proved. */
struct proved_batch {
    struct arena         a; /* what is below, and behind `empty` the bytes of the entries */
    struct arena_mark    empty;
    struct entry        *entries;
    struct entry_before *before;
    enum entry_proof    *proofs;
    size_t               n, bytes;
};

struct proved_crew;

struct proved {
    struct store_scan   *scan;
    struct proved_batch  few; /* the batch, as long as there are few entries */
    bool                 is_long;
    struct proved_crew  *crew;    /* of a long scan; NULL: there is one processor */
    struct proved_batch *current; /* the batch that is given; NULL: none yet, or none any more */
    size_t               at;      /* the entry of it that is given next */
    size_t               given;   /* entries of the batches before it */
    bool                 ended;   /* nothing comes behind what was read ... */
    struct err           end;     /* ... because of this, unless its code is ST_OK */
    bool                 done;    /* all of that was given */
};

/* It begins as { 0 }, and is closed whether it was opened or not. */
enum status proved_open(struct proved *p, struct store *s, const struct store_query *q,
                        struct err *e) MUST_USE;
enum status proved_next(struct proved *p, const struct entry **out, enum entry_proof *proof,
                        bool *more, struct err *e) MUST_USE; /* good until the next call */
void        proved_close(struct proved *p);

#endif

/* A scan that is read to its end, and whose entries are proved (skeleton.h). It reads some entries
 * ahead, so that several are proved at a time. */
#ifndef HEDDLE_PROVED_H
#define HEDDLE_PROVED_H

#include "store/store.h"

struct proved {
    struct store_scan *scan;
    struct arena       a; /* the bytes of the entries that are here, behind `empty` */
    struct arena_mark  empty;
    struct entry       entries[STORE_PROVE_MAX];
    enum entry_proof   proofs[STORE_PROVE_MAX];
    size_t             n, at; /* of them; `at` is given next */
    bool               ended; /* nothing comes behind them ... */
    struct err         end;   /* ... because of this, unless its code is ST_OK */
};

/* It begins as { 0 }, and is closed whether it was opened or not. */
enum status proved_open(struct proved *p, struct store *s, const struct store_query *q,
                        struct err *e) MUST_USE;
enum status proved_next(struct proved *p, const struct entry **out, enum entry_proof *proof,
                        bool *more, struct err *e) MUST_USE; /* good until the next call */
void        proved_close(struct proved *p);

#endif

/* Earlier versions of documents. For undo the log has what each write removed and where. So the
 * versions of a file are computed backwards from its present text, write by write, as long as every
 * hash agrees. A change by another program or an erasure ends this. */
#ifndef HEDDLE_ASSET_VERSIONS_H
#define HEDDLE_ASSET_VERSIONS_H

#include "api/share/share_call.h"
#include "base/map.h"

enum {
    VERSION_WRITES_MAX = 2000,       /* writes that are followed backwards */
    VERSION_BYTES_MAX = 64 * 1 << 20 /* of all versions together */
};

struct asset_versions {
    struct request *r;
    struct share   *s;
    struct sv       thread;
    struct map      files;  /* path → the version that was reached */
    struct map      hashes; /* hash → struct sv: its bytes */
    size_t          bytes;
};

/* Go back through the writes to the documents for which `is_wanted` says so (NULL: all), in the
 * read transaction that is open. */
enum status asset_versions_read(struct asset_versions *v, struct request *r, struct share *s,
                                struct sv thread,
                                bool (*is_wanted)(const struct json *write, struct sv name),
                                struct sv name, struct err *e) MUST_USE;

/* The bytes that have a hash. False: they are not known. */
bool asset_version_find(const struct asset_versions *v, struct sv hash, struct sv *bytes);

#endif

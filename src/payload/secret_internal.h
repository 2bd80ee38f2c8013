/* Shared by secret.c (where a shape may be) and secret_shapes.c (the shapes). */
#ifndef HEDDLE_SECRET_INTERNAL_H
#define HEDDLE_SECRET_INTERNAL_H

#include "payload/secret.h"

struct shape;
typedef bool shape_check(const struct shape *s, struct sv text, size_t at);

/* A token is a fixed start and then at least `min` bytes of its alphabet: letters, digits
 * and `more`. Others have a check of their own. */
struct shape {
    const char  *start, *what;
    size_t       min;
    const char  *more;
    shape_check *check; /* NULL: as above */
};

enum { SECRET_SHAPES_MAX = 128 };
extern const struct shape secret_shapes[];
extern const size_t       secret_shape_count;

/* Is there a secret of this shape at text[at]? */
bool secret_shape_fits(const struct shape *s, struct sv text, size_t at);

/* How many bytes from the start of v on are letters, digits or in `more`. */
size_t secret_run_of(struct sv v, const char *more);

/* The user and the password in front of a host. */
bool secret_url_user(struct sv rest, struct sv *user, struct sv *password);

static inline bool secret_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

#endif

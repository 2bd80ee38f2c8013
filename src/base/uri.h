/* Percent-encoding, RFC 3986. */
#ifndef HEDDLE_URI_H
#define HEDDLE_URI_H

#include "base/sb.h"

/* Every byte but letters, digits and -._~ as %XX; those of `keep` stay as they are, too. NULL:
 * none. */
void sb_add_uri(struct sb *b, struct sv v, const char *keep);

/* The bytes that a part of a URI stands for. False: a % without two hexadecimal digits behind it,
 * or a NUL, which no name may have. */
bool uri_read(struct sv part, struct arena *a, struct sv *out);

#endif

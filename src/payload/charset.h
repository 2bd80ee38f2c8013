/* Text in other encodings than UTF-8, converted with the C library's iconv(3). */
#ifndef HEDDLE_CHARSET_H
#define HEDDLE_CHARSET_H

#include "base/sv.h"

enum { CHARSET_NAME_MAX = 40, CHARSET_TEXT_MAX = 32 << 20 };

/* The encoding that a text declares: by a byte order mark, by the charset of `content_type` (may
 * be absent), by an XML declaration, by <meta charset> of HTML, or by "coding: NAME" in its first
 * two lines. False: none, or UTF-8. The name is followed by a NUL. */
bool charset_declared(struct sv text, struct sv content_type, char name[CHARSET_NAME_MAX]);

/* The text in UTF-8, on the heap: free((void *)out->s). False when the C library does not know
 * the encoding, the text is not in it, or it is longer than CHARSET_TEXT_MAX. */
bool charset_convert(struct sv text, const char *name, struct sv *out);

#endif

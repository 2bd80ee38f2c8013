/* Language tags of fences. A tag never holds a backtick or a space. */
#ifndef HEDDLE_LANG_H
#define HEDDLE_LANG_H

#include "base/sv.h"

/* By the last extension of the last part, lower-cased; without one: text. The tag
 * lives in `a` or is static. */
struct sv lang_of_path(struct sv path, struct arena *a);

/* By the media type of a response, else by the path of the URL. */
struct sv lang_of_url(struct sv url, struct sv content_type, struct arena *a);

#endif

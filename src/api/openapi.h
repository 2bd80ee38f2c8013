/* The HTTP API as an OpenAPI 3.1 document, made from the table of operations. */
#ifndef HEDDLE_OPENAPI_H
#define HEDDLE_OPENAPI_H

#include "base/json.h"

void openapi_write(struct jw *w);

#endif

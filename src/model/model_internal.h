/* What a provider gives. For the files of this room. */
#ifndef HEDDLE_MODEL_INTERNAL_H
#define HEDDLE_MODEL_INTERNAL_H

#include "model/model.h"

struct model_provider {
    const char *name;
    /* One attempt. `rest` is what follows the provider's name. *retry: another may help. */
    enum status (*ask)(struct model_client *c, struct sv rest, const struct model_request *q,
                       struct arena *a, struct model_response *out, bool *retry, struct err *e);
};

extern const struct model_provider model_offline;

void model_pause(struct model_client *c, int64_t ms); /* through the client's own sleep */

#endif

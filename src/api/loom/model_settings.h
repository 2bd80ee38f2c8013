/* What the settings say about providers of models: programs that print their keys, prices, and the
 * models that make summaries. */
#ifndef HEDDLE_MODEL_SETTINGS_H
#define HEDDLE_MODEL_SETTINGS_H

#include "api/workspace.h"
#include "model/model.h"

enum {
    KEY_COMMAND_MS = 60000, /* a person may have to type a passphrase */
    KEY_BYTES_MAX = 8192,
};

/* The first line that models.key_command.HOST prints; absent when there is no such command. It is
 * run once, and the key stays in memory as long as the workspace. ST_IO: it failed; nothing that it
 * printed is in the message. */
enum status model_key(struct workspace *ws, const char *host, struct arena *a, struct sv *out,
                      struct err *e) MUST_USE;

/* models.prices of the longest name with which "provider:name" begins; false: there are none. */
bool model_prices_of(const struct config *c, struct sv model, struct model_prices *out);

#endif

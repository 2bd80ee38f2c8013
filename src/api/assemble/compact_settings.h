/* The settings of compaction. */
#ifndef HEDDLE_COMPACT_SETTINGS_H
#define HEDDLE_COMPACT_SETTINGS_H

#include "api/workspace.h"

struct compact_settings {
    bool    automatic; /* compact.auto: in `talk`, unless it is false */
    int64_t at;        /* compact.at: percent of the budget at which it happens */
    int64_t keep;      /* compact.keep: messages that stay */
    struct sv
        model; /* compact.model, else loom.summary_model, else the agent's own; absent: none */
    struct sv instructions; /* compact.instructions, or absent */
};

/* `own`: the model of the agent whose context it is; absent: of no agent. */
struct compact_settings compact_settings(const struct workspace *ws, struct sv own);

#endif

/* What the operations of checkpoints have in common. */
#ifndef HEDDLE_API_CHECKPOINT_H
#define HEDDLE_API_CHECKPOINT_H

#include "api/request.h"
#include "thread/checkpoint.h"

/* The configuration of a run from the workspace's settings. */
struct checkpoint_config checkpoint_settings(struct request *r);

#endif

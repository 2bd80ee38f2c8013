/* Settings of a request that a provider does not take: they are left out of the body, and a line of
 * `warnings` says so. For the files of this room. Pure. */
#ifndef HEDDLE_SAMPLING_H
#define HEDDLE_SAMPLING_H

#include "model/provider_error.h"

/* Anthropic: models after 4.6 refuse sampling settings, whatever their values. */
void sampling_fit(struct sv *body, struct sv model, struct arena *a, struct sb *warnings);

/* Anthropic: models after 4.5 refuse a last message of the assistant, which older ones continue. */
bool sampling_continues(struct sv model);

/* Anthropic: the version of the API that goes with the settings in the body. */
struct sv sampling_version(struct sv body, struct arena *a);

/* Does the failure name a setting of the body that can be left out? Then it is, and its name is
 * returned, a constant; else NULL. */
const char *sampling_drop(struct sv *body, const struct provider_error *f, struct arena *a,
                          struct sb *warnings);

/* Leaves out what the provider refused before, when it is there. */
void sampling_leave_out(struct sv *body, const char *setting, struct arena *a, struct sb *warnings);

#endif

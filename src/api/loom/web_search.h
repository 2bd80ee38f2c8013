/* The search services that this workspace and this environment have. */
#ifndef HEDDLE_WEB_SEARCH_H
#define HEDDLE_WEB_SEARCH_H

#include "api/workspace.h"
#include "search/search.h"

struct web_search {
    struct search_service services[SEARCH_KINDS];
    struct search_config  config;
};

/* False when there is none. A service that needs a key is there when the environment has the
 * key; one that needs none, when the settings have its address. */
bool web_search_init(struct web_search *w, const struct workspace *ws);

/* For struct session_env; ctx is a struct web_search. */
enum status web_search(void *ctx, const struct search_query *q, struct arena *a,
                       struct search_answer *out, struct err *e) MUST_USE;

#endif

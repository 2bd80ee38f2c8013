/* Web search for an agent's session: which services there are, and asking them. */
#include "api/loom/web_search.h"

bool web_search_init(struct web_search *w, const struct workspace *ws)
{
    *w = (struct web_search){ 0 };
    for (enum search_kind k = 0; k < SEARCH_KINDS; k++) {
        const struct search_facts *f = &search_facts[k];
        struct sv                  url = config_text(&ws->config, f->url_setting);
        struct sv key = f->key_variable ? sv_trim(workspace_variable(ws, f->key_variable)) : SV("");
        if (!url.n && f->url)
            url = sv_of(f->url);
        if (f->key_variable ? key.n > 0 : url.n > 0)
            w->services[w->config.n++] = (struct search_service){ k, url, key };
    }
    w->config.services = w->services;
    w->config.timeout_ms = config_int(&ws->config, "search.timeout_ms", 0);
    w->config.proxy = config_text(&ws->config, "search.proxy");
    return w->config.n > 0;
}

enum status web_search(void *ctx, const struct search_query *q, struct arena *a,
                       struct search_answer *out, struct err *e)
{
    struct web_search *w = ctx;

    return search_web(&w->config, q, a, out, e);
}

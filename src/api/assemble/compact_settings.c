/* Reading the settings of compaction. */
#include "api/assemble/compact_settings.h"

#include "api/loom/loom_env.h"
#include "assemble/compact.h"

struct compact_settings compact_settings(const struct workspace *ws)
{
    const struct config    *c = &ws->config;
    struct small_models     small = loom_small_models(ws);
    const struct json      *automatic = config_find(c, "compact.auto");
    struct compact_settings s = { .automatic = !automatic || json_truth(automatic),
                                  .at = config_int(c, "compact.at", COMPACT_AT),
                                  .keep = config_int(c, "compact.keep", COMPACT_KEEP),
                                  .model = config_text(c, "compact.model"),
                                  .instructions = config_text(c, "compact.instructions") };

    if (!s.model.n && small.n)
        s.model = small.v[0].name;
    if (sv_is(s.model, "none"))
        s.model = (struct sv){ 0 };
    return s;
}

/* Reading the settings of compaction. */
#include "api/assemble/compact_settings.h"

#include "assemble/compact.h"
#include "model/model.h"

struct compact_settings compact_settings(const struct workspace *ws, struct sv own)
{
    const struct config    *c = &ws->config;
    const struct json      *automatic = config_find(c, "compact.auto");
    struct compact_settings s = { .automatic = !automatic || json_truth(automatic),
                                  .at = config_int(c, "compact.at", COMPACT_AT),
                                  .keep = config_int(c, "compact.keep", COMPACT_KEEP),
                                  .model = config_text(c, "compact.model"),
                                  .instructions = config_text(c, "compact.instructions") };

    if (!s.model.n)
        s.model = config_text(c, "loom.summary_model");
    if (!s.model.n && model_converses(own))
        s.model = own;
    if (sv_is(s.model, "none"))
        s.model = (struct sv){ 0 };
    return s;
}

/* heddle-loom(7), from the table of tools. */
#include "api/loom/manual.h"

#include "command/tools.h"

void loom_manual(struct sb *out)
{
    tools_manual(out);
}

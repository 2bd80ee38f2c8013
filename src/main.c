/* main(): the name of the program selects its front end (a "door", see docs/GLOSSARY.md): leslie, a
 * hook, or the shell. The shell gets the functions of the long-running doors from here, because
 * doors do not depend on each other. */
#include "base/path.h"
#include "front/cli/cli.h"
#include "front/hook/hook.h"
#include "front/http/server.h"
#include "front/leslie/leslie.h"
#include "front/mcp/stdio.h"

static const struct app_services services = { .hook = hook_serve,
                                              .mcp = mcp_serve,
                                              .serve = server_run };

int main(int argc, char **argv)
{
    struct sv name = path_base(sv_of(argc > 0 ? argv[0] : "heddle"));

    if (sv_is(name, "leslie"))
        return app_main(argc, argv, &leslie_door, &services);
    return app_main(argc, argv, hook_is_for(argc, argv) ? &hook_door : &cli_door, &services);
}

/* `mcp`: the Model Context Protocol on standard input and output. */
#include "front/cli/command.h"

static const struct opt opts[] = {
    { OPT_TEXT, "agent", "A",
      "act for this agent: its permissions count, and its name stands in the log",
      offsetof(struct mcp_options, agent), 0 },
    { OPT_TEXT, "thread", "T", "the thread of calls that name none (default: HEDDLE_THREAD)",
      offsetof(struct mcp_options, thread), 0 },
    { 0 },
};

static enum status run(struct app *app, const void *given, struct err *e)
{
    struct mcp_options o = *(const struct mcp_options *)given;

    if (!o.thread.n)
        o.thread = workspace_variable(&app->ws, "HEDDLE_THREAD");
    return app->services->mcp(app, &o, e);
}

const struct command cmd_mcp = {
    .name = "mcp",
    .synopsis = "[--agent A] [--thread T]",
    .group = GROUP_DOORS,
    .summary = "Serve the Model Context Protocol on standard input and output",
    .details =
        "For a program that asks for tools, resources and prompts: Claude Code, Codex, an editor.\n"
        "`heddle install` writes it into their settings. Revisions 2026-07-28 and 2025-11-25 back "
        "to\n"
        "2024-11-05 are spoken; messages are JSON, one per line, and nothing else is printed.\n"
        "\n"
        "Tools: loom (lines that start with →), context, read, search, payload. Resources:\n"
        "heddle://thread/T/context, /asset/PATH, /tree, /log and /input.md, and "
        "heddle://input.md;\n"
        "they can be subscribed to. Prompts: thread-context, payload.\n"
        "\n"
        "With --agent what that agent may not do is refused. Without it the tool loom needs an "
        "agent\n"
        "in each call, and everything else is read as you.\n"
        "\n"
        "  heddle mcp --agent Collab --thread design",
    .opts = opts,
    .opts_size = sizeof(struct mcp_options),
    .needs = NEEDS_ROOT,
    .data = true,
    .run = run,
};

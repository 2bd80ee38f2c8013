/* `hook`: an event of a coding agent on standard input. main() gives such a command line to the
 * door for hooks; what arrives here asks for help, or has options in front. */
#include "front/cli/command.h"

static const struct opt opts[] = {
    { OPT_TEXT, "thread", "T", "the thread of sessions that are not bound to one",
      offsetof(struct hook_options, thread), 0 },
    { 0 },
};

static enum status run(struct app *app, const void *given, struct err *e)
{
    struct hook_options o = *(const struct hook_options *)given;

    o.harness = app_arg(app, 0);
    return app->services->hook(app, &o, e);
}

const struct command cmd_hook = {
    .name = "hook",
    .synopsis = "NAME [--thread T]",
    .group = GROUP_DOORS,
    .summary = "Take an event of a coding agent on standard input",
    .details =
        "`heddle install` writes this command into the settings of Claude Code, Codex, Gemini "
        "CLI,\n"
        "opencode and pi; they run it. The session is bound to the thread of HEDDLE_THREAD, to the "
        "one\n"
        "it had before, to that of --thread, or to a new one; a fork stays in the thread of its "
        "origin.\n"
        "When it starts, goes on or was compacted it gets its <thread_context>; what was injected\n"
        "meanwhile comes with the next prompt. A tool that would write below a referenced thread, "
        "into\n"
        "a frozen copy or into heddle's own files is denied; what one changed all the same is "
        "reported.\n"
        "\n"
        "It never disturbs the program that calls: the exit status is 0, whatever happens, within "
        "two\n"
        "seconds. A hook that fails lets the tool run. What went wrong stands in .heddle/hook.log, "
        "or\n"
        "in ~/.local/state/heddle/hook.log outside of a workspace. What is said and done is "
        "recorded\n"
        "from the transcript, by a process that nobody waits for; with HEDDLE_HOOK_WAIT=1 before "
        "the\n"
        "end, however long it takes, for places in which processes that are left behind are "
        "killed.\n"
        "\n"
        "  echo '{\"hook_event_name\":\"SessionStart\",\"session_id\":\"s1\"}' | heddle hook "
        "claude-code",
    .opts = opts,
    .opts_size = sizeof(struct hook_options),
    .min_args = 1,
    .max_args = 1,
    .data = true,
    .run = run,
};

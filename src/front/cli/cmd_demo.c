/* `demo`: a throw-away workspace and a walk through what the program does. Every step is the
 * real command, run as a user would run it; what is shown is what it printed. */
#include "base/fs.h"
#include "base/path.h"
#include "front/cli/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct step {
    const char *say;
    const char *commands; /* for sh, one per line; heddle is on PATH, the cwd is the workspace */
};

/* clang-format off */
static const struct step steps[] = {
    { "A workspace is a directory with a log in it.",
      "heddle init" },
    { "What is said goes into the log of a thread, one JSON line an entry. It is on the disk when the command returns.",
      "printf '%s\\n' '{\"kind\":\"ai_message\",\"payload\":{\"role\":\"user\",\"content\":\"Which store should we use?\"}}' \\\n"
      "       '{\"kind\":\"ai_message\",\"payload\":{\"role\":\"assistant\",\"content\":\"SQLite, until one machine is too small.\"}}' |\n"
      "  heddle log append design" },
    { "The context of a lane is projected from the log: what a model would be shown.",
      "heddle project design --format text" },
    { "A fork shares the past of another lane and costs nothing; each then goes its own way.",
      "heddle op fork design --lane postgres --at 0 --op-id fork-1\n"
      "echo '{\"kind\":\"ai_message\",\"payload\":{\"role\":\"assistant\",\"content\":\"PostgreSQL, from the start.\"}}' |\n"
      "  heddle log append design --lane postgres\n"
      "heddle project design --lane postgres --format text" },
    { "Compaction is an operation like any other. The log keeps everything; an op_id is applied once, forever.",
      "echo '{\"system_prompt\":\"Be brief.\",\"messages\":[{\"role\":\"user\",\"content\":\"(summary) We chose SQLite.\"}]}' > short.json\n"
      "heddle op replace design --lane default --context short.json --reason compaction --op-id compact-1\n"
      "heddle op replace design --lane default --context short.json --reason compaction --op-id compact-1" },
    { "Any past point can be rebuilt, to the byte.",
      "heddle project design --at 1\n"
      "heddle project design" },
    { "A run is a request and the turns that answer it. Steering waits until the runtime takes it in.",
      "heddle run start design --text 'Now write the schema.' --request-id r1\n"
      "heddle run steer design 'Keep it to one table.'\n"
      "echo '{\"kind\":\"llm_completed\",\"data\":{\"text\":\"CREATE TABLE entry(...)\"}}' | heddle run event design\n"
      "heddle run drain design\n"
      "printf '%s\\n' '{\"kind\":\"llm_completed\",\"data\":{\"text\":\"One table it is.\"}}' '{\"kind\":\"request_completed\"}' | heddle run event design" },
    { "A checkpoint is a signed token of a context; it can be restored, and tampering shows.",
      "heddle checkpoint design > token\n"
      "cut -c1-60 token\n"
      "heddle restore - < token\n"
      "sed 's/^rt2.ey/rt2.fy/' token | heddle restore - || true" },
    { "Threads share what they make. One thread writes an interface ...",
      "heddle objective create 'Log in' --id login\n"
      "heddle spawn --intent 'Design the API' --objective login --id backend --no-run\n"
      "echo 'POST /login' > .leslie/threads/backend/plan.md" },
    { "... and two read it: one keeps a frozen copy, one a live reference. This block opens their prompts.",
      "heddle spawn --intent 'Build the form' --objective login --id form --ref backend:plan.md --binding frozen --no-run\n"
      "heddle spawn --intent 'Write the tests' --objective login --id tests --ref backend:plan.md --no-run\n"
      "heddle context form --task 'Build the login form.'" },
    { "The source changes. The frozen reader still sees what it was given, the live one sees the change.",
      "echo 'POST /session' > .leslie/threads/backend/plan.md\n"
      "heddle read form plan.md\n"
      "heddle read tests plan.md\n"
      "heddle graph" },
    { "A frozen copy changes when it is told to.",
      "heddle refresh --from form\n"
      "heddle read form plan.md" },
    { "A thread is a tree. A person and a model walk it together: lines that start with an arrow are the model's commands.",
      "heddle agent add Muse --kind model --model offline:echo --permissions loom_aware,loom_write,loom_generate\n"
      "echo '{\"text\":\"The lighthouse keeper, long retired.\"}' > subject.jsonl\n"
      "heddle agent add Sub --kind model --model 'offline:script subject.jsonl'\n"
      "heddle say tale 'A light burns in the abandoned tower.'\n"
      "heddle say tale 'Who lit it?'\n"
      "printf '→ tree\\n→ continue n:1\\n→ respond \"Nobody. It never went out.\"\\n' | heddle do tale --agent Muse\n"
      "printf 'I like that better.\\n\\n→ stash \"twist\" \"It never went out.\"\\n→ memory\\n' | heddle do tale --agent Muse\n"
      "heddle tree tale" },
    { "What a model is sent for a turn is assembled from the log. Each part has a source and an exact number of tokens.",
      "heddle assemble tale --agent Muse --task 'How does it end?' --explain\n"
      "heddle assemble tale --agent Muse --task 'How does it end?' --format text | tail -14" },
    { "A budget is kept. Older messages become summaries or are counted; pins, the prompt and the task stay; the model is told what is missing.",
      "for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do\n"
      "  echo \"{\\\"kind\\\":\\\"ai_message\\\",\\\"payload\\\":{\\\"role\\\":\\\"user\\\",\\\"content\\\":\\\"Night $n passed. The lamp was seen from the harbour, and the keeper wrote it down in the book that nobody reads.\\\"}}\"\n"
      "  done | heddle log append watch\n"
      "printf '→ find \"Night 2\"\\n→ pin result\\n' | heddle do watch --agent Muse\n"
      "heddle assemble watch --agent Muse --task 'What did he see?' --budget 900 --explain\n"
      "heddle assemble watch --agent Muse --task 'What did he see?' --budget 900 --format text 2>/dev/null |\n"
      "  sed -n -e '/Earlier Conv/,/^  ===$/p' -e '/Loom Context/,$p'" },
    { "A turn of a model (here: a script, which needs no network): it is sent that, its commands run as they come, their results go back, and it goes on until it has said what it has to say.",
      "printf '%s\\n' '{\"text\":\"Let me see.\\n→ find \\\"Night 13\\\"\\n→ annotate here \\\"asked about the lamp\\\"\\n\",\"usage\":{\"input\":812,\"output\":24}}' \\\n"
      "       '{\"text\":\"A light, thirteen nights in a row.\",\"usage\":{\"input\":905,\"output\":9}}' > muse.jsonl\n"
      "heddle agent set Muse --model 'offline:script muse.jsonl'\n"
      "heddle talk watch --agent Muse --message 'What did he see?' --budget 900" },
    { "Every step of it is in the log, so that a turn whose process was killed goes on where it was.",
      "heddle log show watch --tail 14" },
    { "A long conversation can be shortened for good, and that can be taken back: the log keeps everything.",
      "heddle compact watch --agent Muse --keep 4 --model none\n"
      "heddle compact watch --agent Muse --undo" },
    { "Every entry is chained to the one before it, and every view can be rebuilt from entry 0.",
      "heddle verify" },
};
/* clang-format on */

/* One command and, below it, what it prints: the child shares stdout. */
static enum status run_one(struct app *app, struct sv command, struct err *e)
{
    const char *text = sv_cstr(command, app->a);
    int         status;

    sb_addf(&app->out, "$ %s\n", text);
    if (sb_flush(&app->out, e))
        return err_code(e);
    pid_t child = fork();
    if (child < 0)
        return err_errno(e, "fork");
    if (child == 0) {
        dup2(1, 2);
        execl("/bin/sh", "sh", "-c", text, (char *)NULL);
        _exit(127);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return err_set(e, ST_IO, "this step of the demo failed: %s", text);
    return ST_OK;
}

/* A command is a line and the indented lines below it. */
static enum status run_step(struct app *app, const struct step *s, struct err *e)
{
    struct sv rest = sv_of(s->commands);

    sb_addf(&app->out, "\n# %s\n", s->say);
    while (rest.n) {
        size_t end = sv_cut(rest, '\n').head.n;
        while (end + 1 < rest.n && rest.s[end + 1] == ' ')
            end += 1 + sv_cut(sv_skip(rest, end + 1), '\n').head.n;
        if (run_one(app, sv_first(rest, end), e))
            return err_code(e);
        rest = sv_skip(rest, end + 1);
    }
    return ST_OK;
}

/* A directory holding a link called heddle, put in front of PATH. */
static enum status put_on_path(struct app *app, struct sv dir, struct err *e)
{
    char       *self = realpath("/proc/self/exe", NULL);
    struct sb   path = sb_in(app->a, 0), link = sb_in(app->a, 0);
    const char *old = getenv("PATH");

    sb_addf(&link, SV_FMT "/bin", SV_ARG(dir));
    enum status s =
        self && mkdir(sb_sv(&link).s, 0700) == 0 ? ST_OK : err_errno(e, "make the demo");
    sb_addf(&path, SV_FMT ":%s", SV_ARG(sb_sv(&link)), old ? old : "/usr/bin:/bin");
    sb_adds(&link, "/heddle");
    if (!s && symlink(self, sb_sv(&link).s) != 0)
        s = err_errno(e, "make the demo");
    free(self);
    if (!s)
        setenv("PATH", sb_sv(&path).s, 1);
    return s;
}

static enum status run(struct app *app, const void *opts, struct err *e)
{
    const char *tmp = getenv("TMPDIR");
    struct sb template = sb_in(app->a, 0);
    enum status s = ST_OK;

    (void)opts;
    if (app->json) {
        err_set(e, ST_USAGE, "`heddle demo` has no JSON: it shows what commands print");
        return err_hint(e, "`heddle api schema` has every operation as JSON");
    }
    sb_addf(&template, "%s/heddle-demo-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    char *dir = (char *)(uintptr_t)sb_sv(&template).s;
    if (!mkdtemp(dir) || chdir(dir) != 0)
        return err_errno(e, "make a directory for the demo");
    unsetenv("HEDDLE_ACTOR");
    s = put_on_path(app, sv_of(dir), e);
    struct sb work = sb_in(app->a, 0);
    sb_addf(&work, "%s/work", dir);
    if (!s && (mkdir(sb_sv(&work).s, 0700) != 0 || chdir(sb_sv(&work).s) != 0))
        s = err_errno(e, "make a directory for the demo");
    for (size_t i = 0; i < COUNT(steps) && !s; i++)
        s = run_step(app, &steps[i], e);
    struct err ignored;
    if (chdir(dir) == 0 && chdir("..") == 0 && fs_remove(AT_FDCWD, path_base(sv_of(dir)), &ignored))
        warn("%s was left behind: %s", dir, ignored.text);
    if (!s)
        sb_adds(&app->out, "\nThe demo's workspace is gone again. To go on:\n"
                           "  heddle init               make a workspace of your own\n"
                           "  heddle help               all commands\n"
                           "  heddle help log append    one of them, with its options\n");
    return s;
}

const struct command cmd_demo = {
    .name = "demo",
    .synopsis = "",
    .group = GROUP_START,
    .summary = "Walk through what heddle does, in a throw-away workspace",
    .run = run,
};

/* The manual pages, as mdoc. */
#include "front/cli/help.h"

#include <string.h>

/* Text for roff: what it would read as a request or turn into a typographer's sign is escaped. */
static void roff(struct sb *out, struct sv text)
{
    static const char *const signs[] = {
        ['\\'] = "\\e",   ['-'] = "\\-",   ['`'] = "\\(ga",
        ['\''] = "\\(aq", ['^'] = "\\(ha", ['~'] = "\\(ti",
    };
    bool at_start = true;

    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.s[i];
        if (at_start && c == '.')
            sb_adds(out, "\\&");
        if (c < COUNT(signs) && signs[c])
            sb_adds(out, signs[c]);
        else
            sb_addc(out, (char)c);
        at_start = c == '\n';
    }
}

/* Prose for roff, which wants each sentence to start on a new line. */
static void roff_prose(struct sb *out, struct sv text)
{
    size_t from = 0;

    for (size_t i = 1; i + 1 < text.n; i++)
        if (text.s[i] == ' ' && strchr(".!?", text.s[i - 1]) && text.s[i + 1] >= 'A' &&
            text.s[i + 1] <= 'Z') {
            roff(out, sv_first(sv_skip(text, from), i - from));
            sb_addc(out, '\n');
            from = i + 1;
        }
    roff(out, sv_skip(text, from));
    sb_addc(out, '\n');
}

/* Paragraphs; lines that start with two spaces are set as displayed text. */
static void roff_details(struct sb *out, struct sv text)
{
    bool shown = false, gap = true; /* inside a display; a new paragraph is due */

    while (text.n) {
        struct sv_cut line = sv_cut(text, '\n');
        bool          display = sv_starts(line.head, SV("  "));
        text = line.tail;
        if (!line.head.n) {
            gap = true;
            continue;
        }
        if (shown && !display)
            sb_adds(out, ".Ed\n");
        if (display && !shown)
            sb_adds(out, ".Bd -literal -offset indent\n");
        else if (gap)
            sb_adds(out, display ? "\n" : ".Pp\n");
        gap = false;
        shown = display;
        if (!display) {
            roff_prose(out, line.head);
            continue;
        }
        roff(out, sv_skip(line.head, 2));
        sb_addc(out, '\n');
    }
    if (shown)
        sb_adds(out, ".Ed\n");
}

static void man_head(struct sb *out, struct sv title, struct sv name, struct sv summary)
{
    sb_adds(
        out,
        ".\\\" Printed from the command table: heddle help --man. Do not edit.\n.Dd " HEDDLE_DATE
        "\n.Dt ");
    for (size_t i = 0; i < title.n; i++)
        sb_addc(out, (char)(title.s[i] >= 'a' && title.s[i] <= 'z' ? title.s[i] - 32 : title.s[i]));
    sb_addf(out, " 1\n.Os\n.Sh NAME\n.Nm " SV_FMT "\n.Nd " SV_FMT "\n", SV_ARG(name),
            SV_ARG(summary));
}

static void man_opts(struct sb *out, const struct opt *o)
{
    for (; o && o->type; o++) {
        sb_adds(out, ".It ");
        if (o->letter)
            sb_addf(out, "Fl %c , ", o->letter);
        sb_addf(out, "Fl \\-%s", o->name);
        if (o->value)
            sb_addf(out, " Ar %s", o->value);
        sb_addc(out, '\n');
        roff_prose(out, sv_of(o->help));
    }
}

static void man_synopsis(struct sb *out, const struct command *c)
{
    sb_adds(out, ".Nm heddle ");
    roff(out, sv_of(c->name));
    sb_addc(out, '\n');
    if (c->synopsis[0]) {
        roff(out, sv_of(c->synopsis));
        sb_addc(out, '\n');
    }
}

static void man_command(struct sb *out, const struct command *c)
{
    sb_adds(out, ".Ss heddle ");
    roff(out, sv_of(c->name));
    sb_addc(out, ' ');
    roff(out, sv_of(c->synopsis));
    sb_addc(out, '\n');
    roff(out, sv_of(c->summary));
    sb_adds(out, ".\n");
    if (c->details)
        roff_details(out, sv_of(c->details));
    if (c->opts && c->opts->type) {
        sb_adds(out, ".Bl -tag -width Ds\n");
        man_opts(out, c->opts);
        sb_adds(out, ".El\n");
    }
}

static const char man_environment[] =
    ".Sh ENVIRONMENT\n.Bl -tag -width Ds\n"
    ".It Ev HEDDLE_ACTOR\nWho acts, when\n.Fl \\-as\nis not given.\n"
    ".It Ev HEDDLE_NOW\nA fixed time, in milliseconds or as an ISO 8601 instant.\n"
    ".It Ev HEDDLE_SEED\nA fixed source of ids.\n.El\n";

/* Every variable that the program reads; tests/e2e/man.sh compares them with the sources. */
static const struct {
    const char *name, *text;
} variables[] = {
    { "HEDDLE_ACTOR", "Who acts, when\n.Fl \\-as\nis not given.\nExecutors get it set." },
    { "HEDDLE_CHECKPOINT_KEYS",
      "The keys that sign and verify checkpoint tokens: kid:secret, several with commas between\n"
      "them; see\n.Xr heddle-checkpoint 1 ." },
    { "HEDDLE_HOOK_WAIT", "1:\n.Xr heddle-hook 1\nrecords before it ends, not in a process of its "
                          "own, and takes the time it needs." },
    { "HEDDLE_NOW", "A fixed time, in milliseconds or as an ISO 8601 instant." },
    { "HEDDLE_ROOT",
      "The workspace: the absolute path of the directory that holds\n.Pa .heddle ,\nor is to hold "
      "it.\nIt has to be yours; nothing is searched for then.\n.Fl \\-root\ncounts more.\nSee\n.Xr "
      "heddle-config 5 .\nExecutors that are started in a linked worktree of git get it set." },
    { "HEDDLE_SEED", "A fixed source of ids.\nKeys are never drawn from it." },
    { "HEDDLE_SESSION", "Set for an executor: the session that its last start named." },
    { "HEDDLE_STORE", "Where the log is, over the setting\n.Ic store ." },
    { "HEDDLE_THREAD",
      "Set for an executor: the thread it works on.\nHooks bind a session to it, and\n.Xr "
      "heddle-mcp 1\nserves it." },
    { "HEDDLE_VOCAB_DIR", "Where the token vocabularies are, when not beside the program." },
    { "ANTHROPIC_API_KEY , OPENAI_API_KEY",
      "Keys of model providers; which of them is set decides what\n.Xr heddle-summarize 1\nasks." },
    { "GEMINI_API_KEY", "The key of Google's models." },
    { "ANTHROPIC_BASE_URL , OPENAI_BASE_URL , GOOGLE_GEMINI_BASE_URL",
      "Where these providers are; see\n.Xr heddle-config 5\nfor this and for the keys of others." },
    { "ANTHROPIC_AUTH_TOKEN", "Sent to Anthropic as a bearer's token when there is no key." },
    { "TAVILY_API_KEY , BRAVE_API_KEY", "Keys of search services; see\n.Xr heddle-config 5 ." },
    { "XDG_CONFIG_HOME , XDG_STATE_HOME , XDG_CACHE_HOME",
      "Where the user's settings, what was trusted, and fetched pages are kept." },
    { "HOME", "Where they are kept when those are not set." },
    { "CLAUDE_CONFIG_DIR , CODEX_HOME , XDG_DATA_HOME , GEMINI_CLI_HOME",
      "Where Claude Code, Codex, opencode and Gemini CLI keep their sessions; see\n.Xr "
      "heddle-import 1 ." },
    { "PI_CODING_AGENT_DIR , PI_CODING_AGENT_SESSION_DIR", "The same of pi." },
    { "GIT_CEILING_DIRECTORIES , GIT_DISCOVERY_ACROSS_FILESYSTEM",
      "Where the search for a git repository ends, as for git.\n.Ev GIT_DIR\nand\n.Ev "
      "GIT_COMMON_DIR\ndo not lead to another workspace: when they name another repository than "
      "the\none around the current directory, a note says so." },
    { "CLAUDE_PID , CLAUDE_PROJECT_DIR",
      "Set by Claude Code for\n.Xr heddle-hook 1 :\nits process, whose command line says what a "
      "session was\nforked from, and the project." },
    { "XDG_RUNTIME_DIR", "Where a server that runs is found, and its socket for the shell; "
                         "see\n.Xr heddle-serve 1 ." },
    { "BROWSER", "The program with which\n.Xr heddle-open 1\nshows the page." },
    { "LISTEN_FDS , LISTEN_PID , NOTIFY_SOCKET",
      "Set by systemd: sockets that\n.Xr heddle-serve 1\nserves, and where it says that it is "
      "ready." },
    { "SUDO_UID", "Under\n.Xr sudo 8 ,\nthe user whose workspaces root may use as well." },
    { "NO_COLOR , CLICOLOR_FORCE , TERM",
      "Whether there are colours, when\n.Fl \\-color\ndoes not say it: none with\n.Ev NO_COLOR "
      ",\nalways with\n"
      ".Ev CLICOLOR_FORCE\nother than 0, else on a terminal that is not dumb." },
    { "HEDDLE_PAGER , PAGER , LESS", "Through what text goes that is longer than the terminal: the "
                                     "first that is set, else\n.Xr less 1 ;\nan empty "
                                     "one or\n.Ic cat\nis none." },
    { "SHELL", "Named in a payload." },
    { "PATH , TMPDIR", "Where\n.Xr heddle-demo 1\nworks." },
};

static void man_variables(struct sb *out)
{
    sb_adds(out, ".Sh ENVIRONMENT\n.Bl -tag -width Ds\n");
    for (size_t i = 0; i < COUNT(variables); i++)
        sb_addf(out, ".It Ev %s\n%s\n", variables[i].name, variables[i].text);
    sb_adds(out, ".El\nA process that has a key in its environment leaves no core file.\n");
}

static const char man_files[] =
    ".Sh FILES\n.Bl -tag -width Ds\n"
    ".It Pa .heddle/heddle.db\nThe log of the workspace.\n"
    ".It Pa .heddle/config.json\nSettings of the workspace; see\n.Xr heddle-config 5 .\n"
    ".It Pa \\(ti/.config/heddle/config.json\nSettings of the user.\n"
    ".It Pa \\(ti/.local/state/heddle/trust.json\nWhat the user has trusted; see\n"
    ".Xr heddle-trust 1 .\n.El\n";

static const char man_exit_status[] =
    ".Sh EXIT STATUS\n0 when done, 1 when refused or failed, 2 when the command line was misused.\n"
    "An error is printed on standard error as\n.Dq \\[u2717] CODE: message\n"
    "with a hint on the next line; with\n.Fl \\-json\nas an object on standard output.\n";

/* The codes of errors, each with its exit status and its sentence. */
static void man_codes(struct sb *out)
{
    sb_adds(out, "The codes:\n.Bl -tag -width Ds\n");
    for (enum status s = ST_OK + 1; s <= STATUS_LAST; s++) {
        sb_addf(out, ".It Er %s , No exit status %d\n", status_word(s), status_exit(s));
        roff_prose(out, sv_of(status_meaning(s)));
    }
    sb_adds(out, ".El\n");
}

/* Every command whose name begins with `word`. */
static void man_each(struct sb *out, struct sv                                         word,
                     void (*print)(struct sb *, const struct command *), struct arena *a)
{
    for (size_t i = 0; commands[i]; i++)
        if (!commands[i]->hidden && sv_eq(help_first_word(commands[i]), word))
            print(out, command_complete(commands[i], a));
}

bool man_page(struct sb *out, struct sv word)
{
    struct arena scratch = { 0 };
    struct sb    name = sb_in(&scratch, 0);
    struct sv    about = help_about(word, &scratch);
    bool         known = about.n > 0;

    if (known) {
        sb_addf(&name, "heddle-" SV_FMT, SV_ARG(word));
        man_head(out, sb_sv(&name), sb_sv(&name), about);
        sb_adds(out, ".Sh SYNOPSIS\n");
        man_each(out, word, man_synopsis, &scratch);
        sb_adds(out, ".Sh DESCRIPTION\n");
        man_each(out, word, man_command, &scratch);
        sb_adds(out, ".Sh OPTIONS OF EVERY COMMAND\n.Bl -tag -width Ds\n");
        man_opts(out, global_opts);
        sb_adds(out, ".El\n");
        sb_adds(out, man_environment);
        sb_adds(out, man_exit_status);
        sb_adds(out, ".Sh SEE ALSO\n.Xr heddle 1\n");
    }
    arena_free(&scratch);
    return known;
}

void man_overview(struct sb *out)
{
    struct sv word;

    man_head(out, SV("heddle"), SV("heddle"), SV("a context engine for AI agents"));
    sb_adds(out,
            ".Sh SYNOPSIS\n.Nm heddle\n.Ar command\n.Op Ar argument ...\n.Sh DESCRIPTION\n"
            "heddle keeps one append-only log per thread and weaves from it, deterministically,\n"
            "what a model or a person should see next.\n.Sh COMMANDS\n.Bl -tag -width Ds\n");
    for (size_t i = 0; (word = help_word(i)).n; i++) {
        sb_addf(out, ".It Xr heddle-" SV_FMT " 1\n", SV_ARG(word));
        for (size_t k = 0; commands[k]; k++)
            if (!commands[k]->hidden && sv_eq(help_first_word(commands[k]), word)) {
                struct sv_cut c = sv_cut(sv_of(commands[k]->name), ' ');
                if (c.found)
                    sb_addf(out, ".Cm " SV_FMT " :\n", SV_ARG(c.tail));
                roff(out, sv_of(command_summary(commands[k])));
                sb_adds(out, ".\n");
            }
    }
    sb_adds(out, ".El\n.Sh OPTIONS OF EVERY COMMAND\n.Bl -tag -width Ds\n");
    man_opts(out, global_opts);
    sb_adds(out, ".El\n");
    man_variables(out);
    sb_adds(out, man_files);
    sb_adds(out, man_exit_status);
    man_codes(out);
    sb_adds(out, ".Sh SEE ALSO\n.Xr leslie 1 ,\n.Xr teddy 1 ,\n.Xr heddle-config 5 ,\n"
                 ".Xr heddle-loom 7\n");
}

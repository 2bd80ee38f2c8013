/* The plan of an installation: tables of the files, events and settings of each program. */
#include "api/install/guide_text.h"
#include "api/install/install.h"

/* ---- writing a plan ------------------------------------------------------------------------ */

static struct install_file *file_of(struct install_plan *p, const char *name, const char *comment)
{
    for (size_t i = 0; i < p->files.n; i++)
        if (sv_is(p->files.v[i].name, name))
            return &p->files.v[i];
    struct install_file *f = vec_push(&p->files, p->a);
    f->name = sv_of(name);
    f->comment = comment;
    return f;
}

static void add_part(struct install_plan *p, struct install_file *f, enum install_kind kind,
                     const char *dotted, struct sv value)
{
    struct install_part *part = vec_push(&f->parts, p->a);
    size_t               n = 0;

    *part = (struct install_part){ .kind = kind, .value = value };
    for (struct sv_cut c = { .tail = sv_of(dotted), .found = dotted != NULL };
         c.found && n < INSTALL_DEPTH - 1;) {
        c = sv_cut(c.tail, '.');
        part->path[n++] = c.head;
    }
}

static void put_file(struct install_plan *p, const char *name, const char *comment, struct sv text)
{
    add_part(p, file_of(p, name, comment), INSTALL_FILE, NULL, text);
}

static void note(struct install_plan *p, const char *text)
{
    *vec_push(&p->notes, p->a) = sv_of(text);
}

/* ---- commands ------------------------------------------------------------------------------ */

/* The arguments of heddle: ["hook","claude-code","--thread","T"]. */
static void put_words(struct jw *w, const struct install_wish *q, bool mcp)
{
    jw_str(w, mcp ? SV("mcp") : SV("hook"));
    if (!mcp)
        jw_str(w, sv_of(harness_name(q->harness)));
    if (q->thread.n) {
        jw_str(w, SV("--thread"));
        jw_str(w, q->thread);
    }
    if (mcp && q->agent.n) {
        jw_str(w, SV("--agent"));
        jw_str(w, q->agent);
    }
}

static void put_args(struct jw *w, const struct install_wish *q, bool mcp)
{
    jw_key(w, "args");
    jw_open(w, '[');
    put_words(w, q, mcp);
    jw_close(w, ']');
}

/* One line for a shell: heddle hook codex --thread T */
static struct sv shell_line(const struct install_wish *q, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_add_shell(&b, q->program);
    sb_addf(&b, " hook %s", harness_name(q->harness));
    if (q->thread.n) {
        sb_adds(&b, " --thread ");
        sb_add_shell(&b, q->thread);
    }
    return sb_sv(&b);
}

/* {"command":"heddle","args":["mcp"]} */
static struct sv mcp_value(const struct install_wish *q, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "command", q->program);
    put_args(&w, q, true);
    jw_close(&w, '}');
    return sb_sv(&b);
}

/* ---- hooks as Claude Code, Codex and Gemini CLI write them --------------------------------- */

struct event {
    const char *name, *matcher; /* NULL: the event takes none */
    int         timeout;        /* in seconds; heddle's own limit is shorter */
};

/* clang-format off */
static const struct event claude_events[] = {
    { "SessionStart",     NULL, 10 },
    { "UserPromptSubmit", NULL, 10 },
    { "PreToolUse",       "^(Edit|Write|MultiEdit|NotebookEdit|Bash|mcp__.*)$", 10 },
    { "PostToolUse",      "^(Bash|mcp__.*)$", 10 },
    { "PostToolUseFailure", "^(Bash|mcp__.*)$", 10 },
    { "PreCompact",       NULL, 10 },
    { "Stop",             NULL, 10 },
    { "SubagentStop",     NULL, 10 },
    { "SessionEnd",       NULL, 10 },
    { 0 },
};
static const struct event codex_events[] = {
    { "SessionStart",     NULL, 10 },
    { "UserPromptSubmit", NULL, 10 },
    { "PreToolUse",       NULL, 10 },
    { "PostToolUse",      NULL, 10 },
    { "PreCompact",       NULL, 10 },
    { "PostCompact",      NULL, 10 },
    { "Stop",             NULL, 10 },
    { "SessionEnd",       NULL, 3 },
    { 0 },
};
static const struct event gemini_events[] = {
    { "SessionStart", "*", 10 },
    { "BeforeAgent",  "*", 10 },
    { "BeforeTool",   ".*", 10 },
    { "AfterTool",    ".*", 10 },
    { "PreCompress",  "*", 10 },
    { "AfterAgent",   "*", 10 },
    { "SessionEnd",   "*", 10 },
    { 0 },
};
/* clang-format on */

static void put_handler(struct jw *w, const struct install_wish *q, const struct event *x,
                        struct arena *a)
{
    jw_open(w, '{');
    jw_kstr(w, "type", SV("command"));
    if (q->harness == HARNESS_CLAUDE_CODE) { /* started without a shell */
        jw_kstr(w, "command", q->program);
        put_args(w, q, false);
        jw_kint(w, "timeout", x->timeout);
    } else if (q->harness == HARNESS_CODEX) {
        jw_kstr(w, "command", shell_line(q, a));
        jw_kint(w, "timeout", x->timeout);
        if (sv_is(sv_of(x->name), "SessionStart") || sv_is(sv_of(x->name), "UserPromptSubmit"))
            jw_kint(w, "additionalContextLimit", 0); /* heddle has a limit of its own */
    } else {
        jw_kstr(w, "name", SV("heddle"));
        jw_kstr(w, "command", shell_line(q, a));
        jw_kint(w, "timeout", x->timeout * 1000);
    }
    jw_close(w, '}');
}

static struct sv event_value(const struct install_wish *q, const struct event *x, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    if (x->matcher)
        jw_kstr(&w, "matcher", sv_of(x->matcher));
    jw_key(&w, "hooks");
    jw_open(&w, '[');
    put_handler(&w, q, x, a);
    jw_close(&w, ']');
    jw_close(&w, '}');
    return sb_sv(&b);
}

static void put_events(struct install_plan *p, const struct install_wish *q, const char *file,
                       const struct event *events)
{
    for (; events->name; events++) {
        struct sb path = sb_in(p->a, 0);
        sb_addf(&path, "hooks.%s", events->name);
        add_part(p, file_of(p, file, "//"), INSTALL_ITEM, sb_sv(&path).s,
                 event_value(q, events, p->a));
        *vec_push(&file_of(p, file, "//")->lists, p->a) = sb_sv(&path);
    }
}

static void put_mcp(struct install_plan *p, const struct install_wish *q, const char *file)
{
    add_part(p, file_of(p, file, "//"), INSTALL_MEMBER, "mcpServers.heddle", mcp_value(q, p->a));
}

static void put_guide(struct install_plan *p, const struct install_wish *q, const char *file)
{
    if (!q->user)
        add_part(p, file_of(p, file, "<!--"), INSTALL_BLOCK, NULL, sv_of(guide_brief));
}

/* ---- one function for each program --------------------------------------------------------- */

/* Claude Code's own rules also stop redirections of a shell. */
static void put_denied(struct install_plan *p, const struct install_wish *q, const char *file)
{
    for (size_t i = 0; i < q->denied.n; i++) {
        struct sb rule = sb_in(p->a, 0), json = sb_in(p->a, 0);
        sb_addf(&rule, "Edit(" SV_FMT ")", SV_ARG(q->denied.v[i]));
        sb_add_json_string(&json, sb_sv(&rule));
        add_part(p, file_of(p, file, "//"), INSTALL_ITEM, "permissions.deny", sb_sv(&json));
    }
    *vec_push(&file_of(p, file, "//")->lists, p->a) = SV("permissions.deny");
}

static const char claude_command[] = "---\n"
                                     "description: Show what this thread may read and write\n"
                                     "---\n"
                                     "<!-- Written by `heddle install claude-code`. -->\n"
                                     "Run `heddle context $ARGUMENTS --notes`. Without a name of a "
                                     "thread, take the one of the newest\n"
                                     "<thread_context> block of this conversation. Say in a few "
                                     "lines which assets are yours, which\n"
                                     "ones you may read, and which copies are stale.\n";

static struct sv plugin_manifest(struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 2);

    jw_open(&w, '{');
    jw_kstr(&w, "name", SV("heddle"));
    jw_kstr(&w, "version", SV(HEDDLE_VERSION));
    jw_kstr(&w, "description",
            SV("Threads that share work: context, read-only references, a record"));
    jw_close(&w, '}');
    sb_addc(&b, '\n');
    return sb_sv(&b);
}

/* A directory for `claude --plugin-dir`. */
static void plan_plugin(struct install_plan *p, const struct install_wish *q)
{
    put_file(p, ".claude-plugin/plugin.json", NULL, plugin_manifest(p->a));
    put_events(p, q, "hooks/hooks.json", claude_events);
    put_mcp(p, q, ".mcp.json");
    put_file(p, "commands/context.md", "<!--", sv_of(claude_command));
    put_file(p, "skills/heddle/SKILL.md", "<!--", install_skill(p->a));
    note(p, "start Claude Code with --plugin-dir and this directory");
}

static void plan_claude(struct install_plan *p, const struct install_wish *q)
{
    const char *settings = q->user ? "settings.json" : ".claude/settings.json";

    if (q->plugin) {
        plan_plugin(p, q);
        return;
    }
    put_events(p, q, settings, claude_events);
    put_denied(p, q, settings);
    put_mcp(p, q, !q->user ? ".mcp.json" : q->moved ? ".claude.json" : "../.claude.json");
    put_file(p, q->user ? "skills/heddle/SKILL.md" : ".claude/skills/heddle/SKILL.md", "<!--",
             install_skill(p->a));
    note(p, "sessions that run take it up when they are started again");
}

/* [mcp_servers.heddle] */
static struct sv codex_table(const struct install_wish *q, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    sb_adds(&b, "[mcp_servers.heddle]\ncommand = ");
    sb_add_json_string(&b, q->program);
    sb_adds(&b, "\nargs = ");
    jw_open(&w, '[');
    put_words(&w, q, true);
    jw_close(&w, ']');
    sb_addc(&b, '\n');
    return sb_sv(&b);
}

static void plan_codex(struct install_plan *p, const struct install_wish *q)
{
    put_events(p, q, q->user ? "hooks.json" : ".codex/hooks.json", codex_events);
    add_part(p, file_of(p, q->user ? "config.toml" : ".codex/config.toml", "#"), INSTALL_BLOCK,
             NULL, codex_table(q, p->a));
    put_guide(p, q, "AGENTS.md");
    note(p, "Codex skips hooks that nobody has trusted, without a word: run /hooks in it once, and "
            "again after each change");
    if (!q->user)
        note(p, "the project itself must be trusted, too");
}

/* {"type":"local","command":["heddle","mcp"],"enabled":true} */
static struct sv opencode_mcp(const struct install_wish *q, struct arena *a)
{
    struct sb b = sb_in(a, 0);
    struct jw w = jw_in(&b, 0);

    jw_open(&w, '{');
    jw_kstr(&w, "type", SV("local"));
    jw_key(&w, "command");
    jw_open(&w, '[');
    jw_str(&w, q->program);
    put_words(&w, q, true);
    jw_close(&w, ']');
    jw_kbool(&w, "enabled", true);
    jw_close(&w, '}');
    return sb_sv(&b);
}

static void plan_opencode(struct install_plan *p, const struct install_wish *q)
{
    put_file(p, q->user ? "plugins/heddle.js" : ".opencode/plugins/heddle.js", "//",
             install_code(q, p->a));
    add_part(p, file_of(p, "opencode.json", "//"), INSTALL_MEMBER, "mcp.heddle",
             opencode_mcp(q, p->a));
    put_guide(p, q, "AGENTS.md");
}

static void plan_gemini(struct install_plan *p, const struct install_wish *q)
{
    const char *settings = q->user ? "settings.json" : ".gemini/settings.json";

    put_events(p, q, settings, gemini_events);
    put_mcp(p, q, settings);
    put_guide(p, q, "GEMINI.md");
}

static void plan_pi(struct install_plan *p, const struct install_wish *q)
{
    put_file(p, q->user ? "extensions/heddle.ts" : ".pi/extensions/heddle.ts", "//",
             install_code(q, p->a));
    put_mcp(p, q, q->user ? "mcp.json" : ".pi/mcp.json");
    put_guide(p, q, "AGENTS.md");
    if (!q->user)
        note(p, "pi loads extensions of a project once the project is trusted");
}

void install_plan_make(struct install_plan *p, const struct install_wish *w)
{
    static void (*const make[HARNESS_COUNT])(struct install_plan *, const struct install_wish *) = {
        [HARNESS_CLAUDE_CODE] = plan_claude,
        [HARNESS_CODEX] = plan_codex,
        [HARNESS_OPENCODE] = plan_opencode,
        [HARNESS_GEMINI] = plan_gemini,
        [HARNESS_PI] = plan_pi,
    };

    make[w->harness](p, w);
}

/* `loom`: a tree at a prompt. What starts with → or / is a command, everything else is said. */
#include "base/clock.h"
#include "base/fs.h"
#include "command/lexer.h"
#include "front/cli/command.h"
#include "front/cli/line_edit.h"
#include "front/loom_env.h"
#include "loom/node.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct loom_opts {
    struct sv agent, show;
};

static const struct opt opts_table[] = {
    { OPT_TEXT, "agent", "A", "as whom (default: you)", offsetof(struct loom_opts, agent), 0 },
    { OPT_TEXT, "show", "WHAT",
      "print one block of what a loom-aware model is shown, and end: addendum, memory or context",
      offsetof(struct loom_opts, show), 0 },
    { 0 },
};

struct prompt {
    struct app     *app;
    struct loom_env env;
    struct session  session;
    bool            verbatim; /* in buffer mode blanks at the ends of a text are part of it */
    struct sv      *ids;      /* candidates of the completion under way */
    size_t          n_ids;
    struct arena    line; /* of the line that is read and done now */
    struct loom     here; /* as it was before it */
};

/* ---- blocks ----------------------------------------------------------------------- */

static enum status words_of(void *ctx, struct sv doc, struct sv section, int64_t *words,
                            struct err *e)
{
    struct session *s = ctx;
    struct doc      d;
    struct section  at;

    if (session_doc(s, doc, &d, e))
        return err_code(e);
    struct sv text = d.text;
    if (section.s) {
        if (doc_section(d.text, section, &at, e))
            return err_code(e);
        text = (struct sv){ d.text.s + at.start, at.end - at.start };
    }
    *words = doc_words(text);
    return ST_OK;
}

static enum status show(struct prompt *p, struct sv what, struct err *e)
{
    struct session *s = &p->session;
    struct sb       b = sb_in(p->app->a, 0);
    enum status     st = ST_OK;

    if (!sv_is(what, "addendum") && !sv_is(what, "memory") && !sv_is(what, "context"))
        return err_set(e, ST_USAGE, "--show takes addendum, memory or context");
    if (!(s->agent.permissions & PERM_loom_aware))
        return ST_OK; /* such an agent is shown the conversation alone */
    if (log_begin(&p->app->log, s->loom.thread, STORE_READ, e))
        return err_code(e);
    if (sv_is(what, "addendum"))
        show_addendum(&b, s->agent.permissions);
    else if (sv_is(what, "memory"))
        st = show_memory_block(&s->loom, &s->viewer, words_of, s, &b, e);
    else
        st = show_context_block(&s->loom, &s->viewer, (struct sv){ 0 }, &b, e);
    log_abort(&p->app->log);
    sb_add(&p->app->out, sb_sv(&b));
    return st;
}

/* ---- completion ------------------------------------------------------------------- */

static void find_ids(struct prompt *p, struct sv start)
{
    struct err ignored;

    p->n_ids = 0;
    if (log_begin(&p->app->log, p->session.loom.thread, STORE_READ, &ignored))
        return;
    if (loom_ids(&p->session.loom, start, 50, &p->ids, &p->n_ids, &ignored))
        p->n_ids = 0;
    log_abort(&p->app->log);
}

/* A tool behind the slash or arrow at the start of a line; a line without one gets its slash. */
static struct sv complete_tool(struct prompt *p, struct sv before, struct sv start, size_t i)
{
    bool        bare = sv_trim(before).n > 0; /* the arrow stands apart */
    const char *arrow = bare ? "" : sv_starts(start, SV("→")) ? "→" : "/";
    struct sv   word = start;

    if (sv_starts(word, SV("/")) || sv_starts(word, SV("→")))
        word = sv_skip(word, word.s[0] == '/' ? 1 : 3);
    for (size_t k = 0; tools[k].name; k++)
        if (sv_starts(sv_of(tools[k].name), word) && i-- == 0) {
            struct sb b = sb_in(&p->line, 0);
            sb_addf(&b, "%s%s", arrow, tools[k].name);
            return sb_sv(&b);
        }
    return (struct sv){ 0 };
}

/* The id of a node, also in brackets and behind a key: [a7x2], branch:a7x2. */
static struct sv complete_id(struct prompt *p, struct sv start, size_t i)
{
    size_t    n = start.n;
    struct sb b = sb_in(&p->line, 0);

    while (n && start.s[n - 1] != ':' && start.s[n - 1] != '[')
        n--;
    if (i == 0)
        find_ids(p, sv_skip(start, n));
    if (i >= p->n_ids)
        return (struct sv){ 0 };
    sb_addf(&b, SV_FMT SV_FMT "%s", SV_ARG(sv_first(start, n)), SV_ARG(p->ids[i]),
            n && start.s[n - 1] == '[' ? "]" : "");
    return sb_sv(&b);
}

static struct sv complete(void *ctx, struct sv before, struct sv start, size_t i)
{
    before = sv_trim(before);
    if (!before.n || sv_is(before, "→") || sv_is(before, "/"))
        return complete_tool(ctx, before, start, i);
    return complete_id(ctx, start, i);
}

/* ---- the loop --------------------------------------------------------------------- */

static const char *prompt_text(struct prompt *p)
{
    struct sb    b = sb_in(&p->line, 0);
    struct loom *l = &p->session.loom;
    struct node  here;
    struct err   ignored;
    bool         found = false;

    if (log_begin(&p->app->log, l->thread, STORE_READ, &ignored) == ST_OK) {
        if (loom_position(l, p->session.agent.name, &here, &found, &ignored))
            found = false;
        if (loom_is_buffer(l, &p->verbatim, &ignored))
            p->verbatim = false;
        log_abort(&p->app->log);
    }
    if (found)
        sb_addf(&b, "[" SV_FMT "] ", SV_ARG(here.local));
    sb_adds(&b, "› ");
    return sb_sv(&b).s;
}

enum input { INPUT_TEXT, INPUT_COMMAND, INPUT_THOUGHT };

static enum input input_of(struct sv line)
{
    struct sv text;

    line = sv_trim(line);
    if (!sv_starts(line, SV("/")) && !sv_starts(line, SV("→")))
        return INPUT_TEXT;
    bool thinks = call_is_think(sv_skip(line, line.s[0] == '/' ? 1 : 3), &text);
    return thinks && !text.n ? INPUT_THOUGHT : INPUT_COMMAND;
}

/* Adds a line to the input; true when it goes on in the next one. A thought does until ←, a command
 * while a quotation is open, a text after a backslash, and when it was pasted. */
static bool take_line(enum input kind, struct sb *b, struct sv line)
{
    if (kind == INPUT_THOUGHT && sv_is(sv_trim(line), "←"))
        return false;
    bool slash = kind == INPUT_TEXT && sv_ends(line, SV("\\"));
    sb_add(b, slash ? sv_first(line, line.n - 1) : line);
    switch (kind) {
    case INPUT_THOUGHT: return true;
    case INPUT_COMMAND: return lex_is_open(sb_sv(b));
    default: return slash || line_is_pasted();
    }
}

/* Everything up to the end of a command, a thought or a text; nothing after Ctrl-C. */
static enum status read_input(struct prompt *p, struct line_edit *edit, struct sv *out, bool *more,
                              struct err *e)
{
    struct sb  b = sb_in(&p->line, 0);
    struct sv  line;
    enum input kind = INPUT_TEXT;
    bool       first = true, again = true;

    for (const char *prompt = prompt_text(p); again; prompt = "… ") {
        if (line_read(edit, prompt, &p->line, &line, more, e))
            return err_code(e);
        if (edit->interrupted)
            b.n = 0;
        if (!*more || edit->interrupted)
            break;
        kind = first ? input_of(line) : kind;
        again = take_line(kind, &b, line);
        if (again)
            sb_addc(&b, first && kind == INPUT_THOUGHT ? ' ' : '\n');
        first = false;
    }
    *out = sv_trim(sb_sv(&b));
    if (kind == INPUT_TEXT && p->verbatim && out->n)
        *out = sb_sv(&b);
    *more = *more || out->n;
    return ST_OK;
}

static enum status act(struct prompt *p, struct sv input, struct err *e)
{
    struct session *s = &p->session;
    struct sb       b = sb_in(&p->line, 0);
    struct turn     turn;
    struct node     n;

    s->loom.now = clock_now_ms();
    if (sv_starts(input, SV("/")) || sv_starts(input, SV("→"))) {
        input = sv_skip(input, input.s[0] == '/' ? 1 : 3);
        if (session_lines(s, sv_trim(input), &turn, e))
            return err_code(e);
        for (size_t i = 0; i < turn.n; i++)
            if (!turn.results[i].silent || !turn.results[i].ok) {
                sb_adds(&b, b.n ? "\n" : "");
                result_show(&b, &turn.results[i]);
            }
    } else {
        if (session_say(s, input, (struct sv){ 0 }, "say", &n, e)) {
            app_fail(p->app, e); /* said to the person, who goes on */
            return ST_OK;
        }
        sb_addf(&b, "[" SV_FMT "]\n", SV_ARG(n.local));
        loom_tell_branch(s);
    }
    sb_add_plain(&p->app->out, sb_sv(&b));
    return sb_flush(&p->app->out, e);
}

/* What a line needed goes when it is done; only where the session is now is kept. */
static void begin_line(struct prompt *p)
{
    p->session.a = p->session.loom.a = p->env.share.a = &p->line;
}

static struct sv kept(struct prompt *p, struct sv was, struct sv now)
{
    return now.s == was.s ? now : sv_dup(now, p->app->a);
}

static void end_line(struct prompt *p)
{
    struct loom *l = &p->session.loom, *was = &p->here;

    l->thread = kept(p, was->thread, l->thread);
    l->title = kept(p, was->title, l->title);
    l->mode = kept(p, was->mode, l->mode);
    *was = *l;
    p->session.passed = p->session.prose = p->session.later = (struct sv){ 0 };
    p->env.share.details = (struct sv){ 0 };
    memset(&p->env.share.warnings, 0, sizeof p->env.share.warnings);
    p->n_ids = 0;
    arena_free(&p->line);
}

static enum status converse(struct prompt *p, struct err *e)
{
    UNDO(fd_undo) int kept = -1;
    struct err        why;
    char              history[64];
    struct line_edit  edit = { .complete = complete, .ctx = p };
    bool              more = true;
    struct sv         input;

    /* libedit opens it by a name, and what has that name may be swapped: it is given one that
     * stands for the file we opened. */
    if (line_has_person() &&
        fs_open_own(p->app->ws.root_fd, SV(".heddle/loom_history"), O_RDWR, &kept, &why))
        warn("no history is kept: %s", why.text);
    snprintf(history, sizeof history, "/proc/self/fd/%d", kept);
    if (kept >= 0)
        edit.history = history;
    while (more) {
        if (read_input(p, &edit, &input, &more, e))
            return err_code(e);
        if (sv_is(input, "/quit") || sv_is(input, "/exit"))
            return ST_OK;
        if (more && input.n && act(p, input, e))
            return err_code(e);
        end_line(p);
    }
    if (line_has_person())
        sb_addc(&p->app->out, '\n'); /* Ctrl-D leaves the cursor behind the prompt */
    return ST_OK;
}

static enum status run(struct app *app, const void *opts, struct err *e)
{
    const struct loom_opts *o = opts;
    struct prompt           p = { .app = app };

    loom_env_init(&p.env, app);
    if (loom_env_open(&p.env, app_arg(app, 0), o->agent, &p.session, e))
        return err_code(e);
    p.here = p.session.loom;
    if (!o->show.s)
        begin_line(&p);
    enum status s = o->show.s ? show(&p, o->show, e) : converse(&p, e);
    arena_free(&p.line);
    loom_env_release(&p.env);
    return s;
}

const struct command cmd_loom = {
    .name = "loom",
    .synopsis = "T [--agent A] [--show addendum|memory|context]",
    .group = GROUP_LOOM,
    .view = &loom_view,
    .summary = "Walk and write a tree at a prompt",
    .details =
        "A line that starts with → or / is a command (see heddle-loom(7)); any other line is "
        "said, and becomes a node. Tab completes commands and ids. What goes on in the next line: "
        "a "
        "quotation that is open, a text after a backslash or when it was pasted, and /think until "
        "← "
        "stands alone. Ctrl-C gives up the input, Ctrl-D or /quit ends.\n\n"
        "  $ heddle loom design\n"
        "  [a7x2] › /tree\n"
        "  [a7x2] › What if we used one table?",
    .opts = opts_table,
    .opts_size = sizeof(struct loom_opts),
    .min_args = 1,
    .max_args = 1,
    .needs = NEEDS_WRITE,
    .data = true,
    .run = run,
};

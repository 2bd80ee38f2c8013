/* Doubt is not a command: every tool that changes something, in every form of doubt, runs nothing
 * and is answered with the line that would do it. The tools and their examples come from the table
 * of tools, so that a new tool is tried without a change here. */
#include "loom_test.h"

static struct arena a;

/* How a line is made doubtful: % is the line. `looks`: a tool that only looks runs in this form. */
static const struct {
    const char *form;
    bool        looks;
} forms[] = {
    { "%?", true },
    { "% ?", true },
    { "%?!", true },
    { "%??", true },
    { "%？", true },
    { "%؟", true },
    { "%\u037e", true },
    { "% ⸮", true },
    { "%՞", true },
    { "%!?", true },
    { "% !?", true },
    { "%⁉", true },
    { "%❓", true },
    { "% ❓\ufe0f", true },
    { "% 🤔", true },
    { "% 🤷🏽\u200d♀\ufe0f", true },
    { "%\u00a0?", true },
    { "%?\u00a0", true },
    { "%\u200b?", true },
    { "%?\u200b", true },
    { "\u3000% ?", true },
    { "% . . .", true },
    { "%。。。", true },
    { "% ‥", true },
    { "%...", true },
    { "% ...", true },
    { "%..", true },
    { "%…", true },
    { "% …", true },
    { "...%", true },
    { "… %", true },
    { "?%", true },
    { "¿%?", true },
    { "(%)", true },
    { "((%))", true },
    { "(%)?", true },
    { "(%", true },
    { "%)", true },
    { "[%]", false },
    { "{%}", false },
    { "<%>", false },
    { "（%）", false },
    { "［%］", false },
    { "〈%〉", false },
    { "‹%›", false },
    { "«%»", false },
    { "「%」?", false },
    { "could you %", true },
    { "Could you please %?", true },
    { "can you %", true },
    { "would you %", true },
    { "will you %", true },
    { "can I %", true },
    { "may I %", true },
    { "may we %", false },
    { "could we %?", false },
    { "shall we %", false },
    { "shall I %?", false },
    { "should we % ?", false },
    { "would you like me to %", false },
    { "do you want me to %?", false },
    { "would it be ok to %", false },
    { "how about %", false },
    { "why don't we %?", false },
    { "maybe %", false },
    { "Perhaps %", false },
    { "% maybe", false },
    { "%, perhaps", false },
    { "possibly %", false },
    { "probably %", false },
    { "I think %", false },
    { "%, I think", false },
    { "I think we should %", false },
    { "I guess %", false },
    { "I might %", false },
    { "we could %", false },
    { "%, right?", false },
    { "%, could you", false },
    { "% if you like", false },
    { "hmm, %", false },
    { "might be best to %", false },
    { "ought we to %", false },
    { "%, eventually", false },
};

static struct sv in_form(const char *form, struct sv line)
{
    struct sb   b = sb_in(&a, 0);
    const char *hole = strchr(form, '%');

    sb_add(&b, (struct sv){ form, (size_t)(hole - form) });
    sb_add(&b, line);
    sb_adds(&b, hole + 1);
    return sb_sv(&b);
}

static struct sv canonical(const char *line)
{
    struct sb   b = sb_in(&a, 0);
    struct call c;
    struct err  e;

    sb_adds(&b, "→ ");
    CHECK(call_parse(sv_of(line), &a, &c, &e) == ST_OK);
    call_print(&b, &c);
    return sb_sv(&b);
}

static int64_t head(struct loom_test *t)
{
    struct store_head h;

    CHECK(log_begin(&t->log, SV("marie"), STORE_READ, &t->e) == ST_OK);
    CHECK(log_head(&t->log, SV("marie"), &h, &t->e) == ST_OK);
    log_abort(&t->log);
    return h.rev;
}

/* Nothing but the record of the line is written, and the answer has the line that would run. */
static void runs_nothing(struct loom_test *t, struct sv line, struct sv would)
{
    struct result r;
    int64_t       before = head(t);
    int           asked = t->requests;

    CHECK(session_line(&t->s, line, &r, &t->e) == ST_OK);
    bool answered =
        !r.ok && r.error.code == ST_INVALID_SYNTAX && sv_find(sv_of(r.error.hint), would) >= 0;
    if (!answered || head(t) != before + 1 || t->requests != asked)
        printf("# → " SV_FMT "\n# %s: %s\n", SV_ARG(line), r.ok ? "ran" : r.error.text,
               r.error.hint);
    CHECK(answered);
    CHECK_INT(head(t), before + 1);
    CHECK_INT(t->requests, asked);
}

static bool is_thought(const struct tool *t)
{
    return strcmp(t->name, "think") == 0;
}

static void no_tool_that_writes_runs_in_doubt(void)
{
    struct loom_test t;
    size_t           tools = 0;

    loom_test_open(&t, PERM_ALL);
    for (const struct tool *x = tool_table; x->name; x++) {
        if (tool_only_looks(x) || is_thought(x))
            continue;
        tools++;
        for (size_t i = 0; x->examples[i]; i++)
            for (size_t k = 0; k < COUNT(forms); k++)
                runs_nothing(&t, in_form(forms[k].form, sv_of(x->examples[i])),
                             canonical(x->examples[i]));
    }
    CHECK(tools >= 20);
    loom_test_close(&t);
}

/* A mark behind any word of the line that stands outside a quotation. */
static void a_mark_inside_the_line_is_doubt_too(void)
{
    static const char *const marks[] = { "?", "...", "…" };
    struct loom_test         t;

    loom_test_open(&t, PERM_ALL);
    for (const struct tool *x = tool_table; x->name; x++)
        for (size_t i = 0; !tool_only_looks(x) && !is_thought(x) && x->examples[i]; i++) {
            bool quoted = false;
            for (const char *c = x->examples[i]; *c; c++) {
                quoted = quoted != (*c == '"');
                for (size_t k = 0; *c == ' ' && !quoted && k < COUNT(marks); k++) {
                    struct sb b = sb_in(&a, 0);
                    sb_add(&b, (struct sv){ x->examples[i], (size_t)(c - x->examples[i]) });
                    sb_addf(&b, "%s%s", marks[k], c);
                    runs_nothing(&t, sb_sv(&b), canonical(x->examples[i]));
                }
            }
        }
    loom_test_close(&t);
}

/* The examples in their order make what those behind them name; `m` is there for `recall`. */
static void every_tool_that_looks_still_runs(void)
{
    struct loom_test t;
    bool             ok;

    loom_test_open(&t, PERM_ALL);
    for (const struct tool *x = tool_table; x->name; x++)
        for (size_t i = 0; tool_only_looks(x) && x->examples[i]; i++)
            for (size_t k = 0; k < COUNT(forms); k++) {
                struct sv line = in_form(forms[k].form, sv_of(x->examples[i]));
                if (!forms[k].looks)
                    continue;
                struct sv shown = loom_test_run(&t, sv_dup(line, &a).s, &ok);
                if (!ok)
                    printf("# → " SV_FMT "\n# " SV_FMT "\n", SV_ARG(line), SV_ARG(shown));
                CHECK(ok);
            }
    loom_test_close(&t);
}

/* Marks and hedges that are text, and words that only look like a hedge. */
static void what_is_quoted_is_text(void)
{
    static const char *const lines[] = {
        "respond \"Shall we go?\"",
        "respond a7x2 \"Maybe (perhaps) …\"",
        "respond a7x2 “Could you?”",
        "annotate a7x2 'I think so...'",
        "edit b3k9 \"\"\"Why? ...\"\"\"",
        "bookmark b3k9 \"why?\"",
        "stash \"open?\" \"who, perhaps?\"",
        "recall \"open?\"",
        "drop stash:\"open?\"",
        "link b3k9 to c4m2 note:\"could you?\"",
        "write doc:\"character notes\" append \"Really?\"",
        "think is it the mother? maybe...",
        "think (I could prune it)",
        "please prune d5n7.",
        "let me restore d5n7",
        "I would like to exclude d5n7",
        "I'd like to include d5n7!",
        "go ahead and bookmark (a7x2)",
        "respond (a7x2) \"Yes.\"",
        "link b3k9 to c4m2 (note: \"echo?\")",
        "continue from a7x2 (n:2)",
    };
    struct loom_test t;
    bool             ok;

    loom_test_open(&t, PERM_ALL);
    for (size_t i = 0; i < COUNT(lines); i++) {
        struct sv shown = loom_test_run(&t, lines[i], &ok);
        if (!ok)
            printf("# → %s\n# " SV_FMT "\n", lines[i], SV_ARG(shown));
        CHECK(ok);
    }
    loom_test_close(&t);
}

/* A long text is not repeated; what to leave out is said. A line that is not understood even
 * without its doubt keeps its own error, and a negation is never turned into its contrary. */
static void the_answer_never_says_more_than_the_line(void)
{
    struct loom_test t;
    struct sb        b = sb_in(&a, 0);
    bool             ok;

    loom_test_open(&t, PERM_ALL);
    sb_adds(&b, "maybe respond a7x2 \"");
    for (int i = 0; i < 200; i++)
        sb_adds(&b, "words ");
    sb_addc(&b, '"');
    struct sv shown = loom_test_run(&t, sv_dup(sb_sv(&b), &a).s, &ok);
    CHECK(!ok && sv_find(shown, SV("repeat the line without 'maybe'")) >= 0);
    shown = loom_test_run(&t, "respond a7x2 \"one\ntwo\"?", &ok);
    CHECK(!ok && sv_find(shown, SV("repeat the line without '?'")) >= 0);
    shown = loom_test_run(&t, "maybe don't prune d5n7?", &ok);
    CHECK(!ok && sv_find(shown, SV("→ prune")) < 0);
    shown = loom_test_run(&t, "prune a7x2 or d5n7?", &ok);
    CHECK(!ok && sv_find(shown, SV("→ prune [")) < 0);
    shown = loom_test_run(&t, "prune?", &ok);
    CHECK(!ok && sv_find(shown, SV("→ prune ID")) >= 0);
    loom_test_close(&t);
}

/* What follows a move that was only asked about must not act where the agent still is. */
static void a_move_in_doubt_leaves_what_follows_undone(void)
{
    struct loom_test t;
    struct turn      turn;

    loom_test_open(&t, PERM_ALL);
    CHECK(session_turn(&t.s, SV("→ switch to g8r2?\n→ respond \"There.\"\n"), &turn, &t.e) ==
          ST_OK);
    CHECK_INT(turn.n, 2);
    CHECK(!turn.results[0].ok && !turn.results[1].ok);
    CHECK_INT(turn.results[1].error.code, ST_CONFLICT);
    loom_test_close(&t);
}

TAP_MAIN(T(no_tool_that_writes_runs_in_doubt), T(a_mark_inside_the_line_is_doubt_too),
         T(every_tool_that_looks_still_runs), T(what_is_quoted_is_text),
         T(the_answer_never_says_more_than_the_line),
         T(a_move_in_doubt_leaves_what_follows_undone), )

/* The → language: what means what, and what is refused. */
#include "base/json.h"
#include "command/scan.h"
#include "command/tools.h"
#include "tap.h"

#include <stdlib.h>

static struct arena a;

static struct sv canonical(const char *line)
{
    struct call c;
    struct err  e = { 0 };
    struct sb   b = sb_in(&a, 0);

    if (call_parse(sv_of(line), &a, &c, &e)) {
        sb_addf(&b, "%s", status_word(e.code));
        return sb_sv(&b);
    }
    call_print(&b, &c);
    return sb_sv(&b);
}

static void many_forms_mean_the_same(void)
{
    static const struct {
        const char *line, *means;
    } table[] = {
        { "view a7x2", "view [a7x2]" },
        { "show me node a7x2", "view [a7x2]" },
        { "view node [A7X2]", "view [A7X2]" },
        { "read node a7x2", "view [a7x2]" },
        { "look at a7x2", "view [a7x2]" },
        { "open a7x2", "view [a7x2]" },
        { "open doc:\"x\"", "read doc:\"x\"" },
        { "view doc:\"x\"", "read doc:\"x\"" },
        { "read \"x\"", "read doc:\"x\"" },
        { "read doc \"x\"", "read doc:\"x\"" },
        { "open doc \"x\" section:y", "read doc:\"x\" section:\"y\"" },
        { "view the document \"x\"", "read doc:\"x\"" },
        { "add to doc \"n\" \"x\"", "write doc:\"n\" append \"x\"" },
        { "link a7x2 to doc \"n\"", "link [a7x2] doc:\"n\"" },
        { "View a7x2 Full", "view [a7x2] full" },
        { "continue with the Sub", "continue agent:\"Sub\"" },
        { "link a7x2 to tree:\"t\" node:b3k9", "link [a7x2] tree:\"t\" node:b3k9" },
        { "children a7x2", "list [a7x2] continuations" },
        { "notes a7x2", "list [a7x2] annotations" },
        { "references of a7x2", "list [a7x2] links" },
        { "replies to a7x2", "list [a7x2] continuations" },
        { "respond a7x2 \"one\r\ntwo\"", "respond [a7x2] \"one\ntwo\"" },
        { "view a7x2 in full", "view [a7x2] full" },
        { "view a7x2 and annotations", "view [a7x2] with-annotations" },
        { "continuations of a7x2", "list [a7x2] continuations" },
        { "list the children of a7x2", "list [a7x2] continuations" },
        { "annotations on a7x2", "list [a7x2] annotations" },
        { "what follows a7x2", "list [a7x2] continuations" },
        { "tree a7x2", "tree [a7x2]" },
        { "show tree", "tree" },
        { "overview", "tree" },
        { "goto a7x2", "switch [a7x2]" },
        { "jump to a7x2", "switch [a7x2]" },
        { "switch a7x2", "switch [a7x2]" },
        { "generate", "continue" },
        { "continue a7x2", "continue [a7x2]" },
        { "3 continuations from a7x2", "continue [a7x2] 3" },
        { "generate 3 continuations from a7x2 with GPT-4o", "continue [a7x2] 3 agent:\"GPT-4o\"" },
        { "continue from a7x2 n:3 tokens:200", "continue [a7x2] 3 tokens:200" },
        { "continue using agent:\"A B\"", "continue agent:\"A B\"" },
        { "reply to a7x2 \"x\"", "respond [a7x2] \"x\"" },
        { "add to a7x2 \"x\"", "respond [a7x2] \"x\"" },
        { "add to doc:\"n\" \"x\"", "write doc:\"n\" append \"x\"" },
        { "append to doc:\"n\" \"x\"", "write doc:\"n\" append \"x\"" },
        { "add note to a7x2 \"x\"", "annotate [a7x2] \"x\"" },
        { "say \"x\"", "respond \"x\"" },
        { "comment on a7x2 \"x\"", "annotate [a7x2] \"x\"" },
        { "note on a7x2 \"x\"", "annotate [a7x2] \"x\"" },
        { "link a7x2 and b3k9", "link [a7x2] [b3k9]" },
        { "connect a7x2 with doc:\"d\"", "link [a7x2] doc:\"d\"" },
        { "rewrite a7x2 \"x\"", "edit [a7x2] \"x\"" },
        { "replace node a7x2 \"x\"", "edit [a7x2] \"x\"" },
        { "star a7x2", "bookmark [a7x2]" },
        { "remove bookmark from a7x2", "unbookmark [a7x2]" },
        { "archive branch a7x2", "prune [a7x2]" },
        { "bring back a7x2", "restore [a7x2]" },
        { "bring back \"m\"", "recall \"m\"" },
        { "remember a7x2", "pin [a7x2]" },
        { "forget a7x2", "drop [a7x2]" },
        { "drop pin:doc:\"n\"", "drop doc:\"n\"" },
        { "drop stash:\"l\"", "drop \"l\"" },
        { "save \"l\" \"t\"", "stash \"l\" \"t\"" },
        { "set aside \"l\" \"t\"", "stash \"l\" \"t\"" },
        { "history", "memory trace" },
        { "?", "help" },
        { "look up \"q\"", "search \"q\"" },
        { "respond a7x2 “curly”", "respond [a7x2] \"curly\"" },
        { "view a7x2'", "view [a7x2']" },
        { "respond a7x2 \"a\\n- b \\\"c\\\" \\\\\"", "respond [a7x2] \"a\n- b \\\"c\\\" \\\\\"" },
        { "view a7x2, b3k9 and c4m2", "view [a7x2], [b3k9], [c4m2]" },
        { "drop pins a7x2, b3k9", "drop [a7x2], [b3k9]" },
        { "view here", "view here" },
        { "view [here]", "view [here]" },
        { "tree from:[root]", "tree [root]" },
        { "view branch:[here] as:prose", "view branch:[here] as:prose" },
        { "view branch:this as:prose", "view branch:here as:prose" },
        { "go to the parent", "switch parent" },
        { "show my memory", "memory" },
        { "show the trace", "memory trace" },
    };

    for (size_t i = 0; i < COUNT(table); i++)
        CHECK_SV(canonical(table[i].line), sv_of(table[i].means));
}

static void what_does_not_fit_is_refused(void)
{
    static const char *const lines[] = {
        "",
        "frobnicate a7x2",
        "vew a7x2",
        "view",
        "view a1 b2",
        "view a7x2 colour:red",
        "view a7x2 as:poem",
        "list a7x2",
        "respond",
        "respond a7x2",
        "respond a7x2 \"x",
        "tree depth:x",
        "continue n:x",
        "stash \"l\"",
        "link a7x2",
        "link a7x2 b3k9 doc:\"x\"",
        "drop",
        "write doc:\"x\" \"t\"",
        "read",
        "view \"a7x2\"",
        "[view] a7x2",
        "doc:\"x\"",
        "view a7x2 full full",
        "pin a7x2 section:x",
        "drop a7x2 section:x",
        "link a7x2 to b3k9 section:x",
        "link a7x2 to b3k9 node:c4m2",
        "view branch:b3k9 full",
        "view branch:b3k9 with-annotations",
        "view a7x2 as:prose",
        "tree summary from:b3k9",
        "tree summary depth:2",
        "continue with",
        "continue from a7x2 using",
        "respond a7x2 \"\"",
        "respond a7x2 \"x\" as:annotation",
        "annotate a7x2 \" \"",
        "edit a7x2 \"\\n\"",
        "bookmark a7x2 \"\"",
        "write doc:\"x\" append \"\"",
        "stash \"\" \"t\"",
        "stash \"l\" \"\"",
        "read doc:\"x\" lines:5",
        "read doc:\"x\" lines:a-b",
        "prune it",
        "pin memory",
        "switch to trace",
        "prune a7x2 or b3k9",
        "don't prune a7x2",
        "switch to a7x2, b3k9",
        "view a7x2 full:false",
        "respond a7x2 \"one\\ntwo\"",
    };

    for (size_t i = 0; i < COUNT(lines); i++)
        CHECK_SV(canonical(lines[i]), SV("INVALID_SYNTAX"));
}

static void every_example_prints_and_parses_to_the_same(void)
{
    for (size_t i = 0; tool_table[i].name; i++) {
        CHECK(tool_table[i].examples[0] != NULL);
        for (size_t k = 0; tool_table[i].examples[k]; k++) {
            struct call once, again;
            struct err  e;
            struct sb   b = sb_in(&a, 0);
            CHECK(call_parse(sv_of(tool_table[i].examples[k]), &a, &once, &e) == ST_OK);
            CHECK(once.tool == &tool_table[i]);
            call_print(&b, &once);
            CHECK(call_parse(sb_sv(&b), &a, &again, &e) == ST_OK);
            CHECK(call_eq(&once, &again));
        }
    }
}

static void the_table_is_complete(void)
{
    size_t n = 0;

    for (size_t i = 0; tool_table[i].name; i++, n++) {
        bool grouped = false;
        for (size_t k = 0; tool_groups[k]; k++)
            grouped = grouped || strcmp(tool_table[i].group, tool_groups[k]) == 0;
        CHECK(grouped && tool_table[i].summary && tool_table[i].remark && tool_table[i].run &&
              tool_table[i].params);
        CHECK(tool_table[i].syntax[0] && tool_table[i].syntax[TOOL_LINES_MAX - 1] == NULL);
        CHECK(sv_starts(sv_of(tool_table[i].syntax[0]), sv_of(tool_table[i].name)));
        size_t params = 0;
        for (const struct tool_slot *p = tool_table[i].params; p->type; p++)
            params++;
        CHECK(params <= CALL_ARGS_MAX);
    }
    CHECK_INT(n, 32);
    for (size_t i = 0; phrase_synonyms[i].phrase; i++)
        CHECK(phrase_synonyms[i].tool ? tool_find(sv_of(phrase_synonyms[i].tool)) != NULL
                                      : phrase_synonyms[i].hint != NULL);
}

/* Does every way to say `late` begin with a way to say `early`? */
static bool choices_begin(const char *early, const char *late)
{
    struct sv_cut x = { .tail = sv_of(early), .found = true };
    struct sv_cut y = { .tail = sv_of(late), .found = true };

    while (x.found) {
        if (!y.found)
            return false;
        x = sv_cut(x.tail, ' ');
        y = sv_cut(y.tail, ' ');
        struct sv_cut c = { .tail = y.head, .found = true };
        while (c.found) {
            struct sb word = sb_in(&a, 0), all = sb_in(&a, 0);
            c = sv_cut(c.tail, '/');
            sb_addf(&word, "/" SV_FMT "/", SV_ARG(c.head));
            sb_addf(&all, "/" SV_FMT "/", SV_ARG(x.head));
            if (sv_find(sb_sv(&all), sb_sv(&word)) < 0)
                return false;
        }
    }
    return true;
}

/* A phrase that stands behind one it begins with would never be reached. */
static void no_synonym_hides_another(void)
{
    for (size_t i = 0; phrase_synonyms[i].phrase; i++)
        for (size_t k = i + 1; phrase_synonyms[k].phrase; k++) {
            bool begins = choices_begin(phrase_synonyms[i].phrase, phrase_synonyms[k].phrase);
            if (begins && phrase_synonyms[i].next == NEXT_ANY && !phrase_synonyms[i].also)
                printf("# '%s' hides '%s'\n", phrase_synonyms[i].phrase, phrase_synonyms[k].phrase);
            CHECK(!(begins && phrase_synonyms[i].next == NEXT_ANY && !phrase_synonyms[i].also));
        }
}

static void output_is_taken_apart(void)
{
    struct scan s;

    scan_output(
        SV("Prose.\n\n  → view a\n\n→ respond a1 \"one\n→ two\"\n→ think x\ny\n←\nlost\n→ view b"),
        &a, &s);
    CHECK_SV(s.prose, SV("Prose."));
    CHECK_INT(s.n, 3);
    CHECK_INT(s.commands, 2);
    CHECK_SV(s.lines[0].text, SV("view a"));
    CHECK_SV(s.lines[1].text, SV("respond a1 \"one\n→ two\""));
    CHECK(s.lines[2].is_think);
    CHECK_SV(s.lines[2].text, SV("x\ny"));
    CHECK_SV(s.discarded, SV("lost\n→ view b"));
}

static void fences_thoughts_and_ascii_arrows_hold_no_commands(void)
{
    struct scan s;

    scan_output(SV("```sh\n→ prune r001\n```\n-> so it goes\n← stray"), &a, &s);
    CHECK_INT(s.n, 0);
    scan_output(SV("````\n```\n→ prune r001\n```\n````\nend"), &a, &s);
    CHECK_INT(s.n, 0);
    scan_output(SV("→ think\n→ prune r001\n"), &a, &s);
    CHECK_INT(s.n, 2); /* the thought, and that it has no end */
    CHECK(s.lines[1].is_refused);
    CHECK_INT(s.commands, 0);
    scan_output(SV("```\n→ prune r001"), &a, &s); /* never closed: that is the answer */
    CHECK_INT(s.n, 1);
    CHECK(s.lines[0].is_refused);
    CHECK_INT(s.commands, 0);
    scan_output(SV("<thinking>\n→ prune r001\nno end"), &a, &s);
    CHECK(s.n == 1 && s.lines[0].is_refused && strstr(s.lines[0].refusal->text, "</thinking>"));
    scan_output(SV("<thinking>\n→ prune r001\n</thinking>\n```\nno arrow"), &a, &s);
    CHECK_INT(s.n, 0);
    scan_output(SV("→ think a\n←\nProse after a thought counts."), &a, &s);
    CHECK_SV(s.prose, SV("Prose after a thought counts."));
    scan_output(SV("→ view a\r\n→ view b\r\n"), &a, &s);
    CHECK_INT(s.n, 2);
    CHECK_SV(s.lines[0].text, SV("view a"));
}

static void after_a_quotation_that_cannot_be_read_nothing_counts(void)
{
    static const struct {
        const char *output;
        size_t      not_run;
    } table[] = {
        { "→ respond a1 \"open\n→ view b1\n→ view c1", 2 },
        { "→ respond a1 \"open", 0 },
        { "→ respond a1 \"She said \"no\" to him.\"\n→ view b1", 1 },
        { "→ edit a1 \"the \" old house\n→ view b1\nend\"", 1 },
        { "→ respond a1 \"one\" \"two\"\n→ view b1\nprose\n→ view c1", 2 },
        { "→ respond a1 'open\n→ view b1", 1 },
        { "→ respond a1 ```\n→ view b1\n", 1 },
        { "→ annotate a1 «a «b» c\n→ view b1", 1 },
        { "→ quoth \"a \" b\n→ view b1", 1 },
        { "→ don't say \"a \" b\n→ view b1", 1 },
    };
    struct scan s;

    for (size_t i = 0; i < COUNT(table); i++) {
        scan_output(sv_of(table[i].output), &a, &s);
        CHECK_INT(s.commands, 1);
        CHECK_INT(s.n, 1);
        CHECK_INT(s.lines[0].not_run, table[i].not_run);
    }
    scan_output(SV("→ view \"a1\"\n→ respond a1 \"\"\n→ read doc:\"x\" lines:2\n→ view a1"), &a,
                &s);
    CHECK_INT(s.commands, 4); /* other errors do not stop a batch */
}

/* Two megabytes after an open quotation: read once, not once for each line. */
static void long_output_is_read_in_one_pass(void)
{
    struct sb   b = sb_in(&a, 0);
    struct scan s;

    sb_adds(&b, "→ respond a \"open\n");
    for (int i = 0; i < 100000; i++)
        sb_adds(&b, "→ prose that goes on\n");
    scan_output(sb_sv(&b), &a, &s);
    CHECK_INT(s.n, 1);
    CHECK_INT(s.lines[0].not_run, 100000);
    b = sb_in(&a, 0);
    sb_adds(&b, "→ path");
    for (int i = 0; i < 500000; i++)
        sb_adds(&b, " to the");
    scan_output(sb_sv(&b), &a, &s);
    CHECK_INT(s.n, 1);
    CHECK_SV(canonical(s.lines[0].text.s), SV("INVALID_SYNTAX"));
}

static void a_thought_ends_at_its_mark_in_any_line(void)
{
    struct scan s;

    scan_output(SV("→ think idea ←\n→ view a1\n"), &a, &s);
    CHECK_INT(s.n, 2);
    CHECK_SV(s.lines[0].text, SV("idea"));
    CHECK_SV(s.lines[1].text, SV("view a1"));
    scan_output(SV("→ think\none\ntwo ←\n→ view a1"), &a, &s);
    CHECK_INT(s.n, 2);
    CHECK_SV(s.lines[0].text, SV("one\ntwo"));
    scan_output(SV("→ think a ← b\n→ view a1"), &a, &s);
    CHECK_SV(s.lines[0].text, SV("a"));
    CHECK_SV(s.prose, SV("b"));
    CHECK_INT(s.commands, 1);
    scan_output(SV("→ think a ← → prune a1"), &a, &s);
    CHECK_INT(s.commands, 0);
    CHECK(s.n == 2 && s.lines[1].is_refused);
}

static void what_only_looks_like_a_command_is_answered(void)
{
    static const char *const lines[] = { "- → view a7x2",       "* → view a7x2",
                                         "1. → view a7x2",      "2) → view a7x2",
                                         "-> view a7x2",        "=> view a7x2",
                                         "**→ view a7x2**",     "`→ view a7x2`",
                                         "> → view a7x2",       "\xef\xbb\xbf→ view a7x2",
                                         "\xc2\xa0→ view a7x2", "➜ view a7x2",
                                         "- `→ view a7x2`" };
    struct scan              s;

    for (size_t i = 0; i < COUNT(lines); i++) {
        struct sb b = sb_in(&a, 0);
        scan_output(sv_of(lines[i]), &a, &s);
        CHECK_INT(s.commands, 0);
        CHECK_INT(s.n, 1);
        CHECK_SV(s.prose, SV("")); /* there is nothing else in it */
        CHECK(s.n == 1 && s.lines[0].is_refused);
        if (s.n == 1)
            CHECK_SV(sv_of(s.lines[0].refusal->hint), SV("→ view a7x2"));
        sb_addf(&b, "```\n%s\n```", lines[i]);
        scan_output(sb_sv(&b), &a, &s);
        CHECK_INT(s.n, 0); /* silent in a fence */
    }
    scan_output(SV("→ view a1\n- → view b1\n→ view c1"), &a, &s);
    CHECK_INT(s.n, 3);
    CHECK_INT(s.commands, 2);
    scan_output(SV("-> so she left\nA → B\n- one"), &a, &s);
    CHECK_INT(s.n, 0);
    scan_output(SV("- → veiw a7x2"), &a, &s);
    CHECK_INT(s.n, 1);
}

static void blocks_hold_no_commands_and_end(void)
{
    static const char *const outputs[] = {
        "~~~\n→ prune a1\n~~~",         "<pre>\n→ prune a1\n</pre>",
        "<!-- x\n→ prune a1\n-->",      "<thinking>\n→ prune a1\n</thinking>",
        "text <!--\n→ prune a1\n--> x", "<PRE class=\"x\">\n→ prune a1\n</PRE>",
        "```\n~~~\n→ prune a1\n```",    "<think>\n- → prune a1\n</think>",
    };
    struct scan s;

    for (size_t i = 0; i < COUNT(outputs); i++) {
        struct sb b = sb_in(&a, 0);
        scan_output(sv_of(outputs[i]), &a, &s);
        CHECK_INT(s.n, 0);
        sb_addf(&b, "%s\n→ view a1", outputs[i]);
        scan_output(sb_sv(&b), &a, &s);
        CHECK_INT(s.commands, 1);
    }
    scan_output(SV("The `<!--` mark and <pre> in a line\n→ view a1"), &a, &s);
    CHECK_INT(s.commands, 1);
}

static void a_backslash_never_becomes_what_it_was_not(void)
{
    static const struct {
        const char *written, *text;
    } table[] = {
        { "\\nabla f", "\\nabla f" },
        { "the $\\nu$ and x\\neq y", "the $\\nu$ and x\\neq y" },
        { "C:\\new\\notes", "C:\\new\\notes" },
        { "see .\\node", "see .\\node" },
        { "src\\lib\\net", "src\\lib\\net" },
        { "\\alpha, a \\\\ b, \\\\server", "\\alpha, a \\\\ b, \\\\server" },
        { "Yes.\\nNo, that:\\nfirst", "Yes.\nNo, that:\nfirst" },
        { "one\\n\\ntwo", "one\n\ntwo" },
        { "list:\\n- a\\n- b\\n", "list:\n- a\n- b\n" },
        { "src\\\\net", "src\\net" },
        { "a \\\"b\\\"", "a \"b\"" },
        { "ends in \\\\", "ends in \\" },
    };
    struct call c, again;
    struct err  e;

    for (size_t i = 0; i < COUNT(table); i++) {
        struct sb line = sb_in(&a, 0), b = sb_in(&a, 0);
        sb_addf(&line, "respond a7x2 \"%s\"", table[i].written);
        CHECK(call_parse(sb_sv(&line), &a, &c, &e) == ST_OK);
        CHECK_SV(call_text(&c, "text"), sv_of(table[i].text));
        call_print(&b, &c);
        CHECK(call_parse(sb_sv(&b), &a, &again, &e) == ST_OK);
        CHECK(call_eq(&c, &again));
    }
    static const char *const unclear[] = { "one\\ntwo", "src\\net", "one \\nworld",
                                           "\\\\nas\\share" };
    for (size_t i = 0; i < COUNT(unclear); i++) {
        struct sb line = sb_in(&a, 0);
        sb_addf(&line, "respond a7x2 \"%s\"", unclear[i]);
        CHECK(call_parse(sb_sv(&line), &a, &c, &e) == ST_INVALID_SYNTAX);
        CHECK(strstr(e.hint, "line break") != NULL);
    }
}

static void the_hint_shows_the_form_that_was_meant(void)
{
    static const struct {
        const char *line, *hint;
    } table[] = {
        { "write doc:\"x\" replace:y", "→ write doc:\"name\" replace:SECTION \"text\"" },
        { "write doc:\"x\" at:start", "→ write doc:\"name\" at:start|end|LINE|SECTION \"text\"" },
        { "read doc:\"x\" lines:5", "→ read doc:\"name\" lines:A-B" },
        { "read doc:\"x\" section:a lines:1-2 foo", "→ read doc:\"name\" lines:A-B" },
        { "view branch:b3k9 as:poem", "→ view branch:ID as:prose" },
        { "stash \"x\" summary-of:a", "→ stash \"label\" summary-of:A-B" },
        { "tree depth:x", "→ tree from:ID depth:N" },
        { "drop stash:\"a\" foo:b", "→ drop stash:\"label\"" },
        { "continue from a7x2 tokens:x", "→ continue from ID n:K tokens:M" },
        { "link a7x2 to tree:\"t\" node:\"x y\"", "→ link ID to tree:\"name\" node:ID" },
        { "delete a7x2", "→ prune ID hides a node" },
    };

    for (size_t i = 0; i < COUNT(table); i++) {
        struct call c;
        struct err  e = { 0 };
        CHECK(call_parse(sv_of(table[i].line), &a, &c, &e) == ST_INVALID_SYNTAX);
        CHECK_SV(sv_first(sv_of(e.hint), strlen(table[i].hint)), sv_of(table[i].hint));
    }
}

static void a_thought_is_one_in_any_case(void)
{
    static const char *const outputs[] = { "→ Think\n→ prune r001\n←", "→ think:\n→ prune r001\n←",
                                           "→ REFLECT on\n→ prune r001\n←",
                                           "→ think”x\n→ prune r001\n←" };
    struct scan              s;

    for (size_t i = 0; i < COUNT(outputs); i++) {
        scan_output(sv_of(outputs[i]), &a, &s);
        CHECK_INT(s.n, 1);
        CHECK_INT(s.commands, 0);
    }
    CHECK_SV(canonical("thinking a7x2"), SV("INVALID_SYNTAX"));
    CHECK_SV(canonical("think \"of\" it"), SV("think \"of\" it"));
}

static void backticks_within_a_line_open_no_fence(void)
{
    struct scan s;

    scan_output(SV("```code``` in a line\n→ view a7x2\n"), &a, &s);
    CHECK_INT(s.commands, 1);
}

TAP_MAIN(T(many_forms_mean_the_same), T(what_does_not_fit_is_refused),
         T(every_example_prints_and_parses_to_the_same), T(the_table_is_complete),
         T(no_synonym_hides_another), T(output_is_taken_apart),
         T(fences_thoughts_and_ascii_arrows_hold_no_commands),
         T(after_a_quotation_that_cannot_be_read_nothing_counts),
         T(long_output_is_read_in_one_pass), T(a_thought_ends_at_its_mark_in_any_line),
         T(what_only_looks_like_a_command_is_answered), T(blocks_hold_no_commands_and_end),
         T(a_backslash_never_becomes_what_it_was_not), T(the_hint_shows_the_form_that_was_meant),
         T(backticks_within_a_line_open_no_fence), T(a_thought_is_one_in_any_case), )

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
        { "respond a7x2 \"one\r\ntwo\"", "respond [a7x2] \"one\\ntwo\"" },
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
        { "respond a7x2 \"a\\nb \\\"c\\\" \\\\\"", "respond [a7x2] \"a\\nb \\\"c\\\" \\\\\"" },
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
    };

    for (size_t i = 0; i < COUNT(lines); i++)
        CHECK_SV(canonical(lines[i]), SV("INVALID_SYNTAX"));
}

static void every_example_prints_and_parses_to_the_same(void)
{
    for (size_t i = 0; tools[i].name; i++) {
        CHECK(tools[i].examples[0] != NULL);
        for (size_t k = 0; tools[i].examples[k]; k++) {
            struct call once, again;
            struct err  e;
            struct sb   b = sb_in(&a, 0);
            CHECK(call_parse(sv_of(tools[i].examples[k]), &a, &once, &e) == ST_OK);
            CHECK(once.tool == &tools[i]);
            call_print(&b, &once);
            CHECK(call_parse(sb_sv(&b), &a, &again, &e) == ST_OK);
            CHECK(call_eq(&once, &again));
        }
    }
}

static void the_table_is_complete(void)
{
    size_t n = 0;

    for (size_t i = 0; tools[i].name; i++, n++) {
        bool grouped = false;
        for (size_t k = 0; tool_groups[k]; k++)
            grouped = grouped || strcmp(tools[i].group, tool_groups[k]) == 0;
        CHECK(grouped && tools[i].summary && tools[i].remark && tools[i].run && tools[i].params);
        CHECK(tools[i].syntax[0] && tools[i].syntax[TOOL_LINES_MAX - 1] == NULL);
        CHECK(sv_starts(sv_of(tools[i].syntax[0]), sv_of(tools[i].name)));
        size_t params = 0;
        for (const struct param *p = tools[i].params; p->type; p++)
            params++;
        CHECK(params <= CALL_ARGS_MAX);
    }
    CHECK_INT(n, 32);
    for (size_t i = 0; synonyms[i].phrase; i++)
        CHECK(tool_find(sv_of(synonyms[i].tool)) != NULL);
}

/* A phrase that stands behind one it begins with would never be reached. */
static void no_synonym_hides_another(void)
{
    for (size_t i = 0; synonyms[i].phrase; i++)
        for (size_t k = i + 1; synonyms[k].phrase; k++) {
            struct sv early = sv_of(synonyms[i].phrase), late = sv_of(synonyms[k].phrase);
            bool begins = sv_starts(late, early) && (late.n == early.n || late.s[early.n] == ' ');
            CHECK(!(begins && synonyms[i].next == NEXT_ANY));
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

    scan_output(SV("```sh\n→ prune r001\n```\n-> view a\n← stray"), &a, &s);
    CHECK_INT(s.n, 0);
    scan_output(SV("````\n```\n→ prune r001\n```\n````\nend"), &a, &s);
    CHECK_INT(s.n, 0);
    scan_output(SV("→ think\n→ prune r001\n"), &a, &s);
    CHECK_INT(s.n, 1);
    CHECK_INT(s.commands, 0);
    scan_output(SV("```\n→ prune r001"), &a, &s); /* never closed */
    CHECK_INT(s.n, 0);
    scan_output(SV("→ think a\n←\nProse after a thought counts."), &a, &s);
    CHECK_SV(s.prose, SV("Prose after a thought counts."));
    scan_output(SV("→ view a\r\n→ view b\r\n"), &a, &s);
    CHECK_INT(s.n, 2);
    CHECK_SV(s.lines[0].text, SV("view a"));
}

static void a_quotation_that_never_closes_takes_nothing_with_it(void)
{
    struct scan s;

    scan_output(SV("→ respond a \"open\n→ view b\n→ view c"), &a, &s);
    CHECK_INT(s.n, 3);
    CHECK_SV(s.lines[1].text, SV("view b"));
}

/* Two megabytes after an open quotation: read once, not once for each line. Each line alone opens
 * a quotation too, and none of them is closed. */
static void long_output_is_read_in_one_pass(void)
{
    struct sb   b = sb_in(&a, 0);
    struct scan s;

    sb_adds(&b, "→ respond a \"open\n");
    for (int i = 0; i < 100000; i++)
        sb_adds(&b, "prose that goes on\n");
    scan_output(sb_sv(&b), &a, &s);
    CHECK_INT(s.n, 1);
    b = sb_in(&a, 0);
    for (int i = 0; i < 100000; i++)
        sb_adds(&b, "→ respond a \\\"open\n");
    scan_output(sb_sv(&b), &a, &s);
    CHECK_INT(s.n, 100000);
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
         T(a_quotation_that_never_closes_takes_nothing_with_it), T(long_output_is_read_in_one_pass),
         T(backticks_within_a_line_open_no_fence), T(a_thought_is_one_in_any_case), )

/* The table of tools. Parser, `→ help`, the manual page, MCP and HTTP are all made from it. */
#ifndef HEDDLE_TOOLS_H
#define HEDDLE_TOOLS_H

#include "command/grammar.h"
#include "loom/agent.h"

struct session;
struct result;

enum { TOOL_LINES_MAX = 8 };
struct tool {
    const char             *name;
    enum permission         needs;
    const char             *group; /* "Navigation": how help sorts them */
    const char             *summary;
    const char             *syntax[TOOL_LINES_MAX]; /* forms, without the arrow; ends with NULL */
    const char             *remark;
    const char             *examples[TOOL_LINES_MAX]; /* run by the tests; ends with NULL */
    const struct tool_slot *params;                   /* ends with SLOT_END */
    const char             *little;                   /* words that may stand anywhere: "to|and" */
    bool                    writes;                   /* changes the tree or a document */
    enum status (*run)(struct session *s, const struct call *c, struct result *r, struct err *e);
};

extern const struct tool tool_table[];  /* ends with a NULL name */
extern const char *const tool_groups[]; /* in the order of help; ends with NULL */

const struct tool *tool_find(struct sv name); /* NULL when there is none */

/* Does it change nothing, neither the tree nor a document nor the agent's place or memory? The
 * trace that every command leaves does not count. */
bool tool_only_looks(const struct tool *t);

/* What must follow a phrase: anything; a node or a place; what can only be an id; quoted text; a
 * document; a number; nothing. */
enum next_kind { NEXT_ANY, NEXT_ID, NEXT_SURE_ID, NEXT_TEXT, NEXT_DOC, NEXT_COUNT, NEXT_NOTHING };

/* Phrases that stand for a tool. A word of a phrase may be a choice, "show/view tree"; fillers
 * between its words are skipped. A row counts only when what follows is of the kind `next`, and
 * when one of the words `also` stands somewhere behind it ("doc": when a document does). `with` is
 * put in front of the arguments, as if it had been written. Without a tool the phrase is refused
 * with the hint. */
struct synonym {
    const char    *phrase, *tool;
    enum next_kind next;
    const char    *with, *also, *hint;
};
extern const struct synonym
    phrase_synonyms[]; /* the first that fits counts; ends with a NULL phrase */

/* phrases.c: words that stand before a command ("let me", "can you"), that ask or hedge ("maybe"),
 * that end a question ("right"), that mean nothing ("the"), that make a
 * command doubtful ("not"), places ("here"), words that are not a node ("it"), the beginnings of
 * sentences that are not a text, numbers. Lists are "a|b=meant". */
extern const char *const phrase_lead_ins[]; /* ends with NULL */
extern const char *const phrase_polite[];   /* ends with NULL; before tools that only look */
extern const char *const phrase_hedges[];   /* ends with NULL */
extern const char *const phrase_tags;
extern const char *const phrase_questions[]; /* ends with NULL; before tools that only look */
extern const char *const phrase_acting;      /* tools that do not write and yet do something */
extern const char *const phrase_fillers,
    *const phrase_doubts, *const phrase_places, *const phrase_vague, *const phrase_not_a_text,
                                                                         *const phrase_numbers;

/* `→ help`, `→ help TOOL`, and the manual page of the language (mdoc). */
void tools_help(struct sb *b, unsigned permissions);
void tool_help(struct sb *b, const struct tool *t);
void tools_manual(struct sb *b);

#endif

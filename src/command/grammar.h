/* The → language: from a line to a call of a tool, and back.
 *
 * A line is a verb and its arguments. Verbs have phrase_synonyms (phrases.c), politeness before the
 * verb, fillers ("please", "the") and the connecting words of a tool ("to", "from") are skipped,
 * and what is left must fit the tool's parameters exactly: nothing is guessed. What does not fit is
 * ST_INVALID_SYNTAX with a hint that shows the form that comes nearest, and so is a line with a
 * word of doubt in it ("not", "or", "if"). A line that asks or hedges (doubt.h) calls only tools
 * that look; for the others the answer is the line that would do it.
 *
 *     struct call c;
 *     if (call_parse(SV("show me node a7x2"), a, &c, e)) return err_code(e);
 *     c.tool->name                        "view"
 *     call_text(&c, "id")                 "a7x2"
 *     call_print(&b, &c)                  view [a7x2]
 *
 * Literals: ids bare, in brackets or backticks; here, parent and root as places; key:value,
 * key=value, key value; quotations (lexer.h, escape.h), over several lines if need be. */
#ifndef HEDDLE_GRAMMAR_H
#define HEDDLE_GRAMMAR_H

#include "base/sb.h"

enum tool_slot_type {
    SLOT_END,
    SLOT_ID,    /* a node */
    SLOT_TEXT,  /* quoted text */
    SLOT_WORD,  /* one of `words` (any word when NULL) */
    SLOT_COUNT, /* a whole number */
    SLOT_REAL,  /* a number such as 1.1 */
    SLOT_RANGE, /* A-B */
    SLOT_LINES, /* A-B, both whole numbers */
    SLOT_DOC,   /* doc:"name" */
    SLOT_FLAG,  /* its own name as a bare word, or one of `words` */
};

enum param_flags {
    SLOT_BARE = 1,         /* may stand without its key */
    SLOT_KEYED = 2,        /* may be given as name:value */
    SLOT_REQUIRED = 4,     /* must be given */
    SLOT_ONE = 8,          /* exactly one of the parameters with this flag must be given */
    PARAM_MAYBE_ONE = 16,  /* at most one of those */
    SLOT_FILLED = 32,      /* its text must not be blank */
    PARAM_OF_ID = 64,      /* only together with the parameter `id`, */
    PARAM_OF_BRANCH = 128, /* or `branch`, */
    PARAM_OF_DOC = 256,    /* or `doc`, */
    PARAM_OF_TREE = 512,   /* or `tree` */
    SLOT_ALONE = 1024,     /* with no other parameter */
    SLOT_MANY = 2048,      /* may be given several times, as a list: a7x2, b3k9 and c4m2 */
    SLOT_LOOSE = 4096,     /* its text may be one word without quotes */
    SLOT_OPEN = 8192,      /* its text may be a few words without quotes */
    SLOT_SILENT = 16384,   /* may be given but has no effect: path from root to a7x2 */
};

struct tool_slot {
    enum tool_slot_type type;
    const char         *name;
    unsigned            flags;
    /* "a|b|c", or "a|b=a|c=→ other": b is another word for a, and for c the hint names a tool */
    const char *words;
    const char *after; /* "using|with": a value that follows one of these words is meant for it */
    const char *keys;  /* "limit|count": other names of its key */
};

struct tool;

/* More words outside quotations than any command has: a text without quotes, or one whose quotes
 * went wrong. A limit is needed because the cost of reading a line grows with their square. */
enum { CALL_ARGS_MAX = 12, CALL_WORDS_MAX = 100 };
struct call_arg {
    const struct tool_slot *param;
    struct sv               text; /* a place has an @ before it: @here, @parent, @root */
};
struct call {
    const struct tool *tool;
    struct sv          line; /* as it was issued, without the arrow */
    struct call_arg    args[CALL_ARGS_MAX];
    size_t             n;
};

/* `line` is what follows the arrow. The call's texts live in `a` or in the line. On failure
 * out->tool is the tool that was meant, or NULL. The reason LEX_QUOTES: it failed because it is
 * unclear which words are quoted, so that what follows the line may belong to a text. */
enum status call_parse(struct sv line, struct arena *a, struct call *out, struct err *e) MUST_USE;

/* The reason of a line that is understood and does not run, since it leaves open whether it should.
 */
#define CALL_DOUBT "doubt"

/* The same for a line that was run before: what it says, doubtful or not. */
enum status call_meant(struct sv line, struct arena *a, struct call *out, struct err *e) MUST_USE;

/* Is a command a thought? Then *text is all that follows its word, quotes and all: a thought has no
 * arguments. */
bool call_is_think(struct sv command, struct sv *text);

/* One canonical form, without the arrow; call_parse() reads it back to the same call. */
void call_print(struct sb *b, const struct call *c);

/* How many commands the line stands for: one for each of a list of nodes, otherwise one. The i-th
 * of them is a call of its own. */
size_t      call_each_count(const struct call *c);
struct call call_each(const struct call *c, size_t i);

/* The place that a value of a node stands for: "here", "parent", "root"; absent for an id. */
struct sv call_place(struct sv id);

/* Does the call act where the agent stands, because no node is named or by a place? */
bool call_uses_position(const struct call *c);

/* The value of a parameter; absent when it was not given. */
struct sv call_text(const struct call *c, const char *param);
bool      call_has(const struct call *c, const char *param);
int64_t   call_count(const struct call *c, const char *param, int64_t otherwise);

bool call_eq(const struct call *a, const struct call *b);

#endif

/* The table of goals. tests/e2e/start.sh runs every step. */
#include "api/start/goal.h"

/* clang-format off */
#define GOAL_TABLE(X) \
    X("agents", "share work between agents", "spawn, context, list", \
      "heddle objective create 'Ship the parser' --id parser", \
      "heddle spawn --id lexer --intent 'Write the lexer' --objective parser --no-run", \
      "heddle context lexer --task 'Begin with numbers.'", \
      "`heddle init --agents-md` explains it to agents in AGENTS.md.") \
    X("app", "log an agent", "log, project, run", \
      "echo '{\"kind\":\"ai_message\",\"payload\":{\"role\":\"user\",\"content\":\"Hello.\"}}' | heddle log append main", \
      "heddle project main --format anthropic", \
      "heddle run start main --text 'What is the time?'", \
      "`heddle help run` tells how a run goes on; `heddle api schema` lists the same for programs.") \
    X("story", "explore a tree", "say, do, loom, tree", \
      "heddle say story 'The house stood empty at the end of the lane.'", \
      "heddle agent add Ana --kind model --model offline:echo --permissions loom_aware,loom_write", \
      "printf '→ respond \"She had not come back.\"\\n→ tree\\n' | heddle do story --agent Ana", \
      "`heddle loom story` is the same at a terminal; offline:echo stands for a real model.") \
    X("chat", "pack a project", "payload, tokens, memo", \
      "heddle memo add 'Answers are short.'", \
      "heddle payload . --output input.md", \
      "heddle tokens input.md", \
      "Paste input.md into a chat; `heddle payload --budget N` makes it fit.")
/* clang-format on */

const struct goal goal_table[] = {
#define X(name, what, words, one, two, three, more)                                                \
    { name, what, words, { one, two, three }, more },
    GOAL_TABLE(X)
#undef X
        { 0 },
};

const char *const goal_names[] = {
#define X(name, ...) name,
    GOAL_TABLE(X)
#undef X
        NULL,
};

const struct goal *goal_find(struct sv name)
{
    for (const struct goal *g = goal_table; g->name; g++)
        if (sv_is(name, g->name))
            return g;
    return NULL;
}

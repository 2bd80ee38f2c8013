/* The table of tools, with their parameters, and `→ help`. */
#include "command/tools.h"

#include "command/run.h"
#include "command/words.h"

#include <string.h>

#define BARE SLOT_BARE
#define KEYED SLOT_KEYED
#define MUST SLOT_REQUIRED
#define ONE SLOT_ONE
#define MAYBE PARAM_MAYBE_ONE
#define FILLED SLOT_FILLED
#define MANY SLOT_MANY
#define LOOSE SLOT_LOOSE
#define OPEN SLOT_OPEN

/* clang-format off */
#define PARAMS(name, ...) static const struct tool_slot name[] = { __VA_ARGS__, { .type = SLOT_END } }

PARAMS(view_params,
    { SLOT_ID,    "id",               BARE | ONE | MANY, NULL, NULL, "node" },
    { SLOT_ID,    "branch",           KEYED | ONE, NULL, NULL, NULL },
    { SLOT_COUNT, "result",           KEYED | ONE, NULL, NULL, NULL },
    { SLOT_FLAG,  "full",             PARAM_OF_ID, "fully|whole|entire|complete|all|entirety|verbatim|everything|detail", NULL, NULL },
    { SLOT_FLAG,  "with-annotations", PARAM_OF_ID, "annotations|notes", NULL, NULL },
    { SLOT_LINES, "lines",            KEYED, NULL, NULL, NULL },
    { SLOT_WORD,  "as",               KEYED | PARAM_OF_BRANCH, "prose|nodes", "in", NULL });
PARAMS(list_params,
    { SLOT_ID,    "id",   BARE | MAYBE, NULL, NULL, "node" },
    { SLOT_DOC,   "doc",  KEYED | MAYBE, NULL, NULL, "document" },
    { SLOT_WORD,  "kind", BARE | MUST,
      "continuations|continuation=continuations|children=continuations|branches=continuations|"
      "replies=continuations|annotations|annotation=annotations|notes=annotations|comments=annotations|"
      "links|link=links|references=links|versions|edits=versions|bookmarks|excluded|"
      "pruned|prunes=pruned|hidden=pruned|agents|docs|documents=docs|trees|threads=trees", NULL, NULL });
PARAMS(tree_params,
    { SLOT_ID,    "from",    BARE | KEYED, NULL, "from|below|under|at|of", NULL },
    { SLOT_COUNT, "depth",   KEYED, NULL, NULL, "levels|max-depth" },
    { SLOT_FLAG,  "summary", SLOT_ALONE, NULL, NULL, NULL });
PARAMS(switch_params,
    { SLOT_ID,    "id",    BARE | MUST, NULL, NULL, "node|to" },
    { SLOT_FLAG,  "carry", MAYBE, "carrying", NULL, NULL },
    { SLOT_TEXT,  "tree",  KEYED | MAYBE, NULL, NULL, NULL });
PARAMS(path_params,
    { SLOT_ID,    "id",   BARE, NULL, "to|of", "node|to" },
    { SLOT_WORD,  "from", KEYED | SLOT_SILENT, "root|start=root", NULL, NULL });
PARAMS(continue_params,
    { SLOT_ID,    "from",   BARE | KEYED, NULL, NULL, "id" },
    { SLOT_COUNT, "n",      BARE | KEYED, NULL, NULL, "count" },
    { SLOT_COUNT, "tokens", KEYED, NULL, NULL, "max-tokens" },
    { SLOT_REAL,  "temperature", KEYED, NULL, NULL, "temp" },
    { SLOT_REAL,  "top_p",  KEYED, NULL, NULL, "top-p|topp" },
    { SLOT_COUNT, "seed",   KEYED, NULL, NULL, NULL },
    { SLOT_TEXT,  "stop",   KEYED | FILLED | LOOSE, NULL, NULL, NULL },
    { SLOT_WORD,  "effort", KEYED, "none|minimal|low|medium|high|xhigh|max", NULL, NULL },
    { SLOT_TEXT,  "agent",  KEYED | LOOSE, NULL, "using|with", "model" });
PARAMS(respond_params,
    { SLOT_ID,    "id",   BARE, NULL, NULL, "node|to" },
    { SLOT_TEXT,  "text", BARE | MUST | FILLED, NULL, NULL, "content" },
    { SLOT_WORD,  "as",   KEYED, "continuation|reply=continuation|response=continuation|answer=continuation|child=continuation|context|instruction|annotation=→ annotate ID \"text\"", NULL, NULL });
PARAMS(annotate_params,
    { SLOT_ID,    "id",   BARE | MUST, NULL, NULL, "node|on|to" },
    { SLOT_TEXT,  "text", BARE | MUST | FILLED, NULL, NULL, "note|content|annotation|comment" });
PARAMS(edit_params,
    { SLOT_ID,    "id",   BARE | MUST, NULL, NULL, "node" },
    { SLOT_TEXT,  "text", BARE | MUST | FILLED, NULL, NULL, "content|to|with" });
PARAMS(link_params,
    { SLOT_ID,    "id",      BARE | MUST, NULL, NULL, "from|source" },
    { SLOT_ID,    "target",  BARE | ONE, NULL, NULL, "to" },
    { SLOT_DOC,   "doc",     KEYED | ONE, NULL, NULL, "document" },
    { SLOT_TEXT,  "tree",    KEYED | ONE, NULL, NULL, NULL },
    { SLOT_ID,    "node",    KEYED | PARAM_OF_TREE, NULL, NULL, NULL },
    { SLOT_TEXT,  "section", KEYED | PARAM_OF_DOC | LOOSE, NULL, NULL, NULL },
    { SLOT_TEXT,  "note",    KEYED, NULL, NULL, "label" });
PARAMS(unlink_params,
    { SLOT_ID,    "id",      BARE | MUST, NULL, NULL, "source" },
    { SLOT_ID,    "target",  BARE | ONE, NULL, NULL, "to" },
    { SLOT_DOC,   "doc",     KEYED | ONE, NULL, NULL, "document" },
    { SLOT_TEXT,  "tree",    KEYED | ONE, NULL, NULL, NULL },
    { SLOT_ID,    "node",    KEYED | PARAM_OF_TREE, NULL, NULL, NULL },
    { SLOT_TEXT,  "section", KEYED | PARAM_OF_DOC | LOOSE, NULL, NULL, NULL });
PARAMS(bookmark_params,
    { SLOT_ID,    "id",    BARE | MUST | MANY, NULL, NULL, "node" },
    { SLOT_TEXT,  "label", BARE | FILLED, NULL, "as|called|named|labeled|labelled|under", "name" });
PARAMS(id_params,
    { SLOT_ID,    "id", BARE | MUST | MANY, NULL, NULL, "node|branch" });
PARAMS(read_params,
    { SLOT_DOC,   "doc",     BARE | KEYED | MUST | OPEN, NULL, NULL, "document|file" },
    { SLOT_FLAG,  "summary", MAYBE, NULL, NULL, NULL },
    { SLOT_LINES, "lines",   KEYED | MAYBE, NULL, NULL, NULL },
    { SLOT_TEXT,  "section", KEYED | MAYBE | LOOSE, NULL, NULL, NULL });
PARAMS(write_params,
    { SLOT_DOC,   "doc",     KEYED | MUST, NULL, NULL, "document|file" },
    { SLOT_FLAG,  "append",  ONE, "end", NULL, NULL },
    { SLOT_FLAG,  "create",  ONE, NULL, NULL, NULL },
    { SLOT_TEXT,  "at",      KEYED | ONE | LOOSE, NULL, NULL, NULL },
    { SLOT_TEXT,  "replace", KEYED | ONE | LOOSE, NULL, NULL, NULL },
    { SLOT_TEXT,  "text",    BARE | MUST | FILLED, NULL, NULL, "content" });
PARAMS(pin_params,
    { SLOT_ID,    "id",      BARE | ONE | MANY, NULL, NULL, "node" },
    { SLOT_FLAG,  "that",    ONE, "result|output", NULL, NULL },
    { SLOT_COUNT, "result",  KEYED | ONE, NULL, NULL, NULL },
    { SLOT_DOC,   "doc",     BARE | KEYED | ONE, NULL, NULL, "document" },
    { SLOT_TEXT,  "section", KEYED | PARAM_OF_DOC | LOOSE, NULL, NULL, NULL });
PARAMS(stash_params,
    { SLOT_TEXT,  "label",      BARE | MUST | FILLED | LOOSE, NULL, "as|under|called|named", NULL },
    { SLOT_TEXT,  "text",       BARE | ONE | FILLED, NULL, NULL, NULL },
    { SLOT_ID,    "content-of", BARE | KEYED | ONE, NULL, "from", "content" },
    { SLOT_RANGE, "summary-of", KEYED | ONE, NULL, NULL, "summary" });
PARAMS(recall_params,
    { SLOT_TEXT,  "label", BARE | MUST | OPEN, NULL, NULL, "stash" },
    { SLOT_LINES, "lines", KEYED, NULL, NULL, NULL });
PARAMS(drop_params,
    { SLOT_ID,    "pin",     BARE | KEYED | ONE | MANY, NULL, NULL, "pins" },
    { SLOT_FLAG,  "that",    ONE, "result|output", NULL, NULL },
    { SLOT_COUNT, "result",  KEYED | ONE, NULL, NULL, NULL },
    { SLOT_DOC,   "doc",     KEYED | ONE, NULL, NULL, "document" },
    { SLOT_TEXT,  "section", KEYED | PARAM_OF_DOC | LOOSE, NULL, NULL, NULL },
    { SLOT_TEXT,  "stash",   BARE | KEYED | ONE | LOOSE, NULL, NULL, NULL });
PARAMS(memory_params,
    { SLOT_FLAG,  "trace",   MAYBE, "history|errors", NULL, NULL },
    { SLOT_FLAG,  "stashed", MAYBE, "stashes", NULL, NULL },
    { SLOT_FLAG,  "results", MAYBE, "result", NULL, NULL });
PARAMS(help_params,
    { SLOT_WORD,  "tool", BARE, NULL, NULL, "command" });
PARAMS(think_params,
    { SLOT_TEXT,  "text", BARE, NULL, NULL, NULL });
PARAMS(search_params,
    { SLOT_TEXT,  "query",   BARE | MUST, NULL, NULL, NULL },
    { SLOT_WORD,  "depth",   KEYED, "basic|deep", NULL, NULL },
    { SLOT_WORD,  "topic",   KEYED, "general|news", NULL, NULL },
    { SLOT_COUNT, "max",     KEYED, NULL, NULL, "limit" },
    { SLOT_TEXT,  "include", KEYED, NULL, NULL, NULL },
    { SLOT_TEXT,  "exclude", KEYED, NULL, NULL, NULL });
PARAMS(find_params,
    { SLOT_TEXT,  "query", BARE | MUST | OPEN, NULL, NULL, "text" },
    { SLOT_COUNT, "max",   KEYED, NULL, NULL, "limit" });
PARAMS(diff_params,
    { SLOT_ID,    "a", BARE | MUST, NULL, NULL, NULL },
    { SLOT_ID,    "b", BARE | MUST, NULL, NULL, NULL });
PARAMS(changes_params,
    { SLOT_WORD,  "since", KEYED, NULL, NULL, NULL });
static const struct tool_slot no_params[] = { { .type = SLOT_END } };

const char *const tool_groups[] = { "Navigation", "Content", "Documents", "Memory", "Meta", NULL };

/* The order is that of help. Examples run against the tree of tests/spec/loom/fixture. */
const struct tool tool_table[] = {
    { "view", PERM_loom_aware, "Navigation", "Inspect a node's content and metadata",
      { "view ID", "view ID full", "view ID lines:A-B", "view ID with-annotations", "view branch:ID as:prose",
        "view branch:ID as:nodes", "view result:N lines:A-B" },
      "Shows a summary unless full is asked for; branch: shows the path from the root to the node. lines: shows a part of "
      "a long text; a line of more than 400 bytes counts as several. result: shows what a command of yours showed, by the "
      "number that a shortened result names.",
      { "view a7x2", "view a7x2 full with-annotations", "view branch:b3k9 as:prose", "view branch:b3k9 as:nodes" },
      view_params, "in|and|with|of|content|contents|text|including|say|along|plus|item|details", false, run_view },
    { "list", PERM_loom_aware, "Navigation", "List what is attached to a node, or what there is",
      { "list ID continuations|annotations|links", "list ID versions", "list doc:\"name\" links",
        "list bookmarks|excluded|pruned", "list agents|docs|trees" },
      "Continuations are listed in the order in which they were made. docs needs doc_read.",
      { "list a7x2 continuations", "list a7x2 annotations", "list a7x2 links", "list doc:\"character notes\" links",
        "list versions a7x2", "list bookmarks", "list docs" },
      list_params, "of|on|for|from|to|all|any|at|available|are|there|have|linked|connected", false, run_list },
    { "tree", PERM_loom_aware, "Navigation", "Draw the tree around a node",
      { "tree", "tree from:ID depth:N", "tree summary" },
      "Draws 5 levels below the current position unless told otherwise.",
      { "tree", "tree from:r001 depth:2", "tree summary" },
      tree_params, "of|at|to|with|in|rooted|structure|below|under|from|whole|map|starting|now", false, run_tree },
    { "switch", PERM_loom_aware, "Navigation", "Move to another node",
      { "switch to ID", "switch to ID carry", "switch to ID in tree:\"name\"" },
      "Moves only you; a node of another tree needs tree:. carry adds a summary of the branch that you leave behind ID, "
      "and moves you to it (needs loom_write).",
      { "switch to b3k9", "switch to c4m2 carry" },
      switch_params, "to|in|into|position|back|over|up|branch|at", false, run_switch },
    { "path", PERM_loom_aware, "Navigation", "Show the nodes from the root to a node",
      { "path", "path ID" },
      "Shows the path to the current position when no node is named.",
      { "path", "path f7q8" },
      path_params, "to|of|for", false, run_path },
    { "diff", PERM_loom_aware, "Navigation", "Compare two nodes line by line",
      { "diff A B" },
      "Useful for siblings and for versions of one node.",
      { "diff b3k9 c4m2" },
      diff_params, "and|with|to|between|vs|versus|against|from|differ|of", false, run_diff },
    { "find", PERM_loom_aware, "Navigation", "Find nodes of this tree by their words",
      { "find \"text\"", "find \"text\" max:N" },
      "Every word must occur; words in single quotes are taken as a phrase. Shows 10 nodes unless told otherwise.",
      { "find \"childhood\"" },
      find_params, "for|in|tree|about|containing|contain|with|that|mention|mentions|mentioning|all|this|of|any|every|where|occurs|mention|word|words|phrase", false, run_find },
    { "changes", PERM_loom_aware, "Navigation", "Show what others did since your last turn",
      { "changes since:turn", "changes since:SEQ" },
      "Lists nodes, edits, annotations and marks made by others, oldest first.",
      { "changes since:turn" },
      changes_params, "in|tree|last|made|are|there", false, run_changes },

    { "respond", PERM_loom_write, "Content", "Add a node of your own",
      { "respond ID \"content\"", "respond ID \"content\" as:continuation|context|instruction" },
      "Moves you to the new node. Without ID it follows your current position.",
      { "respond a7x2 \"Try the mother.\"", "respond d5n7 \"Keep it short.\" as:instruction" },
      respond_params, "to|with|at|under|saying|says|that", true, run_respond },
    { "annotate", PERM_loom_write, "Content", "Attach a note to a node",
      { "annotate ID \"text\"" },
      "Annotations are not part of the conversation that subject models see.",
      { "annotate a7x2 \"tone shifts\"" },
      annotate_params, "on|to|with|saying|says|that", true, run_annotate },
    { "link", PERM_loom_write, "Content", "Link a node to a node, a document or a tree",
      { "link ID to ID", "link ID to doc:\"name\" section:ID note:\"text\"", "link ID to tree:\"name\" node:ID" },
      "Links are listed from both ends.",
      { "link b3k9 to c4m2 note:\"contrast\"", "link a7x2 to doc:\"character notes\" note:\"src\"" },
      link_params, "to|and|with|in|between|→|together", true, run_link },
    { "unannotate", PERM_loom_write, "Content", "Take away a note",
      { "unannotate ann-N" },
      "Your own, or anybody's for a person. The log keeps it.",
      { "unannotate ann-1" },
      id_params, "from", true, run_unannotate },
    { "unlink", PERM_loom_write, "Content", "Take away a link",
      { "unlink ID from ID", "unlink ID from doc:\"name\" section:ID", "unlink ID from tree:\"name\" node:ID" },
      "It goes from both ends.",
      { "unlink a7x2 from doc:\"character notes\"" },
      unlink_params, "from|to|and|with|in|between", true, run_unlink },
    { "edit", PERM_loom_write, "Content", "Rewrite a node",
      { "edit ID \"new content\"" },
      "In dialogue mode a branch is made beside the node; in buffer mode a version takes its place.",
      { "edit b3k9 \"A new beginning.\"" },
      edit_params, "to|with|as|say|text|content|of|so|it|reads|new", true, run_edit },
    { "bookmark", PERM_loom_write, "Content", "Bookmark a node",
      { "bookmark ID", "bookmark ID \"label\"" },
      "Bookmarking again replaces the label.",
      { "bookmark b3k9 \"key\"" },
      bookmark_params, "as|with|on|to", true, run_bookmark },
    { "unbookmark", PERM_loom_write, "Content", "Take a bookmark away",
      { "unbookmark ID" },
      "The label goes with it.",
      { "unbookmark b3k9" },
      id_params, "from|on|off|of", true, run_unbookmark },
    { "prune", PERM_loom_write, "Content", "Hide a node and everything below it",
      { "prune ID" },
      "Nothing is deleted: restore brings it back.",
      { "prune d5n7" },
      id_params, "branch|at|away|subtree", true, run_prune },
    { "restore", PERM_loom_write, "Content", "Bring back what a prune has hidden",
      { "restore ID" },
      "Restores what this prune hid; prunes made below it stay.",
      { "restore d5n7" },
      id_params, "branch|back|pruned", true, run_restore },
    { "exclude", PERM_loom_write, "Content", "Leave a node out of what models are sent",
      { "exclude ID" },
      "The node stays in the tree and can be viewed; what follows it is still sent.",
      { "exclude d5n7" },
      id_params, "from|context|models|out|of|what|see", true, run_exclude },
    { "include", PERM_loom_write, "Content", "Send an excluded node to models again",
      { "include ID" },
      "A node is included unless someone excluded it.",
      { "include d5n7" },
      id_params, "in|into|context|again|back", true, run_include },
    { "undo", PERM_loom_aware, "Content", "Take back your last write",
      { "undo" },
      "Undoes what you said, respond, annotate, unannotate, link, unlink, edit, bookmark, prune, restore, exclude, "
      "include, continue, write and drop, latest first. What cannot be undone is passed over the next time.",
      { "undo" },
      no_params, "that|last|action|change|write", true, run_undo },
    { "continue", PERM_loom_generate, "Content", "Ask a subject model for continuations",
      { "continue", "continue from ID", "continue from ID n:K tokens:M", "continue from ID n:K using agent:\"Name\"",
        "continue from ID temperature:X top_p:X seed:N stop:\"text\" effort:low|medium|high" },
      "At most 10 at a time, asked at once; your position does not move. With a seed the second is asked with the next "
      "one, and so on. What the provider does not take is left out, and that is said.",
      { "continue from a7x2 n:2", "continue from c4m2 using agent:\"Sub\"", "continue from a7x2 temperature:1.1 seed:7" },
      continue_params, "from|at|using|with|of|continuations|continuation|children|replies|branches|more|after|times|branch|for|each", true, run_continue },

    { "read", PERM_doc_read, "Documents", "Read a document of this thread",
      { "read doc:\"name\"", "read doc:\"name\" summary", "read doc:\"name\" lines:A-B", "read doc:\"name\" section:ID" },
      "A section is shown with its heading and runs to the next heading of the same or a higher level.",
      { "read doc:\"character notes\" section:motivation", "read doc:\"character notes\" lines:2-3", "read doc:\"character notes\" summary" },
      read_params, "in|of|from|called|named|titled", false, run_read },
    { "write", PERM_doc_write, "Documents", "Change a document of this thread",
      { "write doc:\"name\" append \"text\"", "write doc:\"name\" at:start|end|LINE|SECTION \"text\"", "write doc:\"name\" replace:SECTION \"text\"",
        "write doc:\"name\" create \"text\"" },
      "Refused when the document changed since you last read it. replace: keeps the heading of the section, unless "
      "the text starts with a heading: then that takes its place. create makes a new document and never writes over one.",
      { "write doc:\"character notes\" append \"More to come.\"", "write doc:\"character notes\" at:start \"Draft.\"",
        "write doc:\"character notes\" replace:motivation \"Unknown.\"" },
      write_params, "to|in|into|with|of|called|named|titled|section|line|new|at", true, run_write },

    { "pin", PERM_loom_aware, "Memory", "Keep a node, a document or a result in working memory",
      { "pin ID", "pin doc:\"name\"", "pin doc:\"name\" section:ID", "pin result", "pin result:N" },
      "Pins are shown every turn until they are dropped. pin result keeps what the last command showed, as it was.",
      { "pin a7x2", "pin doc:\"character notes\" section:motivation" },
      pin_params, "to|in|working|memory|of|pinned|down|last|latest|previous|above", false, run_pin },
    { "stash", PERM_loom_aware, "Memory", "Put text aside under a label",
      { "stash \"label\" \"text\"", "stash \"label\" content-of:ID", "stash \"label\" summary-of:A-B" },
      "A stash takes no room in the context until it is recalled.",
      { "stash \"m\" content-of:b3k9", "stash \"idea\" \"the mother knows\"" },
      stash_params, "as|with|of|under|text", false, run_stash },
    { "recall", PERM_loom_aware, "Memory", "Bring a stash back into context",
      { "recall \"label\"", "recall \"label\" lines:A-B" },
      "It stays until it is dropped. Of a long one the start is shown every turn; lines: shows any part of it.",
      { "recall \"m\"" },
      recall_params, "back|from", false, run_recall },
    { "drop", PERM_loom_aware, "Memory", "Let go of a pin or a stash",
      { "drop pin:ID", "drop pin:doc:\"name\"", "drop result", "drop result:N", "drop stash:\"label\"" },
      "Dropping a stash deletes it. drop result lets go of the result that was pinned last.",
      { "drop pin:a7x2", "drop stash:\"idea\"" },
      drop_params, "from|on|memory|working|of|last|latest|pinned", false, run_drop },
    { "memory", PERM_loom_aware, "Memory", "Show what you keep and what it costs",
      { "memory", "memory trace", "memory stashed", "memory results" },
      "trace lists the last actions with their errors. results shows what is left of the last turn: "
      "a result is seen one turn longer when its turn names a node or document it showed, and as long "
      "as that, or the result itself, is pinned.",
      { "memory", "memory trace", "memory stashed", "memory results" },
      memory_params, "show|status", false, run_memory },

    { "help", PERM_loom_aware, "Meta", "Say which tools there are",
      { "help", "help TOOL" },
      "Tools marked with * need a permission you do not have.",
      { "help", "help view" },
      help_params, "with|on|for|about|work", false, run_help },
    { "think", PERM_loom_aware, "Meta", "Note a thought that only you see",
      { "think … ←" },
      "Write → think, then lines of text, then ← alone on a line.",
      { "think is it the mother?" },
      think_params, "", false, run_think },
    { "search", PERM_loom_aware, "Meta", "Search the web",
      { "search \"query\"", "search \"query\" depth:basic|deep topic:general|news max:N include:a,b exclude:c" },
      "Shows 5 results unless told otherwise, at most 10. depth:deep shows the text of the pages, more of "
      "each when max: is small. "
      "Needs a search service: see heddle-config(5).",
      { "search \"loom\"" },
      search_params, "for|web|online|about|on|internet|in", false, run_search },
    { .name = NULL },
};
/* clang-format on */

bool tool_only_looks(const struct tool *t)
{
    struct sv name = sv_of(t->name), meant;

    /* `search` acts on the network, but changes nothing here. */
    return !t->writes && (!word_in(phrase_acting, name, &meant) || sv_is(name, "search"));
}

const struct tool *tool_find(struct sv name)
{
    for (size_t i = 0; tool_table[i].name; i++) {
        const char *want = tool_table[i].name;
        bool        same = name.n == strlen(want);
        for (size_t k = 0; same && k < name.n; k++)
            same = byte_lower(name.s[k]) == want[k];
        if (same)
            return &tool_table[i];
    }
    return NULL;
}

/* ---- help ------------------------------------------------------------------------- */

static void help_group(struct sb *b, const char *group, unsigned permissions)
{
    bool first = true;

    sb_addf(b, "%s: ", group);
    for (size_t i = 0; tool_table[i].name; i++) {
        if (strcmp(tool_table[i].group, group) != 0)
            continue;
        bool may = (permissions & tool_table[i].needs) == tool_table[i].needs;
        sb_addf(b, "%s%s%s", first ? "" : ", ", tool_table[i].name, may ? "" : "*");
        first = false;
    }
    sb_addc(b, '\n');
}

void tools_help(struct sb *b, unsigned permissions)
{
    static const enum permission all[] = {
#define X(bit, name, needs, what) PERM_##name,
        PERMISSION_TABLE(X)
#undef X
    };

    sb_adds(b, "Available tools (your permissions: ");
    permissions_list(b, permissions);
    sb_adds(b, "):\n\n");
    for (size_t i = 0; tool_groups[i]; i++)
        help_group(b, tool_groups[i], permissions);
    sb_addc(b, '\n');
    for (size_t i = 0; i < COUNT(all); i++)
        if (!(permissions & all[i]))
            sb_addf(b, "* requires %s permission (you don't have this)\n", permission_name(all[i]));
    if (permissions != PERM_ALL)
        sb_addc(b, '\n');
    sb_adds(b, "→ help [tool] for details on any tool\n");
}

void tool_help(struct sb *b, const struct tool *t)
{
    sb_addf(b, "%s — %s\n\nSyntax:\n", t->name, t->summary);
    for (size_t i = 0; t->syntax[i]; i++)
        sb_addf(b, "  → %s\n", t->syntax[i]);
    sb_addf(b, "\n%s\n", t->remark);
}

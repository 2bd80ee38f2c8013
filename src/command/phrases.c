/* The words people and models use for the tools. Data only: grammar.c reads it. */
#include "command/tools.h"

/* clang-format off */
const char *const phrase_lead_ins[] = {
    "please", "can you", "could you", "would you", "will you", "can i", "could i", "may i",
    "let me", "let us", "let's", "let’s", "i want to", "i would like to", "i'd like to", "i’d like to",
    "i need to", "i will", "i'll", "i’ll", "go ahead and", "now", "first", "ok", "okay", "just", NULL,
};

const char *const phrase_fillers = "please|me|the|node|nodes|a|an|my|its|both|thanks";

/* What makes a sentence a doubt, a condition, a choice or its contrary. */
const char *const phrase_doubts =
    "not|no|never|don't|don’t|dont|won't|won’t|can't|can’t|cannot|wouldn't|shouldn't|if|unless|until|"
    "or|either|maybe|perhaps|should|shall|but|except|without|instead|later|before|then|&&|did|was";

/* Places that are not ids. What stands after = is the place that is meant. */
const char *const phrase_places = "here|this=here|current=here|@here=here|parent|@parent=parent|root|@root=root";

/* Words that name no node, though they stand where one could: [it] in brackets is an id. */
const char *const phrase_vague =
    "it|them|that|those|these|one|ones|everything|all|any|anything|something|others|other|last|next|"
    "previous|siblings|sibling|children|memory|trace|tree|trees|doc|docs|document|branch|stash|pin|and|"
    "to|of|with|from|in|on|at|as|for|by|is|are|her|him|so|how|what|why|who|when|where|whether";

/* An unquoted text does not begin with these: "find out", "recall that …" are sentences. */
const char *const phrase_not_a_text =
    "a|an|my|your|her|his|our|their|out|myself|yourself|that|how|what|why|who|when|where|whether|if|to|"
    "it|me|them|us";

const char *const phrase_numbers = "one=1|two=2|three=3|four=4|five=5|six=6|seven=7|eight=8|nine=9|ten=10";

#define SEE "show/view/display/see/get/print/list/examine/check"

/* The first row that fits is taken, so that longer phrases stand before those they begin with, and
 * rows with a condition before those without. */
const struct synonym synonyms[] = {
    /* what is not there, with what is */
    { "find out",          NULL, NEXT_ANY, NULL, NULL, "→ find \"words\" finds nodes" },
    { "delete/remove/clear/drop bookmark", "unbookmark", NEXT_ANY, NULL, NULL, NULL },
    { "delete/remove pin/pins", "drop",  NEXT_ANY,  NULL, NULL, NULL },
    { "delete/remove stash", "drop",     NEXT_ANY,  "stash", NULL, NULL },
    { "remove",            "drop",       NEXT_ID,   NULL, "memory", NULL },
    { "delete/remove/erase/kill", NULL,  NEXT_ANY,  NULL, NULL,
      "→ prune ID hides a node, → unbookmark ID, → drop pin:ID and → drop stash:\"label\" take things away" },
    { "merge",             NULL, NEXT_ANY, NULL, NULL, "→ link ID to ID connects two nodes" },
    { "copy/swap/rename",  NULL, NEXT_ANY, NULL, NULL, "→ respond ID \"text\" adds a node, → edit ID \"text\" rewrites one" },
    { "redo",              NULL, NEXT_ANY, NULL, NULL, "→ undo takes your last write back; do it again with its own command" },
    { "undo",              NULL, NEXT_ID,  NULL, NULL, "→ undo alone takes your last write back; → restore ID brings a pruned node back" },

    /* looking */
    { "read node",         "view",       NEXT_ID,   NULL, NULL, NULL },
    { SEE " tree summary", "tree",       NEXT_ANY,  "summary", NULL, NULL },
    { "summary of tree",   "tree",       NEXT_ANY,  "summary", NULL, NULL },
    { "summarize/summarise tree", "tree", NEXT_ANY, "summary", NULL, NULL },
    { "summarize/summarise", "read",     NEXT_DOC,  "summary", NULL, NULL },
    { SEE "/draw whole/full/entire tree", "tree", NEXT_ANY, NULL, NULL, NULL },
    { SEE "/draw tree/subtree", "tree", NEXT_ANY, NULL, NULL, NULL },
    { "tree view",         "tree",       NEXT_ANY,  NULL, NULL, NULL },
    { "map",               "tree",       NEXT_ANY,  NULL, NULL, NULL },
    { "overview",          "tree",       NEXT_ANY,  NULL, NULL, NULL },
    { SEE " path",         "path",       NEXT_ANY,  NULL, NULL, NULL },
    { "current path",      "path",       NEXT_ANY,  NULL, NULL, NULL },
    { "where am i",        "path",       NEXT_ANY,  NULL, NULL, NULL },
    { SEE " where i am",   "view",       NEXT_ANY,  "here", NULL, NULL },
    { SEE " position",     "view",       NEXT_ANY,  "here", NULL, NULL },
    { "how do i get to",   "path",       NEXT_ID,   NULL, NULL, NULL },
    { SEE " difference/differences/diff", "diff", NEXT_ANY, NULL, NULL, NULL },
    { "what is difference", "diff",      NEXT_ANY,  NULL, NULL, NULL },
    { "difference",        "diff",       NEXT_ANY,  NULL, NULL, NULL },
    { "compare",           "diff",       NEXT_ANY,  NULL, NULL, NULL },
    { SEE " changes",      "changes",    NEXT_ANY,  NULL, NULL, NULL },
    { "what has changed",  "changes",    NEXT_ANY,  NULL, NULL, NULL },
    { "what changed",      "changes",    NEXT_ANY,  NULL, NULL, NULL },
    { "what's/what’s new", "changes",    NEXT_ANY,  NULL, NULL, NULL },
    { "what is new",       "changes",    NEXT_ANY,  NULL, NULL, NULL },

    /* lists; a kind behind a verb of looking is a list of that kind */
    { SEE " my children/continuations/branches/replies", "list", NEXT_ANY, "here continuations", NULL, NULL },
    { SEE " all children/continuations/branches/replies", "list", NEXT_ANY, "continuations", NULL, NULL },
    { SEE " children/continuations/branches/replies", "list", NEXT_ANY, "continuations", NULL, NULL },
    { SEE " all annotations/notes/comments", "list", NEXT_ANY, "annotations", NULL, NULL },
    { SEE " annotations/notes/comments", "list", NEXT_ANY, "annotations", NULL, NULL },
    { SEE " all links/references", "list", NEXT_ANY, "links", NULL, NULL },
    { SEE " links/references", "list",   NEXT_ANY,  "links", NULL, NULL },
    { SEE " versions/edits", "list",     NEXT_ANY,  "versions", NULL, NULL },
    { SEE " edit history", "list",       NEXT_ANY,  "versions", NULL, NULL },
    { SEE " all bookmarks", "list",      NEXT_ANY,  "bookmarks", NULL, NULL },
    { SEE " bookmarks",    "list",       NEXT_ANY,  "bookmarks", NULL, NULL },
    { SEE " pruned/hidden", "list",      NEXT_ANY,  "pruned", NULL, NULL },
    { SEE " excluded",     "list",       NEXT_ANY,  "excluded", NULL, NULL },
    { SEE " agents",       "list",       NEXT_ANY,  "agents", NULL, NULL },
    { SEE " all docs/documents", "list", NEXT_ANY,  "docs", NULL, NULL },
    { SEE " available docs/documents", "list", NEXT_ANY, "docs", NULL, NULL },
    { SEE " docs/documents", "list",     NEXT_ANY,  "docs", NULL, NULL },
    { SEE " all trees/threads", "list",  NEXT_ANY,  "trees", NULL, NULL },
    { SEE " trees/threads", "list",      NEXT_ANY,  "trees", NULL, NULL },
    { "what are children/continuations/branches/replies", "list", NEXT_ANY, "continuations", NULL, NULL },
    { "what notes/annotations/comments are", "list", NEXT_ANY, "annotations", NULL, NULL },
    { "what documents/docs are there", "list", NEXT_ANY, "docs", NULL, NULL },
    { "what is bookmarked", "list",      NEXT_ANY,  "bookmarks", NULL, NULL },
    { "what links to",     "list",       NEXT_ID,   "links", NULL, NULL },
    { "who is here",       "list",       NEXT_ANY,  "agents", NULL, NULL },
    { "what comes after",  "list",       NEXT_ID,   "continuations", NULL, NULL },
    { "what follows",      "list",       NEXT_ID,   "continuations", NULL, NULL },
    { "continuations/children/branches/replies of/to/from/for/on", "list", NEXT_ID, "continuations", NULL, NULL },
    { "continuations/children/branches/replies", "list", NEXT_ID, "continuations", NULL, NULL },
    { "annotations/notes/comments of/on/for", "list", NEXT_ID, "annotations", NULL, NULL },
    { "annotations/notes", "list",       NEXT_ID,   "annotations", NULL, NULL },
    { "links/references of/from/for/to", "list", NEXT_ID, "links", NULL, NULL },
    { "links/references",  "list",       NEXT_ID,   "links", NULL, NULL },
    { "versions/edits of", "list",       NEXT_ID,   "versions", NULL, NULL },
    { "versions/edits",    "list",       NEXT_ID,   "versions", NULL, NULL },
    { "bookmarks",         "list",       NEXT_ANY,  "bookmarks", NULL, NULL },
    { "agents",            "list",       NEXT_ANY,  "agents", NULL, NULL },
    { "docs",              "list",       NEXT_ANY,  "docs", NULL, NULL },
    { "trees",             "list",       NEXT_ANY,  "trees", NULL, NULL },
    { "show/display/get",  "list",       NEXT_ID,   NULL, "children", NULL },

    /* memory and help, behind a verb of looking too */
    { SEE " working/full memory", "memory", NEXT_ANY, NULL, NULL, NULL },
    { SEE " memory",       "memory",     NEXT_ANY,  NULL, NULL, NULL },
    { SEE " action/memory trace", "memory", NEXT_ANY, "trace", NULL, NULL },
    { SEE " trace",        "memory",     NEXT_ANY,  "trace", NULL, NULL },
    { SEE " recent/last actions", "memory", NEXT_ANY, "trace", NULL, NULL },
    { SEE " stashes",      "memory",     NEXT_ANY,  "stashed", NULL, NULL },
    { SEE " what is stashed", "memory",  NEXT_ANY,  "stashed", NULL, NULL },
    { "what is in memory", "memory",     NEXT_ANY,  NULL, NULL, NULL },
    { "working memory",    "memory",     NEXT_ANY,  NULL, NULL, NULL },
    { "status",            "memory",     NEXT_ANY,  NULL, NULL, NULL },
    { "trace",             "memory",     NEXT_ANY,  "trace", NULL, NULL },
    { "history",           "memory",     NEXT_ANY,  "trace", NULL, NULL },
    { "errors",            "memory",     NEXT_ANY,  "trace", NULL, NULL },
    { SEE " help",         "help",       NEXT_ANY,  NULL, NULL, NULL },
    { SEE " commands/tools", "help",     NEXT_ANY,  NULL, NULL, NULL },
    { SEE " available commands/tools", "help", NEXT_ANY, NULL, NULL, NULL },
    { "what can i do",     "help",       NEXT_ANY,  NULL, NULL, NULL },
    { "how do i use",      "help",       NEXT_ANY,  NULL, NULL, NULL },
    { "commands",          "help",       NEXT_ANY,  NULL, NULL, NULL },
    { "?",                 "help",       NEXT_ANY,  NULL, NULL, NULL },

    /* documents, nodes, the web */
    { "show/open/view/display/get/see/print", "read", NEXT_DOC, NULL, NULL, NULL },
    { "get/load stash",    "recall",     NEXT_ANY,  NULL, NULL, NULL },
    { "take look at",      "view",       NEXT_ANY,  NULL, NULL, NULL },
    { "look at",           "view",       NEXT_ANY,  NULL, NULL, NULL },
    { "search in tree",    "find",       NEXT_ANY,  NULL, NULL, NULL },
    { "search in this tree", "find",     NEXT_ANY,  NULL, NULL, NULL },
    { "search tree/nodes", "find",       NEXT_ANY,  NULL, NULL, NULL },
    { "look for",          "find",       NEXT_TEXT, NULL, NULL, NULL },
    { "grep",              "find",       NEXT_ANY,  NULL, NULL, NULL },
    { "look up",           "search",     NEXT_TEXT, NULL, NULL, NULL },
    { "do web search",     "search",     NEXT_ANY,  NULL, NULL, NULL },
    { "web search",        "search",     NEXT_ANY,  NULL, NULL, NULL },
    { "google",            "search",     NEXT_TEXT, NULL, NULL, NULL },
    { "what is in",        "view",       NEXT_ID,   NULL, NULL, NULL },
    { "what does",         "view",       NEXT_ID,   NULL, "say", NULL },
    { "show/display/inspect/open/see/print/examine", "view", NEXT_ANY, NULL, NULL, NULL },
    { "get",               "view",       NEXT_ID,   NULL, NULL, NULL },

    /* moving */
    { "go up",             "switch",     NEXT_ANY,  "parent", NULL, NULL },
    { "go back to",        "switch",     NEXT_ID,   NULL, NULL, NULL },
    { "go back",           NULL, NEXT_ANY, NULL, NULL, "→ switch to parent goes one up; → path shows the nodes above you" },
    { "back to",           "switch",     NEXT_ID,   NULL, NULL, NULL },
    { "back",              NULL, NEXT_ANY, NULL, NULL, "→ switch to parent goes one up; → path shows the nodes above you" },
    { "next",              NULL, NEXT_ANY, NULL, NULL, "→ list ID continuations shows what there is; → switch to ID goes there" },
    { "go/move/jump/navigate/travel/head/return to", "switch", NEXT_ANY, NULL, NULL, NULL },
    { "move me to",        "switch",     NEXT_ID,   NULL, NULL, NULL },
    { "goto",              "switch",     NEXT_ANY,  NULL, NULL, NULL },
    { "navigate",          "switch",     NEXT_ID,   NULL, NULL, NULL },
    { "checkout",          "switch",     NEXT_ID,   NULL, NULL, NULL },
    { "change position to", "switch",    NEXT_ID,   NULL, NULL, NULL },

    /* asking a model */
    { "generate",          "continue",   NEXT_ANY,  NULL, NULL, NULL },
    { "extend",            "continue",   NEXT_ANY,  NULL, NULL, NULL },
    { "give/create/make", "continue", NEXT_COUNT, NULL, NULL, NULL },

    /* documents */
    { "create/make/start new doc/document/file", "write", NEXT_ANY, "create doc", NULL, NULL },
    { "create/make/start/new", "write",  NEXT_DOC,  "create", NULL, NULL },
    { "new doc/document/file", "write",  NEXT_ANY,  "create doc", NULL, NULL },
    { "append/add to",     "write",      NEXT_DOC,  "append", NULL, NULL },
    { "append/add",        "write",      NEXT_DOC,  "append", NULL, NULL },
    { "append/add",        "write",      NEXT_TEXT, "append", "doc", NULL },
    { "prepend",           "write",      NEXT_ANY,  "at:start", "doc", NULL },
    { "insert into",       "write",      NEXT_DOC,  NULL, NULL, NULL },
    { "insert",            "write",      NEXT_ANY,  NULL, "doc", NULL },
    { "replace",           "write",      NEXT_ANY,  "replace", "doc", NULL },

    { "set/put aside",     "stash",      NEXT_TEXT, NULL, NULL, NULL },
    /* nodes: bookmarks, notes, pins and links have the same verbs as answers */
    { "add/set bookmark",  "bookmark",   NEXT_ANY,  NULL, NULL, NULL },
    { "add/leave/attach/make note/annotation/comment", "annotate", NEXT_ANY, NULL, NULL, NULL },
    { "add pin for/to",    "pin",        NEXT_ID,   NULL, NULL, NULL },
    { "add pin",           "pin",        NEXT_ID,   NULL, NULL, NULL },
    { "add",               "pin",        NEXT_ID,   NULL, "memory", NULL },
    { "add/create/make link", "link",    NEXT_ANY,  NULL, NULL, NULL },
    { "add/write/post response/reply/answer/child", "respond", NEXT_ANY, NULL, NULL, NULL },
    { "create/add node under/at/after", "respond", NEXT_ID, NULL, NULL, NULL },
    { "create under/at/after", "respond", NEXT_ID,  NULL, NULL, NULL },
    { "post",              "respond",    NEXT_TEXT, NULL, NULL, NULL },
    { "reply",             "respond",    NEXT_ANY,  NULL, NULL, NULL },
    { "answer",            "respond",    NEXT_ANY,  NULL, NULL, NULL },
    { "say",               "respond",    NEXT_TEXT, NULL, NULL, NULL },
    { "append/add to",     "respond",    NEXT_ID,   NULL, NULL, NULL },
    { "add",               "respond",    NEXT_ID,   NULL, NULL, NULL },
    { "comment/note on",   "annotate",   NEXT_ID,   NULL, NULL, NULL },
    { "comment",           "annotate",   NEXT_ANY,  NULL, NULL, NULL },
    { "note",              "annotate",   NEXT_ID,   NULL, NULL, NULL },
    { "connect",           "link",       NEXT_ANY,  NULL, NULL, NULL },
    { "relate",            "link",       NEXT_ANY,  NULL, NULL, NULL },
    { "replace/change content/text/contents of", "edit", NEXT_ID, NULL, NULL, NULL },
    { "replace",           "edit",       NEXT_ID,   NULL, NULL, NULL },
    { "revise",            "edit",       NEXT_ANY,  NULL, NULL, NULL },
    { "rewrite",           "edit",       NEXT_ANY,  NULL, NULL, NULL },
    { "change/update/modify/set", "edit", NEXT_ID,  NULL, NULL, NULL },
    { "mark",              "bookmark",   NEXT_ANY,  NULL, NULL, NULL },
    { "star/flag",         "bookmark",   NEXT_ID,   NULL, NULL, NULL },
    { "unmark",            "unbookmark", NEXT_ANY,  NULL, NULL, NULL },
    { "unstar",            "unbookmark", NEXT_ANY,  NULL, NULL, NULL },
    { "archive branch",    "prune",      NEXT_ANY,  NULL, NULL, NULL },
    { "hide",              "prune",      NEXT_ANY,  NULL, NULL, NULL },
    { "unprune",           "restore",    NEXT_ANY,  NULL, NULL, NULL },
    { "unhide",            "restore",    NEXT_ANY,  NULL, NULL, NULL },
    { "stop excluding",    "include",    NEXT_ID,   NULL, NULL, NULL },
    { "leave out",         "exclude",    NEXT_ANY,  NULL, NULL, NULL },
    { "leave",             "exclude",    NEXT_ID,   NULL, "out", NULL },
    { "omit",              "exclude",    NEXT_ANY,  NULL, NULL, NULL },
    { "mute",              "exclude",    NEXT_ANY,  NULL, NULL, NULL },
    { "put back",          "include",    NEXT_ID,   NULL, NULL, NULL },
    { "put",               "include",    NEXT_ID,   NULL, "back", NULL },
    { "unexclude",         "include",    NEXT_ANY,  NULL, NULL, NULL },
    { "unmute",            "include",    NEXT_ANY,  NULL, NULL, NULL },
    { "take that back",    "undo",       NEXT_ANY,  NULL, NULL, NULL },

    /* memory */
    { "bring back",        "recall",     NEXT_TEXT, NULL, NULL, NULL },
    { "bring back",        "restore",    NEXT_ID,   NULL, NULL, NULL },
    { "bring",             "restore",    NEXT_ID,   NULL, "back", NULL },
    { "keep",              "pin",        NEXT_ANY,  NULL, NULL, NULL },
    { "remember",          "pin",        NEXT_ANY,  NULL, NULL, NULL },
    { "hold",              "pin",        NEXT_ANY,  NULL, NULL, NULL },
    { "unpin",             "drop",       NEXT_ANY,  NULL, NULL, NULL },
    { "forget",            "drop",       NEXT_ANY,  NULL, NULL, NULL },
    { "release",           "drop",       NEXT_ANY,  NULL, NULL, NULL },
    { "discard",           "drop",       NEXT_ANY,  NULL, NULL, NULL },
    { "save",              "stash",      NEXT_ANY,  NULL, NULL, NULL },
    { "store",             "stash",      NEXT_ANY,  NULL, NULL, NULL },
    { "retrieve",          "recall",     NEXT_ANY,  NULL, NULL, NULL },
    { "load",              "recall",     NEXT_TEXT, NULL, NULL, NULL },
    { "unstash",           "recall",     NEXT_ANY,  NULL, NULL, NULL },
    { .phrase = NULL },
};
/* clang-format on */

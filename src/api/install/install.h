/* Putting heddle into the settings of another program, and taking it out again.
 *
 * A plan is a list of parts: a member or an item of a JSON file, a block of lines, a whole file.
 * From the text of a file and its parts follow two texts: without the parts, and with them.
 * Installing writes the second, removing the first. Every other byte of the file stays
 * unchanged. */
#ifndef HEDDLE_API_INSTALL_H
#define HEDDLE_API_INSTALL_H

#include "api/request.h"
#include "harness/harness.h"

enum install_kind {
    INSTALL_MEMBER, /* of an object in a JSON file: `value` at `path` */
    INSTALL_ITEM,   /* of a list in a JSON file: `value` in the list at `path` */
    INSTALL_BLOCK,  /* lines between two marks: `value` */
    INSTALL_FILE,   /* a file of heddle's own, with a mark in one of its first lines: `value` */
};

enum { INSTALL_DEPTH = 4 };

struct install_part {
    enum install_kind kind;
    struct sv         path[INSTALL_DEPTH]; /* of members; ends with an absent one */
    struct sv         value;               /* JSON or text */
};

struct install_file {
    struct sv   name;    /* below the base */
    const char *comment; /* how a line of it is marked as heddle's: "#", "//", "<!--" */
    VEC(struct install_part) parts;
    VEC(struct sv) lists; /* dotted paths of lists whose items may be heddle's */
};

/* The options of an installation. */
struct install_wish {
    enum harness   harness;
    bool           user;    /* the user's settings, not those of the project */
    struct sv      program; /* what is run: "heddle" */
    struct sv      thread;  /* of sessions that are not bound, or absent */
    struct sv      agent;   /* of the MCP server, or absent */
    struct sv_list denied;  /* below the workspace: directories and files that may only be read */
    bool           plugin;  /* a directory with everything, which the program can load */
    bool moved; /* the directory of the user's settings is given by an environment variable */
};

struct install_plan {
    struct arena *a;
    struct sv     base; /* absolute: where the files are */
    VEC(struct install_file) files;
    VEC(struct sv) notes; /* what the user has to do, or should know */
};

/* Patterns of files that no thread may write. */
extern const char *const install_denied[];

/* The parts for a wish; `base` is set by the caller. */
void install_plan_make(struct install_plan *p, const struct install_wish *w);

/* The text of a file (absent: there is none) without heddle's parts, and with those of the plan. An
 * absent result: there should be no file. ST_INVALID_SYNTAX: the file cannot be parsed, so it
 * cannot be changed; ST_CONFLICT: its place is taken by a part of another program. */
enum status install_without(const struct install_file *f, enum harness h, struct sv text,
                            struct arena *a, struct sv *out, struct err *e) MUST_USE;
enum status install_with(const struct install_file *f, struct sv bare, struct arena *a,
                         struct sv *out, struct err *e) MUST_USE;

/* Is something in a file that heddle would put there, under the same name, and somebody else wrote
 * it? It is not taken out. */
bool install_is_taken(const struct install_file *f, struct sv text, struct arena *a);

/* What install_with() replaced stood in `kept`, the text before it: put it back into *bare, the
 * text without heddle's parts, wherever `now` still has heddle's instead. */
enum status install_put_back(const struct install_file *f, struct sv kept, struct sv now,
                             struct arena *a, struct sv *bare, struct err *e) MUST_USE;

/* Find, or keep, the text of a file before heddle changed it; absent when it is not kept, because
 * removing the parts gives the same text. *exact: it was changed to `text`, and by nobody since. */
enum status install_state_find(const struct workspace *ws, struct sv path, struct sv text,
                               struct arena *a, struct sv *before, bool *exact,
                               struct err *e) MUST_USE;
enum status install_state_keep(const struct workspace *ws, const struct install_file *f,
                               enum harness h, struct sv path, struct sv before, struct sv after,
                               struct arena *a, struct err *e) MUST_USE;

/* ---- what files of heddle's own say ---------------------------------------------------------- */

struct sv install_skill(struct arena *a); /* SKILL.md */

/* The plugin for opencode, or the extension for pi. */
struct sv install_code(const struct install_wish *w, struct arena *a);

#endif

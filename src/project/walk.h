/* The project's files, read once: a tree of nodes in the order in which they are printed
 * (directories first, then by name without regard to case).
 *
 * Links are nodes and are never entered. A directory that cannot be read stays in the tree, empty,
 * and is named in `unread`. */
#ifndef HEDDLE_WALK_H
#define HEDDLE_WALK_H

#include "base/sb.h"
#include "base/vec.h"
#include "project/rules.h"

enum walk_kind { WALK_DIR, WALK_FILE, WALK_LINK, WALK_OTHER };

enum { WALK_DEPTH_MAX = 512 };

struct walk_node {
    struct sv      name;
    uint32_t       first, count; /* children: nodes[first .. first + count) */
    enum walk_kind kind;
    bool           shown; /* false: an ignored directory in which nothing is included again */
};

struct walk_trouble {
    struct sv path;
    int       error; /* errno */
};

struct walk {
    VEC(struct walk_node) nodes; /* nodes[0] is the workspace itself */
    VEC(struct walk_trouble) unread;
    size_t files, dirs;
};

/* Everything below root_fd that the rules let through, without pipes, sockets and devices; lives in
 * `a`. A directory deeper than WALK_DEPTH_MAX is not entered and is in `unread` (ELOOP). */
void walk_read(const struct rules *rules, int root_fd, struct arena *a, struct walk *out);

/* The node at a normal path below the root ("" is the root), or NULL. */
const struct walk_node *walk_find(const struct walk *w, struct sv path);

/* Hides the node at `path`, if there is one. */
void walk_hide(struct walk *w, struct sv path);

/* Calls `each` for every shown file and link below `node`, in printed order; stops when
 * it returns false. `path` is valid during the call. */
typedef bool walk_each(void *ctx, struct sv path, const struct walk_node *node);
bool walk_files(const struct walk *w, const struct walk_node *node, struct sv path, walk_each *each,
                void *ctx);

#endif

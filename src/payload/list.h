/* Lists of resources: one entry a line. Blank lines and lines that start with # are
 * skipped; there are no comments behind an entry.
 *
 *     src/main.c            a file; it is shown even when the ignore rules hide it
 *     src/core/             a directory: its files, under the ignore rules; links to directories
 * are not followed and are not files. A link that is listed itself stands for the directory it
 * leads to test_?.{c,h}          a glob (also * and **): likewise https://h.example/p   a page
 *     more.context          another list, read in its place
 *
 * Lock files of package managers (package-lock.json, Cargo.lock …) are long and of little use to a
 * model: a directory, a glob or a pattern does not include them unless `lock_files` is set; their
 * own name does.
 *
 * Paths have one canonical form, so that a resource named in several ways is one. A backslash is
 * part of a name when there is such a file, else it is a slash as other systems write it. What
 * leads out of the project stays visible as a refused resource. */
#ifndef HEDDLE_LIST_H
#define HEDDLE_LIST_H

#include "base/map.h"
#include "payload/resource.h"
#include "project/walk.h"

enum { LIST_DEPTH_MAX = 64 }; /* lists in lists */

struct lists {
    struct arena      *a;
    int                root_fd;
    const struct walk *walk;
    bool               allow_secrets; /* in URLs */
    bool               lock_files;    /* take them from directories as well */
    VEC(struct sv) left_out;          /* lock files that were met in directories and not taken */
    struct sv self;                   /* never read: the file to be written; or absent */
    VEC(struct resource) resources;   /* in order of content: turn, session, global */
    VEC(uint32_t) shown[SCOPE_COUNT]; /* the summary: indexes into resources */
    VEC(struct sv) warnings;          /* one line each */
    struct map by_name;               /* name -> index + 1 */
    struct map read;                  /* lists read already in this scope: no cycles */
    int        depth;                 /* of the list being read */
};

void lists_init(struct lists *l, int root_fd, const struct walk *walk, struct arena *a);

/* Add what the list file says to a scope; scopes come in their order. False when there is
 * no such file. */
bool lists_add_file(struct lists *l, enum resource_scope scope, struct sv path);

/* One entry, as a line of a list has it. `literal`: a name, never a glob or a list. */
void lists_add_entry(struct lists *l, enum resource_scope scope, struct sv entry, bool literal);

/* Add all files of the project that patterns as in a .gitignore select, or that are below a
 * directory which they select. Values are separated by line ends and may contain several patterns,
 * see pattern.h; a value that selects a file as it is, is not split at its commas. `here`: the
 * current directory, relative to the root. */
void lists_add_matching(struct lists *l, enum resource_scope scope, struct sv values,
                        struct sv here);

struct resource *lists_add(struct lists *l, enum resource_scope scope, struct sv name,
                           enum resource_kind kind);

/* Forget the resources that the patterns select. */
void lists_drop_matching(struct lists *l, struct sv values, struct sv here);

/* The entries of a list, trimmed, without comments; the text outlives them. */
typedef VEC(struct sv) list_lines;
list_lines list_read(struct sv text, struct arena *a);

#endif

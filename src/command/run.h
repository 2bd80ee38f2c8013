/* The functions behind the tools, one per row of the table. */
#ifndef HEDDLE_COMMAND_RUN_H
#define HEDDLE_COMMAND_RUN_H

#include "base/json.h"
#include "command/session.h"

#define RUN(name)                                                                                  \
    enum status run_##name(struct session *s, const struct call *c, struct result *r, struct err *e)

/* tool_look.c */
RUN(view);
RUN(tree);
RUN(path);
RUN(diff);
RUN(find);
RUN(changes);
/* tool_list.c */
RUN(list);
/* tool_write.c */
RUN(switch);
RUN(respond);
RUN(annotate);
RUN(link);
RUN(edit);
RUN(bookmark);
RUN(unbookmark);
RUN(prune);
RUN(restore);
RUN(exclude);
RUN(include);
/* From now on the session works in the tree of this name; no agent's position changes. */
enum status session_switch_tree(struct session *s, struct sv name, struct err *e) MUST_USE;

/* tool_remove.c */
RUN(unannotate);
RUN(unlink);

/* ann-3 names an annotation: 3. */
bool tool_annotation_number(struct sv id, int64_t *n);

/* tool_undo.c */
RUN(undo);
/* tool_continue.c */
RUN(continue);
/* tool_doc.c */
RUN(read);
RUN(write);

/* Replace `cut` bytes at `at` of a document by `insert`: first recorded in the log, then written.
 * *now is the new text. */
struct doc_change {
    size_t    at, cut;
    struct sv insert;
};
enum status doc_apply(struct session *s, struct sv name, const struct doc *d,
                      const struct doc_change *ch, struct result *r, struct sv *now,
                      struct err *e) MUST_USE;

/* tool_memory.c */
RUN(pin);
RUN(stash);
RUN(recall);
RUN(drop);
RUN(memory);
RUN(think);

/* Take a drop back, as its record says. ST_CONFLICT: it was pinned or stashed again, or erased. */
enum status tool_memory_put_back(struct session *s, const struct json *undo,
                                 struct err *e) MUST_USE;

/* tool_meta.c */
RUN(help);
/* tool_search.c */
RUN(search);

#endif

/* To which company the texts of a tree may go.
 *
 * A text goes to the company whose agent wrote it or asks for it, and to no other unless the user's
 * settings name one. What a model is asked, on behalf of which agent:
 *
 *     a turn                       the agent itself, with its own model
 *     → continue                   the subject, with its own model
 *     the summary of a node        the agent that wrote it; of what a person wrote, the agent that
 *                                  asks, else one that has answered it (company_of_node())
 *     of a document                the agent that asks, else the one that wrote it last
 *     of nodes in a row            the agent that asks, else as for the tree
 *     of the tree                  the agents of its nodes, if all are of one company
 *                                  (company_of_nodes())
 *     a long result of a tool      the agent that asks
 *     a compaction                 the agent whose context it is, with its own model
 *     a line nobody understands    only loom.classifier
 *     → search                     only services that the user has set up
 *
 * Which model makes the summaries is decided by small_choose() (small.h). Before text leaves for a
 * company, company_tell() says so, once for a workspace and a company. Nothing is said of the first
 * company of a workspace when it is that of the agent's own model, which the user has named. */
#ifndef HEDDLE_COMMAND_COMPANY_H
#define HEDDLE_COMMAND_COMPANY_H

#include "command/session.h"

/* The model of the agent on whose behalf a node is summarised; absent: there is none. In an open
 * transaction, as the next two. */
enum status company_of_node(struct session *s, const struct node *n, struct sv *model,
                            struct err *e) MUST_USE;

/* The same for all of these: absent when their agents are of several companies. Nodes of people
 * that no agent has answered count for nobody, and so do those of models that are offline. */
enum status company_of_nodes(struct session *s, const struct node *list, size_t n, struct sv *model,
                             struct err *e) MUST_USE;

/* The model of the agent of this name; absent: it is a person, or not registered. */
enum status company_of_author(struct session *s, struct sv name, struct sv *model,
                              struct err *e) MUST_USE;

/* Call this before text is sent to `model` on behalf of an agent whose model is `own` (absent: no
 * agent's); `what` is "for summaries" or the like. Nothing is said when `model` is offline. */
void company_tell(struct session *s, struct sv own, struct sv model, const char *what);

#endif

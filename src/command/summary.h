/* Summaries made when they are first asked for. */
#ifndef HEDDLE_COMMAND_SUMMARY_H
#define HEDDLE_COMMAND_SUMMARY_H

#include "command/session.h"

enum { SUMMARY_TOKENS = 50, SUMMARY_SHORT = 50 };

/* Ask the summary model about a node that has no summary yet, and keep what it says. Without a
 * model, or when it fails, nothing happens: an extract is shown, and the next reader tries
 * again. Nothing is locked while the model is asked. */
enum status session_summarise(struct session *s, const struct node *n, struct err *e) MUST_USE;

#endif

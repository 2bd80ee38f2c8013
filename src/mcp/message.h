/* Internal to src/mcp: JSON-RPC messages. */
#ifndef HEDDLE_MCP_MESSAGE_H
#define HEDDLE_MCP_MESSAGE_H

#include "mcp/mcp_internal.h"

enum mcp_message { MCP_REQUEST, MCP_NOTIFICATION, MCP_RESPONSE };

/* Reads one message into an item whose arena is set. Of a request everything is checked that does
 * not depend on its method; of a notification only `method` and `params` are set. After an error
 * the item has the code of the answer, and the id if there was one. */
enum status mcp_item_read(struct mcp_item *x, const struct json *v, enum mcp_message *kind,
                          struct sv *method, struct err *e) MUST_USE;

/* Run the method; the answer or the error as a message. */
struct sv mcp_answer_text(struct mcp_item *x);
struct sv mcp_error_text(const struct mcp_item *x, const struct err *e);
struct sv mcp_notification_text(const char *method, struct sv params, struct arena *a);

/* Send one on the way to the answer of an item. */
void mcp_notify(const struct mcp_item *x, const char *method, struct sv params);

void mcp_supported(struct jw *w); /* the list of revisions */

#endif

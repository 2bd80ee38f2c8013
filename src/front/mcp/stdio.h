/* The Model Context Protocol on standard input and output: one message a line. */
#ifndef HEDDLE_FRONT_MCP_STDIO_H
#define HEDDLE_FRONT_MCP_STDIO_H

#include "front/app.h"
#include "front/services.h"

/* Serves one client until standard input ends. Nothing but messages goes to standard output; notes
 * go to standard error. The workspace is open. */
enum status mcp_serve(struct app *app, const struct mcp_options *o, struct err *e) MUST_USE;

#endif

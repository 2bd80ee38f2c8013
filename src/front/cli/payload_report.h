/* What `heddle payload` tells about a payload beside the payload itself. */
#ifndef HEDDLE_PAYLOAD_REPORT_H
#define HEDDLE_PAYLOAD_REPORT_H

#include "front/app.h"
#include "payload/manifest.h"

/* The table of --explain: section, scope, bytes, tokens, kept or cut, path. */
void report_explain(struct sb *out, const struct payload *p);

/* Where the tokens are: folders with their sums, the heaviest first. */
void report_token_tree(struct sb *out, const struct payload *p);

/* --parse FILE: a list, JSON with contents, or (with `into`) files below a folder, over those
 * that are there only with `force`; see payload_extract.h. */
enum status report_parse(struct app *app, struct sv file, struct sv into, bool force,
                         struct err *e) MUST_USE;

/* Differences between an earlier payload or manifest and rows of now, as text or JSON. */
void report_differences(struct app *app, const manifest_differences *d);

/* --check FILE --manifest M: ST_CONFLICT when they do not belong together. `numbered`: FILE has
 * line numbers. */
enum status report_check_manifest(struct app *app, struct sv file, struct sv manifest,
                                  bool numbered, struct err *e) MUST_USE;

#endif

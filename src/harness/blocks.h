/* Splits contents of messages and joins them again: in heddle calls and results of tools have
 * fields of their own, in transcripts they are blocks of the content. What harness_split_…() does,
 * harness_join_…() undoes. */
#ifndef HEDDLE_HARNESS_BLOCKS_H
#define HEDDLE_HARNESS_BLOCKS_H

#include "harness/harness_internal.h"

/* How a format writes a call: {"type":TYPE,"id":…,"name":…,ARGUMENTS:{…}}. */
struct harness_calls {
    const char *type, *arguments;
};
extern const struct harness_calls harness_anthropic_calls, harness_pi_calls;

/* Put the blocks of an assistant's content into an item: calls become tool_calls, in which other
 * members of the block stay; the rest is the content. Where calls are not behind all the others,
 * `more` has {"order":"ctc"}: c is a block of the content, t a call. */
void harness_split_calls(const struct json *content, const struct harness_calls *form,
                         struct arena *a, struct harness_item *item);

/* The last item is a user's message with results of tools in its content: put items in its place, a
 * tool's message for each result and a user's for what is between them. The last of them has key,
 * record and all; those before it have key#0, key#1 and so on. `more` has {"block":{…}}: the other
 * members of a result. */
void harness_split_results(struct harness_reading *x, const struct json *content,
                           bool (*is_result)(const struct json *block));

/* A record became several items: the last one gets its key, those before it key#0, key#1 and so
 * on, so that whatever follows the record follows all of them. */
void harness_number_items(struct harness_reading *x, struct sv key);

/* A content in canonical form, with pictures under the names that heddle has for them. */
struct sv harness_parts(const struct json *content, struct arena *a);

/* The text of a content: its own, or that of its first text block. */
struct sv harness_first_text(const struct json *content);

/* The text that a person typed: without what hooks put in front of it, including heddle's own
 * blocks. Absent: there is no other text. */
struct sv harness_asked_text(const struct json *content);

/* The object without one member, given by its path of one to three names; others keep their order.
 * Canonical. */
struct sv harness_without(const struct json *object, const char *const *path, struct arena *a);

#endif

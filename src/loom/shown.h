/* Text of others on its way to a model or a terminal. Nodes, documents, stashes and pages may hold
 * lines that look like commands, results or heddle's own blocks; shown text never does: such a line
 * gets a backslash in front, control characters become \xNN, and characters that hide or reorder
 * others become \u{NNNN}. Commands are only ever read from a model's own output, so this protects
 * the reader, not the parser. Whatever somebody stored goes through one of these functions. */
#ifndef HEDDLE_SHOWN_H
#define HEDDLE_SHOWN_H

#include "base/sb.h"

void sb_add_shown(struct sb *b, struct sv text);

/* The same for text that follows heddle's own words on a line: its other lines are indented, so
 * that none of them looks like a line of the block. */
enum { BLOCK_INDENT = 4 };
void sb_add_block(struct sb *b, struct sv text);

/* A line that heddle made and stored: unchanged, except for characters that such a line never
 * has. */
void sb_add_clean(struct sb *b, struct sv line);

/* One line in quotes: spaces and newlines folded, cut at a word so that at most `max` characters,
 * dots included, stand between the quotes. */
void sb_add_preview(struct sb *b, struct sv text, size_t max);

/* Folded to one line, not cut: for quoted names and labels. */
void sb_add_oneline(struct sb *b, struct sv text);

/* The name of an agent, which may be the first word of a line. A name from an older log that
 * agent_name_check() would refuse is put in quotes: agent "Human". */
void sb_add_name(struct sb *b, struct sv name);

/* Is it a name that cannot be confused with heddle's own text: not a line of a block, not a word
 * for a kind of author, without marks and invisible characters? */
bool shown_is_name(struct sv name);

/* In quotes, as a command takes it: one line, with \\ before quotes and backslashes. */
void sb_add_quoted(struct sb *b, struct sv text);

enum { PREVIEW_LIST = 52, PREVIEW_MEMORY = 32 };

/* "3 continuations": the plural adds an s. */
void sb_add_count(struct sb *b, int64_t n, const char *noun);
void sb_add_count_of(struct sb *b, int64_t n, const char *one, const char *many);

#endif

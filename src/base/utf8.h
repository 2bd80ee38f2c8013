/* UTF-8 as Unicode defines it: no overlong forms, no surrogates, at most U+10FFFF. */
#ifndef HEDDLE_UTF8_H
#define HEDDLE_UTF8_H

#include "base/sb.h"

/* The first code point of v and its length in *len (1..4). Invalid or empty input
 * gives -1 and the length of the maximal invalid part (at least 1 unless empty). */
int32_t utf8_decode(struct sv v, size_t *len);

/* Offset of the first invalid byte, or -1 when all of v is valid. */
ptrdiff_t utf8_invalid(struct sv v);

/* Without the byte order mark that some editors put in front of a file. */
struct sv utf8_skip_bom(struct sv v);

/* Number of code points; an invalid part counts as one. */
size_t utf8_count(struct sv v);

/* How many columns of a terminal text takes: 2 for wide East Asian characters and emoji, 0 for
 * marks that combine with what precedes them. An invalid part counts as one. */
size_t utf8_width(struct sv v);

/* The longest prefix that takes at most `columns` columns. */
struct sv utf8_fit(struct sv v, size_t columns);

/* The longest prefix of at most `max` bytes that does not end inside a (valid) character. */
struct sv utf8_first(struct sv v, size_t max);

/* How many bytes at the end of v (0 to 3) begin a character whose rest may still come: what to hold
 * back when text arrives in parts. */
size_t utf8_unfinished(struct sv v);

/* Is it a letter of a script whose words are written without spaces between them, or with endings
 * that nobody would type in a search (Hangul)? */
bool utf8_is_unspaced(int32_t cp);

/* Does it change the direction of the text around it, or is it invisible (zero-width spaces and
 * joiners, tags, fillers, line separators)? Text with such characters is not what it looks like. */
bool utf8_is_unseen(int32_t cp);

/* Surrogates are written as they are, because JSON allows them alone; above U+10FFFF: U+FFFD. */
void sb_add_utf8(struct sb *b, uint32_t cp);

/* v with each maximal invalid part replaced by U+FFFD, as WHATWG decoding does. */
void sb_add_lossy(struct sb *b, struct sv v);

#endif

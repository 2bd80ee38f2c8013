/* Cutting text into words as SQLite's full text index does it, so that every store finds the same
 * entries.
 */
#ifndef HEDDLE_WORDS_H
#define HEDDLE_WORDS_H

#include "base/sb.h"

/* A whole line of Chinese would be one word. Spaces around every character of such a script make
 * each character a word, so that a word of several characters in a query becomes a phrase. */
struct sv words_spaced(struct sv text, struct arena *a);

/* Opened once for many texts; NULL at first. */
struct words;
enum status words_open(struct words **out, struct err *e) MUST_USE;
void        words_close(struct words *w); /* NULL is fine */

/* The words of a text, folded (case, accents), with a space between them. A word is cut after
 * WORD_MAX bytes. Bytes that are not UTF-8 are left out. */
enum { WORD_MAX = 1000 };
enum status words_of(struct words *w, struct sv text, struct arena *a, struct sv *out,
                     struct err *e) MUST_USE;

#endif

/* Amounts of money as whole nanodollars (10^-9 of a dollar), so that sums are exact: what a token
 * costs is far below a cent. */
#ifndef HEDDLE_MONEY_H
#define HEDDLE_MONEY_H

#include "base/sb.h"

enum { MONEY_DOLLAR = 1000000000 };

/* "0.0125": a decimal number of dollars, in digits; what is behind the ninth place is rounded off.
 * False: not a number, negative, or too large. */
bool money_parse(struct sv decimal, int64_t *nano);

/* The decimal number, without zeros at its end: 0.0125. */
void sb_add_decimal(struct sb *b, int64_t nano);

/* For people: $0.0125. Two places, and up to six for less than a dollar. */
void sb_add_dollars(struct sb *b, int64_t nano);

#endif

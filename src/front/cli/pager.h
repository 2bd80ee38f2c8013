/* Shows text that is longer than the screen through the user's pager. */
#ifndef HEDDLE_PAGER_H
#define HEDDLE_PAGER_H

#include "front/app.h"

/* Print text for a person. On a terminal that has fewer lines it goes through HEDDLE_PAGER, else
 * PAGER, else less(1) (with LESS=FRX unless LESS is set); an empty one or `cat` is none. Where no
 * pager can be started, and everywhere else, the text is added to app->out. */
enum status pager_print(struct app *app, struct sv text, struct err *e) MUST_USE;

#endif

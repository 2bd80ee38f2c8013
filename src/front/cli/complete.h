/* What a shell offers while somebody types. */
#ifndef HEDDLE_COMPLETE_H
#define HEDDLE_COMPLETE_H

#include "front/app.h"

/* Print the candidates for the last of app->args, which are the words of a command line behind the
 * program's name: VALUE, a tab, what it is. */
void complete_words(struct app *app);

#endif

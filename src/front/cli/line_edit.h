/* Lines from a person: with history and completion at a terminal, plain elsewhere. libedit is
 * loaded when the first line is asked for; without it lines are read as they come. */
#ifndef HEDDLE_LINE_EDIT_H
#define HEDDLE_LINE_EDIT_H

#include "base/sb.h"

struct line_edit {
    /* Words that may stand where `start` stands, behind the text `before`. The i-th of them, or
     * absent. */
    struct sv (*complete)(void *ctx, struct sv before, struct sv start, size_t i);
    void       *ctx;
    const char *history;     /* path of a file, or NULL; written after every line */
    bool        interrupted; /* the last line was given up with Ctrl-C; it is empty then */
};

/* One line without its end, in `a`; *more is false at the end of input. */
enum status line_read(struct line_edit *l, const char *prompt, struct arena *a, struct sv *out,
                      bool *more, struct err *e) MUST_USE;

/* Is a person there, who sees a prompt? */
bool line_has_person(void);

/* Is more input there already, as when several lines are pasted at a terminal? */
bool line_is_pasted(void);

#endif

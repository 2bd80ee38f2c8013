/* Warnings on standard error, and the last line of a process that cannot go on. */
#include "front/warn.h"

#include "base/sb.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One line in one write: lines of processes that share stderr do not mix. A path or a name in it
 * cannot move the cursor, nor begin a line of its own. */
void warn(const char *fmt, ...)
{
    struct arena scratch = { 0 };
    char         room[1024];
    struct sb    text = sb_in(&scratch, 0), line = sb_on(room, sizeof room, &scratch);
    va_list      ap;

    va_start(ap, fmt);
    sb_addvf(&text, fmt, ap);
    va_end(ap);
    sb_adds(&line, "warning: ");
    sb_add_plain_line(&line, sb_sv(&text));
    sb_addc(&line, '\n');
    fwrite(sb_sv(&line).s, 1, line.n, stderr);
    arena_free(&scratch);
}

void warn_text(void *ctx, struct sv text)
{
    (void)ctx;
    warn(SV_FMT, SV_ARG(text));
}

/* Memory may be what is missing: nothing is allocated here. */
void warn_and_exit(const char *what)
{
    char   room[1024];
    int    n = snprintf(room, sizeof room - 1, "heddle: %s", what);
    size_t end = n > 0 && (size_t)n < sizeof room - 1 ? (size_t)n : sizeof room - 2;

    for (size_t i = 0; i < end; i++)
        if ((unsigned char)room[i] < 0x20 || room[i] == 0x7f)
            room[i] = '?';
    room[end] = '\n';
    fwrite(room, 1, end + 1, stderr);
    exit(1);
}

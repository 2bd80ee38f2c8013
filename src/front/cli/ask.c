/* Reading an answer from the terminal. */
#include "front/cli/ask.h"

#include "base/sv.h"

#include <errno.h>
#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

int ask_terminal(void)
{
    int tty = open("/dev/tty", O_RDWR | O_CLOEXEC);

    if (tty >= 0 && isatty(tty))
        return tty;
    if (tty >= 0)
        close(tty);
    return -1;
}

bool ask_yes(int tty)
{
    char    line[16];
    ssize_t n;

    tcflush(tty, TCIFLUSH);
    do
        n = read(tty, line, sizeof line);
    while (n < 0 && errno == EINTR);
    struct sv said = sv_trim((struct sv){ line, n > 0 ? (size_t)n : 0 });
    return sv_is(said, "y") || sv_is(said, "yes") || sv_is(said, "Y") || sv_is(said, "YES");
}

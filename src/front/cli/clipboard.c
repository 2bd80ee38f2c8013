/* Copying a file to the clipboard, by a program that is installed or by the terminal. */
#include "front/cli/clipboard.h"

#include "base/env.h"

#include "base/fs.h"

#include <errno.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

/* Terminals silently drop longer sequences. */
enum { TERMINAL_MAX = 74994 };

static char wl_copy[] = "wl-copy", xclip[] = "xclip", xsel[] = "xsel", pbcopy[] = "pbcopy";
static char selection[] = "-selection", clipboard[] = "clipboard";
static char to_clipboard[] = "--clipboard", input[] = "--input";

static char *const programs[][4] = {
    { wl_copy, NULL },
    { xclip, selection, clipboard, NULL },
    { xsel, to_clipboard, input, NULL },
    { pbcopy, NULL },
};

/* True when the program ran and succeeded. It may leave a child that keeps the selection: that
 * child must not keep this program's output open. */
static bool give_to(char *const *argv, int fd)
{
    posix_spawn_file_actions_t actions;
    pid_t                      pid;
    int                        status = 0;
    struct arena               scratch = { 0 };

    if (lseek(fd, 0, SEEK_SET) != 0)
        return false;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fd, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    int error =
        posix_spawnp(&pid, argv[0], &actions, NULL, argv, env_for(ENV_TOOL, environ, &scratch));
    arena_free(&scratch);
    posix_spawn_file_actions_destroy(&actions);
    if (error)
        return false;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void add_base64(struct sb *b, struct sv v)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < v.n; i += 3) {
        size_t   left = v.n - i < 3 ? v.n - i : 3;
        uint32_t w = 0;
        for (size_t k = 0; k < 3; k++)
            w = w << 8 | (k < left ? (unsigned char)v.s[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            sb_addc(b, k <= left ? digits[w >> (18 - 6 * k) & 63] : '=');
    }
}

static enum status give_to_terminal(int fd, struct err *e)
{
    struct arena      scratch = { 0 };
    struct sv         bytes;
    UNDO(fd_undo) int tty = open("/dev/tty", O_WRONLY | O_CLOEXEC | O_NOCTTY);

    if (tty < 0 || !isatty(2)) {
        err_set(e, ST_NOT_FOUND, "there is no clipboard to copy to");
        return err_hint(e, "install wl-clipboard, xclip or xsel, or use a terminal with OSC 52");
    }
    enum status s = lseek(fd, 0, SEEK_SET) != 0 ? err_errno(e, "seek")
                                                : fs_read_fd(fd, TERMINAL_MAX, &scratch, &bytes, e);
    if (s == ST_LIMIT_EXCEEDED)
        err_in(e, "the terminal's clipboard");
    if (!s) {
        struct sb b = sb_to_fd(tty, &scratch);
        b.show = SB_RAW; /* the terminal must interpret the sequence */
        sb_adds(&b, "\033]52;c;");
        add_base64(&b, bytes);
        sb_adds(&b, "\a");
        s = sb_flush(&b, e);
    }
    arena_free(&scratch);
    return s;
}

enum status clipboard_copy(int fd, struct err *e)
{
    for (size_t i = 0; i < COUNT(programs); i++)
        if (give_to(programs[i], fd))
            return ST_OK;
    return give_to_terminal(fd, e);
}

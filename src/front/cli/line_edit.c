/* The prompt: libedit when there is one and a person types, plain lines otherwise. */
#include "front/cli/line_edit.h"

#include <dlfcn.h>
#include <locale.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* libedit has global state, as readline has, so this file has it too. */
static struct {
    bool              tried;
    struct line_edit *current;
    char *(*readline)(const char *);
    int (*add_history)(const char *);
    int (*read_history)(const char *);
    int (*write_history)(const char *);
    char **(*matches)(const char *, char *(*)(const char *, int));
    char                **buffer; /* the line as it stands */
    char                 *line;
    struct sv             before;
    volatile sig_atomic_t reads; /* inside readline(), and nowhere else */
    sigjmp_buf            give_up;
} lib;

/* Ctrl-C ends the line, not the program: readline() waits in read() and holds no resources. */
static void on_interrupt(int signal)
{
    if (lib.reads)
        siglongjmp(lib.give_up, signal);
}

static char *next_match(const char *start, int again)
{
    static size_t i;

    i = again ? i + 1 : 0;
    struct sv word = lib.current->complete(lib.current->ctx, lib.before, sv_of(start), i);
    return word.s ? strndup(word.s, word.n) : NULL;
}

static char **attempt(const char *start, int from, int to)
{
    struct sv line = lib.buffer && *lib.buffer ? sv_of(*lib.buffer) : SV("");

    (void)from; /* counted in characters, and not everywhere */
    (void)to;
    lib.before = sv_ends(line, sv_of(start)) ? sv_first(line, line.n - strlen(start)) : line;
    lib.reads = 0; /* the completion must not be interrupted by Ctrl-C */
    char **found = lib.matches(start, next_match);
    lib.reads = 1;
    return found;
}

/* Stores a function pointer from dlsym() without a cast that ISO C does not allow. */
static void find(void *so, const char *name, void *into)
{
    void *p = dlsym(so, name);

    memcpy(into, &p, sizeof p);
}

static void load(struct line_edit *l)
{
    lib.tried = true;
    setlocale(LC_CTYPE, "");
    void *so = dlopen("libedit.so.2", RTLD_NOW);
    if (!so)
        return;
    find(so, "readline", &lib.readline);
    find(so, "add_history", &lib.add_history);
    find(so, "read_history", &lib.read_history);
    find(so, "write_history", &lib.write_history);
    find(so, "rl_completion_matches", &lib.matches);
    find(so, "rl_line_buffer", &lib.buffer);
    char **(**hook)(const char *, int, int);
    find(so, "rl_attempted_completion_function", &hook);
    if (hook && lib.matches)
        *hook = attempt;
    if (l->history && lib.read_history)
        lib.read_history(l->history);
}

bool line_has_person(void)
{
    return isatty(0) && isatty(1);
}

bool line_is_pasted(void)
{
    struct pollfd in = { .fd = 0, .events = POLLIN };

    return line_has_person() && poll(&in, 1, 0) > 0 && (in.revents & POLLIN);
}

static enum status plain_line(const char *prompt, struct arena *a, struct sv *out, bool *more,
                              struct err *e)
{
    char  *line = NULL;
    size_t size = 0;

    if (line_has_person()) {
        fputs(prompt, stdout);
        fflush(stdout);
    }
    ssize_t n = getline(&line, &size, stdin);
    *more = n >= 0;
    if (n > 0 && line[n - 1] == '\n')
        n--;
    if (*more)
        *out = sv_dup((struct sv){ line, (size_t)n }, a);
    free(line);
    return ferror(stdin) ? err_errno(e, "stdin") : ST_OK;
}

/* readline(), which Ctrl-C ends. The line is in lib.line; NULL at the end of input. */
static void edited_line(struct line_edit *l, const char *prompt)
{
    struct sigaction act = { .sa_handler = on_interrupt }, old;

    lib.current = l;
    lib.line = NULL;
    sigaction(SIGINT, &act, &old);
    l->interrupted = sigsetjmp(lib.give_up, 1) != 0;
    if (l->interrupted) {
        fputc('\n', stdout);
    } else {
        lib.reads = 1;
        lib.line = lib.readline(prompt);
    }
    lib.reads = 0;
    sigaction(SIGINT, &old, NULL);
}

enum status line_read(struct line_edit *l, const char *prompt, struct arena *a, struct sv *out,
                      bool *more, struct err *e)
{
    *out = SV("");
    if (line_has_person() && !lib.tried)
        load(l);
    if (!line_has_person() || !lib.readline)
        return plain_line(prompt, a, out, more, e);
    edited_line(l, prompt);
    *more = lib.line != NULL || l->interrupted;
    if (!lib.line)
        return ST_OK;
    *out = sv_dup(sv_of(lib.line), a);
    if (out->n && lib.add_history)
        lib.add_history(lib.line);
    if (out->n && l->history && lib.write_history)
        lib.write_history(l->history);
    free(lib.line);
    return ST_OK;
}

#include "front/line_edit.h"

#include <dlfcn.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* libedit has one global state, as readline has: so have we. */
static struct {
    bool              tried;
    struct line_edit *current;
    char *(*readline)(const char *);
    int (*add_history)(const char *);
    int (*read_history)(const char *);
    int (*write_history)(const char *);
    char **(*matches)(const char *, char *(*)(const char *, int));
    size_t at;
} lib;

static char *next_match(const char *start, int again)
{
    static size_t i;

    i = again ? i + 1 : 0;
    struct sv word = lib.current->complete(lib.current->ctx, sv_of(start), lib.at, i);
    return word.s ? strndup(word.s, word.n) : NULL;
}

static char **attempt(const char *start, int from, int to)
{
    (void)to;
    lib.at = (size_t)from;
    return lib.matches(start, next_match);
}

/* A function pointer out of dlsym() without the cast that ISO C does not know. */
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
    char **(**hook)(const char *, int, int);
    find(so, "rl_attempted_completion_function", &hook);
    if (hook && lib.matches)
        *hook = attempt;
    if (l->history && lib.read_history)
        lib.read_history(l->history);
}

static enum status plain_line(const char *prompt, struct arena *a, struct sv *out, bool *more,
                              struct err *e)
{
    char  *line = NULL;
    size_t size = 0;
    bool   person = isatty(0) && isatty(1);

    if (person) {
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

enum status line_read(struct line_edit *l, const char *prompt, struct arena *a, struct sv *out,
                      bool *more, struct err *e)
{
    bool person = isatty(0) && isatty(1);

    if (person && !lib.tried)
        load(l);
    if (!person || !lib.readline)
        return plain_line(prompt, a, out, more, e);
    lib.current = l;
    char *line = lib.readline(prompt);
    *more = line != NULL;
    if (line) {
        *out = sv_dup(sv_of(line), a);
        if (out->n && lib.add_history)
            lib.add_history(line);
        free(line);
    }
    return ST_OK;
}

void line_end(struct line_edit *l)
{
    if (l->history && lib.write_history)
        lib.write_history(l->history);
}

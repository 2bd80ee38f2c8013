/* Reading a line for a POSIX shell just far enough to see which files it would write. */
#include "api/hook/shell_writes.h"

#include "api/hook/shell_reading.h"
#include "base/path.h"
#include "base/sb.h"

enum { VARIABLES_MAX = 400, PIPELINE_MAX = 8, LISTED_MAX = 32 };

/* clang-format off */
/* Words in front of a command. */
static const char *const keywords[] = { "if", "elif", "then", "else", "while", "until", "do", "{", "!", "time", "exec", "command", "builtin", "coproc" };
/* Programs that run another one; their options that take a value; the number of arguments that
 * precede the command. */
static const struct {
    const char *name, *options;
    size_t      words;
} wrappers[] = {
    { "sudo", "ugpCDhrtTR", 0 }, { "doas", "uC", 0 }, { "env", "uCS", 0 }, { "nice", "n", 0 }, { "ionice", "cnp", 0 }, { "nohup", "", 0 },
    { "setsid", "", 0 }, { "stdbuf", "ioe", 0 }, { "timeout", "ks", 1 }, { "xargs", "ILnPsdEa", 0 },
    { "busybox", "", 0 }, { "flock", "wE", 1 }, { "watch", "n", 0 }, { "parallel", "jSL", 0 }, { "npx", "p", 0 }, { "function", "", 1 },
};
static const char *const shells[] = { "sh", "bash", "zsh", "dash", "ksh" };
/* Programs that give a line to a shell, with -c. */
static const char *const callers[] = { "su", "runuser", "script" };
/* Programs that print names of files, which are among their arguments or below them. */
static const char *const listers[] = { "ls", "echo", "printf", "grep", "egrep", "fgrep", "rg", "fd" };
static const char *const setters[] = { "export", "declare", "typeset", "local", "readonly" };
/* clang-format on */

static void read_line(struct shell_reading *s, struct sv line);

bool shell_is_one_of(struct sv word, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (sv_is(word, list[i]))
            return true;
    return false;
}

static void read_nested(struct shell_reading *s, struct sv line)
{
    struct shell_reading inner = *s; /* a cd in it does not change the current directory outside */

    if (s->depth == SHELL_NESTED_MAX)
        return;
    inner.depth++;
    read_line(&inner, line);
}

/* ---- what the shell itself does ------------------------------------------------------------ */

static void set_variable(struct shell_reading *s, struct sv name, struct shell_word value)
{
    if (s->variables.list.n < VARIABLES_MAX)
        *vec_push(&s->variables.list, s->a) = (struct shell_variable){ name, value };
}

static void go_to(struct shell_reading *s, struct sv dir)
{
    s->before = s->cwd;
    s->cwd = dir;
    set_variable(s, SV("PWD"), (struct shell_word){ .text = dir, .unknown = !dir.s });
    set_variable(s, SV("OLDPWD"),
                 (struct shell_word){ .text = s->before, .unknown = !s->before.s });
}

static void change_dir(struct shell_reading *s, const struct shell_words *w)
{
    const struct shell_word *to = w->n > 1 ? &w->v[w->n - 1] : NULL;

    if (to && sv_is(to->text, "-"))
        go_to(s, s->before);
    else
        go_to(s, to ? shell_dir(s, to) : s->home);
}

/* NAME=VALUE */
static bool is_assignment(const struct shell_word *w)
{
    struct sv_cut c = sv_cut(w->text, '=');

    return c.found && c.head.n && !sv_has(c.head, '/') && c.head.s[0] != '-';
}

static void assign(struct shell_reading *s, const struct shell_words *w)
{
    for (size_t i = 0; i < w->n; i++) {
        struct shell_word value = w->v[i];
        struct sv_cut     c = sv_cut(value.text, '=');
        value.text = c.tail;
        if (is_assignment(&w->v[i]))
            set_variable(s, c.head, value);
    }
}

/* for NAME in WORD…: the variable gets the pattern {WORD,…}, which stands for all of them. */
static void run_for(struct shell_reading *s, const struct shell_words *w)
{
    struct shell_word value = { .pattern = true };
    struct sb         b = sb_in(s->a, 0);

    if (w->n < 4 || !sv_is(w->v[2].text, "in"))
        return;
    if (w->n == 4) {
        set_variable(s, w->v[1].text, w->v[3]);
        return;
    }
    for (size_t i = 3; i < w->n; i++) {
        value.unknown = value.unknown || w->v[i].unknown;
        sb_addc(&b, i == 3 ? '{' : ',');
        sb_add(&b, w->v[i].text);
    }
    sb_addc(&b, '}');
    value.text = sb_sv(&b);
    set_variable(s, w->v[1].text, value);
}

/* sh -c 'line' */
static void run_lines(struct shell_reading *s, const struct shell_words *w)
{
    for (size_t i = 1; i + 1 < w->n; i++) {
        struct sv word = w->v[i].text;
        if (word.n > 1 && word.s[0] == '-' && word.s[word.n - 1] == 'c')
            read_nested(s, w->v[i + 1].text);
    }
}

/* The same; or the shell reads a script from a here-document. */
static void run_shell(struct shell_reading *s, const struct shell_words *w)
{
    bool named = false;

    for (size_t i = 1; i < w->n; i++)
        named = named || !shell_is_option(&w->v[i]);
    run_lines(s, w);
    s->feeds_shell = s->feeds_shell || !named || shell_has_option(w, 's', "-s");
}

static void run_eval(struct shell_reading *s, const struct shell_words *w)
{
    struct sb b = sb_in(s->a, 0);

    for (size_t i = 1; i < w->n; i++) {
        sb_add(&b, w->v[i].text);
        sb_addc(&b, ' ');
    }
    read_nested(s, sb_sv(&b));
}

/* Skips a program that runs another one, with its options; false: it is not one. */
static bool skip_wrapper(struct shell_words *w)
{
    struct sv name = w->n ? path_base(w->v[0].text) : SV("");

    for (size_t i = 0; i < COUNT(wrappers); i++) {
        size_t n = 1;
        if (!sv_is(name, wrappers[i].name))
            continue;
        for (; n < w->n && shell_is_option(&w->v[n]); n++)
            if (w->v[n].text.n == 2 && sv_has(sv_of(wrappers[i].options), w->v[n].text.s[1]))
                n++;
        n += wrappers[i].words;
        n = n < w->n ? n : w->n;
        w->v += n;
        w->n -= n;
        return true;
    }
    return false;
}

static void skip_front(struct shell_words *w)
{
    while (w->n) {
        if (shell_is_one_of(w->v[0].text, keywords, COUNT(keywords)) || is_assignment(&w->v[0])) {
            w->v++;
            w->n--;
        } else if (!skip_wrapper(w)) {
            return;
        }
    }
}

/* ---- xargs --------------------------------------------------------------------------------- */

static void add_words(struct shell_words *to, const struct shell_words *from, size_t first)
{
    for (size_t i = first; i < from->n; i++)
        to->v[to->n++] = from->v[i];
}

/* Does it say itself where the names go (xargs -I{} cp {} x)? */
static bool has_braces(const struct shell_words *w)
{
    for (size_t i = 0; i < w->n; i++)
        if (sv_is(w->v[i].text, "{}"))
            return true;
    return false;
}

/* find PLACE -name N | xargs rm is find PLACE -name N -exec rm {} + */
static void run_on_found(struct shell_reading *s, const struct shell_words *find,
                         const struct shell_words *command)
{
    struct shell_words w = { .v = ARENA_NEW(s->a, struct shell_word, find->n + command->n + 3) };

    add_words(&w, find, 0);
    w.v[w.n++] = (struct shell_word){ .text = SV("-exec") };
    add_words(&w, command, 0);
    if (!has_braces(command))
        w.v[w.n++] = (struct shell_word){ .text = SV("{}") };
    w.v[w.n++] = (struct shell_word){ .text = SV("+") };
    shell_run(s, w);
}

/* ls A B | xargs rm is rm A B: what is listed below a directory counts as the directory. */
static void run_on_words(struct shell_reading *s, const struct shell_words *lister,
                         const struct shell_words *command)
{
    struct shell_words w = { .v = ARENA_NEW(s->a, struct shell_word, lister->n + command->n) };

    add_words(&w, command, 0);
    if (!has_braces(command)) {
        add_words(&w, lister, 1);
        shell_run(s, w);
        return;
    }
    for (size_t i = 1; i < lister->n && i <= LISTED_MAX; i++) {
        for (size_t k = 0; k < command->n; k++)
            if (sv_is(command->v[k].text, "{}"))
                w.v[k] = lister->v[i];
        shell_run(s, w);
    }
}

/* A command that xargs runs: what the commands before it in the pipeline list are its arguments.
 * False: none of them lists anything. */
static bool run_on_listed(struct shell_reading *s, const struct shell_pipeline *before,
                          const struct shell_words *command)
{
    bool any = false;

    for (size_t i = 0; i < before->list.n; i++) {
        const struct shell_words *from = &before->list.v[i];
        struct sv                 name = path_base(from->v[0].text);
        bool                      finds = sv_is(name, "find");
        if (!finds && !shell_is_one_of(name, listers, COUNT(listers)))
            continue;
        any = true;
        if (finds)
            run_on_found(s, from, command);
        else
            run_on_words(s, from, command);
    }
    return any;
}

/* Did skip_front() pass the word xargs? */
static bool is_of_xargs(const struct shell_words *all, const struct shell_words *command)
{
    for (size_t i = 0; i < all->n - command->n; i++)
        if (sv_is(path_base(all->v[i].text), "xargs"))
            return true;
    return false;
}

/* ---- a command ----------------------------------------------------------------------------- */

void shell_run(struct shell_reading *s, struct shell_words w)
{
    struct shell_words    all = w;
    struct shell_pipeline before = s->before_pipe;

    skip_front(&w);
    if (!w.n) {
        assign(s, &all);
        return;
    }
    s->before_pipe = (struct shell_pipeline){ 0 };
    if (is_of_xargs(&all, &w) && run_on_listed(s, &before, &w))
        return;
    struct sv name = path_base(w.v[0].text);
    if (sv_is(name, "cd") || sv_is(name, "pushd"))
        change_dir(s, &w);
    else if (sv_is(name, "popd"))
        go_to(s, (struct sv){ 0 });
    else if (sv_is(name, "eval"))
        run_eval(s, &w);
    else if (sv_is(name, "trap") && w.n > 1)
        read_nested(s, w.v[1].text);
    else if (sv_is(name, "for"))
        run_for(s, &w);
    else if (shell_is_one_of(name, setters, COUNT(setters)))
        assign(s, &w);
    else if (shell_is_one_of(name, shells, COUNT(shells)))
        run_shell(s, &w);
    else if (shell_is_one_of(name, callers, COUNT(callers)))
        run_lines(s, &w);
    shell_command(s, &w);
}

/* ---- a line -------------------------------------------------------------------------------- */

/* What is restored when a subshell ends. */
struct outside {
    struct sv cwd;
    size_t    variables;
};

struct line_reading {
    struct shell_lexer x;
    VEC(struct shell_word) words; /* of the command */
    struct shell_pipeline pipeline;
    VEC(struct outside) outside; /* of each subshell that is open */
};

static void read_inner(struct shell_reading *s, struct line_reading *l)
{
    for (size_t i = 0; i < l->x.inner.n; i++)
        read_nested(s, l->x.inner.v[i]);
    l->x.inner.n = 0;
}

static void read_docs(struct shell_reading *s, struct line_reading *l)
{
    for (size_t i = 0; s->feeds_shell && i < l->x.docs.n; i++)
        read_nested(s, l->x.docs.v[i]);
    if (l->x.docs.n)
        s->feeds_shell = false;
    l->x.docs.n = 0;
}

/* The command is part of a pipeline that goes on. */
static void keep_for_pipe(struct shell_reading *s, struct line_reading *l)
{
    struct shell_words all = { l->words.v, l->words.n };
    struct shell_words kept = { .v = ARENA_NEW(s->a, struct shell_word, l->words.n + 1) };

    skip_front(&all);
    add_words(&kept, &all, 0);
    if (kept.n && l->pipeline.list.n < PIPELINE_MAX)
        *vec_push(&l->pipeline.list, s->a) = kept;
}

static void end_command(struct shell_reading *s, struct line_reading *l, enum shell_token t)
{
    s->before_pipe = l->pipeline;
    shell_run(s, (struct shell_words){ l->words.v, l->words.n });
    if (t == SHELL_PIPE)
        keep_for_pipe(s, l);
    else
        l->pipeline = (struct shell_pipeline){ 0 };
    l->words.n = 0;
    read_docs(s, l);
    if (t == SHELL_OPEN) {
        *vec_push(&l->outside, s->a) = (struct outside){ s->cwd, s->variables.list.n };
    } else if (t == SHELL_CLOSE && l->outside.n) {
        struct outside o = l->outside.v[--l->outside.n];
        s->variables.list.n = o.variables;
        s->cwd = o.cwd;
    }
}

static void read_line(struct shell_reading *s, struct sv line)
{
    struct line_reading l = { .x = { .rest = line, .a = s->a } };
    enum shell_token    t, before = SHELL_BREAK;

    do {
        l.x.variables = &s->variables;
        t = shell_next(&l.x);
        if (t == SHELL_WORD && before == SHELL_OUT)
            shell_add(s, &l.x.word);
        else if (t == SHELL_WORD && before != SHELL_IN)
            *vec_push(&l.words, s->a) = l.x.word;
        read_inner(s, &l);
        if (t == SHELL_BREAK || t == SHELL_PIPE || t == SHELL_OPEN || t == SHELL_CLOSE ||
            t == SHELL_END)
            end_command(s, &l, t);
        before = t;
    } while (t != SHELL_END);
}

void shell_writes(struct sv line, struct sv cwd, struct sv home, struct arena *a,
                  struct shell_paths *out)
{
    struct shell_reading s = { .a = a, .out = out, .home = home };

    *out = (struct shell_paths){ 0 };
    set_variable(&s, SV("HOME"), (struct shell_word){ .text = home, .unknown = !home.n });
    go_to(&s, cwd);
    read_line(&s, line);
}

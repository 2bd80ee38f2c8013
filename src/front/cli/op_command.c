/* Commands that are operations: the options, the synopsis and the words of the command line are
 * made from the table of parameters, and the answer is printed by the operation's own printer. */
#include "api/remote.h"
#include "api/request.h"
#include "api/term.h"
#include "base/vec.h"
#include "front/cli/command.h"
#include "front/cli/interrupt.h"
#include "front/cli/pager.h"
#include "front/cli/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- from parameters to options ------------------------------------------------------ */

static enum word_how how_of(const struct command *row, const struct param *p)
{
    for (const struct cli_word *w = row->words; w && w->param; w++)
        if (strcmp(w->param, p->name) == 0)
            return w->how;
    return WORD_OPTION;
}

static bool is_option(enum word_how how)
{
    return (how & (WORD_OPTION | WORD_EITHER)) && !(how & WORD_HIDDEN);
}

/* expected_rev is written expected-rev on a command line. */
static const char *dashed(const char *name, struct arena *a)
{
    size_t n = strlen(name) + 1;
    char  *copy = ARENA_NEW(a, char, n);

    for (size_t i = 0; i < n; i++)
        copy[i] = (char)(name[i] == '_' ? '-' : name[i]);
    return copy;
}

static const char *option_name(const struct param *p, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    sb_addf(&b, "--%s", dashed(p->name, a));
    return sb_sv(&b).s;
}

/* What help calls the value: the name in the table, else the values there are. */
static const char *value_name(const struct param *p, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    if (p->type == PARAM_FLAG || p->value)
        return p->value;
    for (size_t i = 0; p->type == PARAM_ENUM && p->values[i]; i++)
        sb_addf(&b, "%s%s", i ? "|" : "", p->values[i]);
    return b.n ? sb_sv(&b).s : "VALUE";
}

/* Help names the value that an option has when it is not given, unless the table does so in its own
 * words. */
static const char *help_of(const struct param *p, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    if (!p->fallback || strstr(p->help, "default"))
        return p->help;
    sb_addf(&b, "%s (default: %s)", p->help, p->fallback);
    return sb_sv(&b).s;
}

/* The errors name the option as a person typed it. */
enum status command_set_param(const struct command *c, const struct opt *o, void *into,
                              struct sv value, struct arena *a, struct err *e)
{
    struct param p = c->op->params[o->offset];
    struct sb    b = sb_in(a, 0);

    if (p.type == PARAM_LIST && (how_of(c, &p) & WORD_WHOLE)) {
        param_list_add((struct sv_list *)(void *)((char *)into + p.offset), value, a);
        return ST_OK;
    }
    sb_addf(&b, "--%s", o->name);
    p.name = sb_sv(&b).s;
    return param_set(&p, into, value, a, e);
}

/* The parameter behind a name as it is typed: base_seq is written --base-seq. */
static const struct param *typed_param(const struct operation *op, const char *typed)
{
    struct arena        scratch = { 0 };
    struct sv           name = sv_of(typed);
    const struct param *p = op->params;

    name = sv_starts(name, SV("--")) ? sv_skip(name, 2) : name;
    while (!sv_is(name, dashed(p->name, &scratch)))
        p++;
    arena_free(&scratch);
    return p;
}

enum status command_set(const struct operation *op, void *params, const char *typed,
                        struct sv value, struct arena *a, struct err *e)
{
    struct param p = *typed_param(op, typed);

    p.name = typed;
    return value.s ? param_set(&p, params, value, a, e) : ST_OK;
}

/* Where the shell's own options begin, behind the parameters. */
static size_t shell_offset(const struct operation *op)
{
    size_t unit = _Alignof(max_align_t);

    return (op->params_size + unit - 1) / unit * unit;
}

void *command_shell_opts(const struct command *c, const void *params)
{
    return (char *)params + shell_offset(c->op); /* the caller may change it */
}

static const struct opt *options_of(const struct command *row, struct arena *a)
{
    VEC(struct opt) list = { 0 };

    for (const struct param *p = row->op->params; p && p->type; p++) {
        if (!is_option(how_of(row, p)))
            continue;
        bool flag = p->type == PARAM_FLAG;
        *vec_push(&list, a) = (struct opt){
            .type = flag ? OPT_FLAG : OPT_PARAM,
            .name = dashed(p->name, a),
            .value = value_name(p, a),
            .help = help_of(p, a),
            .offset = flag ? p->offset : (size_t)(p - row->op->params),
            .letter = p->letter,
        };
    }
    for (const struct opt *o = row->opts; o && o->type; o++) {
        struct opt *own = vec_push(&list, a);
        *own = *o;
        own->offset += shell_offset(row->op);
    }
    *vec_push(&list, a) = (struct opt){ 0 };
    return list.v;
}

/* ---- synopsis ------------------------------------------------------------------------ */

static void put_words(struct sb *b, const struct command *row, struct arena *a)
{
    for (const struct cli_word *w = row->words; w && w->param; w++) {
        const struct param *p = param_find(row->op->params, sv_of(w->param));
        if (!p || (w->how & (WORD_OPTION | WORD_HIDDEN)))
            continue;
        const char *open = w->how & WORD_OPTIONAL ? "[" : "", *close = *open ? "]" : "";
        sb_addf(b, "%s%s%s%s%s", b->n ? " " : "", open, value_name(p, a),
                w->how & WORD_REST ? "..." : "", close);
    }
}

static void put_options(struct sb *b, const struct command *row, bool required, struct arena *a)
{
    for (const struct param *p = row->op->params; p && p->type; p++) {
        if (!is_option(how_of(row, p)) || p->required != required)
            continue;
        const char *value = value_name(p, a);
        sb_addf(b, "%s%s--%s%s%s%s", b->n ? " " : "", required ? "" : "[", dashed(p->name, a),
                value ? " " : "", value ? value : "", required ? "" : "]");
    }
}

static const char *synopsis_of(const struct command *row, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    put_words(&b, row, a);
    put_options(&b, row, true, a);
    put_options(&b, row, false, a);
    for (const struct opt *o = row->opts; o && o->type; o++)
        sb_addf(&b, "%s[--%s%s%s]", b.n ? " " : "", o->name, o->value ? " " : "",
                o->value ? o->value : "");
    return sb_sv(&b).s;
}

static void count_words(const struct command *row, size_t *min, size_t *max)
{
    *min = *max = 0;
    for (const struct cli_word *w = row->words; w && w->param; w++) {
        if (w->how & (WORD_OPTION | WORD_HIDDEN))
            continue;
        *min += !(w->how & WORD_OPTIONAL);
        *max = w->how & WORD_REST ? SIZE_MAX : *max + 1;
    }
}

static enum status run_operation(struct app *app, const void *opts, struct err *e);

const char *command_summary(const struct command *row)
{
    return row->summary ? row->summary : row->op->summary;
}

enum op_group command_group(const struct command *row)
{
    return row->op ? row->op->group : row->group;
}

const struct command *command_complete(const struct command *row, struct arena *a)
{
    const struct operation *op = row->op;

    if (!op)
        return row;
    struct command *c = ARENA_NEW(a, struct command, 1);
    *c = *row;
    c->synopsis = row->synopsis ? row->synopsis : synopsis_of(row, a);
    c->summary = command_summary(row);
    c->details = row->details ? row->details : op->details;
    c->group = command_group(row);
    c->opts = options_of(row, a);
    c->opts_size = shell_offset(op) + row->opts_size;
    if (!row->needs)
        c->needs = op->needs < NEEDS_ROOT ? op->needs : NEEDS_ROOT; /* the request opens the log */
    c->run = row->run ? row->run : run_operation;
    count_words(row, &c->min_args, &c->max_args);
    return c;
}

/* ---- from words to parameters ---------------------------------------------------------- */

/* The text that a word stands for: itself, standard input, or the bytes of a file. */
static enum status word_text(struct app *app, const struct param *p, enum word_how how,
                             struct sv *text, struct err *e)
{
    size_t most = p->type == PARAM_TEXT ? (size_t)p->max : 0;

    if ((how & (WORD_STDIN | WORD_FILE)) && sv_is(*text, "-"))
        return app_text(app, *text, text, e);
    return how & WORD_FILE ? app_file(app, *text, most, text, e) : ST_OK;
}

static enum status set_word(struct app *app, const struct param *p, enum word_how how, void *into,
                            struct sv text, struct err *e)
{
    struct sv_list *list = (struct sv_list *)(void *)((char *)into + p->offset);

    if (!(how & WORD_EITHER) && word_text(app, p, how, &text, e)) /* load_options() does it */
        return err_code(e);
    if (p->type != PARAM_LIST)
        return param_set(p, into, text, app->a, e);
    param_list_add(list, text, app->a); /* a word is one item, whatever commas it has */
    return ST_OK;
}

static enum status set_words(struct app *app, const struct command *c, void *into, struct err *e)
{
    size_t at = 0;

    for (const struct cli_word *w = c->words; w && w->param; w++) {
        const struct param *p = param_find(c->op->params, sv_of(w->param));
        if (w->how & (WORD_OPTION | WORD_HIDDEN))
            continue;
        do {
            if (at < app->n_args && set_word(app, p, w->how, into, app_arg(app, at), e))
                return err_code(e);
            at++;
        } while ((w->how & WORD_REST) && at < app->n_args);
    }
    return ST_OK;
}

/* Options whose value is a file or "-": the parameter is what the file holds. */
static enum status load_options(struct app *app, const struct command *c, void *into, struct err *e)
{
    for (const struct cli_word *w = c->words; w && w->param; w++) {
        const struct param *p = param_find(c->op->params, sv_of(w->param));
        struct sv          *field = (struct sv *)(void *)((char *)into + p->offset);
        if ((w->how & (WORD_OPTION | WORD_EITHER)) && field->s &&
            word_text(app, p, w->how, field, e))
            return err_code(e);
    }
    return ST_OK;
}

/* A required parameter that is an option, or may be one: the error names it and shows the usage. */
static enum status need_options(const struct command *c, const void *params, struct arena *a,
                                struct err *e)
{
    for (const struct param *p = c->op->params; p && p->type; p++)
        if (p->required && is_option(how_of(c, p)) && !param_is_given(p, params))
            return command_need(c->name,
                                how_of(c, p) & WORD_EITHER ? value_name(p, a) : option_name(p, a),
                                (struct sv){ 0 }, e);
    return ST_OK;
}

/* ---- the answer ------------------------------------------------------------------------ */

/* Warnings about shared threads, which have a code, are printed as notes, as Leslie does. */
void command_say_warnings(struct app *app, const struct request *r)
{
    for (size_t i = 0; i < r->warnings.n; i++) {
        const struct warning *x = &r->warnings.v[i];
        if (x->in_doc && app->json)
            continue;
        if (x->code.n)
            app_note(app, SV_FMT, SV_ARG(x->message));
        else
            warn(SV_FMT, SV_ARG(x->message));
    }
}

enum status command_print_answer(struct app *app, const struct operation *op, struct request *r,
                                 struct err *e)
{
    struct json doc;

    if (app->json) {
        sb_add(&app->out, request_document(r));
        sb_addc(&app->out, '\n');
        return ST_OK;
    }
    if (json_parse(request_document(r), JSON_KEEP_ORDER, app->a, &doc, e))
        return err_in(e, "the answer of %s", op->name);
    struct term t = app_term(app);
    op->print(&doc, &t);
    return ST_OK;
}

/* The same for a command whose answer is all it prints: a long one goes through a pager. */
static enum status print_paged(struct app *app, const struct command *c, struct request *r,
                               struct err *e)
{
    struct sb   text = sb_in(app->a, 0);
    struct json doc;

    if (app->json || c->data || !isatty(app->out.fd))
        return command_print_answer(app, c->op, r, e);
    if (json_parse(request_document(r), JSON_KEEP_ORDER, app->a, &doc, e))
        return err_in(e, "the answer of %s", c->op->name);
    struct term t = app_term(app);
    t.out = &text;
    c->op->print(&doc, &t);
    return pager_print(app, sb_sv(&text), e);
}

/* Print the details of an error for a person. */
static void print_details(struct app *app, const struct operation *op, const struct request *r)
{
    struct json doc;
    struct err  ignored;

    if (!op->print_details || !r->error_details.s || app->json ||
        json_parse(r->error_details, JSON_KEEP_ORDER, app->a, &doc, &ignored))
        return;
    struct term t = app_term(app);
    op->print_details(&doc, &t);
}

/* A terminal can be resized between two events, but not while a bulk of them is printed: those ask
 * for its width once. */
static struct term event_term(struct app *app, struct arena *a)
{
    bool bulk = app->command->op->streams & STREAM_BULK;

    if (!app->event_term.out || !bulk)
        app->event_term = app_term(app);
    app->event_term.a = a;
    return app->event_term;
}

/* One event as it arrives: a line of JSON, or the text for a person, printed at once unless there
 * are many. */
static enum status take_event(void *ctx, struct sv document, struct err *e)
{
    struct app             *app = ctx;
    const struct operation *op = app->command->op;
    struct arena            scratch = { 0 };
    struct json             doc;
    enum status             s = ST_OK;

    if (app->json || !op->print_event) {
        sb_add(&app->out, document);
        sb_addc(&app->out, '\n');
    } else {
        struct term t = event_term(app, &scratch);
        s = json_parse(document, JSON_KEEP_ORDER, &scratch, &doc, e);
        if (!s)
            op->print_event(&doc, &t);
    }
    arena_free(&scratch);
    if (s || ((op->streams & STREAM_BULK) && !app->out.failed))
        return s;
    return sb_flush(&app->out, e);
}

static void show_progress(void *ctx, const char *what, int64_t done, int64_t total)
{
    struct progress *p = ctx;

    if (p->what != what) {
        if (p->what)
            progress_end(p);
        *p = progress_of(what, total);
    }
    progress_at(p, done);
}

/* A shell's user may name any file. */
static enum status open_named(void *ctx, struct sv name, int *fd, struct err *e)
{
    const struct app *app = ctx;

    *fd = open(sv_cstr(name, app->a), O_RDONLY | O_CLOEXEC);
    return *fd < 0 ? err_errno(e, "open " SV_FMT, SV_ARG(name)) : ST_OK;
}

/* The file that r->in reads: standard input unless a word names another. */
static enum status open_source(struct app *app, const struct command *c, const void *params,
                               int *fd, struct err *e)
{
    *fd = STDIN_FILENO;
    for (const struct cli_word *w = c->words; w && w->param; w++) {
        const struct param *p = param_find(c->op->params, sv_of(w->param));
        const struct sv *name = (const struct sv *)(const void *)((const char *)params + p->offset);
        if (!(w->how & WORD_SOURCE) || !name->s || sv_is(*name, "-"))
            continue;
        if (open_named(app, *name, fd, e))
            return err_code(e);
    }
    return ST_OK;
}

/* The same for a directory to write below. */
static enum status make_named(void *ctx, struct sv name, int *fd, struct err *e)
{
    const struct app *app = ctx;

    if (mkdir(sv_cstr(name, app->a), 0777) != 0 && errno != EEXIST)
        return err_errno(e, "mkdir " SV_FMT, SV_ARG(name));
    *fd = open(sv_cstr(name, app->a), O_PATH | O_DIRECTORY | O_CLOEXEC);
    return *fd < 0 ? err_errno(e, SV_FMT, SV_ARG(name)) : ST_OK;
}

static enum status run_request(struct app *app, struct request *r, void *params, struct err *e)
{
    const struct command *c = app->command;
    struct lines          in;
    int                   fd = -1;

    if (set_words(app, c, params, e) || need_options(c, params, app->a, e))
        return err_code(e);
    if (load_options(app, c, params, e) || (c->prepare && c->prepare(app, r, params, e)))
        return err_code(e);
    if ((c->op->streams & STREAM_IN) && !r->in) {
        if (open_source(app, c, params, &fd, e))
            return err_code(e);
        if (fd == STDIN_FILENO)
            app_say_waiting(app);
        in = lines_of(fd, REQUEST_LINE_MAX, app->a);
        r->in = &in;
    }
    if (c->op->cancels && !r->cancel)
        r->cancel = interrupt_begin();
    enum status s = app->via_server && remote_can(c->op, params)
                        ? remote_run(c->op, r, params, e)
                        : operation_run(c->op, r, params, e);
    if (c->op->cancels)
        interrupt_end();
    if (fd > STDIN_FILENO)
        close(fd);
    r->in = NULL;
    return s;
}

static bool ask(void *ctx, struct sv question)
{
    return app_ask(ctx, question);
}

static enum status run_operation(struct app *app, const void *opts, struct err *e)
{
    const struct command *c = app->command;
    void                 *params = (void *)opts; /* command_parse() made it for this call */
    struct progress       progress = { 0 };
    struct request        r;

    request_init(&r, &app->ws, app->a);
    r.actor = app->actor;
    r.out = &app->out;
    r.event = take_event;
    r.event_ctx = app;
    r.open = open_named;
    r.directory = make_named;
    r.open_ctx = app;
    r.ask = ask;
    r.ask_ctx = app;
    r.progress = show_progress;
    r.progress_ctx = &progress;
    r.warn_now = warn_text;
    enum status s = run_request(app, &r, params, e);
    if (progress.what)
        progress_end(&progress);
    app->error_details = r.error_details;
    request_end(&r);
    command_say_warnings(app, &r);
    if (s)
        print_details(app, c->op, &r);
    if (!s)
        s = c->finish ? c->finish(app, &r, params, e) : print_paged(app, c, &r, e);
    if (!s && r.verdict.code) { /* the document is printed; the verdict goes to stderr */
        app->answered = true;
        *e = r.verdict;
        s = e->code;
    }
    return s;
}

enum status command_call(struct app *app, const struct command *row, void *params, struct err *e)
{
    const struct command *asked = app->command;
    size_t                n_args = app->n_args;

    app->command = row;
    app->n_args = 0;
    enum status s = run_operation(app, params, e);
    app->command = asked;
    app->n_args = n_args;
    return s;
}

/* Commands that are operations: the options, the synopsis and the words of the command line are
 * made from the table of parameters, and the answer is printed by the operation's own printer. */
#include "api/request.h"
#include "api/term.h"
#include "base/vec.h"
#include "front/cli/command.h"
#include "front/leslie/format.h"
#include "front/share/door.h"

#include <string.h>

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
    return (how & WORD_OPTION) && !(how & WORD_HIDDEN);
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

/* The errors name the option as a person typed it. */
enum status command_set_param(const struct operation *op, const struct opt *o, void *into,
                              struct sv value, struct arena *a, struct err *e)
{
    struct param p = op->params[o->offset];
    struct sb    b = sb_in(a, 0);

    sb_addf(&b, "--%s", o->name);
    p.name = sb_sv(&b).s;
    return param_set(&p, into, value, a, e);
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
            .help = p->help,
            .offset = flag ? p->offset : (size_t)(p - row->op->params),
            .letter = p->letter,
        };
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

const struct command *command_of_operation(const struct command *row, struct arena *a)
{
    const struct operation *op = row->op;
    struct command         *c = ARENA_NEW(a, struct command, 1);

    *c = *row;
    c->synopsis = row->synopsis ? row->synopsis : synopsis_of(row, a);
    c->summary = op->summary;
    c->details = row->details ? row->details : op->details;
    c->group = op->group;
    c->opts = options_of(row, a);
    c->opts_size = op->params_size;
    c->needs = op->needs < NEEDS_ROOT ? op->needs : NEEDS_ROOT; /* the request opens the log */
    c->run = run_operation;
    count_words(row, &c->min_args, &c->max_args);
    return c;
}

/* ---- from words to parameters ---------------------------------------------------------- */

/* The text that a word stands for: itself, standard input, or the bytes of a file. */
static enum status word_text(struct app *app, enum word_how how, struct sv *text, struct err *e)
{
    if ((how & (WORD_STDIN | WORD_FILE)) && sv_is(*text, "-"))
        return app_text(app, *text, text, e);
    return how & WORD_FILE ? app_file(app, *text, 0, text, e) : ST_OK;
}

static enum status set_word(struct app *app, const struct param *p, enum word_how how, void *into,
                            struct sv text, struct err *e)
{
    struct sv_list *list = (struct sv_list *)(void *)((char *)into + p->offset);

    if (word_text(app, how, &text, e))
        return err_code(e);
    if (p->type != PARAM_LIST)
        return param_set(p, into, text, app->a, e);
    sv_list_add(list, text, app->a); /* a word is one item, whatever commas it has */
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
        if ((w->how & WORD_OPTION) && field->s && word_text(app, w->how, field, e))
            return err_code(e);
    }
    return ST_OK;
}

/* ---- the answer ------------------------------------------------------------------------ */

static void say_warnings(struct app *app, const struct request *r)
{
    for (size_t i = 0; i < r->warnings.n; i++)
        app_note(app, SV_FMT, SV_ARG(r->warnings.v[i].message));
}

static void put_warning(struct jw *w, const struct warning *x)
{
    jw_open(w, '{');
    jw_kstr(w, "code", x->code);
    jw_kstr(w, "message", x->message);
    if (x->thread.s) {
        jw_key(w, "context");
        jw_open(w, '{');
        jw_kstr(w, "thread", x->thread);
        jw_close(w, '}');
    }
    jw_close(w, '}');
}

/* Under the name `leslie` the document stands in Leslie's envelope; of a list only the items. */
static enum status print_envelope(struct app *app, struct request *r, struct err *e)
{
    struct sb          b = sb_in(app->a, 0);
    struct jw          w = jw_in(&b, 2);
    struct json        doc;
    const struct json *items;

    if (json_parse(request_document(r), JSON_KEEP_ORDER, app->a, &doc, e))
        return err_code(e);
    items = json_find(&doc, "items");
    jw_open(&w, '{');
    jw_kbool(&w, "success", true);
    jw_key(&w, "data");
    jw_json(&w, items ? items : &doc);
    if (r->warnings.n) {
        jw_key(&w, "warnings");
        jw_open(&w, '[');
        for (size_t i = 0; i < r->warnings.n; i++)
            put_warning(&w, &r->warnings.v[i]);
        jw_close(&w, ']');
    }
    jw_close(&w, '}');
    sb_addc(&b, '\n');
    return format_print(&app->out, sb_sv(&b), app->format, app->a, e);
}

static enum status print_answer(struct app *app, const struct operation *op, struct request *r,
                                struct err *e)
{
    struct term t = app_term(app);
    struct json doc;

    if (is_leslie(app))
        return print_envelope(app, r, e);
    if (app->json) {
        sb_add(&app->out, request_document(r));
        sb_addc(&app->out, '\n');
        return ST_OK;
    }
    if (json_parse(request_document(r), JSON_KEEP_ORDER, app->a, &doc, e))
        return err_in(e, "the answer of %s", op->name);
    op->print(&doc, &t);
    return ST_OK;
}

static enum status run_operation(struct app *app, const void *opts, struct err *e)
{
    const struct command *c = app->command;
    void                 *params = (void *)opts; /* fresh from command_parse(), and ours */
    struct request        r;

    request_init(&r, &app->ws, app->a);
    r.actor = app->actor;
    r.out = &app->out;
    enum status s = set_words(app, c, params, e);
    if (!s && is_leslie(app) && !app->ws.has_heddle) /* upstream makes one with any command */
        s = workspace_make(&app->ws, SV(".heddle"), e);
    if (!s)
        s = load_options(app, c, params, e);
    if (!s)
        s = operation_run(c->op, &r, params, e);
    app->error_details = r.error_details;
    request_end(&r);
    if (!is_leslie(app))
        say_warnings(app, &r);
    return s ? s : print_answer(app, c->op, &r, e);
}

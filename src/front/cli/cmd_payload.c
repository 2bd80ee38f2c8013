/* `payload` (`teddy context`), as the shell has it: which operation is meant, the names on standard
 * input, and where the bytes go. */
#include "api/payload/payload_call.h"
#include "api/payload/payload_ops.h"
#include "base/fs.h"
#include "front/cli/payload_out.h"

#include <stdio.h>
#include <unistd.h>

struct payload_extra {
    struct sv          output, check, manifest, since, parse;
    bool               copy, no_copy, from_stdin, explain, token_tree, force;
    struct payload_out out; /* the destination of a payload */
};

/* clang-format off */
#define O(field) offsetof(struct payload_extra, field)
static const struct opt opts[] = {
    { OPT_TEXT, "output",     "FILE", "write to FILE; - is stdout, the default outside a turn", O(output), 'o' },
    { OPT_FLAG, "copy",       NULL,   "copy it to the clipboard as well", O(copy), 0 },
    { OPT_FLAG, "no-copy",    NULL,   "do not copy (the default, except as `teddy context`)", O(no_copy), 0 },
    { OPT_FLAG, "stdin",      NULL,   "add the files named on stdin, one per line or with NUL between", O(from_stdin), 0 },
    { OPT_FLAG, "explain",    NULL,   "print where bytes and tokens go, in place of the payload", O(explain), 0 },
    { OPT_FLAG, "token-tree", NULL,   "print the tokens of every directory and file", O(token_tree), 0 },
    { OPT_TEXT, "check",      "FILE", "does FILE still hold what a payload would hold now?", O(check), 0 },
    { OPT_TEXT, "manifest",   "FILE", "with --check: compare with this manifest instead", O(manifest), 0 },
    { OPT_TEXT, "since",      "FILE", "list what changed since the payload or manifest FILE", O(since), 0 },
    { OPT_TEXT, "parse",      "FILE", "read FILE back: list, JSON, or files below --output DIR", O(parse), 0 },
    { OPT_FLAG, "force",      NULL,   "with --parse: write over files that are there", O(force), 0 },
    { 0 },
};
#undef O
static const struct cli_word words[] = {
    { "paths", WORD_OPTIONAL | WORD_REST },
    { "names", WORD_HIDDEN },
    { "self", WORD_HIDDEN },
    { "manifest", WORD_HIDDEN },
    { "count", WORD_HIDDEN },
    { 0 },
};
/* clang-format on */

/* ---- words --------------------------------------------------------------------------------- */

/* An empty name comes from a variable of a script that is not set: `--check "$file"` must not
 * print a payload and succeed. */
static enum status check_names(const struct payload_params *p, const struct payload_extra *x,
                               struct err *e)
{
    const struct {
        const char *name;
        struct sv   value;
    } all[] = { { "turn", p->turn },   { "output", x->output },     { "check", x->check },
                { "since", x->since }, { "manifest", x->manifest }, { "parse", x->parse } };

    for (size_t i = 0; i < COUNT(all); i++)
        if (all[i].value.s && !all[i].value.n)
            return err_set(e, ST_USAGE, "--%s takes a name, not an empty one", all[i].name);
    return ST_OK;
}

/* Two options that contradict each other are an error. */
static enum status check_pairs(const struct payload_extra *x, struct err *e)
{
    const struct {
        const char *one, *other;
        bool        both;
    } pairs[] = {
        { "copy", "no-copy", x->copy && x->no_copy },
        { "explain", "token-tree", x->explain && x->token_tree },
        { "check", "since", x->check.n && x->since.n },
        { "parse", "check", x->parse.n && x->check.n },
        { "parse", "since", x->parse.n && x->since.n },
    };

    for (size_t i = 0; i < COUNT(pairs); i++)
        if (pairs[i].both)
            return err_set(e, ST_USAGE, "--%s and --%s do not go together", pairs[i].one,
                           pairs[i].other);
    if (x->force && !x->parse.n)
        return err_set(e, ST_USAGE, "--force goes with --parse");
    if (x->manifest.n && !x->check.n)
        return err_set(e, ST_USAGE, "--manifest goes with --check");
    return ST_OK;
}

enum { STDIN_LIMIT = 64 << 20 };

/* Names as other programs print them: with NUL between when there is one, else one per line, which
 * may end with CR LF. */
static enum status take_stdin(struct app *app, struct payload_params *p, struct err *e)
{
    VEC(struct sv) names = { 0 };
    struct sv text;

    if (app->n_args)
        return err_set(e, ST_USAGE, "--stdin and paths on the command line do not go together");
    app_say_waiting(app);
    if (fs_read_fd(0, STDIN_LIMIT, app->a, &text, e))
        return err_in(e, "stdin");
    char between = sv_has(text, 0) ? 0 : '\n';
    vec_reserve(&names, 1, app->a); /* so that an empty list is not taken for an absent one */
    while (text.n) {
        struct sv_cut c = sv_cut(text, between);
        if (between && c.head.n && c.head.s[c.head.n - 1] == '\r')
            c.head.n--;
        if (c.head.n)
            *vec_push(&names, app->a) = c.head;
        text = c.tail;
    }
    p->names = (struct sv_list){ names.v, names.n };
    return ST_OK;
}

static enum status take_words(struct app *app, struct payload_params *p,
                              const struct payload_extra *x, struct err *e)
{
    struct sv *paths = ARENA_NEW(app->a, struct sv, app->n_args + 1);

    if (x->from_stdin)
        return take_stdin(app, p, e);
    for (size_t i = 0; i < app->n_args; i++)
        paths[i] = app_arg(app, i);
    p->paths = (struct sv_list){ paths, app->n_args };
    return ST_OK;
}

/* ---- other operations ---------------------------------------------------------------------- */

static enum status run_parse(struct app *app, const struct payload_extra *x, struct err *e)
{
    struct payload_parse_params q = {
        .file = x->parse, .into = x->output, .force = x->force, .list = !app->json
    };

    static const struct command row = { .name = "payload", .op = &op_payload_parse, .data = true };

    return command_call(app, &row, &q, e);
}

static enum status run_verify(struct app *app, const struct payload_extra *x, bool numbered,
                              struct err *e)
{
    struct payload_verify_params q = { x->check, x->manifest, numbered };

    static const struct command row = { .name = "payload", .op = &op_payload_verify };

    return command_call(app, &row, &q, e);
}

static enum status run_compare(struct app *app, struct payload_params *p,
                               const struct payload_extra *x, struct err *e)
{
    p->file = x->check.n ? x->check : x->since;
    p->self = payload_out_place(app, p->file, (struct sv){ 0 });
    struct command row = { .name = "payload",
                           .op = x->check.n ? &op_payload_check : &op_payload_compare };
    return command_call(app, &row, p, e);
}

/* Make the files that other implementations of teddy make on first use, so that a person finds the
 * list to edit. */
static void make_defaults(struct app *app)
{
    struct err e;
    struct sv  list = SV("# One file, directory, glob or URL per line.\n");
    bool       there = false;

    if (fs_exists(workspace_project_fd(&app->ws), SV(".teddy"), &there, &e) ||
        (!there &&
         (workspace_make(&app->ws, SV(".teddy"), &e) ||
          fs_write(workspace_project_fd(&app->ws), SV(".teddy/.gitignore"), SV("*\n"), 0644, &e) ||
          fs_write(workspace_project_fd(&app->ws), SV(".teddy/global.context"), list, 0644, &e))))
        warn("%s", e.text);
}

/* ---- making one ------------------------------------------------------------------------------ */

static enum status prepare(struct app *app, struct request *r, void *params, struct err *e)
{
    struct payload_extra *x = command_shell_opts(app->command, params);

    (void)e;
    payload_out_take(&x->out, r);
    return ST_OK;
}

/* Print one line about the payload: on stdout when it went to a file, else on stderr if that is a
 * terminal. */
static enum status say_done(struct app *app, struct request *r, const struct payload_out *d,
                            struct err *e)
{
    bool        quiet = d->in_turn && sv_is(app->program, "teddy");
    struct sb   b = sb_in(app->a, 0);
    struct term t = { .out = &b, .a = app->a };
    struct json doc;

    if (json_parse(request_document(r), JSON_KEEP_ORDER, app->a, &doc, e))
        return err_code(e);
    op_payload_make.print(&doc, &t);
    if (d->name.n && !quiet) {
        sb_adds(&app->out, "wrote ");
        sb_add_plain(&app->out, d->shown);
        sb_adds(&app->out, ", ");
        sb_add(&app->out, sb_sv(&b));
    } else if (isatty(2) && !isatty(1)) {
        fputs(sb_sv(&b).s, stderr);
    }
    return ST_OK;
}

static enum status finish(struct app *app, struct request *r, const void *params, struct err *e)
{
    struct payload_extra *x = command_shell_opts(app->command, params);

    if (payload_out_done(&x->out, e))
        return err_code(e);
    if (app->json || x->explain || x->token_tree)
        return command_print_answer(app, r->op, r, e);
    return say_done(app, r, &x->out, e);
}

static enum status run_make(struct app *app, struct payload_params *p, struct payload_extra *x,
                            struct err *e)
{
    const struct operation *op = app->json || !(x->explain || x->token_tree) ? &op_payload_make
                                 : x->explain                                ? &op_payload_explain
                                                                             : &op_payload_weigh;
    bool teddy = sv_is(app->program, "teddy"), report = app->json || op != &op_payload_make;
    bool copy = x->copy || (teddy && !x->no_copy && !app->json);
    struct payload_out *d = &x->out;
    struct sv           session, turn;

    if (payload_call_turn(&app->ws, p->turn, app->a, &session, &turn, e) ||
        payload_out_find(app, x->output, turn, report, copy, d, e))
        return err_code(e);
    p->self = payload_out_place(app, x->output, turn);
    p->manifest = app->json;
    p->count = d->name.n || (isatty(2) && !isatty(1)); /* for say_done() */
    struct command row = {
        .name = "payload", .op = op, .data = true, .prepare = prepare, .finish = finish
    };
    enum status s = command_call(app, &row, p, e);
    payload_out_close(d);
    return s == ST_IO && d->name.n ? err_in(e, SV_FMT, SV_ARG(d->shown)) : s;
}

static enum status run(struct app *app, const void *params, struct err *e)
{
    struct payload_params *p = (void *)params; /* command_parse() made it for this call */
    struct payload_extra  *x = command_shell_opts(app->command, p);

    if (check_names(p, x, e) || check_pairs(x, e))
        return err_code(e);
    if (app->n_args && (x->parse.n || x->manifest.n))
        return err_set(e, ST_USAGE, "paths do not go with --%s", x->parse.n ? "parse" : "manifest");
    if (x->parse.n)
        return run_parse(app, x, e);
    if (x->manifest.n)
        return run_verify(app, x, p->line_numbers, e);
    if (sv_is(app->program, "teddy"))
        make_defaults(app);
    if (take_words(app, p, x, e))
        return err_code(e);
    return x->check.n || x->since.n ? run_compare(app, p, x, e) : run_make(app, p, x, e);
}

const struct command cmd_payload = {
    .name = "payload",
    .synopsis = "[PATH...] [--turn DIR] [--output FILE|-] [--budget N] [--copy] [--include GLOB] "
                "[--json]",
    .op = &op_payload_make,
    .words = words,
    .opts = opts,
    .opts_size = sizeof(struct payload_extra),
    .data = true,
    .run = run,
};

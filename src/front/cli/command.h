/* A command is one file with one row. Help, man pages, completion and the parser are
 * all made from the rows in commands.c.
 *
 *     struct show_opts { int64_t from; bool raw; };
 *     static const struct opt opts[] = {
 *         { OPT_NUMBER, "from", "SEQ", "first entry to show", offsetof(struct show_opts, from) },
 *         { OPT_FLAG,   "raw",  NULL,  "payloads as stored",  offsetof(struct show_opts, raw) },
 *         { 0 },
 *     };
 *     const struct command cmd_log_show = { .name = "log show", ..., .run = run };     */
#ifndef HEDDLE_COMMAND_H
#define HEDDLE_COMMAND_H

#include "api/request.h"
#include "front/app.h"

enum opt_type {
    OPT_END,
    OPT_FLAG,   /* bool; --no-NAME clears it */
    OPT_TEXT,   /* struct sv; absent: .s == NULL. Given twice, the last one wins */
    OPT_NUMBER, /* int64_t; absent: OPT_UNSET. */
    OPT_LIST,   /* struct sv: comma-separated; given twice, joined with a comma */
    OPT_LINES,  /* struct sv: values as they are, one per line, for what may hold commas */
    OPT_PARAM,  /* a parameter of the command's operation; `offset` is its number in the table */
};

#define OPT_UNSET INT64_MIN

struct opt {
    enum opt_type type;
    const char   *name;  /* without the dashes */
    const char   *value; /* how the value is called in help; NULL for a flag */
    const char   *help;
    size_t        offset; /* of the field in the command's options struct */
    char          letter; /* one-letter form, or 0 */
};

/* How a parameter of an operation is given on the command line. */
enum word_how {
    WORD_PLAIN = 0,
    WORD_OPTIONAL = 1,
    WORD_REST = 2,    /* takes all words that are left */
    WORD_STDIN = 4,   /* "-" stands for the text on standard input */
    WORD_FILE = 8,    /* names a file whose bytes are the value; "-" is standard input */
    WORD_OPTION = 16, /* not a word but an option, named here for its `how` */
    WORD_HIDDEN = 32, /* not on the command line at all */
    WORD_SOURCE = 64, /* names the file that r->in reads, "-" standard input; the parameter keeps
                       * the name, for messages */
    WORD_WHOLE = 128, /* an option that is a list: each value is one item, whatever commas it has */
    WORD_EITHER = 256, /* a word, or an option of its name */
};
struct cli_word {
    const char   *param; /* NULL ends the list */
    enum word_how how;
};

struct command {
    const char *name;     /* "log append": one or two words */
    const char *synopsis; /* what follows the name: "T [--lane L]" */
    const char *summary;  /* one line, no full stop */
    const char *details;  /* paragraphs, blank line between; lines starting with two spaces are
                           * shown as they are. NULL: none */
    enum op_group     group;
    const struct opt *opts;               /* ends with OPT_END; NULL: none */
    size_t            opts_size;          /* of the options struct; 0 when opts is NULL */
    size_t            min_args, max_args; /* positional; max SIZE_MAX: any number */
    enum op_needs     needs;
    bool              hidden; /* left out of `heddle help` */
    bool is_called; /* heddle runs it itself: --root is where, HEDDLE_ROOT the workspace */
    bool data;      /* prints bytes for programs or models, which stay as they are unless
                     * a terminal reads them; else text for a person (SB_PLAIN) */
    bool text;      /* prints text about the program: with --json it is {"text":…} */
    enum status (*run)(struct app *app, const void *opts, struct err *e);

    /* A command that is an operation has only a name, these two and, where those of the operation
     * do not fit, a synopsis, a summary or details: the rest comes from the operation. One
     * with `needs` of its own has less than the operation needs, and its `prepare` finds the rest.
     * `run`, unless it is NULL, chooses between operations (command_call()). */
    const struct operation *op;
    const struct cli_word  *words; /* in order; NULL: every parameter is an option */

    /* What only a shell has to do: ask a person, open what the words name. `prepare` runs once the
     * parameters are filled, `finish` in the place of printing the answer. Both may be NULL.
     * `opts` of such a row are options that only the shell has; command_shell_opts() finds their
     * struct. */
    enum status (*prepare)(struct app *app, struct request *r, void *params, struct err *e);
    enum status (*finish)(struct app *app, struct request *r, const void *params, struct err *e);
};

/* Print the warnings of an operation to stderr. */
void command_say_warnings(struct app *app, const struct request *r);

/* Run the operation of `row` with parameters that are filled already, and print its answer: for a
 * command that chooses between operations. Of the row, words are not used. */
enum status command_call(struct app *app, const struct command *row, void *params,
                         struct err *e) MUST_USE;

/* The answer as the door prints it: JSON, Leslie's envelope, or text. */
enum status command_print_answer(struct app *app, const struct operation *op, struct request *r,
                                 struct err *e) MUST_USE;

/* All commands, ends with NULL. Only the name, `hidden`, `op` and `words` of such a row are always
 * filled: the rest may come from the operation, and completing all rows would slow down every start
 * of the program. These functions return the summary and the group; command_complete() fills
 * everything. */
extern const struct command *const commands[];
const char                        *command_summary(const struct command *row);
enum op_group                      command_group(const struct command *row);

/* The struct of the options that only the shell has (`c->opts`); it lies behind the parameters of
 * the operation. */
void *command_shell_opts(const struct command *c, const void *params);

/* A copy of the row in `a`, filled in from its operation; the row itself when it has no operation.
 */
const struct command *command_complete(const struct command *row, struct arena *a);

/* Sets one option of a command that is an operation. */
/* Give a parameter of an operation by hand; an absent value gives none. `typed` is its name as a
 * person types it, for errors: "--base-seq", or "thread" for a word without an option. */
enum status command_set(const struct operation *op, void *params, const char *typed,
                        struct sv value, struct arena *a, struct err *e) MUST_USE;
enum status command_set_param(const struct command *c, const struct opt *o, void *into,
                              struct sv value, struct arena *a, struct err *e) MUST_USE;

/* Options every command takes: --json, --root, --as, --color, --via-server, --help. */
extern const struct opt global_opts[];

/* How many words in front of a command's name are options of every command and their values, as in
 * `heddle --root DIR stats`. */
size_t command_options_before(char **words, size_t n);

/* The command named by the first one or two of args, completed in `a`; *used says how many words
 * that took. ST_USAGE with the nearest name as a hint. */
enum status command_find(char **args, size_t n, struct arena *a, const struct command **out,
                         size_t *used, struct err *e) MUST_USE;

/* Options land in the command's struct, fresh from `a`; what is left is in app->args. */
struct cli_globals {
    bool      help, json, via_server;
    struct sv root, as, color;
};
enum status command_parse(struct app *app, const struct command *c, char **args, size_t n,
                          struct cli_globals *g, void **opts, struct err *e) MUST_USE;

/* An argument that must be given, and not be blank: `what` is it as it is typed (--agent). ST_USAGE
 * with the usage of the command `name`. */
enum status command_need(const char *name, const char *what, struct sv value,
                         struct err *e) MUST_USE;

#endif

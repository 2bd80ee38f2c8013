/* The parameters of an operation: one table from which the shell's options, JSON Schema, help and
 * completion are made, and by which every door's input is checked.
 *
 *     struct list_params { struct sv status; int64_t limit; };
 *     static const struct param params[] = {
 *         { "status", PARAM_ENUM,   offsetof(struct list_params, status), .values = names,
 *           .value = "STATUS", .help = "only threads in this state" },
 *         { "limit",  PARAM_NUMBER, offsetof(struct list_params, limit), .value = "N", .min = 1,
 *           .max = 1000, .fallback = "100", .help = "at most this many" },
 *         { 0 },
 *     };
 *
 * A struct of parameters is filled either from JSON (params_read) or value by value from text
 * (params_init, param_set, params_check). Both ways apply the same rules, so that an operation
 * never checks types, ranges or required parameters itself. */
#ifndef HEDDLE_PARAM_H
#define HEDDLE_PARAM_H

#include "base/json.h"

enum param_type {
    PARAM_END,
    PARAM_FLAG,    /* bool */
    PARAM_TEXT,    /* struct sv; absent: .s == NULL */
    PARAM_NAME,    /* struct sv: the id of a thread, lane, agent, …: see name_check() */
    PARAM_ENUM,    /* struct sv: one of `values` */
    PARAM_NUMBER,  /* int64_t; absent: PARAM_UNSET */
    PARAM_DECIMAL, /* struct sv: a number as it was written, from min to max; absent: .s == NULL */
    PARAM_LIST,    /* struct sv_list; absent: .v == NULL */
    PARAM_NUMBERS, /* struct number_list, each from min to max; absent: .v == NULL */
    PARAM_JSON,    /* const struct json *; absent: NULL */
};

#define PARAM_UNSET INT64_MIN

struct number_list {
    const int64_t *v;
    size_t         n;
};

/* One more item at the end of a list, whose items move. */
void param_list_add(struct sv_list *list, struct sv item, struct arena *a);

struct param {
    const char        *name; /* snake_case */
    enum param_type    type;
    size_t             offset; /* of the field in the operation's struct of parameters */
    bool               required;
    bool               blank;  /* when it is required: empty or blank text is allowed */
    char               letter; /* one-letter form in the shell, or 0 */
    const char        *value;  /* how help calls the value ("T", "FILE"); NULL for a flag */
    const char *const *values; /* PARAM_ENUM: what is allowed, ends with NULL. PARAM_LIST: what its
                                * items can be, or NULL; the operation itself refuses others */
    const char *fallback;      /* the default, as text; NULL: absent stays absent */
    bool        whole;         /* PARAM_LIST: items may hold commas; text is one item */
    int64_t     min, max;      /* of numbers, when they differ; max INT64_MAX: no upper limit.
                                * PARAM_TEXT from a file: max bytes of it, unless 0 */
    const char *refusal;       /* PARAM_ENUM: the message after the name of the parameter when its
                                * value is not one of `values`; NULL: made from the values */
    const char *help;          /* one line without a full stop */
};

/* A struct of `size` zeroed bytes in `a` with every parameter at its default. */
void *params_init(const struct param *table, size_t size, struct arena *a);

/* Set one parameter from text as a person types it. A list given twice is joined; its items are
 * separated by commas, trimmed, and dropped when nothing is left; a backslash before a comma keeps
 * it inside the item. Empty text is an empty list, not an absent one: .v is not NULL. ST_USAGE: not
 * a number, not one of the values, out of range. */
enum status param_set(const struct param *p, void *into, struct sv text, struct arena *a,
                      struct err *e) MUST_USE;

/* Set every parameter from the members of a JSON object. ST_USAGE with the parameter's name: an
 * unknown member, a wrong type, a value out of range. null is the same as absent. The strings
 * point into `doc`. */
enum status params_read(const struct param *table, const struct json *doc, void *into,
                        struct arena *a, struct err *e) MUST_USE;

/* The other way round: the parameters as the members of an object that params_read() takes. What is
 * absent is left out. */
void params_write(const struct param *table, const void *from, struct jw *w);

/* After all were set: is every required parameter there, and not blank unless it may be? ST_USAGE.
 */
enum status params_check(const struct param *table, const void *from, struct err *e) MUST_USE;

/* Was it given, and is it not blank? A flag always is. */
bool param_is_given(const struct param *p, const void *from);

/* ST_USAGE: there is no parameter of this name; the nearest one is the hint. */
enum status params_unknown(const struct param *table, struct sv name, struct err *e);

const struct param *param_find(const struct param *table, struct sv name); /* NULL: none */

/* The value of a parameter that is a text or a name; absent when there is none of that kind. */
struct sv param_text(const struct param *table, const void *params, struct sv name);

#endif

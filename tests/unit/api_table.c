/* The table of operations: every row has what the doors are made from. */
#include "api/operation.h"
#include "base/json.h"
#include "tap.h"

static struct arena a;
static struct err   e;

static bool is_snake(struct sv name)
{
    for (size_t i = 0; i < name.n; i++) {
        char c = name.s[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9' && i) || (c == '_' && i)))
            return false;
    }
    return name.n > 0;
}

/* Which row the failures since `before` are of. */
static void blame(int before, const struct operation *op)
{
    if (tap_failures > before)
        printf("# in the row of %s\n", op->name);
}

/* noun.verb, or a verb alone where there is only one noun it could have: project, head, erase. */
static void names_are_words_with_a_dot_and_unique(void)
{
    for (size_t i = 0; operation_table[i]; i++) {
        int           before = tap_failures;
        struct sv_cut c = sv_cut(sv_of(operation_table[i]->name), '.');
        CHECK(is_snake(c.head) && (!c.found || is_snake(c.tail)));
        CHECK(operation_find(sv_of(operation_table[i]->name)) == operation_table[i]);
        blame(before, operation_table[i]);
    }
}

static void every_row_has_what_doors_need(void)
{
    for (size_t i = 0; operation_table[i]; i++) {
        int                     before = tap_failures;
        const struct operation *op = operation_table[i];
        CHECK(op->summary && op->summary[0] && !sv_ends(sv_of(op->summary), SV(".")));
        CHECK(op->answer && op->run && op->print);
        CHECK(((op->streams & STREAM_EVENTS) != 0) == (op->event != NULL));
        CHECK(!op->params || op->params_size);
        CHECK((op->repeat == REPEAT_KEY) == (op->repeat_key != NULL));
        if (op->repeat_key)
            CHECK(param_find(op->params, sv_of(op->repeat_key)) != NULL);
        CHECK(!op->once || op->repeat == REPEAT_KEY);
        CHECK(!op->once || !op->in_thread || param_find(op->params, SV("thread")));
        blame(before, operation_table[i]);
    }
}

static void every_parameter_is_described_and_its_default_is_allowed(void)
{
    for (size_t i = 0; operation_table[i]; i++) {
        int                     before = tap_failures;
        const struct operation *op = operation_table[i];
        for (const struct param *p = op->params; p && p->type; p++) {
            void *into = arena_alloc(&a, 1, op->params_size, _Alignof(max_align_t));
            CHECK(is_snake(sv_of(p->name)) && p->help && p->help[0]);
            CHECK(p->offset < op->params_size && param_find(op->params, sv_of(p->name)) == p);
            CHECK(p->type == PARAM_LIST || (p->type == PARAM_ENUM) == (p->values != NULL));
            if (p->fallback)
                CHECK(param_set(p, into, sv_of(p->fallback), &a, &e) == ST_OK);
        }
        blame(before, operation_table[i]);
    }
}

/* Schemas are written out, so a table that holds itself would have no end. */
enum { DEPTH_MAX = 16 };

static void check_fields(const struct field *f, int depth)
{
    CHECK(depth < DEPTH_MAX);
    for (; f && f->type && depth < DEPTH_MAX; f++) {
        CHECK(is_snake(sv_of(f->name)) && f->help && f->help[0]);
        CHECK((f->type == FIELD_ENUM) == (f->values != NULL));
        check_fields(f->of, depth + 1);
    }
}

static void every_field_of_an_answer_is_described(void)
{
    for (size_t i = 0; operation_table[i]; i++) {
        int before = tap_failures;
        check_fields(operation_table[i]->answer, 0);
        check_fields(operation_table[i]->event, 0);
        blame(before, operation_table[i]);
    }
}

TAP_MAIN(T(names_are_words_with_a_dot_and_unique), T(every_row_has_what_doors_need),
         T(every_parameter_is_described_and_its_default_is_allowed),
         T(every_field_of_an_answer_is_described), )

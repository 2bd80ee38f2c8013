#include "api/operation.h"
#include "base/json.h"
#include "tap.h"

static struct arena a;
static struct err   e;

static bool is_snake(const char *name)
{
    for (; *name; name++)
        if (!((*name >= 'a' && *name <= 'z') || (*name >= '0' && *name <= '9') || *name == '_'))
            return false;
    return true;
}

static void names_are_noun_dot_verb_in_order_and_unique(void)
{
    for (size_t i = 0; operations[i]; i++) {
        struct sv_cut c = sv_cut(sv_of(operations[i]->name), '.');
        CHECK(c.found && c.head.n && c.tail.n);
        if (i)
            CHECK(strcmp(operations[i - 1]->name, operations[i]->name) < 0);
        CHECK(operation_find(sv_of(operations[i]->name)) == operations[i]);
    }
}

static void every_row_has_what_doors_need(void)
{
    for (size_t i = 0; operations[i]; i++) {
        const struct operation *op = operations[i];
        CHECK(op->summary && op->answer && op->run && op->print);
        CHECK(!op->params || op->params_size);
        CHECK((op->repeat == REPEAT_KEY) == (op->repeat_key != NULL));
        if (op->repeat_key)
            CHECK(param_find(op->params, sv_of(op->repeat_key)) != NULL);
    }
}

static void every_parameter_is_described_and_its_default_is_allowed(void)
{
    for (size_t i = 0; operations[i]; i++) {
        const struct operation *op = operations[i];
        for (const struct param *p = op->params; p && p->type; p++) {
            void *into = arena_alloc(&a, 1, op->params_size, _Alignof(max_align_t));
            CHECK(is_snake(p->name) && p->help && p->offset < op->params_size);
            CHECK((p->type == PARAM_ENUM) == (p->values != NULL));
            if (p->fallback)
                CHECK(param_set(p, into, sv_of(p->fallback), &a, &e) == ST_OK);
        }
    }
}

static void check_fields(const struct field *f)
{
    for (; f && f->type; f++) {
        CHECK(is_snake(f->name) && f->help);
        CHECK((f->type == FIELD_ENUM) == (f->values != NULL));
        check_fields(f->of);
    }
}

static void every_field_of_an_answer_is_described(void)
{
    for (size_t i = 0; operations[i]; i++)
        check_fields(operations[i]->answer);
}

TAP_MAIN(T(names_are_noun_dot_verb_in_order_and_unique), T(every_row_has_what_doors_need),
         T(every_parameter_is_described_and_its_default_is_allowed),
         T(every_field_of_an_answer_is_described), )

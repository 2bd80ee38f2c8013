/* A call of a tool that was read: its values, its canonical form, comparison. */
#include "command/escape.h"
#include "command/grammar.h"
#include "command/tools.h"

#include <string.h>

static const struct call_arg *arg_named(const struct call *c, const char *param)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->args[i].param->name, param) == 0)
            return &c->args[i];
    return NULL;
}

struct sv call_text(const struct call *c, const char *param)
{
    const struct call_arg *a = arg_named(c, param);

    return a ? a->text : (struct sv){ 0 };
}

bool call_has(const struct call *c, const char *param)
{
    return arg_named(c, param) != NULL;
}

int64_t call_count(const struct call *c, const char *param, int64_t otherwise)
{
    int64_t n;

    return sv_to_int(call_text(c, param), &n) ? n : otherwise;
}

bool call_eq(const struct call *a, const struct call *b)
{
    if (a->tool != b->tool || a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (a->args[i].param != b->args[i].param || !sv_eq(a->args[i].text, b->args[i].text))
            return false;
    return true;
}

struct sv call_place(struct sv id)
{
    return id.n && id.s[0] == '@' ? sv_skip(id, 1) : (struct sv){ 0 };
}

bool call_uses_position(const struct call *c)
{
    bool takes_id = false, has_id = false;

    for (const struct tool_slot *p = c->tool->params; p->type; p++)
        takes_id = takes_id || p->type == SLOT_ID;
    for (size_t i = 0; i < c->n; i++) {
        struct sv place = call_place(c->args[i].text);
        has_id = has_id || c->args[i].param->type == SLOT_ID;
        if (c->args[i].param->type == SLOT_ID && place.s && !sv_is(place, "root"))
            return true;
    }
    return takes_id && !has_id && c->tool->writes;
}

size_t call_each_count(const struct call *c)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n; i++)
        n += (c->args[i].param->flags & SLOT_MANY) != 0;
    return n ? n : 1;
}

struct call call_each(const struct call *c, size_t i)
{
    struct call one = *c;

    one.n = 0;
    for (size_t k = 0, many = 0; k < c->n; k++)
        if (!(c->args[k].param->flags & SLOT_MANY) || many++ == i)
            one.args[one.n++] = c->args[k];
    return one;
}

/* Would the id, written bare, be taken for something else? */
static bool is_word_of_ours(struct sv id)
{
    return sv_find(sv_of(phrase_places), id) >= 0 || sv_find(sv_of(phrase_vague), id) >= 0;
}

static void print_id(struct sb *b, const struct call_arg *x, bool bare)
{
    struct sv place = call_place(x->text);

    if (place.s)
        sb_add(b, place);
    else if (bare || is_word_of_ours(x->text))
        sb_addf(b, "[" SV_FMT "]", SV_ARG(x->text)); /* so that no word of the tool is meant */
    else
        sb_add(b, x->text);
}

static void print_arg(struct sb *b, const struct call_arg *x, bool again)
{
    const struct tool_slot *p = x->param;
    bool                    bare = (p->flags & SLOT_BARE) && p->type != SLOT_DOC;

    sb_adds(b, again ? ", " : " ");
    if (p->type == SLOT_FLAG) {
        sb_adds(b, p->name);
        return;
    }
    if (!bare)
        sb_addf(b, "%s:", p->name);
    bool free_word = p->type == SLOT_WORD && !p->words && !bare;
    if (p->type == SLOT_TEXT || p->type == SLOT_DOC || p->type == SLOT_RANGE ||
        p->type == SLOT_LINES || free_word)
        escape_quoted(b, x->text);
    else if (p->type == SLOT_ID)
        print_id(b, x, bare);
    else
        sb_add(b, x->text);
}

void call_print(struct sb *b, const struct call *c)
{
    sb_adds(b, c->tool->name);
    if (strcmp(c->tool->name, "think") == 0) {
        sb_adds(b, c->n ? " " : "");
        sb_add(b, c->n ? c->args[0].text : SV(""));
        return;
    }
    for (size_t i = 0; i < c->n; i++)
        print_arg(b, &c->args[i], i && c->args[i].param == c->args[i - 1].param);
}

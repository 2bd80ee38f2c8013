/* ETags by revision, and fields that are parameters. */
#include "front/http/condition.h"

#include "api/revision.h"

static struct sv kept(struct sv field, struct arena *a)
{
    return field.s ? sv_dup(field, a) : field;
}

/* Tags are quoted, and so are keys by the draft of their field; many clients send them bare. */
static struct sv unquoted(struct sv text)
{
    text = sv_trim(text);
    if (text.n > 1 && text.s[0] == '"' && text.s[text.n - 1] == '"')
        text = (struct sv){ text.s + 1, text.n - 2 };
    return text;
}

void condition_keep(struct serve_call *c)
{
    c->match = kept(c->head.match, &c->a);
    c->none_match = kept(c->head.none_match, &c->a);
    c->idempotency = kept(unquoted(c->head.idempotency), &c->a);
}

/* ---- fields that are parameters -------------------------------------------------------------- */

static enum status other_value(const char *field, const char *parameter, struct err *e)
{
    return err_set(e, ST_USAGE, "%s and the parameter %s say different things", field, parameter);
}

/* "12", "12-3f…" or 12. */
static bool read_revision(struct sv text, int64_t *rev)
{
    return sv_to_int(sv_cut(unquoted(text), '-').head, rev) && *rev >= 0;
}

static enum status apply_match(struct serve_call *c, struct err *e)
{
    const struct param *p = param_find(c->op->params, SV("expect"));
    int64_t             rev, *field;

    if (!c->match.s)
        return ST_OK;
    if (!p || p->type != PARAM_NUMBER)
        return err_set(e, ST_USAGE, "%s takes no If-Match", c->op->name);
    if (!read_revision(c->match, &rev)) {
        err_set(e, ST_USAGE, "If-Match is not a revision");
        return err_hint(e, "send the ETag of what was read, or the revision alone: \"12\"");
    }
    field = (int64_t *)(void *)((char *)c->params + p->offset);
    if (*field != PARAM_UNSET && *field != rev)
        return other_value("If-Match", p->name, e);
    *field = rev;
    return ST_OK;
}

static enum status apply_key(struct serve_call *c, struct err *e)
{
    const struct param *p =
        c->op->repeat == REPEAT_KEY ? param_find(c->op->params, sv_of(c->op->repeat_key)) : NULL;
    struct sv *field;

    if (!c->idempotency.s || c->op->repeat == REPEAT_READS || c->op->repeat == REPEAT_SAME)
        return ST_OK; /* the operation can be repeated without a key */
    if (!p) {
        err_set(e, ST_USAGE, "%s cannot be repeated harmlessly", c->op->name);
        return err_hint(e, "leave Idempotency-Key out, and look before you send it again");
    }
    field = (struct sv *)(void *)((char *)c->params + p->offset);
    if (field->s && !sv_eq(*field, c->idempotency))
        return other_value("Idempotency-Key", p->name, e);
    *field = c->idempotency;
    return ST_OK;
}

enum status condition_apply(struct serve_call *c, struct err *e)
{
    return apply_match(c, e) || apply_key(c, e) ? err_code(e) : ST_OK;
}

int condition_status(const struct serve_call *c, const struct err *e)
{
    bool failed = c->match.s && e->code == ST_CONFLICT && sv_is(sv_of(e->reason), "rev");

    return failed ? 412 : status_http(e->code);
}

/* ---- tags --------------------------------------------------------------------------------------
 */

/* Which thread the answer follows from; absent: from the log of the workspace alone. False: from
 * all threads, because one can be named and none is (an export of everything). */
static bool thread_of(const struct serve_call *c, struct sv *out)
{
    const struct param *p = param_find(c->op->params, SV("thread"));

    *out = (struct sv){ 0 };
    if (!p || (p->type != PARAM_TEXT && p->type != PARAM_NAME))
        return true;
    *out = *(const struct sv *)(const void *)((const char *)c->params + p->offset);
    return out->s != NULL;
}

bool condition_tag(struct serve_call *c, struct request *r)
{
    char       form = (char)('0' + c->form);
    struct sb  tag = sb_in(&c->a, 0);
    struct err ignored; /* the operation gets the same error and reports it */
    struct sv  thread;

    if (!c->op->of_log || c->is_post || !thread_of(c, &thread))
        return false;
    sb_addc(&tag, '"');
    if (revision_write(r, thread, (struct sv){ &form, 1 }, &tag, &ignored))
        return false;
    sb_addc(&tag, '"');
    call_header(c, "ETag", sb_sv(&tag));
    return c->none_match.s && sv_find(c->none_match, sb_sv(&tag)) >= 0;
}

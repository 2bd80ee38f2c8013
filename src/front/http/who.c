/* Compares the secrets of a request with those of sessions and tokens. */
#include "front/http/who.h"

#include "api/door_token.h"
#include "base/clock.h"
#include "base/path.h"
#include "front/http/rate.h"
#include "front/http/route.h"
#include "front/http/watch.h"

struct sv who_cookie_name(const struct serve_call *c)
{
    struct sb b = sb_in((struct arena *)(uintptr_t)&c->a, 0);

    sb_addf(&b, "heddle_%d", c->door->names.port);
    return sb_sv(&b);
}

static bool find_token(struct serve_call *c, struct sv secret)
{
    struct door_token t;

    if (!token_book_find(c->s->tokens, secret, &c->a, &t))
        return false;
    c->caller = (struct serve_caller){
        .kind = CALLER_TOKEN,
        .id = t.id,
        .actor = t.actor,
        .permissions = t.permissions,
        .threads = t.threads,
    };
    return true;
}

/* A person has every permission, in the page and in the shell. */
static bool find_caller(struct serve_call *c)
{
    const struct serve_head *h = &c->head;
    struct sv                bearer = h->authorization;

    c->caller = (struct serve_caller){ .actor = c->s->actor, .permissions = TOKEN_ALL };
    if (sv_starts(bearer, SV("Bearer "))) {
        struct sv secret = sv_trim(sv_skip(bearer, 7));
        if (!session_is_shell(&c->s->sessions, secret))
            return find_token(c, secret);
        c->caller.kind = CALLER_SHELL;
        c->caller.id = SV("shell");
        return true;
    }
    struct sv cookie = head_cookie(h, who_cookie_name(c));
    if (cookie.n && h->secret.n && session_has_page(&c->s->sessions, cookie, h->secret))
        c->caller.kind = CALLER_PAGE;
    c->caller.id = SV("page");
    return c->caller.kind != CALLER_NOBODY;
}

/* Only the shell, which has the user's rights, may set the actor. */
static bool set_actor(struct serve_call *c, struct serve_refusal *why)
{
    struct err e;

    if (!c->head.actor.s)
        return true;
    if (c->caller.kind != CALLER_SHELL)
        return guard_refuse(why, 403, ST_PERMISSION_DENIED, "actor",
                            "X-Heddle-Actor is for the shell");
    if (name_check(c->head.actor, "actor", &e))
        return guard_refuse(why, 400, ST_INVALID_SYNTAX, "actor", "%s", e.text);
    c->caller.actor = sv_dup(c->head.actor, &c->a);
    c->prints = true;
    return true;
}

static bool has_rate(struct serve_call *c, struct serve_refusal *why)
{
    if (rate_take(c->s->rate, c->caller.id, c->s->o->rate, clock_steady_us()))
        return true;
    guard_refuse(why, 429, ST_LIMIT_EXCEEDED, "rate", "more than %lld requests a second",
                 (long long)c->s->o->rate);
    err_hint(&why->e, "wait a second; `heddle serve --rate` sets the limit");
    return false;
}

static bool is_unknown(struct serve_call *c, struct serve_refusal *why)
{
    if (!session_may_err(&c->s->sessions))
        return guard_refuse(why, 429, ST_LIMIT_EXCEEDED, "rate",
                            "too many requests without a valid secret");
    guard_refuse(why, 401, ST_PERMISSION_DENIED, "unauthenticated",
                 "this server does not know who asks");
    err_hint(&why->e, "`heddle open` shows the page; programs send Authorization: Bearer with a "
                      "token of `heddle token create`");
    return false;
}

bool who_asks(struct serve_call *c, struct serve_refusal *why)
{
    if (c->route->who == WHO_ANYBODY) {
        c->caller.id = SV("nobody");
        return has_rate(c, why);
    }
    if (!find_caller(c))
        return is_unknown(c, why);
    watch_token(c->watched, c->caller.kind == CALLER_TOKEN ? c->caller.id : SV(""));
    if (c->route->who == WHO_SHELL && c->caller.kind != CALLER_SHELL)
        return guard_refuse(why, 403, ST_PERMISSION_DENIED, "shell", "this is for the shell alone");
    return has_rate(c, why) && set_actor(c, why);
}

/* ---- what they may do --------------------------------------------------------------------- */

static const char *permission_called(unsigned bit)
{
    for (size_t k = 0; token_permission_names[k]; k++)
        if (bit & (1u << k))
            return token_permission_names[k];
    return "";
}

static enum status check_operation(const struct serve_caller *who, const struct operation *op,
                                   struct err *e)
{
    unsigned needed = token_needed(op);

    if (who->kind == CALLER_SHELL || (needed & who->permissions))
        return ST_OK;
    if (!needed) {
        err_set(e, ST_PERMISSION_DENIED,
                "%s is for the shell: it reaches beyond the workspace, or decides what may run",
                op->name);
        err_reason(e, "shell");
        return err_hint(e, "run `heddle` in the workspace");
    }
    err_set(e, ST_PERMISSION_DENIED, "the token may not do this: %s needs the permission %s",
            op->name, permission_called(needed));
    err_reason(e, "permission");
    return err_hint(e, "`heddle token create NAME --permissions %s` makes a token that may",
                    permission_called(needed));
}

bool who_may(const struct serve_call *c, struct serve_refusal *why)
{
    if (!check_operation(&c->caller, c->op, &why->e))
        return true;
    why->status = status_http(why->e.code);
    return false;
}

static enum status check_thread(const struct serve_caller *who, const struct operation *op,
                                const void *params, struct err *e)
{
    if (door_token_reaches(&who->threads, op, params))
        return ST_OK;
    err_set(e, ST_PERMISSION_DENIED, "the token is for %s" SV_FMT "%s",
            who->threads.n > 1 ? "other threads: " : "the thread ", SV_ARG(who->threads.v[0]),
            who->threads.n > 1 ? ", …" : "");
    return err_reason(e, "thread");
}

enum status who_reaches(const struct serve_call *c, struct err *e)
{
    return check_thread(&c->caller, c->op, c->params, e);
}

enum status who_allows(const struct serve_caller *who, const struct operation *op,
                       const void *params, struct err *e)
{
    return check_operation(who, op, e) || check_thread(who, op, params, e) ? err_code(e) : ST_OK;
}

/* One request to a provider over the network: address and key, sending, what came back.
 *
 * The key is in the headers of the request and nowhere else: headers, bodies and messages of the
 * answer are searched for it before anything keeps them, since a provider may repeat it. */
#include "base/clock.h"
#include "base/env.h"
#include "base/uri.h"
#include "base/utf8.h"
#include "http/http.h"
#include "http/url_policy.h"
#include "model/model_internal.h"
#include "model/provider_error.h"
#include "model/sampling.h"

enum {
    KEY_SHORT = 8,
    HEADERS_MAX = 6
}; /* a shorter key is not secret, and would hide plain text */

struct exchange {
    struct model_call   *c;
    struct sv            body;
    struct sb            warnings;
    struct stream        stream;
    struct sb            raw;
    size_t               passed; /* bytes of `raw` that q->received was given */
    struct http_response answer;
};

/* ---- where, and with which key ------------------------------------------------------------------
 */

/* A request whose address and key are looked for. */
struct access_search {
    struct model_client         *client;
    const struct model_provider *p;
    struct sv                    identifier;
    struct arena                *a;
    struct model_access         *out;
};

static struct sv variable(const struct access_search *f, const char *name)
{
    return sv_trim(env_find(f->client->variables, name));
}

static void add_path(struct sb *b, const char *path, struct sv identifier)
{
    struct sv whole = sv_of(path);
    ptrdiff_t at = sv_find(whole, SV("{model}"));

    sb_add(b, at < 0 ? whole : sv_first(whole, (size_t)at));
    if (at < 0)
        return;
    sb_add_uri(b, identifier, NULL);
    sb_add(b, sv_skip(whole, (size_t)at + 7));
}

/* "host:port" of a URL, without a name and password in front of it. */
static struct sv host_of(struct sv url)
{
    ptrdiff_t at = sv_find(url, SV("://"));
    struct sv host = sv_cut(at < 0 ? url : sv_skip(url, (size_t)at + 3), '/').head;

    for (struct sv_cut c = sv_cut(host, '@'); c.found; c = sv_cut(host, '@'))
        host = c.tail;
    return host;
}

/* An address that a person set. Its text is not part of the error: it may hold a password. */
static enum status check_address(const struct access_search *f, struct sv url, bool by_variable,
                                 struct err *e)
{
    const struct model_provider_facts *facts = &f->p->facts;
    struct sv                          low = sv_lower(url, f->a);
    bool http = sv_starts(low, SV("http://")) || sv_starts(low, SV("https://"));

    for (size_t i = 0; http && i < url.n; i++)
        http = (unsigned char)url.s[i] > ' ' && !sv_has(SV("?#\x7f"), url.s[i]);
    if (http && host_of(url).n)
        return ST_OK;
    if (by_variable)
        err_set(e, ST_INVALID_SYNTAX, "%s is not an address of a server", facts->url_variable);
    else
        err_set(e, ST_INVALID_SYNTAX, "models.url.%s is not an address of a server", facts->host);
    return err_hint(e, "it is https://HOST, with a port and a path where the server needs them");
}

static enum status find_address(struct access_search *f, struct err *e)
{
    const struct model_provider_facts *facts = &f->p->facts;
    struct sv                          url = variable(f, facts->url_variable);
    struct sb                          b = sb_in(f->a, 0);
    bool                               by_variable = url.n;

    if (!url.n && f->client->address)
        url = f->client->address(f->client->settings_ctx, facts->host);
    if (url.n && check_address(f, url, by_variable, e))
        return err_code(e);
    if (!url.n)
        url = sv_of(facts->url);
    if (!url.n) {
        err_set(e, ST_NOT_FOUND, "where %s is has not been set", facts->name);
        return err_hint(e, "set %s, or: heddle config set --user models.url.%s URL",
                        facts->url_variable, facts->host);
    }
    while (url.n && url.s[url.n - 1] == '/')
        url.n--;
    struct sv_cut scheme = sv_cut(url, ':'); /* in small letters, as http_send() compares it */
    sb_add(&b, sv_lower(scheme.head, f->a));
    sb_adds(&b, ":");
    sb_add(&b, scheme.tail);
    add_path(&b, f->p->path, f->identifier);
    f->out->url = sb_sv(&b);
    return ST_OK;
}

/* A line end inside of it, as a file of keys has, cannot be part of a header. */
static enum status check_key(const struct access_search *f, struct err *e)
{
    const struct model_provider_facts *facts = &f->p->facts;
    struct sv                          key = f->out->token.n ? f->out->token : f->out->key;
    struct sb                          b = sb_in(f->a, 0);
    bool                               retry;

    for (size_t i = 0; i < key.n; i++)
        if ((unsigned char)key.s[i] < ' ' || key.s[i] == 0x7f) {
            sb_addf(&b, "the key for %s has a control character in it, such as a line end",
                    facts->name);
            provider_error_set("authenticationFailed", sb_sv(&b), &retry, e);
            return err_hint(
                e, "look at the variable %s, or at models.key_command.%s in your own settings",
                facts->key_variable, facts->host);
        }
    return ST_OK;
}

/* Of the environment; else of the command that the user's settings have for it. */
static enum status find_key(struct access_search *f, struct err *e)
{
    const struct model_provider_facts *facts = &f->p->facts;
    struct model_access               *out = f->out;
    struct sb                          b = sb_in(f->a, 0);
    bool                               retry;

    out->key = variable(f, facts->key_variable);
    if (!out->key.n && f->p->auth == AUTH_ANTHROPIC)
        out->token = variable(f, "ANTHROPIC_AUTH_TOKEN");
    if (!out->key.n && !out->token.n && f->client->key &&
        f->client->key(f->client->settings_ctx, facts->host, &out->key, e)) {
        struct err why = *e;
        provider_error_set("authenticationFailed", sv_of(why.text), &retry, e);
        return why.hint[0] ? err_hint(e, "%s", why.hint) : err_code(e);
    }
    /* A server on this machine, for instance one for tests, needs no key. */
    if (out->key.n || out->token.n || !f->p->key_needed || http_url_is_loopback(out->url))
        return ST_OK;
    sb_addf(&b, "there is no key for %s", facts->name);
    provider_error_set("authenticationFailed", sb_sv(&b), &retry, e);
    return err_hint(e, "set the variable %s, or models.key_command.%s in your own settings",
                    facts->key_variable, facts->host);
}

enum status model_find_network(struct model_client *c, const struct model_provider *p,
                               struct sv identifier, struct arena *a, struct model_access *out,
                               struct err *e)
{
    struct access_search f = { c, p, identifier, a, out };

    return find_address(&f, e) || find_key(&f, e) ? err_code(e) : check_key(&f, e);
}

/* ---- sending ------------------------------------------------------------------------------------
 */

static void add_header(struct exchange *x, struct sv *list, size_t *n, const char *name,
                       struct sv value)
{
    struct sb b = sb_in(x->c->a, 0);

    sb_addf(&b, "%s: ", name);
    sb_add(&b, value);
    list[(*n)++] = sb_sv(&b);
}

static void add_bearer(struct exchange *x, struct sv *list, size_t *n, struct sv key)
{
    struct sb b = sb_in(x->c->a, 0);

    sb_adds(&b, "Bearer ");
    sb_add(&b, key);
    add_header(x, list, n, "Authorization", sb_sv(&b));
}

static size_t write_headers(struct exchange *x, struct sv *list)
{
    enum model_auth            auth = x->c->provider->auth;
    const struct model_access *access = x->c->access;
    size_t                     n = 0;

    list[n++] = SV("Content-Type: application/json");
    list[n++] = SV("Accept: text/event-stream");
    list[n++] = SV("Expect:"); /* send the body without waiting for "100 Continue" */
    if (auth == AUTH_ANTHROPIC)
        add_header(x, list, &n, "anthropic-version", sampling_version(x->body, x->c->a));
    if (access->token.n)
        add_bearer(x, list, &n, access->token);
    else if (access->key.n && auth == AUTH_BEARER)
        add_bearer(x, list, &n, access->key);
    else if (access->key.n)
        add_header(x, list, &n, auth == AUTH_GOOGLE ? "x-goog-api-key" : "x-api-key", access->key);
    return n;
}

static struct sv secret_of(const struct exchange *x)
{
    const struct model_access *access = x->c->access;
    struct sv                  secret = access->token.n ? access->token : access->key;

    return secret.n < KEY_SHORT ? (struct sv){ 0 } : secret;
}

/* How many bytes at the end of the text could be the start of the secret. */
static size_t held_back(struct sv text, struct sv secret)
{
    size_t n = secret.n && secret.n <= text.n ? secret.n - 1 : secret.n ? text.n : 0;

    while (n && memcmp(text.s + text.n - n, secret.s, n) != 0)
        n--;
    return n;
}

static struct sv masked(struct exchange *x, struct sv text)
{
    struct sv secret = secret_of(x);

    return secret.n && sv_find(text, secret) >= 0 ? provider_error_masked(text, secret, x->c->a)
                                                  : text;
}

/* The headers without cookies, which may be credentials, and without the key. */
static struct sv kept_headers(struct exchange *x, struct sv headers)
{
    struct sb b = sb_in(x->c->a, 0), clean = sb_in(x->c->a, 0);

    for (struct sv rest = headers; rest.n;) {
        struct sv_cut line = sv_cut(rest, '\n');
        if (!sv_starts(sv_lower(line.head, x->c->a), SV("set-cookie"))) {
            sb_adds(&b, b.n ? "\n" : "");
            sb_add(&b, line.head);
        }
        rest = line.tail;
    }
    sb_add_lossy(&clean, masked(x, sb_sv(&b)));
    return sb_sv(&clean);
}

/* Pass on what is there, without a key in it; at the end of the stream all of it. */
static enum status pass_on(struct exchange *x, bool all, struct err *e)
{
    const struct model_request *q = x->c->q;
    struct sv                   rest = sv_skip(sb_sv(&x->raw), x->passed);

    if (!q->received)
        return ST_OK;
    rest.n -= all ? 0 : held_back(rest, secret_of(x));
    if (rest.n && q->received(q->received_ctx, (struct sv){ 0 }, masked(x, rest), e)) {
        x->c->refused = true; /* the caller refused the bytes */
        return err_code(e);
    }
    x->passed += rest.n;
    return ST_OK;
}

static enum status on_begin(void *ctx, struct sv headers, struct err *e)
{
    struct exchange            *x = ctx;
    const struct model_request *q = x->c->q;
    struct sv                   kept = kept_headers(x, headers);

    if (!q->received)
        return ST_OK;
    kept = kept.s ? kept : SV("");
    x->c->refused = q->received(q->received_ctx, kept, SV(""), e) != ST_OK;
    return x->c->refused ? err_code(e) : ST_OK;
}

static enum status on_piece(void *ctx, struct sv bytes, struct err *e)
{
    struct exchange *x = ctx;

    sb_add(&x->raw, bytes);
    return pass_on(x, false, e) ? err_code(e) : stream_feed(&x->stream, bytes, e);
}

static enum status on_event(void *ctx, const struct model_event *ev, struct err *e)
{
    return model_emit(ctx, ev, e);
}

static int64_t or_else(int64_t given, int64_t usual)
{
    return given > 0 ? given : usual;
}

static enum status send_body(struct exchange *x, struct err *e)
{
    struct model_call         *c = x->c;
    const struct model_client *m = c->client;
    struct sv                  headers[HEADERS_MAX];
    struct http_request        q = {
               .url = c->access->url,
               .headers = headers,
               .n_headers = write_headers(x, headers),
               .body = x->body,
               .proxy = http_url_is_loopback(c->access->url) ? SV("") : m->proxy,
               .max_bytes = MODEL_STREAM_MAX,
               .allow_private = true, /* the user's own settings say where; see `secure` */
               .secure = true,
               .stream = { on_piece, on_begin, x, or_else(m->connect_ms, MODEL_CONNECT_MS),
                           or_else(m->first_byte_ms, MODEL_FIRST_BYTE_MS),
                           or_else(m->idle_ms, MODEL_IDLE_MS), MODEL_ERROR_BODY_MAX },
               .cancel = c->q->cancel,
               .wait = c->q->wait,
               .wait_ctx = c->q->wait_ctx,
    };

    x->stream = stream_in(c->provider->read, on_event, c, c->a);
    x->stream.secret = secret_of(x);
    x->raw = sb_in(c->a, 0);
    x->passed = 0;
    return http_send(&q, c->a, &x->answer, e);
}

/* ---- what is kept of the answer -----------------------------------------------------------------
 */

/* The value of a header; absent when there is none. */
static struct sv header(const struct exchange *x, const char *name)
{
    for (struct sv rest = x->answer.headers; rest.n;) {
        struct sv_cut line = sv_cut(rest, '\n'), field = sv_cut(line.head, ':');
        if (sv_is(sv_lower(field.head, x->c->a), name))
            return sv_trim(field.tail);
        rest = line.tail;
    }
    return (struct sv){ 0 };
}

/* The usage that the stream reported before it was ended by us or cut off. Missing counts are
 * estimated. */
static void estimate_usage(struct exchange *x)
{
    struct model_usage *u = &x->c->out->usage;
    int64_t             at_least = (int64_t)(utf8_count(sb_sv(&x->c->text)) + 3) / 4;

    *u = x->stream.usage;
    u->estimated = true;
    u->input = u->input >= 0 ? u->input : (int64_t)(x->body.n + 3) / 4;
    u->output = u->output > at_least ? u->output : at_least;
}

static void keep(struct exchange *x)
{
    static const char *const ids[] = { "request-id", "x-request-id", "x-generation-id" };
    struct model_response   *out = x->c->out;

    out->headers = kept_headers(x, x->answer.headers);
    out->body = masked(x, sb_sv(&x->raw));
    for (size_t i = 0; i < COUNT(ids) && !out->request_id.n; i++)
        out->request_id = masked(x, header(x, ids[i]));
    if (x->warnings.n)
        out->warnings = sb_sv(&x->warnings);
}

/* ---- failures -----------------------------------------------------------------------------------
 */

static void read_retry(struct exchange *x, int64_t told)
{
    struct model_call *c = x->c;
    struct sv          ms = header(x, "retry-after-ms"), should = header(x, "x-should-retry");
    int64_t            n;

    c->retry_after_ms = told;
    if (header(x, "retry-after").n)
        c->retry_after_ms = provider_error_wait(header(x, "retry-after"), clock_system_ms());
    if (sv_to_int(sv_cut(ms, '.').head, &n) && n >= 0)
        c->retry_after_ms = n;
    if (should.n)
        c->retry = sv_is(should, "true");
}

/* A body that is not a document of the provider: what a proxy wrote. Markup is not shown. */
static struct sv plain_message(struct exchange *x, struct sv body)
{
    struct sb b = sb_in(x->c->a, 0);

    sb_addf(&b, "HTTP %d", x->answer.status);
    body = sv_trim(body);
    if (body.n && body.s[0] != '<') {
        sb_adds(&b, ", ");
        sb_add_plain_line(&b, utf8_first(body, 200));
    }
    return sb_sv(&b);
}

/* The failure of an answer with a status that is not 2xx. *facts: what the provider says of it. */
static enum status refused(struct exchange *x, struct provider_error *facts, struct err *e)
{
    struct json doc;
    struct err  ignored;
    struct sb   clean = sb_in(x->c->a, 0);

    *facts = (struct provider_error){ .retry_after_ms = -1 };
    sb_add_lossy(&clean, masked(x, x->answer.body));
    if (json_parse(sb_sv(&clean), 0, x->c->a, &doc, &ignored) == ST_OK)
        provider_error_of(x->answer.status, &doc, &x->c->retry, facts, e);
    if (!facts->message.n)
        model_http_error(x->answer.status, plain_message(x, sb_sv(&clean)), &x->c->retry, e);
    read_retry(x, facts->retry_after_ms);
    if (x->c->retry_after_ms > MODEL_WAIT_MAX_MS)
        err_hint(e, "the provider asks to wait %lld seconds",
                 (long long)(x->c->retry_after_ms / 1000));
    return err_code(e);
}

/* Status 200 without any event: some providers report errors so, or the address is that of another
 * kind of server. */
static enum status not_a_stream(struct exchange *x, struct err *e)
{
    struct json           doc;
    struct err            ignored;
    struct provider_error facts = { .retry_after_ms = -1 };
    struct sv             body = sv_trim(x->c->out->body);

    if (json_parse(body, 0, x->c->a, &doc, &ignored) == ST_OK)
        provider_error_read(&doc, &facts);
    if (facts.message.n)
        return provider_error_of(0, &doc, &x->c->retry, NULL, e);
    return provider_error_set("invalidResponse",
                              SV("the provider did not answer with a stream of events"),
                              &x->c->retry, e);
}

/* The connection failed, or was ended. */
static enum status broken(struct exchange *x, struct err *e)
{
    struct model_call *c = x->c;
    struct err         why = *e;

    switch (why.code) {
    case ST_MODEL_ERROR: c->retry = x->stream.retry; return err_code(e);
    case ST_LIMIT_EXCEEDED:
        return provider_error_set("invalidResponse", sv_of(why.text), &c->retry, e);
    case ST_PERMISSION_DENIED:
        err_in(e, "%s", c->provider->facts.name);
        return err_hint(e, "keys are sent over https only; http is for this machine");
    case ST_IO: break;
    default: return err_code(e); /* cancelled, or not a request at all */
    }
    if (strcmp(why.reason, "library") == 0)
        return err_code(e);
    if (strcmp(why.reason, "timeout") == 0)
        return provider_error_set("timeout", sv_of(why.text), &c->retry, e);
    struct sb b = sb_in(c->a, 0);
    sb_addf(&b, "%s (" SV_FMT ")", why.text, SV_ARG(host_of(c->access->url)));
    return provider_error_set("networkError", sb_sv(&b), &c->retry, e);
}

/* ---- asking -------------------------------------------------------------------------------------
 */

static enum status finish(struct exchange *x, enum status sent, struct err *e)
{
    if (x->c->refused)
        return sent;
    if (x->stream.over || x->stream.complete) /* an error after the end does not matter */
        return stream_end(&x->stream, e);
    if (sent)
        return broken(x, e);
    if (!x->stream.begun && sv_trim(sb_sv(&x->raw)).n)
        return not_a_stream(x, e);
    return ST_OK; /* an answer without an end, which attempt() sees */
}

/* Send it; once more, without the setting, for each that the provider refuses. */
static enum status send_until_taken(struct exchange *x, struct err *e)
{
    for (;;) {
        struct provider_error facts;
        enum status           sent = send_body(x, e);
        bool                  answered = x->answer.status != 0;
        if (answered && (x->answer.status < 200 || x->answer.status > 299) && sent == ST_OK) {
            keep(x);
            refused(x, &facts, e);
            const char *dropped = x->answer.status == 400
                                      ? sampling_drop(&x->body, &facts, x->c->a, &x->warnings)
                                      : NULL;
            if (!dropped)
                return err_code(e);
            model_refuse(x->c->client, x->c->q->model, dropped);
            stream_free(&x->stream);
            continue;
        }
        keep(x);
        return finish(x, sent, e);
    }
}

enum status model_ask_network(struct model_call *c, struct err *e)
{
    struct exchange x = { .c = c, .body = c->q->body, .warnings = sb_in(c->a, 0) };
    struct err      ignored;

    if (c->provider->auth == AUTH_ANTHROPIC)
        sampling_fit(&x.body, c->identifier, c->a, &x.warnings);
    for (size_t i = 0; i < c->client->refusals.n; i++)
        if (sv_eq(c->client->refusals.v[i].model, c->q->model))
            sampling_leave_out(&x.body, c->client->refusals.v[i].setting, c->a, &x.warnings);
    enum status s = send_until_taken(&x, e);
    if (!c->refused && x.raw.n && pass_on(&x, true, &ignored))
        c->refused = false; /* the response has these last bytes, too */
    if (c->begun && !c->ended)
        estimate_usage(&x);
    stream_free(&x.stream);
    return s;
}

/* ---- reading again ------------------------------------------------------------------------------
 */

enum status model_read_again(struct model_call *c, struct sv headers, struct sv bytes,
                             struct err *e)
{
    struct exchange x = {
        .c = c, .body = c->q->body, .warnings = sb_in(c->a, 0), .raw = sb_in(c->a, 0)
    };

    x.stream = stream_in(c->provider->read, on_event, c, c->a);
    sb_add(&x.raw, bytes);
    x.answer.headers = headers;
    keep(&x);
    enum status s = stream_feed(&x.stream, bytes, e);
    if (!c->refused && (x.stream.over || x.stream.complete))
        s = stream_end(&x.stream, e);
    if (c->begun && !c->ended)
        estimate_usage(&x);
    stream_free(&x.stream);
    return s;
}

/* The user's list of tokens, and the copy of it that a server keeps. */
#include "api/door_token.h"

#include "api/request.h"
#include "api/user_file.h"
#include "base/clock.h"
#include "base/failure.h"
#include "base/hash.h"
#include "base/rand.h"
#include "base/utf8.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>

const char *const token_permission_names[] = {
#define X(bit, name, what) #name,
    TOKEN_PERMISSIONS(X)
#undef X
        NULL,
};

unsigned token_needed(const struct operation *op)
{
    switch (op->access) {
    case ACCESS_RUN: return TOKEN_run;
    case ACCESS_MANAGE: return TOKEN_manage;
    case ACCESS_SHELL: return 0;
    case ACCESS_USUAL: break;
    }
    return op->repeat == REPEAT_READS ? TOKEN_read : TOKEN_write;
}

bool door_token_reaches(const struct sv_list *threads, const struct operation *op,
                        const void *params)
{
    struct sv named = param_text(op->params, params, SV("thread"));

    if (!threads->n)
        return true;
    if (!op->in_thread)
        return false;
    for (size_t i = 0; i < threads->n; i++)
        if (named.s && sv_eq(threads->v[i], named))
            return true;
    return false;
}

/* ---- reading ------------------------------------------------------------------------------- */

static int64_t time_of(const struct json *v, const char *key)
{
    int64_t ms;

    return clock_parse_iso(json_text(v, key), &ms) ? ms : 0;
}

static struct sv_list texts_of(const struct json *list, struct arena *a)
{
    struct sv_list out = { 0 };

    for (size_t i = 0; json_is(list, JSON_ARRAY) && i < list->n; i++)
        param_list_add(&out, json_sv(&list->items[i]), a);
    return out;
}

static unsigned permissions_of(const struct json *list)
{
    unsigned bits = 0;

    for (size_t i = 0; json_is(list, JSON_ARRAY) && i < list->n; i++)
        for (size_t k = 0; token_permission_names[k]; k++)
            if (sv_is(json_sv(&list->items[i]), token_permission_names[k]))
                bits |= 1u << k;
    return bits;
}

/* A row with an expiry that cannot be read has expired. */
static struct door_token token_of(const struct json *v, struct arena *a)
{
    const struct json *expires = json_find(v, "expires_at");
    int64_t            until = time_of(v, "expires_at");

    return (struct door_token){
        .id = json_text(v, "id"),
        .actor = json_text(v, "actor"),
        .permissions = permissions_of(json_find(v, "permissions")),
        .threads = texts_of(json_find(v, "threads"), a),
        .created = time_of(v, "created_at"),
        .expires = json_is(expires, JSON_NULL) ? 0
                   : until                     ? until
                                               : 1,
        .hash = json_text(v, "hash"),
    };
}

static enum status parse(const struct workspace *ws, struct sv text, struct arena *a,
                         struct json *doc, door_tokens *out, struct err *e)
{
    *out = (door_tokens){ 0 };
    *doc = (struct json){ .type = JSON_OBJECT };
    if (!text.n)
        return ST_OK;
    if (json_parse(text, 0, a, doc, e)) {
        err_in(e, SV_FMT, SV_ARG(user_file_path(ws, USER_TOKENS, a)));
        return err_hint(e, "remove the file: no token is valid then");
    }
    const struct json *list = json_find_sv(json_find(doc, "workspaces"), ws->root);
    for (size_t i = 0; json_is(list, JSON_ARRAY) && i < list->n; i++)
        *vec_push(out, a) = token_of(&list->items[i], a);
    return ST_OK;
}

enum status door_token_list(const struct workspace *ws, struct arena *a, door_tokens *out,
                            struct err *e)
{
    struct sv   text;
    struct json doc;

    if (user_file_read(ws, USER_TOKENS, a, &text, e))
        return err_code(e);
    return parse(ws, text, a, &doc, out, e);
}

/* ---- changing ------------------------------------------------------------------------------ */

struct change {
    const struct workspace  *ws;
    const struct door_token *add;    /* or NULL */
    struct sv                remove; /* or absent */
    bool                     was;
};

void door_token_write_reach(struct jw *w, const struct door_token *t)
{
    jw_key(w, "permissions");
    jw_open(w, '[');
    for (size_t k = 0; token_permission_names[k]; k++)
        if (t->permissions & (1u << k))
            jw_str(w, sv_of(token_permission_names[k]));
    jw_close(w, ']');
    jw_key(w, "threads");
    jw_open(w, '[');
    for (size_t i = 0; i < t->threads.n; i++)
        jw_str(w, t->threads.v[i]);
    jw_close(w, ']');
}

static void write_token(struct jw *w, const struct door_token *t)
{
    jw_open(w, '{');
    jw_kstr(w, "actor", t->actor);
    jw_ktime(w, "created_at", t->created);
    jw_ktime_if(w, "expires_at", t->expires != 0, t->expires);
    jw_kstr(w, "hash", t->hash);
    jw_kstr(w, "id", t->id);
    door_token_write_reach(w, t);
    jw_close(w, '}');
}

static void write_own(struct jw *w, struct change *c, const door_tokens *list)
{
    jw_key_sv(w, c->ws->root);
    jw_open(w, '[');
    for (size_t i = 0; i < list->n; i++) {
        if (c->remove.s && sv_eq(list->v[i].id, c->remove))
            c->was = true;
        else
            write_token(w, &list->v[i]);
    }
    if (c->add)
        write_token(w, c->add);
    jw_close(w, ']');
}

static enum status edit(void *ctx, struct sv before, struct arena *a, struct sv *after,
                        struct err *e)
{
    struct change *c = ctx;
    struct json    doc;
    door_tokens    list;
    struct sb      b = sb_in(a, 0);
    struct jw      w = jw_in(&b, 2);

    if (parse(c->ws, before, a, &doc, &list, e))
        return err_code(e);
    const struct json *all = json_find(&doc, "workspaces");
    jw_open(&w, '{');
    jw_key(&w, "workspaces");
    jw_open(&w, '{');
    for (size_t i = 0; json_is(all, JSON_OBJECT) && i < all->n; i++)
        if (!sv_eq(all->members[i].key, c->ws->root)) {
            jw_key_sv(&w, all->members[i].key);
            jw_json(&w, &all->members[i].value);
        }
    write_own(&w, c, &list);
    jw_close(&w, '}');
    jw_close(&w, '}');
    sb_addc(&b, '\n');
    *after = sb_sv(&b);
    return ST_OK;
}

static struct sv hash_of(struct sv secret, struct arena *a)
{
    struct hash h = hash_sha256(secret);

    return hash_hex(&h, a);
}

enum status door_token_add(const struct workspace *ws, struct door_token *t, struct arena *a,
                           struct sv *secret, struct err *e)
{
    struct change c = { .ws = ws, .add = t };
    unsigned char raw[HASH_SIZE];
    struct sb     b = sb_in(a, 0);

    if (utf8_invalid(ws->root) >= 0)
        return err_set(e, ST_INVALID_SYNTAX,
                       "the path of the workspace is not UTF-8, and cannot be written down");
    rand_secret(raw, sizeof raw);
    sb_adds(&b, "heddle_");
    sb_add_base64url(&b, (struct sv){ (const char *)raw, sizeof raw });
    *secret = sb_sv(&b);
    t->id = rand_id("tk_", 8, a);
    t->hash = hash_of(*secret, a);
    return user_file_change(ws, USER_TOKENS, edit, &c, a, e);
}

enum status door_token_remove(const struct workspace *ws, struct sv id, struct arena *a, bool *was,
                              struct err *e)
{
    struct change c = { .ws = ws, .remove = id };

    if (user_file_change(ws, USER_TOKENS, edit, &c, a, e))
        return err_code(e);
    *was = c.was;
    return ST_OK;
}

/* ---- the book of a server ------------------------------------------------------------------- */

struct token_book {
    const struct workspace *ws;
    pthread_mutex_t         lock;
    struct arena            a, listed; /* memory of the path; memory of the list */
    struct sv               path;
    struct fs_mark          mark;
    bool                    read;
    door_tokens             list;
};

struct token_book *token_book_open(const struct workspace *ws)
{
    struct token_book *b = calloc(1, sizeof *b);

    if (!b)
        failure_memory(sizeof *b);
    b->ws = ws;
    b->path = user_file_path(ws, USER_TOKENS, &b->a);
    pthread_mutex_init(&b->lock, NULL);
    return b;
}

void token_book_close(struct token_book *b)
{
    pthread_mutex_destroy(&b->lock);
    arena_free(&b->listed);
    arena_free(&b->a);
    free(b);
}

/* Has the file, its owner or its mode changed since it was read? A missing file has no mark. */
static bool is_old(const struct token_book *b, struct fs_mark *now)
{
    struct stat st;

    *now = (struct fs_mark){ 0 };
    if (b->path.s && stat(b->path.s, &st) == 0)
        *now = (struct fs_mark){ st.st_ino, (uint64_t)st.st_size,
                                 st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec };
    return !b->read || !fs_mark_eq(now, &b->mark);
}

/* A list that cannot be read has no valid token. */
static void refresh(struct token_book *b)
{
    struct fs_mark now;
    struct err     ignored;

    if (!is_old(b, &now))
        return;
    arena_free(&b->listed);
    if (door_token_list(b->ws, &b->listed, &b->list, &ignored))
        b->list = (door_tokens){ 0 };
    b->mark = now;
    b->read = true;
}

/* Compare every hash in constant time, so that the time does not tell which one matches. */
static const struct door_token *find(const struct token_book *b, struct sv secret)
{
    struct arena             scratch = { 0 };
    struct sv                hash = hash_of(secret, &scratch);
    const struct door_token *found = NULL;

    for (size_t i = 0; i < b->list.n; i++)
        if (hash_same_text(b->list.v[i].hash, hash))
            found = &b->list.v[i];
    arena_free(&scratch);
    return found;
}

static bool is_valid(const struct door_token *t)
{
    return !t->expires || t->expires > clock_now_ms();
}

bool token_book_has(struct token_book *b, struct sv id)
{
    bool has = false;

    pthread_mutex_lock(&b->lock);
    refresh(b);
    for (size_t i = 0; i < b->list.n && !has; i++)
        has = sv_eq(b->list.v[i].id, id) && is_valid(&b->list.v[i]);
    pthread_mutex_unlock(&b->lock);
    return has;
}

bool token_book_find(struct token_book *b, struct sv secret, struct arena *a,
                     struct door_token *out)
{
    pthread_mutex_lock(&b->lock);
    refresh(b);
    const struct door_token *t = find(b, secret);
    bool                     good = t && is_valid(t);
    if (good) {
        *out = *t;
        out->id = sv_dup(t->id, a);
        out->actor = sv_dup(t->actor, a);
        out->threads = (struct sv_list){ 0 };
        for (size_t i = 0; i < t->threads.n; i++)
            param_list_add(&out->threads, sv_dup(t->threads.v[i], a), a);
    }
    pthread_mutex_unlock(&b->lock);
    return good;
}

/* The list of trusted settings files. */
#include "api/trust.h"

#include "api/user_file.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/utf8.h"

struct sv trust_hash(struct sv text, struct arena *a)
{
    struct hash h = hash_sha256(text);

    return hash_hex(&h, a);
}

/* The member "workspaces" of the list. */
static enum status read_list(const struct workspace *ws, struct sv text, struct arena *a,
                             struct json *out, struct err *e)
{
    struct json        doc = { .type = JSON_OBJECT };
    const struct json *list;

    *out = (struct json){ .type = JSON_OBJECT };
    if (!text.n)
        return ST_OK;
    if (json_parse(text, 0, a, &doc, e)) {
        err_in(e, SV_FMT, SV_ARG(user_file_path(ws, USER_TRUST, a)));
        return err_hint(e, "remove the file: nothing is trusted then");
    }
    list = json_find(&doc, "workspaces");
    if (json_is(list, JSON_OBJECT))
        *out = *list;
    return ST_OK;
}

enum status trust_list(const struct workspace *ws, struct arena *a, struct json *out, struct err *e)
{
    struct sv text;

    if (user_file_read(ws, USER_TRUST, a, &text, e))
        return err_code(e);
    return read_list(ws, text, a, out, e);
}

bool trust_has(const struct workspace *ws, struct sv text, struct arena *a)
{
    struct json list;
    struct err  e;

    if (trust_list(ws, a, &list, &e)) {
        workspace_note(ws, "%s", e.text);
        return false;
    }
    struct sv known = json_text(json_find_sv(&list, ws->root), "sha256");
    return known.n && sv_eq(known, trust_hash(text, a));
}

/* ---- changing ---------------------------------------------------------------------------- */

struct change {
    const struct workspace *ws;
    struct sv               hash; /* absent: take it out */
    bool                    was;
};

static void write_row(struct jw *w, const struct change *c, struct arena *a)
{
    struct sb at = sb_in(a, 0);

    sb_add_iso_ms(&at, clock_now_ms());
    jw_key_sv(w, c->ws->root);
    jw_open(w, '{');
    jw_kstr(w, "at", sb_sv(&at));
    jw_kstr(w, "sha256", c->hash);
    jw_close(w, '}');
}

static enum status edit(void *ctx, struct sv before, struct arena *a, struct sv *after,
                        struct err *e)
{
    struct change *c = ctx;
    struct json    list;
    struct sb      b = sb_in(a, 0);
    struct jw      w = jw_in(&b, 2);

    if (read_list(c->ws, before, a, &list, e))
        return err_code(e);
    jw_open(&w, '{');
    jw_key(&w, "workspaces");
    jw_open(&w, '{');
    for (size_t i = 0; i < list.n; i++) {
        bool this_one = sv_eq(list.members[i].key, c->ws->root);
        c->was = c->was || this_one;
        if (this_one)
            continue;
        jw_key_sv(&w, list.members[i].key);
        jw_json(&w, &list.members[i].value);
    }
    if (c->hash.s)
        write_row(&w, c, a);
    jw_close(&w, '}');
    jw_close(&w, '}');
    sb_addc(&b, '\n');
    *after = sb_sv(&b);
    return ST_OK;
}

enum status trust_add(const struct workspace *ws, struct sv text, struct arena *a, struct err *e)
{
    struct change c = { ws, trust_hash(text, a), false };

    if (utf8_invalid(ws->root) >= 0)
        return err_set(e, ST_INVALID_SYNTAX,
                       "the path of the workspace is not UTF-8, and cannot be written down");
    return user_file_change(ws, USER_TRUST, edit, &c, a, e);
}

enum status trust_remove(const struct workspace *ws, struct arena *a, bool *was, struct err *e)
{
    struct change c = { ws, (struct sv){ 0 }, false };

    if (user_file_change(ws, USER_TRUST, edit, &c, a, e))
        return err_code(e);
    *was = c.was;
    return ST_OK;
}

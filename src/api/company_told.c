/* The list of companies that the user knows about, by workspace. */
#include "api/company_told.h"

#include "api/user_file.h"
#include "base/clock.h"
#include "base/utf8.h"

/* The member "workspaces" of the list; empty when the text is not such a list. */
static struct json read_list(struct sv text, struct arena *a)
{
    struct json doc, none = { .type = JSON_OBJECT };
    struct err  ignored;

    if (!text.n || json_parse(text, 0, a, &doc, &ignored))
        return none;
    const struct json *list = json_find(&doc, "workspaces");
    return json_is(list, JSON_OBJECT) ? *list : none;
}

bool company_was_told(const struct workspace *ws, struct sv company, struct arena *a, bool *others)
{
    struct sv  text;
    struct err ignored;

    *others = true;
    if (user_file_read(ws, USER_COMPANIES, a, &text, &ignored))
        return false;
    struct json        list = read_list(text, a);
    const struct json *known = json_find_sv(&list, ws->root);
    *others = json_is(known, JSON_OBJECT) && known->n > 0;
    return json_find_sv(known, company) != NULL;
}

/* ---- changing ---------------------------------------------------------------------------- */

struct change {
    const struct workspace *ws;
    struct sv               company;
};

/* What is known of this workspace, and the new company. */
static void write_row(struct jw *w, const struct json *had, const struct change *c, struct arena *a)
{
    struct sb at = sb_in(a, 0);

    sb_add_iso_ms(&at, clock_now_ms());
    jw_key_sv(w, c->ws->root);
    jw_open(w, '{');
    for (size_t i = 0; json_is(had, JSON_OBJECT) && i < had->n; i++) {
        if (sv_eq(had->members[i].key, c->company))
            continue;
        jw_key_sv(w, had->members[i].key);
        jw_json(w, &had->members[i].value);
    }
    jw_key_sv(w, c->company);
    jw_str(w, sb_sv(&at));
    jw_close(w, '}');
}

static enum status edit(void *ctx, struct sv before, struct arena *a, struct sv *after,
                        struct err *e)
{
    const struct change *c = ctx;
    struct json          list = read_list(before, a);
    struct sb            b = sb_in(a, 0);
    struct jw            w = jw_in(&b, 2);

    (void)e;
    jw_open(&w, '{');
    jw_key(&w, "workspaces");
    jw_open(&w, '{');
    for (size_t i = 0; i < list.n; i++) {
        if (sv_eq(list.members[i].key, c->ws->root))
            continue;
        jw_key_sv(&w, list.members[i].key);
        jw_json(&w, &list.members[i].value);
    }
    write_row(&w, json_find_sv(&list, c->ws->root), c, a);
    jw_close(&w, '}');
    jw_close(&w, '}');
    sb_addc(&b, '\n');
    *after = sb_sv(&b);
    return ST_OK;
}

void company_told(const struct workspace *ws, struct sv company, struct arena *a)
{
    struct change c = { ws, company };
    struct err    ignored;

    if (utf8_invalid(ws->root) >= 0 || user_file_change(ws, USER_COMPANIES, edit, &c, a, &ignored))
        return; /* it is said again */
}

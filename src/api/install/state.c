/* What was in a file before heddle's parts, where taking them out again would not give it: an empty
 * object that was there before, a last line without an end. It is kept with the user's own files,
 * by the path of the file and the hash of what heddle wrote:
 *
 *     {"files":{"/home/you/project/.mcp.json":{"before":"{}","sha256":"…"}}} */
#include "api/install/install.h"
#include "api/trust.h"
#include "api/user_file.h"

enum { BEFORE_MAX = 256 << 10 };

enum status install_state_find(const struct workspace *ws, struct sv path, struct sv text,
                               struct arena *a, struct sv *before, bool *exact, struct err *e)
{
    struct sv   state;
    struct json doc;
    struct err  ignored;

    *before = (struct sv){ 0 };
    *exact = false;
    if (user_file_read(ws, USER_INSTALLED, a, &state, e))
        return err_code(e);
    if (!text.s || !state.n || json_parse(state, 0, a, &doc, &ignored))
        return ST_OK; /* without the state only rare details cannot be restored */
    const struct json *row = json_find_sv(json_find(&doc, "files"), path);
    *before = json_text(row, "before");
    *exact = before->s && sv_eq(json_text(row, "sha256"), trust_hash(text, a));
    return ST_OK;
}

struct row {
    struct sv path, before, hash;
};

/* The state with one row put in, or taken out when it has no `before`. */
static enum status edit(void *ctx, struct sv text, struct arena *a, struct sv *after, struct err *e)
{
    const struct row  *row = ctx;
    struct json        doc;
    struct sb          b = sb_in(a, 0);
    struct jw          w = jw_in(&b, 0);
    const struct json *files = NULL;

    (void)e;
    if (text.n && json_parse(text, 0, a, &doc, e) == ST_OK)
        files = json_find(&doc, "files");
    jw_open(&w, '{');
    jw_key(&w, "files");
    jw_open(&w, '{');
    for (size_t i = 0; json_is(files, JSON_OBJECT) && i < files->n; i++) {
        if (sv_eq(files->members[i].key, row->path))
            continue;
        jw_key_sv(&w, files->members[i].key);
        jw_json(&w, &files->members[i].value);
    }
    if (row->before.s) {
        jw_key_sv(&w, row->path);
        jw_open(&w, '{');
        jw_kstr(&w, "before", row->before);
        jw_kstr(&w, "sha256", row->hash);
        jw_close(&w, '}');
    }
    jw_close(&w, '}');
    jw_close(&w, '}');
    sb_addc(&b, '\n');
    *after = sb_sv(&b);
    return ST_OK;
}

enum status install_state_keep(const struct workspace *ws, const struct install_file *f,
                               enum harness h, struct sv path, struct sv before, struct sv after,
                               struct arena *a, struct err *e)
{
    struct row row = { .path = path };
    struct sv  again = { 0 }, was;

    if (after.s && install_without(f, h, after, a, &again, e))
        return err_code(e);
    bool same = again.s ? sv_eq(again, before) && before.s : !before.s;
    if (after.s && !same && !sv_eq(after, before) && before.n <= BEFORE_MAX) {
        row.before = before;
        row.hash = trust_hash(after, a);
    }
    if (!row.before.s) { /* nothing to keep: write only when there is something to forget */
        if (user_file_read(ws, USER_INSTALLED, a, &was, e))
            return err_code(e);
        if (sv_find(was, path) < 0)
            return ST_OK;
    }
    return user_file_change(ws, USER_INSTALLED, edit, &row, a, e);
}

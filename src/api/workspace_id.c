/* Reading and making the id of a workspace. */
#include "api/workspace_id.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/rand.h"

enum { ID_CHARS = 26, ID_FILE_MAX = 4096, ID_MIN = 8 };

/* It becomes a part of the name of a schema: lower-case letters, digits and - alone. */
static bool is_id(struct sv id)
{
    for (size_t i = 0; i < id.n; i++) {
        char c = id.s[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'))
            return false;
    }
    return id.n >= ID_MIN && id.n <= WORKSPACE_ID_MAX;
}

/* What the file says; absent when it is not there. */
static enum status read_id(const struct workspace *ws, struct arena *a, struct sv *out,
                           struct err *e)
{
    struct sv   text;
    struct json doc;
    enum status s = fs_read(ws->root_fd, WORKSPACE_ID_FILE, ID_FILE_MAX, a, &text, e);

    *out = (struct sv){ 0 };
    if (s == ST_NOT_FOUND)
        return ST_OK;
    if (s)
        return s;
    if (json_parse(text, 0, a, &doc, e))
        return err_in(e, SV_FMT, SV_ARG(WORKSPACE_ID_FILE));
    *out = json_text(&doc, "id");
    if (is_id(*out))
        return ST_OK;
    err_set(e, ST_INVALID_SYNTAX, SV_FMT " holds no id", SV_ARG(WORKSPACE_ID_FILE));
    return err_hint(e,
                    "put the file back as it is in version control; without it the workspace gets "
                    "a new id, and with it a new log");
}

static enum status make_id(const struct workspace *ws, struct arena *a, struct sv *out,
                           struct err *e)
{
    UNDO(fd_undo) int held = -1;
    struct sb         b = sb_in(a, 0);
    struct jw         w = jw_in(&b, 2);

    if (fs_lock_dir(ws->root_fd, SV(".leslie"), &held, e) || read_id(ws, a, out, e))
        return err_code(e);
    if (out->s)
        return ST_OK;
    *out = rand_unique_id(ID_CHARS, a);
    jw_open(&w, '{');
    jw_kstr(&w, "id", *out);
    jw_close(&w, '}');
    sb_addc(&b, '\n');
    return fs_write(ws->root_fd, WORKSPACE_ID_FILE, sb_sv(&b), 0644, e);
}

enum status workspace_id(const struct workspace *ws, bool make, struct arena *a, struct sv *out,
                         struct err *e)
{
    if (read_id(ws, a, out, e))
        return err_code(e);
    return out->s || !make ? ST_OK : make_id(ws, a, out, e);
}

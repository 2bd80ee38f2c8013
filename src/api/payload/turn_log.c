/* Appending the entries of a session's turns to the log of its thread. */
#include "api/payload/turn_log.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/path.h"
#include "payload/list.h"
#include "thread/scan.h"

/* Canonical: members in the order of their names. */
static enum status payload_of(struct request *r, const struct session_dir *s, struct sv dir,
                              int number, struct sv *out, struct err *e)
{
    struct sb   b = sb_in(r->a, 0);
    struct jw   w = jw_in(&b, 0);
    struct sv   text = SV("");
    enum status got = fs_read(workspace_project_fd(r->ws), path_join(dir, SV("turn.context"), r->a),
                              4 << 20, r->a, &text, e);

    if (got && got != ST_NOT_FOUND)
        return got;
    list_lines lines = list_read(text, r->a);
    jw_open(&w, '{');
    jw_kstr(&w, "dir", dir);
    jw_key(&w, "entries");
    jw_open(&w, '[');
    for (size_t i = 0; i < lines.n; i++)
        jw_str(&w, lines.v[i]);
    jw_close(&w, ']');
    jw_kstr(&w, "session", s->name);
    jw_kint(&w, "turn", number);
    jw_close(&w, '}');
    *out = sb_sv(&b);
    return ST_OK;
}

static struct sv op_id_of(struct sv dir, struct arena *a)
{
    struct hash h = hash_sha256(dir);
    struct sb   b = sb_in(a, 0);

    sb_adds(&b, "turn-");
    sb_add(&b, sv_first(hash_hex(&h, a), 32));
    return sb_sv(&b);
}

static enum status log_one(struct request *r, const struct session_dir *s, int number,
                           struct err *e)
{
    struct sb         name = sb_in(r->a, 0);
    struct store_head head;
    struct entry      known;
    enum fs_kind      kind;
    bool              found;

    sb_addf(&name, SV_FMT "/%02d", SV_ARG(s->dir), number);
    struct sv dir = sb_sv(&name), op = op_id_of(dir, r->a), payload;
    if (fs_kind(workspace_project_fd(r->ws), dir, &kind, e))
        return err_code(e);
    if (kind != FS_DIR)
        return ST_OK;
    if (log_find_op(&r->log, s->thread, op, r->a, &known, &found, e))
        return err_code(e);
    if (found)
        return ST_OK;
    if (payload_of(r, s, dir, number, &payload, e))
        return err_code(e);
    struct entry n = {
        .at = clock_now_ms(), .kind = SV("turn"), .actor = r->actor, .op_id = op, .payload = payload
    };
    return log_append(&r->log, s->thread, LOG_ANY_REV, &n, 1, &head, e);
}

enum status turn_log(struct request *r, const struct session_dir *s, struct err *e)
{
    enum status st = ST_OK;

    if (!s->thread.n)
        return ST_OK;
    if (name_check(s->thread, "thread id", e) || request_log(r, STORE_WRITE, e) ||
        log_begin(&r->log, s->thread, STORE_WRITE, e))
        return err_code(e);
    for (int i = 1; i <= s->turn && !st; i++)
        st = log_one(r, s, i, e);
    if (!st)
        st = log_commit(&r->log, e);
    log_abort(&r->log); /* nothing is open any more when all went well */
    return st ? err_in(e, "the turn is made, but thread '" SV_FMT "' has no entry of it",
                       SV_ARG(s->thread))
              : ST_OK;
}

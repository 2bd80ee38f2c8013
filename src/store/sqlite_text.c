/* Words of entries in an FTS5 index without content: its rowid is the entry's key, and the
 * text itself is only in the entry. */
#include "base/vec.h"
#include "store/sqlite_internal.h"
#include "store/words.h"

static bool is_there(sqlite3_stmt *st)
{
    bool there = sqlite3_step(st) == SQLITE_ROW;

    sqlite3_reset(st);
    return there;
}

enum status sqlite_text_put(struct store *s, struct sv thread, int64_t seq, struct sv text,
                            struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);
    sqlite3_stmt        *has, *add;
    int64_t              tid;

    if (sqlite_tid(q, thread, &tid, e) || sqlite_ready(q, Q_TEXT_HAS, &has, e) ||
        sqlite_ready(q, Q_TEXT_ADD, &add, e))
        return err_code(e);
    sqlite3_bind_int64(has, 1, entry_key(tid, seq));
    if (is_there(has)) /* a view that is folded again puts every entry again */
        return ST_OK;
    struct arena scratch = { 0 };
    sqlite3_bind_int64(add, 1, entry_key(tid, seq));
    sqlite_bind_sv(add, 2, words_spaced(text, &scratch));
    enum status st = sqlite_run(q, add, e);
    arena_free(&scratch);
    return st;
}

enum status sqlite_text_last(struct store *s, struct sv thread, int64_t *seq, struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);
    sqlite3_stmt        *st;
    int64_t              tid;

    *seq = -1;
    if (sqlite_tid(q, thread, &tid, e) || sqlite_ready(q, Q_TEXT_LAST, &st, e))
        return err_code(e);
    sqlite3_bind_int64(st, 1, entry_key(tid, 0));
    sqlite3_bind_int64(st, 2, entry_key(tid, SEQ_MAX));
    int rc = sqlite3_step(st);
    if (rc == SQLITE_ROW && sqlite3_column_type(st, 0) != SQLITE_NULL)
        *seq = sqlite3_column_int64(st, 0) & SEQ_MAX;
    sqlite3_reset(st);
    return rc == SQLITE_ROW ? ST_OK : sqlite_fail(q, rc, e);
}

/* "word" "two words": FTS5 finds entries that have all of them. Quoting makes its operators plain
 * text. */
static struct sv match_of(const struct sv *words, size_t n, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    for (size_t i = 0; i < n; i++) {
        struct sv word = words_spaced(words[i], a);
        sb_adds(&b, i ? " \"" : "\"");
        for (size_t k = 0; k < word.n; k++)
            if (word.s[k] == '"')
                sb_adds(&b, "\"\"");
            else if (word.s[k])
                sb_addc(&b, word.s[k]);
        sb_addc(&b, '"');
    }
    return sb_sv(&b);
}

static enum status name_threads(struct sqlite_store *q, struct store_hit *hits, size_t n,
                                const int64_t *tids, struct arena *a, struct err *e)
{
    sqlite3_stmt *st = NULL;
    int rc = sqlite3_prepare_v2(q->db, "SELECT id FROM thread WHERE tid = ?", -1, &st, NULL);

    for (size_t i = 0; rc == SQLITE_OK && i < n; i++) {
        sqlite3_bind_int64(st, 1, tids[i]);
        if (sqlite3_step(st) == SQLITE_ROW)
            hits[i].thread = sv_dup(sqlite_column_sv(st, 0), a);
        sqlite3_reset(st);
    }
    sqlite3_finalize(st);
    return rc == SQLITE_OK ? ST_OK : sqlite_fail(q, rc, e);
}

enum status sqlite_text_find(struct store *s, struct sv thread, const struct sv *words, size_t n,
                             size_t max, struct arena *a, struct store_hit **out, size_t *count,
                             struct err *e)
{
    static const char    text[] = "SELECT rowid FROM text WHERE text MATCH ?1"
                                  " AND rowid BETWEEN ?2 AND ?3 ORDER BY rowid DESC LIMIT ?4";
    struct sqlite_store *q = sqlite_of(s);
    sqlite3_stmt        *st = NULL;
    int64_t              tid = 0;
    VEC(struct store_hit) hits = { 0 };
    VEC(int64_t) tids = { 0 };

    if (thread.s && sqlite_tid(q, thread, &tid, e))
        return err_code(e);
    int rc = sqlite3_prepare_v2(q->db, text, -1, &st, NULL);
    if (rc == SQLITE_OK) {
        sqlite_bind_sv(st, 1, match_of(words, n, a));
        sqlite3_bind_int64(st, 2, thread.s ? entry_key(tid, 0) : 0);
        sqlite3_bind_int64(st, 3, thread.s ? entry_key(tid, SEQ_MAX) : INT64_MAX);
        sqlite3_bind_int64(st, 4, max > INT32_MAX ? INT32_MAX : (int64_t)max);
        while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
            int64_t key = sqlite3_column_int64(st, 0);
            *vec_push(&hits, a) = (struct store_hit){ thread, key & SEQ_MAX };
            *vec_push(&tids, a) = key >> SEQ_BITS;
        }
    }
    sqlite3_finalize(st);
    if (rc != SQLITE_DONE)
        return sqlite_fail(q, rc, e);
    *out = hits.v;
    *count = hits.n;
    return thread.s ? ST_OK : name_threads(q, hits.v, hits.n, tids.v, a, e);
}

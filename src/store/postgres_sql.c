/* The statements of the PostgreSQL backend. `@` stands for the schema of the log and a full stop.
 * Values are always parameters; the thread is the first one. */
#include "store/postgres_internal.h"

/* tid, rev, gen, chain, created, views, version; of the last entry seq, chain, at. */
#define HEAD                                                                                       \
    "SELECT t.tid, t.rev, t.gen, t.chain, t.created, t.views, t.version, e.seq, e.chain, e.at"     \
    " FROM @thread t LEFT JOIN LATERAL (SELECT seq, chain, at FROM @entry"                         \
    " WHERE tid = t.tid ORDER BY seq DESC LIMIT 1) e ON true"

#define TID_OF "(SELECT tid FROM @thread WHERE id = $1)"

/* What pg_read_entry() reads. Large payloads are in another table, and a page holds only a limited
 * number of their bytes: `before` is the sum over the earlier entries of the page. */
#define BRIEF                                                                                      \
    "e.seq, e.at, e.refs,"                                                                         \
    " CASE WHEN e.payload IS NOT NULL THEN e.payload WHEN e.before < 4194304"                      \
    " THEN (SELECT b.bytes FROM @blob b WHERE b.tid = e.tid AND b.hash = e.blob) END,"             \
    " CASE WHEN e.payload IS NULL AND e.before >= 4194304 THEN 1 ELSE 0 END, e.salt, e.content"
#define WHOLE BRIEF ", e.mark, e.kind, e.lane, e.actor, e.id, e.op, e.chain, "
#define NOTHING_BEFORE "NULL::bytea"
/* The chain value of the entry before, where the scan does not give that entry itself. */
#define CHAIN_BEFORE "(SELECT p.chain FROM @entry p WHERE p.tid = e.tid AND p.seq = e.seq - 1)"

#define PAGE(columns, where, order)                                                                \
    "SELECT " columns                                                                              \
    " FROM (SELECT x.*, coalesce(sum(CASE WHEN x.blob IS NULL THEN 0 ELSE x.size END)"             \
    " OVER (ORDER BY x.seq" order                                                                  \
    " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before"                             \
    " FROM (SELECT * FROM @entry WHERE tid = " TID_OF " AND seq >= $2 AND seq <= $3" where         \
    " ORDER BY seq" order " LIMIT $4) x) e ORDER BY e.seq" order

#define MESSAGES " AND mark = 1 AND lane = $5"
#define ANCHORS " AND mark = 2 AND lane = $5"
#define SCANS(order)                                                                               \
    PAGE(WHOLE NOTHING_BEFORE, "", order), PAGE(WHOLE CHAIN_BEFORE, MESSAGES, order),              \
        PAGE(WHOLE CHAIN_BEFORE, ANCHORS, order)
#define BRIEF_SCANS(order)                                                                         \
    PAGE(BRIEF, "", order), PAGE(BRIEF, MESSAGES, order), PAGE(BRIEF, ANCHORS, order)

#define RANGE(end, order)                                                                          \
    "SELECT key, value FROM @row WHERE tid = " TID_OF " AND view = $2 AND key >= $3" end           \
    " ORDER BY key" order " LIMIT $4"

#define MOVED_TO "tid = 0 AND view = 'moved' AND key = '\\x746f'"

#define FOUND                                                                                      \
    "SELECT t.id, w.seq FROM @word w JOIN @thread t ON t.tid = w.tid"                              \
    " WHERE (string_to_array(w.body, ' ') || ('#' || w.tid::text)) @> $1::text[]"                  \
    " AND (SELECT bool_and(position(x IN ' ' || w.body || ' ') > 0) FROM unnest($2::text[]) x)"

/* Rows by the hint of a thread: see postgres_hint.c. A key stands for the rows from it up to the
 * next one, a prefix for those up to the next prefix, the flags of a small thread for all. A thread
 * without a hint is taken for small. */
#define HOT(tid, changed)                                                                          \
    "SELECT k.view, k.key, r.view, r.key, r.value FROM @thread t LEFT JOIN @hint h"                \
    " ON h.tid = t.tid CROSS JOIN LATERAL unnest(coalesce(h.views, '{\"\"}'),"                     \
    " coalesce(h.keys, '{\"\\\\x01\"}')) AS k(view, key) LEFT JOIN LATERAL"                        \
    " (SELECT view, key, value FROM @row WHERE tid = " tid " AND (view, key) >="                   \
    " (ltrim(k.view, '/'), CASE WHEN k.view = '' THEN '' ELSE k.key END) AND (view, key) <"        \
    " (CASE WHEN k.view <> '' THEN ltrim(k.view, '/') WHEN k.key IN ('\\x01', '\\x03') THEN '~'"   \
    " ELSE '' END, CASE WHEN k.view = '' THEN '' WHEN k.view LIKE '/%' AND length(k.key) > 0"      \
    " THEN set_byte(k.key, length(k.key) - 1, get_byte(k.key, length(k.key) - 1) + 1)"             \
    " ELSE k.key || '\\x00' END) LIMIT CASE WHEN k.view = '' THEN 257 ELSE 33 END) r ON true"      \
    " WHERE t.id = $1 AND " changed

/* clang-format off */
static const char *const texts[PG_STATEMENTS] = {
    [PG_META] = "SELECT version, partitions, coalesce(workspace, ''),"
                " (extract(epoch FROM clock_timestamp()) * 1000)::bigint,"
                " current_setting('plan_cache_mode'), current_setting('server_encoding'), features"
                " FROM @meta",
    [PG_BEGIN_READ]  = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    [PG_BEGIN_WRITE] = "BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE",
    [PG_BEGIN_PROBE] = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
    [PG_COMMIT]      = "COMMIT",
    [PG_ROLLBACK]    = "ROLLBACK",
    [PG_PART_SAVE]   = "SAVEPOINT heddle_part",
    [PG_PART_UNDO]   = "ROLLBACK TO SAVEPOINT heddle_part",
    [PG_PART_KEEP]   = "RELEASE SAVEPOINT heddle_part",

    [PG_HEAD] = HEAD " WHERE t.id = $1",
    [PG_LOCK] = HEAD " WHERE t.id = $1 FOR NO KEY UPDATE OF t",
    /* Locks many threads without waiting: those that another transaction has locked are left out. */
    [PG_LOCK_FREE] = "SELECT t.tid, t.rev, t.gen, t.chain, t.created, t.views, t.version, e.seq, e.chain,"
                     " e.at, t.id FROM @thread t LEFT JOIN LATERAL (SELECT seq, chain, at FROM @entry"
                     " WHERE tid = t.tid ORDER BY seq DESC LIMIT 1) e ON true"
                     " WHERE t.id = ANY($1::text[]) FOR NO KEY UPDATE OF t SKIP LOCKED",
    /* Creates a row for the writer of a new thread to lock; uses up no number when the row exists. */
    [PG_NEW]  = "INSERT INTO @thread(id) SELECT $1 WHERE NOT EXISTS (SELECT FROM @thread WHERE id = $1)"
                " ON CONFLICT (id) DO NOTHING",
    /* Returns no rows when the cached ones are still valid. */
    [PG_HOT]  = HOT("t.tid", "(t.tid <> $2 OR t.rev <> $3 OR t.gen <> $4)"),
    [PG_HOT_AT] = HOT("$2", "t.tid = $2 AND (t.rev <> $3 OR t.gen <> $4)"),
    /* The newest first, as long as they are small; then in order. */
    [PG_TAIL] = "SELECT " WHOLE NOTHING_BEFORE " FROM (SELECT x.*, 0 AS before, sum(x.size)"
                " OVER (ORDER BY x.seq DESC) AS together FROM (SELECT * FROM @entry WHERE tid ="
                " (SELECT t.tid FROM @thread t JOIN @hint h ON h.tid = t.tid WHERE t.id = $1"
                " AND h.views[1] = '' AND h.keys[1] IN ('\\x02', '\\x03'))"
                " ORDER BY seq DESC LIMIT 64) x) e WHERE e.together <= 16384 ORDER BY e.seq",
    [PG_WANT] = "SELECT w.i, r.value FROM unnest($1::text[], $2::text[], $3::bytea[])"
                " WITH ORDINALITY AS w(thread, view, key, i)"
                " LEFT JOIN LATERAL (SELECT value FROM @row WHERE tid = (SELECT tid FROM @thread"
                " WHERE id = w.thread) AND view = w.view AND key = w.key OFFSET 0) r ON true",
    [PG_OP]   = "SELECT " WHOLE NOTHING_BEFORE " FROM (SELECT *, 0 AS before FROM @entry"
                " WHERE tid = " TID_OF " AND op = $2) e",
    [PG_OPS]  = "SELECT " WHOLE NOTHING_BEFORE ", w.i FROM unnest($1::text[], $2::text[])"
                " WITH ORDINALITY AS w(thread, op, i) CROSS JOIN LATERAL (SELECT *, 0 AS before FROM @entry"
                " WHERE tid = (SELECT tid FROM @thread WHERE id = w.thread) AND op = w.op) e",
    [PG_OPS_TAKEN] = "SELECT op FROM @entry WHERE tid = $1 AND op = ANY($2::text[]) LIMIT 1",
    [PG_CHAIN] = "SELECT chain FROM @entry WHERE tid = " TID_OF " AND seq = $2",
    [PG_ROW]   = "SELECT value FROM @row WHERE tid = " TID_OF " AND view = $2 AND key = $3",
    [PG_THREADS] = "SELECT t.id, t.rev, t.gen, t.chain, t.created, t.views, t.version, e.seq, e.chain, e.at"
                   " FROM @thread t LEFT JOIN LATERAL (SELECT seq, chain, at FROM @entry"
                   " WHERE tid = t.tid ORDER BY seq DESC LIMIT 1) e ON true"
                   " WHERE t.rev > 0 OR e.seq IS NOT NULL ORDER BY t.id",

    /* Divides by zero when the thread is not at the expected revision, so that nothing is committed. */
    [PG_HEAD_SET] = "WITH done AS (UPDATE @thread SET rev = $2, chain = $3, created = $4, updated = $5,"
                    " views = $6, version = $7, gen = $8 WHERE tid = $1 AND rev = $9 AND gen = $10"
                    " RETURNING 1) SELECT 1 / count(*)::int FROM done",
    [PG_ENTRIES_ADD] = "INSERT INTO @entry(tid, seq, at, mark, kind, lane, actor, id, op, refs, chain,"
                       " payload, blob, salt, content, size) SELECT $1, * FROM unnest($2::bigint[],"
                       " $3::bigint[], $4::smallint[], $5::text[], $6::text[], $7::text[], $8::text[],"
                       " $9::text[], $10::text[], $11::bytea[], $12::text[], $13::bytea[], $14::bytea[],"
                       " $15::bytea[], $16::bigint[])",
    [PG_BLOBS_ADD] = "INSERT INTO @blob(tid, hash, bytes) SELECT DISTINCT ON (hash) $1, hash, bytes"
                     " FROM unnest($2::bytea[], $3::text[]) AS x(hash, bytes) ON CONFLICT DO NOTHING",
    [PG_ROWS_PUT] = "INSERT INTO @row(tid, view, key, value) SELECT $1, * FROM unnest($2::text[],"
                    " $3::bytea[], $4::bytea[]) ON CONFLICT (tid, view, key)"
                    " DO UPDATE SET value = excluded.value",
    [PG_ROWS_DEL] = "DELETE FROM @row r USING unnest($2::text[], $3::bytea[]) AS d(view, key)"
                    " WHERE r.tid = $1 AND r.view = d.view AND r.key = d.key",
    [PG_ROWS_CLEAR] = "DELETE FROM @row WHERE tid = $1 AND view = $2",
    /* One look for each view: from the first row of one to the first of the next. */
    [PG_VIEWS] = "WITH RECURSIVE v(view) AS ((SELECT view FROM @row WHERE tid = " TID_OF
                 " ORDER BY view LIMIT 1) UNION ALL SELECT (SELECT view FROM @row WHERE tid = " TID_OF
                 " AND view > v.view ORDER BY view LIMIT 1) FROM v WHERE v.view IS NOT NULL)"
                 " SELECT view FROM v WHERE view IS NOT NULL",
    [PG_MARKS_SET] = "UPDATE @entry e SET mark = m.mark FROM unnest($2::bigint[], $3::smallint[])"
                     " AS m(seq, mark) WHERE e.tid = $1 AND e.seq = m.seq",
    [PG_WORDS_ADD] = "INSERT INTO @word(tid, seq, body) SELECT $1, * FROM unnest($2::bigint[],"
                     " $3::text[]) ON CONFLICT DO NOTHING",
    [PG_HINT_SET] = "INSERT INTO @hint(tid, views, keys) VALUES($1, $2, $3) ON CONFLICT (tid)"
                    " DO UPDATE SET views = excluded.views, keys = excluded.keys",

    [PG_WORD_LAST] = "SELECT coalesce(max(seq), -1)::bigint FROM @word WHERE tid = " TID_OF,
    [PG_WORD_FIND] = FOUND " ORDER BY w.tid DESC, w.seq DESC LIMIT $3",
    [PG_WORD_FIND_IN] = FOUND " AND w.tid = $4 ORDER BY w.seq DESC LIMIT $3",

    [PG_ERASE] = "SELECT @erase($1, $2::bigint[], $3::text[], $4::bytea[], $5::bytea[])",
    /* The same, where the server has no such functions. */
    [PG_ERASE_PLAIN] = "WITH done AS (UPDATE @entry e SET payload = x.payload, blob = x.blob,"
                       " content = x.content, refs = NULL, salt = NULL,"
                       " size = coalesce(octet_length(x.payload), 0) FROM unnest($2::bigint[], $3::text[],"
                       " $4::bytea[], $5::bytea[]) AS x(seq, payload, blob, content)"
                       " WHERE e.tid = $1 AND e.seq = x.seq AND e.salt IS NOT NULL AND e.content IS NULL"
                       " RETURNING 1) SELECT count(*) FROM done",
    [PG_ERASE_BLOBS] = "DELETE FROM @blob b WHERE b.tid = $1 AND NOT EXISTS (SELECT FROM @entry e"
                       " WHERE e.tid = $1 AND e.blob = b.hash)",
    [PG_ERASE_WORDS] = "DELETE FROM @word WHERE tid = $1 AND seq = ANY($2::bigint[])",
    [PG_RECHAIN] = "UPDATE @entry SET id = $3, salt = $4, chain = $5, payload = $6, blob = $7, size = $8"
                   " WHERE tid = $1 AND seq = $2",
    [PG_RECHAIN_BLOB] = "INSERT INTO @blob(tid, hash, bytes) VALUES($1, $2, $3) ON CONFLICT DO NOTHING",
    [PG_DROP] = "WITH e AS (DELETE FROM @entry WHERE tid = $1), b AS (DELETE FROM @blob WHERE tid = $1),"
                " r AS (DELETE FROM @row WHERE tid = $1), w AS (DELETE FROM @word WHERE tid = $1),"
                " h AS (DELETE FROM @hint WHERE tid = $1), s AS (INSERT INTO @scrub(tid) VALUES($1)"
                " ON CONFLICT DO NOTHING) DELETE FROM @thread WHERE tid = $1",

    /* Includes bytes of the chain: a log that was replaced by a backup and written to since may
     * have the same sums as the old one. */
    [PG_VERSION] = "SELECT coalesce(sum(rev * 3 + gen * 5 + tid * 7 +"
                   " CASE WHEN length(chain) >= 4 THEN get_byte(chain, 0) * 16777216::bigint + get_byte(chain, 1) * 65536"
                   " + get_byte(chain, 2) * 256 + get_byte(chain, 3) ELSE 0 END), 0)::bigint, count(*) FROM @thread"
                   " WHERE rev > 0",
    [PG_OBJECT_PUT] = "INSERT INTO @object(hash, bytes) VALUES($1, $2) ON CONFLICT DO NOTHING",
    [PG_OBJECT_GET] = "SELECT bytes FROM @object WHERE hash = $1",
    [PG_OBJECT_DROP] = "DELETE FROM @object WHERE hash = $1",

    /* Texts of the store itself are rows of thread number 0, which no thread has: see postgres_moved.c. */
    [PG_MOVED]       = "SELECT value FROM @row WHERE " MOVED_TO,
    [PG_MOVED_ROW]   = "INSERT INTO @row(tid, view, key, value) VALUES(0, 'moved', '\\x746f', '') ON CONFLICT DO NOTHING",
    [PG_MOVED_SHARE] = "SELECT 1 FROM @row WHERE " MOVED_TO " FOR SHARE",
    [PG_MOVED_KEEP_OUT] = "INSERT INTO @row AS r(tid, view, key, value) VALUES(0, 'moved', '\\x746f', '')"
                          " ON CONFLICT (tid, view, key) DO UPDATE SET value = r.value",
    [PG_MOVED_LOCK_ALL] = "SELECT count(*) FROM (SELECT tid FROM @thread ORDER BY tid FOR UPDATE) t",
    [PG_MOVED_PUT]   = "INSERT INTO @row(tid, view, key, value) VALUES(0, 'moved', '\\x746f', $1), (0, 'moved', '\\x63616d65', $2)"
                       " ON CONFLICT (tid, view, key) DO UPDATE SET value = excluded.value",
    [PG_MOVED_BUMP]  = "UPDATE @thread SET gen = gen + 1",
};
/* clang-format on */

/* By scan_kind(): forwards and backwards; all, messages, snapshots; then the same with few columns.
 */
static const char *const scans[] = { SCANS(""), SCANS(" DESC"), BRIEF_SCANS(""),
                                     BRIEF_SCANS(" DESC") };
_Static_assert(COUNT(scans) == PG_SCAN_LAST - PG_SCAN_FIRST + 1, "one of each kind");

/* Without and with an upper end; then the same backwards. */
static const char *const ranges[] = { RANGE("", ""), RANGE(" AND key < $5", ""), RANGE("", " DESC"),
                                      RANGE(" AND key < $5", " DESC") };
_Static_assert(COUNT(ranges) == PG_RANGE_LAST - PG_RANGE_FIRST + 1, "one of each kind");

const char *pg_sql_in(struct sv schema, const char *text, struct arena *a)
{
    struct sb b = sb_in(a, 0);

    for (const char *p = text; *p; p++)
        if (*p == '@' && p[1] != '>') {
            sb_add_identifier(&b, schema);
            sb_addc(&b, '.');
        } else {
            sb_addc(&b, *p);
        }
    return sb_sv(&b).s;
}

static void add_replaced(struct sb *b, struct sv text, struct sv from, struct sv to)
{
    for (ptrdiff_t at; (at = sv_find(text, from)) >= 0; text = sv_skip(text, (size_t)at + from.n)) {
        sb_add(b, sv_first(text, (size_t)at));
        sb_add(b, to);
    }
    sb_add(b, text);
}

/* A statement about a thread by its id becomes one by its number. */
static const char *by_number(const char *text, struct arena *a)
{
    struct sb b = sb_in(a, 0), whole = sb_in(a, 0);

    add_replaced(&b, sv_of(text), SV(TID_OF), SV("$1"));
    add_replaced(&whole, sb_sv(&b), SV("= e.tid"), SV("= $1"));
    return sb_sv(&whole).s;
}

static const char *text_of(int i, struct arena *a)
{
    if (i >= PG_RANGE_FIRST && i <= PG_RANGE_LAST)
        return ranges[i - PG_RANGE_FIRST];
    if (i >= PG_SCAN_FIRST && i <= PG_SCAN_LAST)
        return scans[i - PG_SCAN_FIRST];
    if (i >= PG_SCAN_AT_FIRST && i <= PG_SCAN_AT_LAST)
        return by_number(scans[i - PG_SCAN_AT_FIRST], a);
    return i == PG_OP_AT ? by_number(texts[PG_OP], a) : texts[i];
}

void pg_sql_make(struct pg_pool *pool)
{
    for (int i = 0; i < PG_STATEMENTS; i++)
        pool->sql[i] = pg_sql_in(pool->url.schema, text_of(i, &pool->a), &pool->a);
}

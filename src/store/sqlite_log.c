/* Entries, heads and blobs in SQLite: appending, scanning, passing over damage. */
#include "base/failure.h"
#include "store/sqlite_internal.h"

#include "base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Columns of every query that reads entries, in the order of read_entry(). One column holds the
 * salt or, after an erasure, the commitment: they differ in length. A file of an older schema that
 * may not be written has neither. */
#define BRIEF_OF(salt)                                                                             \
    "e.key, e.at, e.refs, coalesce(e.payload, (SELECT bytes FROM blob WHERE hash = "               \
    "e.blob)), " salt
#define WHOLE_OF(salt) BRIEF_OF(salt) ", e.mark, e.kind, e.lane, e.actor, e.id, e.op, e.chain"
#define BRIEF BRIEF_OF("coalesce(e.salt, e.content)")
#define WHOLE WHOLE_OF("coalesce(e.salt, e.content)")
#define BRIEF_OLD BRIEF_OF("NULL")
#define WHOLE_OLD WHOLE_OF("NULL")

/* Since schema 5, which also has the heads that appends record. */
static bool has_salts(const struct sqlite_store *q)
{
    return q->schema >= 5;
}

static struct hash column_hash(sqlite3_stmt *st, int at)
{
    struct sv   v = sqlite_column_sv(st, at);
    struct hash h = { 0 };

    memcpy(h.b, v.n ? v.s : "", v.n < HASH_SIZE ? v.n : HASH_SIZE);
    return h;
}

/* The row of Q_HEAD_LAST. */
static void read_head(sqlite3_stmt *st, struct store_head *out)
{
    if (sqlite3_column_type(st, 0) != SQLITE_NULL) {
        out->rev = (sqlite3_column_int64(st, 0) & SEQ_MAX) + 1;
        out->chain = column_hash(st, 1);
        out->updated = sqlite3_column_int64(st, 2);
    }
    out->views = sqlite3_column_int64(st, 3);
    out->recorded_rev = out->rev; /* an older schema did not record it */
    out->recorded_chain = out->chain;
    if (sqlite3_column_type(st, 4) != SQLITE_NULL) {
        int64_t rev = sqlite3_column_int64(st, 4);
        out->recorded_rev = rev < 0 || rev > SEQ_MAX ? 0 : rev; /* the file was tampered with */
        out->recorded_chain = column_hash(st, 5);
    }
    out->version = sqlite3_column_int(st, 6) == 2 ? 2 : 1;
}

/* The head of the thread that has this number; *same is false when that is another one, or none. */
static enum status head_of(struct sqlite_store *q, int64_t tid, struct sv thread,
                           struct store_head *out, bool *same, struct err *e)
{
    sqlite3_stmt *st;

    if (sqlite_ready(q, has_salts(q) ? Q_HEAD_LAST : Q_HEAD_OLD, &st, e))
        return err_code(e);
    sqlite3_bind_int64(st, 1, entry_key(tid, 0));
    sqlite3_bind_int64(st, 2, entry_key(tid, SEQ_MAX));
    int rc = sqlite3_step(st);
    *same = rc == SQLITE_ROW && sv_eq(sqlite_column_sv(st, 7), thread);
    bool is_its =
        sqlite3_column_type(st, 0) == SQLITE_NULL || sqlite3_column_int64(st, 0) >> SEQ_BITS == tid;
    if (*same && is_its)
        read_head(st, out);
    sqlite3_reset(st);
    if (*same && !is_its)
        return sqlite_not_in_order(q, "entries", e);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? ST_OK : sqlite_fail(q, rc, e);
}

/* The time of the first entry never changes. */
static enum status read_created(struct sqlite_store *q, int64_t tid, int64_t *out, struct err *e)
{
    sqlite3_stmt *st;

    *out = q->tid == tid ? q->created : 0;
    if (*out)
        return ST_OK;
    if (sqlite_ready(q, Q_HEAD_FIRST, &st, e))
        return err_code(e);
    sqlite3_bind_int64(st, 1, entry_key(tid, 0));
    int rc = sqlite3_step(st);
    *out = rc == SQLITE_ROW ? sqlite3_column_int64(st, 0) : 0;
    sqlite3_reset(st);
    if (q->tid == tid)
        q->created = *out;
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? ST_OK : sqlite_fail(q, rc, e);
}

enum status sqlite_head(struct store *s, struct sv thread, struct store_head *out, struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);
    int64_t              tid = q->tid && sv_is(thread, q->thread) ? q->tid : 0;
    bool                 same = false;

    *out = (struct store_head){ 0 };
    if (tid && head_of(q, tid, thread, out, &same, e)) /* the number it had: nearly always right */
        return err_code(e);
    if (same)
        q->tid_seen = !sqlite3_get_autocommit(q->db);
    else if (sqlite_tid(q, thread, &tid, e) || (tid && head_of(q, tid, thread, out, &same, e)))
        return err_code(e);
    return same ? read_created(q, tid, &out->created, e) : ST_OK;
}

enum status sqlite_chain_at(struct store *s, struct sv thread, int64_t seq, struct hash *out,
                            bool *found, struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);
    sqlite3_stmt        *st;
    int64_t              tid;

    *found = false;
    if (sqlite_tid(q, thread, &tid, e) || sqlite_ready(q, Q_CHAIN, &st, e))
        return err_code(e);
    if (!tid || seq > SEQ_MAX)
        return ST_OK;
    sqlite3_bind_int64(st, 1, entry_key(tid, seq));
    int rc = sqlite3_step(st);
    *found = rc == SQLITE_ROW && sqlite_column_sv(st, 0).n == HASH_SIZE;
    if (*found)
        *out = column_hash(st, 0);
    sqlite3_reset(st);
    return rc == SQLITE_ROW || rc == SQLITE_DONE || (rc & 0xff) == SQLITE_CORRUPT
               ? ST_OK
               : sqlite_fail(q, rc, e);
}

static enum status add_thread(struct sqlite_store *q, struct sv thread, int version, struct err *e)
{
    sqlite3_stmt *next, *add;

    if (sqlite_ready(q, Q_THREAD_NEXT, &next, e) || sqlite_ready(q, Q_THREAD_ADD, &add, e))
        return err_code(e);
    int         rc = sqlite3_step(next);
    int64_t     tid = rc == SQLITE_ROW ? sqlite3_column_int64(next, 0) : 0;
    enum status s = rc == SQLITE_ROW ? ST_OK : sqlite_fail(q, rc, e);
    sqlite3_reset(next);
    if (s)
        return s;
    if (tid < 1 || tid > TID_MAX) {
        err_set(e, ST_CORRUPT, "%s: no number is left for a new thread", q->path);
        return err_hint(e, "the file was changed outside heddle: `heddle doctor` says how");
    }
    sqlite3_bind_int64(add, 1, tid);
    sqlite_bind_sv(add, 2, thread);
    sqlite3_bind_int(add, 3, version);
    return sqlite_run(q, add, e);
}

/* Record where the log ends now, beside the entries themselves. */
static enum status record_head(struct sqlite_store *q, int64_t tid, const struct entry *last,
                               struct err *e)
{
    sqlite3_stmt *st;

    if (sqlite_ready(q, Q_THREAD_HEAD, &st, e))
        return err_code(e);
    sqlite3_bind_int64(st, 1, tid);
    sqlite3_bind_int64(st, 2, last->seq + 1);
    sqlite3_bind_blob(st, 3, last->chain.b, HASH_SIZE, SQLITE_STATIC);
    return sqlite_run(q, st, e);
}

/* Large payloads are stored once, by their hash. */
enum status sqlite_add_blob(struct sqlite_store *q, struct sv payload, struct hash *hash,
                            struct err *e)
{
    sqlite3_stmt *st;

    *hash = hash_blake2b(&payload, 1);
    if (sqlite_ready(q, Q_BLOB_ADD, &st, e))
        return err_code(e);
    sqlite3_bind_blob(st, 1, hash->b, HASH_SIZE, SQLITE_STATIC);
    sqlite_bind_sv(st, 2, payload);
    return sqlite_run(q, st, e);
}

static void sqlite_bind_bytes(sqlite3_stmt *st, int at, const unsigned char *bytes, int n)
{
    if (n)
        sqlite3_bind_blob(st, at, bytes, n, SQLITE_STATIC);
    else
        sqlite3_bind_null(st, at);
}

/* What most messages have in common is left out: their kind is then empty, and no lane is the usual
 * one. An empty name counts as no lane, so that the index of messages does not take it
 * for the usual one. */
static bool is_usual(const struct entry *n)
{
    return n->mark == MARK_MESSAGE && sv_is(n->kind, SQLITE_USUAL_KIND);
}

static struct sv stored_lane(const struct entry *n)
{
    if (n->mark == MARK_MESSAGE && !n->lane.s)
        return SV("");
    return is_usual(n) && sv_is(n->lane, SQLITE_USUAL_LANE) ? (struct sv){ 0 } : n->lane;
}

static void read_usual(struct entry *n)
{
    if (!n->kind.n) {
        n->kind = SV(SQLITE_USUAL_KIND);
        n->lane = n->lane.s ? n->lane : SV(SQLITE_USUAL_LANE);
    }
    if (!n->lane.n)
        n->lane = (struct sv){ 0 };
}

static enum status add_entry(struct sqlite_store *q, int64_t tid, const struct entry *n,
                             struct err *e)
{
    sqlite3_stmt *st;
    struct hash   hash;
    bool          large = n->payload.n >= STORE_BLOB_MIN;

    if ((large && sqlite_add_blob(q, n->payload, &hash, e)) || sqlite_ready(q, Q_ENTRY_ADD, &st, e))
        return err_code(e);
    sqlite3_bind_int64(st, 1, entry_key(tid, n->seq));
    sqlite3_bind_int64(st, 2, n->at);
    sqlite3_bind_int(st, 3, (int)n->mark);
    sqlite_bind_sv(st, 4, is_usual(n) ? SV("") : n->kind);
    sqlite_bind_sv(st, 5, stored_lane(n));
    sqlite_bind_sv(st, 6, n->actor);
    sqlite_bind_sv(st, 7, n->id);
    sqlite_bind_sv(st, 8, n->op_id);
    sqlite_bind_sv(st, 9, !n->refs.n || sv_is(n->refs, "{}") ? (struct sv){ 0 } : n->refs);
    sqlite3_bind_blob(st, 10, n->chain.b, HASH_SIZE, SQLITE_STATIC);
    sqlite_bind_sv(st, 11, large ? (struct sv){ 0 } : n->payload);
    if (large)
        sqlite3_bind_blob(st, 12, hash.b, HASH_SIZE, SQLITE_STATIC);
    else
        sqlite3_bind_null(st, 12);
    sqlite_bind_bytes(st, 13, n->salt, n->salted ? ENTRY_SALT_SIZE : 0);
    sqlite_bind_bytes(st, 14, n->content.b, n->erased ? HASH_SIZE : 0);
    int         rc = sqlite3_step(st);
    bool        taken = (rc & 0xff) == SQLITE_CONSTRAINT && n->op_id.s;
    enum status s = rc == SQLITE_DONE || taken ? ST_OK : sqlite_fail(q, rc, e);
    sqlite3_reset(st);
    if (taken) {
        err_set(e, ST_CONFLICT, "op_id '" SV_FMT "' is taken in this thread", SV_ARG(n->op_id));
        return err_reason(e, "op_id");
    }
    if (!s && sqlite3_changes(q->db) != 1)
        return err_set(e, ST_CORRUPT,
                       "%s: an entry was not stored: its table was changed outside "
                       "heddle",
                       q->path);
    return s;
}

enum status sqlite_insert(struct store *s, struct sv thread, int64_t rev,
                          const struct entry *entries, size_t n, struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);
    int64_t              tid;

    if (rev + (int64_t)n > SEQ_MAX)
        return err_set(e, ST_LIMIT_EXCEEDED, "a thread holds at most %lld entries",
                       (long long)SEQ_MAX);
    if (sqlite_tid(q, thread, &tid, e))
        return err_code(e);
    if (!tid &&
        (add_thread(q, thread, entry_version(&entries[0]), e) || sqlite_tid(q, thread, &tid, e)))
        return err_code(e);
    for (size_t i = 0; i < n; i++)
        if (add_entry(q, tid, &entries[i], e))
            return err_code(e);
    return record_head(q, tid, &entries[n - 1], e);
}

/* ---- reading -------------------------------------------------------------------- */

struct sqlite_scan {
    struct store_scan base;
    sqlite3_stmt     *st;
    int               kind;
    bool              brief, backwards, done;
    bool              ahead;         /* st stands at a row that was not given yet */
    int64_t           tid, from, to; /* what was asked for; `to` is at most SEQ_MAX */
    int64_t           next;          /* the seq after the last one given: before it, backwards */
    int64_t           most;          /* the greatest one given; -1: none */
    int64_t           sought;        /* where skip_damage() looked last; it never goes back */
    int64_t           again;         /* rows given though a later one was given before */

    /* The messages of a lane mostly stand one behind the other: they are looked for in the table
     * first, which is faster than by the index, until too many others stood between them. */
    bool    straight;
    int64_t given, passed; /* rows that were wanted, and that were not */
    size_t  lane_n;
    char    lane[NAME_MAX_BYTES];
};

enum { STRAIGHT_PASSES = 32 }; /* rows of others that may come before the first one */

#define ALL(columns) "SELECT " columns " FROM entry e WHERE key BETWEEN ?1 AND ?2 ORDER BY key"
/* The mark stands in the text, so that the partial index of that mark is used. */
#define MARKED(columns, mark)                                                                      \
    "SELECT " columns " FROM entry e WHERE mark = " mark " AND key BETWEEN ?1 AND ?2 ORDER BY key"
#define USUAL "1 AND coalesce(lane, '" SQLITE_USUAL_LANE "') = ?3"
#define PLAIN "1 AND lane = ?3"
#define ANCHOR "2 AND lane = ?3"

#define SCANS(whole, brief, message)                                                               \
    {                                                                                              \
        ALL(whole), MARKED(whole, message), MARKED(whole, ANCHOR), ALL(whole) " DESC",             \
            MARKED(whole, message) " DESC", MARKED(whole, ANCHOR) " DESC", ALL(brief),             \
            MARKED(brief, message), MARKED(brief, ANCHOR), ALL(brief) " DESC",                     \
            MARKED(brief, message) " DESC", MARKED(brief, ANCHOR) " DESC"                          \
    }

/* By scan_kind(), of the schemas before 5, of schema 5, and from 6 on. */
static const char *const scan_sql[3][SQLITE_ENTRY_SCANS] = { SCANS(WHOLE_OLD, BRIEF_OLD, PLAIN),
                                                             SCANS(WHOLE, BRIEF, PLAIN),
                                                             SCANS(WHOLE, BRIEF, USUAL) };

static const char *scan_text(const struct sqlite_store *q, int kind)
{
    return scan_sql[q->schema < 5 ? 0 : q->schema == 5 ? 1 : 2][kind];
}

static int scan_kind(const struct store_query *q)
{
    return (q->brief ? 6 : 0) + (q->backwards ? 3 : 0) + (q->lane.s ? (int)q->mark : 0);
}

static void scan_bind(sqlite3_stmt *st, const struct store_query *query, int64_t tid)
{
    sqlite3_bind_int64(st, 1, entry_key(tid, query->from));
    sqlite3_bind_int64(st, 2, entry_key(tid, query->to));
    if (sqlite3_bind_parameter_count(st) > 2) /* the caller's bytes may go before the scan does */
        sqlite3_bind_text64(st, 3, query->lane.s, query->lane.n, SQLITE_TRANSIENT, SQLITE_UTF8);
}

enum status sqlite_scan(struct store *s, const struct store_query *query, struct store_scan **out,
                        struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);
    struct sqlite_scan  *scan;
    int64_t              tid;

    if (sqlite_tid(q, query->thread, &tid, e))
        return err_code(e);
    if (!(scan = calloc(1, sizeof *scan)))
        failure_memory(sizeof *scan);
    scan->base.store = s;
    scan->straight = query->lane.s && query->lane.n <= sizeof scan->lane && !query->brief &&
                     !query->backwards && query->mark == MARK_MESSAGE && q->schema >= 6;
    scan->kind = scan->straight ? 0 : scan_kind(query);
    scan->brief = query->brief;
    scan->backwards = query->backwards;
    scan->tid = tid;
    scan->from = query->from < 0 ? 0 : query->from;
    scan->to = query->to > SEQ_MAX ? SEQ_MAX : query->to;
    scan->next = scan->backwards ? scan->to : scan->from;
    scan->most = scan->sought = -1;
    scan->done = tid < 1 || query->from > query->to || query->to < 0;
    if (!scan->done && sqlite_take(q, scan->kind, scan_text(q, scan->kind), &scan->st, e)) {
        free(scan);
        return err_code(e);
    }
    if (scan->straight && query->lane.s) {
        memcpy(scan->lane, query->lane.s, query->lane.n);
        scan->lane_n = query->lane.n;
    }
    if (!scan->done)
        scan_bind(scan->st, query, tid);
    *out = (struct store_scan *)scan;
    return ST_OK;
}

static enum status lost(struct sqlite_store *q, int64_t seq, const char *what, struct err *e)
{
    err_set(e, ST_CORRUPT, "%s: entry %lld has lost its %s", q->path, (long long)seq, what);
    return err_hint(e, "`heddle log export` saves what is readable");
}

/* A column that is mostly NULL: its type is checked first, since that is enough then. */
static struct sv rare_sv(sqlite3_stmt *st, int at)
{
    return sqlite3_column_type(st, at) == SQLITE_NULL ? (struct sv){ 0 } : sqlite_column_sv(st, at);
}

/* What says whether a row was asked for. Each call for a column costs as much as reading a short
 * text: each is asked for once. */
struct row_place {
    int64_t   key;
    int       mark;
    struct sv lane; /* as it is stored */
};

static struct row_place row_place_of(sqlite3_stmt *st, bool brief)
{
    return (struct row_place){ .key = sqlite3_column_int64(st, 0),
                               .mark = brief ? MARK_NONE : sqlite3_column_int(st, 5),
                               .lane = brief ? (struct sv){ 0 } : sqlite_column_sv(st, 7) };
}

static enum status read_brief(struct sqlite_store *q, sqlite3_stmt *st, const struct row_place *at,
                              struct entry *out, struct err *e)
{
    *out = (struct entry){
        .seq = at->key & SEQ_MAX,
        .at = sqlite3_column_int64(st, 1),
        .refs = rare_sv(st, 2),
        .payload = sqlite_column_sv(st, 3),
    };
    if (!out->refs.s)
        out->refs = SV("{}");
    struct sv salt = sqlite_column_sv(st, 4);
    out->salted = salt.s && salt.n == ENTRY_SALT_SIZE;
    out->erased = salt.s && !out->salted;
    if (out->salted)
        memcpy(out->salt, salt.s, ENTRY_SALT_SIZE);
    else if (out->erased)
        out->content = column_hash(st, 4);
    return out->payload.s ? ST_OK : lost(q, out->seq, "payload", e);
}

static enum status read_entry(struct sqlite_store *q, sqlite3_stmt *st, const struct row_place *at,
                              struct entry *out, struct err *e)
{
    struct sv chain;

    if (read_brief(q, st, at, out, e))
        return err_code(e);
    if (at->mark < MARK_NONE || at->mark > MARK_ANCHOR)
        return lost(q, out->seq, "mark", e);
    out->mark = (enum entry_mark)at->mark;
    out->kind = sqlite_column_sv(st, 6);
    out->lane = at->lane;
    read_usual(out);
    out->actor = sqlite_column_sv(st, 8);
    out->id = rare_sv(st, 9);
    out->op_id = rare_sv(st, 10);
    chain = sqlite_column_sv(st, 11);
    if (chain.n != HASH_SIZE)
        return lost(q, out->seq, "chain value", e);
    memcpy(out->chain.b, chain.s, HASH_SIZE);
    return ST_OK;
}

/* Is it a damaged page, or one that the disk cannot read? */
static bool is_damage(int rc)
{
    return (rc & 0xff) == SQLITE_CORRUPT || (rc & 0xff) == SQLITE_IOERR;
}

/* A number, or -1 when the way to it is damaged too. */
static int64_t number_or_none(struct sqlite_store *q, const char *text, int64_t a, int64_t b)
{
    sqlite3_stmt *st = NULL;
    int64_t       n = -1;

    if (sqlite3_prepare_v2(q->db, text, -1, &st, NULL) == SQLITE_OK) {
        sqlite3_bind_int64(st, 1, a);
        if (sqlite3_bind_parameter_count(st) > 1)
            sqlite3_bind_int64(st, 2, b);
        if (sqlite3_step(st) == SQLITE_ROW && sqlite3_column_type(st, 0) != SQLITE_NULL)
            n = sqlite3_column_int64(st, 0);
    }
    sqlite3_finalize(st);
    return n;
}

/* No file holds more entries than this: each has a chain value. */
static int64_t most_entries(const struct sqlite_store *q)
{
    return (sqlite_file_size(q, "") + sqlite_file_size(q, "-wal")) / HASH_SIZE;
}

/* The last seq there may be: that of the last entry, or as the thread's row says. */
static int64_t last_seq(struct sqlite_store *q, const struct sqlite_scan *scan)
{
    int64_t key = number_or_none(q, "SELECT max(key) FROM entry WHERE key BETWEEN ? AND ?",
                                 entry_key(scan->tid, 0), entry_key(scan->tid, SEQ_MAX));
    int64_t rev = !has_salts(q)
                      ? -1
                      : number_or_none(q, "SELECT rev FROM thread WHERE tid = ?", scan->tid, 0);
    int64_t last = key >> SEQ_BITS == scan->tid ? key & SEQ_MAX : -1;
    int64_t most = scan->next + SQLITE_SKIP_MAX + most_entries(q); /* both may be damaged */

    if (last < 0 && rev < 0)
        last = scan->next + SQLITE_SKIP_MAX;
    if (rev > 0 && rev <= SEQ_MAX && rev - 1 > last && rev - 1 <= scan->next + SQLITE_SKIP_MAX)
        last = rev - 1;
    last = last < most ? last : most;
    return last < scan->to ? last : scan->to;
}

/* The seq of the row that the scan stands at. False: it is a row that was not asked for. SQLite
 * compares a key with one end of the range only, and trusts that keys grow: in a page that was cut
 * or filled with zeros they do not. */
static bool row_seq(const struct sqlite_scan *scan, int64_t key, int64_t *seq)
{
    *seq = key & SEQ_MAX;
    return key >> SEQ_BITS == scan->tid && *seq >= scan->from && *seq <= scan->to;
}

/* Find the first entry behind damage by asking for each seq in turn: an entry in a page that can
 * be read is found wherever the damaged pages lie. What is before the seq asked for is damage, too,
 * and no seq is asked for twice, so that a scan ends on every file. */
static enum status skip_damage(struct sqlite_store *q, struct sqlite_scan *scan, int why,
                               struct err *e)
{
    int64_t first = scan->next, last = last_seq(q, scan), seq = 0;
    int64_t from = first > scan->sought ? first : scan->sought;
    int     rc = why;

    while (is_damage(rc) && ++from <= last) {
        sqlite3_reset(scan->st);
        sqlite3_bind_int64(scan->st, 1, entry_key(scan->tid, from));
        rc = sqlite3_step(scan->st);
        if (rc == SQLITE_ROW &&
            (!row_seq(scan, sqlite3_column_int64(scan->st, 0), &seq) || seq < from))
            rc = SQLITE_CORRUPT;
    }
    scan->sought = from;
    scan->ahead = rc == SQLITE_ROW;
    scan->done = !scan->ahead;
    int64_t until = scan->ahead ? seq - 1 : last;
    if (until < first)
        until = first;
    int64_t unread = scan->most < first ? first : scan->most + 1; /* not given already */
    scan->base.lost += until >= unread ? until - unread + 1 : 0;
    if (until == first)
        err_set(e, ST_CORRUPT, "%s: entry %lld cannot be read: %s", q->path, (long long)first,
                sqlite3_errstr(why));
    else
        err_set(e, ST_CORRUPT, "%s: entries %lld to %lld cannot be read: %s", q->path,
                (long long)first, (long long)until, sqlite3_errstr(why));
    return err_hint(e, "`heddle log export` saves what is readable");
}

/* A row whose seq is not the next one or a later one: pages are not in order, or a key has changed.
 * It is told, and then given, since it can be read. */
static enum status tell_order(struct sqlite_store *q, struct sqlite_scan *scan, int64_t seq,
                              struct err *e)
{
    scan->ahead = true;
    err_set(e, ST_CORRUPT, "%s: entry %lld stands behind entry %lld", q->path, (long long)seq,
            (long long)scan->next - 1);
    scan->next = seq;
    return err_hint(e, "`heddle log export` saves what is readable");
}

/* Is the row a message of the lane? As the index has it: see stored_lane(). */
static bool is_wanted(const struct sqlite_scan *scan, const struct row_place *at)
{
    return at->mark == MARK_MESSAGE && sv_eq(at->lane.s ? at->lane : SV(SQLITE_USUAL_LANE),
                                             (struct sv){ scan->lane, scan->lane_n });
}

/* From here on by the index. */
static enum status go_by_index(struct sqlite_store *q, struct sqlite_scan *scan, int64_t key,
                               struct err *e)
{
    struct store_query rest = { .from = (key & SEQ_MAX) + 1,
                                .to = scan->to,
                                .lane = { scan->lane, scan->lane_n },
                                .mark = MARK_MESSAGE };

    sqlite_put_aside(q, scan->kind, scan->st);
    scan->st = NULL;
    scan->straight = false;
    scan->kind = scan_kind(&rest);
    if (sqlite_take(q, scan->kind, scan_text(q, scan->kind), &scan->st, e))
        return err_code(e);
    scan_bind(scan->st, &rest, scan->tid);
    return ST_OK;
}

/* The next row that was asked for. */
static enum status step(struct sqlite_store *q, struct sqlite_scan *scan, int *rc,
                        struct row_place *at, struct err *e)
{
    *rc = scan->ahead ? SQLITE_ROW : sqlite3_step(scan->st);
    scan->ahead = false;
    while (*rc == SQLITE_ROW) {
        *at = row_place_of(scan->st, scan->brief);
        if (!scan->straight)
            return ST_OK;
        if (is_wanted(scan, at)) {
            scan->given++;
            return ST_OK;
        }
        if (++scan->passed > scan->given + STRAIGHT_PASSES && go_by_index(q, scan, at->key, e))
            return err_code(e);
        *rc = sqlite3_step(scan->st);
    }
    return ST_OK;
}

enum status sqlite_next(struct store_scan *base, struct entry *out, bool *more, struct err *e)
{
    struct sqlite_scan  *scan = (struct sqlite_scan *)base;
    struct sqlite_store *q = sqlite_of(base->store);
    bool             passes = scan->kind % 6 == 0 && !scan->straight; /* it goes on behind damage */
    int64_t          seq = 0;
    struct row_place at;
    int              rc;

    *more = false;
    if (scan->done)
        return ST_OK;
    if (step(q, scan, &rc, &at, e)) {
        scan->done = true;
        return err_code(e);
    }
    bool is_other = rc == SQLITE_ROW && !row_seq(scan, at.key, &seq);
    if (is_other)
        rc = SQLITE_CORRUPT;
    if (rc == SQLITE_ROW) {
        bool back = scan->backwards ? seq > scan->next : seq < scan->next;
        if (back && (!passes || scan->again > most_entries(q))) {
            scan->done = true;
            return sqlite_not_in_order(q, "entries", e);
        }
        *more = true;
        if (back)
            return tell_order(q, scan, seq, e);
        enum status s = (scan->brief ? read_brief : read_entry)(q, scan->st, &at, out, e);
        scan->next = scan->backwards ? seq - 1 : seq + 1; /* also of one that has lost something */
        scan->base.lost += s != ST_OK;
        scan->again += !scan->backwards && seq <= scan->most;
        scan->most = seq > scan->most ? seq : scan->most;
        return s;
    }
    if (is_damage(rc) && passes) {
        *more = true;
        return skip_damage(q, scan, rc, e);
    }
    scan->done = true;
    if (is_other)
        return sqlite_not_in_order(q, "entries", e);
    return rc == SQLITE_DONE ? ST_OK : sqlite_fail(q, rc, e);
}

void sqlite_scan_close(struct store_scan *base)
{
    struct sqlite_scan  *scan = (struct sqlite_scan *)base;
    struct sqlite_store *q = sqlite_of(base->store);

    sqlite_put_aside(q, scan->kind, scan->st);
    free(scan);
}

#define FIND_OP " FROM entry e WHERE op = ?1 AND key >> 36 = ?2"

enum status sqlite_find_op(struct store *s, struct sv thread, struct sv op_id, struct arena *a,
                           struct entry *out, bool *found, struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);
    sqlite3_stmt        *st;
    int64_t              tid;
    struct entry         n;

    *found = false;
    if (sqlite_tid(q, thread, &tid, e))
        return err_code(e);
    if (!tid)
        return ST_OK;
    if (sqlite_take(q, SQLITE_FIND_OP,
                    has_salts(q) ? "SELECT " WHOLE FIND_OP : "SELECT " WHOLE_OLD FIND_OP, &st, e))
        return err_code(e);
    sqlite_bind_sv(st, 1, op_id);
    sqlite3_bind_int64(st, 2, tid);
    int              rc = sqlite3_step(st);
    struct row_place at = rc == SQLITE_ROW ? row_place_of(st, false) : (struct row_place){ 0 };
    enum status      r = rc == SQLITE_ROW    ? read_entry(q, st, &at, &n, e)
                         : rc == SQLITE_DONE ? ST_OK
                                             : sqlite_fail(q, rc, e);
    if (r == ST_OK && rc == SQLITE_ROW) {
        *out = entry_dup(&n, a);
        *found = true;
    }
    sqlite_put_aside(q, SQLITE_FIND_OP, st);
    return r;
}

enum status sqlite_set_mark(struct store *s, struct sv thread, int64_t seq, enum entry_mark mark,
                            struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);
    sqlite3_stmt        *st;
    int64_t              tid;

    if (sqlite_tid(q, thread, &tid, e) || sqlite_ready(q, Q_MARK, &st, e))
        return err_code(e);
    sqlite3_bind_int64(st, 1, entry_key(tid, seq));
    sqlite3_bind_int(st, 2, (int)mark);
    if (sqlite_run(q, st, e))
        return err_code(e);
    return sqlite3_changes(q->db)
               ? ST_OK
               : err_set(e, ST_NOT_FOUND, "there is no entry %lld", (long long)seq);
}

enum status sqlite_list_ids(struct sqlite_store *q, const char *text, struct arena *a,
                            struct sv **out, size_t *n, struct err *e)
{
    sqlite3_stmt *st = NULL;
    VEC(struct sv) list = { 0 };
    int         rc = sqlite3_prepare_v2(q->db, text, -1, &st, NULL);
    enum status s = ST_OK;

    while (!s && (rc == SQLITE_OK || rc == SQLITE_ROW)) {
        rc = sqlite3_step(st);
        if (rc != SQLITE_ROW)
            break;
        struct sv id = sqlite_column_sv(st, 0);
        if (list.n && sv_cmp(id, list.v[list.n - 1]) <= 0)
            s = sqlite_not_in_order(q, "threads", e);
        else
            *vec_push(&list, a) = sv_dup(id, a);
    }
    if (!s && rc != SQLITE_DONE)
        s = sqlite_fail(q, rc, e);
    sqlite3_finalize(st);
    *out = list.v;
    *n = list.n;
    return s;
}

enum status sqlite_thread_ids(struct store *s, struct arena *a, struct sv **out, size_t *n,
                              struct err *e)
{
    struct sqlite_store *q = sqlite_of(s);
    enum status r = sqlite_list_ids(q, "SELECT id FROM thread WHERE " SQLITE_SHOWN " ORDER BY id",
                                    a, out, n, e);

    if (r == ST_CORRUPT) /* perhaps only the index is */
        r = sqlite_list_ids(
            q, "SELECT DISTINCT id FROM thread NOT INDEXED WHERE " SQLITE_SHOWN " ORDER BY id", a,
            out, n, e);
    return r;
}

enum status sqlite_threads(struct store *s, struct arena *a, struct store_thread **out, size_t *n,
                           struct err *e)
{
    struct sv *ids;

    if (sqlite_thread_ids(s, a, &ids, n, e))
        return err_code(e);
    *out = ARENA_NEW(a, struct store_thread, *n + 1);
    for (size_t i = 0; i < *n; i++) {
        (*out)[i].id = ids[i];
        enum status st_head = sqlite_head(s, ids[i], &(*out)[i].head, e);
        (*out)[i].damaged = st_head == ST_CORRUPT; /* the other threads can still be listed */
        if (st_head && st_head != ST_CORRUPT)
            return st_head;
    }
    return ST_OK;
}

/* ---- threads whose row is gone -------------------------------------------------------- */

enum status sqlite_each_lost(struct sqlite_store *q,
                             enum status (*each)(void *ctx, int64_t tid, int64_t n, struct err *),
                             void *ctx, struct err *e)
{
    sqlite3_stmt *st = NULL;
    enum status   s = ST_OK;
    int64_t       key = INT64_MIN;
    /* One seek a thread: from the first key of one number to the first of the next. */
    int rc =
        sqlite3_prepare_v2(q->db,
                           "SELECT key >> 36, EXISTS(SELECT 1 FROM thread WHERE tid = key >> 36)"
                           " FROM entry WHERE key >= ? ORDER BY key LIMIT 1",
                           -1, &st, NULL);

    while (!s && rc == SQLITE_OK) {
        sqlite3_bind_int64(st, 1, key);
        rc = sqlite3_step(st);
        if (rc != SQLITE_ROW)
            break;
        int64_t tid = sqlite3_column_int64(st, 0);
        bool    known = sqlite3_column_int(st, 1);
        rc = sqlite3_reset(st);
        if (tid < key >> SEQ_BITS) {
            s = sqlite_not_in_order(q, "entries", e);
            break;
        }
        int64_t first = tid < 0 ? INT64_MIN : entry_key(tid, 0);
        int64_t last = tid < 0 ? -1 : entry_key(tid, SEQ_MAX);
        if (!known || tid < 1)
            s = each(ctx, tid,
                     number_or_none(q, "SELECT count(*) FROM entry WHERE key BETWEEN ? AND ?",
                                    first, last),
                     e);
        if (last == INT64_MAX) {
            rc = SQLITE_DONE;
            break;
        }
        key = last + 1;
    }
    if (!s && rc != SQLITE_DONE && rc != SQLITE_OK)
        s = sqlite_fail(q, rc, e);
    sqlite3_finalize(st);
    return s;
}

struct adopting {
    struct sqlite_store *q;
    int64_t              n;
};

static enum status adopt(void *ctx, int64_t tid, int64_t n, struct err *e)
{
    struct adopting *ad = ctx;
    char             text[400];

    (void)n;
    if (tid < 1)
        return ST_OK; /* no thread can have that number */
    snprintf(text, sizeof text,
             "INSERT INTO thread(tid, id, rev, chain) SELECT %lld, 'lost-%lld', (key & 68719476735)"
             " + 1, chain FROM entry WHERE key BETWEEN %lld AND %lld ORDER BY key DESC LIMIT 1",
             (long long)tid, (long long)tid, (long long)entry_key(tid, 0),
             (long long)entry_key(tid, SEQ_MAX));
    ad->n++;
    return sqlite_exec(ad->q, text, e);
}

enum status sqlite_adopt_lost(struct store *s, int64_t *n, struct err *e)
{
    struct adopting ad = { .q = sqlite_of(s) };

    if (sqlite_each_lost(ad.q, adopt, &ad, e))
        return err_code(e);
    *n = ad.n;
    return ST_OK;
}

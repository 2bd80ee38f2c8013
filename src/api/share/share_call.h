/* What the operations on threads and references have in common: a transaction of the share room
 * inside a request.
 *
 *     struct share s;
 *     if (share_call_begin(r, &s, STORE_WRITE, e) ||
 *         share_lifecycle(&s, id, action, reason, &t, e))
 *         return share_call_fail(r, &s, e);
 *     ... write the document (first: api/once.h keeps it in the same transaction)
 *     return share_call_commit(r, &s, e);            or share_call_end(), after reading */
#ifndef HEDDLE_SHARE_CALL_H
#define HEDDLE_SHARE_CALL_H

#include "api/request.h"
#include "share/share.h"

/* Open the log and begin. Also for reading it is opened for writing if possible, because changes of
 * other programs in the files may have to be imported; in a read-only workspace only the log is
 * read. */
enum status share_call_begin(struct request *r, struct share *s, enum store_mode mode,
                             struct err *e) MUST_USE;

/* What stands in front of the paths in a block (s->base) for a reader in `dir`: nothing in the
 * workspace's root, else the path of the root. */
struct sv share_call_base(const struct workspace *ws, struct sv dir, struct arena *a);

/* End it. The warnings of the share room become those of the request; files that were to be written
 * and were not are its verdict (ST_IO, reason "unwritten"). */
enum status share_call_commit(struct request *r, struct share *s, struct err *e) MUST_USE;
enum status share_call_end(struct request *r, struct share *s);                 /* ST_OK */
enum status share_call_fail(struct request *r, struct share *s, struct err *e); /* e->code */

/* Of an operation that was done before: its files, in case that was interrupted. No transaction may
 * be open. */
void share_call_finish(struct request *r);

/* What the room has warned of so far, as warnings of the request: for code that reads its rows in a
 * transaction of another thread. */
void share_call_warnings(struct request *r, struct share *s);

/* The status after reading the log of a thread. A spawned thread exists before it has an entry:
 * then ST_NOT_FOUND (reason "thread" or none) becomes a warning of the request, and ST_OK is
 * returned. */
enum status share_call_or_empty(struct request *r, struct sv thread, enum status s,
                                struct err *e) MUST_USE;

/* ---- records, the same in every answer ---------------------------------------------- */

extern const char *const thread_states[]; /* names of enum thread_status, ends with NULL */
extern const char *const objective_states[];
extern const char *const share_bindings[];   /* live, frozen */
extern const char *const share_executors[];  /* human, agent, system */
extern const char *const share_id_sources[]; /* title, random */

/* clang-format off */
#define THREAD_FIELDS \
    { "id",           FIELD_TEXT, .help = "name of the thread" }, \
    { "title",        FIELD_TEXT, .nullable = true, .help = "what it is for; null: it only has a log, and nobody named it" }, \
    { "objective",    FIELD_TEXT, .nullable = true, .help = "the objective it works on" }, \
    { "created_at",   FIELD_TIME, .help = "when it was made" }, \
    { "status",       FIELD_ENUM, .values = thread_states, .nullable = true, .help = "its state; null: it only has a log, and is not archived" }, \
    { "tags",         FIELD_ANY,  .optional = true, .help = "words to find it by" }, \
    { "parent_id",    FIELD_TEXT, .nullable = true, .help = "the thread that spawned it" }, \
    { "storage_path", FIELD_TEXT, .nullable = true, .help = "its directory, below the workspace; null: it only has a log" }, \
    { "executor",     FIELD_TEXT, .nullable = true, .help = "who works on it: human, agent or system" }, \
    { "updated_at",   FIELD_TIME, .help = "when it last changed" }, \
    { "session_id",   FIELD_TEXT, .optional = true, .help = "the session of the agent that works on it" }, \
    { "entries",      FIELD_NUMBER, .help = "entries of its own log, from `log append`, `say` and runs" }

#define OBJECTIVE_FIELDS \
    { "id",         FIELD_TEXT, .help = "name of the objective" }, \
    { "title",      FIELD_TEXT, .nullable = true, .help = "what is to be reached" }, \
    { "created_at", FIELD_TIME, .help = "when it was made" }, \
    { "updated_at", FIELD_TIME, .help = "when it or one of its threads last changed" }, \
    { "status",     FIELD_ENUM, .values = objective_states, .help = "completed: it has threads, and all have ended" }, \
    { "thread_ids", FIELD_LIST, .help = "its threads, in the order in which they were made" }, \
    { "threads",    FIELD_NUMBER, .help = "how many threads it has" }, \
    { "open",       FIELD_NUMBER, .help = "how many of them have not ended" }

/* A reference that was made or changed. */
#define MADE_REF_FIELDS \
    { "ref_id",  FIELD_TEXT, .help = "name of the reference" }, \
    { "from",    FIELD_TEXT, .help = "the thread that reads" }, \
    { "target",  FIELD_TEXT, .help = "the thread that is read" }, \
    { "binding", FIELD_ENUM, .values = share_bindings, .help = "live: what the target has when it is read; frozen: copies" }, \
    { "files",   FIELD_NUMBER, .help = "how many files were copied" }
/* clang-format on */

extern const struct field thread_fields[];
void thread_members(struct jw *w, const struct share_thread *t, int64_t entries);

/* A thread that only has a log has the same members; unknown ones are null. `said` is the result of
 * share_log_thread_find(), or NULL. A log that cannot be read is a warning. In a transaction. */
void log_thread_members(struct jw *w, struct share *s, struct sv id, const struct store_head *head,
                        const struct share_thread *said);
/* Of the document: does the thread only have a log? */
bool share_doc_is_log(const struct json *thread);

extern const struct field objective_fields[];
enum status objective_members(struct jw *w, struct share *s, const struct share_objective *o,
                              struct err *e) MUST_USE;

extern const struct field share_made_ref_fields[];
void                      share_made_ref_members(struct jw *w, const struct share_ref *r);
struct sv                 share_binding_of(const struct share_ref *r);
/* "build ▣ research  frozen, 2 files copied", without a line break. */
void share_print_made_ref(struct sb *out, const struct json *ref);

void jw_ktexts(struct jw *w, const char *key, const struct sv *v, size_t n);

/* A number of a document, for printf; 0 when it is absent. */
long long share_doc_number(const struct json *doc, const char *key);

#endif
